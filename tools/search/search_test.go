package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

// Every search tool joins the suite of the contract.
func TestContract(t *testing.T) {
	calls := map[string]struct {
		good []string
		bad  map[string]tool.Code
	}{
		"glob": {[]string{`{"pattern":"*.go"}`, `{"pattern":"sub/**","limit":1,"offset":2}`, `{"pattern":"a[","path":"."}`},
			map[string]tool.Code{`{"pattern":" "}`: tool.InvalidParameter, `{"pattern":"*","path":"none"}`: tool.NotFound,
				`{"pattern":"*","path":"a\u0000b"}`: tool.InvalidParameter, `{"pattern":"none/*"}`: tool.NotFound, `{"pattern":"*","path":"a.go"}`: tool.InvalidParameter}},
		"grep": {[]string{`{"pattern":"x"}`, `{"pattern":"foo(","literal":true}`, `{"pattern":"x","path":"a.go","output_mode":"count"}`, `{"pattern":"-e"}`},
			map[string]tool.Code{`{"pattern":""}`: tool.InvalidParameter, `{"pattern":"foo("}`: tool.InvalidParameter,
				`{"pattern":"(?<=a)b"}`: tool.InvalidParameter, `{"pattern":"x","path":"none"}`: tool.NotFound, `{"pattern":"[z-a]"}`: tool.InvalidParameter}},
		"outline": {[]string{`{"path":"a.go"}`, `{}`, `{"path":"sub","depth":2,"limit":1}`},
			map[string]tool.Code{`{"path":"none.go"}`: tool.NotFound, `{"path":"plain.txt"}`: tool.InvalidParameter}},
		"find_symbol": {[]string{`{"name":"main"}`, `{"name":"A::b","path":"a.go","match":"prefix","kind":"Function"}`},
			map[string]tool.Code{`{"name":" "}`: tool.InvalidParameter, `{"name":"x","path":"none"}`: tool.NotFound}},
	}
	tools := Tools(search.Config{})
	for _, tl := range tools {
		name := tl.Definition().Name
		t.Run(name, func(t *testing.T) {
			c, ok := calls[name]
			if !ok {
				t.Fatal("no calls for this tool")
			}
			w := newWorld(t, map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n", "plain.txt": ""}, option{})
			tooltest.Run(t, tl, tooltest.World{Host: w.host, Dir: w.dir, Good: c.good, Bad: c.bad})
		})
	}
	if len(tools) != len(calls) {
		t.Fatalf("%d tools, %d with calls", len(tools), len(calls))
	}
}

// F6: patterns, order, rows, pages, ignore files, paths outside.
func TestF6_Glob(t *testing.T) {
	w := newWorld(t, map[string]string{".git/HEAD": "", ".gitignore": "out/\n", "a.go": "12345", "src/b.go": "", "src/deep/c.go": "", "src/d.ts": "", "out/e.go": "",
		".hidden/f.go": "", "app/[id]/page.tsx": "", "-v.go": "", "../beside/g.go": "", "../other/h.go": "", "A.GO": ""},
		option{layers: []permission.Layer{{Name: "user", Rules: []permission.Rule{{Permission: "*", Pattern: "/**/beside/**", Action: tool.Allow}}}}})
	for i, name := range []string{"src/deep/c.go", "a.go", "-v.go", "src/b.go", ".hidden/f.go", "A.GO"} {
		w.age(name, time.Duration(i)*time.Hour)
	}
	outside := filepath.ToSlash(filepath.Join(filepath.Dir(w.dir), "beside", "g.go"))
	for _, c := range []struct {
		name string
		args args
		want []string
	}{
		{"newest first", args{"pattern": "**/*.go"}, []string{"src/deep/c.go", "a.go", "-v.go", "src/b.go", ".hidden/f.go"}},
		{"top only", args{"pattern": "*.go"}, []string{"a.go", "-v.go"}},
		{"braces", args{"pattern": "src/{b,d}.{go,ts}"}, []string{"src/d.ts", "src/b.go"}},
		{"below a folder", args{"pattern": "*.go", "path": "src"}, []string{"src/b.go"}},
		{"fixed folders of the pattern", args{"pattern": "deep/*.go", "path": "src"}, []string{"src/deep/c.go"}},
		{"leading ./", args{"pattern": "./src/*.go"}, []string{"src/b.go"}},
		{"a folder means all below", args{"pattern": "src/deep/"}, []string{"src/deep/c.go"}},
		{"a name with brackets as it is", args{"pattern": "app/[id]/page.tsx"}, []string{"app/[id]/page.tsx"}},
		{"a leading dash is a name", args{"pattern": "-v.go"}, []string{"-v.go"}},
		{"hidden", args{"pattern": ".hidden/*"}, []string{".hidden/f.go"}},
		{"ignored", args{"pattern": "**/e.go"}, nil},
		{"ignored, asked for", args{"pattern": "**/e.go", "no_ignore": true}, []string{"out/e.go"}},
		{"who names an ignored folder means it", args{"pattern": "out/*.go"}, []string{"out/e.go"}},
		{"../x", args{"pattern": "../beside/*.go"}, []string{outside}},
		{"absolute", args{"pattern": filepath.Dir(outside) + "/*.go"}, []string{outside}},
		{"absolute below", args{"pattern": w.dir + "/src/*.go"}, []string{"src/b.go"}},
		{"second page", args{"pattern": "**/*.go", "limit": 2, "offset": 2}, []string{"-v.go", "src/b.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.args["metadata"] = false
			res := w.call("glob", c.args)
			if diff := cmp.Diff(c.want, rows(res.Text())); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, res.Text())
			}
		})
	}
	w.fails("glob", args{"pattern": "../other/*.go"}, tool.PermissionDenied) // P6: reading outside asks, and nobody is there
	w.holds(w.ok("glob", args{"pattern": "a.go"}), "a.go\t5\t2023-11-14 2")  // path, size and time
	w.holds(w.ok("glob", args{"pattern": "**/*.go", "limit": 2}), "[Files 1–2 of 5, newest first; go on with offset=2, or narrow the pattern.]")
	w.holds(w.fails("glob", args{"pattern": "**/*.go", "offset": 9}, tool.InvalidParameter), "offset 9 is past the end: 5 files match", "a number below 5")
	w.holds(w.ok("glob", args{"pattern": "*.rs"}), `No files match "*.rs" in .; `, "files were looked at")
	w.holds(w.ok("glob", args{"pattern": "**/e.go"}), "No files match", "Skipped 1 ignored: out (.gitignore:1 out/); no_ignore=true includes them.")
	w.holds(w.fails("glob", args{"pattern": "{a,b"}, tool.InvalidParameter), `"{a,b"`, "PARAMETER: glob", "Nothing was searched")
}

