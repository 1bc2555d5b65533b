package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
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
// names hunks makes the plan again from those. The error is a fault.
func (b *Box) Run(ctx context.Context, p *Planned, d tool.Decision) (tool.Result, error) {
	if !p.stopped() && d.Verdict == tool.Allow && d.Hunks != nil {
		p.Call.Hunks, p.Call.Denied = d.Hunks, d.Denied
		if err := b.plan(ctx, p); err != nil {
			return b.fault(ctx, p, err)
		}
	}
	var res tool.Result
	var err error
	switch {
	case p.stopped():
		res = tool.Result{Err: p.Err, Denied: p.Denied}
	case d.Verdict != tool.Allow:
		denial := refusal(p, d)
		res = tool.Result{Err: denial.AsError(), Denied: denial}
	default:
		res, d, err = b.execute(ctx, p, d)
	}
	if err != nil {
		return b.fault(ctx, p, err)
	}
	return b.conclude(ctx, p, d, res)
}

// execute runs the action, and where a file changed since planning plans again under the lock (T5).
func (b *Box) execute(ctx context.Context, p *Planned, d tool.Decision) (tool.Result, tool.Decision, error) {
	if e := b.limit(p.entry); e != nil {
		return tool.Result{Err: e}, d, nil
	}
	if err := b.announce(ctx, p, d); err != nil {
		return tool.Result{}, d, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.timeout(p.entry), errTimeout)
	defer cancel()
	r := &runner{box: b, p: p, decision: d}
	res, err := b.invoke(ctx, p, r)
	for try := 0; r.stale != nil && !d.Person && try < 3 && ctx.Err() == nil; try++ {
		var again bool
		if res, d, again, err = b.rerun(ctx, p, r); !again {
			break
		}
	}
	if r.stale != nil && err == nil && res.Err == nil {
		res.Err = staleError(r.stale)
	}
	m := &res.Meta
	m.Transaction, m.Changes, m.Diff, m.Values = r.transactions, r.changes, r.diff.String(), r.values
	if res.Err != nil && len(r.transactions) > 0 {
		res.Err = res.Err.With(joinSentences(res.Err.Hint, "Part of the work was done before the failure; undo can take it back."))
	}
	return res, d, err
}

// rerun holds the write locks of what the call would change, plans, decides and runs once more.
func (b *Box) rerun(ctx context.Context, p *Planned, r *runner) (res tool.Result, d tool.Decision, again bool, err error) {
	d = r.decision
	held, unlock, err := b.cfg.Host.Lock(ctx, r.staleSet.Paths()...)
	if err != nil {
		e, denied, fault := sortError(tool.PathError("path", r.stale.Path, err))
		return tool.Result{Err: e, Denied: denied}, d, false, fault
	}
	defer unlock()
	r.stale, r.staleSet = nil, nil
	if err := b.plan(held, p); err != nil {
		return res, d, false, err
	}
	if p.stopped() {
		return tool.Result{Err: p.Err, Denied: p.Denied}, d, false, nil
	}
	if d, err = b.decide(held, p, &p.Action.Intent); err != nil {
		return res, d, false, err
	}
	if d.Verdict != tool.Allow {
		denial := refusal(p, d)
		return tool.Result{Err: denial.AsError(), Denied: denial}, d, false, nil
	}
	r.decision = d
	res, err = b.invoke(held, p, r)
	return res, d, true, err
}

var errTimeout = errors.New("the call ran out of time")

// invoke runs the action in a goroutine of its own, so that neither a panic nor a tool that ignores its context takes
// the caller with it. The goroutine is waited for unless it outlives the context by the grace period.
func (b *Box) invoke(ctx context.Context, p *Planned, r *runner) (tool.Result, error) {
	type outcome struct {
		res tool.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{res: tool.Result{Err: b.panicked(p, v)}}
			}
			done <- o
		}()
		o.res, o.err = p.Action.Run(ctx, r)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case o = <-done:
		case <-t.C:
			return tool.Result{Err: &tool.Error{Code: tool.TimedOut, Err: context.Cause(ctx),
				Message: fmt.Sprintf("%s did not stop when its time was over; whether it did its work is unknown.", p.entry.def.Name),
				Hint:    "Look at the state of the files before you repeat the call."}}, nil
		}
	}
	if o.err == nil {
		return o.res, nil
	}
	if errors.Is(context.Cause(ctx), errTimeout) && errors.Is(o.err, ctx.Err()) {
		return tool.Result{Err: &tool.Error{Code: tool.TimedOut, Retry: true, Err: o.err,
			Message: fmt.Sprintf("%s did not finish within %v.", p.entry.def.Name, b.timeout(p.entry)),
			Hint:    "Ask for less at once, or have the time limit raised."}}, nil
	}
	e, d, fault := sortError(o.err)
	o.res.Err, o.res.Denied = e, d
	return o.res, fault
}

