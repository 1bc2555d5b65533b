// Package hosttest is the suite that every implementation of host.Host joins: what a tool may rely on wherever it acts.
//
//	func TestHost(t *testing.T) {
//		hosttest.Run(t, func(t *testing.T) (host.Host, string) { … })
//	}
//
// The scenarios arrange and look at files with the os package, so the directory must be reachable from the test process
// under the path that the host knows, also where the host acts elsewhere (bind mount, loopback).
package hosttest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// New makes a fresh host with one workspace root, and returns it with the path of that root.
type New func(t *testing.T) (host.Host, string)

// scenario is one promise of the suite.
type scenario struct {
	name   string
	proves string // rules of SPEC.md and entries of the attack list
	run    func(t *testing.T, b *bed)
}

// Run runs the suite, each scenario with a host of its own, in parallel.
func Run(t *testing.T, open New) {
	all := slices.Concat(paths, reading, writing, refusing, special, journal, racing)
	if len(all) < 50 {
		t.Fatalf("only %d scenarios: the suite is not whole", len(all))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h, dir := open(t)
			root, err := h.Resolve(t.Context(), "", dir)
			if err != nil {
				t.Fatal(err)
			}
			if !root.Inside() {
				t.Fatalf("the directory %s is in no root of the host", dir)
			}
			s.run(t, &bed{Host: h, t: t, dir: root.Real})
			if left := strays(t, root.Real); len(left) > 0 {
				t.Errorf("temporary files left in the workspace: %q", left)
			}
		})
	}
}

