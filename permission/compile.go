package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/tool"
)

// settings is what compiling a rule needs to know.
type settings struct {
	home     string
	spool    string            // the folder that stands for artifacts
	tools    map[string]string // tool name → permission
	matchers map[tool.TargetKind]Matcher
	secret   *nameTable
}

// Compiled is a layer that is ready to be asked. [Gate.Compile] makes one for a session or a request. It is immutable
// and safe for concurrent use; it belongs to the gate that made it.
type Compiled struct {
	name      string
	untrusted bool
	rules     []rule
	tools     map[string]string
	views     sync.Map // permission → *view; bounded by the number of permissions that tools declare
}

// A rule is a compiled Rule.
type rule struct {
	Rule
	number  int // 1-based
	by      string
	ignored bool // an allow of an untrusted layer
	path    pathPattern
	command *command.Pattern // for command targets; then the rule is about no others
	names   []string         // that its commands have, see [command.Pattern.Names]
	other   map[tool.TargetKind]Match
}

func (r *rule) restricts() bool { return r.Action != tool.Allow }

// compile reads a layer. The error joins a *RuleError for every rule that cannot be understood.
func compile(l Layer, s *settings) (*Compiled, error) {
	if s.secret == nil {
		s.secret = secretNames()
	}
	c := &Compiled{name: l.Name, untrusted: l.Untrusted, tools: s.tools, rules: make([]rule, len(l.Rules))}
	var errs []error
	if l.Base != "" && !filepath.IsAbs(l.Base) {
		errs = append(errs, fmt.Errorf("layer %s: its base %q is not absolute", l.Name, l.Base))
	}
	for i, r := range l.Rules {
		out := &c.rules[i]
		*out = rule{Rule: r, number: i + 1, by: fmt.Sprintf("rule %s:%d", l.Name, i+1), ignored: l.Untrusted && r.Action == tool.Allow}
		if err := out.compile(s, l.Base); err != nil {
			errs = append(errs, &RuleError{Layer: l.Name, Number: i + 1, Rule: r, Reason: err.Error()})
		}
	}
	return c, errors.Join(errs...)
}

func (r *rule) compile(s *settings, base string) (err error) {
	if r.Action > tool.Deny {
		return fmt.Errorf("the action %d is none of allow, ask and deny", uint8(r.Action))
	}
	if err := checkName(r.Permission); err != nil {
		return err
	}
	if is, err := r.compileCommand(s.tools); is {
		return err
	}
	if r.path, err = compilePath(r.Pattern, r.restricts(), place{s.home, base, s.spool}, s.secret); err != nil {
		return err
	}
	for kind, m := range s.matchers {
		if r.other == nil {
			r.other = map[tool.TargetKind]Match{}
		}
		match, err := m.Compile(r.Pattern, r.restricts())
		if err != nil || kind == tool.URLTarget && !r.restricts() && strings.Contains(r.Permission, "*") && !strings.Contains(r.Pattern, "://") {
			match = nil // not a pattern of this kind: "*.sh" for every permission is about files, not about hosts
		}
		r.other[kind] = match
	}
	return nil
}

// governs reports whether the rule speaks about a permission (P2). The name of a tool that asks under another permission
// means that permission. A name with "*" means the permissions that it matches; where it restricts, those of the tools
// that it matches as well.
func (r *rule) governs(permission string, tools map[string]string) bool {
	if !strings.Contains(r.Permission, "*") {
		if p, ok := tools[r.Permission]; ok {
			return p == permission
		}
		return r.Permission == permission
	}
	if wildcard(r.Permission, permission) {
		return true
	}
	if !r.restricts() {
		return false
	}
	for name, p := range tools {
		if p == permission && wildcard(r.Permission, name) {
			return true
		}
	}
	return false
}

// A view is the part of a layer that speaks about one permission.
type view struct {
	rules    []*rule // all, ascending
	live     []*rule // without the ignored ones
	any      []int32 // of live: rules whose pattern is Any
	below    []int32 // of live: restricting rules with another pattern, for directories that are renamed
	rel, abs pathIndex
}

