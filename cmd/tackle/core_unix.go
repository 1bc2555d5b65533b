//go:build unix

package main

import "syscall"

// noCoreDumps keeps what this process holds, credentials among it, out of files that a crash would leave.
func noCoreDumps() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
