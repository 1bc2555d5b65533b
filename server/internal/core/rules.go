package core

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/tool"
)

// Rules is the policy in force.
type Rules struct {
	Posture string                 `json:"posture" jsonschema:"plan, guarded, auto or ci: the defaults"`
	Layers  []permission.LayerView `json:"layers" jsonschema:"inside a layer the last matching rule counts, over layers the strictest"`
	Grants  []Grant                `json:"grants" jsonschema:"answers of people that hold beyond their call"`
	Files   []config.File          `json:"files" jsonschema:"configuration that was read"`
	Ignored []config.Ignored       `json:"ignored" jsonschema:"settings that do not count"`
	Notes   []string               `json:"notes"`
}

// Grant is the stored answer of a person.
type Grant struct {
	ID          string    `json:"id"`
	Permission  string    `json:"permission,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty" jsonschema:"exactly this call"`
	Target      string    `json:"target,omitempty" jsonschema:"exactly this target"`
	Pattern     string    `json:"pattern,omitempty" jsonschema:"what a rule with this pattern would allow"`
	Scope       string    `json:"scope"`
	Session     string    `json:"session,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	Person      string    `json:"person,omitempty" jsonschema:"who answered"`
	Reason      string    `json:"reason,omitempty"`
	Given       time.Time `json:"given"`
}

// Rules returns the policy in force.
func (c *Core) Rules(ctx context.Context) (Rules, error) {
	gate, m := c.box.Gate(), c.box.Settings()
	out := Rules{Posture: string(gate.Posture()), Layers: list(gate.Layers()), Files: list(m.Files), Ignored: list(m.Ignored), Notes: list(c.box.Notes()), Grants: []Grant{}}
	grants, err := c.box.Grants(ctx)
	if err != nil {
		return out, Mistake(err)
	}
	for _, g := range grants {
		out.Grants = append(out.Grants, Grant{ID: g.ID, Permission: g.Permission, Fingerprint: g.Fingerprint, Target: g.Target, Pattern: g.Pattern,
			Scope: string(g.Scope), Session: g.Session, Expires: g.Expires.UTC(), Person: g.Person, Reason: g.Reason, Given: g.Given.UTC()})
	}
	return out, nil
}

// WhyInput is a question about policy.
type WhyInput struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args,omitempty" jsonschema:"of a call; without them only visibility is explained"`
	Session string          `json:"session,omitempty"`
	Mode    string          `json:"mode,omitempty"`
}

// Why is the answer.
type Why struct {
	Tool       string                  `json:"tool"`
	Permission string                  `json:"permission"`
	Mode       string                  `json:"mode,omitempty"`
	Posture    string                  `json:"posture"`
	Visible    bool                    `json:"visible" jsonschema:"as far as rules are concerned"`
	HiddenBy   string                  `json:"hiddenBy,omitempty"`
	Absence    string                  `json:"absence,omitempty" jsonschema:"why models do not see the tool"`
	Layers     []permission.LayerView  `json:"layers" jsonschema:"the rules for the permission"`
	Targets    []permission.TargetView `json:"targets" jsonschema:"what each target of the call gets"`
	Decision   *Decision               `json:"decision,omitempty" jsonschema:"what the call would get"`
	PlanError  *tool.Error             `json:"planError,omitempty" jsonschema:"the call would fail before policy is asked"`
	Text       string                  `json:"text" jsonschema:"all of it in words"`
}

// Why explains why a tool is visible or not, and what a call would get. It spends no grant. Errors: NotFound.
func (c *Core) Why(ctx context.Context, in WhyInput) (Why, error) {
	req := tackle.NewRequest(in.Tool, in.Args)
	if len(in.Args) == 0 {
		req.Args = nil
	}
	req.Session, req.Mode = in.Session, in.Mode
	mode := in.Mode
	if mode == "" {
		mode = c.box.View().Mode
	}
	if _, ok := c.box.Definition(in.Tool, mode); !ok {
		return Why{}, errorf(NotFound, "no tool is named %q", in.Tool)
	}
	e, err := c.box.Why(ctx, req)
	if err != nil {
		return Why{}, Mistake(err)
	}
	out := Why{Tool: e.Tool, Permission: e.Permission, Mode: e.Mode, Posture: string(e.Posture), Visible: e.Visible, HiddenBy: e.HiddenBy, Absence: e.Absence,
		Layers: list(e.Layers), Targets: list(e.Targets), PlanError: e.PlanError, Text: e.Text()}
	if e.Decision != nil {
		d := decisionOf(e.Decision, 1, c.opt.Now().UTC())
		out.Decision = &d
	}
	return out, nil
}

// DryRun is what the policy of now would say to the calls of a recorded session.
type DryRun struct {
	Session string       `json:"session"`
	Calls   []DryRunCall `json:"calls"`
	Skipped int          `json:"skipped" jsonschema:"calls that failed before policy was asked"`
	Differ  int          `json:"differ"`
}

// DryRunCall is one recorded call.
type DryRunCall struct {
	Call    string    `json:"call"`
	Tool    string    `json:"tool"`
	Targets []string  `json:"targets"`
	Then    *Decision `json:"then,omitempty"`
	Now     Decision  `json:"now" jsonschema:"ask means that a person would be asked"`
	Differs bool      `json:"differs"`
}

// DryRun asks policy about a recorded session, and runs nothing. Errors: NotFound.
func (c *Core) DryRun(ctx context.Context, session string) (DryRun, error) {
	if _, err := c.Session(ctx, session); err != nil {
		return DryRun{}, err
	}
	run, err := c.box.DryRun(ctx, session)
	if err != nil {
		return DryRun{}, Mistake(err)
	}
	out := DryRun{Session: run.Session, Calls: []DryRunCall{}, Skipped: run.Skipped}
	for i := range run.Calls {
		d := &run.Calls[i]
		one := DryRunCall{Call: d.Call, Tool: d.Tool, Targets: list(d.Targets), Now: decisionOf(&d.Now, 1, c.opt.Now().UTC()), Differs: d.Differs()}
		if d.Then != nil {
			then := decisionOf(d.Then, 1, d.Then.At.UTC())
			one.Then = &then
		}
		if one.Differs {
			out.Differ++
		}
		out.Calls = append(out.Calls, one)
	}
	return out, nil
}

// Revoke takes a grant back. Errors: Forbidden, NotFound.
func (c *Core) Revoke(ctx context.Context, who access.Identity, id string) error {
	if err := need(who, access.Admin, "revoke grants"); err != nil {
		return err
	}
	was, err := c.box.Revoke(ctx, id)
	if err != nil {
		return Mistake(err)
	}
	if !was {
		return errorf(NotFound, "no grant %q holds", id)
	}
	return Mistake(c.box.Note(ctx, who.String(), "revoked grant "+id))
}

// Reload reads the person's configuration again. Errors: Forbidden, and Invalid with what cannot be read; the last good
// rules stay then.
func (c *Core) Reload(ctx context.Context, who access.Identity) (Rules, error) {
	if err := need(who, access.Admin, "reload policy"); err != nil {
		return Rules{}, err
	}
	if err := c.box.ReloadPolicy(ctx); err != nil {
		return Rules{}, &Error{Kind: Invalid, Message: fmt.Sprintf("%v; the last good rules stay in force", err), Err: err}
	}
	if err := c.box.Note(ctx, who.String(), "reloaded policy"); err != nil {
		return Rules{}, Mistake(err)
	}
	return c.Rules(ctx)
}
