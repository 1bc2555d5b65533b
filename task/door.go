package task

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/tackle-dev/tackle/host"
)

// Only the process that started a command holds its input. So that a person can take over at another terminal, the manager
// of a task with input opens a door: a socket in the folder of the task, which only this user can enter. Frames come in,
// each a byte that says what it is, the length of its data as four bytes, and the data; for each goes out a line, "ok" or
// what went wrong.

// Frames.
const (
	frameInput  = 'i' // bytes for the input
	frameClose  = 'c' // the end of the input
	frameResize = 'r' // rows and columns, two bytes each
)

// doorFile is the socket in a task's folder.
const doorFile = "door"

// maxFrame bounds one frame, in bytes.
const maxFrame = 1 << 20

// door lets other processes feed a task.
type door struct {
	in   host.Input
	l    net.Listener
	path string

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil when it is shut
	wait  sync.WaitGroup
}

// openDoor opens the door of a task. A path that is too long for a socket is an error: the task then has no door.
func openDoor(dir string, in host.Input) (*door, error) {
	d := &door{in: in, path: filepath.Join(dir, doorFile), conns: map[net.Conn]struct{}{}}
	short, free, err := shortPath(dir)
	if err != nil {
		return nil, err
	}
	defer free()
	l, err := net.Listen("unix", filepath.Join(short, doorFile))
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by its short path, which is gone then
	d.l = l
	d.wait.Go(d.accept)
	return d, nil
}

func (d *door) accept() {
	for {
		c, err := d.l.Accept()
		if err != nil {
			return // it was shut
		}
		d.mu.Lock()
		if d.conns == nil {
			c.Close()
		} else {
			d.conns[c] = struct{}{}
			d.wait.Go(func() { d.serve(c) })
		}
		d.mu.Unlock()
	}
}

// serve takes frames until the other side, or the door, closes.
func (d *door) serve(c net.Conn) {
	defer func() {
		c.Close()
		d.mu.Lock()
		delete(d.conns, c)
		d.mu.Unlock()
	}()
	r := bufio.NewReader(c)
	for {
		kind, data, err := readFrame(r)
		if err != nil {
			return
		}
		answer := "ok"
		if err := d.take(kind, data); err != nil {
			answer = err.Error()
		}
		if _, err := fmt.Fprintln(c, answer); err != nil {
			return
		}
	}
}

func (d *door) take(kind byte, data []byte) error {
	switch {
	case kind == frameInput:
		_, err := d.in.Write(data)
		return err
	case kind == frameClose:
		return d.in.Close()
	case kind == frameResize && len(data) == 4:
		return d.in.Resize(host.Size{Rows: binary.BigEndian.Uint16(data), Cols: binary.BigEndian.Uint16(data[2:])})
	}
	return errors.New("unknown frame")
}

// shut closes the door and all that came through it. A frame whose task does not read it ends with the task.
func (d *door) shut() {
	if d == nil {
		return
	}
	d.l.Close()
	d.mu.Lock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
	d.mu.Unlock()
	os.Remove(d.path)
	d.wait.Wait()
}

func readFrame(r io.Reader) (kind byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(r, data)
	return head[0], data, err
}

func writeFrame(w io.Writer, kind byte, data []byte) error {
	frame := make([]byte, 5, 5+len(data))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(data)))
	_, err := w.Write(append(frame, data...))
	return err
}

// visitor feeds a task of another process through its door. It is a host.Input.
type visitor struct {
	mu sync.Mutex
	c  net.Conn
	r  *bufio.Reader
}

// visit goes to the door of a task. It returns nil where there is none.
func (m *Manager) visit(ctx context.Context, id string) *visitor {
	short, free, err := shortPath(m.folder(id))
	if err != nil {
		return nil
	}
	defer free()
	c, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(short, doorFile))
	if err != nil {
		return nil
	}
	return &visitor{c: c, r: bufio.NewReader(c)}
}

func (v *visitor) ask(kind byte, data []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := writeFrame(v.c, kind, data); err != nil {
		return os.ErrClosed
	}
	answer, err := v.r.ReadString('\n')
	switch {
	case err != nil:
		return os.ErrClosed // the task has ended, and its door with it
	case answer != "ok\n":
		return errors.New(answer[:len(answer)-1])
	}
	return nil
}

func (v *visitor) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		piece := p[:min(len(p), maxFrame)]
		if err = v.ask(frameInput, piece); err == nil {
			n, p = n+len(piece), p[len(piece):]
		}
	}
	return n, err
}

// Close ends the input of the task.
func (v *visitor) Close() error { return v.ask(frameClose, nil) }

func (v *visitor) Resize(s host.Size) error {
	var data [4]byte
	binary.BigEndian.PutUint16(data[:], s.Rows)
	binary.BigEndian.PutUint16(data[2:], s.Cols)
	return v.ask(frameResize, data[:])
}

// leave lets go of the door; the input stays open.
func (v *visitor) leave() { v.c.Close() }
