package toolbox

import (
	"context"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// Decide is described at tool.StepGate.
func (r *runner) Decide(ctx context.Context, in *tool.Intent) (tool.Decision, error) {
	<-r.turn
	defer func() { r.turn <- struct{}{} }()
	def := &r.p.entry.def
	switch {
	case r.over.Load():
		return tool.Decision{}, errOver
	case !def.SelfGated:
		return tool.Decision{}, tool.Errorf(tool.OperationNotAllowed, "the call asked about a step, but the road asks for this tool.")
	}
	r.points++
	r.second = true // what was asked about is not run again behind the asker's back
	in.Tool = def.Name
	if in.Permission == "" {
		in.Permission = def.Permission
	}
	if in.Args == nil {
		in.Args = r.p.Args
	}
	if err := in.Changes.Validate(); err != nil {
		return tool.Decision{}, tool.Fault(err)
	}
	d, err := r.decide(ctx, in, r.points)
	if err != nil {
		return d, err
	}
	if err := r.box.announceStep(ctx, r.p, r.points, in, d, d.Verdict == tool.Allow && (onlyReads(in) || journalled(in))); err != nil {
		return d, err
	}
	if d.Verdict != tool.Allow {
		return d, r.box.refusal(ctx, r.p, d)
	}
	if !in.Changes.Empty() {
		r.granted = append(r.granted, in.Changes)
	}
	r.decision.Person = r.decision.Person || d.Person
	return d, r.box.tell(ctx, r.p, Moment{Stage: StageRunning, Point: r.points, Intent: in, Decision: d})
}

// ownGate lets a set of a self-gated tool through: one that a step was granted with, or any where the tool's pipeline has
// a gate of its own and never asked the road. Each set is committed once.
func (r *runner) ownGate(ctx context.Context, set *change.Set) error {
	if r.points == 0 {
		if slices.Contains(r.committed, set) {
			return tool.Errorf(tool.OperationNotAllowed, "the call tried to make its changes twice.")
		}
		return r.box.announce(ctx, r.p, r.decision)
	}
	i := slices.Index(r.granted, set)
	if i < 0 {
		return tool.Errorf(tool.OperationNotAllowed, "the call tried to make changes that no step was granted with.")
	}
	r.granted = slices.Delete(r.granted, i, i+1)
	return nil
}
