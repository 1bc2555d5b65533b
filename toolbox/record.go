package toolbox

import (
	"context"
	"fmt"
	"sync"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// announce records that a call is about to run.
func (b *Box) announce(ctx context.Context, p *Planned, d tool.Decision) error {
	if b.cfg.Recorder == nil || onlyReads(&p.Action.Intent) {
		return nil
	}
	rec := b.recordOf(p, session.Start)
	rec.Decision, rec.Light = &d, journalled(&p.Action.Intent)
	return b.put(context.WithoutCancel(ctx), rec)
}

// journalled reports whether all that a call does is one planned changeset. The host's journal notes such a call with its
// id before it touches a file, so after a crash it is known whether it ran; its start record need not be waited for.
func journalled(in *tool.Intent) bool {
	return !in.Changes.Empty() && !in.Has(tool.Execute) && !in.Has(tool.Network) && !in.Has(tool.Spawn)
}

// announceSecond records the decision at the second gate point, before anything of it happens.
func (b *Box) announceSecond(ctx context.Context, p *Planned, in *tool.Intent, d tool.Decision) error {
	return b.announceStep(ctx, p, 2, in, d, false)
}

// announceStep is announceSecond for any gate point. light is that of session.Record.
func (b *Box) announceStep(ctx context.Context, p *Planned, point int, in *tool.Intent, d tool.Decision, light bool) error {
	if b.cfg.Recorder == nil {
		return nil
	}
	in.Seal()
	rec := b.recordOf(p, session.Start)
	rec.Point, rec.Intent, rec.Decision, rec.Light = point, in, &d, light
	return b.put(context.WithoutCancel(ctx), rec)
}

// record stores the end of a call.
func (b *Box) record(ctx context.Context, p *Planned, res *tool.Result) error {
	if b.cfg.Recorder == nil {
		return nil
	}
	rec := b.recordOf(p, session.End)
	rec.Result, rec.Decision = session.OutcomeOf(res), res.Meta.Decision
	if rec.Intent == nil || onlyReads(rec.Intent) && len(p.committed) == 0 { // a call may read first and change later
		rec.Result.Shorten()
		rec.Light = rec.Intent != nil && rec.Decision != nil && rec.Decision.Verdict == tool.Allow
	}
	if rec.Intent != nil {
		rec.Intent.Seal()
		if rec.Decision != nil && rec.Decision.Fingerprint == "" {
			rec.Decision.Fingerprint = rec.Intent.Fingerprint
		}
	}
	rec.Committed = p.committed
	if p.marks != nil {
		rec.Marks = p.marks.taken()
	}
	return b.put(context.WithoutCancel(ctx), rec) // the call is over: its cancellation must not lose the record
}

func (b *Box) recordOf(p *Planned, phase session.Phase) *session.Record {
	req := &p.Request
	rec := &session.Record{Phase: phase, Call: req.ID, Tool: req.Tool, Session: req.Session, Message: req.Message,
		Mode: req.Mode, Model: req.Model, Dir: req.Dir, Raw: p.raw, Args: p.Args, At: b.cfg.Clock()}
	if p.Action.Run != nil {
		rec.Intent = &p.Action.Intent
	}
	return rec
}

func (b *Box) put(ctx context.Context, rec *session.Record) error {
	if err := b.cfg.Recorder.Record(ctx, b.redact.Load().record(rec)); err != nil {
		return tool.Fault(fmt.Errorf("record call %s: %w", rec.Call, err))
	}
	return nil
}

func onlyReads(in *tool.Intent) bool {
	for _, e := range in.Effects {
		if e != tool.Read {
			return false
		}
	}
	return true
}

// markingReadState passes through to the session's read-state and remembers the marks of one call.
type markingReadState struct {
	tool.ReadState
	mu    sync.Mutex
	marks []session.Mark
}

func (m *markingReadState) Mark(key string, d change.Digest) {
	m.ReadState.Mark(key, d)
	m.mu.Lock()
	m.marks = append(m.marks, session.Mark{Key: key, Digest: d})
	m.mu.Unlock()
}

func (m *markingReadState) taken() []session.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks
}
