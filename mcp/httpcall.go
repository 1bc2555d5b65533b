package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
)

// call serves a tools/call of the newer era straight from the message, or returns false to leave it to the SDK: a further
// round, a tool that is not ours, headers or params that are wrong. The answer is one JSON body, or a stream of events
// when there is something to say before it.
func (e *endpoint) call(w http.ResponseWriter, r *http.Request, f *wire.Frame, params *callParams) bool {
	h := r.Header
	if f.ID == nil || params.furthered || !e.srv.has(params.name) || !acceptsBoth(h) ||
		h.Get(versionHeader) != params.version || h.Get("Mcp-Method") != f.Method || h.Get("Mcp-Name") != params.name {
		return false
	}
	p := &httpPeer{ctx: r.Context(), token: params.token, notes: make(chan []byte)}
	var ok bool
	if p.speaker, ok = e.clients.of(params); !ok {
		return false
	}
	p.from = Origin{Client: p.who, Principal: principal(r.Context()), Endpoint: e.path}
	e.serve(r.Context(), w, r, f, params, p, func() {})
	return true
}

// serve runs a call and writes its answer. It returns when the request is answered or cancelled, or its client went away;
// done is called when the call has ended.
func (e *endpoint) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, f *wire.Frame, params *callParams, p *httpPeer, done func()) {
	replies := make(chan []byte, 1)
	failed := make(chan []byte, 1)
	req := &request{name: params.name, args: params.args, failure: func(code int, message string) {
		failed <- wire.AppendError(nil, f.ID, code, message, nil)
	}}
	go func() {
		defer done()
		e.srv.serve(ctx, p, req, func(result []byte) { replies <- wire.AppendResult(nil, f.ID, result) })
	}()
	stream := false
	for {
		select {
		case note := <-p.notes:
			if !stream {
				stream = true
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Cache-Control", "no-store")
			}
			writeEvent(w, note)
		case answer := <-replies:
			writeAnswer(w, stream, answer)
			return
		case answer := <-failed:
			writeJSON(w, http.StatusBadRequest, answer)
			return
		case <-ctx.Done(): // the call has ended, or was cancelled: then there is no answer
			select {
			case answer := <-replies:
				writeAnswer(w, stream, answer)
			default:
				if !stream {
					w.WriteHeader(http.StatusNoContent)
				}
			}
			return
		case <-r.Context().Done():
			return
		}
	}
}

func writeAnswer(w http.ResponseWriter, stream bool, answer []byte) {
	if stream {
		writeEvent(w, answer)
	} else {
		writeJSON(w, http.StatusOK, answer)
	}
}

func writeEvent(w http.ResponseWriter, data []byte) {
	b := make([]byte, 0, len(data)+32)
	b = append(b, "event: message\ndata: "...)
	b = append(b, data...)
	b = append(b, "\n\n"...)
	_, _ = w.Write(b) // a client that went away ends the request's context
	_ = http.NewResponseController(w).Flush()
}

// httpPeer is the client of one call over HTTP that is served here.
type httpPeer struct {
	ctx     context.Context // of the request
	session *webSession     // nil in the newer era
	token   []byte
	from    Origin
	speaker
	notes chan []byte // to whoever writes the answer
}

func (p *httpPeer) origin() Origin        { return p.from }
func (p *httpPeer) life() context.Context { return context.WithoutCancel(p.ctx) }

func (p *httpPeer) elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if p.session == nil { // never: asks of the newer era ride on answers
		return nil, errNoRequests
	}
	return p.session.elicit(ctx, p, params)
}

func (p *httpPeer) progress() func(progress, total float64, message string) {
	if p.token == nil {
		return nil
	}
	return func(progress, total float64, message string) {
		note := wire.AppendNotification(nil, "notifications/progress", appendProgress(nil, p.token, progress, total, message))
		select {
		case p.notes <- note:
		case <-p.ctx.Done(): // the request was answered, or its client went away
		}
	}
}
