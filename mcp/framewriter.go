package mcp

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// maxPending is how much may wait for a client that reads slowly, in bytes. Who wants to write more waits.
const maxPending = 8 << 20

// frameWriter writes whole messages, each with a newline. Messages that arrive while one is being written go out together
// in the next write, by whoever was writing.
type frameWriter struct {
	out    io.Writer
	broken chan struct{} // closed with the first error

	mu      sync.Mutex
	room    chan struct{} // closed when pending was taken; made when somebody waits
	pending []byte
	spare   []byte
	busy    bool
	err     error
}

func newFrameWriter(out io.Writer) *frameWriter {
	return &frameWriter{out: out, broken: make(chan struct{})}
}

// frame writes a message. It returns when the message is written, or handed to a write that is under way.
func (w *frameWriter) frame(ctx context.Context, b []byte) error {
	return w.put(ctx, len(b), func(dst []byte) []byte { return append(dst, b...) })
}

// result writes the response of a request.
func (w *frameWriter) result(ctx context.Context, id, result []byte) error {
	return w.put(ctx, len(result), func(dst []byte) []byte { return wire.AppendResult(dst, id, result) })
}

func (w *frameWriter) put(ctx context.Context, size int, write func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && len(w.pending) > 0 && len(w.pending)+size > maxPending {
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		w.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if w.err != nil {
		return w.err
	}
	w.pending = append(write(w.pending), '\n')
	if !w.busy {
		w.flush()
	}
	return w.err
}

// flush writes until nothing is pending. The caller holds mu, which is released around each write.
func (w *frameWriter) flush() {
	w.busy = true
	for len(w.pending) > 0 && w.err == nil {
		b := w.pending
		w.pending, w.spare = w.spare[:0], nil
		if w.room != nil {
			close(w.room)
			w.room = nil
		}
		w.mu.Unlock()
		_, err := w.out.Write(b)
		w.mu.Lock()
		if cap(b) <= 256<<10 {
			w.spare = b
		}
		if err != nil {
			w.fail(err)
		}
	}
	w.busy = false
}

// fail ends the writer. The caller holds mu.
func (w *frameWriter) fail(err error) {
	if w.err != nil {
		return
	}
	w.err = err
	close(w.broken)
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// close refuses further messages. A write that is under way is left to its fate.
func (w *frameWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(io.ErrClosedPipe)
}

func (w *frameWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// appendProgress appends the params of a progress notification; token is raw.
func appendProgress(dst, token []byte, progress, total float64, message string) []byte {
	dst = append(dst, `{"progressToken":`...)
	dst = append(dst, token...)
	dst = append(dst, `,"progress":`...)
	dst = strconv.AppendFloat(dst, progress, 'f', -1, 64)
	if total > 0 {
		dst = append(dst, `,"total":`...)
		dst = strconv.AppendFloat(dst, total, 'f', -1, 64)
	}
	if message != "" {
		dst = append(dst, `,"message":`...)
		dst = wire.AppendString(dst, message)
	}
	return append(dst, '}')
}
