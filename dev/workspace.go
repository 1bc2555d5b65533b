package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
)

// workspace is what one plan has acquired and made of it. It lives as long as the plan runs.
type workspace struct {
	p    *Pipeline
	call Call

	files  map[string]*entry // by real path
	result *Result
	// selected says that the plan acquired by selector, so that a file that is gone is no mistake of the caller.
	selected bool
	missing  []host.Path       // named paths that do not exist, and need not
	configs  map[string][]File // found configuration, by engine and folder
	granted  map[string]bool   // command lines that the gate let engines start
}

// entry is one file of a workspace.
type entry struct {
	path  host.Path
	file  string // relative to the root, as engines know it
	rel   string // as gates and callers see it
	named bool   // by the caller, not found by a selector
	// base is what is on the disk as far as the plan knows, now what the plan has made of it. Absent and not loaded: not
	// read yet.
	base, now change.State
	loaded    bool
	gone      bool // it was there when it was acquired, and was not when it was read
}

func (e *entry) dirty() bool { return e.loaded && !e.base.Equal(e.now) }

func (e *entry) content() []byte {
	b, _ := e.now.Blob.Bytes()
	return b
}

// resolve turns a path of the caller into one on the host, and refuses what is not below the root, by its name or by a
// link.
func (w *workspace) resolve(ctx context.Context, path string) (host.Path, error) {
	p := w.p
	if strings.TrimSpace(path) == "" {
		return host.Path{}, &Error{Code: Invalid, Message: "a path is empty", Hint: `The root itself is ".".`}
	}
	at, err := p.cfg.PathTranslator.Host(path)
	if err != nil {
		return host.Path{}, &Error{Code: Outside, Path: path, Message: sentence(err), Hint: "Name a path below the root.", Err: err}
	}
	dir := w.call.Dir
	if dir == "" {
		dir = p.root.Real
	}
	r, err := p.cfg.Host.Resolve(ctx, dir, at)
	if err != nil {
		return r, p.pathError(path, err)
	}
	if !below(r.Real, p.root.Real) {
		why := "it lies outside of the root"
		if r.Link || below(r.Abs, p.root.Real) {
			why = "a symbolic link leads out of the root"
		}
		return r, &Error{Code: Outside, Path: path, Message: fmt.Sprintf("%q is not touched: %s", path, why), Hint: "Name a path below the root."}
	}
	return r, nil
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// file returns the path relative to the root, with slashes.
func (p *Pipeline) file(real string) string {
	rel, err := filepath.Rel(p.root.Real, real)
	if err != nil {
		return filepath.ToSlash(real)
	}
	return filepath.ToSlash(rel)
}

// rel returns the path as gates and callers see it.
func (p *Pipeline) rel(real string) string { return p.cfg.PathTranslator.Caller(p.file(real)) }

func (p *Pipeline) pathError(path string, err error) error {
	var own *Error
	if errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Code: Unreadable, Path: path, Err: err, Message: fmt.Sprintf("%q: %v", path, reason(err)), Hint: "Look at the path; retrying will not help by itself."}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message, e.Hint = NotFound, fmt.Sprintf("%q does not exist", path), "Find the file with glob or list_dir, then name it."
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "The operating system refuses it; retrying will not help."
	}
	return e
}

func reason(err error) error {
	var pe *host.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func sentence(err error) string { return strings.TrimSuffix(err.Error(), ".") }

// find works out which files paths stand for. It reads no content.
func (w *workspace) find(ctx context.Context, paths []string, missing bool) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		if err := w.findOne(ctx, path, missing); err != nil {
			return err
		}
	}
	if len(w.files) > w.p.cfg.MaxFiles {
		return w.tooMany()
	}
	return nil
}

func (w *workspace) tooMany() error {
	return &Error{Code: TooLarge, Message: fmt.Sprintf("more than %d files are selected", w.p.cfg.MaxFiles), Hint: "Name folders or globs that select fewer files."}
}

func (w *workspace) findOne(ctx context.Context, path string, missing bool) error {
	p, err := w.resolve(ctx, path)
	if err == nil {
		var info host.FileInfo
		info, err = w.p.cfg.Host.Stat(ctx, p.Real)
		switch {
		case err == nil && info.Type == change.Dir:
			return w.sweep(ctx, p, "", path)
		case err == nil && info.Type == change.File:
			w.add(p, true)
			return nil
		case err == nil:
			return &Error{Code: Unreadable, Path: path, Message: fmt.Sprintf("%q is a %s, not a file", path, info.Special), Hint: "Name a regular file or a folder."}
		}
	}
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return w.p.pathError(path, err)
	case strings.ContainsAny(path, "*?[{"):
		return w.glob(ctx, path)
	case missing:
		w.missing = append(w.missing, p)
		return nil
	}
	return w.p.pathError(path, err)
}

