package proc

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// message is what an owner and its keeper say to each other: JSON behind its length in four bytes. A request has an ID
// and its answer the same one; an event has none.
type message struct {
	ID     int                `json:"id,omitempty"`
	Op     string             `json:"op,omitempty"`
	Run    string             `json:"run,omitempty"` // which command is meant, so that none is hit by what was meant for another
	Spec   *spec              `json:"spec,omitempty"`
	Why    host.End           `json:"why,omitempty"`
	Grace  time.Duration      `json:"grace,omitempty"`
	Signal int                `json:"signal,omitempty"`
	Fail   *failure           `json:"fail,omitempty"`
	Leader host.Identity      `json:"leader,omitzero"`
	Group  string             `json:"group,omitempty"`
	Left   []host.ProcessInfo `json:"left,omitempty"`
	State  *host.State        `json:"state,omitempty"`
	Exit   *host.Exit         `json:"exit,omitempty"`
	Last   bool               `json:"last,omitempty"`  // the keeper ends now
	Files  int                `json:"files,omitempty"` // descriptors that come with it
}

// What is asked of a keeper, and what it tells.
const (
	opStart   = "start"  // Spec → Leader, Group; Files: its input where there is one, then the leader's pidfd in a pid namespace
	opStop    = "stop"   // Why, Grace → Left
	opSignal  = "signal" // Signal
	opState   = "state"  // → State
	opDetach  = "detach" // go on when the owner is gone
	opPing    = "ping"   // an answer is enough
	opReady   = "ready"  // event: the keeper waits for a command; Group says whether it has one
	opReport  = "report" // event: Exit of the leader, something of the tree lives on
	opGone    = "gone"   // event: Exit, nothing of the tree lives, the keeper waits for the next command
	maxLength = 64 << 20 // of a message
)

// failure is an error on its way.
type failure struct {
	Op    string `json:"op,omitempty"`
	Path  raw    `json:"path,omitempty"`
	Errno int    `json:"errno,omitempty"`
	Done  bool   `json:"done,omitempty"` // os.ErrProcessDone
	Text  string `json:"text,omitempty"`
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Done: errors.Is(err, os.ErrProcessDone)}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		f.Errno = int(e)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		f.Op, f.Path = pe.Op, raw(pe.Path)
	}
	return f
}

func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.Done:
		return os.ErrProcessDone
	case f.Errno != 0 && f.Op != "":
		return &fs.PathError{Op: f.Op, Path: string(f.Path), Err: syscall.Errno(f.Errno)}
	case f.Errno != 0:
		return syscall.Errno(f.Errno)
	}
	return errors.New(f.Text)
}

// wire is one end of the socket between an owner and a keeper. One goroutine reads; any may write. The owner's end is
// served by the runtime's poller; a keeper reads its end, a plain descriptor, with a system call that blocks: that saves
// a change of threads for each command.
type wire struct {
	conn *net.UnixConn
	fd   int        // used where conn is nil
	mu   sync.Mutex // of writing
	buf  []byte     // read and not yet used
	fds  []int      // received and not yet used
}

func newWire(f *os.File) (*wire, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("descriptor %d is not a Unix socket", f.Fd())
	}
	return &wire{conn: u, fd: -1}, nil
}

func (w *wire) send(m *message, fds ...int) error {
	m.Files = len(fds)
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	frame := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_, err = w.conn.Write(frame) // owners send no descriptors
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for len(frame) > 0 {
		n, err := unix.SendmsgN(w.fd, frame, rights, nil, unix.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if n > 0 {
			frame, rights = frame[n:], nil
		}
	}
	return nil
}

// receive returns the next message and the descriptors that came with it, which then belong to the caller.
func (w *wire) receive() (*message, []int, error) {
	if err := w.fill(4); err != nil {
		return nil, nil, err
	}
	n := int(binary.BigEndian.Uint32(w.buf))
	if n > maxLength {
		return nil, nil, fmt.Errorf("message of %d bytes between owner and keeper", n)
	}
	if err := w.fill(4 + n); err != nil {
		return nil, nil, err
	}
	m := new(message)
	if err := json.Unmarshal(w.buf[4:4+n], m); err != nil {
		return nil, nil, err
	}
	w.buf = w.buf[4+n:]
	if m.Files > len(w.fds) {
		return nil, nil, fmt.Errorf("message with %d of %d descriptors", len(w.fds), m.Files)
	}
	fds := w.fds[:m.Files]
	w.fds = w.fds[m.Files:]
	return m, fds, nil
}

// fill reads until the buffer holds n bytes.
func (w *wire) fill(n int) error {
	for len(w.buf) < n {
		var page [32 << 10]byte
		var oob [64]byte
		got, oobn, err := w.read(page[:], oob[:])
		if err != nil {
			return err
		}
		if oobn > 0 {
			if err := w.rights(oob[:oobn]); err != nil {
				return err
			}
		}
		if got == 0 {
			return io.EOF
		}
		w.buf = append(w.buf, page[:got]...)
	}
	return nil
}

func (w *wire) read(p, oob []byte) (n, oobn int, err error) {
	if w.conn != nil {
		n, oobn, _, _, err = w.conn.ReadMsgUnix(p, oob)
		return n, oobn, err
	}
	for {
		n, oobn, _, _, err = unix.Recvmsg(w.fd, p, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, oobn, err
		}
	}
}

func (w *wire) rights(oob []byte) error {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return err
	}
	for i := range list {
		fds, err := unix.ParseUnixRights(&list[i])
		if err != nil {
			return err
		}
		w.fds = append(w.fds, fds...)
	}
	return nil
}

// giveUp ends a receive that waits.
func (w *wire) giveUp() { w.conn.SetReadDeadline(time.Unix(1, 0)) }

func (w *wire) close() { w.conn.Close() }
