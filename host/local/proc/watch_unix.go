//go:build linux || darwin

package proc

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// Pauses of the watcher.
const (
	lookEvery = 500 * time.Millisecond // for survivors of a leader, where no keeper tells
	soonCount = 100 * time.Millisecond // how large the tree is, while the command is young,
	youth     = 10 * time.Second
	lateCount = time.Second            // and later
	wakeEvery = 250 * time.Millisecond // what stops itself after it was told to end would never hear of it
)

// watch follows a job from its start until its tree is gone. All decisions about it are made here, one event at a time.
type watch struct {
	*job
	why     host.End
	stopper []chan []host.ProcessInfo

	leader  *leaderExit
	alone   bool // nothing of the tree lives
	drained bool // no more output can come
	waited  bool // after the leader's end, for the rest to end: the drain time is over
	flushed bool // after the tree's end, for the rest of the output: the drain time is over
	gaveUp  bool // killing did not help
	told    bool // report was called

	limit, drain, flush, grace, wake, kill, look, count <-chan time.Time
	others                                              int // processes of the machine when there were fewest
	killing                                             *killing
	empty, pumped, overflow                             <-chan struct{} // of the job; nil once heard
}

func (j *job) watch() {
	w := &watch{job: j, empty: j.empty, pumped: j.pumped, overflow: j.overflow}
	if j.Limits.Time > 0 {
		t := time.NewTimer(j.Limits.Time)
		defer t.Stop()
		w.limit = t.C
	}
	if j.Limits.Tree > 0 {
		w.others, w.count = processes(), time.After(soonCount)
	}
	for !w.settle() {
		w.next()
	}
	j.streams.close() // ends a pump whose pipe was passed to a process outside of the tree
	<-j.pumped
	j.closeSpools(false)
	j.mu.Lock()
	j.exit.Gone, j.exit.Survivors, j.exit.Open = true, nil, false
	j.tally(&j.exit)
	j.mu.Unlock()
	j.err = writeRecord(string(j.Record), j.exit)
	if !j.lingers {
		close(j.reported)
	}
	close(j.gone)
	for _, reply := range w.stopper { // who stopped it finds it gone
		reply <- nil
	}
}

// next waits for one event.
func (w *watch) next() {
	select {
	case x := <-w.exits:
		w.ended(x)
	case <-w.empty:
		w.empty, w.alone = nil, true
	case <-w.pumped:
		w.pumped, w.drained = nil, true
	case <-w.drain:
		w.drain, w.waited = nil, true
		w.lookAround()
	case <-w.flush:
		w.flush, w.flushed = nil, true
		w.catchUp() // what a dead tree wrote is in the pipe, whether or not our reader has had its turn
	case <-w.look:
		w.lookAround()
	case <-w.limit:
		w.limit = nil
		select {
		case x := <-w.exits: // the end came first
			w.ended(x)
		default:
		}
		if w.leader == nil { // the limit is the leader's: who lives on was named and is no longer timed
			w.end(host.EndTime, w.Limits.Grace)
		}
	case <-w.count:
		w.size()
	case <-w.overflow:
		w.overflow = nil
		w.end(host.EndOutput, w.Limits.Grace)
	case req := <-w.stops:
		w.stopper = append(w.stopper, req.reply)
		w.end(req.why, req.grace)
	case <-w.wake:
		w.tree.wake()
		w.wake = time.After(wakeEvery)
	case <-w.grace:
		w.beginKilling()
	case <-w.kill:
		w.killMore()
	}
}

// size ends a tree that has too many processes. Nobody is asked politely: a fork bomb would not hear it.
func (w *watch) size() {
	w.count = time.After(lateCount)
	if time.Since(w.started) < youth {
		w.count = time.After(soonCount)
	}
	n := 0
	if w.tree.group != nil {
		n = w.tree.group.size()
	} else {
		all := processes()
		w.others = min(w.others, all)
		if all >= 0 && all-w.others <= w.Limits.Tree/2 { // the table need not be read to know
			return
		}
		n = len(w.tree.members())
	}
	if n > w.Limits.Tree {
		w.count = nil
		w.end(host.EndTree, 0)
	}
}

