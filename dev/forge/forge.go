package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// Surface is a layout of tools.
type Surface string

// The surfaces. Granular is the default, and the better one for most models: flat tools of one purpose are called more
// reliably than nested plans.
const (
	Granular  Surface = "granular"
	Composite Surface = "composite"
)

// PlanName is the name of the one tool of the composite surface.
const PlanName = "dev_plan"

// Timeout bounds one call: engines of whole projects take their time.
const Timeout = 5 * time.Minute

// Options configure the forge. The zero value makes granular tools. There is no gate among them; see the package comment.
type Options struct {
	Surface Surface
	// Only names the steps that become granular tools, for a deployment that edits by other tools. Default: all that are
	// available. In a dev_plan it leaves out steps likewise.
	Only []string
	// Overrides rename or re-describe tools, by default name.
	Overrides map[string]Override
}

// Override renames or re-describes a tool. Empty fields keep the default.
type Override struct {
	Name        string
	Description string
}

// Tools makes the tools of a pipeline, in a stable order. A step that no engine of the pipeline can serve is no tool.
func Tools(p *dev.Pipeline, opt Options) ([]tool.Tool, error) {
	steps := available(p, opt.Only)
	var out []tool.Tool
	switch opt.Surface {
	case Granular, "":
		for _, s := range steps {
			if s.Most != dev.Writes { // it would acquire a clean workspace and find nothing to write
				out = append(out, granular(p, s))
			}
		}
	case Composite:
		out = append(out, composite(p, steps))
	default:
		return nil, fmt.Errorf("forge: surface %q: want granular or composite", opt.Surface)
	}
	return override(out, opt.Overrides)
}

