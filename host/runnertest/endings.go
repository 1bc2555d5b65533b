//go:build linux || darwin

package runnertest

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

func limit(d time.Duration) host.Limits { return host.Limits{Time: d} }

// Time limits that a scenario waits for: one that may hit a command before it has begun, and one that leaves time for a
// first line on a machine with much to do.
const (
	short = 300 * time.Millisecond
	long  = 3 * time.Second
)

var endings = []scenario{
	{name: "exit status", proves: "H1", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "echo out; echo err >&2; echo out again; exit 3"})
		b.is("output, in the order of writing", out, "out\nerr\nout again\n")
		b.ends(e, "exit status 3")
		if e.Code != 3 || e.Success() || !e.Gone || e.Took() <= 0 || e.Output != int64(len(out)) || e.MaxRSS == 0 {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "success", proves: "H1", run: func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Argv: []string{"true"}})
		b.ends(e, "exit status 0")
		if !e.Success() {
			t.Error("no success")
		}
	}},
	{name: "signal", proves: "H1", run: func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: "kill -SEGV $$"})
		b.ends(e, "ended by SIGSEGV")
	}},
	{name: "time limit", proves: "H1", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "echo begun; sleep 300", Limits: limit(long)})
		b.is("output", out, "begun\n")
		b.ends(e, "ended after 3s (time limit)")
		if e.Signal != "SIGTERM" || !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "time limit against a deaf command", proves: "H1", run: func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: "trap '' TERM INT HUP; while :; do sleep 300; done", Limits: host.Limits{Time: short, Grace: 100 * time.Millisecond}})
		b.ends(e, "ended after 300ms (time limit)")
		if e.Signal != "SIGKILL" || !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a stopped command can be ended politely", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "trap 'echo bye; exit 7' TERM; echo ready; kill -STOP $$"})
		b.says(p, "ready")
		b.stop(p, time.Minute)
		b.is("output", b.text(p.Output()), "ready\nbye\n")
		if e := b.wait(p); e.Code != 7 || e.End != host.EndStopped {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a command that stops itself when it is told to end", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "trap 'kill -STOP $$; echo woken; exit 7' TERM; echo ready; while :; do sleep 0.05; done", Limits: limit(-1)})
		b.says(p, "ready")
		b.stop(p, patience)
		if out := b.text(p.Output()); !strings.HasSuffix(out, "woken\n") { // bash may tell of the end of its child before
			t.Errorf("output is %q", out)
		}
		if e := b.wait(p); e.Code != 7 || e.End != host.EndStopped {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "stop", proves: "H1 H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "(trap '' TERM; sleep 300) & echo ready; sleep 300"})
		b.says(p, "ready")
		b.stop(p, 50*time.Millisecond)
		e := b.wait(p)
		b.ends(e, "stopped")
		b.gone(p)
		b.stop(p, 0) // once more is no error
		if err := p.Signal(b.ctx, "SIGINT"); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
		if st, err := p.State(b.ctx); err != nil || st.Running || len(st.Processes) > 0 {
			t.Errorf("state after the end: %+v, %v", st, err)
		}
	}},
	{name: "signal by name", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"})
		b.says(p, "ready")
		if err := p.Signal(b.ctx, "SIGNOTHING"); err == nil {
			t.Error("an unknown signal was sent")
		}
		if err := p.Signal(b.ctx, "SIGINT"); err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(p), "exit status 5")
		b.is("output", b.text(p.Output()), "ready\ncaught\n")
	}},
	{name: "cancelled by its context", proves: "H1", run: func(t *testing.T, b *bed) {
		ctx, cancel := context.WithCancel(b.ctx)
		p := b.start(host.Command{Script: "sleep 300"})
		cancel()
		if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("wait: %v", err)
		}
		if st, err := p.State(b.ctx); err != nil || !st.Running {
			t.Errorf("the waiting was cancelled, not the command: %+v, %v", st, err)
		}
		b.close(p)
		_, e, err := host.Run(ctx, b, host.Command{Script: "true", Dir: b.dir}, clip.Limits{}, clip.Tail)
		if !errors.Is(err, context.Canceled) || e.End != "" {
			t.Errorf("a cancelled start: %v, %v", e, err)
		}
		soon, stop := context.WithCancel(b.ctx)
		go func() {
			b.until("it has begun", func() bool { _, err := os.Stat(b.dir + "/begun"); return err == nil })
			stop()
		}()
		out, e, err := host.Run(soon, b, host.Command{Script: hold + "echo begun; >begun; sleep 300", Dir: b.dir}, clip.Limits{}, clip.Tail)
		if !errors.Is(err, context.Canceled) || out.Text() != "begun\n" {
			t.Errorf("Run: %q, %v", out.Text(), err)
		}
		b.ends(e, "stopped")
	}},
	{name: "close ends what lives", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "echo ready; sleep 300"})
		b.says(p, "ready")
		b.close(p)
		b.deserted()
		b.close(p)
	}},
	{name: "limits of resources", proves: "H1 RES-002", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "ulimit -v; ulimit -t; ulimit -f; head -c 2000000 /dev/zero >big", Limits: host.Limits{Memory: 1 << 30, CPU: 7 * time.Second, FileSize: 1 << 20}})
		if !strings.HasPrefix(out, "1048576\n7\n1024\n") || e.Success() {
			t.Errorf("limits are %q, %v", out, e)
		}
		if fi, err := os.Stat(b.dir + "/big"); err != nil || fi.Size() > 1<<20 {
			t.Errorf("file: %v, %v", fi, err)
		}
		out, e = b.run(host.Command{Argv: []string{"sh", "-c", `echo "$0 $1"`, "name", "two words"}, Limits: host.Limits{Memory: 1 << 30}})
		b.is("arguments behind limits", out, "name two words\n")
		b.ends(e, "exit status 0")
	}},
	{name: "a limit of processes", proves: "RES-001", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "ulimit -u", Limits: host.Limits{Processes: 50}})
		if n, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || n <= 50 { // the user has others already
			t.Errorf("limit is %q", out)
		}
		b.ends(e, "exit status 0")
	}},
	{name: "a command that cannot be given its memory", proves: "RES-002", run: func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: `x=$(head -c 300000000 /dev/zero | tr '\0' x); echo ${#x}`, Limits: host.Limits{Memory: 100 << 20}})
		if e.Success() {
			t.Error("it had 300 MB of 100")
		}
	}},
}

func (b *bed) stop(p host.Process, grace time.Duration) {
	b.t.Helper()
	if left, err := p.Stop(b.ctx, grace); err != nil || len(left) > 0 {
		b.t.Fatalf("stop: %v left, %v", left, err)
	}
}

func (b *bed) gone(p host.Process) {
	b.t.Helper()
	select {
	case <-p.Gone():
	case <-b.ctx.Done():
		b.t.Fatal("it is not gone")
	}
}
