package scan

import (
	"bytes"
	"math"
	"strings"
)

// commonness ranks bytes by how often they stand in source text, from the most frequent on. The two rarest bytes of a
// needle are the ones to look for.
const commonness = " etrn_aisodl,cpu\tfm;()hg0.*-bv=x>\n1/kw2&:3\"yTS4RE5C8INAq6PDLFMO7[]{}B9z#%<UXG+VjHKW'\\Y|Q!Z?JN$@^~`"

// chance estimates how often a byte is at a position of source text. The line through the logarithms of the ranks was
// fitted to C, Go and JavaScript.
func chance(c byte) float64 {
	rank := strings.IndexByte(commonness, c)
	if rank < 0 {
		rank = len(commonness)
	}
	return math.Exp(-2 - 0.07*float64(rank))
}

// textChance estimates how often a needle is found at a position.
func textChance(text string, fold bool) float64 {
	p := 1.0
	for i := range len(text) {
		p *= chance(text[i])
		if c := lowerByte(text[i]); fold && isLower(c) {
			p *= 1 + chance(c^0x20)/chance(c)
		}
	}
	return p
}

// literal searches for one needle: for the positions where its two rarest bytes stand, and then for the whole.
type literal struct {
	text           string // lower case with fold
	fold           bool   // ignore ASCII case
	i, j           int    // offsets of the two bytes, i <= j
	b1, b2, m1, m2 byte   // the bytes, and 0x20 where case is ignored
}

func newLiteral(text string, fold bool) *literal {
	l := &literal{text: text, fold: fold}
	if fold {
		l.text = lowerASCII(text)
	}
	best, second := -1, -1
	for k := range len(l.text) {
		switch f := l.chanceAt(k); {
		case best < 0 || f < l.chanceAt(best):
			best, second = k, best
		case second < 0 || f < l.chanceAt(second):
			second = k
		}
	}
	if second < 0 {
		second = best
	}
	l.i, l.j = min(best, second), max(best, second)
	l.b1, l.b2 = l.text[l.i], l.text[l.j]
	if fold && isLower(l.b1) {
		l.m1 = 0x20
	}
	if fold && isLower(l.b2) {
		l.m2 = 0x20
	}
	return l
}

func (l *literal) chanceAt(k int) float64 { return textChance(l.text[k:k+1], l.fold) }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lowerByte(b[i])
	}
	return string(b)
}

// index returns the first occurrence at or after from, or -1.
func (l *literal) index(h []byte, from int) int {
	last := len(h) - len(l.text)
	for p := from; p <= last; p++ {
		k := l.findPair(h[p+l.i:], last-p+1)
		if k < 0 {
			return -1
		}
		p += k
		if l.equal(h[p : p+len(l.text)]) {
			return p
		}
	}
	return -1
}

func (l *literal) equal(s []byte) bool {
	if !l.fold {
		return string(s) == l.text
	}
	for k := range s {
		if lowerByte(s[k]) != l.text[k] {
			return false
		}
	}
	return true
}

// findPairPortable is findPair by means of the standard library's byte search.
func (l *literal) findPairPortable(h []byte, n int) int {
	d := l.j - l.i
	for p := 0; p < n; p++ {
		k := indexFold(h[p:n], l.b1, l.m1)
		if k < 0 {
			return -1
		}
		if p += k; h[p+d]|l.m2 == l.b2 {
			return p
		}
	}
	return -1
}

// indexFold finds the byte c, or with mask 0x20 the letter c in either case.
func indexFold(h []byte, c, mask byte) int {
	k := bytes.IndexByte(h, c)
	if mask == 0 {
		return k
	}
	if k >= 0 {
		h = h[:k]
	}
	if u := bytes.IndexByte(h, c&^mask); u >= 0 {
		return u
	}
	return k
}
