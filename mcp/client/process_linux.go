package client

import (
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup puts the command in a process group of its own, and has the system kill it when we die, however we die.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// lockThread keeps the goroutine on its thread, on which the death signal depends.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
