package proc

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// A command may stop its keeper (kill -STOP $PPID), and the keeper holds the limits of the command. So the owner looks after
// the keeper when the command should have ended: one that does not even answer is killed, and the tree with it.
const (
	guardLate = 2 * time.Second // after the time within which the command should have ended
	pingTime  = 5 * time.Second // for an answer, on a machine with much to do
)

// guard looks after the keeper from the time limit of the command on. The returned function ends that, before the keeper is
// let go.
func (r *run) guard() (enough func()) {
	if limit := r.spec.Limits.Time; limit > 0 {
		return r.lookAfter(host.EndTime, limit+r.spec.Limits.Grace)
	}
	return func() {}
}

// lookAfter looks after the keeper from a time on, until the command has ended for whoever waits for it. The returned
// function ends it.
func (r *run) lookAfter(why host.End, from time.Duration) (enough func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		over := r.reportedCh
		if why != host.EndTime {
			over = r.goneCh
		}
		for wait := from + guardLate; ; wait = guardLate {
			select {
			case <-over:
				return
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if !r.client.answers(ctx) && ctx.Err() == nil {
				r.mu.Lock()
				r.overdue = why
				r.mu.Unlock()
				r.client.kill()
				return
			}
		}
	}()
	return cancel
}

// answers reports whether the keeper does anything at all.
func (c *client) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	_, _, err := c.ask(ctx, &message{Op: opPing})
	return err == nil
}

// kill kills the keeper. It is a child that was not waited for, or it is dead and nothing happens.
func (c *client) kill() {
	if p, ok := readProcess(c.id.PID); ok && p.start == c.id.Start {
		signalProcess(p, unix.SIGKILL)
	}
}
