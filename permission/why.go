package permission

import (
	"context"
	"slices"

	"github.com/tackle-dev/tackle/tool"
)

// Explanation says why a tool is visible or not and what a call would get, layer by layer and rule by rule (P4). It is
// plain data; Text makes it readable.
type Explanation struct {
	Tool       string         `json:"tool"`
	Permission string         `json:"permission"`
	Mode       string         `json:"mode,omitempty"`
	Posture    Posture        `json:"posture"`
	Visible    bool           `json:"visible"`            // as far as rules are concerned
	HiddenBy   string         `json:"hiddenBy,omitempty"` // the rule
	Layers     []LayerView    `json:"layers"`             // the rules for the permission
	Targets    []TargetView   `json:"targets,omitempty"`  // what each target gets; only for a planned call
	Decision   *tool.Decision `json:"decision,omitempty"` // only for a planned call
	Parent     *Explanation   `json:"parent,omitempty"`   // the gate that this one may not exceed
}

// LayerView is a layer as it bears on a permission, or on one target.
type LayerView struct {
	Name      string     `json:"name"`
	Untrusted bool       `json:"untrusted,omitempty"` // its allow rules are ignored
	Opinion   string     `json:"opinion,omitempty"`   // on the target; "" is none
	Rules     []RuleView `json:"rules,omitempty"`
}

// RuleView is a rule as it bears on a permission, or on one target.
type RuleView struct {
	Number  int    `json:"number"` // in its layer, 1-based
	Rule    Rule   `json:"rule"`
	Matches bool   `json:"matches,omitempty"`
	Decides bool   `json:"decides,omitempty"` // the layer's opinion
	Note    string `json:"note,omitempty"`    // why it does not count, or matches in part
}

// TargetView is what one target gets.
type TargetView struct {
	Kind    tool.TargetKind `json:"kind,omitempty"` // "" is an effect without a target
	Effect  tool.Effect     `json:"effect"`
	Value   string          `json:"value,omitempty"`
	Given   string          `json:"given,omitempty"` // as the model wrote it, where that differs
	Classes []Class         `json:"classes"`
	Guard   string          `json:"guard,omitempty"` // name, verdict and reason
	Layers  []LayerView     `json:"layers"`
	Default tool.Verdict    `json:"default"` // of the posture; it counts only where no layer has an opinion
	Grant   string          `json:"grant,omitempty"`
	Verdict tool.Verdict    `json:"verdict"`
	By      string          `json:"by"`
	Reason  string          `json:"reason,omitempty"`
}

// Why explains a tool, and a call of it where r has an intent. It spends no grant.
func (g *Gate) Why(def tool.Definition, r Request) Explanation {
	e := Explanation{Tool: def.Name, Permission: def.Permission, Mode: r.Mode, Posture: Posture(g.posture.String())}
	if r.Intent != nil {
		_, _ = g.grants.load(context.Background(), &g.settings) // what cannot be read answers nothing
	}
	if e.Permission == "" {
		e.Permission = def.Name
	}
	if r.Intent != nil && r.Intent.Permission != "" {
		e.Permission = r.Intent.Permission
	}
	layers := g.with(&r)
	hidden, by := HiddenBy(e.Permission, layers...)
	if on, set := r.Overlay[def.Name]; set && !on && !hidden {
		hidden, by = true, OneCall
	}
	e.Visible, e.HiddenBy = !hidden, by
	for _, c := range layers {
		e.Layers = append(e.Layers, c.explain(e.Permission, nil))
	}
	if r.Intent != nil {
		g.explainCall(&e, &r)
	}
	if g.parent != nil {
		parent := g.parent.Why(def, r)
		e.Parent = &parent
		e.Visible = e.Visible && parent.Visible
		if parent.Decision != nil && parent.Decision.Verdict > e.Decision.Verdict {
			d := *parent.Decision
			d.By = "parent: " + d.By
			e.Decision = &d
		}
	}
	return e
}

