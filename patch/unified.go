package patch

import (
	"fmt"
	"strings"
)

// unified reads a unified diff, with or without git's headers. The form is that of POSIX diff -u and of git-diff(1).
//
// What stands between sections (mail headers, commit messages, "Only in", svn's property changes) is skipped, as git and
// GNU patch skip it; but a line that could belong to a hunk never is.
func (in *input) unified(p *Patch) error {
	p.Format = Unified
	u := unifiedParser{input: in, patch: p}
	for u.i < len(in.lines) {
		if err := u.step(); err != nil {
			return u.locate(err)
		}
	}
	if err := u.close(); err != nil {
		return u.locate(err)
	}
	if len(p.Files) == 0 {
		return &ParseError{Line: in.first, Msg: "no file header; a unified diff names its file in lines that begin with --- and +++"}
	}
	return nil
}

type unifiedParser struct {
	*input
	patch *Patch
	i     int
	open  bool // sec is the section being read
	sec   section
	hunks int    // begun in the whole patch
	index string // of svn's "Index: path", for the next section
	tabs  bool
}

// section is a section of a unified diff before it is known what it does.
type section struct {
	line         int
	git          bool   // begun by "diff --git"
	names        string // what follows "diff --git"
	old, new     name   // of --- and +++
	index        string
	headers      bool // --- and +++ were there
	from, to     string
	rename, copy bool
	made, gone   bool // "new file mode", "deleted file mode"
	oldMode      string
	newMode      string
	binary       string // why its content cannot be used, or ""
	hunks        []Hunk
}

func (u *unifiedParser) locate(err error) error {
	if pe, ok := err.(*ParseError); ok && u.open {
		old, new := strip(u.sec.old.path(), u.sec.new.path())
		pe.Path = first(pe.Path, u.sec.to, new, old)
		if len(u.sec.hunks) > 0 {
			pe.Hunk = u.hunks
		}
	}
	return err
}

// looksUnified reports whether any line is one that only a unified diff has.
func (in *input) looksUnified() bool {
	for i, line := range in.lines {
		switch {
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "@@ -"):
			return true
		case isFileHeader(in.lines, i) && !strings.HasPrefix(line, "*** "):
			return true
		case strings.HasPrefix(line, "***************"):
			return false
		}
	}
	return false
}

// isFileHeader reports whether lines i and i+1 are the --- and +++ of a section.
func isFileHeader(lines []string, i int) bool {
	return i+1 < len(lines) && strings.HasPrefix(lines[i], "--- ") && strings.HasPrefix(lines[i+1], "+++ ")
}

// step reads the next header, hunk or other line.
func (u *unifiedParser) step() error {
	line := strings.TrimRight(u.lines[u.i], "\r")
	switch {
	case strings.HasPrefix(line, "diff --git "):
		if err := u.begin(); err != nil {
			return err
		}
		u.sec.git, u.sec.names = true, line[len("diff --git "):]
		u.i++
		return u.gitHeaders()
	case isFileHeader(u.lines, u.i):
		return u.fileHeader()
	case strings.HasPrefix(line, "@@@"):
		return u.errorf(u.i, "a combined diff (of a merge) cannot be applied; send a diff between two versions")
	case strings.HasPrefix(line, "@@"):
		return u.hunk(line)
	case strings.HasPrefix(line, "Index: "):
		u.index = strings.TrimSpace(line[len("Index: "):])
	case u.open && !u.sec.headers && u.sec.git && (strings.HasPrefix(line, "GIT binary patch") || strings.HasPrefix(line, "Binary files ")):
		u.binary(line)
		return nil
	case strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ"):
		return u.errorf(u.i, "%q: a binary file; a patch of text cannot change it", clip(line))
	case u.signature(u.i):
		u.i += 2 // a message may follow
		return u.close()
	case u.open && len(u.sec.hunks) > 0 && (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")):
		return u.errorf(u.i, "%q stands behind a hunk that is already complete", clip(line))
	}
	u.i++
	return nil
}

// binary skips the content of a binary section.
func (u *unifiedParser) binary(line string) {
	u.sec.binary = "the patch holds binary content (" + clip(line) + "); only text can be patched"
	for u.i++; u.i < len(u.lines) && !strings.HasPrefix(u.lines[u.i], "diff --git "); u.i++ {
	}
}

// begin closes the open section and opens the next one.
func (u *unifiedParser) begin() error {
	if err := u.close(); err != nil {
		return err
	}
	u.open, u.sec = true, section{line: u.at(u.i), index: u.index}
	u.index = ""
	return nil
}

// gitHeaders reads the extended header lines of git up to the first line that is none.
func (u *unifiedParser) gitHeaders() error {
	s := &u.sec
	for ; u.i < len(u.lines); u.i++ {
		key, value := cutHeader(strings.TrimRight(u.lines[u.i], "\r"))
		var err error
		switch key {
		case "old mode":
			s.oldMode = value
		case "new mode":
			s.newMode = value
		case "new file mode":
			s.made, s.newMode = true, value
		case "deleted file mode":
			s.gone, s.oldMode = true, value
		case "rename from", "copy from":
			s.from, err = unquote(value)
		case "rename to":
			s.rename = true
			s.to, err = unquote(value)
		case "copy to":
			s.copy = true
			s.to, err = unquote(value)
		case "index", "similarity index", "dissimilarity index":
		default:
			return nil
		}
		if err != nil {
			return u.errorf(u.i, "%v", err)
		}
	}
	return nil
}

func cutHeader(line string) (key, value string) {
	for _, key := range []string{"old mode", "new mode", "new file mode", "deleted file mode", "rename from", "rename to",
		"copy from", "copy to", "similarity index", "dissimilarity index", "index"} {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			return key, value
		}
	}
	return "", ""
}

