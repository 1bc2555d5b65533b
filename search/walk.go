package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tackle-dev/tackle/glob"
)

// A walk is a queue of tasks, each a directory or some of the files of a large one, from which workers take the first by
// path. So the work runs through the tree in order, although in parallel, and at any time everything before the least
// task that is queued or running is settled: a page of results can be declared complete before the walk is.

// visitor gets the files of a walk.
type visitor interface {
	// file is called for every file that passes the filter. rel is its path below the root and valid during the call
	// only; its base name begins at base.
	file(worker int, t *tally, d Dir, rel string, base int)
	// settled is called, never twice at once, when everything before the path least has been visited, and at the end, all
	// being true, when everything has.
	settled(least string, all bool)
}

type walker struct {
	e       *Engine
	ctx     context.Context
	f       *filter
	in      string            // the root in paths, with its "/"
	enter   func(string) bool // whether a directory (by rel) can hold anything of interest; nil: yes
	dirs    func(d Dir, parent, name string)
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

// worker is one goroutine of a walk.
type worker struct {
	*walker
	id      int
	t       *tally
	entries Entries
	kept    []dirent
	path    []byte
	tasks   []task
}

func (w *worker) work() {
	for {
		t, ok := w.take(w.id)
		if !ok {
			return
		}
		if t.files != nil {
			w.batch(t)
		} else {
			w.directory(t)
		}
	}
}

// at sets the path buffer to an entry of the directory whose path it holds up to dir, and returns the whole.
func (w *worker) at(dir int, name []byte) string {
	w.path = append(w.path[:dir], name...)
	return unsafe.String(unsafe.SliceData(w.path), len(w.path))
}

func (w *worker) batch(t task) {
	defer t.files.dir.release()
	dir := len(w.in) + strings.LastIndexByte(t.key, '/') + 1
	w.path = append(append(w.path[:0], w.in...), t.key[:dir-len(w.in)]...)
	from := uint32(0)
	for _, to := range t.files.ends {
		p := w.at(dir, []byte(t.files.names[from:to]))
		from = to
		if !w.one(t.files.dir, p, dir) {
			return
		}
	}
}

// one visits a file and reports whether the walk goes on.
func (w *worker) one(d Dir, p string, dir int) bool {
	if w.stop.Load() {
		return false
	}
	if limit := int64(w.f.MaxFiles); limit > 0 && w.files.Add(1) > limit {
		w.end(FileLimit)
		return false
	}
	w.t.files++
	w.visit.file(w.id, w.t, d, p[len(w.in):], dir-len(w.in))
	return true
}

// directory lists a directory, queues its subdirectories and visits its files, or queues them as well.
func (w *worker) directory(t task) {
	d := w.root
	if t.key != "" {
		sub, err := w.root.Sub(strings.TrimSuffix(t.key, "/"))
		if err != nil {
			w.failed(t.key, err)
			return
		}
		d = sub
	}
	shared := &sharedDir{Dir: d}
	shared.refs.Store(1)
	if t.key == "" {
		shared.refs.Add(1) // the walker closes the root
	}
	defer shared.release()
	w.t.dirs++
	w.entries.reset()
	if err := d.Entries(&w.entries); err != nil {
		w.failed(t.key, err)
	}
	w.path = append(append(w.path[:0], w.in...), t.key...)
	files := w.sift(t, d)
	if w.ordered {
		slices.SortFunc(files, func(a, b dirent) int {
			return strings.Compare(w.view(a), w.view(b))
		})
	}
	mine := files
	if len(files) > inline {
		mine = files[:batchSize]
		for rest := range slices.Chunk(files[batchSize:], batchSize) {
			shared.refs.Add(1)
			w.tasks = append(w.tasks, w.batchTask(t.key, shared, rest))
		}
	}
	w.put(w.tasks)
	clear(w.tasks)
	w.tasks = w.tasks[:0]
	dir := len(w.in) + len(t.key)
	for _, e := range mine {
		if !w.one(d, w.at(dir, w.entries.name(e)), dir) {
			return
		}
	}
}

func (w *worker) view(e dirent) string {
	name := w.entries.name(e)
	return unsafe.String(unsafe.SliceData(name), len(name))
}

// failed records a directory that cannot be read. One that is gone by now was never there.
func (w *worker) failed(key string, err error) {
	if errors.Is(err, fs.ErrNotExist) && key != "" {
		return
	}
	if key == "" {
		key = "."
	}
	w.t.skip(Unreadable, key, reasonOf(err))
}

func reasonOf(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// sift applies the filter: it adds the subdirectories to w.tasks and returns the files.
func (w *worker) sift(t task, d Dir) []dirent {
	dir := len(w.path)
	list := w.entries.list
	if !w.f.NoIgnore {
		t.stack = w.stackOf(t.stack, d)
	}
	files := w.kept[:0]
	for _, e := range list {
		name := w.entries.name(e)
		p := w.at(dir, name)
		rel := p[len(w.in):]
		if e.kind == Unknown {
			info, err := d.Stat(p[dir:])
			if err != nil {
				continue
			}
			e.kind = info.Kind
		}
		isDir := e.kind == Directory
		if w.f.skips(w.t, t.stack, p, p[dir:], isDir, rel) {
			continue
		}
		switch e.kind {
		case Directory:
			if w.enters(t, d, rel, p[dir:]) {
				w.tasks = append(w.tasks, task{key: rel + "/", depth: t.depth + 1, stack: t.stack})
			}
		case RegularFile:
			files = append(files, e)
		case SymbolicLink:
			w.t.skip(Link, rel, "")
		default:
			w.t.skip(Special, rel, "")
		}
	}
	w.path = w.path[:dir]
	w.kept = files
	return files
}

// stackOf returns the ignore files in force in the directory whose entries were just read, and whose path is in w.path.
func (w *worker) stackOf(s *glob.Stack, d Dir) *glob.Stack {
	var n names
	for _, e := range w.entries.list {
		if name := w.entries.name(e); name[0] == '.' {
			n.note(string(name), e.kind)
		}
	}
	if !n.any() {
		return s
	}
	return w.push(s, d, "/"+strings.TrimSuffix(string(w.path), "/"), n)
}

// enters reports whether the walk goes into a directory.
func (w *worker) enters(t task, d Dir, rel, name string) bool {
	if w.f.MaxDepth > 0 && t.depth+1 >= w.f.MaxDepth || w.enter != nil && !w.enter(rel) {
		return false
	}
	if w.dev != 0 {
		if info, err := d.Stat(name); err == nil && info.Dev != w.dev {
			w.t.skip(OtherFS, rel, "")
			return false
		}
	}
	return true
}

func (w *worker) batchTask(key string, d *sharedDir, files []dirent) task {
	b := &batch{dir: d, ends: make([]uint32, len(files))}
	var names strings.Builder
	for i, e := range files {
		names.Write(w.entries.name(e))
		b.ends[i] = uint32(names.Len())
	}
	b.names = names.String()
	return task{key: key + b.names[:b.ends[0]], files: b}
}