func (c *Compiled) view(permission string) *view {
	if v, ok := c.views.Load(permission); ok {
		return v.(*view)
	}
	v := &view{}
	for i := range c.rules {
		r := &c.rules[i]
		if !r.governs(permission, c.tools) {
			continue
		}
		v.rules = append(v.rules, r)
		if r.ignored {
			continue
		}
		id := int32(len(v.live))
		v.live = append(v.live, r)
		switch {
		case r.command != nil:
			continue // no pattern for paths
		case r.path.any:
			v.any = append(v.any, id)
		case r.path.absolute:
			v.abs.add(&r.path, id)
		default:
			v.rel.add(&r.path, id)
		}
		if r.restricts() && !r.path.any {
			v.below = append(v.below, id)
		}
	}
	actual, _ := c.views.LoadOrStore(permission, v)
	return actual.(*view)
}

// last returns the last live rule that matches one spelling of a path, or nil.
func (v *view) last(f *form) *rule {
	match := func(i int32) bool { return v.live[i].path.match(f) }
	best := try(v.any, -1, match)
	best = v.abs.last(f.fabs, best, match)
	if f.inside {
		best = v.rel.last(f.frel, best, match)
	}
	if best < 0 {
		return nil
	}
	return v.live[best]
}

// hides returns the rule that takes the permission's tools out of the list, or nil: the last rule has the pattern Any and
// denies (P3).
func (v *view) hides() *rule {
	if n := len(v.live); n > 0 {
		if r := v.live[n-1]; r.path.any && r.Action == tool.Deny {
			return r
		}
	}
	return nil
}

// An opinion is what one layer says about one subject: the rule that decides, and its verdict. The zero opinion is none.
type opinion struct {
	rule    *rule
	verdict tool.Verdict
	maybe   bool // whether the rule matches cannot be known here, so the verdict is ask whatever the rule says
}

// opinion asks the layer about a subject.
func (c *Compiled) opinion(s *subject, permission string) opinion {
	v := c.view(permission)
	if len(v.live) == 0 {
		return opinion{}
	}
	if !s.isPath() {
		return v.other(s)
	}
	var o opinion
	first := v.last(&s.forms[0])
	switch {
	case s.n == 1:
		o = of(first)
	case s.alike:
		o = of(later(first, v.last(&s.forms[1])))
	default:
		o = both(first, v.last(&s.forms[1]))
	}
	if s.tree && o.verdict != tool.Deny {
		o = v.moved(s, o)
	}
	return o
}

func of(r *rule) opinion {
	if r == nil {
		return opinion{}
	}
	return opinion{rule: r, verdict: r.Action}
}

func later(a, b *rule) *rule {
	if a == nil || b != nil && b.number > a.number {
		return b
	}
	return a
}

// both joins what a layer says about the two spellings of a path: deny and ask if either has it, allow only if both do.
func both(a, b *rule) opinion {
	if a == nil || b != nil && b.Action > a.Action {
		a, b = b, a
	}
	if a == nil || b == nil && a.Action == tool.Allow {
		return opinion{}
	}
	return of(a)
}

// moved tightens the opinion about a directory that is renamed by the rules about what lies below it: they would no
// longer match in the new place.
func (v *view) moved(s *subject, o opinion) opinion {
	for _, id := range v.below {
		r := v.live[id]
		for k := range s.n {
			switch r.path.below(&s.forms[k]) {
			case reachSure:
				if o.rule == nil || r.Action > o.verdict {
					o = of(r)
				}
			case reachMaybe:
				if o.rule == nil || o.verdict < tool.Ask {
					o = opinion{rule: r, verdict: tool.Ask, maybe: true}
				}
			}
		}
	}
	return o
}

// other asks the rules about a target that is not a path. A restricting rule whose pattern cannot be compared with the
// target may or may not be the last that matches: the opinion is then at least ask.
func (v *view) other(s *subject) opinion {
	var doubt opinion
	for i := len(v.live) - 1; i >= 0; i-- {
		r := v.live[i]
		switch matches, known := r.matchesOther(s); {
		case matches && (doubt.rule == nil || r.Action == tool.Deny):
			return of(r)
		case matches:
			return doubt
		case !known && r.restricts() && doubt.rule == nil:
			doubt = opinion{rule: r, verdict: tool.Ask, maybe: true}
		}
	}
	return doubt
}

// matchesOther matches a target that is not a path. known is false when nobody can compare the rule's pattern with it.
func (r *rule) matchesOther(s *subject) (matches, known bool) {
	t := &s.target
	switch {
	case r.path.any:
		return true, true
	case t.Kind == "":
		return false, true // an effect without a target: only Any speaks about it
	case s.line != nil:
		return r.matchesCommand(s)
	case r.command != nil:
		return false, true
	}
	match, known := r.other[t.Kind]
	return match != nil && match(*t), known
}
