//go:build linux || darwin

package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/host"
)

// lockClasses is the number of lock files. Paths that share a class wait for each other needlessly, but the number of
// files and of system calls for a large set stays bounded.
const lockClasses = 256

// Waiting for another process is polling, so that a context can end it; flock itself cannot be interrupted from Go.
const (
	lockPollMin = 50 * time.Microsecond
	lockPollMax = 5 * time.Millisecond
)

// locks are the write locks of paths: a channel as mutex inside the process, a flock between processes.
type locks struct {
	classes [lockClasses]lockClass
}

type lockClass struct {
	once sync.Once
	turn chan struct{} // holds one token while the class is free
	fd   int           // opened at first use and kept, since opening costs more than locking
	open bool          // like fd, only for the holder of the token
}

// lockName folds a path, so that spellings that some file systems take for one name share a lock.
func lockName(path string) string {
	for i := 0; i < len(path); i++ {
		if path[i] >= 0x80 {
			return norm.NFC.String(strings.ToLower(path))
		}
	}
	return strings.ToLower(path)
}

func lockClassOf(name string) uint8 {
	h := uint32(2166136261) // FNV-1a
	for i := 0; i < len(name); i++ {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return uint8(h ^ h>>8 ^ h>>16 ^ h>>24)
}

// take locks the classes of names in ascending order, which cannot deadlock, and returns the function that frees them.
func (k *locks) take(ctx context.Context, dir int, names []string) (free func(), err error) {
	classes := make([]uint8, len(names))
	for i, n := range names {
		classes[i] = lockClassOf(n)
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	held := 0
	free = func() {
		for _, c := range classes[:held] {
			k.classes[c].free()
		}
		held = 0
	}
	for _, c := range classes {
		if err := k.lock(ctx, dir, c); err != nil {
			free()
			return nil, err
		}
		held++
	}
	return free, nil
}

func (k *locks) lock(ctx context.Context, dir int, c uint8) error {
	class := &k.classes[c]
	class.once.Do(func() {
		class.turn = make(chan struct{}, 1)
		class.turn <- struct{}{}
	})
	select {
	case <-class.turn:
	default:
		select {
		case <-class.turn:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !class.open {
		fd, err := openAt(dir, fmt.Sprintf("%02x", c), unix.O_RDWR|unix.O_CREAT, 0o600)
		if err != nil {
			class.turn <- struct{}{}
			return err
		}
		class.fd, class.open = fd, true
	}
	if err := flock(ctx, class.fd); err != nil {
		class.turn <- struct{}{}
		return err
	}
	return nil
}

func (c *lockClass) free() {
	_ = unix.Flock(c.fd, unix.LOCK_UN) // cannot fail for a descriptor that is open
	c.turn <- struct{}{}
}

// flock waits for an exclusive lock until ctx ends.
func flock(ctx context.Context, fd int) error {
	var timer *time.Timer
	for wait := lockPollMin; ; wait = min(2*wait, lockPollMax) {
		err := retry(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		if err != unix.EWOULDBLOCK {
			return err
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close closes the lock files. The caller has ended all commits.
func (k *locks) close() {
	for i := range k.classes {
		if c := &k.classes[i]; c.open {
			unix.Close(c.fd)
			c.open = false
		}
	}
}

// heldKey is the context key under which a host finds the locks that its Lock took.
type heldKey struct{ l *Local }

type held struct {
	names    map[string]bool
	released atomic.Bool
}

// Lock implements [host.Host]. A context that already holds locks cannot take more: all paths are locked at once, so
// that two planners cannot wait for each other. Paths are resolved ones; they need not exist.
func (l *Local) Lock(ctx context.Context, paths ...string) (context.Context, func(), error) {
	if l.holding(ctx) != nil {
		return nil, nil, &host.PathError{Op: "lock", Path: strings.Join(paths, ", "), Err: fmt.Errorf("%w: this call already holds locks; name all paths in one Lock", host.ErrUnsupported)}
	}
	if _, err := l.acquireSlot(ctx); err != nil {
		return nil, nil, fail("lock", l.info.StateDir, err)
	}
	h := &held{names: make(map[string]bool, len(paths))}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = lockName(p)
		h.names[names[i]] = true
	}
	free, err := l.locks.take(ctx, l.locksDir, names)
	if err != nil {
		return nil, nil, fail("lock", strings.Join(paths, ", "), err)
	}
	unlock := func() {
		if !h.released.Swap(true) {
			free()
		}
	}
	return context.WithValue(ctx, heldKey{l}, h), unlock, nil
}

func (l *Local) holding(ctx context.Context) *held {
	if h, _ := ctx.Value(heldKey{l}).(*held); h != nil && !h.released.Load() {
		return h
	}
	return nil
}

// lockFor takes the locks of a commit, or checks that the context holds them.
func (l *Local) lockFor(ctx context.Context, paths []string) (free func(), err error) {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = lockName(p)
	}
	h := l.holding(ctx)
	if h == nil {
		return l.locks.take(ctx, l.locksDir, names)
	}
	for i, n := range names {
		if !h.names[n] {
			return nil, &host.PathError{Op: "commit", Path: paths[i], Err: fmt.Errorf("%w: the context holds locks, but not of this path", host.ErrUnsupported)}
		}
	}
	return func() {}, nil
}
