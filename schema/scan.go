package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// kind is the JSON kind of a value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// token is one value of a document. A document is its tokens in order: a container is followed by its children.
type token struct {
	start, end int32 // the value's bytes, quotes and brackets included
	key, colon int32 // an object member's name, quotes included; key < 0 where there is none
	next       int32 // the token after this value and all it contains
	n          int32 // children of an array or object
	prop       int32 // the property of the schema that this member stands for; set by the checker, -1 unknown
	kind       kind
	escaped    bool // a string with backslashes
	keyEscaped bool
	plain      bool // a number without fraction and exponent
}

// document is a parsed JSON text. Its edits, in order of position, turn raw into what the checker made of it.
type document struct {
	raw    []byte
	tokens []token
	twice  []int32 // members whose name stood before in the same object
	edits  []splice
}

// splice replaces raw[start:end] by text.
type splice struct {
	start, end int32
	text       []byte
}

// SyntaxError says that an argument text is not one JSON object. Nothing was repaired and nothing may run.
type SyntaxError struct {
	// Truncated says that the text ends inside the object: the model's output was cut off. It is never completed.
	Truncated bool
	// Offset is the position of the fault in bytes, counted in the text after fences and outer encoding were removed.
	Offset int64
	// Reason is what was found or expected there.
	Reason string
	// Near is the text before the offset, clipped.
	Near string
}

