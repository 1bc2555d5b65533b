package search

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unsafe"

	"github.com/tackle-dev/tackle/glob"
)

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
