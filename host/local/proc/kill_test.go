//go:build linux

package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// leftBehind says what tests left: children of this process, and control groups that it or its keepers made.
func leftBehind() string {
	if childrenLeft() {
		rows, err := table(1)
		if err != nil {
			return err.Error()
		}
		return host.ListProcesses(infos(descendants(rows, os.Getpid())))
	}
	base, err := groupBase()
	if err != nil {
		return ""
	}
	dirs, _ := filepath.Glob(filepath.Join(base, groupPrefix+"*"))
	for _, dir := range dirs {
		if _, id, ok := groupMaker(filepath.Base(dir)); ok && id.PID == os.Getpid() {
			return dir
		}
	}
	return ""
}

// play is the part of a server: it runs a command in a directory, says how to find it, and waits to be killed.
func play(tree string, args []string) error {
	cfg := Config{Keeper: Self(), Tree: Tree(strings.TrimPrefix(tree, "default")), StateDir: args[0], Dir: args[0]}
	if tree == "group" {
		cfg.Keeper, cfg.Tree = nil, TreeDefault
	}
	r, err := Open(cfg)
	if err != nil {
		return err
	}
	p, err := r.Start(context.Background(), host.Command{Script: args[1], Run: args[2], Spool: filepath.Join(args[0], "out"),
		Record: filepath.Join(args[0], "record"), Limits: host.Limits{Time: -1}, Detach: args[3] == "detach"})
	if err != nil {
		return err
	}
	if err := p.Output().More(context.Background(), 0); err != nil {
		return err
	}
	h := p.Handle()
	fmt.Println(h.PID, h.Start, h.Group)
	if h.Keeper != nil {
		fmt.Println(h.Keeper.PID, h.Keeper.Start)
	} else {
		fmt.Println(0, 0)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// server is a process that plays the part of a server.
type server struct {
	cmd    *exec.Cmd
	handle host.Handle
	fifo   *os.File
}

// serve starts a server with a command that holds a FIFO, in a directory of its own.
func serve(t *testing.T, tree, script string, detach bool) *server {
	t.Helper()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "alive")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{}
	var err error
	if s.fifo, err = os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.fifo.Close() })
	how := "attached"
	if detach {
		how = "detach"
	}
	run := newRun()
	s.cmd = exec.Command(os.Args[0], dir, "exec 9>alive\n"+script, run, how)
	s.cmd.Env = append(os.Environ(), partVariable+"="+tree)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
	s.handle = host.Handle{Run: run, Boot: bootID(), Spool: filepath.Join(dir, "out"), Quota: host.DefaultSpool, Record: filepath.Join(dir, "record"), Keeper: &host.Identity{}}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if _, serr := fmt.Sscan(line, &s.handle.PID, &s.handle.Start); err != nil || serr != nil {
		t.Fatalf("server said %q: %v", line, errors.Join(err, serr))
	}
	if f := strings.Fields(line); len(f) == 3 {
		s.handle.Group = f[2]
	}
	if _, err := fmt.Fscan(r, &s.handle.Keeper.PID, &s.handle.Keeper.Start); err != nil {
		t.Fatal(err)
	}
	if s.handle.Keeper.PID == 0 {
		s.handle.Keeper = nil
	}
	return s
}

// kill kills the server and waits until it is gone.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
}

func (s *server) alive() bool {
	var p [1]byte
	n, err := syscall.Read(int(s.fifo.Fd()), p[:])
	return n != 0 || err != nil
}

func (s *server) deserted(t *testing.T, ctx context.Context) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.alive() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("processes of the tree outlive their server")
		}
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// attach finds the command of a server again, as the next server does.
func (s *server) attach(t *testing.T, ctx context.Context) host.Process {
	t.Helper()
	p, err := open(t, TreeDefault).Attach(ctx, s.handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// daemons leave in every way that a child can.
const daemons = `trap '' HUP
sleep 300 & setsid sleep 300 & (env -i setsid /bin/bash -c 'trap "" TERM HUP; sleep 300 & exit' >/dev/null 2>&1 &)
echo ready; wait`

// H1: whatever a command started ends with the server, kill -9 included.
func TestH1_KilledServer(t *testing.T) {
	for _, tree := range []string{"default", string(TreeNamespace), string(TreeSubreaper)} {
		t.Run("tree="+tree, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tree, daemons, false)
			ctx := deadline(t)
			s.kill(t)
			s.deserted(t, ctx)
			p := s.attach(t, ctx)
			e, err := p.Wait(ctx)
			if err != nil || e.String() != "ended because the process that started it is gone" {
				t.Errorf("exit is %v, %v", e, err)
			}
			<-p.Gone()
		})
	}
}

