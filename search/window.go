package search

import (
	"bytes"
	"io"
)

// big searches a file that is larger than one read, through a window: the whole lines in it are searched, then the
// unfinished line and the context that a later match may need move to the front, and the rest is filled up. first is
// what was read so far.
func (ls *lineSearch) big(t *tally, rel string, first []byte, rest OpenFile) error {
	n := copy(ls.buf, first) // the same place, unless a byte order mark was dropped
	ls.checked = true        // every window is, here
	lo, fresh := 0, 0        // where unsearched lines and unread bytes begin
	for {
		if ls.refuse(ls.buf[:n], fresh) {
			return nil
		}
		text := ls.buf[:n]
		if hi := ls.wholeLines(t, rel, text, lo, fresh); hi > lo {
			if err := ls.region(text, lo, hi); err != nil {
				return err
			}
			var from int
			from, lo = ls.carry(text, hi)
			n = copy(ls.buf, text[from:])
		}
		fresh = n
		if n == len(ls.buf) {
			ls.grow(n, 2*n)
		}
		k, err := rest.Read(ls.buf[n:])
		t.bytes += int64(k)
		n += k
		if k == 0 && (err == nil || err == io.EOF) {
			if lo < n {
				return ls.region(ls.buf[:n], lo, n)
			}
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
	}
}

// wholeLines returns the end of the last whole line, or lo when there is none yet. A line that outgrows the buffer is
// taken in pieces.
func (ls *lineSearch) wholeLines(t *tally, rel string, text []byte, lo, fresh int) int {
	if i := bytes.LastIndexByte(text[fresh:], '\n'); i >= 0 {
		return fresh + i + 1
	}
	if len(text)-lo < maxLineBytes {
		return lo
	}
	if !ls.long {
		ls.long = true
		t.skip(LongLine, rel, "")
	}
	return len(text)
}

// carry decides what stays in the window when it is searched up to hi, and tells the emitter: text[from:], of which the
// first lo bytes are searched already. When a line was cut at hi, its end is searched again with the next piece, and
// what was found in this one is not reported again.
func (ls *lineSearch) carry(text []byte, hi int) (from, lo int) {
	if text[hi-1] != '\n' {
		if ls.skip != 0 && (ls.counts == 0 || ls.shown < hi) {
			ls.skip = -1
		} else {
			ls.skip = 0
		}
		from = hi - overlap
		ls.move(from)
		return from, 0
	}
	ls.skip = -1
	if from = ls.needed(hi); from < hi-maxLineBytes { // context of monstrous lines
		from = hi
	}
	ls.move(from)
	return from, hi - from
}
