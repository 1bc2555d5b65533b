//go:build linux || darwin

package local

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// act is a step while it is carried out.
type act struct {
	step
	i          int
	op         *change.Op // nil for a parent directory that an operation needs
	dir, toDir int        // open directories of Path and To; -1 while they are still to be made
	base       string
	toBase     string
	st         stat // of what stands at Path
	attrs      []xattr
	fd         int  // of a chmod, else -1
	fresh      stat // of the staged content
	staged     bool // the staged name exists and holds new content
	imaged     bool // a before-image was kept ahead of the act
	done       bool // the step has happened
}

// content returns the bytes to write.
func (a *act) content() []byte {
	if a.op == nil {
		return nil
	}
	data, _ := a.op.After.Blob.Bytes() // a set that validates holds them
	return data
}

// prepare checks every operation of the set against the file system and chooses the way of each step. It changes nothing.
func (c *commit) prepare() error {
	for i := range c.set.Ops {
		op := &c.set.Ops[i]
		if err := c.allowed(op); err != nil {
			return err
		}
		var err error
		switch op.Kind {
		case change.Write:
			err = c.prepareWrite(op)
		case change.Delete, change.Move:
			err = c.prepareRemoval(op)
		case change.Mkdir:
			err = c.prepareMkdir(op)
		case change.Chmod:
			err = c.prepareChmod(op)
		}
		if err != nil {
			return fail(op.Kind.String(), op.Path, err)
		}
	}
	for _, a := range c.acts {
		if a.Way == wayCreate || a.Way == waySide || a.Way == wayReplace || a.Way == wayDelete && a.Side != "" {
			a.Side = sidePrefix + imageName(c.key, a.i)
		}
		a.Late = a.stages() && c.opened[filepath.Dir(a.Path)]
	}
	return nil
}

// allowed refuses what no set may touch whatever policy says: the state directory, and the removal of a directory that
// holds it, of a workspace root, or of the root of the file system.
func (c *commit) allowed(op *change.Op) error {
	paths := []string{op.Path}
	if op.Kind == change.Move {
		paths = append(paths, op.To)
	}
	info := &c.l.info
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return &host.PathError{Op: op.Kind.String(), Path: p, Err: fmt.Errorf("%w: not an absolute path of this system", host.ErrInvalidPath)}
		}
		if within(info.StateDir, p) {
			return &host.PathError{Op: op.Kind.String(), Path: p, Err: fmt.Errorf("%w: the state directory is not for tools", fs.ErrPermission)}
		}
	}
	if op.Kind != change.Delete && op.Kind != change.Move {
		return nil
	}
	if op.Path == "/" || within(op.Path, info.StateDir) {
		return &host.PathError{Op: op.Kind.String(), Path: op.Path, Err: fmt.Errorf("%w: it holds the state directory", fs.ErrPermission)}
	}
	for _, r := range info.Roots {
		if within(op.Path, r.Path) {
			return &host.PathError{Op: op.Kind.String(), Path: op.Path, Err: fmt.Errorf("%w: it holds the workspace root %q", fs.ErrPermission, r.Name)}
		}
	}
	if op.Kind == change.Move && within(op.Path, op.To) {
		return &host.PathError{Op: "move", Path: op.Path, Err: fmt.Errorf("%w: %q lies inside of it", host.ErrInvalidPath, op.To)}
	}
	return nil
}

func (c *commit) add(op *change.Op, w way) *act {
	a := &act{op: op, i: len(c.acts), dir: -1, toDir: -1, fd: -1}
	a.Way = w
	if op != nil {
		a.Kind, a.Path, a.To, a.base = op.Kind, op.Path, op.To, filepath.Base(op.Path)
		a.After = after{Type: op.After.Type, Mode: op.After.Mode.Perm(), Size: op.After.Blob.Size(), Target: op.After.Target}
		if op.Kind == change.Move {
			a.toBase = filepath.Base(op.To)
		}
	}
	c.acts = append(c.acts, a)
	return a
}

// parent opens the directory of a path. It is -1 without an error where the set makes the directory. With create, missing
// directories become steps of the set.
func (c *commit) parent(path string, create bool) (int, error) {
	dir := filepath.Dir(path)
	fd, err := c.openDir(dir)
	if err != unix.ENOENT || !create {
		return fd, err
	}
	var missing []string
	for d := dir; err == unix.ENOENT; _, err = c.openDir(d) {
		missing = append(missing, d)
		d = filepath.Dir(d)
	}
	if err != nil {
		return -1, err
	}
	for _, d := range slices.Backward(missing) {
		a := c.add(nil, wayMkdir)
		a.Kind, a.Path, a.base = change.Mkdir, d, filepath.Base(d)
		a.After.Type = change.Dir
		c.made[d] = true
	}
	return -1, nil
}

