package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// webSessions are the sessions of the older era over HTTP, by id. The SDK makes and ends them; calls of tools in them
// are served here, straight from the message. The zero value is ready.
type webSessions struct{ all sync.Map } // string → *webSession

// webSession is one session.
type webSession struct {
	speaker
	principal string
	ended     context.Context

	mu      sync.Mutex
	open    map[string]context.CancelCauseFunc // calls that are not answered, by raw id
	asks    map[string]chan wire.Frame         // our requests that the client has not answered, by raw id
	touched time.Time                          // when the SDK, which counts idle time, last saw a request
}

// begin notes a session that the SDK has just made, until it ends.
func (s *Server) begin(session *sdk.ServerSession, from Origin) {
	id, init := session.ID(), session.InitializeParams()
	if id == "" || init == nil {
		return
	}
	ended, end := context.WithCancelCause(context.Background())
	s.web.all.Store(id, &webSession{speaker: legacySpeaker(init), principal: from.Principal, ended: ended, touched: time.Now()})
	go func() { // ends with the session
		_ = session.Wait()
		s.web.all.Delete(id)
		end(errGone)
		from.SessionID = id
		owner := s.ownerOf(from)
		s.slots.endAll(owner, errGone)
		if s.cfg.Ended != nil {
			s.cfg.Ended(owner)
		}
	}()
}

// find returns a session for its holder. One that the SDK has not seen for long is left to it, so that it does not end
// for being idle.
func (w *webSessions) find(id, principal string, timeout time.Duration) *webSession {
	v, ok := w.all.Load(id)
	if !ok {
		return nil
	}
	s := v.(*webSession)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.principal != principal || s.ended.Err() != nil {
		return nil
	}
	if now := time.Now(); now.Sub(s.touched) > timeout/4 {
		s.touched = now
		return nil
	}
	return s
}

// inSession serves a message of a session, or returns false to leave it to the SDK.
func (e *endpoint) inSession(w http.ResponseWriter, r *http.Request, session string, f *wire.Frame) bool {
	v := r.Header.Get(versionHeader)
	if v != "" && !slices.Contains(sdk.SupportedProtocolVersions(), v) || !acceptsBoth(r.Header) {
		return false
	}
	s := e.srv.web.find(session, principal(r.Context()), e.timeout)
	if s == nil {
		return false
	}
	switch {
	case f.Method == "tools/call" && f.ID != nil:
		return e.legacyCall(w, r, session, s, f)
	case f.Method == "notifications/cancelled" && s.cancel(f.Params), f.IsResponse() && s.reply(f):
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	return false
}

func (e *endpoint) legacyCall(w http.ResponseWriter, r *http.Request, session string, s *webSession, f *wire.Frame) bool {
	params, ok := parseCall(f.Params)
	if !ok || params.furthered || params.version != "" || !e.srv.has(params.name) {
		return false
	}
	// The end of the request is not the end of the call in this era: a client may lose its connection and go on.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	id := string(f.ID)
	if !s.reserve(id, cancel) {
		cancel(nil)
		writeJSON(w, http.StatusBadRequest, wire.AppendError(nil, f.ID, codeInvalid, fmt.Sprintf("request id %s is in use already", id), nil))
		return true
	}
	stop := context.AfterFunc(s.ended, func() { cancel(errGone) })
	p := &httpPeer{ctx: r.Context(), token: params.token, speaker: s.speaker, session: s, notes: make(chan []byte),
		from: Origin{Client: s.who, SessionID: session, Principal: s.principal, Endpoint: e.path}}
	e.serve(ctx, w, r, f, &params, p, func() {
		stop()
		s.release(id)
		cancel(nil)
	})
	return true
}

func (s *webSession) reserve(id string, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]context.CancelCauseFunc{}
	}
	if _, twice := s.open[id]; twice {
		return false
	}
	s.open[id] = cancel
	return true
}

func (s *webSession) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// cancel is notifications/cancelled. It returns false for a request that is not ours.
func (s *webSession) cancel(params []byte) bool {
	id := ""
	if params == nil || wire.Members(params, func(key string, value []byte) error {
		if key == "requestId" {
			id = string(value)
		}
		return nil
	}) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, ok := s.open[id]
	if ok {
		cancel(errCancelled)
	}
	return ok
}

// reply hands over the client's answer to a request of ours. It returns false for one that is not ours.
func (s *webSession) reply(f *wire.Frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, ok := s.asks[string(f.ID)]
	if ok {
		delete(s.asks, string(f.ID))
		ch <- *f
	}
	return ok
}

// elicit asks on the stream of the call and waits for the answer, which comes in a request of its own.
func (s *webSession) elicit(ctx context.Context, p *httpPeer, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	id := `"ask-` + rand.Text()[:16] + `"`
	ch := make(chan wire.Frame, 1)
	s.mu.Lock()
	if s.asks == nil {
		s.asks = map[string]chan wire.Frame{}
	}
	s.asks[id] = ch
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asks, id)
		s.mu.Unlock()
	}()
	msg := append([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"elicitation/create","params":`), marshal(params)...)
	select {
	case p.notes <- append(msg, '}'):
	case <-p.ctx.Done():
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case f := <-ch:
		return readElicit(&f)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func readElicit(f *wire.Frame) (*sdk.ElicitResult, error) {
	if f.Error != nil {
		return nil, fmt.Errorf("the client refused to ask: %s", f.Error)
	}
	var res sdk.ElicitResult
	if err := json.Unmarshal(f.Result, &res); err != nil {
		return nil, fmt.Errorf("the client's answer: %w", err)
	}
	return &res, nil
}
