package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// client is the owner's view of one keeper.
type client struct {
	wire  *wire
	id    host.Identity
	kind  string
	group string
	dead  chan struct{} // closed when the keeper process has ended

	mu   sync.Mutex
	next int
	wait map[int]chan answer
	lost error // set when the wire has closed
	last bool  // it said that it ends now
	run  *run  // the command that it keeps, nil when idle
}

type answer struct {
	m   *message
	fds []int
}

// errKeeper says that a keeper died under a command.
var errKeeper = errors.New("the keeper of the command died")

// How long the first word of a keeper, and its answer to a start, are waited for on a machine that has much to do.
const (
	keeperStart  = 10 * time.Second
	commandStart = 30 * time.Second
)

// startKeeper starts a keeper and waits until it is ready.
func startKeeper(ctx context.Context, argv []string, kind string) (*client, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if argv[0] == selfPath {
		cmd.Args[0] = filepath.Base(os.Args[0]) + "-keeper" // what people see in ps
	}
	cmd.Env = []string{keeperVariable + "=" + kind, "GOMAXPROCS=2", "PATH=" + defaultPath}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs} // descriptor 3
	cmd.SysProcAttr = keeperAttributes(kind)
	err = cmd.Start()
	theirs.Close() // so that the end of the keeper ends the reading from it
	if err != nil {
		ours.Close()
		return nil, err
	}
	c := &client{kind: kind, dead: make(chan struct{}), wait: make(map[int]chan answer)}
	c.id.PID = cmd.Process.Pid
	if p, ok := readProcess(c.id.PID); ok {
		c.id.Start = p.start
	}
	go func() { cmd.Wait(); close(c.dead) }()
	if c.wire, err = newWire(ours); err != nil {
		cmd.Process.Kill()
		return nil, err
	}
	if err := c.greet(ctx); err != nil {
		c.wire.close()
		cmd.Process.Kill()
		<-c.dead
		return nil, err
	}
	go c.listen()
	return c, nil
}

func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "owner"), nil
}

// keeperAttributes gives a keeper a session of its own, so that no key at the owner's terminal reaches it.
func keeperAttributes(kind string) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if kind != kindNamespace {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS
	if uid := os.Geteuid(); uid != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return a
}

// greet waits for the first word of the keeper.
func (c *client) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keeperStart)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.wire.giveUp() })
	defer stop()
	m, _, err := c.wire.receive()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("no word from it: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("it ended before its first word; does its program call proc.KeeperMain first? (%w)", err)
	case m.Fail != nil:
		return m.Fail.err()
	case m.Op != opReady:
		return fmt.Errorf("its first word was %q", m.Op)
	}
	c.group = m.Group
	return nil
}

// listen hands on what the keeper says, until it closes.
func (c *client) listen() {
	for {
		m, fds, err := c.wire.receive()
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		c.last = c.last || m.Last
		waiter, asked := c.wait[m.ID]
		delete(c.wait, m.ID)
		r := c.run
		c.mu.Unlock()
		switch {
		case m.ID != 0 && asked:
			waiter <- answer{m, fds}
		case m.ID != 0: // nobody waits any more
			closeAll(fds)
		case r != nil && m.Exit != nil && m.Run == r.spec.Run:
			r.tell(*m.Exit, m.Op == opGone)
		}
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// fail ends everything that waits for a keeper that is gone.
func (c *client) fail(err error) {
	c.mu.Lock()
	c.lost = fmt.Errorf("%w: %w", errKeeper, err)
	waiters, r := c.wait, c.run
	c.wait = make(map[int]chan answer)
	c.mu.Unlock()
	for _, w := range waiters {
		close(w)
	}
	if r != nil {
		go r.orphaned()
	}
}

// ask sends a request and waits for its answer. The descriptors of the answer belong to the caller.
func (c *client) ask(ctx context.Context, m *message) (*message, []int, error) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.lost != nil {
		defer c.mu.Unlock()
		return nil, nil, c.lost
	}
	c.next++
	m.ID = c.next
	c.wait[m.ID] = ch
	c.mu.Unlock()
	if err := c.wire.send(m); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errKeeper, err)
	}
	select {
	case a, ok := <-ch:
		if !ok {
			return nil, nil, errKeeper
		}
		return a.m, a.fds, a.m.Fail.err()
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.wait, m.ID)
		c.mu.Unlock()
		select {
		case a := <-ch: // it came in between
			closeAll(a.fds)
		default:
		}
		return nil, nil, ctx.Err()
	}
}

// healthy reports whether the keeper can take another command.
func (c *client) healthy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost == nil && !c.last
}

// close lets the keeper go. An idle one ends; one that keeps a detached command goes on alone.
func (c *client) close() { c.wire.close() }

