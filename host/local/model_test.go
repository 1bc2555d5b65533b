//go:build linux || darwin

package local

import (
	"fmt"
	"path/filepath"

	"github.com/tackle-dev/tackle/change"
)

// Two worlds with a version number. A version determines the whole tree, so after a crash the tree shows which version
// it is, or that it is none.

const manyFiles = 14

// manyTree is version n of the world that changes twenty paths at once, with every kind of operation.
func manyTree(n int) map[string]string {
	t := map[string]string{"keep": "-rw-r--r-- unchanged"}
	for i := range manyFiles {
		t[fmt.Sprintf("f%02d", i)] = "-rw-r--r-- " + string(padded(n, i*1500))
	}
	t["hard"] = "-rw-r----- " + string(padded(n, 20_000+n%3*5000)) // its second name is outside, so it is written in place
	t["link"] = fmt.Sprintf("Lrwxrwxrwx to-%d", n)
	if n%2 == 0 {
		t["mode"] = "-rw-r--r-- mode"
		t["from"] = "-rw------- moved"
		t["even/deep/x"] = "-rw-r--r-- even"
		t["even"], t["even/deep"] = "drwxr-xr-x ", "drwxr-xr-x "
	} else {
		t["mode"] = "-rwxr-xr-x mode"
		t["to"] = "-rw------- moved"
	}
	return t
}

// manySteps is the set that takes version n to n+1.
func manySteps(root string, n int) *change.Set {
	now, next := manyTree(n), manyTree(n+1)
	set := &change.Set{}
	add := func(op change.Op) { set.Ops = append(set.Ops, op) }
	for i := range manyFiles {
		add(rewrite(root, fmt.Sprintf("f%02d", i), now, next))
	}
	add(rewrite(root, "hard", now, next))
	add(rewrite(root, "link", now, next))
	mode := rewrite(root, "mode", now, next)
	mode.Kind, mode.After.Blob = change.Chmod, mode.Before.Blob
	add(mode)
	from, to := "from", "to"
	if n%2 == 1 {
		from, to = to, from
		add(rewrite(root, "even/deep/x", now, next))
	} else {
		for _, p := range []string{"even/deep/x", "even/deep", "even"} {
			add(change.Op{Kind: change.Delete, Path: filepath.Join(root, p), Before: stateIn(now, p)})
		}
	}
	add(change.Op{Kind: change.Move, Path: filepath.Join(root, from), To: filepath.Join(root, to), Before: stateIn(now, from)})
	return set
}

func rewrite(root, p string, now, next map[string]string) change.Op {
	return change.Op{Kind: change.Write, Path: filepath.Join(root, p), Before: stateIn(now, p), After: stateIn(next, p)}
}

func stateIn(t map[string]string, p string) change.State {
	what, ok := t[p]
	if !ok {
		return change.State{}
	}
	mode, content := what[:10], what[11:]
	switch mode[0] {
	case 'd':
		return change.State{Type: change.Dir}
	case 'L':
		return change.State{Type: change.Symlink, Target: content}
	}
	return change.FileState([]byte(content), parseMode(mode))
}

// singleTree is version n of the world that changes one path at a time, through the ways of a single operation.
func singleTree(n int) map[string]string {
	round, phase := n/6, n%6
	t := map[string]string{
		"f":    "-rw-r--r-- " + string(padded(round+min(phase, 1), 200_000)),
		"hard": "-rw-r----- " + string(padded(round, 30_000+round%2*20_000)),
	}
	g := string(padded(round, 3000))
	switch phase {
	case 2:
		t["d/g"] = "-rw-r--r-- " + g
	case 3:
		t["d/g"] = "-rwxr-xr-x " + g
	case 4:
		t["h"] = "-rwxr-xr-x " + g
	}
	if n >= 2 {
		t["d"] = "drwxr-xr-x "
	}
	return t
}

// singleSteps is the set that takes version n to n+1.
func singleSteps(root string, n int) *change.Set {
	now, next := singleTree(n), singleTree(n+1)
	var op change.Op
	switch n % 6 {
	case 0:
		op = rewrite(root, "f", now, next)
	case 1:
		op = rewrite(root, "d/g", now, next)
	case 2:
		op = rewrite(root, "d/g", now, next)
		op.Kind, op.After.Blob = change.Chmod, op.Before.Blob
	case 3:
		op = change.Op{Kind: change.Move, Path: filepath.Join(root, "d/g"), To: filepath.Join(root, "h"), Before: stateIn(now, "d/g")}
	case 4:
		op = change.Op{Kind: change.Delete, Path: filepath.Join(root, "h"), Before: stateIn(now, "h")}
	default:
		op = rewrite(root, "hard", now, next)
	}
	return &change.Set{Ops: []change.Op{op}}
}
