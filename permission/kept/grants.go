// Package kept keeps what people answered, in a store: the grants that outlive a process, and the asks that nobody was
// there to answer. It decides nothing.
//
// The one idea: a record is what holds, an event is who was first. Grants and tickets are records, which come and go; that a
// grant for one decision was spent, or a ticket answered, is the first event of a stream of its own, and a store takes
// the first event of a stream from exactly one writer, in whatever process.
package kept

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
)

// The spaces of the records.
const (
	grantSpace  = "grant"
	ticketSpace = "ask"
)

// Store is what this package needs of a store.
type Store interface {
	store.Events
	store.Records
}

// Grants is the keeper of the grants of one project. It is safe for concurrent use.
type Grants struct {
	store   Store
	project string
	now     func() time.Time
}

// NewGrants returns the keeper for the project in a folder. It touches nothing. A nil now means time.Now.
func NewGrants(s Store, folder string, now func() time.Time) *Grants {
	if now == nil {
		now = time.Now
	}
	sum := sha256.Sum256([]byte(folder))
	return &Grants{store: s, project: hex.EncodeToString(sum[:8]) + "/", now: now}
}

var _ permission.Keeper = (*Grants)(nil)

// Load implements permission.Keeper.
func (g *Grants) Load(ctx context.Context) ([]permission.Grant, error) {
	recs, err := g.store.List(ctx, grantSpace, store.RecordQuery{Prefix: g.project})
	if err != nil {
		return nil, err
	}
	out := make([]permission.Grant, 0, len(recs))
	for _, r := range recs {
		var gr permission.Grant
		if err := json.Unmarshal(r.Body, &gr); err != nil {
			return nil, fmt.Errorf("grant %s: %w", r.Key, err)
		}
		out = append(out, gr)
	}
	slices.SortStableFunc(out, func(a, b permission.Grant) int { return a.Given.Compare(b.Given) })
	return out, nil
}

// Keep implements permission.Keeper. It also removes grants that have expired.
func (g *Grants) Keep(ctx context.Context, gr permission.Grant) error {
	all, err := g.Load(ctx)
	if err != nil {
		return err
	}
	var old []string
	for _, o := range all {
		if !o.Expires.IsZero() && !g.now().Before(o.Expires) {
			old = append(old, o.ID)
		}
	}
	body, err := json.Marshal(gr)
	if err != nil {
		return err
	}
	if err := g.store.Set(ctx, store.Record{Space: grantSpace, Key: g.project + gr.ID, Owner: gr.Session, At: gr.Given, Body: body}); err != nil {
		return err
	}
	return g.Drop(ctx, old...)
}

// Drop implements permission.Keeper.
func (g *Grants) Drop(ctx context.Context, ids ...string) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = g.project + id
	}
	return g.store.Unset(ctx, grantSpace, keys...)
}

// Spend implements permission.Keeper.
func (g *Grants) Spend(ctx context.Context, id string) (bool, error) {
	// A revoked grant has no record any more, and nobody has spent it either.
	if _, err := g.store.Get(ctx, grantSpace, g.project+id); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	won, err := first(ctx, g.store, ".grant."+strings.TrimSuffix(g.project, "/")+"."+id, "spent", nil)
	if !won || err != nil {
		return false, err
	}
	return true, g.Drop(ctx, id)
}

// first appends the first event of a stream and reports whether this caller was the one.
func first(ctx context.Context, s store.Events, stream, kind string, body json.RawMessage) (bool, error) {
	_, err := s.Append(ctx, store.Event{Session: stream, Seq: 1, Kind: kind, Body: body})
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}
