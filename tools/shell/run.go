package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
)

// command is what the host is asked to run.
func (j *job) command() host.Command {
	c := host.Command{Script: j.in.Command, Dir: j.dir, Trusted: j.trusted, Limits: host.Limits{Time: j.timeout, Spool: j.Quota}}
	if j.looks && slices.Contains(j.Runner.Confinement().Profiles, host.ProfileReadOnly) {
		c.Profile = host.ProfileReadOnly // even so: classification decides only whether to ask (H3)
	}
	return c
}

// data is the beginning of what people see.
func (j *job) data() *Data {
	return &Data{Command: j.in.Command, Dir: j.dir, Description: j.in.Description, Looks: j.looks, Confinement: j.Runner.Confinement().String()}
}

func (j *job) spec() task.Spec {
	return task.Spec{Session: j.call.Session, Title: j.in.Description, Command: j.in.Command, Detach: j.in.Detach, Interactive: j.in.Background}
}

// patience returns how long the command is waited for before it becomes a task; 0 is for ever.
func (j *job) patience() time.Duration {
	d := time.Duration(0)
	if j.in.Adopt {
		d = j.timeout
	}
	if h := j.call.Hold; h > 0 && (d == 0 || h < d) && h < j.timeout {
		d = h
	}
	return d
}

// foreground runs the command and waits for its end.
func (j *job) foreground(ctx context.Context, r tool.Runner) (tool.Result, error) {
	if err := j.unchanged(ctx); err != nil {
		return tool.Result{}, err
	}
	c, slot, err := j.reserve()
	if err != nil {
		return tool.Result{}, err
	}
	p, err := j.Runner.Start(ctx, c)
	if err != nil {
		if slot != nil {
			err = errors.Join(err, slot.Discard())
		}
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Result{}, j.startError(err)
	}
	run := &running{job: j, p: p, slot: slot}
	return run.follow(ctx, r)
}

// reserve makes a slot for a command that may become a task.
func (j *job) reserve() (host.Command, *task.Slot, error) {
	c := j.command()
	if j.Tasks == nil {
		return c, nil, nil
	}
	slot, with, err := j.Tasks.Reserve(j.spec(), c)
	switch {
	case err == nil:
		if j.in.Adopt {
			with.Limits.Time = -1
		}
		return with, slot, nil
	case j.in.Adopt:
		return c, nil, taskError(err)
	}
	return c, nil, nil // it can still run; only not as a task
}

// running is a started foreground command.
type running struct {
	*job
	p    host.Process
	slot *task.Slot // nil where it cannot become a task
}

// follow waits for the command, streams what it writes, and makes the result.
func (run *running) follow(ctx context.Context, r tool.Runner) (tool.Result, error) {
	stop := stream(ctx, run.p.Output(), r.Partial)
	wait, cancel := ctx, context.CancelFunc(func() {})
	if d := run.patience(); d > 0 && run.slot != nil {
		wait, cancel = context.WithTimeout(ctx, d)
	}
	exit, err := run.p.Wait(wait)
	cancel()
	stop()
	switch {
	case err == nil && len(exit.Survivors) > 0 && exit.End == host.EndExited && run.slot != nil:
		return run.leaveBehind(ctx, exit)
	case err == nil:
		return run.ended(ctx, exit)
	case ctx.Err() != nil:
		return run.cancelled(ctx)
	}
	return run.adopted(ctx)
}

// release gives back what the command held.
func (run *running) release() error {
	err := run.p.Close()
	if run.slot != nil {
		err = errors.Join(err, run.slot.Discard())
	}
	return err
}

// ended makes the result of a command whose first process has ended.
func (run *running) ended(ctx context.Context, exit host.Exit) (tool.Result, error) {
	s, err := run.show(ctx, run.p.Output())
	closed := run.release()
	if err != nil {
		return tool.Result{}, fmt.Errorf("the command ran (%s), but its output could not be read: %w", exit, errors.Join(err, closed))
	}
	if closed != nil {
		s.notes = append(s.notes, fmt.Sprintf("[Not everything could be ended: %v.]", closed))
	}
	d := run.data()
	d.Exit, d.Output = &exit, exit.Output
	switch {
	case exit.End == host.EndTime, exit.End == host.EndOutput, exit.End == host.EndTree:
		return run.failure(tool.TimedOut, atLimit(&exit), run.limitHint(&exit), s, d), nil
	case exit.End != host.EndExited:
		return run.failure(tool.ExecutionFailed, fmt.Sprintf("the command was ended from elsewhere: %s.", exit), "Look at what it did until then before you run it again.", s, d), nil
	case len(exit.Survivors) > 0: // nothing holds them any more
		return s.result(fmt.Sprintf("%s; %s lived on and %s ended, since nothing can look after them here; run the command in the foreground", status(exit.Code, exit.Signal),
			host.ListProcesses(exit.Survivors), plural(len(exit.Survivors), "was", "were")), d), nil
	case exit.Success():
		return s.result("", d), nil
	}
	return s.result(exit.String(), d), nil
}

// atLimit says how a command ended at its limit, what lives on and what it waited for.
func atLimit(exit *host.Exit) string {
	what, more, some := strings.Cut(exit.String(), ";")
	if len(exit.Survivors) == 0 {
		what += ", with everything that it had started"
	}
	if some {
		what += ";" + more
	}
	return "the command was " + what + "."
}

