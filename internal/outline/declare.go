package outline

import (
	"bytes"
	"strings"
)

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

// valueStart returns where the text of a declaration ends: before the value, where that spans lines.
func (r *reader) valueStart() int {
	for i, t := range r.h {
		if i > 0 && r.is(t, "=") && bytes.IndexByte(r.src[t.start:r.h[len(r.h)-1].end], '\n') >= 0 {
			return r.h[i-1].end
		}
	}
	return r.h[len(r.h)-1].end
}

// alias takes another name for a type: type X = …, using X = …, typedef … X.
func (r *reader) alias(s scope, end int) bool {
	if r.is(r.h[0], "typedef") && r.g.cTypes {
		for i := len(r.h) - 1; i > 0; i-- {
			if t := r.h[i]; t.kind == word && !r.isAttrWord(t) {
				r.add(s, r.text(t), Type, end, end)
				return true
			}
			if t := r.h[i]; t.kind == group && i > 0 && r.h[i-1].kind == group { // void (*name)(…)
				if name := lastWord(r.src[r.h[i-1].start:r.h[i-1].end]); name != "" {
					r.add(s, name, Type, end, end)
					return true
				}
			}
		}
		return true
	}
	for i, t := range r.h {
		if t.kind == word && has(r.g.aliases, r.text(t)) && i+1 < len(r.h) && r.h[i+1].kind == word && (i == 0 || r.h[i-1].kind != punct) {
			if (s.kind == "" || s.kind == Trait || s.kind == Class || s.kind == Object) && (r.hasWord("=") || r.is(t, "typealias")) {
				r.add(s, r.text(r.h[i+1]), Type, r.valueStart(), end)
				return true
			}
		}
		if t.kind == word && !has(r.g.modifiers, r.text(t)) {
			return false
		}
	}
	return false
}

func (r *reader) isAttrWord(t tok) bool { return has(r.g.attrs, r.text(t)) }

func lastWord(b []byte) string {
	b = bytes.TrimRight(b, ") \t\n[]")
	i := len(b)
	for i > 0 && isWord(b[i-1]) {
		i--
	}
	return string(b[i:])
}

// value takes a constant or variable, or a function that is the value of one.
func (r *reader) value(s scope, end int) bool {
	for i, t := range r.h {
		kind, ok := r.g.values[r.text(t)]
		if t.kind == word && ok && i+1 < len(r.h) {
			if t := r.h[i+1]; t.kind == word && !has(r.g.funcs, r.text(t)) && r.g.kinds[r.text(t)] == "" {
				return r.valueNamed(s, i, kind, end)
			}
		}
		if r.is(t, "=") || t.kind == group {
			break
		}
	}
	if r.g.arrows && s.kind != "" { // a member that is a function: name = (…) => …
		for i, t := range r.h {
			if i > 0 && r.is(t, "=") && r.h[i-1].kind != punct && r.isFunc(r.h[i+1:]) {
				if name := r.firstName(); name != "" {
					r.add(s, name, Method, r.h[i].start, end)
				}
				return true
			}
		}
	}
	if r.g.arrows && s.kind == "" && r.assigned(s, end) {
		return true
	}
	if r.g.outer && s.kind == "" {
		return r.outerVariable(s, end)
	}
	return false
}

func (r *reader) valueNamed(s scope, i int, kind Kind, end int) bool {
	name, j := r.text(r.h[i+1]), i+1
	for ; j < len(r.h) && !r.is(r.h[j], "="); j++ {
		if r.h[j].kind == group && r.h[j].open == '(' {
			return false // fun interface … and the like are no values
		}
		if r.g.cLike && r.h[j].kind == word { // const T NAME
			name = r.text(r.h[j])
		}
	}
	if j+1 < len(r.h) && r.g.arrows && r.is(r.h[j+1], "require") {
		return true // an import
	}
	isFunc := j < len(r.h) && r.g.arrows && r.isFunc(r.h[j+1:])
	switch {
	case isFunc:
		kind = Function
	case s.kind != "" && !(kind == Constant && r.shared(i)), has(r.g.modifiers, name):
		return true
	}
	text := r.valueStart()
	if isFunc {
		text = r.arrowEnd(j)
	}
	r.add(s, name, kind, text, end)
	return true
}

