package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// Times of the end of a stdio connection.
const (
	drainTime = time.Second     // calls may still end after the input ended
	endTime   = 8 * time.Second // then they are cancelled, and waited for this long
)

// ServeStdio serves one client over newline-delimited messages and returns when the input ends, after the calls that
// were under way had a second to end; then they are cancelled. It also returns when the output breaks or ctx ends.
// in is not closed; a Read that is blocked in it is left behind when ctx ends.
//
// Messages that are no JSON, no JSON-RPC or too long are answered with an error and skipped; the connection goes on.
// A client that does not read stops its own calls, at a bounded amount of memory.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	base, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &stdio{srv: s, in: bufio.NewReaderSize(in, 64<<10), out: newFrameWriter(out), base: base, cancel: cancel,
		slow: make(chan jsonrpc.Message), closed: make(chan struct{}), open: map[string]context.CancelCauseFunc{}}
	session, err := s.sdk.Connect(context.WithValue(base, lifeKey{}, base), c, nil)
	if err != nil {
		return fmt.Errorf("mcp: connect: %w", err)
	}
	c.session = session
	read := make(chan error, 1)
	go func() { read <- c.readAll() }()
	select {
	case err = <-read:
		c.drain(drainTime)
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.out.broken:
		err = c.out.failure()
	}
	cancel(errGone)
	c.drain(endTime)
	c.out.close()
	c.Close()
	session.Close()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stdio is one connection. Calls of tools are served here, straight from the message; every other message goes to the
// SDK, for which stdio is a transport.
type stdio struct {
	srv     *Server
	in      *bufio.Reader
	out     *frameWriter
	base    context.Context
	cancel  context.CancelCauseFunc
	session *sdk.ServerSession
	clients clientCache

	slow      chan jsonrpc.Message // to the SDK
	closed    chan struct{}
	closeOnce sync.Once

	running sync.WaitGroup
	mu      sync.Mutex
	open    map[string]context.CancelCauseFunc // calls that are not answered, by raw id
	sdkOpen map[jsonrpc.ID]bool                // requests that the SDK has not answered
	ending  bool                               // no call begins any more
}

// readAll reads messages until the input ends. The error is never nil.
func (c *stdio) readAll() error {
	for {
		frame, err := c.readFrame()
		if len(frame) > 0 {
			c.accept(frame)
		}
		if err != nil {
			return err
		}
	}
}

// readFrame returns the next line without surrounding space, in memory of its own; it may be empty. A line that is too
// long is answered and skipped. A last line without newline counts.
func (c *stdio) readFrame() ([]byte, error) {
	var long []byte
	size := 0
	for {
		line, err := c.in.ReadSlice('\n')
		if err == nil && size == 0 {
			return bytes.Clone(bytes.TrimSpace(line)), nil
		}
		if size += len(line); size <= MaxMessage {
			long = append(long, line...)
		} else {
			long = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size > MaxMessage {
			c.refuse(nil, codeInvalid, fmt.Sprintf("the message is longer than %d bytes", MaxMessage))
		}
		return bytes.TrimSpace(long), err
	}
}

// accept handles one message.
func (c *stdio) accept(frame []byte) {
	f, err := wire.ParseFrame(frame)
	if err != nil {
		code := codeInvalid
		var syntax *wire.SyntaxError
		if errors.As(err, &syntax) {
			code, f.ID = codeParse, nil
		}
		c.refuse(f.ID, code, err.Error())
		return
	}
	switch {
	case f.Method == "tools/call" && f.ID != nil && c.call(&f):
		return
	case f.Method == "notifications/cancelled" && c.cancelCall(f.Params):
		return
	}
	msg, err := jsonrpc.DecodeMessage(frame)
	if err != nil {
		c.refuse(f.ID, codeInvalid, err.Error())
		return
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" { // which is never answered
		c.expect(r.ID)
	}
	select {
	case c.slow <- msg:
	case <-c.closed:
	}
}

// expect notes a request that goes to the SDK, so that the end of the input waits for its answer too: a script that
// writes its messages and closes gets them all answered.
func (c *stdio) expect(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.sdkOpen[id] {
		return
	}
	if c.sdkOpen == nil {
		c.sdkOpen = map[jsonrpc.ID]bool{}
	}
	c.sdkOpen[id] = true
	c.running.Add(1)
}

// answered ends the waiting for a request of the SDK.
func (c *stdio) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sdkOpen[id] {
		delete(c.sdkOpen, id)
		c.running.Done()
	}
}

