package scratch

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

func TestFolder(t *testing.T) {
	place := filepath.Join(t.TempDir(), "place")
	f, err := New(place)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put("a/b/c.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(t.TempDir(), "src")
	if err := os.WriteFile(from, []byte("copy"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Copy("d/e", from), f.Link("l", from)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/b/c.txt": "x", "d/e": "copy"} {
		if b, err := f.Get(path, 10); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
	for _, path := range []string{"l", "a", "../x", "/etc/passwd", "none"} {
		if b, err := f.Get(path, 1<<20); err == nil {
			t.Errorf("%s was read: %q", path, b)
		}
	}
	if _, err := f.Get("d/e", 3); err == nil {
		t.Error("a file above the limit was read")
	}
	for _, path := range []string{"../x", "/abs", "a/../../x"} {
		if err := errors.Join(f.Put(path, nil)); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := f.Copy("dir", place); err == nil {
		t.Error("a folder was copied")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(from); err != nil || string(b) != "copy" {
		t.Errorf("what a link points to: %q %v", b, err)
	}
	if left, err := os.ReadDir(place); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// What a process that is gone has left behind is swept; what belongs to one that lives stays.
func TestSweep(t *testing.T) {
	place := t.TempDir()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skipf("no program to take the id of: %v", err)
	}
	dead := filepath.Join(place, prefix+strconv.Itoa(cmd.Process.Pid)+"-1")
	living := filepath.Join(place, prefix+strconv.Itoa(os.Getppid())+"-1")
	other := filepath.Join(place, "notes")
	for _, dir := range []string{dead, living, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(place)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := os.Stat(dead); alive(cmd.Process.Pid) == false && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a dead process is still there: %v", err)
	}
	for _, dir := range []string{living, other, f.Dir()} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
