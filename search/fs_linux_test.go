package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A link in a path that was resolved before is refused, at the root and below.
func TestLinksAppear(t *testing.T) {
	root := plant(t, map[string]string{"real/sub/f": "hit\n", "other/g": "hit\n"})
	for _, link := range [][2]string{{"real", "link"}, {"../other", "real/swapped"}} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"link", "link/sub"} {
		if _, err := Local().Root(context.Background(), filepath.Join(root, path)); !errors.Is(err, ErrLink) {
			t.Errorf("root %s: %v", path, err)
		}
	}
	d, err := Local().Root(context.Background(), filepath.Join(root, "real"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, path := range []string{"swapped", "swapped/g", "sub/../../other", ".."} {
		if sub, err := d.Sub(path); err == nil {
			sub.Close()
			t.Errorf("%s was opened", path)
		}
		if fd, err := d.(*rawDir).subByParts(path); err == nil && path == "swapped" {
			t.Errorf("%s was opened by parts: %d", path, fd)
		}
	}
	if _, _, err := d.Read("swapped", make([]byte, 9)); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link as a file: %v", err)
	}
}
