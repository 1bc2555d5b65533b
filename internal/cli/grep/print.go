package grep

import (
	"bytes"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/internal/scan"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/search"
)

// flushAbove is how much a worker collects before it writes. On a terminal each file is written at once.
const flushAbove = 64 << 10

// printer writes what workers find. Each worker has a buffer of its own, so that they meet only to write; what belongs
// to one file stays together as long as it comes in one piece.
type printer struct {
	o        *options
	mode     search.Mode
	to       io.Writer
	names    bool // before lines or as headings
	numbers  bool
	heading  bool
	color    bool
	terminal bool
	above    int
	bufs     []workerBuffer
	found    atomic.Bool

	mu      sync.Mutex
	printed bool   // something was written
	last    string // the file that was written last, with headings
}

type workerBuffer struct {
	b       []byte
	scanner *scan.Scanner
	_       [64]byte
}

func newPrinter(o *options, s Streams, workers int, names bool) *printer {
	p := &printer{o: o, mode: o.grep.Mode, to: s.Out, names: names, terminal: s.Terminal, above: flushAbove, bufs: make([]workerBuffer, workers)}
	p.numbers = o.numbers == on || o.numbers == unset && s.Terminal
	p.color = o.color == on || o.color == unset && s.Terminal && !s.Plain
	p.heading = names && p.mode == search.Content && !o.files && (o.heading == on || o.heading == unset && s.Terminal)
	if s.Terminal || p.heading || p.context() {
		p.above = 0 // what stands between two files depends on what was written before
	}
	return p
}

func (p *printer) context() bool { return p.o.grep.Before+p.o.grep.After > 0 }

// The colours of ripgrep: names magenta, numbers green, matches bold red.
const (
	nameColor   = "\x1b[35m"
	numberColor = "\x1b[32m"
	matchColor  = "\x1b[1m\x1b[31m"
	resetColor  = "\x1b[0m"
)

func (p *printer) paint(b []byte, color string, text []byte) []byte {
	if !p.color {
		return append(b, text...)
	}
	return append(append(append(b, color...), text...), resetColor...)
}

// name appends the name of a file.
func (p *printer) name(b []byte, prefix, rel string) []byte {
	if !p.terminal && !p.color {
		return append(append(b, prefix...), rel...)
	}
	text := prefix + rel
	if p.terminal {
		text = show.Line(text)
	}
	return p.paint(b, nameColor, []byte(text))
}

// end ends a name that stands alone.
func (p *printer) end(b []byte, plain byte) []byte {
	if p.o.null {
		return append(b, 0)
	}
	return append(b, plain)
}

// file writes a name of a list.
func (p *printer) file(worker int, t target, rel string) error {
	if !p.found.Load() {
		p.found.Store(true)
	}
	if p.o.quiet {
		return errEnough
	}
	if t.file {
		rel = ""
	}
	w := &p.bufs[worker]
	w.b = p.end(p.name(w.b, t.prefix, rel), '\n')
	return p.flush(w, "", false)
}

// described writes a name of a list with what is known of the file.
func (p *printer) described(t target, f *search.File) error {
	w := &p.bufs[0]
	if p.o.long {
		w.b = append(strconv.AppendInt(w.b, f.Size, 10), '\t')
		w.b = append(f.ModTime.AppendFormat(w.b, time.DateTime), '\t')
	}
	return p.file(0, t, f.Path)
}

// hits writes the hits of one file. more says that the file has had some already.
func (p *printer) hits(worker int, prefix string, h *search.FileHits, more bool) error {
	if !p.found.Load() {
		p.found.Store(true)
	}
	if p.o.quiet {
		return errEnough
	}
	w := &p.bufs[worker]
	rel := h.Path
	if prefix != "" && prefix[len(prefix)-1] != '/' { // the target is this file
		rel = ""
	}
	switch p.mode {
	case search.FilesWithMatches, search.FilesWithoutMatch:
		w.b = p.end(p.name(w.b, prefix, rel), '\n')
	case search.Count:
		if p.names {
			w.b = p.end(p.name(w.b, prefix, rel), ':')
		}
		w.b = append(strconv.AppendInt(w.b, int64(h.Count), 10), '\n')
	default:
		p.lines(w, prefix, rel, h)
	}
	return p.flush(w, prefix+rel, more)
}

