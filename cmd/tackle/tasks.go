package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/task"
)

func (a *app) tasksCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tasks [COMMAND]",
		Short: "List the background tasks of all sessions, read what they write, and stop them",
		Long: "Without a command: list the background tasks of all sessions, those of running servers included.\n" +
			"A task ends with its session, unless it was started to outlive it.",
		Example: "  tackle tasks\n  tackle tasks output k3v9ab --follow\n  tackle tasks stop k3v9ab",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error { return a.listTasks(ctx, m, asJSON) })
		},
	}
	list := &cobra.Command{Use: "list", Short: "List the background tasks", Args: usageArgs(cobra.NoArgs), RunE: cmd.RunE}
	for _, c := range []*cobra.Command{cmd, list} {
		c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	}
	var follow bool
	output := &cobra.Command{
		Use:   "output ID",
		Short: "Print what a task has written",
		Args:  taskArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error { return a.taskOutput(ctx, m, args[0], follow) })
		},
	}
	output.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the task ends")
	stop := &cobra.Command{
		Use:   "stop ID...",
		Short: "End tasks with everything that they started",
		Args:  taskArgs(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error { return a.stopTasks(ctx, m, args) })
		},
	}
	remove := &cobra.Command{
		Use:   "remove ID...",
		Short: "Remove tasks that have ended, with their output",
		Args:  taskArgs(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error {
				var errs []error
				for _, id := range args {
					errs = append(errs, m.Remove(ctx, id))
				}
				return errors.Join(errs...)
			})
		},
	}
	var done bool
	input := &cobra.Command{
		Use:   "input ID [TEXT]",
		Short: "Send a task a line of text",
		Args:  taskArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var data []byte
			if len(args) == 2 {
				data = []byte(args[1] + "\n")
			} else if !done {
				return usage{errors.New("tasks input: give a text to send, or --close")}
			}
			return a.withTasks(cmd.Context(), func(ctx context.Context, m *task.Manager) error {
				soon, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				return m.Input(soon, args[0], data, done)
			})
		},
	}
	input.Flags().BoolVar(&done, "close", false, "end the input of the task, after the text")
	cmd.AddCommand(list, output, input, a.attachCommand(), stop, remove)
	return cmd
}

// taskArgs wants the id of a task, and at most so many arguments.
func taskArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage{fmt.Errorf("%s: which task? 'tackle tasks' lists them; use: %s", cmd.Name(), cmd.UseLine())}
		case len(args) > most:
			return usage{fmt.Errorf("%s: %d arguments are too many; use: %s", cmd.Name(), len(args), cmd.UseLine())}
		}
		return nil
	}
}

// sayWhatEnds names the tasks that end because the one call of this process is over.
func (a *app) sayWhatEnds(box *tackle.Box) {
	if box.Tasks() == nil {
		return
	}
	list := box.Tasks().Own()
	for i := range list {
		if list[i].Running && !list[i].Detached {
			fmt.Fprintf(a.err, "Task %s ends with this call; a task that is started with detach goes on.\n", list[i].ID)
		}
	}
}

// withTasks opens a box for its tasks alone.
func (a *app) withTasks(ctx context.Context, do func(context.Context, *task.Manager) error) error {
	box, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer box.Close()
	m := box.Tasks()
	if m == nil {
		return errors.New("no tasks are kept here: " + a.noTasks(box))
	}
	return do(ctx, m)
}

func (a *app) noTasks(box *tackle.Box) string {
	for _, n := range box.Notes() {
		if strings.HasPrefix(n, "no commands: ") || strings.HasPrefix(n, "no background tasks: ") {
			return n
		}
	}
	return "the configuration says tasks.enabled: false ('tackle config' shows where)"
}

func (a *app) listTasks(ctx context.Context, m *task.Manager, asJSON bool) error {
	list, err := m.List(ctx, "")
	if err != nil {
		return err
	}
	for i := range list {
		if look, err := m.Look(ctx, list[i].ID); err == nil {
			list[i] = look
		}
	}
	if asJSON {
		if list == nil {
			list = []task.Info{}
		}
		return a.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No tasks.")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for i := range list {
		t := &list[i]
		what := t.Command
		if t.Title != "" {
			what = t.Title + ": " + what
		}
		what, _ = show.Cut(show.Line(what), 100)
		how := t.String()
		if t.Detached {
			how += "; detached"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ID, t.Started.Local().Format(time.DateTime), show.Line(how), what)
	}
	return w.Flush()
}

// taskOutput prints what is kept of a task's output, and with follow what still comes.
func (a *app) taskOutput(ctx context.Context, m *task.Manager, id string, follow bool) error {
	var at int64
	for {
		r := task.Reading{At: at, Max: 256 << 10}
		if follow {
			r.Wait = time.Second
		}
		c, err := m.Read(ctx, id, r)
		if err != nil {
			if follow && ctx.Err() != nil {
				return nil // Ctrl-C is how one leaves
			}
			return err
		}
		if c.Skipped > 0 {
			fmt.Fprintf(a.err, "[%d bytes are no longer kept]\n", c.Skipped)
		}
		if _, err := io.WriteString(a.out, forPeople(a.out, string(c.Data))); err != nil {
			return err
		}
		at = c.Next
		switch {
		case c.More:
		case c.Done:
			fmt.Fprintf(a.err, "[%s]\n", show.Line(c.String()))
			return nil
		case !follow:
			fmt.Fprintf(a.err, "[%s; --follow goes on]\n", show.Line(c.String()))
			return nil
		}
	}
}

func (a *app) stopTasks(ctx context.Context, m *task.Manager, ids []string) error {
	var errs []error
	for _, id := range ids {
		i, err := m.Stop(ctx, id, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(a.out, "%s\t%s\n", id, show.Line(i.String()))
	}
	return errors.Join(errs...)
}