// F7: modes, filters, context, pages, receipts.
func TestF7_Grep(t *testing.T) {
	w := newWorld(t, map[string]string{".git/HEAD": "", ".gitignore": "out/\n", "a.go": "one\nTwo two\nthree\nfour\nfive\nsix\ntwo\n", "b.py": "two = 2\ntwofold\n", "out/x.go": "two\n",
		"sub/c.go": "func main() {\n\treturn\n}\n", "crlf.txt": "alpha\r\nbeta\r\n", "dash": "-e two\n--help\n", "two (copy).md": "a.b(c\n"}, option{})
	w.age("a.go", time.Hour)
	for _, c := range []struct {
		name string
		args args
		want []string
	}{
		{"files, newest first", args{"pattern": "two", "glob": "*.{go,py}"}, []string{"b.py", "a.go"}},
		{"content", args{"pattern": "two", "output_mode": "content", "type": "go"}, []string{"a.go:2:Two two", "a.go:7:two"}},
		{"count", args{"pattern": "two", "output_mode": "count", "type": "py"}, []string{"b.py:2"}},
		{"word", args{"pattern": "two", "output_mode": "content", "type": "py", "word": true}, []string{"b.py:1:two = 2"}},
		{"case", args{"pattern": "TWO", "output_mode": "count", "path": "a.go", "case_insensitive": true}, []string{"a.go:2"}},
		{"literal", args{"pattern": "a.b(c", "literal": true}, []string{"two (copy).md"}},
		{"context", args{"pattern": "three|^two", "output_mode": "content", "path": "a.go", "context": 1},
			[]string{"a.go-2-Two two", "a.go:3:three", "a.go-4-four", "--", "a.go-6-six", "a.go:7:two"}},
		{"before and after", args{"pattern": "three", "output_mode": "content", "path": "a.go", "before": 2, "after": 1}, []string{"a.go-1-one", "a.go-2-Two two", "a.go:3:three", "a.go-4-four"}},
		{"multiline", args{"pattern": `main\(\) \{.*return`, "output_mode": "content", "multiline": true}, []string{"sub/c.go:1:func main() {", "sub/c.go:2:\treturn"}},
		{"a folder", args{"pattern": "main", "path": "sub", "output_mode": "content"}, []string{"sub/c.go:1:func main() {"}},
		{"CRLF: the end of the line is before \\r", args{"pattern": "alpha$", "output_mode": "content"}, []string{"crlf.txt:1:alpha"}},
		{"a pattern that begins with a dash", args{"pattern": "-e two", "output_mode": "content"}, []string{"dash:1:-e two"}},
		{"an option as a pattern", args{"pattern": "--help", "output_mode": "content"}, []string{"dash:2:--help"}},
		{"negated glob", args{"pattern": "two", "glob": "!*.go", "head_limit": 1, "type": "py"}, []string{"b.py"}},
		{"ignored, asked for", args{"pattern": "two", "no_ignore": true, "path": "out"}, []string{"out/x.go"}},
		{"names that others use", args{"pattern": "two", "-i": true, "output_mode": "count", "path": "b.py"}, []string{"b.py:2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := w.ok("grep", c.args)
			if diff := cmp.Diff(c.want, rows(text)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, text)
			}
		})
	}
}

