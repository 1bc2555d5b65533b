package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/tool"
)

// EventKind is the kind of the events that hold records of calls.
const EventKind = "call"

// Log stores records of calls and keeps the read-state of the sessions that this process works in. It is safe for
// concurrent use; several processes may share the store.
type Log struct {
	events store.Events
	ledger *ledger.Ledger
	mu     sync.Mutex
	states map[string]*ReadState

	queue   sync.Mutex // guards what follows
	idle    *sync.Cond // of queue: something was stored
	waiting []*pending
	leading bool // somebody appends what is waiting
	light   int  // records among them that nobody waits for
	timer   *time.Timer
	failed  error // of records that nobody waited for; the next Record tells
	came    int64 // records that were ever put into the queue,
	gone    int64 // and that were stored or failed
}

// pending is a record that waits to be stored.
type pending struct {
	event store.Event
	entry ledger.Entry
	done  chan error // nil: nobody waits
}

// Records that nobody waits for are stored after this time, or when so many of them wait, or with the next record that
// somebody waits for, in the order in which they came.
const (
	lightDelay = 10 * time.Millisecond
	lightMost  = 64
)

// NewLog returns a log over a store. What is recorded goes into the store's ledger too, in the same transaction.
func NewLog(events store.Events) *Log {
	l := &Log{events: events, ledger: ledger.New(events, nil), states: map[string]*ReadState{}}
	l.idle = sync.NewCond(&l.queue)
	return l
}

// Record stores a record with its ledger entry, both or none. It has happened when Record returns nil; only a Light
// record may happen up to 10 ms later, and before any later record.
//
// Records that come while another is being stored are stored together, in one transaction: the first of them leads, the
// others wait for it.
func (l *Log) Record(ctx context.Context, rec *Record) error {
	ev, err := eventOf(rec)
	if err != nil {
		return err
	}
	p := &pending{event: ev, entry: entryOf(rec)}
	if !rec.Light {
		p.done = make(chan error, 1)
	}
	l.queue.Lock()
	failed := l.failed
	l.failed = nil
	l.waiting = append(l.waiting, p)
	l.came++
	if rec.Light {
		l.light++
	}
	lead := !l.leading && (!rec.Light || l.light >= lightMost)
	switch {
	case lead:
		l.leading = true
	case rec.Light && !l.leading && l.timer == nil:
		l.timer = time.AfterFunc(lightDelay, l.flush)
	}
	l.queue.Unlock()
	if lead && l.appendWaiting(context.WithoutCancel(ctx)) { // the others' records must not depend on this call's context
		go l.lead() // nor does this call wait for what came after it; Close does
	}
	if p.done != nil {
		err = <-p.done
	}
	if failed != nil {
		err = errors.Join(err, fmt.Errorf("records of earlier calls could not be stored: %w", failed))
	}
	return err
}

// flush stores what waits, unless somebody does already.
func (l *Log) flush() {
	l.queue.Lock()
	lead := !l.leading
	l.leading, l.timer = true, nil
	l.queue.Unlock()
	if lead {
		l.lead()
	}
}

// Settle returns when everything that was recorded before is stored, or has failed.
func (l *Log) Settle() {
	l.queue.Lock()
	until := l.came
	l.queue.Unlock()
	l.flush()
	l.queue.Lock()
	defer l.queue.Unlock()
	for l.gone < until {
		l.idle.Wait()
	}
}

// Close stores what waits. The error is that of records that nobody waited for. The store stays open.
func (l *Log) Close() error {
	l.Settle()
	l.queue.Lock()
	defer l.queue.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	return l.failed
}

// lead stores what waits until nothing does.
func (l *Log) lead() {
	for l.appendWaiting(context.Background()) {
	}
}

// appendWaiting stores what waits, and reports whether more came meanwhile: then the caller still leads. A batch that fails
// is tried record by record, so that one bad record does not take the others along.
func (l *Log) appendWaiting(ctx context.Context) (more bool) {
	l.queue.Lock()
	batch := l.waiting
	l.waiting, l.light = nil, 0
	l.queue.Unlock()
	if len(batch) > 0 {
		if err := l.append(ctx, batch...); err == nil || len(batch) == 1 {
			for _, p := range batch {
				l.stored(p, err)
			}
		} else {
			for _, p := range batch {
				l.stored(p, l.append(ctx, p))
			}
		}
	}
	l.queue.Lock()
	defer l.queue.Unlock()
	l.gone += int64(len(batch))
	l.leading = len(l.waiting) > 0
	l.idle.Broadcast()
	return l.leading
}

// stored tells whoever waits for a record what became of it.
func (l *Log) stored(p *pending, err error) {
	if p.done != nil {
		p.done <- err
		return
	}
	if err != nil {
		l.queue.Lock()
		l.failed = err
		l.queue.Unlock()
	}
}

func (l *Log) append(ctx context.Context, batch ...*pending) error {
	events, entries := make([]store.Event, len(batch)), make([]ledger.Entry, len(batch))
	for i, p := range batch {
		events[i], entries[i] = p.event, p.entry
	}
	_, _, err := l.ledger.AppendWith(ctx, events, entries...)
	return err
}

