// Package history reads what sessions left behind, and makes new sessions of it. It needs no model and runs no tool.
//
// A session is its events: those of the loop (what was said, answered, called) and those of the road (what a call would touch,
// who decided, what it changed). [Open] folds both into turns that people can read, [List] says in a line what each session was,
// and from a [Session] come the export as a page or as lines of JSON, and the replay. Nothing here changes a stored session: a
// rewind is a [Fork] that ends earlier, and the session it was made from stays as it is.
//
// Sessions without a loop, as those of MCP clients, have calls and no messages; they are read like the others, and cannot be
// gone on with.
package history
