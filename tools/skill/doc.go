// Package skill holds the tools over skills: list_skills, read_skill and skills_use (A6). None of their schemas names a
// skill, so that the list of tools is the same bytes for every catalogue.
package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
)

// Config is what the tools share. It is copied.
type Config struct {
	// Load returns the skills there are. It is called by each call; reading them once is its business.
	Load func(ctx context.Context) (*skill.Catalogue, error)
	// Known reports whether a tool is on the session's list, for the note on tools that a skill expects. Nil: no note.
	Known func(call *tool.Call, name string) bool
}

// Tools returns the tools, in the order in which models see them.
func Tools(c Config) []tool.Tool {
	return []tool.Tool{List{c}.Tool(), Read{c}.Tool(), Use{c}.Tool()}
}

// find returns the skill of a name, or the error that says which there are.
func (c Config) find(ctx context.Context, name string) (*skill.Skill, error) {
	if strings.TrimSpace(name) == "" {
		return nil, tool.Errorf(tool.MissingParameter, "name is empty.").For("name", "the name of a skill").With("list_skills shows all.")
	}
	cat, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	return Find(cat, name)
}

// Find returns the skill of a name. The error says what is wrong with one of that name, which are almost like it, or which
// there are.
func Find(cat *skill.Catalogue, name string) (*skill.Skill, error) {
	if s, ok := cat.Get(name); ok {
		return s, nil
	}
	e := tool.Errorf(tool.NotFound, "there is no skill %q.", name).For("name", "the name of a skill")
	near := cat.Near(name)
	rejected := cat.Rejected(name)
	switch {
	case len(rejected) > 0:
		f := rejected[0]
		e = e.With(fmt.Sprintf("%s looks like it and cannot be used: %s.", f.Path, f.Reason))
	case len(near) > 0:
		e = e.With("Did you mean " + strings.Join(near, ", ") + "? list_skills shows all.")
	case len(cat.Skills) == 0:
		e = e.With("There are no skills here; go on without one.")
	default:
		var names []string
		for _, s := range cat.Skills[:min(len(cat.Skills), shown)] {
			names = append(names, s.Name)
		}
		more := ""
		if n := len(cat.Skills) - len(names); n > 0 {
			more = fmt.Sprintf(" and %d more (list_skills)", n)
		}
		e = e.With("There are: " + strings.Join(names, ", ") + more + ".")
	}
	return nil, e
}

// shown is how many names an error lists.
const shown = 40

// target is a file of a skill as policy sees it: a file that is read.
func target(ctx context.Context, call *tool.Call, path string) (host.Path, tool.Target, error) {
	p, err := call.Host.Resolve(ctx, call.Dir, path)
	if err != nil {
		return p, tool.Target{}, tool.PathError("file", path, err)
	}
	return p, tool.PathTo(p, tool.Read), nil
}

// Missing are the tools that a skill expects and a session does not have, under the names that the skill uses. known
// reports whether it has one.
func Missing(s *skill.Skill, known func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.Tools), func(name string) bool {
		name, _, _ = strings.Cut(name, "(")
		return known(name)
	})
}

var errOutside = errors.New("outside of the skill")
