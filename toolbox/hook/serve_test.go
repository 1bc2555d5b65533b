package hook

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// judge says what a test wants, and remembers what it was asked.
type judge struct {
	d    tool.Decision
	err  error
	seen *tool.Intent
}

func (j *judge) Resolve(_ context.Context, cwd, path string) (host.Path, error) {
	if strings.Contains(path, "\x00") {
		return host.Path{}, errors.New("invalid path")
	}
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(cwd, path)
	}
	return host.Path{Given: path, Abs: abs, Real: abs}, nil
}

func (j *judge) Judge(_ context.Context, _ string, in *tool.Intent) (tool.Decision, error) {
	j.seen = in
	return j.d, j.err
}

func question(e, name, input string) []byte {
	b, _ := json.Marshal(map[string]any{"session_id": "x", "cwd": "/w", "hook_event_name": e, "tool_name": name, "tool_input": json.RawMessage(input)})
	return b
}

// P10: the tools of other agents, in our words.
func TestServe_Intents(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"Bash", `{"command": "ls -l", "description": "look"}`, "shell shell execute: execute command ls -l"},
		{"run_shell_command", `{"command": "ls"}`, "shell shell execute: execute command ls"},
		{"shell", `{"command": ["bash", "-lc", "ls && id"]}`, "shell shell execute: execute command ls && id"},
		{"shell", `{"command": ["rm", "a b"]}`, "shell shell execute: execute command rm 'a b'"},
		{"Read", `{"file_path": "/w/a"}`, "read_file read_file read: read path /w/a"},
		{"Write", `{"file_path": "a", "content": ""}`, "write_file edit write: write path /w/a"},
		{"Edit", `{"file_path": "/etc/passwd", "old_string": "a", "new_string": "b"}`, "edit edit write: write path /etc/passwd"},
		{"MultiEdit", `{"file_path": "a", "edits": []}`, "multi_edit edit write: write path /w/a"},
		{"NotebookRead", `{"notebook_path": "a.ipynb"}`, "read_file read_file read: read path /w/a.ipynb"},
		{"Write", `{"content": "x"}`, "write_file edit write: write path "},
		{"Read", `{"file_path": 7}`, "read_file read_file read: read path "},
		{"NotebookEdit", `{"notebook_path": "a.ipynb"}`, "edit edit write: write path /w/a.ipynb"},
		{"replace", `{"file_path": "a"}`, "edit edit write: write path /w/a"},
		{"Glob", `{"pattern": "*"}`, "glob glob read: read path /w"},
		{"Grep", `{"pattern": "x", "path": "/etc"}`, "grep grep read: read path /etc"},
		{"list_directory", `{"path": ".."}`, "list_dir list_dir read: read path /"},
		{"WebFetch", `{"url": "https://example.com", "prompt": "x"}`, "fetch_url fetch_url network: network url https://example.com"},
		{"WebSearch", `{"query": "x"}`, "search_google search_google network:"},
		{"apply_patch", `{"command": "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-x\n+y\n*** End Patch"}`, "apply_patch edit write: write path /w/a write path /b"},
		{"mcp__github__delete", `{}`, "mcp__github__delete mcp__github__delete execute: execute tool mcp__github__delete"},
		{"TodoWrite", `{}`, "TodoWrite TodoWrite execute: execute tool TodoWrite"},
	} {
		j := &judge{d: tool.Decision{By: "rule x"}}
		if r := Serve(t.Context(), question("PreToolUse", tt.name, tt.input), j); r.Code != 0 || j.seen == nil {
			t.Errorf("%s: %+v", tt.name, r)
			continue
		}
		got := j.seen.Tool + " " + j.seen.Permission + " " + string(j.seen.Effects[0]) + ":"
		for _, x := range j.seen.Targets {
			got += " " + string(x.Effect) + " " + string(x.Kind) + " " + x.Value
		}
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.name, tt.input, got, tt.want)
		}
	}
}

