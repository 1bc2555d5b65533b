package command

import (
	"path"
	"slices"
	"strings"
)

// Path is a file or folder that a line names, as far as that is known from the text.
type Path struct {
	// Name is relative to the folder that the line starts in, or absolute. It is clean but not resolved: links are the
	// caller's.
	Name  string
	Write bool // it may be changed or made; otherwise it is read
	Glob  bool // Name is a pattern of the shell
	Tree  bool // with everything below
	Call  int  // index of the call
}

// maxFolders bounds the folders in which a line with several cd may be.
const maxFolders = 8

// Paths returns the files that the calls name: the targets of redirections, what commands of the read-only table read, and
// what a few well-known commands write. A line that changes the folder may do so or fail, so a name then counts in every
// folder that the line may have been in. Names that the shell computes are missing.
func (f *Facts) Paths() []Path {
	var out []Path
	folders := []string{""}
	for i := range f.Calls {
		c := &f.Calls[i]
		for _, p := range append(c.paths(), f.found(i)...) {
			for _, folder := range folders {
				q := p
				q.Call = i
				if !path.IsAbs(p.Name) {
					q.Name = path.Join(folder, p.Name)
				}
				if q.Name = path.Clean(q.Name); !contains(out, q) {
					out = append(out, q)
				}
			}
		}
		if (c.Name() == "cd" || c.Name() == "pushd") && len(c.Args) == 2 && c.Args[1].Literal() {
			folders = entered(folders, c.Args[1].Text)
		}
	}
	return out
}

// Found reports whether the call is given the names of what find finds.
func (c *Call) Found() bool {
	return slices.ContainsFunc(c.Args, func(w Word) bool { return w.found })
}

// found returns the folders that find looks into, for a call that is given what it finds.
func (f *Facts) found(i int) []Path {
	k := i
	for k >= 0 && (!f.Calls[i].Found() || f.Calls[k].Name() != "find" && f.Calls[k].Name() != "gfind") {
		k = f.Calls[k].Parent
	}
	if k < 0 || k == i {
		return nil
	}
	args, _ := f.Calls[k].Argv()
	starts := findStarts(args[1:])
	if len(starts) == 0 {
		starts = []string{"."}
	}
	var out []Path
	for _, s := range starts {
		out = append(out, Path{Name: s, Tree: true})
	}
	return out
}

func entered(folders []string, to string) []string {
	out := folders
	for _, folder := range folders {
		next := to
		if !path.IsAbs(to) {
			next = path.Join(folder, to)
		}
		if len(out) < maxFolders {
			out = append(out[:len(out):len(out)], next)
		}
	}
	return out
}

// contains reports whether a path is there already. What is told of a tree depends on the call.
func contains(list []Path, p Path) bool {
	for _, q := range list {
		if q.Name == p.Name && q.Write == p.Write && q.Tree == p.Tree && (!p.Tree || q.Call == p.Call) {
			return true
		}
	}
	return false
}

// paths returns what one call names.
func (c *Call) paths() []Path {
	var out []Path
	for i := range c.Redirects {
		r := &c.Redirects[i]
		if !r.Target.Literal() || device(r.Target.Text) {
			continue
		}
		if r.Writes() {
			out = append(out, Path{Name: r.Target.Text, Write: true})
		}
		if r.Op == "<" || r.Op == "<>" {
			out = append(out, Path{Name: r.Target.Text})
		}
	}
	if len(c.Args) == 0 {
		return out
	}
	if e := table()[c.Name()]; e != nil && !c.changes() {
		return append(out, c.reads(e)...)
	}
	return append(out, c.writes()...)
}

// changes reports whether a command of the table is used in a way that writes.
func (c *Call) changes() bool {
	for i := 1; i < len(c.Args); i++ {
		t := c.Args[i].Text
		if c.Name() == "sed" && (strings.HasPrefix(t, "--in") || short(t, 'i')) || c.Name() == "sort" && (strings.HasPrefix(t, "--o") || short(t, 'o')) {
			return true
		}
	}
	return false
}

func short(word string, letter byte) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, letter) > 0
}

