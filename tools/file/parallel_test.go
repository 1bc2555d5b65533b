package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// T11: whatever the file tools are asked to do in one turn, through links, folders and spellings of one path, the results
// and the workspace are those of running the calls one by one.
func TestT11_FileToolsInParallel(t *testing.T) {
	paths := []string{"a", "./a", "d/../a", "ln", "hard", "d", "d/b", "d/sub/c", "dl", "dl/b", "n", "n/x", "d/n"}
	tools := []func(rt *rapid.T, p, o string) (string, args){
		func(_ *rapid.T, p, o string) (string, args) {
			return "read_file", args{"files": []args{{"path": p}, {"path": o}}}
		},
		func(_ *rapid.T, p, _ string) (string, args) { return "read_file", args{"path": p} },
		func(_ *rapid.T, p, _ string) (string, args) { return "list_dir", args{"path": p, "depth": 4} },
		func(rt *rapid.T, p, _ string) (string, args) {
			return "edit", args{"path": p, "old_string": rapid.SampledFrom([]string{"one", "two", "x"}).Draw(rt, "old"), "new_string": "one two"}
		},
		func(rt *rapid.T, p, _ string) (string, args) {
			return "write_file", args{"path": p, "content": rapid.SampledFrom([]string{"one\n", "two\n", "x\n"}).Draw(rt, "content")}
		},
		func(_ *rapid.T, p, _ string) (string, args) {
			return "delete_file", args{"path": p, "recursive": true}
		},
		func(_ *rapid.T, p, o string) (string, args) { return "move_file", args{"path": p, "to": o} },
		func(_ *rapid.T, p, o string) (string, args) { return "copy_file", args{"path": p, "to": o} },
		func(_ *rapid.T, p, o string) (string, args) {
			return "apply_patch", args{"patch": "*** Begin Patch\n*** Add File: " + o + "\n+x\n*** Update File: " + p + "\n@@\n-one\n+two\n*** End Patch"}
		},
	}
	rapid.Check(t, func(rt *rapid.T) {
		var reqs []toolbox.Request
		for range rapid.IntRange(2, 8).Draw(rt, "calls") {
			make := rapid.SampledFrom(tools).Draw(rt, "tool")
			name, a := make(rt, rapid.SampledFrom(paths).Draw(rt, "path"), rapid.SampledFrom(paths).Draw(rt, "other"))
			raw, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			reqs = append(reqs, toolbox.Request{Tool: name, Args: raw, Session: "s"})
		}
		require := rapid.Bool().Draw(rt, "read first")
		run := func(all bool) (texts []string, tree string) {
			w := newWorld(t, map[string]string{"a": "one\n", "d/b": "two\n", "d/sub/c": "one\n"}, tool.Options{RequireRead: require})
			w.link("a", "ln")
			w.link("d", "dl")
			if err := os.Link(filepath.Join(w.dir, "a"), filepath.Join(w.dir, "hard")); err != nil {
				t.Fatal(err)
			}
			var results []tool.Result
			mine := append([]toolbox.Request(nil), reqs...)
			for i := range mine {
				mine[i].Dir = w.dir
			}
			if all {
				var err error
				if results, err = w.box.CallAll(t.Context(), mine); err != nil {
					rt.Fatal(err)
				}
			} else {
				for _, r := range mine {
					res, err := w.box.Call(t.Context(), r)
					if err != nil {
						rt.Fatal(err)
					}
					results = append(results, res)
				}
			}
			for i := range results {
				texts = append(texts, strings.ReplaceAll(results[i].Text(), w.dir, "WS"))
			}
			return texts, strings.ReplaceAll(w.tree(), w.dir, "WS")
		}
		want, tree := run(false)
		got, both := run(true)
		for i := range want {
			if got[i] != want[i] {
				rt.Fatalf("call %d, %s %s:\n got %s\nwant %s", i, reqs[i].Tool, reqs[i].Args, got[i], want[i])
			}
		}
		if both != tree {
			rt.Fatalf("workspace in parallel:\n%s\none by one:\n%s", both, tree)
		}
	})
}
