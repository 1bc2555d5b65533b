package local

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		t.Skip("mounting needs privileges that are missing here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

// RACE-010: a disk that fills up in the middle of a commit. The old bytes are whole and nothing is left behind.
func TestFullDisk(t *testing.T) {
	for _, full := range []string{"ws", "state"} {
		t.Run(full, func(t *testing.T) {
			var small string
			l := newLocal(t, func(c *Config) {
				small = filepath.Join(filepath.Dir(c.StateDir), full)
				if err := os.MkdirAll(small, 0o700); err != nil {
					t.Fatal(err)
				}
				mount(t, "none", small, "tmpfs", 0, "size=1m")
			})
			ws := l.info.Roots[0].Path
			old := map[string]string{"f": "-rw-r----- " + string(padded(1, 10_000)), "g": "-rw-r--r-- g", "hard": "-rw-r--r-- h", "hard2": "-rw-r--r-- h"}
			build(t, ws, old)
			os.Remove(filepath.Join(ws, "hard2"))
			if err := os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "hard2")); err != nil {
				t.Fatal(err)
			}
			big := bytes.Repeat([]byte("x"), 2<<20)
			p, g, h, n := filepath.Join(ws, "f"), filepath.Join(ws, "g"), filepath.Join(ws, "hard"), filepath.Join(ws, "new", "n")
			replace := change.Replace(p, stateIn(old, "f"), big)
			for name, set := range map[string][]change.Op{
				"replace": {replace}, "create": {change.Create(n, big, 0o644)}, "in place": {change.Replace(h, stateIn(old, "hard"), big)},
				"several": {change.Replace(g, stateIn(old, "g"), []byte("G")), replace, change.Create(n, nil, 0o644)},
			} {
				_, err := l.Commit(t.Context(), &change.Set{Ops: set}, host.CommitOptions{})
				if full == "state" && name == "create" {
					if err != nil { // needs no room in the state directory
						t.Errorf("%s: %v", name, err)
					}
					os.RemoveAll(filepath.Dir(n))
					continue
				}
				if full == "state" && name == "replace" { // a big file beside the path, a small image: there is room
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					build(t, ws, map[string]string{"f": old["f"]})
					continue
				}
				if !errors.Is(err, host.ErrNoSpace) {
					t.Errorf("%s: %v", name, err)
				}
				if got := tree(t, ws); !cmp.Equal(got, old) {
					t.Errorf("%s: %s", name, cmp.Diff(brief(old), brief(got)))
				}
			}
			if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{change.Replace(g, stateIn(old, "g"), []byte("G"))}}, host.CommitOptions{}); err != nil {
				t.Errorf("what fits is written afterwards: %v", err)
			}
		})
	}
}

// The log itself does not fit: the exchange is taken back.
func TestNoRoomForTheEnd(t *testing.T) {
	l := newLocal(t, func(c *Config) {
		if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
			t.Fatal(err)
		}
		mount(t, "none", c.StateDir, "tmpfs", 0, "size=1m")
	})
	ws := l.info.Roots[0].Path
	old := map[string]string{"f": "-rw-r--r-- old"}
	build(t, ws, old)
	filler := filepath.Join(l.info.StateDir, "filler")
	l.hook = func(point, _ string) {
		if point != "committed" {
			return
		}
		f, err := os.Create(filler)
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		f.Close()
		if room, _ := unix.FcntlInt(uintptr(l.slot.fd), unix.F_GETFD, 0); room < 0 {
			t.Error("no log")
		}
		st, _ := fstat(l.slot.fd) // use up the page that the log ends in
		unix.Ftruncate(l.slot.fd, (st.size+4095)/4096*4096)
	}
	set := &change.Set{Ops: []change.Op{change.Replace(filepath.Join(ws, "f"), stateIn(old, "f"), []byte("new"))}}
	if _, err := l.Commit(t.Context(), set, host.CommitOptions{}); !errors.Is(err, host.ErrNoSpace) {
		t.Errorf("error %v", err)
	}
	if got := tree(t, ws); !cmp.Equal(got, old) {
		t.Error(cmp.Diff(old, got))
	}
	l.hook = nil
	os.Remove(filler)
	if _, err := l.Commit(t.Context(), set, host.CommitOptions{}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if txs, err := l.Transactions(t.Context(), ""); err != nil || len(txs) != 1 {
		t.Errorf("transactions %+v, %v", txs, err)
	}
}

