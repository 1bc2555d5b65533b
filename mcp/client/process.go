package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Times of ending a server: after its input is closed, and after it was asked to end.
const (
	closeGrace = 2 * time.Second
	brokeGrace = 200 * time.Millisecond // where the connection broke already
	termGrace  = time.Second
)

// keptStderr is how much of a server's standard error is kept for messages, in bytes.
const keptStderr = 4 << 10

// inherited are the variables that every server gets.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "HOMEDRIVE", "HOMEPATH"}

// process is a server that we started. It leads a process group of its own, which ends with it.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr tail
	exited chan struct{} // closed when the process was reaped
	state  error         // of the end; valid after exited

	close sync.Once
}

// start runs the server's command. dir is used where the server names no folder.
func start(s *Server, dir string) (*process, error) {
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Dir = s.Dir
	if p.cmd.Dir == "" {
		p.cmd.Dir = dir
	}
	p.cmd.Env = environment(s)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second // a grandchild that keeps standard error open does not keep us
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.out, p.cmd.Stdout = pr, pw
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	pw.Close()
	if err != nil {
		pr.Close()
		return nil, err
	}
	return p, nil
}

// run starts and reaps the process. It keeps its thread: the system ends the child when the thread that made it ends.
func (p *process) run(started chan<- error) {
	defer lockThread()()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.state = p.cmd.Wait()
	killGroup(p.cmd) // what the server left behind
	close(p.exited)
}

func environment(s *Server) []string {
	var env []string
	for _, k := range inherited {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	return env
}

// Read, Write and Close make the process the pipe of the transport.
func (p *process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the process: first politely, at last with its whole group.
func (p *process) Close() error {
	p.end(closeGrace)
	return nil
}

func (p *process) end(grace time.Duration) {
	p.close.Do(func() {
		p.in.Close()
		if !p.ended(grace) {
			termGroup(p.cmd)
			if !p.ended(termGrace) {
				killGroup(p.cmd)
				<-p.exited
			}
		}
		p.out.Close()
	})
}

func (p *process) ended(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// transport speaks to the process. most bounds one of its messages, in bytes.
func (p *process) transport(most int) sdk.Transport {
	return &sdk.IOTransport{Reader: p, Writer: p, MaxLineLength: most}
}

// explain adds to an error what is known about the process: how it ended and what it said last.
func (p *process) explain(err error) error {
	if p == nil {
		return err
	}
	words := []string{err.Error()}
	if p.ended(100*time.Millisecond) && p.state != nil {
		words = append(words, "the server ended: "+p.state.Error())
	}
	if s := p.stderr.String(); s != "" {
		words = append(words, "it said: "+s)
	}
	return &explained{strings.Join(words, "; "), err}
}

type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// tail keeps the last bytes that were written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write is described at io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - keptStderr; over > 0 {
		t.buf, t.cut = append(t.buf[:0], t.buf[over:]...), true
	}
	return len(b), nil
}

// String returns what is kept, as valid text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\ufffd"))
	if t.cut {
		s = "…" + s
	}
	return s
}

// failure turns an error of a call into words about the server.
func failure(server string, err error) error {
	switch {
	case errors.Is(err, sdk.ErrConnectionClosed):
		return fmt.Errorf("the server %q ended the connection: %w", server, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server %q did not answer in time: %w", server, err)
	}
	return fmt.Errorf("the server %q: %w", server, err)
}
