package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// repo is a repository, and what of it a call is about.
type repo struct {
	call   *tool.Call
	runner host.Runner
	given  string
	place  host.Path   // what the call asks about
	top    string      // folder that holds .git, resolved
	rel    string      // place below top, with slashes; "" for all
	dir    string      // the git directory of this work tree
	common string      // the one that holds objects, refs and configuration; often the same
	parts  []host.Path // what is read of the repository outside of top

	config   string   // for git, see settings
	filters  []string // that the repository or the user has configured, by name
	partial  bool     // objects may not be here yet
	see      func(host.Path) bool
	readable func(host.Path) bool
	hidden   map[string]bool // files left out because of policy
}

// maxFile bounds the small files of git that are read here.
const maxFile = 16 << 10

// find finds the repository of a path, as git does but for what environment and configuration could say: the next folder
// upwards with a .git that is a repository or names one. It runs nothing.
func find(ctx context.Context, call *tool.Call, given string) (*repo, error) {
	r := &repo{call: call, given: given, hidden: map[string]bool{}}
	if given == "" {
		given = "."
	}
	var err error
	if r.place, err = call.Resolve(ctx, given); err != nil {
		return nil, err
	}
	info, err := call.Host.Stat(ctx, r.place.Real)
	start := r.place.Real
	if err != nil || info.Type != change.Dir { // a link is meant itself, and a file may be gone
		if r.place, err = call.ResolveSelf(ctx, given); err != nil {
			return nil, err
		}
		start = filepath.Dir(r.place.Real)
	}
	for d := start; ; d = filepath.Dir(d) {
		ok, err := r.open(ctx, d)
		if err != nil {
			return nil, err
		}
		if ok {
			break
		}
		if filepath.Dir(d) == d {
			return nil, tool.Errorf(tool.NotFound, "%q is in no git repository.", given).For("path", "a path below a folder with .git").
				With("Name a path inside of a repository; retrying will not help.")
		}
	}
	rel, err := filepath.Rel(r.top, r.place.Real)
	if err != nil {
		return nil, tool.PathError("path", given, err)
	}
	if r.rel = filepath.ToSlash(rel); r.rel == "." {
		r.rel = ""
	}
	if r.rel == ".git" || strings.HasPrefix(r.rel, ".git/") {
		return nil, tool.Errorf(tool.InvalidParameter, "%q is a part of git's own data.", given).For("path", "a file or folder of the work tree")
	}
	if r.given == "" {
		r.narrow()
	}
	see := call.Visible()
	r.see = see
	r.readable = func(p host.Path) bool { return see(p) && call.Reading(p) == tool.Allow }
	return r, nil
}

// narrow keeps a call that names no path to the working folder where the repository is larger than the workspace, and
// widens it to the whole repository otherwise.
func (r *repo) narrow() {
	if root := r.at("").Root; root != "" {
		r.rel, r.place = "", r.at("")
	}
}

// open reads where the parts of the repository are whose work tree is the folder d. ok is false where there is none.
func (r *repo) open(ctx context.Context, d string) (ok bool, err error) {
	h := r.call.Host
	p, err := h.Resolve(ctx, d, ".git")
	if err != nil {
		return false, nil
	}
	info, err := h.Stat(ctx, p.Real)
	switch {
	case err != nil:
		return false, nil
	case info.Type == change.File:
		text, err := r.small(ctx, p.Real, maxFile)
		target, named := strings.CutPrefix(text, "gitdir: ")
		if err != nil || !named {
			return false, r.broken(p.Real, "it is a file that names no repository")
		}
		if p, err = h.Resolve(ctx, d, strings.TrimRight(target, "\r\n")); err != nil {
			return false, r.broken(filepath.Join(d, ".git"), "the repository that it names cannot be read")
		}
	case info.Type != change.Dir:
		return false, nil
	}
	r.top, r.dir, r.common = d, p.Real, p.Real
	if !r.is(ctx, filepath.Join(r.dir, "HEAD"), change.File, change.Symlink) {
		if info.Type == change.Dir {
			return false, nil // an empty folder of this name, which git passes by as well
		}
		return false, r.broken(filepath.Join(d, ".git"), "there is no repository where it points to")
	}
	r.add(p)
	if text, err := r.small(ctx, filepath.Join(r.dir, "commondir"), maxFile); err == nil {
		c, err := h.Resolve(ctx, r.dir, strings.TrimRight(text, "\r\n"))
		if err != nil {
			return false, r.broken(r.dir, "its commondir cannot be read")
		}
		r.common = c.Real
		r.add(c)
	}
	return true, r.stores(ctx)
}

