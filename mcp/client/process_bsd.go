//go:build unix && !linux

package client

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command in a process group of its own. A server ends when its input ends, also when we are killed.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func lockThread() (unlock func()) { return func() {} }
