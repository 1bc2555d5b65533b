//go:build linux || darwin

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// sys is what this package asks of the kernel. Its switches are learned, and set by tests to take the roads of lesser
// kernels and file systems.
type sys struct {
	noOpenat2  atomic.Bool // ENOSYS or filtered: walk by components
	noSwap     sync.Map    // devices whose file system cannot exchange
	noExchange atomic.Bool // tests: as if the file system could not exchange
	noState    atomic.Bool // tests: as if the state directory were on another file system
	noHardlink atomic.Bool // tests: as if the file system had no hard links
}

// stat is what a path is, without its name. It is also the identity that proves that an inode is the one that was read:
// dev, ino, size and mtime. The change time is no part of it, since a rename sets it.
type stat struct {
	dev, ino, links uint64
	mode            uint32 // type and permission bits as the kernel has them
	uid, gid        uint32
	size, mtime     int64 // bytes; nanoseconds since 1970
}

func toStat(st *unix.Stat_t) stat {
	return stat{
		dev: uint64(st.Dev), ino: st.Ino, links: uint64(st.Nlink), mode: uint32(st.Mode), //nolint:unconvert // widths differ by system
		uid: st.Uid, gid: st.Gid, size: st.Size, mtime: st.Mtim.Nano(),
	}
}

func (s stat) kind() uint32  { return s.mode & unix.S_IFMT }
func (s stat) regular() bool { return s.kind() == unix.S_IFREG }
func (s stat) isDir() bool   { return s.kind() == unix.S_IFDIR }
func (s stat) isLink() bool  { return s.kind() == unix.S_IFLNK }

// perm returns the permission bits without setuid, setgid and sticky.
func (s stat) perm() fs.FileMode { return fs.FileMode(s.mode & 0o777) }

// same reports whether two observations are of one inode that was not written in between.
func (s stat) same(t stat) bool {
	if s.dev != t.dev || s.ino != t.ino || s.kind() != t.kind() {
		return false
	}
	return s.isDir() || s.size == t.size && s.mtime == t.mtime
}

func (s stat) typ() (change.Type, string) {
	switch s.kind() {
	case unix.S_IFREG:
		return change.File, ""
	case unix.S_IFDIR:
		return change.Dir, ""
	case unix.S_IFLNK:
		return change.Symlink, ""
	case unix.S_IFIFO:
		return change.Absent, "fifo"
	case unix.S_IFSOCK:
		return change.Absent, "socket"
	}
	return change.Absent, "device"
}

func (s stat) info(name string) host.FileInfo {
	typ, special := s.typ()
	return host.FileInfo{
		Name: name, Type: typ, Special: special, Mode: s.perm(), Size: s.size, ModTime: time.Unix(0, s.mtime),
		Dev: s.dev, Ino: s.ino, Links: s.links,
	}
}

func fstat(fd int) (stat, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(fd, &st) })
	return toStat(&st), err
}

// lstatAt describes name in a directory without following it.
func lstatAt(dir int, name string) (stat, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return toStat(&st), err
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func openAt(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, mode)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func readlinkAt(dir int, name string) (string, error) {
	buf := make([]byte, maxPath)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// openDir opens a directory by its resolved path. A symbolic link anywhere in it is ELOOP: it appeared after Resolve.
func (s *sys) openDir(real string) (int, error) {
	if !s.noOpenat2.Load() {
		fd, err := openat2Dir(real)
		if err != unix.ENOSYS && err != unix.EPERM {
			return fd, err
		}
		s.noOpenat2.Store(true) // EPERM: old container runtimes filter what they do not know
	}
	return walkDir(real)
}

// walkDir does what openat2 does, one component at a time.
func walkDir(real string) (int, error) {
	fd, err := openAt(unix.AT_FDCWD, "/", dirFlags, 0)
	if err != nil {
		return -1, err
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(real, "/"), "/") {
		if name == "" {
			continue
		}
		next, err := openAt(fd, name, dirFlags, 0)
		if err == unix.ENOTDIR { // what O_DIRECTORY says of a link that O_NOFOLLOW does not follow
			if st, serr := lstatAt(fd, name); serr == nil && st.isLink() {
				err = unix.ELOOP
			}
		}
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// openLeaf opens a regular file in a directory for reading and nothing else: a special file is recognised before it is
// opened, and should one be swapped in, the open does not block and is closed unread.
func openLeaf(dir int, name string) (int, stat, error) {
	st, err := lstatAt(dir, name)
	if err == nil {
		err = regularOnly(st)
	}
	if err != nil {
		return -1, st, err
	}
	fd, err := openAt(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return -1, st, err
	}
	if st, err = fstat(fd); err == nil {
		err = regularOnly(st)
	}
	if err != nil {
		unix.Close(fd)
		return -1, st, err
	}
	return fd, st, nil
}

func regularOnly(st stat) error {
	switch typ, special := st.typ(); {
	case typ == change.Dir:
		return unix.EISDIR
	case typ == change.Symlink:
		return unix.ELOOP
	case special != "":
		return fmt.Errorf("%w: it is a %s", host.ErrSpecial, special)
	}
	return nil
}

// split returns the directory and the last name of a resolved path; "/" is "." in itself.
func split(real string) (dir, base string) {
	if real == "/" {
		return "/", "."
	}
	return filepath.Dir(real), filepath.Base(real)
}

// writeAll writes data at the current offset.
func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// preadFull reads until buf is full or the file ends.
func preadFull(fd int, buf []byte, off int64) (int, error) {
	done := 0
	for done < len(buf) {
		n, err := unix.Pread(fd, buf[done:], off+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		if n == 0 {
			break
		}
		done += n
	}
	return done, nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir int) error {
	fd, err := openAt(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fsync(fd)
}

// translate turns an errno into one of the host's errors and keeps what the kernel said where it says more.
func translate(err error) error {
	var no unix.Errno
	if !errors.As(err, &no) {
		return err
	}
	var base error
	switch no {
	case unix.ENOENT:
		return fs.ErrNotExist
	case unix.EACCES:
		return fs.ErrPermission
	case unix.EPERM, unix.EROFS, unix.ETXTBSY:
		base = fs.ErrPermission
	case unix.EISDIR:
		return host.ErrIsDir
	case unix.ENOTDIR:
		return host.ErrNotDir
	case unix.ELOOP:
		return fmt.Errorf("%w: a symbolic link stands where none was when the path was resolved", host.ErrChanged)
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		base = host.ErrNoSpace
	case unix.ENOTEMPTY:
		return host.ErrNotEmpty
	case unix.EEXIST:
		base = fs.ErrExist
	case unix.ENAMETOOLONG, unix.EILSEQ:
		base = host.ErrInvalidPath
	case unix.ENXIO:
		return host.ErrSpecial
	default:
		return err
	}
	return fmt.Errorf("%w: %w", base, no)
}
