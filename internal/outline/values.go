package outline

import "bytes"

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
