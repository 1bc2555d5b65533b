package scan

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Scanner searches buffers for one Program. It is for one goroutine.
type Scanner struct {
	p    *Program
	d    *dfa
	hits []int
	re   *regexp.Regexp
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
	re := s.regexp()
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

// regexp compiles the program for package regexp; the match proper is group 1.
func (s *Scanner) regexp() *regexp.Regexp {
	if s.re != nil {
		return s.re
	}
	expr := "(" + withCR(s.p.re).String() + ")"
	switch {
	case s.p.opt.Line:
		expr = "(?m:^)" + expr + "\r?(?m:$)"
	case s.p.opt.Word:
		expr = "(?m:^|[^" + wordBody + "])" + expr + "(?m:$|[^" + wordBody + "])"
	}
	s.re = regexp.MustCompile(expr)
	return s.re
}

// withCR lets "$" stand before "\r\n", as the automaton does.
func withCR(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpEndLine {
		cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
		quest := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}}
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{quest, re}}
	}
	out := *re
	out.Sub = nil
	for _, sub := range re.Sub {
		out.Sub = append(out.Sub, withCR(sub))
	}
	return &out
}

// Blocks calls f for every match in b, which is a whole file, with the lines it touches: from the beginning of the first
// to the end of the last, without the final "\n". Matches that touch the same line are reported together. For programs
// that are Multiline.
//
// The automaton or the needles first say whether there is any match; package regexp then finds where.
func (s *Scanner) Blocks(b []byte, f func(Line) bool) {
	if !s.anyBlock(b) {
		return
	}
	cur := Line{Start: -1}
	for _, m := range s.regexp().FindAllSubmatchIndex(b, -1) {
		from, to := m[2], m[3]
		if s.p.opt.Word && !standsAlone(b, from, to) {
			continue
		}
		if from == len(b) && from > 0 && b[from-1] == '\n' { // an empty match after the last line
			continue
		}
		start := bytes.LastIndexByte(b[:from], '\n') + 1
		last := to
		if to > from && b[to-1] == '\n' {
			last--
		}
		_, end := lineBounds(b, last)
		if cur.Start >= 0 && start <= cur.End {
			cur.End = max(cur.End, end)
			cur.Matches++
			continue
		}
		if cur.Start >= 0 && !f(cur) {
			return
		}
		cur = Line{start, end, from, 1}
	}
	if cur.Start >= 0 {
		f(cur)
	}
}

// anyBlock is a quick test that never says no where there is a match.
func (s *Scanner) anyBlock(b []byte) bool {
	if len(s.p.needles) > 0 {
		found := false
		for _, l := range s.p.needles {
			found = found || l.index(b, 0) >= 0
		}
		if !found {
			return false
		}
	}
	return s.d.any(b)
}
