package permission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// A finding is what was found about one subject: the verdict, and the one thing that decided it.
type finding struct {
	verdict tool.Verdict
	subject *subject
	class   Class

	opinion opinion // of a layer
	guard   guard
	grant   *granted
	request bool // the request's boolean
	problem string
}

// decide judges an intent by this gate and its parents.
func (g *Gate) decide(ctx context.Context, r *Request) tool.Decision {
	problem := error(nil)
	for loaded := false; ; {
		if r.Intent.Fingerprint == "" && g.bound() {
			sealed := *r.Intent
			sealed.Seal()
			r.Intent = &sealed
		}
		used := map[*granted]*Grants{}
		worst, by, who := finding{}, g, ""
		for p := g; p != nil; p = p.parent {
			f := p.judgeAll(r, used)
			if p == g || f.verdict > worst.verdict {
				worst, by = f, p
				if p != g {
					who = "parent: "
				}
			}
		}
		// Only a decision that depends on grants reads those that other processes may have given or revoked.
		if !loaded && (worst.verdict == tool.Ask || len(used) > 0) {
			loaded = true
			var changed bool
			if changed, problem = g.loadGrants(ctx); changed {
				continue
			}
		}
		// A grant for one decision is spent by the decision that it leads to, and by no other.
		if worst.verdict == tool.Allow && !spend(ctx, used) {
			continue
		}
		d := tool.Decision{Verdict: worst.verdict, By: who + by.by(&worst), Reason: by.reason(r, &worst), Fingerprint: r.Intent.Fingerprint, At: g.now()}
		if problem != nil && d.Verdict == tool.Ask {
			d.Reason += "; " + problem.Error()
		}
		return d
	}
}

// loadGrants reads the stored grants of this gate and its parents.
func (g *Gate) loadGrants(ctx context.Context) (changed bool, err error) {
	for p := g; p != nil; p = p.parent {
		if p.parent != nil && p.parent.grants == p.grants {
			continue // read below
		}
		new, problem := p.grants.load(ctx, &p.settings)
		changed, err = changed || new, errors.Join(err, problem)
	}
	return changed, err
}

// bound reports whether a grant is bound to a fingerprint, so that the intent needs one.
func (g *Gate) bound() bool {
	for p := g; p != nil; p = p.parent {
		if p.grants.any(func(gr *granted) bool { return gr.Fingerprint != "" }) {
			return true
		}
	}
	return false
}

// judgeAll judges every subject by this gate alone and returns the strictest finding, the first of its kind.
func (g *Gate) judgeAll(r *Request, used map[*granted]*Grants) finding {
	subjects := g.judge.subjects(r.Intent)
	worst := finding{}
	for i := range subjects {
		f := g.weigh(r, &subjects[i], used)
		if i == 0 || f.verdict > worst.verdict {
			worst = f
		}
		if f.verdict == tool.Deny {
			break
		}
	}
	return worst
}

// weigh judges one subject: guard, layers, posture, grants.
func (g *Gate) weigh(r *Request, s *subject, used map[*granted]*Grants) finding {
	f := finding{subject: s, class: s.classes[0], verdict: tool.Allow}
	g.layersSay(r, s, &f)
	if f.opinion.rule == nil && !f.request {
		f.verdict, f.class = g.standard(s)
	}
	guard := g.guardOf(s)
	if guard.name == unconfined && f.opinion.exactly(s) && f.verdict == tool.Allow {
		guard.name, guard.verdict = "", tool.Allow
	}
	if guard.name != "" && guard.verdict >= f.verdict {
		f.verdict, f.guard = guard.verdict, guard
	}
	if problem := g.problem(s); f.verdict == tool.Allow && problem != "" {
		f.verdict, f.problem = tool.Ask, problem
	}
	if r.Approved != nil && f.verdict == tool.Ask && f.class == ReadOut && f.guard.name == "" && f.opinion.rule == nil && f.problem == "" && s.isPath() && r.below(s) {
		f.verdict = tool.Allow
	}
	if f.verdict == tool.Ask {
		if gr := g.grants.find(r, s, guard.verdict == tool.Ask, g.now(), used); gr != nil {
			f.verdict, f.grant = tool.Allow, gr
		}
	}
	return f
}

