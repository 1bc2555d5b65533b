package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// batch is what the goroutine that runs calls works with.
type batch struct {
	calls  []Call
	reqs   []toolbox.Request
	mu     sync.Mutex // guards what follows
	ended  []bool     // calls that have their result
	unsure []bool     // that began and cannot simply be run again
}

// batch makes requests to the road of calls of the last answer. It is called by the goroutine that drives.
func (d *drive) batch(st *State, calls []Call) *batch {
	a := d.s.agent
	d.s.mu.Lock()
	wished := d.s.talk.wished
	d.s.mu.Unlock()
	spawns := slices.Contains(a.cfg.Box.Names(toolbox.View{Mode: st.Setup.Mode, Model: st.Setup.Model.Name, Overlay: a.cfg.Overlay}), spawnTool)
	b := &batch{calls: calls, ended: make([]bool, len(calls)), unsure: make([]bool, len(calls))}
	for i, c := range calls {
		req := toolbox.Request{Tool: c.Name, ID: c.ID, Session: d.s.id, Message: fmt.Sprintf("%s-%d", d.s.id, st.Answers), Turn: st.Turn,
			Mode: st.Setup.Mode, Model: st.Setup.Model.Name, Dir: st.Setup.Dir, Overlay: a.cfg.Overlay, Bounds: a.cfg.Bounds}
		req.Options.Spawns = spawns
		if w := wished[c.ID]; w != nil {
			if req.Args = w.Arguments; w.Malformed != "" {
				req.Args = json.RawMessage(w.Malformed)
			}
		}
		id := c.ID
		req.Progress = func(done, total float64, message string) {
			a.cfg.Watch(d.s.id, Update{Call: id, Progress: &Progress{done, total, message}})
		}
		req.Partial = func(text string) { a.cfg.Watch(d.s.id, Update{Call: id, Partial: text}) }
		req.Watch = (&watcher{d: d, b: b, i: i}).moment
		b.reqs = append(b.reqs, req)
	}
	return b
}

// spawnTool is the name of the tool that starts subagents, where there is one (O3).
const spawnTool = "spawn"

// runCalls takes calls down the road and posts what came of each. A fault of the road ends the turn.
func (d *drive) runCalls(ctx context.Context, b *batch) {
	_, err := d.s.agent.cfg.Box.CallAll(ctx, b.reqs)
	for i, c := range b.calls {
		b.mu.Lock()
		ended, unsure := b.ended[i], b.unsure[i]
		b.mu.Unlock()
		if ended {
			continue
		}
		if err == nil {
			err = fmt.Errorf("the call gave no result")
		}
		kind, r := Ran, textResult(c.ID, Error, fmt.Sprintf("TOOL ERROR: %s\nThe program could not carry out this call: %v.", tool.ExecutionFailed, err))
		if unsure {
			kind, r = Unknown, textResult(c.ID, NotSure, fmt.Sprintf("The program failed while this call ran (%v). Whether it did its work is unknown. Find out before you do it again.", err))
		}
		r.Code, r.Fault = string(tool.ExecutionFailed), fmt.Sprintf("The program could not carry out %s: %v.", c.Name, err)
		_ = d.post(Event{Kind: kind, Result: r}, false)
	}
}

// watcher follows one call on the road.
type watcher struct {
	d     *drive
	b     *batch
	i     int
	mu    sync.Mutex // steps of a self-gated tool may come from several goroutines
	class Class
}

// moment posts what happens to the call. A call that cannot simply be run again does not begin before it is stored that it does.
func (w *watcher) moment(ctx context.Context, m toolbox.Moment) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.b.calls[w.i].ID
	switch m.Stage {
	case toolbox.StagePlanned:
		if w.class = classOf(m.Tool, m.Intent); w.class == Reads {
			return nil
		}
		e := &CallEvent{ID: id, Class: w.class}
		for _, f := range m.Intent.Effects {
			e.Effects = append(e.Effects, string(f))
		}
		return w.d.post(Event{Kind: Planned, Call: e}, false)
	case toolbox.StageAsked:
		why := m.Decision.Reason
		if why == "" {
			why = m.Decision.By
		}
		return w.d.post(Event{Kind: Asked, Call: &CallEvent{ID: id, Ask: why}}, false)
	case toolbox.StageDecided:
		return w.d.post(Event{Kind: Decided, Call: &CallEvent{ID: id, Verdict: m.Decision.Verdict.String(), By: m.Decision.By}}, false)
	case toolbox.StageRunning:
		return w.running(id, m)
	case toolbox.StageEnded:
		r, err := w.d.s.agent.resultOf(ctx, w.d.s.id, id, m.Tool, m.Result, w.class != "" && w.class != Reads)
		if err != nil {
			return err
		}
		w.b.mu.Lock()
		w.b.ended[w.i] = true
		w.b.mu.Unlock()
		return w.d.post(Event{Kind: Ran, Result: r}, false)
	}
	return nil
}

