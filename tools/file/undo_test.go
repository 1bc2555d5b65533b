package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// undoWorld is a world whose undo knows the diffs of the calls that it made.
func undoWorld(t testing.TB, files map[string]string) *world {
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
			if err != nil && !errors.Is(err, os.ErrPermission) {
				return err
			}
			what = fmt.Sprintf("%q %v", b, err)
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

// F10: large files, whose digests the journal leaves out, are taken back over several calls too.
func TestF10_LargeFiles(t *testing.T) {
	big := strings.Repeat("some text of a large file\n", 8000)
	w := undoWorld(t, map[string]string{"a": "first\n" + big, "gone": "g" + big})
	start := w.tree()
	w.ok("edit", args{"path": "a", "old_string": "first\n", "new_string": "second\n"})
	w.ok("edit", args{"path": "a", "old_string": "second\n", "new_string": "third\n"})
	w.ok("move_file", args{"path": "a", "to": "b"})
	w.ok("edit", args{"path": "b", "old_string": "third\n", "new_string": "fourth\n"})
	w.ok("delete_file", args{"path": "gone"})
	w.ok("undo", args{"session": "s"})
	if got := w.tree(); got != start {
		t.Errorf("after undo: %.300s", got)
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

// BenchmarkUndo1000 takes back one call that made 1,000 files.
func BenchmarkUndo1000(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := undoWorld(b, map[string]string{"a": "a"})
		var p strings.Builder
		p.WriteString("*** Begin Patch\n")
		for i := range 1000 {
			fmt.Fprintf(&p, "*** Add File: d%d/f%d\n+line %d\n", i%10, i, i)
		}
		p.WriteString("*** End Patch\n")
		w.ok("apply_patch", args{"patch": p.String()})
		b.StartTimer()
		w.ok("undo", args{"last": true})
	}
}

// BenchmarkPatchCommit applies 200 hunks to 50 files of 1,000 lines, beside the bare writes of the same bytes.
func BenchmarkPatchCommit(b *testing.B) {
	files := map[string]string{}
	var p strings.Builder
	p.WriteString("*** Begin Patch\n")
	for f := range 50 {
		var c strings.Builder
		for l := range 1000 {
			fmt.Fprintf(&c, "file %d line %d of some text\n", f, l)
		}
		files[fmt.Sprintf("f%02d", f)] = c.String()
		fmt.Fprintf(&p, "*** Update File: f%02d\n", f)
		for h := range 4 {
			l := 100 + h*200
			fmt.Fprintf(&p, "@@\n file %d line %d of some text\n-file %d line %d of some text\n+changed\n file %d line %d of some text\n", f, l, f, l+1, f, l+2)
		}
	}
	p.WriteString("*** End Patch\n")
	var plan, ours, bare []time.Duration
	for b.Loop() {
		w := undoWorld(b, files)
		raw, err := json.Marshal(args{"patch": p.String()})
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		planned, err := w.box.Plan(b.Context(), toolbox.Request{Tool: "apply_patch", Args: raw, Session: "s", Dir: w.dir})
		if err != nil || planned.Err != nil {
			b.Fatal(err, planned.Err)
		}
		t0 := time.Now()
		plan = append(plan, t0.Sub(begin))
		if _, err := w.host.Commit(b.Context(), planned.Action.Intent.Changes, host.CommitOptions{}); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		for name := range files {
			data, err := os.ReadFile(filepath.Join(w.dir, name))
			if err != nil {
				b.Fatal(err)
			}
			if err := bareWrite(filepath.Join(w.dir, name), data); err != nil {
				b.Fatal(err)
			}
		}
		if err := syncAll(w.dir); err != nil {
			b.Fatal(err)
		}
		ours, bare = append(ours, t1.Sub(t0)), append(bare, time.Since(t1))
	}
	slices.Sort(ours)
	slices.Sort(bare)
	slices.Sort(plan)
	b.ReportMetric(float64(ours[len(ours)/2])/float64(bare[len(bare)/2]), "commit/bare")
	b.ReportMetric(float64(plan[len(plan)/2].Microseconds()), "plan-µs")
	b.ReportMetric(float64(ours[len(ours)/2].Microseconds()), "commit-µs")
	b.ReportMetric(float64(bare[len(bare)/2].Microseconds()), "bare-µs")
	b.ReportMetric(0, "ns/op")
}

// bareWrite is the least that replaces a file safely.
func bareWrite(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// syncAll makes what was written durable, once: the journal's commit point does no less.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// P9, the plan half: an answer that names hunks plans again with only those; the result says what became of the others.
func TestP9_ApprovedHunks(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one\ntwo\nthree\n"}, tool.Options{})
	run := func(name string, a args, hunks []int) tool.Result {
		t.Helper()
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.box.Plan(t.Context(), toolbox.Request{Tool: name, Args: raw, Session: "s", Dir: w.dir})
		if err != nil || p.Err != nil {
			t.Fatal(err, p.Err)
		}
		if p.Action.Intent.Hunks != 3 {
			t.Errorf("%s offers %d hunks", name, p.Action.Intent.Hunks)
		}
		res, err := w.box.Run(t.Context(), p, tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Hunks: hunks, Denied: map[int]string{2: "keep this one"}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	edits := []any{args{"old_string": "one", "new_string": "1"}, args{"old_string": "two", "new_string": "2"}, args{"old_string": "three", "new_string": "3"}}
	res := run("multi_edit", args{"path": "a", "edits": edits}, []int{1, 3})
	w.holds(res.Text(), "applied 2 of 3", "#2 denied: keep this one")
	if got := w.get("a"); got != "1\ntwo\n3\n" {
		t.Errorf("%q", got)
	}
	res = run("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n@@\n-two\n+2\n@@\n-3\n+three\n*** End Patch\n"}, []int{3})
	w.holds(res.Text(), "#2 denied: keep this one", "#3 applied")
	if got := w.get("a"); got != "1\ntwo\nthree\n" {
		t.Errorf("%q", got)
	}
}
