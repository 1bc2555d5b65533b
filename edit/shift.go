package edit

import (
	"slices"
	"strings"
)

// shift is how the indentation of a block of the file differs from that of the text it was found with.
// The zero shift changes nothing.
type shift struct {
	add, cut string // white space that every line has more, or less, in the file
	// With add, where the new text goes in further than the old one ever did, and in another style than the file:
	tabs   int // blanks of the new text that make a tab in the file
	blanks int // blanks in the file for a tab of the new text
	// Tabs on one side and blanks on the other: a line of width unit*(n+step) on the side of the blanks has n tabs.
	toTabs, toBlanks bool
	unit, step       int
	known            *[2][]string // indentation in the text and in the file: alignment does not follow the rule
}

// styleOnly reports whether lines stand as deep in the file as in the text, in tabs instead of blanks or the reverse.
func (s shift) styleOnly() bool { return (s.toTabs || s.toBlanks) && s.step == 0 }

// solve finds the shift between lines of a text and of the file, given the indentation of lines that are not blank.
// extra is further indentation in the style of the text.
func (f *Finder) solve(text, file, extra []string) (shift, bool) {
	s, ok := uniform(text, file)
	if ok {
		if s.add != "" && !hasTab(text) {
			s.tabs = stepOf(s.add, file, slices.Concat(text, extra))
			if strings.Trim(s.add, " ") == "" && hasTab(extra) {
				s.blanks = f.indentUnit()
			}
		}
		return s, true
	}
	switch {
	case !hasTab(text) && hasTab(file):
		s, ok = solveTabs(text, file, extra)
	case hasTab(text) && !hasTab(file):
		s, ok = f.solveBlanks(text, file)
	}
	s.known = &[2][]string{text, file}
	return s, ok
}

// uniform finds the white space that all lines have more, or less, in the file.
func uniform(text, file []string) (s shift, ok bool) {
	switch {
	case strings.HasSuffix(file[0], text[0]):
		s.add = strings.TrimSuffix(file[0], text[0])
	case strings.HasSuffix(text[0], file[0]):
		s.cut = strings.TrimSuffix(text[0], file[0])
	default:
		return s, false
	}
	for i := range text {
		if s.add+text[i] != s.cut+file[i] {
			return s, false
		}
	}
	return s, true
}

func hasTab(indents []string) bool { return strings.Contains(strings.Join(indents, ""), "\t") }

// stepOf returns the width of a step in lines that go in by blanks, if the file around them goes in by tabs alone.
func stepOf(added string, file, indents []string) int {
	if strings.Trim(added+strings.Join(file, ""), "\t") != "" || hasTab(indents) {
		return 0
	}
	return plausible(step(widths(indents)))
}

func widths(indents []string) []int {
	w := make([]int, len(indents))
	for i, s := range indents {
		w[i] = len(s)
	}
	return w
}

// step returns the greatest common divisor of the differences between widths, 0 if all are equal.
func step(w []int) int {
	g := 0
	for _, x := range w {
		d := x - w[0]
		if d < 0 {
			d = -d
		}
		for d != 0 {
			g, d = d, g%d
		}
	}
	return g
}

// plausible returns a width that people indent by, or 0.
func plausible(n int) int {
	if n == 2 || n == 3 || n == 4 || n == 8 {
		return n
	}
	return 0
}

// split cuts indentation into its leading tabs and the blanks behind them.
func split(indent string) (tabs, blanks int, ok bool) {
	rest := strings.TrimLeft(indent, "\t")
	return len(indent) - len(rest), len(rest), strings.Trim(rest, " ") == ""
}

// solveTabs is for a text in blanks and a file in tabs, with or without blanks behind them for alignment.
func solveTabs(o, p, extra []string) (shift, bool) {
	level, width := make([]int, len(o)), make([]int, len(o))
	for i := range o {
		tabs, blanks, ok := split(p[i])
		if !ok || len(o[i]) < blanks {
			return shift{}, false
		}
		level[i], width[i] = tabs, len(o[i])-blanks
	}
	unit := slope(width, level)
	if unit == 0 { // all on one level: how wide is a step in the text?
		w := slices.Clone(width)
		for _, s := range extra {
			if !strings.Contains(s, "\t") && !slices.Contains(o, s) {
				w = append(w, len(s))
			}
		}
		if unit = step(w); unit == 0 && level[0] > 0 && width[0]%level[0] == 0 {
			unit = width[0] / level[0]
		}
	}
	return consistent(shift{toTabs: true, unit: unit}, width, level)
}

