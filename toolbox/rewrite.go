package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Described is what models are told about a tool in one view.
type Described struct {
	Tool  string // the tool's default name
	Mode  string // of the view
	Model string // of the view; may be empty

	Title       string
	Description string
	Example     string             // one argument object as JSON
	Schema      *jsonschema.Schema // a copy, free to be changed
}

// Rewriter changes what models are told about tools: the second layer of visibility (P3). It is a pure function of what it
// is given, so that lists stay byte-stable; each view asks once and keeps the answer. What it does not mean it returns as
// it is.
//
// A schema that asks for less than the tool's own does narrow the tool: arguments are repaired and validated against the
// rewritten schema first, and then against the tool's own. A schema that cannot be used takes the tool out of the view,
// with the reason in [Box.Absence].
type Rewriter func(Described) Described

// rewriteKey names a view of a tool.
type rewriteKey struct {
	entry       *entry
	mode, model string
}

// rewritten is a tool as a view describes it.
type rewritten struct {
	def     tool.Definition
	checker *schema.Checker // nil: the tool's own
	err     error           // why it cannot be used
}

// describe returns a tool as a view describes it. It is made once for each view.
func (b *Box) describe(e *entry, mode, model string) *rewritten {
	if len(b.cfg.Rewriters) == 0 {
		return &rewritten{def: e.def}
	}
	key := rewriteKey{e, mode, model}
	if r, ok := b.rewrites.Load(key); ok {
		return r.(*rewritten)
	}
	r, _ := b.rewrites.LoadOrStore(key, b.rewrite(e, mode, model))
	return r.(*rewritten)
}

func (b *Box) rewrite(e *entry, mode, model string) *rewritten {
	r := &rewritten{def: e.def}
	before, err := json.Marshal(e.def.Schema)
	if err != nil {
		return &rewritten{def: e.def, err: err}
	}
	d := Described{Tool: e.base, Mode: mode, Model: model, Title: e.def.Title, Description: e.def.Description, Example: e.def.Example, Schema: e.def.Schema.CloneSchemas()}
	for _, f := range b.cfg.Rewriters {
		d = f(d)
	}
	r.def.Title, r.def.Description, r.def.Example = d.Title, d.Description, d.Example
	if d.Schema == nil || d.Description == "" {
		r.err = errors.New("a plugin left it without schema or description")
		return r
	}
	after, err := json.Marshal(d.Schema)
	if err == nil && string(before) == string(after) {
		return r
	}
	if r.checker, err = schema.Compile(d.Schema); err != nil {
		r.err = fmt.Errorf("the schema of a plugin cannot be used: %w", err)
		return r
	}
	r.def.Schema = d.Schema
	if r.err = portability(r.def); r.err != nil {
		r.err = fmt.Errorf("the schema of a plugin cannot be used: %w", r.err)
	}
	return r
}

// prepare repairs and validates the arguments of a call: against what its model was told, then against the tool's own
// schema.
func (b *Box) prepare(p *Planned) (schema.Prepared, error) {
	req := &p.Request
	r := &rewritten{}
	if !req.Platform {
		r = b.describe(p.entry, req.Mode, req.Model)
	}
	if r.checker == nil {
		return p.entry.checker.Prepare(req.Args)
	}
	told, err := r.checker.Prepare(req.Args)
	if err != nil || len(told.Problems) > 0 {
		return told, err
	}
	own, err := p.entry.checker.Prepare(told.Args)
	own.Repairs = append(told.Repairs, own.Repairs...)
	return own, err
}

// Meaning is what a request means, apart from how it is written.
type Meaning struct {
	Tool       string          // default name
	Permission string          // that it asks under
	Args       json.RawMessage // after repair, as the tool would get them
}

// Canonical returns what a request means. ok is false for a call that goes no further than that: an unknown tool, or
// arguments that do not validate.
func (b *Box) Canonical(req Request) (m Meaning, ok bool) {
	if req.Mode == "" {
		req.Mode = b.env.Load().Mode
	}
	p := &Planned{Request: req}
	if p.entry = b.lookup(&req); p.entry == nil {
		return m, false
	}
	prepared, err := b.prepare(p)
	if err != nil || len(prepared.Problems) > 0 {
		return m, false
	}
	return Meaning{p.entry.base, p.entry.def.Permission, prepared.Args}, true
}
