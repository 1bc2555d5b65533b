//go:build linux || darwin

package local

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Pruning. A slot keeps an estimate of the bytes in all before-images. When it passes the limit, or once a day, the
// images are really counted, and the oldest are removed down to nine tenths of the limit, so that the count pays for
// itself. What other processes add in the meantime is seen at their or our next count.
const (
	pruneTo    = 0.9
	pruneEvery = 24 * time.Hour
	// handsOff protects files of other slots that may be staged content of a commit that is under way.
	handsOff = 10 * time.Minute
)

// tidy bounds the log and the images after a commit. What goes wrong here is tried again after the next one.
func (l *Local) tidy(s *slot) {
	_ = s.roll()
	now := l.cfg.Now()
	s.mu.Lock()
	due := s.kept > l.cfg.MaxImageBytes || now.Sub(time.Unix(0, s.scanned)) > pruneEvery
	if due {
		s.scanned = now.UnixNano() // one goroutine counts
	}
	s.mu.Unlock()
	if due {
		l.prune(s, now)
	}
}

type image struct {
	path, key string
	size      int64
}

// prune removes what is too old, then the oldest of what is too much. The images of the newest transaction stay.
func (l *Local) prune(s *slot, now time.Time) {
	dirs, err := os.ReadDir(filepath.Join(l.info.StateDir, "slots"))
	if err != nil {
		return
	}
	var images []image
	var total int64
	for _, d := range dirs {
		dir := filepath.Join(l.info.StateDir, "slots", d.Name())
		l.pruneLogs(dir, now)
		for _, img := range listImages(dir) {
			images = append(images, img)
			total += img.size
		}
	}
	slices.SortFunc(images, func(a, b image) int { return strings.Compare(a.key, b.key) })
	own := filepath.Join(s.dir, "img")
	s.mu.Lock()
	active := maps.Clone(s.active)
	s.mu.Unlock()
	for _, img := range images {
		age := now.Sub(keyTime(img.key))
		if age <= l.cfg.MaxImageAge && float64(total) <= pruneTo*float64(l.cfg.MaxImageBytes) {
			break
		}
		if img.key == images[len(images)-1].key || filepath.Dir(img.path) != own && age < handsOff {
			break
		}
		if !active[img.key] && os.Remove(img.path) == nil {
			total -= img.size
		}
	}
	s.mu.Lock()
	s.kept = total
	_ = s.writeKept()
	s.mu.Unlock()
}

func listImages(slotDir string) []image {
	dir := filepath.Join(slotDir, "img")
	fd, err := openAt(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	names, err := readNames(fd, ".")
	if err != nil {
		return nil
	}
	var out []image
	for _, name := range names {
		key, _, _ := strings.Cut(name, ".")
		if st, err := lstatAt(fd, name); err == nil && validKey(key) {
			out = append(out, image{filepath.Join(dir, name), key, st.size})
		}
	}
	return out
}

// pruneLogs removes segments whose newest transaction is too old.
func (l *Local) pruneLogs(slotDir string, now time.Time) {
	names, err := readNames(unix.AT_FDCWD, slotDir)
	if err != nil {
		return
	}
	for _, name := range names {
		key, ok := strings.CutPrefix(name, "log-")
		if ok && validKey(key) && now.Sub(keyTime(key)) > l.cfg.MaxImageAge {
			_ = os.Remove(filepath.Join(slotDir, name))
		}
	}
}

// slotNumbers lists the slots of a state directory.
func slotNumbers(stateDir string) ([]int, error) {
	dirs, err := os.ReadDir(filepath.Join(stateDir, "slots"))
	if err != nil {
		return nil, err
	}
	var out []int
	for _, d := range dirs {
		if n, err := strconv.Atoi(d.Name()); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}