// conclude notes, bounds, redacts and records the result.
func (b *Box) conclude(ctx context.Context, p *Planned, d tool.Decision, res tool.Result) (tool.Result, error) {
	for _, h := range b.cfg.Hooks {
		if err := h.After(ctx, &p.Request, &res); err != nil {
			e, denied, fault := sortError(err)
			if fault != nil {
				return b.fault(ctx, p, fault)
			}
			res.Err, res.Denied = e, denied
		}
	}
	m := &res.Meta
	m.Call, m.Tool, m.Repairs = p.Request.ID, p.Request.Tool, p.Repairs
	m.Started, m.Duration = p.started, b.cfg.Clock().Sub(p.started)
	if res.Err != nil {
		res.Parts = []tool.Part{tool.Text(res.Err.Render())}
	}
	b.bound(ctx, p, &res)
	b.redact.Load().result(&res)
	if !p.stopped() {
		m.Decision = &d
	}
	if p.entry != nil {
		p.entry.figures.note(&res, len(p.Request.Args))
	}
	return res, b.record(ctx, p, &res)
}

func (b *Box) fault(ctx context.Context, p *Planned, err error) (tool.Result, error) {
	if p != nil && p.entry != nil {
		b.cfg.Log.ErrorContext(ctx, "call failed", "tool", p.entry.def.Name, "call", p.Request.ID, "err", err)
	}
	return tool.Result{}, err
}

func refusal(p *Planned, d tool.Decision) *tool.Denial {
	msg := fmt.Sprintf("%s was not allowed", p.entry.def.Name)
	if d.By != "" {
		msg += " by " + d.By
	}
	if d.Reason != "" {
		msg += ": " + d.Reason
	}
	return &tool.Denial{Decision: d, Tool: p.entry.def.Name, Message: msg + "."}
}

func (b *Box) timeout(e *entry) time.Duration {
	if e.def.Timeout > 0 {
		return e.def.Timeout
	}
	return b.cfg.Timeout
}

// staleError tells the model what others changed; nothing was written.
func staleError(s *host.StaleError) *tool.Error {
	e := &tool.Error{Code: tool.Stale, Err: s, Retry: true,
		Message: fmt.Sprintf("%s changed after this call was planned; nothing was written.", s.Path),
		Hint:    "Read the file again and make the change on top of what it holds now."}
	if diff := change.Between(s.Path, s.Want, s.Current); diff != "" {
		e.Message += "\nThe change that somebody else made:\n" + diff
	}
	return e
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// Ticket is a call that stopped between planning and running, in a form that can be stored and taken up elsewhere.
type Ticket struct {
	Request Request         `json:"request"`
	Args    json.RawMessage `json:"args"`
	Intent  tool.Intent     `json:"intent"`
	Preview change.Preview  `json:"preview,omitzero"`
	Policy  tool.Decision   `json:"policy"`
}

// Ticket writes down a planned call with the decision that stopped it.
func (p *Planned) Ticket(d tool.Decision) Ticket {
	in := p.Action.Intent
	in.Seal()
	t := Ticket{Request: p.Request, Args: slices.Clone(p.Args), Intent: in, Policy: d}
	if !in.Changes.Empty() {
		t.Preview = in.Changes.Preview(p.Call.Dir, change.PreviewOptions{})
	}
	return t
}

// Resume takes up a ticket in this or another process: it plans again, compares the fingerprint with the one that was
// decided, and runs. A fingerprint that differs is STALE and nothing is done.
func (b *Box) Resume(ctx context.Context, t Ticket, d tool.Decision) (tool.Result, error) {
	p, err := b.Plan(ctx, t.Request)
	if err != nil {
		return b.fault(ctx, p, err)
	}
	if !p.stopped() {
		p.Action.Intent.Seal()
		if got := p.Action.Intent.Fingerprint; got != t.Intent.Fingerprint || d.Fingerprint != got {
			p.Err = &tool.Error{Code: tool.Stale, Message: "the call is no longer what was approved: its files or targets changed since; nothing was done.",
				Hint: "Make the call again; it will be shown and decided anew."}
		}
	}
	return b.Run(ctx, p, d)
}
