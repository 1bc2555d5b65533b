package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// X3: a client of the older era introduces itself, lists and calls.
func TestX3_StdioLegacy(t *testing.T) {
	c := startStdio(t, newTestServer(t, echoBox(), Config{Version: "1.2.3"}))
	init := c.initialize("codex-mcp-client", "{}")
	var hello struct {
		ProtocolVersion string
		ServerInfo      struct{ Name, Title, Version string }
		Instructions    string
		Capabilities    map[string]any
	}
	if err := json.Unmarshal(init.Result, &hello); err != nil {
		t.Fatal(err)
	}
	if hello.ProtocolVersion != "2025-06-18" || hello.ServerInfo.Version != "1.2.3" || hello.ServerInfo.Name != "tackle" {
		t.Errorf("initialize: %+v", hello)
	}
	if hello.Instructions != "Tools: test: echo; task: call_wait." {
		t.Errorf("instructions: %q", hello.Instructions)
	}
	if _, ok := hello.Capabilities["logging"]; ok {
		t.Error("the server advertises logging, which it does not do")
	}
	list := c.request("tools/list", "{}")
	var tools struct {
		Tools []struct {
			Name, Title, Description string
			InputSchema              map[string]any
			OutputSchema             any
			Annotations              map[string]any
		}
	}
	if err := json.Unmarshal(list.Result, &tools); err != nil {
		t.Fatal(err)
	}
	if len(tools.Tools) != 2 || tools.Tools[1].Name != "echo" || tools.Tools[1].Title != "Stub echo" || tools.Tools[1].OutputSchema != nil {
		t.Fatalf("tools: %s", list.Result)
	}
	for _, d := range tools.Tools {
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"} {
			if _, ok := d.Annotations[hint]; !ok {
				t.Errorf("%s: no %s", d.Name, hint)
			}
		}
	}
	got := c.request("tools/call", `{"name":"echo","arguments":{"path":"a\u00e9"}}`).call(t)
	if got.text() != `echo {"path":"a\u00e9"}` || got.IsError || got.ResultType != "" || got.Meta != nil {
		t.Errorf("call: %+v", got)
	}
}

// X3: the newer era needs no introduction; every answer says who the server is and that it is complete.
func TestX3_StdioModern(t *testing.T) {
	c := startStdio(t, newTestServer(t, echoBox(), Config{}))
	discover := c.request("server/discover", `{"_meta":{`+modernMeta("claude-code", "{}")+`}}`)
	if discover.Error != nil || !strings.Contains(string(discover.Result), `"2026-07-28"`) {
		t.Fatalf("discover: %s %+v", discover.Result, discover.Error)
	}
	got := c.request("tools/call", `{"name":"echo","arguments":{},"_meta":{`+modernMeta("claude-code", "{}")+`}}`).call(t)
	if got.text() != "echo {}" || got.ResultType != "complete" || got.Meta["io.modelcontextprotocol/serverInfo"] == nil {
		t.Errorf("call: %+v", got)
	}
	for _, tt := range []struct{ meta, want string }{
		{`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, "clientCapabilities"},
		{`"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}`, "unsupported protocol version"},
	} {
		m := c.request("tools/call", `{"name":"echo","arguments":{},"_meta":{`+tt.meta+`}}`)
		if m.Error == nil || !strings.Contains(m.Error.Message, tt.want) {
			t.Errorf("%s: %s %+v", tt.meta, m.Result, m.Error)
		}
	}
}

// Bad input: each is answered with the right code, and the connection goes on.
func TestStdioBadInput(t *testing.T) {
	c := startStdio(t, newTestServer(t, echoBox(), Config{}))
	c.initialize("x", "{}")
	for _, tt := range []struct {
		in, id string
		code   int
	}{
		{`{"jsonrpc":"2.0","id":1,`, "null", -32700},
		{`not json`, "null", -32700},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"path":"\x"}}}`, "null", -32700},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", -32600},
		{`{"jsonrpc":"2.0","id":6,"id":7,"method":"ping"}`, "6", -32600},
		{`{"jsonrpc":"2.0","id":8,"method":"no/such"}`, "8", -32601},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"nope"}}`, "9", -32602},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":7}}`, "10", -32602},
		{`{"jsonrpc":"2.0","id":11,"method":"tools/call"}`, "11", -32600},
		{`{"jsonrpc":"2.0","id":12,"method":"resources/read","params":{"uri":"artifact://x"}}`, "12", -32602},
	} {
		c.send(tt.in)
		m := c.receive()
		if m.Error == nil || m.Error.Code != tt.code || string(m.ID) != tt.id {
			t.Errorf("%.80s: id %s, %+v, want id %s code %d", tt.in, m.ID, m.Error, tt.id, tt.code)
		}
	}
	c.send("")
	c.send("  \r")
	if m := c.request("ping", "{}"); m.Error != nil || string(m.Result) != "{}" {
		t.Errorf("after bad input: %+v", m)
	}
}

// An oversized message is refused without being kept, and the next one is served.
func TestStdioOversized(t *testing.T) {
	c := startStdio(t, newTestServer(t, echoBox(), Config{}))
	c.initialize("x", "{}")
	go func() {
		chunk := strings.Repeat("x", 1<<20)
		io.WriteString(c.in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"path":"`)
		for range MaxMessage>>20 + 1 {
			io.WriteString(c.in, chunk)
		}
		io.WriteString(c.in, "\"}}}\n")
	}()
	if m := c.receive(); m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "longer than") {
		t.Errorf("%+v", m)
	}
	if m := c.request("ping", "{}"); m.Error != nil {
		t.Errorf("after an oversized message: %+v", m.Error)
	}
}