// P10: our verdict in the words of each agent.
func TestServe_Answers(t *testing.T) {
	const bash, edit, read, todo = `Bash {"command": "x"}`, `Edit {"file_path": "a"}`, `Read {"file_path": "a"}`, `TodoWrite {}`
	pre := func(word, reason string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + word + `","permissionDecisionReason":"tackle: ` + reason + `"}}`
	}
	for _, tt := range []struct {
		event, call string
		verdict     tool.Verdict
		by          string
		want        string
	}{
		{"PreToolUse", bash, tool.Deny, "rule user:1", pre("deny", "because")},
		{"PreToolUse", bash, tool.Ask, "guard unconfined-command", pre("ask", "because")},
		{"PreToolUse", bash, tool.Allow, "rule user:1", pre("allow", "because")},
		{"PreToolUse", bash, tool.Allow, "grant g1", pre("allow", "because")},
		{"PreToolUse", edit, tool.Allow, "posture guarded", ""},
		{"PreToolUse", read, tool.Allow, "posture guarded", pre("allow", "because")},
		{"PreToolUse", todo, tool.Ask, "posture guarded", ""},
		{"PreToolUse", todo, tool.Deny, "posture plan", ""},
		{"PreToolUse", todo, tool.Deny, "rule user:1", pre("deny", "because")},
		{"PreToolUse", `mcp__x__y {}`, tool.Ask, "posture guarded", pre("ask", "because")},
		{"PreToolUse", `mcp__tackle__edit {"path": "a"}`, tool.Ask, "rule user:1", ""},
		{"PreToolUse", `mcp__tackle__edit {"path": "a"}`, tool.Allow, "rule user:1", ""},
		{"PreToolUse", `mcp__tackle__edit {"path": "a"}`, tool.Deny, "posture plan", ""},
		{"PreToolUse", `mcp__tackle__edit {"path": "a"}`, tool.Deny, "rule user:1", pre("deny", "because")},
		{"PermissionRequest", bash, tool.Deny, "rule user:1", `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"tackle: because"},"hookEventName":"PermissionRequest"}}`},
		{"PermissionRequest", bash, tool.Allow, "grant g1", `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`},
		{"PermissionRequest", bash, tool.Ask, "rule user:1", ""},
		{"BeforeTool", `run_shell_command {"command": "x"}`, tool.Deny, "rule user:1", `{"decision":"deny","reason":"tackle: because"}`},
		{"BeforeTool", `run_shell_command {"command": "x"}`, tool.Ask, "rule user:1", ""},
		{"PostToolUse", bash, tool.Deny, "rule user:1", ""},
		{"SessionStart", bash, tool.Deny, "rule user:1", ""},
	} {
		name, input, _ := strings.Cut(tt.call, " ")
		r := Serve(t.Context(), question(tt.event, name, input), &judge{d: tool.Decision{Verdict: tt.verdict, By: tt.by, Reason: "because"}})
		if diff := cmp.Diff(Reply{Stdout: tt.want}, Reply{Stdout: strings.TrimSuffix(r.Stdout, "\n"), Stderr: r.Stderr, Code: r.Code}); diff != "" {
			t.Errorf("%s %s, %s by %s: %s", tt.event, name, tt.verdict, tt.by, diff)
		}
	}
}

// HOOK-001: what cannot be read or decided blocks the call.
func TestServe_FailsClosed(t *testing.T) {
	ok := &judge{}
	for name, r := range map[string]Reply{
		"garbage":           Serve(t.Context(), []byte("hello"), ok),
		"nothing":           Serve(t.Context(), nil, ok),
		"no event":          Serve(t.Context(), []byte(`{"tool_name": "Bash"}`), ok),
		"no input":          Serve(t.Context(), question("PreToolUse", "Bash", `"ls"`), ok),
		"no command":        Serve(t.Context(), question("PreToolUse", "Bash", `{"cmd": "ls"}`), ok),
		"an invalid path":   Serve(t.Context(), question("PreToolUse", "Read", `{"file_path": "a\u0000b"}`), ok),
		"a broken patch":    Serve(t.Context(), question("PreToolUse", "apply_patch", `{"command": "*** Begin"}`), ok),
		"a gate that fails": Serve(t.Context(), question("PreToolUse", "Bash", `{"command": "ls"}`), &judge{err: errors.New("disk full")}),
	} {
		if r.Code != 2 || r.Stdout != "" || !strings.Contains(r.Stderr, "the call is blocked") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzServe(f *testing.F) {
	f.Add(question("PreToolUse", "Bash", `{"command": "ls"}`))
	f.Add(question("BeforeTool", "shell", `{"command": ["a"]}`))
	f.Add(question("PermissionRequest", "apply_patch", `{"command": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := Serve(t.Context(), in, &judge{d: tool.Decision{Verdict: tool.Deny, By: "rule x"}})
		if r.Stdout != "" && !json.Valid([]byte(r.Stdout)) || r.Code != 0 && r.Code != 2 {
			t.Fatalf("%+v", r)
		}
	})
}
