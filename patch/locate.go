package patch

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tackle-dev/tackle/edit"
)

// content returns what the approved hunks (nil: all) of a section make of a file. Hunks that cannot be placed are recorded
// as failed; then the content means nothing.
func (w *planner) content(f *file, p *FilePatch, approved []bool) ([]byte, *Error) {
	raw, _ := f.now.Blob.Bytes()
	d, err := newDoc(raw)
	if err != nil {
		return nil, err
	}
	l := locator{planner: w, doc: d}
	var splices []splice
	end, m := asBefore, markFree
	if d.encoding.BOM {
		m = markStays
	}
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
		var made []splice
		if err == nil {
			made, err = at.splices(d)
		}
		if err != nil {
			err.Line, err.Path, err.Hunk = h.Line, p.Path, h.Number
			res.Outcome, res.Err, res.Note = Failed, err, ""
			w.failures++
			continue
		}
		splices = append(splices, made...)
		m = d.settle(m, &at)
		if e := at.finish(d); e != asBefore {
			end = e
		}
	}
	// Lines for the end of the file may come from a hunk that is not the last.
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	out, encErr := d.apply(splices, m, end)
	if encErr != nil {
		return nil, fail(Encoding, "%v; the file is written in %s, so use characters that it has", encErr, d.encoding)
	}
	return out, nil
}

// locator places the hunks of one section, in order.
type locator struct {
	*planner
	doc    *doc
	cursor int // lines before it are behind the hunks placed so far
	core   int // as cursor, but behind the last changed line only
	offset int // lines that the hunks placed so far were away from where their headers say
	named  map[string]named
}

// Bounds of a plan, so that a hopeless patch costs seconds at most.
const (
	maxFailures = 50      // hunks that fail before the others are not tried
	maxPlaces   = 1 << 20 // places of hunks that are looked at
)

// hunk places a hunk and moves on behind it.
func (l *locator) hunk(h *Hunk, res *HunkResult) (place, *Error) {
	switch {
	case l.failures >= maxFailures:
		return place{}, fail(NotTried, "not looked for, as %d hunks before it failed", l.failures)
	case l.places >= maxPlaces:
		return place{}, fail(NotTried, "not looked for, as the hunks before it have %d possible places; send fewer hunks, with more context", l.places)
	}
	p, err := l.search(h, res)
	if err == nil {
		err = l.repeated(&p)
	}
	if err != nil {
		return p, err
	}
	res.At = p.at + 1
	if p.block != nil {
		res.Rung = p.block.Rung
		res.addNote(rungNote(p.block.Rung))
	}
	old := len(olds(p.lines))
	if h.Numbered && old > 0 {
		res.Offset = p.at - l.expected(h, p.head)
		l.offset += res.Offset
	}
	if old > 0 || len(h.Anchors) > 0 { // lines that go to the end of the file say nothing about the next hunk
		l.cursor = p.at + old
		l.core = p.at + coreEnd(p.lines)
	}
	return p, nil
}

// expected returns the line, from 0, where a hunk with numbers should begin if head of its lines are left out.
func (l *locator) expected(h *Hunk, head int) int { return h.OldStart - 1 + l.offset + head }

