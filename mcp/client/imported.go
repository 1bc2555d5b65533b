package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// maxDescription bounds what a foreign tool may say to the model before it is called, in bytes.
const maxDescription = 4000

// imported is a tool of a server under our contract.
type imported struct {
	remote *remote
	name   string // as the server calls it
	pin    string
	def    tool.Definition
	cut    bool // the schema could not be kept; the server checks the arguments
}

func newImported(r *remote, t *sdk.Tool, pin string) (*imported, error) {
	l := r.link
	it := &imported{remote: r, name: t.Name, pin: pin}
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	name := toolName(l.cfg.Name, t.Name)
	it.def = tool.Definition{
		Name: name, Permission: name, Category: "mcp", Title: visibleTitle(l.cfg.Name, t), Description: describe(l.cfg.Name, t),
		Annotations: hints(t.Annotations), Version: "1", Author: l.cfg.Name, Timeout: l.timeout(),
	}
	it.def.Schema, it.cut = portable(it.def, raw)
	if it.cut {
		it.def.Description += "\nThe server's own schema of the arguments: " + clip.Middle(string(raw), 2000)
	}
	return it, nil
}

// portable returns the server's schema where every client and provider takes it, or an open object: no tool is lost for
// an odd schema, its server checks the arguments itself.
func portable(def tool.Definition, raw json.RawMessage) (s *jsonschema.Schema, cut bool) {
	s, err := schema.Parse(raw)
	if err == nil {
		s = schema.Mend(s)
		_, err = schema.Compile(s)
	}
	if err == nil {
		def.Schema = s
		err = refused(def)
	}
	if err == nil {
		return s, false
	}
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}, true
}

// refused says who would refuse the schema. The name is not looked at (rule E6): it is ours, and at most 64 bytes.
func refused(def tool.Definition) error {
	for _, f := range schema.Lint(def.Def()) {
		if f.Severity == schema.Error && f.Rule != "E6" {
			return errors.New(f.String())
		}
	}
	return nil
}

func visibleTitle(server string, t *sdk.Tool) string {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title == "" {
		title = t.Name
	}
	return clip.Middle(printable(title), 80) + " (" + server + ")"
}

func describe(server string, t *sdk.Tool) string {
	d := strings.TrimSpace(printable(t.Description))
	if d == "" {
		d = "A tool of the MCP server " + server + "; the server does not say what it does."
	}
	return clip.Middle(d, maxDescription)
}

// printable drops characters that a person who reviews the text would not see.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// hints are what the server says about the tool. They may be lies: they order calls and inform people, and decide nothing.
func hints(a *sdk.ToolAnnotations) tool.Annotations {
	if a == nil {
		return tool.Annotations{Destructive: true, OpenWorld: true}
	}
	is := func(p *bool) bool { return p == nil || *p }
	return tool.Annotations{ReadOnly: a.ReadOnlyHint, Destructive: !a.ReadOnlyHint && is(a.DestructiveHint), Idempotent: a.IdempotentHint, OpenWorld: is(a.OpenWorldHint)}
}

// Definition is described at tool.Tool.
func (t *imported) Definition() tool.Definition { return t.def }

// Plan is described at tool.Tool. The intent names the tool itself: what a server does with a call nobody can see.
func (t *imported) Plan(_ context.Context, _ *tool.Call, args json.RawMessage) (tool.Action, error) {
	effect, effects := tool.Execute, []tool.Effect{tool.Network, tool.Execute}
	if t.def.Annotations.ReadOnly {
		effect, effects = tool.Read, []tool.Effect{tool.Network}
	}
	in := tool.Intent{Effects: effects, Targets: []tool.Target{{Kind: tool.ToolTarget, Effect: effect, Value: t.def.Name}}}
	return tool.Action{Intent: in, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		return t.run(ctx, args, r)
	}}, nil
}

func (t *imported) run(ctx context.Context, args json.RawMessage, r tool.Runner) (tool.Result, error) {
	if e := t.remote.vouch(ctx, t); e != nil {
		return tool.Result{}, e
	}
	res, err := t.remote.link.call(ctx, t.name, args, r.Progress)
	switch {
	case err != nil && errors.Is(err, ctx.Err()) && ctx.Err() != nil:
		return tool.Result{}, err // the road says whether time was over or the call was cancelled
	case err != nil:
		err = failure(t.remote.link.cfg.Name, err)
		e := tool.Errorf(tool.ExecutionFailed, "%s: %s.", t.def.Name, strings.TrimSuffix(clip.Middle(printable(err.Error()), 2000), "."))
		e.Err, e.Hint = err, "Repeat the call once; if it fails again, do without this tool and tell the person."
		return tool.Result{}, e
	}
	parts := partsOf(res)
	if res.IsError {
		return tool.Result{}, tool.Errorf(tool.ExecutionFailed, "%s", clip.Text(textOf(parts), tool.Bounds{Lines: 200, Bytes: 8000}, clip.HeadTail).Text())
	}
	return tool.Result{Parts: parts, Data: res.StructuredContent}, nil
}
