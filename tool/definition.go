package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Tool is something that a model can call. Implementations are safe for concurrent use.
type Tool interface {
	// Definition describes the tool. It is the same at every call, so that tool lists are byte-stable.
	Definition() Definition

	// Plan turns validated arguments into an Action, starting no program and changing nothing. A call that cannot be
	// planned (a missing file, an unparsable patch) returns an *Error here and never reaches the gate.
	Plan(ctx context.Context, call *Call, args json.RawMessage) (Action, error)
}

// Definition describes a tool to models, people and policy.
type Definition struct {
	Name        string // [a-z][a-z0-9_]*, at most 40 bytes
	Category    string // "file", "search", "shell", "web", …
	Title       string // for people
	Description string // for models; the first sentence must carry the meaning alone
	Schema      *jsonschema.Schema
	Annotations Annotations

	// Permission is the name that rules use. Default: the tool's name; tools that change files say "edit" (P2).
	Permission string
	// Example is one valid argument object as JSON; errors quote it.
	Example string
	// Credential names what the tool needs from the environment ("google.cse"); without it the tool is not listed.
	Credential string
	// Models limits the tool to models that match; nil means all. It is the first layer of visibility (P3).
	Models func(model string) bool
	// SelfGated says that the tool's own pipeline asks the gate (T2, dev tools); the road then adds no decision.
	SelfGated bool
	// Timeout bounds one run; 0 means the toolbox default.
	Timeout time.Duration
	// Rate limits calls; the zero Rate does not.
	Rate Rate
	// Bounds replaces the shared output limit for this tool where it is smaller; the zero value does not.
	Bounds  Bounds
	Version string // default "1"
	Author  string // default "tackle"

	err error // a contradiction found by Define, reported at registration
}

// Err returns the contradiction that Define found, if any.
func (d Definition) Err() error { return d.err }

// Annotations are hints about a tool, in the sense of MCP.
type Annotations struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may remove or overwrite; meaningful only where ReadOnly is false
	Idempotent  bool // a second identical call changes nothing more
	OpenWorld   bool // reaches beyond the workspace (network, other services)
}

// Rate is a token bucket: Calls per Per, with bursts of at most Calls.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Bounds limit what one result shows a model. Both limits hold together; 0 means no such limit.
type Bounds struct {
	Lines int
	Bytes int
}

// Min returns the stricter of both for each limit.
func (b Bounds) Min(o Bounds) Bounds {
	return Bounds{Lines: minPositive(b.Lines, o.Lines), Bytes: minPositive(b.Bytes, o.Bytes)}
}

func minPositive(a, b int) int {
	switch {
	case a <= 0:
		return b
	case b <= 0 || a < b:
		return a
	}
	return b
}
