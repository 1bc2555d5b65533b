package permission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// Options configure a Gate. The zero value is the posture guarded without a workspace and without rules.
type Options struct {
	Posture Posture
	Layers  []Layer            // of the person, of the project, …
	Modes   map[string][]Layer // the layers of a mode, by the mode's name
	Facts   Facts
	// Tools maps the names of tools to the permissions they ask under, so that a rule may name a tool (P2).
	Tools map[string]string
	// Matchers read patterns for targets that are neither paths nor commands. Tool names and addresses have one
	// ([ToolNames], [Hosts]); nil keeps them.
	Matchers map[tool.TargetKind]Matcher
	// Grants is the set of stored answers, shared by the gates of a project. Nil makes a new one.
	Grants *Grants
	Now    func() time.Time // default time.Now
}

// Gate decides. It is immutable but for its grants, and safe for concurrent use. A changed configuration is a new gate.
type Gate struct {
	posture  Posture
	layers   []*Compiled
	modes    map[string][]*Compiled
	settings settings
	judge    *judge
	grants   *Grants
	now      func() time.Time
	parent   *Gate
}

// Request is one question to a gate.
type Request struct {
	Intent  *tool.Intent
	Session string
	Mode    string // a mode without a layer adds none
	Call    string // id of the call; kept for those who answer asks
	// Overlay holds the request's booleans by tool name (P3): true is an allow of everything that is no secret, false a
	// deny, both with the pattern Any in the layer of the request.
	Overlay map[string]bool
	Turn    string
	Layers  []*Compiled // of the session and of the request
	// Approved are targets of the call that may be read, as was decided. [Gate.Screen] shows what lies below them where only
	// the posture would ask, because it lies outside of the workspace; secrets and what rules ask for stay.
	Approved []tool.Target
}

// below reports whether a subject lies in an approved folder, in every spelling.
func (r *Request) below(s *subject) bool {
	for i := range s.n {
		if !slices.ContainsFunc(r.Approved, func(t tool.Target) bool {
			return t.Kind == tool.PathTarget && t.Effect == tool.Read && (below(s.forms[i].native, t.Value) || t.Path != nil && below(s.forms[i].native, t.Path.Abs))
		}) {
			return false
		}
	}
	return true
}

