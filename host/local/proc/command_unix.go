//go:build linux || darwin

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// control is the hold on a running tree: a job of this process, a run of a keeper, or what an earlier process left.
type control interface {
	reported() <-chan struct{} // closed when the leader has ended and its output is drained
	gone() <-chan struct{}     // closed when the tree has ended
	exit() host.Exit           // once reported
	stop(ctx context.Context, why host.End, grace time.Duration) ([]host.ProcessInfo, error)
	signal(ctx context.Context, sig unix.Signal) error
	state(ctx context.Context) (host.State, error)
	detach(ctx context.Context) error
	release() // gives back what holds the tree; what lives then and is not detached ends
}

// closeGrace is what Close gives to what still lives. Whoever watches the tree ends the killing; closeTime is for a watcher
// that does not answer.
const (
	closeGrace = 200 * time.Millisecond
	closeTime  = closeGrace + 2*killMost
)

// command is a started command as its owner holds it.
type command struct {
	runner *Runner
	handle host.Handle
	control
	out, errs *output
	in        *input
	mine      bool // the spool is removed by Close
	grace     time.Duration

	mu       sync.Mutex
	detached bool
	shut     bool
}

var _ host.Process = (*command)(nil)

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// adopt connects a command to what was started.
func (c *command) adopt(ctl control, h host.Handle, in *os.File, terminal bool) {
	c.control, c.handle = ctl, h
	quota := h.Quota
	if h.Split {
		quota /= 2
		c.errs = &output{prefix: errorsSpool(h.Spool), quota: quota, done: ctl.gone(), final: func() int64 { return ctl.exit().Errors }}
	}
	c.out = &output{prefix: h.Spool, quota: quota, done: ctl.gone(), final: func() int64 { return ctl.exit().Output }}
	if in != nil {
		c.in = &input{file: in, terminal: terminal}
	}
}

func (c *command) Handle() host.Handle { return c.handle }

func (c *command) Output() host.Output { return c.out }

func (c *command) Errors() host.Output {
	if c.errs == nil {
		return nil
	}
	return c.errs
}

func (c *command) Input() host.Input {
	if c.in == nil {
		return nil
	}
	return c.in
}

func (c *command) Wait(ctx context.Context) (host.Exit, error) {
	if !closed(c.reported()) {
		select {
		case <-c.reported():
		case <-ctx.Done():
			return host.Exit{}, ctx.Err()
		}
	}
	return c.exit(), nil
}

func (c *command) Gone() <-chan struct{} { return c.gone() }

func (c *command) State(ctx context.Context) (host.State, error) {
	st := host.State{}
	var err error
	if !closed(c.gone()) {
		st, err = c.state(ctx)
	}
	st.Owned = c.handle.Owner == c.runner.self || c.handle.Boot == c.runner.boot && aliveAs(c.handle.Owner)
	return st, err
}

func (c *command) Signal(ctx context.Context, name string) error {
	sig := unix.SignalNum(name)
	if sig == 0 {
		return fmt.Errorf("unknown signal %q", name)
	}
	if closed(c.gone()) {
		return os.ErrProcessDone
	}
	return c.signal(ctx, sig)
}

func (c *command) Stop(ctx context.Context, grace time.Duration) ([]host.ProcessInfo, error) {
	if grace == 0 {
		grace = c.grace
	}
	return c.stop(ctx, host.EndStopped, max(grace, 0))
}

func (c *command) Detach(ctx context.Context) error {
	if c.mine {
		return fmt.Errorf("a detached command needs a spool: %w", host.ErrUnsupported)
	}
	if err := c.detach(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detached = true
	return nil
}

func (c *command) Close() error {
	c.mu.Lock()
	if c.shut {
		c.mu.Unlock()
		return nil
	}
	c.shut = true
	detached := c.detached
	c.mu.Unlock()
	var err error
	if !detached && !closed(c.gone()) {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		left, serr := c.stop(ctx, host.EndStopped, closeGrace)
		if len(left) > 0 {
			serr = errors.Join(serr, fmt.Errorf("%s could not be ended", host.ListProcesses(left)))
		}
		err = serr
	}
	c.release()
	if c.in != nil {
		c.in.file.Close()
	}
	c.out.close()
	if c.errs != nil {
		c.errs.close()
	}
	if c.mine {
		err = errors.Join(err, removeSpool(c.out.prefix, c.out.quota))
		if c.errs != nil {
			err = errors.Join(err, removeSpool(c.errs.prefix, c.errs.quota))
		}
	}
	c.runner.forget(c)
	return err
}

// input feeds a command.
type input struct {
	file     *os.File
	terminal bool
}

func (i *input) Write(p []byte) (int, error) { return i.file.Write(p) }

// endOfFile is the character that ends the input of a terminal in its usual mode, at the start of a line.
const endOfFile = 4

func (i *input) Close() error {
	if i.terminal {
		_, err := i.file.Write([]byte{endOfFile})
		return err
	}
	return i.file.Close()
}

func (i *input) Resize(s host.Size) error {
	if !i.terminal {
		return fmt.Errorf("there is no terminal: %w", host.ErrUnsupported)
	}
	c, err := i.file.SyscallConn()
	if err != nil {
		return err
	}
	var rerr error
	return errors.Join(c.Control(func(fd uintptr) { rerr = resize(int(fd), s) }), rerr)
}
