package edit

import (
	"bytes"
	"strings"
)

// Request is one replacement.
type Request struct {
	Old        string // must stand in the file; empty only for an empty file, which becomes New
	New        string
	ReplaceAll bool // all places instead of the only one; they do not overlap, the first wins
	Line       int  // from 1: of several places, the one that begins on or covers this line is meant; 0: none
}

// Span is one replaced place. Offsets are in bytes; lines count from 1.
type Span struct {
	Start, End       int // of the old content
	NewStart, NewEnd int // of the new content
	Line, NewLine    int // the lines of Start and NewStart
}

// Result is a replacement that was made.
type Result struct {
	Content []byte // the new content, never sharing memory with the old
	Spans   []Span // in order, not overlapping, at least one
	Rung    Rung   // the loosest rung that was needed
	Note    string // what was overlooked, for the model and for people; empty for Exact
}

// Rung is a way to compare old text with the file. They are explained in the package comment.
type Rung uint8

// The rungs, from the strictest to the loosest.
const (
	Exact Rung = iota
	LineEndings
	TrailingSpace
	LineNumbers
	DiffMarkers
	Indentation
	Punctuation
	Escapes
)

func (r Rung) String() string {
	return [...]string{
		"exact", "line endings", "trailing white space", "line numbers", "diff markers", "indentation", "punctuation", "escapes",
	}[r]
}

// bomUTF8 is skipped at the start of content and dropped from old and new text, whose authors cannot see it.
const bomUTF8 = "\uFEFF"

// Apply replaces old text in content, which it does not change.
//
// Errors: *IdenticalError, *EmptyOldError, *OmissionError, *NotFoundError, *AmbiguousError. With an error the content is
// to stay as it is.
func Apply(content []byte, req Request) (Result, error) {
	if bytes.HasPrefix(content, []byte(bomUTF8)) {
		req.Old, req.New = strings.TrimPrefix(req.Old, bomUTF8), strings.TrimPrefix(req.New, bomUTF8)
	}
	f := NewFinder(content)
	switch {
	case req.Old == req.New:
		return Result{}, &IdenticalError{}
	case req.Old == "" && len(f.content) > 0:
		return Result{}, &EmptyOldError{}
	case req.Old == "":
		whole := match{newText: req.New}
		return f.splice([]match{whole}), nil
	}
	if line := AddedOmission(req.Old, req.New); line != "" {
		return Result{}, &OmissionError{Line: line}
	}
	found, err := f.locate(req)
	if err != nil {
		return Result{}, err
	}
	same := true
	for i := range found {
		m := &found[i]
		if err := f.compose(m); err != nil {
			return Result{}, err
		}
		same = same && string(f.content[m.start:m.end]) == m.newText
	}
	if same {
		return Result{}, &IdenticalError{Line: f.lineNumbers(found)[0]}
	}
	return f.splice(found), nil
}

// locate climbs the ladder and returns the place to replace, or all of them.
func (f *Finder) locate(req Request) ([]match, error) {
	l := ladder{f: f, old: req.Old, new: req.New}
	found, more := l.climb(req.ReplaceAll)
	switch {
	case len(found) == 0:
		return nil, f.notFound(req)
	case req.ReplaceAll && !more:
		return apart(found), nil
	case len(found) == 1 && !more:
		return found, nil
	}
	lines := f.lineNumbers(found)
	if i := f.choose(found, lines, req.Line); i >= 0 && !req.ReplaceAll {
		return found[i : i+1], nil
	}
	return nil, &AmbiguousError{Lines: lines, More: more, Rung: f.rung(&found[0]), Line: req.Line}
}

// choose returns the only match that begins on the hinted line, or else the only one that covers it, or -1. Without a
// hint the number before the first line of the old text is one: it names the line where a match begins.
func (f *Finder) choose(found []match, lines []int, hint int) int {
	begins, covers := -1, -1
	first := hint
	if hint == 0 {
		first = found[0].reading.line
	}
	for i, m := range found {
		last := lines[i] + f.breaks(f.content[m.start:max(m.start, m.end-1)]) // a line break at the end ends the last line
		switch {
		case first == 0:
		case lines[i] == first && begins >= 0:
			return -1
		case lines[i] == first:
			begins = i
		case lines[i] < hint && hint <= last && covers >= 0:
			covers = len(found)
		case lines[i] < hint && hint <= last:
			covers = i
		}
	}
	if begins >= 0 || covers == len(found) {
		return begins
	}
	return covers
}

// apart drops matches that overlap an earlier one.
func apart(found []match) []match {
	kept := found[:1]
	for _, m := range found[1:] {
		if m.start >= kept[len(kept)-1].end {
			kept = append(kept, m)
		}
	}
	return kept
}

// lineNumbers returns the lines, from 1, on which the matches begin.
func (f *Finder) lineNumbers(found []match) []int {
	lines, c := make([]int, len(found)), counter{content: f.content, cr: f.cr}
	for i, m := range found {
		lines[i] = c.line(m.start)
	}
	return lines
}

// breaks counts the line endings in b, a piece of the content.
func (f *Finder) breaks(b []byte) int { return counter{cr: f.cr}.breaks(b) }

// counter counts the lines of a content from its start on.
type counter struct {
	content  []byte
	cr       bool
	at, done int // line breaks in content[:at]
}

func (c counter) breaks(b []byte) int {
	if c.cr {
		return bytes.Count(b, []byte("\r"))
	}
	return bytes.Count(b, []byte("\n"))
}

// line returns the line, from 1, of an offset that is not smaller than the last one asked for.
func (c *counter) line(offset int) int {
	c.done += c.breaks(c.content[c.at:offset])
	c.at = offset
	return c.done + 1
}

// splice puts the new texts of the matches into the content. Matches are in order and do not overlap.
func (f *Finder) splice(found []match) Result {
	size, loose := len(f.raw), rungs(0)
	for i := range found {
		size += len(found[i].newText) - (found[i].end - found[i].start)
		loose |= f.differences(&found[i])
	}
	res := Result{Content: make([]byte, 0, size), Spans: make([]Span, 0, len(found)), Rung: loose.top(), Note: loose.note()}
	was, is := counter{content: f.raw, cr: f.cr}, counter{cr: f.cr}
	at := 0 // in raw, which has the byte order mark
	for i := range found {
		m := &found[i]
		s := Span{Start: m.start + f.bom, End: m.end + f.bom}
		res.Content = append(res.Content, f.raw[at:s.Start]...)
		s.NewStart = len(res.Content)
		res.Content = append(res.Content, m.newText...)
		s.NewEnd, at = len(res.Content), s.End
		is.content = res.Content
		s.Line, s.NewLine = was.line(s.Start), is.line(s.NewStart)
		res.Spans = append(res.Spans, s)
	}
	res.Content = append(res.Content, f.raw[at:]...)
	return res
}
