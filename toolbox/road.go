package toolbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Request is one call as a face brings it.
type Request struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	ID      string          `json:"id,omitempty"` // default: made by the box
	Session string          `json:"session,omitempty"`
	Message string          `json:"message,omitempty"`
	Turn    string          `json:"turn,omitempty"` // of the loop, for answers that hold for it; default: Message
	Mode    string          `json:"mode,omitempty"` // default: the environment's mode
	Model   string          `json:"model,omitempty"`
	Dir     string          `json:"dir,omitempty"` // working directory; default: the host's first root
	Overlay map[string]bool `json:"overlay,omitempty"`
	// Platform marks a call of the program itself, which may use system tools.
	Platform bool `json:"platform,omitempty"`
	// Bounds is what the face can show; the smaller of it and the shared limit wins (O2).
	Bounds  tool.Bounds  `json:"bounds,omitzero"`
	Options tool.Options `json:"options,omitzero"` // set options add to the box's
	// Hold is how long the face keeps its caller waiting for the result (tool.Call.Hold).
	Hold time.Duration `json:"hold,omitempty"`

	// Progress and Partial reach the face while the call runs. Both may be nil. They are called from the goroutine of
	// the tool and should return fast.
	Progress func(done, total float64, message string) `json:"-"`
	Partial  func(text string)                         `json:"-"`
	// Watch hears of each stage of the call, from its goroutine, and holds it up until it returns. An error is a fault: the call
	// goes no further.
	Watch func(ctx context.Context, m Moment) error `json:"-"`
}

// Planned is a call between planning and running. A Planned whose Err or Denied is set goes no further: Run turns it
// into the result.
type Planned struct {
	Request Request
	Call    *tool.Call
	Action  tool.Action
	Args    json.RawMessage // after hooks and repair
	Repairs []string
	Err     *tool.Error
	Denied  *tool.Denial

	entry     *entry
	raw       json.RawMessage // the arguments as the face brought them
	started   time.Time
	marks     *markingReadState
	shaped    string // what Shape said
	ran       atomic.Bool
	committed []*change.Set
	policy    tool.Decision // what policy said last about the call
}

// Plan takes a call from look-up to its intent. It changes nothing outside of the process.
// The error is a fault; everything that a model can mend is in the Planned.
func (b *Box) Plan(ctx context.Context, req Request) (*Planned, error) {
	p, err := b.admit(ctx, req)
	if err != nil || p.stopped() {
		return p, err
	}
	return p, b.plan(ctx, p)
}

// admit looks the tool up, runs the before-hooks, repairs and validates.
func (b *Box) admit(ctx context.Context, req Request) (*Planned, error) {
	if req.ID == "" {
		req.ID = "call_" + strings.ToLower(rand.Text()[:16]) // unique over processes that share a session
	}
	env := b.env.Load()
	if req.Mode == "" {
		req.Mode = env.Mode
	}
	req.Overlay = b.byName(req.Overlay)
	p := &Planned{Request: req, raw: req.Args, started: b.cfg.Clock()}
	p.entry = b.lookup(&req)
	if p.entry == nil {
		p.Err = b.unknownTool(&req)
		return p, nil
	}
	if err := ctx.Err(); err != nil {
		return p, p.stop(err)
	}
	if err := b.expand(ctx, p); err != nil || p.stopped() {
		return p, err
	}
	for _, h := range b.cfg.Hooks {
		if err := guard("hook", func() error { return h.Before(ctx, &p.Request) }); err != nil {
			return p, p.stop(err)
		}
	}
	prepared, err := b.prepare(p)
	if err != nil {
		p.Err = syntaxError(p.entry.def, err)
		return p, nil
	}
	p.Args = prepared.Args
	for _, r := range prepared.Repairs {
		p.Repairs = append(p.Repairs, r.String())
	}
	if len(prepared.Problems) > 0 {
		p.Err = problemsError(p.entry.def, prepared.Problems)
		return p, nil
	}
	state, err := b.cfg.Sessions.ReadState(ctx, p.Request.Session)
	switch {
	case err != nil && ctx.Err() != nil:
		return p, p.stop(ctx.Err())
	case err != nil:
		return p, tool.Fault(fmt.Errorf("session %q: %w", p.Request.Session, err))
	}
	p.marks = &markingReadState{ReadState: state}
	p.Call = b.newCall(p, env)
	return p, nil
}

