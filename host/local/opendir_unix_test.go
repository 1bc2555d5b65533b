//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tackle-dev/tackle/host"
)

// A directory is opened as it was resolved: no link, no file, nothing that is not there.
func TestOpenDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d", "f"), nil, 0o644), os.Symlink("d", filepath.Join(dir, "ln"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(Config{Roots: []host.Root{{Path: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.OpenDir(t.Context(), filepath.Join(dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.Readdirnames(-1); err != nil || len(names) != 1 || names[0] != "f" {
		t.Errorf("%v %v", names, err)
	}
	for path, want := range map[string]error{"ln": host.ErrChanged, "d/f": host.ErrNotDir, "none": fs.ErrNotExist} {
		if f, err := l.OpenDir(t.Context(), filepath.Join(dir, path)); !errors.Is(err, want) {
			t.Errorf("%s: %v %v, want %v", path, f, err, want)
		}
	}
	if _, err := l.OpenDir(t.Context(), "/"); err != nil {
		t.Errorf("/: %v", err)
	}
}
