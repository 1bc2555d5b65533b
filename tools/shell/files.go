package shell

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// A command line that reads or writes files names them to policy like any file tool, as far as its text tells
// (command.Facts.Paths). Names are few. Patterns and whole trees are many files, nearly all of which policy allows: of
// those the place is named, and each file that policy does not simply let the session read.

// file is a file that a command line names.
type file struct {
	path   host.Path
	effect tool.Effect
}

// maxSeen bounds the directory entries that are looked at for one command line.
const maxSeen = 20_000

// finder collects the files of one line.
type finder struct {
	ctx   context.Context
	call  *tool.Call
	dir   string
	left  int // entries that may still be looked at
	known map[string]bool
	trod  map[step]bool
	out   []file
}

// walk says how a command goes through a tree.
type walk struct {
	reads   bool // it tells what is in files, and not only their names
	hidden  bool // it looks into hidden files too
	follows bool // it goes where links lead
}

// step is a folder that was walked through.
type step struct {
	walk
	real string
}

// named returns the files that a line names, which runs in dir.
func named(ctx context.Context, call *tool.Call, facts *command.Facts, dir string) []file {
	if call.Host == nil {
		return nil
	}
	f := &finder{ctx: ctx, call: call, dir: dir, left: maxSeen, known: map[string]bool{}, trod: map[step]bool{}}
	for _, n := range facts.Paths() {
		path := tool.Key(dir, n.Name)
		effect := tool.Read
		if n.Write {
			effect = tool.Write
		}
		switch {
		case path == "/dev/null":
		case n.Glob:
			f.pattern(path, effect)
		default:
			p, ok := f.add(path, effect)
			if w := walkOf(facts, n.Call); ok && n.Tree && (w.reads || w.follows) {
				f.tree(p, w)
			}
		}
	}
	return f.out
}

// walkOf says how a call goes through a tree. What git ignores counts, although rg may skip it. A repository may hold links
// to anywhere: a command that follows them reads there.
func walkOf(facts *command.Facts, i int) walk {
	c := &facts.Calls[i]
	has := func(letters string, names ...string) bool {
		return slices.ContainsFunc(c.Args[1:], func(w command.Word) bool {
			a := w.Text
			return slices.Contains(names, a) || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, letters)
		})
	}
	switch c.Name() {
	case "stat":
		return walk{}
	case "ls", "du":
		return walk{hidden: true, follows: has("L", "--dereference") && (c.Name() == "du" || has("R", "--recursive"))}
	case "fd", "fdfind":
		return walk{hidden: true, follows: has("L", "--follow")}
	case "grep", "egrep", "fgrep":
		return walk{reads: true, hidden: true, follows: has("R", "--dereference-recursive")}
	case "diff":
		return walk{reads: true, hidden: true, follows: !has("", "--no-dereference")}
	case "rg":
		return walk{reads: true, hidden: has(".u", "--hidden", "--unrestricted"), follows: has("L", "--follow")}
	}
	w := walk{reads: c.Found(), hidden: true} // find -exec cat {} +
	for ; i >= 0; i = facts.Calls[i].Parent {
		if p := &facts.Calls[i]; p.Name() == "find" || p.Name() == "gfind" {
			w.follows = findFollows(p, w.reads)
			break
		}
	}
	return w
}

// findFollows reports whether what find goes through, or the command that opens what it finds, follows links. A command
// opens the file that a link names, unless only files are found.
func findFollows(c *command.Call, opens bool) bool {
	files, clear := false, true
	for k := range c.Args {
		switch c.Args[k].Text {
		case "-L", "-follow":
			return true
		case "-type":
			files = files || k+1 < len(c.Args) && c.Args[k+1].Text == "f"
		case "-o", "-or", "!", "-not", ",":
			clear = false
		}
	}
	return opens && !(files && clear)
}

// add adds one file. What cannot be resolved cannot be opened either.
func (f *finder) add(path string, e tool.Effect) (host.Path, bool) {
	p, err := f.call.Resolve(f.ctx, path)
	if err != nil {
		return p, false
	}
	f.note(p, e)
	return p, true
}

func (f *finder) note(p host.Path, e tool.Effect) {
	key := string(e) + "\x00" + p.Abs + "\x00" + p.Real
	if !f.known[key] {
		f.known[key] = true
		f.out = append(f.out, file{p, e})
	}
}

// pattern adds what bash would make of an absolute pattern with *, ? and [: the folders in which it looks, and each file
// that is written, or not simply to be read.
func (f *finder) pattern(path string, e tool.Effect) {
	paths := []string{string(filepath.Separator)}
	for component := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if !strings.ContainsAny(component, "*?[") {
			for i := range paths {
				paths[i] = filepath.Join(paths[i], component)
			}
			continue
		}
		var next []string
		for _, dir := range paths {
			f.add(dir, tool.Read)
			for _, name := range f.matching(dir, component) {
				next = append(next, filepath.Join(dir, name))
			}
		}
		paths = next
	}
	for _, match := range paths {
		p, err := f.call.Resolve(f.ctx, match)
		if err == nil && (e == tool.Write || f.call.Reading(p) != tool.Allow) {
			f.note(p, e)
		}
	}
}

// matching lists the names in a folder that a pattern matches.
func (f *finder) matching(dir, pattern string) []string {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	var out []string
	for _, info := range f.list(dir) {
		hidden := strings.HasPrefix(info.Name, ".") && !strings.HasPrefix(pattern, ".")
		if ok, err := filepath.Match(pattern, info.Name); err == nil && ok && !hidden {
			out = append(out, info.Name)
		}
	}
	return out
}

// list reads a folder, while entries may still be looked at.
func (f *finder) list(dir string) []host.FileInfo {
	if f.left <= 0 || f.ctx.Err() != nil {
		return nil
	}
	list, err := f.call.Host.ReadDir(f.ctx, dir)
	if err != nil {
		return nil
	}
	f.left -= len(list)
	return list
}

// tree adds what lies below a folder and may not simply be read.
func (f *finder) tree(p host.Path, w walk) {
	at := step{w, p.Real}
	if f.trod[at] {
		return // a link leads here again
	}
	f.trod[at] = true
	for _, info := range f.list(p.Real) {
		if !w.hidden && strings.HasPrefix(info.Name, ".") {
			continue
		}
		child := p
		child.Given, child.Abs, child.Real = filepath.Join(p.Abs, info.Name), filepath.Join(p.Abs, info.Name), filepath.Join(p.Real, info.Name)
		child.Rel = filepath.ToSlash(child.Real)
		if p.Inside() {
			child.Rel = strings.TrimPrefix(p.Rel+"/"+info.Name, "./")
		}
		switch {
		case info.Type == change.Symlink && w.follows:
			f.link(child, w)
		case info.Type == change.Dir:
			f.tree(child, w)
		case w.reads && f.call.Reading(child) != tool.Allow:
			f.note(child, tool.Read)
		}
	}
}

// link adds what a link leads to.
func (f *finder) link(at host.Path, w walk) {
	p, err := f.call.Resolve(f.ctx, at.Abs)
	if err != nil {
		return
	}
	info, err := f.call.Host.Stat(f.ctx, p.Real)
	if err != nil {
		return
	}
	dir := info.Type == change.Dir
	switch allowed := f.call.Reading(p) == tool.Allow; {
	case !allowed && (dir || w.reads):
		f.note(p, tool.Read)
	case dir && allowed:
		f.tree(p, w)
	}
}