// layersSay takes the strictest opinion.
func (g *Gate) layersSay(r *Request, s *subject, f *finding) {
	permission := r.permission(s)
	for _, c := range g.layers {
		f.take(c.opinion(s, permission))
	}
	for _, c := range g.modes[r.Mode] {
		f.take(c.opinion(s, permission))
	}
	for _, c := range r.Layers {
		f.take(c.opinion(s, permission))
	}
	on, set := r.Overlay[r.Intent.Tool]
	switch {
	case !set || f.opinion.rule != nil && (on || f.verdict == tool.Deny), on && s.secret():
	case on:
		f.request, f.verdict = true, tool.Allow
	default:
		f.request, f.verdict, f.opinion = true, tool.Deny, opinion{}
	}
}

// permission is the name under which rules speak about a subject: that of the intent, but for the files that a command
// line names. They are files like any other: what no file tool may read, cat may not either.
func (r *Request) permission(s *subject) string {
	if r.Intent.Permission != Shell || !s.isPath() {
		return r.Intent.Permission
	}
	if s.target.Effect == tool.Write {
		return tool.EditPermission
	}
	return tool.ReadPermission
}

// problem says why an allow would mean nothing for the subject, or "".
func (g *Gate) problem(s *subject) string {
	k := s.target.Kind
	if s.problem == "" && k != "" && k != tool.PathTarget && k != tool.CommandTarget && g.settings.matchers[k] == nil {
		return fmt.Sprintf("no rule can judge a target of the kind %q here", k)
	}
	if k == tool.URLTarget {
		return oddHost(s.target.Value)
	}
	return s.problem
}

func (f *finding) take(o opinion) {
	if o.rule != nil && (f.opinion.rule == nil || o.verdict > f.opinion.verdict) {
		f.opinion, f.verdict = o, o.verdict
	}
}

// standard returns what the posture says about the subject, and the class that decided.
func (g *Gate) standard(s *subject) (tool.Verdict, Class) {
	verdict, class := tool.Allow, s.classes[0]
	for i, c := range s.classes[:s.n] {
		v := g.posture.Verdict(c)
		if c == ReadOut && v == tool.Ask && g.posture == Auto && belowAny(s.forms[i].native, g.judge.facts.Readable) {
			v = tool.Allow
		}
		if v > verdict {
			verdict, class = v, c
		}
	}
	return verdict, class
}

// A guard is a verdict that no rule silences.
type guard struct {
	verdict tool.Verdict
	name    string // "" is no guard
	reason  string
}

// unconfined is the guard before commands outside of confinement: only an exact rule, or a person, lets them through.
const unconfined = "unconfined-command"

// guardOf returns the guard that stands before a subject; the zero guard allows.
func (g *Gate) guardOf(s *subject) guard {
	var worst guard
	for i := range s.n {
		var now guard
		if s.isPath() {
			now = g.guardPath(s, &s.forms[i])
		}
		if s.classes[i] == ExecHost && now.verdict == tool.Allow {
			now = guard{tool.Ask, unconfined, "the command would run outside of confinement"}
			if s.target.Unseen {
				now.reason = "the command reads more files than could be looked at before, outside of confinement"
			}
		}
		if now.verdict > worst.verdict {
			worst = now
		}
	}
	return worst
}

