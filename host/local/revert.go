//go:build linux || darwin

package local

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// rollback undoes the steps that have happened, the last first. What somebody changed since stays as it is; the first
// such path is the error, and its before-image is kept.
func (c *commit) rollback() error {
	var first error
	for i := len(c.acts) - 1; i >= 0; i-- {
		a := c.acts[i]
		if !a.done || a.Way == wayMkdir {
			continue
		}
		if err := c.revert(a); err != nil && first == nil {
			first = &host.PathError{Op: "roll back", Path: a.Path, Err: translate(err)}
		}
		c.l.at("reverted", c.key)
	}
	return first
}

// revert undoes one step.
func (c *commit) revert(a *act) (err error) {
	switch a.Way {
	case wayCreate:
		err = c.uncreate(a)
	case wayExchange, waySide, wayReplace:
		err = c.unexchange(a)
	case wayInPlace:
		err = c.restoreInPlace(a)
	case wayDelete:
		if a.Side != "" && !a.stands() {
			return c.restoreCopy(a)
		}
		return c.giveBack(a)
	case wayRmdir:
		if err = unix.Mkdirat(a.dir, a.base, 0o700); err == nil {
			_ = unix.Fchownat(a.dir, a.base, int(a.st.uid), int(a.st.gid), unix.AT_SYMLINK_NOFOLLOW) // as far as permitted
			err = chmodDir(a.dir, a.base, a.st.mode&0o7777)
			c.remade(a.Path)
		}
	case wayMove:
		if got, serr := lstatAt(a.toDir, a.toBase); serr != nil || !got.same(a.st) {
			return fmt.Errorf("%w: %s", host.ErrChanged, a.To)
		}
		err = c.l.renameFree(a.toDir, a.toBase, a.dir, a.base)
	case wayChmod:
		err = chmodFD(a.fd, a.st.mode&0o7777)
	}
	a.done = a.done && err != nil
	return err
}

// remade lets the steps below a directory that was made again use the new one.
func (c *commit) remade(dir string) {
	if fd, ok := c.dirs[dir]; ok {
		unix.Close(fd)
		delete(c.dirs, dir)
	}
	fd, err := c.openDir(dir)
	if err != nil {
		fd = -1 // the steps below then fail by themselves
	}
	for _, a := range c.acts {
		if filepath.Dir(a.Path) == dir {
			a.dir = fd
		}
		if a.To != "" && filepath.Dir(a.To) == dir {
			a.toDir = fd
		}
	}
}

// stands reports whether the displaced inode is still beside the path.
func (a *act) stands() bool {
	_, err := lstatAt(a.dir, a.Side)
	return err == nil
}

// ours reports whether what stands at the path is what the step put there.
func (a *act) ours() bool {
	now, err := lstatAt(a.dir, a.base)
	if err != nil {
		return false
	}
	if a.After.Type == change.Symlink {
		target, err := readlinkAt(a.dir, a.base)
		return err == nil && target == a.After.Target
	}
	return now.same(a.fresh)
}

func (c *commit) uncreate(a *act) error {
	if !a.ours() {
		return host.ErrChanged
	}
	return unix.Unlinkat(a.dir, a.base, 0)
}

// unexchange brings the old inode back, or a copy of it where it is gone.
func (c *commit) unexchange(a *act) error {
	if !a.ours() {
		return host.ErrChanged
	}
	if a.Way == wayReplace || a.Way == waySide && !a.stands() {
		return c.restoreCopy(a)
	}
	dir, name := c.place(a)
	if err := c.l.exchange(dir, name, a.dir, a.base); err != nil {
		return err
	}
	a.staged = true
	return nil
}

// restoreCopy makes the old file again from its image, beside the path, and renames it into place.
func (c *commit) restoreCopy(a *act) error {
	if a.st.isLink() {
		if err := unix.Symlinkat(a.Before.Target, a.dir, a.Side); err != nil {
			return err
		}
		return c.settleCopy(a)
	}
	from, _, err := openLeaf(c.s.img, imageName(c.key, a.i))
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, err := openAt(a.dir, a.Side, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	if err := c.l.copyFile(to, from); err != nil {
		return err
	}
	_ = unix.Fchown(to, int(a.st.uid), int(a.st.gid)) // as far as permitted: the content matters more
	_ = writeXattrs(to, a.attrs)
	if err := unix.Fchmod(to, a.st.mode&0o7777); err != nil {
		return err
	}
	return c.settleCopy(a)
}

func (c *commit) settleCopy(a *act) error {
	var err error
	if a.Way == wayDelete {
		err = c.l.renameFree(a.dir, a.Side, a.dir, a.base)
	} else {
		err = unix.Renameat(a.dir, a.Side, a.dir, a.base)
	}
	a.done = a.done && err != nil
	return err
}
