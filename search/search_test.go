package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/glob"
)

// plant makes a tree of files; a name that ends in "/" is a directory.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		full := filepath.Join(root, name)
		dir := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			dir = full
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if dir != full {
			if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func grep(t testing.TB, q GrepQuery) GrepResult {
	t.Helper()
	r, err := New(Local(), Config{}).Grep(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show writes a result as rows "path:line:text", with "-" for context and "--" for gaps.
func show(r GrepResult, m Mode) string {
	var b strings.Builder
	for _, f := range r.Files {
		if m != Content {
			fmt.Fprintf(&b, "%s:%d\n", f.Path, f.Count)
			continue
		}
		for _, l := range f.Lines {
			sep := ":"
			if l.Context {
				sep = "-"
			}
			if l.Gap {
				b.WriteString("--\n")
			}
			fmt.Fprintf(&b, "%s%s%d%s%s\n", f.Path, sep, l.Number, sep, l.Text)
		}
		if f.Binary {
			fmt.Fprintf(&b, "%s: binary\n", f.Path)
		}
	}
	return b.String()
}

func wantShow(t *testing.T, r GrepResult, m Mode, want string) {
	t.Helper()
	if d := cmp.Diff(want, show(r, m)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func utf16Text(order binary.AppendByteOrder, s string) string {
	b := order.AppendUint16(nil, 0xFEFF)
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// F7: the decisions about encodings, line ends and binary files.
func TestF7_Traps(t *testing.T) {
	root := plant(t, map[string]string{
		"bom.txt":    "\xef\xbb\xbfneedle first\nother\n",
		"crlf.txt":   "a needle\r\nneedle\r\n",
		"cr.txt":     "needle\rx\n",
		"late.bin":   strings.Repeat("text\n", 100<<10) + "needle\x00\n",
		"latin.txt":  "caf\xe9 needle\n",
		"le.txt":     utf16Text(binary.LittleEndian, "Шерлок needle 🙂\nx\n"),
		"be.txt":     utf16Text(binary.BigEndian, "y\nneedle Ж"),
		"nomark.txt": "n\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
		"early.bin":  "needle\x00needle\n",
		"noeol":      "x\nneedle",
		"empty":      "",
		"nbsp.txt":   "a\u00a0needle\n",
		"kelvin.txt": "NEEDLE \u212Aelvin\n",
	})
	q := GrepQuery{Filter: Filter{Root: root}, Pattern: "needle", Mode: Content}
	r := grep(t, q)
	wantShow(t, r, Content, `be.txt:2:needle Ж
bom.txt:1:needle first
cr.txt:1:needle`+"\r"+`x
crlf.txt:1:a needle
crlf.txt:2:needle
latin.txt:1:caf`+"\xe9"+` needle
le.txt:1:Шерлок needle 🙂
nbsp.txt:1:a`+"\u00a0"+`needle
noeol:2:needle
`)
	if s := r.Receipt.Skip(Binary); s.Count != 2 || fmt.Sprint(s.Examples) != "[early.bin late.bin]" {
		t.Errorf("binary: %+v", s)
	}
	for _, c := range []struct {
		q    GrepQuery
		want string
	}{
		{GrepQuery{Pattern: "^needle$"}, "crlf.txt:2:needle\nnoeol:2:needle\n"},
		{GrepQuery{Pattern: "needle$", Word: true}, "crlf.txt:1:a needle\ncrlf.txt:2:needle\nlatin.txt:1:caf\xe9 needle\nnbsp.txt:1:a\u00a0needle\nnoeol:2:needle\n"},
		{GrepQuery{Pattern: "caf. needle"}, "latin.txt:1:caf\xe9 needle\n"}, // ripgrep finds nothing
		{GrepQuery{Pattern: `a\sneedle`}, "crlf.txt:1:a needle\nnbsp.txt:1:a\u00a0needle\n"},
		{GrepQuery{Pattern: "kelvin", CaseInsensitive: true}, "kelvin.txt:1:NEEDLE \u212Aelvin\n"},
		{GrepQuery{Pattern: "needle", SmartCase: true, Filter: Filter{Globs: []string{"k*"}}}, "kelvin.txt:1:NEEDLE \u212Aelvin\n"},
		{GrepQuery{Pattern: "-x"}, ""},
	} {
		c.q.Root, c.q.Mode = root, Content
		wantShow(t, grep(t, c.q), Content, c.want)
	}
	for _, c := range []struct {
		file, want string
		text       bool
	}{
		{"early.bin", "early.bin: binary\n", false},
		{"early.bin", "early.bin:1:needle\x00needle\n", true},
		{"late.bin", "late.bin: binary\n", false},
	} {
		q := GrepQuery{Filter: Filter{Root: filepath.Join(root, c.file)}, Pattern: "needle", Mode: Content, Text: c.text}
		wantShow(t, grep(t, q), Content, c.want)
	}
	q.Mode = Count
	q.Root = filepath.Join(root, "early.bin")
	wantShow(t, grep(t, q), Count, "early.bin:2\n")
}

// Files that are larger than a buffer, several at a time, share the large buffers.
func TestF7_LargeFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprint("f", i)] = strings.Repeat(strings.Repeat("x", 100*i)+"\n", 400<<10/(100*i+1)) + "one\ntwo\n"
	}
	root := plant(t, files)
	for _, pattern := range []string{`one\ntwo`, "two", `^[a-z]{3}$`} {
		r := grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: pattern, Mode: Content})
		if r.TotalFiles != 12 || len(r.Receipt.Skipped) > 0 {
			t.Errorf("%q: %d files, %s", pattern, r.TotalFiles, r.Receipt.String())
		}
	}
}

// Context, gaps, limits of a file and inverted matches, in memory and through the window.
func TestF7_Context(t *testing.T) {
	for _, pad := range []int{0, 300 << 10} {
		filler := strings.Repeat("filler\n", pad/7)
		n := pad / 7
		root := plant(t, map[string]string{"f": filler + "a\nb\nm1\nc\nd\ne\nf\nm2\nm3\ng\nh\n" + filler})
		line := func(i int) int { return n + i }
		q := GrepQuery{Filter: Filter{Root: root}, Pattern: `^m\d`, Mode: Content, Before: 1, After: 2}
		wantShow(t, grep(t, q), Content, fmt.Sprintf("f-%d-b\nf:%d:m1\nf-%d-c\nf-%d-d\n--\nf-%d-f\nf:%d:m2\nf:%d:m3\nf-%d-g\nf-%d-h\n",
			line(2), line(3), line(4), line(5), line(7), line(8), line(9), line(10), line(11)))
		q.MaxPerFile = 1
		wantShow(t, grep(t, q), Content, fmt.Sprintf("f-%d-b\nf:%d:m1\nf-%d-c\nf-%d-d\n", line(2), line(3), line(4), line(5)))
		q = GrepQuery{Filter: Filter{Root: root}, Pattern: `filler|^[a-f]$|m`, Invert: true, Mode: Content, Before: 1}
		wantShow(t, grep(t, q), Content, fmt.Sprintf("f-%d-m3\nf:%d:g\nf:%d:h\n", line(9), line(10), line(11)))
		q = GrepQuery{Filter: Filter{Root: root}, Pattern: `d\ne|m3\n`, Mode: Content, After: 1}
		wantShow(t, grep(t, q), Content, fmt.Sprintf("f:%d:d\nf:%d:e\nf-%d-f\n--\nf:%d:m3\nf-%d-g\n", line(5), line(6), line(7), line(9), line(10)))
	}
}

// O4, trap 10: a long line is cut around its match, and a line larger than memory allows is searched in pieces.
func TestO4_LongLines(t *testing.T) {
	huge := strings.Repeat("x", 9<<20)
	root := plant(t, map[string]string{
		"long": strings.Repeat("é", 3000) + "needle" + strings.Repeat("z", 3000) + "\nneedle\n",
		"huge": huge + "needle" + huge + "\nafter needle\n",
	})
	r := grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: "needle", Mode: Content, MaxColumns: 100})
	if len(r.Files) != 2 || r.TotalMatches != 4 || r.TotalLines != 4 {
		t.Fatalf("%d files, %d matches, %d lines", len(r.Files), r.TotalMatches, r.TotalLines)
	}
	h, l := r.Files[0].Lines, r.Files[1].Lines
	if h[0].Number != 1 || !strings.Contains(h[0].Text, "xneedlex") || h[1].Number != 2 || h[1].Text != "after needle" {
		t.Errorf("huge: %.200q", fmt.Sprint(h))
	}
	if !strings.Contains(l[0].Text, "éneedlez") || l[0].Before == 0 || l[0].After == 0 || l[0].Before+l[0].After+100 != 6006 {
		t.Errorf("long: %+v", l[0])
	}
	if s := r.Receipt.Skip(LongLine); s.Count != 1 {
		t.Errorf("receipt: %s", r.Receipt.String())
	}
}

