//go:build unix

package tackle

import (
	"os/exec"
	"syscall"
)

func shellLine(script string) []string { return []string{"/bin/sh", "-c", script} }

// ownGroup makes the program the leader of a process group, which ends as a whole.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
