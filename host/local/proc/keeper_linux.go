package proc

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// keeperVariable tells a process that it is a keeper, and which ("plain", "ungrouped" or "namespace").
const keeperVariable = "TACKLE_KEEPER"

// keeperSocket is the descriptor on which a keeper finds its owner.
const keeperSocket = 3

// ownerGrace is what a tree gets when its owner has died.
const ownerGrace = 200 * time.Millisecond

// KeeperMain makes this process a keeper, and never returns, if it was started as one; otherwise it does nothing. A
// program whose [Config.Keeper] names itself ([Self]) calls it first in main, before flags are read and files opened.
func KeeperMain() {
	kind := os.Getenv(keeperVariable)
	if kind == "" {
		return
	}
	if err := keep(kind); err != nil {
		os.Stderr.WriteString("keeper: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// keeper serves one owner.
type keeper struct {
	wire *wire
	with supervision
	base string // directory of control groups
	made int    // groups so far

	mu       sync.Mutex
	job      *job
	detached bool
	leaving  bool          // it was told to end
	told     chan struct{} // closed when the owner was told how the last job ended; nil before the first
}

func keep(kind string) error {
	runtime.LockOSThread() // commands are started on this thread, which never ends before the process
	w := &wire{fd: keeperSocket}
	k := &keeper{wire: w, with: supervision{keeper: true}}
	if err := k.setUp(kind); err != nil {
		w.send(&message{Op: opReady, Fail: failureOf(err)})
		return err
	}
	ready := &message{Op: opReady}
	if k.with.group != nil {
		ready.Group = k.with.group.path
	}
	defer k.with.group.remove()
	if err := w.send(ready); err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	go func() {
		<-told
		k.mu.Lock()
		k.leaving = true
		k.mu.Unlock()
		k.stop(host.EndStopped, host.DefaultGrace)
		k.with.group.remove()
		k.lastWord()
		os.Exit(0)
	}()
	for k.serve() {
	}
	k.end()
	return nil
}

// setUp makes this process fit to keep a tree.
func (k *keeper) setUp(kind string) error {
	closeInherited()
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: hardCore()})
	os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(oomScore)), 0)
	if name, err := unix.BytePtrFromString(filepath.Base(os.Args[0])); err == nil {
		unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if kind == kindNamespace {
		return k.enterNamespace()
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if kind == kindUngrouped {
		return nil
	}
	var err error
	if k.base, err = groupBase(); err == nil {
		k.with.group = k.makeGroup()
	}
	return nil
}

// closeInherited closes what the owner got from its own parent: a keeper may live longer than the owner, and would keep a
// stranger's pipe open. What this process opened itself is closed at exec, what it inherited is not.
func closeInherited() {
	unix.CloseOnExec(keeperSocket)
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= keeperSocket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	unix.CloseRange(keeperSocket, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // where /proc is not mounted
}

// Kinds of keepers.
const (
	kindPlain     = "plain"
	kindUngrouped = "ungrouped"
	kindNamespace = "namespace"
)

// oomScore makes a command's tree a better victim than its owner when memory ends; children inherit it.
const oomScore = 200

// hardCore keeps the hard limit: a command that wants a core file may still raise its own.
func hardCore() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &l) != nil {
		return 0
	}
	return l.Max
}

// makeGroup makes a control group for this keeper, where that is possible and a child can be started in it.
func (k *keeper) makeGroup() *group {
	self, ok := readProcess(os.Getpid())
	if !ok {
		return nil
	}
	k.made++
	g, err := newGroup(k.base, groupName(host.Identity{PID: self.pid, Start: self.start}, "keeper"+strconv.Itoa(k.made)))
	if err != nil {
		return nil
	}
	if err := tryGroup(nil, g); err != nil {
		g.remove()
		return nil
	}
	return g
}

// enterNamespace shows the processes of the new pid namespace, and no others, in /proc. The right to do so is not passed
// on to commands: they keep what their user has.
func (k *keeper) enterNamespace() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return os.NewSyscallError("mount /", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return os.NewSyscallError("mount /proc", err)
	}
	var err error
	k.with.launcher.do(func() { err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) })
	if errors.Is(err, unix.EINVAL) { // a kernel without ambient capabilities has none to pass on
		return nil
	}
	return err
}

