package hosttest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// writing are the scenarios of commits that succeed.
var writing = []scenario{
	{"commit/empty set", "", func(t *testing.T, b *bed) {
		for _, set := range []*change.Set{nil, {}} {
			r, err := b.Commit(b.ctx(), set, host.CommitOptions{ID: "x"})
			b.must(err)
			if r.ID != "" || len(r.Files) != 0 {
				t.Errorf("receipt %+v", r)
			}
		}
	}},
	{"commit/create", "F2", func(t *testing.T, b *bed) {
		p := b.path("f")
		r := b.commit(change.Create(p, []byte("new"), 0o640))
		b.want(p, "new", 0o640)
		if len(r.Files) != 1 || r.Files[0].Path != p || r.Files[0].Digest != change.Sum([]byte("new")) || r.Files[0].Strategy != "create" || r.ID == "" || r.At.IsZero() {
			t.Errorf("receipt %+v", r)
		}
	}},
	{"commit/create with the default mode", "F2", func(t *testing.T, b *bed) {
		b.must(os.WriteFile(b.path("plain"), nil, 0o666))
		b.must(os.Mkdir(b.path("plaindir"), 0o777))
		b.commit(change.Create(b.path("f"), []byte("x"), 0), mkdir(b.path("d"), 0))
		for ours, plain := range map[string]string{"f": "plain", "d": "plaindir"} {
			a, err := os.Stat(b.path(ours))
			b.must(err)
			w, err := os.Stat(b.path(plain))
			b.must(err)
			if a.Mode() != w.Mode() {
				t.Errorf("%s has mode %v, os gives %v", ours, a.Mode(), w.Mode())
			}
		}
	}},
	{"commit/empty and large contents", "F2", func(t *testing.T, b *bed) {
		big := bytes.Repeat([]byte("0123456789abcdef"), 300<<10/16)
		b.commit(change.Create(b.path("empty"), nil, 0o644), change.Create(b.path("big"), big, 0o644))
		b.want(b.path("empty"), "", 0)
		b.want(b.path("big"), string(big), 0)
		b.commit(b.replace(b.path("big"), ""), b.replace(b.path("empty"), string(big)))
		b.want(b.path("big"), "", 0)
		b.want(b.path("empty"), string(big), 0)
	}},
	{"commit/replace keeps the mode", "F2, RACE-008", func(t *testing.T, b *bed) {
		for _, mode := range []fs.FileMode{0o644, 0o755, 0o600, 0o200 | 0o400, 0o666} {
			p := b.write("f", "old", mode)
			b.commit(b.replace(p, "new"))
			b.want(p, "new", mode)
			b.must(os.Remove(p))
		}
	}},
	{"commit/replace with another mode", "F5", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o644)
		op := b.replace(p, "new")
		op.After.Mode = 0o755
		b.commit(op)
		b.want(p, "new", 0o755)
	}},
	{"commit/replace drops setuid", "", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o755)
		b.must(os.Chmod(p, 0o755|fs.ModeSetuid|fs.ModeSetgid))
		b.commit(b.replace(p, "new"))
		b.want(p, "new", 0o755)
	}},
	{"commit/known by digest only", "F12", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o644)
		before := change.State{Type: change.File, Blob: change.KnownBlob(change.Sum([]byte("old")), 3)}
		b.commit(change.Replace(p, before, []byte("new")))
		b.want(p, "new", 0o644)
		b.stale(change.Replace(p, before, []byte("newer")))
	}},
	{"commit/missing parents are made", "F2", func(t *testing.T, b *bed) {
		p := b.path("a", "b", "c", "f")
		r := b.commit(change.Create(p, []byte("x"), 0o644))
		b.want(p, "x", 0)
		if len(r.Files) != 4 || r.Files[0].Path != b.path("a") || r.Files[3].Path != p {
			t.Errorf("receipt %+v", r.Files)
		}
		b.commit(change.Create(b.path("a", "b", "g"), nil, 0), change.Create(b.path("a", "z", "h"), nil, 0), change.Create(b.path("a", "z", "i"), nil, 0))
		b.want(b.path("a", "z", "i"), "", 0)
	}},
	{"commit/delete", "F14", func(t *testing.T, b *bed) {
		p := b.write("d/f", "x", 0o444)
		b.must(os.Symlink("f", b.path("d", "l")))
		b.commit(b.remove(p))
		b.wantNone(p)
		b.commit(b.remove(b.path("d", "l")), b.remove(b.path("d")))
		b.wantNone(b.path("d"))
	}},
	{"commit/delete a tree", "F14", func(t *testing.T, b *bed) {
		b.write("d/e/f", "1", 0o644)
		b.write("d/g", "2", 0o644)
		b.write("keep", "3", 0o644)
		b.commit(b.remove(b.path("d", "e", "f")), b.remove(b.path("d", "e")), b.remove(b.path("d", "g")), b.remove(b.path("d")))
		b.wantNone(b.path("d"))
		b.want(b.path("keep"), "3", 0)
	}},
	{"commit/move", "F14", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o751)
		b.must(os.Symlink("f", b.path("l")))
		b.commit(b.move(p, b.path("new", "g")), b.move(b.path("l"), b.path("m")))
		b.wantNone(p)
		b.want(b.path("new", "g"), "x", 0o751)
		if target, _ := os.Readlink(b.path("m")); target != "f" {
			t.Errorf("the moved link points to %q", target)
		}
	}},
	{"commit/move a directory", "F14", func(t *testing.T, b *bed) {
		b.write("d/e/f", "1", 0o644)
		b.commit(b.move(b.path("d"), b.path("x", "y")))
		b.want(b.path("x", "y", "e", "f"), "1", 0)
		b.wantNone(b.path("d"))
	}},
	{"commit/mkdir", "", func(t *testing.T, b *bed) {
		b.commit(mkdir(b.path("d"), 0o700), mkdir(b.path("d", "e"), 0o755), mkdir(b.path("x", "y"), 0))
		if fi, err := os.Stat(b.path("d")); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", fi, err)
		}
		r := b.commit(mkdir(b.path("d"), 0o755))
		if fi, _ := os.Stat(b.path("d")); fi.Mode().Perm() != 0o700 {
			t.Errorf("mkdir of a directory that is there changed its mode to %v", fi.Mode())
		}
		if r.Files[0].Strategy != "already there" {
			t.Errorf("receipt %+v", r.Files)
		}
	}},
	{"commit/mkdir that is closed to its owner", "", func(t *testing.T, b *bed) {
		b.commit(mkdir(b.path("d"), 0o500), change.Create(b.path("d", "f"), []byte("x"), 0o444))
		t.Cleanup(func() { os.Chmod(b.path("d"), 0o700) })
		b.want(b.path("d", "f"), "x", 0o444)
		if fi, _ := os.Stat(b.path("d")); fi.Mode().Perm() != 0o500 {
			t.Errorf("mode %v", fi.Mode())
		}
	}},
	{"commit/chmod", "F10", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		b.must(os.Mkdir(b.path("d"), 0o755))
		b.commit(b.chmod(p, 0o755), b.chmod(b.path("d"), 0o700))
		b.want(p, "x", 0o755)
		if fi, _ := os.Stat(b.path("d")); fi.Mode().Perm() != 0o700 {
			t.Errorf("mode %v", fi.Mode())
		}
		b.commit(b.chmod(p, 0o000))
		if fi, _ := os.Stat(p); fi.Mode().Perm() != 0 {
			t.Errorf("mode %v", fi.Mode())
		}
	}},
	{"commit/chmod opens a directory for the same set", "", func(t *testing.T, b *bed) {
		b.must(os.Mkdir(b.path("d"), 0o555))
		b.commit(b.chmod(b.path("d"), 0o755), change.Create(b.path("d", "f"), []byte("x"), 0o644))
		b.want(b.path("d", "f"), "x", 0o644)
	}},
	{"commit/symbolic link", "F5", func(t *testing.T, b *bed) {
		b.commit(link(b.path("l"), "../anything"))
		if target, _ := os.Readlink(b.path("l")); target != "../anything" {
			t.Errorf("target %q", target)
		}
		b.commit(change.Op{Kind: change.Write, Path: b.path("l"), Before: b.state(b.path("l")), After: change.State{Type: change.Symlink, Target: "other"}})
		if target, _ := os.Readlink(b.path("l")); target != "other" {
			t.Errorf("target %q", target)
		}
		b.commit(change.Op{Kind: change.Write, Path: b.path("l"), Before: b.state(b.path("l")), After: change.FileState([]byte("now a file"), 0o644)})
		b.want(b.path("l"), "now a file", 0o644)
		b.commit(change.Op{Kind: change.Write, Path: b.path("l"), Before: b.state(b.path("l")), After: change.State{Type: change.Symlink, Target: "back"}})
		if target, _ := os.Readlink(b.path("l")); target != "back" {
			t.Errorf("target %q", target)
		}
	}},
	{"commit/through a link to its target", "RACE-008, FS-002", func(t *testing.T, b *bed) {
		b.write("d/f", "old", 0o644)
		b.must(os.Symlink("d/f", b.path("l")))
		b.must(os.Symlink("d/new", b.path("dangling")))
		p, err := b.Resolve(b.ctx(), "", "l")
		b.must(err)
		q, err := b.Resolve(b.ctx(), "", "dangling")
		b.must(err)
		b.commit(b.replace(p.Real, "new"), change.Create(q.Real, []byte("made"), 0o644))
		b.want(b.path("d", "f"), "new", 0)
		b.want(b.path("d", "new"), "made", 0)
		if target, _ := os.Readlink(b.path("l")); target != "d/f" {
			t.Error("the link did not stay a link")
		}
	}},
	{"commit/many kinds at once", "F5", func(t *testing.T, b *bed) {
		b.write("edit", "1", 0o644)
		b.write("gone", "2", 0o644)
		b.write("from", "3", 0o600)
		b.write("mode", "4", 0o644)
		r := b.commit(
			b.replace(b.path("edit"), "one"), b.remove(b.path("gone")), b.move(b.path("from"), b.path("new", "to")),
			b.chmod(b.path("mode"), 0o755), change.Create(b.path("new", "made"), []byte("5"), 0o644), link(b.path("new", "l"), "made"),
		)
		same(t, map[string]string{
			"": "drwxr-xr-x", "/edit": "-rw-r--r-- one", "/mode": "-rwxr-xr-x 4", "/new": "drwxr-xr-x",
			"/new/to": "-rw------- 3", "/new/made": "-rw-r--r-- 5", "/new/l": "Lrwxrwxrwx -> made",
		}, sameUmask(snapshot(t, b.dir)))
		var got []string
		for _, f := range r.Files {
			got = append(got, strings.TrimPrefix(f.Path, b.dir+"/"))
		}
		if want := []string{"edit", "gone", "new", "from", "mode", "new/made", "new/l"}; !slices.Equal(got, want) {
			t.Errorf("receipt %q, want %q", got, want)
		}
	}},
	{"commit/durable", "issue 2 Deliver 2", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o644)
		_, err := b.Commit(b.ctx(), &change.Set{Ops: []change.Op{b.replace(p, "new"), change.Create(b.path("d", "g"), []byte("x"), 0o644)}}, host.CommitOptions{Durable: true})
		b.must(err)
		_, err = b.Commit(b.ctx(), &change.Set{Ops: []change.Op{b.replace(p, "newer")}}, host.CommitOptions{Durable: true})
		b.must(err)
		b.want(p, "newer", 0o644)
	}},
	{"commit/inode preserved", "security.md 5.2", func(t *testing.T, b *bed) {
		p := b.write("f", "old and longer", 0o640)
		before, err := b.Stat(b.ctx(), p)
		b.must(err)
		r, err := b.Commit(b.ctx(), &change.Set{Ops: []change.Op{b.replace(p, "new")}}, host.CommitOptions{PreserveInode: true})
		b.must(err)
		after, err := b.Stat(b.ctx(), p)
		b.must(err)
		b.want(p, "new", 0o640)
		if before.Ino != after.Ino {
			t.Error("the inode changed")
		}
		if !strings.HasPrefix(r.Files[0].Strategy, "in-place") {
			t.Errorf("strategy %q", r.Files[0].Strategy)
		}
	}},
	{"commit/odd names", "FS-015", func(t *testing.T, b *bed) {
		for _, name := range []string{"a\nb", "a\x1b[2J", " ", "-rf", "x\\y", "\xff\xfe", "é", strings.Repeat("n", 255)} {
			p := filepath.Join(b.dir, name)
			b.commit(change.Create(p, []byte("1"), 0o644))
			b.commit(b.replace(p, "2"))
			b.want(p, "2", 0o644)
			b.commit(b.remove(p))
		}
	}},
}

// sameUmask makes a snapshot independent of the umask: what was made with the default mode reads as if it were 022.
func sameUmask(tree map[string]string) map[string]string {
	for _, p := range []string{"", "/new"} {
		if strings.HasPrefix(tree[p], "d") {
			tree[p] = "drwxr-xr-x"
		}
	}
	return tree
}