// start makes the keeper start a command. The run's channels are filled in before any event of it can come.
// Once it is told, a context that ends does not take the answer away: the command may have begun.
func (c *client) start(ctx context.Context, s *spec) (r *run, input *os.File, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandStart)
	defer cancel()
	r = &run{client: c, reportedCh: make(chan struct{}), goneCh: make(chan struct{}), spec: s}
	c.mu.Lock()
	c.run = r
	c.mu.Unlock()
	m, fds, err := c.ask(ctx, &message{Op: opStart, Spec: s})
	if err != nil {
		closeAll(fds)
		c.mu.Lock()
		c.run = nil
		c.mu.Unlock()
		return nil, nil, err
	}
	if (s.Input || s.Terminal != nil) && len(fds) > 0 {
		input = os.NewFile(uintptr(fds[0]), "input")
		fds = fds[1:]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leader, r.group = m.Leader, m.Group
	if c.kind == kindNamespace {
		r.leader = host.Identity{}
		if len(fds) > 0 {
			r.leader = outside(fds[0])
		}
	}
	closeAll(fds)
	return r, input, nil
}

// outside returns the process of a pidfd as this process's namespace numbers it, or zero when it has ended.
func outside(pidfd int) host.Identity {
	raw, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return host.Identity{}
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pid:")); ok {
			pid, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
			if p, ok := readProcess(pid); ok && err == nil && pid > 0 {
				return host.Identity{PID: pid, Start: p.start}
			}
		}
	}
	return host.Identity{}
}

// run is a command that a keeper keeps.
type run struct {
	client *client
	pool   *keepers
	spec   *spec
	leader host.Identity
	group  string

	started time.Time
	unguard func()

	mu                 sync.Mutex
	exitNow            host.Exit
	reportedCh, goneCh chan struct{}
	overdue            host.End // why the keeper was killed, which did not answer
}

var _ control = (*run)(nil)

// tell takes an event of the keeper.
func (r *run) tell(e host.Exit, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if closed(r.goneCh) {
		return
	}
	r.exitNow = e
	if !closed(r.reportedCh) {
		close(r.reportedCh)
	}
	if gone {
		close(r.goneCh)
	}
}

func (r *run) reported() <-chan struct{} { return r.reportedCh }
func (r *run) gone() <-chan struct{}     { return r.goneCh }

func (r *run) exit() host.Exit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exitNow
}

// orphaned is called when the keeper died before its command. The leader died with it; what is left of the tree is found
// by control group and mark, and ended.
func (r *run) orphaned() {
	r.mu.Lock()
	t := tree{run: r.spec.Run, leader: r.leader, group: groupAt(r.group)}
	r.mu.Unlock()
	list := t.endRemains(context.Background())
	t.group.remove()
	e := r.exit()
	if rec, err := readRecord(string(r.spec.Record)); err == nil && rec.Gone {
		e = rec // the keeper saw the end, and died before it told
	} else if !closed(r.reportedCh) {
		e.End, e.Code, e.Started, e.Ended = host.EndLost, -1, r.started, time.Now()
		r.mu.Lock()
		if r.overdue != "" {
			e.End, e.Limit = r.overdue, limitText(r.spec.Limits, r.overdue)
		}
		r.mu.Unlock()
	}
	e.Survivors, e.Gone = infos(list), len(list) == 0
	writeRecord(string(r.spec.Record), e)
	r.tell(e, true)
}

func (r *run) stop(ctx context.Context, why host.End, grace time.Duration) ([]host.ProcessInfo, error) {
	defer r.lookAfter(why, grace)()
	m, _, err := r.client.ask(ctx, &message{Op: opStop, Run: r.spec.Run, Why: why, Grace: grace})
	if err != nil {
		if ctx.Err() == nil { // the keeper is gone, or has nothing to keep: the end is on its way
			select {
			case <-r.goneCh:
				return r.exit().Survivors, nil
			case <-ctx.Done():
			}
		}
		return nil, ctx.Err()
	}
	if len(m.Left) > 0 {
		return m.Left, nil
	}
	select { // the event that says so may still be behind the answer
	case <-r.goneCh:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *run) signal(ctx context.Context, sig unix.Signal) error {
	_, _, err := r.client.ask(ctx, &message{Op: opSignal, Run: r.spec.Run, Signal: int(sig)})
	return err
}

func (r *run) state(ctx context.Context) (host.State, error) {
	m, _, err := r.client.ask(ctx, &message{Op: opState, Run: r.spec.Run})
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, errKeeper) {
		return host.State{}, nil
	}
	if err != nil || m.State == nil {
		return host.State{}, err
	}
	return *m.State, nil
}

func (r *run) detach(ctx context.Context) error {
	_, _, err := r.client.ask(ctx, &message{Op: opDetach, Run: r.spec.Run})
	return err
}
