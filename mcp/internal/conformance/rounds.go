package main

//lint:file-ignore SA1019 The runner tries features that the protocol deprecates and still demands of a server.

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// signer signs the state of fixtures that answer over several rounds.
type signer struct{ key [32]byte }

func (s *signer) seal(state string) string {
	m := hmac.New(sha256.New, s.key[:])
	m.Write([]byte(state))
	return state + "." + hex.EncodeToString(m.Sum(nil))
}

func (s *signer) open(sealed string) (string, error) {
	i := strings.LastIndexByte(sealed, '.')
	if i < 0 || !hmac.Equal([]byte(s.seal(sealed[:i])), []byte(sealed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state was tampered with"}
	}
	return sealed[:i], nil
}

func ask(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: object(map[string]any{field: map[string]any{"type": kind}}, field)}
}

func sampling(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 50, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}

func need(state string, requests sdk.InputRequestMap) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

// accepted returns the filled-in form under a key; nil when there is none.
func accepted(m sdk.InputResponseMap, key string) map[string]any {
	if e, ok := m[key].(*sdk.ElicitResult); ok && e != nil && e.Action == "accept" {
		return e.Content
	}
	return nil
}

func sampled(m sdk.InputResponseMap, key string) (string, bool) {
	r, ok := m[key].(*sdk.CreateMessageWithToolsResult)
	if !ok || r == nil {
		return "", false
	}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text, true
		}
	}
	return "", true
}

// addRounds adds the tools that need input from the client before they can answer.
func addRounds(s *sdk.Server) {
	const prefix = "test_input_required_result_"
	sign := &signer{}
	rand.Read(sign.key[:]) // never fails
	add(s, prefix+"elicitation", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if name, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string); name != "" {
			return say("Hello, %s!", name)
		}
		return need("", sdk.InputRequestMap{"user_name": ask("What is your name?", "name", "string")})
	})
	add(s, prefix+"sampling", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if answer, ok := sampled(req.Params.InputResponses, "capital_question"); ok {
			return say("The model says: %s", answer)
		}
		return need("", sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?")})
	})
	add(s, prefix+"list_roots", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r, ok := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok && r != nil {
			return say("%d roots", len(r.Roots))
		}
		return need("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}})
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		add(s, prefix+name, anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if req.Params.RequestState != "" {
				if _, err := sign.open(req.Params.RequestState); err != nil {
					return nil, err
				}
				if accepted(req.Params.InputResponses, "confirm") != nil {
					return say("state-ok: confirmed")
				}
			}
			return need(sign.seal(name), sdk.InputRequestMap{"confirm": ask("Please confirm", "ok", "boolean")})
		})
	}
	add(s, prefix+"multiple_inputs", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in := req.Params.InputResponses
		name, _ := accepted(in, "user_name")["name"].(string)
		greeting, greeted := sampled(in, "greeting")
		roots, rooted := in["client_roots"].(*sdk.ListRootsResult)
		if name != "" && greeted && rooted {
			return say("%s %s, %d roots", greeting, name, len(roots.Roots))
		}
		return need(sign.seal("inputs"), sdk.InputRequestMap{"user_name": ask("What is your name?", "name", "string"),
			"greeting": sampling("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}})
	})
	add(s, prefix+"multi_round", anyObject, multiRound(sign))
	add(s, prefix+"capabilities", anyObject, byCapability)
}

// multiRound asks twice; the first answer travels in the state.
func multiRound(sign *signer) handler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Params.RequestState == "" {
			return need(sign.seal("one"), sdk.InputRequestMap{"step1": ask("Step 1: what is your name?", "name", "string")})
		}
		state, err := sign.open(req.Params.RequestState)
		if err != nil {
			return nil, err
		}
		if state == "one" {
			name, _ := accepted(req.Params.InputResponses, "step1")["name"].(string)
			return need(sign.seal("two "+name), sdk.InputRequestMap{"step2": ask("Step 2: what is your favourite colour?", "color", "string")})
		}
		color, _ := accepted(req.Params.InputResponses, "step2")["color"].(string)
		return say("%s likes %s", strings.TrimPrefix(state, "two "), color)
	}
}

// byCapability asks only for what the client says it can give.
func byCapability(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return say("thank you")
	}
	requests := sdk.InputRequestMap{}
	if c := req.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			requests["user_name"] = ask("What is your name?", "name", "string")
		}
		if c.Sampling != nil {
			requests["greeting"] = sampling("Generate a greeting")
		}
		if c.RootsV2 != nil {
			requests["client_roots"] = &sdk.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return say("the client can give nothing")
	}
	return need("", requests)
}

// prompted returns a prompt of one message.
func prompted(format string, args ...string) sdk.PromptHandler {
	return func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = req.Params.Arguments[a]
		}
		return message(&sdk.TextContent{Text: fmt.Sprintf(format, values...)}), nil
	}
}

func message(content ...sdk.Content) *sdk.GetPromptResult {
	res := &sdk.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return res
}
