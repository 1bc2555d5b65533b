//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// job is one running command in the process that watches it: a keeper, or the owner itself.
type job struct {
	spec
	tree    tree
	streams *streams
	out     *spool
	errs    *spool // nil unless Split
	pumps   []*pump
	started time.Time
	wrote   atomic.Int64 // when output last came, nanoseconds after started

	// Filled by the goroutines of the job, read by watch.
	exits    chan leaderExit
	empty    chan struct{} // closed when a keeper has no child left; never without a keeper
	pumped   chan struct{} // closed when no more output can come
	overflow chan struct{} // Limits.Output was passed
	stops    chan stopRequest

	// Written by watch before the channel is closed.
	reported chan struct{} // the leader has ended, and its output is drained
	lingers  bool          // as reported: something of the tree lives on
	gone     chan struct{} // the tree has ended
	exit     host.Exit     // as reported; final when gone
	mu       sync.Mutex    // guards exit
	err      error         // of the record
}

type leaderExit struct {
	status unix.WaitStatus
	usage  unix.Rusage
	at     time.Time
	alone  bool // known to have left nothing behind
	lost   bool // somebody else in this process waited for it: nothing is known
}

type stopRequest struct {
	why   host.End
	grace time.Duration
	reply chan []host.ProcessInfo
}

// supervision is what the watching process lends to a job.
type supervision struct {
	launcher *launcher
	group    *group // of this job, or nil
	keeper   bool   // this process has no other children and is the subreaper of this one
}

// startJob starts a command and the goroutines that watch it, which end when the tree is gone. The caller then owns the
// descriptor streams.in.
func startJob(c *spec, with supervision) (*job, error) {
	j := &job{
		spec: *c, tree: tree{run: c.Run, group: with.group},
		exits: make(chan leaderExit, 1), empty: make(chan struct{}), pumped: make(chan struct{}), overflow: make(chan struct{}),
		stops: make(chan stopRequest), reported: make(chan struct{}), gone: make(chan struct{}),
	}
	if with.keeper {
		j.tree.root = os.Getpid()
	}
	if err := j.openSpools(); err != nil {
		return nil, err
	}
	var err error
	if j.streams, err = openStreams(c); err != nil {
		j.closeSpools(true)
		return nil, err
	}
	j.started = time.Now()
	j.tree.since = j.started
	pid, err := with.launcher.launch(c, j.streams, with.group)
	j.streams.closeChild()
	if err != nil {
		j.streams.abandon()
		j.closeSpools(true)
		return nil, err
	}
	j.tree.leader.PID = pid
	if p, ok := readProcess(pid); ok { // our child, not yet reaped: the pid is its own
		j.tree.leader.Start = p.start
	}
	wrote := func() { j.wrote.Store(int64(time.Since(j.started))) }
	j.pumps = append(j.pumps, newPump(j.streams.out, j.out, wrote))
	if j.errs != nil {
		j.pumps = append(j.pumps, newPump(j.streams.errs, j.errs, wrote))
	}
	go j.reap(with.keeper)
	go j.pump()
	go j.watch()
	return j, nil
}

func (j *job) openSpools() (err error) {
	if j.out, err = newSpool(string(j.Spool), j.quota()); err != nil {
		return err
	}
	if j.Split {
		if j.errs, err = newSpool(errorsSpool(string(j.Spool)), j.quota()); err != nil {
			j.closeSpools(true)
			return err
		}
	}
	if j.Limits.Output > 0 {
		var once sync.Once
		over := func() { once.Do(func() { close(j.overflow) }) }
		j.out.limit, j.out.most = over, j.Limits.Output
		if j.errs != nil {
			j.errs.limit, j.errs.most = over, j.Limits.Output
		}
	}
	return nil
}

func (j *job) closeSpools(remove bool) {
	for _, s := range []*spool{j.out, j.errs} {
		if s == nil {
			continue
		}
		s.close()
		if remove {
			removeSpool(s.prefix, j.quota())
		}
	}
}

