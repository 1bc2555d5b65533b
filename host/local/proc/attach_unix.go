//go:build linux || darwin

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// left is what an earlier process left of a command: perhaps a keeper that goes on with it, perhaps members of a tree
// that nobody watches, perhaps only a record.
type left struct {
	handle host.Handle
	tree   tree
	boot   bool // the machine has not been started again since

	reportedCh, goneCh chan struct{}
	quit               chan struct{} // closed by release
	once               sync.Once

	mu    sync.Mutex
	known host.Exit
	ended time.Time // when the tree was first seen to be gone, without a record
}

var _ control = (*left)(nil)

// Attach implements host.Runner.
func (r *Runner) Attach(_ context.Context, h host.Handle) (host.Process, error) {
	if !filepath.IsAbs(h.Spool) || !validRun(h.Run) {
		return nil, fmt.Errorf("handle of run %q does not name a run and a spool", h.Run)
	}
	l := newLeft(r, h)
	cmd := &command{runner: r, detached: true, grace: host.DefaultGrace}
	cmd.adopt(l, h, nil, false)
	if !l.look() {
		go l.follow()
	}
	return cmd, nil
}

func newLeft(r *Runner, h host.Handle) *left {
	l := &left{handle: h, boot: h.Boot == r.boot || h.Boot == "" && h.PID == 0, reportedCh: make(chan struct{}), goneCh: make(chan struct{}), quit: make(chan struct{})}
	l.tree = tree{run: h.Run, leader: host.Identity{PID: h.PID, Start: h.Start}}
	if h.Keeper == nil || !aliveAs(*h.Keeper) { // the group of a live keeper may hold another command by now
		l.tree.group = groupAt(h.Group)
	}
	return l
}

func validRun(run string) bool {
	for _, c := range []byte(run) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return run != "" && len(run) <= 64
}

// keeperBusy reports whether the keeper of the command lives and has not written its last record of it.
func (l *left) keeperBusy() bool {
	return l.boot && l.handle.Keeper != nil && l.handle.Record != "" && aliveAs(*l.handle.Keeper)
}

// How long after the end of a tree its record is waited for. It is written before its writer ends, so this only runs
// out where it could not be written, or where the writer hangs.
const (
	recordTime = 30 * time.Second // somebody lives who may write it
	hiddenTime = 2 * time.Second  // the handle was not filled in: a keeper of which it does not know may be at work
)

// watched reports whether the process that watches the tree lives: its keeper, or its owner where it has none. It also
// returns how long the record of the end may take.
func (l *left) watched() (bool, time.Duration) {
	if !l.boot || l.handle.Record == "" {
		return false, 0
	}
	owned := aliveAs(l.handle.Owner)
	alive := owned
	if l.handle.Keeper != nil {
		alive = aliveAs(*l.handle.Keeper)
	}
	switch {
	case alive, owned: // the owner of a keeper that died ends what is left
		return alive, recordTime
	case l.handle.PID == 0:
		return false, hiddenTime
	}
	return false, 0
}

// look finds out what is left, and reports whether it is all over.
func (l *left) look() (over bool) {
	watched, patience := l.watched() // before the record: who writes it lives until it is written
	e, err := readRecord(l.handle.Record)
	switch {
	case err == nil && e.Gone:
		l.set(e, true)
		return true
	case err == nil && watched:
		l.set(e, false)
		return false
	case watched && l.tree.leader.PID != 0 && aliveAs(l.tree.leader):
		return false
	}
	var rest []row
	if l.boot {
		rest = l.tree.remains()
	}
	if len(rest) > 0 && (watched || l.tree.leader.PID == 0 || rest[0].pid == l.tree.leader.PID || aliveAs(l.tree.leader)) {
		return false
	}
	if err != nil {
		if l.soon(patience) {
			return false
		}
		e = host.Exit{End: host.EndLost, Code: -1, Started: l.handle.Started}
	}
	e.Survivors, e.Gone = infos(rest), len(rest) == 0
	l.set(e, e.Gone)
	return e.Gone
}

// soon reports whether the tree has ended less than a time ago.
func (l *left) soon(within time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.IsZero() {
		l.ended = time.Now()
	}
	return time.Since(l.ended) < within
}

func (l *left) set(e host.Exit, gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if closed(l.goneCh) {
		return
	}
	l.known = e
	if !closed(l.reportedCh) {
		close(l.reportedCh)
	}
	if gone {
		close(l.goneCh)
	}
}

// follow looks again and again: of a process that is no child of ours nobody tells.
func (l *left) follow() {
	const first, most = 20 * time.Millisecond, 250 * time.Millisecond
	for pause := first; ; pause = min(pause*5/4, most) {
		select {
		case <-l.quit:
			return
		case <-time.After(pause):
			if l.look() {
				return
			}
		}
	}
}

func (l *left) reported() <-chan struct{} { return l.reportedCh }
func (l *left) gone() <-chan struct{}     { return l.goneCh }

func (l *left) exit() host.Exit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// stop asks the keeper to end the tree. Without one, or where it does not manage, the tree is ended from here.
func (l *left) stop(ctx context.Context, why host.End, grace time.Duration) ([]host.ProcessInfo, error) {
	if l.look() {
		return nil, nil
	}
	if l.keeperBusy() {
		if k, ok := readProcess(l.handle.Keeper.PID); ok && k.start == l.handle.Keeper.Start {
			signalProcess(k, unix.SIGTERM)
		}
		wait, cancel := context.WithTimeout(ctx, host.DefaultGrace+killFor)
		defer cancel()
		for !l.look() && l.keeperBusy() && wait.Err() == nil {
			select {
			case <-time.After(killEvery):
			case <-wait.Done():
			}
		}
		if l.look() || ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if grace > 0 {
		for _, p := range l.tree.remains() {
			signalProcess(p, unix.SIGTERM)
		}
		wait, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		for len(l.tree.remains()) > 0 && wait.Err() == nil {
			select {
			case <-time.After(killEvery):
			case <-wait.Done():
			}
		}
	}
	rest := l.tree.endRemains(ctx)
	if len(rest) == 0 {
		l.tree.group.remove()
	}
	return infos(rest), errors.Join(ctx.Err(), l.finish(why, rest))
}

// finish writes the record that the watcher of the tree could not write.
func (l *left) finish(why host.End, rest []row) error {
	e, err := readRecord(l.handle.Record)
	if err != nil {
		e = host.Exit{End: host.EndLost, Code: -1, Started: l.handle.Started, Ended: time.Now()}
		if why == host.EndStopped {
			e.End = why
		}
	}
	e.Survivors, e.Gone = infos(rest), len(rest) == 0
	err = writeRecord(l.handle.Record, e)
	l.set(e, e.Gone)
	return err
}

func (l *left) signal(_ context.Context, sig unix.Signal) error {
	sent := false
	for _, p := range l.tree.found() {
		if p.pgid == l.tree.leader.PID || p.pid == l.tree.leader.PID {
			signalProcess(p, sig)
			sent = true
		}
	}
	if !sent {
		return os.ErrProcessDone
	}
	return nil
}

func (l *left) state(context.Context) (host.State, error) {
	if closed(l.goneCh) {
		return host.State{}, nil
	}
	list := l.tree.remains()
	return host.State{Running: !closed(l.reportedCh), Processes: infos(list)}, nil
}

// detach is the state that such a command is in.
func (l *left) detach(context.Context) error { return nil }

func (l *left) release() { l.once.Do(func() { close(l.quit) }) }
