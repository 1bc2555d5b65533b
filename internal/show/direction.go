package show

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// span is a range of bytes.
type span struct{ from, to int }

// directions returns the runs of right-to-left letters that are escaped, in order.
//
// A run of such letters is drawn from right to left as a whole, which is how it is read and changes nothing around it, as
// long as what follows it is a left-to-right letter or the end of the line. Behind any other character it would change
// places with it: of two such words with "; " between them the second is drawn first, and digits behind one are drawn in
// front of it. Such a run is escaped, and an escape counts as a left-to-right letter, which \u is.
//
// open says that something may be written behind s on the same line: then a run at its end is escaped as well.
func directions(s string, open bool) []span {
	var out []span
	run, ended := span{-1, -1}, false // the last run, and whether something neutral came after it
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf && run.from < 0 {
			i++
			continue
		}
		switch class := classOf(r, n); class {
		case bidi.R, bidi.AL, bidi.AN:
			if run.from >= 0 && ended {
				out = append(out, run)
				run.from = -1
			}
			if run.from < 0 {
				run.from = i
			}
			run.to, ended = i+n, false
		case bidi.NSM:
			if run.from >= 0 && !ended {
				run.to = i + n
			}
		case bidi.L, bidi.B:
			run.from = -1
		case bidi.EN:
			if run.from >= 0 {
				out = append(out, run)
				run.from = -1
			}
		default:
			ended = true
		}
		i += n
	}
	if open && run.from >= 0 {
		out = append(out, run)
	}
	return out
}

// classOf returns the class of what is written for a character.
func classOf(r rune, size int) bidi.Class {
	switch {
	case r == '\n':
		return bidi.B
	case r == '\t':
		return bidi.S
	case r == utf8.RuneError && size == 1, hidden(r):
		return bidi.L // the escape
	}
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// turned reports whether the character at byte i lies in an escaped run. It is asked in ascending order.
func (w *writer) turned(i int) bool {
	for len(w.rtl) > 0 && w.rtl[0].to <= i {
		w.rtl = w.rtl[1:]
	}
	return len(w.rtl) > 0 && w.rtl[0].from <= i
}