// F13: everything that was not looked at is in the receipt, and nothing but regular files is opened.
func TestF13_Receipt(t *testing.T) {
	root := plant(t, map[string]string{
		".git/config": "needle", ".gitignore": "*.log\n/out/\n!keep.log\n", "a.log": "needle", "keep.log": "needle", "out/x": "needle",
		".hidden": "needle", "sub/.ignore": "b\n", "sub/b": "needle", "sub/c": "needle", "big": "needle" + strings.Repeat("x", 300<<10),
		"elsewhere/secret": "needle",
	})
	inside := filepath.Join(root, "tree")
	if err := os.Mkdir(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git", ".gitignore", "a.log", "keep.log", "out", ".hidden", "sub", "big"} {
		if err := os.Rename(filepath.Join(root, name), filepath.Join(inside, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{{"..", "up"}, {".", "loop"}, {"../elsewhere/secret", "leak"}, {"nowhere", "dangling"}} {
		if err := os.Symlink(link[0], filepath.Join(inside, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	fifo(t, filepath.Join(inside, "pipe"))
	r := grep(t, GrepQuery{Filter: Filter{Root: inside, MaxSize: 200 << 10}, Pattern: "needle"})
	wantShow(t, r, FilesWithMatches, "keep.log:0\nsub/c:0\n")
	want := "2 hidden (.gitignore, .hidden); 3 ignored (a.log (.gitignore:1 *.log), out (.gitignore:2 /out/), sub/b (sub/.ignore:1 b)); " +
		"1 too large (big (307206 bytes)); 4 link (dangling, leak, loop); 1 special file (pipe)"
	if got := r.Receipt.String(); got != "3 hidden (.gitignore, .hidden, sub/.ignore); "+want[len("2 hidden (.gitignore, .hidden); "):] {
		t.Errorf("receipt\n%s", got)
	}
	r = grep(t, GrepQuery{Filter: Filter{Root: inside, NoIgnore: true, Hidden: true}, Pattern: "needle"})
	wantShow(t, r, FilesWithMatches, ".git/config:0\n.hidden:0\na.log:0\nbig:0\nkeep.log:0\nout/x:0\nsub/b:0\nsub/c:0\n")
	r = grep(t, GrepQuery{Filter: Filter{Root: inside, Globs: []string{"*.log", ".h*"}}, Pattern: "needle"})
	wantShow(t, r, FilesWithMatches, ".hidden:0\na.log:0\nkeep.log:0\n") // globs stand before ignore files, as in ripgrep
	r = grep(t, GrepQuery{Filter: Filter{Root: filepath.Join(inside, "out")}, Pattern: "needle"})
	wantShow(t, r, FilesWithMatches, "x:0\n")
	r = grep(t, GrepQuery{Filter: Filter{Root: filepath.Join(inside, "a.log")}, Pattern: "needle"})
	wantShow(t, r, FilesWithMatches, "a.log:0\n")
}

// The ignore files of parents apply to a search below, the repository's own rules included.
func TestF7_Parents(t *testing.T) {
	root := plant(t, map[string]string{
		".ignore": "*.i\n", ".gitignore": "*.no\n",
		"repo/.git/info/exclude": "*.x\n", "repo/.gitignore": "/a/b/*.g\n", "repo/a/b/1.g": "", "repo/a/b/2.x": "", "repo/a/b/3.i": "", "repo/a/b/4.u": "", "repo/a/b/5": "", "repo/a/b/6.no": "",
		"plain/.gitignore": "*.g\n", "plain/1.g": "", "plain/2": "",
		"tree/.git": "gitdir: ../repo/.git/worktrees/tree\n", "repo/.git/worktrees/tree/commondir": "../..\n", "tree/1.x": "", "tree/2": "",
	})
	e := New(Local(), Config{Excludes: []byte("*.u\n"), ExcludesName: "~/.config/git/ignore"})
	for _, c := range []struct {
		dir  string
		any  bool
		want string
	}{
		{"repo/a/b", false, "[5 6.no]"},
		{"plain", false, "[1.g 2]"},
		{"plain", true, "[2]"},
		{"tree", false, "[2]"},
	} {
		r, err := e.Files(context.Background(), FilesQuery{Filter: Filter{Root: filepath.Join(root, c.dir), AnyTree: c.any}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, f.Path)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s; %s", c.dir, got, c.want, r.Receipt.String())
		}
	}
}

// F6: patterns, order and pages of files.
func TestF6_Files(t *testing.T) {
	root := plant(t, map[string]string{
		"a.go": "1", "b/c.go": "22", "b/d/e.go": "333", "b-x/f.go": "", "app/[id]/page.tsx": "", "app/i/page.tsx": "", ".github/w.yml": "", "z.txt": "",
	})
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"b/d/e.go", "a.go", "b/c.go", "b-x/f.go"} {
		if err := os.Chtimes(filepath.Join(root, name), base, base.Add(time.Duration(-i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	e := New(Local(), Config{})
	for _, c := range []struct {
		q    FilesQuery
		want string
	}{
		{FilesQuery{Pattern: "*.go"}, "a.go"},
		{FilesQuery{Pattern: "**/*.go"}, "a.go b/c.go b/d/e.go b-x/f.go"},
		{FilesQuery{Pattern: "**/*.go", Order: Newest}, "b/d/e.go a.go b/c.go b-x/f.go"},
		{FilesQuery{Pattern: "**/*.go", Order: Newest, Offset: 1, Limit: 2}, "a.go b/c.go"},
		{FilesQuery{Pattern: "**/*.GO", Fold: true, Limit: 1}, "a.go"},
		{FilesQuery{Pattern: "b/"}, "b/c.go b/d/e.go"},
		{FilesQuery{Pattern: "./b/*.go"}, "b/c.go"},
		{FilesQuery{Pattern: root + "/b/**"}, "b/c.go b/d/e.go"},
		{FilesQuery{Pattern: "app/[id]/page.tsx"}, "app/[id]/page.tsx app/i/page.tsx"},
		{FilesQuery{Pattern: ".github/*"}, ".github/w.yml"},
		{FilesQuery{Pattern: "*"}, "a.go z.txt"},
		{FilesQuery{Filter: Filter{Types: []string{"txt"}}}, "z.txt"},
		{FilesQuery{Filter: Filter{NotTypes: []string{"go"}}, Pattern: "*"}, "z.txt"},
		{FilesQuery{Filter: Filter{MaxDepth: 1}}, "a.go z.txt"},
		{FilesQuery{Filter: Filter{Globs: []string{"b/*.go"}}}, "b/c.go"},
	} {
		c.q.Root = root
		r, err := e.Files(context.Background(), c.q)
		if err != nil {
			t.Errorf("%+v: %v", c.q, err)
			continue
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, f.Path)
			if f.ModTime.IsZero() {
				t.Errorf("%s has no time", f.Path)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q %+v: %v, want %s", c.q.Pattern, c.q.Filter, got, c.want)
		}
	}
	r, err := e.Files(context.Background(), FilesQuery{Filter: Filter{Root: root}, Pattern: "**/*.go", Offset: 9, Limit: 2})
	if err != nil || !r.PastEnd || r.Total != 4 || r.AtLeast {
		t.Errorf("past the end: %+v %v", r, err)
	}
	r, err = e.Files(context.Background(), FilesQuery{Filter: Filter{Root: root, MaxFiles: 2}})
	if err != nil || !r.AtLeast || r.Receipt.Partial != FileLimit || r.Total != 2 {
		t.Errorf("file limit: %+v %v", r, err)
	}
	if st := e.workers; st < 8 {
		t.Errorf("%d workers", st)
	}
}

// Errors are typed, and none of them looks like "no matches".
func TestF13_Errors(t *testing.T) {
	root := plant(t, map[string]string{"f": "x\n"})
	e := New(Local(), Config{})
	check := func(what string, err error, as any, text string) {
		t.Helper()
		if err == nil || !errors.As(err, as) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root}, Pattern: "foo("})
	var pe *PatternError
	check("pattern", err, &pe, `"(" is not closed`)
	if pe != nil && (pe.Offset != 3 || pe.Text != "foo(") {
		t.Errorf("pattern error %+v", pe)
	}
	_, err = e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root, Types: []string{"tsx"}}, Pattern: "x"})
	check("type", err, new(*TypeError), `file type "tsx" is not known; did you mean ts, typescript?`)
	_, err = e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root, Globs: []string{"a["}}, Pattern: "x"})
	check("glob", err, new(*glob.Error), "is not closed")
	_, err = e.Files(context.Background(), FilesQuery{Filter: Filter{Root: root}, Pattern: "/etc/*"})
	check("outside", err, new(*PathError), "not below")
	_, err = e.Files(context.Background(), FilesQuery{Filter: Filter{Root: "rel"}})
	check("relative", err, new(*PathError), "absolute")
	_, err = e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root + "/none"}, Pattern: "x"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
	fifo(t, root+"/pipe")
	_, err = e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root + "/pipe"}, Pattern: "x"})
	check("fifo as root", err, new(*PathError), "neither a directory nor a regular file")
	_, err = e.Tree(context.Background(), TreeQuery{Filter: Filter{Root: root + "/f"}})
	check("tree of a file", err, new(*PathError), "is not a directory")
	r := grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: "x", Mode: Content, Offset: 5, Limit: 10})
	if !r.PastEnd || r.TotalLines != 1 {
		t.Errorf("past the end: %+v", r)
	}
}

