package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalProcess sends a signal to the very process of a row, or to nobody when its pid has passed to another.
func signalProcess(p row, sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		if err == unix.ENOSYS || err == unix.EPERM { // old kernels, strict system call filters
			if now, ok := readProcess(p.pid); ok && now.start == p.start {
				unix.Kill(p.pid, sig)
			}
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := readProcess(p.pid); ok && now.start == p.start {
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// maxArgument is what one argument may not reach, in bytes (MAX_ARG_STRLEN of execve(2), on pages of 4 KiB).
const maxArgument = 32 * 4096

// pidMax returns the highest pid.
func pidMax() int {
	raw, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	return n
}

// pipe makes a pipe whose ends no child inherits.
func pipe() (r, w int, err error) {
	var fds [2]int
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}

// attributes puts the leader into a session of its own and into the control group, and ends it with its parent.
func attributes(terminal bool, g *group) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Setctty: terminal}
	if g != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(g.dir.Fd())
	}
	return a
}

// openTerminal makes a pseudo-terminal (pts(4)).
func openTerminal() (master, slave int, name string, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, -1, "", fmt.Errorf("open /dev/ptmx: %w", err)
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		name = "/dev/pts/" + strconv.Itoa(n)
		slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		unix.Close(master)
		return -1, -1, "", fmt.Errorf("pseudo-terminal: %w", err)
	}
	return master, slave, name, nil
}

// childrenLeft reports whether this process has children, dead ones included.
func childrenLeft() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, unix.ECHILD)
}

// processes returns how many processes and threads there are, in whatever this process can see or more.
func processes() int {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return -1
	}
	return int(si.Procs)
}

func maxRSS(u *unix.Rusage) int64 { return u.Maxrss << 10 }

// ownProcesses counts the processes and threads of this user, which RLIMIT_NPROC counts too.
func ownProcesses() int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	n, uid := 0, uint32(os.Getuid())
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && st.Uid == uid {
			if threads, err := os.ReadDir(dir + "/task"); err == nil {
				n += len(threads)
			}
		}
	}
	return n
}
