package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// undoWorld is a world whose undo knows the diffs of the calls that it made.
func undoWorld(t *testing.T, files map[string]string) *world {
	w := newWorld(t, files, tool.Options{})
	diffs := map[string]string{}
	w.seen = func(res *tool.Result) {
		for _, tx := range res.Meta.Transaction {
			diffs[tx] = res.Meta.Diff
		}
	}
	u := Undo{Diff: func(_ context.Context, tx host.Transaction) (string, string, bool) {
		d, ok := diffs[tx.ID]
		return d, w.dir, ok && d != ""
	}}
	if err := w.box.Register(u.Tool(), "code"); err != nil { // listed here, so that tests can call it
		t.Fatal(err)
	}
	return w
}

// tree describes every path of a workspace: type, mode, content or target.
func (w *world) tree() string {
	var out []string
	err := filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf("%s -> %s", p, target))
			return nil
		case info.Mode().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%q", b)
		}
		out = append(out, fmt.Sprintf("%s %v %s", p, info.Mode(), what))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// F10: one call, a session, to a time; what was undone is not undone again, and an undo can be undone.
func TestF10_Undo(t *testing.T) {
	w := undoWorld(t, map[string]string{"a": "one\n", "dir/b": "b", "gone": "gone\n"})
	if err := os.Chmod(filepath.Join(w.dir, "gone"), 0o755); err != nil {
		t.Fatal(err)
	}
	start := w.tree()
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	middle, at := w.tree(), time.Now()
	w.ok("write_file", args{"path": "n/e/w", "content": "new\n"})
	w.ok("delete_file", args{"path": "gone"})
	w.ok("move_file", args{"path": "dir/b", "to": "m/c"})
	w.ok("edit", args{"path": "m/c", "old_string": "b", "new_string": "B"})
	end := w.tree()

	w.ok("undo", args{"last": true})
	if got := w.get("m/c"); got != "b" {
		t.Errorf("the newest call: %q", got)
	}
	w.ok("undo", args{"since": at.Format(time.RFC3339Nano)})
	if got := w.tree(); got != middle {
		t.Errorf("to a time:\n%s\nwant\n%s", got, middle)
	}
	w.ok("undo", args{"session": "s"})
	if got := w.tree(); got != start {
		t.Errorf("the session:\n%s\nwant\n%s", got, start)
	}
	w.holds(w.fails("undo", args{"session": "s"}, tool.NotFound), "nothing to undo")
	if end == start {
		t.Error("the calls changed nothing")
	}
}

// F10: undo after a foreign edit refuses and shows it; the merge keeps both.
func TestF10_ForeignEdit(t *testing.T) {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	text := strings.Join(lines, "\n") + "\n"
	w := undoWorld(t, map[string]string{"a": text, "b": text})
	w.ok("edit", args{"path": "a", "old_string": "line 3\n", "new_string": "our line\n"})
	w.put("a", strings.Replace(w.get("a"), "line 17\n", "their line\n", 1))
	before := w.tree()
	w.holds(w.fails("undo", args{"last": true}, tool.Stale), "somebody changed it since (can be merged)", "-line 17\n+their line", "nothing was changed")
	if w.tree() != before {
		t.Error("the refused undo changed something")
	}
	w.holds(w.ok("undo", args{"last": true, "merge": true}), "Merged with what others changed")
	if got, want := w.get("a"), strings.Replace(text, "line 17\n", "their line\n", 1); got != want {
		t.Errorf("merged: %q", got)
	}
	w.ok("edit", args{"path": "b", "old_string": "line 3\n", "new_string": "our line\n"})
	w.put("b", strings.Replace(w.get("b"), "our line\n", "their line\n", 1))
	w.holds(w.fails("undo", args{"last": true, "merge": true}, tool.Stale), "at 1 of the places that we changed")
	if got, want := w.get("b"), strings.Replace(text, "line 3\n", "their line\n", 1); got != want {
		t.Errorf("%q", got)
	}
}

// F10, property: whatever a run of calls did, taking all of it back restores bytes, modes and links.
func TestF10_UndoRestoresEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := undoWorld(t, map[string]string{"a": "one\ntwo\nthree\n", "b.sh": "#!/bin/sh\n", "d/c": "c\r\nc2\r\n", "d/e/f": "", "bin": "a\x00b"})
		if err := os.Chmod(filepath.Join(w.dir, "b.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("a", filepath.Join(w.dir, "ln")); err != nil {
			t.Fatal(err)
		}
		start := w.tree()
		names := []string{"a", "b.sh", "d/c", "d/e/f", "bin", "ln", "n", "d/n", "x/y/z"}
		pick := func(label string) string { return rapid.SampledFrom(names).Draw(rt, label) }
		n := rapid.IntRange(1, 8).Draw(rt, "calls")
		did := 0
		for range n {
			var res tool.Result
			switch rapid.IntRange(0, 5).Draw(rt, "tool") {
			case 0:
				res = w.call("write_file", args{"path": pick("path"), "content": rapid.StringMatching(`[a-c\n]{0,8}`).Draw(rt, "content")})
			case 1:
				res = w.call("edit", args{"path": pick("path"), "old_string": rapid.SampledFrom([]string{"one", "c2", "#!", "a", "b"}).Draw(rt, "old"), "new_string": "NEW"})
			case 2:
				res = w.call("delete_file", args{"path": rapid.SampledFrom(append([]string{"d", "d/e", "x"}, names...)).Draw(rt, "path"), "recursive": true})
			case 3:
				res = w.call("move_file", args{"path": rapid.SampledFrom(append([]string{"d", "d/e"}, names...)).Draw(rt, "from"), "to": pick("to")})
			case 4:
				res = w.call("copy_file", args{"path": rapid.SampledFrom(append([]string{"d", "d/e"}, names...)).Draw(rt, "from"), "to": pick("to")})
			case 5:
				res = w.call("apply_patch", args{"patch": "*** Begin Patch\n*** Add File: " + pick("new") + "\n+p\n*** Delete File: " + pick("old") + "\n*** End Patch\n"})
			}
			if res.OK() && len(res.Meta.Transaction) > 0 {
				did++
			}
		}
		if did == 0 {
			return
		}
		for left := 1; left > 0; {
			res := w.call("undo", args{"session": "s"})
			if !res.OK() {
				rt.Fatalf("undo: %s", res.Text())
			}
			left = res.Data.(UndoData).Left
		}
		if got := w.tree(); got != start {
			rt.Fatalf("after undo:\n%s\nwant\n%s", got, start)
		}
	})
}
