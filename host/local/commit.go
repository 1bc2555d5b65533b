//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// commit is one attempt to carry out a set.
type commit struct {
	l      *Local
	s      *slot
	set    *change.Set
	opt    host.CommitOptions
	forced map[string]*needWay // ways that earlier attempts found necessary, by path

	key, id string
	acts    []*act
	dirs    map[string]int  // open directories
	made    map[string]bool // directories that the set makes and has not made yet
	opened  map[string]bool // directories whose mode the set changes
	durable bool
}

// Commit implements [host.Host].
func (l *Local) Commit(ctx context.Context, set *change.Set, opt host.CommitOptions) (host.Receipt, error) {
	if set.Empty() {
		return host.Receipt{}, ctx.Err()
	}
	if err := set.Validate(); err != nil {
		return host.Receipt{}, &host.PathError{Op: "commit", Path: set.Ops[0].Path, Err: err}
	}
	if err := checkID(opt.ID); err != nil {
		return host.Receipt{}, &host.PathError{Op: "commit", Path: set.Ops[0].Path, Err: err}
	}
	s, err := l.acquireSlot(ctx)
	if err != nil {
		return host.Receipt{}, fail("commit", l.info.StateDir, err)
	}
	paths := make([]string, 0, len(set.Ops))
	for i := range set.Ops {
		paths = append(paths, set.Ops[i].Path)
		if set.Ops[i].Kind == change.Move {
			paths = append(paths, set.Ops[i].To)
		}
	}
	free, err := l.lockFor(ctx, paths)
	if err != nil {
		return host.Receipt{}, fail("commit", paths[0], err)
	}
	defer free()
	if opt.ID != "" {
		if done, err := l.finished(opt.ID); err != nil || done {
			return host.Receipt{}, &host.PathError{Op: "commit", Path: opt.ID, Err: errors.Join(err, fmt.Errorf("%w: a transaction with this ID is finished", fs.ErrExist))}
		}
	}
	defer hashAhead(set)()
	forced := map[string]*needWay{}
	for vanished := 0; ; {
		c := &commit{l: l, s: s, set: set, opt: opt, forced: forced}
		receipt, err := c.run(ctx)
		var other *needWay
		if errors.Is(err, fs.ErrNotExist) && vanished < 3 {
			vanished++ // a directory that another set made and took back; what is missing is looked at again
			continue
		}
		if !errors.As(err, &other) {
			if err == nil {
				l.tidy(s)
			}
			return receipt, err
		}
		if forced[other.path] != nil && forced[other.path].way == other.way {
			return host.Receipt{}, &host.PathError{Op: "commit", Path: other.path, Err: fmt.Errorf("%w: %s", fs.ErrPermission, other.why)}
		}
		forced[other.path] = other
		if other.way == wayReplace {
			l.noSwap.Store(other.dev, true)
		}
	}
}

// checkID accepts what can stand in a log line.
func checkID(id string) error {
	if len(id) > 200 {
		return fmt.Errorf("transaction ID of %d bytes, the limit is 200", len(id))
	}
	for _, r := range id {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("transaction ID %q: only visible ASCII characters", id)
		}
	}
	return nil
}

// worthHashing is the size in bytes from which a digest costs more than the goroutine that computes it, and enough of a
// commit that one that nobody asked for is left out: hashing 1 MB takes as long as writing it.
const worthHashing = 32 << 10

// hashAhead computes the digests of large new contents beside the work on the disk. The returned function waits.
func hashAhead(set *change.Set) (wait func()) {
	var blobs []*change.Blob
	for i := range set.Ops {
		if b := set.Ops[i].After.Blob; b.Size() > worthHashing {
			blobs = append(blobs, b)
		}
	}
	var wg sync.WaitGroup
	if len(blobs) > 0 {
		wg.Go(func() {
			for _, b := range blobs {
				b.Digest()
			}
		})
	}
	return wg.Wait
}

// beforeDigest returns the digest of what a step replaces, where that is cheap to know.
func (a *act) beforeDigest() change.Digest {
	if a.op == nil {
		return change.Digest{}
	}
	b := a.op.Before.Blob
	if d, ok := b.Known(); ok {
		return d
	}
	if a.op.Kind != change.Move && b.Size() > worthHashing {
		return change.Digest{}
	}
	return b.Digest() // also of a move: no image of it is kept that could be asked later
}

// run is one attempt: check, note, stage, commit, apply, note.
func (c *commit) run(ctx context.Context) (host.Receipt, error) {
	c.dirs, c.made, c.opened = map[string]int{}, map[string]bool{}, map[string]bool{}
	defer c.close()
	c.key = c.s.newKey(c.l.cfg.Now())
	defer c.s.settle(c.key)
	if c.id = c.opt.ID; c.id == "" {
		c.id = c.key
	}
	if err := c.prepare(); err != nil {
		return host.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return host.Receipt{}, fail("commit", c.acts[0].Path, err)
	}
	journal := c.needsJournal()
	c.durable = c.opt.Durable || journal && c.elsewhere()
	if err := c.s.append(lineBegin, c.key, c.id, beginRecord{Note: c.opt.Note, Journal: journal, Steps: c.steps()}); err != nil {
		return host.Receipt{}, fail("commit", c.s.dir, err)
	}
	c.l.at("begun", c.key)
	err := c.stageAll()
	if err == nil {
		c.l.at("staged", c.key)
		if err = ctx.Err(); err == nil {
			err = c.point(journal)
		}
	}
	if err != nil {
		c.abandon()
		return host.Receipt{}, fail("commit", c.acts[0].Path, err)
	}
	c.l.at("committed", c.key)
	err = c.applyAll()
	if err == nil {
		err = c.end(nil)
	}
	if err != nil {
		return host.Receipt{}, c.takeBack(journal, err)
	}
	if journal {
		_ = unix.Unlinkat(c.s.tx, c.key, 0) // recovery finds the end line and removes it
	}
	c.l.at("done", c.key)
	return c.receipt(), nil
}

