package file

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

// Every file tool joins the suite of the contract.
func TestContract(t *testing.T) {
	bad := map[string]map[string]tool.Code{
		"read_file":   {`{}`: tool.MissingParameter, `{"path":"none"}`: tool.NotFound, `{"path":"dir"}`: tool.InvalidParameter, `{"path":"a\u0000b"}`: tool.InvalidParameter, `{"path":" "}`: tool.InvalidParameter, `{"path":"a.txt","files":[{"path":"a.txt"}]}`: tool.InvalidParameter},
		"edit":        {`{"path":"none","old_string":"a","new_string":"b"}`: tool.NotFound, `{"path":"a.txt","old_string":"zzz","new_string":"b"}`: tool.NotFound, `{"path":"a.txt","old_string":"one","new_string":"one"}`: tool.InvalidParameter, `{"path":"a.txt","old_string":"","new_string":"b"}`: tool.InvalidParameter, `{"path":"bin","old_string":"a","new_string":"b"}`: tool.OperationNotAllowed, `{"path":"dir","old_string":"a","new_string":"b"}`: tool.InvalidParameter, `{"path":"twice","old_string":"x","new_string":"y"}`: tool.InvalidParameter},
		"multi_edit":  {`{"path":"a.txt","edits":[]}`: tool.InvalidParameter, `{"path":"a.txt","edits":[{"old_string":"zzz","new_string":"b"}]}`: tool.OperationFailed, `{"path":"none","edits":[{"old_string":"zzz","new_string":"b"}]}`: tool.NotFound},
		"apply_patch": {`{"patch":""}`: tool.InvalidParameter, `{"patch":"hello"}`: tool.InvalidParameter, `{"patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-zzz\n+y\n*** End Patch"}`: tool.NotFound, `{"patch":"*** Begin Patch\n*** Add File: twice\n+y\n*** End Patch"}`: tool.OperationNotAllowed},
		"write_file":  {`{"path":"dir","content":"x"}`: tool.InvalidParameter, `{"path":"a.txt/below","content":"x"}`: tool.InvalidParameter},
		"list_dir":    {`{"path":"none"}`: tool.NotFound, `{"path":"a.txt"}`: tool.InvalidParameter},
		"delete_file": {`{"path":"none"}`: tool.NotFound, `{"path":"dir"}`: tool.OperationNotAllowed, `{"path":"."}`: tool.OperationNotAllowed},
		"move_file":   {`{"path":"none","to":"x"}`: tool.NotFound, `{"path":"a.txt","to":"twice"}`: tool.OperationNotAllowed, `{"path":"a.txt","to":"a.txt"}`: tool.OperationNotAllowed, `{"path":".","to":"x"}`: tool.OperationNotAllowed},
		"copy_file":   {`{"path":"none","to":"x"}`: tool.NotFound, `{"path":"a.txt","to":"twice"}`: tool.OperationNotAllowed, `{"path":"dir","to":"dir/in"}`: tool.InvalidParameter},
	}
	good := map[string][]string{
		"read_file": {`{"path":"a.txt"}`, `{"files":[{"path":"a.txt"},{"path":"none"}]}`}, "edit": {`{"path":"a.txt","old_string":"one","new_string":"1"}`, `{"path":"new","old_string":"","new_string":"1"}`},
		"multi_edit": {`{"path":"a.txt","edits":[{"old_string":"one","new_string":"1"},{"old_string":"zzz","new_string":"1"},7]}`}, "apply_patch": {`{"patch":"*** Begin Patch\n*** Update File: a.txt\n*** Move to: deep/n.txt\n@@\n-one\n+1\n*** Add File: x/y/new\n+new\n*** Delete File: twice\n*** End Patch"}`},
		"write_file": {`{"path":"deep/new/file","content":"x"}`, `{"path":"a.txt","content":"x"}`},
		"list_dir":   {`{}`, `{"path":"dir","depth":5}`}, "delete_file": {`{"path":"a.txt"}`, `{"path":"dir","recursive":true}`}, "move_file": {`{"path":"a.txt","to":"deep/b.txt"}`, `{"path":"dir","to":"dir2"}`},
		"copy_file": {`{"path":"a.txt","to":"deep/b.txt"}`, `{"path":"dir","to":"dir2"}`},
	}
	tools := Tools(search.Config{})
	if len(tools) != len(bad) || len(tools) != len(good) {
		t.Fatalf("%d tools, %d with bad calls, %d with good ones", len(tools), len(bad), len(good))
	}
	for _, tl := range tools {
		name := tl.Definition().Name
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\ntwo\n", "dir/b": "b", "dir/sub/c": "c", "twice": "x\nx\n", "bin": "a\x00b"}, tool.Options{})
			tooltest.Run(t, tl, tooltest.World{Host: w.host, Dir: w.dir, Good: good[name], Bad: bad[name]})
		})
	}
}