// shared reports whether a constant in a type, introduced by the word at i, belongs to the type and not to its values.
func (r *reader) shared(i int) bool {
	return r.is(r.h[i], "const") || r.hasWord("static") || r.hasWord("const")
}

// assigned takes a function that becomes a member of an object: a.b.name = function …. Words that only say where it is
// exported are no container.
func (r *reader) assigned(s scope, end int) bool {
	var path []string
	for i, t := range r.h {
		switch {
		case t.kind == word && i%2 == 0:
			if w := r.text(t); !has(" module exports prototype window this globalThis ", w) {
				path = append(path, w)
			}
		case r.is(t, ".") && i%2 == 1:
		case r.is(t, "=") && i > 2 && i%2 == 1 && len(path) > 0 && r.isFunc(r.h[i+1:]):
			kind := Function
			for _, w := range path[:len(path)-1] {
				s.in = join(s.in, w)
				kind = Method
			}
			r.add(s, path[len(path)-1], kind, r.arrowEnd(i), end)
			return true
		default:
			return false
		}
	}
	return false
}

// isFunc reports whether a value is a function: function …, (…) => …, x => …, async of either.
func (r *reader) isFunc(ts []tok) bool {
	if len(ts) > 0 && r.is(ts[0], "async") {
		ts = ts[1:]
	}
	if len(ts) == 0 {
		return false
	}
	if has(r.g.funcs, r.text(ts[0])) {
		return true
	}
	for i, t := range r.skipAngles(ts) {
		switch {
		case r.is(t, "=>"):
			return true
		case i == 0 && t.kind != word && (t.kind != group || t.open != '('), r.is(t, "."), r.is(t, "("):
			return false
		case i > 0 && t.kind == group && t.open == '(':
			return false // a call
		}
	}
	return false
}

// arrowEnd returns where the text of a function that is a value ends: before its body.
func (r *reader) arrowEnd(j int) int {
	for ; j < len(r.h); j++ {
		if t := r.h[j]; r.is(t, "=>") || t.kind == group && t.open == '{' {
			return t.start
		}
	}
	return r.h[len(r.h)-1].end
}

func (r *reader) firstName() string {
	for _, t := range r.h {
		if t.kind == word && !has(r.g.modifiers, r.text(t)) {
			return r.text(t)
		}
	}
	return ""
}

// outerVariable takes a variable of C with a value.
func (r *reader) outerVariable(s scope, end int) bool {
	for i, t := range r.h {
		if t.kind == group && t.open == '(' {
			return false
		}
		if !r.is(t, "=") {
			continue
		}
		j := i - 1
		for j > 0 && r.h[j].kind == group {
			j--
		}
		if j > 0 && r.h[j].kind == word {
			r.add(s, r.text(r.h[j]), Variable, r.valueStart(), end)
		}
		return true
	}
	return false
}

// readMacros finds #define lines with a value.
func readMacros(src []byte) []Symbol {
	var out []Symbol
	lines := lineIndex{src: src}
	for at := 0; at < len(src); {
		i := bytes.Index(src[at:], []byte("define"))
		if i < 0 {
			break
		}
		at += i + len("define")
		hash := blankBefore(src, at-len("define")) - 1
		if hash < 0 || src[hash] != '#' {
			continue
		}
		begin := blankBefore(src, hash)
		if begin > 0 && src[begin-1] != '\n' {
			continue
		}
		l := lexer{src: src, pos: hash, lex: &lexis{}}
		_, rest := l.command()
		rest = bytes.TrimLeft(rest, " \t")
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		if n > 0 && len(bytes.TrimSpace(rest[n:])) > 0 {
			line := lines.of(begin)
			out = append(out, Symbol{Name: string(rest[:n]), Kind: Macro, Line: line, End: lines.of(l.pos), Text: "#define " + macroText(rest)})
		}
		at = max(at, l.pos)
	}
	return out
}

// blankBefore returns where the blanks before an offset begin.
func blankBefore(src []byte, at int) int {
	for at > 0 && (src[at-1] == ' ' || src[at-1] == '\t') {
		at--
	}
	return at
}

func macroText(rest []byte) string {
	line, _, more := bytes.Cut(rest, []byte("\n"))
	s := oneLine(bytes.TrimRight(line, "\\\r \t"))
	if more && len(s)+len(" …") <= MaxText-len("#define ") {
		return s + " …"
	}
	return oneLine([]byte("#define " + s))[len("#define "):]
}
