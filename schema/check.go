package schema

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// walker goes once through a document beside the compiled schema. Where a value does not fit, it tries the repairs.
type walker struct {
	doc      *document
	path     []segment
	problems []Problem
	repairs  []Repair
	more     int // problems past maxProblems
}

// mark remembers what to undo when an attempt fails.
type mark struct{ problems, repairs, edits, more int }

func (w *walker) mark() mark {
	return mark{len(w.problems), len(w.repairs), len(w.doc.edits), w.more}
}

func (w *walker) reset(m mark) {
	w.problems, w.repairs, w.doc.edits, w.more = w.problems[:m.problems], w.repairs[:m.repairs], w.doc.edits[:m.edits], m.more
}

// clean reports that no problem was added since m.
func (w *walker) clean(m mark) bool { return len(w.problems)+w.more == m.problems+m.more }

func (w *walker) add(p Problem) {
	if !w.full() {
		w.problems = append(w.problems, p)
	}
}

// full reports that no further problem will be shown, and counts one that would have been.
func (w *walker) full() bool {
	if len(w.problems) < maxProblems {
		return false
	}
	w.more++
	return true
}

func (w *walker) repair(what, from, to string) {
	w.repairs = append(w.repairs, Repair{Path: pathString(w.path), What: what, From: from, To: to})
}

// edit records a change of the document; calls come in order of position.
func (w *walker) edit(start, end int32, text string) {
	w.doc.edits = append(w.doc.edits, splice{start, end, []byte(text)})
}

func (w *walker) push(name string, index int) {
	w.path = append(w.path, segment{name, index})
}

func (w *walker) pop() { w.path = w.path[:len(w.path)-1] }

// plain steps through "this or null" to the schema of the value itself.
func (n *node) plain() *node {
	for n.orNull != nil {
		n = n.orNull
	}
	return n
}

// takes reports whether n accepts the kind of a token, before any other constraint.
func (n *node) takes(d *document, t int32) bool {
	tok := &d.tokens[t]
	switch tok.kind {
	case kindNull:
		return n.accept&typeNull != 0
	case kindBool:
		return n.accept&typeBoolean != 0
	case kindString:
		return n.accept&typeString != 0
	case kindArray:
		return n.accept&typeArray != 0
	case kindObject:
		return n.accept&typeObject != 0
	}
	if n.accept&typeNumber != 0 {
		return true
	}
	if n.accept&typeInteger == 0 {
		return false
	}
	if tok.plain {
		return true
	}
	_, ok := integral(d.text(t))
	return ok
}

// value checks one value and repairs it if it does not fit.
func (w *walker) value(n *node, t int32) {
	for n.orNull != nil {
		if w.doc.tokens[t].kind == kindNull {
			return
		}
		n = n.orNull
	}
	if !n.takes(w.doc, t) {
		if !w.mend(n, t) {
			w.wrong(n, t)
		}
		return
	}
	if n.enum != nil && !w.inEnum(n, t) {
		w.wrong(n, t)
		return
	}
	switch w.doc.tokens[t].kind {
	case kindNumber:
		w.numeric(n, t)
	case kindString:
		if !n.fitsToken(w.doc, t) {
			w.wrong(n, t)
		}
	case kindArray:
		w.array(n, t)
	case kindObject:
		w.object(n, t)
	}
}

func (w *walker) numeric(n *node, t int32) {
	text := w.doc.text(t)
	f, ok := float(text)
	if !ok || n.number && !n.fitsNumber(f) {
		w.wrong(n, t)
		return
	}
	tok := &w.doc.tokens[t]
	if n.accept&typeNumber == 0 && !tok.plain {
		whole, _ := integral(text)
		w.repair("whole number", quote(text), whole)
		w.edit(tok.start, tok.end, whole)
	}
}

func (n *node) fitsNumber(f float64) bool {
	s := n.src
	return (s.Minimum == nil || f >= *s.Minimum) && (s.Maximum == nil || f <= *s.Maximum) &&
		(s.ExclusiveMinimum == nil || f > *s.ExclusiveMinimum) && (s.ExclusiveMaximum == nil || f < *s.ExclusiveMaximum)
}

func (n *node) fitsString(s []byte) bool {
	count := utf8.RuneCount(s)
	return count >= n.minChars && (n.maxChars < 0 || count <= n.maxChars) && (n.pattern == nil || n.pattern.Match(s))
}

// fitsToken is fitsString without decoding and counting where the length of the text settles the matter.
func (n *node) fitsToken(d *document, t int32) bool {
	tok := &d.tokens[t]
	size := int(tok.end-tok.start) - 2 // at least one byte and at most 12 for a character
	enough := n.minChars <= 0 || n.minChars <= size/12 || n.minChars == 1 && size > 0
	if n.pattern == nil && enough && (n.maxChars < 0 || size <= n.maxChars) {
		return true
	}
	return n.fitsString(d.decoded(t))
}

