package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// Ticket is an ask that nobody was there to answer, kept so that somebody can answer later.
type Ticket struct {
	Request *Request `json:"request"`
	// Answer is what somebody said; nil while it is open.
	Answer *Answer   `json:"answer,omitempty"`
	At     time.Time `json:"at,omitzero"` // of the answer
}

// Tickets keeps tickets. Implementations are safe for concurrent use.
type Tickets interface {
	// Put stores a new ticket.
	Put(ctx context.Context, t Ticket) error
	// Get returns a ticket, or an error that wraps ErrUnknown.
	Get(ctx context.Context, id string) (Ticket, error)
	// List returns all tickets, oldest first.
	List(ctx context.Context) ([]Ticket, error)
	// Close stores an answer, and reports false when there was one already.
	Close(ctx context.Context, t Ticket) (bool, error)
}

// TicketTime is how long a ticket is kept.
const TicketTime = 24 * time.Hour

// unanswered ends an ask that nobody answered: a denial that says so, with a ticket where there are any.
func (q *Queue) unanswered(ctx context.Context, p *pending, why string, late error) {
	if !q.claim(p) {
		return
	}
	d := tool.Decision{Verdict: tool.Deny, By: p.req.By, Reason: sentence(p.reason) + "It needs a person's approval and " + why, Fingerprint: p.req.Fingerprint}
	if q.opt.Tickets != nil {
		var err error
		if d.Ticket = p.ticket; d.Ticket == "" {
			d.Ticket = p.req.ID
			err = q.opt.Tickets.Put(context.WithoutCancel(ctx), Ticket{Request: p.req})
		}
		if err != nil {
			d.Ticket = ""
			d.Reason += fmt.Sprintf(". It could not be kept for later: %v", err)
		} else {
			d.Reason += fmt.Sprintf(". A person can allow it later with `tackle approve %s`; then repeat the call unchanged, in session %s", d.Ticket, p.req.Session)
		}
	}
	q.close(ctx, p, d, late)
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	if s[len(s)-1] != '.' {
		s += "."
	}
	return s + " "
}

// before looks for a ticket of the same call. A no that somebody gave to one holds for a while; one that is still open
// stays the only ticket of its call.
func (q *Queue) before(ctx context.Context, qu *Question) (d *tool.Decision, open string, err error) {
	if q.opt.Tickets == nil {
		return nil, "", nil
	}
	list, err := q.opt.Tickets.List(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("ask: %w", err)
	}
	for _, t := range list {
		if t.Request.Session != qu.Session || t.Request.Fingerprint != qu.Intent.Fingerprint {
			continue
		}
		switch {
		case t.Answer == nil && !q.stale(&t):
			open = t.Request.ID
		case t.Answer != nil && !t.Answer.Allow && q.opt.Now().Before(t.At.Add(LateTime)):
			no := t.Request.decision(t.Answer, t.At)
			return &no, "", nil
		}
	}
	return nil, open, nil
}

// Tickets returns the tickets that are still open, oldest first. Those that are older than TicketTime are left out.
func (q *Queue) Tickets(ctx context.Context) ([]Ticket, error) {
	if q.opt.Tickets == nil {
		return nil, nil
	}
	list, err := q.opt.Tickets.List(ctx)
	var out []Ticket
	for _, t := range list {
		if t.Answer == nil && !q.stale(&t) {
			out = append(out, t)
		}
	}
	return out, err
}

func (q *Queue) stale(t *Ticket) bool { return q.opt.Now().After(t.Request.Asked.Add(TicketTime)) }

// AnswerTicket answers an ask that was left open. A yes lets the same call through: once, within LateTime, or for as long
// as the scope of the answer says. Hunks cannot be chosen. Errors are those of Answer.
func (q *Queue) AnswerTicket(ctx context.Context, id string, a Answer) (Ticket, error) {
	if q.opt.Tickets == nil {
		return Ticket{}, fmt.Errorf("ask %q: %w", id, ErrUnknown)
	}
	t, err := q.opt.Tickets.Get(ctx, id)
	if err != nil {
		return t, err
	}
	switch {
	case t.Answer != nil:
		return t, fmt.Errorf("ask %s: %w by %s at %s", id, ErrAnswered, t.Answer.Approver, t.At.Format(time.DateTime))
	case q.stale(&t):
		return t, fmt.Errorf("ask %s: %w: it is older than %v", id, ErrExpired, TicketTime)
	case a.Hunks != nil:
		return t, fmt.Errorf("ask %s: %w: hunks can be chosen only while the call waits", id, ErrNotOffered)
	}
	if err := t.Request.check(&a); err != nil {
		return t, err
	}
	if a.Allow && q.gate() == nil {
		return t, errors.New("ask: there is no gate to take the answer")
	}
	t.Answer, t.At = &a, q.opt.Now()
	won, err := q.opt.Tickets.Close(ctx, t)
	if err != nil {
		return t, fmt.Errorf("ask %s: %w", id, err)
	}
	if !won {
		return t, fmt.Errorf("ask %s: %w", id, ErrAnswered)
	}
	if q.opt.Journal != nil {
		if err := q.opt.Journal.Closed(ctx, t.Request, t.Request.decision(&a, t.At)); err != nil {
			return t, fmt.Errorf("ask %s: %w", id, err)
		}
	}
	if a.Allow {
		for _, g := range t.Request.late(&a, t.At) {
			if err := q.gate().Grant(ctx, g); err != nil {
				return t, fmt.Errorf("ask %s: %w", id, err)
			}
		}
	}
	return t, nil
}