func (p *printer) lines(w *workerBuffer, prefix, rel string, h *search.FileHits) {
	if h.Binary && len(h.Lines) == 0 {
		if p.names {
			w.b = append(p.name(w.b, prefix, rel), ": "...)
		}
		w.b = append(w.b, "binary file matches\n"...)
		return
	}
	for i := range h.Lines {
		l := &h.Lines[i]
		if l.Gap && p.context() {
			w.b = append(w.b, "--\n"...)
		}
		sep := byte(':')
		if l.Context {
			sep = '-'
		}
		if p.o.only && !l.Context {
			text := []byte(l.Text)
			for _, s := range p.spans(w, text) {
				p.line(w, prefix, rel, l, sep, text[s[0]:s[1]], nil)
			}
			continue
		}
		var spans [][2]int
		if p.color && !l.Context && !p.o.grep.Invert {
			spans = p.spans(w, []byte(l.Text))
		}
		p.line(w, prefix, rel, l, sep, []byte(l.Text), spans)
	}
	if h.Binary {
		if p.names && !p.heading {
			w.b = append(p.name(w.b, prefix, rel), ": "...)
		}
		w.b = append(w.b, "binary file, not searched behind its first NUL byte (-a does)\n"...)
	}
}

// line writes one line.
func (p *printer) line(w *workerBuffer, prefix, rel string, l *search.Line, sep byte, text []byte, spans [][2]int) {
	if p.names && !p.heading {
		w.b = p.end(p.name(w.b, prefix, rel), sep)
	}
	if p.numbers {
		if p.color {
			w.b = p.paint(w.b, numberColor, strconv.AppendInt(nil, int64(l.Number), 10))
		} else {
			w.b = strconv.AppendInt(w.b, int64(l.Number), 10)
		}
		w.b = append(w.b, sep)
	}
	if l.Before > 0 {
		w.b = append(w.b, "…"...)
	}
	if p.o.only {
		w.b = p.paint(w.b, matchColor, p.safe(text))
	} else {
		at := 0
		for _, s := range spans {
			w.b = append(w.b, p.safe(text[at:s[0]])...)
			if s[1] > s[0] {
				w.b = p.paint(w.b, matchColor, p.safe(text[s[0]:s[1]]))
			}
			at = s[1]
		}
		w.b = append(w.b, p.safe(text[at:])...)
	}
	if l.After > 0 {
		w.b = append(w.b, "…"...)
	}
	w.b = append(w.b, '\n')
}

// safe escapes what would act on a terminal instead of being shown; elsewhere bytes go out as they are.
func (p *printer) safe(text []byte) []byte {
	if !p.terminal || bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 }) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			out = append(out, show.Line(string(r))...)
		} else {
			out = append(out, string(r)...)
		}
	}
	return out
}

// spans finds the matches of a line again, for showing them.
func (p *printer) spans(w *workerBuffer, text []byte) [][2]int {
	if w.scanner == nil {
		s, err := p.o.grep.Scanner()
		if err != nil {
			return nil // the query was compiled before; it cannot fail now
		}
		w.scanner = s
	}
	return w.scanner.Spans(text)
}

// flush writes a buffer when it is worth it. file is what it holds, where something has to stand between files.
func (p *printer) flush(w *workerBuffer, file string, more bool) error {
	if len(w.b) <= p.above {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var before []byte
	switch {
	case p.heading && p.last != file:
		if p.printed {
			before = append(before, '\n')
		}
		before = append(p.name(before, "", file), '\n')
	case !p.heading && p.mode == search.Content && p.context() && p.printed && !more && file != "":
		before = append(before, "--\n"...)
	}
	p.last, p.printed = file, true
	if len(before) > 0 {
		if _, err := p.to.Write(before); err != nil {
			return err
		}
	}
	_, err := p.to.Write(w.b)
	w.b = w.b[:0]
	return err
}

func (p *printer) flushAll() error {
	p.above = 0
	for i := range p.bufs {
		if err := p.flush(&p.bufs[i], "", true); err != nil {
			return err
		}
	}
	return nil
}
