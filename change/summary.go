package change

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// summaryWidth is the width that stat lines keep to, as in git outside of a terminal.
const summaryWidth = 80

// Summary returns the preview as git's --stat and --summary print it: a line per file, the totals, and lines for created,
// deleted and renamed files and for changed modes. An empty preview gives " 0 files changed".
func (p Preview) Summary() string {
	var b strings.Builder
	nameWidth, countWidth, most := 0, 1, 1
	files, added, removed := 0, 0, 0
	for _, f := range p.Files {
		if strings.HasSuffix(f.Path, "/") {
			continue
		}
		files++
		nameWidth = max(nameWidth, utf8.RuneCountInString(f.label()))
		countWidth = max(countWidth, len(f.count()))
		if f.LineCountsAvailable {
			added, removed = added+f.Added, removed+f.Removed
			most = max(most, f.Added+f.Removed)
		}
	}
	graph := max(6, summaryWidth-nameWidth-countWidth-6)
	for _, f := range p.Files {
		if strings.HasSuffix(f.Path, "/") {
			continue
		}
		line := fmt.Sprintf(" %s | %*s %s", pad(f.label(), nameWidth), countWidth, f.count(), f.bar(most, graph))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString(" " + plural(files, "file") + " changed")
	if added > 0 || removed == 0 && files > 0 {
		b.WriteString(", " + plural(added, "insertion") + "(+)")
	}
	if removed > 0 || added == 0 && files > 0 {
		b.WriteString(", " + plural(removed, "deletion") + "(-)")
	}
	b.WriteByte('\n')
	for _, f := range p.Files {
		if s := f.event(); s != "" {
			b.WriteString(" " + s + "\n")
		}
	}
	return b.String()
}

func (f FileChange) label() string {
	if f.From != "" {
		return quote(f.From) + " => " + quote(f.Path)
	}
	return quote(f.Path)
}

// count is the number in a stat line: changed lines, "Bin" for binary content, "?" where it is unknown.
func (f FileChange) count() string {
	switch {
	case f.LineCountsAvailable:
		return strconv.Itoa(f.Added + f.Removed)
	case f.Binary:
		return "Bin"
	}
	return "?"
}

// bar is the last column: signs in proportion, or the sizes.
func (f FileChange) bar(most, width int) string {
	if !f.LineCountsAvailable {
		return fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize)
	}
	plus, minus := f.Added, f.Removed
	if most > width {
		// Something that is there shows, and the longest bar has the whole width.
		scale := func(n int) int {
			if n == 0 {
				return 0
			}
			return 1 + n*(width-1)/most
		}
		total := max(scale(plus+minus), min(plus, 1)+min(minus, 1))
		if plus < minus {
			plus = scale(plus)
			minus = total - plus
		} else {
			minus = scale(minus)
			plus = total - minus
		}
	}
	return strings.Repeat("+", plus) + strings.Repeat("-", minus)
}

// event is the line of --summary, or "".
func (f FileChange) event() string {
	mode := func(m fs.FileMode) string { return gitMode(m, false) }
	switch {
	case f.Status == Added && f.NewMode.IsDir():
		return "create directory " + quote(f.Path)
	case f.Status == Deleted && f.OldMode.IsDir():
		return "delete directory " + quote(f.Path)
	case f.Status == Added:
		return fmt.Sprintf("create mode %s %s", mode(f.NewMode), quote(f.Path))
	case f.Status == Deleted:
		return fmt.Sprintf("delete mode %s %s", mode(f.OldMode), quote(f.Path))
	case f.Status == Renamed:
		return "rename " + f.label()
	case f.OldMode != f.NewMode:
		exact := mode(f.OldMode) == mode(f.NewMode)
		return fmt.Sprintf("mode change %s => %s %s", gitMode(f.OldMode, exact), gitMode(f.NewMode, exact), quote(f.Path))
	}
	return ""
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fileChangeJSON is the stored form: modes as git prints them with all bits, counts absent where they are not available.
type fileChangeJSON struct {
	Path                string `json:"path"`
	From                string `json:"from,omitempty"`
	Status              Status `json:"status"`
	Added               *int   `json:"added,omitempty"`
	Removed             *int   `json:"removed,omitempty"`
	LineCountsAvailable bool   `json:"lineCountsAvailable"`
	Binary              bool   `json:"binary,omitempty"`
	OldSize             int64  `json:"oldSize"`
	NewSize             int64  `json:"newSize"`
	OldMode             string `json:"oldMode,omitempty"`
	NewMode             string `json:"newMode,omitempty"`
}

// MarshalJSON leaves out line counts that are not available, so that nobody reads them as 0, and writes modes in octal
// ("100644", "120000" for a link, "040755" for a directory).
func (f FileChange) MarshalJSON() ([]byte, error) {
	j := fileChangeJSON{Path: f.Path, From: f.From, Status: f.Status, LineCountsAvailable: f.LineCountsAvailable, Binary: f.Binary,
		OldSize: f.OldSize, NewSize: f.NewSize}
	if f.LineCountsAvailable {
		j.Added, j.Removed = &f.Added, &f.Removed
	}
	if f.Status != Added {
		j.OldMode = octal(f.OldMode)
	}
	if f.Status != Deleted {
		j.NewMode = octal(f.NewMode)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *FileChange) UnmarshalJSON(data []byte) error {
	var j fileChangeJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*f = FileChange{Path: j.Path, From: j.From, Status: j.Status, LineCountsAvailable: j.LineCountsAvailable, Binary: j.Binary,
		OldSize: j.OldSize, NewSize: j.NewSize}
	if j.Added != nil {
		f.Added = *j.Added
	}
	if j.Removed != nil {
		f.Removed = *j.Removed
	}
	var err error
	if f.OldMode, err = parseOctal(j.OldMode); err == nil {
		f.NewMode, err = parseOctal(j.NewMode)
	}
	return err
}

// The type bits of stat(2).
const (
	typeMask    = 0o170000
	typeSymlink = 0o120000
	typeFile    = 0o100000
	typeDir     = 0o040000
)

func octal(m fs.FileMode) string {
	t := typeFile
	switch {
	case m&fs.ModeSymlink != 0:
		t = typeSymlink
	case m.IsDir():
		t = typeDir
	}
	return fmt.Sprintf("%06o", t|int(m.Perm()))
}

func parseOctal(s string) (fs.FileMode, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("mode %q: want octal digits", s)
	}
	m := fs.FileMode(n).Perm()
	switch n & typeMask {
	case typeSymlink:
		m |= fs.ModeSymlink
	case typeDir:
		m |= fs.ModeDir
	}
	return m, nil
}
