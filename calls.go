package tackle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// NewRequest returns a request for a tool. args is a JSON text ([]byte, json.RawMessage or string) or any value that
// marshals to an object. A value that does not marshal makes a call that fails with INVALID_TOOL_ARGUMENTS.
func NewRequest(name string, args any) Request {
	req := Request{Tool: name}
	switch a := args.(type) {
	case nil:
	case json.RawMessage:
		req.Args = a
	case []byte:
		req.Args = a
	case string:
		req.Args = json.RawMessage(a)
	default:
		b, err := json.Marshal(a)
		if err != nil {
			b = []byte(fmt.Sprintf("arguments of Go type %T: %v", a, err))
		}
		req.Args = b
	}
	return req
}

// Call takes one call down the road. See toolbox.Box.Call.
func (b *Box) Call(ctx context.Context, req Request) (tool.Result, error) {
	b.fill(&req)
	return b.Box.Call(ctx, req)
}

// CallAll runs the calls of one turn, in parallel where their intents allow it. See toolbox.Box.CallAll.
func (b *Box) CallAll(ctx context.Context, reqs ...Request) ([]tool.Result, error) {
	reqs = slices.Clone(reqs)
	for i := range reqs {
		b.fill(&reqs[i])
	}
	return b.Box.CallAll(ctx, reqs)
}

// Plan takes a call up to its intent and changes nothing. See toolbox.Box.Plan.
func (b *Box) Plan(ctx context.Context, req Request) (*toolbox.Planned, error) {
	b.fill(&req)
	return b.Box.Plan(ctx, req)
}

func (b *Box) fill(req *Request) {
	if req.Session == "" {
		req.Session = b.cfg.Session
	}
	if req.Dir == "" {
		req.Dir = b.cfg.Dir
	}
}

// Why explains, layer by layer and rule by rule, why a tool is visible or not, and with arguments what the call would
// get and which rule decides. It changes nothing and spends no grant.
func (b *Box) Why(ctx context.Context, req Request) (Explanation, error) {
	b.fill(&req)
	view := View{Mode: req.Mode, Model: req.Model, Overlay: req.Overlay}
	if view.Mode == "" {
		view.Mode = b.Env().Mode
	}
	def, ok := b.Definition(req.Tool, view.Mode)
	e := Explanation{Absence: b.Absence(req.Tool, view)}
	if !ok {
		return e, fmt.Errorf("no tool is named %q; 'tackle tools' lists them", req.Tool)
	}
	ask := permission.Request{Session: req.Session, Mode: view.Mode, Overlay: req.Overlay}
	if req.Args != nil && e.Absence == "" {
		p, err := b.Plan(ctx, req)
		if err != nil {
			return e, err
		}
		if p.Err != nil {
			e.PlanError = p.Err
		} else {
			ask.Intent = &p.Action.Intent
		}
	}
	e.Explanation = b.policy.Gate().Why(def, ask)
	return e, nil
}

// Explanation is the answer of Why.
type Explanation struct {
	permission.Explanation
	// Absence says why the tool is not in the list, "" when it is.
	Absence string `json:"absence,omitempty"`
	// PlanError is set when the call cannot be planned: it would fail before policy is asked.
	PlanError *tool.Error `json:"planError,omitempty"`
}

// Text renders the explanation for people.
func (e Explanation) Text() string {
	s := e.Explanation.Text()
	if e.Absence != "" {
		s += "Not listed: " + e.Absence + ".\n"
	}
	if e.PlanError != nil {
		s += "The call would fail before policy is asked:\n" + e.PlanError.Render() + "\n"
	}
	return s
}
