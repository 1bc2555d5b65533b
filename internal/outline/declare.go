package outline

import "strings"

// typeOf reports whether the header introduces a type, and under which name ("" for one without).
func (r *reader) typeOf(s scope) (name string, kind Kind, ok bool) {
	for i, t := range r.h {
		if t.kind == group && t.open == '(' && i > 0 && !r.isAttr(i) || r.is(t, "=") {
			return "", "", false
		}
		if t.kind != word {
			continue
		}
		k, known := r.g.kinds[r.text(t)]
		if !known || i > 0 && (r.is(r.h[i-1], ".") || r.is(r.h[i-1], "->")) {
			continue
		}
		if k == Impl {
			return r.implOf(i), k, true
		}
		if name, ok = r.typeName(i); !ok {
			continue
		}
		if r.g.cTypes && r.paramsBehind(i) {
			return "", "", false
		}
		return name, k, true
	}
	return "", "", false
}

// isAttr reports whether the group at i belongs to an attribute or modifier, not to a function.
func (r *reader) isAttr(i int) bool {
	prev := r.text(r.h[i-1])
	return has(r.g.attrs, prev) || has(r.g.modifiers, prev)
}

// typeName returns the name behind the word at i that introduces a type.
func (r *reader) typeName(i int) (string, bool) {
	rest := r.h[i+1:]
	for len(rest) > 0 && rest[0].kind == word { // "enum class", "companion object", "data class"
		w := r.text(rest[0])
		if _, again := r.g.kinds[w]; !again && !has(r.g.modifiers, w) || len(rest) == 1 && !again {
			break
		}
		rest = rest[1:]
	}
	for len(rest) > 1 && (rest[0].kind == group || has(r.g.attrs, r.text(rest[0]))) { // attributes of C++
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return "", true
	}
	if rest[0].kind == quoted && r.g.arrows { // declare module "x"
		return strings.Trim(r.text(rest[0]), `"'`), true
	}
	if rest[0].kind != word {
		return "", r.is(rest[0], ":") || r.is(rest[0], "(") || rest[0].kind == group
	}
	name := r.text(rest[0])
	if r.g.kinds["extension"] != "" || r.g.cTypes || r.g.dollarName || r.g.kinds["namespace"] != "" {
		for len(rest) > 2 && (r.is(rest[1], ".") || r.is(rest[1], "::") || r.is(rest[1], `\`)) && rest[2].kind == word {
			name += "." + r.text(rest[2])
			rest = rest[2:]
		}
	}
	if r.g.cTypes {
		for len(rest) > 1 && (rest[1].kind == word && !r.is(rest[1], "final") || rest[1].kind == group && len(rest) > 2) { // class EXPORTED Name
			if rest = rest[1:]; rest[0].kind == word {
				name = r.text(rest[0])
			}
		}
	}
	return name, !has(r.g.control, name)
}

// paramsBehind reports whether parameters of a function stand behind the type that begins at i.
func (r *reader) paramsBehind(i int) bool {
	angle := 0
	for j := i + 2; j < len(r.h); j++ {
		if r.is(r.h[j], ":") {
			return false
		}
		if angle += btoi(r.is(r.h[j], "<")) - btoi(r.is(r.h[j], ">")); angle > 0 && r.g.generics {
			continue
		}
		if r.h[j].kind == group && r.h[j].open == '(' && r.h[j-1].kind == word && !r.isAttr(j) && j-1 > i+1 {
			return true
		}
	}
	return false
}

// implOf returns the name of the type that an impl block adds to.
func (r *reader) implOf(i int) string {
	rest := r.skipAngles(r.h[i+1:])
	for j, t := range rest {
		if r.is(t, "for") {
			rest = rest[j+1:]
			break
		}
		if r.is(t, "where") {
			break
		}
	}
	name := ""
	for j := range rest {
		t := rest[j]
		switch {
		case r.is(t, "<"), r.is(t, "where"):
			return name
		case t.kind == word && !has(" dyn mut ", r.text(t)) && (j == 0 || !r.is(rest[j-1], "'")):
			name = r.text(t)
		}
	}
	return name
}

func (r *reader) skipAngles(ts []tok) []tok {
	if len(ts) == 0 || !r.is(ts[0], "<") {
		return ts
	}
	depth := 0
	for i, t := range ts {
		depth += btoi(r.is(t, "<")) - btoi(r.is(t, ">"))
		if depth == 0 {
			return ts[i+1:]
		}
	}
	return nil
}

// funcOf reports whether the header introduces a function. in is the qualified part of its name.
func (r *reader) funcOf(s scope, body bool) (name string, kind Kind, in string, ok bool) {
	kind = Function
	if s.kind != "" {
		kind = Method
	}
	for i, t := range r.h {
		if r.is(t, "=") {
			break
		}
		if t.kind != word || !has(r.g.funcs, r.text(t)) || i > 0 && r.is(r.h[i-1], ".") {
			continue
		}
		if r.is(t, "macro_rules") && len(r.h) > i+2 {
			return r.text(r.h[i+2]), Macro, "", true
		}
		name = r.nameBehind(i)
		return name, kind, "", name != ""
	}
	if !r.g.cLike && !(r.g.bare && s.kind != "") {
		return "", "", "", false
	}
	return r.cFunc(s, kind, body)
}

// nameBehind returns the name of the function whose word stands at i: the last word before its parameters, or the first
// one where it has none.
func (r *reader) nameBehind(i int) string {
	for j := i + 1; j < len(r.h) && !r.is(r.h[j], "="); j++ {
		if t := r.h[j]; t.kind != group || t.open != '(' {
			continue
		}
		name := r.wordBefore(i, j)
		if w := r.text(r.h[i]); name == "" && has(" init subscript constructor ", w) { // is a name itself
			return w
		}
		return name
	}
	if i+1 < len(r.h) && r.h[i+1].kind == word {
		return r.text(r.h[i+1])
	}
	return ""
}

// wordBefore returns the last word between i and j, type parameters left out.
func (r *reader) wordBefore(i, j int) string {
	for j--; j > i; j-- {
		t := r.h[j]
		if r.is(t, ">") {
			for depth := 0; j > i; j-- {
				depth += btoi(r.is(r.h[j], ">")) - btoi(r.is(r.h[j], "<"))
				if depth == 0 {
					break
				}
			}
			continue
		}
		if t.kind == word {
			return r.text(t)
		}
		if t.kind == punct && !r.is(t, "*") && !r.is(t, "&") && !r.is(t, "?") && !r.is(t, "!") {
			return r.text(t) // an operator is a name in some languages
		}
	}
	return ""
}

// cFunc finds a function in C's way: a name before a parenthesis.
func (r *reader) cFunc(s scope, kind Kind, body bool) (name string, _ Kind, in string, ok bool) {
	for i := 1; i < len(r.h); i++ {
		t := r.h[i]
		if r.is(t, "=") || r.is(t, "=>") && r.g.arrows {
			return "", "", "", false
		}
		if r.g.generics && r.is(t, "operator") || i == 1 && r.is(r.h[0], "operator") {
			at := i - btoi(!r.is(r.h[i], "operator"))
			if _, in, _ = r.qualified(at, ""); in != "" {
				kind = Method
			}
			return r.operatorName(i), kind, in, true
		}
		if t.kind != group || t.open != '(' || r.isAttr(i) {
			continue
		}
		at := i - 1
		if r.is(r.h[at], ">") { // type parameters between name and parenthesis
			for depth := 0; at > 0; at-- {
				depth += btoi(r.is(r.h[at], ">")) - btoi(r.is(r.h[at], "<"))
				if depth == 0 {
					at--
					break
				}
			}
		}
		if r.h[at].kind == group && r.h[at].open == '[' && r.g.bare { // ["name"](…)
			return "", "", "", false
		}
		if r.h[at].kind != word {
			continue
		}
		name = r.text(r.h[at])
		if has(r.g.control, name) || has(r.g.modifiers, name) {
			return "", "", "", false
		}
		at, in, name = r.qualified(at, name)
		if in != "" {
			kind = Method
		}
		return name, kind, in, r.introduced(s, at, name, in, body)
	}
	return "", "", "", false
}

// operatorName returns the name of an operator whose word stands at or before i.
func (r *reader) operatorName(i int) string {
	if !r.is(r.h[i], "operator") {
		i = 0
	}
	from := r.h[i].start
	for j := i + 1; j < len(r.h); j++ {
		if r.h[j].kind == group && r.h[j].open == '(' && (j > i+1 || j+1 == len(r.h)) {
			return strings.Join(strings.Fields(string(r.src[from:r.h[j].start])), " ")
		}
	}
	return "operator"
}

// qualified takes what stands before the name at i: A::B::name, ~name.
func (r *reader) qualified(i int, name string) (at int, in, full string) {
	if i > 0 && r.is(r.h[i-1], "~") {
		i--
		name = "~" + name
	}
	for i > 1 && r.is(r.h[i-1], "::") {
		j := i - 2
		if r.is(r.h[j], ">") {
			for depth := 0; j > 0; j-- {
				depth += btoi(r.is(r.h[j], ">")) - btoi(r.is(r.h[j], "<"))
				if depth == 0 {
					j--
					break
				}
			}
		}
		if r.h[j].kind != word {
			break
		}
		in = join(r.text(r.h[j]), in)
		i = j
	}
	return i, in, name
}

// introduced reports whether what stands before the name at i makes it the name of a function: a type, or nothing where
// the language needs none.
func (r *reader) introduced(s scope, i int, name, in string, body bool) bool {
	own := strings.TrimPrefix(name, "~") == s.name[strings.LastIndexByte(s.name, '.')+1:] && s.name != ""
	types := 0
	for j := range i {
		t := r.h[j]
		switch {
		case t.kind == word && has(r.g.control, r.text(t)) || r.is(t, ".") && !r.g.generics:
			return false
		case t.kind == word && !has(r.g.modifiers, r.text(t)), t.kind == group && t.open == '[':
			types++
		}
	}
	if i > 0 && r.is(r.h[i-1], ",") {
		return false
	}
	switch {
	case own || in != "" || types > 0:
		return true
	case r.g.bare && s.kind != "":
		return body || types > 0 || s.kind != Enum
	}
	return body && r.g.cTypes && s.kind == "" // a macro that defines a function, or C before it had types
}

// declare takes a header without a body; end is where it ends.
func (r *reader) declare(s scope, end int) {
	last := r.h[len(r.h)-1]
	end = min(max(end, last.end), len(r.src))
	first := r.text(r.h[0])
	switch {
	case has(" import use using package from return ", first) && !(first == "using" && r.hasWord("=")):
		if first == "package" || first == "using" {
			return
		}
		return
	case r.alias(s, end), r.value(s, end):
		return
	}
	if name, kind, ok := r.typeOf(s); ok {
		switch {
		case name == "" || kind == Impl || r.g.cTypes || kind == Module && r.g.rawHash:
		case kind == Namespace: // of the rest of the file
			r.add(s, name, kind, end, end)
		default:
			r.add(s, name, kind, last.end, end)
		}
		return
	}
	name, kind, in, ok := r.funcOf(s, false)
	if !ok || r.g.cLike && !r.g.cTypes && s.kind == "" && !r.declares() {
		return
	}
	s.in = join(s.in, in)
	r.add(s, name, kind, r.valueStart(), end)
}

// declares reports whether the header has a word that introduces a function.
func (r *reader) declares() bool {
	for _, t := range r.h {
		if t.kind == word && has(r.g.funcs, r.text(t)) {
			return true
		}
	}
	return false
}
