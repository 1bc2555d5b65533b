//go:build linux || darwin

package local

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
)

// status is how far a step of a dead process came.
type status int

const (
	pending  status = iota // what the step expects is there
	applied                // what the step makes is there, or was, before somebody changed it again
	conflict               // a third thing is there
)

// status judges a step by identities first, and by contents where an identity does not decide. It puts a foreign inode
// back that an exchange had displaced when its process died. why explains a conflict.
func (c *commit) status(a *act) (s status, why string) {
	here, target, err := look(a.dir, a.base)
	if err != nil && err != unix.ENOENT {
		return conflict, err.Error()
	}
	there := err == nil
	switch a.Way {
	case wayNone:
		return applied, ""
	case wayMkdir:
		return judge(there && here.isDir(), !there)
	case wayCreate:
		if a.After.Type == change.Symlink {
			return judge(there && here.isLink() && target == a.After.Target, !there)
		}
		return judge(there && (a.made(here) || c.holds(a, a.content())), !there)
	case wayExchange, waySide:
		return c.exchangeStatus(a, here, there)
	case wayReplace:
		return judge(there && (a.made(here) || c.holds(a, a.content())), there && c.expected(a, here))
	case wayInPlace:
		return c.inPlaceStatus(a)
	case wayDelete:
		moved := a.displaced(c)
		return judge(moved || !there, there && c.expected(a, here))
	case wayRmdir:
		return judge(!there, there && here.same(a.st))
	case wayMove:
		to, terr := lstatAt(a.toDir, a.toBase)
		return judge(terr == nil && to.same(a.st), there && here.same(a.st) && terr == unix.ENOENT)
	case wayChmod:
		known := there && here.dev == a.st.dev && here.ino == a.st.ino
		return judge(known && here.perm() == a.After.Mode, known && here.perm() == a.st.perm())
	}
	return conflict, fmt.Sprintf("unknown way %q", a.Way)
}

func judge(isApplied, isPending bool) (status, string) {
	switch {
	case isApplied:
		return applied, ""
	case isPending:
		return pending, ""
	}
	return conflict, "it is neither what the transaction expected nor what it makes"
}

// made reports whether an inode is the one that was staged.
func (a *act) made(st stat) bool { return a.Inode != 0 && st.ino == a.Inode && !st.isDir() }

// displaced reports whether the old inode stands where the act moves it.
func (a *act) displaced(c *commit) bool {
	dir, name := c.place(a)
	st, err := lstatAt(dir, name)
	return err == nil && st.dev == a.st.dev && st.ino == a.st.ino
}

// expected reports whether what stands at the path is what the step expects: the same inode unchanged, or the same content.
func (c *commit) expected(a *act, here stat) bool {
	if here.same(a.st) {
		return true
	}
	if a.op.Before.Blob == nil || !here.regular() {
		return false
	}
	fd, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	same, err := c.l.sameContent(fd, st.size, a.op.Before.Blob)
	return err == nil && same
}

// holds reports whether the file at the path has exactly this content. Nil is "not known".
func (c *commit) holds(a *act, data []byte) bool {
	if data == nil {
		return false
	}
	fd, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	same, err := c.l.sameContent(fd, st.size, change.NewBlob(data))
	return err == nil && same
}

func (c *commit) exchangeStatus(a *act, here stat, there bool) (status, string) {
	if a.displaced(c) {
		return applied, ""
	}
	dir, name := c.place(a)
	temp, terr := lstatAt(dir, name)
	if there && a.made(here) {
		if terr != nil { // a copied image, whose original is removed already, or one that expired
			return applied, ""
		}
		// A foreign inode was displaced, and the process died before it looked.
		if err := c.l.exchange(dir, name, a.dir, a.base); err != nil {
			return conflict, fmt.Sprintf("what stood there is %s in %s, and could not be put back: %v", name, a.Path, err)
		}
		a.staged = true
		return conflict, "it was changed at the moment of the commit; the change was kept"
	}
	if terr == nil && a.Inode != 0 && temp.ino != a.Inode {
		return conflict, fmt.Sprintf("the staged file %s is another one", name)
	}
	return judge(there && a.op.After.Type == change.File && c.holds(a, a.content()), there && c.expected(a, here))
}

func (c *commit) inPlaceStatus(a *act) (status, string) {
	fd, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return conflict, err.Error()
	}
	defer unix.Close(fd)
	now, err := readFile(fd, st.size)
	if err != nil {
		return conflict, err.Error()
	}
	done := bytes.Equal(now, a.content())
	old, err := c.readImage(a)
	if err != nil {
		return judge(done, c.expected(a, st))
	}
	// Both directions: the process may have died while it wrote, or while it wrote back.
	half := torn(now, old, a.content()) || torn(now, a.content(), old)
	return judge(done, st.ino == a.st.ino && (bytes.Equal(now, old) || half))
}

func (c *commit) readImage(a *act) ([]byte, error) {
	fd, st, err := openLeaf(c.s.img, imageName(c.key, a.i))
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return readFile(fd, st.size)
}

// torn reports whether now can be what an overwrite of old with new leaves when it is cut short: the beginning of new,
// then the rest of old.
func torn(now, old, new []byte) bool {
	k := 0
	for k < len(now) && k < len(new) && now[k] == new[k] {
		k++
	}
	if k == len(now) {
		return len(now) >= len(old)
	}
	return len(now) == len(old) && bytes.Equal(now[k:], old[k:])
}
