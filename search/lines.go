package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/tackle-dev/tackle/internal/scan"
)

const (
	firstRead    = 256 << 10 // files up to this size are read with one call
	maxLineBytes = 8 << 20   // a longer line is searched in pieces
	maxWhole     = 32 << 20  // files that must be in memory as a whole: Multiline, UTF-16
	overlap      = 4 << 10   // between the pieces of a very long line
)

// lineSearch searches files for one worker.
type lineSearch struct {
	emitter
	q        *GrepQuery
	s        *scan.Scanner
	explicit bool // the root is a file: it is searched to the end even when it is binary
	multi    bool // matches may span lines
	stopped  func() bool
	flush    func()      // hands over what was kept so far, when it becomes much; nil: keep it
	large    chan []byte // the large buffers, of which there are few; nil ones are made when needed

	rel     string
	buf     []byte
	first   []byte // the buffer for ordinary files, while buf is a large one
	text    []byte // a decoded file
	checked bool   // the window was looked through for NUL bytes
	binary  bool
	again   bool // search the region again: at its first match it turned out to be binary
	long    bool // a line was cut into pieces
	skip    int  // a match that begins here was reported with the piece of its line before; -1: none
}

var (
	errStop     = errors.New("enough")
	errTooLarge = errors.New("too large")
)

// file searches one file. It returns false when there is nothing to report: not for lack of matches (counts says), but
// because the file was skipped.
func (ls *lineSearch) file(t *tally, d Dir, rel string, base, keep int) bool {
	ls.begin(keep)
	ls.rel = rel
	ls.binary, ls.checked, ls.again, ls.long, ls.skip = false, false, false, false, -1
	defer ls.release()
	err := ls.open(t, d, rel, base)
	if err != nil && err != errStop {
		ls.fail(t, rel, err)
		return false
	}
	return ls.judge(t, rel)
}

func (ls *lineSearch) open(t *tally, d Dir, rel string, base int) error {
	n, rest, err := d.Read(rel[base:], ls.buf[:firstRead])
	if err != nil {
		return err
	}
	t.bytes += int64(n)
	if rest != nil {
		defer rest.Close()
		if ls.q.MaxSize > 0 {
			if size, err := rest.Size(); err == nil && size > ls.q.MaxSize {
				return fmt.Errorf("%w: %d bytes", errTooLarge, size)
			}
		}
	}
	data := ls.buf[:n]
	order := utf16Order(data)
	if order != nil || ls.multi {
		if data, err = ls.whole(t, data, rest); err != nil {
			return err
		}
		rest = nil
	}
	if order != nil {
		ls.text = decodeUTF16(ls.text[:0], data, order)
		data = ls.text
	}
	data = bytes.TrimPrefix(data, bomUTF8)
	if rest != nil {
		return ls.big(t, rel, data, rest)
	}
	if ls.q.Mode == FilesWithoutMatch && ls.refuse(data, 0) {
		return nil
	}
	return ls.region(data, 0, len(data))
}

// judge applies the rules for binary files to the outcome.
func (ls *lineSearch) judge(t *tally, rel string) bool {
	switch {
	case !ls.binary:
		return true
	case ls.explicit:
		ls.take()
		ls.total = 0
		return true
	case ls.q.Mode == Content && ls.counts > 0:
		return true
	}
	t.skip(Binary, rel, "")
	return false
}

func (ls *lineSearch) fail(t *tally, rel string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since it was listed
	case errors.Is(err, ErrNotRegular):
		t.skip(Special, rel, "")
	case errors.Is(err, errTooLarge):
		t.skip(TooLarge, rel, strings.TrimPrefix(err.Error(), errTooLarge.Error()+": "))
	default:
		t.skip(Unreadable, rel, reasonOf(err))
	}
}

// whole reads a file to its end.
func (ls *lineSearch) whole(t *tally, data []byte, rest OpenFile) ([]byte, error) {
	if rest == nil {
		return data, nil
	}
	size, err := rest.Size()
	if err == nil && size > maxWhole {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, size)
	}
	ls.grow(len(data), max(int(size)+1, 2*firstRead))
	for n := len(data); ; {
		k, err := rest.Read(ls.buf[n:])
		t.bytes += int64(k)
		n += k
		switch {
		case k == 0 && (err == nil || err == io.EOF):
			return ls.buf[:n], nil
		case err != nil && err != io.EOF:
			return nil, err
		case n > maxWhole:
			return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, maxWhole)
		case n == len(ls.buf):
			ls.grow(n, 2*n)
		}
	}
}