// H1: without a keeper the leader ends with its server. What it leaves is found by the next one: in its control group, or
// by its mark.
func TestH1_KilledServerWithoutKeeper(t *testing.T) {
	t.Run("group", func(t *testing.T) {
		t.Parallel()
		r := open(t, "group")
		if !r.Confinement().Complete {
			t.Skip("no control groups here: " + r.Confinement().String())
		}
		s := serve(t, "group", daemons, false)
		s.kill(t)
		if !s.alive() {
			t.Error("nothing was left: the test tests nothing")
		}
		open(t, "group").Confinement() // a new runner sweeps
		s.deserted(t, deadline(t))
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		s := serve(t, string(TreeSession), "trap '' HUP; sleep 300 & setsid sleep 300 & echo ready; wait", false)
		ctx := deadline(t)
		s.kill(t)
		p := s.attach(t, ctx)
		e, err := p.Wait(ctx)
		if err != nil || e.End != host.EndLost || len(e.Survivors) != 2 || !s.alive() {
			t.Errorf("exit is %+v, %v", e, err)
		}
		if left, err := p.Stop(ctx, time.Second); err != nil || len(left) > 0 {
			t.Errorf("stop: %v, %v", left, err)
		}
		s.deserted(t, ctx)
	})
}

// H2: a detached command outlives its server, is found again, and can be stopped with all that it started.
func TestH2_DetachedOutlivesServer(t *testing.T) {
	for _, tree := range []string{"default", string(TreeNamespace), string(TreeSubreaper)} {
		t.Run("tree="+tree, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tree, daemons, true)
			ctx := deadline(t)
			s.kill(t)
			p := s.attach(t, ctx)
			st, err := p.State(ctx)
			if err != nil || !st.Running || !s.alive() {
				t.Fatalf("state is %+v, %v", st, err)
			}
			if left, err := p.Stop(ctx, time.Second); err != nil || len(left) > 0 {
				t.Errorf("stop: %v, %v", left, err)
			}
			s.deserted(t, ctx)
			if e, err := p.Wait(ctx); err != nil || e.String() != "stopped" {
				t.Errorf("exit is %v, %v", e, err)
			}
		})
	}
}

