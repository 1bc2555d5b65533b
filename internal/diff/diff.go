// Package diff compares two texts line by line.
//
// [Compare] answers with the changes that make a into b, as ranges of lines and of bytes; [AppendUnified] prints them.
// The cost follows the size of the change, not of the text: equal bytes at both ends are skipped by comparing memory,
// so a small edit of a large file costs two passes over it. Two texts that have little in common are bounded too: where
// the shortest script would cost too much, a longer correct one is taken.
//
// A line includes its line feed, so that "x" and "x\n" differ; carriage returns are ordinary bytes.
package diff

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Range is a run of whole lines of one text: lines [Line, End), counted from 0, which are the bytes [Off, OffEnd).
// An empty range is a place between lines.
type Range struct {
	Line, End   int
	Off, OffEnd int
}

// Len returns the number of lines.
func (r Range) Len() int { return r.End - r.Line }

// Change replaces the lines A of the old text by the lines B of the new one.
type Change struct {
	A, B Range
}

// Compare returns the changes that make a into b, in order, with at least one equal line between two of them.
// Equal texts have none.
func Compare(a, b []byte) []Change {
	if len(a) == 0 || len(b) == 0 {
		return whole(a, b)
	}
	pre, suf := commonEnds(a, b)
	if pre == len(a) && pre == len(b) {
		return nil
	}
	// A change may slide over some of the equal lines.
	pre, _ = back(a, pre, maxSlide)
	end, _ := ahead(a, len(a)-suf, maxSlide)
	suf = len(a) - end
	first := bytes.Count(a[:pre], newline)
	x, y := split(a, pre, len(a)-suf), split(b, pre, len(b)-suf)
	ida, idb := intern(x, y)
	changes := solve(ida, idb)
	changes = slide(changes, x, y, ida, idb)
	for i := range changes {
		changes[i].A.place(x, first)
		changes[i].B.place(y, first)
	}
	return changes
}

// whole is the change between a text and an empty one.
func whole(a, b []byte) []Change {
	if len(a) == len(b) {
		return nil
	}
	return []Change{{A: Range{End: Lines(a), OffEnd: len(a)}, B: Range{End: Lines(b), OffEnd: len(b)}}}
}

// Count returns the number of lines that the changes add and remove.
func Count(changes []Change) (added, removed int) {
	for _, c := range changes {
		added += c.B.Len()
		removed += c.A.Len()
	}
	return added, removed
}

// Lines returns the number of lines of text; a last line without a line feed counts.
func Lines(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

var newline = []byte{'\n'}

// lines is the middle of a text, cut into lines: line i is text[off[i]:off[i+1]].
type lines struct {
	text []byte
	off  []int
}

func (l lines) len() int          { return len(l.off) - 1 }
func (l lines) line(i int) []byte { return l.text[l.off[i]:l.off[i+1]] }
func (r *Range) place(l lines, first int) {
	r.Off, r.OffEnd = l.off[r.Line], l.off[r.End]
	r.Line += first
	r.End += first
}

func split(text []byte, from, to int) lines {
	mid := text[from:to]
	off := make([]int, 1, bytes.Count(mid, newline)+2)
	off[0] = from
	for p := from; p < to; {
		n := bytes.IndexByte(text[p:to], '\n')
		if n < 0 {
			p = to
		} else {
			p += n + 1
		}
		off = append(off, p)
	}
	return lines{text, off}
}

// intern gives equal lines of both texts equal numbers.
func intern(a, b lines) (ida, idb []int32) {
	ids := make(map[string]int32, a.len())
	number := func(l lines) []int32 {
		out := make([]int32, l.len())
		for i := range out {
			line := l.line(i)
			id, ok := ids[string(line)]
			if !ok {
				id = int32(len(ids))
				ids[string(line)] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

// commonEnds returns the sizes of the equal whole lines at the start and at the end. They do not overlap.
func commonEnds(a, b []byte) (pre, suf int) {
	pre = commonPrefix(a, b)
	if pre == len(a) && pre == len(b) {
		return pre, 0
	}
	pre = bytes.LastIndexByte(a[:pre], '\n') + 1
	suf = commonSuffix(a[pre:], b[pre:])
	// The suffix must begin at the start of a line in both texts.
	starts := func(t []byte, at int) bool { return at == pre || t[at-1] == '\n' }
	if !starts(a, len(a)-suf) || !starts(b, len(b)-suf) {
		n := bytes.IndexByte(a[len(a)-suf:], '\n')
		if n < 0 {
			return pre, 0
		}
		suf -= n + 1
	}
	return pre, suf
}

const block = 4096

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i+8 <= n {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)/8
		}
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= block && bytes.Equal(a[i-block:i], b[i-block:i]) {
		i -= block
	}
	for i >= 8 {
		if d := binary.LittleEndian.Uint64(a[i-8:]) ^ binary.LittleEndian.Uint64(b[i-8:]); d != 0 {
			return n - i + bits.LeadingZeros64(d)/8
		}
		i -= 8
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}
