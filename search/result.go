package search

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// File is a file that was found.
type File struct {
	Path    string    `json:"path"` // relative to Root, with "/"
	Size    int64     `json:"size,omitempty"`
	ModTime time.Time `json:"mtime,omitzero"`
}

// FilesResult is the answer to a FilesQuery.
type FilesResult struct {
	Files   []File  `json:"files"`
	Total   int     `json:"total"` // all that match, on every page
	AtLeast bool    `json:"at_least,omitempty"`
	PastEnd bool    `json:"past_end,omitempty"` // there are matches, but Offset lies behind the last
	Receipt Receipt `json:"receipt"`
}

// Line is a line of a file.
type Line struct {
	Number  int    `json:"line"` // 1-based
	Text    string `json:"text"` // as shown: without the line end, cut to MaxColumns
	Context bool   `json:"context,omitempty"`
	Gap     bool   `json:"gap,omitempty"`        // lines of the file are missing between this one and the one shown before
	Before  int    `json:"cut_before,omitempty"` // characters that were cut on either side
	After   int    `json:"cut_after,omitempty"`
}

// FileHits is a file with its matches.
type FileHits struct {
	Path    string    `json:"path"`
	Count   int       `json:"count,omitempty"` // matching lines (matches, with Multiline); not with FilesWithMatches
	Lines   []Line    `json:"lines,omitempty"` // with Content
	ModTime time.Time `json:"mtime,omitzero"`  // with Newest
	// Binary says that the file holds a NUL byte. Lines are those before it; for a file named as Root there are none.
	Binary bool `json:"binary,omitempty"`
}

// GrepResult is the answer to a GrepQuery.
type GrepResult struct {
	Files []FileHits `json:"files"`

	// Totals over all pages. AtLeast says that the search ended before everything was counted.
	TotalFiles   int  `json:"total_files"`
	TotalMatches int  `json:"total_matches"` // matching lines; 0 with FilesWithMatches, which stops at the first
	TotalLines   int  `json:"total_lines"`   // output lines, with Content
	AtLeast      bool `json:"at_least,omitempty"`

	NextOffset int  `json:"next_offset,omitempty"` // where the next page begins; 0 when this was the last
	PastEnd    bool `json:"past_end,omitempty"`    // there are matches, but Offset lies behind the last

	Notes   []string `json:"notes,omitempty"` // how the pattern was understood, where that may surprise
	Receipt Receipt  `json:"receipt"`
}

// TreeEntry is an entry of a tree, in order: a directory stands before its entries.
type TreeEntry struct {
	Path    string    `json:"path"`
	Kind    Kind      `json:"kind"`
	Depth   int       `json:"depth"` // 1: directly in Root
	Size    int64     `json:"size,omitempty"`
	ModTime time.Time `json:"mtime,omitzero"`
	// More is how many entries of a directory are not listed; -1 when it was not opened.
	More int `json:"more,omitempty"`
}

// TreeResult is the answer to a TreeQuery.
type TreeResult struct {
	Entries []TreeEntry `json:"entries"`
	More    int         `json:"more,omitempty"` // entries of Root itself that are not listed
	Receipt Receipt     `json:"receipt"`
}

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Reason is why something was skipped.
type Reason uint8

// The reasons. Hidden: the name begins with ".". Ignored: an ignore file says so. Binary: a match that is not shown, or
// a large file that was not read on, because of a NUL byte. TooLarge: MaxSize. Unreadable: an error. Link: symbolic
// links are not followed. Special: a FIFO, socket or device. OtherFS: OneFS. LongLine: searched in pieces, so that a
// match across a border may be missing. Denied: Filter.Allow; such files are counted and never named.
const (
	Hidden Reason = iota
	Ignored
	Binary
	TooLarge
	Unreadable
	Link
	Special
	OtherFS
	LongLine
	Denied
	numReasons
)

var reasonNames = [numReasons]string{"hidden", "ignored", "binary", "too large", "unreadable", "link", "special file",
	"other file system", "very long line", "denied by policy"}

func (r Reason) String() string { return reasonNames[r] }

// MarshalText writes the name of the reason.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Skip is what was skipped for one reason. A directory counts as one, whatever is in it.
type Skip struct {
	Reason   Reason   `json:"reason"`
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // the first few by path, with the rule or the error in parentheses
}

// Partial is why a search ended before it had seen everything.
type Partial string

// The reasons for a partial result.
const (
	Complete   Partial = ""
	TimeLimit  Partial = "time limit"
	FileLimit  Partial = "file limit"
	Canceled   Partial = "canceled"
	PageFilled Partial = "page filled" // the page is complete, only the totals are not
)

// Receipt says what a search has looked at and what it has not.
type Receipt struct {
	Dirs    int           `json:"dirs"`
	Files   int           `json:"files"`           // files that passed the filter
	Bytes   int64         `json:"bytes,omitempty"` // that were read
	Skipped []Skip        `json:"skipped,omitempty"`
	Partial Partial       `json:"partial,omitempty"`
	Elapsed time.Duration `json:"elapsed"`
}

// Skip returns what was skipped for a reason.
func (r *Receipt) Skip(reason Reason) Skip {
	for _, s := range r.Skipped {
		if s.Reason == reason {
			return s
		}
	}
	return Skip{Reason: reason}
}

// String says in words what was skipped, or "".
func (r *Receipt) String() string {
	var parts []string
	for _, s := range r.Skipped {
		part := fmt.Sprintf("%d %s", s.Count, s.Reason)
		if len(s.Examples) > 0 {
			part += " (" + strings.Join(s.Examples, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// maxExamples is how many examples of each reason a receipt keeps.
const maxExamples = 3

// tally collects skips for one worker.
type tally struct {
	dirs, files int
	bytes       int64
	skips       [numReasons]struct {
		count    int
		examples []example // by path
	}
}

type example struct{ path, why string }

func (t *tally) skip(r Reason, path, why string) {
	if t.count(r, path) {
		t.keep(r, example{strings.Clone(path), why})
	}
}

// count counts a skip and reports whether it is one of the examples to keep.
func (t *tally) count(r Reason, path string) bool {
	s := &t.skips[r]
	s.count++
	n := len(s.examples)
	return n < maxExamples || comparePaths(path, s.examples[n-1].path) < 0
}

func (t *tally) keep(r Reason, e example) {
	s := &t.skips[r]
	at, _ := slices.BinarySearchFunc(s.examples, e, func(a, b example) int { return comparePaths(a.path, b.path) })
	s.examples = slices.Insert(s.examples, at, e)
	s.examples = s.examples[:min(len(s.examples), maxExamples)]
}

func (t *tally) merge(o *tally) {
	t.dirs += o.dirs
	t.files += o.files
	t.bytes += o.bytes
	for r := range o.skips {
		t.skips[r].count += o.skips[r].count
		for _, e := range o.skips[r].examples {
			t.keep(Reason(r), e)
		}
	}
}

func (t *tally) receipt() Receipt {
	rec := Receipt{Dirs: t.dirs, Files: t.files, Bytes: t.bytes}
	for r := range t.skips {
		if t.skips[r].count == 0 {
			continue
		}
		s := Skip{Reason: Reason(r), Count: t.skips[r].count}
		for _, e := range t.skips[r].examples {
			if e.why != "" {
				e.path += " (" + e.why + ")"
			}
			s.Examples = append(s.Examples, e.path)
		}
		rec.Skipped = append(rec.Skipped, s)
	}
	return rec
}

// comparePaths orders paths as a walk in name order meets them: component by component, so "/" sorts before everything.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		case a[i] < b[i]:
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