func (b *Box) newCall(p *Planned, env *tool.Environment) *tool.Call {
	req := &p.Request
	dir := req.Dir
	if dir == "" && b.cfg.Host != nil {
		if roots := b.cfg.Host.Info().Roots; len(roots) > 0 {
			dir = roots[0].Path
		}
	}
	opt := b.cfg.Options
	opt.RequireRead = opt.RequireRead || req.Options.RequireRead
	opt.Durable = opt.Durable || req.Options.Durable
	opt.Spawns = opt.Spawns || req.Options.Spawns
	c := &tool.Call{
		ID: req.ID, Session: req.Session, Message: req.Message, Tool: p.entry.def.Name, Mode: req.Mode, Model: req.Model, Dir: dir,
		Host: b.cfg.Host, Env: *env, Log: b.cfg.Log, ReadState: p.marks, Artifacts: b.masked(b.cfg.Artifacts),
		Bounds: b.bounds(p), Options: opt, Hold: req.Hold,
	}
	b.screen(p, c, nil)
	return c
}

func (r *Request) turn() string {
	if r.Turn != "" {
		return r.Turn
	}
	return r.Message
}

func (b *Box) gateRequest(p *Planned, in *tool.Intent) GateRequest {
	req := &p.Request
	return GateRequest{Intent: in, Session: req.Session, Turn: req.turn(), Mode: req.Mode, Call: req.ID, Overlay: req.Overlay}
}

// plan asks the tool for its action and completes the intent.
func (b *Box) plan(ctx context.Context, p *Planned) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.Err = b.panicked(p, v)
			err = nil
		}
	}()
	p.Err, p.Denied = nil, nil
	ctx, cancel := context.WithTimeout(ctx, b.timeout(p.entry))
	defer cancel()
	action, err := p.entry.tool.Plan(ctx, p.Call, p.Args)
	if err != nil {
		if fault := p.stop(err); fault != nil || p.Err == nil || p.Call.Private.Targets() == nil {
			return fault
		}
		action = p.untold()
	}
	if action.Run == nil {
		return tool.Fault(fmt.Errorf("tool %s: its action has no Run function", p.entry.def.Name))
	}
	in := &action.Intent
	in.Tool, in.Args = p.entry.def.Name, p.Args
	if in.Permission == "" {
		in.Permission = p.entry.def.Permission
	}
	if !in.Changes.Empty() {
		if err := in.Changes.Validate(); err != nil {
			p.Err = &tool.Error{Code: tool.InvalidOperation, Err: err, Message: fmt.Sprintf("the changes of this call contradict each other: %v; nothing was written.", err),
				Hint: "Make the changes with several calls, in an order in which each can be made."}
			return nil
		}
		if !in.Has(tool.Write) {
			return tool.Fault(fmt.Errorf("tool %s planned changes without the effect write", in.Tool))
		}
		if p.shaped = ""; b.cfg.Shape != nil {
			p.shaped = b.cfg.Shape(ctx, p.Call, in.Changes)
		}
	}
	p.Action = action
	return nil
}

// untold is the action of a call that cannot be planned, over paths that the session may not simply read: whether they are
// there, and what they are, is told when the gate has let it be read. So a refusal looks the same for all of them.
func (p *Planned) untold() tool.Action {
	failure := p.Err
	p.Err = nil
	in := tool.Intent{Permission: tool.ReadPermission, Effects: []tool.Effect{tool.Read}, Targets: p.Call.Private.Targets(), Alone: true}
	if p.entry.def.Annotations.ReadOnly {
		in.Permission = p.entry.def.Permission
	}
	return tool.Action{Intent: in, Run: func(context.Context, tool.Runner) (tool.Result, error) { return tool.Result{}, failure }}
}

// asChange is the intent of a call that has to look first as that of a change of what it looks at.
func (p *Planned) asChange() *tool.Intent {
	in := p.Action.Intent
	in.Permission, in.Effects, in.Targets = p.entry.def.Permission, []tool.Effect{tool.Write}, slices.Clone(in.Targets)
	for i := range in.Targets {
		in.Targets[i].Effect = tool.Write
	}
	return &in
}

// Decide asks the gate, and a person where the gate says ask. The decision it returns is allow or deny.
// The error is a fault.
func (b *Box) Decide(ctx context.Context, p *Planned) (tool.Decision, error) {
	if p.stopped() {
		return tool.Decision{Verdict: tool.Deny, By: "planning"}, nil
	}
	if err := b.tell(ctx, p, Moment{Stage: StagePlanned, Intent: &p.Action.Intent}); err != nil {
		return tool.Decision{Verdict: tool.Deny, By: "planning"}, err
	}
	if p.entry.def.SelfGated {
		return tool.Decision{Verdict: tool.Allow, By: "the tool's own gate"}, nil
	}
	return b.decide(ctx, p, &p.Action.Intent, 1)
}