// ended takes the news that the leader has ended.
func (w *watch) ended(x leaderExit) {
	w.leader, w.alone = &x, w.alone || x.alone // both are told at once; either may be heard first
	w.drain = time.After(w.Limits.Drain)
	w.lookAround()
	if w.told { // it could not be ended when it was reported, and now it has
		w.mu.Lock()
		w.fill(&w.exit, &x)
		w.mu.Unlock()
	}
}

// lookAround finds out, where no keeper tells, whether the tree lives.
func (w *watch) lookAround() {
	w.look = nil
	if w.tree.root != 0 || w.leader == nil || w.alone {
		return
	}
	if w.alone = len(w.tree.members()) == 0; !w.alone {
		w.look = time.After(lookEvery)
	}
}

// end begins to end the tree. A second reason does not replace the first, but may be less patient.
func (w *watch) end(why host.End, grace time.Duration) {
	if w.why == "" {
		w.why = why
		if why == host.EndTime || why == host.EndOutput {
			waiting := w.waiting(w.tree.members())
			w.mu.Lock()
			w.exit.Waiting = waiting
			w.mu.Unlock()
		}
		if grace > 0 {
			w.tree.signal(unix.SIGTERM)
			w.wake = time.After(wakeEvery)
		}
	}
	switch {
	case w.kill != nil:
	case grace <= 0:
		w.beginKilling()
	default:
		w.grace = time.After(grace)
	}
}

func (w *watch) beginKilling() {
	w.grace, w.wake, w.killing, w.gaveUp = nil, nil, newKilling(), false
	w.killMore()
}

// killMore kills what lives, again and again, until nothing does or it is given up.
func (w *watch) killMore() {
	list := w.tree.members()
	if len(list) == 0 && w.tree.root == 0 && w.leader != nil {
		w.kill, w.alone = nil, true
		return
	}
	if w.killing.enough(list) {
		w.kill, w.gaveUp = nil, true
		return
	}
	w.tree.kill(list)
	w.kill = time.After(w.killing.next(list))
}

// settle draws conclusions from what is known, and reports whether the job is over.
func (w *watch) settle() (over bool) {
	if w.alone && !w.drained && !w.flushed && w.flush == nil {
		w.flush = time.After(w.Limits.Drain) // what is in the pipe is on its way; only a stranger can hold it open
	}
	ended := w.alone && (w.drained || w.flushed)
	if !w.told && (w.gaveUp || w.leader != nil && (ended || w.waited && w.why == "")) {
		w.report()
	}
	if w.gaveUp && !w.alone && len(w.stopper) > 0 {
		left := infos(w.tree.members())
		for _, reply := range w.stopper {
			reply <- left
		}
		w.stopper = nil
	}
	return w.leader != nil && ended
}

// report publishes how the leader ended, or that it could not be ended.
func (w *watch) report() {
	w.told, w.lingers = true, !w.alone
	if w.lingers {
		w.catchUp() // who waits for this report finds the output of the leader
	}
	w.mu.Lock()
	e := &w.exit
	switch {
	case w.leader != nil && w.leader.lost:
		e.End = host.EndLost
	case w.why != "":
		e.End = w.why
	default:
		e.End = host.EndExited
	}
	e.Limit = limitText(w.Limits, e.End)
	e.Started, e.Code = w.started, -1
	if w.leader != nil {
		w.fill(e, w.leader)
	}
	w.tally(e)
	if w.lingers {
		e.Survivors = infos(w.tree.members())
		e.Open = !closed(w.job.pumped)
	}
	w.mu.Unlock()
	if w.lingers {
		w.err = writeRecord(string(w.Record), w.snapshot())
		close(w.reported)
	} // otherwise all is over in a moment, and reported with the final counts
}
