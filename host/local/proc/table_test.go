//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
)

func TestParseStat(t *testing.T) {
	rest := func(fields ...string) string { return strings.Join(fields, " ") }
	tail := rest("34816", "-1", "4194304", "1", "2", "3", "4", "5", "6", "7", "8", "20", "0", "1", "0", "98765", "1000", "5")
	for _, c := range []struct {
		in   string
		want row
		ok   bool
	}{
		{"42 (bash) S 7 42 41 " + tail, row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765, name: "bash"}, true},
		{"42 (a) b (c) Z 7 42 41 " + tail + "\n", row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'Z', start: 98765, name: "a) b (c"}, true},
		{"42 () S 7 42 41 " + tail, row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765}, true},
		{"42 (bash) S 7 42", row{}, false},
		{"", row{}, false},
		{")(", row{}, false},
		{"x (bash) S 7 42 41 " + tail, row{}, false},
	} {
		got, ok := parseStat([]byte(c.in))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.in, got, ok)
		}
	}
	self, ok := readProcess(os.Getpid())
	if !ok || self.pid != os.Getpid() || self.ppid != os.Getppid() || !self.alive() || self.start == 0 {
		t.Errorf("this process is %+v, %v", self, ok)
	}
}

func FuzzParseStat(f *testing.F) {
	if raw, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(raw)
	}
	f.Add([]byte("1 (()) S 1 1"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, ok := parseStat(raw)
		if ok && (p.pid <= 0 || !strings.Contains(string(raw), "("+p.name+")")) {
			t.Errorf("%q is %+v", raw, p)
		}
	})
}

func TestDescendants(t *testing.T) {
	rows := []row{{pid: 9, ppid: 1}, {pid: 4, ppid: 3}, {pid: 3, ppid: 2}, {pid: 2, ppid: 1}, {pid: 5, ppid: 2}, {pid: 7, ppid: 9}}
	var got []int
	for _, p := range descendants(rows, 2) {
		got = append(got, p.pid)
	}
	if d := cmp.Diff([]int{3, 5, 4}, got); d != "" {
		t.Error(d)
	}
	if got := descendants([]row{{pid: 2, ppid: 3}, {pid: 3, ppid: 2}}, 2); len(got) != 2 {
		t.Errorf("a torn reading of the table goes round in circles: %v", got)
	}
}

func TestGroupNames(t *testing.T) {
	id := host.Identity{PID: 12, Start: 345}
	ns, got, ok := groupMaker(groupPrefix + groupName(id, "run-1"))
	if !ok || got != id || ns != pidNamespace() || ns == "0" {
		t.Errorf("%q %+v %v", ns, got, ok)
	}
	for _, name := range []string{"tackle-", "tackle-1-2", "tackle-1-x-3-run", "other"} {
		if _, _, ok := groupMaker(name); ok {
			t.Errorf("%q names a maker", name)
		}
	}
	if base, err := groupBase(); err == nil {
		if _, err := os.Stat(filepath.Join(base, "cgroup.procs")); err != nil {
			t.Error(err)
		}
	}
}

// What an owner and a keeper say arrives whole, bytes that are no text included.
func TestWire(t *testing.T) {
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	a, err := newWire(ours)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	b := &wire{fd: int(theirs.Fd())}
	defer theirs.Close()
	want := &message{Op: opStart, Run: "r", Spec: &spec{Argv: join([]string{"\xff", "", strings.Repeat("long", 1<<20)}), Env: "A=\x01"}}
	sent := make(chan error, 1)
	go func() { sent <- a.send(want) }()
	got, _, err := b.receive()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("passed on")
	for range 2 { // two messages in one reading, each with a descriptor
		if err := b.send(&message{ID: 1, Fail: failureOf(&os.PathError{Op: "open", Path: "/\xff", Err: syscall.ENOENT})}, int(f.Fd())); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		m, fds, err := a.receive()
		if err != nil || len(fds) != 1 || m.Fail.err().Error() != "open /\xff: no such file or directory" {
			t.Fatal(m, fds, err)
		}
		g := os.NewFile(uintptr(fds[0]), "")
		var p [9]byte
		if n, err := g.ReadAt(p[:], 0); string(p[:n]) != "passed on" {
			t.Errorf("%q, %v", p[:n], err)
		}
		g.Close()
	}
	theirs.Close()
	if _, _, err := a.receive(); err == nil {
		t.Error("a closed wire speaks")
	}
}
