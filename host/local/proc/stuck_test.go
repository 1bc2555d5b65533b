//go:build linux

package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// freezer makes a control group (version 1) whose members cannot be ended while it is frozen, which is as near as a test
// comes to a process that hangs in the kernel.
func freezer(t *testing.T) (freeze func(pid int), thaw func()) {
	t.Helper()
	dir := filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("tackle-test-%d-%s", os.Getpid(), newRun()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no process can be made that cannot be ended: " + err.Error())
	}
	put := func(name, value string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	until := func(done func() bool) {
		ctx := deadline(t)
		for tick := time.NewTicker(5 * time.Millisecond); !done(); {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatal("the freezer does not come to an end")
			}
		}
	}
	state := func() string {
		b, _ := os.ReadFile(filepath.Join(dir, "freezer.state"))
		return string(b)
	}
	thaw = func() { put("freezer.state", "THAWED") }
	t.Cleanup(func() {
		thaw()
		until(func() bool { return os.Remove(dir) == nil })
	})
	return func(pid int) {
		t.Helper()
		put("cgroup.procs", strconv.Itoa(pid))
		put("freezer.state", "FROZEN")
		until(func() bool { return state() == "FROZEN\n" })
	}, thaw
}

// H1: what cannot be ended is named, by Stop and in the words of the result, and nobody waits for it for ever. When it ends
// after all, that is known.
func TestH1_WhatCannotBeEndedIsNamed(t *testing.T) {
	for _, tree := range []Tree{TreeDefault, TreeNamespace, TreeSubreaper, TreeSession} {
		t.Run("tree="+string(tree), func(t *testing.T) {
			t.Parallel()
			ctx := deadline(t)
			r := open(t, tree)
			freeze, thaw := freezer(t)
			p, err := r.Start(ctx, host.Command{Script: "sleep 300 & echo ready; wait", Limits: host.Limits{Time: -1}})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Output().More(ctx, 0); err != nil {
				t.Fatal(err)
			}
			leader := p.Handle().PID
			freeze(leader)
			left, err := p.Stop(ctx, 10*time.Millisecond)
			if err != nil || len(left) != 1 || left[0].Name != "bash" {
				t.Fatalf("stop: %v left, %v", left, err)
			}
			e, err := p.Wait(ctx)
			if want := fmt.Sprintf("stopped; process %d (bash) lives on with the output open", left[0].PID); err != nil || e.String() != want {
				t.Errorf("exit is %q, want %q (%v)", e, want, err)
			}
			if st, err := p.State(ctx); err != nil || !st.Running || len(st.Processes) != 1 {
				t.Errorf("state is %+v, %v", st, err)
			}
			thaw()
			select {
			case <-p.Gone():
			case <-ctx.Done():
				t.Fatal("its end is not seen")
			}
			if e, err = p.Wait(ctx); err != nil || e.Signal != "SIGKILL" || !e.Gone || e.String() != "stopped" {
				t.Errorf("in the end exit is %+v, %v", e, err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A leader that somebody else in this process waited for has ended in a way that nobody knows, and nobody waits for ever.
func TestLeaderThatSomebodyElseWaitedFor(t *testing.T) {
	j := &job{exits: make(chan leaderExit, 1), tree: tree{leader: deadProcess(t)}}
	j.reap(false)
	if x := <-j.exits; !x.lost {
		t.Errorf("its end is %+v", x)
	}
}

// H1: output that stands in the pipe when its tree or its leader has ended is kept, however long the reader has to wait for
// its turn. Here the spool keeps it waiting.
func TestH1_SlowReaderLosesNothing(t *testing.T) {
	const size = 60_000 // less than a pipe holds
	for _, last := range []string{"", "; sleep 300 &"} {
		r := open(t, TreeSession)
		mark := filepath.Join(t.TempDir(), "mark")
		p, err := r.Start(t.Context(), host.Command{Script: fmt.Sprintf("read x; echo first; >%s; read x; head -c %d /dev/zero%s", mark, size, last), Input: true,
			Limits: host.Limits{Drain: time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		j := p.(*command).control.(direct).job
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		until := func(done func() bool) {
			for !done() {
				<-tick.C
			}
		}
		turn := make(chan struct{})
		j.out.mu.Lock()
		j.out.limit, j.out.most = func() { <-turn }, 1
		j.out.mu.Unlock()
		p.Input().Write([]byte("go\n"))
		until(func() bool { _, err := os.Stat(mark); return err == nil && inPipe(t, j) == 0 }) // the reader holds the first line
		p.Input().Write([]byte("go\n"))
		until(func() bool { return !aliveAs(j.tree.leader) })
		if n := inPipe(t, j); n != size {
			t.Errorf("%d bytes are in the pipe: the test tests nothing", n)
		}
		<-time.After(100 * time.Millisecond) // much longer than the drain time
		close(turn)
		if e, err := p.Wait(t.Context()); err != nil || e.Output != size+6 {
			t.Errorf("%q: %d bytes, %v, %v", last, e.Output, e, err)
		}
		if st, err := p.Output().Stat(); err != nil || st.Total != size+6 {
			t.Errorf("%q: %+v, %v", last, st, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// inPipe returns how many bytes wait for the reader of a job.
func inPipe(t *testing.T, j *job) (n int) {
	t.Helper()
	conn, err := j.streams.out.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var ierr error
	if err := conn.Control(func(fd uintptr) { n, ierr = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil || ierr != nil {
		t.Fatal(err, ierr)
	}
	return n
}
