package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/schema"
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
	// Bounds replaces the shared output limit for this tool; the zero value does not. A face's limit still holds.
	Bounds  Bounds
	Version string // default "1"
	Author  string // default "tackle"

	err error // a contradiction found by Define, reported at registration
}

// Err returns the contradiction that Define found, if any.
func (d Definition) Err() error { return d.err }

// Annotations are hints about a tool, in the sense of MCP.
type Annotations = schema.Annotations

// Rate is a token bucket: Calls per Per, with bursts of at most Calls.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Bounds limit what one result shows a model; lines and bytes hold together. Zero fields mean the defaults of O1
// (2000 lines, 50 KB), negative ones no limit.
type Bounds = clip.Limits

// Def returns what a provider is told about the tool.
func (d Definition) Def() schema.Def {
	a := d.Annotations
	return schema.Def{Name: d.Name, Title: d.Title, Description: d.Description, Schema: d.Schema, Annotations: &a}
}
