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
		if err := w.walk(l.path); err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
	}
	set := &change.Set{}
	for _, e := range slices.Backward(w.found) { // children first
		set.Ops = append(set.Ops, change.Op{Kind: change.Delete, Path: e.path.Real, Before: e.state})
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
	targets := []tool.Target{tool.PathTo(from.path, tool.Write), tool.PathTo(to, tool.Write)}
	if from.state.Type == change.Dir && call.Screen != nil {
		inside, err := guarded(ctx, call, from.path)
		if err != nil {
			return tool.Action{}, tool.PathError("path", in.Path, err)
		}
		targets = append(targets, inside...)
	}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Persists: true, Changes: set, MayCreate: []string{to.Real}, Targets: targets},
		Run: commit(set, func(host.Receipt) tool.Result {
			return tool.TextResult(fmt.Sprintf("Moved %s to %s.", in.Path, in.To), treeData{Path: in.Path, To: in.To, Files: 1})
		}),
	}, nil
}

// sourceAndGoal checks the two paths of a move or copy: the first exists and is no root, the second is free.
func sourceAndGoal(ctx context.Context, call *tool.Call, path, into string) (from loaded, to host.Path, err error) {
	if from, err = statNoFollow(ctx, call, path); err != nil {
		return from, to, err
	}
	if !from.exists() {
		return from, to, missing(ctx, call, &from, "path", path)
	}
	if err = notRoot(call, from.path, path); err != nil {
		return from, to, err
	}
	if to, err = goal(ctx, call, into, filepath.Base(from.path.Abs)); err != nil {
		return from, to, err
	}
	if from.state.Type == change.Dir && below(to.Real, from.path.Real) {
		return from, to, &tool.Error{Code: tool.InvalidParameter, Parameter: "to", Message: fmt.Sprintf("%q lies inside %q.", into, path), Expected: "a path outside of the folder itself"}
	}
	return from, to, nil
}

// goal checks the path where something shall stand: nothing may be there. name is what it is called now.
func goal(ctx context.Context, call *tool.Call, into, name string) (host.Path, error) {
	target, err := statNoFollow(ctx, call, into)
	if err != nil {
		return target.path, asked("to", err)
	}
	if !target.exists() {
		return target.path, nil
	}
	e := &tool.Error{Code: tool.OperationNotAllowed, Parameter: "to", Expected: "a path where nothing is",
		Message: fmt.Sprintf("%q exists already (%s); nothing was moved, copied or overwritten.", into, target.state.Type),
		Hint:    "Choose another path, or delete what is there first."}
	if target.state.Type == change.Dir {
		e.Hint = fmt.Sprintf("To put it into that folder, give the whole new path: to=%s.", filepath.Join(into, name))
	}
	return target.path, e
}

// asked names the parameter that an error about a path really speaks of.
func asked(parameter string, err error) error {
	var e *tool.Error
	if !errors.As(err, &e) || e.Parameter != "path" {
		return err
	}
	c := *e
	c.Parameter = parameter
	return &c
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
