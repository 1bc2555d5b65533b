package local

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/proc"
)

// commands is the command half of a host, once it was asked for.
type commands struct {
	mu     sync.Mutex
	runner *proc.Runner
	closed bool
}

// Runner returns the command half, which the first call opens. Nothing confines its commands, and its Confinement says so.
func (l *Local) Runner() (host.Runner, error) {
	c := &l.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("commands: the host is closed")
	}
	if c.runner != nil {
		return c.runner, nil
	}
	cfg := l.cfg.Commands
	if cfg.StateDir == "" {
		cfg.StateDir = l.info.StateDir
	}
	if cfg.Dir == "" && len(l.info.Roots) > 0 {
		cfg.Dir = l.info.Roots[0].Path
	}
	if cfg.Workspace == nil {
		for _, root := range l.info.Roots {
			cfg.Workspace = append(cfg.Workspace, root.Path)
		}
	}
	r, err := proc.Open(cfg)
	if err != nil {
		return nil, fmt.Errorf("commands: %w", err)
	}
	c.runner = r
	return r, nil
}

// EndCommands ends the commands that the host runs, except those that were detached; it starts no more. Unlike Close it may
// be called while calls of other kinds run.
func (l *Local) EndCommands() error {
	c := &l.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.runner == nil {
		return nil
	}
	return c.runner.Close()
}

// Close ends the commands and frees the slot, so that another process may continue in it. Calls must have returned before.
func (l *Local) Close() error { return errors.Join(l.EndCommands(), l.free()) }
