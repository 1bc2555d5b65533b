package toolbox

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// runner is the tool.Runner of one call. The action may use it from any of its goroutines until the call is over: then
// it refuses to commit and is silent.
type runner struct {
	box      *Box
	p        *Planned
	decision tool.Decision
	clock    *allowance

	over atomic.Bool
	// turn holds a token while nobody commits. Whoever has it may use the fields below.
	turn         chan struct{}
	second       bool             // the second gate point was used
	points       int              // steps that a self-gated tool has asked about
	granted      []*change.Set    // by those steps
	stale        *host.StaleError // the last commit met a foreign change
	staleSet     *change.Set
	committed    []*change.Set
	transactions []string
	changes      []change.FileChange
	diff         strings.Builder
	values       map[string]any
}

func newRunner(b *Box, p *Planned, d tool.Decision, clock *allowance) *runner {
	r := &runner{box: b, p: p, decision: d, clock: clock, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// end closes the runner and reports whether its fields may be read, until done is called: not while a commit is under way
// that does not end. It waits for one at most for the grace period.
func (r *runner) end() bool {
	r.over.Store(true)
	select {
	case <-r.turn:
		return true
	default:
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-r.turn:
		return true
	case <-t.C:
		return false
	}
}

// done lets those go on, to be refused, that came after the end.
func (r *runner) done() { r.turn <- struct{}{} }

var (
	errSecondGate = tool.Errorf(tool.OperationNotAllowed, "the call tried to change files at more points than the two that can be approved.")
	errOver       = tool.Errorf(tool.Cancelled, "the call is over; nothing was written any more.")
)

// Commit is described at tool.Runner.
func (r *runner) Commit(ctx context.Context, set *change.Set) (host.Receipt, error) {
	if set.Empty() {
		return host.Receipt{}, nil
	}
	<-r.turn
	defer func() { r.turn <- struct{}{} }()
	switch planned := set == r.p.Action.Intent.Changes; {
	case r.over.Load():
		return host.Receipt{}, errOver
	case planned && slices.Contains(r.committed, set):
		return host.Receipt{}, tool.Errorf(tool.OperationNotAllowed, "the call tried to make its changes twice.")
	case r.p.entry.def.SelfGated:
		if err := r.ownGate(ctx, set); err != nil {
			return host.Receipt{}, err
		}
	case !planned && r.second:
		return host.Receipt{}, errSecondGate
	case !planned:
		r.second = true
		if err := r.gate(ctx, set); err != nil {
			return host.Receipt{}, err
		}
	}
	note := map[string]string{"tool": r.p.entry.def.Name, "session": r.p.Request.Session, "call": r.p.Request.ID}
	maps.Copy(note, r.p.Action.Intent.Note)
	opt := host.CommitOptions{Durable: r.p.Call.Options.Durable, Note: note}
	hashed := hashBeside(set)
	receipt, err := r.box.cfg.Host.Commit(ctx, set, opt)
	<-hashed
	if err != nil {
		return receipt, r.failed(set, err)
	}
	r.committed, r.transactions = append(r.committed, set), append(r.transactions, receipt.ID)
	r.show(set)
	r.mark(set)
	return receipt, nil
}

// maxDiff is how much of the diff of a call is kept with its result, in bytes. A longer one can be made from the
// before-images.
const maxDiff = 256 << 10

// show notes which files changed and how.
func (r *runner) show(set *change.Set) {
	p := set.Preview(r.p.Call.Dir, change.PreviewOptions{})
	r.changes = append(r.changes, p.Files...)
	if r.diff.Len()+len(p.Diff) <= maxDiff {
		r.diff.WriteString(p.Diff)
	}
}

// hashBeside computes the digests of a set on another core while the host writes. They are needed for the record and
// the read-state, not for the commit itself.
func hashBeside(set *change.Set) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range set.Ops {
			set.Ops[i].After.Blob.Digest()
			set.Ops[i].Before.Blob.Digest()
		}
	}()
	return done
}

