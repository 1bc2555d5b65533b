package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// output reads a spool by its files alone, so it serves commands of this process, of a keeper and of an earlier process
// in the same way.
type output struct {
	prefix string
	quota  int64
	done   <-chan struct{} // closed when no more is written
	final  func() int64    // after done: how much was written in all, or -1 when that is unknown

	mu   sync.Mutex
	file *os.File // the last that was read, and what it is
	open piece
	shut bool // its command was closed: no file stays open between readings
}

var _ host.Output = (*output)(nil)

func (o *output) finished() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

func (o *output) Stat() (host.OutputStat, error) {
	done := o.finished() // first: what is seen after it is all there is
	list, err := pieces(o.prefix, o.quota)
	if err != nil {
		return host.OutputStat{}, err
	}
	st := host.OutputStat{Done: done, Files: make([]string, len(list))}
	for i, p := range list {
		st.Files[i] = p.path
		st.Kept += p.size
		st.Total = max(st.Total, p.start+p.size)
	}
	if done {
		st.Total = max(st.Total, o.final())
	}
	return st, nil
}

func (o *output) Read(p []byte, at int64) (n int, from int64, err error) {
	at = max(at, 0)
	if len(p) == 0 {
		return 0, at, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		defer o.release()
	}
	if n, err := o.readOpen(p, at); n > 0 || err != nil {
		return n, at, err
	}
	list, err := pieces(o.prefix, o.quota)
	if err != nil {
		return 0, at, err
	}
	for {
		i := sort.Search(len(list), func(i int) bool { return list[i].start+list[i].size > at })
		if i == len(list) {
			return 0, at, io.EOF
		}
		at = max(at, list[i].start)
		if err := o.use(list[i]); err != nil {
			if errors.Is(err, os.ErrNotExist) { // its turn was over between listing and opening
				list = list[i+1:]
				continue
			}
			return 0, at, err
		}
		n, err := o.readOpen(p, at)
		return n, at, err
	}
}

// readOpen reads from the open file, if the offset lies in it.
func (o *output) readOpen(p []byte, at int64) (int, error) {
	if o.file == nil || at < o.open.start {
		return 0, nil
	}
	n, err := o.file.ReadAt(p, at-o.open.start)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// use opens a file of the spool. An open file stays readable after its turn.
func (o *output) use(p piece) error {
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	o.release()
	o.file, o.open = f, p
	return nil
}

func (o *output) release() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.release()
}

// Looking for new output: at once at first, so that a quick answer is not waited for, then less and less often.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 100 * time.Millisecond
)

func (o *output) More(ctx context.Context, at int64) error {
	pause := firstLook
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		st, err := o.Stat()
		switch {
		case err != nil:
			return err
		case st.Total > at:
			return nil
		case st.Done:
			return io.EOF
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.done:
		case <-timer.C:
			pause = min(pause*3/2, lastLook)
			timer.Reset(pause)
		}
	}
}
