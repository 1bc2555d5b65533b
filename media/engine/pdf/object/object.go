// Package object reads and writes the objects of PDF files: what a reader sees, and what it does not look at.
//
// It follows cross-reference tables, cross-reference streams, object streams and earlier revisions, finds objects by
// scanning where those are broken, and decodes streams. It knows nothing of pages, fonts or security: encrypted files are
// recognised, not opened. A file that is written anew holds what is reachable from its trailer and nothing else, so
// neither earlier revisions nor objects that nothing refers to survive.
//
// Everything in a file is a claim of whoever made it: sizes are counted as they come, loops and nesting are bounded.
package object

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Object is nil, bool, int64, float64, String, Name, Array, Dict, *Stream or Ref; among the tokens of a content stream
// also Keyword.
type Object any

// The kinds of objects that Go has no type for.
type (
	Name    string
	String  string // bytes
	Keyword string
	Array   []Object
	Dict    map[Name]Object
	Ref     struct{ Num, Gen int }
)

// Stream is a dictionary with bytes, encoded as its filters say.
type Stream struct {
	Dict Dict
	Raw  []byte
}

// Errors of reading. ErrLimit means that a bound was met; others that the file is damaged.
var (
	ErrLimit  = errors.New("it is larger or nested deeper than is allowed")
	ErrSyntax = errors.New("it is no PDF, or damaged beyond repair")
)

// Limits bound the reading of one file. Zero fields mean the defaults.
type Limits struct {
	Decoded int64 // bytes of all decoded streams together. Default 1 GiB
	Stream  int64 // bytes of one decoded stream. Default 256 MiB
	Objects int   // Default 1,000,000
	Depth   int   // of nesting. Default 100
}

func (l Limits) withDefaults() Limits {
	if l.Decoded == 0 {
		l.Decoded = 1 << 30
	}
	if l.Stream == 0 {
		l.Stream = 256 << 20
	}
	if l.Objects == 0 {
		l.Objects = 1_000_000
	}
	if l.Depth == 0 {
		l.Depth = 100
	}
	return l
}

// docEncoding are the characters of PDFDocEncoding that differ from Latin-1, from 0x18 to 0x1f and from 0x80 to 0xa0.
var (
	docLow  = []rune("˘ˇˆ˙˝˛˚˜")
	docHigh = []rune("•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€")
)

// Text returns the characters of a text string, which is UTF-16 or UTF-8 with a mark, or PDFDocEncoding.
func (s String) Text() string {
	switch {
	case len(s) >= 2 && (s[:2] == "\xfe\xff" || s[:2] == "\xff\xfe"):
		units := make([]uint16, 0, len(s)/2)
		for i := 2; i+1 < len(s); i += 2 {
			u := uint16(s[i])<<8 | uint16(s[i+1])
			if s[0] == 0xff {
				u = uint16(s[i+1])<<8 | uint16(s[i])
			}
			units = append(units, u)
		}
		return string(utf16.Decode(units))
	case len(s) >= 3 && s[:3] == "\xef\xbb\xbf" && utf8.ValidString(string(s)):
		return string(s[3:])
	}
	out := make([]rune, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x18 && c < 0x20:
			out[i] = docLow[c-0x18]
		case c >= 0x80 && c <= 0xa0:
			out[i] = docHigh[c-0x80]
		default:
			out[i] = rune(c)
		}
	}
	return string(out)
}

// TextString returns a text string: ASCII as it is, everything else in UTF-16.
func TextString(s string) String {
	ascii := true
	for _, c := range s {
		ascii = ascii && c >= 0x20 && c < 0x7f
	}
	if ascii {
		return String(s)
	}
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return String(b)
}

// Number returns the value of an integer or real.
func Number(o Object) (float64, bool) {
	switch v := o.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
