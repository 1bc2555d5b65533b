package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// editJSON sets the value at a path of members in JSON, with or without comments and trailing commas, and leaves every
// other byte alone. Members of the path that are missing are made. An equal value is left as it is written.
func editJSON(file []byte, path []string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(file)) == 0 {
		file = []byte("{}\n")
	}
	d := &jsonc{src: file}
	root, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if i := d.space(root.end); i < len(file) {
		return nil, d.fail(i, "something follows the object")
	}
	at := root
	depth := 0
	for ; depth < len(path); depth++ {
		if at.kind != '{' {
			return nil, d.fail(at.start, fmt.Sprintf("%s is not an object", where(path[:depth])))
		}
		next, twice := at.find(path[depth])
		if twice {
			return nil, d.fail(at.start, fmt.Sprintf("the member %q occurs twice", path[depth]))
		}
		if next == nil {
			return d.insert(at, path[depth:], value), nil
		}
		at = next
	}
	fresh := appendJSON(nil, value, d.indentOf(at.start))
	if equal(d.plain(at), fresh) {
		return file, nil
	}
	return join(file[:at.start], fresh, file[at.end:]), nil
}

func where(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// span is a value of the file.
type span struct {
	kind       byte // '{', '[', or anything else for a scalar
	start, end int
	members    []jsonMember
}

type jsonMember struct {
	key   string
	value *span
}

func (s *span) find(key string) (v *span, twice bool) {
	for _, m := range s.members {
		if m.key == key {
			twice = v != nil
			v = m.value
		}
	}
	return v, twice
}

// jsonc reads JSON with comments and trailing commas.
type jsonc struct{ src []byte }

func (d *jsonc) fail(i int, what string) error {
	line := bytes.Count(d.src[:min(i, len(d.src))], []byte("\n")) + 1
	return fmt.Errorf("line %d: %s", line, what)
}

// space skips white space and comments.
func (d *jsonc) space(i int) int {
	for i < len(d.src) {
		switch {
		case strings.IndexByte(" \t\r\n", d.src[i]) >= 0:
			i++
		case bytes.HasPrefix(d.src[i:], []byte("\xef\xbb\xbf")):
			i += 3
		case bytes.HasPrefix(d.src[i:], []byte("//")):
			n := bytes.IndexByte(d.src[i:], '\n')
			if n < 0 {
				return len(d.src)
			}
			i += n
		case bytes.HasPrefix(d.src[i:], []byte("/*")):
			n := bytes.Index(d.src[i+2:], []byte("*/"))
			if n < 0 {
				return len(d.src)
			}
			i += n + 4
		default:
			return i
		}
	}
	return i
}

func (d *jsonc) value(i int) (*span, error) {
	i = d.space(i)
	if i >= len(d.src) {
		return nil, d.fail(i, "the file ends where a value is expected")
	}
	switch c := d.src[i]; c {
	case '{', '[':
		return d.composite(i, c)
	case '"':
		_, end, err := d.str(i)
		return &span{kind: c, start: i, end: end}, err
	}
	end := i
	for end < len(d.src) && strings.IndexByte(" \t\r\n,]}/", d.src[end]) < 0 {
		end++
	}
	if !json.Valid(d.src[i:end]) {
		return nil, d.fail(i, fmt.Sprintf("%q is not a value", d.src[i:end]))
	}
	return &span{kind: d.src[i], start: i, end: end}, nil
}

func (d *jsonc) composite(i int, open byte) (*span, error) {
	s := &span{kind: open, start: i}
	closing := byte('}')
	if open == '[' {
		closing = ']'
	}
	i = d.space(i + 1)
	for {
		if i >= len(d.src) {
			return nil, d.fail(i, fmt.Sprintf("the file ends before %q", closing))
		}
		if d.src[i] == closing {
			s.end = i + 1
			return s, nil
		}
		key := ""
		if open == '{' {
			var err error
			if key, i, err = d.key(i); err != nil {
				return nil, err
			}
		}
		v, err := d.value(i)
		if err != nil {
			return nil, err
		}
		s.members = append(s.members, jsonMember{key, v})
		i = d.space(v.end)
		if i < len(d.src) && d.src[i] == ',' {
			i = d.space(i + 1)
		} else if i < len(d.src) && d.src[i] != closing {
			return nil, d.fail(i, fmt.Sprintf("%q stands where a comma or %q is expected", d.src[i], closing))
		}
	}
}

func (d *jsonc) key(i int) (string, int, error) {
	if d.src[i] != '"' {
		return "", i, d.fail(i, fmt.Sprintf("%q stands where a key is expected", d.src[i]))
	}
	key, end, err := d.str(i)
	if err != nil {
		return "", i, err
	}
	if i = d.space(end); i >= len(d.src) || d.src[i] != ':' {
		return "", i, d.fail(i, "a colon is missing")
	}
	return key, i + 1, nil
}

func (d *jsonc) str(i int) (s string, end int, err error) {
	for end = i + 1; end < len(d.src) && d.src[end] != '"'; end++ {
		if d.src[end] == '\\' {
			end++
		}
	}
	if end >= len(d.src) {
		return "", i, d.fail(i, "a string does not end")
	}
	end++
	if err := json.Unmarshal(d.src[i:end], &s); err != nil {
		return "", i, d.fail(i, err.Error())
	}
	return s, end, nil
}

// indentOf returns the white space at the start of the line of an offset.
func (d *jsonc) indentOf(i int) string {
	line := d.src[bytes.LastIndexByte(d.src[:i], '\n')+1 : i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// insert adds a member at the end of an object, with objects for the rest of the path.
func (d *jsonc) insert(at *span, path []string, value any) []byte {
	for i := len(path) - 1; i > 0; i-- {
		value = object{{path[i], value}}
	}
	base := d.indentOf(at.start)
	indent := base + "  "
	if len(at.members) > 0 {
		if in := d.indentOf(d.keyStart(at, 0)); len(in) > len(base) {
			indent = in
		}
	}
	text := appendJSON([]byte("\n"+indent+quote(path[0])+": "), value, indent)
	if len(at.members) == 0 {
		inner := d.src[at.start+1 : at.end-1]
		if len(bytes.TrimSpace(inner)) == 0 {
			inner = nil
		}
		return join(d.src[:at.start+1], bytes.TrimRight(inner, " \t\n\r"), text, []byte("\n"+base), d.src[at.end-1:])
	}
	last := at.members[len(at.members)-1].value.end
	rest := d.space(last)
	if d.src[rest] == ',' { // a trailing comma stays in its place, before ours
		last = rest + 1
	} else {
		return join(d.src[:last], []byte(","), d.tailComment(last), text, d.afterComment(last, base))
	}
	return join(d.src[:last], d.tailComment(last), text, d.afterComment(last, base))
}

// tailComment returns a comment that follows on the same line: it belongs to what is before it.
func (d *jsonc) tailComment(i int) []byte {
	line := d.src[i:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	if t := bytes.TrimLeft(line, " \t"); bytes.HasPrefix(t, []byte("//")) {
		return bytes.TrimRight(line, "\r")
	}
	return nil
}

// afterComment returns the rest of the file behind an inserted member. On a line of its own the closing brace stays
// there; an object that was written on one line gets it.
func (d *jsonc) afterComment(i int, base string) []byte {
	rest := d.src[i+len(d.tailComment(i)):]
	if t := bytes.TrimLeft(rest, " \t"); len(t) > 0 && t[0] == '}' {
		return append([]byte("\n"+base), t...)
	}
	return rest
}

func (d *jsonc) keyStart(at *span, n int) int {
	i := d.space(at.start + 1)
	if n == 0 {
		return i
	}
	return d.space(at.members[n-1].value.end)
}

// plain returns a value as JSON without comments and trailing commas.
func (d *jsonc) plain(s *span) []byte {
	switch s.kind {
	case '{', '[':
		b := []byte{s.kind}
		for i, m := range s.members {
			if i > 0 {
				b = append(b, ',')
			}
			if s.kind == '{' {
				b = append(append(b, quote(m.key)...), ':')
			}
			b = append(b, d.plain(m.value)...)
		}
		return append(b, s.kind+2) // the closing bracket is two behind the opening one, for both kinds
	}
	return d.src[s.start:s.end]
}

func equal(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, err1 := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(p, q)
}
