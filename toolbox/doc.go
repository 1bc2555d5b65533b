// Package toolbox holds tools and the one road that every call takes.
//
//	look up → hooks → repair + validate → PLAN ── Intent ──→ DECIDE → RUN → bound → record
//
// [Box.Plan], [Box.Decide] and [Box.Run] are the three stations; what goes from one to the next can be written down
// (see [Ticket]), so that a call may stop at a border and go on in another process. [Box.Call] composes them, and
// [Box.CallAll] runs the calls of one turn in parallel where their intents allow it, with the results of running them
// one by one.
//
// The package decides nothing about permission (a [Gate] does), stores nothing (a [Recorder] does) and knows no tool.
package toolbox
