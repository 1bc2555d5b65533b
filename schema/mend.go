package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// mend tries the repairs for a value of the wrong kind and reports whether one of them fits. A repair whose result has
// the right kind is kept even if there are problems inside it: they are better news than the wrong kind.
func (w *walker) mend(n *node, t int32) bool {
	tok := &w.doc.tokens[t]
	var text []byte
	if tok.kind == kindString {
		text = bytes.TrimSpace(w.doc.decoded(t))
		if w.mendWord(n, t, text) {
			return true
		}
	}
	encoded := len(text) > 0 && (text[0] == '[' && n.accept&typeArray != 0 || text[0] == '{' && n.accept&typeObject != 0) && json.Valid(text)
	single := n.accept&typeArray != 0 && n.items != nil && tok.kind != kindArray && tok.kind != kindNull && !w.inArray()
	const asText = "JSON sent as a string"
	m := w.mark()
	if encoded {
		w.replace(n, t, string(text), asText)
		if w.clean(m) || !single {
			return true
		}
		w.reset(m)
	}
	if single {
		if w.wrap(n, t); w.clean(m) || !encoded && n.items.plain().takes(w.doc, t) {
			return true
		}
		w.reset(m)
	}
	if encoded {
		w.replace(n, t, string(text), asText)
	}
	return encoded
}

// mendWord reads a number or a boolean out of a string.
func (w *walker) mendWord(n *node, t int32, text []byte) bool {
	switch {
	case n.accept&(typeNumber|typeInteger) != 0 && isNumber(text):
		word, what := string(text), "number sent as a string"
		if n.accept&typeNumber == 0 {
			whole, ok := integral(text)
			if !ok {
				return false
			}
			word = whole
		}
		w.replace(n, t, word, what)
		return true
	case n.accept&typeBoolean != 0:
		switch string(text) {
		case "true", "True", "TRUE", "false", "False", "FALSE":
			w.replace(n, t, strings.ToLower(string(text)), "boolean sent as a string")
			return true
		}
	}
	return false
}

// inArray reports that the value at hand is an item: [1, 2] for [[1, 2]] is never read as [[1], [2]].
func (w *walker) inArray() bool {
	return len(w.path) > 0 && w.path[len(w.path)-1].name == "" && w.path[len(w.path)-1].index >= 0
}

// replace puts text in place of a value, after text itself was checked and mended.
func (w *walker) replace(n *node, t int32, text, what string) {
	outer := w.doc
	w.repair(what, quote(outer.text(t)), quote([]byte(text)))
	inner, err := scan([]byte(text))
	if err != nil { // valid by encoding/json, refused by us: half a surrogate pair
		w.add(Problem{Path: pathString(w.path), Kind: Wrong, Expected: n.expected(), Message: fmt.Sprintf("%s: %v.", subject(pathString(w.path)), err)})
		return
	}
	if len(inner.twice) > 0 {
		w.repeated(inner)
		return
	}
	w.doc = inner
	w.value(n, 0)
	w.doc = outer
	tok := &outer.tokens[t]
	w.edit(tok.start, tok.end, string(inner.apply()))
}

// wrap puts brackets around a single value.
func (w *walker) wrap(n *node, t int32) {
	tok := w.doc.tokens[t]
	w.repair("single value for an array", quote(w.doc.text(t)), quote(append(append([]byte("["), w.doc.text(t)...), ']')))
	w.edit(tok.start, tok.start, "[")
	if n.minItems > 1 || n.maxItems == 0 {
		w.wrong(n, t)
	}
	w.push("", 0)
	switch {
	case !n.opaque:
		w.value(n.items, t)
	case !n.items.takes(w.doc, t):
		w.wrong(n.items, t)
	}
	w.pop()
	w.edit(tok.end, tok.end, "]")
}

// rename says what becomes of a member with a foreign name.
type rename struct {
	name     string // as the call has it
	what     string // the repair in words
	text     string // the converted value; "" keeps the value
	convert  Conversion
	drop     string // the reason to drop the member, "" to keep it
	conflict bool   // another member says something else
	other    int32  // that member
	prop     int32
}

// alias finds the property that a foreign name stands for.
func (n *node) alias(name string) (target, bool) {
	to, ok := n.aliases[name]
	if !ok {
		to, ok = n.aliases[fold(name)]
	}
	return to, ok
}

