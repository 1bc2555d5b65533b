package file

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed edit.md
var editText string

// Edit is the edit tool (F3). The zero value is ready.
type Edit struct{}

type editInput struct {
	Path       string `json:"path" jsonschema:"File to change"`
	OldString  string `json:"old_string" jsonschema:"Text to replace"`
	NewString  string `json:"new_string" jsonschema:"Text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence"`
	Line       int    `json:"line,omitempty" jsonschema:"Of several matches, the one on this line" schema:"min=1"`
}

// editData is what people and programs see of edit and multi_edit.
type editData struct {
	Path         string    `json:"path"`
	Created      bool      `json:"created,omitempty"`
	Replacements int       `json:"replacements"`
	Rung         string    `json:"rung,omitempty"` // how old_string was found (edit only)
	Edits        []outcome `json:"edits,omitempty"`
}

// Tool returns the tool.
func (t Edit) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "edit", Category: "file", Title: "Edit file", Permission: "edit",
		Description: tool.Describe(editText, nil),
		Annotations: tool.Annotations{Destructive: true},
		Example:     `{"path": "main.go", "old_string": "x := 1", "new_string": "x := 2"}`,
		Models:      editsByString,
	}, t.plan)
}

func (Edit) plan(ctx context.Context, call *tool.Call, in editInput) (tool.Action, error) {
	f, err := openText(ctx, call, in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if !f.exists() {
		if in.OldString != "" {
			return tool.Action{}, missing(ctx, call, &f.loaded, "path", in.Path)
		}
		return f.create(ctx, call, in.NewString)
	}
	res, err := edit.Apply(f.text.Content, edit.Request{Old: in.OldString, New: in.NewString, ReplaceAll: in.ReplaceAll, Line: in.Line})
	if err != nil {
		return tool.Action{}, editError(in.Path, err)
	}
	data := editData{Path: in.Path, Replacements: len(res.Spans), Rung: res.Rung.String()}
	msg := fmt.Sprintf("Edited %s: %s", in.Path, replaced(res.Spans))
	if res.Note != "" {
		msg += "\nNote: " + res.Note
	}
	msg += f.linkNote(in.Path)
	return f.replace(call, res.Content, msg, data)
}

// textFile is a file that is about to be edited as text.
type textFile struct {
	loaded
	given string
	text  text.Text
}

// openText loads a file and decodes it. A missing file is no error; one that is not text is.
func openText(ctx context.Context, call *tool.Call, given string) (*textFile, error) {
	l, err := load(ctx, call, given)
	if err != nil {
		return nil, err
	}
	f := &textFile{loaded: l, given: given}
	if err := mustHaveRead(call, &f.loaded, given); err != nil || !l.exists() {
		return f, err
	}
	f.text, err = text.Decode(l.data())
	if errors.Is(err, text.ErrBinary) {
		return nil, &tool.Error{Code: tool.OperationNotAllowed, Parameter: "path", Expected: "a text file", Err: err,
			Message: fmt.Sprintf("%q is binary (%d bytes) and cannot be edited as text.", given, len(l.data())), Hint: "Retrying will not help; use a tool made for its format."}
	}
	if err != nil {
		return nil, &tool.Error{Code: tool.OperationNotAllowed, Parameter: "path", Expected: "text that can be written back as it is", Err: err,
			Message: fmt.Sprintf("%q cannot be edited without losing bytes: %v.", given, err), Hint: "Convert the file to UTF-8 first."}
	}
	return f, nil
}

// create is the action of an edit whose old text is empty on a path where nothing is.
func (f *textFile) create(ctx context.Context, call *tool.Call, content string) (tool.Action, error) {
	ops, err := parents(ctx, call, f.path.Real)
	if err != nil {
		return tool.Action{}, tool.PathError("path", f.given, err)
	}
	set := &change.Set{Ops: append(ops, change.Create(f.path.Real, []byte(content), 0))}
	intent := tool.Intent{Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(f.path, tool.Write)},
		MayCreate: []string{f.path.Real}, Persists: true, Changes: set}
	return tool.Action{Intent: intent, Run: commit(set, func(host.Receipt) tool.Result {
		return tool.TextResult(fmt.Sprintf("Created %s (%d bytes)", f.given, len(content)), editData{Path: f.given, Created: true, Replacements: 1})
	})}, nil
}

// replace is the action that gives the file new content, in its own encoding.
func (f *textFile) replace(call *tool.Call, content []byte, msg string, data editData) (tool.Action, error) {
	raw, err := f.text.Encoding.Encode(content)
	if err != nil {
		return tool.Action{}, &tool.Error{Code: tool.InvalidParameter, Parameter: "new_string", Err: err,
			Message:  fmt.Sprintf("%q is written in %s, which cannot hold the new text: %v.", f.given, f.text.Encoding, err),
			Expected: "characters that exist in " + f.text.Encoding.String(), Hint: "Replace the character, or convert the file to UTF-8 first."}
	}
	set := &change.Set{Ops: []change.Op{change.Replace(f.path.Real, f.state, raw)}}
	intent := tool.Intent{Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(f.path, tool.Write)}, Persists: true, Changes: set}
	return planned(call, f.path, tool.Action{Intent: intent, Run: commit(set, func(host.Receipt) tool.Result { return tool.TextResult(msg, data) })}), nil
}

// replaced says where text was replaced: "1 replacement at line 5", "3 replacements at lines 5, 9, 20".
func replaced(spans []edit.Span) string {
	const show = 10
	if len(spans) == 1 {
		return fmt.Sprintf("1 replacement at line %d.", spans[0].NewLine)
	}
	var lines []string
	for i, s := range spans {
		if i == show {
			lines = append(lines, fmt.Sprintf("and %d more", len(spans)-i))
			break
		}
		lines = append(lines, fmt.Sprint(s.NewLine))
	}
	return fmt.Sprintf("%d replacements at lines %s.", len(spans), strings.Join(lines, ", "))
}

// editError turns an error of the engine into one for the model.
func editError(given string, err error) *tool.Error {
	e := &tool.Error{Code: tool.OperationFailed, Parameter: "old_string", Err: err, Message: fmt.Sprintf("%s: %v.", given, strings.TrimSuffix(err.Error(), ".")),
		Hint: "Nothing was written."}
	var (
		identical *edit.IdenticalError
		empty     *edit.EmptyOldError
		omission  *edit.OmissionError
		ambiguous *edit.AmbiguousError
		notFound  *edit.NotFoundError
	)
	switch {
	case errors.As(err, &identical):
		e.Code, e.Parameter, e.Expected = tool.InvalidParameter, "new_string", "a text that differs from old_string"
	case errors.As(err, &empty):
		e.Code, e.Expected = tool.InvalidParameter, "the text to replace"
	case errors.As(err, &omission):
		e.Code, e.Parameter, e.Expected = tool.InvalidParameter, "new_string", "the whole new text, without placeholders"
	case errors.As(err, &ambiguous):
		e.Code, e.Expected = tool.InvalidParameter, "text that stands at one place"
		e.Hint = "Nothing was written. Add lines around it, name the line, or set replace_all."
	case errors.As(err, &notFound) && notFound.AlreadyApplied > 0:
		e.Code, e.Hint = tool.NotFound, "Nothing was written; nothing needs to be, if that is the change you meant."
	case errors.As(err, &notFound):
		e.Code, e.Expected = tool.NotFound, "text as it stands in the file"
	}
	return e
}

// sameBytes reports whether an edit would leave the file as it is.
func (f *textFile) sameBytes(content []byte) bool { return bytes.Equal(f.text.Content, content) }
