//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// edit replaces the content of a file, whatever it is, and returns the transaction.
func edit(t *testing.T, l *Local, path string, content []byte) host.Receipt {
	t.Helper()
	old, err := os.ReadFile(path)
	op := change.Create(path, content, 0o644)
	if err == nil {
		op = change.Replace(path, change.FileState(old, 0), content)
	}
	r, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func kept(t *testing.T, l *Local) (all, images int, bytes int64) {
	t.Helper()
	txs, err := l.Transactions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs {
		if tx.Paths[0].HasImage && tx.Paths[0].BeforeType == change.File {
			images++
			bytes += tx.Paths[0].BeforeSize
		}
	}
	return len(txs), images, bytes
}

// F10: before-images with quota. The oldest go, the newest stays however large, and the list stays whole.
func TestImagesAreBoundedInSize(t *testing.T) {
	l := newLocal(t, func(c *Config) { c.MaxImageBytes = 100_000 })
	p := filepath.Join(l.info.Roots[0].Path, "f")
	for i := range 40 {
		edit(t, l, p, padded(i, 10_000))
	}
	all, images, bytes := kept(t, l)
	if all != 40 || bytes > 110_000 || images < 8 {
		t.Errorf("%d transactions, %d images, %d bytes", all, images, bytes)
	}
	txs, _ := l.Transactions(t.Context(), "")
	if _, err := l.Image(t.Context(), txs[5].ID, p); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an image that went: %v", err)
	}
	edit(t, l, p, padded(1, 500_000))
	r := edit(t, l, p, []byte("small"))
	if img, err := l.Image(t.Context(), r.ID, p); err != nil || img.Blob.Size() != 500_002 {
		t.Errorf("the newest image: %v", err)
	}
	l.Close()
	next, err := Open(l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	edit(t, next, p, []byte("x"))
	edit(t, next, p, []byte("y"))
	if _, _, bytes := kept(t, next); bytes > 110_000 {
		t.Errorf("the next owner of the slot keeps %d bytes", bytes)
	}
}

func TestImagesAndLogsAreBoundedInAge(t *testing.T) {
	now := time.Now()
	l := newLocal(t, func(c *Config) { c.Now, c.MaxImageAge = func() time.Time { return now }, 48*time.Hour })
	p := filepath.Join(l.info.Roots[0].Path, "f")
	edit(t, l, p, []byte("first"))
	old := edit(t, l, p, []byte("second"))
	now = now.Add(25 * time.Hour)
	edit(t, l, p, []byte("third"))
	if _, images, _ := kept(t, l); images != 2 {
		t.Errorf("%d images after a day", images)
	}
	now = now.Add(25 * time.Hour)
	edit(t, l, p, []byte("fourth"))
	if _, err := l.Image(t.Context(), old.ID, p); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("image of two days ago: %v", err)
	}
	if _, images, _ := kept(t, l); images != 2 {
		t.Errorf("%d images after two days", images)
	}
}

