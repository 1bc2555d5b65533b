package mcp

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUser returns the user at the other end of a socket.
func peerUser(c net.Conn) (uid int, ok bool) {
	u, isUnix := c.(*net.UnixConn)
	if !isUnix {
		return 0, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || failed != nil {
		return 0, false
	}
	return int(cred.Uid), true
}
