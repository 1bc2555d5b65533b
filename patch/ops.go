package patch

import (
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
)

// ops turns what became of the files into operations, one for each path. A file that only changed its name is moved; one
// that changed its content too is deleted here and written there, side by side.
func (w *planner) ops() []change.Op {
	var ops []change.Op
	done := map[*file]bool{}
	for _, f := range w.order {
		if done[f] {
			continue
		}
		done[f] = true
		if from := f.from; from != nil && f.now.Type != change.Absent && !done[from] && from.now.Type == change.Absent && from.before.Type != change.Absent {
			done[from] = true
			if f.before.Type == change.Absent && f.now.Equal(from.before) {
				ops = append(ops, change.Op{Kind: change.Move, Path: from.abs, To: f.abs, Before: from.before})
				continue
			}
			ops = append(ops, change.Op{Kind: change.Delete, Path: from.abs, Before: from.before})
		} else if f.now.Type == change.Absent && w.movedFrom(f, done) {
			done[f] = false // it goes with the file that it became
			continue
		}
		if op, ok := operation(f.abs, f.before, f.now); ok {
			ops = append(ops, op)
		}
	}
	return deletionsFirst(ops)
}

// movedFrom reports whether a file that is still to come was moved from f.
func (w *planner) movedFrom(f *file, done map[*file]bool) bool {
	return slices.ContainsFunc(w.order, func(to *file) bool {
		return to.from == f && !done[to] && to.now.Type != change.Absent
	})
}

// operation returns the operation that turns one state of a path into another.
func operation(path string, before, now change.State) (change.Op, bool) {
	op := change.Op{Path: path, Before: before, After: now}
	switch {
	case before.Equal(now):
		return op, false
	case now.Type == change.Absent:
		op.Kind = change.Delete
	case before.Type == now.Type && before.Blob == now.Blob && before.Target == now.Target:
		op.Kind = change.Chmod
	default:
		op.Kind = change.Write
	}
	return op, true
}

// deletionsFirst moves the deletion of a file to the front where another operation makes something below its path.
func deletionsFirst(ops []change.Op) []change.Op {
	blocks := func(d change.Op) bool {
		return d.Kind == change.Delete && slices.ContainsFunc(ops, func(o change.Op) bool {
			return strings.HasPrefix(first(o.To, o.Path), d.Path+"/")
		})
	}
	if !slices.ContainsFunc(ops, blocks) {
		return ops
	}
	sorted := slices.Clone(ops)
	slices.SortStableFunc(sorted, func(a, b change.Op) int {
		switch x, y := blocks(a), blocks(b); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	})
	return sorted
}
