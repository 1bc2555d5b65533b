package dev

import "context"

// Builder puts a plan together step by step. A method whose step no engine can serve, or whose arguments cannot be
// right, leaves an error: the first one is what Err and Run return, and nothing runs. A Builder is for one goroutine.
type Builder struct {
	p    *Pipeline
	plan Plan
	err  error
}

// Acquire begins a plan over files, folders and globs; none is the whole root.
func (p *Pipeline) Acquire(paths ...string) *Builder {
	return &Builder{p: p, plan: Plan{Paths: paths}}
}

// Lint are the options of the step lint.
type Lint struct {
	Fix   bool     `json:"fix,omitempty"`
	Paths []string `json:"paths,omitempty"`
}

// Check are the options of the step check.
type Check struct {
	Delta bool     `json:"delta,omitempty"`
	Paths []string `json:"paths,omitempty"`
}

// ReadLines reads limit lines of a file from line offset on; 0 is from the start and up to MaxLines.
func (b *Builder) ReadLines(path string, offset, limit int) *Builder {
	return b.add("read_lines", readLinesArgs{path, offset, limit})
}

// Edit replaces blocks of text in a file, all or none.
func (b *Builder) Edit(path string, blocks ...Block) *Builder {
	return b.add("edit", editArgs{path, blocks})
}

// ApplyPatch applies a patch. One that cannot be read is an error here already.
func (b *Builder) ApplyPatch(patch string) *Builder {
	return b.add("apply_patch", applyPatchArgs{patch})
}

// Format formats the files, or only those that are named.
func (b *Builder) Format(paths ...string) *Builder { return b.add("format", formatArgs{paths}) }

// Lint lints the files.
func (b *Builder) Lint(o Lint) *Builder { return b.add("lint", lintArgs{o.Paths, o.Fix}) }

// Check checks the files.
func (b *Builder) Check(o ...Check) *Builder {
	var a checkArgs
	for _, c := range o {
		a.Delta, a.Paths = a.Delta || c.Delta, append(a.Paths, c.Paths...)
	}
	return b.add("check", a)
}

// Write writes what changed.
func (b *Builder) Write() *Builder { return b.add(WriteName, writeArgs{}) }

func (b *Builder) add(step string, args any) *Builder {
	raw, err := encoded(args)
	if err == nil {
		_, err = b.p.lookup(Op{step, raw})
	}
	if b.err == nil {
		b.err = err
	}
	b.plan.Ops = append(b.plan.Ops, Op{step, raw})
	return b
}

// Err returns the first error of the methods so far.
func (b *Builder) Err() error { return b.err }

// Plan returns the plan, to be stored or sent.
func (b *Builder) Plan() (Plan, error) { return b.plan, b.err }

// Run runs the plan.
func (b *Builder) Run(ctx context.Context) (*Result, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.p.Run(ctx, b.plan)
}
