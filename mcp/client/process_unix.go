//go:build unix

package client

import (
	"errors"
	"os/exec"
	"syscall"
)

func termGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup signals the process group that the command leads. A group that is gone is no error.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.Process == nil {
		return
	}
	if err := syscall.Kill(-cmd.Process.Pid, sig); errors.Is(err, syscall.EPERM) {
		_ = cmd.Process.Signal(sig) // a group with members of other users: at least the leader
	}
}
