// Package patch reads, prints and plans patches: text that says which lines of which files become which others.
//
// Two languages have one meaning here. The envelope is what models are trained on:
//
//	*** Begin Patch
//	*** Update File: cmd/main.go
//	@@ func main() {
//	-	run()
//	+	os.Exit(run())
//	*** End Patch
//
// and the other is unified diff, as diff, git, svn and hg write it and as models imitate it. [Parse] makes the same
// [Patch] of both and notes what it had to overlook; [Patch.Print] is its inverse. [Plan] works out, from what a
// [Source] says the files are, a changeset that carries out the whole patch, or else says for every hunk why not.
//
// The one idea: a patch names lines, and a line is where its text is. So numbers and counts are hints, texts are
// conditions. A hunk goes where its old lines stand, found on the ladder of package edit; if they stand at several places
// then the @@ lines, the line numbers or the order of the hunks must leave one of them, or the hunk is refused with all of
// them. Nothing is placed by similarity, nothing is overwritten, nothing is half done.
//
// The package is pure: no file is read or written here.
package patch

import (
	"fmt"
	"io/fs"
	"strings"
)

// Format is a language that a patch can be written in.
type Format uint8

// The languages.
const (
	Envelope Format = iota // *** Begin Patch
	Unified                // ---, +++ and @@, with or without git's headers
)

func (f Format) String() string { return [...]string{"envelope", "unified diff"}[f] }

// Patch is a parsed patch. Hunks are numbered through the whole patch from 1, as the one who wrote it counts them.
// A section without hunks (a deletion, a pure rename, a change of mode) takes one number for itself.
type Patch struct {
	Format      Format
	Environment string // "*** Environment ID:" of the envelope, or ""
	Files       []FilePatch
	Notes       []Note // what the parser overlooked
}

// Op is what a section does to its file.
type Op uint8

// The operations.
const (
	Update Op = iota // change lines, and with To set the name as well
	Add              // make a file that does not exist
	Delete           // remove a file; hunks, where there are any, must be its whole content
	Copy             // make To from Path, then change lines of it
)

func (o Op) String() string { return [...]string{"update", "add", "delete", "copy"}[o] }

// FilePatch is one section of a patch.
type FilePatch struct {
	Op    Op
	Path  string   // as written, without a/ and b/ where both sides have them
	To    string   // the new name of a renamed or copied file, or ""
	Names []string // other readings of Path, tried in order where Path does not exist (unified diffs only)
	// OldMode and NewMode are git's modes where the patch states them: permission bits, and fs.ModeSymlink for a link.
	// 0: not stated.
	OldMode, NewMode fs.FileMode
	Hunks            []Hunk
	Number           int // of a section without hunks; otherwise 0
	Line             int // of its first line in the patch text, from 1
}

// Hunk is a run of lines to find and to replace.
type Hunk struct {
	Number int // in the patch, from 1
	// Anchors are the texts of "@@ text" lines: lines of the file that stand before the hunk, in this order.
	Anchors []string
	// OldStart and NewStart are the line numbers of a unified hunk, from 1. Numbered says that they are given.
	OldStart, NewStart int
	Numbered           bool
	Section            string // what follows the second @@ of a unified hunk
	Lines              []Line
	EOF                bool // "*** End of File": the old lines are the last ones of the file
	Line               int  // of its header in the patch text, from 1
}

// Kind says what a line of a hunk is.
type Kind byte

// The kinds, by the sign that stands before the line.
const (
	Context Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Line is one line of a hunk.
type Line struct {
	Kind Kind
	// Text has neither sign nor line feed. It ends with a carriage return only in a unified diff that is itself not
	// written with CRLF; there the carriage return is content.
	Text  string
	NoEOL bool // "\ No newline at end of file" follows
	Bare  bool // a context line that was written as an empty line, without its blank
	Line  int  // in the patch text, from 1
}

// body returns the text as it is compared with a line of a file, whose ending does not count: without a carriage return
// that stands before a line feed.
func (l *Line) body() string {
	if l.NoEOL {
		return l.Text
	}
	return strings.TrimSuffix(l.Text, "\r")
}

// Note is something that was overlooked in the text of a patch.
type Note struct {
	Line int // in the patch text, from 1
	Text string
}

func (n Note) String() string { return fmt.Sprintf("line %d: %s", n.Line, n.Text) }

// Count returns the highest hunk number.
func (p *Patch) Count() int {
	n := 0
	for _, f := range p.Files {
		n = max(n, f.Number)
		for _, h := range f.Hunks {
			n = max(n, h.Number)
		}
	}
	return n
}

// number counts the hunks.
func (p *Patch) number() {
	n := 0
	for i := range p.Files {
		f := &p.Files[i]
		f.Number = 0
		if len(f.Hunks) == 0 {
			n++
			f.Number = n
		}
		for j := range f.Hunks {
			n++
			f.Hunks[j].Number = n
		}
	}
}

// old and new return the numbers of lines that a hunk takes and gives.
func (h *Hunk) counts() (old, new int) {
	for _, l := range h.Lines {
		switch l.Kind {
		case Context:
			old, new = old+1, new+1
		case Removed:
			old++
		case Added:
			new++
		}
	}
	return old, new
}

// ParseError says why a text is not a patch.
type ParseError struct {
	Line int    // in the patch text, from 1; 0 where it is about the whole
	Path string // of the section it happened in, or ""
	Hunk int    // number of the hunk it happened in, or 0
	Msg  string // the fact, the offending text quoted, and what to write instead
}

func (e *ParseError) Error() string {
	s := "patch"
	if e.Line > 0 {
		s += fmt.Sprintf(" line %d", e.Line)
	}
	if e.Path != "" {
		s += ", " + e.Path
	}
	if e.Hunk > 0 {
		s += fmt.Sprintf(", hunk #%d", e.Hunk)
	}
	return s + ": " + e.Msg
}
