// Package todo holds the tool with which a session keeps its list of things to do.
package todo

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// Limits of a list.
const (
	MaxItems   = 200
	MaxContent = 1000 // characters of an item
)

//go:embed todo.md
var text string

// Lists keeps the lists of sessions. session.Todos is one.
type Lists interface {
	Load(ctx context.Context, session string) ([]session.Todo, error)
	Save(ctx context.Context, session string, list []session.Todo) error
}

// Tool is the todo tool.
type Tool struct{ Lists Lists }

type input struct {
	Items []item `json:"items,omitempty" jsonschema:"The whole list as it is from now on; without it the list is shown"`
	Clear bool   `json:"clear,omitempty" jsonschema:"Empty the list"`
}

type item struct {
	Content string `json:"content"`
	Status  string `json:"status,omitempty" jsonschema:"Default pending" schema:"enum=pending|in_progress|completed|cancelled"`
}

// data is what people and programs see of it.
type data struct {
	Items []session.Todo `json:"items"`
	Open  int            `json:"open"` // neither completed nor cancelled
}

// Tool returns the tool.
func (t Tool) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "todo", Category: "session", Title: "Todo list",
		Description: tool.Describe(text, map[string]int{"Items": MaxItems}),
		Annotations: tool.Annotations{Idempotent: true},
		Example:     `{"items": [{"content": "read the parser", "status": "completed"}, {"content": "mend the test", "status": "in_progress"}]}`,
	}, t.plan)
}

func (t Tool) plan(_ context.Context, call *tool.Call, in input) (tool.Action, error) {
	list, err := in.list()
	if err != nil {
		return tool.Action{}, err
	}
	// It changes nothing but the session's own notes, and depends on the calls before it.
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}, Alone: true}
	return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		before, err := t.Lists.Load(ctx, call.Session)
		if err != nil {
			return tool.Result{}, tool.Fault(err)
		}
		if in.Items == nil && !in.Clear {
			return show(before, ""), nil
		}
		if err := t.Lists.Save(ctx, call.Session, list); err != nil {
			return tool.Result{}, tool.Fault(err)
		}
		return show(list, lost(before, list)), nil
	}}, nil
}

// list is the new list of the arguments.
func (in *input) list() ([]session.Todo, error) {
	if in.Clear && len(in.Items) > 0 {
		return nil, tool.Errorf(tool.InvalidParameter, "both items and clear are given.").For("clear", "false, or no items")
	}
	if len(in.Items) > MaxItems {
		return nil, tool.Errorf(tool.LimitExceeded, "%d items; a list has at most %d.", len(in.Items), MaxItems).For("items", "a shorter list").With("Put small steps together, and drop what is completed.")
	}
	out := make([]session.Todo, 0, len(in.Items))
	for i, it := range in.Items {
		content := strings.Join(strings.Fields(it.Content), " ")
		switch n := utf8.RuneCountInString(content); {
		case n == 0:
			return nil, tool.Errorf(tool.InvalidParameter, "item %d has no content.", i+1).For("items", "items that say what is to be done")
		case n > MaxContent:
			return nil, tool.Errorf(tool.LimitExceeded, "item %d has %d characters; an item has at most %d.", i+1, n, MaxContent).For("items", "a line for each").With("Keep details in a file or a plan and name it here.")
		}
		status := session.TodoStatus(it.Status)
		if status == "" {
			status = session.TodoPending
		}
		out = append(out, session.Todo{Content: content, Status: status})
	}
	return out, nil
}

// lost names what was open and is not on the new list: a list that is written whole loses what its writer forgot.
func lost(before, after []session.Todo) string {
	var gone []string
	for _, b := range before {
		if open(b) && !slices.ContainsFunc(after, func(a session.Todo) bool { return a.Content == b.Content }) {
			gone = append(gone, b.Content)
		}
	}
	if gone == nil || len(after) == 0 {
		return ""
	}
	return "No longer on the list, though it was open: " + strings.Join(gone, "; ") + "."
}

func open(t session.Todo) bool {
	return t.Status != session.TodoDone && t.Status != session.TodoCancelled
}

func show(list []session.Todo, note string) tool.Result {
	d := data{Items: append([]session.Todo{}, list...)}
	for _, it := range list {
		if open(it) {
			d.Open++
		}
	}
	out := Text(list)
	switch {
	case len(list) == 0:
		out = "The list is empty."
	case d.Open == 0:
		out += "\nEverything on the list is done."
	}
	if note != "" {
		out += "\n" + note
	}
	return tool.TextResult(out, d)
}

// Text is a list as a Markdown checklist.
func Text(list []session.Todo) string {
	var b strings.Builder
	for i, it := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch it.Status {
		case session.TodoDone:
			fmt.Fprintf(&b, "- [x] %s", it.Content)
		case session.TodoCancelled:
			fmt.Fprintf(&b, "- [-] %s (cancelled)", it.Content)
		case session.TodoActive:
			fmt.Fprintf(&b, "- [ ] %s (in progress)", it.Content)
		default:
			fmt.Fprintf(&b, "- [ ] %s", it.Content)
		}
	}
	return b.String()
}
