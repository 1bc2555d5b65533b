//go:build linux || darwin

package local

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// applyAll carries the steps out in their order.
func (c *commit) applyAll() error {
	for _, a := range c.acts {
		if a.ahead() {
			continue
		}
		if err := c.apply(a); err != nil {
			return fail("commit", a.Path, err)
		}
		c.l.at("applied", c.key)
	}
	return c.finish()
}

// apply carries one step out, or leaves things as they were and says why.
func (c *commit) apply(a *act) error {
	if a.Late && !a.staged {
		if err := c.stage(a); err != nil {
			return err
		}
	}
	switch a.Way {
	case wayCreate:
		return c.create(a)
	case wayExchange, waySide:
		return c.exchange(a)
	case wayReplace:
		return c.replace(a)
	case wayInPlace:
		return c.writeInPlace(a)
	case wayDelete:
		return c.remove(a)
	case wayRmdir:
		return c.rmdir(a)
	case wayMove:
		return c.move(a)
	case wayChmod:
		mode := a.st.mode & 0o7000
		if err := chmodFD(a.fd, mode|uint32(a.After.Mode)); err != nil {
			return err
		}
		a.done = true
	}
	return nil
}

func (c *commit) create(a *act) error {
	var err error
	if a.After.Type == change.Symlink {
		err = unix.Symlinkat(a.After.Target, a.dir, a.base)
	} else if err = c.l.renameNew(a.dir, a.Side, a.dir, a.base); err == unix.ENOTSUP {
		if err = unix.Linkat(a.dir, a.Side, a.dir, a.base, 0); err == nil {
			err = unix.Unlinkat(a.dir, a.Side, 0)
		}
	}
	if err == unix.EEXIST {
		return c.staleNow(a.op, a)
	}
	a.done = err == nil
	return err
}

// exchange swaps new and old, and only then looks at what was displaced. Were it another inode than the one that was
// verified, somebody wrote in between: everything goes back.
func (c *commit) exchange(a *act) error {
	dir, name := c.place(a)
	if err := c.l.exchange(dir, name, a.dir, a.base); err != nil {
		return c.refused(a, err)
	}
	a.done = true
	got, err := lstatAt(dir, name)
	if err == nil && got.same(a.st) {
		return nil
	}
	if err := c.l.exchange(dir, name, a.dir, a.base); err != nil {
		a.staged = false // it is not ours to remove
		return fmt.Errorf("%w: what stood there is kept as %s: %w", host.ErrChanged, name, err)
	}
	a.done = false
	return c.staleNow(a.op, a)
}

// refused explains why a rename at a path did not happen.
func (c *commit) refused(a *act, err error) error {
	if err == unix.ENOENT || err == unix.EISDIR || err == unix.ENOTDIR {
		return c.staleNow(a.op, a)
	}
	if way := rerouted(&a.step, err); way != nil {
		return way
	}
	return err
}

// replace serves file systems without exchange: look, then rename over. A foreign write between the two system calls
// lands in the before-image, a foreign rename in between is lost.
func (c *commit) replace(a *act) error {
	if now, err := lstatAt(a.dir, a.base); err != nil || !now.same(a.st) {
		return c.staleNow(a.op, a)
	}
	if err := unix.Renameat(a.dir, a.Side, a.dir, a.base); err != nil {
		return c.refused(a, err)
	}
	a.done = true
	return nil
}

// remove moves a file or link away: into the state directory as its before-image, or beside the path until the end.
func (c *commit) remove(a *act) error {
	dir, name := c.place(a)
	if err := unix.Renameat(a.dir, a.base, dir, name); err != nil {
		return c.refused(a, err)
	}
	a.done = true
	if got, err := lstatAt(dir, name); err == nil && got.same(a.st) {
		if a.Side != "" && a.imaged { // at once, since a later step may remove the directory
			return unix.Unlinkat(dir, name, 0)
		}
		return nil
	}
	if err := c.giveBack(a); err != nil {
		return err
	}
	return c.staleNow(a.op, a)
}

// giveBack returns a removed inode to its path, if that is still free.
func (c *commit) giveBack(a *act) error {
	dir, name := c.place(a)
	if err := c.l.renameFree(dir, name, a.dir, a.base); err != nil {
		return fmt.Errorf("%w: what stood there is kept as %s: %w", host.ErrChanged, name, err)
	}
	a.done = false
	return nil
}

// renameFree renames to a name where nothing stands. Without help of the file system a race of two renames is possible.
func (s *sys) renameFree(d1 int, n1 string, d2 int, n2 string) error {
	err := s.renameNew(d1, n1, d2, n2)
	if err != unix.ENOTSUP {
		return err
	}
	if _, err := lstatAt(d2, n2); err != unix.ENOENT {
		return unix.EEXIST
	}
	return unix.Renameat(d1, n1, d2, n2)
}

func (c *commit) rmdir(a *act) error {
	if now, err := lstatAt(a.dir, a.base); err != nil || !now.same(a.st) {
		return c.staleNow(a.op, a)
	}
	if err := unix.Unlinkat(a.dir, a.base, unix.AT_REMOVEDIR); err != nil {
		return err
	}
	a.done = true
	return nil
}

func (c *commit) move(a *act) error {
	err := c.l.renameFree(a.dir, a.base, a.toDir, a.toBase)
	switch err {
	case nil:
		a.done = true
	case unix.EEXIST:
		return c.stale(&change.Op{Path: a.To}, c.l.observe(a.toDir, a.toBase))
	case unix.EXDEV:
		return errCrossDevice
	default:
		return c.refused(a, err)
	}
	if got, err := lstatAt(a.toDir, a.toBase); err == nil && got.same(a.st) {
		return nil
	}
	if err := c.l.renameFree(a.toDir, a.toBase, a.dir, a.base); err != nil {
		return fmt.Errorf("%w: what stood there is now %s: %w", host.ErrChanged, a.To, err)
	}
	a.done = false
	return c.staleNow(a.op, a)
}

// finish gives directories that were made their modes, and removes displaced inodes whose content was copied.
func (c *commit) finish() error {
	for _, a := range c.acts {
		switch {
		case a.Way == wayMkdir && a.done && a.After.Mode != 0 && a.After.Mode&0o700 != 0o700:
			if err := chmodDir(a.dir, a.base, uint32(a.After.Mode)); err != nil {
				return fail("commit", a.Path, err)
			}
		case a.Way == waySide || a.Way == wayDelete && a.Side != "":
			if a.dir < 0 {
				continue // its directory is gone
			}
			if err := unix.Unlinkat(a.dir, a.Side, 0); err != nil && err != unix.ENOENT {
				return fail("commit", a.Path, err)
			}
			a.staged = false
		}
	}
	return nil
}
