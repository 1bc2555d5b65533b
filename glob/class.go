package glob

import (
	"unicode"
	"unicode/utf8"
)

// class is a set of characters: a bitmap for the first 256 and ranges for the rest.
type class struct {
	negate bool
	low    [4]uint64
	high   []rune // pairs lo, hi, all above 255
}

func (c *class) add(lo, hi rune) {
	for r := lo; r <= hi && r < 256; r++ {
		c.low[r>>6] |= 1 << (r & 63)
	}
	if hi >= 256 {
		c.high = append(c.high, max(lo, 256), hi)
	}
}

func (c *class) has(r rune) bool {
	if r < 256 {
		return c.low[r>>6]>>(r&63)&1 == 1
	}
	for i := 0; i < len(c.high); i += 2 {
		if c.high[i] <= r && r <= c.high[i+1] {
			return true
		}
	}
	return false
}

// match tests a character; with fold it tests every character that differs from it only in case.
func (c *class) match(r rune, fold bool) bool {
	in := c.has(r)
	if fold && !in {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = c.has(f)
		}
	}
	return in != c.negate
}

// posixRanges are the ASCII members of the classes of POSIX, which is what git compares bytes with.
var posixRanges = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "  \t\r",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}

func (c *class) addPosix(name string) bool {
	ranges, ok := posixRanges[name]
	for i := 0; i < len(ranges); i += 2 {
		c.add(rune(ranges[i]), rune(ranges[i+1]))
	}
	return ok
}

// foldString maps every character to one representative of those that differ from it only in case.
func foldString(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] < 0x80 && (s[i] < 'A' || s[i] > 'Z')
	}
	if plain {
		return s
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError { // an invalid byte stays what it is
			out = append(out, s[:n]...)
		} else {
			out = utf8.AppendRune(out, foldRune(r))
		}
		s = s[n:]
	}
	return string(out)
}

func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