// F7, F13: pages meet without gap or overlap, and a page past the end is an error.
func TestF7_Pages(t *testing.T) {
	files := map[string]string{}
	var want []string
	for i := range 9 {
		name := fmt.Sprintf("f%d.txt", i)
		files[name] = "hit\nmiss\nhit\n"
		want = append(want, name+":1:hit", name+":3:hit")
	}
	w := newWorld(t, files, option{})
	var got []string
	for offset := 0; ; {
		res := w.call("grep", args{"pattern": "hit", "output_mode": "content", "head_limit": 4, "offset": offset})
		page := rows(res.Text())
		got = append(got, page...)
		next := res.Data.(grepData).NextOffset
		if next == 0 {
			break
		}
		w.holds(res.Text(), fmt.Sprintf("[Output lines %d–%d of 18 (18 matches in 9 files); go on with offset=%d.]", offset+1, next, next))
		if !res.Meta.Truncated {
			t.Error("a page that is not the last is not marked")
		}
		offset = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.holds(w.fails("grep", args{"pattern": "hit", "output_mode": "content", "offset": 18}, tool.InvalidParameter), "offset 18 is past the end: there are 18 output lines", "a number below 18")
	w.holds(w.fails("grep", args{"pattern": "hit", "offset": 9}, tool.InvalidParameter), "past the end: there are 9")
	if got := len(rows(w.ok("grep", args{"pattern": "hit", "output_mode": "content", "head_limit": 0}))); got != 18 {
		t.Errorf("head_limit 0 gave %d lines", got)
	}
}

// F7, O2: a page never exceeds the bytes that the face can show, names included; the next page goes on where it ended.
func TestF7_Bytes(t *testing.T) {
	files, name := map[string]string{}, strings.Repeat("long", 40)
	for i := range 40 {
		files[fmt.Sprintf("%s%02d", name, i)] = strings.Repeat("hit\n", 5)
	}
	w := newWorld(t, files, option{bounds: tool.Bounds{Bytes: 4000}})
	seen := map[string]bool{}
	for offset := 0; ; {
		res := w.call("grep", args{"pattern": "hit", "output_mode": "content", "offset": offset})
		if n := len(res.Text()); n > 4000 {
			t.Fatalf("the page at %d has %d bytes", offset, n)
		}
		for _, r := range rows(res.Text()) {
			if seen[r] {
				t.Errorf("%s is on two pages", r)
			}
			seen[r] = true
		}
		next := res.Data.(grepData).NextOffset
		if next == 0 {
			break
		}
		if next <= offset {
			t.Fatalf("no progress at %d", offset)
		}
		offset = next
	}
	if len(seen) != 200 {
		t.Errorf("%d lines on all pages", len(seen))
	}
}

// F13: a pattern that cannot be searched for is an error with the place and the text that was meant, never "no matches".
func TestF13_InvalidPatterns(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "func foo(x interface{}) {}\n"}, option{})
	for pattern, parts := range map[string][]string{
		"foo(":       {`pattern "foo("`, "at byte 3", `EXAMPLE: {"pattern": "foo(", "literal": true}`},
		"a)":         {`"a)"`, "at byte 1", `"literal": true`},
		"[z-a]":      {`"[z-a]"`, "at byte "},
		"x{2,1}":     {`"x{2,1}"`, "at byte 1"},
		"(?<=foo)x":  {"not supported", "ripgrep with -P"},
		`(a)\1`:      {"not supported", "at byte 3"},
		`foo\(\bar[`: {"at byte "},
	} {
		text := w.fails("grep", args{"pattern": pattern}, tool.InvalidParameter)
		w.holds(text, append(parts, "PARAMETER: pattern", "Nothing was searched.", "!No matches")...)
	}
	// What ripgrep refuses and everybody means as text is found.
	w.holds(w.ok("grep", args{"pattern": "interface{}", "output_mode": "content"}), "a.go:1:func foo(x interface{}) {}")
	w.holds(w.ok("grep", args{"pattern": "foo(x", "literal": true}), "a.go")
	w.holds(w.fails("grep", args{"pattern": "x", "type": "pyton"}, tool.InvalidParameter), `"pyton"`, "PARAMETER: type")
	w.holds(w.fails("grep", args{"pattern": "x", "type": "tsx"}, tool.InvalidParameter), "Did you mean ts")
	w.holds(w.fails("grep", args{"pattern": "x", "glob": "[a"}, tool.InvalidParameter), "PARAMETER: glob")
	w.holds(w.ok("grep", args{"pattern": "absent"}), `[No matches for "absent" in .; 1 files were searched.]`)
}

