package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Call is what one run of a plan brings along. The zero Call is that of a builder.
type Call struct {
	// Dir is the folder that relative paths of the plan start from. Default: the root.
	Dir string
	// Persist makes every step that changes files write them before it returns: the plan has one step, and nothing of its
	// workspace lives on. The write is part of the step; the gate is not asked for it again.
	Persist bool
	// Commit replaces the Commit of the file system for this run, where changes are recorded for whoever calls.
	Commit func(ctx context.Context, set *change.Set) (host.Receipt, error)
	// Visible reports whether a selector may come to a file. Files that are named are for the gate. Nil: all may.
	Visible func(p host.Path) bool
	// Baseline returns, by absolute path, what files were before the changes whose effect check with delta shall tell, and
	// names it ("the start of the session"). Nil: what the plan acquired is compared with what it made of it.
	Baseline func(ctx context.Context) (files map[string]change.State, name string, err error)
	// Known refuses to edit a file whose content the caller does not know. Nil: every change is let through.
	Known func(p host.Path, content change.Digest) error
	// Seen is told what the caller gets to see of a file that it read whole, or wrote. Nil: nobody is.
	Seen func(p host.Path, content change.Digest)
	// Progress is told about steps as they begin.
	Progress func(done, total int, step string)
}

// Prepared is a plan that was looked at and found possible: its steps exist, an engine serves each, patches are parsed,
// paths are resolved. Nothing was read, and nobody was asked.
type Prepared struct {
	w     *workspace
	plan  Plan
	steps []Step
	made  []*entry // that steps may make
}

// Prepare looks at a plan. Its errors, all *Error, come before any gate.
func (p *Pipeline) Prepare(ctx context.Context, plan Plan, call Call) (*Prepared, error) {
	pr := &Prepared{plan: plan, w: &workspace{p: p, call: call, files: map[string]*entry{}, granted: map[string]bool{}, result: &Result{}}}
	for _, op := range plan.Ops {
		s, err := p.lookup(op)
		if err != nil {
			return nil, err
		}
		if call.Persist && s.Name == WriteName {
			return nil, invalid(s.Name, "a plan of steps that persist has nothing left to write")
		}
		pr.steps = append(pr.steps, s)
	}
	pr.made = pr.making(ctx)
	paths, missing := plan.Paths, false
	if call.Persist && len(plan.Ops) == 1 && plan.Paths == nil {
		var err error
		if paths, missing, err = pr.steps[0].paths(plan.Ops[0].args()); err != nil {
			return nil, err
		}
		pr.plan.Paths = paths
		if missing && len(paths) == 0 {
			return pr, nil
		}
	}
	return pr, pr.w.find(ctx, paths, missing)
}

// Acquire returns the request that asks for the files of the plan.
func (pr *Prepared) Acquire() *Request {
	args, err := encoded(acquireArgs{pr.plan.Paths})
	if err != nil {
		args = json.RawMessage("{}") // strings always marshal
	}
	r := &Request{Step: AcquireName, Args: args, Commands: pr.isolated(), Missing: pr.Missing()}
	r.target(pr.w.sorted())
	return r
}

// Missing returns the paths on the host that the plan names and that do not exist: a step may create them.
func (pr *Prepared) Missing() []host.Path { return slices.Clone(pr.w.missing) }

