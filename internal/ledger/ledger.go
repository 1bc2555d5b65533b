// Package ledger is the record of what was asked, who decided and what ran, each entry chained to the one before by a
// hash (SPEC P11).
//
// A ledger is one stream of a store. Its entries carry digests and names, never contents: whoever appends gives values
// that are redacted already. [Ledger.Append] costs one insert and can carry other events of the same call in the same
// transaction. [Ledger.Verify] reads the whole chain; [VerifyExport] does the same for a file that [Ledger.Export]
// wrote, without the store.
//
// # The chain
//
// The hash of an entry is the SHA-256 of its JSON in the canonical form of RFC 8785 without the member "hash", where
// "prev" is the hash of the entry before, and absent in the first. So any program can check an export; this is all of it in Python:
//
//	for line in open("ledger.jsonl"):
//	    e = json.loads(line); h = e.pop("hash")
//	    text = json.dumps(e, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
//	    assert hashlib.sha256(text.encode()).hexdigest() == h and e.get("prev") == prev; prev = h
//
// What the chain shows: that no entry was changed, removed, inserted or moved after it was written. What it cannot show
// alone: that the newest entries were cut off, or that somebody wrote the whole chain anew. Against both keep an
// [Anchor] elsewhere, a number and its hash, and verify against it.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// Stream is the name of the ledger's stream in the store.
const Stream = ".ledger"

// Kind says what an entry records.
type Kind string

// The kinds of entries. Their values are stored, so they never change meaning.
const (
	Request  Kind = "request"  // a call reached a gate point: Tool, Effects, Fingerprint, Targets
	Decision Kind = "decision" // it was decided: Decision, By, Reason, Shown
	Ran      Kind = "ran"      // it ran: Outcome, Files, Tx
)

// Entry is one line of the ledger. Seq, Prev and Hash are set by Append, and At where it is zero. Every text is as the
// caller redacted it; bytes that are not UTF-8 become U+FFFD.
type Entry struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"` // UTC, microseconds
	Kind    Kind      `json:"kind"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Point   int       `json:"point,omitempty"` // gate point of the call: 1 the plan, 2 the changeset of the run

	Tool        string   `json:"tool,omitempty"`
	Effects     []string `json:"effects,omitempty"`
	Targets     []string `json:"targets,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"` // of the Intent

	Decision string `json:"decision,omitempty"` // allow, deny or ask
	By       string `json:"by,omitempty"`       // the rule, grant or person that decided
	Reason   string `json:"reason,omitempty"`
	Shown    string `json:"shown,omitempty"` // digest of what the person saw

	Outcome string `json:"outcome,omitempty"` // ok, an error code, or unknown
	Tx      string `json:"tx,omitempty"`      // the host's transaction
	Files   []File `json:"files,omitempty"`   // what changed

	Prev string `json:"prev,omitempty"` // hash of the entry before; absent in the first
	Hash string `json:"hash"`
}

// File is a file that a call changed. A digest is SHA-256 in hex; "" means that the file was not there.
type File struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Anchor names an entry by number and hash.
type Anchor struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Ledger appends to and reads one chain. Several ledgers, also in several processes, may share a store: they write one
// chain. A Ledger is safe for concurrent use.
type Ledger struct {
	events store.Events
	now    func() time.Time

	mu   sync.Mutex
	head *Anchor // what this process believes to be the newest entry; nil: unknown
}

// New returns the ledger in a store. It touches nothing. A nil now means time.Now.
func New(events store.Events, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{events: events, now: now}
}

// Append adds entries, all or none, and returns them as they were stored.
func (l *Ledger) Append(ctx context.Context, entries ...Entry) ([]Entry, error) {
	out, _, err := l.AppendWith(ctx, nil, entries...)
	return out, err
}

// AppendWith adds entries and stores other events, all or none, in one transaction. It returns the entries as they were
// stored and the numbers of the events. Errors: those of [store.Events.Append]; a conflict is one of the events'.
func (l *Ledger) AppendWith(ctx context.Context, events []store.Event, entries ...Entry) ([]Entry, []int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if l.head == nil {
			head, err := l.load(ctx)
			if err != nil {
				return nil, nil, err
			}
			l.head = &head
		}
		chained, batch, err := l.chain(*l.head, entries)
		if err != nil {
			return nil, nil, err
		}
		seqs, err := l.events.Append(ctx, append(batch, events...)...)
		var conflict *store.ConflictError
		if errors.As(err, &conflict) && conflict.Session == Stream {
			l.head = nil // another process was faster: go on from its entry
			continue
		}
		if err != nil {
			l.head = nil
			return nil, nil, err
		}
		if n := len(chained); n > 0 {
			l.head = &Anchor{Seq: chained[n-1].Seq, Hash: chained[n-1].Hash}
		}
		return chained, seqs[len(batch):], nil
	}
}

// chain numbers and hashes entries behind head and makes events of them, which only fit behind head.
func (l *Ledger) chain(head Anchor, entries []Entry) ([]Entry, []store.Event, error) {
	out := make([]Entry, len(entries))
	batch := make([]store.Event, len(entries), len(entries)+4)
	for i, e := range entries {
		if e.Kind != Request && e.Kind != Decision && e.Kind != Ran {
			return nil, nil, fmt.Errorf("append to the ledger: unknown kind %q", e.Kind)
		}
		if e.At.IsZero() {
			e.At = l.now()
		}
		e = e.valid()
		e.Seq, e.Prev = head.Seq+1, head.Hash
		body := e.seal()
		head = Anchor{Seq: e.Seq, Hash: e.Hash}
		out[i] = e
		batch[i] = store.Event{Session: Stream, Seq: e.Seq, At: e.At, Kind: string(e.Kind), Body: body}
	}
	return out, batch, nil
}

// Head returns the newest entry's number and hash, the zero Anchor for an empty ledger.
func (l *Ledger) Head(ctx context.Context) (Anchor, error) { return l.load(ctx) }

func (l *Ledger) load(ctx context.Context) (Anchor, error) {
	last, err := l.events.Last(ctx, Stream)
	if err != nil || last == 0 {
		return Anchor{}, err
	}
	evs, err := l.events.Read(ctx, Stream, last-1, 1)
	if err != nil {
		return Anchor{}, err
	}
	if len(evs) != 1 {
		return Anchor{}, &BrokenError{Seq: last, Reason: "the entry is missing"}
	}
	e, err := parse(evs[0].Body)
	if err != nil {
		return Anchor{}, &BrokenError{Seq: last, Reason: err.Error()}
	}
	return Anchor{Seq: e.Seq, Hash: e.Hash}, nil
}

// Read returns entries behind number after, in order, at most limit (all where that is not positive). It does not
// verify the chain.
func (l *Ledger) Read(ctx context.Context, after int64, limit int) ([]Entry, error) {
	evs, err := l.events.Read(ctx, Stream, after, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(evs))
	for i, ev := range evs {
		if out[i], err = parse(ev.Body); err != nil {
			return nil, &BrokenError{Seq: ev.Seq, Reason: err.Error()}
		}
	}
	return out, nil
}

const page = 1000 // entries read at a time

// Export writes the entries behind number after as JSON lines, each exactly as it is stored.
func (l *Ledger) Export(ctx context.Context, w io.Writer, after int64) error {
	for {
		evs, err := l.events.Read(ctx, Stream, after, page)
		if err != nil || len(evs) == 0 {
			return err
		}
		for _, ev := range evs {
			if _, err := w.Write(append(ev.Body, '\n')); err != nil {
				return fmt.Errorf("export the ledger: %w", err)
			}
			after = ev.Seq
		}
	}
}
