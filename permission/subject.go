package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// A subject is one thing that is judged: a target of the intent, a path of its changes that no target names, or an effect
// that comes without any target.
type subject struct {
	target tool.Target
	forms  [2]form // the spellings of a path; only those below n count
	// classes are parallel to forms; what is not a path has one class and no form.
	classes [2]Class
	n       int
	// alike says that the two forms are one place: they differ by a link above the workspace root, which is the person's
	// own. Then one match is enough for every action.
	alike bool
	// tree says that a directory is renamed, with everything below it.
	tree bool
	// problem is why the target cannot be judged; then it is at least asked for.
	problem string

	// line and part are those of a command; part is -1 where the line could not be read. whole is the line as it was given.
	line  *line
	part  int
	whole string
}

// A form is one spelling of a path, prepared for matching.
type form struct {
	native string // absolute, as the host writes it
	abs    string // absolute with slashes, without the one in front
	rel    string // relative to the workspace root; only where inside
	fabs   string // folded
	frel   string
	inside bool

	artifact, state, config bool
	plan                    bool   // a plan, by its exact name
	protected, secret       string // the name that was recognised, or ""
}

// isPath reports whether the subject has paths to match.
func (s *subject) isPath() bool { return s.target.Kind == tool.PathTarget && s.n > 0 }

// secret reports whether a spelling is a file of credentials.
func (s *subject) secret() bool { return s.forms[0].secret != "" || s.forms[1].secret != "" }

// name returns what a person or model calls the subject.
func (s *subject) name() string {
	if s.target.Path != nil && s.target.Path.Given != "" {
		return s.target.Path.Given
	}
	return s.target.Value
}

// subjects lists everything that an intent touches. It is never empty: an intent without targets is judged by its
// effects.
func (j *judge) subjects(in *tool.Intent) []subject {
	out := make([]subject, 0, len(in.Targets)+len(in.MayCreate)+1)
	for i := range in.Targets {
		if in.Targets[i].Kind == tool.CommandTarget {
			out = append(out, j.commands(in.Targets[i])...)
			continue
		}
		out = append(out, j.subject(in.Targets[i]))
	}
	written := func(path string) bool {
		return slices.ContainsFunc(out, func(s subject) bool {
			return s.target.Kind == tool.PathTarget && s.target.Effect == tool.Write && s.target.Value == path
		})
	}
	add := func(path string) {
		if !written(path) {
			out = append(out, j.subject(tool.Target{Kind: tool.PathTarget, Effect: tool.Write, Value: path}))
		}
	}
	for _, path := range in.MayCreate {
		add(path)
	}
	if in.Changes != nil {
		j.addChanges(in.Changes, add)
		for i := range in.Changes.Ops {
			op := &in.Changes.Ops[i]
			if op.Kind != change.Move || op.Before.Type != change.Dir {
				continue
			}
			for k := range out {
				if out[k].target.Value == op.Path {
					out[k].tree = true
				}
			}
		}
	}
	for _, e := range in.Effects {
		if !covered(out, e) {
			out = append(out, j.subject(tool.Target{Effect: e}))
		}
	}
	if len(out) == 0 {
		out = append(out, j.subject(tool.Target{Effect: tool.Read}))
	}
	return out
}

// addChanges adds the paths that a changeset writes, whatever the targets say: the set is what will happen. A directory
// that is made only to hold another path of the set goes with that path.
func (j *judge) addChanges(set *change.Set, add func(string)) {
	for i := range set.Ops {
		op := &set.Ops[i]
		if op.Kind == change.Mkdir && slices.ContainsFunc(set.Ops, func(o change.Op) bool {
			made := o.Path
			if o.Kind == change.Move {
				made = o.To
			}
			return o.Kind != change.Delete && made != op.Path && below(made, op.Path)
		}) {
			continue
		}
		add(op.Path)
		if op.Kind == change.Move {
			add(op.To)
		}
	}
}

// covered reports whether some target already carries the effect.
func covered(subjects []subject, e tool.Effect) bool {
	return slices.ContainsFunc(subjects, func(s subject) bool {
		switch s.target.Kind {
		case tool.ToolTarget:
			return true
		case tool.URLTarget:
			return e == tool.Network || s.target.Effect == e
		case tool.CommandTarget:
			return e == tool.Execute || s.target.Effect == e
		case tool.PathTarget:
			return s.target.Effect == e || e == tool.Read && s.target.Effect == tool.Write // what is changed is read for it
		}
		return s.target.Effect == e
	})
}

