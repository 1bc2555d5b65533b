package forge

import (
	"context"
	"errors"
	"fmt"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/tool"
)

// ShellPermission is the permission under which the gate of a toolbox is asked about the programs of engines: rules for
// commands count for them too.
const ShellPermission = "shell"

// Road is the gate of a pipeline whose tools live in a toolbox: the toolbox's gate decides about each step, with its rules,
// its guards, its ledger and its person. It works only within a call of a forged tool.
type Road struct{}

type roadKey struct{}

// seat is what a call of a forged tool puts into its context.
type seat struct {
	gate tool.StepGate
	call *tool.Call
	def  *tool.Definition
}

func (s *seat) in(ctx context.Context) context.Context { return context.WithValue(ctx, roadKey{}, s) }

// Ask is described at dev.Gate.
func (Road) Ask(ctx context.Context, r *dev.Request) error {
	s, ok := ctx.Value(roadKey{}).(*seat)
	if !ok || s.gate == nil {
		return tool.Fault(errors.New("forge: the gate of this pipeline is that of a toolbox; it is asked only in calls of forged tools"))
	}
	in := s.intent(r)
	if err := s.decide(ctx, r, &in); err != nil || len(r.Commands) == 0 {
		return err
	}
	// To start the programs of engines is a thing of its own: other rules speak about it than about the files.
	run := tool.Intent{Permission: ShellPermission, Effects: []tool.Effect{tool.Execute}, Engines: r.Engines}
	for _, c := range r.Commands {
		run.Targets = append(run.Targets, tool.Target{Kind: tool.CommandTarget, Effect: tool.Execute, Value: c})
	}
	return s.decide(ctx, r, &run)
}

func (s *seat) decide(ctx context.Context, r *dev.Request, in *tool.Intent) error {
	in.Note = map[string]string{"step": r.Step}
	_, err := s.gate.Decide(ctx, in)
	var denied *tool.Denial
	if errors.As(err, &denied) {
		return &dev.DeniedError{Step: r.Step, Reason: denied.Message, Err: err}
	}
	return err
}

// intent is a step in the words of the toolbox: targets absolute, persists beside the arguments and not only among them.
func (s *seat) intent(r *dev.Request) tool.Intent {
	in := tool.Intent{Permission: permissionOf(r, s.def), Effects: []tool.Effect{tool.Read}, Args: r.Args, Engines: r.Engines, Persists: r.Persists}
	written := map[string]bool{}
	if !r.Changes.Empty() {
		in.Effects, in.Changes, in.MayCreate = []tool.Effect{tool.Write}, r.Changes, r.Creates
		for _, p := range r.Changes.Paths() {
			written[p] = true
		}
	}
	for _, p := range r.Missing {
		in.Targets = append(in.Targets, tool.PathTo(p, tool.Read))
	}
	for _, p := range r.Paths {
		effect := tool.Read
		if written[p.Real] {
			effect = tool.Write
		} else if in.Changes != nil {
			continue // only looked at, and the acquire asked about that
		}
		in.Targets = append(in.Targets, tool.PathTo(p, effect))
	}
	return in
}

// permissionOf folds steps into the permissions that rules know (P2).
func permissionOf(r *dev.Request, def *tool.Definition) string {
	switch {
	case r.Step == dev.AcquireName:
		return tool.ReadPermission
	case r.Persists, r.Effect != dev.Reads:
		return tool.EditPermission
	case r.Step == "read_lines":
		return tool.ReadPermission
	}
	return r.Step
}

// toolError turns an error of the pipeline into one for the model. Denials and faults of the road stay what they are.
func toolError(err error) error {
	var (
		denial *tool.Denial
		te     *tool.Error
		own    *dev.Error
		denied *dev.DeniedError
	)
	switch {
	case err == nil, tool.IsFault(err), errors.As(err, &denial), errors.As(err, &te),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &own):
		return err
	case errors.As(err, &denied): // a gate that is not the toolbox's
		return &tool.Denial{Decision: tool.Decision{Verdict: tool.Deny, By: "the pipeline's gate", Reason: denied.Reason}, Message: denied.Error() + "."}
	case errors.As(err, &own):
		e := &tool.Error{Code: codes[own.Code], Message: own.Message + ".", Hint: own.Hint, Err: err}
		if own.Step != "" {
			e.Message = own.Step + ": " + e.Message
		}
		if e.Code == "" {
			e.Code = tool.OperationFailed
		}
		e.Retry = own.Code == dev.Stale
		return e
	}
	return tool.Fault(fmt.Errorf("dev: %w", err))
}

var codes = map[dev.Code]tool.Code{
	dev.Invalid: tool.InvalidParameter, dev.NoEngine: tool.OperationNotAllowed, dev.EngineFailed: tool.OperationFailed,
	dev.NotFound: tool.NotFound, dev.Outside: tool.SecurityViolation, dev.Unwritable: tool.Forbidden, dev.TooLarge: tool.LimitExceeded,
	dev.Unreadable: tool.OperationNotAllowed, dev.NotAcquired: tool.InvalidParameter, dev.Stale: tool.Stale,
}
