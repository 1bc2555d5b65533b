//go:build linux

package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

const daemons = "trap '' HUP; setsid sleep 300 & sleep 300 & echo ready; wait"

// H2: after kill -9 of the server the status of its tasks is true, what should have ended with it has ended, and what is
// detached runs on and can be stopped.
func TestH2_KilledServer(t *testing.T) {
	b := newBed(t, Config{})
	cmd, attached, detached := b.server("keeper", daemons)
	if r, err := b.Recover(b.ctx); err != nil || len(r.Ended)+len(r.Running) > 0 {
		t.Fatalf("the server lives, and was recovered: %+v, %v", r, err)
	}
	b.ok(cmd.Process.Kill())
	cmd.Wait()
	r, err := b.Recover(b.ctx)
	if err != nil || len(r.Ended) > 1 || len(r.Running) != 1 || r.Running[0].ID != detached {
		t.Fatalf("recovered %+v, %v", r, err)
	}
	i, err := b.Get(attached)
	if err != nil || i.Running || i.Exit == nil || i.Exit.String() != "ended because the process that started it is gone" {
		t.Errorf("attached: %+v, %v", i, err)
	}
	if i, err = b.Look(b.ctx, detached); err != nil || !i.Running || i.Exit != nil || len(i.Lives) < 3 || !b.alive() {
		t.Errorf("detached: %+v, %v", i, err)
	}
	b.says(detached, "r", "ready\n")
	if i, err = b.Stop(b.ctx, detached, time.Second); err != nil || i.Running || i.Exit.String() != "stopped" {
		t.Errorf("stopped: %+v, %v", i, err)
	}
	b.deserted()
	if r, err := b.Recover(b.ctx); err != nil || len(r.Ended)+len(r.Running) > 0 {
		t.Errorf("recovered again: %+v, %v", r, err)
	}
}

// H2: a detached task that ends after its server has its true end on record.
func TestH2_DetachedEndsAlone(t *testing.T) {
	b := newBed(t, Config{})
	cmd, attached, detached := b.server("keeper", "echo ready; until test -e go; do sleep 0.02; done; echo done; exit 5")
	b.ok(cmd.Process.Kill())
	cmd.Wait()
	b.waitFor(attached)
	b.ok(os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600))
	b.is("exit", b.waitFor(detached).Exit.String(), "exit status 5")
	b.says(detached, "r", "ready\ndone\n")
}

// H2: without keepers a killed server leaves children behind. Recover finds and ends them, and writes the end down.
func TestH2_KilledServerWithoutKeepers(t *testing.T) {
	b := newBed(t, Config{})
	cmd, attached, none := b.server("none", daemons)
	if none != "-" {
		t.Fatal("a task was detached without a keeper")
	}
	b.ok(cmd.Process.Kill())
	cmd.Wait()
	if !b.alive() {
		t.Error("nothing was left: the test tests nothing")
	}
	r, err := b.Recover(b.ctx)
	if err != nil || len(r.Ended) != 1 || r.Ended[0].ID != attached || r.Ended[0].Running {
		t.Fatalf("recovered %+v, %v", r, err)
	}
	b.deserted()
	if e := b.ended(attached); e == nil || !e.Gone || e.End == host.EndExited {
		t.Errorf("on record: %+v", e)
	}
}

// H2: a server that dies between the start of a process and the record of it leaves a mark and no handle.
func TestH2_KilledWhileStarting(t *testing.T) {
	b := newBed(t, Config{})
	p, err := b.runner.Start(b.ctx, host.Command{Script: hold + "setsid sleep 300 & echo ready; sleep 300", Dir: b.dir, Run: "task-starting"})
	if err != nil {
		t.Fatal(err)
	}
	b.until("both children run", func() bool { // one that is just becoming another program shows no mark
		st, err := p.State(b.ctx)
		b.ok(err)
		n := 0
		for _, p := range st.Processes {
			n += strings.Count(p.Name, "sleep")
		}
		return n == 2
	})
	for _, c := range []struct {
		id   string
		age  time.Duration
		left int
	}{{"abcdef", 0, 0}, {"bcdefg", 2 * time.Minute, 1}} {
		rec := &record{Version: recordVersion, ID: c.id, Started: time.Now().Add(-c.age), Handle: host.Handle{Run: "task-starting", Spool: filepath.Join(b.tasks, c.id, spoolName), Record: filepath.Join(b.tasks, c.id, exitFile)}}
		b.ok(os.Mkdir(b.folder(c.id), 0o700))
		b.ok(b.save(rec))
		r, err := b.Recover(b.ctx)
		if err != nil || len(r.Ended) != c.left {
			t.Errorf("%s: recovered %+v, %v", c.id, r, err)
		}
		if b.alive() == (c.left > 0) {
			t.Errorf("%s: alive %v", c.id, b.alive())
		}
		b.ok(os.RemoveAll(b.folder(c.id)))
	}
	b.ok(p.Close())
}
