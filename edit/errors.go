package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// The errors below are for the model: what is the case, and what to do next. Tools may word them anew from the fields.

// IdenticalError says that the edit would change nothing.
type IdenticalError struct {
	Line int // from 1: where the text already stands as new_string wants it; 0 if the two strings are equal
}

func (e *IdenticalError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("nothing to change: line %d already reads as new_string says, apart from line endings and white space of the file", e.Line)
	}
	return "old_string and new_string are identical, so there is nothing to change"
}

// EmptyOldError says that a text to replace is missing while the file has content.
type EmptyOldError struct{}

func (e *EmptyOldError) Error() string {
	return "old_string is empty, but the file is not: give the text to replace. To insert, repeat a line of the file in both strings; to replace the whole file, write it anew"
}

// OmissionError says that the new text has a placeholder where code should be.
type OmissionError struct {
	Line string // the placeholder, without white space around it
}

func (e *OmissionError) Error() string {
	return fmt.Sprintf("new_string contains the placeholder %q instead of the text it stands for; it would be written as it is. Write the lines out, or edit only the lines that change", e.Line)
}

// AmbiguousError says that the old text stands at several places.
type AmbiguousError struct {
	Lines []int // from 1, of all places in order; a line with several places is listed as often
	More  bool  // there are further places
	Rung  Rung  // on which they were found
	Line  int   // the hint of the request, which fits none of them alone
}

func (e *AmbiguousError) Error() string {
	const show = 20
	var b strings.Builder
	least := ""
	if e.More {
		least = "at least "
	}
	where := "at lines " + numberList(e.Lines, show)
	if e.Lines[0] == e.Lines[len(e.Lines)-1] {
		where = fmt.Sprintf("all on line %d", e.Lines[0])
	}
	fmt.Fprintf(&b, "old_string matches %s%d places, %s", least, len(e.Lines), where)
	if e.Rung != Exact {
		fmt.Fprintf(&b, " (compared by %s)", e.Rung)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "; line %d names none of them", e.Line)
	}
	b.WriteString(". Repeat more of the lines around the one you mean, or set replace_all to change them all")
	return b.String()
}

// numberList writes numbers separated by commas, each once, at most show of them.
func numberList(n []int, show int) string {
	var b strings.Builder
	shown := 0
	for i, x := range n {
		if i > 0 && x == n[i-1] {
			continue
		}
		if shown == show {
			fmt.Fprintf(&b, " and %d more", len(n)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(x))
		shown++
	}
	return b.String()
}

// NotFoundError says that the old text stands nowhere, on no rung.
type NotFoundError struct {
	Nearest        *Region // where most of its lines are, nil if none is
	AlreadyApplied int     // from 1: the line on which the new text stands, so the edit may have been made before; or 0
	Why            string  // set if the text was found, but the edit cannot be made: the reason
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	switch {
	case e.Why != "":
		fmt.Fprintf(&b, "old_string was not found exactly: %s", e.Why)
	case e.AlreadyApplied > 0:
		fmt.Fprintf(&b, "old_string was not found, but new_string stands at line %d: the edit seems to be made already", e.AlreadyApplied)
		return b.String()
	default:
		b.WriteString("old_string was not found")
	}
	if e.Nearest == nil {
		b.WriteString(", and nothing near it is in the file: read the file again and copy the text from there")
		return b.String()
	}
	fmt.Fprintf(&b, ". The nearest text is at %s (- is old_string, + is the file; → is a tab, · a blank):\n", e.Nearest.lines())
	b.WriteString(e.Nearest.String())
	b.WriteString("Copy the lines of the file, not those marked -")
	return b.String()
}

// Region is a part of the file beside the text that was looked for there.
type Region struct {
	Line, Last int // from 1
	Diff       []DiffLine
	Cut        bool // more lines differ than Diff shows
}

// DiffLine is one line of a Region.
type DiffLine struct {
	Op   byte   // ' ' in both, '-' only in the old text, '+' only in the file
	Line int    // from 1, in the file; 0 for '-'
	Text string // with visible white space, unless Op is ' '; of a long line, the part around the difference
}

func (r *Region) lines() string {
	if r.Line == r.Last {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("lines %d-%d", r.Line, r.Last)
}

// String writes the lines of the region below each other, each with a line break.
func (r *Region) String() string {
	width := len(strconv.Itoa(r.Last))
	var b strings.Builder
	for _, d := range r.Diff {
		number := ""
		if d.Line > 0 {
			number = strconv.Itoa(d.Line)
		}
		fmt.Fprintf(&b, "%c %*s  %s\n", d.Op, width, number, d.Text)
	}
	if r.Cut {
		b.WriteString("  (more lines differ)\n")
	}
	return b.String()
}
