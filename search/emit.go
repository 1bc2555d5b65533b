package search

import (
	"bytes"
	"unsafe"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/scan"
)

// An emitter turns the matching lines of one file into output lines: numbers, context, gaps, cut to the width. It sees
// the file through a window that moves; positions are relative to the window.
type emitter struct {
	before, after int
	columns       int  // characters of a line; negative: all
	content       bool // lines are wanted, not only counts

	b       []byte // the window
	number  int    // of the line that begins at counted
	counted int
	shown   int // end of the last line that was emitted, with its "\n"
	last    int // its number; 0: none yet
	pending int // context lines still due after a match

	wanted int    // output lines to be kept; negative: all
	keep   int    // of those, still to be kept
	lines  []Line // kept, Text not set yet
	ends   []int  // end of each text in arena
	arena  []byte
	total  int // output lines, kept or not
	counts int // matching lines
}

// begin prepares for a file.
func (e *emitter) begin(keep int) {
	e.number, e.counted, e.shown, e.last, e.pending = 1, 0, 0, 0, 0
	e.lines, e.ends, e.arena = e.lines[:0], e.ends[:0], e.arena[:0]
	e.wanted, e.keep, e.total, e.counts = keep, keep, 0, 0
}

// move says that the first n bytes of the window are about to be dropped.
func (e *emitter) move(n int) {
	if e.content && e.keep != 0 && n > e.counted {
		e.number += bytes.Count(e.b[e.counted:n], newline)
		e.counted = n
	}
	e.counted -= min(n, e.counted)
	e.shown -= min(n, e.shown)
}

// needed returns the position from which bytes must stay in the window when everything up to pos is done: the context of
// a match to come.
func (e *emitter) needed(pos int) int {
	for n := 0; n < e.before && pos > e.shown; n++ {
		pos = bytes.LastIndexByte(e.b[:pos-1], '\n') + 1
	}
	return max(pos, min(e.shown, len(e.b)))
}

var newline = []byte{'\n'}

// match emits a matching line, and what context is due before it.
func (e *emitter) match(l scan.Line) {
	e.counts += l.Matches
	e.context(l.Start)
	for from := l.Start; ; {
		to := l.End
		if i := bytes.IndexByte(e.b[from:l.End], '\n'); i >= 0 { // a match that spans lines
			to = from + i
		}
		e.line(from, to, l.At, false)
		if to >= l.End {
			break
		}
		from = to + 1
	}
	e.pending = e.after
}

// context emits the lines that are due after the last match, up to a new one at start, and those due before that.
func (e *emitter) context(start int) {
	e.trailing(start)
	if e.before == 0 {
		return
	}
	for from := e.needed(start); from < start; {
		from = e.contextLine(from)
	}
}

// trailing emits pending context, from what was shown last up to limit.
func (e *emitter) trailing(limit int) {
	for e.pending > 0 && e.shown < limit {
		e.contextLine(e.shown)
		e.pending--
	}
}

func (e *emitter) contextLine(from int) (next int) {
	to := len(e.b)
	if i := bytes.IndexByte(e.b[from:], '\n'); i >= 0 {
		to = from + i
	}
	e.line(from, to, from, true)
	return to + 1
}

// line emits b[from:to].
func (e *emitter) line(from, to, at int, context bool) {
	e.total++
	e.shown = min(to+1, len(e.b))
	if !e.content || e.keep == 0 {
		return
	}
	e.number += bytes.Count(e.b[e.counted:from], newline)
	e.counted = from
	gap := e.last > 0 && e.number != e.last+1
	e.last = e.number
	e.keep--
	text := bytes.TrimSuffix(e.b[from:to], cr)
	l := Line{Number: e.number, Context: context, Gap: gap}
	if e.columns >= 0 && len(text) > e.columns {
		at = min(max(at, from), from+len(text)) - from
		p := clip.LineAt(unsafe.String(unsafe.SliceData(text), len(text)), e.columns, at, at)
		l.Before, l.After = p.Before(), p.After()
		e.arena = append(e.arena, p.Text...)
	} else {
		e.arena = append(e.arena, text...)
	}
	e.lines = append(e.lines, l)
	e.ends = append(e.ends, len(e.arena))
}

var cr = []byte{'\r'}

// take returns the kept lines with their text, in memory of their own.
func (e *emitter) take() []Line {
	if len(e.lines) == 0 {
		return nil
	}
	text := string(e.arena)
	out := make([]Line, len(e.lines))
	from := 0
	for i, l := range e.lines {
		l.Text = text[from:e.ends[i]]
		from = e.ends[i]
		out[i] = l
	}
	e.lines, e.ends, e.arena = e.lines[:0], e.ends[:0], e.arena[:0]
	return out
}
