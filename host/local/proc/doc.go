// Package proc runs commands on this machine and owns their whole process trees: it is the command half of the local
// host.
//
// # What a command gets
//
// A session of its own without a terminal (or with a pseudo-terminal, when asked), an input that is at its end, one
// stream for output and errors, and an environment made from a list of names ([Environment]). It is run by bash without
// start-up files, never by a login shell. Nothing confines it: [Runner.Confinement] says so.
//
// # How its tree is found and ended
//
// A command's children may make sessions of their own, close everything, and be adopted by init. To own them too there is
// a keeper: a second process of this very binary between the owner and the command. Keepers are started when needed, wait
// for commands on a socket, serve one at a time and are used again, so a command does not pay for the start of one.
// A keeper is
//
//   - the subreaper of its tree, so that orphans become its children, and the tree is gone when it has no child left;
//   - outside of the control group (version 2) that its command starts in, where one can be made: cgroup.kill ends all
//     members in one step, also those that fork as fast as they are killed;
//   - or, with [TreeNamespace], process 1 of a pid namespace, whose end the kernel makes the end of all others;
//   - the reader of the output, so that a detached command goes on when its owner is gone;
//   - at the other end of the owner's socket: when that closes, kill -9 included, the keeper ends the tree and writes the
//     record of it.
//
// The owner looks after its keepers in turn: a command may stop or kill the one above it. A tree that grows past
// host.Limits.Tree is ended at once, a fork bomb whose first process is gone included.
//
// A program that wants keepers calls [KeeperMain] first in its main and sets [Config.Keeper]. Without them the owner
// starts commands itself: the tree is then a control group where possible, and otherwise what can be found by session,
// group, parent and the mark in the environment ([MarkVariable]); a killed owner leaves all but the leader behind.
//
// # Where output goes
//
// Into files with a quota (host.Command.Spool), plain text: the first file holds the first half of the quota, two more
// take turns for the end. Memory does not depend on the amount of output, and a full disk loses output, never a command.
package proc

// MarkVariable holds host.Command.Run in the environment of every process of a tree.
const MarkVariable = "TACKLE_RUN"
