package query

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of documents, as encoding/json does.
const maxDepth = 10000

// parseJSON5 decodes JSON5 (spec.json5.org): JSON with comments, trailing commas, single quotes, bare keys, hexadecimal
// and more. Numbers become json.Number, except NaN and the infinities, which become float64. Of keys that are repeated
// the last one counts. An error is a *syntaxError.
func parseJSON5(text string) (any, error) {
	p := &parser5{src: strings.TrimPrefix(text, "\uFEFF")}
	v, err := p.document()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// syntaxError is a place in a document where it stops being what it claims to be.
type syntaxError struct {
	Line, Column int // 1-based; the column counts characters
	Reason       string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// errorAt makes a syntaxError for a byte offset.
func errorAt(src string, offset int, format string, args ...any) *syntaxError {
	before := src[:min(max(offset, 0), len(src))]
	start := strings.LastIndexByte(before, '\n') + 1
	return &syntaxError{
		Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1,
		Reason: fmt.Sprintf(format, args...),
	}
}

type parser5 struct {
	src   string
	pos   int
	depth int
}

func (p *parser5) fail(format string, args ...any) error {
	return errorAt(p.src, p.pos, format, args...)
}

// found describes what stands at the position, for messages.
func (p *parser5) found() string {
	if p.pos >= len(p.src) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser5) document() (any, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos < len(p.src) {
		return nil, p.fail("%s stands behind the value", p.found())
	}
	return v, nil
}

// space passes white space and comments.
func (p *parser5) space() error {
	for p.pos < len(p.src) {
		if c := p.src[p.pos]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			p.pos++
			continue
		} else if c > ' ' && c < utf8.RuneSelf && c != '/' {
			return nil
		}
		rest := p.src[p.pos:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\uFEFF' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f' || unicode.IsSpace(r):
			p.pos += n
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexAny(rest, "\n\r\u2028\u2029")
			if end < 0 {
				end = len(rest)
			}
			p.pos += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return p.fail("a comment has no end")
			}
			p.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *parser5) value() (any, error) {
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos >= len(p.src) {
		return nil, p.fail("a value is missing")
	}
	switch c := p.src[p.pos]; {
	case c == '{' || c == '[':
		if p.depth++; p.depth > maxDepth {
			return nil, p.fail("nested deeper than %d", maxDepth)
		}
		defer func() { p.depth-- }()
		if c == '{' {
			return p.object()
		}
		return p.array()
	case c == '"' || c == '\'':
		return p.str()
	case c == '+' || c == '-' || c == '.' || (c >= '0' && c <= '9'):
		return p.number()
	}
	word, err := p.identifier()
	if err != nil {
		return nil, err
	}
	switch word {
	case "null":
		return nil, nil
	case "true", "false":
		return word == "true", nil
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	}
	p.pos -= len(word)
	return nil, p.fail("%s is no value", quote(word))
}

// list reads what stands between brackets: items with commas, also behind the last one.
func (p *parser5) list(end byte, item func() error) error {
	p.pos++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.pos < len(p.src) && p.src[p.pos] == end {
			p.pos++
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch {
		case p.pos < len(p.src) && p.src[p.pos] == ',':
			p.pos++
		case p.pos < len(p.src) && p.src[p.pos] == end:
		default:
			return p.fail("found %s instead of ',' or '%c'", p.found(), end)
		}
	}
}

func (p *parser5) array() (any, error) {
	out := []any{}
	err := p.list(']', func() error {
		v, err := p.value()
		out = append(out, v)
		return err
	})
	return out, err
}

func (p *parser5) object() (any, error) {
	out := map[string]any{}
	err := p.list('}', func() (err error) {
		var key string
		if c := p.src[min(p.pos, len(p.src)-1)]; p.pos < len(p.src) && (c == '"' || c == '\'') {
			key, err = p.str()
		} else {
			key, err = p.identifier()
		}
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return p.fail("found %s instead of ':' behind key %s", p.found(), quote(key))
		}
		p.pos++
		out[key], err = p.value()
		return err
	})
	return out, err
}

// identifier reads a bare key or a word, with \u escapes.
func (p *parser5) identifier() (string, error) {
	var b strings.Builder
	start := p.pos
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if r == '\\' && strings.HasPrefix(p.src[p.pos:], `\u`) {
			p.pos += 2
			u, err := p.hex(4)
			if err != nil {
				return "", err
			}
			r, n = u, 0
		}
		first := b.Len() == 0
		if !(r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)) &&
			(first || !(unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == '\u200c' || r == '\u200d')) {
			break
		}
		b.WriteRune(r)
		p.pos += n
	}
	if b.Len() == 0 {
		p.pos = start
		return "", p.fail("found %s instead of a key or value", p.found())
	}
	return b.String(), nil
}

