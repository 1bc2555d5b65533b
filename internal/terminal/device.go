package terminal

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"
)

// Device is a terminal.
type Device interface {
	io.ReadWriter
	// Raw lets single keys through, without echo, until restore is called.
	Raw() (restore func(), err error)
	// Flush drops what was typed and not read yet.
	Flush()
	// Size returns columns and lines; 0 where they are unknown.
	Size() (columns, lines int)
	// SetReadDeadline makes a Read that waits return at that time.
	SetReadDeadline(t time.Time) error
}

// Open opens the controlling terminal of the process, whatever its standard streams are. The error says that there is
// none. Close it when done.
func Open() (*TTY, error) {
	in, out := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		in, out = "CONIN$", "CONOUT$"
	}
	f, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("no terminal to ask at: %w", err)
	}
	t := NewTTY(f)
	if out != in {
		if t.out, err = os.OpenFile(out, os.O_RDWR, 0); err != nil {
			f.Close()
			return nil, fmt.Errorf("no terminal to ask at: %w", err)
		}
	}
	return t, nil
}

// TTY is an open terminal.
type TTY struct{ in, out *os.File }

// NewTTY returns the terminal behind a file.
func NewTTY(f *os.File) *TTY { return &TTY{f, f} }

// Close closes the terminal.
func (t *TTY) Close() error {
	if t.out != t.in {
		t.out.Close()
	}
	return t.in.Close()
}

// Read implements Device.
func (t *TTY) Read(p []byte) (int, error) { return t.in.Read(p) }

// Write implements Device.
func (t *TTY) Write(p []byte) (int, error) { return t.out.Write(p) }

// SetReadDeadline implements Device. Where the system has no deadlines for terminals, the error says so.
func (t *TTY) SetReadDeadline(at time.Time) error { return t.in.SetReadDeadline(at) }

// Raw implements Device.
func (t *TTY) Raw() (func(), error) {
	var state *term.State
	err := t.with(t.in, func(fd int) (err error) { state, err = term.MakeRaw(fd); return err })
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	return func() { _ = t.with(t.in, func(fd int) error { return term.Restore(fd, state) }) }, nil
}

// Size implements Device.
func (t *TTY) Size() (columns, lines int) {
	_ = t.with(t.out, func(fd int) (err error) { columns, lines, err = term.GetSize(fd); return err })
	return columns, lines
}

// Flush implements Device.
func (t *TTY) Flush() { _ = t.with(t.in, flush) }

// with calls f with the descriptor of a file, without putting the file into blocking mode as File.Fd may.
func (t *TTY) with(file *os.File, f func(fd int) error) error {
	c, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
