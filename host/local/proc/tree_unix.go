//go:build linux || darwin

package proc

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// tree is the set of processes that one command started.
type tree struct {
	run    string
	leader host.Identity // zero before the start
	root   int           // the keeper, whose descendants are the tree; 0 where there is none
	group  *group        // nil where there is none
	since  time.Time
}

// members returns the processes of the tree that live, the leader first.
func (t *tree) members() []row {
	var list []row
	switch {
	case t.root != 0:
		rows, err := table(1)
		if err != nil {
			return nil
		}
		list = descendants(rows, t.root)
	case t.group != nil:
		list = t.group.members()
	default:
		list = t.found()
	}
	list = slices.DeleteFunc(list, func(p row) bool { return !p.alive() })
	slices.SortFunc(list, func(a, b row) int {
		if a.pid == t.leader.PID || b.pid == t.leader.PID {
			return cmp.Compare(btoi(b.pid == t.leader.PID), btoi(a.pid == t.leader.PID))
		}
		return cmp.Compare(a.pid, b.pid)
	})
	return list
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// descendants returns the rows below root.
func descendants(rows []row, root int) []row {
	children := make(map[int][]row, len(rows))
	for _, p := range rows {
		children[p.ppid] = append(children[p.ppid], p)
	}
	var list []row
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		list = append(list, children[queue[0]]...)
		for _, p := range children[queue[0]] {
			queue = append(queue, p.pid)
		}
		delete(children, queue[0])
	}
	return list
}

// wrapAfter is how long pids are taken to grow: within it a child has a higher pid than its leader, so the table need not
// be read whole.
const wrapAfter = 5 * time.Second

// found looks for the tree where nothing holds it together: by session and parent of what is found, and by the mark in the
// environment.
func (t *tree) found() []row {
	first := t.leader.PID
	if first == 0 || time.Since(t.since) > wrapAfter || first > pidMax()-4096 {
		first = 1
	}
	rows, err := table(first)
	if err != nil {
		return nil
	}
	list, rest := t.pick(rows)
	if t.anyMarked(rest) {
		if rows, err = table(first); err == nil {
			list, _ = t.pick(rows)
		}
	}
	return list
}

// pick divides rows into those of the tree, the leader first, and others that began after it.
func (t *tree) pick(rows []row) (list, rest []row) {
	children := make(map[int][]row, len(rows))
	in := make(map[int]bool)
	for _, p := range rows {
		children[p.ppid] = append(children[p.ppid], p)
	}
	add := func(p row) {
		for queue := []row{p}; len(queue) > 0; queue = queue[1:] {
			if p := queue[0]; !in[p.pid] && p.alive() {
				in[p.pid] = true
				list = append(list, p)
				queue = append(queue, children[p.pid]...)
			}
		}
	}
	for _, leads := range []bool{true, false} {
		for _, p := range rows {
			if l := t.leader; l.PID != 0 && p.start >= l.Start && (leads && p.pid == l.PID && p.start == l.Start || !leads && p.sid == l.PID) {
				add(p)
			}
		}
	}
	for _, p := range rows {
		switch {
		case in[p.pid] || !p.alive() || p.start < t.leader.Start:
		case marked(p.pid, t.run):
			add(p)
		default:
			rest = append(rest, p)
		}
	}
	return list, rest
}

// settleFor bounds the waiting for a process that is between two programs.
const settleFor = 2 * time.Second

// anyMarked waits until each process that is just becoming another program has an environment, and reports whether one has
// the mark: between two programs a process shows none, and would be overlooked.
func (t *tree) anyMarked(list []row) (any bool) {
	deadline := time.Now().Add(settleFor)
	for _, p := range list {
		if !p.bare || p.pid == 1 || !ownProcess(p.pid) { // an init may have none for good
			continue
		}
		for p.bare && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
			now, ok := readProcess(p.pid)
			p.bare = ok && now.start == p.start && now.bare
		}
		any = any || marked(p.pid, t.run)
	}
	return any
}

