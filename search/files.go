package search

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/glob"
)

// Files lists files by name.
// Errors: *glob.Error, *TypeError, *PathError, or those of the root.
func (e *Engine) Files(ctx context.Context, q FilesQuery) (FilesResult, error) {
	v := &lister{q: q, sorted: make([]keeper, e.workers)}
	w, err := e.filesWalker(ctx, q, v)
	if err != nil {
		return FilesResult{}, err
	}
	if q.Limit > 0 {
		v.need = q.Offset + q.Limit
	}
	rec, err := w.run()
	if err != nil {
		return FilesResult{}, err
	}
	all, total := v.merge()
	r := FilesResult{Total: total, Receipt: rec, AtLeast: rec.Partial != Complete}
	r.Files = page(all, q.Offset, q.Limit)
	r.PastEnd = len(r.Files) == 0 && total > 0
	if q.Order != Newest {
		e.describe(ctx, w, r.Files)
	}
	return r, nil
}

// StreamFiles calls f for every file that Files would list, in no order, from several goroutines at once: worker tells
// them apart. The path is valid during the call only. An error of f ends the walk and is returned.
func (e *Engine) StreamFiles(ctx context.Context, q FilesQuery, f func(worker int, path string) error) (Receipt, error) {
	s := &fileStream{f: f}
	w, err := e.filesWalker(ctx, q, s)
	if err != nil {
		return Receipt{}, err
	}
	s.w = w
	rec, err := w.run()
	if err == nil {
		err = s.err
	}
	return rec, err
}

type fileStream struct {
	w    *walker
	f    func(int, string) error
	want func(string) bool
	err  error
}

func (s *fileStream) file(worker int, _ *tally, _ Dir, rel string, _ int) {
	if s.want != nil && !s.want(rel) {
		return
	}
	if err := s.f(worker, rel); err != nil {
		s.w.mu.Lock()
		s.err = err
		s.w.endLocked(Canceled)
		s.w.mu.Unlock()
	}
}

func (s *fileStream) settled(string, bool) {}

// wants takes the test for names that filesWalker makes of a pattern.
func (s *fileStream) wants(f func(string) bool) { s.want = f }

func (l *lister) wants(f func(string) bool) { l.want = f }

func (e *Engine) filesWalker(ctx context.Context, q FilesQuery, v interface {
	visitor
	wants(func(string) bool)
}) (*walker, error) {
	if q.Offset < 0 {
		q.Offset = 0
	}
	text := strings.TrimPrefix(q.Pattern, strings.TrimSuffix(q.Root, "/")+"/")
	text = strings.TrimPrefix(text, "./")
	if strings.HasPrefix(text, "/") {
		return nil, &PathError{q.Pattern, "the pattern is not below " + q.Root}
	}
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	// Whoever writes the dot means the hidden ones.
	q.Hidden = q.Hidden || strings.HasPrefix(text, ".") || strings.Contains(text, "/.")
	w, err := e.walker(ctx, q.Filter, v)
	if err != nil || text == "" {
		return w, err
	}
	p, err := glob.Compile(text, glob.Options{Fold: q.Fold})
	if err != nil {
		return nil, err
	}
	w.enter = func(dir string) bool { return p.Below(dir) || strings.HasPrefix(text, dir+"/") }
	v.wants(func(rel string) bool { return p.Match(rel) || rel == text })
	return w, nil
}

// lister collects files for Files.
type lister struct {
	q      FilesQuery
	want   func(string) bool
	need   int // how many of the first in order are wanted; 0: all
	sorted []keeper
}

// keeper is the share of one worker: the first of its files, in a list that is sorted and cut now and then.
type keeper struct {
	files []File
	total int
	last  *File // nothing behind it is needed
	_     [64]byte
}

func (l *lister) file(worker int, _ *tally, d Dir, rel string, base int) {
	if l.want != nil && !l.want(rel) {
		return
	}
	f := File{Path: rel}
	if l.q.Order == Newest {
		info, err := d.Stat(rel[base:])
		if err != nil {
			return // gone
		}
		f.Size, f.ModTime = info.Size, info.ModTime
	}
	k := &l.sorted[worker]
	k.total++
	if k.last != nil && l.compare(f, *k.last) > 0 {
		return
	}
	f.Path = strings.Clone(rel)
	k.files = append(k.files, f)
	if l.need > 0 && len(k.files) >= 2*l.need+1024 {
		k.files = l.cut(k.files)
		k.last = &k.files[len(k.files)-1]
	}
}

func (l *lister) settled(string, bool) {}

func (l *lister) compare(a, b File) int {
	if l.q.Order == Newest {
		if c := b.ModTime.Compare(a.ModTime); c != 0 {
			return c
		}
	}
	return comparePaths(a.Path, b.Path)
}

func (l *lister) cut(files []File) []File {
	slices.SortFunc(files, l.compare)
	if l.need > 0 && len(files) > l.need {
		files = files[:l.need]
	}
	return files
}

func (l *lister) merge() (all []File, total int) {
	for i := range l.sorted {
		all = append(all, l.sorted[i].files...)
		total += l.sorted[i].total
	}
	return l.cut(all), total
}

// page cuts a page out of a list.
func page[T any](all []T, offset, limit int) []T {
	all = all[min(max(offset, 0), len(all)):]
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all
}

// describe fills in size and time of a page.
func (e *Engine) describe(ctx context.Context, w *walker, files []File) {
	if len(files) == 0 {
		return
	}
	stat, done := e.stats(ctx, w.f.Root)
	defer done()
	for i := range files {
		if info, ok := stat(files[i].Path); ok {
			files[i].Size, files[i].ModTime = info.Size, info.ModTime
		}
	}
}

// stats returns a function that describes files by their path below root (or its base name, when root is a file). It is
// quick for paths in order, since it keeps the last directory open.
func (e *Engine) stats(ctx context.Context, root string) (stat func(rel string) (Info, bool), done func()) {
	top, err := e.fs.Root(ctx, root)
	if err != nil {
		if top, err = e.fs.Root(ctx, path.Dir(root)); err != nil {
			return func(string) (Info, bool) { return Info{}, false }, func() {}
		}
	}
	cur, at := top, ""
	leave := func() {
		if cur != top && cur != nil {
			cur.Close()
		}
	}
	stat = func(rel string) (Info, bool) {
		dir, name := path.Split(rel)
		if dir != at {
			leave()
			cur, at = top, dir
			if dir != "" {
				if cur, err = top.Sub(strings.TrimSuffix(dir, "/")); err != nil {
					cur = nil
				}
			}
		}
		if cur == nil {
			return Info{}, false
		}
		info, err := cur.Stat(name)
		return info, err == nil
	}
	return stat, func() {
		leave()
		top.Close()
	}
}

// countFor is the default of GrepQuery.CountFor.
const countFor = 250 * time.Millisecond