// isolated lists the commands that engines start on copies before the gate is asked about their step.
func (pr *Prepared) isolated() []string {
	var out []string
	files := append(pr.w.sorted(), pr.made...)
	for i, s := range pr.steps {
		args := pr.plan.Ops[i].args()
		if need := s.Requires(args); need != "" && s.Effect(args) == Delta {
			out = append(out, pr.w.commands(need, files)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// making lists the files that steps of the plan change and may make: a formatter further on is started for them too. None
// of them is acquired by that.
func (pr *Prepared) making(ctx context.Context) (out []*entry) {
	for i, s := range pr.steps {
		args := pr.plan.Ops[i].args()
		if s.Effect(args) != Delta || s.Requires(args) != "" {
			continue
		}
		paths, _, err := s.paths(args)
		if err != nil {
			continue // the step will say so
		}
		for _, path := range paths {
			if r, err := pr.w.resolve(ctx, path); err == nil {
				out = append(out, &entry{path: r, file: pr.w.p.file(r.Real)})
			}
		}
	}
	return out
}

// Steps returns the steps of the plan with what each can do at most.
func (pr *Prepared) Steps() map[string]Effect {
	out := map[string]Effect{}
	for i, s := range pr.steps {
		out[s.Name] = max(out[s.Name], s.Effect(pr.plan.Ops[i].args()))
	}
	return out
}

// Commands lists every command line that engines may start for the plan.
func (pr *Prepared) Commands() []string {
	var out []string
	files := append(pr.w.sorted(), pr.made...)
	for i, s := range pr.steps {
		if need := s.Requires(pr.plan.Ops[i].args()); need != "" {
			out = append(out, pr.w.commands(need, files)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *Request) target(entries []*entry) {
	for _, e := range entries {
		r.Targets, r.Paths = append(r.Targets, e.rel), append(r.Paths, e.path)
	}
}

// Run runs a plan with its own workspace. See [Pipeline.RunCall].
func (p *Pipeline) Run(ctx context.Context, plan Plan) (*Result, error) {
	return p.RunCall(ctx, plan, Call{})
}

// RunCall runs a plan. Beside an error the result says what was done until then.
// Errors: *Error, *DeniedError, those of the gate itself, and those of a commit.
func (p *Pipeline) RunCall(ctx context.Context, plan Plan, call Call) (*Result, error) {
	pr, err := p.Prepare(ctx, plan, call)
	if err != nil {
		return nil, err
	}
	return pr.Run(ctx)
}

// Run runs a prepared plan, once.
func (pr *Prepared) Run(ctx context.Context) (*Result, error) {
	w := pr.w
	err := w.ask(ctx, pr.Acquire())
	for i := range pr.steps {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		if f := w.call.Progress; f != nil {
			f(i, len(pr.steps), pr.steps[i].Name)
		}
		err = w.step(ctx, pr.steps[i], pr.plan.Ops[i].args())
	}
	w.leftover()
	w.result.OK = err == nil
	if err != nil {
		w.result.Error = err.Error()
	}
	w.result.finish()
	return w.result, err
}

// ask asks the gate, and notes the programs that may be started once it has granted.
func (w *workspace) ask(ctx context.Context, r *Request) error {
	if err := w.p.cfg.Gate.Ask(ctx, r); err != nil {
		var denied *DeniedError
		if errors.As(err, &denied) {
			return err
		}
		return fmt.Errorf("gate: %w", err)
	}
	for _, c := range r.Commands {
		w.granted[c] = true
	}
	return ctx.Err()
}

// step runs one step: propose, ask, do, and with Persist write.
func (w *workspace) step(ctx context.Context, s Step, args json.RawMessage) error {
	ran := Ran{Step: s.Name}
	defer func() { w.result.Steps = append(w.result.Steps, ran) }()
	prop, err := s.propose(ctx, w, args)
	if err != nil {
		return inStep(s.Name, err)
	}
	if w.onEdit(s, args) {
		if err := w.formatProposed(ctx, s.Name, prop); err != nil {
			return err
		}
	}
	if s.Effect(args) == Delta && s.Requires(args) == "" { // what an engine makes of a file needs no knowledge of it
		for _, n := range prop.states {
			if err := w.known(n.entry); err != nil {
				return err
			}
		}
	}
	ran.Targets = len(prop.targets)
	r := &Request{Step: s.Name, Args: args, Engines: prop.engines, Commands: prop.commands, Effect: s.Effect(args)}
	r.target(prop.targets)
	slices.SortFunc(prop.creates, byPath)
	for _, e := range prop.creates {
		r.MayCreate, r.Creates = append(r.MayCreate, e.rel), append(r.Creates, e.path.Real)
	}
	persists := w.call.Persist && r.Effect == Delta
	var set *change.Set
	if persists || r.Effect == Writes {
		if set, err = w.set(ctx, s.Name, prop.states); err != nil {
			return err
		}
		r.Persists, r.Changes = true, set
	}
	if persists {
		r.Args = persisting(args)
	}
	if err := w.ask(ctx, r); err != nil {
		return err
	}
	for _, n := range prop.states {
		n.entry.now, n.entry.loaded = n.state, true
	}
	ran.Changed = len(prop.states)
	if prop.apply != nil {
		if err := prop.apply(ctx); err != nil {
			return inStep(s.Name, err)
		}
	}
	if set.Empty() {
		return nil
	}
	ran.Changed = len(set.Ops)
	return w.commit(ctx, s.Name, set)
}

// set makes the changeset of everything that differs from the disk once the given states are taken over, and checks that
// each of its files may be written.
func (w *workspace) set(ctx context.Context, step string, states []newState) (*change.Set, error) {
	next := map[*entry]change.State{}
	for _, e := range w.sorted() {
		if e.loaded {
			next[e] = e.now
		}
	}
	for _, n := range states {
		next[n.entry] = n.state
	}
	set := &change.Set{}
	for _, e := range w.sorted() {
		now, ok := next[e]
		if !ok || e.base.Equal(now) {
			continue
		}
		if err := w.p.cfg.FileSystem.CanWrite(ctx, e.path); err != nil {
			return nil, &Error{Code: Unwritable, Step: step, Path: e.rel, Message: fmt.Sprintf("%q cannot be written: %v", e.rel, reason(err)), Hint: "Nothing was written. Leave the file out, or have its permissions changed.", Err: err}
		}
		op := change.Op{Kind: change.Write, Path: e.path.Real, Before: e.base, After: now}
		if now.Type == change.Absent {
			op = change.Op{Kind: change.Delete, Path: e.path.Real, Before: e.base}
		}
		set.Ops = append(set.Ops, op)
	}
	if err := set.Validate(); err != nil {
		return nil, &Error{Code: Invalid, Step: step, Message: sentence(err), Hint: "Nothing was written. Make the changes in separate calls.", Err: err}
	}
	return set, nil
}

func (w *workspace) known(e *entry) error {
	if w.call.Known == nil || e.base.Type != change.File {
		return nil
	}
	return w.call.Known(e.path, e.base.Blob.Digest())
}

// commit writes a set and takes it as the new base.
func (w *workspace) commit(ctx context.Context, step string, set *change.Set) error {
	write := w.call.Commit
	if write == nil {
		write = w.p.cfg.FileSystem.Commit
	}
	receipt, err := write(ctx, set)
	if err != nil {
		return w.notWritten(step, err)
	}
	w.result.wrote(set, w.p.root.Real, receipt.ID)
	for i := range set.Ops {
		e := w.files[set.Ops[i].Path]
		if e.now.Type == change.File && e.now.Mode == 0 { // the host chose
			if info, err := w.p.cfg.Host.Stat(ctx, e.path.Real); err == nil {
				e.now.Mode = info.Mode
			}
		}
		e.base = e.now
		if w.call.Seen != nil {
			w.call.Seen(e.path, e.now.Blob.Digest())
		}
	}
	return nil
}

// notWritten keeps the error of whoever wrote, and explains that of a host.
func (w *workspace) notWritten(step string, err error) error {
	var stale *host.StaleError
	var pe *host.PathError
	switch {
	case errors.As(err, &stale):
		return &Error{Code: Stale, Step: step, Path: w.p.rel(stale.Path), Err: err, Message: fmt.Sprintf("%q changed on the disk while the plan ran; nothing was written", w.p.rel(stale.Path)), Hint: "Read it again and send the plan anew."}
	case errors.As(err, &pe):
		return &Error{Code: Unwritable, Step: step, Path: w.p.rel(pe.Path), Err: err, Message: fmt.Sprintf("%q cannot be written: %v", w.p.rel(pe.Path), pe.Err), Hint: "Nothing was written."}
	}
	return err
}

// leftover lists what the plan changed and did not write.
func (w *workspace) leftover() {
	for _, e := range w.sorted() {
		if e.dirty() {
			w.result.Unwritten = append(w.result.Unwritten, e.rel)
		}
	}
	if n := len(w.result.Unwritten); n > 0 {
		w.result.note(Diagnostic{Severity: Warn, Source: "dev", Code: "unwritten", Message: fmt.Sprintf("changed and not written: %s, lost with this plan; end it with a write step to keep them", plural(n, "file"))})
	}
}
