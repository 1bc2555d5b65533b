package shell

import (
	"context"
	"path/filepath"
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
	out   []file
}

// named returns the files that a line names, which runs in dir.
func named(ctx context.Context, call *tool.Call, facts *command.Facts, dir string) []file {
	if call.Host == nil {
		return nil
	}
	f := &finder{ctx: ctx, call: call, dir: dir, left: maxSeen, known: map[string]bool{}}
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
			if reads, hidden := contents(&facts.Calls[n.Call]); ok && n.Tree && reads {
				f.tree(p, hidden)
			}
		}
	}
	return f.out
}

// contents reports whether a command that walks a tree tells what is in its files, and not only their names; and whether it
// looks into hidden ones. What git ignores counts, although rg may skip it.
func contents(c *command.Call) (reads, hidden bool) {
	switch c.Name() {
	case "ls", "stat", "du":
		return false, false
	case "grep", "egrep", "fgrep", "diff":
		return true, true
	case "rg":
		for i := range c.Args[1:] {
			a := c.Args[i+1].Text
			short := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
			hidden = hidden || a == "--hidden" || a == "--unrestricted" || short && strings.ContainsAny(a, ".u")
		}
		return true, hidden
	}
	return c.Found(), true // find -exec cat {} +
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
func (f *finder) tree(p host.Path, hidden bool) {
	for _, info := range f.list(p.Real) {
		if !hidden && strings.HasPrefix(info.Name, ".") {
			continue
		}
		child := p
		child.Given, child.Abs, child.Real = filepath.Join(p.Abs, info.Name), filepath.Join(p.Abs, info.Name), filepath.Join(p.Real, info.Name)
		child.Rel = filepath.ToSlash(child.Real)
		if p.Inside() {
			child.Rel = strings.TrimPrefix(p.Rel+"/"+info.Name, "./")
		}
		switch {
		case info.Type == change.Dir:
			f.tree(child, hidden)
		case f.call.Reading(child) != tool.Allow:
			f.note(child, tool.Read)
		}
	}
}
