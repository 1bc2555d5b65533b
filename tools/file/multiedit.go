package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed multiedit.md
var multiEditText string

// MultiEdit is the multi_edit tool (F4). The zero value is ready.
type MultiEdit struct {
	element *schema.Checker // of one element of edits
}

type multiEditInput struct {
	Path   string                    `json:"path" jsonschema:"File to change"`
	Edits  []schema.Element[oneEdit] `json:"edits" jsonschema:"Edits in order"`
	Atomic bool                      `json:"atomic,omitempty" jsonschema:"Write all edits or none"`
}

// oneEdit is an element of edits.
type oneEdit struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
	Line       int    `json:"line,omitempty" schema:"min=1"`
}

// outcome is the fate of one edit.
type outcome struct {
	Number       int    `json:"number"` // from 1, as in the call
	Status       string `json:"status"` // applied, failed or denied
	Replacements int    `json:"replacements,omitempty"`
	Rung         string `json:"rung,omitempty"`
	Message      string `json:"message,omitempty"`
}

func (o outcome) String() string {
	if o.Message == "" {
		return fmt.Sprintf("#%d %s", o.Number, o.Status)
	}
	return fmt.Sprintf("#%d %s: %s", o.Number, o.Status, o.Message)
}

// Tool returns the tool.
func (t MultiEdit) Tool() tool.Tool {
	s, err := schema.For[oneEdit]()
	if err == nil {
		t.element, err = schema.Compile(s)
	}
	if err != nil {
		panic(err) // the type stands above
	}
	return tool.Define(tool.Spec{
		Name: "multi_edit", Category: "file", Title: "Edit file at several places", Permission: "edit",
		Description: tool.Describe(multiEditText, nil),
		Annotations: tool.Annotations{Destructive: true},
		Example:     `{"path": "main.go", "edits": [{"old_string": "x := 1", "new_string": "x := 2"}]}`,
		Models:      editsByString,
	}, t.plan)
}

func (t MultiEdit) plan(ctx context.Context, call *tool.Call, in multiEditInput) (tool.Action, error) {
	if len(in.Edits) == 0 {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "edits is empty.").For("edits", "at least one object with old_string and new_string")
	}
	f, err := openText(ctx, call, in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	content, created := f.text.Content, false
	outcomes := make([]outcome, len(in.Edits))
	reqs := make([]edit.Request, 0, len(in.Edits))
	var numbers []int // of reqs
	for i := range in.Edits {
		outcomes[i] = outcome{Number: i + 1, Status: "failed"}
		if ok, words := call.Approved(i + 1); !ok {
			outcomes[i].Status, outcomes[i].Message = "denied", words
			continue
		}
		e, err := t.decode(in.Edits[i].Raw)
		if err != nil {
			outcomes[i].Message = err.Error()
			continue
		}
		reqs = append(reqs, edit.Request{Old: e.OldString, New: e.NewString, ReplaceAll: e.ReplaceAll, Line: e.Line})
		numbers = append(numbers, i)
	}
	if !f.exists() {
		if len(reqs) == 0 || numbers[0] != 0 || reqs[0].Old != "" {
			return tool.Action{}, missing(ctx, call, &f.loaded, "path", in.Path)
		}
		created = true // the first edit makes the file, the others change it
	}
	batch := edit.ApplyAll(content, reqs, edit.Options{Atomic: in.Atomic})
	replacements := 0
	for k, o := range batch.Outcomes {
		out := &outcomes[numbers[k]]
		if o.Err != nil {
			out.Message = strings.TrimSuffix(o.Err.Error(), ".")
			continue
		}
		out.Status, out.Rung, out.Replacements = "applied", o.Result.Rung.String(), len(o.Result.Spans)
		replacements += len(o.Result.Spans)
	}
	rest := unmade("edit", outcomes)
	if batch.Applied == 0 || in.Atomic && rest != "" || f.exists() && f.sameBytes(batch.Content) {
		return tool.Action{}, nothingWritten(in, outcomes)
	}
	data := editData{Path: in.Path, Created: created, Replacements: replacements, Edits: outcomes}
	msg := multiEditMessage(in.Path, f.linkNote(in.Path), outcomes, batch.Applied, replacements)
	if created {
		a, err := f.create(ctx, call, string(batch.Content))
		return retext(a, msg, data), err
	}
	a, err := f.replace(call, batch.Content, msg, data)
	if a.Intent.Changes != nil {
		a.Intent.Hunks = len(in.Edits)
	}
	if rest != "" && err == nil && call.Reading(f.path) == tool.Ask { // the edits that failed quote the file
		a = behind([]tool.Target{tool.PathTo(f.path, tool.Read)}, a.Run)
	}
	return a, err
}

// retext gives the result of an action another text and data.
func retext(a tool.Action, msg string, data editData) tool.Action {
	run := a.Run
	if run == nil {
		return a
	}
	a.Run = func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		res, err := run(ctx, r)
		if err == nil {
			res.Parts, res.Data = []tool.Part{tool.Text(msg)}, data
		}
		return res, err
	}
	return a
}

// decode reads one element, with the same repairs as whole calls.
func (t MultiEdit) decode(raw json.RawMessage) (oneEdit, error) {
	var e oneEdit
	p, err := t.element.Prepare(raw)
	if err != nil {
		return e, fmt.Errorf("malformed edit: %w", err)
	}
	if len(p.Problems) > 0 {
		return e, fmt.Errorf("malformed edit: %s", strings.TrimSuffix(p.Problems[0].Message, "."))
	}
	return e, json.Unmarshal(p.Args, &e)
}

// unmade lists the edits or hunks that were not applied, one line each.
func unmade(what string, outcomes []outcome) string {
	var b strings.Builder
	for _, o := range outcomes {
		if o.Status != "applied" {
			fmt.Fprintf(&b, "\n%s #%d %s: %s", what, o.Number, o.Status, o.Message)
		}
	}
	return b.String()
}

// multiEditMessage is the text that models and replays read: a headline, a note, and the block of outcomes when any edit
// was not applied.
func multiEditMessage(path, note string, outcomes []outcome, applied, replacements int) string {
	msg := fmt.Sprintf("Edited %s: applied %d of %d edits (%d replacements).", path, applied, len(outcomes), replacements) + note
	rest := unmade("edit", outcomes)
	if rest == "" {
		return msg
	}
	return msg + rest + "\n\n" + outcomeBlock(outcomes)
}

func outcomeBlock(outcomes []outcome) string {
	var b strings.Builder
	b.WriteString("<edit-outcomes>\n")
	for _, o := range outcomes {
		first, _, _ := strings.Cut(o.String(), "\n")
		b.WriteString(first + "\n")
	}
	b.WriteString("</edit-outcomes>")
	return b.String()
}

// nothingWritten is the error of a call that changed nothing.
func nothingWritten(in multiEditInput, outcomes []outcome) error {
	why := "No edit could be applied"
	if in.Atomic {
		why = "With atomic, every edit has to apply"
	}
	return &tool.Error{Code: tool.OperationFailed, Parameter: "edits", Message: fmt.Sprintf("%s: %s; nothing was written.%s\n\n%s", in.Path, why, unmade("edit", outcomes), outcomeBlock(outcomes)),
		Hint: "Correct the edits that failed and call again with all of them."}
}
