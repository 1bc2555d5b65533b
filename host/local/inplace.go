//go:build linux || darwin

package local

import (
	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// openForWriting opens the very inode that was verified.
func (c *commit) openForWriting(a *act) (int, error) {
	fd, err := openAt(a.dir, a.base, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == unix.ENOENT || err == unix.ELOOP {
		return -1, c.staleNow(a.op, a)
	}
	return fd, err
}

// writeInPlace writes through the existing inode. The journal holds the new content and img/ the old one, so recovery
// can finish a write that was cut short; a foreign write at the same moment cannot be detected.
func (c *commit) writeInPlace(a *act) error {
	fd, err := c.openForWriting(a)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	now, err := fstat(fd)
	if err != nil {
		return err
	}
	if !now.same(a.st) {
		return c.staleNow(a.op, a)
	}
	a.done = true
	c.l.at("in-place", c.key)
	if err := overwrite(fd, a.content()); err != nil {
		return err
	}
	mode := uint32(a.After.Mode)
	if mode == 0 {
		mode = uint32(a.st.perm())
	}
	if want := mode | a.st.mode&unix.S_ISVTX; want != a.st.mode&0o7777 {
		if err := unix.Fchmod(fd, want); err != nil {
			return err
		}
	}
	if err := fdatasync(fd); err != nil {
		return err
	}
	a.fresh, err = fstat(fd)
	return err
}

// overwrite gives an open file new content from its beginning on, so that a write that was cut short leaves new bytes
// followed by old ones and nothing else.
func overwrite(fd int, data []byte) error {
	for off := 0; off < len(data); {
		n, err := unix.Pwrite(fd, data[off:], int64(off))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		off += n
	}
	return retry(func() error { return unix.Ftruncate(fd, int64(len(data))) })
}

// restoreInPlace writes the before-image back.
func (c *commit) restoreInPlace(a *act) error {
	fd, err := c.openForWriting(a)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	now, err := fstat(fd)
	if err != nil {
		return err
	}
	if now.ino != a.st.ino || a.fresh.ino != 0 && !now.same(a.fresh) {
		return host.ErrChanged
	}
	img, st, err := openLeaf(c.s.img, imageName(c.key, a.i))
	if err != nil {
		return err
	}
	defer unix.Close(img)
	data, err := readFile(img, st.size)
	if err != nil {
		return err
	}
	if err := overwrite(fd, data); err != nil {
		return err
	}
	_ = unix.Fchmod(fd, a.st.mode&0o7777) // the content is back; a mode that could not be set was not changed either
	return fdatasync(fd)
}
