package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// X3, P8: an agent that calls over /mcp waits for a person who answers over the API, and its session says whose it is.
func TestX3_AgentsOnTheSameListener(t *testing.T) {
	p := start(t, nil)
	accept := header("Accept", "application/json, text/event-stream")
	open := p.do(p.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, p.as("bot"), accept))
	wantStatus(t, "initialize", open, 200)
	session := header("Mcp-Session-Id", open.Header.Get("Mcp-Session-Id"))
	version := header("Mcp-Protocol-Version", "2025-06-18")
	wantStatus(t, "initialized", p.do(p.request("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, p.as("bot"), accept, session, version)), 202)

	watch := p.box.Asks().Subscribe(ask.Audience{Watches: true})
	defer watch.Close()
	req := p.request("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"ask/m.txt","content":"m\n"}}}`, p.as("bot"), accept, session, version)
	done := make(chan answer, 1)
	go func() { done <- p.do(req) }()
	e, err := watch.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(e.Request.Session, "mcp-bot-") {
		t.Errorf("the session of the agent is %q", e.Request.Session)
	}
	wantStatus(t, "the agent answers itself", p.send("bot", "POST", "/api/asks/"+e.Request.ID+"/answer", core.Answer{Allow: true, Fingerprint: e.Request.Fingerprint}), 403)
	p.post("approver", "/api/asks/"+e.Request.ID+"/answer", core.Answer{Allow: true, Fingerprint: e.Request.Fingerprint}, nil)
	got := <-done
	wantStatus(t, "the call", got, 200)
	if !strings.Contains(string(got.body), "Created ask/m.txt") {
		t.Errorf("the call says %s", got.body)
	}
	var calls core.Calls
	p.get("viewer", fmt.Sprintf("/api/sessions/%s/calls", e.Request.Session), &calls)
	if len(calls.Calls) != 1 || calls.Calls[0].State != core.OK || calls.Calls[0].By != "person approver (api)" {
		t.Errorf("its record: %+v", calls.Calls)
	}
}
