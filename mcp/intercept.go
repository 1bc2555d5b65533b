package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// intercept takes the calls of our tools out of the SDK's hands, for every transport that has no faster way.
func (s *Server) intercept(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch q := req.(type) {
		case *sdk.CallToolRequest:
			if s.has(q.Params.Name) {
				return s.interceptCall(ctx, q)
			}
		case *sdk.ServerRequest[*sdk.InitializeParams]:
			res, err := next(ctx, method, req)
			if err == nil {
				s.begin(q.Session, originOf(ctx, Client{}, q.Session, q.Extra))
			}
			return res, err
		case *sdk.ServerRequest[*taskParams]:
			return s.serveTask(ctx, method, q)
		}
		return next(ctx, method, req)
	}
}

func (s *Server) interceptCall(ctx context.Context, call *sdk.CallToolRequest) (sdk.Result, error) {
	type reply struct {
		result []byte
		err    error
	}
	replies := make(chan reply, 1)
	req := &request{name: call.Params.Name, args: call.Params.Arguments, state: call.Params.RequestState}
	for key, r := range call.Params.InputResponses {
		if e, ok := r.(*sdk.ElicitResult); ok {
			if req.answers == nil {
				req.answers = map[string]*sdk.ElicitResult{}
			}
			req.answers[key] = e
		}
	}
	req.failure = func(code int, message string) {
		replies <- reply{err: &jsonrpc.Error{Code: int64(code), Message: message}}
	}
	p := newSDKPeer(ctx, call)
	go s.serve(ctx, p, req, func(result []byte) { replies <- reply{result: result} })
	select {
	case r := <-replies:
		if r.err != nil {
			return nil, r.err
		}
		return &rawResult{raw: r.result}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// rawResult is a result that is JSON already.
type rawResult struct {
	sdk.ResultBase
	raw []byte
}

// MarshalJSON returns the JSON that it was made from.
func (r *rawResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// sdkPeer is the client of a call that came through the SDK.
type sdkPeer struct {
	ctx  context.Context // of the request: it routes notifications to the request's stream
	call *sdk.CallToolRequest
	from Origin
	speaker
}

func newSDKPeer(ctx context.Context, call *sdk.CallToolRequest) *sdkPeer {
	p := &sdkPeer{ctx: context.WithoutCancel(ctx), call: call}
	if v, ok := call.Params.Meta[sdk.MetaKeyProtocolVersion].(string); ok && v >= modernVersion {
		p.speaker = modernSpeaker(v, call.ClientInfo(), call.ClientCapabilities())
	} else if init := call.Session.InitializeParams(); init != nil {
		p.speaker = legacySpeaker(init)
	}
	p.from = originOf(ctx, p.who, call.Session, call.Extra)
	return p
}

// originOf says where a request came from that the SDK hands over.
func originOf(ctx context.Context, who Client, session *sdk.ServerSession, extra *sdk.RequestExtra) Origin {
	o := Origin{Client: who, SessionID: session.ID()}
	if extra != nil && extra.TokenInfo != nil {
		o.Principal = extra.TokenInfo.UserID
	}
	if e, ok := ctx.Value(endpointKey{}).(string); ok {
		o.Endpoint = e
	}
	return o
}

// lifeKey holds, in the context of a stdio connection, the context that ends with it.
type lifeKey struct{}

// endpointKey holds, in the context of an HTTP request, the path of its endpoint.
type endpointKey struct{}

func (p *sdkPeer) origin() Origin { return p.from }
func (p *sdkPeer) life() context.Context {
	if l, ok := p.ctx.Value(lifeKey{}).(context.Context); ok {
		return l
	}
	return p.ctx
}

func (p *sdkPeer) elicit(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return p.call.Session.Elicit(ctx, params)
}

func (p *sdkPeer) progress() func(progress, total float64, message string) {
	token := p.call.Params.Meta["progressToken"]
	if token == nil {
		return nil
	}
	return func(progress, total float64, message string) {
		// A report that cannot be sent is no reason to fail the call.
		_ = p.call.Session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: total, Message: message})
	}
}

var _ json.Marshaler = (*rawResult)(nil)