// gateBox holds every call until released; it notes how each ended.
func gateBox() (box *stubBox, begun chan string, release chan struct{}, ended chan error) {
	begun, release, ended = make(chan string, 100), make(chan struct{}), make(chan error, 100)
	box = echoBox()
	box.call = func(ctx context.Context, req toolbox.Request) (tool.Result, error) {
		begun <- string(req.Args)
		select {
		case <-release:
			ended <- nil
			return tool.TextResult("released", nil), nil
		case <-ctx.Done():
			ended <- context.Cause(ctx)
			e := tool.Errorf(tool.Cancelled, "cancelled")
			return tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}, nil
		}
	}
	return box, begun, release, ended
}

// X3: a cancelled call ends, and its request is not answered.
func TestX3_StdioCancel(t *testing.T) {
	box, begun, _, ended := gateBox()
	c := startStdio(t, newTestServer(t, box, Config{}))
	c.initialize("x", "{}")
	c.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"echo","arguments":{}}}`)
	<-begun
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"no"}}`)
	if err := <-ended; err != errCancelled {
		t.Errorf("the call ended with %v", err)
	}
	if m := c.request("ping", "{}"); string(m.ID) == `"slow"` {
		t.Errorf("a cancelled request was answered: %s", m.Result)
	}
}

// MCP-015: the same id twice at once is refused without an answer to the first request being forged.
func TestStdioSameIDTwice(t *testing.T) {
	box, begun, release, _ := gateBox()
	c := startStdio(t, newTestServer(t, box, Config{}))
	c.initialize("x", "{}")
	call := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
	c.send(call)
	<-begun
	c.send(call)
	if m := c.receive(); m.Error == nil || string(m.ID) != "null" || !strings.Contains(m.Error.Message, "77 is in use") {
		t.Errorf("the second: id %s %+v", m.ID, m.Error)
	}
	close(release)
	if m := c.receive(); string(m.ID) != "77" || m.call(t).text() != "released" {
		t.Errorf("the first: %+v", m)
	}
}

// Calls run at the same time and are answered as they end; more than twice the limit are refused.
func TestStdioInFlight(t *testing.T) {
	box, begun, release, _ := gateBox()
	c := startStdio(t, newTestServer(t, box, Config{InFlight: 2}))
	c.initialize("x", "{}")
	call := func(id int) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, 100+id))
	}
	for i := range 4 {
		call(i)
	}
	<-begun
	<-begun
	call(4)
	seen := map[string]string{}
	m := c.receive()
	seen[string(m.ID)] = m.call(t).text()
	close(release)
	for range 4 {
		m := c.receive()
		seen[string(m.ID)] = m.call(t).text()
	}
	refused := 0
	for _, text := range seen {
		if strings.HasPrefix(text, "TOOL ERROR: RATE_LIMITED") {
			refused++
		}
	}
	if len(seen) != 5 || refused != 1 {
		t.Errorf("answers: %v", seen)
	}
}

// The server ends when its input ends: what still runs gets a second, then it is cancelled.
func TestStdioEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, begun, _, ended := gateBox()
		c := startStdio(t, newTestServer(t, box, Config{}))
		c.initialize("x", "{}")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
		<-begun
		start := time.Now()
		c.in.Close()
		go io.Copy(io.Discard, c.out)
		if err := <-c.done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		if err := <-ended; err != errGone {
			t.Errorf("the call ended with %v", err)
		}
		if d := time.Since(start); d != drainTime {
			t.Errorf("the end took %v", d)
		}
	})
}

// A call that ends quickly after the end of the input is still answered: printf … | tackle mcp works.
func TestStdioPipedInput(t *testing.T) {
	s := newTestServer(t, echoBox(), Config{})
	var out strings.Builder
	in := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{` + modernMeta("x", "{}") + `}}}`
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"text":"echo {}"`) {
		t.Errorf("output: %s", out.String())
	}
}

// A client that never reads holds its own calls up, and the server still ends with its input.
func TestStdioClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := echoBox()
		big := strings.Repeat("x", 1<<20)
		box.call = func(context.Context, toolbox.Request) (tool.Result, error) { return tool.TextResult(big, nil), nil }
		s := newTestServer(t, box, Config{})
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.ServeStdio(t.Context(), inR, outW) }()
		for i := range 100 {
			fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{%s}}}`+"\n", i, modernMeta("x", "{}"))
		}
		synctest.Wait()
		inW.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		outR.Close() // lets the last write go
	})
}

// The output breaks: the client is dead, and so is the work for it.
func TestStdioBrokenOutput(t *testing.T) {
	box, begun, _, ended := gateBox()
	s := newTestServer(t, box, Config{})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	outR.Close()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(t.Context(), inR, outW) }()
	fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{%s}}}`+"\n", modernMeta("x", "{}"))
	<-begun
	fmt.Fprintln(inW, "garbage, which is answered")
	if err := <-done; err != io.ErrClosedPipe {
		t.Errorf("ServeStdio: %v", err)
	}
	if err := <-ended; err != errGone {
		t.Errorf("the call ended with %v", err)
	}
	inW.Close()
}

// A stream that is listened to does not keep the server from ending with its input.
func TestStdioEndWhileListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, echoBox(), Config{}))
		m := c.request("subscriptions/listen", `{"notifications":{"toolsListChanged":true},"_meta":{`+modernMeta("x", "{}")+`}}`)
		if m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("%+v", m)
		}
		start := time.Now()
		go io.Copy(io.Discard, c.out)
		c.in.Close()
		if err := <-c.done; err != nil || time.Since(start) > 0 {
			t.Errorf("the end took %v, %v", time.Since(start), err)
		}
	})
}