// reads returns what a command of the table reads.
func (c *Call) reads(e *entry) []Path {
	args, _ := c.Argv()
	args = args[1:]
	var names []int
	given := false // the pattern, script or listing is given by an option
	recursive := c.Name() != "ls" && c.Name() != "grep" && c.Name() != "egrep" && c.Name() != "fgrep"
	if ck := checks(e.check); ck == nil || !ck.raw {
		d := e.decode(args)
		names = d.operands
		for _, o := range d.options {
			switch o.name {
			case "e", "regexp", "expression", "files", "type-list":
				given = true
			case "r", "R", "recursive", "dereference-recursive":
				recursive = true
			case "d", "directories":
				recursive = recursive || o.value == "recurse"
			}
		}
	}
	p := func(name string, glob bool) Path {
		return Path{Name: name, Glob: glob, Tree: recursive && (e.operands == tree || e.operands == pattern)}
	}
	switch e.operands {
	case text:
		return nil
	case pattern, script, program:
		if !given && len(names) > 0 {
			names = names[1:]
		}
	}
	var out []Path
	if e.check == "find" {
		for _, s := range findStarts(args) {
			out = append(out, p(s, false))
		}
	}
	for _, k := range names {
		w := &c.Args[k+1]
		if (w.Literal() || w.Doubt == Glob) && w.Text != "-" && w.Text != "" {
			out = append(out, p(w.Text, w.Doubt == Glob))
		}
	}
	if len(out) == 0 && (e.operands == tree || e.operands == pattern && recursive) {
		out = append(out, p(".", false))
	}
	return out
}

// writes returns what a well-known command changes, and what of it another file gets.
func (c *Call) writes() []Path {
	var operands []*Word
	var into *Word // the folder that an option names
	first := 0     // operands in front of the files
	switch c.Name() {
	case "chmod", "chown", "chgrp", "sed":
		first = 1
	}
	for i := 1; i < len(c.Args); i++ {
		w := &c.Args[i]
		switch {
		case c.targeted(i):
			if t := *w; into == nil {
				if t.Text = target(w.Text); t.Text == "" && i+1 < len(c.Args) {
					i++
					t = c.Args[i]
				}
				into = &t
			}
		case !strings.HasPrefix(w.Text, "-") && (w.Literal() || w.Doubt == Glob):
			operands = append(operands, w)
		case instead(c.Name(), w.Text):
			first = 0
		}
	}
	operands = operands[min(first, len(operands)):]
	var out []Path
	add := func(w *Word, write bool) {
		if w.Text != "" && (w.Literal() || w.Doubt == Glob) {
			out = append(out, Path{Name: w.Text, Write: write, Glob: w.Doubt == Glob})
		}
	}
	switch c.Name() {
	case "chmod", "chown", "chgrp", "sed", "rm", "rmdir", "unlink", "shred", "mkdir", "touch", "tee", "truncate", "mkfifo", "mknod":
		for _, w := range operands {
			add(w, true)
		}
	case "sort": // which of them is written depends on its options
		for _, w := range operands {
			add(w, false)
			add(w, true)
		}
	case "cp", "ln", "install", "mv":
		if into != nil {
			operands = append(operands, into)
		}
		for i, w := range operands {
			last := i == len(operands)-1
			if !last {
				add(w, false)
			}
			if last || c.Name() == "mv" {
				add(w, true)
			}
		}
	case "source", ".":
		if len(operands) > 0 {
			add(operands[0], false)
		}
	case "dd":
		for _, w := range operands {
			for _, prefix := range [...]string{"of=", "if="} {
				if rest, ok := strings.CutPrefix(w.Text, prefix); ok && rest != "" {
					out = append(out, Path{Name: rest, Write: prefix == "of="})
				}
			}
		}
	}
	return out
}

// targeted reports whether an argument is the option -t of cp and its like, which names the folder that files go into.
func (c *Call) targeted(i int) bool {
	switch c.Name() {
	case "cp", "mv", "ln", "install":
		t := c.Args[i].Text
		return strings.HasPrefix(t, "--t") || short(t, 't')
	}
	return false
}

// target returns the value that is attached to the option, or "".
func target(option string) string {
	if strings.HasPrefix(option, "--") {
		_, value, _ := strings.Cut(option, "=")
		return value
	}
	return option[strings.IndexByte(option, 't')+1:]
}

// instead reports whether an option stands for the operand in front of the files: sed's script, chmod's mode.
func instead(name, option string) bool {
	if name == "sed" {
		return strings.HasPrefix(option, "--e") || strings.HasPrefix(option, "--f") && strings.Contains(option, "=") ||
			short(option, 'e') && !strings.HasSuffix(option, "e") || short(option, 'f') && !strings.HasSuffix(option, "f")
	}
	return strings.HasPrefix(option, "--ref")
}
