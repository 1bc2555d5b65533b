package patch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
)

// content returns what the approved hunks (nil: all) of a section make of a file. Hunks that cannot be placed are recorded
// as failed; then the content means nothing.
func (w *planner) content(f *file, p *FilePatch, approved []bool) ([]byte, *Error) {
	raw, _ := f.now.Blob.Bytes()
	d, err := newDoc(raw)
	if err != nil {
		return nil, err
	}
	l := locator{doc: d, patch: p, format: w.patch.Format, opt: w.opt}
	var splices []splice
	end := asBefore
	if w.opt.FinalNewline {
		end = closed
	}
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if approved != nil && !approved[i] {
			continue
		}
		res := &w.res.Hunks[h.Number-1]
		at, err := l.hunk(h, res)
		if err != nil {
			err.Line, err.Path, err.Hunk = h.Line, p.Path, h.Number
			res.Outcome, res.Err = Failed, err
			continue
		}
		made, err := at.splices(d)
		if err != nil {
			err.Line, err.Path, err.Hunk = h.Line, p.Path, h.Number
			res.Outcome, res.Err = Failed, err
			continue
		}
		splices = append(splices, made...)
		if e := at.finish(d); e != asBefore {
			end = e
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	out, encErr := d.apply(splices, end)
	if encErr != nil {
		return nil, fail(Encoding, "%v; the file is written in %s, so use characters that it has", encErr, d.encoding)
	}
	return out, nil
}

// locator places the hunks of one section, in order.
type locator struct {
	doc    *doc
	patch  *FilePatch
	format Format
	opt    Options
	cursor int // lines before it are behind the hunks placed so far
	core   int // as cursor, but behind the last changed line only
	offset int // lines that the hunks placed so far were away from where their headers say
}

// place is where a hunk goes.
type place struct {
	hunk  *Hunk
	lines []Line      // of the hunk, perhaps without lines at its ends that the file does not have
	at    int         // the line of the file, from 0, where the first old line stands, or before which new ones go
	block *edit.Block // how the old lines were found; nil if there are none
	note  string
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

// hunk places a hunk and moves on behind it.
func (l *locator) hunk(h *Hunk, res *HunkResult) (place, *Error) {
	p, err := l.find(h, res)
	if err != nil {
		return p, err
	}
	if err := l.repeated(&p); err != nil {
		return p, err
	}
	res.addNote(p.note)
	old := len(olds(p.lines))
	res.At = p.at + 1
	if p.block != nil {
		res.Rung = p.block.Rung
		res.addNote(rungNotes[p.block.Rung])
	}
	if h.Numbered && old > 0 {
		want := h.OldStart - 1 + l.offset + res.Fuzz
		if len(p.lines) == len(h.Lines) {
			want = h.OldStart - 1 + l.offset
		}
		res.Offset = p.at - want
		l.offset += res.Offset
	}
	if old > 0 || len(h.Anchors) > 0 { // lines that go to the end of the file say nothing about the next hunk
		l.cursor = p.at + old
		l.core = p.at + coreEnd(p.lines)
	}
	return p, nil
}

// rungNotes says what was overlooked on a rung.
var rungNotes = map[edit.Rung]string{
	edit.TrailingSpace: "white space at line ends differs from the file",
	edit.Indentation:   "indentation differs from the file, new lines are indented as there",
	edit.Punctuation:   "typographic characters differ from the file",
}

func (r *HunkResult) addNote(note string) {
	switch {
	case note == "":
	case r.Note == "":
		r.Note = note
	default:
		r.Note += "; " + note
	}
}

// coreEnd returns how many old lines there are up to the last changed line.
func coreEnd(lines []Line) int {
	n, end := 0, 0
	for _, l := range lines {
		if l.Kind != Added {
			n++
		}
		if l.Kind != Context {
			end = n
		}
	}
	return end
}

// find goes through the readings of a hunk, the strictest first: as it stands, without empty lines at its ends that were
// perhaps not meant, with context overlapping the hunk before, and without context that the file does not have.
func (l *locator) find(h *Hunk, res *HunkResult) (place, *Error) {
	if len(olds(h.Lines)) == 0 {
		return l.insertion(h)
	}
	p, why := l.try(h, h.Lines, l.cursor, true)
	if p.block != nil {
		return p, nil
	}
	if why != nil && why.Code != NotFound {
		return p, why
	}
	for _, lines := range withoutBlank(h.Lines) {
		if p, err := l.try(h, lines, l.cursor, true); p.block != nil || err != nil && err.Code == Ambiguous {
			return p, err
		}
	}
	if l.core < l.cursor {
		if p, err := l.try(h, h.Lines, l.core, false); p.block != nil && err == nil {
			res.addNote("its first lines are the last ones of the hunk before")
			return p, nil
		}
	}
	if p, err := l.fuzzy(h, res); p.block != nil || err != nil {
		return p, err
	}
	return p, l.explain(h)
}

// withoutBlank returns the lines of a hunk without the empty context lines at its end, one by one, and then without those
// at its start. All of them can be left out that were written bare, and one at the end that was written with its blank.
func withoutBlank(lines []Line) (out [][]Line) {
	blank := func(l Line) bool { return l.Kind == Context && l.body() == "" }
	end := len(lines)
	for end > 1 && blank(lines[end-1]) && (lines[end-1].Bare || end == len(lines)) {
		end--
		out = append(out, lines[:end])
	}
	for i := 0; i < end-1 && blank(lines[i]) && lines[i].Bare; i++ {
		out = append(out, lines[i+1:])
		if end < len(lines) {
			out = append(out, lines[i+1:end])
		}
	}
	return out
}

// try places the lines at or behind the line from. Neither a block nor an error means that they are nowhere.
func (l *locator) try(h *Hunk, lines []Line, from int, ragged bool) (place, *Error) {
	p := place{hunk: h, lines: lines}
	floors, note, err := l.anchors(h)
	if err != nil {
		return p, err
	}
	old := olds(lines)
	opt := edit.FindOptions{From: from, AtEnd: h.EOF, Extra: addedTexts(lines)}
	blocks := l.doc.stands(old, opt)
	if len(blocks) == 0 && ragged {
		opt.Ragged = true
		blocks = l.ragged(lines, l.doc.stands(old, opt))
	}
	if len(blocks) == 0 {
		return p, nil
	}
	i, err := l.choose(h, lines, blocks, floors)
	if err != nil {
		return p, err
	}
	if i >= 0 {
		p.block, p.at, p.note = &blocks[i], blocks[i].Line, note
	}
	return p, nil
}

// ragged keeps the places at which the removed lines are indented by one amount, so that it is clear how the new ones are.
func (l *locator) ragged(lines []Line, blocks []edit.Block) []edit.Block {
	var gone []string
	at := []int{}
	n := 0
	for _, line := range lines {
		if line.Kind == Removed {
			gone, at = append(gone, line.body()), append(at, n)
		}
		if line.Kind != Added {
			n++
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return slices.DeleteFunc(blocks, func(b edit.Block) bool {
		for i, s := range gone {
			if strings.TrimRight(l.doc.line(b.Line+at[i]), " \t") != strings.TrimRight(s, " \t") {
				return true
			}
		}
		return false
	})
}

// choose returns which of several places is meant, or -1 where none is behind the anchors.
func (l *locator) choose(h *Hunk, lines []Line, blocks []edit.Block, floors []int) (int, *Error) {
	if len(floors) > 0 {
		var kept []int
		for _, floor := range floors {
			i := slices.IndexFunc(blocks, func(b edit.Block) bool { return b.Line >= floor })
			if i < 0 { // some write the line of the anchor again as the first context line
				i = slices.IndexFunc(blocks, func(b edit.Block) bool { return b.Line == floor-1 })
			}
			if i >= 0 && !slices.Contains(kept, i) {
				kept = append(kept, i)
			}
		}
		switch {
		case len(kept) == 0:
			return -1, nil
		case len(kept) == 1 || l.opt.FirstMatch:
			return slices.Min(kept), nil
		}
		return -1, ambiguous(blocks, h)
	}
	if len(blocks) == 1 || l.opt.FirstMatch {
		return 0, nil
	}
	if h.Numbered {
		want := h.OldStart - 1 + l.offset + leading(h.Lines, lines)
		if i := slices.IndexFunc(blocks, func(b edit.Block) bool { return b.Line == want }); i >= 0 {
			return i, nil
		}
	}
	return -1, ambiguous(blocks, h)
}

// leading returns how many old lines were left out at the start of a hunk.
func leading(all, some []Line) int {
	if len(all) > 0 && len(some) > 0 && &all[0] == &some[0] {
		return 0
	}
	for i := range all {
		if len(some) > 0 && &all[i] == &some[0] {
			return i
		}
	}
	return 0
}

func ambiguous(blocks []edit.Block, h *Hunk) *Error {
	err := fail(Ambiguous, "")
	for _, b := range blocks {
		err.At = append(err.At, b.Line+1)
	}
	next := "add context lines, or an \"@@ line\" that stands before the one you mean"
	if h.Numbered {
		next = fmt.Sprintf("none is at line %d as the header says; add context lines", h.OldStart)
	}
	err.Msg = fmt.Sprintf("the old lines stand at %d places, lines %s; %s", len(blocks), list(err.At), next)
	return err
}

// list writes numbers, at most twenty of them.
func list(n []int) string {
	var b strings.Builder
	for i, x := range n {
		if i == 20 {
			fmt.Fprintf(&b, " and %d more", len(n)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	return b.String()
}

// insertion places a hunk that only adds lines: behind its anchor, or in an envelope at the end of the file. A unified diff
// says a line number instead, which proves nothing, so it must have context unless the file is empty.
func (l *locator) insertion(h *Hunk) (place, *Error) {
	p := place{hunk: h, lines: h.Lines, at: l.doc.lines.Len()}
	if p.at == 0 {
		return p, nil
	}
	if len(h.Anchors) > 0 {
		floors, _, err := l.anchors(h)
		if err != nil {
			return p, err
		}
		floors = slices.DeleteFunc(floors, func(n int) bool { return n < l.cursor })
		switch {
		case len(floors) == 0:
			return p, fail(OutOfOrder, "the line %q stands before an earlier hunk of this file; put the hunks in the order of the file", clip(h.Anchors[len(h.Anchors)-1]))
		case len(floors) > 1 && !l.opt.FirstMatch:
			err := fail(Ambiguous, "the line %q stands at %d places; add context lines to the hunk", clip(h.Anchors[len(h.Anchors)-1]), len(floors))
			err.At = floors
			err.Msg = fmt.Sprintf("the line %q stands at %d places, lines %s; add context lines to the hunk", clip(h.Anchors[len(h.Anchors)-1]), len(floors), list(floors))
			return p, err
		}
		p.at = floors[0]
		return p, nil
	}
	if l.format == Unified {
		if h.Numbered && h.OldStart == 0 {
			return p, fail(FileExists, "the hunk says that the file is empty, but it has %d lines", l.doc.lines.Len())
		}
		return p, fail(NoContext, "the hunk only adds lines and has no context to tell where; add unchanged lines around them")
	}
	return p, nil
}

// repeated refuses a hunk that only adds lines, with nothing behind them, where these lines already stand: it was applied
// before. Lines without a letter or digit can be there by chance.
func (l *locator) repeated(p *place) *Error {
	add := addedTexts(p.lines)
	n := len(olds(p.lines))
	last := p.lines[len(p.lines)-1]
	if len(add) == 0 || n+len(add) != len(p.lines) || last.Kind != Added || !informative(add) {
		return nil
	}
	for i := range p.lines[:n] {
		if p.lines[i].Kind == Added {
			return nil // they stand between others
		}
	}
	at := p.at + n
	if n == 0 && p.hunk.Anchors == nil {
		at -= len(add)
	}
	if at < 0 || at+len(add) > l.doc.lines.Len() {
		return nil
	}
	for i, s := range add {
		if strings.TrimSpace(l.doc.line(at+i)) != strings.TrimSpace(s) {
			return nil
		}
	}
	err := fail(AlreadyApplied, "the added lines already stand at line %d; leave the hunk out, or repeat that line as context if they shall be there twice", at+1)
	err.At = []int{at + 1}
	return err
}

func informative(lines []string) bool {
	return slices.ContainsFunc(lines, func(s string) bool { return strings.IndexFunc(s, isWord) >= 0 })
}

// splices returns the runs of lines that the hunk replaces. Context is not among them, so it keeps its bytes.
func (p *place) splices(d *doc) ([]splice, *Error) {
	var out []splice
	at, open := p.at, false
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
		n, err := p.newLine(d, i, at)
		if err != nil {
			return nil, err
		}
		s.add = append(s.add, n)
	}
	return out, nil
}

// newLine returns line i of the hunk as it is written at the given line of the file.
func (p *place) newLine(d *doc, i, at int) (newLine, *Error) {
	line := p.lines[i]
	body := line.body()
	// At a ragged place the removed lines stand exactly as they were written, so the new ones do too.
	if p.block != nil && !p.block.Ragged {
		moved, ok := p.block.Adapt(body, at-p.at-1)
		if !ok {
			return newLine{}, fail(NotFound, "the old lines are at line %d with another indentation, and the new line %q cannot be indented likewise; copy the lines as they are in the file", p.at+1, clip(body))
		}
		body = moved
	}
	n := newLine{text: body, ending: d.ending(p.at, p.at+len(olds(p.lines)))}
	if p.explicit(d) {
		n.ending = line.Text[len(line.body()):] + "\n"
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