// strays lists what no scenario makes: names that begin with ".~".
func strays(t *testing.T, dir string) (found []string) {
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".~") {
			found = append(found, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bed is what a scenario stands on.
type bed struct {
	host.Host
	t   *testing.T
	dir string // the root, resolved
}

func (b *bed) ctx() context.Context { return b.t.Context() }

// path joins names to the root; the result is a resolved path as long as the names are no links.
func (b *bed) path(names ...string) string {
	return filepath.Join(append([]string{b.dir}, names...)...)
}

// outside makes a directory that lies in no root.
func (b *bed) outside() string {
	dir, err := filepath.EvalSymlinks(b.t.TempDir())
	b.must(err)
	return dir
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// write arranges a file without the host.
func (b *bed) write(name, content string, mode fs.FileMode) string {
	b.t.Helper()
	p := b.path(name)
	b.must(os.MkdirAll(filepath.Dir(p), 0o755))
	b.must(os.WriteFile(p, []byte(content), 0o600))
	b.must(os.Chmod(p, mode))
	return p
}

// want looks at a file without the host. A mode of 0 is not compared.
func (b *bed) want(path, content string, mode fs.FileMode) {
	b.t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		b.t.Error(err)
		return
	}
	if string(got) != content {
		b.t.Errorf("%s holds %.60q, want %.60q", path, got, content)
	}
	if fi, err := os.Lstat(path); err == nil && mode != 0 && fi.Mode() != mode {
		b.t.Errorf("%s has mode %v, want %v", path, fi.Mode(), mode)
	}
}

func (b *bed) wantNone(path string) {
	b.t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		b.t.Errorf("%s exists (%v), want nothing there", path, err)
	}
}

func (b *bed) commit(ops ...change.Op) host.Receipt {
	b.t.Helper()
	r, err := b.Commit(b.ctx(), &change.Set{Ops: ops}, host.CommitOptions{})
	b.must(err)
	return r
}

// refused commits a set that must fail with an error; the tree must stay as it is.
func (b *bed) refused(want error, ops ...change.Op) error {
	b.t.Helper()
	before := snapshot(b.t, b.dir)
	_, err := b.Commit(b.ctx(), &change.Set{Ops: ops}, host.CommitOptions{})
	var pe *host.PathError
	var se *host.StaleError
	switch {
	case err == nil:
		b.t.Errorf("the commit succeeded, want %v", want)
	case want != nil && want != errAny && !errors.Is(err, want):
		b.t.Errorf("the error is %v, want %v", err, want)
	case want == nil && !errors.As(err, &se):
		b.t.Errorf("the error is %v, want a StaleError", err)
	case want != nil && !errors.As(err, &pe):
		b.t.Errorf("the error %v is no PathError", err)
	}
	same(b.t, before, snapshot(b.t, b.dir))
	return err
}

// stale commits a set that must be stale, and returns the error.
func (b *bed) stale(ops ...change.Op) *host.StaleError {
	b.t.Helper()
	var se *host.StaleError
	if !errors.As(b.refused(nil, ops...), &se) {
		return &host.StaleError{}
	}
	return se
}

func (b *bed) read(real string) string {
	b.t.Helper()
	f, err := b.Open(b.ctx(), real)
	b.must(err)
	defer f.Close()
	data, err := io.ReadAll(f)
	b.must(err)
	return string(data)
}

// state is what stands at a path, as a Before wants it.
func (b *bed) state(path string) change.State {
	b.t.Helper()
	fi, err := os.Lstat(path)
	b.must(err)
	switch {
	case fi.IsDir():
		return change.State{Type: change.Dir, Mode: fi.Mode().Perm()}
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		b.must(err)
		return change.State{Type: change.Symlink, Target: target}
	}
	data, err := os.ReadFile(path)
	b.must(err)
	return change.FileState(data, fi.Mode())
}

// replace is the operation that gives the file at a path new content.
func (b *bed) replace(path, content string) change.Op {
	b.t.Helper()
	return change.Replace(path, b.state(path), []byte(content))
}

func (b *bed) remove(path string) change.Op {
	b.t.Helper()
	return change.Op{Kind: change.Delete, Path: path, Before: b.state(path)}
}

func (b *bed) move(from, to string) change.Op {
	b.t.Helper()
	return change.Op{Kind: change.Move, Path: from, To: to, Before: b.state(from)}
}

func mkdir(path string, mode fs.FileMode) change.Op {
	return change.Op{Kind: change.Mkdir, Path: path, After: change.State{Type: change.Dir, Mode: mode}}
}

func (b *bed) chmod(path string, mode fs.FileMode) change.Op {
	b.t.Helper()
	before := b.state(path)
	after := before
	after.Mode = mode
	return change.Op{Kind: change.Chmod, Path: path, Before: before, After: after}
}

func link(path, target string) change.Op {
	return change.Op{Kind: change.Write, Path: path, After: change.State{Type: change.Symlink, Target: target}}
}

// undo takes a transaction back with nothing but what the host keeps of it.
func (b *bed) undo(id string) error {
	b.t.Helper()
	all, err := b.Transactions(b.ctx(), "")
	b.must(err)
	i := slices.IndexFunc(all, func(t host.Transaction) bool { return t.ID == id })
	if i < 0 {
		b.t.Fatalf("transaction %s is not listed", id)
	}
	set := &change.Set{}
	for _, p := range all[i].Paths {
		if !p.HasImage {
			b.t.Fatalf("the image of %s is gone", p.Path)
		}
		op := change.Op{Kind: p.Kind, Path: p.Path, To: p.To}
		op.Before, err = b.Image(b.ctx(), id, p.Path)
		b.must(err)
		if p.Kind == change.Write || p.Kind == change.Mkdir || p.Kind == change.Chmod {
			op.After = change.State{Type: p.AfterType, Mode: p.AfterMode, Target: p.AfterTarget}
		}
		if p.Kind == change.Write && p.AfterType == change.File {
			op.After.Blob = change.KnownBlob(p.AfterDigest, p.AfterSize)
		}
		set.Ops = append(set.Ops, op)
	}
	inverse, err := set.Inverse()
	b.must(err)
	_, err = b.Commit(b.ctx(), inverse, host.CommitOptions{})
	return err
}

// snapshot describes a tree: type, mode and content of every path.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a directory that the scenario made unreadable
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		what := fi.Mode().String()
		switch {
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				data = []byte(err.Error())
			}
			what += " " + string(data)
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			what += " -> " + target
		}
		tree[strings.TrimPrefix(p, dir)] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for p, w := range want {
		if g, ok := got[p]; !ok {
			t.Errorf("%q is gone", p)
		} else if g != w {
			t.Errorf("%q is now %.80q, was %.80q", p, g, w)
		}
	}
	for p, g := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%q appeared: %.80q", p, g)
		}
	}
}
