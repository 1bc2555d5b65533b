//go:build darwin || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

func flush(fd int) error {
	const read = 1 // FREAD of sys/fcntl.h
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
