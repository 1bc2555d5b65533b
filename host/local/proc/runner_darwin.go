package proc

import (
	"context"
	"os"
)

// KeeperMain does nothing: there are no keepers on this system.
func KeeperMain() {}

// Self starts this very program again.
func Self() []string {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path}
}

// keepers are not there on this system.
type keepers struct{}

func (k *keepers) close() {}

func (r *Runner) prepareTrees() {
	r.launcher = newLauncher()
	r.conf.Tree = "process group and session"
	r.conf.Notes = append(r.conf.Notes, "On macOS there are no keepers: a command that leaves children behind outlives this process, a child that makes a session of its own is not found, and neither terminals nor detached commands are offered.")
}

func (r *Runner) newGroup(string) (*group, error) { return nil, nil }

func (r *Runner) begin(_ context.Context, cmd *command, s *spec) error { return r.beginDirect(cmd, s) }