func (w *watcher) running(id string, m toolbox.Moment) error {
	class := classOf(m.Tool, m.Intent)
	if m.Point > 1 {
		if class = stricter(w.class, class); class == w.class && class != Journalled {
			return nil // it is stored already that it may do that
		}
	}
	w.class = class
	if !class.Again() {
		w.b.mu.Lock()
		w.b.unsure[w.i] = true
		w.b.mu.Unlock()
	}
	if class == Reads { // whether it began makes no difference
		return nil
	}
	return w.d.post(Event{Kind: Running, Call: &CallEvent{ID: id, Class: class, Point: m.Point}}, true)
}

// findOut posts what became of calls that were running when their process ended, and cannot simply be run again: the road's record
// of their end, or what the journal of the host knows, or else that nobody knows.
func (d *drive) findOut(calls []CallState) {
	ctx := context.WithoutCancel(d.ctx) // it ends soon, and the calls must have results
	a := d.s.agent
	ends := map[string]*session.Record{}
	if a.cfg.Records != nil {
		recs, err := a.cfg.Records.Calls(ctx, d.s.id)
		if err != nil {
			a.cfg.Log.Error("records of calls", "session", d.s.id, "err", err)
		}
		for i := range recs {
			if recs[i].Phase == session.End && recs[i].Result != nil {
				ends[recs[i].Call] = &recs[i]
			}
		}
	}
	for _, c := range calls {
		if c.Status != InDoubt {
			continue
		}
		if rec := ends[c.ID]; rec != nil {
			_ = d.post(Event{Kind: Ran, Result: resultOfRecord(rec)}, false)
			continue
		}
		made, known := d.journal(ctx, c)
		switch {
		case len(made) > 0 && c.Class == Journalled:
			r := textResult(c.ID, Lost, "This call did its work just before the program ended, and what it said is lost. It changed:\n"+strings.Join(paths(made), "\n"))
			r.Changed, r.Tx = true, ids(made)
			_ = d.post(Event{Kind: Ran, Result: r}, false)
		case known && c.Class == Journalled:
			_ = d.post(Event{Kind: Planned, Call: &CallEvent{ID: c.ID, Class: c.Class}}, false)
		default:
			words := fmt.Sprintf("Outcome unknown: the program ended while %s ran. It may have done all, some or none of its work, and it was not run again. Look at the state of things before you decide whether to do it again.", c.Name)
			if len(made) > 0 {
				words += " This much it did:\n" + strings.Join(paths(made), "\n")
			}
			r := textResult(c.ID, NotSure, words)
			r.Changed, r.Tx = true, ids(made)
			_ = d.post(Event{Kind: Unknown, Result: r}, false)
		}
	}
}

// journal returns the transactions that a call made. known says that there are no others.
func (d *drive) journal(ctx context.Context, c CallState) (made []host.Transaction, known bool) {
	h := d.s.agent.cfg.Box.Host()
	if h == nil {
		return nil, false
	}
	if _, err := h.Recover(ctx); err != nil { // what the dead process had begun is finished or taken back first
		d.s.agent.cfg.Log.Error("recover", "session", d.s.id, "err", err)
		return nil, false
	}
	all, err := h.Transactions(ctx, "")
	if err != nil {
		d.s.agent.cfg.Log.Error("transactions", "session", d.s.id, "err", err)
		return nil, false
	}
	for _, tx := range all {
		if tx.Note["call"] == c.ID && tx.Note["session"] == d.s.id {
			made = append(made, tx)
		}
	}
	return made, true
}

func ids(txs []host.Transaction) (out []string) {
	for _, tx := range txs {
		out = append(out, tx.ID)
	}
	return out
}

func paths(txs []host.Transaction) (out []string) {
	for _, tx := range txs {
		for _, p := range tx.Paths {
			out = append(out, p.Path)
		}
	}
	return out
}