// Pages follow each other without gap or overlap, whatever the number of workers, and totals are exact when the search
// is given the time.
func TestF7_Pages(t *testing.T) {
	files := map[string]string{}
	var all []string
	for i := range 120 {
		name := fmt.Sprintf("d%d/e%d/f%03d.txt", i%7, i%3, i)
		var b strings.Builder
		for k := range 5 {
			fmt.Fprintf(&b, "skip\nhit %d %d\n", i, k)
		}
		files[name] = b.String()
	}
	root := plant(t, files)
	whole := grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Mode: Content, Before: 1})
	all = strings.Split(show(whole, Content), "\n")
	if whole.TotalLines != 1200 || whole.TotalMatches != 600 || whole.TotalFiles != 120 || whole.AtLeast || whole.NextOffset != 0 {
		t.Fatalf("totals %d %d %d", whole.TotalLines, whole.TotalMatches, whole.TotalFiles)
	}
	for _, workers := range []int{1, 3, 16} {
		for _, bound := range []struct{ limit, bytes int }{{7, 0}, {250, 0}, {0, 400}, {100, 300}} {
			e := New(Local(), Config{Workers: workers})
			var got []string
			offset := 0
			for {
				q := GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Mode: Content, Before: 1, Offset: offset, Limit: bound.limit, MaxBytes: bound.bytes, CountFor: -1}
				r, err := e.Grep(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				if r.AtLeast || r.TotalLines != 1200 || r.TotalMatches != 600 || r.TotalFiles != 120 {
					t.Fatalf("page at %d: totals %d %d %d", offset, r.TotalLines, r.TotalMatches, r.TotalFiles)
				}
				rows := strings.Split(strings.TrimSuffix(show(r, Content), "\n"), "\n")
				got = append(got, slices.DeleteFunc(rows, func(s string) bool { return s == "--" })...)
				if r.NextOffset == 0 {
					break
				}
				if r.NextOffset <= offset {
					t.Fatalf("page at %d is followed by %d", offset, r.NextOffset)
				}
				offset = r.NextOffset
			}
			want := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "--" || s == "" })
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d workers, %+v\n%s", workers, bound, d)
			}
		}
	}
	r := grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Limit: 10, Offset: 115})
	if len(r.Files) != 5 || r.NextOffset != 0 || r.TotalFiles != 120 {
		t.Errorf("last page of files: %d, next %d of %d", len(r.Files), r.NextOffset, r.TotalFiles)
	}
	r = grep(t, GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Mode: Count, Limit: 2})
	wantShow(t, r, Count, "d0/e0/f000.txt:5\nd0/e0/f021.txt:5\n")
	r = grep(t, GrepQuery{Filter: Filter{Root: root, Globs: []string{"*0.txt"}}, Pattern: "hit 1", Mode: FilesWithoutMatch, Limit: 2})
	wantShow(t, r, Count, "d0/e0/f000.txt:0\nd0/e1/f070.txt:0\n")
}