func (j *judge) subject(t tool.Target) subject {
	s := subject{target: t}
	if t.Kind == tool.ArtifactTarget {
		return j.artifact(t)
	}
	if t.Kind != tool.PathTarget {
		s.classes[0] = j.classOther(&t)
		s.n = 1
		return s
	}
	if !filepath.IsAbs(t.Value) {
		s.problem = "its path is not absolute"
		if t.Value == "" {
			s.problem = "it names no path"
		}
		s.classes[0], s.n = j.classOther(&tool.Target{Effect: t.Effect}), 1
		s.target.Kind = "" // it has no form to match
		return s
	}
	var p host.Path
	switch {
	case t.Path != nil && t.Path.Real == t.Value:
		p = *t.Path
	case t.Path != nil:
		s.problem = "its path and its value differ"
		fallthrough
	default:
		p = j.locate(t.Value)
	}
	s.forms[0], s.n = j.form(p.Real, p.Root, p.Rel, t.Effect), 1
	if p.Abs != p.Real && p.Abs != "" {
		given := j.locate(p.Abs)
		if !given.Inside() && p.Inside() && !p.Link {
			given.Root, given.Rel, s.alike = p.Root, p.Rel, true
		}
		s.forms[1], s.n = j.form(p.Abs, given.Root, given.Rel, t.Effect), 2
	}
	for i := range s.n {
		s.classes[i] = j.classPath(&s.forms[i], t.Effect)
	}
	if s.alike {
		s.classes[1] = s.classes[0]
	}
	return s
}

// artifact makes the subject of kept output: a file of the folder that artifacts lie in, so that rules about that folder
// bear on it, under whatever name it is read.
func (j *judge) artifact(t tool.Target) subject {
	id := strings.TrimPrefix(t.Value, artifactPrefix)
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, `/\`) {
		return subject{problem: "it names no artifact", classes: [2]Class{ReadOut}, n: 1, target: tool.Target{Effect: t.Effect, Value: t.Value}}
	}
	file := filepath.Join(j.facts.spool(), id)
	s := subject{target: tool.Target{Kind: tool.PathTarget, Effect: t.Effect, Value: file, Path: &host.Path{Given: t.Value, Abs: file, Real: file, Rel: file}}, n: 1}
	s.forms[0] = j.form(file, "", file, t.Effect)
	s.forms[0].artifact, s.forms[0].secret = true, ""
	s.classes[0] = j.classPath(&s.forms[0], t.Effect)
	return s
}

func (j *judge) form(native, root, rel string, e tool.Effect) form {
	slash := filepath.ToSlash(native)
	f := form{native: native, abs: strings.TrimPrefix(slash, "/"), inside: root != ""}
	folded := fold(slash)
	f.fabs = strings.TrimPrefix(folded, "/")
	// Below a root only the names below it count: a workspace in a folder of a protected name is the person's choice.
	before, names := "", f.fabs
	if f.inside {
		f.rel, f.frel = rel, fold(rel)
		before, names = foldName(fold(filepath.Base(root))), f.frel
	}
	f.state = belowAny(folded, j.state)
	f.artifact = j.facts.Artifacts != "" && below(native, j.facts.Artifacts)
	f.secret = j.secret.find(before, names)
	if f.secret == "" && !f.inside && procSecret(slash) {
		f.secret = "/proc"
	}
	if e != tool.Read {
		f.protected = j.protected.find(before, names)
		f.plan = f.inside && f.protected == "" && f.secret == "" && isPlan(f.rel)
		f.config = belowAny(folded, j.config) || hasComponent(names, ".tackle") && !f.plan
		f.plan = f.plan && !f.config
	}
	return f
}

// isPlan reports whether a path below a root is that of a plan. A SKILL.md is none: a folder of skills may be a link to that
// of plans.
func isPlan(rel string) bool {
	if strings.EqualFold(rel[strings.LastIndexByte(rel, '/')+1:], "SKILL.md") {
		return false
	}
	name, ok := strings.CutPrefix(rel, tool.PlanFolder+"/")
	return ok && strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// hasComponent reports whether a folded path has the component, in any spelling.
func hasComponent(path, name string) bool {
	if !strings.Contains(path, name) {
		return false
	}
	for c := range strings.SplitSeq(path, "/") {
		if foldName(c) == name {
			return true
		}
	}
	return false
}