// decide takes the decision of policy, and where that is to ask, the answer of a person.
func (b *Box) decide(ctx context.Context, p *Planned, in *tool.Intent, point int) (tool.Decision, error) {
	d, err := b.policy(ctx, p, in)
	if err == nil && d.Verdict != tool.Deny && in.Permission == tool.ReadPermission && p.entry.def.Permission == tool.EditPermission {
		// So far it only looks, at what may not simply be read. Were something else there, it would be judged as a change: whether
		// that is denied must not tell what is there.
		var as tool.Decision
		if as, err = b.policy(ctx, p, p.asChange()); as.Verdict == tool.Deny {
			d = as
		}
	}
	p.policy = d
	if err != nil || d.Verdict != tool.Ask {
		return d, err
	}
	shown := *in // faces may hold it longer than the call holds its plan
	shown.Seal()
	d.Fingerprint = shown.Fingerprint
	if b.cfg.Answerer == nil {
		return permission.Settle(d, permission.Nobody), nil
	}
	if err := b.tell(ctx, p, Moment{Stage: StageAsked, Point: point, Intent: in, Decision: d}); err != nil {
		return d, err
	}
	answer, err := b.answer(ctx, p, in, d, &shown)
	if err == nil {
		err = b.tell(ctx, p, Moment{Stage: StageDecided, Point: point, Intent: in, Decision: answer})
	}
	return answer, err
}

// answer asks a person for their decision about what is shown, and holds it against that.
func (b *Box) answer(ctx context.Context, p *Planned, in *tool.Intent, d tool.Decision, shown *tool.Intent) (answer tool.Decision, err error) {
	err = guard("answerer", func() (err error) {
		answer, err = b.cfg.Answerer.Answer(ctx, Asked{GateRequest: b.gateRequest(p, shown), Policy: d, Hunks: in.Hunks})
		return err
	})
	no := func(by, reason string) tool.Decision {
		return tool.Decision{Verdict: tool.Deny, By: by, Reason: reason, Fingerprint: shown.Fingerprint, At: b.cfg.Clock()}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return no(d.By, "the call ended before it was answered"), nil
	case err != nil:
		return no(d.By, ""), tool.Fault(fmt.Errorf("ask: %w", err))
	case answer.Verdict == tool.Ask:
		return no(d.By, ""), tool.Fault(errors.New("ask: the answer is neither allow nor deny"))
	case answer.Verdict == tool.Allow && answer.Fingerprint != shown.Fingerprint:
		return no(answer.By, "the answer belongs to another version of this call; ask again"), nil
	case answer.Verdict == tool.Allow && answer.Hunks != nil && in.Hunks == 0:
		return no(answer.By, "the answer names hunks, but this call can only be approved whole"), nil
	}
	return answer, nil
}