// needsJournal reports whether the set is more than one atomic step with the directories that it needs.
func (c *commit) needsJournal() bool {
	atomic := 0
	for _, a := range c.acts {
		switch {
		case a.ahead():
			if a.After.Mode != 0 && a.After.Mode&0o700 != 0o700 {
				return true // its mode comes last, a second act
			}
		case !a.atomic():
			return true
		default:
			atomic++
		}
	}
	return atomic > 1
}

// elsewhere reports whether the set touches another file system than the journal's. The order of what reaches the disks
// is then unknown, and everything must be synced before the journal is removed.
func (c *commit) elsewhere() bool {
	for _, fd := range c.dirs {
		if st, err := fstat(fd); err == nil && st.dev != c.s.dev {
			return true
		}
	}
	return false
}

// point makes the set committed where it has a journal, and otherwise notes what the one act will put in place.
func (c *commit) point(journal bool) error {
	if journal {
		return c.writeJournal()
	}
	fresh := make([]stagedRecord, len(c.acts))
	stages := false
	for i, a := range c.acts {
		fresh[i] = stagedRecord{a.Inode, a.Mtime}
		stages = stages || a.Inode != 0
	}
	if !stages {
		return nil
	}
	return c.s.append(lineStaged, c.key, "", fresh)
}

func (c *commit) steps() []step {
	steps := make([]step, len(c.acts))
	for i, a := range c.acts {
		steps[i] = a.step
	}
	return steps
}

// abandon removes what was staged. Where something stays, the missing abort line sends recovery after it.
func (c *commit) abandon() {
	if c.unstage() {
		_ = c.s.append(lineAbort, c.key, "", nil) // recovery finds nothing to do either
	}
}

// takeBack ends a set that failed after its commit point. Nothing of it remains, unless somebody changed a path in the
// moment between; such a path stays, and the transaction stays with it so that its before-image can be had.
func (c *commit) takeBack(journal bool, cause error) error {
	undone := c.rollback()
	if undone != nil {
		var reverted []int
		for i, a := range c.acts {
			if !a.done || a.Way == wayMkdir {
				reverted = append(reverted, i)
			}
		}
		if err := c.end(reverted); err != nil {
			return errors.Join(cause, undone, err)
		}
	}
	// The journal goes before the images: as long as it stands, recovery would carry the set out and may need them.
	if journal {
		if err := unix.Unlinkat(c.s.tx, c.key, 0); err != nil && err != unix.ENOENT {
			return errors.Join(cause, undone, fail("commit", c.s.dir, err))
		}
	}
	if clean := c.unstage(); undone == nil && clean {
		_ = c.s.append(lineAbort, c.key, "", nil)
	}
	if undone != nil {
		return errors.Join(fail("commit", c.acts[0].Path, cause), undone)
	}
	return fail("commit", c.acts[0].Path, cause)
}

// end notes that the set is done. reverted are the steps that were taken back.
func (c *commit) end(reverted []int) error {
	rec := endRecord{Before: make([]change.Digest, len(c.acts)), After: make([]change.Digest, len(c.acts)), Reverted: reverted}
	for i, a := range c.acts {
		if a.op != nil {
			rec.Before[i], rec.After[i] = a.beforeDigest(), a.op.After.Blob.Digest()
			if a.hasImage() && a.Before.Type == change.File {
				rec.Bytes += a.st.size
			}
		}
	}
	if err := c.s.append(lineEnd, c.key, "", rec); err != nil {
		return fail("commit", c.s.dir, err)
	}
	c.s.mu.Lock()
	c.s.kept += rec.Bytes
	c.s.mu.Unlock()
	if c.durable {
		return c.sync()
	}
	return nil
}

// sync makes the log and the names that the set changed durable. The log goes first: where all lie on one journalling
// file system, that carries the renames along, and the directories then cost little.
func (c *commit) sync() error {
	if err := fdatasync(c.s.fd); err != nil {
		return fail("commit", c.s.dir, err)
	}
	for dir, fd := range c.dirs {
		if err := syncDir(fd); err != nil {
			return fail("commit", dir, err)
		}
	}
	return unix.Fsync(c.s.img)
}

func (c *commit) close() {
	for _, fd := range c.dirs {
		unix.Close(fd)
	}
	for _, a := range c.acts {
		if a.fd >= 0 {
			unix.Close(a.fd)
		}
	}
}

func (c *commit) receipt() host.Receipt {
	r := host.Receipt{ID: c.id, At: keyTime(c.key), Files: make([]host.Committed, len(c.acts))}
	for i, a := range c.acts {
		r.Files[i] = host.Committed{Path: a.Path, Strategy: a.strategy()}
		if a.op != nil {
			r.Files[i].Digest = a.op.After.Blob.Digest()
		}
	}
	return r
}
