package main

//lint:file-ignore SA1019 The runner tries features that the protocol deprecates and still demands of a server.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type handler func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)

const anyObject = `{"type":"object","properties":{}}`

func add(s *sdk.Server, name, schema string, h handler) {
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance runner.", InputSchema: json.RawMessage(schema)}, sdk.ToolHandler(h))
}

func say(format string, args ...any) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil
}

func missing(capabilities string) error {
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client lacks a capability",
		Data: json.RawMessage(`{"requiredCapabilities":` + capabilities + `}`)}
}

// addProtocolTools adds the tools that need what a toolbox does not know.
func addProtocolTools(s *sdk.Server) {
	add(s, "test_tool_with_logging", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, m := range []string{"started", "working", "done"} {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: m}); err != nil {
				return nil, err
			}
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		return say("logged")
	})
	add(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, sample)
	add(s, "json_schema_2020_12_tool", schema2020, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("called with %s", req.Params.Arguments)
	})
	add(s, "test_reconnection", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		return say("still here after the stream was closed")
	})
	add(s, "test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","description":"mirrored in a header","x-mcp-header":"Region"},"level":{"type":"integer","description":"not mirrored"}}}`,
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return say("called with %s", req.Params.Arguments)
		})
	add(s, "test_missing_capability", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := req.ClientCapabilities(); c == nil || c.Sampling == nil {
			return nil, missing(`{"sampling":{}}`)
		}
		return say("the client can sample")
	})
	add(s, "test_streaming_elicitation", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("no request was sent on this stream")
	})
	add(s, "test_logging_tool", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "seen only by who asked for it"}); err != nil {
			return nil, err
		}
		return say("logged where wanted")
	})
	add(s, "test_trigger_tool_change", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add(s, "transient", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("") })
		return say("the list of tools changed")
	})
	add(s, "test_trigger_prompt_change", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "transient", Description: "A fixture."}, prompted("transient"))
		return say("the list of prompts changed")
	})
}

func sample(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100,
		Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}}})
	if err != nil {
		return nil, err
	}
	answer := "(no text)"
	if t, ok := res.Content.(*sdk.TextContent); ok {
		answer = t.Text
	}
	return say("LLM response: %s", answer)
}

// schema2020 uses the words of JSON Schema 2020-12 that must survive tools/list.
const schema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": false}`