// A long log becomes segments; what they say is read across all of them, and old ones go.
func TestLogSegments(t *testing.T) {
	now := time.Now()
	l := newLocal(t, func(c *Config) { c.Now = func() time.Time { now = now.Add(time.Second); return now } })
	p := filepath.Join(l.info.Roots[0].Path, "f")
	note := map[string]string{"long": strings.Repeat("n", 10_000)}
	var ids []string
	for i := range 60 {
		op := change.Create(p+fmt.Sprint(i), nil, 0o644)
		r, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{ID: fmt.Sprint("id-", i), Note: note})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	segments := func() []string {
		list, err := filepath.Glob(filepath.Join(l.info.StateDir, "slots", "0", "log*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if n := len(segments()); n != 3 {
		t.Errorf("%d segments for 600 KB", n)
	}
	other, err := Open(l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, h := range []*Local{l, other} {
		txs, err := h.Transactions(t.Context(), "id-9")
		if err != nil || len(txs) != 50 || txs[0].ID != ids[10] || txs[49].Note["long"] == "" {
			t.Errorf("%d transactions, %v", len(txs), err)
		}
		again := &change.Set{Ops: []change.Op{change.Create(p, nil, 0)}}
		if _, err := h.Commit(t.Context(), again, host.CommitOptions{ID: "id-0"}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("an ID of the first segment: %v", err)
		}
	}
	now = now.Add(31 * 24 * time.Hour)
	edit(t, l, p, nil)
	if n := len(segments()); n != 1 {
		t.Errorf("%d segments after a month", n)
	}
}

// FS-026, FS-027: the state directory is private, and somebody else's is refused.
func TestStateDirIsPrivate(t *testing.T) {
	l := newLocal(t, func(c *Config) {
		if err := errors.Join(os.Mkdir(c.StateDir, 0o755), os.Chmod(c.StateDir, 0o777)); err != nil {
			t.Fatal(err)
		}
	})
	p := filepath.Join(l.info.Roots[0].Path, "f")
	edit(t, l, p, []byte("secret"))
	edit(t, l, p, []byte("other"))
	if fi, err := os.Stat(l.info.StateDir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root gives directories away")
	}
	stranger := newLocal(t, func(c *Config) {
		if err := errors.Join(os.Mkdir(c.StateDir, 0o700), os.Chown(c.StateDir, 1001, 1001)); err != nil {
			t.Fatal(err)
		}
	})
	_, err := stranger.Commit(t.Context(), &change.Set{Ops: []change.Op{change.Create(filepath.Join(stranger.info.Roots[0].Path, "f"), nil, 0)}}, host.CommitOptions{})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "1001") {
		t.Errorf("a stranger's state directory: %v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, map[string]string{"a/ws": "drwxr-xr-x ", "b/ws": "drwxr-xr-x ", "file": "-rw-r--r-- ", "link": "Lrwxrwxrwx a"})
	at := func(p string) string { return filepath.Join(dir, p) }
	for name, c := range map[string]Config{
		"relative root": {Roots: []host.Root{{Path: "x"}}}, "missing root": {Roots: []host.Root{{Path: at("none")}}},
		"file as root": {Roots: []host.Root{{Path: at("file")}}}, "relative state": {StateDir: "x"},
		"one name twice": {Roots: []host.Root{{Name: "n", Path: at("a")}, {Name: "n", Path: at("b")}}},
		"root in state":  {Roots: []host.Root{{Path: at("a/ws")}}, StateDir: at("a")},
	} {
		if _, err := Open(c); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	l, err := Open(Config{Roots: []host.Root{{Path: at("a/ws")}, {Path: at("b/ws")}, {Path: at("link")}}, StateDir: at("a/ws/.state")})
	if err != nil {
		t.Fatal(err)
	}
	info := l.Info()
	if info.Name != "local" || info.OS != runtime.GOOS || len(info.Roots) != 3 || info.Roots[0].Name != "ws" || info.Roots[1].Name != "ws-2" || filepath.Base(info.Roots[2].Path) != "a" {
		t.Errorf("%+v", info)
	}
	if len(info.Notes) == 0 || !strings.Contains(strings.Join(info.Notes, "\n"), "state directory") {
		t.Errorf("notes %q", info.Notes)
	}
	if _, err := os.Stat(info.StateDir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Open made the state directory")
	}
	if r, err := l.Recover(t.Context()); err != nil || len(r.Finished) > 0 {
		t.Error(r, err)
	}
	if txs, err := l.Transactions(t.Context(), ""); err != nil || len(txs) > 0 {
		t.Error(txs, err)
	}
	if p, err := l.Resolve(t.Context(), "", at("a/ws/x")); err != nil || filepath.Base(p.Root) != "ws" || p.Rel != "x" {
		t.Errorf("the innermost root: %+v, %v", p, err)
	}
}

// A host without a state directory reads, and says why it does not write.
func TestReadOnlyHost(t *testing.T) {
	ws := t.TempDir()
	l, err := Open(Config{Roots: []host.Root{{Path: ws}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{change.Create(filepath.Join(l.info.Roots[0].Path, "f"), nil, 0)}}, host.CommitOptions{}); !errors.Is(err, host.ErrUnsupported) {
		t.Errorf("commit: %v", err)
	}
	if _, _, err := l.Lock(t.Context(), ws); !errors.Is(err, host.ErrUnsupported) {
		t.Errorf("lock: %v", err)
	}
	if _, err := l.Stat(t.Context(), l.info.Roots[0].Path); err != nil {
		t.Error(err)
	}
}

func TestDefaultStateDir(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/x/state")
	if dir, err := DefaultStateDir(); err != nil || dir != "/x/state/tackle" {
		t.Error(dir, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // the standard says to ignore it
	t.Setenv("HOME", "/h")
	if dir, err := DefaultStateDir(); err != nil || dir != "/h/.local/state/tackle" {
		t.Error(dir, err)
	}
}

// Two hosts on one state directory take a slot each; a slot that was left is taken again.
func TestSlots(t *testing.T) {
	a := newLocal(t, nil)
	p := filepath.Join(a.info.Roots[0].Path, "f")
	edit(t, a, p, []byte("1"))
	b, err := Open(a.cfg)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, b, p, []byte("2"))
	if a.slot.n != 0 || b.slot.n != 1 {
		t.Errorf("slots %d and %d", a.slot.n, b.slot.n)
	}
	a.Close()
	c, err := Open(a.cfg)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, c, p, []byte("3"))
	if c.slot.n != 0 {
		t.Errorf("slot %d", c.slot.n)
	}
	txs, err := b.Transactions(context.Background(), "")
	if err != nil || len(txs) != 3 || txs[0].Paths[0].AfterSize != 1 || txs[2].Paths[0].AfterDigest != change.Sum([]byte("3")) {
		t.Errorf("%+v, %v", txs, err)
	}
	b.Close()
	c.Close()
}

func TestForeignSpelling(t *testing.T) { // FS-029
	for path, want := range map[string]bool{
		`\\?\C:\x`: true, `\\.\pipe\x`: true, `//server/share/x`: true, `\??\C:\x`: true, `README.md:stream`: true, `C:\x:y`: true,
		`C:\x\y`: false, `x\y`: false, `C:/x`: false,
	} {
		if got := foreignSpelling("windows", path); got != want {
			t.Errorf("%q: %v", path, got)
		}
		if foreignSpelling("linux", path) {
			t.Errorf("%q is an ordinary name on Linux", path)
		}
	}
}
