package dev

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// key names an engine, a capability and contents.
type key [32]byte

// results keeps what engines found, by content, up to a number of bytes; the longest unused goes first.
type results struct {
	max int64

	mu    sync.Mutex
	size  int64
	order list.List // of *kept, the latest first
	byKey map[key]*list.Element
}

type kept struct {
	key  key
	r    *Report
	size int64
}

func newResults(max int64) *results { return &results{max: max, byKey: map[key]*list.Element{}} }

func (c *results) get(k key) (*Report, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept).r, true
}

func (c *results) put(k key, r *Report) {
	size := int64(200)
	for p, b := range r.Contents {
		size += int64(len(p) + len(b))
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		size += int64(160 + len(d.File) + len(d.Message) + len(d.Code))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[k]; ok || size > c.max {
		return
	}
	c.byKey[k] = c.order.PushFront(&kept{k, r, size})
	c.size += size
	for c.size > c.max {
		last := c.order.Back()
		old := c.order.Remove(last).(*kept)
		delete(c.byKey, old.key)
		c.size -= old.size
	}
}

// split returns the parts of a report that are about single files, in the order of the files, and the diagnostics that are
// about none of them.
func (r *Report) split(files []File) (parts []*Report, rest []Diagnostic) {
	byFile := make(map[string]*Report, len(files))
	number := make(map[string]int, len(files)) // there may be very many: no slice grows by copying
	for i := range r.Diagnostics {
		number[r.Diagnostics[i].File]++
	}
	for _, f := range files {
		part := &Report{}
		if c, ok := r.Contents[f.Path]; ok {
			part.Contents = map[string][]byte{f.Path: c}
		}
		byFile[f.Path] = part
		parts = append(parts, part)
	}
	for _, d := range r.Diagnostics {
		if part := byFile[d.File]; part != nil {
			if part.Diagnostics == nil {
				part.Diagnostics = make([]Diagnostic, 0, number[d.File])
			}
			part.Diagnostics = append(part.Diagnostics, d)
		} else {
			rest = append(rest, d)
		}
	}
	return parts, rest
}

// add takes over what was found in one file.
func (r *Report) add(file string, part *Report) {
	if c, ok := part.Contents[file]; ok {
		r.Contents[file] = c
	}
	r.Diagnostics = joined(r.Diagnostics, part.Diagnostics)
}

// joined appends to a list that others may hold: the first part is taken as it is.
func joined(list, more []Diagnostic) []Diagnostic {
	if len(list) == 0 {
		return more[:len(more):len(more)]
	}
	return append(list, more...)
}

// grace is how long an engine has to end by itself once its time is over.
const grace = 2 * time.Second

// afterGrace is done when the grace period is over, or at once where the caller is gone.
func afterGrace(ctx context.Context) <-chan struct{} {
	end, cancel := context.WithTimeout(ctx, grace)
	context.AfterFunc(end, cancel)
	return end.Done()
}
