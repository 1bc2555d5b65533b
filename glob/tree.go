package glob

import (
	"path"
	"strings"
)

// Tree answers questions about single paths of a directory tree from its ignore files, for callers that do not walk.
// The zero value is an empty tree inside a repository. Add everything before the first Match.
type Tree struct {
	Fold  bool // ignore case
	files map[string]*DirFiles
}

// Add adds an ignore file by its path relative to the top: ".gitignore", "a/.ignore", "a/b/.rgignore",
// ".git/info/exclude". It reports whether the name is that of an ignore file.
func (t *Tree) Add(file string, data []byte) bool {
	dir, name := path.Split(file)
	if repo, ok := strings.CutSuffix(file, ".git/info/exclude"); ok {
		f := t.dir(repo)
		f.Repo = true
		f.Exclude = ParseIgnore(file, data, t.Fold)
		return true
	}
	switch name {
	case ".gitignore":
		t.dir(dir).Git = ParseIgnore(file, data, t.Fold)
	case ".ignore":
		t.dir(dir).Dot = ParseIgnore(file, data, t.Fold)
	case ".rgignore":
		t.dir(dir).Tool = ParseIgnore(file, data, t.Fold)
	default:
		return false
	}
	return true
}

// SetGlobal sets the user's excludes file (core.excludesFile).
func (t *Tree) SetGlobal(source string, data []byte) {
	t.dir("").Global = ParseIgnore(source, data, t.Fold)
}

func (t *Tree) dir(dir string) *DirFiles {
	if t.files == nil {
		t.files = map[string]*DirFiles{}
	}
	f := t.files[dir]
	if f == nil {
		f = &DirFiles{}
		t.files[dir] = f
	}
	return f
}

// Match returns the rule that decides about a path, or nil. When a directory above is ignored, its rule decides:
// nothing below an ignored directory can be included again.
func (t *Tree) Match(p string, dir bool) *Rule {
	var s *Stack
	for from := 0; ; {
		if f := t.files[p[:from]]; f != nil {
			s = s.Push(from, *f)
		}
		i := strings.IndexByte(p[from:], '/')
		if i < 0 {
			return s.Match(p, dir)
		}
		if r := s.Match(p[:from+i], true); r != nil && !r.Include {
			return r
		}
		from += i + 1
	}
}

// Ignored reports whether the rule that decides about a path says ignore.
func (t *Tree) Ignored(p string, dir bool) bool {
	r := t.Match(p, dir)
	return r != nil && !r.Include
}
