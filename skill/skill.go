// Package skill reads skills: folders with a SKILL.md, which tells a model how to do one kind of work, and files beside it.
//
// The format is read as people write it, not as it is specified: a missing quote, a byte order mark or a name that does not
// fit its folder is mended and said. Nothing vanishes: every file that looks like a skill is a [Finding], loaded or not, with
// the reason. The package reads through [fs.FS] and knows neither tools nor policy.
package skill

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// File is the name of the file that makes a folder a skill.
const File = "SKILL.md"

// Limits of a skill.
const (
	MaxName        = 64      // characters
	MaxDescription = 1024    // characters; a longer one is kept and said
	MaxFile        = 1 << 20 // bytes of SKILL.md; a larger file is refused
	maxFront       = 64 << 10
)

// Skill is one skill.
type Skill struct {
	Name        string `json:"name"`        // lower case, without blanks
	Description string `json:"description"` // one paragraph: what it is for and when
	Place       string `json:"place"`       // name of the place where it was found, such as "project"
	Dir         string `json:"dir"`         // its folder, absolute, as found: links are not resolved
	Path        string `json:"path"`        // of its SKILL.md

	Tools  []string          `json:"tools,omitempty"`  // that it expects ("allowed-tools"); they give no right
	Hint   string            `json:"hint,omitempty"`   // of what to say with it ("argument-hint")
	Manual bool              `json:"manual,omitempty"` // only people start it ("disable-model-invocation")
	Meta   map[string]string `json:"meta,omitempty"`   // other simple values of the front matter, such as license
	Notes  []string          `json:"notes,omitempty"`  // what was mended when it was read
	Body   string            `json:"-"`                // what stands after the front matter
}

// State says what became of a candidate.
type State string

// The states.
const (
	Loaded   State = "loaded"
	Mended   State = "mended"   // loaded, and Reason says what is wrong with it
	Shadowed State = "shadowed" // another of the same name comes first
	Rejected State = "rejected" // cannot be used, for Reason
)

// Finding is one file that is a skill, or looks as if it was meant to be one.
type Finding struct {
	State  State  `json:"state"`
	Name   string `json:"name,omitempty"`
	Place  string `json:"place"`
	Path   string `json:"path"`
	Reason string `json:"reason,omitempty"` // ends with what to do
}

// Catalogue is the skills of some places. It does not change.
type Catalogue struct {
	Skills   []Skill   // sorted by name, each name once
	Findings []Finding // of every candidate, in the order of the places and their paths
}

// Get returns the skill of a name. Case, blanks and underscores do not matter.
func (c *Catalogue) Get(name string) (*Skill, bool) {
	name = plain(name)
	i, ok := slices.BinarySearchFunc(c.Skills, name, func(s Skill, n string) int { return cmp.Compare(s.Name, n) })
	if !ok {
		return nil, false
	}
	return &c.Skills[i], true
}

// Near returns at most five names that are almost the given one, or have it in them, the nearest first.
func (c *Catalogue) Near(name string) []string {
	name = plain(name)
	type near struct {
		name string
		d    int
	}
	var out []near
	for _, s := range c.Skills {
		most := min(max(1, len(name)/3), 3)
		d := text.Distance(name, s.Name, most+1)
		if len(name) > 2 && strings.Contains(s.Name, name) {
			d = min(d, most)
		}
		if d <= most {
			out = append(out, near{s.Name, d})
		}
	}
	slices.SortStableFunc(out, func(a, b near) int { return a.d - b.d })
	var names []string
	for _, n := range out[:min(len(out), 5)] {
		names = append(names, n.name)
	}
	return names
}

// Rejected returns the findings of candidates that cannot be used whose folder or file name is like the given name: why a
// skill that somebody wrote is not there.
func (c *Catalogue) Rejected(name string) []Finding {
	name = plain(name)
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool {
		return f.State != Rejected || name == "" || plain(f.Name) != name && !slices.Contains(strings.Split(plain(strings.ReplaceAll(f.Path, ".", "/")), "/"), name)
	})
}

// plain is a name as skills are named: lower case, with a hyphen for blanks and underscores.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '\t' {
			return '-'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}
