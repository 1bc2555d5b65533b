//go:build linux || darwin

package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

func (c *commit) prepareRemoval(op *change.Op) error {
	dir, err := c.parent(op.Path, false)
	if err != nil && err != unix.ENOENT {
		return err
	}
	var st stat
	var target string
	if err == nil {
		st, target, err = look(dir, filepath.Base(op.Path))
	}
	if err == unix.ENOENT {
		return c.stale(op, change.State{})
	}
	if err != nil {
		return err
	}
	toDir := -1
	if op.Kind == change.Move {
		if toDir, err = c.destination(op, st); err != nil {
			return err
		}
	}
	a := c.add(op, wayDelete)
	a.dir, a.toDir, a.st, a.Before = dir, toDir, st, beforeOf(st, target)
	typ, special := st.typ()
	switch {
	case special != "":
		return fmt.Errorf("%w: it is a %s", host.ErrSpecial, special)
	case typ != op.Before.Type || typ == change.Symlink && op.Before.Target != "" && op.Before.Target != target:
		return c.staleNow(op, a)
	case typ == change.File && op.Before.Mode != 0 && op.Before.Mode.Perm() != st.perm():
		return c.staleNow(op, a)
	case typ == change.File && op.Before.Blob != nil:
		if err := c.prepareFile(a); err != nil {
			return err
		}
	}
	switch {
	case op.Kind == change.Move:
		a.Way = wayMove
	case typ == change.Dir:
		a.Way = wayRmdir
		return c.emptied(a)
	case st.dev != c.s.dev || c.l.noState.Load() || c.forced[op.Path] != nil || mountOf(dir) != c.s.mount:
		a.Side = sidePrefix
	}
	return nil
}

// destination checks where a move goes. The parents are made where they are missing.
func (c *commit) destination(op *change.Op, st stat) (int, error) {
	dir, err := c.parent(op.To, true)
	if err != nil {
		return -1, &host.PathError{Op: "move", Path: op.To, Err: translate(err)}
	}
	switch there, target, err := look(dir, filepath.Base(op.To)); {
	case err == nil:
		to := &act{dir: dir, base: filepath.Base(op.To), st: there, step: step{Before: before{Target: target}}}
		return -1, c.staleNow(&change.Op{Path: op.To}, to)
	case err != unix.ENOENT:
		return -1, &host.PathError{Op: "move", Path: op.To, Err: translate(err)}
	}
	if dir >= 0 {
		if there, err := fstat(dir); err == nil && there.dev != st.dev {
			return -1, errCrossDevice
		}
	}
	return dir, nil
}

var errCrossDevice = fmt.Errorf("%w: the destination is on another file system; copy it there and delete the original", host.ErrUnsupported)

// emptied checks that a directory holds nothing but what earlier operations of the set remove.
func (c *commit) emptied(a *act) error {
	names, err := readNames(a.dir, a.base)
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(c.acts))
	for _, b := range c.acts {
		if b.Kind == change.Delete || b.Kind == change.Move {
			gone[b.Path] = true
		}
	}
	left := slices.DeleteFunc(names, func(n string) bool { return gone[filepath.Join(a.Path, n)] })
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("%w: %d entries, among them %q", host.ErrNotEmpty, len(left), left[0])
	}
	return nil
}

func (c *commit) prepareMkdir(op *change.Op) error {
	dir, err := c.parent(op.Path, true)
	if err != nil {
		return err
	}
	st, target, err := look(dir, filepath.Base(op.Path))
	switch {
	case err == unix.ENOENT:
		if op.Before.Type == change.Dir {
			return c.stale(op, change.State{})
		}
		c.add(op, wayMkdir).dir = dir
		c.made[op.Path] = true
		return nil
	case err != nil:
		return err
	}
	a := c.add(op, wayNone)
	a.dir, a.st, a.Before = dir, st, beforeOf(st, target)
	if !st.isDir() {
		return c.staleNow(op, a)
	}
	return nil
}

func (c *commit) prepareChmod(op *change.Op) error {
	dir, err := c.parent(op.Path, false)
	if err == unix.ENOENT {
		return c.stale(op, change.State{})
	}
	if err != nil {
		return err
	}
	if dir < 0 {
		return errors.New("the set makes this path; give it its mode there")
	}
	a := c.add(op, wayChmod)
	a.dir = dir
	if a.st, err = lstatAt(dir, a.base); err == unix.ENOENT {
		return c.stale(op, change.State{})
	} else if err != nil {
		return err
	}
	if typ, _ := a.st.typ(); typ == op.Before.Type && typ != change.Symlink {
		if a.fd, err = openAt(dir, a.base, pathFlags, 0); err != nil {
			return err
		}
		if a.st, err = fstat(a.fd); err != nil {
			return err
		}
	}
	a.Before = beforeOf(a.st, "")
	if typ, _ := a.st.typ(); typ != op.Before.Type || a.st.perm() != op.Before.Mode.Perm() {
		return c.staleNow(op, a)
	}
	if typ, _ := a.st.typ(); typ == change.Dir {
		c.opened[op.Path] = true
	} else if op.Before.Blob != nil {
		fd, _, err := openLeaf(dir, a.base)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return c.matches(a, fd)
	}
	return nil
}
