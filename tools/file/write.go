package file

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed write.md
var writeText string

// Write is the write_file tool (F2). The zero value is ready.
type Write struct{}

type writeInput struct {
	Path    string `json:"path" jsonschema:"File to write"`
	Content string `json:"content" jsonschema:"The whole new content"`
}

// writeData is what people and programs see of write_file.
type writeData struct {
	Path    string `json:"path"`
	Outcome string `json:"outcome"` // created, updated or unchanged
	Bytes   int    `json:"bytes"`
}

// Tool returns the tool.
func (t Write) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "write_file", Category: "file", Title: "Write file", Permission: "edit",
		Description: tool.Describe(writeText, nil),
		Annotations: tool.Annotations{Destructive: true, Idempotent: true},
		Example:     `{"path": "notes/plan.md", "content": "# Plan\n"}`,
		Models:      editsByString,
	}, t.plan)
}

func (Write) plan(ctx context.Context, call *tool.Call, in writeInput) (tool.Action, error) {
	l, err := load(ctx, call, in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if err := mustHaveRead(call, &l, in.Path); err != nil {
		return tool.Action{}, err
	}
	if err := knownContent(call, &l, in.Path); err != nil {
		return tool.Action{}, err
	}
	data := []byte(in.Content)
	if l.exists() {
		if line := edit.AddedOmission(string(l.data()), in.Content); line != "" {
			return tool.Action{}, &tool.Error{Code: tool.InvalidParameter, Parameter: "content", Expected: "the whole content, without placeholders",
				Message: fmt.Sprintf("content has the line %q, which stands for text that is left out; %q would lose it. Nothing was written.", line, in.Path),
				Hint:    "Write the whole content, or change only a part of the file with edit."}
		}
		if data, err = likeBefore(l.data(), in.Content, in.Path); err != nil {
			return tool.Action{}, err
		}
	}
	d := writeData{Path: in.Path, Outcome: "created", Bytes: len(data)}
	intent := tool.Intent{Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(l.path, tool.Write)}, Persists: true}
	if l.exists() && bytes.Equal(data, l.data()) {
		d.Outcome = "unchanged"
		return tool.Action{Intent: intent, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			mark(call, &l, l.state.Blob.Digest())
			return tool.TextResult(fmt.Sprintf("No change needed: %s already at target state (%d bytes)", in.Path, len(data)), d), nil
		}}, nil
	}
	set := &change.Set{}
	verb := "Created"
	if l.exists() {
		verb, d.Outcome = "Updated", "updated"
		set.Ops = []change.Op{change.Replace(l.path.Real, l.state, data)}
	} else {
		if set.Ops, err = parents(ctx, call, l.path.Real); err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
		set.Ops = append(set.Ops, change.Create(l.path.Real, data, 0))
		intent.MayCreate = []string{l.path.Real}
	}
	intent.Changes = set
	notes := l.linkNote(in.Path) + shrinkNote(l.state.Blob.Size(), int64(len(data)))
	return tool.Action{Intent: intent, Run: commit(set, func(host.Receipt) tool.Result {
		return tool.TextResult(fmt.Sprintf("%s %s (%d bytes)%s", verb, in.Path, len(data), notes), d)
	})}, nil
}

// shrinkNote says that little is left of a file, which is seldom meant.
func shrinkNote(before, after int64) string {
	if before < 10_000 || after > before/10 {
		return ""
	}
	return fmt.Sprintf("\nNote: the file had %d bytes before. If that was not meant, read its old content from version control, or have the call undone.", before)
}

// knownContent refuses to write over a file that changed since this session read it: the new content was made from the
// old one. A file that the session never read is written as asked; its before-image is kept.
func knownContent(call *tool.Call, l *loaded, given string) error {
	if l.state.Blob == nil {
		return nil
	}
	if seen, current := known(call, l); !seen || current {
		return nil
	}
	return &tool.Error{Code: tool.Stale, Parameter: "path", Retry: true,
		Message: fmt.Sprintf("%q changed since this session read it; nothing was written.", given),
		Hint:    "Read it again with read_file, then write it with both changes in it, or use edit."}
}

// likeBefore encodes new content in the way the existing file is written. A binary or damaged file is replaced as
// given. Content that already has CRLF endings is taken as it is.
func likeBefore(before []byte, content, given string) ([]byte, error) {
	old, err := text.Decode(before)
	if errors.Is(err, text.ErrBinary) || len(before) == 0 {
		return []byte(content), nil
	}
	var ce *text.CharError
	if errors.As(err, &ce) {
		return []byte(content), nil
	}
	if err != nil {
		return nil, tool.Errorf(tool.OperationFailed, "%q: %v.", given, err)
	}
	if ending := text.DetectEnding(old.Content); ending == text.CRLF || ending == text.CR {
		content = text.WithEnding(content, ending)
	}
	enc := old.Encoding
	if enc.Charset == text.Broken {
		enc.Charset = text.UTF8
	}
	if enc.BOM {
		content = trimBOM(content)
	}
	data, err := enc.Encode([]byte(content))
	if errors.As(err, &ce) {
		return nil, &tool.Error{Code: tool.InvalidParameter, Parameter: "content", Err: err,
			Message:  fmt.Sprintf("%q is written in %s, which cannot hold the new content: %v.", given, enc, err),
			Expected: "characters that exist in " + enc.String(), Hint: "Replace the character, or delete the file first and write it anew as UTF-8."}
	}
	return data, err
}

func trimBOM(s string) string {
	if len(s) >= 3 && s[:3] == "\xEF\xBB\xBF" {
		return s[3:]
	}
	return s
}
