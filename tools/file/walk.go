package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// walker collects everything below a folder, parents before children, within the limits of one call.
type walker struct {
	ctx      context.Context
	call     *tool.Call
	contents bool            // hold file contents (copy); otherwise only digests
	visit    func(host.Path) // is told of every entry, which is then not looked into nor kept
	found    []entryState
	bytes    int64
}

type entryState struct {
	path  host.Path
	state change.State
}

// inFolder is the path of an entry of a folder.
func inFolder(dir host.Path, name string) host.Path {
	p := host.Path{Given: filepath.Join(dir.Given, name), Abs: filepath.Join(dir.Abs, name), Real: filepath.Join(dir.Real, name), Root: dir.Root, Link: dir.Link}
	p.Self, p.Rel = p.Real, p.Real
	if p.Inside() {
		p.Rel = filepath.ToSlash(filepath.Join(dir.Rel, name))
	}
	return p
}

func (w *walker) walk(dir host.Path) error {
	entries, err := w.call.Host.ReadDir(w.ctx, dir.Real)
	if w.visit != nil && errors.Is(err, fs.ErrPermission) {
		return nil // a folder can be moved without being read
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if len(w.found) >= MaxTree {
			return &tool.Error{Code: tool.LimitExceeded, Message: fmt.Sprintf("the folder holds more than %d entries; nothing was changed.", MaxTree), Hint: "Take its subfolders one by one, or use a command."}
		}
		path := inFolder(dir, e.Name)
		if w.visit != nil {
			w.visit(path)
			if e.Type == change.Dir {
				if err := w.walk(path); err != nil {
					return err
				}
			}
			continue
		}
		if e.Special != "" {
			return &tool.Error{Code: tool.OperationNotAllowed, Message: fmt.Sprintf("%s is a %s; the folder was not touched.", path.Real, e.Special), Hint: "Remove it with a command first."}
		}
		l := loaded{path: path, info: e, state: change.State{Type: e.Type, Mode: e.Mode, Target: e.Target}}
		if err := w.content(&l, path.Real); err != nil {
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
	data, err := readAll(w.ctx, w.call.Host, l.path.Real, MaxTreeSize)
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

// guarded returns what lies below a folder that moves and may not simply be written: a rule or a guard for it holds for
// the folder too.
func guarded(ctx context.Context, call *tool.Call, dir host.Path) ([]tool.Target, error) {
	judge := call.Screen()
	var out []tool.Target
	w := &walker{ctx: ctx, call: call, visit: func(p host.Path) {
		if t := tool.PathTo(p, tool.Write); len(out) < MaxTree && judge(t) != tool.Allow {
			out = append(out, t)
		}
	}}
	err := w.walk(dir)
	return out, err
}
