//go:build linux || darwin

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// history is what this process has read of the logs of all slots. Logs only grow, so each refresh reads what is new.
type history struct {
	mu       sync.Mutex
	segments map[string]*segment // by path of the log file
}

// segment is one log file. Lines are kept as text and decoded when they are asked for.
type segment struct {
	ino  uint64
	read int64 // bytes parsed
	txs  map[string]*logged
}

type logged struct {
	key, id    string
	slot       int
	begin, end json.RawMessage
	done       bool
}

// finished reports whether a transaction with this ID is done.
func (l *Local) finished(id string) (bool, error) {
	l.history.mu.Lock()
	defer l.history.mu.Unlock()
	if err := l.history.refresh(l.info.StateDir); err != nil {
		return false, err
	}
	return l.history.byID(id) != nil, nil
}

func (h *history) byID(id string) *logged {
	for _, s := range h.segments {
		if validKey(id) && s.txs[id] != nil && s.txs[id].id == id && s.txs[id].done {
			return s.txs[id]
		}
	}
	for _, s := range h.segments {
		for _, t := range s.txs {
			if t.done && t.id == id {
				return t
			}
		}
	}
	return nil
}

// refresh reads what the logs have gained. The caller holds h.mu.
func (h *history) refresh(stateDir string) error {
	slots, err := os.ReadDir(filepath.Join(stateDir, "slots"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	seen := make(map[string]*segment)
	for _, d := range slots {
		n, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		dir := filepath.Join(stateDir, "slots", d.Name())
		names, err := readNames(unix.AT_FDCWD, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name != "log" && !strings.HasPrefix(name, "log-") {
				continue
			}
			path := filepath.Join(dir, name)
			s, err := h.readSegment(path, n)
			if err != nil {
				return err
			}
			if s != nil {
				seen[path] = s
			}
		}
	}
	h.segments = seen
	return nil
}

func (h *history) readSegment(path string, slot int) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // rolled or expired just now; its successor is read or it is gone
		}
		return nil, err
	}
	defer f.Close()
	st, err := fstat(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	s := h.segments[path]
	if s == nil || s.ino != st.ino || st.size < s.read {
		s = &segment{ino: st.ino, txs: map[string]*logged{}}
	}
	if st.size == s.read {
		return s, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, s.read, st.size-s.read))
	if err != nil {
		return nil, err
	}
	end := strings.LastIndexByte(string(data), '\n') + 1 // the rest of a line that is being written comes next time
	s.read += int64(end)
	for line := range lines(data[:end]) {
		s.add(line, slot)
	}
	return s, nil
}

func (s *segment) add(line logLine, slot int) {
	t := s.txs[line.key]
	switch line.verb {
	case lineBegin:
		s.txs[line.key] = &logged{key: line.key, id: line.id, slot: slot, begin: line.json}
	case lineEnd:
		if t != nil {
			t.end, t.done = line.json, true
		}
	case lineAbort:
		delete(s.txs, line.key)
	}
}

// decode returns the records of a transaction that is done.
func (t *logged) decode() (begin beginRecord, end endRecord, err error) {
	if err = json.Unmarshal(t.begin, &begin); err == nil {
		err = json.Unmarshal(t.end, &end)
	}
	if err == nil && (len(end.Before) != len(begin.Steps) || len(end.After) != len(begin.Steps)) {
		err = errJournal(t.key, "its log lines do not fit together")
	}
	return begin, end, err
}

