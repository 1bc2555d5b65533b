//go:build linux || darwin

package local

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
)

// stageAll makes directories and puts new contents under their staged names. Nothing that existed is touched.
func (c *commit) stageAll() error {
	for _, a := range c.acts {
		var err error
		switch {
		case a.Way == wayMkdir:
			err = c.mkdir(a)
		case a.stages() && !a.Late:
			err = c.stage(a)
		case a.Way == wayMove && a.toDir < 0:
			a.toDir, err = c.reopen(a.To)
		case a.Way == wayCreate && a.dir < 0: // a link
			a.dir, err = c.reopen(a.Path)
		}
		if err == nil && a.copies() {
			err = c.stageImage(a)
		}
		if err != nil {
			return fail("commit", a.Path, err)
		}
		c.l.at("staging", c.key)
	}
	return nil
}

// reopen opens a directory that the set has made by now.
func (c *commit) reopen(path string) (int, error) {
	dir := filepath.Dir(path)
	delete(c.made, dir)
	return c.openDir(dir)
}

// mkdir makes a directory that is open to its owner for now; finishDirs gives it its mode.
func (c *commit) mkdir(a *act) (err error) {
	if a.dir < 0 {
		if a.dir, err = c.reopen(a.Path); err != nil {
			return err
		}
	}
	mode := uint32(0o777)
	if a.After.Mode != 0 {
		mode = uint32(a.After.Mode) | 0o700
	}
	switch err := unix.Mkdirat(a.dir, a.base, mode); err {
	case nil:
		a.done = true
	case unix.EEXIST: // another set was faster; a file in its place fails when it is opened
		a.Before.Type = change.Dir
		return nil
	default:
		return err
	}
	if a.After.Mode == 0 {
		return nil
	}
	return chmodDir(a.dir, a.base, mode)
}

// chmodDir sets the mode of a directory. A group that it inherits (setgid) stays inherited.
func chmodDir(dir int, base string, mode uint32) error {
	fd, err := openAt(dir, base, dirFlags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	st, err := fstat(fd)
	if err != nil {
		return err
	}
	return chmodFD(fd, mode|st.mode&unix.S_ISGID)
}

// place returns where the staged content of a step stands.
func (c *commit) place(a *act) (dir int, name string) {
	if a.Side != "" {
		return a.dir, a.Side
	}
	return c.s.img, imageName(c.key, a.i)
}

// stage writes the new content or link of a step under its staged name.
func (c *commit) stage(a *act) (err error) {
	if a.dir < 0 {
		if a.dir, err = c.reopen(a.Path); err != nil {
			return err
		}
	}
	dir, name := c.place(a)
	if a.After.Type == change.Symlink {
		if err = unix.Symlinkat(a.After.Target, dir, name); err == nil {
			a.staged = true
			a.fresh, err = lstatAt(dir, name)
		}
		a.Inode, a.Mtime = a.fresh.ino, a.fresh.mtime
		return err
	}
	mode := uint32(0o666)
	if a.After.Mode != 0 {
		mode = uint32(a.After.Mode)
	}
	replaces := a.Before.Type == change.File
	if replaces {
		mode = 0o600
	}
	fd, err := openAt(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		if replaces && a.Side != "" {
			if way := rerouted(&a.step, err); way != nil {
				return way
			}
		}
		return err
	}
	defer unix.Close(fd)
	a.staged = true
	if err := writeAll(fd, a.content()); err != nil {
		return err
	}
	if replaces {
		err = c.takeOver(a, fd)
	} else if a.After.Mode != 0 {
		err = unix.Fchmod(fd, mode)
	}
	if err != nil {
		return err
	}
	if c.durable {
		err = fdatasync(fd)
	} else if replaces {
		startWriteback(fd)
	}
	if err == nil {
		a.fresh, err = fstat(fd)
	}
	a.Inode, a.Mtime = a.fresh.ino, a.fresh.mtime
	return err
}

// takeOver gives a staged file the owner, attributes and mode of the file that it is to replace, in this order: a change
// of owner or ACL may clear mode bits. Setuid and setgid do not survive a change of content.
func (c *commit) takeOver(a *act, fd int) error {
	uid, gid := uint32(os.Geteuid()), c.s.gid
	if uid != a.st.uid || gid != a.st.gid || a.Side != "" {
		if err := unix.Fchown(fd, int(a.st.uid), int(a.st.gid)); err != nil {
			return &needWay{path: a.Path, way: wayInPlace, why: "owner kept"}
		}
	}
	if err := writeXattrs(fd, a.attrs); err != nil {
		return &needWay{path: a.Path, way: wayInPlace, why: "extended attributes kept"}
	}
	mode := uint32(a.After.Mode)
	if mode == 0 {
		mode = uint32(a.st.perm())
	}
	return unix.Fchmod(fd, mode|a.st.mode&unix.S_ISVTX)
}

// stageImage keeps a before-image ahead of the act where the act itself does not: the old inode under a second name, or
// a copy. For an in-place write the copy is durable, since a crash in the middle of the write is mended from it.
func (c *commit) stageImage(a *act) error {
	name := imageName(c.key, a.i)
	if a.st.isLink() {
		err := unix.Symlinkat(a.Before.Target, c.s.img, name)
		a.imaged = err == nil
		return err
	}
	if a.Way == wayReplace && a.st.dev == c.s.dev && !c.l.noHardlink.Load() {
		if err := unix.Linkat(a.dir, a.base, c.s.img, name, 0); err == nil {
			a.imaged = true
			if st, err := lstatAt(c.s.img, name); err != nil || !st.same(a.st) {
				return c.staleNow(a.op, a)
			}
			return nil
		}
	}
	if a.Way != wayInPlace && a.st.size > c.s.maxImage {
		return nil // it would be the first to go
	}
	fd, err := openAt(c.s.img, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	a.imaged = true
	if data, ok := a.op.Before.Blob.Bytes(); ok { // prepare compared it with the file
		err = writeAll(fd, data)
	} else {
		err = c.copyNow(a, fd)
	}
	if err == nil && (a.Way == wayInPlace || c.durable) {
		err = fdatasync(fd)
	}
	return err
}

// copyNow copies the file at a path and checks that it is still the one that prepare saw.
func (c *commit) copyNow(a *act, to int) error {
	from, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	if err := c.l.copyFile(to, from); err != nil {
		return err
	}
	if now, err := fstat(from); err != nil || !now.same(st) || !st.same(a.st) {
		return c.staleNow(a.op, a)
	}
	return nil
}

// unstage removes what stageAll made. It reports whether all of it is gone; what is left is for recovery.
func (c *commit) unstage() (clean bool) {
	clean = true
	for i := len(c.acts) - 1; i >= 0; i-- {
		a := c.acts[i]
		switch {
		case a.Way == wayMkdir && a.done:
			err := unix.Unlinkat(a.dir, a.base, unix.AT_REMOVEDIR)
			clean = clean && (err == nil || err == unix.ENOENT || err == unix.ENOTEMPTY || err == unix.EEXIST)
			a.done = false
		case a.staged && !a.done:
			dir, name := c.place(a)
			err := unix.Unlinkat(dir, name, 0)
			clean = clean && (err == nil || err == unix.ENOENT)
			a.staged = false
		}
		if a.imaged && !a.done {
			err := unix.Unlinkat(c.s.img, imageName(c.key, i), 0)
			clean = clean && (err == nil || err == unix.ENOENT)
			a.imaged = false
		}
	}
	return clean
}