func (w *walker) inEnum(n *node, t int32) bool {
	if w.doc.tokens[t].kind == kindString {
		s := w.doc.decoded(t)
		for _, word := range n.words {
			if string(s) == word {
				return true
			}
		}
		return false
	}
	var v any
	if json.Unmarshal(w.doc.text(t), &v) != nil {
		return false
	}
	for _, e := range n.enum {
		if jsonschema.Equal(v, e) {
			return true
		}
	}
	return false
}

func (w *walker) array(n *node, t int32) {
	tok := &w.doc.tokens[t]
	if int(tok.n) < n.minItems || n.maxItems >= 0 && int(tok.n) > n.maxItems {
		w.wrong(n, t)
		return
	}
	if n.items == nil || n.opaque {
		return
	}
	count := int(tok.n)
	for i, c := 0, t+1; i < count; i, c = i+1, w.doc.tokens[c].next {
		w.push("", i)
		w.value(n.items, c)
		w.pop()
	}
}

func (w *walker) object(n *node, t int32) {
	count, required, unknown := int(w.doc.tokens[t].n), 0, 0
	for i, c := 0, t+1; i < count; i, c = i+1, w.doc.tokens[c].next {
		tok := &w.doc.tokens[c]
		tok.prop = n.find(w.doc, tok)
		if tok.prop < 0 {
			unknown++
		} else if n.props[tok.prop].required {
			required++
		}
	}
	var names map[int32]rename
	if unknown > 0 && (n.closed || required < n.required) {
		names = w.rename(n, t)
	}
	prev, kept := int32(-1), false
	for i, c := 0, t+1; i < count; i, c = i+1, w.doc.tokens[c].next {
		if w.member(n, c, names) {
			kept = true
		} else {
			w.drop(t, c, prev, kept)
		}
		prev = c
	}
	if required < n.required {
		w.missing(n, t)
	}
}

// find looks a member's name up among the properties.
func (n *node) find(d *document, tok *token) int32 {
	if len(n.props) == 0 {
		return -1
	}
	key := d.raw[tok.key+1 : tok.colon-1]
	if tok.keyEscaped {
		key = []byte(unquote(d.raw[tok.key:tok.colon]))
	}
	if len(n.props) <= 8 {
		for i := range n.props {
			if string(key) == n.props[i].name {
				return int32(i)
			}
		}
		return -1
	}
	if i, ok := n.index[string(key)]; ok {
		return i
	}
	return -1
}

// member checks one member of an object and reports whether it stays.
func (w *walker) member(n *node, c int32, names map[int32]rename) (keep bool) {
	as, renamed := names[c]
	prop := w.doc.tokens[c].prop
	switch {
	case renamed && as.drop != "":
		w.push(w.doc.name(c), -1)
		w.repair(as.drop, quote(w.doc.text(c)), "")
		w.pop()
		return false
	case renamed && as.conflict:
		w.conflict(n, c, as)
		return true
	case prop >= 0:
		w.push(n.props[prop].name, -1)
		defer w.pop()
		return w.property(n.props[prop], c, as, renamed)
	case n.closed:
		w.unknown(n, c)
	case n.extra != nil:
		w.push(w.doc.name(c), -1)
		w.value(n.extra, c)
		w.pop()
	}
	return true
}

// property checks the value of a known property, which the call may know by another name.
func (w *walker) property(p property, c int32, as rename, renamed bool) (keep bool) {
	m := w.mark()
	if renamed {
		tok := &w.doc.tokens[c]
		w.repair(as.what, as.name, p.name)
		w.edit(tok.key, tok.colon, string(appendQuoted(nil, p.name)))
	}
	if as.text != "" {
		w.replace(p.node, c, as.text, string(as.convert))
		return true
	}
	if w.doc.tokens[c].kind != kindNull {
		w.value(p.node, c)
		return true
	}
	if w.value(p.node, c); w.clean(m) {
		return true
	}
	w.reset(m)
	if !p.required {
		w.repair("null for an absent optional", "null", "")
		return false
	}
	w.absent(p, "is required, but is null")
	return true
}

// drop removes a member and one comma beside it. prev is the member before it; kept says whether any before it stays.
func (w *walker) drop(t, c, prev int32, kept bool) {
	tok := &w.doc.tokens[c]
	switch next := tok.next; {
	case kept:
		w.edit(w.doc.tokens[prev].end, tok.end, "")
	case next < w.doc.tokens[t].next:
		w.edit(tok.key, w.doc.tokens[next].key, "")
	default:
		w.edit(tok.key, tok.end, "")
	}
}

// missing reports the required properties that no member stands for.
func (w *walker) missing(n *node, t int32) {
	present := make([]bool, len(n.props))
	for i, c := int32(0), t+1; i < w.doc.tokens[t].n; i, c = i+1, w.doc.tokens[c].next {
		if p := w.doc.tokens[c].prop; p >= 0 {
			present[p] = true
		}
	}
	for i, p := range n.props {
		if p.required && !present[i] {
			w.push(p.name, -1)
			w.absent(p, "is required, but missing")
			w.pop()
		}
	}
}
