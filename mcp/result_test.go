package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/mcp/internal/wire"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

func TestAppendResult(t *testing.T) {
	for _, tt := range []struct {
		name   string
		res    tool.Result
		modern bool
		want   string
	}{
		{"text", tool.TextResult("a\nb", map[string]int{"lines": 2}), false, `{"content":[{"type":"text","text":"a\nb"}]}`},
		{"nothing", tool.Result{}, false, `{"content":[]}`},
		{"error", tool.Result{Err: tool.Errorf(tool.NotFound, "x"), Parts: []tool.Part{tool.Text("TOOL ERROR: NOT_FOUND")}}, false, `{"content":[{"type":"text","text":"TOOL ERROR: NOT_FOUND"}],"isError":true}`},
		{"denial", tool.Result{Denied: &tool.Denial{}, Parts: []tool.Part{tool.Text("no")}}, false, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"newer era", tool.TextResult("a", nil), true, `{"content":[{"type":"text","text":"a"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t"}}}`},
		{"picture", tool.Result{Parts: []tool.Part{{Kind: content.Image, Data: []byte("png"), MIME: "image/png", Width: 3, Height: 2}}}, false,
			`{"content":[{"type":"image","data":"cG5n","mimeType":"image/png"}]}`},
		{"sound", tool.Result{Parts: []tool.Part{{Kind: content.Audio, Data: []byte("wav"), MIME: "audio/wav"}}}, false,
			`{"content":[{"type":"audio","data":"d2F2","mimeType":"audio/wav"}]}`},
		{"document", tool.Result{Parts: []tool.Part{{Kind: content.Document, Data: []byte("%PDF"), MIME: "application/pdf", Name: "a b.pdf"}}}, false,
			`{"content":[{"type":"text","text":"[document a b.pdf application/pdf 4 bytes]"},{"type":"resource","resource":{"uri":"document:a_b.pdf","mimeType":"application/pdf","blob":"JVBERg=="}}]}`},
		{"text document", tool.Result{Parts: []tool.Part{{Kind: content.Document, Data: []byte("{}"), MIME: "application/json", URI: "file:///x"}}}, false,
			`{"content":[{"type":"text","text":"[document application/json 2 bytes]"},{"type":"resource","resource":{"uri":"file:///x","mimeType":"application/json","text":"{}"}}]}`},
		{"link", tool.Result{Parts: []tool.Part{{Kind: content.Link, URI: "artifact://7", Name: "log", MIME: "text/plain", Size: 9}}}, false,
			`{"content":[{"type":"text","text":"[link log text/plain 9 bytes] artifact://7"},{"type":"resource_link","uri":"artifact://7","name":"log","mimeType":"text/plain","size":9}]}`},
		{"what programs read", tool.Result{Parts: []tool.Part{tool.Text("a")}, Meta: tool.Meta{Artifact: "7", Truncated: true, Transaction: []string{"tx"}, Repairs: []string{"r"},
			Changes: []change.FileChange{{Path: "b", From: "a", Status: change.Renamed}}}}, false,
			`{"content":[{"type":"text","text":"a"}],"_meta":{"dev.tackle/call":{"artifact":"7","truncated":true,"transaction":["tx"],"files":[{"path":"b","from":"a","status":"R"}],"repairs":["r"]}}}`},
	} {
		got := string(appendResult(nil, &tt.res, tt.modern, []byte(`{"name":"t"}`)))
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// O9: what would make the client's next request fail is described instead of sent.
func TestO9_LargeParts(t *testing.T) {
	for _, p := range []tool.Part{
		{Kind: content.Image, Data: make([]byte, maxImage+1), MIME: "image/png", Name: "big.png", Width: 9000, Height: 9000},
		{Kind: content.Image, Data: []byte("x"), MIME: "application/x-unknown"},
		{Kind: content.Audio, Data: make([]byte, maxAudio+1), MIME: "audio/wav"},
		{Kind: content.Document, Data: make([]byte, maxDocument+1), MIME: "application/pdf"},
	} {
		res := tool.Result{Parts: []tool.Part{p}}
		got := string(appendResult(nil, &res, false, nil))
		if len(got) > 300 || !strings.Contains(got, `[{"type":"text","text":"[`) || strings.Count(got, `"type"`) != 1 {
			t.Errorf("%s: %.300s", p.Kind, got)
		}
	}
}

// Every result is valid JSON and its text comes back unchanged.
func TestAppendResultProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "texts")
		var res tool.Result
		for _, s := range texts {
			res.Parts = append(res.Parts, tool.Text(s))
		}
		raw := appendResult(nil, &res, rapid.Bool().Draw(t, "modern"), []byte(`{}`))
		if err := wire.Valid(raw); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var back callResult
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range back.Content {
			got = append(got, c.Text)
		}
		if d := cmp.Diff(strings.Join(texts, "\x00"), strings.Join(got, "\x00")); d != "" {
			t.Fatal(d)
		}
	})
}

// A fault is told without its reason, which is for the log.
func TestFault(t *testing.T) {
	box := echoBox()
	box.call = func(context.Context, toolbox.Request) (tool.Result, error) {
		return tool.Result{}, errors.New("disk /secret/path is on fire")
	}
	c := startStdio(t, newTestServer(t, box, Config{}))
	c.initialize("x", "{}")
	got := c.request("tools/call", `{"name":"echo","arguments":{}}`).call(t)
	if !got.IsError || strings.Contains(got.text(), "secret") || !strings.Contains(got.text(), "TOOL_EXECUTION_FAILED") {
		t.Errorf("%+v", got)
	}
}

// The limit of the client at hand reaches the tool before it runs (O2), and so do mode, session and directory.
func TestO2_RequestOfCall(t *testing.T) {
	var got toolbox.Request
	box := echoBox()
	box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
		got = req
		return tool.Result{}, nil
	}
	s := newTestServer(t, box, Config{View: toolbox.View{Mode: "code", Model: "m"}, Dir: "/w", Options: tool.Options{RequireRead: true}})
	c := startStdio(t, s)
	c.initialize("codex-mcp-client", "{}")
	c.request("tools/call", `{"name":"echo"}`)
	if got.Bounds.Bytes != 11_000 || got.Mode != "code" || got.Model != "m" || got.Dir != "/w" || !got.Options.RequireRead || got.Session != s.names.process || got.Platform {
		t.Errorf("%+v", got)
	}
}
