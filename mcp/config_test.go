package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

func TestNewServerErrors(t *testing.T) {
	taken := echoBox()
	taken.defs = append(taken.defs, stubTool(waitName, tool.Annotations{}))
	for _, tt := range []struct {
		box  Box
		cfg  Config
		want string
	}{
		{echoBox(), Config{Name: "a-name-that-is-too-long"}, "at most 16 bytes"},
		{echoBox(), Config{InFlight: -1}, "must not be negative"},
		{echoBox(), Config{StateKey: []byte("short")}, "want 32"},
		{taken, Config{}, "has a tool named call_wait"},
	} {
		if _, err := NewServer(tt.box, tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, err := NewServer(taken, Config{Budget: -1}); err != nil {
		t.Errorf("without a budget the name is free: %v", err)
	}
}

// Instructions name every tool and stay below what the strictest client shows whole.
func TestInstructions(t *testing.T) {
	var defs []tool.Definition
	for i := range 200 {
		d := stubTool(fmt.Sprintf("tool_%03d", i), tool.Annotations{})
		d.Category = fmt.Sprintf("cat%d", i%7)
		defs = append(defs, d)
	}
	roots := make([]Root, 12)
	for i := range roots {
		roots[i] = Root{fmt.Sprint(i), fmt.Sprintf("/work/%s/root%d", strings.Repeat("deep/", 20), i)}
	}
	for _, tt := range []struct {
		cfg  Config
		n    int
		want []string
	}{
		{Config{}, 2, []string{"Tools: cat0: tool_000; cat1: tool_001."}},
		{Config{Instructions: " Be careful. ", Roots: []Root{{"a", "/a"}, {"b", "/b"}}}, 1, []string{"Be careful.\nWorkspace: /a, /b. Relative paths start at the first.\nTools: cat0: tool_000."}},
		{Config{Instructions: strings.Repeat("long text. ", 400), Roots: roots}, 200, []string{"long text.", " …\n", "Workspace: /work", "tool_000"}},
	} {
		got := instructions(&tt.cfg, defs[:tt.n])
		if len(got) > maxInstructions {
			t.Errorf("%d bytes", len(got))
		}
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("lacks %q:\n%s", w, got)
			}
		}
	}
}

// Refresh announces a list that changed, and only then.
func TestRefresh(t *testing.T) {
	box := echoBox()
	s := newTestServer(t, box, Config{})
	c := startStdio(t, s)
	c.initialize("x", "{}")
	c.request("ping", "{}")
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	box.defs = append(box.defs, stubTool("second", tool.Annotations{}))
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	if m := c.receive(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("%+v", m)
	}
	if m := c.request("tools/list", "{}"); !strings.Contains(string(m.Result), `"second"`) {
		t.Errorf("%s", m.Result)
	}
	box.defs = box.defs[1:]
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	c.receive()
	if m := c.request("tools/call", `{"name":"echo","arguments":{}}`); m.Error == nil || m.Error.Code != codeInvalidParams {
		t.Errorf("a tool that is gone: %+v", m)
	}
}
