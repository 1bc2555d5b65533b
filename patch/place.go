package patch

import (
	"strings"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
)

// place is where a hunk goes.
type place struct {
	hunk *Hunk
	part
	found  bool
	at     int         // the line of the file, from 0, where the first old line stands, or before which new ones go
	marked bool        // the first old line is that of the file with its byte order mark
	block  *edit.Block // how the old lines were found; nil where they stand exactly at their number, or there are none
}

// olds returns the texts of the lines that must stand in the file, without carriage returns at their ends.
func olds(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if l.Kind != Added {
			out = append(out, l.body())
		}
	}
	return out
}

// news returns the texts of the lines that shall stand there.
func news(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if l.Kind != Removed {
			out = append(out, l.body())
		}
	}
	return out
}

func addedTexts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if l.Kind == Added {
			out = append(out, l.body())
		}
	}
	return out
}

// splices returns the runs of lines that the hunk replaces. Context is not among them, so it keeps its bytes.
func (p *place) splices(d *doc) ([]splice, *Error) {
	var out []splice
	at, open := p.at, false
	w := writer{place: p, ending: d.ending(p.at, p.at+len(olds(p.lines))), explicit: p.explicit(d)}
	for i, l := range p.lines {
		if l.Kind == Context {
			at, open = at+1, false
			continue
		}
		if !open {
			out = append(out, splice{from: at, to: at})
			open = true
		}
		s := &out[len(out)-1]
		if l.Kind == Removed {
			at++
			s.to = at
			continue
		}
		n, err := w.line(&p.lines[i], at)
		if err != nil {
			return nil, err
		}
		s.add = append(s.add, n)
	}
	return out, nil
}

// writer writes the new lines of a hunk.
type writer struct {
	*place
	ending   string // of the lines around
	explicit bool   // the hunk says itself how lines end
}

// line returns an added line as it is written before the given line of the file.
func (w *writer) line(l *Line, at int) (newLine, *Error) {
	n := newLine{text: l.body(), ending: w.ending}
	if w.explicit {
		n.ending = l.Text[len(n.text):] + "\n"
	}
	// At a ragged place the removed lines stand exactly as they were written, so the new ones do too.
	if w.block != nil && !w.block.Ragged {
		bare, shown := strings.CutPrefix(n.text, byteOrder)
		moved, ok := w.block.Adapt(bare, at-w.at-1)
		if shown {
			moved = byteOrder + moved
		}
		if !ok {
			return n, fail(NotFound, "the old lines are at line %d with another indentation, and the new line %q cannot be indented likewise; copy the lines as they are in the file", w.at+1, clip(n.text))
		}
		n.text = moved
	}
	return n, nil
}

// explicit reports whether the hunk speaks about carriage returns: it has some, and where its old lines have one the lines
// of the file have too, and where not, not.
func (p *place) explicit(d *doc) bool {
	has, at := false, p.at
	for _, l := range p.lines {
		cr := l.body() != l.Text
		has = has || cr
		if l.Kind == Added {
			continue
		}
		if end := d.lines.Ending(at); end != text.NoEnding && cr != (end == text.CRLF) {
			return false
		}
		at++
	}
	return has
}

// finish returns what the hunk says about the end of the file.
func (p *place) finish(d *doc) finish {
	if p.at+len(olds(p.lines)) != d.lines.Len() {
		return asBefore
	}
	old, new, any := false, false, false
	for _, l := range p.lines {
		if l.Kind != Added {
			old = l.NoEOL
		}
		if l.Kind != Removed {
			new, any = l.NoEOL, true
		}
	}
	switch {
	case !any || old == new:
		return asBefore
	case new:
		return cutOff
	}
	return closed
}
