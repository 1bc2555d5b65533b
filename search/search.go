// Package search looks through directory trees: for files by name, for lines by pattern, for a tree to show.
//
//	e := search.New(search.HostFS(h), search.Config{})
//	r, err := e.Grep(ctx, search.GrepQuery{Filter: search.Filter{Root: dir}, Pattern: `func \w+\(`})
//
// It is cold: it keeps nothing between two calls and needs no index; the walk prunes before it stats, files are read
// once into a buffer that stays in the processor's cache, and package scan finds the lines. The precedence of ignore
// files, globs and types, and the meaning of patterns are ripgrep's but for what docs/deviations.md lists.
//
// What it promises: results do not depend on the number of workers; pages of one query do not overlap and have no gaps
// as long as the tree does not change; totals are exact or marked; whatever was not looked at is in the receipt with its
// reason; no link is followed below the root, and nothing but a regular file is opened. A search that is cut short by
// its time limit or by its context returns what it has, marked.
//
// It is not for watching or for searching the content of archives; an index that is resident can stand in front of it
// (scan.Program.Required says which texts a file must contain).
package search

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/glob"
)

// Config configures an Engine. The zero value works.
type Config struct {
	// Workers is the number of goroutines of one search. 0: twice the processors, at least 8, since a worker that waits
	// for a disk costs nothing.
	Workers int
	// Excludes is the text of the user's ignore file for all repositories, and ExcludesName its name; see UserExcludes.
	Excludes     []byte
	ExcludesName string
	// Now is the clock for the time in receipts. nil: time.Now.
	Now func() time.Time
}

// Engine searches one file system. It is safe for concurrent use; every call starts its own workers and ends them.
type Engine struct {
	fs       FS
	workers  int
	excludes *glob.Ignore
	now      func() time.Time
	buffers  sync.Pool // of *[]byte, firstRead long
}

// New returns an engine.
func New(fs FS, c Config) *Engine {
	e := &Engine{fs: fs, workers: c.Workers, now: c.Now}
	if e.workers <= 0 {
		e.workers = max(8, 2*runtime.GOMAXPROCS(0))
	}
	if e.now == nil {
		e.now = time.Now
	}
	if len(c.Excludes) > 0 {
		e.excludes = glob.ParseIgnore(c.ExcludesName, c.Excludes, false)
	}
	return e
}

func (e *Engine) buffer() []byte {
	if b, ok := e.buffers.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, firstRead)
}

// Workers returns the number of goroutines of one search: worker numbers given to callbacks are below it.
func (e *Engine) Workers() int { return e.workers }

func (e *Engine) walker(ctx context.Context, q Filter, v visitor) (*walker, error) {
	f, err := newFilter(q)
	if err != nil {
		return nil, err
	}
	return &walker{e: e, ctx: ctx, f: f, in: insideOf(f.Root), visit: v}, nil
}
