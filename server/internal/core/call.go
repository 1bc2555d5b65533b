package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// CallDetail is one call whole: what was asked for, what it would touch, who decided, what came of it.
type CallDetail struct {
	Call
	Dir  string          `json:"dir,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty" jsonschema:"arguments as the model wrote them; a string where they were no JSON"`
	Args json.RawMessage `json:"args,omitempty" jsonschema:"after hooks and repair"`

	Intent *Intent `json:"intent,omitempty" jsonschema:"absent where the call could not be planned"`
	Diff   string  `json:"diff,omitempty" jsonschema:"of what changed, else of what it asked to change"`

	Decisions []Decision `json:"decisions" jsonschema:"in the order of the gate points"`
	Asks      []AskPast  `json:"asks"`
	Result    *Result    `json:"result,omitempty" jsonschema:"absent while it runs"`
	Undoable  bool       `json:"undoable" jsonschema:"its changes can be taken back now"`
}

// Intent is what a call would touch.
type Intent struct {
	Permission  string            `json:"permission"`
	Effects     []string          `json:"effects"`
	Targets     []Target          `json:"targets"`
	MayCreate   []string          `json:"mayCreate"`
	Persists    bool              `json:"persists"`
	Engines     []string          `json:"engines"`
	Hunks       int               `json:"hunks"`
	Note        map[string]string `json:"note,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
}

// Decision is what let a call run, or refused it.
type Decision struct {
	Point   int            `json:"point" jsonschema:"1 the plan, 2 what the run made"`
	Verdict string         `json:"verdict"`
	By      string         `json:"by"`
	Reason  string         `json:"reason,omitempty"`
	Person  bool           `json:"person"`
	Hunks   []int          `json:"hunks,omitempty" jsonschema:"that were allowed; absent means all"`
	Denied  map[int]string `json:"denied,omitempty" jsonschema:"words about hunks that were not"`
	Ticket  string         `json:"ticket,omitempty"`
	At      time.Time      `json:"at"`
}

// AskPast is an ask of a call as it was shown, and its end.
type AskPast struct {
	ID       string    `json:"id"`
	Asked    time.Time `json:"asked"`
	View     ask.View  `json:"view"`
	Shown    string    `json:"shown" jsonschema:"digest of what was shown"`
	Decision *Decision `json:"decision,omitempty" jsonschema:"absent while it is open"`
	WaitedMS float64   `json:"waitedMs"`
}

// Result is what a call gave back.
type Result struct {
	Parts     []tool.Part     `json:"parts" jsonschema:"what the model saw; bytes of media are left out"`
	Text      string          `json:"text" jsonschema:"the text of the parts"`
	Shortened bool            `json:"shortened,omitempty" jsonschema:"of a call that only read, the beginning is kept"`
	Data      json.RawMessage `json:"data,omitempty" jsonschema:"for programs and people"`
	Error     *tool.Error     `json:"error,omitempty"`
	Denied    bool            `json:"denied,omitempty"`
	Repairs   []string        `json:"repairs" jsonschema:"of the arguments, one sentence each"`
	Truncated bool            `json:"truncated,omitempty" jsonschema:"the whole is the artifact"`
	Values    map[string]any  `json:"values,omitempty"`
}

// CallByID returns one call whole. Errors: NotFound.
func (c *Core) CallByID(ctx context.Context, session, id string) (CallDetail, error) {
	f, err := c.fold(ctx, session)
	if err != nil {
		return CallDetail{}, err
	}
	i, ok := f.place[id]
	if !ok {
		f.mu.Unlock()
		return CallDetail{}, errorf(NotFound, "session %q has no call %q", session, id)
	}
	out := CallDetail{Call: c.now(f.calls[i], c.waiting()), Decisions: []Decision{}, Asks: []AskPast{}}
	seqs := append([]int64(nil), f.seqs[id]...)
	f.mu.Unlock()
	for _, seq := range seqs {
		evs, err := c.box.Store().Read(ctx, session, seq-1, 1)
		if err != nil {
			return out, Mistake(err)
		}
		if len(evs) == 0 {
			return out, errorf(NotFound, "session %q was removed", session)
		}
		if err := out.take(&evs[0]); err != nil {
			return out, err
		}
	}
	if len(out.Transactions) > 0 {
		txs, err := c.box.Undoable(ctx, tackle.UndoRequest{Session: session, Call: id})
		if err != nil {
			return out, err
		}
		out.Undoable = len(txs) > 0
	}
	return out, nil
}

func (d *CallDetail) take(ev *store.Event) error {
	if ev.Kind == tackle.AskKind {
		var rec tackle.AskRecord
		if err := json.Unmarshal(ev.Body, &rec); err != nil {
			return err
		}
		d.takeAsk(ev, &rec)
		return nil
	}
	var rec session.Record
	if err := json.Unmarshal(ev.Body, &rec); err != nil {
		return err
	}
	d.Dir, d.Raw, d.Args = rec.Dir, rec.Raw, rec.Args
	if d.Args == nil {
		d.Args = d.Raw
	}
	if rec.Intent != nil && (rec.Point < 2 || d.Intent == nil) {
		d.Intent = intentOf(rec.Intent)
	}
	if rec.Decision != nil {
		d.decide(decisionOf(rec.Decision, max(rec.Point, 1), ev.At))
	}
	if rec.Result != nil {
		d.Result = resultOf(rec.Result)
		if rec.Result.Meta.Diff != "" {
			d.Diff = rec.Result.Meta.Diff
		}
	}
	return nil
}

// decide adds a decision, once for each gate point.
func (d *CallDetail) decide(dec Decision) {
	for i := range d.Decisions {
		if d.Decisions[i].Point == dec.Point {
			d.Decisions[i] = dec
			return
		}
	}
	d.Decisions = append(d.Decisions, dec)
}

func (d *CallDetail) takeAsk(ev *store.Event, rec *tackle.AskRecord) {
	if r := rec.Request; r != nil {
		d.Asks = append(d.Asks, AskPast{ID: r.ID, Asked: r.Asked.UTC(), View: r.View, Shown: r.Shown})
		if d.Diff == "" {
			d.Diff = r.View.Diff
		}
		return
	}
	for i := range d.Asks {
		if a := &d.Asks[i]; a.ID == rec.ID && rec.Decision != nil {
			dec := decisionOf(rec.Decision, 1, ev.At)
			a.Decision, a.WaitedMS = &dec, millis(ev.At.Sub(a.Asked))
		}
	}
}

func intentOf(in *tool.Intent) *Intent {
	out := &Intent{Permission: in.Permission, Effects: []string{}, Targets: targetsOf(in), MayCreate: list(in.MayCreate), Persists: in.Persists,
		Engines: list(in.Engines), Hunks: in.Hunks, Note: in.Note, Fingerprint: in.Fingerprint}
	for _, e := range in.Effects {
		out.Effects = append(out.Effects, string(e))
	}
	return out
}

func decisionOf(d *tool.Decision, point int, at time.Time) Decision {
	out := Decision{Point: point, Verdict: d.Verdict.String(), By: d.By, Reason: d.Reason, Person: d.Person, Hunks: d.Hunks, Denied: d.Denied, Ticket: d.Ticket, At: at}
	if !d.At.IsZero() {
		out.At = d.At.UTC()
	}
	return out
}

func resultOf(o *session.Outcome) *Result {
	out := &Result{Parts: list(o.Parts), Data: o.Data, Error: o.Err, Denied: o.Denied, Repairs: list(o.Meta.Repairs), Truncated: o.Meta.Truncated, Values: o.Meta.Values}
	for i := range o.Parts {
		p := &o.Parts[i]
		if p.Kind != tool.TextKind {
			continue
		}
		if out.Text != "" {
			out.Text += "\n"
		}
		out.Text += p.Text
		out.Shortened = out.Shortened || p.Size > int64(len(p.Text))
	}
	return out
}
