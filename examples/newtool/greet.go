package main

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/tool"
)

// Greet is a whole tool: its limit is a field, its arguments are a struct, its plan says what it would touch.
type Greet struct {
	Most int // greetings of one call
}

type greetInput struct {
	Name  string `json:"name" jsonschema:"Whom to greet"`
	Times int    `json:"times,omitempty" jsonschema:"How often" schema:"min=1"`
}

// Tool returns the tool.
func (t Greet) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "greet", Category: "demo", Title: "Greet",
		Description: "Greet somebody by name.",
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"name": "Reader"}`,
	}, t.plan)
}

func (t Greet) plan(_ context.Context, _ *tool.Call, in greetInput) (tool.Action, error) {
	n := max(in.Times, 1)
	if n > t.Most {
		return tool.Action{}, tool.Errorf(tool.LimitExceeded, "%d greetings are too many.", n).For("times", fmt.Sprintf("at most %d", t.Most))
	}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read}},
		Run: func(_ context.Context, r tool.Runner) (tool.Result, error) {
			text := ""
			for i := range n {
				r.Progress(float64(i+1), float64(n), "greeting")
				text += "Hello, " + in.Name + ".\n"
			}
			return tool.TextResult(text, in), nil
		},
	}, nil
}
