package core

import (
	"context"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/tool"
)

// Ask is a question to a person. View is escaped for showing; everything else is for programs.
type Ask struct {
	ID          string      `json:"id"`
	Ticket      bool        `json:"ticket" jsonschema:"nobody was there to answer, the call has ended; a yes lets the same call through once it is repeated"`
	Tool        string      `json:"tool"`
	Permission  string      `json:"permission"`
	Session     string      `json:"session,omitempty"`
	Call        string      `json:"call,omitempty"`
	Mode        string      `json:"mode,omitempty"`
	Fingerprint string      `json:"fingerprint" jsonschema:"an answer names it: it binds the answer to what was shown"`
	By          string      `json:"by" jsonschema:"what asks: the rule, guard or posture"`
	PersonOnly  bool        `json:"personOnly,omitempty" jsonschema:"only a person can say yes, no program"`
	Offers      []ask.Offer `json:"offers" jsonschema:"how long a yes may hold"`
	Hunks       int         `json:"hunks" jsonschema:"that can be allowed one by one; 0 where none can"`
	View        ask.View    `json:"view"`
	Shown       string      `json:"shown"`
	Asked       time.Time   `json:"asked"`
	Expires     time.Time   `json:"expires,omitzero"`
}

// Asks are the open asks, oldest first, and the tickets.
type Asks struct {
	Open    []Ask `json:"open"`
	Tickets []Ask `json:"tickets"`
}

func askOf(r *ask.Request, ticket bool) Ask {
	return Ask{ID: r.ID, Ticket: ticket, Tool: r.Tool, Permission: r.Permission, Session: r.Session, Call: r.Call, Mode: r.Mode,
		Fingerprint: r.Fingerprint, By: r.By, PersonOnly: r.PersonOnly, Offers: list(r.Offers), Hunks: r.Hunks, View: r.View, Shown: r.Shown, Asked: r.Asked.UTC(), Expires: r.Expires.UTC()}
}

// Asks lists what waits for a person.
func (c *Core) Asks(ctx context.Context) (Asks, error) {
	out := Asks{Open: []Ask{}, Tickets: []Ask{}}
	for _, r := range c.box.Asks().Open() {
		out.Open = append(out.Open, askOf(r, false))
	}
	tickets, err := c.box.Asks().Tickets(ctx)
	if err != nil {
		return out, Mistake(err)
	}
	for _, t := range tickets {
		a := askOf(t.Request, true)
		a.Hunks, a.Expires = 0, t.Request.Asked.Add(ask.TicketTime).UTC()
		out.Tickets = append(out.Tickets, a)
	}
	return out, nil
}

// Ask returns one open ask or ticket. Errors: NotFound, also for one that was answered.
func (c *Core) Ask(ctx context.Context, id string) (Ask, error) {
	all, err := c.Asks(ctx)
	if err != nil {
		return Ask{}, err
	}
	for _, a := range append(all.Open, all.Tickets...) {
		if a.ID == id {
			return a, nil
		}
	}
	return Ask{}, errorf(NotFound, "no ask %q is open: it was answered, has ended, or never was", id)
}

// Answer is what somebody says to an ask.
type Answer struct {
	Allow bool      `json:"allow"`
	Scope ask.Scope `json:"scope,omitempty" jsonschema:"how long a yes holds: one of the offers; default once"`
	Until time.Time `json:"until,omitzero" jsonschema:"ends a yes of the scopes project, always and until"`
	Hunks []int     `json:"hunks,omitempty" jsonschema:"that are allowed; absent allows all"`
	// Denied holds words about single hunks that are not allowed.
	Denied      map[int]string `json:"denied,omitempty" jsonschema:"words about hunks that are not allowed, by number"`
	Words       string         `json:"words,omitempty" jsonschema:"for the model, at most 4000 characters"`
	Fingerprint string         `json:"fingerprint" jsonschema:"of the ask that was shown"`
}

// Answered says what the call gets.
type Answered struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	// Warning says that the yes counts, but could not be kept for later calls.
	Warning string `json:"warning,omitempty"`
}

const mostWords = 4000

// Answer answers an open ask, or a ticket. The first answer wins. Errors: Forbidden, NotFound, Conflict (with who was faster,
// or because another version of the call was shown) and Invalid (what was not offered; the ask stays open).
func (c *Core) Answer(ctx context.Context, who access.Identity, id string, a Answer) (Answered, error) {
	if err := need(who, access.Approver, "answer asks"); err != nil {
		return Answered{}, err
	}
	if n := len([]rune(a.Words)); n > mostWords {
		return Answered{}, errorf(Invalid, "the words have %d characters, at most %d are passed on", n, mostWords)
	}
	in := ask.Answer{Allow: a.Allow, Scope: a.Scope, Until: a.Until, Hunks: a.Hunks, Denied: a.Denied, Words: strings.TrimSpace(a.Words),
		Fingerprint: a.Fingerprint, Approver: Approver(who)}
	q := c.box.Asks()
	d, err := q.Answer(ctx, id, in)
	if err != nil && d.By == "" { // it may be a ticket
		if t, terr := c.answerTicket(ctx, id, in); terr == nil || !isUnknown(terr) {
			return t, terr
		}
		return Answered{}, Mistake(err)
	}
	out := Answered{ID: id, Decision: decisionOf(&d, 1, d.At.UTC())}
	if err != nil {
		out.Warning = err.Error()
	}
	return out, nil
}

func (c *Core) answerTicket(ctx context.Context, id string, in ask.Answer) (Answered, error) {
	t, err := c.box.Asks().AnswerTicket(ctx, id, in)
	if err != nil {
		return Answered{}, Mistake(err)
	}
	d := tool.Decision{Verdict: tool.Deny, By: in.Approver.String(), Reason: in.Words, Person: in.Approver.Name != "", At: t.At}
	if in.Allow {
		d.Verdict = tool.Allow
	}
	return Answered{ID: id, Decision: decisionOf(&d, 1, t.At.UTC())}, nil
}

func isUnknown(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Kind == NotFound
}

// Approver is an identity as the queue of asks and the ledger name it. A program has no name there: it cannot answer what
// needs a person; which program it was stands with the face.
func Approver(who access.Identity) ask.Approver {
	if who.Program {
		return ask.Approver{Face: strings.TrimSpace(who.Via + " token " + who.Name)}
	}
	return ask.Approver{Name: who.Name, Face: who.Via}
}
