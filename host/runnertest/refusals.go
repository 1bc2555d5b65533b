//go:build linux || darwin

package runnertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
)

// refused checks that a command does not start, and the words of it. DIR stands for the directory of the scenario.
func (b *bed) refused(c host.Command, want string, is error) {
	b.t.Helper()
	if c.Dir == "" {
		c.Dir = b.dir
	}
	p, err := b.Start(b.ctx, c)
	if err == nil {
		b.close(p)
		b.t.Errorf("it started; want %q", want)
		return
	}
	if got := strings.ReplaceAll(err.Error(), b.dir, "DIR"); got != want {
		b.t.Errorf("refused with %q, want %q", got, want)
	}
	if is != nil && !errors.Is(err, is) {
		b.t.Errorf("%v is no %v", err, is)
	}
}

var refusals = []scenario{
	{name: "vanished directory", proves: "H1", run: func(t *testing.T, b *bed) {
		gone := filepath.Join(b.dir, "gone")
		b.refused(host.Command{Script: "pwd", Dir: gone}, "chdir DIR/gone: no such file or directory", fs.ErrNotExist)
		if err := os.Mkdir(gone, 0o700); err != nil {
			t.Fatal(err)
		}
		out, e := b.run(host.Command{Script: "exec 9>../.alive; rm -r ../gone; echo still $?; exit 6", Dir: gone, Env: map[string]string{"A": "b"}})
		if !strings.HasSuffix(out, "still 0\n") || e.Code != 6 {
			t.Errorf("a directory that vanishes meanwhile: %q, %v", out, e)
		}
	}},
	{name: "bad directories", proves: "H1", run: func(t *testing.T, b *bed) {
		if err := os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.refused(host.Command{Script: "pwd", Dir: filepath.Join(b.dir, "file")}, "chdir DIR/file: is not a directory", host.ErrNotDir)
		b.refused(host.Command{Script: "pwd", Dir: "relative"}, "chdir relative: invalid path: it is not absolute", host.ErrInvalidPath)
	}},
	{name: "missing shell", proves: "H1", run: func(t *testing.T, b *bed) {
		b.refused(host.Command{Argv: []string{"/no/such/shell", "-c", "true"}}, "exec /no/such/shell: file does not exist", fs.ErrNotExist)
		b.refused(host.Command{Argv: []string{"no-such-program-anywhere"}}, "exec no-such-program-anywhere: file does not exist", fs.ErrNotExist)
		b.refused(host.Command{Argv: []string{""}}, "exec : file does not exist", fs.ErrNotExist)
	}},
	{name: "programs that are none", proves: "H1", run: func(t *testing.T, b *bed) {
		if err := os.WriteFile(filepath.Join(b.dir, "text"), []byte("no program\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.dir, "noise"), []byte("\x7fELF"), 0o700); err != nil {
			t.Fatal(err)
		}
		b.refused(host.Command{Argv: []string{"./text"}}, "exec ./text: permission denied", fs.ErrPermission)
		b.refused(host.Command{Argv: []string{"./noise"}}, "exec ./noise: exec format error", nil)
		b.refused(host.Command{Argv: []string{"."}}, "exec .: permission denied", fs.ErrPermission)
	}},
	{name: "impossible commands", proves: "H1", run: func(t *testing.T, b *bed) {
		b.refused(host.Command{}, "a command has either a script or an argument vector", nil)
		b.refused(host.Command{Script: "true", Argv: []string{"true"}}, "a command has either a script or an argument vector", nil)
		b.refused(host.Command{Script: "a\x00b"}, "exec /bin/bash: invalid path: an argument holds a NUL byte", host.ErrInvalidPath)
		b.refused(host.Command{Script: "true", Env: map[string]string{"A=B": "c"}}, `environment: "A=B" is not a name of a variable`, nil)
		b.refused(host.Command{Script: "true", Env: map[string]string{"A": "\x00"}}, "environment: the value of A holds a NUL byte", nil)
		b.refused(host.Command{Script: "true", Spool: "relative"}, `spool or record "relative" is not an absolute path`, nil)
		b.refused(host.Command{Script: "true", Run: "../x"}, `run "../x" is not made of up to 64 letters, digits, - and _`, nil)
		b.refused(host.Command{Script: "true", Profile: "imagined"}, `profile "imagined": not supported on this platform: it needs a sandbox`, host.ErrUnsupported)
		b.refused(host.Command{Script: "true", Spool: filepath.Join(b.dir, "none", "x")}, "open DIR/none/x.log: no such file or directory", fs.ErrNotExist)
	}},
	{name: "a script that is too long for the system", proves: "H1", run: func(t *testing.T, b *bed) {
		long := host.Command{Argv: []string{"true"}, Dir: b.dir}
		for range 30 {
			long.Argv = append(long.Argv, strings.Repeat("x", 100_000))
		}
		for _, c := range []host.Command{{Script: "true " + strings.Repeat("x", 4<<20), Dir: b.dir}, long} {
			_, err := b.Start(b.ctx, c)
			if err == nil || !strings.Contains(err.Error(), ": arguments and environment are too long for the system (") || !strings.HasSuffix(err.Error(), " bytes): put the text into a file") {
				t.Errorf("error is %.200v", err)
			}
		}
	}},
}
