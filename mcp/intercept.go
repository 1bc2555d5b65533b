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
		call, ok := req.(*sdk.CallToolRequest)
		if !ok || !s.has(call.Params.Name) {
			return next(ctx, method, req)
		}
		return s.interceptCall(ctx, call)
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
	ctx   context.Context // of the request: it routes notifications to the request's stream
	call  *sdk.CallToolRequest
	who   Client
	from  Origin
	forms bool
	newer bool
}

func newSDKPeer(ctx context.Context, call *sdk.CallToolRequest) *sdkPeer {
	p := &sdkPeer{ctx: context.WithoutCancel(ctx), call: call, forms: canElicit(call.ClientCapabilities())}
	_, p.newer = call.Params.Meta[sdk.MetaKeyProtocolVersion].(string)
	p.who.Protocol = call.ProtocolVersion()
	if !p.newer {
		p.who.Protocol = min(p.who.Protocol, legacyVersion)
	}
	if info := call.ClientInfo(); info != nil {
		p.who.Name, p.who.Version = info.Name, info.Version
	}
	p.from = Origin{Client: p.who, SessionID: call.Session.ID()}
	if call.Extra != nil && call.Extra.TokenInfo != nil {
		p.from.Principal = call.Extra.TokenInfo.UserID
	}
	if e, ok := ctx.Value(endpointKey{}).(string); ok {
		p.from.Endpoint = e
	}
	return p
}

// lifeKey holds, in the context of a stdio connection, the context that ends with it.
type lifeKey struct{}

// endpointKey holds, in the context of an HTTP request, the path of its endpoint.
type endpointKey struct{}

func (p *sdkPeer) client() Client { return p.who }
func (p *sdkPeer) origin() Origin { return p.from }
func (p *sdkPeer) life() context.Context {
	if l, ok := p.ctx.Value(lifeKey{}).(context.Context); ok {
		return l
	}
	return p.ctx
}
func (p *sdkPeer) modern() bool  { return p.newer }
func (p *sdkPeer) elicits() bool { return p.forms }

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