// New compiles the options. The error joins everything that is wrong, each with its position; there is no gate then, so
// that a deny that cannot be read is never a deny that is not there.
func New(o Options) (*Gate, error) {
	g := &Gate{posture: o.Posture, modes: map[string][]*Compiled{}, judge: newJudge(o.Facts), grants: o.Grants, now: o.Now}
	if g.grants == nil {
		g.grants = &Grants{}
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.settings = settings{home: o.Facts.Home, spool: o.Facts.spool(), tools: maps.Clone(o.Tools), matchers: maps.Clone(o.Matchers), secret: g.judge.secret}
	if g.settings.matchers == nil {
		g.settings.matchers = map[tool.TargetKind]Matcher{}
	}
	for kind, m := range map[tool.TargetKind]Matcher{tool.ToolTarget: ToolNames{}, tool.URLTarget: Hosts{}} {
		if g.settings.matchers[kind] == nil {
			g.settings.matchers[kind] = m
		}
	}
	errs := []error{o.Posture.Check()}
	add := func(l Layer) *Compiled {
		c, err := compile(l, &g.settings)
		errs = append(errs, err)
		return c
	}
	for _, l := range o.Layers {
		g.layers = append(g.layers, add(l))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Modes)) {
		for _, l := range o.Modes[name] {
			if l.Name == "" {
				l.Name = Mode + " " + name
			}
			g.modes[name] = append(g.modes[name], add(l))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("permission: %w", err)
	}
	return g, nil
}

// Compile makes a layer ready for [Request.Layers]. Errors: *RuleError, joined.
func (g *Gate) Compile(l Layer) (*Compiled, error) { return compile(l, &g.settings) }

// Grants returns the set of grants that the gate uses. Where a keeper keeps it, it is read now; the error is the keeper's.
func (g *Gate) Grants(ctx context.Context) (*Grants, error) {
	_, err := g.grants.load(ctx, &g.settings)
	return g.grants, err
}

// Narrow returns the gate of a child session: the child never has a right that its parent lacks (P12). A verdict is the
// strictest of both gates, each with its own grants; what either hides is hidden.
func (g *Gate) Narrow(child *Gate) *Gate {
	c := *child
	if c.parent != nil {
		g = g.Narrow(c.parent)
	}
	c.parent = g
	return &c
}

// Decide returns the verdict on an intent. Ask means that a person must answer; see [Settle] for when nobody can.
// The decision carries the intent's fingerprint where it is sealed. The error is that of the context, or a request
// without an intent.
func (g *Gate) Decide(ctx context.Context, r Request) (tool.Decision, error) {
	if err := ctx.Err(); err != nil {
		return tool.Decision{}, err
	}
	if r.Intent == nil {
		return tool.Decision{}, errors.New("permission: a request without an intent")
	}
	return g.decide(ctx, &r), nil
}

// Screen returns a function that judges single targets as [Gate.Decide] would, for a search or a listing: whatever it
// does not allow must not be shown. r.Intent needs a permission and no targets. The function spends no grant and is safe
// for concurrent use.
func (g *Gate) Screen(r Request) func(tool.Target) tool.Verdict {
	if r.Intent == nil {
		r.Intent = &tool.Intent{}
	}
	// The stored grants matter where policy asks, and reading them costs more than all the judging.
	read := sync.OnceFunc(func() { _, _ = g.loadGrants(context.Background()) }) // what cannot be read answers nothing
	judge := func(t tool.Target) tool.Verdict {
		worst := tool.Allow
		for p := g; p != nil; p = p.parent {
			if t.Kind != tool.CommandTarget {
				s := p.judge.subject(t)
				worst = max(worst, p.weigh(&r, &s, nil).verdict)
				continue
			}
			subjects := p.judge.commands(t)
			for i := range subjects {
				worst = max(worst, p.weigh(&r, &subjects[i], nil).verdict)
			}
		}
		return worst
	}
	return func(t tool.Target) tool.Verdict {
		v := judge(t)
		if v == tool.Ask {
			read()
			v = judge(t)
		}
		return v
	}
}

// Asking returns what asks about the targets of an intent, each once: "rule user:3", "guard protected-names", "posture
// guarded". A decision names only the first of them. A hook or program may answer for the posture, never for a rule or a
// guard.
func (g *Gate) Asking(r Request) []string {
	var out []string
	for p := g; p != nil; p = p.parent {
		subjects := p.judge.subjects(r.Intent)
		for i := range subjects {
			f := p.weigh(&r, &subjects[i], nil)
			if by := p.by(&f); f.verdict == tool.Ask && !slices.Contains(out, by) {
				out = append(out, by)
			}
		}
	}
	return out
}

// Hidden reports whether the tools of a permission leave the list of a mode, and by which rule: in some layer the last
// rule for the permission has the pattern [Any] and denies (P3). Nothing else hides.
func (g *Gate) Hidden(permission, mode string) (hidden bool, by string) {
	for p := g; p != nil; p = p.parent {
		for _, c := range p.with(&Request{Mode: mode}) {
			if r := c.view(permission).hides(); r != nil {
				return true, r.by
			}
		}
	}
	return false, ""
}

// HiddenBy is [Gate.Hidden] for layers on their own, without a gate.
func HiddenBy(permission string, layers ...*Compiled) (hidden bool, by string) {
	for _, c := range layers {
		if r := c.view(permission).hides(); r != nil {
			return true, r.by
		}
	}
	return false, ""
}

// with returns the layers that speak about a request.
func (g *Gate) with(r *Request) []*Compiled {
	m := g.modes[r.Mode]
	if m == nil && len(r.Layers) == 0 {
		return g.layers
	}
	return slices.Concat(g.layers, r.Layers, m)
}
