package tackle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// P5, A10: a project whose files are links to devices neither holds the start nor fills the memory.
func TestP5_DevicesAreNoFiles(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this machine has no /dev/zero: ", err)
	}
	for _, tt := range []struct {
		name  string
		opens bool // a custom tool takes nothing else away; what restricts does
	}{{".tackle/tools/z.yaml", true}, {".tackle/config.yaml", false}, {".tackle/modes/z.md", false}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), ".config"))
			at := filepath.Join(dir, filepath.FromSlash(tt.name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".tackle/config.yaml"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(at)
			if err := os.Symlink("/dev/zero", at); err != nil {
				t.Skip("this machine makes no links: ", err)
			}
			box, err := Open(t.Context(), Config{Dir: dir, StateDir: t.TempDir()})
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				defer box.Close()
				said = strings.Join(slices.Clone(box.notes), "\n")
			}
			if (err == nil) != tt.opens || !strings.Contains(said, "is no regular file") {
				t.Errorf("%v %q", err, said)
			}
		})
	}
}
