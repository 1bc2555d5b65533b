package file

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// Copy is the copy_file tool.
type Copy struct{}

type copyInput struct {
	Path string `json:"path" jsonschema:"File, link or folder to copy"`
	To   string `json:"to" jsonschema:"Path of the copy; missing parent folders are made"`
}

// Tool returns the tool.
func (t Copy) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "copy_file", Category: "file", Title: "Copy file", Permission: "edit",
		Description: "Copy a file, link or folder with its modes. Never overwrites: the new path must be free.",
		Annotations: tool.Annotations{},
		Example:     `{"path": "config.example.yaml", "to": "config.yaml"}`,
	}, t.plan)
}

func (Copy) plan(ctx context.Context, call *tool.Call, in copyInput) (tool.Action, error) {
	if id, ok := tool.ArtifactPath(in.Path); ok {
		return copyArtifact(ctx, call, id, in)
	}
	from, to, err := sourceAndGoal(ctx, call, in.Path, in.To)
	if err != nil {
		return tool.Action{}, err
	}
	set := &change.Set{}
	if set.Ops, err = parents(ctx, call, to.Real); err != nil {
		return tool.Action{}, tool.PathError("to", in.To, err)
	}
	w := &walker{ctx: ctx, call: call, contents: true}
	switch from.state.Type {
	case change.Dir:
		set.Ops = append(set.Ops, change.Op{Kind: change.Mkdir, Path: to.Real, After: change.State{Type: change.Dir, Mode: from.state.Mode}})
		if err := w.walk(from.path); err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
	default:
		if err := w.content(&from, in.Path); err != nil {
			return tool.Action{}, err
		}
		set.Ops = append(set.Ops, change.Op{Kind: change.Write, Path: to.Real, After: from.state})
	}
	for _, e := range w.found {
		kind := change.Write
		if e.state.Type == change.Dir {
			kind = change.Mkdir
		}
		rel, err := filepath.Rel(from.path.Real, e.path.Real)
		if err != nil {
			return tool.Action{}, tool.Fault(err)
		}
		set.Ops = append(set.Ops, change.Op{Kind: kind, Path: filepath.Join(to.Real, rel), After: e.state})
	}
	data := treeData{Path: in.Path, To: in.To, Files: len(w.found) + 1, Bytes: w.bytes}
	a := tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read, tool.Write}, Persists: true, Changes: set, MayCreate: []string{to.Real},
			Targets: []tool.Target{tool.PathTo(from.path, tool.Read), tool.PathTo(to, tool.Write)}},
		Run: commit(set, func(host.Receipt) tool.Result {
			return tool.TextResult(fmt.Sprintf("Copied %s to %s (%d entries, %d bytes).", in.Path, in.To, data.Files, data.Bytes), data)
		}),
	}
	var private []tool.Target // a copy can be read like its original
	for _, e := range append(w.found, entryState{from.path, from.state}) {
		if e.state.Type == change.File && call.Reading(e.path) != tool.Allow {
			private = append(private, tool.PathTo(e.path, tool.Read))
		}
	}
	if len(private) > 0 {
		return behind(private, a.Run), nil
	}
	return a, nil
}

// copyArtifact makes a file of spooled output.
func copyArtifact(ctx context.Context, call *tool.Call, id string, in copyInput) (tool.Action, error) {
	to, err := goal(ctx, call, in.To, id)
	if err != nil {
		return tool.Action{}, err
	}
	a, err := openArtifact(ctx, call, id)
	if err != nil {
		return tool.Action{}, err
	}
	defer a.Close()
	if a.Size() > MaxTreeSize {
		return tool.Action{}, tool.Errorf(tool.LimitExceeded, "artifact %s has %d bytes; copy_file takes up to %d.", id, a.Size(), int64(MaxTreeSize)).
			For("path", "a smaller artifact").With("Take parts of it with the artifact tool.")
	}
	data := make([]byte, a.Size())
	if n, err := a.ReadAt(data, 0); n < len(data) {
		return tool.Action{}, fmt.Errorf("read artifact %s: %w", id, err)
	}
	ops, err := parents(ctx, call, to.Real)
	if err != nil {
		return tool.Action{}, tool.PathError("to", in.To, err)
	}
	set := &change.Set{Ops: append(ops, change.Create(to.Real, data, 0))}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read, tool.Write}, Persists: true, Changes: set, MayCreate: []string{to.Real},
			Targets: []tool.Target{tool.ArtifactTo(id), tool.PathTo(to, tool.Write)}},
		Run: commit(set, func(host.Receipt) tool.Result {
			return tool.TextResult(fmt.Sprintf("Copied %s to %s (1 entries, %d bytes).", in.Path, in.To, len(data)), treeData{Path: in.Path, To: in.To, Files: 1, Bytes: int64(len(data))})
		}),
	}, nil
}