// solveBlanks is for a text in tabs and a file in blanks.
func (f *Finder) solveBlanks(o, p []string) (shift, bool) {
	level, width := make([]int, len(o)), make([]int, len(o))
	for i := range o {
		tabs, blanks, ok := split(o[i])
		if !ok || len(p[i]) < blanks {
			return shift{}, false
		}
		level[i], width[i] = tabs, len(p[i])-blanks
	}
	unit := slope(width, level)
	if unit == 0 && level[0] > 0 && width[0]%level[0] == 0 {
		unit = plausible(width[0] / level[0])
	}
	if unit == 0 {
		unit = f.indentUnit()
	}
	return consistent(shift{toBlanks: true, unit: unit}, width, level)
}

// slope returns the width of a level from two lines on different ones, 0 if all are on the same.
func slope(width, level []int) int {
	for i := range level {
		if d := level[i] - level[0]; d != 0 && (width[i]-width[0])%d == 0 {
			return max(0, (width[i]-width[0])/d)
		}
	}
	return 0
}

// consistent completes s if all lines agree on it.
func consistent(s shift, width, level []int) (shift, bool) {
	if s.unit < 1 || s.unit > 8 || (width[0]-level[0]*s.unit)%s.unit != 0 {
		return shift{}, false
	}
	s.step = width[0]/s.unit - level[0]
	for i := range width {
		if width[i] != s.unit*(level[i]+s.step) {
			return shift{}, false
		}
	}
	return s, true
}

// apply indents a line of the text as the file does. It fails for a line that would begin left of the margin, or whose
// style contradicts the shift. A nil shift changes nothing.
func (s *shift) apply(line string) (string, bool) {
	if s == nil {
		return line, true
	}
	body := strings.TrimLeft(line, " \t")
	if strings.TrimSpace(body) == "" {
		return line, true
	}
	indent := line[:len(line)-len(body)]
	if s.known != nil {
		if i := slices.Index(s.known[0], indent); i >= 0 {
			return s.known[1][i] + body, true
		}
	}
	switch {
	case s.toTabs && !strings.Contains(indent, "\t"):
		tabs := len(indent)/s.unit - s.step
		if tabs < 0 {
			return "", false
		}
		return strings.Repeat("\t", tabs) + strings.Repeat(" ", len(indent)%s.unit) + body, true
	case s.toBlanks:
		tabs, blanks, ok := split(indent)
		width := s.unit*(tabs+s.step) + blanks
		if tabs == 0 && blanks > 0 {
			width, ok = blanks, s.step == 0
		}
		return strings.Repeat(" ", max(0, width)) + body, ok && width >= 0
	case s.toTabs:
		return line, s.step == 0 // already in the style of the file
	case s.cut != "":
		return strings.CutPrefix(line, s.cut)
	case s.tabs > 0 && !strings.Contains(indent, "\t"):
		return s.add + strings.Repeat("\t", len(indent)/s.tabs) + strings.Repeat(" ", len(indent)%s.tabs) + body, true
	case s.blanks > 0:
		tabs := len(indent) - len(strings.TrimLeft(indent, "\t"))
		return s.add + strings.Repeat(" ", tabs*s.blanks) + line[tabs:], true
	}
	return s.add + line, true
}

// indentUnit returns by how many blanks lines of the file most often go in, 0 if none do.
func (f *Finder) indentUnit() int {
	const look = 2000 // lines
	var votes [9]int
	lines, last, best := f.index(), 0, 0
	for i := range min(lines.Len(), look) {
		body := lines.Body(i)
		n := 0
		for n < len(body) && body[n] == ' ' {
			n++
		}
		if n == len(body) {
			continue
		}
		if d := n - last; d >= 2 && d < len(votes) {
			votes[d]++
		}
		last = n
	}
	for d, n := range votes {
		if n > votes[best] {
			best = d
		}
	}
	return best
}
