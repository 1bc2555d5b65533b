package search

import "time"

// Filter says which files of a tree are looked at. The zero value, with a Root, is what ripgrep looks at.
type Filter struct {
	// Root is a directory or a regular file, absolute and resolved (a host.Path's Real). A file that is named here is
	// searched whatever the rest says.
	Root string

	// Globs are ripgrep's -g: see glob.Overrides. They are relative to Base ("" means Root), an absolute directory at or
	// above Root.
	Globs     []string
	Base      string
	FoldGlobs bool // Globs ignore case

	// Types and NotTypes are names of the type list ([TypeNames]), or "all".
	Types, NotTypes []string

	Hidden   bool // also names that begin with "."; the folder .git only together with NoIgnore
	NoIgnore bool // ignore files do not count
	AnyTree  bool // .gitignore counts outside of repositories too

	// Allow, where it is set, is asked about every file that all else includes, by its path relative to Root; what it
	// refuses is skipped as Denied. It is called by several goroutines at once and must not keep the path.
	Allow func(path string) bool

	MaxDepth int   // 1: only the entries of Root; 0: no limit
	MaxSize  int64 // bytes; larger files are skipped and reported. 0: no limit (but see GrepQuery.Multiline)
	MaxFiles int   // stop after so many files, and say so; 0: no limit
	OneFS    bool  // do not enter other file systems

	// TimeLimit ends the search with what was found so far, and says so. 0: no limit.
	TimeLimit time.Duration
}

// Order is the order of results.
type Order uint8

// ByPath compares component by component; Newest puts the files changed last first, equal times by path.
const (
	ByPath Order = iota
	Newest
)

// FilesQuery asks for files by name.
type FilesQuery struct {
	Filter

	// Pattern is a glob in the dialect of glob.Compile, relative to Root; "" matches everything. A file that has exactly
	// the pattern as its path is found too ("app/[id]/page.tsx"). A "/" at the end means everything below.
	Pattern string
	Fold    bool // Pattern ignores case

	Order         Order
	Offset, Limit int // of the ordered list; Limit 0: no limit
}

// Mode is what a Grep returns.
type Mode uint8

// The modes: the files with a match; the lines; the number of matching lines of each file; the files without a match.
const (
	FilesWithMatches Mode = iota
	Content
	Count
	FilesWithoutMatch
)

// GrepQuery asks for lines.
type GrepQuery struct {
	Filter

	Pattern         string
	Literal         bool // Pattern is text
	CaseInsensitive bool
	SmartCase       bool // ignore case unless Pattern has an upper-case letter
	Word            bool // the match must not continue a word on either side
	WholeLine       bool // the match must be a whole line
	Invert          bool // the lines that do not match
	Text            bool // search binary files as if they were text

	// Multiline lets matches span lines; a Pattern with a line end does so by itself. Files larger than 32 MiB are then
	// skipped as too large. DotAll lets "." match line ends.
	Multiline, DotAll bool

	Mode          Mode
	Before, After int // context lines, with Content

	// Order is that of files. Newest applies to the modes that list files; Content is always ordered by path.
	Order Order

	// Offset and Limit count output lines: with Content the matching and context lines, else files. Limit 0: no limit.
	Offset, Limit int
	// MaxBytes bounds the text of the page, with Content: the page ends before the line that would exceed it. 0: no limit.
	MaxBytes int
	// MaxColumns is how many characters of a line are shown, around its (first) match. 0: 2000; negative: no limit.
	MaxColumns int
	// MaxPerFile stops a file after so many matching lines. 0: no limit.
	MaxPerFile int

	// CountFor is how long the search goes on, after the page is complete, to count what else there is. Totals that were
	// cut short are marked. 0: 250 ms; negative: to the end.
	CountFor time.Duration
}

// TreeQuery asks for a directory as a tree.
type TreeQuery struct {
	Filter
	// Limit bounds the entries. They are spent level by level, so that a large directory does not hide its neighbours.
	// 0: 100; negative: no limit.
	Limit int
	// Sizes asks for the size and time of files.
	Sizes bool
}
