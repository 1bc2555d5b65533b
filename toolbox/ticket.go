package toolbox

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

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
	t.Request.Args = p.raw // hooks see it again
	if !in.Changes.Empty() {
		t.Preview = in.Changes.Preview(p.Call.Dir, change.PreviewOptions{})
	}
	return t
}

// Resume takes up a ticket in this or another process: it plans again, compares the fingerprint with the one that was
// decided, asks policy whether it denies the call by now, and runs. A fingerprint that differs is STALE and nothing is done.
func (b *Box) Resume(ctx context.Context, t Ticket, d tool.Decision) (tool.Result, error) {
	p, err := b.Plan(ctx, t.Request)
	if err != nil {
		return b.fault(ctx, p, err)
	}
	if !p.stopped() {
		p.Action.Intent.Seal()
		if got := p.Action.Intent.Fingerprint; got != t.Intent.Fingerprint || d.Fingerprint != got {
			p.Err = notApproved()
		}
	}
	if !p.stopped() && !p.entry.def.SelfGated && d.Verdict == tool.Allow {
		now, err := b.policy(ctx, p, &p.Action.Intent)
		if err != nil {
			return b.fault(ctx, p, err)
		}
		if now.Verdict == tool.Deny {
			d = now
		}
	}
	return b.Run(ctx, p, d)
}
