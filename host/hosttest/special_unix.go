//go:build linux || darwin

package hosttest

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// special are the scenarios of inodes that are more than content and mode.
var special = []scenario{
	{"special/never opened", "FS-013, F1", func(t *testing.T, b *bed) {
		b.must(unix.Mkfifo(b.path("fifo"), 0o644))
		l, err := net.Listen("unix", shortSocket(b))
		b.must(err)
		defer l.Close()
		kinds := map[string]string{b.path("fifo"): "fifo", l.Addr().String(): "socket", "/dev/null": "device", "/dev/zero": "device"}
		done := make(chan struct{})
		go func() { // a host that opens a FIFO hangs
			defer close(done)
			for p, kind := range kinds {
				fi, err := b.Stat(b.ctx(), p)
				if err != nil || fi.Special != kind || fi.Type != change.Absent {
					t.Errorf("stat %s: %+v, %v", p, fi, err)
				}
				if f, err := b.Open(b.ctx(), p); !errors.Is(err, host.ErrSpecial) {
					t.Errorf("open %s: %v", p, err)
					if err == nil {
						f.Close()
					}
				}
			}
			file := change.FileState(nil, 0o644)
			for p := range kinds {
				if !strings.HasPrefix(p, b.dir) {
					continue
				}
				b.refused(host.ErrSpecial, change.Replace(p, file, []byte("x")))
				b.refused(host.ErrSpecial, change.Create(p, nil, 0o644))
				b.refused(host.ErrSpecial, change.Op{Kind: change.Delete, Path: p, Before: file})
				b.refused(host.ErrSpecial, change.Op{Kind: change.Move, Path: p, To: b.path("to"), Before: file})
				b.refused(host.ErrSpecial, change.Op{Kind: change.Chmod, Path: p, Before: file, After: file})
			}
			if list, err := b.ReadDir(b.ctx(), b.dir); err != nil || len(list) == 0 {
				t.Errorf("listing beside a FIFO: %v, %v", list, err)
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the host hangs on a special file")
		}
	}},
	{"special/hard link", "FS-012, RACE-008", func(t *testing.T, b *bed) {
		out := filepath.Join(b.outside(), "secret")
		b.must(os.WriteFile(out, []byte("old and longer"), 0o640))
		p := b.path("h")
		if err := os.Link(out, p); err != nil {
			t.Skip("no hard links between the directories: ", err)
		}
		if fi, err := b.Stat(b.ctx(), p); err != nil || fi.Links != 2 {
			t.Errorf("links %d, %v: a tool could not warn", fi.Links, err)
		}
		r := b.commit(b.replace(p, "new"))
		if r.Files[0].Strategy != "in-place: hard link (2 names)" {
			t.Errorf("strategy %q", r.Files[0].Strategy)
		}
		b.want(p, "new", 0o640)
		b.want(out, "new", 0o640)
		b.must(b.undo(r.ID))
		b.want(out, "old and longer", 0o640)
		b.commit(b.replace(p, strings.Repeat("long ", 1000)))
		b.want(out, strings.Repeat("long ", 1000), 0o640)
		b.commit(b.remove(p))
		b.want(out, strings.Repeat("long ", 1000), 0o640)
	}},
	{"special/extended attributes", "RACE-008", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o640)
		if err := unix.Setxattr(p, "user.note", []byte("kept"), 0); err != nil {
			t.Skip("no user attributes on this file system: ", err)
		}
		b.must(unix.Setxattr(p, "user.empty", nil, 0))
		b.commit(b.replace(p, "new"))
		b.want(p, "new", 0o640)
		buf := make([]byte, 64)
		n, err := unix.Getxattr(p, "user.note", buf)
		if err != nil || string(buf[:n]) != "kept" {
			t.Errorf("attribute %q, %v", buf[:max(n, 0)], err)
		}
		if _, err := unix.Getxattr(p, "user.empty", buf); err != nil {
			t.Errorf("the empty attribute is lost: %v", err)
		}
	}},
	{"special/ACL", "RACE-008", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o640)
		if out, err := exec.Command("setfacl", "-m", "u:1:rw", p).CombinedOutput(); err != nil {
			t.Skipf("no ACLs here: %v %s", err, out)
		}
		get := func() string {
			out, err := exec.Command("getfacl", "-c", "--absolute-names", p).Output()
			b.must(err)
			return string(out)
		}
		before := get()
		b.commit(b.replace(p, "new"))
		if after := get(); after != before || !strings.Contains(before, "user:") {
			t.Errorf("ACL\n%sbecame\n%s", before, after)
		}
	}},
	{"special/owner", "RACE-008", func(t *testing.T, b *bed) {
		p := b.write("f", "old", 0o664)
		if err := os.Chown(p, 1001, 1002); err != nil {
			t.Skip("only root gives files away: ", err)
		}
		b.commit(b.replace(p, "new"))
		var st unix.Stat_t
		b.must(unix.Stat(p, &st))
		if st.Uid != 1001 || st.Gid != 1002 {
			t.Errorf("owner %d:%d", st.Uid, st.Gid)
		}
		b.want(p, "new", 0o664)
	}},
	{"special/group of a setgid directory", "RACE-008", func(t *testing.T, b *bed) {
		b.must(os.Mkdir(b.path("d"), 0o755))
		if err := os.Chown(b.path("d"), -1, 1002); err != nil {
			t.Skip("only root gives files away: ", err)
		}
		b.must(os.Chmod(b.path("d"), 0o755|os.ModeSetgid))
		b.commit(change.Create(b.path("d", "f"), nil, 0o644))
		var st unix.Stat_t
		b.must(unix.Stat(b.path("d", "f"), &st))
		if st.Gid != 1002 {
			t.Errorf("group %d: a new file does not take the directory's", st.Gid)
		}
		b.commit(mkdir(b.path("d", "e"), 0o750))
		if fi, err := os.Stat(b.path("d", "e")); err != nil || fi.Mode() != fs.ModeDir|fs.ModeSetgid|0o750 {
			t.Errorf("a new directory has mode %v, %v", fi.Mode(), err)
		}
	}},
	{"special/unreadable file", "issue 2 Bad input", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o600)
		op := b.replace(p, "y")
		op.Before.Mode = 0
		b.must(os.Chmod(p, 0o200))
		if os.Geteuid() == 0 {
			t.Skip("root reads everything")
		}
		if _, err := b.Open(b.ctx(), p); !errors.Is(err, os.ErrPermission) {
			t.Errorf("open: %v", err)
		}
		b.refused(os.ErrPermission, op)
	}},
}

// shortSocket returns a path in the root that is short enough for a socket address, through the working directory.
func shortSocket(b *bed) string {
	p := b.path("s")
	if len(p) > 100 {
		b.t.Skipf("the root %s is too long for a socket", b.dir)
	}
	return p
}