// F1: lines, ranges, footers, several files, columns.
func TestF1_Read(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree", "empty": "", "long": long.String(), "wide": "x\n" + strings.Repeat("ä", 4500) + "\n", "crlf": "a\r\nb\r\n"}, tool.Options{})
	w.holds(w.ok("read_file", args{"path": "a.txt"}), "1\tone\n2\ttwo\n3\tthree")
	w.holds(w.ok("read_file", args{"path": "a.txt", "offset": 2, "limit": 1}), "2\ttwo\n[Lines 2–2 of 3; read on with offset=3.]")
	w.holds(w.ok("read_file", args{"path": "empty"}), "[empty is empty.]")
	w.holds(w.ok("read_file", args{"path": "long"}), "2000\tline 2000\n[Lines 1–2000 of 5000; read on with offset=2001.]")
	w.holds(w.ok("read_file", args{"path": "crlf"}), "[crlf: CRLF line endings]\n1\ta\n2\tb")
	w.holds(w.fails("read_file", args{"path": "a.txt", "offset": 9}, tool.InvalidParameter), "3 lines", "a line from 1 to 3")
	w.holds(w.ok("read_file", args{"path": "wide"}), "characters 1–2000 of 4500; continue with offset=2 limit=1 column=2001")
	last := w.ok("read_file", args{"path": "wide", "offset": 2, "limit": 1, "column": 4001})
	if !strings.Contains(last, "2\t"+strings.Repeat("ä", 500)) || strings.Contains(last, "continue") {
		t.Errorf("end of the long line: %.200s", last)
	}
	several := w.ok("read_file", args{"files": []args{{"path": "a.txt", "limit": 1}, {"path": "none"}, {"path": "crlf"}}})
	w.holds(several, "==> a.txt <==\n1\tone", "==> none <==\n[NOT_FOUND:", "==> crlf <==")
	w.holds(w.fails("read_file", args{"files": []args{{"path": "x"}, {"path": "y"}}}, tool.NotFound), "none of the 2 files")
	full := w.ok("read_file", args{"files": []args{{"path": "long"}, {"path": "a.txt"}}})
	w.holds(full, "[Not read, because this call is full: a.txt.")
	w.holds(w.fails("read_file", args{"path": "a.tx"}, tool.NotFound), `Did you mean "a.txt"?`)
}