// Error says the fact and the place, for the model that sent the text.
func (e *SyntaxError) Error() string {
	what := "the arguments are not valid JSON"
	if e.Truncated {
		what = "the arguments were cut off before the JSON object ended"
	}
	if e.Near == "" {
		return fmt.Sprintf("%s (byte %d: %s)", what, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s (byte %d: %s, after %s)", what, e.Offset, e.Reason, e.Near)
}

// maxDepth bounds nesting, so that hostile text cannot exhaust the stack.
const maxDepth = 512

// scanner reads one JSON text into tokens. It is stricter than encoding/json where that would lose data silently:
// invalid UTF-8 and halves of surrogate pairs are errors, not U+FFFD.
type scanner struct {
	*document
	pos   int
	depth int
}

// scan parses raw, which must be exactly one JSON value.
func scan(raw []byte) (*document, error) {
	if len(raw) > math.MaxInt32-16 {
		return nil, &SyntaxError{Offset: math.MaxInt32, Reason: "larger than 2 GiB"}
	}
	d := &document{raw: raw, tokens: make([]token, 0, 24)}
	s := scanner{document: d}
	s.space()
	if err := s.value(-1, 0, false); err != nil {
		return nil, err
	}
	s.space()
	if s.pos < len(raw) {
		return nil, s.fail("text after the end of the value")
	}
	return d, nil
}

func (s *scanner) fail(reason string) *SyntaxError {
	return &SyntaxError{Truncated: s.pos >= len(s.raw), Offset: int64(s.pos), Reason: reason, Near: near(s.raw, s.pos)}
}

// near quotes the bytes before pos.
func near(raw []byte, pos int) string {
	from := max(0, min(pos, len(raw))-24)
	for from > 0 && from < len(raw) && !utf8.RuneStart(raw[from]) {
		from++
	}
	if from >= pos {
		return ""
	}
	return fmt.Sprintf("%q", raw[from:min(pos, len(raw))])
}

func (s *scanner) space() {
	for s.pos < len(s.raw) {
		switch s.raw[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value reads the value at pos; key is the position of the member name that it belongs to.
func (s *scanner) value(key, colon int, keyEscaped bool) error {
	if s.pos >= len(s.raw) {
		return s.fail("a value was expected")
	}
	if s.depth++; s.depth > maxDepth {
		return s.fail(fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	at := len(s.tokens)
	s.tokens = append(s.tokens, token{start: int32(s.pos), key: int32(key), colon: int32(colon), keyEscaped: keyEscaped, prop: -1})
	t := token{}
	var err error
	switch c := s.raw[s.pos]; {
	case c == '"':
		t.kind = kindString
		t.escaped, err = s.str()
	case c == '{':
		t.kind = kindObject
		t.n, err = s.object()
	case c == '[':
		t.kind = kindArray
		t.n, err = s.array()
	case c == '-' || c >= '0' && c <= '9':
		t.kind = kindNumber
		t.plain, err = s.number()
	default:
		t.kind, err = s.word()
	}
	if err != nil {
		return err
	}
	s.depth--
	p := &s.tokens[at]
	p.kind, p.n, p.escaped, p.plain = t.kind, t.n, t.escaped, t.plain
	p.end, p.next = int32(s.pos), int32(len(s.tokens))
	return nil
}

func (s *scanner) word() (kind, error) {
	rest := s.raw[s.pos:]
	for _, w := range [...]struct {
		text string
		kind kind
	}{{"true", kindBool}, {"false", kindBool}, {"null", kindNull}} {
		n := min(len(rest), len(w.text))
		if string(rest[:n]) != w.text[:n] {
			continue
		}
		s.pos += n
		if n < len(w.text) {
			return 0, s.fail("a value was expected")
		}
		return w.kind, nil
	}
	return 0, s.fail(fmt.Sprintf("a value was expected, found %q", firstRune(rest)))
}

func firstRune(b []byte) string {
	_, n := utf8.DecodeRune(b)
	return string(b[:n])
}

// number reads a number; plain reports that it has neither fraction nor exponent.
func (s *scanner) number() (plain bool, err error) {
	n, plain, ok := numberLen(s.raw[s.pos:])
	s.pos += n
	if !ok {
		return false, s.fail("a digit was expected in a number")
	}
	return plain, nil
}

// numberLen measures the JSON number at the start of b. Where ok is false, n is the position of the fault.
func numberLen(b []byte) (n int, plain, ok bool) {
	digits := func() bool {
		from := n
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		return n > from
	}
	if n < len(b) && b[n] == '-' {
		n++
	}
	if n < len(b) && b[n] == '0' {
		n++
		if n < len(b) && b[n] >= '0' && b[n] <= '9' {
			return n, false, false
		}
	} else if !digits() {
		return n, false, false
	}
	plain = true
	if n < len(b) && b[n] == '.' {
		plain = false
		n++
		if !digits() {
			return n, false, false
		}
	}
	if n < len(b) && (b[n] == 'e' || b[n] == 'E') {
		plain = false
		n++
		if n < len(b) && (b[n] == '+' || b[n] == '-') {
			n++
		}
		if !digits() {
			return n, false, false
		}
	}
	return n, plain, true
}

func (s *scanner) array() (n int32, err error) {
	s.pos++
	s.space()
	if s.at(']') {
		return 0, nil
	}
	for {
		s.space()
		if err := s.value(-1, 0, false); err != nil {
			return 0, err
		}
		n++
		s.space()
		switch {
		case s.at(','):
		case s.at(']'):
			return n, nil
		default:
			return 0, s.fail("',' or ']' was expected")
		}
	}
}

func (s *scanner) object() (n int32, err error) {
	first := int32(len(s.tokens))
	s.pos++
	s.space()
	if s.at('}') {
		return 0, nil
	}
	for {
		s.space()
		if s.pos >= len(s.raw) || s.raw[s.pos] != '"' {
			return 0, s.fail("a name in double quotes was expected")
		}
		key := s.pos
		escaped, err := s.str()
		if err != nil {
			return 0, err
		}
		colon := s.pos
		s.space()
		if !s.at(':') {
			return 0, s.fail("':' was expected")
		}
		s.space()
		if err := s.value(key, colon, escaped); err != nil {
			return 0, err
		}
		n++
		s.space()
		switch {
		case s.at(','):
		case s.at('}'):
			s.findTwice(first, n)
			return n, nil
		default:
			return 0, s.fail("',' or '}' was expected")
		}
	}
}

// at consumes c if it is next.
func (s *scanner) at(c byte) bool {
	if s.pos < len(s.raw) && s.raw[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// findTwice records members that repeat a name. encoding/json would let the last one win, other readers the first.
func (d *document) findTwice(first, n int32) {
	if n <= 12 {
		for t, i := first, int32(0); i < n; t, i = d.tokens[t].next, i+1 {
			for u := first; u < t; u = d.tokens[u].next {
				if d.sameKey(t, u) {
					d.twice = append(d.twice, t)
					break
				}
			}
		}
		return
	}
	seen := make(map[string]bool, n)
	for t, i := first, int32(0); i < n; t, i = d.tokens[t].next, i+1 {
		name := d.name(t)
		if seen[name] {
			d.twice = append(d.twice, t)
		}
		seen[name] = true
	}
}

func (d *document) sameKey(t, u int32) bool {
	a, b := &d.tokens[t], &d.tokens[u]
	if a.keyEscaped || b.keyEscaped {
		return d.name(t) == d.name(u)
	}
	return bytes.Equal(d.raw[a.key:a.colon], d.raw[b.key:b.colon])
}

// name returns the decoded member name of a token.
func (d *document) name(t int32) string {
	k := &d.tokens[t]
	if k.keyEscaped {
		return unquote(d.raw[k.key:k.colon])
	}
	return string(d.raw[k.key+1 : k.colon-1])
}

// text returns the bytes of a value as they stand.
func (d *document) text(t int32) []byte { return d.raw[d.tokens[t].start:d.tokens[t].end] }

// decoded returns the value of a string token. Without escapes it aliases the document.
func (d *document) decoded(t int32) []byte {
	k := &d.tokens[t]
	if k.escaped {
		return []byte(unquote(d.raw[k.start:k.end]))
	}
	return d.raw[k.start+1 : k.end-1]
}

// unquote decodes a scanned JSON string.
func unquote(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return string(b) // cannot happen for scanned text
	}
	return s
}

// apply returns raw with the edits made; raw itself where there are none.
func (d *document) apply() []byte {
	if len(d.edits) == 0 {
		return d.raw
	}
	size := len(d.raw)
	for _, e := range d.edits {
		size += len(e.text) - int(e.end-e.start)
	}
	out := make([]byte, 0, size)
	pos := int32(0)
	for _, e := range d.edits {
		out = append(out, d.raw[pos:e.start]...)
		out = append(out, e.text...)
		pos = e.end
	}
	return append(out, d.raw[pos:]...)
}
