package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Tree lists a directory as a tree.
//
// The budget is spent level by level: first the entries of Root, then those of its directories in order, and so on. On
// each level a directory gets an equal share of what is left, so that one with a thousand files cannot push its
// neighbours out; what it does not list is counted.
// Errors: *glob.Error, *TypeError, *PathError, or those of the root.
func (e *Engine) Tree(ctx context.Context, q TreeQuery) (TreeResult, error) {
	if q.Limit == 0 {
		q.Limit = 100
	}
	w, err := e.walker(ctx, q.Filter, nil)
	if err != nil {
		return TreeResult{}, err
	}
	w.cond.L = &w.mu
	release := w.watch()
	defer release()
	begin := e.now()
	if w.root, err = e.fs.Root(w.ctx, w.f.Root); err != nil {
		if errors.Is(err, ErrNotDir) {
			return TreeResult{}, &PathError{q.Root, "is not a directory"}
		}
		return TreeResult{}, fmt.Errorf("list %s: %w", q.Root, err)
	}
	defer w.root.Close()
	t := &treeWalk{worker: &worker{walker: w, t: &tally{}}, q: q}
	r := t.run()
	r.Receipt = t.t.receipt()
	w.mu.Lock()
	r.Receipt.Partial = w.partial
	w.mu.Unlock()
	r.Receipt.Elapsed = e.now().Sub(begin)
	return r, nil
}

type treeWalk struct {
	*worker
	q    TreeQuery
	left int // entries that may still be listed
}

// treeNode is a directory with what is listed of it.
type treeNode struct {
	entry   TreeEntry
	task    task
	entries []*treeNode
}

func (t *treeWalk) run() TreeResult {
	t.left = t.q.Limit
	top := &treeNode{task: task{stack: t.above(t.f.Root)}}
	level := []*treeNode{top}
	for len(level) > 0 && !t.stop.Load() {
		var next []*treeNode
		for i, n := range level {
			t.open(n, len(level)-i)
			for _, c := range n.entries {
				if c.entry.Kind == Directory && (t.q.MaxDepth <= 0 || c.entry.Depth < t.q.MaxDepth) {
					next = append(next, c)
				}
			}
		}
		level = next
	}
	r := TreeResult{More: top.entry.More}
	top.collect(&r)
	return r
}

// open lists a directory; sharers is how many of its level, itself included, are still to be listed.
func (t *treeWalk) open(n *treeNode, sharers int) {
	if t.stop.Load() || t.q.Limit > 0 && t.left == 0 {
		return
	}
	d := t.root
	if n.task.key != "" {
		sub, err := t.root.Sub(strings.TrimSuffix(n.task.key, "/"))
		if err != nil {
			t.failed(n.task.key, err)
			return
		}
		defer sub.Close()
		d = sub
	}
	t.t.dirs++
	t.entries.reset()
	if err := d.Entries(&t.entries); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.failed(n.task.key, err)
	}
	children := t.children(n, d)
	share := len(children)
	if t.q.Limit > 0 {
		share = min(share, max(1, (t.left+sharers-1)/sharers))
		t.left -= share
	}
	n.entry.More = len(children) - share
	n.entries = children[:share]
	if t.q.Sizes {
		for _, c := range n.entries {
			if info, err := d.Stat(path.Base(c.entry.Path)); err == nil && c.entry.Kind == RegularFile {
				c.entry.Size, c.entry.ModTime = info.Size, info.ModTime
			}
		}
	}
}

// children returns the entries that pass the filter, directories first, each group by name.
func (t *treeWalk) children(n *treeNode, d Dir) []*treeNode {
	t.path = append(append(t.path[:0], t.in...), n.task.key...)
	dir := len(t.path)
	stack := n.task.stack
	if !t.f.NoIgnore {
		stack = t.stackOf(stack, d)
	}
	var out []*treeNode
	for _, e := range t.worker.entries.list {
		p := t.at(dir, t.worker.entries.name(e))
		rel := p[len(t.in):]
		if e.kind == Unknown {
			if info, err := d.Stat(p[dir:]); err == nil {
				e.kind = info.Kind
			}
		}
		if t.f.skips(t.t, stack, p, p[dir:], e.kind == Directory, rel) {
			continue
		}
		c := &treeNode{entry: TreeEntry{Path: strings.Clone(rel), Kind: e.kind, Depth: n.entry.Depth + 1}}
		if e.kind == Directory {
			c.entry.More = -1
			c.task = task{key: c.entry.Path + "/", stack: stack}
		} else {
			t.t.files++
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *treeNode) int {
		if x, y := a.entry.Kind == Directory, b.entry.Kind == Directory; x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.entry.Path, b.entry.Path)
	})
	return out
}

// collect writes the entries below a node in order.
func (n *treeNode) collect(r *TreeResult) {
	for _, c := range n.entries {
		r.Entries = append(r.Entries, c.entry)
		c.collect(r)
	}
}
