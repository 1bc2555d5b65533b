//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/internal/clip"
)

// H1: the host's command half runs in the first root, keeps output in the state directory, ends with the host, and says
// that nothing confines it.
func TestH1_CommandHalf(t *testing.T) {
	root, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	l, err := Open(Config{Roots: []host.Root{{Path: root}}, StateDir: state, Commands: proc.Config{Keeper: proc.Self(), Env: map[string]string{"TWO": "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory is there before it is needed: %v", err)
	}
	var h host.Host = l
	c, ok := h.(host.Commander)
	if !ok {
		t.Fatal("the local host offers no commands")
	}
	r, err := c.Runner()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Runner(); err != nil || again != r {
		t.Errorf("a second runner: %v, %v", again, err)
	}
	if conf := r.Confinement(); conf.Confined || !strings.HasPrefix(conf.String(), "unconfined; trees end by ") || len(conf.Profiles) != 1 || conf.Profiles[0] != host.ProfileHost {
		t.Errorf("confinement is %+v", conf)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	out, e, err := host.Run(t.Context(), r, host.Command{Script: "pwd; echo $TWO"}, clip.Limits{}, clip.Tail)
	if err != nil || !e.Success() || out.Text() != real+"\n2\n" {
		t.Errorf("%q, %v, %v", out.Text(), e, err)
	}
	p, err := r.Start(t.Context(), host.Command{Script: "echo ready; sleep 300", Limits: host.Limits{Time: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Output().More(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(state, "run", "*.log")); len(files) != 1 {
		t.Errorf("output is kept in %q", files)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-p.Gone():
	default:
		t.Error("a command outlives its host")
	}
	if _, err := r.Start(context.Background(), host.Command{Script: "true"}); err == nil {
		t.Error("a closed host starts commands")
	}
	if _, err := l.Runner(); err == nil || err.Error() != "commands: the host is closed" {
		t.Errorf("a runner of a closed host: %v", err)
	}
}

// A contradiction in the configuration of commands is found when they are asked for; files work on.
func TestCommandHalfContradiction(t *testing.T) {
	l, err := Open(Config{Roots: []host.Root{{Path: t.TempDir()}}, Commands: proc.Config{Tree: proc.TreeNamespace}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Runner(); err == nil || err.Error() != `commands: tree "namespace" needs keepers` {
		t.Errorf("error is %v", err)
	}
	if _, err := l.Resolve(t.Context(), "", "x"); err != nil {
		t.Error(err)
	}
}
