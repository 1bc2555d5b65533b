package tackle

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

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

// asker is the answerer of the road: it puts asks on the queue.
type asker struct{ box *Box }

// Answer is described at toolbox.Answerer.
func (a asker) Answer(ctx context.Context, asked toolbox.Asked) (tool.Decision, error) {
	return a.box.asks.Ask(ctx, ask.Question{Request: asked.GateRequest, Policy: asked.Policy, Hunks: asked.Hunks, Faces: a.box.faces})
}

// journal writes asks and answers into the ledger. What it writes is masked.
type journal struct{ box *Box }

// Asked is described at ask.Journal.
func (j journal) Asked(ctx context.Context, r *ask.Request) error {
	e := entryOf(r)
	e.Kind, e.Decision, e.By, e.Reason = ledger.Request, tool.Ask.String(), r.By, r.View.Reason
	ev, err := askEvent(AskRecord{Phase: ask.Opened, ID: r.ID, Call: r.Call, Tool: r.Tool, Request: r}, r.Session, r.ID+"/opened", r.Asked)
	if err != nil {
		return err
	}
	_, _, err = j.box.ledger.AppendWith(ctx, []store.Event{ev}, e)
	return err
}

// Closed is described at ask.Journal. The answer to a call that waits is in the record of that call, which the road
// stores before it runs.
func (j journal) Closed(ctx context.Context, r *ask.Request, d tool.Decision) error {
	d.Reason = j.box.mask(d.Reason)
	ev, err := askEvent(AskRecord{Phase: ask.Closed, ID: r.ID, Call: r.Call, Tool: r.Tool, Decision: &d}, r.Session, closedKey(r), d.At)
	if err != nil {
		return err
	}
	if r.Intent != nil {
		_, err = j.box.store.Append(ctx, ev)
		return err
	}
	e := entryOf(r)
	e.Kind, e.Decision, e.By, e.Reason, e.Shown = ledger.Decision, d.Verdict.String(), d.By, d.Reason, r.Shown
	_, _, err = j.box.ledger.AppendWith(ctx, []store.Event{ev}, e)
	return err
}

// closedKey is unique for the end of an ask, and for the later answer to its ticket.
func closedKey(r *ask.Request) string {
	if r.Intent == nil {
		return r.ID + "/answered"
	}
	return r.ID + "/closed"
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
