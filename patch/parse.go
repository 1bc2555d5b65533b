package patch

import (
	"fmt"
	"strings"
)

// The marker lines of the envelope. A header is followed by one blank and a path.
const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	eofMark    = "*** End of File"
	envMark    = "*** Environment ID:"
	addMark    = "*** Add File:"
	deleteMark = "*** Delete File:"
	updateMark = "*** Update File:"
	moveMark   = "*** Move to:"
)

// Parse reads a patch in either language.
//
// It accepts what the programs that models learned from accept (blank text around the markers, indented markers, CRLF, a
// missing first @@, an empty line for an empty context line, a here-document wrapped around the envelope), and, with a
// note each, what models write besides: code fences, "cat <<TAG", "apply_patch <<TAG", an envelope without markers,
// wrong or missing counts, hunk headers of the other language. A patch whose end is missing is an error: it was cut off.
//
// Errors: *ParseError.
func Parse(text string) (*Patch, error) {
	in := newInput(text)
	if in.blank() {
		return nil, &ParseError{Msg: "the patch is empty" + expected}
	}
	if err := in.unwrap(); err != nil {
		return nil, err
	}
	p := &Patch{}
	var err error
	switch first, last := in.trimmed(0), in.trimmed(in.end()-1); {
	case in.wrapsUnified():
		in.note(0, "a unified diff between "+beginMark+" and "+endMark+" is read as a unified diff")
		in.cut(1)
		err = in.unified(p)
	case in.end() > 1 && first == beginMark && last == endMark:
		in.cut(1)
		err = in.envelope(p)
	case first == beginMark:
		err = in.missingEnd()
	case isHeader(first) && last != endMark:
		in.note(0, "the markers "+beginMark+" and "+endMark+" are missing")
		in.cut(0)
		err = in.envelope(p)
	case isHeader(first):
		err = in.errorf(0, "the first line must be %q, is %q; the text may have lost its beginning", beginMark, first)
	case in.looksUnified():
		err = in.unified(p)
	default:
		err = in.unknown()
	}
	if err != nil {
		return nil, err
	}
	p.Notes = in.notes
	p.number()
	return p, nil
}

const expected = "; send \"" + beginMark + "\", then sections that begin with \"" + addMark + " PATH\", \"" + updateMark +
	" PATH\" or \"" + deleteMark + " PATH\", then \"" + endMark + "\", or a unified diff"

// input is the text of a patch as lines without their line feeds. Wrappers are cut off at both ends, so first is the
// number of lines[0] in the text.
type input struct {
	lines []string
	first int  // from 1
	crlf  bool // every line ended with CRLF, so the carriage returns were taken off and are no content
	notes []Note
}

func newInput(text string) *input {
	in := &input{first: 1}
	if rest, ok := strings.CutPrefix(text, "\uFEFF"); ok {
		in.note(0, "the patch began with a byte order mark")
		text = rest
	}
	in.crlf = strings.Count(text, "\r\n") > 0 && strings.Count(text, "\r\n") == strings.Count(text, "\n")
	if in.crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = strings.TrimSuffix(text, "\r")
	}
	in.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	in.trimStart()
	return in
}

// trimStart drops blank lines before the patch.
func (in *input) trimStart() {
	for len(in.lines) > 0 && strings.TrimSpace(in.lines[0]) == "" {
		in.lines = in.lines[1:]
		in.first++
	}
}

// end returns the number of lines without the blank ones at the end. Those stay, since in a unified diff a line of one
// blank is a line of the last hunk.
func (in *input) end() int {
	n := len(in.lines)
	for n > 0 && strings.TrimSpace(in.lines[n-1]) == "" {
		n--
	}
	return n
}

func (in *input) blank() bool { return len(in.lines) == 0 }

// at returns the number of line i in the text.
func (in *input) at(i int) int { return in.first + i }

func (in *input) trimmed(i int) string { return strings.TrimSpace(in.lines[i]) }

func (in *input) note(i int, text string) {
	in.notes = append(in.notes, Note{Line: in.at(i), Text: text})
}

func (in *input) errorf(i int, format string, args ...any) error {
	return &ParseError{Line: in.at(i), Msg: fmt.Sprintf(format, args...)}
}

// isHeader reports whether a trimmed line begins a section of the envelope.
func isHeader(line string) bool {
	return strings.HasPrefix(line, addMark) || strings.HasPrefix(line, deleteMark) || strings.HasPrefix(line, updateMark)
}

// wrapsUnified reports whether the envelope holds a unified diff instead of sections.
func (in *input) wrapsUnified() bool {
	n := in.end()
	if n < 3 || in.trimmed(0) != beginMark || in.trimmed(n-1) != endMark {
		return false
	}
	inner := in.lines[1]
	return strings.HasPrefix(inner, "diff --git ") || strings.HasPrefix(inner, "--- ") && strings.HasPrefix(in.lines[2], "+++ ")
}

// missingEnd explains a text that begins as an envelope and does not end as one.
func (in *input) missingEnd() error {
	last := in.end() - 1
	for i := 1; i < last; i++ {
		if in.trimmed(i) == endMark {
			return in.errorf(i+1, "text after %q: %q; the patch must end there", endMark, clip(in.lines[i+1]))
		}
	}
	return in.errorf(last, "the last line must be %q, is %q; the patch may have been cut off, so nothing of it is used",
		endMark, clip(in.trimmed(last)))
}

// unknown explains a text in neither language.
func (in *input) unknown() error {
	for i := range in.lines {
		switch line := in.trimmed(i); {
		case line == beginMark:
			return in.errorf(0, "text before %q (line %d): %q; send the patch alone", beginMark, in.at(i), clip(in.lines[0]))
		case strings.HasPrefix(line, "***************"):
			return in.errorf(i, "this is a context diff; send a unified diff (diff -u)")
		}
	}
	return in.errorf(0, "%q begins no patch"+expected, clip(in.lines[0]))
}

// clip shortens a line of the patch for an error message.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