// openDir opens a directory once for the whole set.
func (c *commit) openDir(dir string) (int, error) {
	if c.made[dir] {
		return -1, nil
	}
	if fd, ok := c.dirs[dir]; ok {
		return fd, nil
	}
	fd, err := c.l.sys.openDir(dir)
	if err == nil {
		c.dirs[dir] = fd
	}
	return fd, err
}

// look describes what stands at a path of the set; it is absent where the directory is still to be made.
func look(dir int, base string) (st stat, target string, err error) {
	if dir < 0 {
		return stat{}, "", unix.ENOENT
	}
	for range 8 {
		if st, err = lstatAt(dir, base); err != nil || !st.isLink() {
			return st, "", err
		}
		if target, err = readlinkAt(dir, base); err != unix.EINVAL {
			return st, target, err
		}
		// The link was replaced by something else between the two calls: look again.
	}
	return st, "", host.ErrChanged
}

func (c *commit) prepareWrite(op *change.Op) error {
	dir, err := c.parent(op.Path, op.Before.Type == change.Absent)
	if err != nil && err != unix.ENOENT {
		return err
	}
	var st stat
	var target string
	if err == nil {
		st, target, err = look(dir, filepath.Base(op.Path))
	}
	switch {
	case err == unix.ENOENT:
		if op.Before.Type != change.Absent {
			return c.stale(op, change.State{})
		}
		c.add(op, wayCreate).dir = dir
		return nil
	case err != nil:
		return err
	}
	a := c.add(op, wayExchange)
	a.dir, a.st, a.Before = dir, st, beforeOf(st, target)
	if typ, special := st.typ(); special != "" {
		return fmt.Errorf("%w: it is a %s", host.ErrSpecial, special)
	} else if typ != op.Before.Type || typ == change.Symlink && op.Before.Target != "" && op.Before.Target != target {
		return c.staleNow(op, a)
	}
	if st.isLink() {
		return c.chooseWay(a, -1)
	}
	return c.prepareFile(a)
}

// prepareFile checks the content, mode and writability of the regular file at a path.
func (c *commit) prepareFile(a *act) error {
	fd, st, err := openLeaf(a.dir, a.base)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	a.st, a.Before = st, beforeOf(st, "")
	if err := c.matches(a, fd); err != nil || a.Kind != change.Write {
		return err
	}
	if err := writable(a); err != nil {
		return err
	}
	if a.attrs, err = readXattrs(fd); err != nil {
		return c.force(a, wayInPlace, "extended attributes cannot be read")
	}
	return c.chooseWay(a, fd)
}

// matches compares an open file with what the operation expects of it.
func (c *commit) matches(a *act, fd int) error {
	want := a.op.Before
	if want.Mode != 0 && want.Mode.Perm() != a.st.perm() {
		return c.staleNow(a.op, a)
	}
	if want.Blob == nil {
		return nil
	}
	same, err := c.l.sameContent(fd, a.st.size, want.Blob)
	if err == nil && !same {
		return c.staleNow(a.op, a)
	}
	return err
}

// writable refuses a file that its mode protects from everybody, root included, unless the operation lifts that, and a
// file that this user may not write although the directory would let it be replaced.
func writable(a *act) error {
	if a.st.perm()&0o222 == 0 && a.After.Mode&0o222 == 0 {
		return fmt.Errorf("%w: the file is read-only (mode %#o); change its mode first", fs.ErrPermission, a.st.perm())
	}
	if euid := os.Geteuid(); euid == 0 || uint32(euid) == a.st.uid && (a.st.perm()|a.After.Mode)&0o200 != 0 {
		return nil
	}
	return unix.Faccessat(a.dir, a.base, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
}

// chooseWay decides how the file or link at a path is replaced. fd is the open file, or -1 for a link.
func (c *commit) chooseWay(a *act, fd int) error {
	if f := c.forced[a.Path]; f != nil {
		return c.force(a, f.way, f.why)
	}
	if fd >= 0 && a.After.Type == change.File {
		euid := os.Geteuid()
		switch {
		case c.opt.PreserveInode:
			return c.force(a, wayInPlace, "inode preserved")
		case a.st.links > 1:
			return c.force(a, wayInPlace, fmt.Sprintf("hard link (%d names)", a.st.links))
		case euid != 0 && uint32(euid) != a.st.uid:
			return c.force(a, wayInPlace, "owner kept")
		}
	}
	if _, no := c.l.noSwap.Load(a.st.dev); no {
		return c.force(a, wayReplace, "")
	}
	if a.st.dev != c.s.dev || c.l.noState.Load() {
		a.Way = waySide
		return nil
	}
	here := fd
	if fd < 0 {
		here = a.dir
	}
	if m := mountOf(here); m != c.s.mount {
		if m != mountOf(a.dir) {
			return c.force(a, wayInPlace, "mount point")
		}
		a.Way = waySide
	}
	return nil
}

// force sets a way that is not the usual one.
func (c *commit) force(a *act, w way, why string) error {
	a.Way, a.Why = w, why
	if w == wayInPlace {
		a.attrs = nil
	}
	return nil
}
