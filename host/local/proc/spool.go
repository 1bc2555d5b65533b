package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// layout divides a quota: the first head bytes of a stream stay, and behind them segments of seg bytes take turns, two
// of which exist at a time.
type layout struct{ head, seg int64 }

const minQuota = 4 << 10

func layoutOf(quota int64) layout {
	quota = max(quota, minQuota)
	return layout{head: quota - quota/4*2, seg: quota / 4}
}

func headFile(prefix string) string { return prefix + ".log" }

func segmentFile(prefix string, at int64) string { return fmt.Sprintf("%s.%015d.log", prefix, at) }

// spool writes a stream into files of at most the quota together. It never fails: what the disk refuses is lost and
// leaves a gap, because a command must not hang or die for its log.
type spool struct {
	prefix string
	layout
	limit func() // called once when total passes most; may be nil
	most  int64

	mu    sync.Mutex
	total int64
	file  *os.File // that holds offset total, or nil
	start int64    // offset of its first byte
	shut  bool
	err   error // the first error of the disk
}

// newSpool makes the first file, which must not exist.
func newSpool(prefix string, quota int64) (*spool, error) {
	f, err := os.OpenFile(headFile(prefix), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &spool{prefix: prefix, layout: layoutOf(quota), file: f}, nil
}

func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	if s.shut { // a pump that held on to a pipe which a stranger keeps open
		s.mu.Unlock()
		return len(p), nil
	}
	before := s.total
	for rest := p; len(rest) > 0; {
		n := s.room(int64(len(rest)))
		s.put(rest[:n])
		s.total += n
		rest = rest[n:]
	}
	hit := s.limit != nil && s.most > 0 && before <= s.most && s.total > s.most
	s.mu.Unlock()
	if hit {
		s.limit()
	}
	return len(p), nil
}

// room opens the file for the next byte and returns how many of n bytes go into it.
func (s *spool) room(n int64) int64 {
	if s.total < s.head {
		return min(n, s.head-s.total)
	}
	at := s.head + (s.total-s.head)/s.seg*s.seg
	if at != s.start {
		s.turn(at)
	}
	return min(n, at+s.seg-s.total)
}

// turn goes on to the segment at an offset. The one before the last goes first, so that the quota always holds.
func (s *spool) turn(at int64) {
	if s.file != nil {
		s.note(s.file.Close())
		s.file = nil
	}
	if old := at - 2*s.seg; old >= s.head {
		if err := os.Remove(segmentFile(s.prefix, old)); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.note(err)
		}
	}
	s.start = at
	f, err := os.OpenFile(segmentFile(s.prefix, at), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.note(err)
		return
	}
	s.file = f
}

// shortMode is that of a file which ends before its turn does. It tells readers that there may be other files behind it.
const shortMode = 0o400

// put appends to the open file. A short write ends the use of that file: later bytes would stand at wrong offsets.
func (s *spool) put(p []byte) {
	if s.file == nil {
		return
	}
	if _, err := s.file.Write(p); err != nil {
		s.note(err)
		s.note(os.Chmod(s.file.Name(), shortMode))
		s.note(s.file.Close())
		s.file = nil
	}
}

func (s *spool) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

// written returns how many bytes were written so far, and the first error of the disk.
func (s *spool) written() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, s.err
}

func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.note(s.file.Close())
		s.file = nil
	}
	s.shut = true
}

// piece is one file of a spool: bytes from start on.
type piece struct {
	path  string
	start int64
	size  int64
}

// pieces lists the files of a spool in the order of their offsets. It reads the directory only when there may be more
// than one file.
func pieces(prefix string, quota int64) ([]piece, error) {
	fi, err := os.Stat(headFile(prefix))
	if err != nil {
		return nil, err
	}
	list := []piece{{path: headFile(prefix), size: fi.Size()}}
	if fi.Size() < layoutOf(quota).head && fi.Mode().Perm() != shortMode {
		return list, nil
	}
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // sorted, and names have a fixed width
		start, ok := segmentOffset(e.Name(), base)
		if !ok {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // its turn is over
		}
		if err != nil {
			return nil, err
		}
		list = append(list, piece{path: filepath.Join(dir, e.Name()), start: start, size: fi.Size()})
	}
	return list, nil
}

// segmentOffset is the inverse of segmentFile.
func segmentOffset(name, base string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutSuffix(rest, ".log")
	if !ok || len(digits) < 15 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// removeSpool removes the files of a spool.
func removeSpool(prefix string, quota int64) error {
	list, err := pieces(prefix, quota)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, p := range list {
		if rerr := os.Remove(p.path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
