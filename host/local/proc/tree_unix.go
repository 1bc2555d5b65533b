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

// found looks for the tree where nothing holds it together: by session, process group and parent of what is found, and
// by the mark in the environment.
func (t *tree) found() []row {
	first := t.leader.PID
	if first == 0 || time.Since(t.since) > wrapAfter || first > pidMax()-4096 {
		first = 1
	}
	rows, err := table(first)
	if err != nil {
		return nil
	}
	in := make(map[int]bool)
	belongs := func(p row) bool {
		return t.leader.PID != 0 && (p.pid == t.leader.PID && p.start == t.leader.Start || p.sid == t.leader.PID && p.start >= t.leader.Start) ||
			in[p.ppid] || marked(p.pid, t.run)
	}
	var list []row
	for grown := true; grown; {
		grown = false
		for _, p := range rows {
			if !in[p.pid] && p.alive() && belongs(p) {
				in[p.pid], grown = true, true
				list = append(list, p)
			}
		}
	}
	return list
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

// kill ends every member that is found.
func (t *tree) kill() {
	if t.group != nil {
		t.group.kill()
	}
	if t.root == 1 {
		unix.Kill(-1, unix.SIGKILL) // all of the namespace but this process
		return
	}
	killAll(t.members())
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
		signalProcess(p, unix.SIGKILL)
	}
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
	begun := time.Now()
	list := t.remains()
	for len(list) > 0 && !killedEnough(begun, func() []row { return list }) {
		if t.group != nil {
			t.group.kill()
		}
		killAll(list)
		select {
		case <-time.After(killEvery):
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