// signal sends a signal to every member, and wakes those that are stopped, so that they can act on it.
func (t *tree) signal(sig unix.Signal) {
	for _, p := range t.members() {
		signalProcess(p, sig)
		if sig != unix.SIGKILL && p.state == 'T' {
			signalProcess(p, unix.SIGCONT)
		}
	}
}

// wake lets members that are stopped go on.
func (t *tree) wake() {
	for _, p := range t.members() {
		if p.state == 'T' {
			signalProcess(p, unix.SIGCONT)
		}
	}
}

// kill ends the given members, and all others that a group or namespace holds.
func (t *tree) kill(list []row) {
	if t.group != nil {
		t.group.kill()
	}
	if t.root == 1 {
		unix.Kill(-1, unix.SIGKILL) // all of the namespace but this process
		return
	}
	killAll(list)
}

// killAll ends processes. Whole process groups go first: a group cannot grow while it is killed, so a process that forks
// without end is caught with all its children. The group of a member belongs to the tree, because groups do not cross
// sessions and the leader began one.
func killAll(list []row) {
	groups := map[int]bool{unix.Getpgrp(): true}
	for _, p := range list {
		if p.pgid > 1 && !groups[p.pgid] {
			groups[p.pgid] = true
			unix.Kill(-p.pgid, unix.SIGKILL)
		}
	}
	for _, p := range list {
		if p.pgid <= 1 || p.pgid == unix.Getpgrp() { // not reached by its group
			signalProcess(p, unix.SIGKILL)
		}
	}
}

// Pauses of killing.
const (
	killEvery  = 20 * time.Millisecond  // SIGKILL again, for what was forked meanwhile; less often the longer it takes
	killSeldom = 250 * time.Millisecond // because each look at many processes costs those the time to die
	killFor    = 3 * time.Second        // what lives so long after it was killed is named and left,
	killMost   = 30 * time.Second       // but not yet what only waits for a processor to die on
)

// killing keeps book of the killing of a tree.
type killing struct {
	begun time.Time
	pause time.Duration
	hit   map[host.Identity]time.Time // when a process was killed first
}

func newKilling() *killing {
	return &killing{begun: time.Now(), pause: killEvery, hit: make(map[host.Identity]time.Time)}
}

// next notes that a list is killed now, and returns how long to wait before the next look.
func (k *killing) next(list []row) time.Duration {
	for _, p := range list {
		id := host.Identity{PID: p.pid, Start: p.start}
		if _, ok := k.hit[id]; !ok {
			k.hit[id] = time.Now()
		}
	}
	pause := k.pause
	k.pause = min(k.pause*3/2, killSeldom)
	return pause
}

// enough reports whether killing is given up: nothing that lives would end by itself.
func (k *killing) enough(list []row) bool {
	if time.Since(k.begun) >= killMost {
		return true
	}
	for _, p := range list {
		at, ok := k.hit[host.Identity{PID: p.pid, Start: p.start}]
		if !ok || time.Since(at) < killFor || p.state == 'R' {
			return false
		}
	}
	return len(list) > 0
}

// remains returns what lives of a tree that has lost the process that watched it.
func (t *tree) remains() []row {
	list := t.found()
	if t.group != nil {
		for _, p := range t.group.members() {
			if p.alive() && !slices.ContainsFunc(list, func(q row) bool { return q.pid == p.pid }) {
				list = append(list, p)
			}
		}
	}
	return list
}

// endRemains ends what lives of such a tree and returns what could not be ended.
func (t *tree) endRemains(ctx context.Context) []row {
	k := newKilling()
	list := t.remains()
	for len(list) > 0 && !k.enough(list) {
		if t.group != nil {
			t.group.kill()
		}
		killAll(list)
		select {
		case <-time.After(k.next(list)):
		case <-ctx.Done():
			return list
		}
		list = t.remains()
	}
	return list
}

func infos(list []row) []host.ProcessInfo {
	out := make([]host.ProcessInfo, len(list))
	for i, p := range list {
		out[i] = p.info()
	}
	return out
}
