// Package tool is the contract between a tool and everything that stands around it.
//
// A call is a sentence with two halves: what it would touch, and doing it. A tool answers the first half without side
// effects: its Plan turns arguments into an [Action], which is an [Intent] and a function that does the thing. Policy,
// approval, previews, limits, audit and undo stand between the halves and are written once, in package toolbox.
//
// Most tools are made with [Define] from a Go struct. A tool never asks for permission, never truncates, never
// retries, and touches the world only through the [Call] it is given.
//
// Outcomes are three, never mixed: an *[Error] is text for the model and the turn goes on; a *[Denial] is the word of
// policy or of a person; any other error that is wrapped by [Fault] stops the run.
package tool
