package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed output.md
var outputText string

// Output is the task_output tool.
type Output struct{ Config }

type outputInput struct {
	ID      string `json:"id" jsonschema:"Task id"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"Seconds to wait" schema:"min=0"`
	Pattern string `json:"pattern,omitempty" jsonschema:"Only lines that match this regular expression"`
	Offset  *int64 `json:"offset,omitempty" jsonschema:"Read again from this byte" schema:"min=0"`
}

// Tool returns the tool.
func (t Output) Tool() tool.Tool {
	t.Config = t.complete()
	made := tool.Define(tool.Spec{
		Name: "task_output", Category: "task", Title: "Read task output",
		Description: tool.Describe(outputText, nil),
		Annotations: tool.Annotations{ReadOnly: true},
		Example:     `{"id": "k3v9ab", "timeout": 30}`,
		Timeout:     t.MaxTimeout + slack,
	}, t.plan)
	if def := made.Definition(); def.Err() == nil {
		most := t.MaxTimeout.Seconds()
		def.Schema.Properties["timeout"].Maximum = &most
	}
	return made
}

func (t Output) plan(ctx context.Context, call *tool.Call, in outputInput) (tool.Action, error) {
	var filter *regexp.Regexp
	if in.Pattern != "" {
		var err error
		if filter, err = regexp.Compile(in.Pattern); err != nil {
			return tool.Action{}, tool.Errorf(tool.InvalidParameter, "pattern cannot be read: %v.", err).For("pattern", "a regular expression (RE2)")
		}
	}
	if in.Offset != nil && (filter != nil || in.Timeout > 0) {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "offset reads what was written before; it goes neither with pattern nor with timeout.").For("offset", "offset alone, or pattern and timeout without it")
	}
	if _, err := t.find(ctx, call, in.ID); err != nil {
		return tool.Action{}, err
	}
	return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		if in.Offset != nil {
			return t.again(ctx, call, in.ID, *in.Offset)
		}
		f, err := t.wait(ctx, call, &in, filter)
		if err != nil {
			return tool.Result{}, taskError(err)
		}
		return t.result(ctx, &f, filter != nil), nil
	}}, nil
}

// wait reads what is new, when it has waited for what the caller wants to see.
func (t Output) wait(ctx context.Context, call *tool.Call, in *outputInput, filter *regexp.Regexp) (fresh, error) {
	until := patient(call, in.Timeout)
	if filter == nil {
		if err := t.await(ctx, in.ID, until); err != nil {
			return fresh{}, err
		}
		return t.newOutput(ctx, call, in.ID, nil)
	}
	var all fresh
	for {
		f, err := t.newOutput(ctx, call, in.ID, filter)
		if err != nil {
			return f, err
		}
		f.lines += all.lines
		all = f
		left := time.Until(until)
		if f.matched > 0 || f.done || left <= 0 {
			return all, nil
		}
		// Behind everything that there is: a line that has begun is not waited for again and again.
		_, err = t.Tasks.Read(ctx, in.ID, task.Reading{At: f.info.Output, Max: 1, Wait: min(left, lookEvery)})
		if err != nil && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return f, errors.Join(ctx.Err(), err)
		}
	}
}

// result shows new output and how the task stands.
func (t Output) result(ctx context.Context, f *fresh, filtered bool) tool.Result {
	info, how := t.standing(ctx, f.info.ID)
	if filtered {
		how = fmt.Sprintf("%s; %d of %d new lines match", how, f.matched, f.lines)
	} else if f.text == "" {
		f.text = "(no new output)"
	}
	return f.taskResult(fmt.Sprintf("Task %s: %s", f.info.ID, how), &info)
}

// again shows output from an offset on, and leaves the place of the reader as it is.
func (t Output) again(ctx context.Context, call *tool.Call, id string, at int64) (tool.Result, error) {
	lim := t.limits(call)
	chunk, err := t.Tasks.Read(ctx, id, task.Reading{At: at, Max: lim.Bytes})
	if err != nil {
		return tool.Result{}, taskError(err)
	}
	var f fresh
	f.info = chunk.Info
	broken := 0
	data := chunk.Data
	if chunk.Terminal {
		data = plain(data)
	}
	if f.text, broken = readable(string(data)); broken < 0 {
		f.text = "(binary output)"
	}
	f.text = strings.TrimSuffix(f.text, "\n")
	if chunk.Skipped > 0 {
		f.text = fmt.Sprintf("…(%d bytes no longer kept)…\n%s", chunk.Skipped, f.text)
	}
	how := fmt.Sprintf("Bytes %d–%d of %d", chunk.From, chunk.Next, chunk.Output)
	if chunk.More {
		how += fmt.Sprintf("; go on with offset=%d", chunk.Next)
	}
	if f.text == "" {
		f.text = "(no output there)"
	}
	return f.taskResult(how, &chunk.Info), nil
}

// taskResult is the result of a look at a task.
func (f *fresh) taskResult(status string, info *task.Info) tool.Result {
	return tool.Result{Parts: []tool.Part{tool.Text(f.withStatus(status))}, Data: info, Bounded: true, Meta: tool.Meta{Truncated: f.cut}}
}