func (g *Gate) guardPath(s *subject, f *form) guard {
	if s.target.Effect == tool.Read {
		if f.state && !f.artifact {
			return guard{tool.Ask, "state", "it is tackle's own state (journal, before-images, ledger, grants)"}
		}
		return guard{}
	}
	if s.tree {
		dir := fold(strings.ReplaceAll(f.native, `\`, "/"))
		for _, state := range g.judge.state {
			if below(state, dir) {
				return guard{tool.Deny, "state", "tackle's own state lies below it"}
			}
		}
		for _, config := range g.judge.config {
			if below(config, dir) {
				return guard{tool.Ask, "config", "a configuration file of tackle lies below it"}
			}
		}
	}
	switch {
	case f.state:
		return guard{tool.Deny, "state", "it is tackle's own state, which only tackle writes"}
	case f.config:
		return guard{tool.Ask, "config", "it is configuration of tackle, or a program that its hooks run, which decides what agents may do"}
	case f.protected != "":
		return guard{tool.Ask, "protected-names", fmt.Sprintf("%q is a protected name: such files run code or instruct agents the next time somebody opens a shell, an editor or a repository", f.protected)}
	}
	return guard{}
}

// by names what decided.
func (g *Gate) by(f *finding) string {
	switch {
	case f.grant != nil:
		return "grant " + f.grant.ID
	case f.guard.name != "":
		return "guard " + f.guard.name
	case f.problem != "":
		return "guard unknown-target"
	case f.request:
		return "request"
	case f.opinion.rule != nil:
		return f.opinion.rule.by
	}
	return "posture " + g.posture.String()
}

// reason is for the model with a deny and for the person with an ask; an allow needs none, but for a grant.
func (g *Gate) reason(r *Request, f *finding) string {
	if f.verdict == tool.Allow {
		if f.grant != nil {
			return f.grant.Reason
		}
		return ""
	}
	what := r.permission(f.subject)
	if name := f.subject.name(); name != "" {
		what = fmt.Sprintf("%s of %q", what, name)
	}
	must := "is denied"
	if f.verdict == tool.Ask {
		must = "needs a person's approval"
	}
	why := ""
	switch {
	case f.guard.name != "":
		why = f.guard.reason
	case f.problem != "":
		why = f.problem
	case f.request:
		why = "the request switches the tool off"
	case f.opinion.maybe && f.subject.tree:
		why = fmt.Sprintf("what lies below it may be covered by %s", f.opinion.rule.where())
	case f.opinion.maybe:
		why = fmt.Sprintf("%s cannot be compared with it", f.opinion.rule.where())
	case f.opinion.rule != nil:
		why = f.opinion.rule.where()
		if f.opinion.rule.Reason != "" {
			why += ": " + f.opinion.rule.Reason
		}
	default:
		why = fmt.Sprintf("posture %s for %s (%s)", g.posture, f.class, f.class.about())
	}
	return what + " " + must + ": " + why
}

// where names a rule and its position.
func (r *rule) where() string {
	if at := r.Source.String(); at != "" {
		return r.by + " (" + at + ")"
	}
	return r.by
}

// about says a class in words.
func (c Class) about() string {
	switch c {
	case ReadIn:
		return "reading in the workspace"
	case ReadOut:
		return "reading outside of the workspace"
	case ReadSecret:
		return "reading a file that usually holds credentials"
	case WriteIn:
		return "changing files of the workspace"
	case WriteProtected:
		return "changing a protected file"
	case WriteOut:
		return "changing files outside of the workspace"
	case ExecReadonly:
		return "a command that only looks"
	case ExecSandboxed:
		return "a command in the sandbox"
	case ExecHost:
		return "a command outside of confinement"
	case NetKnown:
		return "a request to a known host"
	case NetNew:
		return "a request to a host that the configuration does not name"
	case External:
		return "something that leaves this machine, or a foreign tool"
	case ConfigFile:
		return "changing the configuration of tackle"
	}
	return "an effect that no posture knows"
}

// Answer says how asks are answered that no person will see.
type Answer uint8

// The answers.
const (
	Nobody Answer = iota // nobody is there: an ask becomes a denial that says so (P8)
	Never                // --approve never
	// Always is --approve always: the explicit word of whoever started the process. It answers every ask, also a guard's,
	// as a person would who saw nothing; it lifts no deny.
	Always
)

// Settle turns an ask into an allow or a deny. Other decisions stay as they are. Decision.Person is not set: nobody saw
// the preview.
func Settle(d tool.Decision, a Answer) tool.Decision {
	if d.Verdict != tool.Ask {
		return d
	}
	switch a {
	case Always:
		d.Verdict, d.By, d.Reason = tool.Allow, "--approve always", "asked by "+d.By
	case Never:
		d.Verdict, d.By, d.Reason = tool.Deny, "--approve never", d.Reason+". The session was started with --approve never"
	default:
		d.Verdict, d.Reason = tool.Deny, d.Reason+". Nobody is here to give it"
	}
	return d
}
