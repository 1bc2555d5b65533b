//go:build linux || darwin

package proc

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// direct is a job that this process itself watches.
type direct struct {
	job *job
}

var _ control = direct{}

func (d direct) reported() <-chan struct{} { return d.job.reported }
func (d direct) gone() <-chan struct{}     { return d.job.gone }
func (d direct) exit() host.Exit           { return d.job.snapshot() }

func (d direct) stop(ctx context.Context, why host.End, grace time.Duration) ([]host.ProcessInfo, error) {
	done := make(chan []host.ProcessInfo, 1)
	go func() { done <- d.job.stop(why, grace) }()
	select {
	case left := <-done:
		return left, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d direct) signal(_ context.Context, sig unix.Signal) error { return d.job.signal(sig) }

func (d direct) state(context.Context) (host.State, error) { return d.job.state(), nil }

func (d direct) detach(context.Context) error {
	return fmt.Errorf("a command can outlive this process only under a keeper: %w", host.ErrUnsupported)
}

func (d direct) release() {
	d.job.tree.group.remove()
}

// beginDirect starts a command as a child of this process.
func (r *Runner) beginDirect(cmd *command, s *spec) error {
	g, err := r.newGroup(s.Run)
	if err != nil {
		return err
	}
	j, err := startJob(s, supervision{launcher: r.launcher, group: g})
	if err != nil {
		g.remove()
		return err
	}
	var in *os.File
	if j.streams.in >= 0 {
		in = os.NewFile(uintptr(j.streams.in), "input")
	}
	h := r.handleOf(s, j.tree.leader, j.started)
	if g != nil {
		h.Group = g.path
	}
	cmd.adopt(direct{j}, h, in, s.Terminal != nil)
	return nil
}

func (r *Runner) handleOf(s *spec, leader host.Identity, started time.Time) host.Handle {
	return host.Handle{Run: s.Run, PID: leader.PID, Start: leader.Start, Boot: r.boot, Owner: r.self, Spool: string(s.Spool), Quota: s.Limits.Spool,
		Split: s.Split, Record: string(s.Record), Started: started}
}
