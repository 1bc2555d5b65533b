//go:build linux || darwin

package runnertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

func complete(c host.Confinement) bool { return c.Complete }

// leavers are children that leave in every way that a child can: into the background, into a session of their own, without
// the environment that marks them, orphaned, and deaf to polite words.
const leavers = `trap '' HUP
sleep 300 & setsid sleep 300 &
(env -i setsid /bin/bash -c 'trap "" TERM HUP; sleep 300 & exit' >/dev/null 2>&1 &)
(setsid /bin/bash -c '(trap "" TERM HUP; exec 2>&-; sleep 300) & exit' &)
echo ready
`

// leaving makes a scenario of one way in which a command with leavers ends. Nothing of it may remain.
func leaving(how string, run func(t *testing.T, b *bed)) scenario {
	return scenario{name: "all that left is ended by " + how, proves: "H1 RES-003", needs: complete, run: run}
}

var trees = []scenario{
	leaving("a limit of time", func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: leavers + "wait", Limits: host.Limits{Time: long, Grace: 50 * time.Millisecond}})
		b.ends(e, "ended after 3s (time limit)")
		if !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}),
	leaving("a limit of output", func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: leavers + "yes", Limits: host.Limits{Output: 100_000, Grace: 50 * time.Millisecond}})
		b.ends(e, "ended after 100000 bytes of output (limit)")
		if !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}),
	leaving("cancelling", func(t *testing.T, b *bed) {
		ctx, cancel := context.WithCancel(b.ctx)
		defer cancel()
		go func() {
			b.until("it has begun", func() bool { _, err := os.Stat(b.dir + "/begun"); return err == nil })
			cancel()
		}()
		_, e, err := host.Run(ctx, b, host.Command{Script: hold + leavers + ">begun; wait", Dir: b.dir, Limits: host.Limits{Time: -1, Grace: 50 * time.Millisecond}}, clip.Limits{}, clip.Tail)
		if !errors.Is(err, context.Canceled) || !e.Gone {
			t.Errorf("exit is %+v, %v", e, err)
		}
		b.ends(e, "stopped")
	}),
	leaving("stopping", func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: leavers + "wait", Limits: limit(-1)})
		b.says(p, "ready")
		b.stop(p, 50*time.Millisecond)
		b.ends(b.wait(p), "stopped")
	}),
	leaving("closing", func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: leavers + "wait", Limits: limit(-1)})
		b.says(p, "ready")
		b.close(p)
	}),
	leaving("closing after its leader's end", func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: leavers + "exit 3", Limits: limit(-1)})
		e := b.wait(p)
		if e.Code != 3 || len(e.Survivors) < 4 || !strings.HasPrefix(e.String(), "exit status 3; processes ") || !strings.HasSuffix(e.String(), " live on with the output open") {
			t.Errorf("exit is %+v: %s", e, e)
		}
		b.close(p)
	}),
	{name: "a child that keeps the pipe", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "sleep 300 & echo started"})
		e := b.wait(p)
		b.is("output", b.text(p.Output()), "started\n")
		b.ends(e, "exit status 0; "+survivor(e, " with the output open"))
		if e.Gone || !b.alive() {
			t.Error("the child did not live on")
		}
		st, err := p.State(b.ctx)
		if err != nil || st.Running || len(st.Processes) != 1 || st.Processes[0].PID != e.Survivors[0].PID {
			t.Errorf("state is %+v, %v", st, err)
		}
		b.stop(p, time.Minute)
		b.gone(p)
		b.ends(b.wait(p), "exit status 0") // how the leader ended stays
	}},
	{name: "a child that closed the pipe", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "mkfifo closed; (exec >/dev/null 2>&1; echo yes >closed; exec sleep 300) & cat closed"})
		e := b.wait(p)
		b.is("output", b.text(p.Output()), "yes\n")
		b.ends(e, "exit status 0; "+survivor(e, ""))
		b.close(p)
	}},
	{name: "survivors are named", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "sleep 300 & a=$!; setsid sleep 300 & echo $a $!; exit 3", Limits: limit(-1)})
		e := b.wait(p)
		var pids [2]int
		if _, err := fmt.Sscan(b.text(p.Output()), &pids[0], &pids[1]); err != nil || len(e.Survivors) != 2 {
			t.Fatalf("exit is %+v, %v", e, err)
		}
		b.ends(e, fmt.Sprintf("exit status 3; processes %d (%s), %d (%s) live on with the output open", pids[0], e.Survivors[0].Name, pids[1], e.Survivors[1].Name))
		b.close(p)
	}},
	{name: "a child that ends soon after is waited for", proves: "H1", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "(sleep 0.05; echo late) & echo soon", Limits: host.Limits{Drain: patience}})
		b.is("output", out, "soon\nlate\n")
		b.ends(e, "exit status 0")
	}},
	{name: "a survivor goes on writing", proves: "H1 H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "mkfifo go; (cat go; echo later) & echo started"})
		e := b.wait(p)
		if !e.Open || len(e.Survivors) == 0 {
			t.Fatalf("exit is %+v", e)
		}
		if err := os.WriteFile(filepath.Join(b.dir, "go"), []byte("told\n"), 0); err != nil {
			t.Fatal(err)
		}
		b.gone(p)
		b.is("output", b.text(p.Output()), "started\ntold\nlater\n")
		if e := b.wait(p); !e.Gone || e.Output != int64(len("started\ntold\nlater\n")) {
			t.Errorf("exit is %+v, gone %v, %d bytes", e, e.Gone, e.Output)
		}
	}},
	{name: "setsid daemon", proves: "H1 RES-003", run: func(t *testing.T, b *bed) {
		_, e := b.run(host.Command{Script: "setsid sleep 300 >/dev/null 2>&1 & sleep 300", Limits: limit(short)})
		b.ends(e, "ended after 300ms (time limit)")
		if !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "daemon without a mark", proves: "H1 RES-003", needs: complete, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "env -i /bin/bash -c 'exec setsid /bin/bash -c \"sleep 300 & exit\"' >/dev/null 2>&1; echo forked"})
		e := b.wait(p)
		b.ends(e, "exit status 0; "+survivor(e, ""))
		b.close(p)
		b.deserted()
	}},
	{name: "double fork under a time limit", proves: "RES-003", needs: complete, run: func(t *testing.T, b *bed) {
		script := "for i in 1 2 3 4 5; do (setsid bash -c '(trap \"\" TERM HUP; sleep 300) & disown; exit' >/dev/null 2>&1 &) ; done; sleep 300"
		_, e := b.run(host.Command{Script: script, Limits: host.Limits{Time: short, Grace: 50 * time.Millisecond}})
		b.ends(e, "ended after 300ms (time limit)")
	}},
	{name: "bounded fork bomb", proves: "RES-001", run: func(t *testing.T, b *bed) {
		script := "trap '' TERM; f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; sleep 300; }; f 5"
		t0 := time.Now()
		_, e := b.run(host.Command{Script: script, Limits: host.Limits{Time: short, Grace: -1}})
		b.ends(e, "ended after 300ms (time limit)")
		if !e.Gone {
			t.Errorf("exit is %+v after %s", e, time.Since(t0))
		}
	}},
	{name: "a fork bomb that is counted", proves: "RES-001", run: func(t *testing.T, b *bed) {
		// Each process makes two more, five generations long, should nobody stop it.
		script := "f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; sleep 300; }; trap '' TERM; f 5 & sleep 300"
		_, e := b.run(host.Command{Script: script, Limits: host.Limits{Time: patience, Tree: 15}})
		b.ends(e, "ended at more than 15 processes at one time (limit)")
		if !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a fork bomb whose leader is gone", proves: "RES-001", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; sleep 300; }; trap '' TERM; f 5 & exit 0", Limits: host.Limits{Time: patience, Tree: 15}})
		b.gone(p)
		if e := b.wait(p); e.End != host.EndTree && (e.End != host.EndExited || e.Code != 0) { // as it was found before or after the report of the leader
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a fork bomb of sessions", proves: "RES-001", needs: complete, run: func(t *testing.T, b *bed) {
		// Each generation leaves the group of the one before it, and dies: there is always one process, never the same.
		script := "cat >bomb <<'E'\n[ $1 -gt 0 ] && setsid bash bomb $(($1-1)) &\nE\nsetsid bash bomb 4000 & sleep 300"
		_, e := b.run(host.Command{Script: script, Limits: host.Limits{Time: short, Grace: -1}})
		b.ends(e, "ended after 300ms (time limit)")
	}},
	{name: "a command that kills its parent", proves: "H1", run: func(t *testing.T, b *bed) {
		if !b.Confinement().OwnerDeath {
			t.Skip("its parent is this test: " + b.Confinement().String())
		}
		p := b.start(host.Command{Script: "setsid sleep 300 & echo ready; read x; kill -9 $PPID; sleep 300", Input: true, Limits: limit(3 * long)})
		b.says(p, "ready")
		b.write(p, "go\n")
		e := b.wait(p)
		if e.End != host.EndLost && e.End != host.EndTime { // process 1 of a pid namespace is deaf to its children
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a command that stops its parent, and its limit", proves: "H1", run: func(t *testing.T, b *bed) {
		if !b.Confinement().OwnerDeath {
			t.Skip("its parent is this test: " + b.Confinement().String())
		}
		p := b.start(host.Command{Script: "setsid sleep 300 & read x; kill -STOP $PPID; sleep 300", Input: true, Limits: limit(long)})
		b.write(p, "go\n")
		e := b.wait(p)
		b.ends(e, "ended after 3s (time limit)")
		if !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "a command that stops its parent, and is stopped", proves: "H1", run: func(t *testing.T, b *bed) {
		if !b.Confinement().OwnerDeath {
			t.Skip("its parent is this test: " + b.Confinement().String())
		}
		p := b.start(host.Command{Script: "setsid sleep 300 & read x; kill -STOP $PPID; >stopped; sleep 300", Input: true, Limits: limit(-1)})
		b.write(p, "go\n")
		b.until("it is stopped", func() bool { _, err := os.Stat(b.dir + "/stopped"); return err == nil })
		b.stop(p, 50*time.Millisecond)
		if e := b.wait(p); e.End != host.EndStopped || !e.Gone {
			t.Errorf("exit is %+v", e)
		}
	}},
	{name: "many at the same time", proves: "T11", run: func(t *testing.T, b *bed) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				p, err := b.Start(b.ctx, host.Command{Script: hold + fmt.Sprintf("echo %d; (sleep 300 &) ; exit %d", i, i), Dir: b.dir})
				if err != nil {
					t.Error(err)
					return
				}
				e, err := p.Wait(b.ctx)
				if err != nil || e.Code != i || len(e.Survivors) != 1 || b.text(p.Output()) != fmt.Sprintln(i) {
					t.Errorf("%d: %+v, %v", i, e, err)
				}
				b.close(p)
			})
		}
		wg.Wait()
	}},
	{name: "handed on by its handle", proves: "H2", run: func(t *testing.T, b *bed) {
		record := filepath.Join(b.dir, "record")
		p := b.start(host.Command{Script: "echo begun; sleep 300", Spool: filepath.Join(b.dir, "out"), Record: record})
		b.says(p, "begun")
		again, err := b.Attach(b.ctx, p.Handle())
		if err != nil {
			t.Fatal(err)
		}
		b.is("output", b.text(again.Output()), "begun\n")
		if st, err := again.State(b.ctx); err != nil || !st.Running || len(st.Processes) == 0 {
			t.Errorf("state is %+v, %v", st, err)
		}
		if again.Input() != nil {
			t.Error("a handle carries no input")
		}
		b.stop(p, time.Minute)
		if e := b.wait(again); e.End != host.EndStopped || !e.Gone {
			t.Errorf("exit is %+v", e)
		}
		b.gone(again)
		b.close(again)
		third, err := b.Attach(b.ctx, p.Handle())
		if err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(third), "stopped")
		b.close(third)
	}},
	{name: "signalled by its handle", proves: "H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done", Spool: filepath.Join(b.dir, "out"), Record: filepath.Join(b.dir, "record")})
		b.says(p, "ready")
		again, err := b.Attach(b.ctx, p.Handle())
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Detach(b.ctx); err != nil { // it does not end with what attached to it
			t.Error(err)
		}
		if err := again.Signal(b.ctx, "SIGINT"); err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(again), "exit status 5")
		b.gone(again)
		if err := again.Signal(b.ctx, "SIGINT"); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
		b.is("output", b.text(again.Output()), "ready\ncaught\n")
		b.close(again)
	}},
	{name: "what cannot be detached", proves: "H2", run: func(t *testing.T, b *bed) {
		c := host.Command{Script: "echo ready; sleep 300"}
		p := b.start(c)
		if err := p.Detach(b.ctx); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("without a spool of its own: %v", err)
		}
		c.Detach, c.Script, c.Dir = true, hold+c.Script, b.dir
		if _, err := b.Start(b.ctx, c); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("without a spool of its own, from the start: %v", err)
		}
		b.close(p)
		if b.Confinement().Detach {
			return
		}
		q := b.start(host.Command{Script: "sleep 300", Spool: filepath.Join(b.dir, "out")})
		if err := q.Detach(b.ctx); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("where nothing can be: %v", err)
		}
		b.close(q)
		c.Spool = filepath.Join(b.dir, "other")
		if _, err := b.Start(b.ctx, c); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("where nothing can be, from the start: %v", err)
		}
	}},
	{name: "a handle of nothing", proves: "H2", run: func(t *testing.T, b *bed) {
		h := host.Handle{Run: "nothing", PID: 1 << 22, Start: 1, Boot: "another", Spool: filepath.Join(b.dir, "none")}
		p, err := b.Attach(b.ctx, h)
		if err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(p), "gone; nobody saw how it ended")
		b.gone(p)
		b.close(p)
		if _, err := b.Attach(b.ctx, host.Handle{}); err == nil {
			t.Error("an empty handle was accepted")
		}
	}},
	{name: "detached", proves: "H2", needs: func(c host.Confinement) bool { return c.Detach }, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "mkfifo go; echo ready; cat go; exit 4", Spool: filepath.Join(b.dir, "out"), Record: filepath.Join(b.dir, "record"), Detach: true})
		b.says(p, "ready")
		b.close(p)
		again, err := b.Attach(b.ctx, p.Handle())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.dir, "go"), []byte("still here\n"), 0); err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(again), "exit status 4")
		b.is("output", b.text(again.Output()), "ready\nstill here\n")
		b.close(again)
	}},
	{name: "detached and stopped", proves: "H2", needs: func(c host.Confinement) bool { return c.Detach }, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "(setsid sleep 300 &) ; echo ready; sleep 300", Spool: filepath.Join(b.dir, "out"), Record: filepath.Join(b.dir, "record")})
		b.says(p, "ready")
		if err := p.Detach(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.close(p)
		again, err := b.Attach(b.ctx, p.Handle())
		if err != nil {
			t.Fatal(err)
		}
		b.stop(again, time.Second)
		b.ends(b.wait(again), "stopped")
		b.close(again)
	}},
	{name: "state names the tree", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "sleep 300 & echo ready; wait"})
		b.says(p, "ready")
		var st host.State
		b.until("the child has become sleep", func() bool {
			var err error
			st, err = p.State(b.ctx)
			return err == nil && st.Running && len(st.Processes) == 2 && st.Processes[0].Name == "bash" && st.Processes[1].Name == "sleep"
		})
		if got := host.ListProcesses(st.Processes); !strings.HasPrefix(got, "processes ") || !strings.Contains(got, "(bash), ") {
			t.Errorf("list is %q", got)
		}
		b.close(p)
	}},
}
