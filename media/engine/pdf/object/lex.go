package object

import (
	"bytes"
	"math"
	"strconv"
)

// Lexer cuts bytes into objects and keywords. It never fails on odd bytes: readers do not either.
type Lexer struct {
	b     []byte
	at    int
	depth int
	// refs says that "1 0 R" is a reference, as it is in files and not in content streams.
	refs bool
}

// NewLexer reads the tokens of a content stream.
func NewLexer(b []byte) *Lexer { return &Lexer{b: b, depth: 100} }

// Pos returns the offset of what comes next.
func (l *Lexer) Pos() int { return l.at }

// Seek moves to an offset.
func (l *Lexer) Seek(at int) { l.at = min(max(at, 0), len(l.b)) }

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0 || c == '\f'
}

func delim(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func (l *Lexer) skip() {
	for l.at < len(l.b) {
		switch c := l.b[l.at]; {
		case space(c):
			l.at++
		case c == '%':
			for l.at < len(l.b) && l.b[l.at] != '\n' && l.b[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// SkipSpace moves behind blanks and comments.
func (l *Lexer) SkipSpace() { l.skip() }

// end marks the close of an array or dictionary, and the end of the bytes.
type end byte

// Next returns the next object or Keyword; ok is false at the end of the bytes. Closing brackets without an opening one are
// passed over.
func (l *Lexer) Next() (o Object, ok bool) {
	for {
		o := l.object(0)
		e, closing := o.(end)
		if !closing {
			return o, true
		}
		if e == 0 {
			return nil, false
		}
	}
}

func (l *Lexer) object(depth int) Object {
	l.skip()
	if l.at >= len(l.b) {
		return end(0)
	}
	switch c := l.b[l.at]; c {
	case '/':
		l.at++
		return l.name()
	case '(':
		l.at++
		return l.literal()
	case '[':
		l.at++
		return l.array(depth)
	case '<':
		if l.at+1 < len(l.b) && l.b[l.at+1] == '<' {
			l.at += 2
			return l.dict(depth)
		}
		l.at++
		return l.hex()
	case '>':
		l.at++
		if l.at < len(l.b) && l.b[l.at] == '>' {
			l.at++
		}
		return end('>')
	case ']', ')', '}':
		l.at++
		return end(c)
	case '{':
		l.at++
		return Keyword("{")
	}
	from := l.at
	for l.at < len(l.b) && !space(l.b[l.at]) && !delim(l.b[l.at]) {
		l.at++
	}
	word := l.b[from:l.at]
	if n, ok := number(word); ok {
		if i, whole := n.(int64); whole && l.refs && i >= 0 {
			if r, ok := l.ref(i); ok {
				return r
			}
		}
		return n
	}
	switch string(word) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return Keyword(word)
}

// ref reads the rest of a reference, or nothing.
func (l *Lexer) ref(num int64) (Ref, bool) {
	at := l.at
	for at < len(l.b) && space(l.b[at]) {
		at++
	}
	from := at
	for at < len(l.b) && l.b[at] >= '0' && l.b[at] <= '9' && at-from < 6 {
		at++
	}
	if at == from {
		return Ref{}, false
	}
	gen, _ := strconv.Atoi(string(l.b[from:at])) // digits only
	gap := at
	for at < len(l.b) && space(l.b[at]) {
		at++
	}
	if at == gap || at >= len(l.b) || l.b[at] != 'R' || at+1 < len(l.b) && !space(l.b[at+1]) && !delim(l.b[at+1]) {
		return Ref{}, false
	}
	if num > math.MaxInt32 {
		return Ref{}, false
	}
	l.at = at + 1
	return Ref{int(num), gen}, true
}

// number reads integers and reals, also in the odd forms that readers accept: 4., .5, +1, --3, 1.2-3.
func number(w []byte) (Object, bool) {
	if len(w) == 0 || len(w) > 64 {
		return nil, false
	}
	i, neg := 0, false
	for i < len(w) && (w[i] == '-' || w[i] == '+') {
		neg = neg || w[i] == '-'
		i++
	}
	whole, digits := 0.0, 0
	for ; i < len(w) && w[i] >= '0' && w[i] <= '9'; i++ {
		whole, digits = whole*10+float64(w[i]-'0'), digits+1
	}
	point := i < len(w) && w[i] == '.'
	if point {
		scale := 0.1
		for i++; i < len(w) && w[i] >= '0' && w[i] <= '9'; i++ {
			whole, scale, digits = whole+float64(w[i]-'0')*scale, scale/10, digits+1
		}
	}
	if digits == 0 && !point || i < len(w) && w[i] != '-' {
		return nil, false
	}
	if neg {
		whole = -whole
	}
	if !point && math.Abs(whole) < 1<<53 {
		return int64(whole), true
	}
	return whole, true
}

func (l *Lexer) name() Name {
	from := l.at
	for l.at < len(l.b) && !space(l.b[l.at]) && !delim(l.b[l.at]) && l.b[l.at] != '#' {
		l.at++
	}
	if l.at >= len(l.b) || l.b[l.at] != '#' {
		return Name(l.b[from:l.at])
	}
	out := []byte(string(l.b[from:l.at]))
	for l.at < len(l.b) && !space(l.b[l.at]) && !delim(l.b[l.at]) {
		c := l.b[l.at]
		if c == '#' && l.at+2 < len(l.b) {
			hi, lo := nibble(l.b[l.at+1]), nibble(l.b[l.at+2])
			if hi >= 0 && lo >= 0 {
				c = byte(hi<<4 | lo)
				l.at += 2
			}
		}
		out = append(out, c)
		l.at++
	}
	return Name(out)
}

func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *Lexer) literal() String {
	if n := bytes.IndexAny(l.b[l.at:min(len(l.b), l.at+1<<12)], "()\\\r"); n >= 0 && l.b[l.at+n] == ')' { // as most are
		l.at += n + 1
		return String(l.b[l.at-n-1 : l.at-1])
	}
	var out []byte
	open := 1
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return String(out)
			}
		case '\r':
			if l.at < len(l.b) && l.b[l.at] == '\n' {
				l.at++
			}
			c = '\n'
		case '\\':
			var ok bool
			if c, ok = l.escape(); !ok {
				continue
			}
		}
		out = append(out, c)
	}
	return String(out)
}

// escape reads what follows a backslash; ok is false where that stands for nothing.
func (l *Lexer) escape() (c byte, ok bool) {
	if l.at >= len(l.b) {
		return 0, false
	}
	c = l.b[l.at]
	l.at++
	switch c {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '\n':
		return 0, false
	case '\r':
		if l.at < len(l.b) && l.b[l.at] == '\n' {
			l.at++
		}
		return 0, false
	}
	if c < '0' || c > '7' {
		return c, true
	}
	v := int(c - '0')
	for i := 0; i < 2 && l.at < len(l.b) && l.b[l.at] >= '0' && l.b[l.at] <= '7'; i++ {
		v = v*8 + int(l.b[l.at]-'0')
		l.at++
	}
	return byte(v), true
}

func (l *Lexer) hex() String {
	var out []byte
	high := -1
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		if c == '>' {
			break
		}
		n := nibble(c)
		switch {
		case n < 0:
		case high < 0:
			high = n
		default:
			out, high = append(out, byte(high<<4|n)), -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return String(out)
}

func (l *Lexer) array(depth int) Object {
	out := Array{}
	if depth >= l.depth {
		l.at = len(l.b) // what is nested this deep is no document
		return out
	}
	for {
		o := l.object(depth + 1)
		if e, ok := o.(end); ok {
			if e == 0 || e == ']' {
				return out
			}
			continue
		}
		if k, ok := o.(Keyword); ok && (k == "endobj" || k == "endstream") {
			l.at -= len(k)
			return out
		}
		out = append(out, o)
	}
}

func (l *Lexer) dict(depth int) Object {
	out := Dict{}
	if depth >= l.depth {
		l.at = len(l.b)
		return out
	}
	for {
		o := l.object(depth + 1)
		switch k := o.(type) {
		case end:
			if k == 0 || k == '>' {
				return out
			}
		case Keyword:
			if k == "endobj" || k == "stream" || k == "endstream" {
				l.at -= len(k)
				return out
			}
		case Name:
			v := l.object(depth + 1)
			if e, ok := v.(end); ok {
				if e == 0 || e == '>' {
					return out
				}
				continue
			}
			if w, ok := v.(Keyword); ok && (w == "endobj" || w == "stream") {
				l.at -= len(w)
				return out
			}
			out[k] = v
		}
	}
}
