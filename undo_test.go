package tackle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
)

// undoBox opens a box on a workspace of its own below a state folder that several share.
func undoBox(t *testing.T, base, name string) (*tackle.Box, string) {
	t.Helper()
	dir := filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: dir, StateDir: filepath.Join(base, "state"), NoFiles: true, Session: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box, dir
}

func must(t *testing.T, box *tackle.Box, name string, args map[string]any) {
	t.Helper()
	if res, err := box.Call(t.Context(), tackle.NewRequest(name, args)); err != nil || !res.OK() {
		t.Fatalf("%s %v: %v %s", name, args, err, res.Text())
	}
}

// F10: everything that was done here is taken back, also what needs several changesets; nothing of another workspace is
// listed or touched; looking at it changes nothing.
func TestF10_BoxUndo(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	box, dir := undoBox(t, base, "one")
	other, otherDir := undoBox(t, base, "two")
	must(t, box, "write_file", map[string]any{"path": "d/a", "content": "1\n"})
	must(t, box, "move_file", map[string]any{"path": "d", "to": "e"})
	must(t, box, "write_file", map[string]any{"path": "e/b", "content": "2\n"})
	must(t, box, "move_file", map[string]any{"path": "e", "to": "f"})
	must(t, other, "write_file", map[string]any{"path": "x", "content": "theirs\n"})

	txs, err := box.Undoable(t.Context(), tackle.UndoRequest{})
	if err != nil || len(txs) != 4 {
		t.Errorf("%d transactions, %v", len(txs), err)
	}
	if txs, err = box.Undoable(t.Context(), tackle.UndoRequest{Last: true}); err != nil || len(txs) != 1 || !strings.HasPrefix(txs[0].Paths[0].Path, dir) {
		t.Errorf("the last one here: %+v, %v", txs, err)
	}
	if in, failed, err := box.PreviewUndo(t.Context(), tackle.UndoRequest{Last: true}); err != nil || failed != nil || in.Changes.Empty() {
		t.Errorf("%+v %v", failed, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "f", "b")); err != nil {
		t.Errorf("the preview changed something: %v", err)
	}
	if res, err := box.Undo(t.Context(), tackle.UndoRequest{}); err != nil || !res.OK() {
		t.Fatalf("%v %s", err, res.Text())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if b, err := os.ReadFile(filepath.Join(otherDir, "x")); err != nil || string(b) != "theirs\n" {
		t.Errorf("the other workspace: %q %v", b, err)
	}
	if res, err := box.Undo(t.Context(), tackle.UndoRequest{}); err != nil || res.OK() {
		t.Errorf("a second time: %v %s", err, res.Text())
	}
}