// pump moves output from the pipes into the spools until nothing holds the other end.
func (j *job) pump() {
	var wg sync.WaitGroup
	for _, p := range j.pumps {
		wg.Go(p.run)
	}
	wg.Wait()
	close(j.pumped)
}

// catchUp returns when everything that the pipes hold now is in the spools. How far a pump has come says nothing of what
// was written: on a busy machine it may not have run since.
func (j *job) catchUp() {
	var wg sync.WaitGroup
	for _, p := range j.pumps {
		wg.Go(p.catchUp)
	}
	wg.Wait()
}

// reap waits for the leader and, in a keeper, for every orphan, until there is none.
func (j *job) reap(keeper bool) {
	who := j.tree.leader.PID
	if keeper {
		who = -1
	}
	for {
		var x leaderExit
		pid, err := unix.Wait4(who, &x.status, 0, &x.usage)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil && keeper:
			close(j.empty) // no child is left
			return
		case err != nil:
			j.exits <- leaderExit{lost: true, at: time.Now()}
			return
		case pid == j.tree.leader.PID:
			x.at = time.Now()
			x.alone = keeper && !childrenLeft()
			j.exits <- x
			if x.alone || !keeper { // not one more wait: the next child may be that of the next command
				return
			}
		}
	}
}

// stop asks for the end of the tree and returns what could not be ended.
func (j *job) stop(why host.End, grace time.Duration) []host.ProcessInfo {
	req := stopRequest{why: why, grace: grace, reply: make(chan []host.ProcessInfo, 1)}
	select {
	case j.stops <- req:
	case <-j.gone:
		return nil
	}
	select {
	case left := <-req.reply:
		return left
	case <-j.gone:
		return nil
	}
}

// signal sends a signal to the leader's process group.
func (j *job) signal(sig unix.Signal) error {
	select {
	case <-j.gone:
		return os.ErrProcessDone
	default:
	}
	members := j.tree.members()
	sent := false
	for _, p := range members {
		if p.pgid == j.tree.leader.PID || p.pid == j.tree.leader.PID {
			signalProcess(p, sig)
			sent = true
		}
	}
	if !sent {
		return os.ErrProcessDone
	}
	return nil
}

// state looks at the tree now.
func (j *job) state() host.State {
	list := j.tree.members()
	leads := len(list) > 0 && list[0].pid == j.tree.leader.PID // also a leader that could not be ended
	return host.State{Running: leads || !closed(j.reported), Processes: infos(list), Waiting: j.waiting(list)}
}

func (j *job) waiting(list []row) *host.Waiting {
	return waitingFor(list, j.streams, time.Since(j.started)-time.Duration(j.wrote.Load()))
}

// snapshot returns the Exit as far as it is known.
func (j *job) snapshot() host.Exit {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.exit
}

// fill makes an Exit from how the leader ended.
func (j *job) fill(e *host.Exit, x *leaderExit) {
	e.Started, e.Ended, e.Code = j.started, x.at, -1
	if x.status.Exited() {
		e.Code = x.status.ExitStatus()
	} else if x.status.Signaled() {
		e.Signal = unix.SignalName(x.status.Signal())
	}
	e.CPU = time.Duration(x.usage.Utime.Nano() + x.usage.Stime.Nano())
	e.MaxRSS = maxRSS(&x.usage)
}

func (j *job) tally(e *host.Exit) {
	e.Output, _ = j.out.written()
	if j.errs != nil {
		e.Errors, _ = j.errs.written()
	}
}

func limitText(l host.Limits, why host.End) string {
	switch why {
	case host.EndTime:
		return l.Time.String()
	case host.EndOutput:
		return fmt.Sprintf("%d bytes", l.Output)
	case host.EndTree:
		return fmt.Sprintf("%d processes at one time", l.Tree)
	}
	return ""
}

var _ io.Writer = (*spool)(nil)
