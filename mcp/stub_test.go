package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// stubBox is a Box whose calls are a function.
type stubBox struct {
	defs []tool.Definition
	call func(ctx context.Context, req toolbox.Request) (tool.Result, error)
}

func (b *stubBox) Tools(toolbox.View) []tool.Definition { return b.defs }

func (b *stubBox) Call(ctx context.Context, req toolbox.Request) (tool.Result, error) {
	return b.call(ctx, req)
}

type stubArgs struct {
	Path string `json:"path,omitempty" jsonschema:"A path"`
}

func stubTool(name string, ann tool.Annotations) tool.Definition {
	return tool.Define(tool.Spec{Name: name, Category: "test", Title: "Stub " + name, Description: "Does nothing, for tests.", Annotations: ann},
		func(context.Context, *tool.Call, stubArgs) (tool.Action, error) { return tool.Action{}, nil }).Definition()
}

// echoBox answers every call with what it got.
func echoBox() *stubBox {
	return &stubBox{
		defs: []tool.Definition{stubTool("echo", tool.Annotations{ReadOnly: true, Idempotent: true})},
		call: func(_ context.Context, req toolbox.Request) (tool.Result, error) {
			return tool.TextResult(fmt.Sprintf("%s %s", req.Tool, req.Args), nil), nil
		},
	}
}

func newTestServer(t *testing.T, box Box, cfg Config) *Server {
	t.Helper()
	s, err := NewServer(box, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lineClient is a client over stdio that sees the very messages.
type lineClient struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
	next int
}

// startStdio serves over pipes until the test ends.
func startStdio(t *testing.T, s *Server) *lineClient {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &lineClient{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(t.Context(), inR, outW)
		outW.Close()
		c.done <- err
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *lineClient) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("send %.100s: %v", line, err)
	}
}

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (c *lineClient) receive() message {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("receive %s: %v", line, err)
	}
	return m
}

// request sends a request and returns the message that follows.
func (c *lineClient) request(method, params string) message {
	c.t.Helper()
	c.next++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params))
	return c.receive()
}

// initialize introduces the client in the older era.
func (c *lineClient) initialize(name, capabilities string) message {
	c.t.Helper()
	m := c.request("initialize", fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}`, capabilities, name))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// modernMeta is the _meta of the newer era.
func modernMeta(name, capabilities string) string {
	return fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":%s`, name, capabilities)
}

// callResult is what the tests look at in a result.
type callResult struct {
	Content []struct {
		Type, Text, URI, Name, Data, MimeType string
		Resource                              *struct{ URI, Text, Blob, MimeType string }
	}
	IsError       bool
	ResultType    string
	RequestState  string
	InputRequests map[string]struct {
		Method string
		Params struct{ Message string }
	}
	Meta map[string]json.RawMessage `json:"_meta"`
}

func (m message) call(t *testing.T) callResult {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("protocol error %d %s", m.Error.Code, m.Error.Message)
	}
	var r callResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("result %s: %v", m.Result, err)
	}
	return r
}

func (r callResult) text() string {
	var parts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// contextOf returns a context that the test ends itself.
func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