// rename decides which members with unknown names stand for which properties. In a schema that allows other names only
// a required property that is absent justifies it, since everything else is valid as it stands.
func (w *walker) rename(n *node, t int32) map[int32]rename {
	d, out := w.doc, map[int32]rename{}
	holder := make([]int32, len(n.props)) // which member gives a property its value
	for i := range holder {
		holder[i] = -1
	}
	each := func(visit func(c int32)) {
		for i, c := int32(0), t+1; i < d.tokens[t].n; i, c = i+1, d.tokens[c].next {
			visit(c)
		}
	}
	each(func(c int32) {
		if p := d.tokens[c].prop; p >= 0 {
			holder[p] = c
		}
	})
	pass := func(span bool) {
		each(func(c int32) {
			if d.tokens[c].prop >= 0 {
				return
			}
			name := d.name(c)
			to, ok := n.alias(name)
			if !ok || (to.convert == Span) != span || !n.closed && (!n.props[to.prop].required || holder[to.prop] >= 0) {
				return
			}
			r := rename{name: name, what: "name learned elsewhere", convert: to.convert, prop: to.prop}
			if to.convert != Keep && d.tokens[c].kind != kindNull {
				if r.text, ok = w.converted(n, c, to, holder, out); !ok {
					return
				}
			}
			w.settle(n, c, r, holder, out)
		})
	}
	pass(false)
	pass(true) // counts from the offset, which the first pass may have found under another name
	return out
}

// settle gives a renamed member its property, or drops it where the property has the same value already.
func (w *walker) settle(n *node, c int32, r rename, holder []int32, out map[int32]rename) {
	d := w.doc
	value := func(t int32) []byte {
		if text := out[t].text; text != "" {
			return []byte(text)
		}
		return d.text(t)
	}
	other := holder[r.prop]
	switch {
	case other >= 0 && d.tokens[c].kind == kindNull:
		r.drop = "null for a second name of " + n.props[r.prop].name
	case other >= 0 && d.tokens[other].kind == kindNull && !n.props[r.prop].node.plain().takes(d, other):
		out[other] = rename{drop: "null beside " + r.name, prop: -1}
		holder[r.prop], d.tokens[c].prop = c, r.prop
	case other >= 0:
		mine := []byte(r.text)
		if r.text == "" {
			mine = d.text(c)
		}
		if sameJSON(mine, value(other)) {
			r.drop = "a second name of " + n.props[r.prop].name + " with the same value"
		} else {
			r.conflict, r.other = true, other
		}
	default:
		holder[r.prop], d.tokens[c].prop = c, r.prop
	}
	out[c] = r
}

// converted computes an alias's value in the terms of its property.
func (w *walker) converted(n *node, c int32, to target, holder []int32, out map[int32]rename) (string, bool) {
	p := n.props[to.prop].node.plain()
	from := int64(1)
	if to.convert == Span {
		i, ok := n.index["offset"]
		if !ok {
			return "", false
		}
		about := strings.ToLower(n.props[i].node.src.Description)
		zero, one := hasWord(about, "0-based"), hasWord(about, "1-based")
		if zero == one {
			return "", false
		}
		if h := holder[i]; h >= 0 {
			text := out[h].text
			if text == "" {
				text = string(w.doc.text(h))
			}
			text = strings.Trim(text, `"`)
			if !isNumber([]byte(text)) || len(text) > 15 {
				return "", false
			}
			f, _ := float([]byte(text))
			if from = int64(f); zero {
				from++
			}
		}
	}
	return convert(w.doc.text(c), to.convert, p.accept&typeNumber == 0, from)
}

// conflict reports two names of one property with different values.
func (w *walker) conflict(n *node, c int32, as rename) {
	name := n.props[as.prop].name
	w.push(as.name, -1)
	path := pathString(w.path)
	w.pop()
	w.add(Problem{Path: path, Kind: Unknown, Expected: "only " + name, Suggestion: name,
		Message: fmt.Sprintf("%s is another name of %s, and both are given with different values (%s and %s). Give only %s.",
			path, name, quote(w.doc.text(c)), quote(w.doc.text(as.other)), name)})
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && jsonschema.Equal(x, y)
}

// seconds suggests the value in seconds where a number that is too large for a timeout in seconds is a whole number of
// them in milliseconds. The unit is not certain, so this is no repair.
func (n *node) seconds(text []byte) string {
	s := n.src
	if s.Maximum == nil || !isNumber(text) || !hasWord(strings.ToLower(s.Description), "seconds") {
		return ""
	}
	f, ok := float(text)
	if !ok || f <= *s.Maximum || f < 1000 || f != float64(int64(f/1000))*1000 || !n.fitsNumber(f/1000) {
		return ""
	}
	return formatFloat(f / 1000)
}
