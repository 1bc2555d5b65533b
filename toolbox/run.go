package toolbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// Call takes a call down the whole road. The error is a fault: the host or the program itself failed; everything else,
// refusals and tool errors included, is in the result.
func (b *Box) Call(ctx context.Context, req Request) (tool.Result, error) {
	p, err := b.Plan(ctx, req)
	if err != nil {
		return b.fault(ctx, p, err)
	}
	return b.finish(ctx, p)
}

// finish decides and runs a planned call.
func (b *Box) finish(ctx context.Context, p *Planned) (tool.Result, error) {
	d, err := b.Decide(ctx, p)
	if err != nil {
		return b.fault(ctx, p, err)
	}
	return b.Run(ctx, p, d)
}

// Run does what was planned, if the decision allows it, and returns the bounded and recorded result. A decision that
// names hunks makes the plan again from those. A planned call runs at most once. The error is a fault.
func (b *Box) Run(ctx context.Context, p *Planned, d tool.Decision) (tool.Result, error) {
	if p.ran.Swap(true) {
		return tool.Result{}, tool.Fault(fmt.Errorf("call %s: it ran already", p.Request.ID))
	}
	if !p.stopped() && d.Verdict == tool.Allow {
		if err := b.bind(ctx, p, d); err != nil {
			return b.fault(ctx, p, err)
		}
	}
	var res tool.Result
	var err error
	switch {
	case p.stopped():
		res = tool.Result{Err: p.Err, Denied: p.Denied}
	case d.Verdict != tool.Allow:
		denial := b.refusal(ctx, p, d)
		res = tool.Result{Err: denial.AsError(), Denied: denial}
	default:
		b.screen(p, p.Call, p.Action.Intent.Targets)
		res, d, err = b.execute(ctx, p, d)
	}
	if err != nil {
		return b.fault(ctx, p, err)
	}
	return b.conclude(ctx, p, d, res)
}

// bind holds the plan against what was decided, and narrows it to the hunks that were approved. What a person did not see
// does not run: a file that changed since the first plan is STALE.
func (b *Box) bind(ctx context.Context, p *Planned, d tool.Decision) error {
	if d.Fingerprint != "" {
		seen := p.Action.Intent
		if seen.Seal(); seen.Fingerprint != d.Fingerprint {
			p.Err = notApproved()
			return nil
		}
	}
	if d.Hunks == nil {
		return nil
	}
	shown := p.Action.Intent.Changes
	p.Call.Hunks, p.Call.Denied = d.Hunks, d.Denied
	if err := b.plan(ctx, p); err != nil || p.stopped() {
		return err
	}
	if !partOf(p.Action.Intent.Changes, shown) {
		p.Err = notApproved()
	}
	return nil
}

// partOf reports whether a set touches only paths that the other one touches, in the states that the other one saw.
func partOf(part, whole *change.Set) bool {
	if part.Empty() {
		return true
	}
	seen := map[string]change.State{}
	if whole != nil {
		for i := range whole.Ops {
			op := &whole.Ops[i]
			seen[op.Path] = op.Before
			if op.Kind == change.Move {
				seen[op.To] = change.State{}
			}
		}
	}
	for i := range part.Ops {
		op := &part.Ops[i]
		before, ok := seen[op.Path]
		if !ok || !before.Equal(op.Before) {
			return false
		}
		if _, ok := seen[op.To]; op.Kind == change.Move && !ok {
			return false
		}
	}
	return true
}

// execute runs the action, and where a file changed since planning plans again under the lock (T5).
func (b *Box) execute(ctx context.Context, p *Planned, d tool.Decision) (tool.Result, tool.Decision, error) {
	if e := b.limit(p.entry); e != nil {
		return tool.Result{Err: e}, d, nil
	}
	if err := ctx.Err(); err != nil {
		e, _, _ := sortError(err)
		return tool.Result{Err: e}, d, nil
	}
	if !p.entry.def.SelfGated { // its steps are announced one by one
		if err := b.announce(ctx, p, d); err != nil {
			return tool.Result{}, d, err
		}
	}
	if err := b.tell(ctx, p, Moment{Stage: StageRunning, Intent: &p.Action.Intent, Decision: d}); err != nil {
		return tool.Result{}, d, err
	}
	ctx, clock, cancel := allow(ctx, b.timeout(p.entry))
	defer cancel()
	r := newRunner(b, p, d, clock)
	res, err := b.invoke(ctx, p, r)
	for try := 0; r.again(ctx, d) && try < 3; try++ {
		var again bool
		if res, d, again, err = b.rerun(ctx, p, r); !again {
			break
		}
	}
	if !r.end() {
		return res, d, err
	}
	defer r.done()
	if r.stale != nil && err == nil && res.Err == nil {
		res.Err = b.staleError(p, r.stale)
	}
	if p.shaped != "" && len(r.committed) > 0 && res.Err == nil {
		res.Parts = append(res.Parts, tool.Text("\nNote: "+p.shaped))
	}
	m := &res.Meta
	m.Transaction, m.Changes, m.Diff, m.Values = r.transactions, r.changes, r.diff.String(), r.values
	p.committed = r.committed
	return res, d, err
}

