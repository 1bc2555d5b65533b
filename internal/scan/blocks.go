package scan

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Matches that span lines have no lines to be cut at, so one lane of the automaton runs over the text. It finds where the
// first match ends, and on the way it notes the last place where no match was under way: the match begins there or
// later. Package regexp then finds the match itself, but reads only from that place on.

// Blocks calls f for every match in b, which is a whole file, with the lines it touches: from the beginning of the first
// to the end of the last, without the final "\n". Matches that touch the same line are reported together. For programs
// that are Multiline.
func (s *Scanner) Blocks(b []byte, f func(Line) bool) {
	if !s.anyNeedle(b) {
		return
	}
	cur := Line{Start: -1}
	more := true
	s.matches(b, func(m [2]int) bool {
		l := touched(b, m)
		if cur.Start >= 0 && l.Start <= cur.End {
			cur.End = max(cur.End, l.End)
			cur.Matches++
			return true
		}
		if cur.Start >= 0 {
			more = f(cur)
		}
		cur = l
		return more
	})
	if more && cur.Start >= 0 {
		f(cur)
	}
}

// matches calls f for the matches that package regexp finds in b, one after the other.
func (s *Scanner) matches(b []byte, f func([2]int) bool) {
	from, ok := s.d.under(b, 0)
	if !ok {
		return
	}
	s.compile()
	if s.p.opt.Word || s.p.nfa.asserts&begText != 0 {
		// What stands before the match belongs to the expression, which therefore cannot begin in the middle.
		for _, i := range s.re.FindAllSubmatchIndex(b, -1) {
			m := [2]int{i[2], i[3]}
			if !afterLast(b, m) && (!s.p.opt.Word || standsAlone(b, m[0], m[1])) && !f(m) {
				return
			}
		}
		return
	}
	for end := -1; ok; from, ok = s.d.under(b, from) {
		m, found := s.leftmost(b, from)
		if !found {
			return
		}
		from = m[1]
		if m[0] == m[1] {
			_, n := utf8.DecodeRune(b[from:])
			from += max(n, 1)
		}
		if (m[0] < m[1] || m[1] != end) && !afterLast(b, m) && !f(m) {
			return
		}
		if end = m[1]; from > len(b) {
			return
		}
	}
}

// afterLast reports whether a match is empty and stands after the last line.
func afterLast(b []byte, m [2]int) bool {
	return m[0] == m[1] && m[0] == len(b) && len(b) > 0 && b[len(b)-1] == '\n'
}

// touched returns the lines of a match.
func touched(b []byte, m [2]int) Line {
	start := bytes.LastIndexByte(b[:m[0]], '\n') + 1
	last := m[1]
	if last > m[0] && b[last-1] == '\n' {
		last--
	}
	_, end := lineBounds(b, last)
	return Line{start, end, m[0], 1}
}

func (s *Scanner) anyNeedle(b []byte) bool {
	for _, l := range s.p.needles {
		if l.index(b, 0) >= 0 {
			return true
		}
	}
	return len(s.p.needles) == 0
}

// leftmost returns the leftmost match that begins at or after from.
func (s *Scanner) leftmost(b []byte, from int) (m [2]int, ok bool) {
	re, start := s.re, 0
	if from > 0 {
		_, before := utf8.DecodeLastRune(b[:from])
		re, start = s.next, from-before
	}
	i := re.FindSubmatchIndex(b[start:])
	if i == nil {
		return m, false
	}
	return [2]int{start + i[2], start + i[3]}, true
}

// under runs from a position to the end of a match, or to where the automaton quits, and returns the last place before
// it where no match was under way.
func (d *dfa) under(b []byte, from int) (idle int, ok bool) {
	ctx := uint8(afterText)
	if from > 0 {
		ctx = context(b[from-1])
		if b[from-1] >= utf8.RuneSelf && d.n.asserts&edges != 0 {
			return from, true
		}
	}
	if d.slow {
		return from, true
	}
	d.work += len(b) - from
	s := d.begin(ctx)
	idle = from
	for i := from; i < len(b); i++ {
		to := d.trans[s+uint32(b[i])]
		if to&special != 0 {
			if to == dUnknown {
				to = d.step(&s, b[i], nil)
			}
			if to&special != 0 {
				return idle, true
			}
		}
		s = to
		if d.idle[s>>8] && d.u8[s>>8] == 0 {
			idle = i + 1
		}
	}
	k := s >> 8
	end := edgesBetween(d.ctx[k] == afterWord, false) | lineHolding(d.ctx[k], true) | endText
	return idle, d.u8[k] != 0 || len(d.sets[k]) > 0 && slices.Contains(d.resolve(d.sets[k], end), d.n.match)
}

// compile makes the expressions for package regexp.
func (s *Scanner) compile() {
	if s.re != nil {
		return
	}
	expr := "(" + withCR(s.p.re).String() + ")"
	switch {
	case s.p.opt.Line:
		expr = "(?m:^)" + expr + "\r?(?m:$)"
	case s.p.opt.Word:
		expr = "(?m:^|[^" + wordBody + "])" + expr + "(?m:$|[^" + wordBody + "])"
	}
	s.re = regexp.MustCompile(expr)
	s.next = regexp.MustCompile(`\A(?s:.)(?s:.*?)` + expr)
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
