package hosttest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// refusing are the scenarios of commits that must not happen; bed.refused checks that the tree stays as it was.
var refusing = []scenario{
	{"stale/content", "F12, T5, RACE-004", func(t *testing.T, b *bed) {
		p := b.write("f", "planned", 0o644)
		op := b.replace(p, "mine")
		b.write("f", "theirs", 0o644)
		e := b.stale(op)
		if data, _ := e.Current.Blob.Bytes(); e.Path != p || string(data) != "theirs" || e.Want.Blob != op.Before.Blob {
			t.Errorf("%+v", e)
		}
		if !strings.Contains(e.Error(), p) {
			t.Errorf("the message %q does not name the path", e)
		}
	}},
	{"stale/same size and time", "F12", func(t *testing.T, b *bed) {
		p := b.write("f", "planned", 0o644)
		op := b.replace(p, "mine")
		fi, err := os.Stat(p)
		b.must(err)
		b.write("f", "foreign", 0o644)
		b.must(os.Chtimes(p, fi.ModTime(), fi.ModTime()))
		b.stale(op)
	}},
	{"stale/type and existence", "F12", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		b.must(os.Mkdir(b.path("d"), 0o755))
		b.must(os.Symlink("f", b.path("l")))
		gone := change.Replace(b.path("none"), change.FileState([]byte("x"), 0o644), nil)
		if e := b.stale(gone); e.Current.Type != change.Absent {
			t.Errorf("%+v", e)
		}
		b.stale(change.Create(p, nil, 0o644))
		b.stale(change.Create(b.path("d"), nil, 0o644))
		if e := b.stale(change.Create(b.path("l"), nil, 0o644)); e.Current.Type != change.Symlink || e.Current.Target != "f" {
			t.Errorf("%+v", e)
		}
		b.stale(change.Replace(b.path("l"), b.state(p), []byte("through")))
		b.stale(change.Replace(b.path("d"), b.state(p), []byte("x")))
		b.stale(change.Op{Kind: change.Delete, Path: b.path("none"), Before: b.state(p)})
		b.stale(change.Op{Kind: change.Delete, Path: b.path("none", "deep"), Before: b.state(p)})
		b.stale(change.Op{Kind: change.Delete, Path: p, Before: b.state(b.path("d"))})
		b.stale(change.Op{Kind: change.Delete, Path: b.path("l"), Before: change.State{Type: change.Symlink, Target: "other"}})
		b.stale(mkdir(p, 0))
		b.stale(change.Op{Kind: change.Mkdir, Path: b.path("none"), Before: change.State{Type: change.Dir}, After: change.State{Type: change.Dir}})
	}},
	{"stale/mode", "F12", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		edit, mode, remove := b.replace(p, "y"), b.chmod(p, 0o600), b.remove(p)
		b.must(os.Chmod(p, 0o755))
		b.stale(edit)
		b.stale(mode)
		b.stale(remove)
	}},
	{"stale/one of many", "F5", func(t *testing.T, b *bed) {
		first, second := b.write("a", "1", 0o644), b.write("b", "2", 0o644)
		ops := []change.Op{b.replace(first, "one"), change.Create(b.path("new", "c"), nil, 0o644), b.move(first+"", b.path("x"))}
		ops = append(ops[:2], b.replace(second, "two"))
		b.write("b", "foreign", 0o644)
		b.stale(ops...)
	}},
	{"stale/move never overwrites", "F14", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		b.write("g", "y", 0o644)
		b.must(os.Mkdir(b.path("d"), 0o755))
		if e := b.stale(b.move(p, b.path("g"))); e.Path != b.path("g") {
			t.Errorf("%+v", e)
		}
		b.stale(b.move(p, b.path("d")))
		b.stale(b.move(b.path("d"), b.path("g")))
	}},
	{"refuse/move into itself", "FS-021", func(t *testing.T, b *bed) {
		b.write("d/f", "x", 0o644)
		b.refused(host.ErrInvalidPath, b.move(b.path("d"), b.path("d", "e")))
	}},
	{"refuse/roots and dots", "FS-021", func(t *testing.T, b *bed) {
		b.write("sub/f", "x", 0o644)
		dir := change.State{Type: change.Dir}
		b.refused(fs.ErrPermission, change.Op{Kind: change.Delete, Path: b.dir, Before: dir})
		b.refused(fs.ErrPermission, change.Op{Kind: change.Delete, Path: filepath.Dir(b.dir), Before: dir})
		b.refused(fs.ErrPermission, change.Op{Kind: change.Delete, Path: "/", Before: dir})
		b.refused(fs.ErrPermission, change.Op{Kind: change.Move, Path: b.dir, To: b.dir + "-moved", Before: dir})
		for _, p := range []string{b.dir + "/.", b.dir + "/sub/..", b.dir + "/sub/", "sub", "", ".", ".."} {
			b.refused(errAny, change.Op{Kind: change.Delete, Path: p, Before: dir})
		}
	}},
	{"refuse/the state directory", "security.md 5.1", func(t *testing.T, b *bed) {
		state := b.Info().StateDir
		if state == "" {
			t.Skip("this host has no state directory")
		}
		b.commit(change.Create(b.path("f"), []byte("x"), 0o644))
		b.refused(fs.ErrPermission, change.Create(filepath.Join(state, "f"), nil, 0o644))
		b.refused(fs.ErrPermission, b.move(b.path("f"), filepath.Join(state, "f")))
		b.refused(fs.ErrPermission, change.Op{Kind: change.Move, Path: state, To: b.path("stolen"), Before: change.State{Type: change.Dir}})
		b.refused(fs.ErrPermission, change.Op{Kind: change.Move, Path: filepath.Dir(state), To: b.path("stolen"), Before: change.State{Type: change.Dir}})
	}},
	{"refuse/directory not empty", "F14", func(t *testing.T, b *bed) {
		b.write("d/f", "x", 0o644)
		b.write("d/g", "x", 0o644)
		b.refused(host.ErrNotEmpty, b.remove(b.path("d")))
		b.refused(host.ErrNotEmpty, b.remove(b.path("d", "f")), b.remove(b.path("d")))
	}},
	{"refuse/file as a directory", "issue 3 Bad input", func(t *testing.T, b *bed) {
		b.write("f", "x", 0o644)
		b.refused(host.ErrNotDir, change.Create(b.path("f", "x"), nil, 0o644))
		b.refused(host.ErrNotDir, change.Create(b.path("f", "x", "y"), nil, 0o644))
		b.refused(host.ErrNotDir, mkdir(b.path("f", "x"), 0))
		b.refused(host.ErrNotDir, b.remove(b.path("f")), change.Create(b.path("f", "x"), nil, 0o644))
	}},
	{"refuse/links in the path", "FS-003, RACE-001", func(t *testing.T, b *bed) {
		out := b.outside()
		b.must(os.WriteFile(filepath.Join(out, "f"), []byte("x"), 0o644))
		b.must(os.Symlink(out, b.path("d")))
		before := snapshot(t, out)
		file := change.FileState([]byte("x"), 0o644)
		b.refused(host.ErrChanged, change.Create(b.path("d", "new"), nil, 0o644))
		b.refused(host.ErrChanged, change.Create(b.path("d", "deep", "new"), nil, 0o644))
		b.refused(host.ErrChanged, change.Replace(b.path("d", "f"), file, nil))
		b.refused(host.ErrChanged, change.Op{Kind: change.Delete, Path: b.path("d", "f"), Before: file})
		b.refused(host.ErrChanged, mkdir(b.path("d", "e"), 0))
		b.refused(host.ErrChanged, change.Op{Kind: change.Chmod, Path: b.path("d", "f"), Before: file, After: file})
		b.write("g", "x", 0o644)
		b.refused(host.ErrChanged, b.move(b.path("g"), b.path("d", "g")))
		same(t, before, snapshot(t, out))
	}},
	{"refuse/read-only file", "RACE-011", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o444)
		b.refused(fs.ErrPermission, b.replace(p, "y"))
		op := b.replace(p, "y")
		op.After.Mode = 0o644
		b.commit(op)
		b.want(p, "y", 0o644)
	}},
	{"refuse/read-only directory", "issue 2 Bad input", func(t *testing.T, b *bed) {
		if os.Geteuid() == 0 {
			t.Skip("root may write in any directory")
		}
		p := b.write("d/f", "x", 0o644)
		b.must(os.Chmod(b.path("d"), 0o555))
		t.Cleanup(func() { os.Chmod(b.path("d"), 0o755) })
		b.refused(fs.ErrPermission, change.Create(b.path("d", "g"), nil, 0o644))
		b.refused(fs.ErrPermission, b.remove(p))
		r := b.commit(b.replace(p, "y"))
		if r.Files[0].Strategy != "in-place: directory not writable" {
			t.Errorf("strategy %q", r.Files[0].Strategy)
		}
		b.want(p, "y", 0o644)
	}},
	{"refuse/invalid sets", "", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		b.refused(errAny, b.replace(p, "y"), b.remove(p))
		b.refused(errAny, change.Create(b.path("a\x00b"), nil, 0o644))
		b.refused(errAny, change.Create("relative", nil, 0o644))
		b.refused(errAny, change.Op{Kind: change.Write, Path: b.path("g"), After: change.State{Type: change.File, Blob: change.KnownBlob(change.Digest{}, 1)}})
		b.refused(host.ErrInvalidPath, change.Create(b.path(strings.Repeat("n", 256)), nil, 0o644))
	}},
	{"refuse/cancelled", "T17", func(t *testing.T, b *bed) {
		ctx, cancel := context.WithCancel(b.ctx())
		cancel()
		_, err := b.Commit(ctx, &change.Set{Ops: []change.Op{change.Create(b.path("f"), nil, 0o644)}}, host.CommitOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("commit: %v", err)
		}
		b.wantNone(b.path("f"))
		for name, call := range map[string]func() error{
			"resolve": func() error { _, err := b.Resolve(ctx, "", "x"); return err },
			"stat":    func() error { _, err := b.Stat(ctx, b.dir); return err },
			"open":    func() error { _, err := b.Open(ctx, b.path("f")); return err },
			"readdir": func() error { _, err := b.ReadDir(ctx, b.dir); return err },
		} {
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{"refuse/ID of a finished transaction", "", func(t *testing.T, b *bed) {
		set := &change.Set{Ops: []change.Op{change.Create(b.path("f"), nil, 0o644)}}
		r, err := b.Commit(b.ctx(), set, host.CommitOptions{ID: "call-1"})
		b.must(err)
		if r.ID != "call-1" {
			t.Errorf("ID %q", r.ID)
		}
		again := &change.Set{Ops: []change.Op{change.Create(b.path("g"), nil, 0o644)}}
		if _, err := b.Commit(b.ctx(), again, host.CommitOptions{ID: "call-1"}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
		b.wantNone(b.path("g"))
		if _, err := b.Commit(b.ctx(), again, host.CommitOptions{ID: "a\nb"}); err == nil {
			t.Error("an ID with a line break was taken")
		}
	}},
}

// errAny is for refusals whose kind does not matter.
var errAny = errors.New("any error")
