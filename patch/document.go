package patch

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
)

// doc is the text of a file that is being patched.
type doc struct {
	encoding text.Encoding
	body     []byte
	finder   *edit.Finder
	lines    *text.Lines
}

func newDoc(raw []byte) (*doc, *Error) {
	t, err := text.Decode(raw)
	switch {
	case errors.Is(err, text.ErrBinary):
		return nil, fail(NotText, "the file is binary; only text can be patched")
	case err != nil:
		return nil, fail(Encoding, "the file cannot be read as text without loss (%v)", err)
	}
	d := &doc{encoding: t.Encoding, body: t.Content, finder: edit.NewFinder(t.Content)}
	d.lines = d.finder.Lines()
	if bytes.HasPrefix(d.body, []byte(byteOrder)) {
		d.lines = text.Index(d.body) // a second mark, which the finder leaves out
	}
	return d, nil
}

// stands returns the places of some lines. An empty last line that would stand behind the last line of the file is none.
func (d *doc) stands(lines []string, opt edit.FindOptions) []edit.Block {
	return slices.DeleteFunc(d.finder.Find(lines, opt), func(b edit.Block) bool { return b.Line+b.Len > d.lines.Len() })
}

// line returns line i, from 0, without its ending.
func (d *doc) line(i int) string { return string(d.lines.Body(i)) }

// open reports whether the last line has no ending.
func (d *doc) open() bool {
	n := d.lines.Len()
	return n > 0 && d.lines.Ending(n-1) == text.NoEnding
}

// ending returns the characters that end a new line between the lines from and to.
func (d *doc) ending(from, to int) string {
	return text.EndingNear(d.body, d.lines.Start(from), d.lines.Start(to)).Chars()
}

// splice is a run of lines that others replace: lines [from, to), counted from 0.
type splice struct {
	from, to int
	add      []newLine
}

// newLine is a line to write. Text may hold several lines where an escape stood for a line break.
type newLine struct{ text, ending string }

// finish says what the last line of the result shall have.
type finish uint8

const (
	asBefore finish = iota // a line ending if the file had one
	closed                 // a line ending
	cutOff                 // none
)

// apply returns the file with the splices, which are in order and do not overlap, and with the asked for end.
func (d *doc) apply(splices []splice, m mark, end finish) ([]byte, error) {
	w := composer{out: make([]byte, 0, len(d.body)+256), doc: d, mark: m}
	e := d.encoding
	if m == markShown {
		e.BOM = false // written with its line, where that stays
	}
	at := 0
	for _, s := range splices {
		w.keep(at, d.body[d.lines.Start(at):d.lines.Start(s.from)])
		for _, l := range s.add {
			w.write(l)
		}
		at = s.to
	}
	w.keep(at, d.body[d.lines.Start(at):])
	w.finish(end)
	return e.Encode(w.out)
}

// composer writes the new text of a file.
type composer struct {
	doc  *doc
	out  []byte
	last string // the ending of the last line if it was written anew, else ""
	made bool   // the last line was written anew
	mark mark
}

// keep copies lines of the file, from the given one on.
func (w *composer) keep(from int, lines []byte) {
	if len(lines) == 0 {
		return
	}
	w.endLine()
	if from == 0 && w.mark == markShown {
		w.out = append(w.out, byteOrder...)
	}
	w.out = append(w.out, lines...)
	w.made = false
}

func (w *composer) write(l newLine) {
	w.endLine()
	l = w.top(l)
	w.out = append(append(w.out, l.text...), l.ending...)
	w.last, w.made = l.ending, true
}

// endLine gives the last line an ending where the file had none, before another line follows it.
func (w *composer) endLine() {
	if len(w.out) > 0 && !w.ended() {
		n := w.doc.lines.Len()
		w.out = append(w.out, w.doc.ending(n, n)...)
	}
}

func (w *composer) ended() bool {
	return bytes.HasSuffix(w.out, []byte("\n")) || text.UsesCR(w.doc.body) && bytes.HasSuffix(w.out, []byte("\r"))
}

func (w *composer) finish(end finish) {
	if end == asBefore {
		if !w.made {
			return // as it stands in the file
		}
		if end = closed; w.doc.open() {
			end = cutOff
		}
	}
	switch {
	case end == closed:
		w.endLine()
	case w.made:
		w.out = w.out[:len(w.out)-len(w.last)]
	default:
		w.out = bytes.TrimSuffix(bytes.TrimSuffix(w.out, []byte("\n")), []byte("\r"))
	}
}