// conclude notes, bounds, redacts and records the result.
func (b *Box) conclude(ctx context.Context, p *Planned, d tool.Decision, res tool.Result) (tool.Result, error) {
	m := &res.Meta
	m.Call, m.Tool, m.Repairs = p.Request.ID, p.Request.Tool, p.Repairs
	m.Started, m.Duration = p.started, b.cfg.Clock().Sub(p.started)
	b.repeated(p, &res)
	fault := b.after(ctx, p, &res)
	b.bound(ctx, p, &res)
	switch {
	case p.Denied != nil: // by a hook, before policy was asked
		m.Decision = &p.Denied.Decision
	case !p.stopped():
		m.Decision = &d
	}
	b.redact.Load().result(&res)
	if p.entry != nil {
		p.entry.figures.note(&res, len(p.Request.Args))
	}
	if err := errors.Join(fault, b.record(ctx, p, &res)); err != nil {
		return res, err
	}
	return res, b.tell(context.WithoutCancel(ctx), p, Moment{Stage: StageEnded, Decision: d, Result: &res})
}

// after shows the hooks the result as the model will see it, and lets them add to it or refuse it.
func (b *Box) after(ctx context.Context, p *Planned, res *tool.Result) (fault error) {
	render(res)
	for _, h := range b.cfg.Hooks {
		err := guard("hook", func() error { return h.After(ctx, &p.Request, res) })
		if err == nil {
			continue
		}
		e, denied, f := sortError(err)
		if f != nil { // the call has happened: it is recorded all the same
			fault = errors.Join(fault, f)
			continue
		}
		res.Err, res.Denied = e, denied
		render(res)
	}
	return fault
}

// render makes the text of a failed call, and says where something of it has happened.
func render(res *tool.Result) {
	if res.Err == nil {
		return
	}
	if len(res.Meta.Transaction) > 0 {
		res.Err = res.Err.With(joinSentences(res.Err.Hint, "Part of the work was done before the failure; undo can take it back."))
	}
	res.Parts, res.Bounded = []tool.Part{tool.Text(res.Err.Render())}, false
}

// guard makes a panic of the program's own parts a fault of one call.
func guard(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = tool.Fault(fmt.Errorf("%s panicked: %v\n%s", what, v, debug.Stack()))
		}
	}()
	return f()
}

func (b *Box) fault(ctx context.Context, p *Planned, err error) (tool.Result, error) {
	if p != nil && p.entry != nil {
		b.cfg.Log.ErrorContext(ctx, "call failed", "tool", p.entry.def.Name, "call", p.Request.ID, "err", err)
	}
	return tool.Result{}, err
}

// refusal is what a model is told of a call that was not allowed.
func (b *Box) refusal(ctx context.Context, p *Planned, d tool.Decision) *tool.Denial {
	by, reason := b.told(ctx, p, d)
	msg := fmt.Sprintf("%s was not allowed", p.entry.def.Name)
	if by != "" {
		msg += " by " + by
	}
	if reason != "" {
		msg += ": " + reason
	}
	return &tool.Denial{Decision: d, Tool: p.entry.def.Name, Message: msg + "."}
}

// told returns who refused a call and why, in the words that a model may read. What policy said about a call over a path
// that may not simply be read depends on what is there: an edit that fits is judged as a change, one that does not as a
// look at why. So the model is told what holds for reading the path, in both cases, and cannot guess its content by the
// difference.
func (b *Box) told(ctx context.Context, p *Planned, d tool.Decision) (by, reason string) {
	private := p.Call.Private.Targets()
	if len(private) == 0 || p.Call.Private.Judge(private[0]) == tool.Allow {
		return d.By, d.Reason
	}
	in := &tool.Intent{Tool: p.entry.def.Name, Permission: tool.ReadPermission, Effects: []tool.Effect{tool.Read}, Targets: private[:1]}
	if p.entry.def.Annotations.ReadOnly {
		in.Permission = p.entry.def.Permission
	}
	read, err := b.policy(ctx, p, in)
	if err != nil || read.Verdict == tool.Allow {
		return d.By, d.Reason
	}
	if by = d.By; by == p.policy.By {
		by = read.By
	}
	if rest, ok := strings.CutPrefix(d.Reason, p.policy.Reason); ok {
		return by, read.Reason + rest
	}
	return by, d.Reason
}

func (b *Box) timeout(e *entry) time.Duration {
	if e.def.Timeout > 0 {
		return e.def.Timeout
	}
	return b.cfg.Timeout
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}
