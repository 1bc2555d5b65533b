// Package permission decides what a call may do. It knows rules, guards, postures and grants; it asks nobody, runs
// nothing and touches no file.
//
// The one idea: every path, command, URL and imported tool that an intent names is judged on its own, and the call gets
// the strictest of these verdicts (deny, then ask, then allow). One target is judged in this order:
//
//  1. Guards. Some targets are decided before any rule speaks: tackle's own state is never written, and protected names
//     (hooks, editor tasks, start-up files, the configuration of agents) and commands outside confinement are at least
//     asked for, but for a command that a rule spells out whole. A guard's deny is final; only a person's grant for that
//     exact target answers a guard's ask.
//  2. Layers. A [Layer] is a list of [Rule]; its last rule that matches is its opinion, so an exception stands below the
//     rule that it excepts. Over layers the strictest opinion wins, so their order means nothing.
//  3. The posture. Where no layer has an opinion, the [Posture] decides by the [Class] of the target.
//  4. Grants. A [Grant] is the stored answer of a person. It answers an ask and never lifts a deny.
//
// Rules that restrict reach further than rules that permit, because a restriction that misses is a hole and a permission
// that misses is a question. A deny or ask compares names case-folded and Unicode-folded, covers everything below what it
// names, applies at every depth when its pattern has no slash, and needs only one of the two spellings of a path (as
// given, and as resolved) to match. An allow matches exactly what it says, needs both spellings, and covers a file that
// usually holds secrets only when its pattern names such files.
//
// A command line is as many targets as it has parts: each simple command in it, in whatever chain, substitution, wrapper or
// script (package command). So a line is allowed when every part is, by rules of several layers or because it only looks,
// and denied when any part is; what cannot be read is asked for.
//
// An ask that nobody can answer stays an ask in the [tool.Decision]; [Settle] turns it into an allow or a deny.
//
// [Gate] is the entry: [New] compiles everything once, [Gate.Decide] decides, [Gate.Why] explains the same decision rule
// by rule, [Gate.Screen] filters what a search may look at, [Gate.Narrow] makes the gate of a child, [Lint] finds rules
// that do not do what they seem to do. All compiled values are immutable and safe for concurrent use; a changed
// configuration is a new Gate, and [Live] puts it in place of the old one.
//
// Package ask holds the queue of asks, package kept keeps grants over processes (see [Keeper]), package imports reads the
// rules of other agents.
package permission