// RACE-013: a file that is a mount point cannot be renamed; it is written in place. A directory that is another mount, of
// the same or another file system, is none of the state directory's.
func TestMounts(t *testing.T) {
	l := newLocal(t, nil)
	ws := l.info.Roots[0].Path
	build(t, ws, map[string]string{"file": "-rw-r--r-- old", "src": "-rw-r--r-- old", "bind/f": "-rw-r--r-- old", "tmpfs": "drwxr-xr-x ", "real/f": "-rw-r--r-- old"})
	mount(t, filepath.Join(ws, "src"), filepath.Join(ws, "file"), "", unix.MS_BIND, "")
	mount(t, filepath.Join(ws, "real"), filepath.Join(ws, "bind"), "", unix.MS_BIND, "")
	mount(t, "none", filepath.Join(ws, "tmpfs"), "tmpfs", 0, "size=1m")
	build(t, filepath.Join(ws, "tmpfs"), map[string]string{"f": "-rw-r--r-- old", "l": "Lrwxrwxrwx to"})
	before := tree(t, ws)
	for path, want := range map[string]string{
		"file": "in-place: mount point", "bind/f": "exchange: before-image copied", "tmpfs/f": "exchange: before-image copied",
	} {
		p := filepath.Join(ws, path)
		r, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{change.Replace(p, change.FileState([]byte("old"), 0o644), []byte("new"))}}, host.CommitOptions{})
		if err != nil || r.Files[0].Strategy != want {
			t.Errorf("%s: %+v, %v", path, r, err)
			continue
		}
		if data, _ := os.ReadFile(p); string(data) != "new" {
			t.Errorf("%s holds %q", path, data)
		}
		img, err := l.Image(t.Context(), r.ID, p)
		if data, _ := img.Blob.Bytes(); err != nil || string(data) != "old" {
			t.Errorf("image of %s: %q, %v", path, data, err)
		}
	}
	at := func(p string) string { return filepath.Join(ws, p) }
	file := change.FileState([]byte("new"), 0o644)
	for _, op := range []change.Op{
		{Kind: change.Move, Path: at("tmpfs/f"), To: at("moved"), Before: file},
		{Kind: change.Move, Path: at("bind/f"), To: at("moved"), Before: file},
	} {
		if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{}); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("move %s: %v", op.Path, err)
		}
	}
	gone := &change.Set{Ops: []change.Op{
		{Kind: change.Delete, Path: at("tmpfs/f"), Before: file}, {Kind: change.Delete, Path: at("bind/f"), Before: file},
		{Kind: change.Delete, Path: at("tmpfs/l"), Before: change.State{Type: change.Symlink, Target: "to"}},
	}}
	r, err := l.Commit(t.Context(), gone, host.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"tmpfs/f", "bind/f"} {
		img, err := l.Image(t.Context(), r.ID, at(p))
		if data, _ := img.Blob.Bytes(); err != nil || string(data) != "new" {
			t.Errorf("image of %s: %q, %v", p, data, err)
		}
	}
	after := tree(t, ws)
	for _, p := range []string{"tmpfs/f", "tmpfs/l", "bind/f", "real/f"} {
		delete(before, p)
	}
	before["file"], before["src"] = "-rw-r--r-- new", "-rw-r--r-- new"
	if !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

// A read-only mount refuses, and nothing changes.
func TestReadOnlyMount(t *testing.T) {
	l := newLocal(t, nil)
	ws := l.info.Roots[0].Path
	build(t, ws, map[string]string{"ro/f": "-rw-r--r-- old"})
	ro := filepath.Join(ws, "ro")
	mount(t, ro, ro, "", unix.MS_BIND, "")
	if err := unix.Mount("none", ro, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		t.Skip("no read-only mount: ", err)
	}
	old := change.FileState([]byte("old"), 0o644)
	for _, op := range []change.Op{
		change.Replace(filepath.Join(ro, "f"), old, nil), change.Create(filepath.Join(ro, "g"), nil, 0), change.Create(filepath.Join(ro, "d", "g"), nil, 0),
		{Kind: change.Delete, Path: filepath.Join(ro, "f"), Before: old},
	} {
		if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v %s: %v", op.Kind, op.Path, err)
		}
	}
	if got := tree(t, ro); !cmp.Equal(got, map[string]string{"f": "-rw-r--r-- old"}) {
		t.Errorf("%v", got)
	}
}

const nobody = 65534

// asNobody runs this test binary as an ordinary user, in a directory of his.
func asNobody(t *testing.T, env string, args ...string) ([]byte, error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root becomes another user")
	}
	dir := t.TempDir()
	exe, tmp := filepath.Join(dir, "local.test"), filepath.Join(dir, "tmp")
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.WriteFile(exe, data, 0o755), os.Mkdir(tmp, 0o755), os.Chown(tmp, nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd.CombinedOutput()
}

// Root may do what users may not, so root runs the suite once more as an ordinary user.
func TestAsOrdinaryUser(t *testing.T) {
	if out, err := asNobody(t, "", "-test.run=^(TestHost|TestCrashOfOneFile)$/^(usual|no_exchange)", "-test.short"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A file of somebody else that everybody may write: a new inode could not keep its owner, so it is written in place. One
// that the user may not write is refused although he could replace it in his directory.
func TestForeignOwner(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	build(t, ws, map[string]string{"open": "-rw-rw-rw- old", "closed": "-rw-r--r-- old"})
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(filepath.Join(ws, "open"), 1001, 1001), os.Chown(ws, nobody, nobody)); err != nil {
		t.Skip("only root gives files away: ", err)
	}
	out, err := asNobody(t, childEnv+"=foreign", ws)
	if want := "in-place: owner kept\npermission denied\n"; err != nil || string(out) != want {
		t.Errorf("%q, want %q; %v", out, want, err)
	}
	st, err := lstatAt(unix.AT_FDCWD, filepath.Join(ws, "open"))
	if err != nil || st.uid != 1001 || st.mode&0o777 != 0o666 {
		t.Errorf("%+v, %v", st, err)
	}
	if got, want := tree(t, ws), map[string]string{"open": "-rw-rw-rw- new", "closed": "-rw-r--r-- old"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}