func (p *parser5) hex(digits int) (rune, error) {
	if p.pos+digits > len(p.src) {
		return 0, p.fail("an escape is cut off")
	}
	n, err := strconv.ParseUint(p.src[p.pos:p.pos+digits], 16, 32)
	if err != nil {
		return 0, p.fail("%s are no hexadecimal digits", quote(p.src[p.pos:p.pos+digits]))
	}
	p.pos += digits
	return rune(n), nil
}

func (p *parser5) str() (string, error) {
	quoteMark := p.src[p.pos]
	p.pos++
	if s, ok := p.plain(quoteMark); ok {
		return s, nil
	}
	var b strings.Builder
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == quoteMark:
			p.pos++
			return b.String(), nil
		case c == '\n' || c == '\r':
			return "", p.fail("a string has no end on its line")
		case c == '\\':
			p.pos++
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			b.WriteRune(r) // invalid bytes become U+FFFD, as in encoding/json
			p.pos += n
		}
	}
	return "", p.fail("a string has no end")
}

// plain reads a string that is valid text without escapes: a part of the source.
func (p *parser5) plain(quoteMark byte) (string, bool) {
	end := strings.IndexByte(p.src[p.pos:], quoteMark)
	if end < 0 {
		return "", false
	}
	s := p.src[p.pos : p.pos+end]
	if strings.ContainsAny(s, "\\\n\r") || !utf8.ValidString(s) {
		return "", false
	}
	p.pos += end + 1
	return s, true
}

func (p *parser5) escape(b *strings.Builder) error {
	if p.pos >= len(p.src) {
		return p.fail("a string has no end")
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	if i := strings.IndexRune("bfnrtv0", r); i >= 0 {
		if r == '0' && p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			return p.fail(`\0 stands before a digit`)
		}
		b.WriteByte("\b\f\n\r\t\v\x00"[i])
		return nil
	}
	switch r {
	case 'x', 'u':
		u, err := p.hex(map[rune]int{'x': 2, 'u': 4}[r])
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(u) && strings.HasPrefix(p.src[p.pos:], `\u`) {
			before := p.pos
			p.pos += 2
			low, err := p.hex(4)
			if err != nil {
				return err
			}
			if both := utf16.DecodeRune(u, low); both != utf8.RuneError {
				u = both
			} else {
				p.pos = before
			}
		}
		b.WriteRune(u) // half a pair becomes U+FFFD
	case '\r':
		if p.pos < len(p.src) && p.src[p.pos] == '\n' {
			p.pos++
		}
	case '\n', '\u2028', '\u2029': // the string goes on in the next line
	default:
		if r >= '1' && r <= '9' {
			return p.fail(`\%c is no escape`, r)
		}
		b.WriteRune(r)
	}
	return nil
}

func (p *parser5) number() (any, error) {
	start := p.pos
	if n := plainNumber(p.src[p.pos:]); n > 0 {
		p.pos += n
		return json.Number(p.src[start:p.pos]), nil
	}
	sign := ""
	if c := p.src[p.pos]; c == '+' || c == '-' {
		p.pos++
		if c == '-' {
			sign = "-"
		}
	}
	end := p.pos
	for end < len(p.src) && strings.IndexByte("+-.0123456789abcdefABCDEFxXINityNfnu", p.src[end]) >= 0 {
		if c := p.src[end]; (c == '+' || c == '-') && p.src[end-1]|0x20 != 'e' {
			break
		}
		end++
	}
	text := p.src[p.pos:end]
	p.pos = end
	switch lower := strings.ToLower(text); {
	case text == "Infinity":
		return math.Inf(map[string]int{"": 1, "-": -1}[sign]), nil
	case text == "NaN":
		return math.NaN(), nil
	case strings.HasPrefix(lower, "0x"):
		if n, ok := new(big.Int).SetString(lower[2:], 16); ok && lower[2] != '+' && lower[2] != '-' {
			return json.Number(sign + n.String()), nil
		}
	default:
		n := strings.Replace(text, ".e", ".0e", 1)
		n = strings.Replace(n, ".E", ".0E", 1)
		if strings.HasPrefix(n, ".") {
			n = "0" + n
		}
		if strings.HasSuffix(n, ".") {
			n += "0"
		}
		if json.Valid([]byte(sign + n)) {
			return json.Number(sign + n), nil
		}
	}
	p.pos = start
	return nil, p.fail("%s is no number", quote(p.src[start:end]))
}

// plainNumber returns the length of a whole number in its usual form at the start of s, or 0.
func plainNumber(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 || (n > 1 && s[0] == '0') || (n < len(s) && strings.IndexByte(",]} \t\r\n", s[n]) < 0) {
		return 0
	}
	return n
}
