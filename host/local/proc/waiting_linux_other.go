//go:build linux && !amd64

package proc

import "golang.org/x/sys/unix"

// listening are the system calls that wait for one of several descriptors.
var listening = []int{unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_PWAIT}
