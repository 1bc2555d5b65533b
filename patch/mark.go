package patch

import (
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// byteOrder is the byte order mark in UTF-8. To git it is a part of the first line; to most who write patches it cannot be
// seen. So the mark of a file stays, once, unless a hunk shows it and then takes it away or moves it.
const byteOrder = "\uFEFF"

// mark is what becomes of the byte order mark of a file.
type mark uint8

const (
	markStays mark = iota // as it is; a new first line brings none
	markShown             // a hunk has it in its old lines, and so says where it goes
	markFree              // the file has none; a new first line may bring one
)

// firstOld returns the first line of a hunk that must stand in the file, or nil.
func firstOld(lines []Line) *Line {
	for i := range lines {
		if lines[i].Kind != Added {
			return &lines[i]
		}
	}
	return nil
}

// unmarked returns the hunk without the byte order mark in front of its old lines, if that is the one of the file.
func (l *locator) unmarked(h *Hunk) (*Hunk, bool) {
	first := firstOld(h.Lines)
	if first == nil || !l.doc.encoding.BOM || l.doc.lines.Len() == 0 || l.cursor > 0 {
		return nil, false
	}
	bare, ok := strings.CutPrefix(first.body(), byteOrder)
	if !ok || bare != l.doc.line(0) {
		return nil, false
	}
	if !h.Numbered || l.expected(h, 0) != 0 {
		for i := range l.doc.lines.Len() {
			if l.doc.line(i) == first.body() {
				return nil, false // a character of the text, such as where files were joined
			}
		}
	}
	u := *h
	u.Lines = append([]Line(nil), h.Lines...)
	first = firstOld(u.Lines)
	first.Text = strings.TrimPrefix(first.Text, byteOrder)
	return &u, true
}

// hides reports whether a hunk that was placed at the top of a file without a mark has one in its old lines.
func (p *place) hides() bool {
	first := firstOld(p.hunk.Lines)
	return p.at == 0 && first != nil && strings.HasPrefix(first.Text, byteOrder)
}

// settle returns what becomes of the mark after one more hunk was placed.
func (d *doc) settle(m mark, p *place) mark {
	switch {
	case p.marked && (d.encoding.Charset == text.UTF8 || d.encoding.Charset == text.Broken):
		return markShown
	case p.hides():
		return markStays
	}
	return m
}

// top makes the first line of the result what the mark wants.
func (w *composer) top(l newLine) newLine {
	if len(w.out) == 0 && w.mark == markStays {
		l.text = strings.TrimPrefix(l.text, byteOrder)
	}
	return l
}
