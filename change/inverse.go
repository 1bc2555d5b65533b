package change

import (
	"fmt"
	"slices"
)

// Inverse returns the set that undoes s: committed after it, it brings back what the Before states describe. The Before
// states must hold their contents; where one knows only a digest, the error says which. A directory that was already
// there when a Mkdir ran stays. Move, Mkdir and Chmod need no contents.
func (s *Set) Inverse() (*Set, error) {
	inv := &Set{}
	if s == nil {
		return inv, nil
	}
	for i, op := range slices.Backward(s.Ops) {
		var back Op
		switch op.Kind {
		case Write:
			back = Op{Kind: Write, Path: op.Path, Before: op.After, After: op.Before}
			if op.Before.Type == Absent {
				back.Kind = Delete
			}
		case Delete:
			back = Op{Kind: Write, Path: op.Path, After: op.Before}
			if op.Before.Type == Dir {
				back.Kind = Mkdir
			}
		case Move:
			back = Op{Kind: Move, Path: op.To, To: op.Path, Before: op.Before}
		case Mkdir:
			if op.Before.Type == Dir {
				continue
			}
			back = Op{Kind: Delete, Path: op.Path, Before: op.After}
		case Chmod:
			back = Op{Kind: Chmod, Path: op.Path, Before: op.After, After: op.Before}
		}
		if back.Kind == Write {
			if err := back.After.writable(); err != nil {
				return nil, opError(i, op, fmt.Errorf("cannot be undone: %w", err))
			}
		}
		inv.Ops = append(inv.Ops, back)
	}
	return inv, nil
}
