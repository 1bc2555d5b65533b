package shell

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/tackle-dev/tackle/tool"
)

//go:embed stop.md
var stopText string

// Stop is the task_stop tool.
type Stop struct{ Config }

type stopInput struct {
	ID string `json:"id" jsonschema:"Task id"`
}

// Tool returns the tool.
func (t Stop) Tool() tool.Tool {
	t.Config = t.complete()
	return tool.Define(tool.Spec{
		Name: "task_stop", Category: "task", Title: "Stop task",
		Description: tool.Describe(stopText, nil),
		Annotations: tool.Annotations{Destructive: true, Idempotent: true},
		Example:     `{"id": "k3v9ab"}`,
	}, t.plan)
}

func (t Stop) plan(ctx context.Context, call *tool.Call, in stopInput) (tool.Action, error) {
	before, err := t.find(ctx, call, in.ID)
	if err != nil {
		return tool.Action{}, err
	}
	return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Stop}, Alone: true}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		info, err := t.Tasks.Stop(ctx, in.ID, 0)
		switch {
		case err != nil && len(info.Lives) > 0:
			return tool.Result{}, tool.Errorf(tool.OperationFailed, "%v.", err).With("Retrying will hardly help; tell the person who runs this session.")
		case err != nil:
			return tool.Result{}, taskError(err)
		}
		f, err := t.newOutput(ctx, call, in.ID, nil)
		if err != nil {
			return tool.Result{}, taskError(err)
		}
		how := fmt.Sprintf("Task %s: %s", in.ID, info)
		if !before.Running {
			how = fmt.Sprintf("Task %s had ended already: %s", in.ID, info)
		}
		return f.taskResult(how, &info), nil
	}}, nil
}