// A stream gives the same lines, and a file with very many comes in parts.
func TestStream(t *testing.T) {
	root := plant(t, map[string]string{"a": strings.Repeat("hit and some more text\n", 50_000), "b": "hit\n", "c": "none\n"})
	e := New(Local(), Config{Workers: 2})
	lines, parts := make([]int, 2), make([]int, 2)
	r, err := e.StreamGrep(context.Background(), GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Mode: Content}, func(w int, h *FileHits, more bool) error {
		lines[w] += len(h.Lines)
		parts[w]++
		return nil
	})
	if err != nil || lines[0]+lines[1] != 50_001 || parts[0]+parts[1] < 3 || r.TotalFiles != 2 || r.TotalLines != 50_001 {
		t.Errorf("%v lines in %v parts, %+v, %v", lines, parts, r, err)
	}
	enough := errors.New("enough")
	if _, err = e.StreamGrep(context.Background(), GrepQuery{Filter: Filter{Root: root}, Pattern: "hit"}, func(int, *FileHits, bool) error { return enough }); err != enough {
		t.Errorf("error of the callback: %v", err)
	}
	if _, err = e.StreamFiles(context.Background(), FilesQuery{Filter: Filter{Root: root}}, func(int, string) error { return enough }); err != enough {
		t.Errorf("error of the callback: %v", err)
	}
}