// available returns the steps that some engine can serve with their default arguments.
func available(p *dev.Pipeline, only []string) []dev.Step {
	names := p.Available()
	return slices.DeleteFunc(dev.Steps(), func(s dev.Step) bool {
		return !slices.Contains(names, s.Name) || only != nil && s.Name != dev.WriteName && !slices.Contains(only, s.Name)
	})
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

func override(tools []tool.Tool, by map[string]Override) ([]tool.Tool, error) {
	known, taken := map[string]bool{}, map[string]bool{}
	for _, t := range tools {
		f := t.(*forged)
		known[f.def.Name] = true
		o := by[f.def.Name]
		if o.Name != "" {
			if !toolName.MatchString(o.Name) {
				return nil, fmt.Errorf("forge: override of %s: name %q: want %s", f.def.Name, o.Name, toolName)
			}
			f.def.Name = o.Name
		}
		if o.Description != "" {
			f.def.Description = o.Description
		}
		if taken[f.def.Name] {
			return nil, fmt.Errorf("forge: two tools would be named %q", f.def.Name)
		}
		taken[f.def.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if !known[name] {
			return nil, fmt.Errorf("forge: override of %q: there is no such tool; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return tools, nil
}

// forged is a tool that runs plans of a pipeline.
type forged struct {
	p   *dev.Pipeline
	def tool.Definition
	// plan makes the plan of a call; persist says that its steps write what they change.
	plan    func(args json.RawMessage) (dev.Plan, error)
	persist bool
}

// Definition is described at tool.Tool.
func (f *forged) Definition() tool.Definition { return f.def }

// Plan is described at tool.Tool. It finds what is wrong with the call, and resolves what the call would acquire.
func (f *forged) Plan(ctx context.Context, call *tool.Call, args json.RawMessage) (tool.Action, error) {
	plan, err := f.plan(args)
	if err != nil {
		return tool.Action{}, err
	}
	prepared, err := f.p.Prepare(ctx, plan, f.call(call))
	if err != nil {
		return f.unplanned(ctx, call, toolError(err))
	}
	a := tool.Action{Intent: intentOf(prepared, &f.def)}
	a.Run = func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		gate, _ := r.(tool.StepGate)
		ctx = (&seat{gate, call, &f.def}).in(ctx)
		again, err := f.p.Prepare(ctx, plan, f.running(call, r)) // a call that waited may find other files
		if err != nil {
			return tool.Result{}, toolError(err)
		}
		res, err := again.Run(ctx)
		if err != nil {
			return tool.Result{Data: dataOf(res)}, toolError(withDone(err, res))
		}
		return render(ctx, call, &f.def, res)
	}
	return a, nil
}

// unplanned is a call whose paths cannot be acquired. Where policy does not simply let the session read one, whether it is
// there is told only when the gate has let it be read.
func (f *forged) unplanned(ctx context.Context, call *tool.Call, failure error) (tool.Action, error) {
	var own *dev.Error
	if !errors.As(failure, &own) || own.Path == "" || call.Host == nil {
		return tool.Action{}, failure
	}
	path, err := call.Host.Resolve(ctx, call.Dir, own.Path)
	if err != nil || call.Reading(path) == tool.Allow {
		return tool.Action{}, failure
	}
	in := tool.Intent{Permission: tool.ReadPermission, Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(path, tool.Read)}}
	return tool.Action{Intent: in, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		if gate, ok := r.(tool.StepGate); ok {
			asked := in
			if _, err := gate.Decide(ctx, &asked); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.Result{}, failure
	}}, nil
}

// intentOf is what scheduling and explanations see of a call before it runs. What is decided are its steps.
func intentOf(prepared *dev.Prepared, def *tool.Definition) tool.Intent {
	acquire := prepared.Acquire()
	in := tool.Intent{Permission: def.Permission, Effects: []tool.Effect{tool.Read}}
	effect := tool.Read
	for _, most := range prepared.Steps() {
		if most != dev.Reads {
			effect = tool.Write
		}
	}
	if effect == tool.Write {
		in.Effects = append(in.Effects, tool.Write)
		for _, p := range prepared.Missing() {
			in.MayCreate = append(in.MayCreate, p.Real)
		}
	}
	for _, p := range acquire.Paths {
		in.Targets = append(in.Targets, tool.PathTo(p, effect))
	}
	// What programs find depends on more than the targets, so nothing else runs beside them. They are judged as commands
	// when the step is asked about.
	in.Alone = len(prepared.Commands()) > 0
	return in
}

// call is how the pipeline sees a call while it is planned.
func (f *forged) call(call *tool.Call) dev.Call {
	c := dev.Call{Dir: call.Dir, Persist: f.persist, Known: mustHaveRead(call), Baseline: baseline(call)}
	// A selector leaves out what may not simply be read, and what the tool may not touch. What is asked about stays: the
	// gate asks.
	judge := sync.OnceValue(func() func(tool.Target) tool.Verdict {
		if call.Screen == nil {
			return func(tool.Target) tool.Verdict { return tool.Allow }
		}
		return call.Screen()
	})
	c.Visible = func(p host.Path) bool {
		return call.Reading(p) == tool.Allow && judge()(tool.PathTo(p, tool.Read)) != tool.Deny
	}
	return c
}

// running is call with what only a call that runs has.
func (f *forged) running(call *tool.Call, r tool.Runner) dev.Call {
	c := f.call(call)
	c.Commit = r.Commit
	c.Progress = func(done, total int, step string) { r.Progress(float64(done), float64(total), step) }
	c.Seen = func(p host.Path, d change.Digest) {
		for _, key := range []string{p.Abs, p.Real} {
			call.ReadState.Mark(key, d)
		}
	}
	return c
}

// mustHaveRead enforces the option that files are read before they are changed.
func mustHaveRead(call *tool.Call) func(p host.Path, d change.Digest) error {
	if !call.Options.RequireRead {
		return nil
	}
	return func(p host.Path, d change.Digest) error {
		seen := false
		for _, key := range []string{p.Abs, p.Real} {
			if known, ok := call.ReadState.Seen(key); ok {
				if known == d {
					return nil
				}
				seen = true
			}
		}
		e := &tool.Error{Code: tool.OperationNotAllowed, Message: fmt.Sprintf("%q was not read in this session; nothing was written.", p.Rel), Hint: "Read it whole first, then repeat the call."}
		if seen {
			e.Code, e.Message, e.Retry = tool.Stale, fmt.Sprintf("%q changed since this session read it; nothing was written.", p.Rel), true
		}
		return e
	}
}

// withDone says what of a plan had happened when it failed.
func withDone(err error, res *dev.Result) error {
	if res == nil || len(res.Changes.Files) == 0 {
		return err
	}
	if e, ok := toolError(err).(*tool.Error); ok {
		return e.With(strings.TrimSpace(e.Hint + " Written before the failure: " + strings.SplitN(res.Changes.Summary, "\n", 2)[0] + "."))
	}
	return err
}

// granular makes the tool of one step.
func granular(p *dev.Pipeline, s dev.Step) tool.Tool {
	f := &forged{p: p, persist: true}
	f.plan = func(args json.RawMessage) (dev.Plan, error) {
		return dev.Plan{Ops: []dev.Op{{Step: s.Name, Args: args}}}, nil
	}
	f.def = tool.Definition{Name: s.Name, Category: "dev", Title: s.Title, Description: describe(p, s), Schema: schemaOf(p, s), Example: examples[s.Name],
		Permission: permissions[s.Name], SelfGated: true, Timeout: Timeout, Version: "1", Author: "tackle"}
	f.def.Annotations = tool.Annotations{ReadOnly: s.Most == dev.Reads, Destructive: s.Most != dev.Reads, Idempotent: s.Most == dev.Reads}
	if s.Name == "lint" && !p.Has(dev.CanFix) {
		f.def.Annotations = tool.Annotations{ReadOnly: true, Idempotent: true}
	}
	return f
}

var permissions = map[string]string{"read_lines": tool.ReadPermission, "edit": tool.EditPermission, "apply_patch": tool.EditPermission,
	"format": tool.EditPermission, "lint": "lint", "check": "check"}

var examples = map[string]string{
	"read_lines":  `{"path": "main.go", "offset": 1, "limit": 80}`,
	"edit":        `{"path": "main.go", "edits": [{"old_string": "x := 1", "new_string": "x := 2"}]}`,
	"apply_patch": `{"patch": "*** Begin Patch\n*** Update File: main.go\n@@\n-x := 1\n+x := 2\n*** End Patch\n"}`,
	"format":      `{"paths": ["src"]}`,
	"lint":        `{"paths": ["src"]}`,
	"check":       `{}`,
}

// schemaOf is the argument specification of a step, without what no engine here can do.
func schemaOf(p *dev.Pipeline, s dev.Step) *jsonschema.Schema {
	out := s.Args.CloneSchemas()
	if s.Name == "lint" && !p.Has(dev.CanFix) {
		delete(out.Properties, "fix")
		out.PropertyOrder = slices.DeleteFunc(slices.Clone(out.PropertyOrder), func(n string) bool { return n == "fix" })
	}
	return out
}

// composite makes dev_plan. Its ops are flat objects: the arguments of all steps, of which each step takes its own.
func composite(p *dev.Pipeline, steps []dev.Step) tool.Tool {
	var names []string
	op := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: []string{"step"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, PropertyOrder: []string{"step"}}
	users := map[string][]string{}
	for _, s := range steps {
		names = append(names, s.Name)
		args := schemaOf(p, s)
		order := args.PropertyOrder
		if len(order) == 0 {
			order = slices.Sorted(maps.Keys(args.Properties))
		}
		for _, name := range order {
			if op.Properties[name] == nil {
				op.Properties[name] = args.Properties[name]
				op.PropertyOrder = append(op.PropertyOrder, name)
			}
			users[name] = append(users[name], s.Name)
		}
	}
	for name, prop := range op.Properties {
		prop.Description = strings.TrimSpace(prop.Description + " (" + strings.Join(users[name], ", ") + ")")
	}
	op.Properties["step"] = &jsonschema.Schema{Type: "string", Description: "One of " + strings.Join(names, ", ")}
	root := &jsonschema.Schema{Type: "object", Required: []string{"ops"}, PropertyOrder: []string{"paths", "ops"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{
			"paths": {Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: "Files, folders or globs to acquire, default all"},
			"ops":   {Type: "array", Items: op, Description: "Steps, in order"},
		}}
	f := &forged{p: p}
	f.plan = func(args json.RawMessage) (dev.Plan, error) {
		var plan dev.Plan
		if err := json.Unmarshal(args, &plan); err != nil {
			return plan, &tool.Error{Code: tool.InvalidArguments, Message: "the plan cannot be read: " + err.Error() + ".", Example: f.def.Example, Err: err}
		}
		for _, op := range plan.Ops {
			if !slices.Contains(names, op.Step) {
				if slices.ContainsFunc(dev.Steps(), func(s dev.Step) bool { return s.Name == op.Step && !p.Has(s.Requires(json.RawMessage("{}"))) }) {
					continue // the pipeline says why, and that it is of no use to try again
				}
				return plan, tool.Errorf(tool.InvalidParameter, "there is no step %q.", op.Step).For("ops", "steps of "+strings.Join(names, ", ")).With("Correct the step and send the plan again. Nothing was done.")
			}
		}
		return plan, nil
	}
	f.def = tool.Definition{Name: PlanName, Category: "dev", Title: "Run a plan", Description: describePlan(names), Schema: root,
		Example:    `{"paths": ["src"], "ops": [{"step": "edit", "path": "src/a.go", "edits": [{"old_string": "x", "new_string": "y"}]}, {"step": "write"}]}`,
		Permission: tool.EditPermission, SelfGated: true, Timeout: Timeout, Version: "1", Author: "tackle", Annotations: tool.Annotations{Destructive: true}}
	return f
}
