package local

import (
	"slices"

	"golang.org/x/sys/unix"
)

const (
	dirFlags  = unix.O_RDONLY | unix.O_DIRECTORY
	pathFlags = unix.O_RDONLY | unix.O_NONBLOCK
)

func openat2Dir(string) (int, error) { return -1, unix.ENOSYS }

func (s *sys) linkFree(string) bool { return false }

// exchange swaps two names in one step, where the volume is APFS.
func (s *sys) exchange(d1 int, n1 string, d2 int, n2 string) error {
	if s.noExchange.Load() {
		return unix.ENOTSUP
	}
	return retry(func() error { return unix.RenameatxNp(d1, n1, d2, n2, unix.RENAME_SWAP) })
}

// renameNew renames and never replaces.
func (s *sys) renameNew(d1 int, n1 string, d2 int, n2 string) error {
	if s.noExchange.Load() {
		return unix.ENOTSUP
	}
	return retry(func() error { return unix.RenameatxNp(d1, n1, d2, n2, unix.RENAME_EXCL) })
}

func mountOf(int) uint64 { return 0 }

func startWriteback(int) {}

func fdatasync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	return err
}

func chmodFD(fd int, mode uint32) error { return unix.Fchmod(fd, mode) }

// ownXattr reports attributes that only the system sets.
func ownXattr(name string) bool {
	return slices.Contains([]string{"com.apple.provenance", "com.apple.macl", "com.apple.rootless"}, name)
}

func dropDefaultACL(int) {}

func (s *sys) notes() []string {
	return []string{
		"no openat2 on this system: paths are opened one component at a time",
		"ACLs of replaced files are not kept on this system",
	}
}
