package media

import (
	"context"
	"encoding/json"
	"fmt"
)

// Args are arguments of a step: strings, numbers, booleans, slices of them, and for arguments that are JSON any value that
// encodes. An expression is map[string]string{"regex": …, "flags": …}.
type Args map[string]any

// Builder writes a plan in Go. The zero Builder is of no use; get one from [Pipeline.Build]. Steps are checked when the
// plan is asked for, by the same checks as statements.
type Builder struct {
	p     *Pipeline
	steps []map[string]any
}

// Build begins a plan.
func (p *Pipeline) Build() *Builder { return &Builder{p: p} }

// Then adds a step and returns the builder.
func (b *Builder) Then(verb string, args Args) *Builder {
	s := map[string]any{"verb": verb}
	if len(args) > 0 {
		s["args"] = args
	}
	b.steps = append(b.steps, s)
	return b
}

// Plan returns the plan. Errors: *Error, or that an argument does not encode as JSON.
func (b *Builder) Plan() (Plan, error) {
	ops, err := json.Marshal(b.steps)
	if err != nil {
		return Plan{}, fmt.Errorf("encode the arguments of a media plan: %w", err)
	}
	return b.p.CompileOps(ops)
}

// Run makes the plan and runs it.
func (b *Builder) Run(ctx context.Context, in Payload, opt RunOptions) (Result, error) {
	plan, err := b.Plan()
	if err != nil {
		return Result{}, err
	}
	return b.p.Run(ctx, in, plan, opt)
}
