package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// State says how far a call is.
type State string

// The states of calls.
const (
	Running State = "running" // it has begun; one that only reads is seen when it has ended
	Asking  State = "asking"  // it waits for a person
	OK      State = "ok"
	Failed  State = "failed" // a tool error: the model can act on it
	Denied  State = "denied"
	Unknown State = "unknown" // it began, and nobody has recorded its end for longer than any call may run
)

// longest is how long a call may run at most before its state is unknown.
const longest = time.Hour

// Call is a call in a list.
type Call struct {
	Session string   `json:"session"`
	ID      string   `json:"id"`
	Seq     int64    `json:"seq" jsonschema:"place in the session"`
	Tool    string   `json:"tool"`
	State   State    `json:"state"`
	Mode    string   `json:"mode,omitempty"`
	Model   string   `json:"model,omitempty"`
	Message string   `json:"message,omitempty" jsonschema:"of the turn"`
	Effects []string `json:"effects"`
	Targets []Target `json:"targets" jsonschema:"the first few; the call itself has all"`
	More    int      `json:"moreTargets,omitempty"`
	Files   []File   `json:"files" jsonschema:"that really changed"`

	Verdict string `json:"verdict,omitempty" jsonschema:"allow, ask or deny"`
	By      string `json:"by,omitempty" jsonschema:"the rule, grant, guard or person that decided"`
	Person  bool   `json:"person,omitempty" jsonschema:"a person decided"`
	Code    string `json:"code,omitempty" jsonschema:"of the error"`
	Error   string `json:"error,omitempty"`
	Ask     string `json:"ask,omitempty" jsonschema:"that is open"`

	Transactions []string  `json:"transactions" jsonschema:"that can be undone while their before-images are kept"`
	Artifact     string    `json:"artifact,omitempty"`
	Started      time.Time `json:"started"`
	Ended        time.Time `json:"ended,omitzero"`
	DurationMS   float64   `json:"durationMs"`
	BytesIn      int       `json:"bytesIn"`
	BytesOut     int64     `json:"bytesOut"`
}

// Target is one thing that a call touches, resolved.
type Target struct {
	Effect string `json:"effect"`
	Kind   string `json:"kind"`
	Value  string `json:"value"`
	Given  string `json:"given,omitempty" jsonschema:"as the model wrote it, where that differs"`
}

// File is a file that a call changed.
type File struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"`
	Status  string `json:"status" jsonschema:"A added, M modified, D deleted, R renamed, T type changed"`
	Added   int    `json:"added" jsonschema:"lines, where counted"`
	Removed int    `json:"removed"`
	Counted bool   `json:"counted" jsonschema:"lines could be counted"`
	Binary  bool   `json:"binary,omitempty"`
	OldSize int64  `json:"oldSize"`
	NewSize int64  `json:"newSize"`
}

const fewTargets = 4

// fold is what is known of a session without its bodies. It follows the store.
type fold struct {
	mu    sync.Mutex
	last  int64
	calls []*Call
	place map[string]int     // by id of the call
	seqs  map[string][]int64 // numbers of the events of a call
	open  map[string]string  // asks that opened and did not close: call by id
	dir   string
}

type folds struct {
	once sync.Once
	lru  lru[string, *fold]
}

func newFold() *fold {
	return &fold{place: map[string]int{}, seqs: map[string][]int64{}, open: map[string]string{}}
}

// fold returns the fold of a session, up to date, locked.
func (c *Core) fold(ctx context.Context, id string) (*fold, error) {
	c.folds.once.Do(func() { c.folds.lru.most = 64 })
	c.box.Settle()
	f := c.folds.lru.get(id, newFold)
	f.mu.Lock()
	if err := f.follow(ctx, c.box.Store(), id); err != nil {
		f.mu.Unlock()
		return nil, Mistake(err)
	}
	return f, nil
}

// follow reads what is new. A session that was removed, and perhaps begun anew, is read from the start.
func (f *fold) follow(ctx context.Context, st store.Store, id string) error {
	last, err := st.Last(ctx, id)
	if err != nil || last == f.last {
		return err
	}
	if last < f.last {
		f.last, f.calls, f.place, f.seqs, f.open = 0, nil, map[string]int{}, map[string][]int64{}, map[string]string{}
	}
	for f.last < last {
		evs, err := st.Read(ctx, id, f.last, 500)
		if err != nil {
			return err
		}
		if len(evs) == 0 {
			return nil
		}
		for i := range evs {
			if err := f.take(&evs[i]); err != nil {
				return fmt.Errorf("session %s, event %d: %w", id, evs[i].Seq, err)
			}
			f.last = evs[i].Seq
		}
	}
	return nil
}

func (f *fold) take(ev *store.Event) error {
	switch ev.Kind {
	case session.EventKind:
		var rec session.Record
		if err := json.Unmarshal(ev.Body, &rec); err != nil {
			return err
		}
		f.record(ev, &rec)
	case tackle.AskKind:
		var rec tackle.AskRecord
		if err := json.Unmarshal(ev.Body, &rec); err != nil {
			return err
		}
		f.ask(ev, &rec)
	}
	return nil
}

