package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// Delete is the delete_file tool.
type Delete struct{}

type deleteInput struct {
	Path      string `json:"path" jsonschema:"File, link or folder to delete"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"Delete a folder with everything in it"`
}

// treeData is what people see of delete_file, move_file and copy_file.
type treeData struct {
	Path  string `json:"path"`
	To    string `json:"to,omitempty"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes,omitempty"`
}

// Tool returns the tool.
func (t Delete) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "delete_file", Category: "file", Title: "Delete file", Permission: "edit",
		Description: "Delete a file, link or folder. A link is deleted itself, not what it points to. A folder that is not empty needs recursive. Undo brings everything back.",
		Annotations: tool.Annotations{Destructive: true},
		Example:     `{"path": "src/old.go"}`,
	}, t.plan)
}

func (Delete) plan(ctx context.Context, call *tool.Call, in deleteInput) (tool.Action, error) {
	l, err := statNoFollow(ctx, call, in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if !l.exists() {
		return tool.Action{}, missing(ctx, call, &l, "path", in.Path)
	}
	w := &walker{ctx: ctx, call: call}
	if l.state.Type == change.File {
		if err := w.content(&l, in.Path); err != nil {
			return tool.Action{}, err
		}
	}
	if err := mustHaveRead(call, &l, in.Path); err != nil && l.state.Type == change.File {
		return tool.Action{}, err
	}
	if l.state.Type == change.Dir {
		if err := notRoot(call, l.path, in.Path); err != nil {
			return tool.Action{}, err
		}
		entries, err := call.Host.ReadDir(ctx, l.path.Real)
		if err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
		if len(entries) > 0 && !in.Recursive {
			return tool.Action{}, &tool.Error{Code: tool.OperationNotAllowed, Parameter: "recursive", Expected: "true, for a folder that is not empty",
				Message: fmt.Sprintf("%q is a folder with %d entries; nothing was deleted.", in.Path, len(entries)),
				Hint:    "Look at it with list_dir. If all of it shall go, call again with recursive=true."}
		}
		if err := w.walk(l.path.Real); err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
	}
	set := &change.Set{}
	for _, e := range slices.Backward(w.found) { // children first
		set.Ops = append(set.Ops, change.Op{Kind: change.Delete, Path: e.path, Before: e.state})
	}
	set.Ops = append(set.Ops, change.Op{Kind: change.Delete, Path: l.path.Real, Before: l.state})
	data := treeData{Path: in.Path, Files: len(set.Ops), Bytes: w.bytes}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(l.path, tool.Write)}, Persists: true, Changes: set},
		Run: commit(set, func(host.Receipt) tool.Result {
			text := fmt.Sprintf("Deleted %s.", in.Path)
			if len(set.Ops) > 1 {
				text = fmt.Sprintf("Deleted %s and the %d entries in it.", in.Path, len(set.Ops)-1)
			}
			return tool.TextResult(text, data)
		}),
	}, nil
}

// Move is the move_file tool.
type Move struct{}

type moveInput struct {
	Path string `json:"path" jsonschema:"File, link or folder to move"`
	To   string `json:"to" jsonschema:"New path; missing parent folders are made"`
}

// Tool returns the tool.
func (t Move) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "move_file", Category: "file", Title: "Move file", Permission: "edit",
		Description: "Move or rename a file, link or folder. Never overwrites: the new path must be free.",
		Annotations: tool.Annotations{},
		Example:     `{"path": "src/old.go", "to": "src/new.go"}`,
	}, t.plan)
}

func (Move) plan(ctx context.Context, call *tool.Call, in moveInput) (tool.Action, error) {
	from, to, err := sourceAndGoal(ctx, call, in.Path, in.To)
	if err != nil {
		return tool.Action{}, err
	}
	if from.state.Type == change.File {
		if err := (&walker{ctx: ctx, call: call}).content(&from, in.Path); err != nil {
			return tool.Action{}, err
		}
	}
	ops, err := parents(ctx, call, to.Real)
	if err != nil {
		return tool.Action{}, tool.PathError("to", in.To, err)
	}
	set := &change.Set{Ops: append(ops, change.Op{Kind: change.Move, Path: from.path.Real, To: to.Real, Before: from.state})}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Persists: true, Changes: set, MayCreate: []string{to.Real},
			Targets: []tool.Target{tool.PathTo(from.path, tool.Write), tool.PathTo(to, tool.Write)}},
		Run: commit(set, func(host.Receipt) tool.Result {
			return tool.TextResult(fmt.Sprintf("Moved %s to %s.", in.Path, in.To), treeData{Path: in.Path, To: in.To, Files: 1})
		}),
	}, nil
}

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
		if err := w.walk(from.path.Real); err != nil {
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
		rel, err := filepath.Rel(from.path.Real, e.path)
		if err != nil {
			return tool.Action{}, tool.Fault(err)
		}
		set.Ops = append(set.Ops, change.Op{Kind: kind, Path: filepath.Join(to.Real, rel), After: e.state})
	}
	data := treeData{Path: in.Path, To: in.To, Files: len(w.found) + 1, Bytes: w.bytes}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read, tool.Write}, Persists: true, Changes: set, MayCreate: []string{to.Real},
			Targets: []tool.Target{tool.PathTo(from.path, tool.Read), tool.PathTo(to, tool.Write)}},
		Run: commit(set, func(host.Receipt) tool.Result {
			return tool.TextResult(fmt.Sprintf("Copied %s to %s (%d entries, %d bytes).", in.Path, in.To, data.Files, data.Bytes), data)
		}),
	}, nil
}

