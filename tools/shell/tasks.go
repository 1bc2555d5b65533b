package shell

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
)

// A session sees its own tasks, and those that were told to outlive theirs.

// mine reports whether the session of a call may deal with a task.
func mine(call *tool.Call, i *task.Info) bool { return i.Session == call.Session || i.Detached }

// find returns a task of the session.
func (c Config) find(ctx context.Context, call *tool.Call, id string) (task.Info, error) {
	i, err := c.Tasks.Get(id)
	if err == nil && mine(call, &i) {
		return i, nil
	}
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return i, taskError(err)
	}
	e := tool.Errorf(tool.NotFound, "this session has no task %q.", clip.Middle(id, quoted)).For("id", "the id of a task of this session").With("It has none at all; shell with background=true starts one.")
	list, err := c.list(ctx, call)
	if err == nil && len(list) > 0 {
		ids := make([]string, len(list))
		for n := range list {
			ids[n] = list[n].ID
		}
		shown, cut := clip.Entries(ids, 20)
		e.Hint = "There are: " + strings.Join(shown, ", ")
		if cut.Truncated() {
			e.Hint += fmt.Sprintf(" and %d more, see task_list", cut.Dropped())
		}
		e.Hint += "."
	}
	return i, e
}

// list returns the tasks of the session, the oldest first.
func (c Config) list(ctx context.Context, call *tool.Call) ([]task.Info, error) {
	all, err := c.Tasks.List(ctx, "")
	if err != nil {
		return nil, taskError(err)
	}
	var out []task.Info
	for i := range all {
		if mine(call, &all[i]) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// taskError says in the words of these tools what went wrong with a task. Other errors stay as they are.
func taskError(err error) error {
	var e *task.Error
	if !errors.As(err, &e) {
		return err
	}
	say := strings.TrimSuffix(e.Say, ".") + "."
	switch {
	case errors.Is(err, task.ErrNotFound):
		return tool.Errorf(tool.NotFound, "%s", say).For("id", "the id of a task")
	case errors.Is(err, task.ErrTooMany):
		return tool.Errorf(tool.LimitExceeded, "%s", say).With("End one with task_stop, or wait for one with task_output.")
	case errors.Is(err, task.ErrNoInput):
		return tool.Errorf(tool.OperationNotAllowed, "task %s takes no input: it was not started with background=true, or by a server that is gone.", e.ID).
			With("Stop it and start it again with background=true, or give the input in the command.")
	case errors.Is(err, task.ErrEnded):
		return tool.Errorf(tool.OperationNotAllowed, "%s", say).With("Read what it wrote with task_output; start it again where that helps.")
	}
	return tool.Errorf(tool.OperationFailed, "%s", say)
}

// fresh is output of a task that its reader had not seen.
type fresh struct {
	shown
	info    task.Info
	next    int64 // offset where the next reading goes on
	lines   int   // that were filtered
	matched int
	done    bool // there will never be more
}

// reader names the reader whose place in the output is remembered.
func reader(call *tool.Call) string { return "session " + call.Session }

// filterBytes is how much is read at a time to be filtered.
const filterBytes = 256 << 10

// newOutput returns what a task wrote since the session last looked, cut from its head to what a result may show. With a
// filter only the lines that match are kept.
func (c Config) newOutput(ctx context.Context, call *tool.Call, id string, filter *regexp.Regexp) (fresh, error) {
	lim := c.limits(call)
	cut := clip.Cutter{Limits: lim, Keep: clip.Tail}
	var f fresh
	skipped, begin := int64(0), int64(-1)
	reading := task.Reading{Reader: reader(call), Max: filterBytes, Lines: filter != nil}
	if filter == nil && lim.Bytes > 0 {
		reading.Max, reading.Last = lim.Bytes, true
	}
	for more := true; more; {
		chunk, err := c.Tasks.Read(ctx, id, reading)
		if err != nil {
			return f, err
		}
		if begin < 0 {
			begin = chunk.From - chunk.Skipped
		}
		skipped += chunk.Skipped
		f.info, f.next, f.done = chunk.Info, chunk.Next, chunk.Done && !chunk.More
		data := chunk.Data
		if chunk.Terminal {
			data = plain(data)
		}
		if filter == nil {
			cut.Write(data)
		} else {
			f.filter(&cut, filter, data)
		}
		more = chunk.More && len(chunk.Data) > 0 && !reading.Last
	}
	res := cut.Result()
	lost := skipped
	if res.Cut.Truncated() {
		lost += res.Cut.Bytes.Total - res.Cut.Bytes.Kept
		res = clip.Result{Head: res.Head + res.Tail}
	}
	f.text = strings.TrimSuffix(res.Text(), "\n")
	broken := 0
	if f.text, broken = readable(f.text); broken < 0 {
		f.text = "(binary output)"
	}
	if lost > 0 {
		f.cut = true
		f.text = fmt.Sprintf("…(%d bytes truncated from head)…\n%s", lost, f.text)
		if filter == nil {
			f.notes = append(f.notes, fmt.Sprintf("[task_output id=%s offset=%d reads what was left out, as far as it is kept.]", id, begin))
		}
	}
	return f, nil
}

// sequences are what programs write to move the cursor and to change colours and titles (ECMA-48): noise to a model.
var sequences = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[ -/]*[0-~])|\r+(\n)`)

// plain returns what was written to a terminal as lines of text.
func plain(data []byte) []byte { return sequences.ReplaceAll(data, []byte("$3")) }

// filter keeps the lines that match.
func (f *fresh) filter(to *clip.Cutter, filter *regexp.Regexp, data []byte) {
	for line := range strings.Lines(string(data)) {
		f.lines++
		if filter.MatchString(strings.TrimRight(line, "\r\n")) {
			f.matched++
			to.Write([]byte(line))
		}
	}
}

// lookEvery is how often a wait looks whether the task waits for input.
const lookEvery = time.Second

// await waits until a task has ended, or waits for input itself, or the time is over.
func (c Config) await(ctx context.Context, id string, until time.Time) error {
	for {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		soon, cancel := context.WithTimeout(ctx, min(left, lookEvery))
		_, err := c.Tasks.Wait(soon, id)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return taskError(err)
		}
		i, err := c.Tasks.Look(ctx, id)
		if err != nil {
			return taskError(err)
		}
		if i.Waiting != nil && i.Waiting.Sure {
			return nil
		}
	}
}

// patient returns when a wait of so many seconds is over: at the latest when the face would answer instead.
func patient(call *tool.Call, seconds int) time.Time {
	d := time.Duration(seconds) * time.Second
	if call.Hold > 0 {
		d = min(d, call.Hold)
	}
	return time.Now().Add(d)
}

// standing says how a task stands, with what a model can do about it.
func (c Config) standing(ctx context.Context, id string) (task.Info, string) {
	i, err := c.Tasks.Look(ctx, id)
	if err != nil {
		return i, "its state could not be read"
	}
	s := i.String()
	if i.Waiting != nil {
		s = strings.Replace(s, "; it waited for", "; it waits for", 1)
		s = strings.Replace(s, "; it seemed to wait", "; it seems to wait", 1)
	}
	return i, s
}
