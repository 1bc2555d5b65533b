package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// quiet is how long a tree must have written nothing before a process that only listens counts as waiting.
const quiet = time.Second

// pipeName returns what /proc/PID/fd shows for a pipe.
func pipeName(fd int) string {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("pipe:[%d]", st.Ino)
}

// waitingFor finds a process of the tree that waits for its input: a terminal ("/dev/pts/7") or a pipe ("pipe:[1234]").
// One that is blocked in a read of it waits for sure. One that is blocked in poll, select or epoll and holds the input
// as a descriptor may wait for something else: it counts when all others are idle too and nothing was written lately.
// A command without input has the name of its output instead: an editor that got no terminal reads what was its
// standard error. The system call that a process is in needs the right to trace it; where that is missing nothing is
// found.
func waitingFor(list []row, s *streams, silent time.Duration) *host.Waiting {
	on := "pipe"
	switch {
	case strings.HasPrefix(s.name, "/dev/"):
		on = "terminal"
	case !s.fed:
		on = ""
	}
	idle := silent >= quiet
	var maybe *host.Waiting
	for _, p := range list {
		idle = idle && p.state == 'S'
		reads, listens := blockedOn(p.pid, s.name)
		switch {
		case reads:
			return &host.Waiting{ProcessInfo: p.info(), On: on, Sure: true}
		case listens && maybe == nil:
			maybe = &host.Waiting{ProcessInfo: p.info(), On: on}
		}
	}
	if !idle {
		return nil
	}
	return maybe
}

// blockedOn looks at what each thread of a process does (proc_pid_syscall(5)).
func blockedOn(pid int, input string) (reads, listens bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	calls, _ := filepath.Glob(dir + "/task/*/syscall")
	for _, path := range calls {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(raw)) // number, six arguments in hexadecimal; or "running"
		if len(f) < 2 {
			continue
		}
		nr, err := strconv.Atoi(f[0])
		if err != nil {
			continue
		}
		switch {
		case nr == unix.SYS_READ || nr == unix.SYS_READV:
			if fd, err := strconv.ParseUint(f[1], 0, 64); err == nil && sameInput(dir, int(int32(fd)), input) {
				return true, true
			}
		case slices.Contains(listening, nr):
			listens = listens || sameInput(dir, 0, input)
		}
	}
	return false, listens
}

// sameInput reports whether a descriptor of a process is the input. /dev/tty stands for the terminal of the session.
func sameInput(dir string, fd int, input string) bool {
	link, err := os.Readlink(dir + "/fd/" + strconv.Itoa(fd))
	return err == nil && (link == input || link == "/dev/tty" && strings.HasPrefix(input, "/dev/"))
}
