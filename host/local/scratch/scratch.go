// Package scratch makes folders outside of every workspace root, in which programs work on copies of files.
//
// A folder belongs to whoever made it and is removed by its Close; those of processes that were killed are swept by the
// next New of the same place.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// prefix begins the names of folders; the id of the process that made one follows.
const prefix = "work-"

// stale is how old a folder of another process is before it is taken for left behind, in case its process id lives on in
// another process.
const stale = 24 * time.Hour

// Folder is one folder. It is not for concurrent use.
type Folder struct{ dir string }

// New makes a folder below a place, which is made where it is missing.
func New(place string) (*Folder, error) {
	if err := os.MkdirAll(place, 0o700); err != nil {
		return nil, err
	}
	sweep(place)
	dir, err := os.MkdirTemp(place, prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // programs print resolved paths
		return nil, err
	}
	return &Folder{dir}, nil
}

// sweep removes what processes that are gone have left behind.
func sweep(place string) {
	entries, err := os.ReadDir(place)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		pid, err := strconv.Atoi(strings.SplitN(rest, "-", 2)[0])
		if !ours || err != nil || pid == os.Getpid() {
			continue
		}
		info, err := e.Info()
		if err == nil && (!alive(pid) || time.Since(info.ModTime()) > stale) {
			os.RemoveAll(filepath.Join(place, e.Name()))
		}
	}
}

// Dir returns the absolute path.
func (f *Folder) Dir() string { return f.dir }

func (f *Folder) path(rel string) (string, error) {
	local := filepath.FromSlash(rel)
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("%q: %w", rel, fs.ErrInvalid)
	}
	return filepath.Join(f.dir, local), nil
}

// parent makes the folders above a path and returns the path.
func (f *Folder) parent(rel string) (string, error) {
	p, err := f.path(rel)
	if err != nil {
		return "", err
	}
	return p, os.MkdirAll(filepath.Dir(p), 0o755)
}

// Put makes a file.
func (f *Folder) Put(rel string, content []byte) error {
	p, err := f.parent(rel)
	if err != nil {
		return err
	}
	return os.WriteFile(p, content, 0o644)
}

// Copy makes a copy of a regular file that lies elsewhere.
func (f *Folder) Copy(rel, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if info, err := src.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("copy %s: %w", from, fs.ErrInvalid))
	}
	p, err := f.parent(rel)
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// Link makes a symbolic link.
func (f *Folder) Link(rel, to string) error {
	p, err := f.parent(rel)
	if err != nil {
		return err
	}
	return os.Symlink(to, p)
}

// Get reads a regular file of at most limit bytes. A link is not followed.
func (f *Folder) Get(rel string, limit int64) ([]byte, error) {
	p, err := f.path(rel)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(p)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file any more: %w", rel, fs.ErrInvalid)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", rel, info.Size(), limit)
	}
	return os.ReadFile(p)
}

// Close removes the folder with everything in it.
func (f *Folder) Close() error { return os.RemoveAll(f.dir) }
