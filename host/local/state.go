//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// maxSlots bounds the processes that commit into one state directory at one time.
const maxSlots = 1 << 12

// platform is what Local holds on systems where it can commit.
type platform struct {
	sys
	locks    locks
	locksDir int // open directory of the lock files, valid with slot

	mu      sync.Mutex // guards slot and found
	slot    *slot      // nil until the first commit or lock
	found   host.Recovery
	history history
	bufs    sync.Pool // *[]byte of readChunk bytes

	hook func(point, key string) // tests: called at the named points of a commit
}

func (l *Local) platformNotes() []string { return l.sys.notes() }

func (l *Local) at(point, key string) {
	if l.hook != nil {
		l.hook(point, key)
	}
}

// free frees the slot.
func (l *Local) free() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slot == nil {
		return nil
	}
	l.locks.close()
	unix.Close(l.locksDir)
	l.slot.close()
	l.slot = nil
	return nil
}

// acquireSlot returns the slot of this process. The first call makes the state directory, takes the first slot that no
// living process owns, and finishes what its last owner left.
func (l *Local) acquireSlot(ctx context.Context) (*slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slot != nil {
		return l.slot, nil
	}
	dir := l.info.StateDir
	if dir == "" {
		return nil, fmt.Errorf("%w: the host was opened without a state directory and only reads", host.ErrUnsupported)
	}
	if err := makeStateDir(dir); err != nil {
		return nil, err
	}
	locksDir, err := l.openDir(filepath.Join(dir, "locks"))
	if err != nil {
		return nil, err
	}
	s, err := l.firstFreeSlot(dir)
	if err != nil {
		unix.Close(locksDir)
		return nil, err
	}
	l.locksDir = locksDir
	if s.dirty {
		if err := l.recoverOwn(ctx, s); err != nil {
			s.close()
			unix.Close(locksDir)
			return nil, err
		}
	}
	l.slot = s
	return s, nil
}

func (l *Local) firstFreeSlot(dir string) (*slot, error) {
	for n := range maxSlots {
		s, err := l.openSlot(dir, n, true)
		if err != unix.EWOULDBLOCK {
			return s, err
		}
	}
	return nil, fmt.Errorf("all %d slots of the state directory are in use", maxSlots)
}

// makeStateDir makes the directories and refuses a state directory that somebody else could read or change.
func makeStateDir(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, "locks"), filepath.Join(dir, "slots")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	fd, err := openAt(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	st, err := fstat(fd)
	if err != nil {
		return err
	}
	if int(st.uid) != os.Geteuid() {
		return fmt.Errorf("%w: the state directory belongs to user %d, not to user %d", fs.ErrPermission, st.uid, os.Geteuid())
	}
	if st.mode&0o077 != 0 {
		if err := unix.Fchmod(fd, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// slot is the part of the state directory that one process writes.
type slot struct {
	n                       int
	dir                     string
	lock, root, img, tx, fd int // fd is the log
	dev, mount              uint64
	uid, gid                uint32 // of files made here
	maxImage                int64
	dirty                   bool // the last owner may have left something unfinished

	mu      sync.Mutex      // guards what follows
	size    int64           // of the log, bytes
	active  map[string]bool // keys of commits under way
	last    uint64          // time part of the last key
	torn    bool            // the log's last line has no end
	kept    int64           // estimate of the bytes in all before-images
	scanned int64           // when kept was last counted, Unix nanoseconds
}

// openSlot opens and locks slot n. EWOULDBLOCK when its owner lives; ENOENT when it does not exist and create is false.
func (l *Local) openSlot(dir string, n int, create bool) (*slot, error) {
	s := &slot{n: n, dir: filepath.Join(dir, "slots", strconv.Itoa(n)), lock: -1, root: -1, img: -1, tx: -1, fd: -1, maxImage: l.cfg.MaxImageBytes, active: map[string]bool{}}
	err := s.open(create)
	if err == nil {
		err = s.load()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *slot) open(create bool) (err error) {
	flags := 0
	if create {
		flags = unix.O_CREAT
		for _, d := range []string{s.dir, filepath.Join(s.dir, "img"), filepath.Join(s.dir, "tx")} {
			if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	if s.root, err = openAt(unix.AT_FDCWD, s.dir, dirFlags, 0); err != nil {
		return err
	}
	if s.lock, err = openAt(s.root, "lock", unix.O_RDWR|flags, 0o600); err != nil {
		return err
	}
	if err = retry(func() error { return unix.Flock(s.lock, unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		return err
	}
	if s.tx, err = openAt(s.root, "tx", dirFlags, 0); err != nil {
		return err
	}
	if s.img, err = openAt(s.root, "img", unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
		return err
	}
	dropDefaultACL(s.img)
	st, err := fstat(s.lock)
	if err != nil {
		return err
	}
	s.dev, s.uid, s.gid, s.mount = st.dev, st.uid, st.gid, mountOf(s.img)
	s.fd, err = openAt(s.root, "log", unix.O_RDWR|unix.O_APPEND|unix.O_CREAT, 0o600)
	return err
}

func (s *slot) close() {
	for _, fd := range []int{s.fd, s.img, s.tx, s.root, s.lock} { // the lock last
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// imageName is the file in img/ of step i of a transaction.
func imageName(key string, i int) string { return key + "." + strconv.Itoa(i) }
