package tackle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// ErrNoAnswer is what a Config.Answerer returns when nobody answered there, so that the ask stays open to other faces.
var ErrNoAnswer = errors.New("nobody answered here")

// NoAnswer is an answerer that never answers: the Else of an answerer that stands in front of the queue.
type NoAnswer struct{}

// Answer is described at toolbox.Answerer.
func (NoAnswer) Answer(context.Context, toolbox.Asked) (tool.Decision, error) {
	return tool.Decision{}, ErrNoAnswer
}

// Asks returns the queue of what policy asks people. Whoever subscribes to it, or serves a face on it, can answer; with
// nobody there, asks become denials that leave a ticket.
func (b *Box) Asks() *ask.Queue { return b.asks }

func (b *Box) newAsks() *ask.Queue {
	root := ""
	if len(b.cfg.Roots) > 0 {
		root = b.cfg.Roots[0]
	}
	return ask.New(ask.Options{Gate: b.policy.Gate, Root: root, Journal: journal{b}, Tickets: kept.NewTickets(b.store, nil),
		Secrets: func() []string { return b.Env().Secrets() }})
}

// asker is the answerer of the road: it puts asks on the queue. inline, which may be nil, is asked beside whoever else
// is there.
type asker struct {
	box    *Box
	inline toolbox.Answerer
}

// Answer is described at toolbox.Answerer.
func (a asker) Answer(ctx context.Context, asked toolbox.Asked) (tool.Decision, error) {
	qu := ask.Question{Request: asked.GateRequest, Policy: asked.Policy, Hunks: asked.Hunks}
	if a.inline != nil {
		qu.Faces = []ask.Face{inlineFace{a.inline, asked}}
	}
	return a.box.asks.Ask(ctx, qu)
}

// inlineFace lets an answerer of the road answer one ask of the queue.
type inlineFace struct {
	answerer toolbox.Answerer
	asked    toolbox.Asked
}

// Ask is described at ask.Face.
func (f inlineFace) Ask(ctx context.Context, r *ask.Request) (ask.Answer, error) {
	d, err := f.answerer.Answer(ctx, f.asked)
	switch {
	case err != nil:
		return ask.Answer{}, err
	case d.Verdict == tool.Ask:
		return ask.Answer{}, fmt.Errorf("%w: the answerer only asks back", ErrNoAnswer)
	}
	a := ask.Answer{Allow: d.Verdict == tool.Allow, Hunks: d.Hunks, Denied: d.Denied, Words: d.Reason, Fingerprint: d.Fingerprint}
	if a.Fingerprint == "" && !a.Allow {
		a.Fingerprint = r.Fingerprint // a no needs no proof of what was shown
	}
	a.Approver.Face = d.By
	if d.Person {
		name := strings.TrimPrefix(strings.TrimPrefix(d.By, "the "), "person ")
		a.Approver = ask.Approver{Name: name}
		if name == "" {
			a.Approver.Name = "unknown"
		}
	}
	return a, nil
}

// journal writes asks and answers into the ledger. What it writes is masked.
type journal struct{ box *Box }

// Asked is described at ask.Journal.
func (j journal) Asked(ctx context.Context, r *ask.Request) error {
	e := entryOf(r)
	e.Kind, e.Decision, e.By, e.Reason = ledger.Request, tool.Ask.String(), r.By, r.View.Reason
	_, err := j.box.ledger.Append(ctx, e)
	return err
}

// Closed is described at ask.Journal.
func (j journal) Closed(ctx context.Context, r *ask.Request, d tool.Decision) error {
	e := entryOf(r)
	e.Kind, e.Decision, e.By, e.Reason, e.Shown = ledger.Decision, d.Verdict.String(), d.By, j.box.mask(d.Reason), r.Shown
	_, err := j.box.ledger.Append(ctx, e)
	return err
}

func entryOf(r *ask.Request) ledger.Entry {
	e := ledger.Entry{Session: r.Session, Call: r.Call, Point: 1, Tool: r.Tool, Fingerprint: r.Fingerprint}
	for _, t := range r.View.Targets {
		e.Targets = append(e.Targets, t.Value)
	}
	if r.Intent != nil {
		for _, f := range r.Intent.Effects {
			e.Effects = append(e.Effects, string(f))
		}
	}
	return e
}

// mask hides the secrets of the environment.
func (b *Box) mask(s string) string {
	for _, secret := range b.Env().Secrets() {
		if len(secret) >= 4 { // as in the road: shorter ones would mask ordinary text
			s = strings.ReplaceAll(s, secret, "[secret]")
		}
	}
	return s
}

// Grants returns the answers of people that hold beyond their call, in the order in which they were given.
func (b *Box) Grants(ctx context.Context) ([]permission.Grant, error) {
	set, err := b.policy.Gate().Grants(ctx)
	if err != nil {
		return nil, err
	}
	return set.List(time.Now()), nil
}

// Revoke takes a grant back and reports whether there was one of this id.
func (b *Box) Revoke(ctx context.Context, id string) (bool, error) {
	set, err := b.policy.Gate().Grants(ctx)
	if err != nil {
		return false, err
	}
	was, err := set.Revoke(ctx, id)
	if err != nil || !was {
		return was, err
	}
	_, err = b.ledger.Append(ctx, ledger.Entry{Kind: ledger.Decision, Decision: tool.Deny.String(), By: "grant " + id + " revoked"})
	return was, err
}

func (b *Box) logger() *slog.Logger {
	if b.cfg.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.cfg.Log
}
