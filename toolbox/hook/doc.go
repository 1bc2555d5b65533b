// Package hook runs external commands around calls, in the convention that Claude Code made common: a command gets a JSON
// object on its standard input and answers with its exit code and a JSON object. Settings and scripts written for
// Claude Code work unchanged.
//
// The one idea: a hook is a guard, and a guard that fails is a closed door. A hook before a call that cannot be started,
// crashes, hangs or prints what is no answer stops the call, with a visible error. This differs from the convention on
// purpose, where such a hook lets the call pass; "failOpen": true in a hook's entry has it the other way.
//
// Where hooks stand:
//
//   - [Hooks] is a toolbox.Hook: PreToolUse runs before the arguments are validated, so what a hook rewrites takes the whole
//     road; PostToolUse adds to the result.
//   - [Hooks.Gate] stands around the gate: "ask" of a hook makes an allow an ask, "allow" answers an ask of the posture. It
//     never lifts a deny, the ask of a rule, or a guard.
//   - [Hooks.Face] answers asks for PermissionRequest, beside people and within the same limits.
//   - [Hooks.SessionStart] and [Hooks.Stop] are called by whoever runs the loop.
//   - [Serve] is the other direction: an answer to the hooks of other agents, from our gate.
//
// Tools are shown to hooks under the names and fields of the convention ([Foreign]): shell as Bash, write_file as Write. A
// tool without a counterpart that changes files is shown as the Edit or Write of each file that it touches, so that a
// guard for "Edit|Write" sees it. A hook gets the arguments as the tool would get them: a wrong spelling that is repaired
// later cannot pass by a guard. Arguments reach a hook on standard input only, never in its command line.
//
// The configuration is read once ([Parse]); the package starts no program itself: that is the [Runner]'s part.
package hook
