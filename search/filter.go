package search

import (
	"fmt"
	"path"
	"strings"

	"github.com/tackle-dev/tackle/glob"
)

// filter is a compiled Filter. Paths given to it are absolute without the leading "/".
type filter struct {
	Filter
	overrides *glob.Overrides
	types     typeFilter
	base      int // length of Base in paths, with its "/"
}

// PathError is a query with a path that cannot be searched.
type PathError struct {
	Path   string
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("search %q: %s", e.Path, e.Reason) }

func newFilter(q Filter) (*filter, error) {
	if !path.IsAbs(q.Root) || path.Clean(q.Root) != q.Root {
		return nil, &PathError{q.Root, "root is not a clean absolute path"}
	}
	if q.Base == "" {
		q.Base = q.Root
	}
	if q.Base != q.Root && !strings.HasPrefix(q.Root, strings.TrimSuffix(q.Base, "/")+"/") {
		return nil, &PathError{q.Root, "root is not below the base of the globs, " + q.Base}
	}
	f := &filter{Filter: q, base: len(insideOf(q.Base))}
	var err error
	if f.overrides, err = glob.NewOverrides(q.Globs, q.FoldGlobs); err != nil {
		return nil, err
	}
	if f.types, err = newTypeFilter(q.Types, q.NotTypes); err != nil {
		return nil, err
	}
	return f, nil
}

// insideOf returns the beginning that all paths below an absolute directory have: "a/b/" for "/a/b", "" for "/".
func insideOf(dir string) string {
	if dir == "/" {
		return ""
	}
	return dir[1:] + "/"
}

// skips decides about an entry and records why in the tally.
func (f *filter) skips(t *tally, s *glob.Stack, p string, name string, dir bool, rel string) bool {
	if f.leavesOut(t, s, p, name, dir, rel) {
		return true
	}
	if dir || f.Allow == nil || f.Allow(rel) {
		return false
	}
	t.count(Denied, rel) // counted, never named: even the name is not for this reader
	return true
}

// leavesOut decides by globs, ignore files, types and names. Precedence is ripgrep's: globs, ignore files, types,
// then the leading dot, which does not count for what one of the others includes.
func (f *filter) leavesOut(t *tally, s *glob.Stack, p string, name string, dir bool, rel string) bool {
	switch f.overrides.Match(p[f.base:], dir) {
	case glob.Excluded:
		return true
	case glob.Included:
		return false
	}
	included := false
	if !f.NoIgnore {
		if r := s.Match(p, dir); r != nil {
			if !r.Include {
				if t.count(Ignored, rel) {
					t.keep(Ignored, example{strings.Clone(rel), f.cite(r)})
				}
				return true
			}
			included = true
		}
	}
	if !dir {
		switch f.types.match(name) {
		case glob.Excluded:
			return true
		case glob.Included:
			included = true
		}
	}
	if name[0] != '.' || included {
		return false
	}
	if f.Hidden && (name != ".git" || f.NoIgnore) {
		return false
	}
	if name != ".git" {
		t.skip(Hidden, rel, "")
	}
	return true
}

// cite names the rule of an ignore file: by its path below Root, or in full where it lies outside.
func (f *filter) cite(r *glob.Rule) string {
	source := r.Source
	if in := "/" + insideOf(f.Root); strings.HasPrefix(source, in) {
		source = source[len(in):]
	}
	return fmt.Sprintf("%s:%d %s", source, r.Line, r.Text)
}
