package wire

import (
	"encoding/base64"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the value of a JSON string that the scanner accepted, with its quotes. Lone surrogates and invalid
// UTF-8 become U+FFFD, as in encoding/json.
func Unquote(quoted []byte) string {
	s := quoted[1 : len(quoted)-1]
	plain := true
	for _, c := range s {
		if c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			var n int
			out, n = appendUnescaped(out, s[i:])
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return string(out)
}

// appendUnescaped appends what the escape sequence at the start of s stands for, and returns its length.
func appendUnescaped(out, s []byte) ([]byte, int) {
	switch c := s[1]; c {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r, _ := hex4(s, 2)
		if utf16.IsSurrogate(r) {
			if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
				if low, ok := hex4(s, 8); ok {
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						return utf8.AppendRune(out, pair), 12
					}
				}
			}
			r = utf8.RuneError
		}
		return utf8.AppendRune(out, r), 6
	default:
		return append(out, c), 2
	}
}

// escapes says for each byte below 0x80 how it is written in a string: 0 as it is, 'u' as \u00XX, else \ and the byte.
var escapes = func() (t [utf8.RuneSelf]byte) {
	for c := range 0x20 {
		t[c] = 'u'
	}
	t['"'], t['\\'], t['\b'], t['\f'], t['\n'], t['\r'], t['\t'] = '"', '\\', 'b', 'f', 'n', 'r', 't'
	return t
}()

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD; nothing else is changed, and characters that
// matter only to HTML are not escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			e := escapes[c]
			if e == 0 {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			if e == 'u' {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			} else {
				dst = append(dst, '\\', e)
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\ufffd`...)
			i++
			from = i
			continue
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// AppendBase64 appends data as a JSON string in standard base64.
func AppendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
