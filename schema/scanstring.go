package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// str reads the string at pos and reports whether it has escapes. Long strings (file contents) pass at eight bytes a step.
func (s *scanner) str() (escaped bool, err error) {
	b, i := s.raw, s.pos+1
	var high uint64
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			if special(w) {
				break
			}
			high |= w
			i += 8
		}
		if i >= len(b) {
			s.pos = len(b)
			return false, s.fail("the string does not end")
		}
		switch c := b[i]; {
		case c == '"':
			if high&0x8080808080808080 != 0 && !utf8.Valid(b[s.pos:i]) {
				s.pos += invalidAt(b[s.pos:i])
				return false, s.failInside("invalid UTF-8")
			}
			s.pos = i + 1
			return escaped, nil
		case c == '\\':
			n, reason := escapeLen(b[i:])
			if reason != "" {
				s.pos = min(i+n, len(b))
				return false, s.fail(reason)
			}
			escaped = true
			i += n
		case c < 0x20:
			s.pos = i
			return false, s.failInside(fmt.Sprintf("an unescaped control character %q in a string", c))
		default:
			high |= uint64(c)
			i++
		}
	}
}

// failInside is fail for a fault that is never the end of the text.
func (s *scanner) failInside(reason string) error {
	e := s.fail(reason)
	e.Truncated = false
	return e
}

// special reports whether one of eight bytes is a quote, a backslash or a control character. It may report a false
// positive next to such a byte, never miss one.
func special(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote|(slash-ones)&^slash|(w-ones*0x20)&^w)&tops != 0
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// escapeLen measures the escape at the start of b; a surrogate pair counts as one. On a fault it returns its position.
func escapeLen(b []byte) (n int, reason string) {
	if len(b) < 2 {
		return 2, "the string does not end"
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 1, fmt.Sprintf("an unknown escape \\%s in a string (a backslash is written \\\\)", firstRune(b[1:]))
	}
	r, n, reason := hex4(b)
	if reason != "" || r < 0xD800 || r > 0xDFFF {
		return n, reason
	}
	if r >= 0xDC00 {
		return 1, fmt.Sprintf("half of a surrogate pair, \\u%04x, stands for no character", r)
	}
	if len(b) < 8 {
		return len(b), "the string does not end"
	}
	low, _, reason := hex4(b[6:])
	if reason != "" || low < 0xDC00 || low > 0xDFFF {
		if len(b) < 12 && bytes.IndexByte(b[6:], '"') < 0 {
			return len(b), "the string does not end"
		}
		return 1, fmt.Sprintf("half of a surrogate pair, \\u%04x, stands for no character", r)
	}
	return 12, ""
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (r rune, n int, reason string) {
	for i := range 6 {
		if i >= len(b) {
			return 0, i, "the string does not end"
		}
		c := b[i]
		switch {
		case i == 0 && c == '\\', i == 1 && c == 'u':
		case i < 2:
			return 0, i, "\\u was expected"
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, i, "four hexadecimal digits were expected after \\u"
		}
	}
	return r, 6, ""
}
