//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pump moves what a command writes from one pipe or terminal into a spool.
type pump struct {
	from  *os.File // not blocking, served by the runtime's poller
	to    *spool
	wrote func() // called after each piece

	asked chan chan struct{} // what catchUp waits for
	ended chan struct{}      // closed when no more can come
}

func newPump(from *os.File, to *spool, wrote func()) *pump {
	return &pump{from: from, to: to, wrote: wrote, asked: make(chan chan struct{}, 1), ended: make(chan struct{})}
}

// mostHeld is more than a pipe or terminal holds unless root made it larger (pipe-max-size). It bounds how long somebody
// who goes on writing keeps catchUp waiting.
const mostHeld = 1 << 20

// run moves output until nothing holds the other end, or until the descriptor is closed.
func (p *pump) run() {
	defer close(p.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.from.Read(buf)
		p.keep(buf[:n])
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			done := <-p.asked // it was there before the deadline
			more := p.sweep(buf)
			p.from.SetReadDeadline(time.Time{})
			close(done)
			if !more {
				return
			}
		default: // io.EOF; EIO of a terminal that was hung up; or our own Close
			return
		}
	}
}

func (p *pump) keep(b []byte) {
	if len(b) > 0 {
		p.to.Write(b)
		p.wrote()
	}
}

// sweep moves what is there, without waiting, and reports whether more can come.
func (p *pump) sweep(buf []byte) (more bool) {
	conn, err := p.from.SyscallConn()
	if err != nil {
		return false
	}
	err = conn.Control(func(fd uintptr) {
		for moved := 0; moved < mostHeld; {
			n, err := unix.Read(int(fd), buf)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN):
				more = true
				return
			case n <= 0:
				return
			}
			p.keep(buf[:n])
			moved += n
		}
		more = true
	})
	return more && err == nil
}

// catchUp returns when everything that was written before the call is in the spool. One call at a time.
func (p *pump) catchUp() {
	done := make(chan struct{})
	select {
	case p.asked <- done:
	case <-p.ended:
		return
	}
	p.from.SetReadDeadline(time.Unix(1, 0)) // ends a Read that waits
	select {
	case <-done:
	case <-p.ended:
	}
}
