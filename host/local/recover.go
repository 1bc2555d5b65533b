//go:build linux || darwin

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Recover implements [host.Host]. It treats the slots whose owners are dead, this process' own one first; transactions of
// living processes are left alone. It waits for a recovery that another process is carrying out.
func (l *Local) Recover(ctx context.Context) (host.Recovery, error) {
	dir := l.info.StateDir
	if l.holding(ctx) != nil {
		return host.Recovery{}, &host.PathError{Op: "recover", Path: dir, Err: fmt.Errorf("%w: this call holds locks", host.ErrUnsupported)}
	}
	numbers, err := slotNumbers(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return host.Recovery{}, nil
		}
		return host.Recovery{}, fail("recover", dir, err)
	}
	own, err := l.acquireSlot(ctx)
	if err != nil {
		return host.Recovery{}, fail("recover", dir, err)
	}
	unlock, err := l.recoverLock(ctx)
	if err != nil {
		return host.Recovery{}, fail("recover", dir, err)
	}
	defer unlock()
	l.mu.Lock()
	found := l.found
	l.found = host.Recovery{}
	l.mu.Unlock()
	for _, n := range numbers {
		if n == own.n {
			continue
		}
		s, err := l.openSlot(dir, n, false)
		if err == unix.EWOULDBLOCK || err == unix.ENOENT {
			continue
		}
		if err == nil && s.dirty {
			err = l.recoverSlot(ctx, s, &found)
		}
		if s != nil {
			s.close()
		}
		if err != nil {
			return found, fail("recover", dir, err)
		}
	}
	return found, nil
}

// recoverLock lets one process at a time recover, so that none begins its work beside a recovery that is half done.
func (l *Local) recoverLock(ctx context.Context) (unlock func(), err error) {
	fd, err := openAt(unix.AT_FDCWD, filepath.Join(l.info.StateDir, "recover.lock"), unix.O_RDWR|unix.O_CREAT, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(ctx, fd); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return func() { unix.Close(fd) }, nil
}

// recoverOwn recovers the slot that this process takes over. The caller holds l.mu; what was found waits for Recover.
func (l *Local) recoverOwn(ctx context.Context, s *slot) error {
	unlock, err := l.recoverLock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return l.recoverSlot(ctx, s, &l.found)
}

// remains is what a slot's log and journals say of transactions that did not end.
type remains struct {
	open    map[string]*beginRecord
	ids     map[string]string
	staged  map[string][]stagedRecord
	ended   map[string]bool
	journal map[string]journalHeader
	content map[string][][]byte
	older   func(key string) bool // whether a key is of an older segment, all of whose transactions are complete
}

func (s *slot) remains() (*remains, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return nil, err
	}
	r := &remains{
		open: map[string]*beginRecord{}, ids: map[string]string{}, staged: map[string][]stagedRecord{},
		ended: map[string]bool{}, journal: map[string]journalHeader{}, content: map[string][][]byte{},
	}
	begun := map[string]json.RawMessage{}
	for line := range lines(data) {
		if r.older == nil { // a segment begins with what was kept up to its predecessor's last key
			first, inclusive := line.key, line.verb == lineKept
			r.older = func(key string) bool { return key < first || inclusive && key == first }
		}
		switch line.verb {
		case lineBegin:
			begun[line.key], r.ids[line.key] = line.json, line.id
		case lineStaged:
			var fresh []stagedRecord
			if json.Unmarshal(line.json, &fresh) == nil {
				r.staged[line.key] = fresh
			}
		case lineEnd:
			r.ended[line.key] = true
			delete(begun, line.key)
		case lineAbort:
			delete(begun, line.key)
			delete(r.ended, line.key)
		}
	}
	for key, text := range begun {
		var rec beginRecord
		if json.Unmarshal(text, &rec) == nil { // else the disk was full, and nothing was begun
			r.open[key] = &rec
		}
	}
	return r, s.readJournals(r)
}