// entryOf returns what the ledger keeps of a record: names and digests, no contents. A call that only read, or was
// refused, has one entry; any other has one for the decision before it ran and one for what ran.
func entryOf(rec *Record) ledger.Entry {
	e := ledger.Entry{Kind: ledger.Ran, At: rec.At, Session: rec.Session, Call: rec.Call, Tool: rec.Tool, Point: max(rec.Point, 1)}
	if d := rec.Decision; d != nil {
		e.Decision, e.By, e.Reason, e.Shown = d.Verdict.String(), d.By, d.Reason, d.Shown
	}
	if in := rec.Intent; in != nil {
		e.Fingerprint = in.Fingerprint
		for _, f := range in.Effects {
			e.Effects = append(e.Effects, string(f))
		}
		for _, t := range in.Targets {
			e.Targets = append(e.Targets, t.Value)
		}
	}
	o := rec.Result
	switch {
	case rec.Phase == Start:
		e.Kind = ledger.Decision
		return e
	case o == nil:
		return e
	case o.Denied:
		e.Kind = ledger.Decision
	}
	e.Outcome = "ok"
	if o.Err != nil {
		e.Outcome = string(o.Err.Code)
	}
	if tx := o.Meta.Transaction; len(tx) > 0 {
		e.Tx = strings.Join(tx, " ")
		for _, set := range rec.Committed {
			e.Files = append(e.Files, filesOf(set)...)
		}
	}
	return e
}

func filesOf(set *change.Set) []ledger.File {
	if set.Empty() {
		return nil
	}
	digest := func(s change.State) string {
		if s.Type != change.File {
			return ""
		}
		return s.Blob.Digest().String()
	}
	var out []ledger.File
	for _, op := range set.Ops {
		out = append(out, ledger.File{Path: op.Path, Before: digest(op.Before), After: digest(op.After)})
		if op.Kind == change.Move {
			out = append(out, ledger.File{Path: op.To, After: digest(op.Before)})
		}
	}
	return out
}

// eventOf returns the event of a record. The key makes a repeated append of one phase of one call harmless.
func eventOf(rec *Record) (store.Event, error) {
	if rec.Session == "" {
		rec.Session = Unnamed
	}
	stored := *rec
	switch {
	case bytes.Equal(rec.Raw, rec.Args): // valid, and the same: once is enough
		stored.Args = nil
	case !json.Valid(rec.Raw): // what the model wrote may be broken JSON; it is kept as a string then
		b, err := json.Marshal(string(rec.Raw))
		if err != nil {
			return store.Event{}, err
		}
		stored.Raw = b
	}
	body, err := json.Marshal(&stored)
	if err != nil {
		return store.Event{}, fmt.Errorf("record of call %s: %w", rec.Call, err)
	}
	key := rec.Call + "/" + string(rec.Phase)
	if rec.Point > 1 {
		key += fmt.Sprintf("/%d", rec.Point)
	}
	return store.Event{Session: rec.Session, At: rec.At, Kind: EventKind, Key: key, Body: body}, nil
}

// Calls returns the records of a session, oldest first.
func (l *Log) Calls(ctx context.Context, session string) ([]Record, error) {
	l.Settle()
	recs, _, err := l.CallsSince(ctx, session, 0)
	return recs, err
}

// CallsSince returns the records of a session that are stored behind an event, oldest first, and the last event that was read.
func (l *Log) CallsSince(ctx context.Context, session string, after int64) (recs []Record, last int64, err error) {
	evs, err := l.events.Read(ctx, session, after, 0)
	if err != nil {
		return nil, after, err
	}
	var out []Record
	for _, ev := range evs {
		if ev.Kind != EventKind {
			continue
		}
		var rec Record
		if err := json.Unmarshal(ev.Body, &rec); err != nil {
			return nil, after, fmt.Errorf("session %s, event %d: %w", session, ev.Seq, err)
		}
		if rec.Args == nil {
			rec.Args = rec.Raw
		}
		out = append(out, rec)
	}
	if len(evs) > 0 {
		after = evs[len(evs)-1].Seq
	}
	return out, after, nil
}

// ReadState returns the read-state of a session. The first use in this process folds it from the stored calls, so that
// what an earlier process read stays read.
func (l *Log) ReadState(ctx context.Context, session string) (tool.ReadState, error) {
	if rs, ok := handedOver(ctx); ok {
		return rs, nil
	}
	if session == "" {
		session = Unnamed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if rs, ok := l.states[session]; ok {
		return rs, nil
	}
	recs, err := l.Calls(ctx, session)
	if err != nil {
		return nil, err
	}
	rs := &ReadState{}
	rs.Hydrate(recs)
	l.states[session] = rs
	return rs, nil
}

// Verify reads the whole ledger and returns how many entries it holds. The error names the first one that does not fit.
func (l *Log) Verify(ctx context.Context) (entries int64, err error) {
	l.Settle()
	report, err := l.ledger.Verify(ctx)
	return report.Entries, err
}

// DiffOf returns the diff that the record of a transaction's call keeps, and the working folder that its paths are
// relative to.
func (l *Log) DiffOf(ctx context.Context, session, call, tx string) (diff, dir string, ok bool) {
	recs, err := l.Calls(ctx, session)
	if err != nil {
		return "", "", false
	}
	for _, rec := range recs {
		if rec.Call == call && rec.Result != nil && slices.Contains(rec.Result.Meta.Transaction, tx) && rec.Result.Meta.Diff != "" {
			return rec.Result.Meta.Diff, rec.Dir, true
		}
	}
	return "", "", false
}
