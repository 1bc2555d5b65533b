package tool

import "context"

// StepGate is what the [Runner] of a self-gated tool is too. The pipeline behind such a tool asks about each of its steps
// when the step before it was granted, and the road decides as about any intent: guards, rules, grants, a person, the
// ledger. The road asks nothing by itself then.
type StepGate interface {
	// Decide returns the decision about a step. Permission and Args of the intent are filled where they are empty. A set
	// that the intent carries may then be given to Commit.
	// Errors: *Denial, *Error (the call is over) and faults, all ready to be returned by Run.
	Decide(ctx context.Context, in *Intent) (Decision, error)
}