// serve answers one message and reports whether there may be another.
func (k *keeper) serve() bool {
	m, _, err := k.wire.receive()
	if err != nil {
		return false
	}
	k.mu.Lock()
	j := k.job
	k.mu.Unlock()
	reply := &message{ID: m.ID}
	switch {
	case m.Op == opStart:
		return k.start(m)
	case m.Op == opPing:
	case j == nil || j.Run != m.Run: // meant for a command that is gone
		reply.Fail = failureOf(os.ErrProcessDone)
	case m.Op == opStop:
		go func() { // takes its time; other requests go on
			reply.Left = j.stop(m.Why, m.Grace)
			k.wire.send(reply)
		}()
		return true
	case m.Op == opDetach:
		k.mu.Lock()
		k.detached = true
		k.mu.Unlock()
	case m.Op == opSignal:
		reply.Fail = failureOf(j.signal(unix.Signal(m.Signal)))
	case m.Op == opState:
		st := j.state()
		reply.State = &st
	default:
		reply.Fail = &failure{Text: "unknown request " + strconv.Quote(m.Op)}
	}
	return k.wire.send(reply) == nil
}

func (k *keeper) start(m *message) bool {
	if g := k.with.group; g != nil && g.killed.Load() {
		g.remove()
		k.with.group = k.makeGroup()
	}
	j, err := startJob(m.Spec, k.with)
	reply := &message{ID: m.ID, Fail: failureOf(err)}
	if err != nil {
		return k.wire.send(reply) == nil
	}
	told := make(chan struct{})
	k.mu.Lock()
	k.job, k.detached, k.told = j, m.Spec.Detach, told
	k.mu.Unlock()
	reply.Leader = j.tree.leader
	if k.with.group != nil {
		reply.Group = k.with.group.path
	}
	var fds []int
	if in := j.streams.in; in >= 0 {
		defer unix.Close(in) // only the owner's descriptor keeps the input open
		fds = append(fds, in)
	}
	if os.Getpid() == 1 { // the owner numbers processes in another way
		if fd, err := unix.PidfdOpen(j.tree.leader.PID, 0); err == nil {
			defer unix.Close(fd)
			fds = append(fds, fd)
		}
	}
	err = k.wire.send(reply, fds...)
	go func() {
		k.tell(j)
		close(told)
	}()
	return err == nil
}

// tell reports the end of a job to the owner, if there still is one.
func (k *keeper) tell(j *job) {
	<-j.reported
	if j.lingers {
		e := j.snapshot()
		k.wire.send(&message{Op: opReport, Run: j.Run, Exit: &e})
	}
	<-j.gone
	e := j.snapshot()
	k.mu.Lock()
	k.job = nil
	last := k.leaving
	k.mu.Unlock()
	k.wire.send(&message{Op: opGone, Run: j.Run, Exit: &e, Last: last})
}

// wordTime is how long a keeper that was told to end waits for an owner that does not listen.
const wordTime = 2 * time.Second

// lastWord waits until the owner was told how the last job ended: one that sees its keeper go without a word takes the
// command for lost.
func (k *keeper) lastWord() {
	k.mu.Lock()
	told := k.told
	k.mu.Unlock()
	if told == nil {
		return
	}
	select {
	case <-told:
	case <-time.After(wordTime):
	}
}

// end is called when the owner is gone. It ends what the keeper keeps, or, where that is detached, waits for its end.
func (k *keeper) end() {
	k.mu.Lock()
	j, detached := k.job, k.detached
	k.mu.Unlock()
	if j != nil && detached {
		<-j.gone
	}
	k.stop(host.EndOwner, ownerGrace)
}

func (k *keeper) stop(why host.End, grace time.Duration) {
	k.mu.Lock()
	j := k.job
	k.mu.Unlock()
	if j != nil {
		j.stop(why, grace)
	}
}
