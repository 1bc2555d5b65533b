package search

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

var code = map[string]string{
	".git/HEAD":  "",
	".gitignore": "out/\n",
	"server.go":  "package a\n\ntype Server struct {\n\tn int\n}\n\n// Close ends it.\nfunc (s *Server) Close() error {\n\treturn nil\n}\n\ntype Closer interface {\n\tClose() error\n}\n\nconst MaxSize = 3\n",
	"web/app.ts": "export class App {\n  close(): void {\n    return\n  }\n}\nexport const start = () => new App()\n",
	"tool.py":    "class Tool:\n    def close(self):\n        pass\n\ndef main():\n    Tool().close()\n",
	"README.md":  "# Server\n\nHow to close it.\n\n## Close\n\ntext\n",
	"out/gen.go": "package a\n\nfunc Close() {}\n",
	"notes.txt":  "Close\n",
}

// A file is outlined with what its types hold.
func TestOutlineFile(t *testing.T) {
	w := newWorld(t, code, option{})
	want := []string{"server.go (16 lines)", "  3-5 type Server struct", "  8-10 func (s *Server) Close() error", "  12-14 type Closer interface", "    13 Close() error", "  16 const MaxSize = 3"}
	if diff := cmp.Diff(want, rows(w.ok("outline", args{"path": "server.go"}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = []string{"README.md (7 lines)", "  1-7 # Server", "    5-7 ## Close"}
	if diff := cmp.Diff(want, rows(w.ok("outline", args{"path": "README.md"}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.holds(w.fails("outline", args{"path": "notes.txt"}, tool.InvalidParameter), `"notes.txt" is of a language that outline does not read`, "markdown", "read_file")
	w.put("empty.go", "package a\n")
	w.holds(w.ok("outline", args{"path": "empty.go"}), "[No symbols in empty.go; 1 files of known languages were read.]")
}

// A folder is outlined by the top level of its files, in pages that meet.
func TestOutlineFolder(t *testing.T) {
	w := newWorld(t, code, option{})
	text := w.ok("outline", args{})
	w.holds(text, "README.md (7 lines)\n  1-7 # Server\n", "server.go (16 lines)", "tool.py (6 lines)\n  1-3 class Tool\n  5-6 def main()", "web/app.ts (6 lines)\n  1-5 export class App\n  6 export const start = ()",
		"!close", "!out/gen.go", "!notes.txt", "!    13")
	w.holds(w.ok("outline", args{"depth": 2, "path": "web"}), "web/app.ts", "    2-4 close(): void")
	var all, got []string
	for _, r := range rows(text) {
		if strings.HasPrefix(r, " ") {
			all = append(all, r)
		}
	}
	for offset := 0; ; {
		res := w.call("outline", args{"limit": 3, "offset": offset})
		for _, r := range rows(res.Text()) {
			if strings.HasPrefix(r, " ") {
				got = append(got, r)
			}
		}
		if offset = res.Data.(outlineData).NextOffset; offset == 0 {
			break
		}
		w.holds(res.Text(), fmt.Sprintf("go on with offset=%d", offset))
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("pages (-all +got)\n%s", diff)
	}
	w.holds(w.fails("outline", args{"offset": 99}, tool.InvalidParameter), fmt.Sprintf("offset 99 is past the end: there are %d symbols", len(all)))
}

// An outline fits the face, whatever the folder holds.
func TestOutlineBytes(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("f%02d.go", i)] = "package a\n\n" + strings.Repeat("func Name() {}\n", 5)
	}
	w := newWorld(t, files, option{bounds: tool.Bounds{Bytes: 3000}})
	res := w.call("outline", args{})
	if n := len(res.Text()); n > 3000 || !res.Meta.Truncated {
		t.Errorf("%d bytes, truncated %v", n, res.Meta.Truncated)
	}
	w.holds(res.Text(), "go on with offset=")
}

// Definitions are found by name, and told apart from uses, from what is ignored and from prose.
func TestFindSymbol(t *testing.T) {
	w := newWorld(t, code, option{})
	for _, c := range []struct {
		args args
		want []string
	}{
		{args{"name": "Close"}, []string{"server.go:8-10 method Server.Close: func (s *Server) Close() error", "server.go:13 method Closer.Close: Close() error"}},
		{args{"name": "Server.Close"}, []string{"server.go:8-10 method Server.Close: func (s *Server) Close() error"}},
		{args{"name": "Tool::close"}, []string{"tool.py:2-3 method Tool.close: def close(self)"}},
		{args{"name": "close", "path": "web"}, []string{"web/app.ts:2-4 method App.close: close(): void"}},
		{args{"name": "Close", "path": "server.go", "limit": 1}, []string{"server.go:8-10 method Server.Close: func (s *Server) Close() error"}},
		{args{"name": "Max", "match": "prefix"}, []string{"server.go:16 constant MaxSize: const MaxSize = 3"}},
		{args{"name": "lose", "match": "substring", "kind": "interface"}, []string{"server.go:12-14 interface Closer: type Closer interface"}},
		{args{"name": "Close", "kind": "heading"}, []string{"README.md:5-7 heading Server.Close: ## Close"}},
		{args{"name": "start"}, []string{"web/app.ts:6 function start: export const start = ()"}},
	} {
		if diff := cmp.Diff(c.want, rows(w.ok("find_symbol", c.args))); diff != "" {
			t.Errorf("%v (-want +got)\n%s", c.args, diff)
		}
	}
	w.holds(w.ok("find_symbol", args{"name": "Close", "limit": 1}), "[1 of 2 definitions; narrow by path or kind, or raise limit.]")
	w.holds(w.ok("find_symbol", args{"name": "closer"}), `[Nothing is named "closer"; these names hold it.]`, "interface Closer")
	w.holds(w.ok("find_symbol", args{"name": "nowhere"}), `[No definition of "nowhere" in .; 0 source files mention it. grep finds the places.]`, "Skipped 1 ignored: out")
	w.holds(w.ok("find_symbol", args{"name": "return"}), `[No definition of "return" in .; 2 source files mention it.`)
}

// What cannot be read is said; what policy keeps back is not looked at.
func TestSymbolsKeptBack(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nfunc Open() {}\n", "locked/b.go": "package b\n\nfunc Open() {}\n", "internal/c.go": "package c\n\nfunc Open() {}\n",
		"huge.go": "package h\n\nfunc Open() {}\n" + strings.Repeat("// filler\n", maxSource/10+1)}
	rule := permission.Layer{Name: "user", Rules: []permission.Rule{{Permission: "*", Pattern: "internal/**", Action: tool.Deny}}}
	w := newWorld(t, files, option{layers: []permission.Layer{rule}, wrap: func(h host.Host) host.Host { return faulty{Host: h, refuse: "locked"} }})
	for _, text := range []string{w.ok("find_symbol", args{"name": "Open"}), w.ok("outline", args{})} {
		w.holds(text, "a.go", "func Open()", "Skipped 1 unreadable: locked/", "1 not read: huge.go (is larger than 4 MB).", "Skipped 1 denied by policy.", "!c.go", "!b.go:")
	}
	if err := os.Symlink("a.go", filepath.Join(w.dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	w.holds(w.ok("find_symbol", args{"name": "Open", "path": "link.go"}), "a.go:3 function Open")
}

// P6: what read_file may not read, no search tells by another name. Names of files are shown.
func TestP6_ReadingDenied(t *testing.T) {
	rule := permission.Layer{Name: "user", Rules: []permission.Rule{{Permission: "read_file", Pattern: "private/**", Action: tool.Deny}}}
	w := newWorld(t, map[string]string{"a.go": "package a\n\nfunc Open() {}\n", "private/b.go": "package b\n\nfunc Open() {}\n"}, option{layers: []permission.Layer{rule}})
	for name, a := range map[string]args{"grep": {"pattern": "Open"}, "outline": {}, "find_symbol": {"name": "Open"}} {
		w.holds(w.ok(name, a), "a.go", "Skipped 1 denied by policy.", "!b.go")
		a["path"] = "private/b.go"
		w.holds(w.fails(name, a, tool.PermissionDenied), `policy does not let this session read "private/b.go"`, "!func")
	}
	w.holds(w.ok("glob", args{"pattern": "**/*.go"}), "private/b.go")
}
