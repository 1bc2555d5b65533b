//go:build linux || darwin

package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// usable refuses what is no resolved path.
func usable(op, real string) error {
	if strings.ContainsRune(real, 0) || !filepath.IsAbs(real) || filepath.Clean(real) != real {
		return &host.PathError{Op: op, Path: real, Err: fmt.Errorf("%w: not a resolved path", host.ErrInvalidPath)}
	}
	return nil
}

// parentOf checks a resolved path and opens its directory.
func (l *Local) parentOf(ctx context.Context, op, real string) (dir int, base string, err error) {
	if err := ctx.Err(); err != nil {
		return -1, "", err
	}
	if err := usable(op, real); err != nil {
		return -1, "", err
	}
	parent, base := split(real)
	dir, err = l.openDir(parent)
	return dir, base, fail(op, real, err)
}

// Stat implements [host.Host]. A symbolic link as the last part is described, not followed.
func (l *Local) Stat(ctx context.Context, real string) (host.FileInfo, error) {
	dir, base, err := l.parentOf(ctx, "stat", real)
	if err != nil {
		return host.FileInfo{}, err
	}
	defer unix.Close(dir)
	fi, err := describe(dir, base)
	fi.Name = filepath.Base(real)
	return fi, fail("stat", real, err)
}

func describe(dir int, base string) (host.FileInfo, error) {
	st, target, err := look(dir, base)
	fi := st.info(base)
	fi.Target = target
	return fi, err
}

// Open implements [host.Host].
func (l *Local) Open(ctx context.Context, real string) (host.File, error) {
	dir, base, err := l.parentOf(ctx, "open", real)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, st, err := openLeaf(dir, base)
	if err != nil {
		return nil, fail("open", real, err)
	}
	return &file{fd: fd, info: st.info(base), path: real}, nil
}

// ReadDir implements [host.Host]. Entries that vanish while the directory is read are left out.
func (l *Local) ReadDir(ctx context.Context, real string) ([]host.FileInfo, error) {
	dir, base, err := l.parentOf(ctx, "read directory", real)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := openAt(dir, base, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		if st, serr := lstatAt(dir, base); serr == nil && st.isLink() {
			err = unix.ELOOP
		}
		return nil, fail("read directory", real, err)
	}
	defer unix.Close(fd)
	names, err := readNames(fd, ".")
	if err != nil {
		return nil, fail("read directory", real, err)
	}
	slices.Sort(names)
	out := make([]host.FileInfo, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fi, err := describe(fd, name)
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return nil, fail("read directory", filepath.Join(real, name), err)
		}
		out = append(out, fi)
	}
	return out, nil
}

// readNames lists a directory in no order.
func readNames(dir int, name string) ([]string, error) {
	fd, err := openAt(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return f.Readdirnames(-1)
}

// file is an open regular file. Its methods may be called from several goroutines.
type file struct {
	mu   sync.RWMutex // held for writing by Close
	fd   int          // -1 once closed
	info host.FileInfo
	path string
}

func (f *file) Info() host.FileInfo { return f.info }

func (f *file) use(call func(fd int) (int, error)) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return 0, &host.PathError{Op: "read", Path: f.path, Err: os.ErrClosed}
	}
	n, err := call(f.fd)
	if err != nil && err != io.EOF {
		err = fail("read", f.path, err)
	}
	return max(n, 0), err
}

func (f *file) Read(p []byte) (int, error) {
	return f.use(func(fd int) (n int, err error) {
		err = retry(func() error { n, err = unix.Read(fd, p); return err })
		if n == 0 && err == nil && len(p) > 0 {
			err = io.EOF
		}
		return n, err
	})
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.use(func(fd int) (int, error) {
		n, err := preadFull(fd, p, off)
		if n < len(p) && err == nil {
			err = io.EOF
		}
		return n, err
	})
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fd < 0 {
		return &host.PathError{Op: "close", Path: f.path, Err: os.ErrClosed}
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}

var _ host.File = (*file)(nil)