// fileHeader reads the --- and +++ lines.
func (u *unifiedParser) fileHeader() error {
	if !u.open || !u.sec.git || u.sec.headers || len(u.sec.hunks) > 0 {
		if err := u.begin(); err != nil {
			return err
		}
	}
	for i, n := range []*name{&u.sec.old, &u.sec.new} {
		var err error
		if *n, err = parseName(strings.TrimRight(u.lines[u.i+i], "\r")[4:]); err != nil {
			return u.errorf(u.i+i, "%v", err)
		}
	}
	u.sec.headers = true
	u.i += 2
	return nil
}

// hunk reads a hunk. The counts of its header decide where it ends if its lines bear them out; otherwise it ends where a
// line can be none of it.
func (u *unifiedParser) hunk(line string) error {
	if !u.open {
		return u.errorf(u.i, "the hunk %q belongs to no file; --- and +++ lines with the path must stand before it", clip(line))
	}
	h := Hunk{Line: u.at(u.i)}
	u.hunks++
	old, new, err := u.header(&h, line)
	u.sec.hunks = append(u.sec.hunks, h)
	if err != nil {
		return u.errorf(u.i, "%v", err)
	}
	start := u.i + 1
	lines, next, ok := u.counted(start, old, new)
	if !ok {
		if lines, next, err = u.guessed(start); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return u.errorf(u.i, "no line follows %q; write lines that begin with a blank, - or +", clip(line))
	}
	last := &u.sec.hunks[len(u.sec.hunks)-1]
	last.Lines = lines
	if o, n := last.counts(); last.Numbered && (o != old || n != new) {
		u.note(u.i, fmt.Sprintf("the header counts %d old and %d new lines, the hunk has %d and %d", old, new, o, n))
	}
	u.i = next
	return nil
}

// header reads the @@ line of a hunk and returns its counts.
func (u *unifiedParser) header(h *Hunk, line string) (old, new int, err error) {
	ok, err := h.numbers(line)
	if err != nil || ok {
		if err == nil {
			old, new, err = headerCounts(line)
		}
		return old, new, err
	}
	text := strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " ")
	u.note(u.i, fmt.Sprintf("the hunk header %q has no line numbers", clip(line)))
	if !isElision(text) && strings.Trim(text, " -+,@") != "" {
		h.Anchors = []string{text}
	}
	return -1, -1, nil
}

// counted reads exactly the lines that the counts announce. It reports whether they are there and the next line is none
// of the hunk.
func (u *unifiedParser) counted(i, old, new int) (lines []Line, next int, ok bool) {
	for old > 0 || new > 0 {
		if i >= len(u.lines) {
			return nil, 0, false
		}
		l, isBody := u.body(i)
		if !isBody || l.Bare && old == 0 {
			return nil, 0, false
		}
		if l.Kind == noEOL {
			if len(lines) == 0 {
				return nil, 0, false
			}
			lines[len(lines)-1].NoEOL = true
		} else {
			lines = append(lines, l)
		}
		if l.Kind == Context || l.Kind == Removed {
			old--
		}
		if l.Kind == Context || l.Kind == Added {
			new--
		}
		i++
	}
	if old < 0 || new < 0 {
		return nil, 0, false
	}
	if i < len(u.lines) && strings.HasPrefix(u.lines[i], "\\") && len(lines) > 0 {
		lines[len(lines)-1].NoEOL = true
		i++
	}
	return lines, i, i >= len(u.lines) || !u.continues(i)
}

// continues reports whether line i looks like more of a hunk.
func (u *unifiedParser) continues(i int) bool {
	l, isBody := u.body(i)
	return isBody && !l.Bare && !u.ends(i)
}

// ends reports whether line i ends a hunk whose counts are not to be trusted.
func (u *unifiedParser) ends(i int) bool {
	line := u.lines[i]
	return isFileHeader(u.lines, i) || strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff ") ||
		strings.HasPrefix(line, "Index: ") || u.signature(i)
}

// signature reports whether line i begins the signature that git puts below a mail: "-- " and a version. The same line alone
// would be a removed line.
func (u *unifiedParser) signature(i int) bool {
	return strings.TrimSuffix(u.lines[i], "\r") == "-- " && i+1 < len(u.lines) && strings.IndexAny(u.lines[i+1], "0123456789") == 0
}

// guessed reads lines up to one that ends the hunk. Empty lines before it are kept, marked Bare: Plan does without them if
// they are not in the file.
func (u *unifiedParser) guessed(i int) (lines []Line, next int, err error) {
	for ; i < len(u.lines) && !u.ends(i); i++ {
		l, isBody := u.body(i)
		switch {
		case !isBody:
			return nil, 0, u.errorf(i, "%q has no sign: a context line begins with a blank, a removed one with -, an added one with +", clip(u.lines[i]))
		case l.Kind == noEOL && len(lines) == 0:
			return nil, 0, u.errorf(i, "%q follows no line of the hunk", clip(u.lines[i]))
		case l.Kind == noEOL:
			lines[len(lines)-1].NoEOL = true
		default:
			lines = append(lines, l)
		}
	}
	return lines, i, nil
}

const noEOL Kind = '\\'

// body reads a line of a hunk.
func (u *unifiedParser) body(i int) (l Line, ok bool) {
	line := u.lines[i]
	l = Line{Kind: Context, Line: u.at(i)}
	switch {
	case line == "" || line == "\r":
		l.Bare, l.Text = true, line
	case strings.ContainsRune(" +-\\", rune(line[0])):
		l.Kind, l.Text = Kind(line[0]), line[1:]
	case line[0] == '\t':
		if !u.tabs {
			u.note(i, tabNote)
		}
		u.tabs, l.Text = true, line
	default:
		return l, false
	}
	return l, true
}
