package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// beside is a world of another workspace whose journal lies in the same state folder.
func (w *world) beside(name string) *world {
	w.t.Helper()
	other := &world{t: w.t, dir: filepath.Join(filepath.Dir(w.dir), name)}
	if err := os.MkdirAll(other.dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	var err error
	if other.host, err = local.Open(local.Config{Roots: []host.Root{{Path: other.dir}}, StateDir: filepath.Join(filepath.Dir(w.dir), "state")}); err != nil {
		w.t.Fatal(err)
	}
	gate, err := permission.New(permission.Options{Posture: permission.Auto, Facts: permission.FactsOf(other.host.Info()),
		Layers: []permission.Layer{{Name: "user", Rules: []permission.Rule{{Permission: "edit", Pattern: "/**", Action: tool.Allow}}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	if other.box, err = toolbox.New(toolbox.Config{Host: other.host, Gate: gate, Env: tool.Environment{Mode: "code"}}); err != nil {
		w.t.Fatal(err)
	}
	for _, tl := range append(Tools(search.Config{}), Undo{}.Tool()) {
		if err := other.box.Register(tl, "code"); err != nil {
			w.t.Fatal(err)
		}
	}
	return other
}

// F10: an undo is about its own workspace. What another one did last is not the last call here, whatever policy would
// allow; a session that is named is meant wherever it worked.
func TestF10_OtherWorkspaces(t *testing.T) {
	w := undoWorld(t, map[string]string{"a": "one\n"})
	other := w.beside("ws2")
	other.put("b", "one\n")
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	other.ok("edit", args{"path": "b", "old_string": "one", "new_string": "two"})
	w.ok("undo", args{"last": true})
	if w.get("a") != "one\n" || other.get("b") != "two\n" {
		t.Errorf("a %q, b %q", w.get("a"), other.get("b"))
	}
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	other.ok("undo", args{})
	if w.get("a") != "two\n" || other.get("b") != "one\n" {
		t.Errorf("a %q, b %q", w.get("a"), other.get("b"))
	}
	w.fails("undo", args{"since": time.Now().Add(time.Hour).Format(time.RFC3339)}, tool.NotFound)
	other.ok("undo", args{"session": "s"})
	if w.get("a") != "one\n" {
		t.Errorf("the session that was named: a %q", w.get("a"))
	}
}

// F10: what somebody took back by hand does not stand in the way of what was done before.
func TestF10_TakenBackByHand(t *testing.T) {
	w := undoWorld(t, map[string]string{"a": "one\n", "d/": ""})
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	w.ok("delete_file", args{"path": "d"})
	w.ok("write_file", args{"path": "d", "content": "a file now\n"})
	if err := os.Remove(filepath.Join(w.dir, "d")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		res := w.call("undo", args{"session": "s"})
		if !res.OK() {
			t.Fatal(res.Text())
		}
		if res.Data.(UndoData).Left == 0 {
			break
		}
	}
	if info, err := os.Stat(filepath.Join(w.dir, "d")); err != nil || !info.IsDir() || w.get("a") != "one\n" {
		t.Errorf("d %v, %v; a %q", info, err, w.get("a"))
	}
	w.fails("undo", args{"session": "s"}, tool.NotFound)
}

// F10: an undo can be undone, by its call; what it took back can then be taken back again.
func TestF10_Redo(t *testing.T) {
	w := undoWorld(t, map[string]string{"a": "one\n", "gone": "g"})
	start := w.tree()
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	w.ok("delete_file", args{"path": "gone"})
	end := w.tree()
	undid := w.call("undo", args{"session": "s"})
	if !undid.OK() || w.tree() != start {
		t.Fatalf("%s", undid.Text())
	}
	w.fails("undo", args{"last": true}, tool.NotFound)
	redid := w.call("undo", args{"call": undid.Meta.Call})
	if !redid.OK() || w.tree() != end {
		t.Fatalf("%s\n%s", redid.Text(), w.tree())
	}
	w.fails("undo", args{"call": undid.Meta.Call}, tool.NotFound)
	w.ok("undo", args{"last": true}) // the deletion alone
	if w.get("gone") != "g" || w.get("a") != "two\n" {
		t.Errorf("%s", w.tree())
	}
}

// F10: a call that changed, renamed, made and deleted several files is taken back as a whole, merged where others changed one.
func TestF10_MergeOneOfMany(t *testing.T) {
	text := strings.Join([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", ""}, "\n")
	w := undoWorld(t, map[string]string{"a": text, "b": text, "c": text, "gone": text})
	start := w.tree()
	patch := "*** Begin Patch\n*** Update File: a\n@@\n-2\n+two\n*** Update File: b\n*** Move to: moved\n@@\n-3\n+three\n*** Delete File: gone\n*** Add File: new\n+n\n*** Update File: c\n@@\n-4\n+four\n*** End Patch"
	w.ok("apply_patch", args{"patch": patch})
	w.put("c", strings.Replace(w.get("c"), "9\n", "nine\n", 1))
	w.holds(w.fails("undo", args{"last": true}, tool.Stale), "c: somebody changed it since (can be merged)", "-9\n+nine", "Call again with merge")
	w.ok("undo", args{"last": true, "merge": true})
	if got, want := w.get("c"), strings.Replace(text, "9\n", "nine\n", 1); got != want {
		t.Errorf("c %q", got)
	}
	w.put("c", text)
	if got := w.tree(); got != start {
		t.Errorf("%s\nwant\n%s", got, start)
	}
	w.ok("apply_patch", args{"patch": patch})
	w.put("moved", w.get("moved")+"foreign\n")
	w.holds(w.fails("undo", args{"last": true, "merge": true}, tool.Stale), "moved: we made it, and somebody changed it since", "+foreign")
	w.put("new", "x")
	w.drop("a")
	w.holds(w.fails("undo", args{"last": true, "merge": true}, tool.Stale), "a: it was deleted since", "new: we made it")
}

// F10: permission bits that others changed are theirs, whether the content is taken back or was already.
func TestF10_ForeignModes(t *testing.T) {
	mode := func(w *world, name string) os.FileMode {
		info, err := os.Stat(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	chmod := func(w *world, name string, m os.FileMode) {
		if err := os.Chmod(filepath.Join(w.dir, name), m); err != nil {
			t.Fatal(err)
		}
	}
	w := undoWorld(t, map[string]string{"a": "one\n", "b": "one\n", "c": "one\n"})
	for _, name := range []string{"a", "b"} {
		w.ok("edit", args{"path": name, "old_string": "one", "new_string": "two"})
		chmod(w, name, 0o755)
	}
	w.put("b", "one\n") // taken back by hand
	w.ok("undo", args{"session": "s"})
	if w.get("a") != "one\n" || mode(w, "a") != 0o755 || mode(w, "b") != 0o755 {
		t.Errorf("a %q %v, b %q %v", w.get("a"), mode(w, "a"), w.get("b"), mode(w, "b"))
	}
	w.ok("apply_patch", args{"patch": "diff --git a/c b/c\nold mode 100644\nnew mode 100755\n"})
	if mode(w, "c") != 0o755 {
		t.Fatalf("c %v", mode(w, "c"))
	}
	chmod(w, "c", 0o700)
	if res := w.call("undo", args{"last": true}); res.OK() && mode(w, "c") != 0o700 {
		t.Errorf("c %v: %s", mode(w, "c"), res.Text())
	}
	chmod(w, "c", 0o755)
	w.ok("undo", args{"last": true})
	if mode(w, "c") != 0o644 {
		t.Errorf("our own mode: %v", mode(w, "c"))
	}
}

// T11: an undo looks at what was committed last, so it runs by itself, after the calls before it.
func TestT11_UndoRunsAlone(t *testing.T) {
	w := undoWorld(t, map[string]string{"a": "one\n", "b": "one\n"})
	w.ok("edit", args{"path": "a", "old_string": "one", "new_string": "two"})
	var reqs []toolbox.Request
	for _, c := range []struct {
		name string
		a    args
	}{{"edit", args{"path": "b", "old_string": "one", "new_string": "two"}}, {"undo", args{"last": true}}, {"read_file", args{"path": "b"}}} {
		raw, err := json.Marshal(c.a)
		if err != nil {
			t.Fatal(err)
		}
		reqs = append(reqs, toolbox.Request{Tool: c.name, Args: raw, Session: "s", Dir: w.dir})
	}
	res, err := w.box.CallAll(t.Context(), reqs)
	if err != nil || w.get("a") != "two\n" || w.get("b") != "one\n" {
		t.Errorf("%v: a %q, b %q", err, w.get("a"), w.get("b"))
	}
	w.holds(res[2].Text(), "1\tone")
}
