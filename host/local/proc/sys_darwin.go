package proc

import (
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// row is one process in the process table.
type row struct {
	pid, ppid, pgid, sid int
	state                byte
	start                uint64 // microseconds since 1970
	name                 string
	bare                 bool // never: environments are not looked at
}

func (p row) alive() bool { return p.state != 'Z' }

func (p row) info() host.ProcessInfo { return host.ProcessInfo{PID: p.pid, Name: p.name} }

// States of kinfo_proc (sys/proc.h).
const (
	stateStopped = 4
	stateZombie  = 5
)

func rowOf(k *unix.KinfoProc) row {
	p := row{pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid), state: 'R',
		start: uint64(k.Proc.P_starttime.Nano() / int64(time.Microsecond)), name: unix.ByteSliceToString(k.Proc.P_comm[:])}
	switch k.Proc.P_stat {
	case stateStopped:
		p.state = 'T'
	case stateZombie:
		p.state = 'Z'
	}
	p.sid, _ = unix.Getsid(p.pid) // -1 for processes of others, which no tree is made of
	return p
}

func readProcess(pid int) (row, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return row{}, false
	}
	return rowOf(k), true
}

// table returns the rows of all processes with a pid of at least first, in no order.
func table(first int) ([]row, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var rows []row
	for i := range list {
		if int(list[i].Proc.P_pid) >= first {
			rows = append(rows, rowOf(&list[i]))
		}
	}
	return rows, nil
}

func ownProcess(int) bool { return false }

// marked is not known: the environment of other processes is not read here.
func marked(int, string) bool { return false }

func bootID() string {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(tv.Sec, 10)
}

func signalProcess(p row, sig unix.Signal) {
	if now, ok := readProcess(p.pid); ok && now.start == p.start {
		unix.Kill(p.pid, sig)
	}
}

// maxArgument is what arguments and environment together may not pass, in bytes (ARG_MAX).
const maxArgument = 1 << 20

// pidMax makes every search look at the whole table: pids wrap at 99999 here.
func pidMax() int { return 0 }

func pipe() (r, w int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

func attributes(terminal bool, _ *group) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
}

func openTerminal() (master, slave int, name string, err error) {
	return -1, -1, "", host.ErrUnsupported
}

func childrenLeft() bool { return true }

// processes does not know how many there are without reading the table.
func processes() int { return -1 }

func maxRSS(u *unix.Rusage) int64 { return u.Maxrss }

func ownProcesses() int {
	rows, _ := table(1)
	return len(rows)
}

func waitingFor([]row, *streams, time.Duration) *host.Waiting { return nil }

func pipeName(int) string { return "" }

// pidNamespace is the same for all: there is one table of processes.
func pidNamespace() string { return "0" }

// group stands for a control group, which this system does not have.
type group struct{ path string }

func groupAt(string) *group { return nil }

func (g *group) members() []row { return nil }
func (g *group) size() int      { return 0 }
func (g *group) kill()          {}
func (g *group) remove()        {}
