// Package forge turns a dev pipeline into tools for agents.
//
//	tools, err := forge.Tools(p, forge.Options{})
//
// It has no option for a gate: the pipeline owns the gate and calls it once for each step, so a tool's call is gated
// exactly as a direct call of the builder is. A second gate here would ask twice for one thing, or swallow one of the two
// questions. Where the tools live in a toolbox, the pipeline is built with [Road] as its gate: then the toolbox's own gate
// decides about every step, and the road adds none. (The media forge does gate by itself, because its pipeline has no
// gate.)
//
// Granular tools, the default, are one tool for each step that some engine can serve, with the argument specification of
// the step as its schema. A call is a whole plan of one step: it acquires, does the step, and what the step changed is on
// the disk when it returns, because nothing of the workspace lives on. That follows from the effect of the step, not from
// its name; a write tool would find nothing to write and is never made. The gate is asked exactly twice by a call that
// changes files: for the files, and for the step with persists: true among its arguments. The composite surface is one
// tool, dev_plan, for models that can put a plan together; there, write is a step.
package forge
