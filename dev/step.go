package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/schema"
)

// Effect is what a step can do, in rising order.
type Effect uint8

// The effects.
const (
	Reads  Effect = iota // it only looks
	Delta                // it can change files of the workspace
	Writes               // it writes the workspace to the disk
)

func (e Effect) String() string { return [...]string{"reads", "delta", "writes"}[e] }

// Step describes one kind of step as data: its arguments, what it can do, and what it needs.
type Step struct {
	Name  string
	Title string
	About string // one sentence, for models
	// Args is the argument specification: the JSON Schema of an object.
	Args *jsonschema.Schema
	// Effect is what the step can do with the given arguments; with {} what it does by default, and Most the most that any
	// arguments make it do.
	Effect func(args json.RawMessage) Effect
	Most   Effect
	// Requires is the capability that an engine must have for the given arguments, or "".
	Requires func(args json.RawMessage) Capability

	// check finds what is wrong with arguments before anything is asked or touched.
	check func(args json.RawMessage) error
	// paths are what a plan of this step alone acquires. missing says that they need not exist.
	paths func(args json.RawMessage) (paths []string, missing bool, err error)
	// propose works out what the step will do and changes nothing.
	propose func(ctx context.Context, w *workspace, args json.RawMessage) (*proposal, error)
}

// Steps returns every step of a plan, in the order in which they are listed. Acquiring is not among them: it is how a
// plan begins.
func Steps() []Step { return slices.Clone(allSteps()) }

// allSteps makes the steps once, when they are first asked for: their schemas are made by reflection.
var allSteps = sync.OnceValue(func() []Step {
	return []Step{readLinesStep(), editStep(), applyPatchStep(), formatStep(), lintStep(), checkStep(), writeStep()}
})

// AcquireName is the name under which the gate is asked about the files that a plan loads.
const AcquireName = "acquire"

// WriteName is the name of the step that writes.
const WriteName = "write"

// acquireArgs are those of acquire.
type acquireArgs struct {
	Paths []string `json:"paths,omitempty"`
}

// stepNamed finds a step.
func stepNamed(name string) (Step, bool) {
	i := slices.IndexFunc(allSteps(), func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return allSteps()[i], true
}

// lookup finds a step that this pipeline can do with the given arguments.
func (p *Pipeline) lookup(op Op) (Step, error) {
	s, ok := stepNamed(op.Step)
	if !ok {
		return s, &Error{Code: Invalid, Step: op.Step, Message: fmt.Sprintf("there is no step %q", op.Step), Hint: "Steps here: " + strings.Join(p.Available(), ", ") + "."}
	}
	if need := s.Requires(op.args()); !p.Has(need) {
		return s, p.unavailable(s, need)
	}
	return s, s.check(op.args())
}

// Available names the steps that this pipeline can do, with their default arguments.
func (p *Pipeline) Available() []string {
	var out []string
	for _, s := range allSteps() {
		if p.Has(s.Requires(json.RawMessage("{}"))) {
			out = append(out, s.Name)
		}
	}
	return out
}

// unavailable is the error of a step that no engine can serve. It says what there is, and that trying again is of no use.
func (p *Pipeline) unavailable(s Step, need Capability) *Error {
	others := slices.DeleteFunc(p.Available(), func(name string) bool { return name == s.Name })
	what := s.Name
	if string(need) != s.Name {
		what = fmt.Sprintf("%s with %s", s.Name, need)
	}
	return &Error{Code: NoEngine, Step: s.Name,
		Message: fmt.Sprintf("no engine that is configured here can %s", what),
		Hint:    fmt.Sprintf("Do not retry: it cannot succeed in this deployment. Available steps: %s.", strings.Join(others, ", "))}
}

// define makes a step from a struct of arguments.
func define[A any](s Step, effect func(A) Effect, requires func(A) Capability, check func(*A) error,
	paths func(A) ([]string, bool, error), propose func(context.Context, *workspace, A) (*proposal, error)) Step {
	var err error
	if s.Args, err = schema.For[A](); err != nil {
		panic(err) // the type stands in this package
	}
	decode := func(raw json.RawMessage) (a A, err error) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err = dec.Decode(&a); err != nil {
			err = &Error{Code: Invalid, Step: s.Name, Message: "its arguments do not fit: " + strings.TrimPrefix(err.Error(), "json: "), Hint: "Arguments of " + s.Name + ": " + argumentNames(s.Args) + ".", Err: err}
		}
		return a, err
	}
	s.Effect = func(raw json.RawMessage) Effect { a, _ := decode(raw); return effect(a) }
	s.Requires = func(raw json.RawMessage) Capability { a, _ := decode(raw); return requires(a) }
	s.check = func(raw json.RawMessage) error {
		a, err := decode(raw)
		if err == nil && check != nil {
			err = check(&a)
		}
		return err
	}
	s.paths = func(raw json.RawMessage) ([]string, bool, error) {
		a, err := decode(raw)
		if err != nil {
			return nil, false, err
		}
		return paths(a)
	}
	s.propose = func(ctx context.Context, w *workspace, raw json.RawMessage) (*proposal, error) {
		a, err := decode(raw)
		if err != nil {
			return nil, err
		}
		return propose(ctx, w, a)
	}
	return s
}

func argumentNames(s *jsonschema.Schema) string {
	names := slices.Clone(s.PropertyOrder)
	if len(names) == 0 {
		for n := range s.Properties {
			names = append(names, n)
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// proposal is what a step will do, before the gate is asked.
type proposal struct {
	targets []*entry
	creates []*entry
	engines []string
	// commands are started by apply, once the step is granted.
	commands []string
	// states are what files become.
	states []newState
	// apply does the rest. It runs when the gate has granted the step and the states are taken over.
	apply func(ctx context.Context) error
}

type newState struct {
	entry *entry
	state change.State
}