// call returns the call of an event.
func (f *fold) call(ev *store.Event, id, toolName string) *Call {
	f.seqs[id] = append(f.seqs[id], ev.Seq)
	if i, ok := f.place[id]; ok {
		return f.calls[i]
	}
	c := &Call{Session: ev.Session, ID: id, Seq: ev.Seq, Tool: toolName, State: Running, Started: ev.At,
		Effects: []string{}, Targets: []Target{}, Files: []File{}, Transactions: []string{}}
	f.place[id] = len(f.calls)
	f.calls = append(f.calls, c)
	return c
}

func (f *fold) record(ev *store.Event, rec *session.Record) {
	c := f.call(ev, rec.Call, rec.Tool)
	c.Tool, c.Mode, c.Model, c.Message = rec.Tool, rec.Mode, rec.Model, rec.Message
	f.dir = cmp.Or(rec.Dir, f.dir)
	c.BytesIn = len(rec.Raw)
	if in := rec.Intent; in != nil && rec.Point < 2 {
		c.setIntent(in)
	}
	if d := rec.Decision; d != nil {
		c.Verdict, c.By, c.Person = d.Verdict.String(), d.By, d.Person
	}
	if rec.Phase == session.End && rec.Result != nil {
		c.end(ev, rec.Result)
	}
}

func (c *Call) setIntent(in *tool.Intent) {
	c.Effects, c.Targets = []string{}, []Target{}
	for _, e := range in.Effects {
		c.Effects = append(c.Effects, string(e))
	}
	all := targetsOf(in)
	c.Targets = all[:min(fewTargets, len(all))]
	c.More = len(all) - len(c.Targets)
}

func targetsOf(in *tool.Intent) []Target {
	out := []Target{}
	for _, t := range in.Targets {
		v := Target{Effect: string(t.Effect), Kind: string(t.Kind), Value: t.Value}
		if t.Path != nil && t.Path.Given != t.Value {
			v.Given = t.Path.Given
		}
		out = append(out, v)
	}
	return out
}

func (c *Call) end(ev *store.Event, o *session.Outcome) {
	c.State, c.Ended = OK, ev.At
	switch {
	case o.Denied:
		c.State = Denied
	case o.Err != nil:
		c.State = Failed
	}
	if o.Err != nil {
		c.Code, c.Error = string(o.Err.Code), o.Err.Message
	}
	if !o.Meta.Started.IsZero() {
		c.Started = o.Meta.Started.UTC()
	}
	c.DurationMS = millis(o.Meta.Duration)
	c.Transactions, c.Artifact = list(o.Meta.Transaction), o.Meta.Artifact
	for _, ch := range o.Meta.Changes {
		c.Files = append(c.Files, fileOf(&ch))
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		c.BytesOut += max(p.Size, int64(len(p.Text)))
	}
}

func fileOf(ch *change.FileChange) File {
	return File{Path: ch.Path, From: ch.From, Status: string(ch.Status), Added: ch.Added, Removed: ch.Removed,
		Counted: ch.LineCountsAvailable, Binary: ch.Binary, OldSize: ch.OldSize, NewSize: ch.NewSize}
}

func (f *fold) ask(ev *store.Event, rec *tackle.AskRecord) {
	if rec.Call == "" {
		return
	}
	c := f.call(ev, rec.Call, rec.Tool)
	if rec.Phase == ask.Closed {
		delete(f.open, rec.ID)
		if c.Ask == rec.ID {
			c.Ask = ""
		}
		return
	}
	f.open[rec.ID], c.Ask = rec.Call, rec.ID
	if r := rec.Request; r != nil && len(c.Targets) == 0 {
		for i, t := range r.View.Targets {
			if i == fewTargets {
				c.More = len(r.View.Targets) - i
				break
			}
			c.Targets = append(c.Targets, Target{Effect: t.Effect, Kind: t.Kind, Value: t.Value, Given: t.Given})
			if !slices.Contains(c.Effects, t.Effect) {
				c.Effects = append(c.Effects, t.Effect)
			}
		}
	}
}

// now returns a copy of a call as it is at this moment: whether it waits is known by the queue, not by the record.
func (c *Core) now(call *Call, waiting map[string]bool) Call {
	out := *call
	if out.Ask != "" && !waiting[out.Ask] {
		out.Ask = ""
	}
	switch {
	case out.State != Running:
	case out.Ask != "":
		out.State = Asking
	case c.opt.Now().Sub(out.Started) > longest:
		out.State = Unknown
	}
	return out
}

// waiting returns the ids of the open asks.
func (c *Core) waiting() map[string]bool {
	out := map[string]bool{}
	for _, r := range c.box.Asks().Open() {
		out[r.ID] = true
	}
	return out
}
