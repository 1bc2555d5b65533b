package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bridge is the HTTP side.
type bridge struct {
	ctx  context.Context
	argv []string

	mu       sync.Mutex
	sessions map[string]*sdk.StreamableServerTransport
	shared   *shared
}

const maxBody = 4 << 20

// ServeHTTP is described at http.Handler.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r) {
		http.Error(w, "forbidden host or origin", http.StatusForbidden)
		return
	}
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		b.inSession(w, r, id)
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" || bytes.Contains(body, []byte("io.modelcontextprotocol/protocolVersion")) {
		s, err := b.child()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		s.serve(w, r, body)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	t := &sdk.StreamableServerTransport{SessionID: rand.Text()}
	if err := b.join(t); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	t.ServeHTTP(w, r)
}

func (b *bridge) inSession(w http.ResponseWriter, r *http.Request, id string) {
	b.mu.Lock()
	t := b.sessions[id]
	if r.Method == http.MethodDelete {
		delete(b.sessions, id)
	}
	b.mu.Unlock()
	switch {
	case t == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		t.ServeHTTP(w, r)
	}
}

// join connects a session with a child of its own and passes messages in both directions.
func (b *bridge) join(t *sdk.StreamableServerTransport) error {
	ctx, cancel := context.WithCancel(b.ctx)
	cmd := exec.CommandContext(ctx, b.argv[0], b.argv[1:]...)
	cmd.Stderr = os.Stderr
	child, err := (&sdk.CommandTransport{Command: cmd}).Connect(ctx)
	if err != nil {
		cancel()
		return err
	}
	up, err := t.Connect(ctx)
	if err != nil {
		cancel()
		return err
	}
	b.mu.Lock()
	if b.sessions == nil {
		b.sessions = map[string]*sdk.StreamableServerTransport{}
	}
	b.sessions[t.SessionID] = t
	b.mu.Unlock()
	pass := func(to, from sdk.Connection) {
		defer cancel()
		for {
			m, err := from.Read(ctx)
			if err != nil {
				return
			}
			if err := write(ctx, to, m); err != nil {
				log.Print("bridge: ", err)
			}
		}
	}
	go pass(child, up)
	go pass(up, child)
	return nil
}

// write writes a message. What comes before the client has opened its stream for announcements waits a moment for it, since
// over stdio the child may speak as soon as it is asked.
func write(ctx context.Context, to sdk.Connection, m jsonrpc.Message) error {
	const step, most = 10 * time.Millisecond, time.Second
	for waited := time.Duration(0); ; waited += step {
		err := to.Write(ctx, m)
		if err == nil || waited >= most {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(step):
		}
	}
}