// gate is the second gate point: the set was not known at planning, so it gets an intent and a decision of its own.
func (r *runner) gate(ctx context.Context, set *change.Set) error {
	if err := set.Validate(); err != nil {
		return tool.Fault(err)
	}
	in := r.p.Action.Intent
	in.Permission = tool.EditPermission // whatever the call was for, now it changes files (P2)
	in.Changes, in.Persists, in.Effects, in.MayCreate, in.Targets, in.Hunks = set, true, []tool.Effect{tool.Write}, nil, nil, 0
	for i := range set.Ops {
		switch op := &set.Ops[i]; {
		case op.Kind == change.Move:
			in.MayCreate = append(in.MayCreate, op.To)
		case op.Before.Type == change.Absent:
			in.MayCreate = append(in.MayCreate, op.Path)
		}
	}
	for _, path := range set.Paths() {
		resolved, err := r.p.Call.ResolveSelf(ctx, path)
		if err != nil {
			return err
		}
		in.Targets = append(in.Targets, tool.PathTo(resolved, tool.Write))
	}
	d, err := r.decide(ctx, &in, 2)
	if err != nil {
		return err
	}
	if err := r.box.announceSecond(ctx, r.p, &in, d); err != nil {
		return err
	}
	if d.Verdict != tool.Allow {
		return r.box.refusal(ctx, r.p, d)
	}
	r.decision.Person = r.decision.Person || d.Person
	return r.box.tell(ctx, r.p, Moment{Stage: StageRunning, Point: 2, Intent: &in, Decision: d})
}

// decide asks for the second decision of the call. Its time stands still meanwhile: a person may think.
func (r *runner) decide(ctx context.Context, in *tool.Intent, point int) (tool.Decision, error) {
	if r.clock != nil {
		r.clock.stop()
		defer r.clock.start()
	}
	return r.box.decide(ctx, r.p, in, point)
}

// failed turns a host's refusal into what the action should return, and remembers a foreign change for the road.
func (r *runner) failed(set *change.Set, err error) error {
	var stale *host.StaleError
	if errors.As(err, &stale) {
		r.stale, r.staleSet = stale, set
		return r.box.staleError(r.p, stale)
	}
	path := set.Ops[0].Path
	var pe *host.PathError
	if errors.As(err, &pe) {
		path = pe.Path
	}
	return tool.PathError("path", path, err)
}

// mark updates the read-state: the session knows what it wrote. Keys are paths as they were addressed, so a target
// reached through a link is marked under both of its names.
func (r *runner) mark(set *change.Set) {
	names := map[string]string{}
	for _, t := range r.p.Action.Intent.Targets {
		if t.Path != nil && t.Path.Abs != t.Path.Real {
			names[t.Path.Real] = t.Path.Abs
		}
	}
	note := func(path string, d change.Digest) {
		r.p.Call.ReadState.Mark(filepath.Clean(path), d)
		if abs, ok := names[path]; ok {
			r.p.Call.ReadState.Mark(abs, d)
		}
	}
	for i := range set.Ops {
		op := &set.Ops[i]
		switch op.Kind {
		case change.Write:
			note(op.Path, op.After.Blob.Digest())
		case change.Delete:
			note(op.Path, change.Digest{})
		case change.Move:
			note(op.Path, change.Digest{})
			note(op.To, op.Before.Blob.Digest())
		}
	}
}

// Progress is described at tool.Runner.
func (r *runner) Progress(done, total float64, message string) {
	if f := r.p.Request.Progress; f != nil && !r.over.Load() {
		f(done, total, r.box.redact.Load().text(message))
	}
}

// Partial is described at tool.Runner.
func (r *runner) Partial(text string) {
	if f := r.p.Request.Partial; f != nil && !r.over.Load() {
		f(r.box.redact.Load().text(text))
	}
}

// Meta is described at tool.Runner.
func (r *runner) Meta(key string, value any) {
	<-r.turn
	defer func() { r.turn <- struct{}{} }()
	if r.over.Load() {
		return
	}
	if r.values == nil {
		r.values = map[string]any{}
	}
	r.values[key] = value
}
