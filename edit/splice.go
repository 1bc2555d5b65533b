package edit

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// line is one line of a text: what it says and how it ends ("" at the end of the text).
type line struct{ body, ending string }

func cutLines(s string, cr bool) []line {
	var all []line
	for s != "" {
		var l line
		l.body, l.ending, s = text.Next(s, cr)
		all = append(all, l)
	}
	return all
}

// compose writes the new text for a match: what the request says, in the line endings and the indentation of the place.
// Errors: *NotFoundError if it stays open how to indent the new text.
func (f *Finder) compose(m *match) error {
	old, new := m.reading.old, m.reading.new
	if f.asGiven(m) {
		m.newText = new
		return nil
	}
	was, said, says := cutLines(string(f.content[m.start:m.end]), f.cr), cutLines(old, f.cr), cutLines(new, f.cr)
	kept := common(was, said, says, m.inside)
	if m.shift != nil {
		if why := m.misfit(was, says, kept); why != "" {
			return &NotFoundError{Nearest: f.region(m, old), Why: why}
		}
	}
	local := ""
	if e := f.endingNear(m.start, m.end); e != text.NoEnding {
		local = e.Chars()
	}
	w := writer{m: m, was: was, local: local, kept: kept}
	for i, l := range says {
		if err := w.line(i, l); err != nil {
			return &NotFoundError{Nearest: f.region(m, old), Why: err.Error()}
		}
	}
	m.newText = w.out.String()
	if m.eof { // the file ends without a line break, and the new text ends where the old one did
		m.newText = strings.TrimSuffix(m.newText, w.last)
	}
	return nil
}

// asGiven reports whether the new text can be written as it stands.
func (f *Finder) asGiven(m *match) bool {
	old, new := m.reading.old, m.reading.new
	if m.eof || string(f.content[m.start:m.end]) != old {
		return false
	}
	if !strings.ContainsAny(new, "\r\n") || unified(old) == unified(new) { // an edit about nothing but line endings
		return true
	}
	switch f.endingNear(m.start, m.end) {
	case text.NoEnding:
		return true
	case text.LF:
		return strings.IndexByte(new, '\r') < 0 && (strings.IndexByte(old, '\r') < 0)
	}
	return false
}

// endingNear is text.EndingNear, with the answer known for a content of one line or without CR.
func (f *Finder) endingNear(start, end int) text.Ending {
	if f.carriage() {
		return text.EndingNear(f.content, start, end)
	}
	if f.oneLine {
		return text.NoEnding
	}
	return text.LF
}

// unified writes every line ending as LF.
func unified(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// misfit demands that the new text begins at the depth of the old one, or has lines in common with it. Otherwise there
// are two ways to read it: as shifted like the old text, or as already at the depth of the file.
func (m *match) misfit(was, says []line, kept []int) string {
	first := -1
	for i, l := range says {
		if strings.TrimSpace(l.body) == "" {
			continue
		}
		if kept[i] >= 0 && !m.inside {
			return ""
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return ""
	}
	body := strings.TrimLeft(says[first].body, " \t")
	indent := strings.TrimSuffix(says[first].body, body)
	there := firstIndent(was)
	if m.inside && indent == "" {
		return ""
	}
	if moved, ok := m.shift.apply(says[first].body); ok && !m.inside && strings.TrimSuffix(moved, body) == there {
		return ""
	}
	return "the lines are there with other indentation, and new_string does not begin at the indentation of old_string, so it is open how deep to put it"
}

// firstIndent returns the white space before the first line that is not blank.
func firstIndent(lines []line) string {
	for _, l := range lines {
		if body := strings.TrimLeft(l.body, " \t"); strings.TrimSpace(body) != "" {
			return l.body[:len(l.body)-len(body)]
		}
	}
	return ""
}

// writer composes the new text line by line.
type writer struct {
	m     *match
	was   []line // of the place in the file
	kept  []int  // for each new line, the line of was that it stands for, or -1
	local string // the line ending there, "" if the file has none
	at    int    // the line of was that the writing has come to
	out   strings.Builder
	last  string // the ending written last
}

func (w *writer) line(i int, l line) error {
	body, ending := l.body, l.ending
	if k := w.kept[i]; k >= 0 {
		body, w.at = w.was[k].body, k
	} else if !w.m.inside || i > 0 {
		moved, ok := w.m.shift.apply(body)
		if !ok {
			return fmt.Errorf("the lines are there with other indentation, and line %d of new_string cannot be moved likewise: %q", i+1, body)
		}
		body = moved
	}
	if ending != "" && w.local != "" {
		ending = w.local
		if w.at < len(w.was) && w.was[w.at].ending != "" {
			ending = w.was[w.at].ending
		}
	}
	w.out.WriteString(body)
	w.out.WriteString(ending)
	w.last = ending
	if w.kept[i] >= 0 {
		w.at++
	}
	return nil
}

// common finds the lines that the new text took over from the old one: a longest common subsequence. If the first line
// of the place begins inside a line of the file, only the first new line can stand for it.
func common(was, said, says []line, inside bool) []int {
	const limit = 1 << 20 // comparisons; beyond, only the start and the end are compared
	kept := make([]int, len(says))
	for i := range kept {
		kept[i] = -1
	}
	if len(was) != len(said) {
		return kept
	}
	lo, a, b := 0, len(said), len(says)
	for lo < a && lo < b && said[lo].body == says[lo].body {
		kept[lo] = lo
		lo++
	}
	for a > lo && b > lo && said[a-1].body == says[b-1].body && !(inside && a == 1) {
		a, b = a-1, b-1
		kept[b] = a
	}
	if inside && lo == 0 && a > 0 {
		lo = 1
	}
	if n, m := a-lo, b-lo; n > 0 && m > 0 && n*m <= limit {
		subsequence(said[lo:a], says[lo:b], func(i, j int) { kept[lo+j] = lo + i })
	}
	return kept
}

// subsequence calls pair for a longest common subsequence of two lists of lines, in order.
func subsequence(x, y []line, pair func(i, j int)) {
	w := len(y) + 1
	best := make([]int32, (len(x)+1)*w) // of x[i:] and y[j:], at i*w+j
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i].body == y[j].body {
				best[i*w+j] = best[(i+1)*w+j+1] + 1
			} else {
				best[i*w+j] = max(best[(i+1)*w+j], best[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].body == y[j].body:
			pair(i, j)
			i, j = i+1, j+1
		case best[(i+1)*w+j] >= best[i*w+j+1]:
			i++
		default:
			j++
		}
	}
}
