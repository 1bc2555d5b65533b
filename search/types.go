package search

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/glob"
)

// typeList names file types and their globs, as ripgrep 15 knows them: one type a line, "name: glob glob …".
//
//go:embed types.txt
var typeList string

// allTypes is the name that stands for every type of the list.
const allTypes = "all"

// TypeNames returns the names of the type list, sorted.
func TypeNames() []string {
	var names []string
	for line := range strings.Lines(typeList) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	return names
}

// TypeGlobs returns the globs of a type, or nil where the list does not have it.
func TypeGlobs(name string) []string {
	for line := range strings.Lines(typeList) {
		n, globs, _ := strings.Cut(line, ":")
		if n == name {
			return strings.Fields(globs)
		}
	}
	return nil
}

// TypeError is a type that is not in the list.
type TypeError struct {
	Name string
	Near []string // names that may have been meant
}

func (e *TypeError) Error() string {
	msg := fmt.Sprintf("file type %q is not known", e.Name)
	if len(e.Near) > 0 {
		msg += "; did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return msg
}

// typeGlobs returns the globs of several types.
func typeGlobs(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		if name == allTypes {
			for _, n := range TypeNames() {
				out = append(out, TypeGlobs(n)...)
			}
			continue
		}
		globs := TypeGlobs(name)
		if globs == nil {
			return nil, &TypeError{name, nearTypes(name)}
		}
		out = append(out, globs...)
	}
	return out, nil
}

// nearTypes finds types by the extension that a name may be ("tsx"), or by a common beginning.
func nearTypes(name string) []string {
	name = strings.ToLower(strings.TrimLeft(name, "*."))
	if name == "" {
		return nil
	}
	var near []string
	for _, n := range TypeNames() {
		byExt := slices.Contains(TypeGlobs(n), "*."+name)
		if byExt || strings.HasPrefix(n, name) || len(n) > 1 && strings.HasPrefix(name, n) {
			near = append(near, n)
		}
	}
	return near[:min(len(near), 5)]
}

// typeFilter says which types a file may and may not have.
type typeFilter struct{ want, not *glob.Set }

func newTypeFilter(want, not []string) (typeFilter, error) {
	var f typeFilter
	for _, side := range []struct {
		names []string
		set   **glob.Set
	}{{want, &f.want}, {not, &f.not}} {
		if len(side.names) == 0 {
			continue
		}
		globs, err := typeGlobs(side.names)
		if err != nil {
			return f, err
		}
		set, err := glob.NewSet(globs, false)
		if err != nil {
			return f, fmt.Errorf("type list: %w", err)
		}
		*side.set = set
	}
	return f, nil
}

// match decides about a file: Excluded, Included (a wanted type, which then may be hidden), or Undecided.
func (f typeFilter) match(path string) glob.Verdict {
	if f.not != nil && f.not.Match(path) >= 0 {
		return glob.Excluded
	}
	if f.want == nil {
		return glob.Undecided
	}
	if f.want.Match(path) >= 0 {
		return glob.Included
	}
	return glob.Excluded
}
