//go:build linux || darwin

package proc

import (
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/runnertest"
)

func TestRunner(t *testing.T) {
	for _, tree := range []Tree{TreeDefault, TreeNamespace, TreeSubreaper, TreeSession, "group"} {
		t.Run("tree="+string(tree), func(t *testing.T) {
			t.Parallel()
			runnertest.Run(t, func(t *testing.T) host.Runner { return open(t, tree) })
		})
	}
}

// open opens a runner with a way to hold trees together, or skips where this machine does not have it. "group" is the
// default without keepers.
func open(t *testing.T, tree Tree) *Runner {
	t.Helper()
	cfg := Config{Keeper: Self(), Tree: tree, StateDir: t.TempDir(), Dir: t.TempDir()}
	if tree == "group" {
		cfg.Keeper, cfg.Tree = nil, TreeDefault
	}
	r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
