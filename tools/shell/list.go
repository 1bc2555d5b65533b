package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed list.md
var listText string

// List is the task_list tool.
type List struct{ Config }

type listInput struct{}

// commandWidth is how much of a command line a list shows, in characters.
const commandWidth = 120

// Tool returns the tool.
func (t List) Tool() tool.Tool {
	t.Config = t.complete()
	return tool.Define(tool.Spec{
		Name: "task_list", Category: "task", Title: "List tasks",
		Description: tool.Describe(listText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{}`,
	}, t.plan)
}

func (t List) plan(_ context.Context, call *tool.Call, _ listInput) (tool.Action, error) {
	return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Alone: true}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		list, err := t.list(ctx, call)
		if err != nil {
			return tool.Result{}, err
		}
		if len(list) == 0 {
			return tool.TextResult("No tasks. shell with background=true starts one.", list), nil
		}
		lines := make([]string, len(list))
		for i := range list {
			info, how := t.standing(ctx, list[i].ID)
			list[i] = info
			what := strings.Join(strings.Fields(info.Command), " ")
			if info.Title != "" {
				what = info.Title + ": " + what
			}
			lines[i] = fmt.Sprintf("%s\t%s\t%s", info.ID, how, clip.Middle(what, commandWidth))
		}
		return tool.TextResult(strings.Join(lines, "\n"), list), nil
	}}, nil
}
