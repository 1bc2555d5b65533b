// Package task keeps background tasks: commands that run on while the conversation goes on. A [Manager] starts them, or
// takes over a foreground command that has run past its budget, lists them, reads what they wrote since the last reading,
// feeds them, waits for them and stops them.
//
// # What is durable
//
// Each task has a folder of its own below the tasks directory, named by its id:
//
//	ID/task.json    what it is: command, session, and the handle by which its process is found again
//	ID/exit.json    how it ended, written by whoever watched it then
//	ID/door         a socket through which other processes of this user feed it, while its server lives
//	ID/output.log   what it wrote, with a quota; long output goes on in output.OFFSET.log
//
// A task ends with its session, and with the process that started it, unless it is detached. What is true of a task is
// read from its folder and from the process table, never from what a manager remembers, so it is true after kill -9 of
// the server too: [Manager.Recover] finds what an earlier server left, ends what should have ended with it, and writes
// down what nobody saw.
//
// Several servers may share a tasks directory. Each sees, reads and can stop the tasks of the others; only a task whose
// server is dead is ever recovered.
//
// # What it is not
//
// It starts no shell of its own and judges no command: that is policy's part. It cuts no text: readers get bytes, whole
// characters at a time, and packages above bound them.
package task
