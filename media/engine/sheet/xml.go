package sheet

import (
	"bytes"
	"encoding/xml"
	"html"
	"strings"
)

// tag is a tag of an XML part with its place. The scanner is for the machine-written XML of workbooks, where it is ten
// times as fast as a parser that makes values; parts were checked to be well formed before.
type tag struct {
	name     []byte // without prefix
	from, to int
	attrs    []byte // between the name and the end
	end      bool   // </name>
	closed   bool   // <name/>
}

type scanner struct {
	b []byte
	i int
}

// next returns the next tag; ok is false at the end. Comments, declarations and CDATA are passed over.
func (s *scanner) next() (t tag, ok bool) {
	for {
		k := bytes.IndexByte(s.b[s.i:], '<')
		if k < 0 || s.i+k+1 >= len(s.b) {
			s.i = len(s.b)
			return t, false
		}
		from := s.i + k
		switch s.b[from+1] {
		case '!', '?':
			closing := ">"
			if bytes.HasPrefix(s.b[from:], []byte("<!--")) {
				closing = "-->"
			} else if bytes.HasPrefix(s.b[from:], []byte("<![CDATA[")) {
				closing = "]]>"
			}
			n := bytes.Index(s.b[from:], []byte(closing))
			if n < 0 {
				s.i = len(s.b)
				return t, false
			}
			s.i = from + n + len(closing)
			continue
		}
		to := s.close(from)
		if to < 0 {
			s.i = len(s.b)
			return t, false
		}
		t = tag{from: from, to: to + 1}
		body := s.b[from+1 : to]
		if len(body) == 0 {
			s.i = to + 1
			continue
		}
		if body[0] == '/' {
			t.end, body = true, body[1:]
		} else if body[len(body)-1] == '/' {
			t.closed, body = true, body[:len(body)-1]
		}
		n := bytes.IndexAny(body, " \t\r\n")
		if n < 0 {
			n = len(body)
		}
		t.name, t.attrs = body[:n], body[n:]
		if c := bytes.IndexByte(t.name, ':'); c >= 0 {
			t.name = t.name[c+1:]
		}
		s.i = to + 1
		return t, true
	}
}

// close finds the > that ends a tag, not one within a value.
func (s *scanner) close(from int) int {
	i := from
	for {
		n := bytes.IndexByte(s.b[i:], '>')
		if n < 0 {
			return -1
		}
		to := i + n
		if q := s.b[from:to]; bytes.Count(q, []byte{'"'})%2 == 0 && (bytes.IndexByte(q, '\'') < 0 || evenQuotes(q)) {
			return to
		}
		i = to + 1
	}
}

// evenQuotes reports whether no value is open at the end of a tag that holds both kinds of quotes.
func evenQuotes(b []byte) bool {
	var open byte
	for _, c := range b {
		switch {
		case open == 0 && (c == '"' || c == '\''):
			open = c
		case c == open:
			open = 0
		}
	}
	return open == 0
}

// value returns the raw value of an attribute with its place relative to the attributes; names match with their prefix.
func value(attrs []byte, name string) (raw []byte, from int, ok bool) {
	for i := 0; i < len(attrs); {
		k := bytes.Index(attrs[i:], []byte(name))
		if k < 0 {
			return nil, 0, false
		}
		at := i + k
		j := at + len(name)
		if at > 0 && strings.IndexByte(" \t\r\n", attrs[at-1]) >= 0 {
			for j < len(attrs) && strings.IndexByte(" \t\r\n", attrs[j]) >= 0 {
				j++
			}
			if j < len(attrs) && attrs[j] == '=' {
				for j++; j < len(attrs) && strings.IndexByte(" \t\r\n", attrs[j]) >= 0; j++ {
				}
				if j < len(attrs) && (attrs[j] == '"' || attrs[j] == '\'') {
					if n := bytes.IndexByte(attrs[j+1:], attrs[j]); n >= 0 {
						return attrs[j+1 : j+1+n], j + 1, true
					}
				}
			}
		}
		i = at + len(name)
	}
	return nil, 0, false
}

// get returns an attribute, decoded, or "".
func (t *tag) get(name string) string {
	raw, _, _ := value(t.attrs, name)
	return unescape(raw)
}

func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '&') < 0 {
		return string(raw)
	}
	return html.UnescapeString(string(raw))
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

// textEscaper is enough for running text, where quotes stand for themselves.
var textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

func escapeText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, s)
	return textEscaper.Replace(s)
}

// with returns a tag as it stands in src with an attribute set, added, or (value nil) taken away.
func with(src []byte, t *tag, name string, v *string) []byte {
	raw, at, ok := value(t.attrs, name)
	base := bytes.Index(src[t.from:t.to], t.attrs)
	if len(t.attrs) == 0 {
		base = t.to - t.from - 1
		if t.closed {
			base--
		}
	}
	at += t.from + base
	var out []byte
	switch {
	case ok && v != nil:
		out = append(append(append(out, src[t.from:at]...), escape(*v)...), src[at+len(raw):t.to]...)
	case ok:
		from := at - 1
		for from > t.from && src[from-1] != ' ' && src[from-1] != '\t' && src[from-1] != '\n' && src[from-1] != '\r' {
			from--
		}
		out = append(append(out, bytes.TrimRight(src[t.from:from], " \t\r\n")...), src[at+len(raw)+1:t.to]...)
	case v != nil:
		end := t.from + base + len(t.attrs)
		out = append(out, bytes.TrimRight(src[t.from:end], " \t\r\n")...)
		out = append(out, (" " + name + `="` + escape(*v) + `"`)...)
		out = append(out, src[end:t.to]...)
	default:
		out = append(out, src[t.from:t.to]...)
	}
	return out
}

// edits collects replacements of bytes of one part, in order.
type edits struct {
	src []byte
	out bytes.Buffer
	at  int
	n   int
}

func (e *edits) replace(from, to int, with []byte) {
	if e.n == 0 && len(e.src) > 1<<16 {
		e.out.Grow(len(e.src) + len(e.src)/16) // once, instead of by doubling
	}
	e.out.Write(e.src[e.at:from])
	e.out.Write(with)
	e.at = to
	e.n++
}

func (e *edits) done() []byte {
	if e.n == 0 {
		return e.src
	}
	e.out.Write(e.src[e.at:])
	return e.out.Bytes()
}
