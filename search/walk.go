package search

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/glob"
)

// visitor gets the files of a walk.
type visitor interface {
	// file is called for every file that passes the filter. rel is its path below the root and valid during the call
	// only; its base name begins at base.
	file(worker int, t *tally, d Dir, rel string, base int)
	// settled is called, never twice at once, when everything before the path least has been visited, and at the end, all
	// being true, when everything has.
	settled(least string, all bool)
}

// walker is one walk: a queue of tasks, each a directory or some of the files of a large one, from which workers take
// the first by path. So the work runs through the tree in order, although in parallel, and at any time everything before
// the least task that is queued or running is settled: a page of results can be declared complete before the walk is.
type walker struct {
	e       *Engine
	ctx     context.Context
	f       *filter
	in      string            // the root in paths, with its "/"
	enter   func(string) bool // whether a directory (by rel) can hold anything of interest; nil: yes
	ordered bool
	visit   visitor
	root    Dir
	dev     uint64

	stop  atomic.Bool
	files atomic.Int64

	mu      sync.Mutex
	cond    sync.Cond
	queue   []task
	running []running // what each worker is doing
	active  int
	partial Partial
	timer   *time.Timer
	tallies []tally
}

type running struct {
	key  string
	busy bool
}

// task is a directory (key "a/b/", "" for the root), or files of one (key "a/b/first").
type task struct {
	key   string
	depth int
	stack *glob.Stack
	files *batch
}

// batch is some files of an open directory.
type batch struct {
	dir   *sharedDir
	names string
	ends  []uint32
}

type sharedDir struct {
	Dir
	refs atomic.Int32
}

func (s *sharedDir) release() {
	if s.refs.Add(-1) == 0 {
		s.Close()
	}
}

const (
	batchSize = 32 // files of one task
	inline    = 64 // directories with no more files are one task
)

// run walks and returns the receipt. It returns an error when the root cannot be searched at all; a search that was cut
// short says so in the receipt.
func (w *walker) run() (Receipt, error) {
	begin := w.e.now()
	defer func() {
		if w.root != nil {
			w.root.Close()
		}
	}()
	w.cond.L = &w.mu
	release := w.watch()
	defer release()
	n := w.e.workers
	w.tallies = make([]tally, n)
	root, err := w.e.fs.Root(w.ctx, w.f.Root)
	switch {
	case errors.Is(err, ErrNotDir):
		if err := w.single(); err != nil {
			return Receipt{}, err
		}
		n = 0
	case err != nil:
		return Receipt{}, fmt.Errorf("search %s: %w", w.f.Root, err)
	default:
		w.root = root
		w.queue = []task{{stack: w.above(w.f.Root)}}
	}
	if w.f.OneFS && w.root != nil {
		if info, err := root.Stat("."); err == nil {
			w.dev = info.Dev
		}
	}
	w.running = make([]running, n)
	w.active = n
	var wg sync.WaitGroup
	for id := range n {
		wg.Go(func() { (&worker{walker: w, id: id, t: &w.tallies[id]}).work() })
	}
	wg.Wait()
	w.visit.settled("", !w.stop.Load())
	total := &w.tallies[0]
	for i := range w.tallies[1:] {
		total.merge(&w.tallies[i+1])
	}
	rec := total.receipt()
	w.mu.Lock()
	rec.Partial = w.partial
	w.mu.Unlock()
	rec.Elapsed = w.e.now().Sub(begin)
	return rec, nil
}

// watch stops the walk when its context or its time ends.
func (w *walker) watch() (release func()) {
	cancel := func() {}
	if w.f.TimeLimit > 0 {
		w.ctx, cancel = context.WithTimeout(w.ctx, w.f.TimeLimit)
	}
	ctx := w.ctx
	undo := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.end(TimeLimit)
		} else {
			w.end(Canceled)
		}
	})
	return func() {
		undo()
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer != nil {
			w.timer.Stop()
		}
	}
}

// end stops the walk. The first reason counts.
func (w *walker) end(why Partial) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endLocked(why)
}

func (w *walker) endLocked(why Partial) {
	if !w.stop.Swap(true) {
		w.partial = why
	}
	w.cond.Broadcast()
}

// endAfter stops the walk in a while. The caller holds the lock.
func (w *walker) endAfter(d time.Duration, why Partial) {
	if d <= 0 {
		w.endLocked(why)
	} else if w.timer == nil {
		w.timer = time.AfterFunc(d, func() { w.end(why) })
	}
}

// single visits a root that is a file.
func (w *walker) single() error {
	dir, name := path.Split(w.f.Root)
	d, err := w.e.fs.Root(w.ctx, path.Clean(dir))
	if err != nil {
		return fmt.Errorf("search %s: %w", w.f.Root, err)
	}
	defer d.Close()
	info, err := d.Stat(name)
	if err != nil {
		return fmt.Errorf("search %s: %w", w.f.Root, err)
	}
	if info.Kind != RegularFile {
		return &PathError{w.f.Root, "is neither a directory nor a regular file"}
	}
	w.tallies[0].files++
	w.visit.file(0, &w.tallies[0], d, name, 0)
	return nil
}

// take returns the next task for a worker.
func (w *walker) take(id int) (task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[id] = running{}
	w.active--
	if w.ordered {
		w.settle()
	}
	for len(w.queue) == 0 || w.stop.Load() {
		if w.active == 0 || w.stop.Load() {
			w.drop(w.queue)
			w.queue = nil
			w.cond.Broadcast()
			return task{}, false
		}
		w.cond.Wait()
	}
	w.active++
	t := w.popTask()
	w.running[id] = running{t.key, true}
	return t, true
}

// settle tells the visitor how far the walk has come.
func (w *walker) settle() {
	least, found := "", false
	if len(w.queue) > 0 {
		least, found = w.queue[0].key, true
	}
	for _, r := range w.running {
		if r.busy && (!found || comparePaths(r.key, least) < 0) {
			least, found = r.key, true
		}
	}
	if found {
		w.visit.settled(least, false)
	}
}

func (w *walker) put(ts []task) {
	if len(ts) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop.Load() {
		w.drop(ts)
		return
	}
	for _, t := range ts {
		w.pushTask(t)
	}
	w.cond.Broadcast()
}

// drop gives up tasks.
func (w *walker) drop(ts []task) {
	for _, t := range ts {
		if t.files != nil {
			t.files.dir.release()
		}
	}
}

// pushTask and popTask keep the queue a heap.
func (w *walker) pushTask(t task) {
	w.queue = append(w.queue, t)
	for i := len(w.queue) - 1; i > 0; {
		up := (i - 1) / 2
		if comparePaths(w.queue[up].key, w.queue[i].key) <= 0 {
			return
		}
		w.queue[up], w.queue[i] = w.queue[i], w.queue[up]
		i = up
	}
}

func (w *walker) popTask() task {
	top := w.queue[0]
	n := len(w.queue) - 1
	w.queue[0] = w.queue[n]
	w.queue[n] = task{}
	w.queue = w.queue[:n]
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			return top
		}
		if least+1 < n && comparePaths(w.queue[least+1].key, w.queue[least].key) < 0 {
			least++
		}
		if comparePaths(w.queue[i].key, w.queue[least].key) <= 0 {
			return top
		}
		w.queue[i], w.queue[least] = w.queue[least], w.queue[i]
		i = least
	}
}