func status(code int, signal string) string {
	e := host.Exit{End: host.EndExited, Code: code, Signal: signal}
	return e.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// limitHint says what to do about a command that was ended by its time limit.
func (run *running) limitHint(exit *host.Exit) string {
	switch most := int(run.MaxTimeout.Seconds()); {
	case exit.End == host.EndTree:
		return "It started processes faster than they ended; find out what starts them before you run it again."
	case exit.Waiting != nil && run.Tasks != nil:
		return "It gets no input here: give the answer in the command (an argument, a flag such as --yes, a file), or run it with background=true and answer with task_input."
	case exit.Waiting != nil:
		return "It gets no input here: give the answer in the command (an argument, a flag such as --yes, a file)."
	case run.Tasks != nil:
		return fmt.Sprintf("Give a longer timeout (seconds, at most %d), or run it with background=true.", most)
	default:
		return fmt.Sprintf("Give a longer timeout (seconds, at most %d), or do less at once.", most)
	}
}

// cancelled ends the command because its call has ended.
func (run *running) cancelled(ctx context.Context) (tool.Result, error) {
	late := context.WithoutCancel(ctx)
	left, err := run.p.Stop(late, 0)
	s, serr := run.show(late, run.p.Output())
	if serr != nil {
		s = shown{}
	}
	st, _ := run.p.Output().Stat()
	closed := run.release()
	fact := "the call was cancelled; the command was ended, with everything that it had started."
	if len(left) > 0 || err != nil || closed != nil {
		fact = fmt.Sprintf("the call was cancelled; the command was ended, but %s could not be.", host.ListProcesses(left))
	}
	d := run.data()
	d.Output = st.Total
	return run.failure(tool.Cancelled, fact, "Whoever made the call ended it; do not repeat it unless you are asked to.", s, d), nil
}

// leaveBehind makes a task of what a command left behind, so that somebody can end it.
func (run *running) leaveBehind(ctx context.Context, exit host.Exit) (tool.Result, error) {
	return run.handOver(ctx, func(i task.Info) string {
		return fmt.Sprintf("%s, as task %s: task_output shows what %s, task_stop ends %s", exit, i.ID, plural(len(exit.Survivors), "it writes", "they write"), plural(len(exit.Survivors), "it", "them"))
	}, &exit)
}

// adopted makes a task of a command that takes longer than its caller waits.
func (run *running) adopted(ctx context.Context) (tool.Result, error) {
	return run.handOver(ctx, func(i task.Info) string {
		if !i.Running {
			return fmt.Sprintf("It became task %s after %s and has ended meanwhile: %s", i.ID, run.patience().Round(time.Second), i)
		}
		limit := ""
		if !run.in.Adopt {
			limit = fmt.Sprintf(" until its time limit of %s", run.timeout)
		}
		return fmt.Sprintf("Still running after %s; it goes on as task %s%s: task_output waits for it and shows what it writes, task_stop ends it. Do not start it again",
			run.patience().Round(time.Second), i.ID, limit)
	}, nil)
}

// handOver gives the process to the task manager and shows what it wrote until then.
func (run *running) handOver(ctx context.Context, say func(task.Info) string, exit *host.Exit) (tool.Result, error) {
	info, err := run.slot.Adopt(context.WithoutCancel(ctx), run.p)
	if err != nil {
		return tool.Result{}, errors.Join(fmt.Errorf("the command could not become a task and was ended: %w", err), run.release())
	}
	s, err := run.newOutput(ctx, run.call, info.ID, nil)
	if err != nil {
		return tool.Result{}, unread(info.ID, err)
	}
	d := run.data()
	d.Exit, d.Output, d.Task = exit, s.next, info.ID
	return s.result(say(s.info), d), nil
}

// unread is the error about a task that nobody would know of otherwise.
func unread(id string, err error) error {
	return &tool.Error{Code: tool.OperationFailed, Err: err, Message: fmt.Sprintf("the command became task %s, but its output could not be read: %v.", id, err),
		Hint: "Do not start it again: task_list shows how it stands, and task_stop ends it."}
}

// background starts a task. It watches it for a moment, because what fails does so at once.
func (j *job) background(ctx context.Context, r tool.Runner) (tool.Result, error) {
	if err := j.unchanged(ctx); err != nil {
		return tool.Result{}, err
	}
	c := j.command()
	if j.in.Terminal {
		c.Terminal = &host.Size{}
	}
	info, err := j.Tasks.Start(ctx, j.spec(), c)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		if e := taskError(err); e != err {
			return tool.Result{}, e
		}
		return tool.Result{}, j.startError(err)
	}
	soon, cancel := context.WithTimeout(ctx, startLook)
	defer cancel()
	_, err = j.Tasks.Wait(soon, info.ID) // that it runs on is what is hoped for
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return tool.Result{}, unread(info.ID, err)
	}
	s, err := j.newOutput(context.WithoutCancel(ctx), j.call, info.ID, nil)
	if err != nil {
		return tool.Result{}, unread(info.ID, err)
	}
	d := j.data()
	d.Task, d.Output, d.Exit = info.ID, s.next, s.info.Exit
	if !s.info.Running {
		return s.result(fmt.Sprintf("Task %s has ended already: %s", info.ID, s.info), d), nil
	}
	until := "It ends with this session"
	if j.in.Detach {
		until = "It outlives this session"
	}
	if j.timeout > 0 {
		until += fmt.Sprintf(", and after %s at the latest", j.timeout)
	}
	return s.result(fmt.Sprintf("Task %s runs in the background. %s. task_output shows what it writes, task_input sends it input, task_stop ends it", info.ID, until), d), nil
}
