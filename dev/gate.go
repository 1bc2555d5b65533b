package dev

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Gate decides about steps. It is asked once for each, before anything of the step happens.
type Gate interface {
	// Ask returns nil to let the step run and a *DeniedError to refuse it. Any other error ends the plan as a failure of
	// the gate itself.
	Ask(ctx context.Context, r *Request) error
}

// GateFunc is a function that is a gate.
type GateFunc func(ctx context.Context, r *Request) error

// Ask is described at Gate.
func (f GateFunc) Ask(ctx context.Context, r *Request) error { return f(ctx, r) }

// Request is what a gate is asked. Its JSON form has step, args, targets, mayCreate and, where the step uses engines,
// engines. Args and Targets are never mixed: a gate can tell whether the caller named a file or a selector came to it.
type Request struct {
	Step string
	// Args is what the caller wrote, byte for byte. The one thing that is ever added is persists: true, in a step that
	// writes its own changes.
	Args json.RawMessage
	// Targets are the files that the step works on, resolved, relative to the root: in the order of a patch,
	// else sorted.
	Targets []string
	// MayCreate are exact paths of files that the step makes, relative to the root.
	MayCreate []string
	// Engines are the names of the engines that do the step.
	Engines []string

	// Persists says that the step writes to the disk: it is what args.persists says, or a step write.
	Persists bool
	// Effect is what the step can do.
	Effect Effect
	// Paths are Targets as the host resolved them, in the same order.
	Paths []host.Path
	// Missing are paths that an acquire was asked for and that do not exist: whether they do is told by what follows.
	Missing []host.Path
	// Creates are MayCreate on the host.
	Creates []string
	// Changes are the exact bytes that will be written, where the step persists.
	Changes *change.Set
	// Commands are the command lines that engines start once this step is granted: on copies, where the step is acquire,
	// so that a later step can be asked about with the bytes that they made.
	Commands []string
}

// MarshalJSON writes the payload.
func (r *Request) MarshalJSON() ([]byte, error) {
	j := struct {
		Step      string          `json:"step"`
		Args      json.RawMessage `json:"args"`
		Targets   []string        `json:"targets"`
		MayCreate []string        `json:"mayCreate"`
		Engines   []string        `json:"engines,omitempty"`
	}{r.Step, r.Args, r.Targets, r.MayCreate, r.Engines}
	if j.Targets == nil {
		j.Targets = []string{}
	}
	if j.MayCreate == nil {
		j.MayCreate = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a payload is read by people
	err := enc.Encode(j)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// persisting adds persists: true to an argument object and leaves every other byte as it is.
func persisting(args json.RawMessage) json.RawMessage {
	body := bytes.TrimRight(args, " \t\r\n")
	body = body[:len(body)-1]
	out := append([]byte(nil), body...)
	if trimmed := bytes.TrimRight(body, " \t\r\n"); len(trimmed) > 0 && trimmed[len(trimmed)-1] != '{' {
		out = append(trimmed[:len(trimmed):len(trimmed)], ',')
	}
	return append(out, `"persists":true}`...)
}
