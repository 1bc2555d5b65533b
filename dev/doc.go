// Package dev is the core of the dev pipeline: it reads, edits, formats, lints and checks the files of one root, with
// engines that are handed to it, and asks one gate before every step. It knows no agent.
//
//	p, err := dev.New(dev.Config{Host: h, Gate: gate, Engines: engines})
//	res, err := p.Acquire("src").Edit("src/a.go", dev.Block{Old: "x", New: "y"}).Format().Check().Write().Run(ctx)
//
// The builder makes a [Plan], and a Plan, written down as JSON, is what a model sends: both run the same code. Files
// enter the workspace of a plan only by being acquired; steps change them in memory, and a write carries all of it out
// as one changeset. With Call.Persist each step writes what it changed before it returns: that is how a call of a single
// step works.
//
// The one idea: the pipeline owns the gate. It calls it once for a step, with what the caller wrote (Args) apart from
// what that came to (Targets), so that nobody has to gate around it. A step whose bytes can be known beforehand, a
// formatter included, is shown to the gate with exactly those bytes, and those are what is written.
//
// Engines serve capabilities of files. A capability that no engine has is an error before anything is asked; a file that
// no engine serves is skipped, and the result says so. What an engine found about a content is kept by that content, so an
// unchanged file is not looked at twice.
package dev
