//go:build linux || darwin

package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/hosttest"
	"github.com/tackle-dev/tackle/host/local/proc"
)

// Some tests need processes of their own. They start this test binary again with childEnv set; TestMain then plays the
// part that it names instead of running tests.
const childEnv = "TACKLE_LOCAL_CHILD"

var children = map[string]func(args []string) error{
	"increment": childIncrement,
	"many":      func(args []string) error { return childLoop(args, manySteps) },
	"single":    func(args []string) error { return childLoop(args, singleSteps) },
	"hold":      childHold,
	"foreign":   childForeign,
}

func TestMain(m *testing.M) {
	proc.KeeperMain()
	name := os.Getenv(childEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// child starts a part. Its lines arrive on the reader.
func child(t *testing.T, name string, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

// childOpen opens the host of a child: root, state directory, road.
func childOpen(args []string) (*Local, error) {
	l, err := Open(Config{Roots: []host.Root{{Path: args[0]}}, StateDir: args[1]})
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	roads[n].take(l)
	_, err = l.Recover(context.Background())
	return l, err
}

// childIncrement adds one to a file as often as it is told.
func childIncrement(args []string) error {
	l, err := childOpen(args)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[3])
	for ; n > 0 && err == nil; n-- {
		err = hosttest.Increment(context.Background(), l, filepath.Join(l.info.Roots[0].Path, "n"))
	}
	return err
}

// childHold begins a commit, says so, and keeps it unfinished until it is killed.
func childHold(args []string) error {
	l, err := childOpen(args)
	if err != nil {
		return err
	}
	l.hook = func(point, _ string) {
		if point == "committed" {
			fmt.Println("held")
			select {}
		}
	}
	_, err = l.Commit(context.Background(), manySteps(l.info.Roots[0].Path, 0), host.CommitOptions{})
	return err
}

// childForeign edits two files of other users and says how that went.
func childForeign(args []string) error {
	state, err := os.MkdirTemp("", "state")
	if err != nil {
		return err
	}
	l, err := Open(Config{Roots: []host.Root{{Path: args[0]}}, StateDir: state})
	if err != nil {
		return err
	}
	for _, name := range []string{"open", "closed"} {
		op := change.Replace(filepath.Join(l.info.Roots[0].Path, name), change.FileState([]byte("old"), 0), []byte("new"))
		r, err := l.Commit(context.Background(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{})
		var pe *host.PathError
		switch {
		case err == nil:
			fmt.Println(r.Files[0].Strategy)
		case errors.As(err, &pe):
			fmt.Println(pe.Err)
		default:
			return err
		}
	}
	return nil
}

// childLoop carries out the sets that step makes, from the version in args[3] on. It prints a line at every point of
// every commit. At the point number args[4], if that is positive, it holds still and waits to be killed.
func childLoop(args []string, step func(root string, n int) *change.Set) error {
	l, err := childOpen(args)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	hold, err := strconv.Atoi(args[4])
	if err != nil {
		return err
	}
	seen := 0
	l.hook = func(point, _ string) {
		if point == "committed" || point == "applied" || point == "in-place" {
			seen++
		}
		if hold > 0 && seen == hold {
			fmt.Println("held")
			select {}
		}
		fmt.Println(point)
	}
	for ; ; n++ {
		if _, err := l.Commit(context.Background(), step(l.info.Roots[0].Path, n), host.CommitOptions{}); err != nil {
			return err
		}
	}
}

// tree describes a directory: type, permission bits and content of every path below it.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		what := fi.Mode().String() + " "
		switch {
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what += string(data)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			what += target
		}
		out[strings.TrimPrefix(p, dir+"/")] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// build makes a directory as tree describes it, modes of files included.
func build(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for p, what := range want {
		path := filepath.Join(dir, p)
		mode, content, _ := strings.Cut(what, " ")
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch mode[0] {
		case 'd':
			err = os.MkdirAll(path, 0o755)
		case 'L':
			err = os.Symlink(content, path)
		default:
			if err == nil {
				err = os.WriteFile(path, []byte(content), 0o600)
			}
			if err == nil {
				err = os.Chmod(path, parseMode(mode))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func parseMode(s string) (m fs.FileMode) {
	for i, c := range s[1:] {
		if c != '-' {
			m |= 1 << (8 - i)
		}
	}
	return m
}

func padded(n, size int) []byte {
	return append(fmt.Appendf(nil, "%d ", n), bytes.Repeat([]byte{byte('a' + n%26)}, size)...)
}
