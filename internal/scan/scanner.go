package scan

import (
	"regexp"
	"unicode/utf8"
)

// Scanner searches buffers for one Program. It is for one goroutine.
type Scanner struct {
	p    *Program
	d    *dfa
	hits []int
	re   *regexp.Regexp // the program for package regexp; the match proper is group 1
	next *regexp.Regexp // the same behind one character and whatever else, from the beginning of the text
}

// NewScanner returns a scanner.
func (p *Program) NewScanner() *Scanner {
	s := &Scanner{p: p}
	if !p.pure {
		s.d = newDFA(p.nfa)
	}
	return s
}

// Line is a matching line of a buffer.
type Line struct {
	Start, End int // without the line end; a "\r" before "\n" still counts as text here
	At         int // a position inside or at the end of a match
	Matches    int // how many matches Blocks reports together; Lines does not count them and says 1
}

// Lines calls f for every matching line of b, in order, until f returns false. b must begin at the beginning of a line
// and end at the end of one; only the last line of a file may lack its "\n". For programs that are not Multiline.
func (s *Scanner) Lines(b []byte, f func(Line) bool) {
	if len(s.p.needles) > 0 {
		s.needleLines(b, f)
		return
	}
	s.hits = s.d.lines(b, s.hits[:0])
	for _, at := range s.hits {
		start, end := lineBounds(b, at)
		if !f(Line{start, end, min(at, end), 1}) {
			return
		}
	}
}

// Any reports whether some line of b matches.
func (s *Scanner) Any(b []byte) bool {
	found := false
	s.Lines(b, func(Line) bool {
		found = true
		return false
	})
	return found
}

// needleLines looks for the needles first, each with its own next position, and asks the automaton about the lines that
// hold one.
func (s *Scanner) needleLines(b []byte, f func(Line) bool) {
	var next [maxNeedles]int
	needles := s.p.needles
	for k, l := range needles {
		next[k] = l.index(b, 0)
	}
	for from := 0; ; {
		best := -1
		for k, l := range needles {
			if 0 <= next[k] && next[k] < from {
				next[k] = l.index(b, from)
			}
			if next[k] >= 0 && (best < 0 || next[k] < next[best]) {
				best = k
			}
		}
		if best < 0 {
			return
		}
		at := next[best]
		if s.p.pure && s.p.opt.Word && !standsAlone(b, at, at+len(needles[best].text)) {
			next[best] = needles[best].index(b, at+1)
			continue
		}
		start, end := lineBounds(b, at)
		if s.p.pure || s.d.matchLine(b[start:end]) {
			if !f(Line{start, end, at, 1}) {
				return
			}
		}
		from = end + 1
	}
}

// standsAlone reports whether b[start:end] does not continue a word on either side.
func standsAlone(b []byte, start, end int) bool {
	if start > 0 {
		if r, _ := utf8.DecodeLastRune(b[:start]); isWordRune(r) {
			return false
		}
	}
	if end < len(b) {
		if r, _ := utf8.DecodeRune(b[end:]); isWordRune(r) {
			return false
		}
	}
	return true
}

// Spans returns the matches in one line, leftmost first, without overlap, as pairs of offsets; for showing them. It is
// slow. Word boundaries next to characters beyond ASCII are judged as in package regexp.
func (s *Scanner) Spans(line []byte) [][2]int {
	s.compile()
	re := s.re
	var out [][2]int
	if !s.p.opt.Word {
		for _, m := range re.FindAllSubmatchIndex(line, -1) {
			if m[3] > m[2] {
				out = append(out, [2]int{m[2], m[3]})
			}
		}
		return out
	}
	// The expression reads the characters around a word, which two words can share.
	for from := 0; from <= len(line); {
		m := re.FindSubmatchIndex(line[from:])
		if m == nil {
			break
		}
		start, end := from+m[2], from+m[3]
		if end > start && standsAlone(line, start, end) {
			out = append(out, [2]int{start, end})
		}
		from = max(end, start+1)
	}
	return out
}
