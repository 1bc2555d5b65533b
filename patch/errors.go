package patch

import (
	"fmt"
	"strings"
)

// Code says what kind of failure an Error is.
type Code string

// The codes.
const (
	NotFound       Code = "not_found"       // the old lines are not in the file
	Ambiguous      Code = "ambiguous"       // they are at several places
	AlreadyApplied Code = "already_applied" // the new lines stand there already
	OutOfOrder     Code = "out_of_order"    // they stand before an earlier hunk of the section
	AnchorNotFound Code = "anchor_not_found"
	NoContext      Code = "no_context" // the hunk has no line that could be looked for
	FileMissing    Code = "file_missing"
	FileExists     Code = "exists"        // an added or renamed file would overwrite one
	IsDirectory    Code = "is_directory"  // where a file should be
	SamePath       Code = "same_path"     // a file is moved onto itself
	NotText        Code = "binary"        // the file is not text
	Encoding       Code = "encoding"      // the file's encoding lacks a character of the patch
	NotWhole       Code = "not_whole"     // a deletion does not show the whole content
	Unreadable     Code = "unreadable"    // the Source could not read the file
	IsLink         Code = "symbolic_link" // text cannot be patched into a symbolic link
	Conflict       Code = "conflict"      // two sections contradict each other
	NotTried       Code = "not_tried"     // the plan gave up before this hunk
)

// Error is one failure of a plan. Msg is for the model: the fact, and what to do next.
type Error struct {
	Code Code
	Line int    // in the patch text, from 1; 0 where it is about the whole
	Path string // as written
	Hunk int    // number, or 0 where it is about the whole section
	At   []int  // lines of the file, from 1: the places of an ambiguous hunk, or the one that comes nearest
	Msg  string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Hunk > 0 {
		fmt.Fprintf(&b, ", hunk #%d", e.Hunk)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, " (patch line %d)", e.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + e.Msg
}

// PlanError holds every failure of a plan, at least one, in the order of the patch. Nothing is to be written.
type PlanError struct {
	Errors []*Error
}

func (e *PlanError) Error() string {
	all := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		all[i] = err.Error()
	}
	return strings.Join(all, "\n")
}

// Unwrap returns the failures.
func (e *PlanError) Unwrap() []error {
	all := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		all[i] = err
	}
	return all
}

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}
