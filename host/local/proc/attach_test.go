//go:build linux || darwin

package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// deadProcess returns the identity of a process that has ended.
func deadProcess(t *testing.T) host.Identity {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, ok := readProcess(cmd.Process.Pid)
	if !ok {
		t.Fatal("a child that was not waited for is not in the table")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return host.Identity{PID: p.pid, Start: p.start}
}

// H2: the record of a command that has ended is waited for while somebody lives who writes it, and no longer.
func TestH2_RecordIsWaitedFor(t *testing.T) {
	dead := deadProcess(t)
	p, ok := readProcess(os.Getpid())
	if !ok {
		t.Fatal("this process is not in the table")
	}
	self := host.Identity{PID: p.pid, Start: p.start}
	other := self
	other.Start++ // the pid went to another process
	const little, much = time.Second, 2 * recordTime
	for _, c := range []struct {
		name   string
		owner  host.Identity
		keeper *host.Identity
		leader host.Identity
		boot   string
		ago    time.Duration // since the tree was seen to have ended
		over   bool
	}{
		{"its owner watches it", self, nil, dead, bootID(), little, false},
		{"its owner watches it and cannot write", self, nil, dead, bootID(), much, true},
		{"its keeper watches it", dead, &self, dead, bootID(), little, false},
		{"its keeper cannot write", dead, &self, dead, bootID(), much, true},
		{"its keeper died, and the owner ends what is left", self, &dead, dead, bootID(), little, false},
		{"both are dead", dead, &dead, dead, bootID(), 0, true},
		{"its owner is dead", dead, nil, dead, bootID(), 0, true},
		{"its owner's number went to another process", other, nil, dead, bootID(), 0, true},
		{"before this boot", self, nil, dead, "another", 0, true},
		{"its start was not written down, its keeper is not known", dead, nil, host.Identity{}, "", little, false},
		{"its start was not written down, long ago", dead, nil, host.Identity{}, "", 2 * hiddenTime, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, TreeSession)
			h := host.Handle{Run: newRun(), PID: c.leader.PID, Start: c.leader.Start, Boot: c.boot, Owner: c.owner, Keeper: c.keeper,
				Spool: filepath.Join(dir, "out"), Record: filepath.Join(dir, "record")}
			l := newLeft(r, h)
			l.ended = time.Now().Add(-c.ago)
			if over := l.look(); over != c.over {
				t.Errorf("it is over: %v", over)
			}
			if !c.over {
				if err := writeRecord(h.Record, host.Exit{End: host.EndExited, Code: 3, Gone: true}); err != nil {
					t.Fatal(err)
				}
				if !l.look() || l.exit().Code != 3 {
					t.Errorf("with the record it is %v", l.exit())
				}
			} else if l.exit().End != host.EndLost {
				t.Errorf("exit is %v", l.exit())
			}
		})
	}
}
