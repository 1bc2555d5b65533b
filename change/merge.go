package change

import (
	"bytes"

	"github.com/tackle-dev/tackle/internal/diff"
)

// Span is a run of lines: the first line, counted from 1, and how many. A Span of no lines stands before line Line.
type Span struct {
	Line, Count int
}

// Region is a place where both sides of a merge changed the same or touching lines in different ways.
type Region struct {
	Base, Mine, Theirs Span
	Merged             Span // the lines of the result that the markers take up
}

// MergeOptions say how conflicts are written. The zero value writes two-way markers.
type MergeOptions struct {
	// Diff3 writes the lines of the base between the two sides too.
	Diff3 bool
	// MineName, BaseName and TheirsName stand behind the markers. Default "mine", "base" and "theirs".
	MineName, BaseName, TheirsName string
}

// Merge joins the changes from base to mine with those from base to theirs, line by line. Changes that lie apart are both
// taken, and so is a change that both made. The others are conflicts: the result holds both sides between markers, and
// a Region for each is returned. Changes of neighbouring lines touch, so they conflict.
//
// Where there is no conflict, Merge(b, m, t) equals Merge(b, t, m).
func Merge(base, mine, theirs []byte) (merged []byte, conflicts []Region) {
	return MergeOptions{}.Merge(base, mine, theirs)
}

// Merge is [Merge] with the markers of o.
func (o MergeOptions) Merge(base, mine, theirs []byte) (merged []byte, conflicts []Region) {
	switch {
	case bytes.Equal(mine, theirs), bytes.Equal(base, theirs):
		return bytes.Clone(mine), nil
	case bytes.Equal(base, mine):
		return bytes.Clone(theirs), nil
	}
	m := merger{MergeOptions: o, base: base,
		mine:   side{text: mine, changes: diff.Compare(base, mine)},
		theirs: side{text: theirs, changes: diff.Compare(base, theirs)}}
	for len(m.mine.changes) > 0 || len(m.theirs.changes) > 0 {
		m.step()
	}
	m.add(base[m.at:])
	return m.out, m.conflicts
}

// side is one of the changed texts.
type side struct {
	text    []byte
	changes []diff.Change // that are not merged yet
	last    diff.Change   // the last one that is
}

// take removes the changes that touch or overlap the base range r, widens r by them, and reports whether there were any.
func (s *side) take(r *diff.Range) bool {
	n := 0
	for n < len(s.changes) && s.changes[n].A.Line <= r.End {
		if s.changes[n].A.End > r.End {
			r.End, r.OffEnd = s.changes[n].A.End, s.changes[n].A.OffEnd
		}
		n++
	}
	if n > 0 {
		s.last, s.changes = s.changes[n-1], s.changes[n:]
	}
	return n > 0
}

type merger struct {
	MergeOptions
	base         []byte
	mine, theirs side
	at           int // the base is merged up to this byte
	out          []byte
	lines        int // line feeds in out
	conflicts    []Region
}

// step merges the next group of changes that hang together.
func (m *merger) step() {
	first := &m.mine
	if len(m.mine.changes) == 0 || len(m.theirs.changes) > 0 && m.theirs.changes[0].A.Line < m.mine.changes[0].A.Line {
		first = &m.theirs
	}
	r := first.changes[0].A
	before := [2]diff.Change{m.mine.last, m.theirs.last}
	var byMine, byTheirs bool
	for more := true; more; {
		a, b := m.mine.take(&r), m.theirs.take(&r)
		byMine, byTheirs = byMine || a, byTheirs || b
		more = a || b
	}
	m.add(m.base[m.at:r.Off])
	m.at = r.OffEnd
	mine, theirs := m.mine.image(r, before[0]), m.theirs.image(r, before[1])
	mineText, theirsText := m.mine.text[mine.Off:mine.OffEnd], m.theirs.text[theirs.Off:theirs.OffEnd]
	switch {
	case !byTheirs, bytes.Equal(mineText, theirsText):
		m.add(mineText)
	case !byMine:
		m.add(theirsText)
	default:
		m.conflict(r, mine, theirs)
	}
}

// image returns the range of the side's text that corresponds to the base range r, whose borders lie between changes.
// Before is the last change that lies wholly before r.
func (s *side) image(r diff.Range, before diff.Change) diff.Range {
	after := s.last
	shift := func(c diff.Change) (lines, bytes int) { return c.B.End - c.A.End, c.B.OffEnd - c.A.OffEnd }
	l0, b0 := shift(before)
	l1, b1 := shift(after)
	return diff.Range{Line: r.Line + l0, Off: r.Off + b0, End: r.End + l1, OffEnd: r.OffEnd + b1}
}

func (m *merger) conflict(r, mine, theirs diff.Range) {
	m.marker("<<<<<<<", m.MineName, "mine")
	start := m.lines - 1
	m.add(m.mine.text[mine.Off:mine.OffEnd])
	if m.Diff3 {
		m.marker("|||||||", m.BaseName, "base")
		m.add(m.base[r.Off:r.OffEnd])
	}
	m.marker("=======", "", "")
	m.add(m.theirs.text[theirs.Off:theirs.OffEnd])
	m.marker(">>>>>>>", m.TheirsName, "theirs")
	m.conflicts = append(m.conflicts, Region{
		Base: span(r), Mine: span(mine), Theirs: span(theirs),
		Merged: Span{start + 1, m.lines - start},
	})
}

func span(r diff.Range) Span { return Span{r.Line + 1, r.Len()} }

func (m *merger) add(text []byte) {
	m.out = append(m.out, text...)
	m.lines += bytes.Count(text, []byte{'\n'})
}

// marker appends a marker line; a last line of a text that has no end gets one before it.
func (m *merger) marker(sign, name, fallback string) {
	if n := len(m.out); n > 0 && m.out[n-1] != '\n' {
		m.add([]byte{'\n'})
	}
	if name == "" {
		name = fallback
	}
	if name != "" {
		sign += " " + name
	}
	m.add([]byte(sign + "\n"))
}