// H1: a keeper that is killed takes its tree with it, or the owner finds what is left.
func TestH1_KilledKeeper(t *testing.T) {
	for _, tree := range []string{"default", string(TreeNamespace), string(TreeSubreaper)} {
		t.Run("tree="+tree, func(t *testing.T) {
			t.Parallel()
			script := daemons
			if tree == string(TreeSubreaper) { // without a group and a mark nothing tells whose a process is
				script = "trap '' HUP; sleep 300 & setsid sleep 300 & echo ready; wait"
			}
			s := serve(t, tree, script, false)
			if err := unix.Kill(s.handle.Keeper.PID, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			s.deserted(t, deadline(t))
		})
	}
}

// H1: a runner that is closed ends what it started, and its keepers.
func TestH1_ClosedRunner(t *testing.T) {
	for _, tree := range []Tree{TreeDefault, TreeNamespace, TreeSession} {
		t.Run("tree="+string(tree), func(t *testing.T) {
			r := open(t, tree)
			for range 3 {
				if _, err := r.Start(t.Context(), host.Command{Script: "sleep 300 & sleep 300"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := r.Start(t.Context(), host.Command{Script: "true"}); err == nil || err.Error() != "the runner is closed" {
				t.Errorf("start after close: %v", err)
			}
			rows, err := table(1)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range descendants(rows, os.Getpid()) {
				if p.name == "sleep" {
					t.Errorf("%v lives", p)
				}
			}
			if files, _ := filepath.Glob(filepath.Join(r.scratch, "*")); len(files) > 0 {
				t.Errorf("files left: %q", files)
			}
		})
	}
}

// RES-005: what a dead process left in a directory of spools goes at the next start, what a live one has there stays, and
// so does what others call their own.
func TestRES005_Sweep(t *testing.T) {
	self, _ := readProcess(os.Getpid())
	dead := host.Identity{PID: 1 << 22, Start: 1}
	live := scratchName(host.Identity{PID: os.Getpid(), Start: self.start}, "a")
	gone := scratchName(dead, "b")
	stays := map[string]bool{
		live + ".log": true,
		live + "dir/": true,
		scratchName(host.Identity{PID: os.Getpid(), Start: self.start + 1}, "c") + ".log": false,
		gone + ".000000000000032.log": false,
		gone + ".err.log":             false,
		gone + "dir/":                 false,
		strings.Replace(gone, scratchPrefix+pidNamespace(), scratchPrefix+"99", 1) + ".log": true,
		"tackle-run-notes.txt": true,
		"notes.txt":            true,
	}
	for _, where := range []string{"state directory", "temporary directory"} {
		t.Run(where, func(t *testing.T) {
			cfg := Config{Tree: TreeSession}
			dir := t.TempDir()
			if where == "state directory" {
				cfg.StateDir, dir = dir, filepath.Join(dir, "run")
			} else {
				t.Setenv("TMPDIR", dir)
			}
			for name := range stays {
				path := filepath.Join(dir, name)
				if strings.HasSuffix(name, "/") {
					path = filepath.Join(path, "spool.log")
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.Confinement()
			for name, stays := range stays {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
					t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
				}
			}
		})
	}
}

// A runner without a state directory leaves nothing in the temporary one: nothing is made until a command needs it, Close
// removes it, and what a killed process left goes at the next start.
func TestRES005_TemporaryDirectory(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	entries := func() []os.DirEntry {
		t.Helper()
		list, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	r, err := Open(Config{Keeper: Self(), Dir: tmp})
	if err != nil {
		t.Fatal(err)
	}
	r.Confinement()
	if n := len(entries()); n > 0 {
		t.Errorf("%d entries before the first command", n)
	}
	if _, err := r.Start(t.Context(), host.Command{Script: "echo x; sleep 300"}); err != nil {
		t.Fatal(err)
	}
	list := entries()
	if len(list) != 1 || !strings.HasPrefix(list[0].Name(), scratchName(r.self, "")) {
		t.Errorf("the directory of spools is %v", list)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := len(entries()); n > 0 {
		t.Errorf("%d entries after Close", n)
	}
}

// A keeper that is none is noticed, and commands run without it.
func TestKeeperThatIsNone(t *testing.T) {
	r, err := Open(Config{Keeper: []string{"/bin/true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := r.Confinement()
	if c.OwnerDeath || !strings.Contains(strings.Join(c.Notes, "\n"), "No keeper (plain): it ended before its first word; does its program call proc.KeeperMain first?") {
		t.Errorf("confinement is %v %q", c, c.Notes)
	}
	p, err := r.Start(t.Context(), host.Command{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := p.Wait(t.Context()); err != nil || !e.Success() {
		t.Error(e, err)
	}
	p.Close()
}

// A program that gives itself as its keeper and forgot KeeperMain does not start itself without end.
func TestKeeperThatIsTheProgram(t *testing.T) {
	t.Setenv(keeperVariable, kindPlain)
	r, err := Open(Config{Keeper: Self()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if c := r.Confinement(); c.OwnerDeath || !slices.Contains(c.Notes, "No keeper: this program was started as one and is none; call proc.KeeperMain first in its main.") {
		t.Errorf("confinement is %v %q", c, c.Notes)
	}
}

// An idle keeper that is killed is replaced by the next start, whether or not its death was noticed before.
func TestKilledIdleKeeper(t *testing.T) {
	r := open(t, TreeDefault)
	if !r.Confinement().OwnerDeath {
		t.Skip("no keepers here: " + r.Confinement().String())
	}
	for i := range 20 {
		r.keepers.mu.Lock()
		if len(r.keepers.idle) == 0 {
			t.Fatal("no keeper is idle")
		}
		for _, c := range r.keepers.idle {
			if err := unix.Kill(c.id.PID, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		r.keepers.mu.Unlock()
		p, err := r.Start(t.Context(), host.Command{Script: fmt.Sprint("echo ", i)})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.Wait(t.Context()); err != nil || !e.Success() {
			t.Fatal(e, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A keeper that dies while it starts a command, after the command may have begun, is an error that says so, and nothing
// stays behind.
func TestKeeperThatDiesInAStart(t *testing.T) {
	r := open(t, TreeDefault)
	if !r.Confinement().OwnerDeath {
		t.Skip("no keepers here: " + r.Confinement().String())
	}
	fifo := filepath.Join(t.TempDir(), "spool.log")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r.keepers.mu.Lock()
	c := r.keepers.idle[0]
	r.keepers.idle = nil
	r.keepers.mu.Unlock()
	if err := unix.Kill(c.id.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s := &spec{Run: newRun(), Spool: raw(strings.TrimSuffix(fifo, ".log"))}
	begun, err := r.beginUnder(t.Context(), c, &command{runner: r, mine: true}, s)
	if !begun || err == nil || !strings.HasSuffix(err.Error(), "; it may have begun, and was ended") {
		t.Errorf("begun %v, %v", begun, err)
	}
	if _, err := os.Lstat(fifo); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool is left: %v", err)
	}
}

// A keeper that never speaks is given up, and ended.
func TestKeeperThatNeverSpeaks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := startKeeper(ctx, []string{"/bin/sleep", "300"}, kindPlain)
	if err == nil || err.Error() != "no word from it: context deadline exceeded" {
		t.Errorf("error is %v", err)
	}
}

// Whoever asks a keeper that does not answer waits as long as he wants, and no longer; when it goes on it answers again.
func TestKeeperThatDoesNotAnswer(t *testing.T) {
	r := open(t, TreeDefault)
	p, err := r.Start(t.Context(), host.Command{Script: "sleep 300"})
	if err != nil {
		t.Fatal(err)
	}
	k := p.Handle().Keeper
	if k == nil {
		t.Skip("no keepers here: " + r.Confinement().String())
	}
	if err := unix.Kill(k.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.State(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("state: %v", err)
	}
	if err := p.Signal(ctx, "SIGINT"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("signal: %v", err)
	}
	if err := unix.Kill(k.PID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := p.State(t.Context()); err != nil {
		t.Errorf("state of one that goes on: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
