package tackle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tools/shell"
)

// commandHalf is what stands behind the tools that run commands.
type commandHalf struct {
	runner host.Runner
	tasks  *task.Manager
	dir    string             // of tasks
	stop   context.CancelFunc // ends the tidying up
	tidied chan struct{}      // closed when it has ended
}

// openCommands opens the command half of a host. A host without one has no tools for commands; without a place for tasks,
// or with tasks switched off, commands run in the foreground only.
func (b *Box) openCommands(h host.Host) {
	c, ok := h.(host.Commander)
	if !ok {
		return
	}
	var err error
	if b.commands.runner, err = c.Runner(); err != nil {
		b.notes = append(b.notes, fmt.Sprintf("no commands: %v", err))
		return
	}
	t := &b.merged.Config.Tasks
	if t.Enabled != nil && !*t.Enabled {
		return
	}
	if b.commands.dir = t.Dir; t.Dir == "" {
		b.commands.dir = filepath.Join(b.cfg.StateDir, "tasks")
	}
	b.commands.tasks, err = task.Open(task.Config{Runner: b.commands.runner, Dir: b.commands.dir, MaxRunning: t.Running, MaxBytes: int64(t.MaxBytes), MaxAge: t.MaxAge})
	if err != nil {
		b.notes = append(b.notes, fmt.Sprintf("no background tasks: %v", err))
		return
	}
	b.tidyTasks()
}

// tidyTasks ends and writes down, beside everything else, what earlier servers left.
func (b *Box) tidyTasks() {
	c := &b.commands
	if left, err := os.ReadDir(c.dir); err != nil || len(left) == 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.tidied = stop, make(chan struct{})
	go func() {
		defer close(c.tidied)
		r, err := c.tasks.Recover(ctx)
		if err != nil && ctx.Err() == nil {
			b.logger().Error("tasks of earlier servers", "err", err)
		}
		for _, i := range r.Ended {
			b.logger().Info("a task of an earlier server has ended", "task", i.ID, "command", i.Command, "how", i.String())
		}
	}()
}

// close ends the tasks.
func (c *commandHalf) close() error {
	if c.stop != nil {
		c.stop()
		<-c.tidied
	}
	if c.tasks == nil {
		return nil
	}
	return c.tasks.Close()
}

// shellTools returns the tools that run commands.
func (b *Box) shellTools() []tool.Tool {
	if b.commands.runner == nil {
		return nil
	}
	s, t := &b.merged.Config.Shell, &b.merged.Config.Tasks
	return shell.Tools(shell.Config{Runner: b.commands.runner, Tasks: b.commands.tasks, Timeout: s.Timeout, MaxTimeout: s.MaxTimeout, MaxBytes: int(s.Output), Quota: int64(t.Log)})
}

// Tasks returns the background tasks of this state folder; nil where the box keeps none.
func (b *Box) Tasks() *task.Manager { return b.commands.tasks }

// EndSession ends what belongs to a session and runs on: its tasks, but for those that were told to outlive it.
func (b *Box) EndSession(ctx context.Context, session string) error {
	if b.commands.tasks == nil {
		return nil
	}
	if session == "" {
		return errors.New("no session is named")
	}
	return b.commands.tasks.EndSession(ctx, session)
}