// readJournals reads the tx files, and removes those that are of no use: torn ones, and those of ended transactions.
func (s *slot) readJournals(r *remains) error {
	names, err := readNames(s.tx, ".")
	if err != nil {
		return err
	}
	for _, key := range names {
		data, err := os.ReadFile(filepath.Join(s.dir, "tx", key))
		if err != nil {
			return err
		}
		h, content, ok := readJournal(data)
		if !ok || r.ended[key] || !validKey(key) {
			if err := unix.Unlinkat(s.tx, key, 0); err != nil {
				return err
			}
			continue
		}
		r.journal[key], r.content[key] = h, content
		if r.open[key] == nil { // a power cut took the log line and left the journal
			rec := &beginRecord{Note: h.Note, Journal: true, Steps: h.Steps}
			if err := s.append(lineBegin, key, h.ID, rec); err != nil {
				return err
			}
			r.open[key], r.ids[key] = rec, h.ID
		}
	}
	return nil
}

// recoverSlot finishes or drops every transaction that a dead owner left in a slot, and sweeps the rest.
func (l *Local) recoverSlot(ctx context.Context, s *slot, found *host.Recovery) error {
	r, err := s.remains()
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(r.open)) {
		c := l.revive(s, key, r)
		free, err := l.locks.take(ctx, l.locksDir, c.lockNames())
		if err == nil {
			err = c.resolve(r, found)
			free()
		}
		c.close()
		if err != nil {
			return err
		}
	}
	return s.sweep(r, found)
}

// revive makes a commit of what was written down of it.
func (l *Local) revive(s *slot, key string, r *remains) *commit {
	rec := r.open[key]
	c := &commit{
		l: l, s: s, set: &change.Set{}, key: key, id: r.ids[key],
		dirs: map[string]int{}, made: map[string]bool{}, opened: map[string]bool{},
	}
	c.opt.Note = rec.Note
	steps, contents := rec.Steps, r.content[key]
	h, committed := r.journal[key]
	if committed {
		steps = h.Steps
	}
	fresh := r.staged[key]
	for i, st := range steps {
		op := &change.Op{Kind: st.Kind, Path: st.Path, To: st.To}
		op.Before = change.State{Type: st.Before.Type, Mode: fs.FileMode(st.Before.Mode & 0o777), Target: st.Before.Target}
		op.After = change.State{Type: st.After.Type, Mode: st.After.Mode, Target: st.After.Target}
		if committed {
			if st.After.Type == change.File && st.Kind == change.Write {
				op.After.Blob = change.NewBlob(contents[i])
			}
			if !h.Before[i].IsZero() {
				op.Before.Blob = change.KnownBlob(h.Before[i], st.Before.Size)
			}
		} else if i < len(fresh) {
			st.Inode, st.Mtime = fresh[i].Inode, fresh[i].Mtime
		}
		a := &act{step: st, i: i, op: op, dir: -1, toDir: -1, fd: -1, st: st.Before.stat(), base: filepath.Base(st.Path)}
		if fd, err := c.openDir(filepath.Dir(st.Path)); err == nil {
			a.dir = fd
		}
		if st.To != "" {
			a.toBase = filepath.Base(st.To)
			if fd, err := c.openDir(filepath.Dir(st.To)); err == nil {
				a.toDir = fd
			}
		}
		c.acts = append(c.acts, a)
	}
	c.durable = committed && c.elsewhere()
	return c
}

func (c *commit) lockNames() []string {
	var names []string
	for _, a := range c.acts {
		names = append(names, lockName(a.Path))
		if a.To != "" {
			names = append(names, lockName(a.To))
		}
	}
	return names
}

// sweep removes images that belong to no transaction: staged content of those that were dropped.
func (s *slot) sweep(r *remains, found *host.Recovery) error {
	if r.older == nil {
		return nil
	}
	names, err := readNames(s.img, ".")
	if err != nil {
		return err
	}
	again, err := s.remains() // with the lines that recovery wrote
	if err != nil {
		return err
	}
	for _, img := range names {
		key := img[:min(len(img), keyLen)]
		if again.ended[key] || again.open[key] != nil || validKey(key) && r.older(key) {
			continue
		}
		if unix.Unlinkat(s.img, img, 0) == nil {
			found.Swept++
		}
	}
	return nil
}
