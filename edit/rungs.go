package edit

import (
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// rungs is a set of rungs; Exact is never in it.
type rungs uint16

func (s *rungs) add(r Rung) { *s |= 1 << r }

// top returns the loosest rung of the set.
func (s rungs) top() Rung {
	for r := Escapes; r > Exact; r-- {
		if s&(1<<r) != 0 {
			return r
		}
	}
	return Exact
}

var notes = [...]string{
	LineEndings:   "line endings differ",
	TrailingSpace: "white space at line ends differs",
	LineNumbers:   "line numbers removed",
	DiffMarkers:   "diff markers removed",
	Indentation:   "indentation adapted to the file",
	Punctuation:   "typographic characters taken for plain ones",
	Escapes:       "escapes taken for the characters they stand for",
}

// note says in words what was overlooked.
func (s rungs) note() string {
	var all []string
	for r := LineEndings; r <= Escapes; r++ {
		if s&(1<<r) != 0 {
			all = append(all, notes[r])
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "old_string did not match exactly: " + strings.Join(all, ", ")
}

// rung returns the loosest rung that a match needed.
func (f *Finder) rung(m *match) Rung { return f.differences(m).top() }

// differences returns what had to be overlooked for a match.
func (f *Finder) differences(m *match) rungs {
	var s rungs
	if m.reading == nil {
		return s
	}
	if m.reading.rung != Exact {
		s.add(m.reading.rung)
	}
	there := f.content[m.start:m.end]
	if string(there) == m.reading.old {
		return s
	}
	if m.eof {
		s.add(LineEndings)
	}
	if m.inside {
		s.add(Indentation)
	}
	was, said := cutLines(string(there), f.cr), cutLines(m.reading.old, f.cr)
	for i := range min(len(was), len(said)) {
		if was[i].ending != said[i].ending && was[i].ending != "" && said[i].ending != "" {
			s.add(LineEndings)
		}
		s |= lineDifferences(was[i].body, said[i].body)
	}
	return s
}

func lineDifferences(a, b string) (s rungs) {
	if a == b {
		return s
	}
	if text.WithEnding(a, text.LF) != a {
		s.add(LineEndings)
	}
	if !samePunctuation(a, b) {
		s.add(Punctuation)
		a, b = foldString(a), foldString(b)
	}
	a2, b2 := strings.TrimRight(a, " \t"), strings.TrimRight(b, " \t")
	if len(a)-len(a2) != len(b)-len(b2) || a[len(a2):] != b[len(b2):] {
		s.add(TrailingSpace)
	}
	if a2 != b2 {
		s.add(Indentation)
	}
	return s
}

// samePunctuation reports whether two lines are equal but for white space around them.
func samePunctuation(a, b string) bool {
	return strings.Trim(a, " \t") == strings.Trim(b, " \t")
}