// grow makes the buffer larger and keeps its first used bytes.
func (ls *lineSearch) grow(used, size int) {
	old := ls.buf
	if ls.first == nil {
		ls.first = ls.buf
		ls.buf = <-ls.large
	}
	if cap(ls.buf) < size {
		ls.buf = make([]byte, size)
	}
	ls.buf = ls.buf[:size]
	copy(ls.buf, old[:used])
}

// release gives a large buffer back.
func (ls *lineSearch) release() {
	if ls.first != nil {
		ls.large <- ls.buf[:0]
		ls.buf, ls.first = ls.first, nil
	}
	if cap(ls.text) > 4*firstRead {
		ls.text = nil
	}
}

// refuse reports whether the bytes from a position on hold a NUL, which makes the file binary: one that the search came
// across is then not searched further. In a file that was asked for, NUL bytes become line ends, so that its matches can
// be counted.
func (ls *lineSearch) refuse(data []byte, from int) bool {
	if ls.q.Text {
		return false
	}
	at := bytes.IndexByte(data[from:], 0)
	if at < 0 {
		return false
	}
	ls.binary = true
	if !ls.explicit {
		return true
	}
	for i := from + at; i < len(data); i++ {
		if data[i] == 0 {
			data[i] = '\n'
		}
	}
	return false
}

// region searches b[lo:hi], which are whole lines. It returns errStop when the rest of the file is of no interest.
//
// Files without a match, which are nearly all, need not be looked through for NUL bytes: found does that at the first
// match, and the region of a file that was asked for is then searched again.
func (ls *lineSearch) region(b []byte, lo, hi int) error {
	ls.b = b
	if ls.counts == 0 || !ls.done() {
		ls.matches(b, lo, hi)
		if ls.again {
			ls.again = false
			ls.matches(b, lo, hi)
		}
	}
	if ls.binary && !ls.explicit {
		return errStop
	}
	ls.trailing(hi)
	if ls.counts > 0 && ls.done() && ls.pending == 0 || ls.stopped() {
		return errStop
	}
	return nil
}

func (ls *lineSearch) matches(b []byte, lo, hi int) {
	lines := ls.s.Lines
	if ls.multi {
		lines = ls.s.Blocks
	}
	if ls.q.Invert {
		ls.inverted(b, lo, hi, lines)
		return
	}
	lines(b[lo:hi], func(l scan.Line) bool {
		l.Start, l.End, l.At = l.Start+lo, l.End+lo, l.At+lo
		return ls.found(l)
	})
}

// found takes a match and reports whether to go on.
func (ls *lineSearch) found(l scan.Line) bool {
	if !ls.checked {
		ls.checked = true
		if stop := ls.refuse(ls.b, 0); stop || ls.binary {
			ls.again = !stop
			return false
		}
	}
	if l.Start == ls.skip {
		return true
	}
	ls.match(l)
	if ls.flush != nil && len(ls.arena) > firstRead {
		ls.flush()
	}
	return !ls.done()
}

// done reports whether more matches are of no interest.
func (ls *lineSearch) done() bool {
	if ls.q.Mode == FilesWithMatches || ls.q.Mode == FilesWithoutMatch {
		return true
	}
	return ls.q.MaxPerFile > 0 && ls.counts >= ls.q.MaxPerFile
}

// inverted emits the lines of b[lo:hi] that lines does not report.
func (ls *lineSearch) inverted(b []byte, lo, hi int, lines func([]byte, func(scan.Line) bool)) {
	at := lo
	until := func(end int) bool {
		for at < end {
			from, to := at, hi
			if i := bytes.IndexByte(b[at:hi], '\n'); i >= 0 {
				to = at + i
			}
			at = to + 1
			if !ls.found(scan.Line{Start: from, End: to, At: from, Matches: 1}) {
				return false
			}
		}
		return true
	}
	more := true
	lines(b[lo:hi], func(l scan.Line) bool {
		more = until(l.Start + lo)
		at = l.End + lo + 1
		return more
	})
	if more {
		until(hi)
	}
}