// glob adds the files below the fixed folders of a pattern that match the rest of it.
func (w *workspace) glob(ctx context.Context, pattern string) error {
	dir, rest := ".", strings.TrimPrefix(pattern, "./")
	for {
		head, tail, more := strings.Cut(rest, "/")
		if !more || strings.ContainsAny(head, `*?[{\`) {
			break
		}
		dir, rest = dir+"/"+head, tail
	}
	p, err := w.resolve(ctx, dir)
	if err != nil {
		return err
	}
	before := len(w.files)
	if err := w.sweep(ctx, p, rest, pattern); err != nil {
		return err
	}
	if len(w.files) == before && !w.matched(p.Real) {
		return &Error{Code: NotFound, Path: pattern, Message: fmt.Sprintf("no file matches %q", pattern), Hint: "Look with glob; files that .gitignore names are left out unless they are named themselves."}
	}
	return nil
}

// matched reports whether something below a folder was acquired already.
func (w *workspace) matched(dir string) bool {
	for real := range w.files {
		if below(real, dir) {
			return true
		}
	}
	return false
}

// sweep adds the files of a folder, as ignore files leave them. What may not be shown is left out and said.
func (w *workspace) sweep(ctx context.Context, dir host.Path, pattern, given string) error {
	w.selected = true
	// Installed packages are nobody's source, also where no ignore file says so.
	q := search.FilesQuery{Filter: search.Filter{Root: dir.Real, Hidden: true, AnyTree: true, Globs: []string{"!node_modules"}}, Pattern: pattern, Limit: w.p.cfg.MaxFiles + 1}
	hidden := 0
	if w.call.Visible != nil {
		q.Allow = func(rel string) bool { return w.call.Visible(at(dir, rel)) }
	}
	res, err := w.p.search.Files(ctx, q)
	if err != nil {
		return w.p.pathError(given, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range res.Receipt.Skipped {
		if s.Reason == search.Denied {
			hidden += s.Count
		}
	}
	if hidden > 0 {
		w.result.note(Diagnostic{Severity: Note, Source: "dev", Code: "not-shown", Message: fmt.Sprintf("left out below %s: %s that policy does not let be read without being named", given, plural(hidden, "file"))})
	}
	if len(res.Files) > w.p.cfg.MaxFiles {
		return w.tooMany()
	}
	for _, f := range res.Files {
		w.add(at(dir, f.Path), false)
	}
	return nil
}

// at returns the path of a file that was found below a folder: no link stands between them.
func at(dir host.Path, rel string) host.Path {
	rel = filepath.FromSlash(rel)
	p := host.Path{Given: filepath.Join(dir.Given, rel), Abs: filepath.Join(dir.Abs, rel), Real: filepath.Join(dir.Real, rel), Root: dir.Root, Link: dir.Link}
	p.Self = p.Real
	p.Rel = p.Real
	if dir.Root != "" {
		p.Rel = filepath.ToSlash(filepath.Join(dir.Rel, rel))
	}
	return p
}

func (w *workspace) add(p host.Path, named bool) *entry {
	e, ok := w.files[p.Real]
	if !ok {
		file := w.p.file(p.Real)
		e = &entry{path: p, file: file, rel: w.p.cfg.PathTranslator.Caller(file)}
		w.files[p.Real] = e
	}
	e.named = e.named || named
	return e
}

// sorted returns all entries by path.
func (w *workspace) sorted() []*entry {
	out := make([]*entry, 0, len(w.files))
	for _, e := range w.files {
		out = append(out, e)
	}
	slices.SortFunc(out, byPath)
	return out
}

func byPath(a, b *entry) int { return strings.Compare(a.rel, b.rel) }

// load reads a file, once. A file that is gone is one that is not there; see entry.gone.
func (w *workspace) load(ctx context.Context, e *entry) error {
	if e.loaded {
		return nil
	}
	f, err := w.p.cfg.Host.Open(ctx, e.path.Real)
	if errors.Is(err, fs.ErrNotExist) {
		e.loaded, e.gone = true, true
		return nil
	}
	if err != nil {
		return w.p.pathError(e.rel, err)
	}
	defer f.Close()
	info := f.Info()
	limit := w.p.cfg.MaxFileSize
	if info.Size > limit {
		return &Error{Code: TooLarge, Path: e.rel, Message: fmt.Sprintf("%q has %d bytes; files up to %d are worked on", e.rel, info.Size, limit), Hint: "Leave it out of the paths."}
	}
	data := make([]byte, 0, info.Size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			e.loaded = true
			e.base = change.FileState(data, info.Mode)
			e.now = e.base
			return nil
		case err != nil:
			return w.p.pathError(e.rel, err)
		case int64(len(data)) > limit:
			return &Error{Code: TooLarge, Path: e.rel, Message: fmt.Sprintf("%q does not end: %d bytes were read", e.rel, len(data)), Hint: "Leave it out of the paths."}
		}
	}
}

// acquired finds a file that a step names. A file that was not acquired is an error; one that does not exist is an entry
// that can be created, where create is set.
func (w *workspace) acquired(ctx context.Context, step, path string, create bool) (*entry, error) {
	p, err := w.resolve(ctx, path)
	if err != nil {
		return nil, inStep(step, err)
	}
	if e, ok := w.files[p.Real]; ok {
		if err := w.load(ctx, e); err != nil {
			return nil, inStep(step, err)
		}
		if e.now.Type == change.Absent && !create {
			return nil, &Error{Code: NotFound, Step: step, Path: path, Message: fmt.Sprintf("%q is not there any more", path), Hint: "Look for it with glob, or leave it out."}
		}
		return e, nil
	}
	info, err := w.p.cfg.Host.Stat(ctx, p.Real)
	switch {
	case err == nil && info.Type == change.Dir:
		return nil, &Error{Code: Invalid, Step: step, Path: path, Message: fmt.Sprintf("%q is a folder", path), Hint: "Name a file."}
	case err == nil:
		return nil, &Error{Code: NotAcquired, Step: step, Path: path, Message: fmt.Sprintf("%q was not acquired by this plan", path), Hint: "Add it to paths and send the plan again. Nothing was written."}
	case errors.Is(err, fs.ErrNotExist) && create:
		return w.absent(p), nil
	}
	return nil, inStep(step, w.p.pathError(path, err))
}

// absent adds a file that is not there yet.
func (w *workspace) absent(p host.Path) *entry {
	e := w.add(p, true)
	e.loaded = true
	return e
}

func inStep(step string, err error) error {
	var own *Error
	if errors.As(err, &own) && own.Step == "" {
		c := *own
		c.Step = step
		return &c
	}
	return err
}
