package hosttest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// paths are the scenarios of Resolve.
var paths = []scenario{
	{"resolve/spellings", "F1, FS-005, FS-006, FS-028", func(t *testing.T, b *bed) {
		b.write("a/x", "x", 0o644)
		name := filepath.Base(b.dir)
		for _, given := range []string{"a/x", "./a/x", "a//x", "a/./x", "a/../a/x", "a/x/", "../" + name + "/a/x", b.path("a", "x"), b.dir + "//a/../a/x"} {
			p, err := b.Resolve(b.ctx(), b.dir, given)
			b.must(err)
			if p.Real != b.path("a", "x") || p.Root != b.dir || p.Rel != "a/x" || p.Given != given || p.Link {
				t.Errorf("%q resolves to %+v", given, p)
			}
		}
		p, err := b.Resolve(b.ctx(), b.path("a"), "x")
		b.must(err)
		if p.Rel != "a/x" {
			t.Errorf("relative to a: %+v", p)
		}
		if p, _ := b.Resolve(b.ctx(), "", "."); p.Rel != "." || p.Real != b.dir {
			t.Errorf("the root itself: %+v", p)
		}
	}},
	{"resolve/outside is told", "FS-001, FS-005", func(t *testing.T, b *bed) {
		sibling := b.dir + "_evil"
		b.must(os.Mkdir(sibling, 0o755))
		t.Cleanup(func() { os.RemoveAll(sibling) })
		for _, given := range []string{sibling + "/x", "../" + filepath.Base(sibling) + "/x", "..", "a/../../x", "/"} {
			p, err := b.Resolve(b.ctx(), "", given)
			b.must(err)
			if p.Inside() || p.Rel != p.Real {
				t.Errorf("%q counts as inside: %+v", given, p)
			}
		}
	}},
	{"resolve/links", "FS-002, FS-003, FS-004, FS-007", func(t *testing.T, b *bed) {
		out := b.outside()
		b.write("d/f", "f", 0o644)
		for link, target := range map[string]string{
			"in": "d/f", "up": "d/../d/f", "abs": b.path("d", "f"), "dir": "d", "out": out, "gone": "d/new", "lost": out + "/new",
			"first": "second", "second": "dir",
		} {
			b.must(os.Symlink(target, b.path(link)))
		}
		for _, c := range []struct{ given, real string }{
			{"in", b.path("d", "f")}, {"up", b.path("d", "f")}, {"abs", b.path("d", "f")}, {"dir/f", b.path("d", "f")},
			{"dir/new/deep", b.path("d", "new", "deep")}, {"gone", b.path("d", "new")}, {"first/f", b.path("d", "f")},
			{"out", out}, {"out/x", out + "/x"}, {"lost", out + "/new"},
		} {
			p, err := b.Resolve(b.ctx(), "", c.given)
			b.must(err)
			if p.Real != c.real || !p.Link || p.Inside() != strings.HasPrefix(c.real, b.dir) {
				t.Errorf("%q resolves to %+v, want %s", c.given, p, c.real)
			}
		}
		p, err := b.Resolve(b.ctx(), "", "first")
		b.must(err)
		if p.Self != b.path("first") {
			t.Errorf("the link itself is %s", p.Self)
		}
		if p, _ := b.Resolve(b.ctx(), "", "dir/f"); p.Self != b.path("d", "f") {
			t.Errorf("the file below a link is %s", p.Self)
		}
	}},
	{"resolve/magic links", "FS-010, FS-011", func(t *testing.T, b *bed) {
		if _, err := os.Lstat("/proc/self/root"); err != nil {
			t.Skip("no /proc here")
		}
		b.must(os.Symlink("/proc/self/root", b.path("p")))
		for _, given := range []string{"p/etc/hostname", "/proc/self/root/etc/hostname", "/../etc/hostname", "/dev/../etc/hostname"} {
			p, err := b.Resolve(b.ctx(), "", given)
			b.must(err)
			if p.Real != "/etc/hostname" || p.Inside() {
				t.Errorf("%q resolves to %+v", given, p)
			}
		}
		if p, _ := b.Resolve(b.ctx(), "", "/../proc/self/environ"); p.Inside() || strings.Contains(p.Real, "self") {
			t.Errorf("/proc through dots: %+v", p)
		}
	}},
	{"resolve/invalid", "FS-015, issue 2 Bad input", func(t *testing.T, b *bed) {
		b.must(os.Symlink("loop", b.path("loop")))
		for _, given := range []string{"", "a\x00b", "a\x00../../x", strings.Repeat("n", 256), strings.Repeat("d/", 2100) + "x", "loop", "loop/x"} {
			_, err := b.Resolve(b.ctx(), "", given)
			var pe *host.PathError
			if !errors.Is(err, host.ErrInvalidPath) || !errors.As(err, &pe) {
				t.Errorf("%.20q: error %v, want ErrInvalidPath", given, err)
			}
		}
		if _, err := b.Resolve(b.ctx(), "not/absolute", "x"); !errors.Is(err, host.ErrInvalidPath) {
			t.Errorf("relative working directory: %v", err)
		}
	}},
	{"resolve/literal names", "FS-015, FS-016, FS-029", func(t *testing.T, b *bed) {
		for _, given := range []string{"a\nb", "a\x1b[2Jb", "%2e%2e/x", "-rf", "x:stream", "\u0430.txt", "e\u0301"} {
			p, err := b.Resolve(b.ctx(), "", given)
			b.must(err)
			if p.Real != b.path(given) || !p.Inside() {
				t.Errorf("%q resolves to %+v", given, p)
			}
		}
		p, err := b.Resolve(b.ctx(), "", "file:///etc/passwd")
		b.must(err)
		if p.Real != b.path("file:", "etc", "passwd") {
			t.Errorf("a URL is a name: %+v", p)
		}
	}},
	{"resolve/home", "FS-006", func(t *testing.T, b *bed) {
		home := b.Info().Home
		if home == "" {
			t.Skip("this host has no home")
		}
		p, err := b.Resolve(b.ctx(), "", "~/.ssh/id")
		b.must(err)
		want, err := b.Resolve(b.ctx(), "", home+"/.ssh/id")
		b.must(err)
		if p.Real != want.Real {
			t.Errorf("~ is %s, want %s", p.Real, want.Real)
		}
		if p, _ := b.Resolve(b.ctx(), "", "./~"); p.Real != b.path("~") {
			t.Errorf("./~ is %+v", p)
		}
	}},
}

