package processes

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// serveShout is an MCP server with one tool, for TestMain's child.
func serveShout() error {
	type input struct {
		Text string `json:"text" jsonschema:"What to say"`
	}
	box, err := toolbox.New(toolbox.Config{Env: tool.Environment{Mode: "code"}})
	if err != nil {
		return err
	}
	err = box.Register(tool.Define(tool.Spec{Name: "shout", Category: "demo", Description: "Say it loudly.", Annotations: tool.Annotations{ReadOnly: true}},
		func(_ context.Context, _ *tool.Call, in input) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
				return tool.TextResult(strings.ToUpper(in.Text), nil), nil
			}}, nil
		}), "code")
	if err != nil {
		return err
	}
	srv, err := mcp.NewServer(box, mcp.Config{View: toolbox.View{Mode: "code"}})
	if err != nil {
		return err
	}
	return srv.ServeStdio(context.Background(), os.Stdin, os.Stdout)
}

// X3: a project's server is started only when exactly it was trusted, and its tools stand under our policy.
func TestX3_OtherServers(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(arg string) {
		t.Helper()
		b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"demo": map[string]any{"command": self, "args": []string{arg}, "env": map[string]string{"TACKLE_CHILD": "shout"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ws, ".mcp.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	open := func(approve bool) (*tackle.Box, *tackle.Servers) {
		t.Helper()
		cfg := tackle.Config{Dir: ws, StateDir: filepath.Join(dir, "state")}
		if approve {
			cfg.Approve = tackle.ApproveAlways
		}
		box, err := tackle.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { box.Close() })
		s, err := box.OpenServers(t.Context(), 20*time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return box, s
	}
	call := func(box *tackle.Box) tool.Result {
		t.Helper()
		res, err := box.Call(t.Context(), tackle.NewRequest("mcp__demo__shout", `{"text":"hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	box, servers := open(true)
	if res := call(box); res.Err == nil || res.Err.Code != tool.UnknownTool {
		t.Errorf("an untrusted server was started: %s", res.Text())
	}
	if err := servers.Trust("demo"); err != nil {
		t.Fatal(err)
	}
	box, _ = open(true)
	if res := call(box); !res.OK() || !strings.Contains(res.Text(), "HELLO") {
		t.Errorf("trusted: %s", res.Text())
	}
	box, _ = open(false)
	if res := call(box); res.Denied == nil {
		t.Errorf("a foreign tool ran without approval: %s", res.Text())
	}
	write("two") // another command line is another server
	box, _ = open(true)
	if res := call(box); res.Err == nil || res.Err.Code != tool.UnknownTool {
		t.Errorf("a changed server was started: %s", res.Text())
	}
}
