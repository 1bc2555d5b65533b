package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed input.md
var inputText string

// Input is the task_input tool. What a task reads it may obey, as a shell does: so sending input is judged like running a
// command whose text says nothing about what it does.
type Input struct{ Config }

type inputInput struct {
	ID      string `json:"id" jsonschema:"Task id"`
	Content string `json:"content,omitempty" jsonschema:"Text"`
	Raw     bool   `json:"raw,omitempty" jsonschema:"Add no newline; \\u0003 is Ctrl-C"`
	Close   bool   `json:"close,omitempty" jsonschema:"End its input"`
}

// Tool returns the tool.
func (t Input) Tool() tool.Tool {
	t.Config = t.complete()
	return tool.Define(tool.Spec{
		Name: "task_input", Category: "task", Title: "Send input to task",
		Description: tool.Describe(inputText, nil),
		Annotations: tool.Annotations{Destructive: true, OpenWorld: true},
		Example:     `{"id": "k3v9ab", "content": "yes"}`,
	}, t.plan)
}

func (t Input) plan(ctx context.Context, call *tool.Call, in inputInput) (tool.Action, error) {
	if in.Content == "" && !in.Close && in.Raw {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "there is nothing to send.").For("content", "text to send, or close=true")
	}
	info, err := t.find(ctx, call, in.ID)
	if err != nil {
		return tool.Action{}, err
	}
	if !info.Running {
		return tool.Action{}, taskError(&task.Error{ID: in.ID, Err: task.ErrEnded, Say: fmt.Sprintf("task %s has ended (%s)", in.ID, info)})
	}
	data := []byte(in.Content)
	if !in.Raw && (len(data) > 0 || !in.Close) {
		data = append(data, '\n')
	}
	intent := tool.Intent{Effects: []tool.Effect{tool.Execute}, Alone: true}
	return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		before, err := t.Tasks.Get(in.ID)
		if err != nil {
			return tool.Result{}, taskError(err)
		}
		if err := t.send(ctx, in.ID, data, in.Close); err != nil {
			return tool.Result{}, err
		}
		if err := t.answer(ctx, in.ID, before.Output); err != nil {
			return tool.Result{}, taskError(err)
		}
		f, err := t.newOutput(ctx, call, in.ID, nil)
		if err != nil {
			return tool.Result{}, taskError(err)
		}
		if f.text == "" {
			f.text = "(no answer yet)"
		}
		info, how := t.standing(ctx, in.ID)
		return f.taskResult(fmt.Sprintf("Task %s: %s", in.ID, how), &info), nil
	}}, nil
}

// send sends the data. A task that does not read is not waited for longer than for an answer.
func (t Input) send(ctx context.Context, id string, data []byte, done bool) error {
	soon, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	err := t.Tasks.Input(soon, id, data, done)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return tool.Errorf(tool.OperationFailed, "task %s does not read its input: of %d bytes some are still waiting to be read.", id, len(data)).
			With("Look at it with task_output; do not send the text again.")
	}
	return taskError(err)
}

// answer waits for what a task answers behind an offset: until it is quiet for a moment, because a terminal shows first
// what was typed, and programs write in pieces.
func (t Input) answer(ctx context.Context, id string, at int64) error {
	until := time.Now().Add(replyTime)
	for wait := replyTime; wait > 0; wait = min(quietTime, time.Until(until)) {
		c, err := t.Tasks.Read(ctx, id, task.Reading{At: at, Max: 1, Wait: wait})
		if err != nil || c.Output == at {
			return err
		}
		at = c.Output
	}
	return nil
}