// F1: encodings are read as text and said so; binary is decided on raw bytes; special files are never opened.
func TestF1_Formats(t *testing.T) {
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("größe\n")
	if err != nil {
		t.Fatal(err)
	}
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("你好，世界。这是一个测试文件。\n")
	if err != nil {
		t.Fatal(err)
	}
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 3000, 10))); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{"u16": utf16, "gbk": gbk, "latin": "na\xefve caf\xe9\n", "bom": "\xef\xbb\xbfhi\n", "bin": "\x7fELF\x00\x01", "cut": "abc\xe4\xbd", "p.png": pic.String(), "d.pdf": pdf(1), "book.pdf": pdf(101), "packed.pdf": packedPDF(t, 7), "packedbook.pdf": packedPDF(t, 300), "locked.pdf": pdf(1) + "/Encrypt 9 0 R", "broken.pdf": "%PDF-1.4\n..."}, tool.Options{})
	w.holds(w.ok("read_file", args{"path": "u16"}), "UTF-16LE with BOM", "1\tgröße")
	w.holds(w.ok("read_file", args{"path": "gbk"}), "GB18030", "你好")
	w.holds(w.ok("read_file", args{"path": "latin"}), "Windows-1252", "naïve café")
	w.holds(w.ok("read_file", args{"path": "bom"}), "UTF-8 with BOM", "1\thi")
	w.holds(w.ok("read_file", args{"path": "bin"}), "bin is binary (6 bytes)")
	res := w.call("read_file", args{"path": "p.png"})
	if len(res.Parts) != 2 || res.Parts[1].Kind != tool.ImageKind || res.Parts[1].Width != 2000 {
		t.Errorf("picture: %s", res.Text())
	}
	for name, why := range map[string]string{"d.pdf": "", "packed.pdf": "", "book.pdf": "it has 101 pages", "packedbook.pdf": "it has 300 pages", "locked.pdf": "it is encrypted", "broken.pdf": "cannot be counted"} {
		res := w.call("read_file", args{"path": name})
		if shown := len(res.Parts) == 2 && res.Parts[1].Kind == tool.DocumentKind; !res.OK() || shown != (why == "") || !strings.Contains(res.Text(), why) {
			t.Errorf("%s: %d parts: %s", name, len(res.Parts), res.Text())
		}
	}
	if err := syscall.Mkfifo(filepath.Join(w.dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.holds(w.fails("read_file", args{"path": "fifo"}, tool.InvalidParameter), "never opened")
	w.holds(w.fails("write_file", args{"path": "fifo", "content": "x"}, tool.InvalidParameter), "never opened")
}

// pdf is what counts of a PDF with n pages.
func pdf(n int) string {
	return "%PDF-1.4\n1 0 obj <</Type/Pages /Kids [] /Count 9>> endobj\n" + strings.Repeat("2 0 obj <</Type /Page\n/Parent 1 0 R>> endobj\n", n) + "%%EOF\n"
}

// packedPDF is a PDF whose pages lie in compressed object streams.
func packedPDF(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	for _, part := range []int{n / 2, n - n/2} {
		fmt.Fprintf(&b, "3 0 obj <</Type /ObjStm /N %d /Filter /FlateDecode>> stream\r\n", part)
		z := zlib.NewWriter(&b)
		if _, err := io.WriteString(z, strings.Repeat("<</Type/Page/Parent 1 0 R>> ", part)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\nendstream endobj\n")
	}
	return b.String() + "%%EOF\n"
}

// F2: three outcomes; mode, encoding, mark and endings stay; parents are made.
func TestF2_Write(t *testing.T) {
	w := newWorld(t, map[string]string{"crlf": "a\r\nb\r\n", "bom": "\xef\xbb\xbfa\n", "exec": "#!/bin/sh\n", "latin": "caf\xe9\n"}, tool.Options{})
	if err := os.Chmod(filepath.Join(w.dir, "exec"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.holds(w.ok("write_file", args{"path": "new/deep/f", "content": "x\n"}), "Created new/deep/f (2 bytes)")
	w.holds(w.ok("write_file", args{"path": "new/deep/f", "content": "yy\n"}), "Updated new/deep/f (3 bytes)")
	w.holds(w.ok("write_file", args{"path": "new/deep/f", "content": "yy\n"}), "No change needed: new/deep/f already at target state (3 bytes)")
	w.ok("write_file", args{"path": "crlf", "content": "c\nd\n"})
	w.ok("write_file", args{"path": "bom", "content": "b\n"})
	w.ok("write_file", args{"path": "exec", "content": "#!/bin/sh\necho\n"})
	w.ok("write_file", args{"path": "latin", "content": "thé\n"})
	for name, want := range map[string]string{"new/deep/f": "yy\n", "crlf": "c\r\nd\r\n", "bom": "\xef\xbb\xbfb\n", "latin": "th\xe9\n"} {
		if got := w.get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(w.dir, "exec")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	w.holds(w.fails("write_file", args{"path": "latin", "content": "日本\n"}, tool.InvalidParameter), "Windows-1252", "日")
	w.put("code.go", "package a\n\nfunc f() {}\n")
	w.holds(w.fails("write_file", args{"path": "code.go", "content": "package b\n\n// ... rest of the code unchanged ...\n"}, tool.InvalidParameter), "stands for text that is left out")
	w.ok("write_file", args{"path": "new.go", "content": "package b\n\n// ... rest of the code unchanged ...\n"})
	w.ok("write_file", args{"path": "new.go", "content": "package c\n\n// ... rest of the code unchanged ...\n"}) // it stands there already
	w.put("large", strings.Repeat("a line of a large file\n", 1000))
	w.holds(w.ok("write_file", args{"path": "large", "content": "little\n"}), "Note: the file had 23000 bytes before")
	if err := os.Symlink("latin", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.holds(w.ok("write_file", args{"path": "link", "content": "th\u00e9 2\n"}), "Note: link goes through a symbolic link; the file is latin.")
	w.holds(w.ok("edit", args{"path": "link", "old_string": " 2", "new_string": ""}), "the file is latin.")
	w.holds(w.ok("multi_edit", args{"path": "link", "edits": []args{{"old_string": "th", "new_string": "th"}, {"old_string": "th", "new_string": "TH"}}}), "the file is latin.\nedit #1 failed")
	w.ok("edit", args{"path": "link", "old_string": "TH", "new_string": "th"})
	if info, err := os.Lstat(filepath.Join(w.dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if got := w.get("latin"); got != "th\xe9\n" {
		t.Errorf("refused write changed the file: %q", got)
	}
}

// F3: the ladder through the tool: result names the leniency, failures show what is there.
func TestF3_Edit(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "func f() {\n\tx := 1\n\treturn\n}\n", "dup": "a\nb\na\n", "u16": "\xff\xfea\x00\n\x00"}, tool.Options{})
	w.holds(w.ok("edit", args{"path": "a.go", "old_string": "x := 1", "new_string": "x := 2"}), "Edited a.go: 1 replacement at line 2.")
	loose := w.ok("edit", args{"path": "a.go", "old_string": "    x := 2\n    return", "new_string": "    x := 3\n    return"})
	w.holds(loose, "Note: ")
	if got, want := w.get("a.go"), "func f() {\n\tx := 3\n\treturn\n}\n"; got != want {
		t.Errorf("%q", got)
	}
	w.holds(w.fails("edit", args{"path": "a.go", "old_string": "\tx := 4\n\treturn", "new_string": "y"}, tool.NotFound), "nearest", "x := 3")
	w.holds(w.fails("edit", args{"path": "a.go", "old_string": "\tx := 1\n\treturn\n", "new_string": "\tx := 3\n\treturn\n"}, tool.NotFound), "made already")
	w.holds(w.fails("edit", args{"path": "a.go", "old_string": "\tx := 1\n\treturn\n", "new_string": "\tx := 3\n\treturn\n"}, tool.NotFound), "nothing needs to be, if that is the change you meant")
	w.holds(w.fails("edit", args{"path": "dup", "old_string": "a\n", "new_string": "c\n"}, tool.InvalidParameter), "lines 1, 3")
	w.put("many", strings.Repeat("old\n", 12))
	w.holds(w.ok("edit", args{"path": "many", "old_string": "old", "new_string": "new", "replace_all": true}), "12 replacements at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, and 2 more.")
	w.ok("edit", args{"path": "dup", "old_string": "a\n", "new_string": "c\n", "line": 3})
	if got := w.get("dup"); got != "a\nb\nc\n" {
		t.Errorf("%q", got)
	}
	w.ok("edit", args{"path": "u16", "old_string": "a", "new_string": "é"})
	if got := w.get("u16"); got != "\xff\xfe\xe9\x00\n\x00" {
		t.Errorf("UTF-16: %q", got)
	}
	w.holds(w.ok("edit", args{"path": "made/new", "old_string": "", "new_string": "n\n"}), "Created made/new (2 bytes)")
}

// F4: best effort per hunk with the block of outcomes; malformed elements; atomic.
func TestF4_MultiEdit(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one\ntwo\nthree\n"}, tool.Options{})
	text := w.ok("multi_edit", args{"path": "a", "edits": []any{
		args{"old_string": "one", "new_string": "1"}, args{"old_string": "zzz", "new_string": "y"}, 7,
		args{"old_string": "three", "new_string": "3"}, args{"oldString": "two", "newString": "2"}, args{"old_string": "x"},
	}})
	w.holds(text, "Edited a: applied 3 of 6 edits (3 replacements).", "edit #2 failed: old_string was not found", "<edit-outcomes>\n#1 applied\n#2 failed: ", "\n#3 failed: malformed edit", "\n#4 applied\n#5 applied\n#6 failed: malformed edit", "</edit-outcomes>")
	if got := w.get("a"); got != "1\n2\n3\n" {
		t.Errorf("%q", got)
	}
	all := w.ok("multi_edit", args{"path": "a", "edits": []any{args{"old_string": "1", "new_string": "one"}, args{"old_string": "one", "new_string": "uno"}}})
	if strings.Contains(all, "outcomes") || w.get("a") != "uno\n2\n3\n" {
		t.Errorf("%s\n%q", all, w.get("a"))
	}
	w.fails("multi_edit", args{"path": "a", "atomic": true, "edits": []any{args{"old_string": "uno", "new_string": "1"}, args{"old_string": "zzz", "new_string": "y"}}}, tool.OperationFailed)
	if got := w.get("a"); got != "uno\n2\n3\n" {
		t.Errorf("atomic wrote: %q", got)
	}
	w.holds(w.ok("multi_edit", args{"path": "b", "edits": []any{args{"old_string": "", "new_string": "b\n"}, args{"old_string": "b", "new_string": "c"}}}), "applied 2 of 2")
	if got := w.get("b"); got != "c\n" {
		t.Errorf("%q", got)
	}
}

// F8: a tree, bounded, with what git ignores marked and closed.
func TestF8_List(t *testing.T) {
	w := newWorld(t, map[string]string{".git/HEAD": "ref", ".gitignore": "out/\n*.log\n!keep.log\n", "out/x": "", "a.log": "", "keep.log": "", "src/main.go": strings.Repeat("x", 1500), "src/deep/er/z": ""}, tool.Options{})
	if err := os.Symlink("src", filepath.Join(w.dir, "ln")); err != nil {
		t.Fatal(err)
	}
	text := w.ok("list_dir", args{})
	w.holds(text, "./\n", "  src/\n    deep/\n    main.go 1.5 KB", "  keep.log 0 B\n", "  ln -> src\n", "[2 ignored and not shown: a.log (.gitignore:2 *.log), out (.gitignore:1 out/); no_ignore=true shows them.]")
	for _, not := range []string{"HEAD", "  x", "er/", ".git/", "\n  out", "\n  a.log"} {
		if strings.Contains(text, not) {
			t.Errorf("shows %q:\n%s", not, text)
		}
	}
	w.holds(w.ok("list_dir", args{"no_ignore": true}), "  .git/\n    HEAD 3 B\n", "  out/\n    x 0 B\n", "  a.log 0 B\n")
	w.holds(w.ok("list_dir", args{"path": "src", "depth": 5}), "src/\n  deep/\n    er/\n      z 0 B\n")
	w.holds(w.ok("list_dir", args{"limit": 3}), "  … 1 more\n", "[3 entries shown, 1 more known; list a subfolder, or raise limit.]")
	w.holds(w.ok("list_dir", args{"path": "out"}), "  x 0 B") // who names an ignored folder means it
	if err := os.Mkdir(filepath.Join(w.dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.holds(w.ok("list_dir", args{"path": "none"}), "none/\n[The folder is empty.]")
}

// F8: a level is shown before the next one, and a large folder leaves room for its neighbours.
func TestF8_ListShares(t *testing.T) {
	files := map[string]string{"z/deep/x": "", "z/y": ""}
	for i := range 300 {
		files[fmt.Sprintf("a/f%03d", i)] = ""
	}
	w := newWorld(t, files, tool.Options{})
	text := w.ok("list_dir", args{"limit": 20, "depth": 3})
	w.holds(text, "  a/\n    f000 0 B", "  z/\n    deep/\n      x 0 B\n    y 0 B\n", "    … ", " more\n  z/")
	data := w.call("list_dir", args{"limit": 20, "depth": 3}).Data.(listData)
	if len(data.Entries) > 20 || len(data.Entries)+data.Hidden < 304 {
		t.Errorf("%d entries shown, %d hidden", len(data.Entries), data.Hidden)
	}
}

// F8, P6: what policy keeps back is counted, not named; what is no file is named and never opened.
func TestF8_ListKeepsBack(t *testing.T) {
	w := newWorld(t, map[string]string{".env": "KEY=1", "a.txt": "", ".github/x": ""}, tool.Options{})
	if err := os.Symlink("none", filepath.Join(w.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	text := w.ok("list_dir", args{})
	w.holds(text, "  a.txt 0 B", "  .github/\n    x 0 B", "  dangling -> none", "[1 kept back by policy.]")
	if strings.Contains(text, ".env") {
		t.Errorf("names what policy keeps back:\n%s", text)
	}
}

// F9: read before edit, by canonical key, also through another spelling of the path.
func TestF9_RequireRead(t *testing.T) {
	w := newWorld(t, map[string]string{"src/a": "one\n", "b": "b\n"}, tool.Options{RequireRead: true})
	w.holds(w.fails("edit", args{"path": "src/a", "old_string": "one", "new_string": "1"}, tool.OperationNotAllowed), "has not been read")
	w.ok("read_file", args{"path": "./src/a"})
	w.ok("edit", args{"path": filepath.Join(w.dir, "src/a"), "old_string": "one", "new_string": "1"})
	w.ok("edit", args{"path": "src/../src/a", "old_string": "1", "new_string": "2"}) // our own change is known
	w.put("src/a", "foreign\n")
	w.holds(w.fails("edit", args{"path": "src/a", "old_string": "foreign", "new_string": "x"}, tool.Stale), "changed since")
	w.fails("write_file", args{"path": "b", "content": "x"}, tool.OperationNotAllowed)
	w.fails("delete_file", args{"path": "b"}, tool.OperationNotAllowed)
	w.ok("write_file", args{"path": "new", "content": "x"})
	w.ok("delete_file", args{"path": "new"})
}

// F12: without that option a foreign change elsewhere is kept, and a whole-file write over one is refused.
func TestF12_ForeignChange(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one\ntwo\n"}, tool.Options{})
	w.ok("read_file", args{"path": "a"})
	w.put("a", "one\ntwo\nforeign\n")
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "1"})
	if got := w.get("a"); got != "1\ntwo\nforeign\n" {
		t.Errorf("%q", got)
	}
	w.put("a", "foreign again\n")
	w.holds(w.fails("write_file", args{"path": "a", "content": "mine\n"}, tool.Stale), "changed since")
	if got := w.get("a"); got != "foreign again\n" {
		t.Errorf("%q", got)
	}
}

// F14: delete, move and copy, of files, folders and links.
func TestF14_Trees(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a", "dir/b": "b", "dir/sub/c": "c"}, tool.Options{})
	if err := os.Symlink("a", filepath.Join(w.dir, "ln")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../a", filepath.Join(w.dir, "dir/up")); err != nil {
		t.Fatal(err)
	}
	w.holds(w.fails("delete_file", args{"path": "dir"}, tool.OperationNotAllowed), "3 entries", "recursive=true")
	w.holds(w.ok("copy_file", args{"path": "dir", "to": "x/copy"}), "Copied dir to x/copy (5 entries")
	if w.get("x/copy/sub/c") != "c" {
		t.Error("the copy lacks a file")
	}
	if target, err := os.Readlink(filepath.Join(w.dir, "x/copy/up")); err != nil || target != "../a" {
		t.Errorf("link in the copy: %q %v", target, err)
	}
	w.ok("move_file", args{"path": "dir", "to": "y/moved"})
	if w.get("dir/b") != "<absent>" || w.get("y/moved/b") != "b" {
		t.Error("not moved")
	}
	w.holds(w.ok("delete_file", args{"path": "y/moved", "recursive": true}), "Deleted y/moved and the 4 entries in it.")
	w.ok("delete_file", args{"path": "ln"})
	if w.get("a") != "a" {
		t.Error("deleting a link deleted its target")
	}
	w.fails("copy_file", args{"path": "a", "to": "x"}, tool.OperationNotAllowed)
	w.ok("move_file", args{"path": "a", "to": "renamed"})
	if w.get("renamed") != "a" {
		t.Error("not renamed")
	}
}

// Outside of the workspace a write needs a person, and nothing is written without one; also through a link.
func TestP6_WritesOutside(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "a"}, tool.Options{})
	out := t.TempDir()
	if err := os.Symlink(out, filepath.Join(w.dir, "out")); err != nil {
		t.Fatal(err)
	}
	sibling := w.dir + "_evil"
	for _, p := range []string{filepath.Join(out, "f"), "../f", "out/f", sibling + "/f"} {
		w.fails("write_file", args{"path": p, "content": "x"}, tool.PermissionDenied)
		w.fails("edit", args{"path": p, "old_string": "", "new_string": "x"}, tool.PermissionDenied)
		w.fails("move_file", args{"path": "a", "to": p}, tool.PermissionDenied)
		w.fails("copy_file", args{"path": "a", "to": p}, tool.PermissionDenied)
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 0 || w.get("a") != "a" {
		t.Errorf("written outside: %v %v", entries, err)
	}
}

// F5: a patch applies wholly or not at all, and says which files changed.
func TestF5_Patch(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one\ntwo\nthree\n", "b": "b\n", "crlf": "x\r\ny\r\n"}, tool.Options{})
	w.holds(w.ok("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n*** Add File: n/m\n+new\n*** Delete File: b\n*** Update File: crlf\n@@\n-y\n+z\n*** End Patch\n"}),
		"Applied the patch to 4 files:", "\nM a +1 -1", "\nA n/m +1 -0", "\nD b +0 -1", "\nM crlf +1 -1")
	for name, want := range map[string]string{"a": "one\n2\nthree\n", "n/m": "new\n", "b": "<absent>", "crlf": "x\r\nz\r\n"} {
		if got := w.get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	failed := w.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: crlf\n@@\n-gone\n+never\n*** End Patch\n"}, tool.NotFound)
	w.holds(failed, "nothing was written", "#1 would apply", "#2 failed", "no old line is in the file")
	if w.get("a") != "one\n2\nthree\n" {
		t.Error("half a patch was written")
	}
	w.holds(w.ok("apply_patch", args{"patch": "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-one\n+1\n 2\n three\n"}), "M a +1 -1")
	w.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Add File: ../out\n+x\n*** End Patch\n"}, tool.PermissionDenied)
	w.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: a\n@@\n-1\n+2\n*** End Patch\n"}, tool.InvalidParameter)
}

// P3: models trained on patches see apply_patch, the others edit, multi_edit and write_file.
func TestP3_ModelsAndTheirTools(t *testing.T) {
	for model, patches := range map[string]bool{"gpt-5.5": true, "openai/gpt-5-codex": true, "gpt-oss-120b": true, "o4-mini": true, "codex-mini": true,
		"claude-opus-5": false, "gemini-3-pro": false, "qwen3-coder": false, "gpt-4o": false, "llama-4": false} {
		for _, tl := range Tools(search.Config{}) {
			d := tl.Definition()
			if d.Models == nil {
				continue
			}
			if sees, want := d.Models(model), patches == (d.Name == "apply_patch"); sees != want {
				t.Errorf("%s sees %s: %v", model, d.Name, sees)
			}
		}
	}
}
