//go:build linux || darwin

package local

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// resolve finishes or drops one transaction of a dead process.
func (c *commit) resolve(r *remains, found *host.Recovery) error {
	if _, committed := r.journal[c.key]; committed {
		return c.rollForward(found)
	}
	if !r.open[c.key].Journal && c.happened() {
		return c.conclude(found)
	}
	return c.drop(found)
}

// happened reports whether the one atomic act of a set without a journal took place.
func (c *commit) happened() bool {
	all := true
	for _, a := range c.acts {
		s, _ := c.status(a)
		if !a.ahead() {
			switch {
			case a.stages():
				return s == applied && a.Inode != 0
			case a.Way == wayDelete: // absent is not enough: somebody else may have removed it
				return s == applied && (a.displaced(c) || exists(c.s.img, imageName(c.key, a.i)))
			}
			return s == applied
		}
		all = all && s == applied
	}
	return all
}

// conclude writes the end of a set whose acts have all happened. Digests come from the before-images and, where nobody
// touched them since, from the new files.
func (c *commit) conclude(found *host.Recovery) error {
	for _, a := range c.acts {
		a.done = true
		if a.Way == wayCreate && a.Side != "" && a.dir >= 0 { // created by a second name, and died before the first went
			if err := unix.Unlinkat(a.dir, a.Side, 0); err != nil && err != unix.ENOENT {
				return err
			}
		}
		if a.op.Before.Blob == nil && a.hasImage() && a.Before.Type == change.File {
			if data, err := c.readImage(a); err == nil {
				a.op.Before.Blob = change.NewBlob(data)
			}
		}
		if a.op.After.Blob == nil && a.stages() && a.After.Type == change.File {
			a.op.After.Blob = c.untouched(a)
		}
	}
	if err := c.finish(); err != nil {
		return err
	}
	if err := c.end(nil); err != nil {
		return err
	}
	found.Finished = append(found.Finished, c.id)
	return nil
}

// untouched returns what the step put at its path, or nil when somebody changed it.
func (c *commit) untouched(a *act) *change.Blob {
	fd, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if !a.made(st) || st.mtime != a.Mtime || st.size != a.After.Size {
		return nil
	}
	sum, err := c.l.digest(fd)
	if err != nil {
		return nil
	}
	return change.KnownBlob(sum, st.size)
}

// drop removes what a set made before its commit point.
func (c *commit) drop(found *host.Recovery) error {
	foreign := false
	for _, a := range c.acts {
		switch {
		case a.Way == wayMkdir && a.dir >= 0:
			a.done = true // if it is there and empty, it is ours
		case a.stages():
			a.staged = a.dir >= 0 || a.Side == ""
		}
		a.imaged = a.copies()
		if dir, name := c.place(a); a.staged {
			st, err := lstatAt(dir, name)
			if err == nil && a.Inode != 0 && !a.made(st) {
				foreign, a.staged = true, false // displaced from a path that has changed again since
			} else if err == nil {
				found.Swept++
			}
		}
	}
	if foreign || !c.unstage() {
		found.Conflicts = append(found.Conflicts, host.Conflict{ID: c.id, Path: c.acts[0].Path, Reason: "something that belongs to a transaction that was not committed was left where it is"})
		return nil
	}
	found.Dropped = append(found.Dropped, c.id)
	return c.s.append(lineAbort, c.key, "", nil)
}

func exists(dir int, name string) bool {
	_, err := lstatAt(dir, name)
	return err == nil
}

// rollForward carries out what is missing of a committed set. If a path holds a third content, what was carried out is
// taken back, the foreign content stays, and the conflict is reported.
func (c *commit) rollForward(found *host.Recovery) error {
	states := make([]status, len(c.acts))
	var stuck *host.Conflict
	for i, a := range c.acts {
		if a.Way == wayMkdir && !c.redirect(a) {
			continue
		}
		c.redirect(a)
		var why string
		if states[i], why = c.status(a); states[i] == conflict && stuck == nil {
			stuck = &host.Conflict{ID: c.id, Path: a.Path, Reason: why}
		}
		if states[i] == applied && !a.ahead() {
			a.done = true
			a.fresh = c.freshOf(a)
			c.dropCopied(a)
		}
	}
	if stuck != nil {
		return c.giveUp(stuck, found)
	}
	for i, a := range c.acts {
		if states[i] != pending {
			continue
		}
		err := c.redo(a)
		var other *needWay
		if errors.As(err, &other) && a.reroute(c.key, other) {
			err = c.redo(a)
		}
		if err == nil {
			continue
		}
		err = fail("commit", a.Path, err)
		if inTheWay(err) {
			return c.giveUp(&host.Conflict{ID: c.id, Path: a.Path, Reason: err.Error()}, found)
		}
		found.Conflicts = append(found.Conflicts, host.Conflict{ID: c.id, Path: a.Path, Reason: fmt.Sprintf("cannot be finished now: %v", err)})
		return nil // the journal stays for the next recovery
	}
	if err := c.conclude(found); err != nil {
		return err
	}
	return unix.Unlinkat(c.s.tx, c.key, 0)
}