// Transactions implements [host.Host]. An ID in after that is not kept any more is fs.ErrNotExist.
func (l *Local) Transactions(ctx context.Context, after string) ([]host.Transaction, error) {
	h := &l.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.refresh(l.info.StateDir); err != nil {
		return nil, fail("transactions", l.info.StateDir, err)
	}
	from := ""
	if after != "" {
		t := h.byID(after)
		if t == nil {
			return nil, &host.PathError{Op: "transactions", Path: after, Err: fs.ErrNotExist}
		}
		from = t.key
	}
	var done []*logged
	for _, s := range h.segments {
		for _, t := range s.txs {
			if t.done && t.key > from {
				done = append(done, t)
			}
		}
	}
	slices.SortFunc(done, func(a, b *logged) int { return strings.Compare(a.key, b.key) })
	images := map[int]map[string]bool{}
	out := make([]host.Transaction, 0, len(done))
	for _, t := range done {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if images[t.slot] == nil {
			images[t.slot] = l.imageNames(t.slot)
		}
		if tx, err := t.transaction(images[t.slot]); err == nil {
			out = append(out, tx)
		}
	}
	return out, nil
}

func (l *Local) imageNames(slot int) map[string]bool {
	names, _ := readNames(unix.AT_FDCWD, filepath.Join(l.info.StateDir, "slots", strconv.Itoa(slot), "img"))
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

func (t *logged) transaction(images map[string]bool) (host.Transaction, error) {
	begin, end, err := t.decode()
	if err != nil {
		return host.Transaction{}, err
	}
	tx := host.Transaction{ID: t.id, At: keyTime(t.key), Note: begin.Note}
	for i, s := range begin.Steps {
		if slices.Contains(end.Reverted, i) {
			continue
		}
		p := host.TxPath{
			Kind: s.Kind, Path: s.Path, To: s.To,
			BeforeType: s.Before.Type, BeforeMode: fs.FileMode(s.Before.Mode & 0o777), BeforeDigest: end.Before[i],
			AfterType: s.After.Type, AfterMode: s.After.Mode, AfterDigest: end.After[i],
			AfterSize: s.After.Size, BeforeTarget: s.Before.Target, AfterTarget: s.After.Target,
			HasImage: !s.hasImage() || s.Before.Type != change.File || images[imageName(t.key, i)],
		}
		if s.Before.Type == change.File {
			p.BeforeSize = s.Before.Size
		}
		if s.Kind == change.Write && p.AfterMode == 0 {
			p.AfterMode = p.BeforeMode
		}
		if s.Kind == change.Move {
			p.AfterType, p.AfterMode, p.AfterDigest = p.BeforeType, p.BeforeMode, p.BeforeDigest
			p.AfterSize, p.AfterTarget = p.BeforeSize, p.BeforeTarget
		}
		tx.Paths = append(tx.Paths, p)
	}
	return tx, nil
}

// Image implements [host.Host]. The image of a path that was moved, or whose mode was changed, has no content: that is
// still where the transaction left it. A process that held the file open may have written into the image afterwards.
func (l *Local) Image(ctx context.Context, tx, path string) (change.State, error) {
	if err := ctx.Err(); err != nil {
		return change.State{}, err
	}
	h := &l.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.refresh(l.info.StateDir); err != nil {
		return change.State{}, fail("image", l.info.StateDir, err)
	}
	gone := &host.PathError{Op: "image", Path: path, Err: fmt.Errorf("%w: transaction %q keeps none of this path", fs.ErrNotExist, tx)}
	t := h.byID(tx)
	if t == nil {
		return change.State{}, gone
	}
	begin, end, err := t.decode()
	if err != nil {
		return change.State{}, fail("image", path, err)
	}
	i := slices.IndexFunc(begin.Steps, func(s step) bool { return s.Path == path })
	if i < 0 || slices.Contains(end.Reverted, i) {
		return change.State{}, gone
	}
	s := begin.Steps[i]
	state := change.State{Type: s.Before.Type, Mode: fs.FileMode(s.Before.Mode & 0o777), Target: s.Before.Target}
	if state.Type == change.Symlink {
		state.Mode = 0
	}
	if !s.hasImage() || state.Type != change.File {
		return state, nil
	}
	data, err := os.ReadFile(filepath.Join(l.info.StateDir, "slots", strconv.Itoa(t.slot), "img", imageName(t.key, i)))
	if err != nil {
		return change.State{}, gone
	}
	state.Blob = change.NewBlob(data)
	return state, nil
}