// call serves a tools/call, or returns false to leave it to the SDK: a further round, a tool that is not ours, a client
// that has not introduced itself, or params that are wrong.
func (c *stdio) call(f *wire.Frame) bool {
	params, ok := parseCall(f.Params)
	if !ok || params.furthered || !c.srv.has(params.name) {
		return false
	}
	p := &stdioPeer{conn: c, token: params.token}
	if params.version != "" {
		if p.speaker, ok = c.clients.of(&params); !ok {
			return false
		}
	} else if !p.introduced() {
		return false
	}
	c.start(f, p, &request{name: params.name, args: params.args})
	return true
}

// start serves a request in a goroutine of its own.
func (c *stdio) start(f *wire.Frame, p *stdioPeer, req *request) {
	id := string(f.ID)
	ctx, cancel := context.WithCancelCause(c.base)
	if named, problem := c.reserve(id, cancel); problem != "" {
		cancel(nil)
		if !named { // an error that names the id would be taken for the answer to the first request
			f.ID = nil
		}
		c.refuse(f.ID, codeInvalid, problem)
		return
	}
	req.failure = func(code int, message string) {
		if c.close(id) {
			c.refuse(f.ID, code, message)
		}
	}
	go func() {
		defer c.running.Done()
		defer cancel(nil)
		defer c.close(id)
		c.srv.serve(ctx, p, req, func(result []byte) {
			if c.close(id) {
				c.out.result(c.base, f.ID, result)
			}
		})
	}()
}

// reserve opens an id for answering. It says what stands against it, and whether the refusal may name the id.
func (c *stdio) reserve(id string, cancel context.CancelCauseFunc) (named bool, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.open[id]; twice {
		return false, fmt.Sprintf("request id %s is in use already", id)
	}
	switch {
	case c.ending:
		return true, "the server is ending"
	case len(c.open) >= 4*c.srv.cfg.InFlight:
		return true, "too many calls are waiting"
	}
	c.open[id] = cancel
	c.running.Add(1)
	return true, ""
}

// close ends the answering of a request and reports whether it was open: a cancelled request is not answered.
func (c *stdio) close(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.open[id]
	delete(c.open, id)
	return ok
}

// cancelCall is notifications/cancelled. It returns false for a request that is not ours.
func (c *stdio) cancelCall(params []byte) bool {
	id := ""
	err := wire.Members(params, func(key string, value []byte) error {
		if key == "requestId" {
			id = string(value)
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel, ok := c.open[id]
	if err != nil || !ok {
		return false
	}
	delete(c.open, id)
	cancel(errCancelled)
	return true
}

func (c *stdio) refuse(id []byte, code int, message string) {
	c.out.frame(c.base, wire.AppendError(nil, id, code, message, nil))
}

// drain lets no further call begin and waits until none runs, or for the time given.
func (c *stdio) drain(most time.Duration) {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.running.Wait(); close(done) }()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// Connect, Read, Write, Close and SessionID make stdio the transport and the connection of the SDK.
func (c *stdio) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// Read is described at sdk.Connection.
func (c *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.slow:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write is described at sdk.Connection.
func (c *stdio) Write(ctx context.Context, msg jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	err = c.out.frame(ctx, b)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.answered(r.ID)
	}
	return err
}

// Close is described at sdk.Connection.
func (c *stdio) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// SessionID is described at sdk.Connection; stdio has none.
func (c *stdio) SessionID() string { return "" }