// policy asks the gate. Its decision may be to ask.
func (b *Box) policy(ctx context.Context, p *Planned, in *tool.Intent) (d tool.Decision, err error) {
	req := b.gateRequest(p, in)
	if on, set := req.Overlay[p.entry.def.Name]; set && !on {
		return tool.Decision{Verdict: tool.Deny, By: "request", Reason: p.entry.def.Name + " is switched off by the request"}, nil
	}
	err = guard("gate", func() error {
		d, err = b.cfg.Gate.Decide(ctx, req)
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Decision{Verdict: tool.Deny, By: "the end of the call", Reason: "the call ended before it was decided"}, nil
	case err != nil:
		return tool.Decision{Verdict: tool.Deny, By: "gate failure", Reason: err.Error()}, tool.Fault(fmt.Errorf("gate: %w", err))
	}
	if d.At.IsZero() {
		d.At = b.cfg.Clock()
	}
	return d, nil
}

// stop sorts an error of a hook, plan or run: tool errors and denials stay in the call, faults are returned.
func (p *Planned) stop(err error) error {
	e, d, fault := sortError(err)
	p.Err, p.Denied = e, d
	return fault
}

func (p *Planned) stopped() bool { return p.Err != nil || p.Denied != nil }

// sortError tells the three outcomes apart. What is none of them is a failure of the tool's execution.
func sortError(err error) (*tool.Error, *tool.Denial, error) {
	var (
		e *tool.Error
		d *tool.Denial
	)
	switch {
	case err == nil:
		return nil, nil, nil
	case tool.IsFault(err):
		return nil, nil, err
	case errors.As(err, &d):
		return d.AsError(), d, nil
	case errors.As(err, &e):
		return e, nil, nil
	case errors.Is(err, context.DeadlineExceeded):
		return &tool.Error{Code: tool.TimedOut, Message: "the call ran out of time.", Err: err, Retry: true, Hint: "Ask for less at once, or have the time limit raised."}, nil, nil
	case errors.Is(err, context.Canceled):
		return &tool.Error{Code: tool.Cancelled, Message: "the call was cancelled.", Err: err, Hint: cancelledHint}, nil, nil
	}
	return &tool.Error{Code: tool.ExecutionFailed, Message: strings.TrimSuffix(err.Error(), ".") + ".", Err: err,
		Hint: "Retrying the same call will probably fail the same way. Take another way, or report the failure."}, nil, nil
}

const cancelledHint = "Whoever made the call ended it; do not repeat it unless you are asked to."

func (b *Box) panicked(p *Planned, v any) *tool.Error {
	b.cfg.Log.Error("tool panicked", "tool", p.entry.def.Name, "call", p.Request.ID, "panic", v, "stack", string(debug.Stack()))
	return &tool.Error{Code: tool.ExecutionFailed, Message: fmt.Sprintf("%s failed by a mistake of its own: %v.", p.entry.def.Name, v),
		Hint: "Retrying the same call will not help. Take another way, and report the failure."}
}

func (b *Box) lookup(req *Request) *entry {
	e := b.find(req.Tool, req.Mode, req.Platform)
	if e == nil || req.Platform {
		return e
	}
	if b.absence(e, View{Mode: req.Mode, Model: req.Model, Overlay: req.Overlay}, b.env.Load()) != "" {
		return nil
	}
	return e
}

func (b *Box) unknownTool(req *Request) *tool.Error {
	v := View{Mode: req.Mode, Model: req.Model, Overlay: req.Overlay}
	names := b.Names(v)
	e := &tool.Error{Code: tool.UnknownTool, Message: fmt.Sprintf("there is no tool %q here.", req.Tool), Expected: "one of " + strings.Join(names, ", ")}
	if len(names) == 0 {
		e.Expected = fmt.Sprintf("a mode that has tools; %q has none (modes: %s)", req.Mode, strings.Join(b.Modes(), ", "))
	}
	e.Hint = "Do not retry it: the list of tools stays as it is in this session."
	if near := schema.Nearest(req.Tool, names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean %s?", near)
	}
	if why := b.Absence(req.Tool, v); why != "" && !slices.Contains(names, req.Tool) && why != "no tool has this name" {
		e.Message = fmt.Sprintf("the tool %q is not available: %s.", req.Tool, why)
		e.Hint = "Do not try it again in this session."
	}
	return e
}

func syntaxError(def tool.Definition, err error) *tool.Error {
	e := &tool.Error{Code: tool.InvalidArguments, Message: err.Error() + ".", Expected: "one whole JSON object", Example: exampleCall(def), Err: err,
		Hint: "Send the call again with complete, valid JSON. Nothing was done."}
	var se *schema.SyntaxError
	if errors.As(err, &se) && se.Truncated {
		e.Hint = "The arguments were cut off, so nothing was done. Send the call again whole; split large content over several calls."
	}
	return e
}

// problemsError reports every problem. What is missing fills the fields before what is wrong; all stand in the message.
func problemsError(def tool.Definition, problems []schema.Problem) *tool.Error {
	first := problems[max(0, slices.IndexFunc(problems, func(p schema.Problem) bool { return p.Kind == schema.Missing }))]
	e := &tool.Error{Code: tool.InvalidParameter, Parameter: first.Path, Expected: first.Expected, Example: exampleCall(def)}
	switch {
	case first.Kind == schema.Missing:
		e.Code = tool.MissingParameter
	case first.Path == "":
		e.Code = tool.InvalidArguments
	}
	if e.Example == "" {
		e.Example = first.Example
	}
	lines := make([]string, len(problems))
	for i, pr := range problems {
		lines[i] = pr.Message
	}
	e.Message = strings.Join(lines, "\n")
	e.Hint = "Correct the arguments and call again. Nothing was done."
	if first.Suggestion != "" {
		e.Hint = fmt.Sprintf("Did you mean %q? Correct the arguments and call again. Nothing was done.", first.Suggestion)
	}
	return e
}

func exampleCall(def tool.Definition) string {
	if def.Example == "" {
		return ""
	}
	return def.Name + " " + def.Example
}
