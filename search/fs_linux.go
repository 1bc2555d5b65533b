package search

import (
	"context"
	"encoding/binary"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Local is the file system of this machine, by raw system calls: one getdents64 for a hundred kilobytes of names, files
// opened relative to their directory, no stat that is not asked for.
func Local() FS { return &raw{} }

// raw is the file system; it lends buffers for listings.
//
// A system call that may wait tells the scheduler before and after, which costs as much as a fifth of opening a cached
// file. While reads are quick that is left out. Every eighth is timed, and when one was slow (a disk has to answer), the
// next few hundred are made in the patient way, so that a search of a cold tree does not hold the processors of others.
type raw struct {
	buffers sync.Pool
	reads   atomic.Int64
	patient atomic.Int64 // up to this number of reads
}

const (
	timedReads   = 8
	patientReads = 256
	slowRead     = 200 * time.Microsecond
)

const direntsSize = 128 << 10

func (r *raw) buffer() *[]byte {
	if b, ok := r.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, direntsSize)
	return &b
}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// Root opens a directory. The path is resolved, so a link anywhere in it has appeared since and is refused.
func (r *raw) Root(_ context.Context, path string) (Dir, error) {
	how := &unix.OpenHow{Flags: dirFlags &^ unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, path, how) })
	if noOpenat2(err) {
		fd, err = retry(func() (int, error) { return unix.Open(path, dirFlags, 0) })
	}
	if err == unix.ELOOP {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	}
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return r.dir(fd), nil
}

// noOpenat2 recognises an old kernel, or a sandbox that does not know the call.
func noOpenat2(err error) bool { return err == unix.ENOSYS || err == unix.EPERM }

// dir makes a Dir of an open directory, which it owns.
func (r *raw) dir(fd int) *rawDir { return &rawDir{fs: r, fd: fd, whole: wholeReads(fd)} }

type rawDir struct {
	fs    *raw
	fd    int
	whole bool // a short read means the end of the file
}

// wholeReads reports whether the file system is one that fills the buffer unless the file ends: those that live on a disk
// or in memory. Others (proc, FUSE, network) may give less, so there the end is only what reads as nothing.
func wholeReads(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
		unix.F2FS_SUPER_MAGIC:
		return true
	}
	return false
}

func (d *rawDir) Sub(path string) (Dir, error) {
	how := &unix.OpenHow{Flags: dirFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return unix.Openat2(d.fd, path, how) })
	if noOpenat2(err) {
		fd, err = d.subByParts(path)
	}
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &rawDir{fs: d.fs, fd: fd, whole: d.whole}, nil
}

// subByParts opens one component after another, so that no link in the middle can lead away.
func (d *rawDir) subByParts(path string) (int, error) {
	at := d.fd
	for part := range strings.SplitSeq(path, "/") {
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, dirFlags, 0) })
		if at != d.fd {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

// Offsets in struct linux_dirent64.
const (
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

func (d *rawDir) Entries(e *Entries) error {
	box := d.fs.buffer()
	defer d.fs.buffers.Put(box)
	buf := *box
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, buf) })
		if err != nil {
			return pathError("list", ".", err)
		}
		if n <= 0 {
			return nil
		}
		for at := 0; at < n; {
			size := int(binary.NativeEndian.Uint16(buf[at+direntReclen:]))
			name := buf[at+direntName : at+size]
			end := 0
			for name[end] != 0 {
				end++
			}
			name = name[:end]
			kind := direntKind(buf[at+direntType])
			at += size
			if name[0] == '.' && (len(name) == 1 || len(name) == 2 && name[1] == '.') {
				continue
			}
			e.list = append(e.list, dirent{uint32(len(e.text)), uint16(len(name)), kind})
			e.text = append(e.text, name...)
		}
	}
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return RegularFile
	case unix.DT_DIR:
		return Directory
	case unix.DT_LNK:
		return SymbolicLink
	case unix.DT_UNKNOWN:
		return Unknown
	}
	return SpecialFile
}

func (d *rawDir) Read(name string, buf []byte) (int, OpenFile, error) {
	number := d.fs.reads.Add(1)
	c := quick
	if number <= d.fs.patient.Load() || number < timedReads {
		c = waiting
	}
	if c == quick && number%timedReads != 0 {
		return d.read(c, name, buf)
	}
	begin := time.Now()
	n, rest, err := d.read(c, name, buf)
	if time.Since(begin) > slowRead {
		d.fs.patient.Store(number + patientReads)
	}
	return n, rest, err
}

func (d *rawDir) read(c caller, name string, buf []byte) (int, OpenFile, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	fd, err := c.openat(d.fd, name, flags)
	if err != nil {
		return 0, nil, pathError("open", name, err)
	}
	n := 0
	for n < len(buf) {
		k, err := c.read(fd, buf[n:])
		if err != nil {
			unix.Close(fd)
			return n, nil, pathError("read", name, err)
		}
		n += k
		if k == 0 || d.whole && n < len(buf) {
			c.close(fd)
			return n, nil, nil
		}
	}
	return n, rawFile(fd), nil
}

func (d *rawDir) Stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, pathError("stat", name, err)
	}
	return Info{Kind: modeKind(st.Mode), Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()), Dev: st.Dev}, nil
}

func modeKind(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return RegularFile
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return SymbolicLink
	}
	return SpecialFile
}

func (d *rawDir) Close() error { return unix.Close(d.fd) }

// rawFile is a file descriptor.
type rawFile int

func (f rawFile) Read(b []byte) (int, error) {
	n, err := waiting.read(int(f), b)
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (f rawFile) Size() (int64, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f), &st)
	return st.Size, err
}

func (f rawFile) Close() error { return unix.Close(int(f)) }

// caller makes the three calls that every file costs: with or without telling the scheduler, and with the name copied to
// the stack instead of the heap.
type caller bool

const (
	waiting caller = false
	quick   caller = true
)

func (c caller) openat(dir int, name string, flags int) (int, error) {
	var b [256]byte
	if len(name) >= len(b) {
		return -1, unix.ENAMETOOLONG
	}
	copy(b[:], name)
	for {
		// The address is only good within the call itself, so there is one for each way.
		var fd uintptr
		var e syscall.Errno
		if c == quick {
			fd, _, e = syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&b[0])), uintptr(flags), 0, 0, 0)
		} else {
			fd, _, e = syscall.Syscall6(syscall.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&b[0])), uintptr(flags), 0, 0, 0)
		}
		if e == 0 {
			return int(fd), nil
		}
		if e != syscall.EINTR {
			return -1, e
		}
	}
}

func (c caller) read(fd int, b []byte) (int, error) {
	for {
		var n uintptr
		var e syscall.Errno
		if c == quick {
			n, _, e = syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		} else {
			n, _, e = syscall.Syscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		}
		if e == 0 {
			return int(n), nil
		}
		if e != syscall.EINTR {
			return 0, e
		}
	}
}

func (c caller) close(fd int) {
	if c == quick {
		syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
	} else {
		syscall.Syscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
	}
}

func retry(f func() (int, error)) (int, error) {
	for {
		if n, err := f(); err != unix.EINTR {
			return n, err
		}
	}
}

// pathError wraps an error of the system. A link that appeared where a file was, a device that does not answer and the
// like are ErrNotRegular.
func pathError(op, path string, err error) error {
	switch err {
	case unix.ELOOP, unix.ENXIO, unix.EAGAIN, unix.EISDIR:
		err = ErrNotRegular
	case unix.ENOTDIR:
		err = ErrNotDir
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
