package local

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	dirFlags     = unix.O_PATH | unix.O_DIRECTORY
	resolveFlags = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
)

func openat2Dir(real string) (int, error) {
	how := unix.OpenHow{Flags: dirFlags | unix.O_CLOEXEC, Resolve: resolveFlags}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, real, &how)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// linkFree reports, in one or two system calls, that no symbolic link stands in a path. False means "not known".
func (s *sys) linkFree(abs string) bool {
	if s.noOpenat2.Load() {
		return false
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolveFlags}
	fd, err := unix.Openat2(unix.AT_FDCWD, abs, &how)
	if err == unix.ENOENT {
		// The parent is link-free and exists, so the last part is what is missing; it is no dangling link, which
		// would have been ELOOP.
		dir, _ := split(abs)
		fd, err = unix.Openat2(unix.AT_FDCWD, dir, &how)
	}
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// exchange swaps two names in one step. ENOTSUP where the file system or kernel cannot.
func (s *sys) exchange(d1 int, n1 string, d2 int, n2 string) error {
	if s.noExchange.Load() {
		return unix.ENOTSUP
	}
	err := retry(func() error { return unix.Renameat2(d1, n1, d2, n2, unix.RENAME_EXCHANGE) })
	if err == unix.EINVAL || err == unix.ENOSYS {
		return unix.ENOTSUP
	}
	return err
}

// renameNew renames and never replaces. ENOTSUP where the file system or kernel cannot promise that.
func (s *sys) renameNew(d1 int, n1 string, d2 int, n2 string) error {
	if s.noExchange.Load() {
		return unix.ENOTSUP
	}
	err := retry(func() error { return unix.Renameat2(d1, n1, d2, n2, unix.RENAME_NOREPLACE) })
	if err == unix.EINVAL || err == unix.ENOSYS { // a move into itself, the other EINVAL, is refused before
		return unix.ENOTSUP
	}
	return err
}

// mountOf identifies the mount of an open file, or 0 where the kernel does not tell. A rename needs equal mounts, not
// only equal devices.
func mountOf(fd int) uint64 {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return st.Mnt_id
}

// startWriteback makes the kernel write a staged file out soon, without waiting. ext4 does this by itself when a rename
// replaces a file, so that a power cut leaves the old or the new content; for an exchange it does not, and the new file
// could be found empty.
func startWriteback(fd int) {
	_ = unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) // an optimisation of the odds; Durable is the promise
}

func fdatasync(fd int) error { return unix.Fdatasync(fd) }

// chmodAt changes the permission bits of the inode that an O_PATH descriptor holds.
func chmodFD(fd int, mode uint32) error {
	return unix.Fchmodat(unix.AT_FDCWD, procFD(fd), mode, 0)
}

// pathFlags opens an inode only to hold and describe it.
const pathFlags = unix.O_PATH

func procFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// ownXattr reports attributes that speak of the old content (capabilities, signatures) or of an overlay's layers, and
// are not for a new inode. POSIX ACLs are extended attributes too and are kept.
func ownXattr(name string) bool {
	switch name {
	case "security.capability", "security.ima", "security.evm":
		return true
	}
	return strings.HasPrefix(name, "user.overlay.") || strings.HasPrefix(name, "trusted.overlay.")
}

// dropDefaultACL keeps new files in a directory from inheriting an ACL.
func dropDefaultACL(fd int) {
	_ = unix.Fremovexattr(fd, "system.posix_acl_default") // mostly absent
}

func (s *sys) notes() []string {
	if fd, err := openat2Dir("/"); err == nil {
		unix.Close(fd)
		return nil
	}
	s.noOpenat2.Store(true)
	return []string{"no openat2 in this kernel: paths are opened one component at a time, somewhat slower"}
}
