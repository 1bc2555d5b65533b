package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/mcp/internal/wire"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// peer is the client of one request, as a transport knows it.
type peer interface {
	client() Client
	origin() Origin
	life() context.Context // what a call lives in when its request is over; it carries the values of the request
	modern() bool
	elicits() bool
	tasks() bool
	// elicit asks in the older era.
	elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error)
	// progress sends a report for the request; nil when it carries no progress token.
	progress() func(progress, total float64, message string)
}

// request is a tools/call, free of its transport.
type request struct {
	name    string
	args    json.RawMessage
	state   string                         // requestState: a further round of a call
	answers map[string]*sdk.ElicitResult   // inputResponses
	failure func(code int, message string) // sends a protocol error instead of a result
}

// serve takes a request and returns when its call has ended, which may be after the request was answered. answer gets
// the raw result once; the request's failure gets a protocol error instead where the request makes no sense.
// When ctx ends before the answer, the call is cancelled and nothing is answered.
func (s *Server) serve(ctx context.Context, p peer, req *request, answer func(result []byte)) {
	owner := s.owner(p)
	switch {
	case req.state != "":
		s.resume(ctx, p, owner, req, answer)
		return
	case s.wait != nil && req.name == waitName:
		s.serveWait(ctx, p, owner, req, answer)
		return
	}
	place, ok := s.slots.take(ctx, owner)
	if !ok {
		if ctx.Err() == nil {
			answer(s.encode(p, req, nil, outcome{res: tooMany(s.cfg.InFlight)}))
		}
		return
	}
	defer place.release()
	r := &running{srv: s, owner: owner, name: req.name, peer: p, began: time.Now()}
	r.ctx, r.end = context.WithCancelCause(context.WithValue(p.life(), runningKey{}, r))
	defer r.end(nil)
	place.begin(r)
	w := r.attach(s.budget(p), func(o outcome) { answer(s.encode(p, req, r, o)) })
	stop := context.AfterFunc(ctx, func() {
		if r.detach(w) {
			r.end(context.Cause(ctx))
		}
	})
	defer stop()
	s.run(r, req.args)
}

// run takes the call down the road and delivers its end.
func (s *Server) run(r *running, args json.RawMessage) {
	o := r.peer.origin()
	req := toolbox.Request{
		Tool: r.name, Args: args, Session: r.owner, Mode: s.cfg.View.Mode, Model: s.cfg.View.Model, Dir: s.cfg.Dir,
		Overlay: s.cfg.View.Overlay, Bounds: s.cfg.Bounds(o.Client), Options: s.cfg.Options, Hold: s.hold(r.peer),
	}
	var rep *reporter
	if send := r.peer.progress(); send != nil {
		rep = newReporter(send)
		req.Progress, req.Partial = rep.report, rep.partial
	}
	res, err := s.box.Call(r.ctx, req)
	rep.stop()
	if err != nil {
		s.cfg.Log.Error("call failed", "tool", r.name, "err", err)
		r.deliver(outcome{fault: err})
		return
	}
	r.deliver(outcome{res: &res})
}

// owner is the toolbox session of a call, which is also what may find it again.
func (s *Server) owner(p peer) string {
	return s.ownerOf(p.origin())
}

func (s *Server) ownerOf(o Origin) string {
	if s.cfg.Session != nil {
		return s.cfg.Session(o)
	}
	return s.names.of(o)
}

// resume is a further round of a call that asked (revision 2026-07-28): the client brings its person's answer.
func (s *Server) resume(ctx context.Context, p peer, owner string, req *request, answer func([]byte)) {
	id, digest, err := s.openState(req.state)
	switch {
	case err != nil:
		req.failure(codeInvalidParams, err.Error())
		return
	case digest != digestOf(req.name, req.args):
		req.failure(codeInvalidParams, "requestState belongs to another call")
		return
	}
	r := s.calls.find(id, owner)
	if r == nil { // it ended, or was given up: the call begins anew, and asks anew
		fresh := *req
		fresh.state, fresh.answers = "", nil
		s.serve(ctx, p, &fresh, answer)
		return
	}
	r.answered(req.answers)
	s.waitFor(ctx, r, s.budget(p), func(o outcome) { answer(s.encode(p, req, r, o)) })
}

// budget is how long a request is held: a client that speaks of tasks gets one sooner.
func (s *Server) budget(p peer) time.Duration {
	if p.tasks() && (s.cfg.Budget < 0 || s.cfg.TaskAfter < s.cfg.Budget) {
		return s.cfg.TaskAfter
	}
	return s.cfg.Budget
}

// hold is what a tool is told of the budget, with time left to answer in it. A client that speaks of tasks has no use for
// those of a tool.
func (s *Server) hold(p peer) time.Duration {
	if p.tasks() || s.cfg.Budget < 0 {
		return 0
	}
	return s.cfg.Budget - s.cfg.Budget/20
}

// waitFor attaches a request to a call and returns when the request was answered or ctx ended, which does not end the call.
func (s *Server) waitFor(ctx context.Context, r *running, budget time.Duration, deliver func(outcome)) {
	done := make(chan struct{})
	w := r.attach(budget, func(o outcome) {
		deliver(o)
		close(done)
	})
	select {
	case <-done:
	case <-ctx.Done():
		if !r.detach(w) {
			<-done
		}
	}
}

// encode writes what a request is answered about a call.
func (s *Server) encode(p peer, req *request, r *running, o outcome) []byte {
	modern := p.modern()
	switch {
	case o.asks:
		return s.encodeAsks(req, r)
	case o.fault != nil:
		res := faultResult(r.name)
		return appendResult(nil, &res, modern, s.info)
	case o.goesOn && p.tasks():
		return s.encodeTask(r)
	case o.goesOn:
		res := goesOn(r)
		return appendResult(nil, &res, modern, s.info)
	}
	res := shownTo(p.client(), o.res)
	return appendResult(make([]byte, 0, sizeOf(res)), res, modern, s.info)
}

// encodeAsks writes the answer that sends a client to its person.
func (s *Server) encodeAsks(req *request, r *running) []byte {
	b := append([]byte(`{"resultType":"input_required","inputRequests":`), marshal(r.questions())...)
	b = append(b, `,"requestState":`...)
	b = wire.AppendString(b, s.sealState(r.handle(), digestOf(req.name, req.args)))
	return append(s.appendServer(b), '}')
}

// appendServer appends the _meta that every answer of the newer era carries.
func (s *Server) appendServer(b []byte) []byte {
	b = append(b, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...)
	b = append(b, s.info...)
	return append(b, '}')
}

// marshal is for values that always marshal.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mcp: %T does not marshal: %v", v, err))
	}
	return b
}

// sizeOf guesses the bytes of an encoded result, so that the buffer grows at most once.
func sizeOf(res *tool.Result) int {
	n := 256
	for i := range res.Parts {
		p := &res.Parts[i]
		n += 96 + len(p.Text) + len(p.Text)/16 + len(p.Data)/3*4 + len(p.URI)
	}
	return n
}

// faultResult tells a model that the program failed. What failed is for the log: it may name what models need not know.
func faultResult(name string) tool.Result {
	e := tool.Errorf(tool.ExecutionFailed, "%s", faultText(name)).
		With("Retrying may not help; the person who runs this server finds the reason in its log.")
	return tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}
}

func faultText(name string) string {
	return name + " could not be carried out: the server failed, not the call."
}

func tooMany(limit int) *tool.Result {
	e := tool.Errorf(tool.RateLimited, "%d calls are running and as many are waiting already.", limit).
		With("Wait for some of them to end, then repeat the call.")
	e.Retry = true
	return &tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}
}
