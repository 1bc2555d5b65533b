//go:build !linux && !darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// platform is empty where this package cannot commit: without descriptors of directories, exchange and flock it could
// not keep its promises.
type platform struct{}

func (l *Local) platformNotes() []string {
	return []string{"no commits on " + runtime.GOOS + ": this host reads only; symbolic links are checked before, not during, a read"}
}

func (platform) linkFree(string) bool { return false }

func unsupported(op, path string) error {
	return &host.PathError{Op: op, Path: path, Err: fmt.Errorf("%w: %s has no atomic exchange of files; run tackle on Linux or macOS, or in WSL", host.ErrUnsupported, runtime.GOOS)}
}

func (l *Local) free() error { return nil }

// Commit implements [host.Host]: it refuses every set that is not empty.
func (l *Local) Commit(_ context.Context, set *change.Set, _ host.CommitOptions) (host.Receipt, error) {
	if set.Empty() {
		return host.Receipt{}, nil
	}
	return host.Receipt{}, unsupported("commit", set.Ops[0].Path)
}

// Lock implements [host.Host]: it refuses.
func (l *Local) Lock(context.Context, ...string) (context.Context, func(), error) {
	return nil, nil, unsupported("lock", l.info.StateDir)
}

// Recover implements [host.Host]: there is never anything to recover.
func (l *Local) Recover(context.Context) (host.Recovery, error) { return host.Recovery{}, nil }

// Transactions implements [host.Host]: there are none.
func (l *Local) Transactions(context.Context, string) ([]host.Transaction, error) { return nil, nil }

// Image implements [host.Host]: there are none.
func (l *Local) Image(_ context.Context, _, path string) (change.State, error) {
	return change.State{}, &host.PathError{Op: "image", Path: path, Err: fs.ErrNotExist}
}

// check makes sure that a path is still free of links.
func (l *Local) check(ctx context.Context, op, real string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if foreignSpelling(runtime.GOOS, real) || !filepath.IsAbs(real) {
		return &host.PathError{Op: op, Path: real, Err: host.ErrInvalidPath}
	}
	dir, _, err := l.follow(filepath.Dir(real))
	if err == nil && dir != filepath.Dir(real) {
		err = host.ErrChanged
	}
	return fail(op, real, err)
}

// Stat implements [host.Host].
func (l *Local) Stat(ctx context.Context, real string) (host.FileInfo, error) {
	if err := l.check(ctx, "stat", real); err != nil {
		return host.FileInfo{}, err
	}
	fi, err := os.Lstat(real)
	if err != nil {
		return host.FileInfo{}, fail("stat", real, err)
	}
	return describe(real, fi), nil
}

func describe(path string, fi fs.FileInfo) host.FileInfo {
	out := host.FileInfo{Name: fi.Name(), Mode: fi.Mode().Perm(), Size: fi.Size(), ModTime: fi.ModTime()}
	switch m := fi.Mode(); {
	case m.IsRegular():
		out.Type = change.File
	case m.IsDir():
		out.Type = change.Dir
	case m&fs.ModeSymlink != 0:
		out.Type = change.Symlink
		out.Target, _ = os.Readlink(path) // "" says that it cannot be read
	default:
		out.Special = "device"
	}
	return out
}

// Open implements [host.Host].
func (l *Local) Open(ctx context.Context, real string) (host.File, error) {
	fi, err := l.Stat(ctx, real)
	switch {
	case err != nil:
		return nil, err
	case fi.Type == change.Dir:
		return nil, fail("open", real, host.ErrIsDir)
	case fi.Type == change.Symlink:
		return nil, fail("open", real, host.ErrChanged)
	case fi.Type != change.File:
		return nil, fail("open", real, host.ErrSpecial)
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, fail("open", real, err)
	}
	return &file{f, fi}, nil
}

type file struct {
	*os.File
	info host.FileInfo
}

func (f *file) Info() host.FileInfo { return f.info }

// ReadDir implements [host.Host].
func (l *Local) ReadDir(ctx context.Context, real string) ([]host.FileInfo, error) {
	if err := l.check(ctx, "read directory", real); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return nil, fail("read directory", real, err)
	}
	var out []host.FileInfo
	for _, e := range entries {
		if fi, err := e.Info(); err == nil {
			out = append(out, describe(filepath.Join(real, e.Name()), fi))
		}
	}
	return out, nil
}

// translate turns an error of the operating system into one of the host's errors.
func translate(err error) error {
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist} {
		if errors.Is(err, known) {
			return known
		}
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return host.ErrNotDir
	}
	return err
}
