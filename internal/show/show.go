// Package show makes text safe to show to a person who decides about it. What a model wrote is quoted in prompts,
// lists, logs and pages; there it must not hide anything, move anything, or look like something else.
//
// The one idea: whatever a reader could not see, or could see in another place than where it stands, is written as its
// code point, \u{200B}. Everything else stays as it is, so that ordinary text reads as it was written. An escape is
// written for
//
//   - control characters, format characters (bidirectional, zero-width, tags), characters without a picture, spaces other
//     than U+0020, and code points that no font has; a byte that is not UTF-8 is written \x{FF};
//   - letters that run from right to left, where the characters around them would change places with them;
//   - marks that combine with nothing, or with a letter that bears three already;
//   - padding: a run of blanks that could push what follows out of view is written with its length, \u{20*500}.
//
// [Text] keeps newlines and tabs, [Line] escapes them too. Both can be turned back with [Unescape], so nothing is lost and
// two different texts never look the same. [Cut] leaves out the middle of what is too long, so that the end is always
// seen; what is cut says so.
//
// Escape on every surface, terminal, MCP, page and log, and escape last: text is not to be built from escaped parts and
// escaped again.
package show

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of blanks that are shown as they are, in columns; a tab counts as eight.
const (
	MaxPadding = 40 // between words
	MaxIndent  = 80 // at the start of a line
	MaxBlank   = 3  // newlines in a row
	maxMarks   = 3  // combining marks on one letter
	tabWidth   = 8
)

// Text escapes text of several lines. Newlines and tabs stay.
func Text(s string) string { return escape(s, true) }

// Line escapes text for a field of one line: newlines and tabs are escaped as well.
func Line(s string) string { return escape(s, false) }

func escape(s string, multi bool) string {
	if harmless(s, multi) {
		return s
	}
	w := writer{multi: multi, start: multi, source: s}
	w.out.Grow(len(s) + len(s)/8)
	w.rtl = directions(s, !multi)
	for i := 0; i < len(s); {
		i += w.next(i)
	}
	return w.out.String()
}

// harmless reports whether s is printable ASCII without long runs of blanks and without the beginning of an escape. It
// may say no to such a text; that only costs time.
func harmless(s string, multi bool) bool {
	run, lines := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			run++
		case multi && c == '\t':
			run += tabWidth
		case multi && c == '\n':
			lines++
			run = 0
		case c <= ' ' || c >= 0x7f:
			return false
		case c == '\\' && i+2 < len(s) && s[i+2] == '{':
			return false
		default:
			run, lines = 0, 0
		}
		if run > MaxPadding || lines > MaxBlank {
			return false
		}
	}
	return true
}

// writer escapes one text from front to back.
type writer struct {
	out    strings.Builder
	source string
	multi  bool
	start  bool // at the start of a line
	marks  int  // room for combining marks on the last character; negative: none was written
	rtl    []span
}

// next writes what begins at byte i and returns how many bytes that were.
func (w *writer) next(i int) int {
	c := w.source[i]
	if w.blank(c) {
		return w.blanks(i)
	}
	w.start = false
	if n := plain(w.source[i:]); n > 0 {
		w.out.WriteString(w.source[i : i+n])
		w.marks = maxMarks
		return n
	}
	if c == '\\' && i+2 < len(w.source) && (w.source[i+1] == 'u' || w.source[i+1] == 'x') && w.source[i+2] == '{' {
		w.escaped(rune(c), 1)
		return 1
	}
	r, n := utf8.DecodeRuneInString(w.source[i:])
	if r == utf8.RuneError && n == 1 {
		fmt.Fprintf(&w.out, `\x{%02X}`, c)
		w.marks = 0
		return 1
	}
	switch {
	case hidden(r) || w.turned(i):
	case unicode.Is(unicode.M, r):
		if w.marks > 0 {
			w.marks--
			w.out.WriteRune(r)
			return n
		}
	default:
		w.out.WriteRune(r)
		w.marks = maxMarks
		return n
	}
	times := 1
	for size := n; strings.HasPrefix(w.source[i+n:], w.source[i:i+size]); n += size {
		times++
	}
	w.escaped(r, times)
	return n
}

// plain returns how many bytes at the start are visible ASCII and begin no escape.
func plain(s string) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f && s[n] != '\\' {
		n++
	}
	return n
}

func (w *writer) blank(c byte) bool { return c == ' ' || w.multi && (c == '\t' || c == '\n') }

// blanks writes a run of blanks that begins at byte i.
func (w *writer) blanks(i int) int {
	end := i
	for end < len(w.source) && w.blank(w.source[end]) {
		end++
	}
	run := w.source[i:end]
	w.marks = 0
	if n := strings.Count(run, "\n"); n > MaxBlank {
		first, last := strings.IndexByte(run, '\n'), strings.LastIndexByte(run, '\n')
		w.padding(run[:first])
		w.out.WriteByte('\n')
		w.segments(run[first+1 : last])
		run = run[last:]
	}
	for {
		nl := strings.IndexByte(run, '\n')
		if nl < 0 {
			break
		}
		w.padding(run[:nl])
		w.out.WriteByte('\n')
		w.start, run = true, run[nl+1:]
	}
	w.padding(run)
	return end - i
}

// padding writes blanks within a line: as they are, or counted where they are many.
func (w *writer) padding(run string) {
	limit := MaxPadding
	if w.start {
		limit = MaxIndent
	}
	if width := len(run) + (tabWidth-1)*strings.Count(run, "\t"); width > limit {
		w.segments(run)
	} else {
		w.out.WriteString(run)
	}
	if run != "" {
		w.start = false
	}
}

// segments writes every piece of equal characters as an escape.
func (w *writer) segments(run string) {
	for run != "" {
		n := len(run) - len(strings.TrimLeft(run, run[:1]))
		w.escaped(rune(run[0]), n)
		run = run[n:]
	}
}

func (w *writer) escaped(r rune, times int) {
	for ; times > maxTimes; times -= maxTimes {
		fmt.Fprintf(&w.out, `\u{%X*%d}`, r, maxTimes)
	}
	if times > 1 {
		fmt.Fprintf(&w.out, `\u{%X*%d}`, r, times)
	} else {
		fmt.Fprintf(&w.out, `\u{%X}`, r)
	}
	w.marks = 0
}

// hidden reports whether a character does not show, shows as a blank, or acts on what stands beside it.
func hidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u034f', '\u2800', '\ufffc', '\U0001d159': // joiner, blank of Braille, object, null notehead
		return true
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Unescape turns back what [Text] or [Line] made. Errors: an escape that neither of them writes.
func Unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+2 >= len(s) || s[i+2] != '{' || s[i+1] != 'u' && s[i+1] != 'x' {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("escape at byte %d: no }", i)
		}
		code, count, repeated := strings.Cut(s[i+3:i+end], "*")
		n, err := strconv.ParseUint(code, 16, 21)
		times := 1
		if err == nil && repeated {
			times, err = strconv.Atoi(count)
		}
		switch {
		case err != nil || times < 1 || times > maxTimes || s[i+1] == 'x' && (n > 0xff || repeated):
			return "", fmt.Errorf("escape at byte %d: %q is none", i, s[i:i+end+1])
		case s[i+1] == 'x':
			b.WriteByte(byte(n))
		default:
			b.WriteString(strings.Repeat(string(rune(n)), times))
		}
		i += end + 1
	}
	return b.String(), nil
}

// maxTimes bounds what one escape of a few bytes can grow to.
const maxTimes = 1 << 24