// stores notes where objects and refs are, and refuses what is no repository.
func (r *repo) stores(ctx context.Context) error {
	for _, name := range []string{"objects", "refs"} {
		p, err := r.call.Host.Resolve(ctx, r.common, name)
		if err != nil || !r.is(ctx, p.Real, change.Dir) {
			return r.broken(r.common, "it has no folder "+name)
		}
		r.add(p)
		if name == "objects" {
			r.alternates(ctx, p.Real, 0)
		}
	}
	// git quotes a line that it does not understand: a link among its own files would have it tell what is in another one.
	for dir, names := range map[string][]string{r.dir: {"HEAD", "index", "commondir"}, r.common: {"packed-refs", "shallow", "logs", "worktrees", "reftable",
		"info", "info/grafts", "info/attributes", "info/exclude", "objects/info", "objects/info/alternates"}} {
		for _, name := range names {
			if p, err := r.call.Host.Resolve(ctx, dir, name); err == nil {
				r.add(p)
			}
		}
	}
	return nil
}

// maxAlternates is how deep object stores refer to others, as in git.
const maxAlternates = 5

func (r *repo) alternates(ctx context.Context, objects string, depth int) {
	text, err := r.small(ctx, filepath.Join(objects, "info", "alternates"), maxFile)
	if err != nil || depth == maxAlternates {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if p, err := r.call.Host.Resolve(ctx, objects, line); err == nil {
			r.add(p)
			r.alternates(ctx, p.Real, depth+1)
		}
	}
}

// add notes a part of the repository that policy has to judge by itself.
func (r *repo) add(p host.Path) {
	for _, q := range r.parts {
		if p.Real == q.Real || strings.HasPrefix(p.Real, q.Real+string(filepath.Separator)) {
			return
		}
	}
	r.parts = append(r.parts, p)
}

func (r *repo) is(ctx context.Context, real string, types ...change.Type) bool {
	info, err := r.call.Host.Stat(ctx, real)
	for _, t := range types {
		if err == nil && info.Special == "" && info.Type == t {
			return true
		}
	}
	return false
}

// small reads a small file; what is no file is not there.
func (r *repo) small(ctx context.Context, real string, most int64) (string, error) {
	if info, err := r.call.Host.Stat(ctx, real); err != nil || info.Type != change.File || info.Special != "" {
		return "", errors.Join(err, fs.ErrNotExist)
	}
	f, err := r.call.Host.Open(ctx, real)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	return string(b), err
}

func (r *repo) broken(path, why string) error {
	return tool.Errorf(tool.OperationFailed, "%s is no usable repository: %s.", path, why).
		With("Retrying will not help. In a terminal, git status says more.")
}

// intent says what the call reads: what it asks about, and the parts of the repository.
func (r *repo) intent() tool.Intent {
	in := tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(r.place, tool.Read)}}
	for _, p := range r.parts {
		in.Targets = append(in.Targets, tool.PathTo(p, tool.Read))
	}
	return in
}

// at returns the path of a file of the work tree, links not followed: git shows a link and never what it points to.
func (r *repo) at(rel string) host.Path {
	real := filepath.Join(r.top, filepath.FromSlash(rel))
	p := host.Path{Given: rel, Abs: real, Real: real, Self: real, Rel: filepath.ToSlash(real)}
	for _, root := range r.call.Host.Info().Roots {
		below, err := filepath.Rel(root.Path, real)
		if err == nil && filepath.IsLocal(below) && len(root.Path) > len(p.Root) {
			p.Root, p.Rel = root.Path, filepath.ToSlash(below)
		}
	}
	return p
}

// shown reports whether policy lets the session see that there is a file, and with content what is in it. What it does not
// is counted.
func (r *repo) shown(rel string, content bool) bool {
	p := r.at(strings.TrimSuffix(rel, "/"))
	judge := r.see
	switch {
	case p.Real == r.place.Real: // asked about by name: the gate has judged it
		judge = func(p host.Path) bool { return r.call.Reading(p) != tool.Deny }
	case content:
		judge = r.readable
	}
	ok := judge(p)
	if !ok {
		r.hidden[rel] = true
	}
	return ok
}

// show returns a path of the work tree as the model should write it.
func (r *repo) show(rel string) string {
	full := filepath.Join(r.top, filepath.FromSlash(rel))
	slash := ""
	if strings.HasSuffix(rel, "/") {
		slash = "/"
	}
	if short, err := filepath.Rel(r.call.Dir, full); err == nil && filepath.IsLocal(short) {
		return filepath.ToSlash(short) + slash
	}
	return filepath.ToSlash(full) + slash
}

// closed refuses a file whose content policy does not let the session read, before git looks for it in any commit.
func (r *repo) closed(in *input) error {
	rel := r.rel
	if _, path, ok := cutFile(in.Rev); ok {
		rel = path
		r.place = r.at(path) // what is judged is the file of that name
	} else if in.Op != "blame" {
		return nil
	}
	if r.call.Reading(r.at(rel)) != tool.Deny {
		return nil
	}
	return tool.Errorf(tool.PermissionDenied, "policy does not let this session read %q.", rel).For("path", "a file that may be read").
		With("Retrying will not help; why read_file explains the rule to a person.")
}
