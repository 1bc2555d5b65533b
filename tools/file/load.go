package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// loaded is a path as a tool found it.
type loaded struct {
	path  host.Path
	info  host.FileInfo
	state change.State // Absent where nothing is there; with content for a regular file that was read
}

func (l *loaded) exists() bool { return l.state.Type != change.Absent }

func (l *loaded) data() []byte {
	b, _ := l.state.Blob.Bytes()
	return b
}

// linkNote says where a change through a link went.
func (l *loaded) linkNote(given string) string {
	if !l.path.Link {
		return ""
	}
	where := l.path.Real
	if l.path.Inside() {
		where = l.path.Rel
	}
	return fmt.Sprintf("\nNote: %s goes through a symbolic link; the file is %s.", given, where)
}

// stat resolves a path and says what is there, following links.
func stat(ctx context.Context, call *tool.Call, path string) (loaded, error) {
	p, err := call.Resolve(ctx, path)
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

// load resolves a path and reads the whole file, if it is one. A missing path is no error; a directory is.
func load(ctx context.Context, call *tool.Call, path string) (loaded, error) {
	l, err := stat(ctx, call, path)
	if err != nil || !l.exists() {
		return l, err
	}
	if l.state.Type == change.Dir {
		return l, tool.PathError("path", path, host.ErrIsDir)
	}
	if l.info.Size > MaxEditSize {
		return l, &tool.Error{Code: tool.LimitExceeded, Parameter: "path",
			Message:  fmt.Sprintf("%q has %d bytes; files up to %d bytes can be changed.", path, l.info.Size, MaxEditSize),
			Expected: "a smaller file", Hint: "Split the file, or change it with a command."}
	}
	data, err := readAll(ctx, call.Host, l.path.Real, MaxEditSize)
	if err != nil {
		return l, tool.PathError("path", path, err)
	}
	l.state.Blob = change.NewBlob(data)
	return l, nil
}

// readAll reads a whole file. Some files of the system have no end, whatever size they claim: those end with an error
// behind the limit.
func readAll(ctx context.Context, h host.Host, real string, limit int64) ([]byte, error) {
	f, err := h.Open(ctx, real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := f.Info().Size
	data := make([]byte, 0, size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case int64(len(data)) > max(size, limit):
			return nil, &host.PathError{Op: "read", Path: real, Err: fmt.Errorf("it does not end: %d bytes were read, and it claims to have %d", len(data), size)}
		}
	}
}

// known says what the session knows of a file: whether it read or wrote it, and whether it knows the content that is there.
// The key is the path as it was addressed; what was reached through a link is known under its own name as well.
func known(call *tool.Call, l *loaded) (seen, current bool) {
	for _, key := range []string{l.path.Abs, l.path.Real} {
		d, ok := call.ReadState.Seen(key)
		seen = seen || ok
		current = current || ok && (l.state.Blob == nil || d == l.state.Blob.Digest())
	}
	return seen, current
}

// mark notes that the session knows the content with this digest.
func mark(call *tool.Call, l *loaded, d change.Digest) {
	call.ReadState.Mark(l.path.Abs, d)
	if l.path.Real != l.path.Abs {
		call.ReadState.Mark(l.path.Real, d)
	}
}

// mustHaveRead enforces F9 on a file that is about to change. What is too large to be read whole is not held to it.
func mustHaveRead(call *tool.Call, l *loaded, given string) error {
	if !call.Options.RequireRead || !l.exists() || l.info.Size > MaxEditSize {
		return nil
	}
	seen, current := known(call, l)
	switch {
	case !seen:
		return &tool.Error{Code: tool.OperationNotAllowed, Parameter: "path",
			Message: fmt.Sprintf("%q has not been read in this session, so it is not changed.", given),
			Hint:    "Read it with read_file, then make the change."}
	case !current:
		return &tool.Error{Code: tool.Stale, Parameter: "path", Retry: true,
			Message: fmt.Sprintf("%q changed since this session read it; nothing was written.", given),
			Hint:    "Read it again with read_file, then make the change on top of what it holds now."}
	}
	return nil
}

// behind returns the action of a call whose success tells something of files that policy does not simply let the session
// read: first their reading is decided, then run does the rest, whose changes are decided at the second gate point. (What
// an error of planning tells waits for the gate by itself.)
func behind(private []tool.Target, run func(context.Context, tool.Runner) (tool.Result, error)) tool.Action {
	return tool.Action{Run: run, Intent: tool.Intent{Permission: tool.ReadPermission, Effects: []tool.Effect{tool.Read}, Targets: private, Alone: true}}
}

// planned is the outcome of planning a change that is made from the content of a file. Where policy denies reading it, the
// denial is that of reading.
func planned(call *tool.Call, p host.Path, a tool.Action) tool.Action {
	if call.Reading(p) != tool.Deny {
		return a
	}
	return behind([]tool.Target{tool.PathTo(p, tool.Read)}, a.Run)
}

// missing is the error for a path that has to exist, with the nearest name of its folder.
func missing(ctx context.Context, call *tool.Call, l *loaded, parameter, given string) error {
	e := tool.PathError(parameter, given, &host.PathError{Op: "open", Path: l.path.Real, Err: fs.ErrNotExist}).(*tool.Error)
	entries, err := call.Host.ReadDir(ctx, filepath.Dir(l.path.Real))
	if err != nil {
		return e
	}
	names := make([]string, 0, len(entries))
	visible := visibleBelow(call, host.Path{Abs: filepath.Dir(l.path.Abs), Real: filepath.Dir(l.path.Real), Root: l.path.Root, Rel: filepath.Dir(l.path.Rel)})
	for _, en := range entries {
		if visible(en.Name) {
			names = append(names, en.Name)
		}
	}
	if near := nearest(filepath.Base(l.path.Real), names); near != "" {
		return e.With(fmt.Sprintf("Did you mean %q?", filepath.Join(filepath.Dir(given), near)))
	}
	return e
}

// parents returns the operations that make the missing directories above a path, outermost first.
func parents(ctx context.Context, call *tool.Call, real string) ([]change.Op, error) {
	var ops []change.Op
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		info, err := call.Host.Stat(ctx, dir)
		if err == nil {
			if info.Type != change.Dir {
				return nil, &host.PathError{Op: "mkdir", Path: dir, Err: host.ErrNotDir}
			}
			return ops, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		ops = append([]change.Op{{Kind: change.Mkdir, Path: dir, After: change.State{Type: change.Dir}}}, ops...)
	}
}

// commit returns the Run function of an action that is nothing but its changes: commit them, then say so.
func commit(set *change.Set, done func(receipt host.Receipt) tool.Result) func(context.Context, tool.Runner) (tool.Result, error) {
	return func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		receipt, err := r.Commit(ctx, set)
		if err != nil {
			return tool.Result{}, err
		}
		return done(receipt), nil
	}
}