// inTheWay reports whether a step failed for what stands at its path, which trying again later does not change, and not
// for a full disk or a missing right.
func inTheWay(err error) bool {
	var stale *host.StaleError
	if errors.As(err, &stale) {
		return true
	}
	for _, e := range []error{host.ErrNotEmpty, host.ErrChanged, host.ErrNotDir, host.ErrIsDir, host.ErrSpecial, fs.ErrExist, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// dropCopied removes a deleted file that still stands beside its path although its image was copied, so that the
// directory can go.
func (c *commit) dropCopied(a *act) {
	if a.Way == wayDelete && a.Side != "" && a.displaced(c) && exists(c.s.img, imageName(c.key, a.i)) {
		_ = unix.Unlinkat(a.dir, a.Side, 0) // finish tries again and reports
	}
}

// freshOf describes what a step put at its path, or is zero where somebody changed that since.
func (c *commit) freshOf(a *act) stat {
	here, err := lstatAt(a.dir, a.base)
	switch {
	case err != nil:
		return stat{}
	case a.stages() && a.After.Type == change.File:
		if a.made(here) && here.mtime == a.Mtime && here.size == a.After.Size || c.holds(a, a.content()) {
			return here
		}
		return stat{}
	}
	return here
}

// redirect opens the directories of a step that did not exist when the commit was revived. It reports whether they do.
func (c *commit) redirect(a *act) bool {
	var err error
	if a.dir < 0 {
		a.dir, err = c.reopen(a.Path)
	}
	if a.toDir < 0 && a.To != "" && err == nil {
		a.toDir, err = c.reopen(a.To)
	}
	return err == nil
}

// giveUp takes a committed set back because of a conflict.
func (c *commit) giveUp(stuck *host.Conflict, found *host.Recovery) error {
	for _, a := range c.acts {
		if a.Way == wayMkdir {
			a.done = true
		}
		if !a.done {
			a.staged, a.imaged = a.stages(), a.copies()
		}
		if a.done && a.Way == wayChmod {
			a.fd, _ = openAt(a.dir, a.base, pathFlags, 0)
		}
	}
	cause := fmt.Errorf("%w: %s", host.ErrChanged, stuck.Path)
	_ = c.takeBack(true, cause) // it always returns the cause; what could not be taken back stays listed
	found.Conflicts = append(found.Conflicts, *stuck)
	return nil
}

// redo carries a pending step out as the dead process would have.
func (c *commit) redo(a *act) error {
	if a.Way == wayMkdir {
		return c.mkdir(a)
	}
	c.redirect(a)
	if a.Way == wayChmod {
		fd, err := openAt(a.dir, a.base, pathFlags, 0)
		if err != nil {
			return err
		}
		a.fd = fd
	}
	if a.Before.Type != change.Absent {
		st, err := lstatAt(a.dir, a.base)
		if err != nil {
			return err
		}
		a.st = st
	}
	if a.stages() {
		if err := c.restage(a); err != nil {
			return err
		}
	}
	// The image of an in-place write was taken before its first byte; what stands there now may be half of it.
	if name := imageName(c.key, a.i); a.copies() && (a.Way != wayInPlace || !exists(c.s.img, name)) {
		if err := unix.Unlinkat(c.s.img, name, 0); err != nil && err != unix.ENOENT {
			return err
		}
		if err := c.stageImage(a); err != nil {
			return err
		}
	}
	return c.apply(a)
}

// reroute takes another way, as a new attempt of the commit would. False where the step is on it already.
func (a *act) reroute(key string, other *needWay) bool {
	if a.Way == other.way && (a.Way != wayDelete || a.Side != "") {
		return false
	}
	a.Way, a.Why, a.Side, a.staged = other.way, other.why, "", false
	if a.Way != wayInPlace {
		a.Side = sidePrefix + imageName(key, a.i)
	}
	return true
}

// intact reports whether the staged content is the journal's and was complete, owner and mode included, when the journal
// was written.
func (c *commit) intact(a *act, dir int, name string) bool {
	st, err := lstatAt(dir, name)
	if err != nil || !a.made(st) || st.mtime != a.Mtime || !st.regular() {
		return false
	}
	fd, st, err := openLeaf(dir, name)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	same, err := c.l.sameContent(fd, st.size, a.op.After.Blob)
	if err != nil || !same {
		return false
	}
	a.fresh, a.staged = st, true
	return true
}

// restage makes sure of the staged content: what a power cut left of it is made anew from the journal.
func (c *commit) restage(a *act) error {
	dir, name := c.place(a)
	if c.intact(a, dir, name) {
		return nil
	}
	if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
		return err
	}
	if a.Before.Type == change.File {
		fd, _, err := openLeaf(a.dir, a.base)
		if err != nil {
			return err
		}
		a.attrs, err = readXattrs(fd)
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return c.stage(a)
}
