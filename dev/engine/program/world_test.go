package program_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine/program"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/host/local/scratch"
)

// world is a root in which real programs run.
type world struct {
	t        testing.TB
	dir      string
	work     string // where the workshop makes folders
	host     *local.Local
	runner   program.OnHost
	workshop program.Workshop
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(base, "ws"), work: filepath.Join(base, "work")}
	if err := errors.Join(os.Mkdir(w.dir, 0o755), os.Mkdir(w.work, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		w.put(name, content)
	}
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(base, "state")}); err != nil {
		t.Fatal(err)
	}
	r, err := proc.Open(proc.Config{StateDir: filepath.Join(base, "run"), Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(w.work); err != nil || len(left) > 0 {
			t.Errorf("folders are left behind: %v %v", left, err)
		}
	})
	w.runner = program.OnHost{Open: func() (host.Runner, error) { return r, nil }}
	w.workshop = func(context.Context) (program.Folder, error) { return scratch.New(w.work) }
	return w
}

func (w *world) pipeline(cfg dev.Config, engines ...dev.Engine) *dev.Pipeline {
	w.t.Helper()
	cfg.Host, cfg.Engines = w.host, engines
	cfg.Gate = dev.GateFunc(func(context.Context, *dev.Request) error { return nil })
	p, err := dev.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		return "<absent>"
	}
	return string(b)
}

// place is where programs are found: the root, and the path of this process.
func (w *world) place() program.Place {
	return program.Place{Host: w.host, Root: w.dir, Path: filepath.SplitList(os.Getenv("PATH"))}
}

// script returns a command whose actions run a piece of shell over the files: "$@".
func (w *world) script(text string, a program.Action, c ...dev.Capability) *program.Command {
	a.Files, a.Shown = []string{"*.x"}, "script"
	a.Argv = []string{"/bin/sh", "-c", text, "script"}
	cmd := &program.Command{Name: "script", Version: "1", Can: map[dev.Capability]program.Action{}, Config: []string{"script.conf"}, Runner: w.runner, Workshop: w.workshop}
	for _, what := range c {
		cmd.Can[what] = a
	}
	return cmd
}