// A search that is cancelled returns what it has, marked.
func TestCancel(t *testing.T) {
	root := plant(t, map[string]string{"a": "hit\n", "b": "hit\n"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := New(Local(), Config{}).Grep(ctx, GrepQuery{Filter: Filter{Root: root}, Pattern: "hit"})
	if err != nil || r.Receipt.Partial != Canceled || !r.AtLeast {
		t.Errorf("%+v %v", r, err)
	}
}

func TestF8_Tree(t *testing.T) {
	files := map[string]string{".gitignore": "x\n", ".git/": "", "x": "", "top": "12345", "a/1": "", "a/b/2": "", "a/b/c/3": ""}
	for i := range 50 {
		files[fmt.Sprintf("many/%02d", i)] = ""
	}
	root := plant(t, files)
	e := New(Local(), Config{})
	tree := func(q TreeQuery) string {
		q.Root = root
		r, err := e.Tree(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, n := range r.Entries {
			fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", n.Depth), n.Path)
			if n.Kind == Directory {
				fmt.Fprintf(&b, "/ +%d", n.More)
			}
			if n.Size > 0 {
				fmt.Fprintf(&b, " %d", n.Size)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "+%d\n", r.More)
		return b.String()
	}
	got := tree(TreeQuery{Limit: 9, Sizes: true})
	want := " a/ +0\n  a/b/ +-1\n  a/1\n many/ +46\n  many/00\n  many/01\n  many/02\n  many/03\n top 5\n+0\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	got = tree(TreeQuery{Filter: Filter{MaxDepth: 1}})
	if d := cmp.Diff(" a/ +-1\n many/ +-1\n top\n+0\n", got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got = tree(TreeQuery{Limit: 2}); got != " a/ +-1\n many/ +-1\n+1\n" {
		t.Errorf("two entries: %q", got)
	}
	if n := strings.Count(tree(TreeQuery{Limit: -1}), "\n"); n != 59 {
		t.Errorf("everything: %d rows", n)
	}
}

func TestUserExcludes(t *testing.T) {
	files := map[string]string{
		"/h/.gitconfig": "[user]\nexcludesfile = no\n[core]\n\tpager = x\n\texcludesFile = \"~/my ignore\"\n", "/h/my ignore": "*.o\n",
		"/x/git/ignore": "*.p\n",
	}
	read := func(p string) ([]byte, error) {
		if s, ok := files[p]; ok {
			return []byte(s), nil
		}
		return nil, fs.ErrNotExist
	}
	if name, data, err := UserExcludes(read, "/h", ""); name != "/h/my ignore" || string(data) != "*.o\n" || err != nil {
		t.Errorf("%s %q %v", name, data, err)
	}
	if name, data, err := UserExcludes(read, "/other", "/x"); name != "/x/git/ignore" || string(data) != "*.p\n" || err != nil {
		t.Errorf("%s %q %v", name, data, err)
	}
}

func TestTypes(t *testing.T) {
	names := TypeNames()
	if len(names) < 200 || !slices.IsSorted(names) {
		t.Fatalf("%d types", len(names))
	}
	for _, n := range names {
		if _, err := newTypeFilter([]string{n}, nil); err != nil || len(TypeGlobs(n)) == 0 {
			t.Errorf("%s: %v %v", n, TypeGlobs(n), err)
		}
	}
	f, err := newTypeFilter([]string{"all"}, []string{"go"})
	if err != nil || f.match("a.py") != glob.Included || f.match("a.go") != glob.Excluded || f.match("unheard.of") != glob.Excluded {
		t.Errorf("all but go: %v", err)
	}
}
