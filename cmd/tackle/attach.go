package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/internal/terminal"
	"github.com/tackle-dev/tackle/task"
)

// leaveKey is Ctrl-], as in telnet.
const leaveKey = 0x1d

// attachBack is how much of what a task wrote before is shown to whoever attaches, in bytes.
const attachBack = 8 << 10

func (a *app) attachCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "attach ID",
		Short: "Take over a task at this terminal: see what it writes, and type into it",
		Long: "Show what a task writes and send it what is typed, until it ends or Ctrl-] is typed; the task goes on then.\n" +
			"A task that was started with a terminal gets every key, Ctrl-C included, and the size of this one.",
		Args: taskArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error { return a.attach(ctx, m, args[0]) })
		},
	}
}

func (a *app) attach(ctx context.Context, m *task.Manager, id string) error {
	info, err := m.Get(id)
	if err != nil {
		return err
	}
	if !info.Running {
		return a.taskOutput(ctx, m, id, false)
	}
	tty, err := terminal.Open()
	if err != nil {
		return fmt.Errorf("attach: %w; 'tackle tasks output --follow %s' shows what the task writes", err, id)
	}
	defer tty.Close()
	fmt.Fprintf(a.err, "Task %s: %s. Ctrl-] leaves it.\n", id, show.Line(info.Command))
	restore := func() {}
	if info.Terminal {
		if restore, err = tty.Raw(); err != nil {
			return err
		}
	}
	ctx, leave := context.WithCancel(ctx)
	typed := make(chan error, 1)
	go func() { typed <- a.typeInto(ctx, m, id, tty, leave) }()
	end, err := watchTask(ctx, m, id, tty, info.Output)
	leave()
	_ = tty.SetReadDeadline(time.Now()) // whoever still waits for keys
	terr := <-typed
	restore()
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return err
	case end != "":
		fmt.Fprintf(a.err, "[%s]\n", show.Line(end))
	case terr != nil:
		return terr
	default:
		fmt.Fprintf(a.err, "\n[left; the task goes on]\n")
	}
	return nil
}

// watchTask shows what a task writes, and returns how it ended.
func watchTask(ctx context.Context, m *task.Manager, id string, tty *terminal.TTY, written int64) (end string, err error) {
	at := max(written-attachBack, 0)
	for {
		c, err := m.Read(ctx, id, task.Reading{At: at, Wait: time.Second})
		if err != nil {
			return "", err
		}
		text := c.Data
		if !c.Terminal { // what a program writes to a pipe was not made for a terminal
			text = []byte(show.Text(string(text)))
		}
		if _, err := tty.Write(text); err != nil {
			return "", err
		}
		if at = c.Next; c.Done && !c.More {
			return c.String(), nil
		}
	}
}

// typeInto sends a task what is typed, and leaves it at Ctrl-].
func (a *app) typeInto(ctx context.Context, m *task.Manager, id string, tty *terminal.TTY, leave func()) error {
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	done := make(chan struct{})
	defer close(done)
	fit := func() {
		if cols, rows := tty.Size(); cols > 0 && rows > 0 {
			_ = m.Resize(ctx, id, host.Size{Rows: uint16(rows), Cols: uint16(cols)}) // a task without a terminal has no size
		}
	}
	fit()
	go func() {
		for {
			select {
			case <-resized:
				fit()
			case <-done:
				return
			}
		}
	}()
	buf := make([]byte, 4<<10)
	for ctx.Err() == nil {
		n, err := tty.Read(buf)
		if err != nil {
			return nil // the terminal is gone, or the task has ended
		}
		keys, _, leaves := bytes.Cut(buf[:n], []byte{leaveKey})
		if len(keys) > 0 {
			if err := m.Input(ctx, id, keys, false); errors.Is(err, task.ErrEnded) {
				return nil // whoever watches says how
			} else if err != nil && ctx.Err() == nil {
				leave()
				return err
			}
		}
		if leaves {
			leave()
			return nil
		}
	}
	return nil
}
