package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/show"
)

// shortDiff is how many lines of a diff stand on a page before it must be opened; shortLine how many characters of a line.
const (
	shortDiff = 240
	shortLine = 600
)

// diffFile is the part of a diff about one file. Texts are escaped.
type diffFile struct {
	Name           string // "" where the diff does not say
	Lines          []diffLine
	Added, Removed int
	Missing        int // lines that are not shown
}

// diffLine is one line.
type diffLine struct {
	Kind  string // add, del, hunk, meta, head (it only says the name) or same
	Old   int    // number of the line; 0 for none
	New   int
	Sign  string
	Parts []diffPart
	Cut   bool
}

// diffPart is a piece of a line; Mark says that it is what differs from the line that it replaced.
type diffPart struct {
	Text string
	Mark bool
}

// parseDiff reads a unified diff that internal/show has escaped. It takes whatever comes: what it does not understand is
// shown as it is. At most limit lines are kept, the beginning and the end; 0 keeps all.
func parseDiff(escaped string, limit int) []diffFile {
	var out []diffFile
	var oldLeft, newLeft, oldAt, newAt int
	lines := strings.Split(strings.TrimSuffix(escaped, "\n"), "\n")
	if escaped == "" {
		return nil
	}
	for i, l := range lines {
		inside := oldLeft > 0 || newLeft > 0
		header := !inside && (strings.HasPrefix(l, "diff ") || strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") && !afterDiff(out))
		if header || len(out) == 0 {
			out = append(out, diffFile{})
		}
		f := &out[len(out)-1]
		d := diffLine{Kind: "same"}
		switch {
		case strings.HasPrefix(l, "@@ ") && !inside:
			d.Kind = "hunk"
			oldAt, oldLeft, newAt, newLeft = ranges(l)
		case !inside && !strings.HasPrefix(l, `\`):
			d.Kind = "meta"
			f.name(l)
		case strings.HasPrefix(l, "+"):
			d.Kind, d.New = "add", newAt
			newAt, newLeft, f.Added = newAt+1, newLeft-1, f.Added+1
		case strings.HasPrefix(l, "-"):
			d.Kind, d.Old = "del", oldAt
			oldAt, oldLeft, f.Removed = oldAt+1, oldLeft-1, f.Removed+1
		case strings.HasPrefix(l, `\`):
			d.Kind = "meta"
		default:
			d.Old, d.New = oldAt, newAt
			oldAt, oldLeft, newAt, newLeft = oldAt+1, oldLeft-1, newAt+1, newLeft-1
		}
		f.Lines = append(f.Lines, d.of(l, limit > 0))
	}
	for i := range out {
		out[i].heads()
		compare(out[i].Lines)
		out[i].shorten(limit / len(out))
	}
	return out
}

// afterDiff reports whether the last file began with a line "diff " and has no hunk yet: then "--- " is still its header.
func afterDiff(out []diffFile) bool {
	if len(out) == 0 {
		return false
	}
	for _, l := range out[len(out)-1].Lines {
		if l.Kind != "meta" {
			return false
		}
	}
	return true
}

// parseHunk reads the lines of one hunk: signs and texts, no numbers.
func parseHunk(escaped string) []diffLine {
	var out []diffLine
	for l := range strings.Lines(escaped) {
		l = strings.TrimSuffix(l, "\n")
		d := diffLine{Kind: "same"}
		switch {
		case strings.HasPrefix(l, "@@"):
			d.Kind = "hunk"
		case strings.HasPrefix(l, "+"):
			d.Kind = "add"
		case strings.HasPrefix(l, "-"):
			d.Kind = "del"
		}
		out = append(out, d.of(l, false))
	}
	compare(out)
	return out
}

// of sets the text of a line.
func (d diffLine) of(l string, short bool) diffLine {
	if d.Kind == "add" || d.Kind == "del" || d.Kind == "same" && strings.HasPrefix(l, " ") {
		d.Sign, l = l[:1], l[1:]
	}
	if short {
		l, d.Cut = show.Cut(l, shortLine)
	}
	d.Parts = []diffPart{{Text: l}}
	return d
}

func (f *diffFile) name(l string) {
	for _, prefix := range []string{"+++ ", "--- "} {
		name, ok := strings.CutPrefix(l, prefix)
		name, _, _ = strings.Cut(name, "\t")
		if !ok || name == "/dev/null" || prefix == "--- " && f.Name != "" {
			continue
		}
		if len(name) > 2 && (name[:2] == "a/" || name[:2] == "b/") {
			name = name[2:]
		}
		f.Name = name
	}
}

// heads marks the lines that say nothing but the name, which stands above the diff.
func (f *diffFile) heads() {
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Kind != "meta" {
			continue
		}
		switch l.Parts[0].Text {
		case "diff --git a/" + f.Name + " b/" + f.Name, "--- a/" + f.Name, "+++ b/" + f.Name, "--- " + f.Name, "+++ " + f.Name:
			l.Kind = "head"
		}
	}
}

// shorten leaves out the middle.
func (f *diffFile) shorten(limit int) {
	if n := len(f.Lines); limit > 0 && n > max(limit, 20) {
		limit = max(limit, 20)
		tail := limit / 3
		f.Missing = n - limit
		f.Lines = append(f.Lines[:limit-tail:limit-tail], f.Lines[n-tail:]...)
	}
}

// ranges reads "@@ -1,2 +3,4 @@".
func ranges(l string) (oldAt, oldLeft, newAt, newLeft int) {
	fields := strings.Fields(l)
	if len(fields) < 3 {
		return 0, 0, 0, 0
	}
	read := func(s string) (at, n int) {
		first, second, ok := strings.Cut(s[1:], ",")
		at, _ = strconv.Atoi(first) // what is no number counts as none
		n = 1
		if ok {
			n, _ = strconv.Atoi(second)
		}
		return max(at, 0), max(n, 0)
	}
	oldAt, oldLeft = read(fields[1])
	newAt, newLeft = read(fields[2])
	return oldAt, oldLeft, newAt, newLeft
}

// compare marks what differs between lines that replace each other: as many added ones right behind removed ones.
func compare(lines []diffLine) {
	for i := 0; i < len(lines); {
		if lines[i].Kind != "del" {
			i++
			continue
		}
		mid := i
		for mid < len(lines) && lines[mid].Kind == "del" {
			mid++
		}
		end := mid
		for end < len(lines) && lines[end].Kind == "add" {
			end++
		}
		if end-mid == mid-i {
			for k := range mid - i {
				between(&lines[i+k], &lines[mid+k])
			}
		}
		i = end
	}
}

// between marks the middle in which two lines differ, unless they have little in common.
func between(a, b *diffLine) {
	x, y := a.Parts[0].Text, b.Parts[0].Text
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	for head > 0 && (head < len(x) && !utf8.RuneStart(x[head]) || head < len(y) && !utf8.RuneStart(y[head])) {
		head--
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(x[len(x)-tail]) {
		tail--
	}
	if x == y || 2*(head+tail) < max(len(x), len(y)) || inEscape(x, head) || inEscape(y, head) || inEscape(x, len(x)-tail) || inEscape(y, len(y)-tail) {
		return
	}
	a.Parts, b.Parts = pieces(x, head, tail), pieces(y, head, tail)
}

// inEscape reports whether an offset lies within an escape of internal/show.
func inEscape(s string, at int) bool {
	open := strings.LastIndexByte(s[:at], '\\')
	return open >= 0 && at-open < 24 && escape.MatchString(s[open:min(len(s), open+24)]) && strings.IndexByte(s[open:at], '}') < 0
}

func pieces(s string, head, tail int) []diffPart {
	var out []diffPart
	for _, p := range []diffPart{{s[:head], false}, {s[head : len(s)-tail], true}, {s[len(s)-tail:], false}} {
		if p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}