// F13: what was not looked at is said, with the reason and how to include it.
func TestF13_Skips(t *testing.T) {
	wide := "needle " + strings.Repeat("é", 3000) + " needle2\n"
	var u16 []byte
	for _, u := range utf16.Encode([]rune("\ufeffvoilà needle\r\n")) {
		u16 = append(u16, byte(u), byte(u>>8))
	}
	w := newWorld(t, map[string]string{".git/HEAD": "", ".gitignore": "out/\n", "out/x": "needle\n", "bin": "needle\x00\n", "wide.txt": wide, "u16.txt": string(u16), "bad.txt": "caf\xe9 needle\n"}, option{})
	text := w.ok("grep", args{"pattern": "needle", "output_mode": "content"})
	w.holds(text, "u16.txt:1:voilà needle", "bad.txt:1:caf", "Skipped 1 binary: bin.", "!out", "wide.txt:1:needle é", "characters after)…")
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > LineWidth+100 {
			t.Errorf("a line of %d characters is shown", n)
		}
	}
	w.holds(w.ok("grep", args{"pattern": "needle2", "output_mode": "content"}), "characters before)…", "needle2")
	w.holds(w.ok("grep", args{"pattern": "needle", "path": "bin", "output_mode": "content"}), "bin: binary file matches")
	w.holds(w.ok("grep", args{"pattern": "nowhere"}), "No matches", "Skipped 1 ignored: out (.gitignore:1 out/); no_ignore=true includes them.")
}

