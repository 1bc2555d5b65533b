//go:build linux || darwin

package tackle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
)

// GIT-001…004: through the front door git is looked at without a prompt, and what a repository names does not run.
func TestGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: its tool is not there")
	}
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".gitattributes": "* filter=x diff=x\n"})
	canary := filepath.Join(p.dir, "CANARY")
	dir := filepath.Join(p.dir, "ws")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "first"},
		{"config", "core.fsmonitor", "touch " + canary}, {"config", "filter.x.clean", "touch " + canary}, {"config", "diff.x.textconv", "touch " + canary}, {"config", "diff.external", "touch " + canary}} {
		c := exec.CommandContext(t.Context(), git, args...)
		if c.Dir = dir; c.Run() != nil {
			t.Fatal(args)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	box := p.open(tackle.Config{}, false)
	for _, tt := range []struct{ op, want string }{{"status", " M a.txt"}, {"diff", "+two"}, {"log", "first"}, {"show", "+one"}} {
		if res := call(t, box, "git", map[string]any{"op": tt.op}); !res.OK() || !strings.Contains(res.Text(), tt.want) {
			t.Errorf("%s: %s", tt.op, res.Text())
		}
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a program of the repository was run")
	}
	t.Setenv("PATH", t.TempDir())
	if box := p.open(tackle.Config{}, false); slices.Contains(box.Names(box.View()), "git") {
		t.Error("the tool is there without git")
	}
}
