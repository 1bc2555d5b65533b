//go:build linux || darwin

package proc

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// launcher starts programs on one thread that lives as long as it does: the signal that ends a child with its parent
// (PR_SET_PDEATHSIG) comes when the starting thread ends, not the process. A nil launcher starts them on the calling
// thread, which must be locked and stay.
type launcher struct{ work chan func() }

func newLauncher() *launcher {
	l := &launcher{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for f := range l.work {
			f()
		}
	}()
	return l
}

func (l *launcher) do(f func()) {
	if l == nil {
		f()
		return
	}
	done := make(chan struct{})
	l.work <- func() { defer close(done); f() }
	<-done
}

func (l *launcher) close() {
	if l != nil {
		close(l.work)
	}
}

// streams are the descriptors of a command: the child's ends, and ours.
type streams struct {
	child [3]int
	out   *os.File // what it writes
	errs  *os.File // with Split
	in    int      // what feeds it, not blocking; -1 where nothing does. It belongs to whoever starts the job
	name  string   // of its input as /proc shows it, or of its errors where nothing feeds it
	fed   bool
}

func (s *streams) closeChild() {
	closed := map[int]bool{-1: true}
	for _, fd := range s.child {
		if !closed[fd] {
			closed[fd] = true
			unix.Close(fd)
		}
	}
	s.child = [3]int{-1, -1, -1}
}

func (s *streams) close() {
	s.closeChild()
	for _, f := range []*os.File{s.out, s.errs} {
		if f != nil {
			f.Close()
		}
	}
}

// abandon closes everything, for a command that did not start.
func (s *streams) abandon() {
	s.close()
	if s.in >= 0 {
		unix.Close(s.in)
	}
}

// openStreams makes the descriptors of a command.
func openStreams(c *spec) (*streams, error) {
	s := &streams{child: [3]int{-1, -1, -1}, in: -1}
	if c.Terminal != nil {
		return s, s.terminal(*c.Terminal)
	}
	var err error
	if s.out, s.child[1], err = outputPipe(); err == nil {
		if s.child[2] = s.child[1]; c.Split {
			s.errs, s.child[2], err = outputPipe()
		}
	}
	switch {
	case err != nil:
	case c.Input:
		if s.child[0], s.in, err = pipe(); err == nil {
			s.name, s.fed = pipeName(s.child[0]), true
			err = unix.SetNonblock(s.in, true)
		}
	default:
		s.name = pipeName(s.child[2])
		s.child[0], err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		s.abandon()
	}
	return s, err
}

func outputPipe() (r *os.File, w int, err error) {
	fd, w, err := pipe()
	if err != nil {
		return nil, -1, err
	}
	return pollable(fd, "output"), w, nil
}

func pollable(fd int, name string) *os.File {
	unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

func (s *streams) terminal(size host.Size) error {
	master, slave, name, err := openTerminal()
	if err != nil {
		return err
	}
	s.child, s.name, s.fed, s.out = [3]int{slave, slave, slave}, name, true, pollable(master, "terminal")
	if size.Rows == 0 || size.Cols == 0 {
		size = host.Size{Rows: 24, Cols: 80}
	}
	if err = resize(slave, size); err == nil {
		s.in, err = unix.FcntlInt(uintptr(master), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err != nil {
		s.abandon()
	}
	return err
}

func resize(fd int, size host.Size) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
}

// launch starts the program of a spec.
func (l *launcher) launch(c *spec, s *streams, g *group) (pid int, err error) {
	attr := &syscall.ProcAttr{Dir: string(c.Dir), Env: c.Env.split(), Sys: attributes(c.Terminal != nil, g)}
	for _, fd := range s.child {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	l.do(func() { pid, err = syscall.ForkExec(string(c.Path), c.Argv.split(), attr) })
	return pid, err
}

// limited puts a program behind a shell that sets resource limits and then becomes the program. Setting them from
// outside would come too late for a child that is quick.
func limited(shell, path string, argv []string, l host.Limits) (string, []string) {
	var set strings.Builder
	add := func(flag string, n int64) {
		if n > 0 {
			set.WriteString("ulimit -" + flag + " " + strconv.FormatInt(n, 10) + " || exit 126\n")
		}
	}
	kib := func(n int64) int64 { return (n + 1023) / 1024 }
	add("v", kib(l.Memory))
	add("t", int64((l.CPU+time.Second-1)/time.Second))
	add("f", kib(l.FileSize))
	if l.Processes > 0 {
		add("u", int64(l.Processes+ownProcesses()))
	}
	if set.Len() == 0 {
		return path, argv
	}
	set.WriteString(`name=$1 path=$2; shift 2; exec -a "$name" "$path" "$@"`)
	return shell, append([]string{"bash", "--norc", "--noprofile", "-c", set.String(), "tackle", argv[0], path}, argv[1:]...)
}
