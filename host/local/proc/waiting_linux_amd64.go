package proc

import "golang.org/x/sys/unix"

// listening are the system calls that wait for one of several descriptors.
var listening = []int{unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_SELECT, unix.SYS_PSELECT6, unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT}
