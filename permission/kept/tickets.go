package kept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
)

// Tickets keeps the asks that were left open. It is safe for concurrent use.
type Tickets struct {
	store Store
	now   func() time.Time
}

// NewTickets returns the tickets of a store. It touches nothing. A nil now means time.Now.
func NewTickets(s Store, now func() time.Time) *Tickets {
	if now == nil {
		now = time.Now
	}
	return &Tickets{store: s, now: now}
}

var _ ask.Tickets = (*Tickets)(nil)

// Put implements ask.Tickets. It also removes tickets that are too old to be answered.
func (k *Tickets) Put(ctx context.Context, t ask.Ticket) error {
	recs, err := k.store.List(ctx, ticketSpace, store.RecordQuery{})
	if err != nil {
		return err
	}
	var old []string
	for _, r := range recs {
		if k.now().After(r.At.Add(ask.TicketTime)) {
			old = append(old, r.Key)
		}
	}
	if err := k.set(ctx, t); err != nil {
		return err
	}
	return k.store.Unset(ctx, ticketSpace, old...)
}

func (k *Tickets) set(ctx context.Context, t ask.Ticket) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return k.store.Set(ctx, store.Record{Space: ticketSpace, Key: t.Request.ID, Owner: t.Request.Session, At: t.Request.Asked, Body: body})
}

// Get implements ask.Tickets.
func (k *Tickets) Get(ctx context.Context, id string) (ask.Ticket, error) {
	r, err := k.store.Get(ctx, ticketSpace, id)
	if errors.Is(err, store.ErrNotFound) {
		return ask.Ticket{}, fmt.Errorf("ask %q: %w", id, ask.ErrUnknown)
	}
	if err != nil {
		return ask.Ticket{}, err
	}
	return read(r)
}

func read(r store.Record) (ask.Ticket, error) {
	var t ask.Ticket
	if err := json.Unmarshal(r.Body, &t); err != nil {
		return t, fmt.Errorf("ask %s: %w", r.Key, err)
	}
	if t.Request == nil || t.Request.Fingerprint == "" {
		return t, fmt.Errorf("ask %s: the record holds no request", r.Key)
	}
	return t, nil
}

// List implements ask.Tickets.
func (k *Tickets) List(ctx context.Context) ([]ask.Ticket, error) {
	recs, err := k.store.List(ctx, ticketSpace, store.RecordQuery{})
	if err != nil {
		return nil, err
	}
	out := make([]ask.Ticket, 0, len(recs))
	for _, r := range recs {
		t, err := read(r)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b ask.Ticket) int { return a.Request.Asked.Compare(b.Request.Asked) })
	return out, nil
}

// Close implements ask.Tickets.
func (k *Tickets) Close(ctx context.Context, t ask.Ticket) (bool, error) {
	won, err := first(ctx, k.store, ".ask."+t.Request.ID, "answered", nil)
	if !won || err != nil {
		return false, err
	}
	return true, k.set(ctx, t)
}
