//go:build !linux && !darwin

package proc

import (
	"context"
	"fmt"
	"runtime"

	"github.com/tackle-dev/tackle/host"
)

// Runner starts commands on this machine. On this system it starts none: use a container or another machine.
type Runner struct{ cfg Config }

var _ host.Runner = (*Runner)(nil)

// KeeperMain does nothing: there are no keepers on this system.
func KeeperMain() {}

// Self returns nil: there are no keepers on this system.
func Self() []string { return nil }

// Open returns a runner that refuses every command.
func Open(cfg Config) (*Runner, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg}, nil
}

// Start implements host.Runner with an error.
func (r *Runner) Start(context.Context, host.Command) (host.Process, error) {
	return nil, unsupported()
}

// Attach implements host.Runner with an error.
func (r *Runner) Attach(context.Context, host.Handle) (host.Process, error) {
	return nil, unsupported()
}

// Confinement implements host.Runner.
func (r *Runner) Confinement() host.Confinement {
	return host.Confinement{Tree: "nothing", Notes: []string{unsupported().Error() + "."}}
}

// Close does nothing.
func (r *Runner) Close() error { return nil }

func unsupported() error {
	return fmt.Errorf("commands on %s: %w; use a container or another machine", runtime.GOOS, host.ErrUnsupported)
}
