// Package artifact holds the tool that answers questions about spooled output (O6).
package artifact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/artifact/query"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed artifact.md
var text string

// Tool is the artifact tool. It is always listed, so that lists are stable; asked about nothing it says what exists.
type Tool struct {
	// List returns the artifacts of a session, the newest first.
	List func(ctx context.Context, session string) ([]artifact.Artifact, error)
}

type input struct {
	ID              string   `json:"id,omitempty" jsonschema:"Artifact id"`
	Op              string   `json:"op,omitempty" jsonschema:"Question, default describe" schema:"enum=list|describe|head|tail|cat|grep|size|lines|tokens|type|keys|length|get|filter|slice|pluck|sections|section"`
	Query           string   `json:"query,omitempty" jsonschema:"JSONPath, jq program (filter) or section title"`
	Pattern         string   `json:"pattern,omitempty" jsonschema:"For grep"`
	Literal         bool     `json:"literal,omitempty"`
	CaseInsensitive bool     `json:"case_insensitive,omitempty"`
	Context         int      `json:"context,omitempty" schema:"min=0,max=1000"`
	Fields          []string `json:"fields,omitempty" jsonschema:"For pluck"`
	Offset          int      `json:"offset,omitempty" jsonschema:"First line (cat), else results to skip"`
	Limit           int      `json:"limit,omitempty" jsonschema:"Lines or results" schema:"min=1"`
	Column          int      `json:"column,omitempty" jsonschema:"First character of lines (cat)" schema:"min=1"`
}

// Tool returns the tool.
func (t Tool) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "artifact", Category: "artifact", Title: "Query artifact",
		Description: tool.Describe(text, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"id": "a7k2m9x", "op": "grep", "pattern": "error"}`,
	}, t.plan)
}

func (t Tool) plan(ctx context.Context, call *tool.Call, in input) (tool.Action, error) {
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}}
	if in.ID == "" || in.Op == "list" {
		intent.Alone = true // the other calls of the turn may add to the list
		return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) { return t.list(ctx, call) }}, nil
	}
	if call.Artifacts == nil {
		return tool.Action{}, tool.Errorf(tool.NotFound, "this session keeps no artifacts.").For("id", "nothing: there are none")
	}
	id, ok := artifact.ParseID(in.ID)
	if !ok {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "%q is no artifact id.", in.ID).For("id", "an id such as a7k2m9x").With("Call artifact without id to list what exists.")
	}
	intent.Targets = []tool.Target{tool.ArtifactTo(id)}
	q := in.question(call)
	return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		a, err := call.Artifacts.Open(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			return tool.Result{}, tool.Errorf(tool.NotFound, "there is no artifact %q; it may have expired.", id).With("Call artifact without id to list what exists.")
		}
		if err != nil {
			return tool.Result{}, err
		}
		defer a.Close()
		answer, err := query.Run(ctx, query.Source{ReaderAt: a, Size: a.Size(), Name: a.Name(), MIME: a.MIME()}, q)
		if err != nil {
			return tool.Result{}, queryError(err)
		}
		return tool.Result{Parts: []tool.Part{tool.Text(answer.Text)}, Data: answer, Bounded: true, Meta: tool.Meta{Truncated: answer.Truncated}}, nil
	}}, nil
}

// question maps the arguments to a query: offset and limit mean lines, elements or results, as the question has them.
func (in *input) question(call *tool.Call) query.Query {
	q := query.Query{Op: query.Op(in.Op), Pattern: in.Pattern, Literal: in.Literal, IgnoreCase: in.CaseInsensitive,
		Before: in.Context, After: in.Context, Fields: in.Fields, Limits: call.Bounds}
	switch q.Op {
	case query.Head, query.Tail:
		q.Count = in.Limit
	case query.Cat:
		q.From, q.Column = int64(max(in.Offset, 1)), in.Column
		if in.Limit > 0 {
			q.To = q.From + int64(in.Limit) - 1
		}
	case query.Slice:
		q.Start, q.Path = in.Offset, in.Query
		if in.Limit > 0 {
			end := in.Offset + in.Limit
			q.End = &end
		}
		return q
	default:
		q.Offset, q.Limit = in.Offset, in.Limit
	}
	switch q.Op {
	case query.Filter:
		q.Program = in.Query
	case query.Section:
		q.Section = in.Query
	default:
		q.Path = in.Query
	}
	return q
}

// list says what the session has.
func (t Tool) list(ctx context.Context, call *tool.Call) (tool.Result, error) {
	var all []artifact.Artifact
	if t.List != nil {
		var err error
		if all, err = t.List(ctx, call.Session); err != nil {
			return tool.Result{}, err
		}
	}
	if len(all) == 0 {
		return tool.TextResult("This session has no artifacts yet. Output that is too long to show becomes one, and its id is named there.", all), nil
	}
	var b strings.Builder
	for i, a := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\t%s\t%d bytes\t%d lines\t%s", a.ID, a.Name, a.Size, a.Lines, a.MIME)
	}
	return tool.TextResult(b.String(), all), nil
}

// queryError turns an error of the engine into one for the model.
func queryError(err error) error {
	var e *query.Error
	if !errors.As(err, &e) {
		return err
	}
	out := &tool.Error{Code: tool.InvalidParameter, Message: e.Message, Hint: e.Hint, Err: err}
	switch e.Code {
	case query.CodeNotFound:
		out.Code = tool.NotFound
	case query.CodeFormat, query.CodeMalformed:
		out.Code = tool.OperationNotAllowed
	case query.CodeTooLarge:
		out.Code = tool.LimitExceeded
	case query.CodeTimedOut:
		out.Code = tool.TimedOut
	}
	switch e.Field {
	case "path", "jq", "section":
		out.Parameter = "query"
	default:
		out.Parameter = e.Field
	}
	if len(e.Exists) > 0 {
		out.Expected = "one of " + strings.Join(e.Exists[:min(len(e.Exists), 20)], ", ")
	}
	return out
}