// F13: what cannot be read is said and does not end the search; what is gone was never there.
func TestF13_BadTrees(t *testing.T) {
	files := map[string]string{"a.txt": "needle\n", "locked/x.txt": "needle\n", "sub/b.txt": "needle\n"}
	w := newWorld(t, files, option{wrap: func(h host.Host) host.Host { return faulty{Host: h, refuse: "locked"} }})
	w.holds(w.ok("grep", args{"pattern": "needle", "output_mode": "content"}), "a.txt:1:needle", "sub/b.txt:1:needle", "Skipped 1 unreadable: locked/")
	w.holds(w.ok("glob", args{"pattern": "**", "metadata": false}), "a.txt", "sub/b.txt", "Skipped 1 unreadable: locked/")
	w.holds(w.ok("grep", args{"pattern": "needle", "path": "locked"}), "0 files were searched", "Skipped 1 unreadable: . (")

	w = newWorld(t, files, option{wrap: func(h host.Host) host.Host { return faulty{Host: h, ghost: "gone.txt"} }})
	w.holds(w.ok("grep", args{"pattern": "needle"}), "a.txt", "sub/b.txt", "locked/x.txt", "!gone", "!unreadable")

	w = newWorld(t, files, option{})
	for link, target := range map[string]string{"loop": "loop", "sub/up": "..", "sub/me": "b.txt", "dangling": "none"} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mkfifo(filepath.Join(w.dir, "pipe")); err != nil {
		t.Fatal(err)
	}
	text := w.ok("grep", args{"pattern": "needle", "output_mode": "count"})
	if diff := cmp.Diff([]string{"a.txt:1", "locked/x.txt:1", "sub/b.txt:1"}, rows(text)); diff != "" {
		t.Errorf("links and FIFOs (-want +got)\n%s", diff)
	}
	w.holds(w.ok("grep", args{"pattern": "nowhere"}), "Skipped 4 link: ", "Skipped 1 special file: pipe.")
	w.holds(w.fails("grep", args{"pattern": "needle", "path": "pipe"}, tool.InvalidParameter), "never opened")
	w.holds(w.fails("grep", args{"pattern": "needle", "path": "loop"}, tool.InvalidParameter), "loop")
	w.holds(w.ok("grep", args{"pattern": "needle", "path": "sub/me", "output_mode": "content"}), "sub/b.txt:1:needle")
}

// P6: what policy does not let a call read is not searched; it is counted and not named.
func TestP6_HiddenByPolicy(t *testing.T) {
	rule := permission.Layer{Name: "user", Rules: []permission.Rule{{Permission: "*", Pattern: "internal/**", Action: tool.Deny}}}
	w := newWorld(t, map[string]string{"a.go": "needle\n", ".env": "needle\n", "internal/x.go": "needle\n"}, option{layers: []permission.Layer{rule}})
	w.holds(w.ok("grep", args{"pattern": "needle", "output_mode": "content"}), "a.go:1:needle", "Skipped 2 denied by policy.", "!x.go", "!.env")
	w.holds(w.ok("glob", args{"pattern": "**", "metadata": false}), "a.go", "Skipped 2 denied by policy.", "!x.go", "!.env")
	res := w.call("grep", args{"pattern": "needle"})
	data, err := json.Marshal(res.Data)
	if err != nil {
		t.Fatal(err)
	}
	w.holds(string(data), `"reason":"denied by policy","count":2`, "!x.go", "!.env")
	if res := w.call("grep", args{"pattern": "needle", "path": "internal"}); res.OK() && strings.Contains(res.Text(), "x.go") {
		t.Errorf("a denied folder was searched:\n%s", res.Text())
	}
	if res := w.call("grep", args{"pattern": "needle", "path": ".env"}); res.OK() {
		t.Errorf("a denied file was searched:\n%s", res.Text())
	}
}
