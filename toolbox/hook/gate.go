package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Policy is the gate that hooks stand around. permission.Gate and permission.Live are such gates.
type Policy interface {
	toolbox.Gate
	toolbox.Hider
	toolbox.Screener
	// Asking returns what asks about the targets of an intent.
	Asking(permission.Request) []string
}

// Gate returns the gate with what hooks said before the call: "ask" makes an allow an ask, and "allow" answers an ask that
// only the posture has. The ask of a rule or guard stays, and so does every deny.
func (h *Hooks) Gate(inner Policy) Policy { return &gate{inner, h} }

type gate struct {
	Policy
	hooks *Hooks
}

// Decide is described at toolbox.Gate.
func (g *gate) Decide(ctx context.Context, r toolbox.GateRequest) (tool.Decision, error) {
	d, err := g.Policy.Decide(ctx, r)
	if err != nil {
		return d, err
	}
	v := g.hooks.heard(r.Session, r.Call)
	switch {
	case v.ask != "" && d.Verdict == tool.Allow:
		d.Verdict, d.By, d.Reason = tool.Ask, by(v.ask), v.reason
		if d.Reason == "" {
			d.Reason = "a hook asks for a person's approval"
		}
	case v.allow != "" && v.ask == "" && d.Verdict == tool.Ask && onlyPosture(g.Asking(r)):
		d.Verdict, d.By, d.Reason = tool.Allow, by(v.allow), ""
	}
	return d, nil
}

func onlyPosture(asking []string) bool {
	for _, by := range asking {
		if !strings.HasPrefix(by, "posture ") {
			return false
		}
	}
	return len(asking) > 0
}

// errNoOpinion says that no hook answered.
var errNoOpinion = errors.New("no hook answers")

// Face answers asks by the PermissionRequest hooks. A hook is a program: the ask of a guard it cannot answer.
func (h *Hooks) Face() ask.Face { return ask.FaceFunc(h.answer) }

func (h *Hooks) answer(ctx context.Context, r *ask.Request) (ask.Answer, error) {
	hooks := h.opt.Set.of(PermissionRequest)
	if len(hooks) == 0 || r.Intent == nil {
		return ask.Answer{}, errNoOpinion
	}
	e := event{Session: r.Session, Event: PermissionRequest, Dir: h.opt.Dir}
	yes := ask.Answer{Fingerprint: r.Fingerprint}
	m, ok := h.opt.Canonical(toolbox.Request{Tool: r.Tool, Mode: r.Mode, Args: r.Intent.Args})
	if !ok { // it was called otherwise: by the program itself
		m = toolbox.Meaning{Tool: r.Tool, Permission: r.Permission, Args: r.Intent.Args}
	}
	parts := Foreign(m, h.opt.Dir)
	for _, c := range hooks {
		allowed := 0
		for _, shown := range parts {
			a, ran, err := h.ask(ctx, c, shown, e)
			if err != nil {
				return ask.Answer{}, err
			}
			no := ask.Answer{Fingerprint: r.Fingerprint, Words: a.reason, Approver: ask.Approver{Face: by(c.Name())}}
			switch {
			case !ran:
				continue
			case a.decision == denies:
				return no, nil
			case a.decision == allows && a.input != nil && !sameJSON(a.input, shown.Input):
				// The call was planned and shown as it is; another one takes the whole road, with its rules.
				no.Words = "make the call again with these arguments: " + string(a.input)
				return no, nil
			case a.decision == allows:
				allowed++
			}
		}
		if allowed == len(parts) && !yes.Allow {
			yes.Allow, yes.Approver = true, ask.Approver{Face: by(c.Name())}
		}
	}
	if !yes.Allow {
		return ask.Answer{}, errNoOpinion
	}
	return yes, nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(marshal(x), marshal(y))
}
