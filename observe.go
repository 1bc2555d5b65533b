package tackle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// AskKind is the kind of the events of a session that tell of its asks; their body is an [AskRecord]. An ask that opens is
// stored before any face sees it, one that closes before the call goes on.
const AskKind = "ask"

// AskRecord is what the session of an ask keeps of it.
type AskRecord struct {
	Phase    ask.EventKind  `json:"phase"`
	ID       string         `json:"id"`
	Call     string         `json:"call,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	Request  *ask.Request   `json:"request,omitempty"`  // of Opened
	Decision *tool.Decision `json:"decision,omitempty"` // of Closed
}

// mostShown bounds a diff that is kept with an ask, in bytes. Two of them fit into one body of the store.
const mostShown = store.MaxBody / 4

// askEvent returns the event of an ask. What the view holds is masked already.
func askEvent(rec AskRecord, stream, key string, at time.Time) (store.Event, error) {
	if r := rec.Request; r != nil && len(r.View.Diff) > mostShown {
		short := *r
		short.View.Diff = fmt.Sprintf("%s\n… (%d bytes are not kept)\n", r.View.Diff[:mostShown], len(r.View.Diff)-mostShown)
		short.View.Hunks = nil
		rec.Request = &short
	}
	body, err := json.Marshal(rec)
	if err != nil {
		return store.Event{}, fmt.Errorf("ask %s: %w", rec.ID, err)
	}
	if stream == "" {
		stream = session.Unnamed
	}
	return store.Event{Session: stream, Kind: AskKind, Key: key, At: at, Body: body}, nil
}

// Store returns the store behind the box, for the other packages of this module: faces that follow what happens.
func (b *Box) Store() store.Store { return b.store }

// Calls returns the records of a session, oldest first.
func (b *Box) Calls(ctx context.Context, session string) ([]session.Record, error) {
	return b.log.Calls(ctx, session)
}

// CallsSince returns the records that are stored behind an event of a session, and the last event that was read. [Box.Settle] has
// everything stored.
func (b *Box) CallsSince(ctx context.Context, session string, after int64) ([]session.Record, int64, error) {
	return b.log.CallsSince(ctx, session, after)
}

// ArtifactStore returns the store of outputs that were too long to show, with what describes them.
func (b *Box) ArtifactStore() *artifact.Store { return b.artifacts }

// Gate returns the gate that decides now. A changed configuration is another gate.
func (b *Box) Gate() *permission.Gate { return b.policy.Gate() }

// Mask hides the secrets of the environment in a text.
func (b *Box) Mask(s string) string { return b.mask(s) }

// Note appends an entry to the ledger that speaks of the program itself: who did what to policy, tokens or records. Its
// texts are masked here.
func (b *Box) Note(ctx context.Context, by, what string) error {
	_, err := b.ledger.Append(ctx, ledger.Entry{Kind: ledger.Ran, By: b.mask(by), Reason: b.mask(what), Outcome: "ok"})
	return err
}

// RemoveSessions removes sessions with everything that is recorded of them, for good: calls, asks, and artifacts; their bytes
// go with the next expiry, where no other session refers to them. The ledger keeps its entries, and one that says who removed what. Changes to
// files can still be undone as long as the host keeps their before-images. The box's own session cannot be removed, nor one in which
// an agent works now; where one of them is, none is removed.
func (b *Box) RemoveSessions(ctx context.Context, by string, ids ...string) error {
	for _, id := range ids {
		if id == b.cfg.Session {
			return fmt.Errorf("session %s is the one that this process works in", id)
		}
		release, err := b.claimDriven(id)
		if err != nil {
			return fmt.Errorf("session %s is not removed: %w", id, err)
		}
		defer release()
	}
	for _, id := range ids {
		if err := b.Note(ctx, by, "session "+id+" removed"); err != nil {
			return err
		}
	}
	if err := b.store.Remove(ctx, ids...); err != nil {
		return err
	}
	if err := history.Forget(ctx, b.store, ids...); err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.artifacts.Forget(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Settle returns when everything that calls have recorded so far is stored, so that it can be read.
func (b *Box) Settle() { b.log.Settle() }