// rungNote says what was overlooked on a rung.
func rungNote(r edit.Rung) string {
	switch r {
	case edit.TrailingSpace:
		return "white space at line ends differs from the file"
	case edit.Indentation:
		return "indentation differs from the file, new lines are indented as there"
	case edit.Punctuation:
		return "typographic characters differ from the file"
	}
	return ""
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

// part is a hunk, perhaps without lines at its ends; head of them are left out at the start.
type part struct {
	lines []Line
	head  int
}

// search finds a hunk, also one that shows the byte order mark of the file.
func (l *locator) search(h *Hunk, res *HunkResult) (place, *Error) {
	if bare, ok := l.unmarked(h); ok {
		before := *res
		if p, err := l.find(bare, res); err == nil && p.at == 0 && p.head == 0 {
			p.marked = true
			return p, nil
		}
		*res = before
	}
	return l.find(h, res)
}

// find goes through the readings of a hunk, the strictest first: where its number says, anywhere, without empty lines at its
// ends that were perhaps not meant, with context that overlaps the hunk before, without context that the file does not have.
func (l *locator) find(h *Hunk, res *HunkResult) (place, *Error) {
	if len(olds(h.Lines)) == 0 {
		return l.insertion(h, res)
	}
	if p := l.atNumber(h); p.found {
		return p, nil
	}
	floors, note, err := l.anchors(h)
	if err != nil {
		return place{}, err
	}
	res.addNote(note)
	whole := part{lines: h.Lines}
	if p, err := l.try(h, whole, l.cursor, floors); p.found || err != nil {
		return p, err
	}
	for _, some := range withoutBlank(h.Lines) {
		if p, err := l.try(h, some, l.cursor, floors); p.found || err != nil {
			return p, err
		}
	}
	if l.core < l.cursor {
		if p, err := l.try(h, whole, l.core, floors); p.found && err == nil {
			res.addNote("its first lines are the last ones of the hunk before")
			return p, nil
		}
	}
	if p := l.fuzzy(h, res); p.found {
		return p, nil
	}
	return place{}, l.explain(h)
}

// atNumber looks where the header says. If the lines stand exactly there it does not matter where else they do.
func (l *locator) atNumber(h *Hunk) place {
	p := place{hunk: h, part: part{lines: h.Lines}, at: l.expected(h, 0)}
	old := olds(h.Lines)
	if !h.Numbered || h.EOF || p.at < l.cursor || p.at+len(old) > l.doc.lines.Len() {
		return place{}
	}
	for i, s := range old {
		if l.doc.line(p.at+i) != s {
			return place{}
		}
	}
	p.found = true
	return p
}

// withoutBlank returns the lines of a hunk without the empty context lines at its end, one by one, and then without those
// at its start. Those can be left out that were written bare, and one at the end that was written with its blank.
func withoutBlank(lines []Line) (out []part) {
	const most = 8 // at either end; each costs a search
	blank := func(l Line) bool { return l.Kind == Context && l.body() == "" }
	end := len(lines)
	for end > 1 && len(lines)-end < most && blank(lines[end-1]) && (lines[end-1].Bare || end == len(lines)) {
		end--
		out = append(out, part{lines: lines[:end]})
	}
	for i := 0; i < min(end-1, most) && blank(lines[i]) && lines[i].Bare; i++ {
		out = append(out, part{lines[i+1:], i + 1})
		if end < len(lines) {
			out = append(out, part{lines[i+1 : end], i + 1})
		}
	}
	return out
}

// try places lines at or behind the line from. If they are nowhere the place is not found, without an error.
func (l *locator) try(h *Hunk, some part, from int, floors []int) (place, *Error) {
	p := place{hunk: h, part: some}
	old := olds(some.lines)
	opt := edit.FindOptions{From: from, AtEnd: h.EOF, Extra: addedTexts(some.lines)}
	blocks := l.doc.stands(old, opt)
	if len(blocks) == 0 {
		opt.Ragged = true
		blocks = l.ragged(some.lines, l.doc.stands(old, opt))
	}
	l.places += len(blocks)
	if len(blocks) == 0 {
		return p, nil
	}
	i, err := l.choose(h, some.head, blocks, floors)
	if err == nil && i >= 0 {
		p.found, p.block, p.at = true, &blocks[i], blocks[i].Line
	}
	return p, err
}

// ragged keeps the places at which the removed lines stand as they were written, so that the new ones can be too.
func (l *locator) ragged(lines []Line, blocks []edit.Block) []edit.Block {
	var gone []string
	var at []int
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

// choose returns which of several places is meant, or -1 where none is behind the anchors. Behind an anchor the next place
// is meant.
func (l *locator) choose(h *Hunk, head int, blocks []edit.Block, floors []int) (int, *Error) {
	if len(floors) == 0 {
		if len(blocks) == 1 || l.opt.FirstMatch {
			return 0, nil
		}
		if h.Numbered {
			want := l.expected(h, head)
			if i := slices.IndexFunc(blocks, func(b edit.Block) bool { return b.Line == want }); i >= 0 {
				return i, nil
			}
		}
		return -1, ambiguous(blocks, h)
	}
	var kept []int
	for _, floor := range floors {
		i := sort.Search(len(blocks), func(i int) bool { return blocks[i].Line >= floor })
		if i == len(blocks) { // some write the line of the anchor again as the first context line
			if i--; blocks[i].Line != floor-1 {
				continue
			}
		}
		if len(kept) == 0 || kept[len(kept)-1] != i {
			kept = append(kept, i)
		}
	}
	switch {
	case len(kept) == 0:
		return -1, nil
	case len(kept) == 1 || l.opt.FirstMatch:
		return kept[0], nil
	}
	return -1, ambiguous(blocks, h)
}

func ambiguous(blocks []edit.Block, h *Hunk) *Error {
	var at []int
	for _, b := range blocks {
		at = append(at, b.Line+1)
	}
	next := "add context lines, or an \"@@ line\" that stands before the one you mean"
	if h.Numbered {
		next = fmt.Sprintf("none is at line %d as the header says; add context lines", h.OldStart)
	}
	err := fail(Ambiguous, "the old lines stand at %d places, lines %s; %s", len(blocks), list(at), next)
	err.At = at
	return err
}

// list writes numbers, at most twenty of them.
func list(n []int) string {
	const most = 20
	var b strings.Builder
	for i, x := range n[:min(len(n), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	if len(n) > most {
		fmt.Fprintf(&b, " and %d more", len(n)-most)
	}
	return b.String()
}
