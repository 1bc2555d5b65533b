// Package local is the host of this machine: it resolves and reads paths, and commits changesets to its file system. Its
// command half is package proc, which [Local.Runner] opens.
//
// # What a commit promises
//
// All of a set or none of it, also after kill -9; the file that was judged is the file that is used; what stood at a
// path before is kept as a before-image; two processes never lose each other's change.
//
// # How a file is replaced
//
// New content is staged as a file in the state directory, with owner, mode, extended attributes and ACL of the file that
// it replaces, and then exchanged with it in one system call. The displaced inode thereby lands in the state directory
// and is the before-image: nothing is copied and nothing is unlinked, and no temporary file ever appears in the
// workspace. Only then is the displaced inode compared with the one whose content was verified. If it is another one,
// somebody was faster: the exchange is undone and the commit is stale. Where the state directory is on another file
// system, the new content is staged beside the target as ".~tackle-…" and the before-image is copied.
//
// Hard links, bind-mounted files, files whose owner or attributes cannot be given to a new inode, files in directories
// that cannot be written, and commits with PreserveInode are written in place, under the journal.
//
// # Journal
//
// Each process that commits owns a slot of the state directory while it lives (a flock on slots/N/lock):
//
//	locks/XX            one lock file for each of 256 classes of paths
//	slots/N/log         begin, staged, end and abort lines of this slot's transactions, appended
//	slots/N/log-KEY     older segments of the log, complete
//	slots/N/img/KEY.I   before-image of step I of transaction KEY; until its exchange, the staged new content
//	slots/N/tx/KEY      a committed set of several operations: its steps and all new contents, ended by a checksum
//
//	run/                output of running commands (package proc)
//
// A set with one atomic operation needs no tx file; its commit point is that operation. For several, the commit point is
// the synced tx file: before it recovery drops the set, after it recovery finishes it. [Local.Recover] treats only slots
// whose owner is dead.
//
// # What it is not
//
// It judges no path: policy does. Name folding of case-insensitive or normalising file systems is not undone: Resolve
// keeps a name as written, so a policy that compares names must fold them. Sets are serialised per path, not per
// directory tree: moving a directory while another set writes below it lets the write land in the moved directory.
package local
