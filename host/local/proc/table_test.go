//go:build linux

package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
)

func TestParseStat(t *testing.T) {
	rest := func(fields ...string) string { return strings.Join(fields, " ") }
	tail := rest("34816", "-1", "4194304", "1", "2", "3", "4", "5", "6", "7", "8", "20", "0", "1", "0", "98765", "1000", "5")
	whole := func(flags, envEnd string) string { // up to the last field
		return strings.Replace(tail, "4194304", flags, 1) + strings.Repeat(" 9", 26) + " " + envEnd + " 0"
	}
	for _, c := range []struct {
		in   string
		want row
		ok   bool
	}{
		{"42 (bash) S 7 42 41 " + tail, row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765, name: "bash"}, true},
		{"42 (a) b (c) Z 7 42 41 " + tail + "\n", row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'Z', start: 98765, name: "a) b (c"}, true},
		{"42 () S 7 42 41 " + tail, row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765}, true},
		{"42 (bash) S 7 42", row{}, false},
		{"42 (bash) S 7 42 41 " + whole("4194304", "0"), row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765, name: "bash", bare: true}, true},
		{"42 (bash) Z 7 42 41 " + whole("4194304", "0"), row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'Z', start: 98765, name: "bash"}, true},
		{"42 (bash) S 7 42 41 " + whole("4194304", "140725240295403"), row{pid: 42, ppid: 7, pgid: 42, sid: 41, state: 'S', start: 98765, name: "bash"}, true},
		{"42 (kworker/0:1) I 2 0 0 " + whole("2129984", "0"), row{pid: 42, ppid: 2, state: 'I', start: 98765, name: "kworker/0:1"}, true},
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

// A tree that nothing holds together is its leader's session and all below it, whoever began before the leader left out.
func TestPick(t *testing.T) {
	const none = 1 << 22 // no process has such a number, so none of these has a mark
	tr := tree{run: "none", leader: host.Identity{PID: none, Start: 100}}
	rows := []row{
		{pid: none + 4, ppid: none + 3, sid: none + 4, start: 105, state: 'S'}, // left the session, below one that stayed
		{pid: none + 1, ppid: 1, sid: 7, start: 99, state: 'S'},                // older
		{pid: none + 2, ppid: none, sid: none, start: 101, state: 'Z'},         // dead
		{pid: none + 3, ppid: 1, sid: none, start: 102, state: 'S'},            // orphan of the session
		{pid: none + 5, ppid: 1, sid: none + 5, start: 106, state: 'S'},        // a stranger
		{pid: none + 6, ppid: none + 4, sid: none + 4, start: 107, state: 'S'},
		{pid: none, ppid: 1, sid: none, start: 100, state: 'S'},
	}
	list, rest := tr.pick(rows)
	numbers := func(list []row) (out []int) {
		for _, p := range list {
			out = append(out, p.pid-none)
		}
		return out
	}
	if d := cmp.Diff([]int{0, 3, 4, 6}, numbers(list)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{5}, numbers(rest)); d != "" {
		t.Error(d)
	}
}

// A process that was between two programs when the table was read is looked at again.
func TestMarkOfAProcessBetweenPrograms(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "300")
	cmd.Env = []string{MarkVariable + "=between"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	p, ok := readProcess(cmd.Process.Pid)
	if !ok {
		t.Fatal("it is not in the table")
	}
	p.bare = true // as it was read
	dead := row{pid: 1 << 22, start: 5, bare: true}
	if tr := (tree{run: "between"}); !tr.anyMarked([]row{dead, p}) {
		t.Error("it is overlooked")
	}
	if tr := (tree{run: "other"}); tr.anyMarked([]row{dead, p}) {
		t.Error("it is taken for one of another run")
	}
}

func TestKillingIsGivenUp(t *testing.T) {
	a, b := row{pid: 1, start: 1, state: 'D'}, row{pid: 2, start: 2, state: 'D'}
	runs := row{pid: 1, start: 1, state: 'R'}
	long := func(k *killing) { // all that was killed was killed long ago
		for id := range k.hit {
			k.hit[id] = time.Now().Add(-2 * killFor)
		}
	}
	k := newKilling()
	if k.enough(nil) || k.enough([]row{a}) {
		t.Error("given up before it began")
	}
	if pause := k.next([]row{a}); pause != killEvery || k.enough([]row{a}) {
		t.Errorf("after one try; pause %s", pause)
	}
	long(k)
	if !k.enough([]row{a}) {
		t.Error("what was killed long ago and lives is not given up")
	}
	if k.enough([]row{runs}) {
		t.Error("what can run is given up")
	}
	if k.enough([]row{a, b}) {
		t.Error("given up with one that was not killed yet")
	}
	if pause := k.next([]row{a, b}); pause <= killEvery || k.enough([]row{a, b}) {
		t.Errorf("given up with one that was killed just now; pause %s", pause)
	}
	k.begun = time.Now().Add(-killMost)
	if !k.enough([]row{runs}) {
		t.Error("it goes on for ever")
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