// sourceAndGoal checks the two paths of a move or copy: the first exists and is no root, the second is free.
func sourceAndGoal(ctx context.Context, call *tool.Call, path, goal string) (from loaded, to host.Path, err error) {
	if from, err = statNoFollow(ctx, call, path); err != nil {
		return from, to, err
	}
	if !from.exists() {
		return from, to, missing(ctx, call, &from, "path", path)
	}
	if err = notRoot(call, from.path, path); err != nil {
		return from, to, err
	}
	target, err := statNoFollow(ctx, call, goal)
	if err != nil {
		return from, to, err
	}
	if target.exists() {
		return from, to, &tool.Error{Code: tool.OperationNotAllowed, Parameter: "to", Expected: "a path where nothing is",
			Message: fmt.Sprintf("%q exists already (%s); nothing was moved or overwritten.", goal, target.state.Type),
			Hint:    "Choose another path, or delete what is there first."}
	}
	if from.state.Type == change.Dir && below(target.path.Real, from.path.Real) {
		return from, to, &tool.Error{Code: tool.InvalidParameter, Parameter: "to", Message: fmt.Sprintf("%q lies inside %q.", goal, path), Expected: "a path outside of the folder itself"}
	}
	return from, target.path, nil
}

// statNoFollow is stat for the path itself: where its last component is a link, the link is meant.
func statNoFollow(ctx context.Context, call *tool.Call, path string) (loaded, error) {
	p, err := call.ResolveSelf(ctx, path)
	if err != nil {
		return loaded{}, err
	}
	l := loaded{path: p}
	l.info, err = call.Host.Stat(ctx, p.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, tool.PathError("path", path, err)
	case l.info.Special != "":
		return l, tool.PathError("path", path, host.ErrSpecial)
	}
	l.state = change.State{Type: l.info.Type, Mode: l.info.Mode, Target: l.info.Target}
	return l, nil
}

func notRoot(call *tool.Call, p host.Path, given string) error {
	for _, r := range call.Host.Info().Roots {
		if p.Real == r.Path || below(r.Path, p.Real) {
			return &tool.Error{Code: tool.OperationNotAllowed, Parameter: "path", Message: fmt.Sprintf("%q is, or holds, the workspace root %s.", given, r.Path),
				Expected: "a path inside the workspace", Hint: "Retrying will not help."}
		}
	}
	return nil
}

func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// walker collects everything below a folder, parents before children, within the limits of one call.
type walker struct {
	ctx      context.Context
	call     *tool.Call
	contents bool // hold file contents (copy); otherwise only digests
	found    []entryState
	bytes    int64
}

type entryState struct {
	path  string
	state change.State
}

func (w *walker) walk(dir string) error {
	entries, err := w.call.Host.ReadDir(w.ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(w.found) >= MaxTree {
			return &tool.Error{Code: tool.LimitExceeded, Message: fmt.Sprintf("the folder holds more than %d entries; nothing was changed.", MaxTree), Hint: "Take its subfolders one by one, or use a command."}
		}
		path := filepath.Join(dir, e.Name)
		if e.Special != "" {
			return &tool.Error{Code: tool.OperationNotAllowed, Message: fmt.Sprintf("%s is a %s; the folder was not touched.", path, e.Special), Hint: "Remove it with a command first."}
		}
		l := loaded{path: host.Path{Real: path}, info: e, state: change.State{Type: e.Type, Mode: e.Mode, Target: e.Target}}
		if err := w.content(&l, path); err != nil {
			return err
		}
		w.found = append(w.found, entryState{path, l.state})
		if e.Type == change.Dir {
			if err := w.walk(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// content adds a file's content to its state: the bytes for a copy, the digest alone for what only has to be verified.
func (w *walker) content(l *loaded, given string) error {
	if l.state.Type != change.File {
		return nil
	}
	w.bytes += l.info.Size
	if w.contents && w.bytes > MaxTreeSize {
		return &tool.Error{Code: tool.LimitExceeded, Message: fmt.Sprintf("the copy would hold more than %d bytes; nothing was copied.", int64(MaxTreeSize)), Hint: "Take the subfolders one by one, or use a command."}
	}
	if !w.contents && (l.info.Size > smallFile || w.bytes > previewBytes) {
		sum, err := digestOf(w.ctx, w.call.Host, l.path.Real)
		if err != nil {
			return tool.PathError("path", given, err)
		}
		l.state.Blob = change.KnownBlob(sum, l.info.Size)
		return nil
	}
	data, err := readAll(w.ctx, w.call.Host, l.path.Real)
	if err != nil {
		return tool.PathError("path", given, err)
	}
	l.state.Blob = change.NewBlob(data)
	return nil
}

// A deletion holds contents up to these sizes, so that its preview can show them; of the rest it knows the digest.
const (
	smallFile    = 256 << 10 // of one file
	previewBytes = 4 << 20   // of all
)
