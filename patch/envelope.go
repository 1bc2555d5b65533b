package patch

import (
	"fmt"
	"strings"
	"unicode"
)

// envelope reads the sections between the markers of an envelope.
//
// Where headers are looked for on trimmed lines and where not follows the programs that models were trained with: before
// the first section, in an Add and after a Delete a header may be indented; in an Update an indented one is a context line.
func (in *input) envelope(p *Patch) error {
	p.Format = Envelope
	e := envelopeParser{input: in, patch: p}
	for i := range in.lines {
		e.i = i
		// In an envelope a carriage return before a line feed is never content.
		if err := e.line(strings.TrimSuffix(in.lines[i], "\r")); err != nil {
			return e.locate(err)
		}
	}
	e.i = len(in.lines)
	if err := e.finish(); err != nil {
		return e.locate(err)
	}
	if len(p.Files) == 0 {
		return &ParseError{Line: in.first, Msg: "the patch has no section" + expected}
	}
	return nil
}

type envelopeParser struct {
	*input
	patch *Patch
	i     int
	file  *FilePatch // the open section
	hunk  *Hunk      // its open hunk; of an Update nil before the first
	bare  bool       // a bare @@ ended the anchors of the open hunk
	hunks int        // begun in the whole patch
	ended bool       // the open hunk has had its end-of-file marker
	tabs  bool       // a line that begins with a tab was noted
}

// locate adds path and hunk to an error.
func (e *envelopeParser) locate(err error) error {
	pe, ok := err.(*ParseError)
	if ok && e.file != nil {
		pe.Path = e.file.Path
		if e.file.Op == Update && e.hunk != nil {
			pe.Hunk = e.hunks
		}
	}
	return err
}

func (e *envelopeParser) line(line string) error {
	update := e.file != nil && e.file.Op == Update
	head := strings.TrimRightFunc(line, unicode.IsSpace)
	if !update {
		head = strings.TrimSpace(line)
	}
	switch {
	case isHeader(head):
		return e.section(head)
	case update:
		return e.updateLine(line, head)
	case e.file != nil && e.file.Op == Add && strings.HasPrefix(line, "+"):
		e.hunk.Lines = append(e.hunk.Lines, Line{Kind: Added, Text: line[1:], Line: e.at(e.i)})
		return nil
	case e.file == nil && strings.HasPrefix(head, envMark):
		return e.environment(head)
	case e.file != nil && e.file.Op == Add:
		return e.errorf(e.i, "%q in an added file: every line must begin with +, an empty one too", clip(line))
	case head == "":
		return nil
	case strings.HasPrefix(head, moveMark):
		return e.errorf(e.i, "%q must follow a line %q directly", clip(head), updateMark+" PATH")
	}
	return e.errorf(e.i, "%q is no section header; write %q, %q or %q", clip(head), addMark+" PATH", updateMark+" PATH", deleteMark+" PATH")
}

func (e *envelopeParser) environment(head string) error {
	id := strings.TrimSpace(head[len(envMark):])
	if id == "" || e.patch.Environment != "" {
		return e.errorf(e.i, "%q: one environment can be named, and not an empty one", clip(head))
	}
	e.patch.Environment = id
	return nil
}

// section opens a section.
func (e *envelopeParser) section(head string) error {
	if err := e.finish(); err != nil {
		return err
	}
	f := FilePatch{Line: e.at(e.i)}
	mark := addMark
	switch {
	case strings.HasPrefix(head, updateMark):
		f.Op, mark = Update, updateMark
	case strings.HasPrefix(head, deleteMark):
		f.Op, mark = Delete, deleteMark
	default:
		f.Op = Add
	}
	var err error
	if f.Path, err = e.path(head, mark); err != nil {
		return err
	}
	e.patch.Files = append(e.patch.Files, f)
	e.file, e.hunk, e.ended = &e.patch.Files[len(e.patch.Files)-1], nil, false
	switch f.Op {
	case Add:
		e.begin(Hunk{Line: e.at(e.i)})
	case Delete:
		e.hunks++
	}
	return nil
}

// path returns what follows a marker and one blank.
func (e *envelopeParser) path(head, mark string) (string, error) {
	rest := head[len(mark):]
	path, ok := strings.CutPrefix(rest, " ")
	switch {
	case rest == "" || strings.TrimSpace(rest) == "":
		return "", e.errorf(e.i, "%q names no path", clip(head))
	case !ok:
		return "", e.errorf(e.i, "%q: a blank must follow the colon: %q", clip(head), mark+" "+clip(rest))
	case strings.ContainsRune(path, 0):
		return "", e.errorf(e.i, "the path %q contains a NUL", clip(path))
	}
	return path, nil
}

// begin opens a hunk of the open section.
func (e *envelopeParser) begin(h Hunk) {
	e.hunks++
	e.file.Hunks = append(e.file.Hunks, h)
	e.hunk = &e.file.Hunks[len(e.file.Hunks)-1]
	e.ended, e.bare = false, false
}

// finish closes the open section.
func (e *envelopeParser) finish() error {
	if e.file == nil || e.file.Op != Update {
		return nil
	}
	if err := e.closeHunk(); err != nil {
		return err
	}
	if len(e.file.Hunks) > 0 {
		return nil
	}
	if e.file.To == "" {
		return e.errorf(e.file.Line-e.first, "the update of %q says no change; write @@ and lines that begin with a blank, - or +", e.file.Path)
	}
	e.hunks++
	return nil
}