func (g *Gate) explainCall(e *Explanation, r *Request) {
	if r.Intent.Fingerprint == "" && g.bound() {
		sealed := *r.Intent
		sealed.Seal()
		r.Intent = &sealed
	}
	subjects := g.judge.subjects(r.Intent)
	worst := finding{}
	for i := range subjects {
		s := &subjects[i]
		f := g.weigh(r, s, nil)
		if i == 0 || f.verdict > worst.verdict {
			worst = f
		}
		e.Targets = append(e.Targets, g.explainTarget(r, s, &f))
	}
	e.Decision = &tool.Decision{Verdict: worst.verdict, By: g.by(&worst), Reason: g.reason(r, &worst), Fingerprint: r.Intent.Fingerprint}
}

func (g *Gate) explainTarget(r *Request, s *subject, f *finding) TargetView {
	v := TargetView{Kind: s.target.Kind, Effect: s.target.Effect, Value: s.target.Value,
		Verdict: f.verdict, By: g.by(f), Reason: g.reason(r, f)}
	if n := s.name(); n != v.Value {
		v.Given = n
	}
	if s.whole != "" && s.whole != v.Value {
		v.Given = s.whole
	}
	for _, c := range s.classes[:s.n] {
		if !slices.Contains(v.Classes, c) {
			v.Classes = append(v.Classes, c)
		}
	}
	v.Default, _ = g.standard(s)
	if gd := g.guardOf(s); gd.name != "" {
		v.Guard = gd.name + ": " + gd.verdict.String() + ", " + gd.reason
		if gd.name == unconfined && f.opinion.exactly(s) {
			v.Guard += ", but a rule spells it out"
		}
	}
	if f.grant != nil {
		v.Grant = f.grant.ID
	}
	for _, c := range g.with(r) {
		v.Layers = append(v.Layers, c.explain(r.permission(s), s))
	}
	if on, set := r.Overlay[r.Intent.Tool]; set {
		action := tool.Deny
		if on {
			action = tool.Allow
		}
		v.Layers = append(v.Layers, LayerView{Name: OneCall, Opinion: action.String(), Rules: []RuleView{{Number: 1,
			Rule: Rule{Permission: r.Intent.Tool, Pattern: Any, Action: action}, Matches: !on || !s.secret(), Decides: !on || !s.secret()}}})
	}
	return v
}

// explain shows the layer's rules for a permission, and how each bears on a subject, which may be nil.
func (c *Compiled) explain(permission string, s *subject) LayerView {
	v := LayerView{Name: c.name, Untrusted: c.untrusted}
	var decides *rule
	if s != nil {
		if o := c.opinion(s, permission); o.rule != nil {
			v.Opinion, decides = o.verdict.String(), o.rule
		}
	}
	for _, r := range c.view(permission).rules {
		rv := RuleView{Number: r.number, Rule: r.Rule, Decides: r == decides}
		if s != nil {
			rv.Matches, rv.Note = r.bears(s)
		}
		if r.ignored {
			rv.Note = "ignored: the layer is not trusted, so it only tightens"
		}
		if r.Rule.Permission != permission && rv.Note == "" {
			rv.Note = "written for " + r.Rule.Permission
		}
		v.Rules = append(v.Rules, rv)
	}
	return v
}

// bears reports whether the rule matches the subject, and what a reader may wonder about.
func (r *rule) bears(s *subject) (matches bool, note string) {
	if !s.isPath() {
		matches, known := r.matchesOther(s)
		switch {
		case !known && s.line != nil:
			return false, "may be about it: the shell computes what decides"
		case !known:
			return false, "cannot be compared with this kind of target"
		case !matches && r.command != nil && !r.restricts() && s.barredBy() != "":
			return false, "cannot allow it: " + s.barredBy()
		}
		return matches, ""
	}
	if r.command != nil {
		return false, ""
	}
	matched := 0
	for i := range s.n {
		if r.path.match(&s.forms[i]) {
			matched++
		}
	}
	switch {
	case matched == s.n || s.alike && matched > 0:
		return true, ""
	case matched > 0 && r.restricts():
		return true, "matches one spelling of the path, as given or as resolved"
	case matched > 0:
		return false, "matches only one spelling of the path, as given or as resolved"
	case !r.restricts() && s.secret():
		return false, "an allow covers a file of credentials only when its pattern names such files"
	case s.tree && r.restricts() && r.path.below(&s.forms[0]) != reachNone:
		return true, "is about what lies below the directory"
	}
	return false, ""
}