// reading are the scenarios of Stat, Open and ReadDir.
var reading = []scenario{
	{"read/file", "F1", func(t *testing.T, b *bed) {
		p := b.write("f", "hello", 0o640)
		fi, err := b.Stat(b.ctx(), p)
		b.must(err)
		if fi.Name != "f" || fi.Type != change.File || fi.Mode != 0o640 || fi.Size != 5 || fi.ModTime.IsZero() {
			t.Errorf("stat %+v", fi)
		}
		f, err := b.Open(b.ctx(), p)
		b.must(err)
		defer f.Close()
		buf := make([]byte, 3)
		if n, err := f.ReadAt(buf, 2); n != 3 || err != nil || string(buf) != "llo" {
			t.Errorf("ReadAt %d %v %q", n, err, buf)
		}
		if n, err := f.ReadAt(buf, 4); n != 1 || err == nil {
			t.Errorf("ReadAt over the end: %d %v", n, err)
		}
		if f.Info().Size != 5 || b.read(p) != "hello" {
			t.Errorf("content %q, info %+v", b.read(p), f.Info())
		}
	}},
	{"read/errors", "F1", func(t *testing.T, b *bed) {
		b.write("f", "x", 0o644)
		b.must(os.Symlink("f", b.path("l")))
		b.must(os.Symlink(".", b.path("d")))
		for _, c := range []struct {
			path string
			want error
		}{
			{b.path("none"), os.ErrNotExist}, {b.path("none", "x"), os.ErrNotExist}, {b.dir, host.ErrIsDir}, {b.path("f", "x"), host.ErrNotDir},
			{b.path("l"), host.ErrChanged}, {b.path("d", "f"), host.ErrChanged}, {"relative", host.ErrInvalidPath}, {b.dir + "/../x", host.ErrInvalidPath},
			{b.path("f") + "\x00", host.ErrInvalidPath},
		} {
			f, err := b.Open(b.ctx(), c.path)
			var pe *host.PathError
			if !errors.Is(err, c.want) || !errors.As(err, &pe) {
				t.Errorf("open %q: %v, want %v", c.path, err, c.want)
			}
			if err == nil {
				f.Close()
			}
		}
	}},
	{"read/stat of a link", "F14", func(t *testing.T, b *bed) {
		b.must(os.Symlink("nowhere", b.path("l")))
		fi, err := b.Stat(b.ctx(), b.path("l"))
		b.must(err)
		if fi.Type != change.Symlink || fi.Target != "nowhere" {
			t.Errorf("%+v", fi)
		}
		fi, err = b.Stat(b.ctx(), "/")
		if err != nil || fi.Type != change.Dir || fi.Name != "/" {
			t.Errorf("stat /: %+v, %v", fi, err)
		}
	}},
	{"read/directory", "F8", func(t *testing.T, b *bed) {
		b.write("b", "22", 0o644)
		b.write("a/x", "1", 0o644)
		b.must(os.Symlink("b", b.path("c")))
		list, err := b.ReadDir(b.ctx(), b.dir)
		b.must(err)
		var got []string
		for _, fi := range list {
			got = append(got, fi.Name+":"+fi.Type.String()+":"+fi.Target)
		}
		if s := strings.Join(got, " "); s != "a:dir: b:file: c:symlink:b" {
			t.Errorf("listing %s", s)
		}
		if _, err := b.ReadDir(b.ctx(), b.path("b")); !errors.Is(err, host.ErrNotDir) {
			t.Errorf("listing a file: %v", err)
		}
		b.must(os.Symlink("a", b.path("d")))
		if _, err := b.ReadDir(b.ctx(), b.path("d")); !errors.Is(err, host.ErrChanged) {
			t.Errorf("listing through a link: %v", err)
		}
	}},
	{"read/large file costs no memory", "FS-014", func(t *testing.T, b *bed) {
		p := b.write("big", "", 0o644)
		b.must(os.Truncate(p, 10<<30))
		f, err := b.Open(b.ctx(), p)
		b.must(err)
		defer f.Close()
		buf := make([]byte, 10)
		if n, err := f.ReadAt(buf, 5<<30); n != 10 || err != nil || f.Info().Size != 10<<30 {
			t.Errorf("%d %v %d", n, err, f.Info().Size)
		}
	}},
}