// closeHunk reports a hunk that says nothing.
func (e *envelopeParser) closeHunk() error {
	if e.hunk != nil && len(e.hunk.Lines) == 0 {
		return e.errorf(e.i, "no line follows the @@ on line %d; write lines that begin with a blank, - or +", e.hunk.Line)
	}
	return nil
}

// updateLine reads a line of an Update. Head is the line without white space at its end.
func (e *envelopeParser) updateLine(line, head string) error {
	switch {
	case head == eofMark:
		if e.hunk == nil || len(e.hunk.Lines) == 0 {
			return e.errorf(e.i, "%q must follow the lines of a hunk", eofMark)
		}
		e.hunk.EOF, e.ended = true, true
		return nil
	case strings.HasPrefix(head, moveMark):
		if e.hunk != nil || e.file.To != "" {
			return e.errorf(e.i, "%q must follow %q directly, and only once", clip(head), updateMark)
		}
		to, err := e.path(head, moveMark)
		e.file.To = to
		return err
	case head == "@@" || strings.HasPrefix(line, "@@ "):
		return e.chunk(line)
	case strings.HasPrefix(head, "*** "):
		return e.errorf(e.i, "%q is no marker; a context line with this text begins with a blank", clip(head))
	case e.ended && head == "":
		return nil
	case e.ended:
		return e.errorf(e.i, "%q after %q: only @@ or a section header can follow", clip(line), eofMark)
	}
	if e.hunk == nil {
		if e.fileHeader() {
			return nil
		}
		e.begin(Hunk{Line: e.at(e.i)})
	}
	l, err := e.body(line)
	if err == nil {
		e.hunk.Lines = append(e.hunk.Lines, l)
	}
	return err
}

// chunk reads an @@ line. Several in a row are anchors one below the other; a bare one may only end them.
func (e *envelopeParser) chunk(line string) error {
	h, err := e.hunkHeader(line)
	if err != nil {
		return err
	}
	if e.hunk == nil || len(e.hunk.Lines) > 0 {
		e.begin(h)
		return nil
	}
	if len(e.hunk.Anchors) == 0 || e.bare || e.hunk.Numbered || h.Numbered {
		return e.errorf(e.i, "two @@ lines in a row; the lines of the hunk are missing")
	}
	e.hunk.Anchors = append(e.hunk.Anchors, h.Anchors...)
	e.bare = len(h.Anchors) == 0
	return nil
}

// hunkHeader reads "@@", "@@ text", and, with a note, the header of a unified hunk.
func (e *envelopeParser) hunkHeader(line string) (Hunk, error) {
	h := Hunk{Line: e.at(e.i)}
	text := strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " ")
	switch {
	case strings.TrimSpace(text) == "":
		return h, nil
	case isElision(text):
		e.note(e.i, fmt.Sprintf("%q is read as @@", line))
		return h, nil
	}
	ok, err := h.numbers(line)
	if err != nil {
		return h, e.errorf(e.i, "%v", err)
	}
	if ok {
		e.note(e.i, "the header of a unified hunk: its line numbers are taken as a hint")
	} else {
		h.Anchors = []string{text}
	}
	return h, nil
}

// isElision reports whether a header says only that something was left out.
func isElision(text string) bool {
	switch strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "@@")) {
	case "...", "…", "":
		return true
	}
	return false
}

const tabNote = "a line that begins with a tab is read as a context line without its blank"

// body reads a line of a hunk.
func (e *envelopeParser) body(line string) (Line, error) {
	l := Line{Kind: Context, Line: e.at(e.i)}
	if line == "" {
		l.Bare = true
		return l, nil
	}
	switch line[0] {
	case ' ', '+', '-':
		l.Kind, l.Text = Kind(line[0]), line[1:]
	case '\t':
		// Nothing else begins with a tab, and the line must stand in the file anyway.
		if !e.tabs {
			e.note(e.i, tabNote)
		}
		e.tabs, l.Text = true, line
	default:
		hint := "a context line begins with a blank, a removed one with -, an added one with +"
		if strings.HasPrefix(line, "@@") {
			hint = "a blank must follow @@"
		}
		return l, e.errorf(e.i, "%q has no sign: %s", clip(line), hint)
	}
	return l, nil
}

// fileHeader reports whether this line is the --- or +++ of a unified diff of the open section's file, which is skipped.
// Both and an @@ must follow each other, else they are lines to remove and to add.
func (e *envelopeParser) fileHeader() bool {
	from := e.i
	if strings.HasPrefix(e.lines[e.i], "+++ ") && e.i > 0 {
		from--
	}
	if from+2 >= len(e.lines) || !strings.HasPrefix(e.lines[from], "--- ") || !strings.HasPrefix(e.lines[from+1], "+++ ") ||
		!strings.HasPrefix(e.lines[from+2], "@@") {
		return false
	}
	for i, sign := range []string{"--- ", "+++ "} {
		name := strings.TrimSpace(strings.TrimPrefix(e.lines[from+i], sign))
		if name != e.file.Path && (len(name) < 2 || name[1] != '/' || name[2:] != e.file.Path) {
			return false
		}
	}
	if from == e.i {
		e.note(e.i, "the --- and +++ lines of a unified diff were dropped")
	}
	return true
}
