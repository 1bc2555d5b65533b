//go:build unix

package tackle_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/toolbox/hook"
)

// settings is a settings file as somebody wrote it for Claude Code, with hooks in the ways that its users write them.
const settings = `{
  "permissions": {"allow": ["Bash(npm run lint)"], "deny": ["Read(./.env)"]},
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit|MultiEdit|Write",
        "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/protect.sh", "timeout": 20}]
      },
      {
        "matcher": "Read",
        "hooks": [{"type": "command", "command": "cat >> \"$CLAUDE_PROJECT_DIR\"/reads.log; echo >> \"$CLAUDE_PROJECT_DIR\"/reads.log"}]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Write",
        "hooks": [{"type": "command", "command": "if grep -q 'tool_response' ; then echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PostToolUse\", \"additionalContext\": \"formatted\"}}'; fi"}]
      }
    ]
  }
}`

// protect is a hook script as it is written for Claude Code: exit code 2 blocks, its standard error is for the model.
const protect = `#!/bin/sh
input=$(cat)
case "$input" in
*'"file_path":"'*package-lock.json'"'*|*'"file_path":"'*/generated/*)
  echo "this file is made by a tool; change its source" >&2
  exit 2;;
*'"new_string":"HANG'*) sleep 1000;;
*'"new_string":"FIX'*)
  echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"file_path": "a.txt", "old_string": "one", "new_string": "FIXED"}}}';;
esac
exit 0
`

func hooked(t *testing.T, log *bytes.Buffer) (*place, *tackle.Box) {
	t.Helper()
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".claude/hooks/protect.sh": protect})
	if err := os.Chmod(filepath.Join(p.dir, "ws/.claude/hooks/protect.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.put("config/tackle/hooks.json", settings)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	cfg := tackle.Config{}
	if log != nil {
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	return p, p.open(cfg, true)
}

// P10: scripts and settings that were written for Claude Code work as they are.
func TestP10_ClaudeCodeHooks(t *testing.T) {
	p, box := hooked(t, nil)
	refused := map[string]any{"path": "web/package-lock.json", "content": "{}"}
	res := call(t, box, "write_file", refused)
	if res.Denied == nil || !strings.Contains(res.Text(), "this file is made by a tool; change its source") || p.get("ws/web/package-lock.json") != "(absent)" {
		t.Errorf("got %s", res.Text())
	}
	if res := call(t, box, "write_file", map[string]any{"file_path": "src/generated/x.go", "content": "x"}); res.Denied == nil { // an old spelling
		t.Errorf("got %s", res.Text())
	}
	if res := call(t, box, "apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: generated/y\n+x\n*** End Patch\n"}); res.Denied == nil || p.get("ws/a.txt") != "one\n" {
		t.Errorf("a patch passes by the guard: %s", res.Text())
	}
	res = call(t, box, "write_file", map[string]any{"path": "b.txt", "content": "x"})
	if !res.OK() || !strings.Contains(res.Text(), "formatted") {
		t.Errorf("got %s", res.Text())
	}
	res = call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "FIX me"})
	if !res.OK() || p.get("ws/a.txt") != "FIXED\n" {
		t.Errorf("%s; the file is %q", res.Text(), p.get("ws/a.txt"))
	}
	if res := call(t, box, "read_file", map[string]any{"path": "a.txt"}); !res.OK() {
		t.Errorf("got %s", res.Text())
	}
	if log := p.get("ws/reads.log"); !strings.Contains(log, `"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"`+filepath.Join(p.dir, "ws/a.txt")) {
		t.Errorf("the hook read %s", log)
	}
}

// HOOK-002: what a call holds reaches a hook on standard input only.
func TestHOOK002_NoInterpolation(t *testing.T) {
	p, box := hooked(t, nil)
	if res := call(t, box, "write_file", map[string]any{"path": "$(touch CANARY)`touch CANARY`", "content": "x"}); !res.OK() {
		t.Errorf("got %s", res.Text())
	}
	if p.get("ws/CANARY") != "(absent)" {
		t.Error("an argument was run")
	}
}

// HOOK-003: a file of hooks that changes meanwhile does not count until the next start, and that is said.
func TestHOOK003_Snapshot(t *testing.T) {
	var log bytes.Buffer
	p, box := hooked(t, &log)
	p.put("config/tackle/hooks.json", "{}")
	if res := call(t, box, "write_file", map[string]any{"path": "generated/x", "content": "x"}); res.Denied == nil {
		t.Errorf("the guard is gone: %s", res.Text())
	}
	if !strings.Contains(log.String(), "the file of hooks changed") {
		t.Errorf("no warning: %s", log.String())
	}
}

// SELF-013, SELF-014, HOOK-001: the hooks of a project run only after a person has trusted their exact content; a file that
// cannot be read is loud.
func TestSELF013_ProjectHooks(t *testing.T) {
	const canary = `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch \"$CLAUDE_PROJECT_DIR\"/CANARY"}]}]}}`
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".tackle/hooks.json": canary})
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	read := func(box *tackle.Box) string {
		call(t, box, "read_file", map[string]any{"path": "a.txt"})
		return p.get("ws/CANARY")
	}
	box := p.open(tackle.Config{}, true)
	if read(box) != "(absent)" {
		t.Error("the hook of an untrusted project ran")
	}
	if notes := strings.Join(box.Notes(), "\n"); !strings.Contains(notes, "do not run until the project is trusted") {
		t.Errorf("notes: %s", notes)
	}
	if path, err := box.TrustProject(); err != nil || path != filepath.Join(p.dir, "ws/.tackle/hooks.json") {
		t.Fatal(path, err)
	}
	if read(p.open(tackle.Config{}, true)) != "" {
		t.Error("the hook of a trusted project does not run")
	}
	if err := os.Remove(filepath.Join(p.dir, "ws/CANARY")); err != nil {
		t.Fatal(err)
	}
	p.put("ws/.tackle/hooks.json", canary+"\n")
	if read(p.open(tackle.Config{}, true)) != "(absent)" {
		t.Error("the hook ran after its file changed")
	}
	p.put("config/tackle/hooks.json", `{"hooks": {`)
	if _, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(p.dir, "ws"), StateDir: filepath.Join(p.dir, "state")}); err == nil || !strings.Contains(err.Error(), "hooks.json:1:") {
		t.Errorf("a broken file: %v", err)
	}
}

// The hooks of a person are configuration: no rule lets an agent write them.
func TestHooksAreGuarded(t *testing.T) {
	p, _ := hooked(t, nil)
	box := p.open(tackle.Config{Rules: []permission.Rule{{Permission: "*", Pattern: "/**"}, {Permission: "*", Pattern: "**"}}}, true)
	for _, path := range []string{filepath.Join(p.dir, "config/tackle/hooks.json"), ".tackle/hooks.json"} {
		if res := call(t, box, "write_file", map[string]any{"path": path, "content": "{}"}); res.Denied == nil || !strings.Contains(res.Denied.Decision.By, "guard config") {
			t.Errorf("%s: %s", path, res.Text())
		}
	}
}

// SELF-001, SELF-002: what a person's hooks and servers are is guarded as a whole, also what is not there yet, and so are the
// scripts that hooks run: no rule lets an agent change what guards it.
func TestHookProgramsAreGuarded(t *testing.T) {
	p, _ := hooked(t, nil)
	p.put("ws/scripts/guard.sh", "exit 0\n")
	p.put("ws/scripts/other.sh", "exit 0\n")
	p.put("ws/with space/g.py", "")
	p.put("lib/real.sh", "exit 0\n")
	if err := os.Symlink(filepath.Join(p.dir, "lib/real.sh"), filepath.Join(p.dir, "ws/link.sh")); err != nil {
		t.Fatal(err)
	}
	p.put("config/tackle/hooks.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "command", "command": "test -n \"$X\" || ./scripts/guard.sh --fast"},
		{"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR\"/with\\ space/g.py"},
		{"type": "command", "command": "/bin/sh", "args": ["link.sh"]}]}]}}`)
	box := p.open(tackle.Config{Rules: []permission.Rule{{Permission: "*", Pattern: "/**"}, {Permission: "*", Pattern: "**"}}}, true)
	for _, path := range []string{"scripts/guard.sh", "scripts/./guard.sh", "with space/g.py", "link.sh", filepath.Join(p.dir, "lib/real.sh"),
		filepath.Join(p.dir, "config/tackle/mcp.json"), filepath.Join(p.dir, "config/tackle/new/x"), filepath.Join(p.dir, "config/tackle/config.yaml")} {
		if res := call(t, box, "write_file", map[string]any{"path": path, "content": "{}"}); res.Denied == nil || !strings.Contains(res.Denied.Decision.By, "guard config") {
			t.Errorf("%s: %s", path, res.Text())
		}
	}
	if res := call(t, box, "move_file", map[string]any{"path": "scripts", "to": "moved"}); res.Denied == nil {
		t.Errorf("the folder of a hook's script is moved away: %s", res.Text())
	}
	if res := call(t, box, "write_file", map[string]any{"path": "scripts/other.sh", "content": "x"}); !res.OK() {
		t.Error(res.Text())
	}
}

// HOOK-001, HOOK-005: what real programs do wrong.
func TestHookRunner(t *testing.T) {
	run := func(p hook.Process, limit time.Duration) (hook.Output, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		if p.Limit == 0 {
			p.Limit = 100
		}
		return tackle.HookRunner{}.Run(ctx, p)
	}
	out, err := run(hook.Process{Script: "cat; echo err >&2; echo $A; exit 3", Stdin: []byte("in\n"), Env: []string{"A=b"}}, time.Minute)
	if err != nil || string(out.Stdout) != "in\nb\n" || string(out.Stderr) != "err\n" || out.Code != 3 || out.Cut {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := run(hook.Process{Argv: []string{"echo", "$HOME", "a b"}}, time.Minute); err != nil || string(out.Stdout) != "$HOME a b\n" {
		t.Errorf("%q %v", out.Stdout, err)
	}
	if out, err := run(hook.Process{Script: "head -c 100000 /dev/zero"}, time.Minute); err != nil || !out.Cut || len(out.Stdout) != 100 {
		t.Errorf("%d bytes, cut %t, %v", len(out.Stdout), out.Cut, err)
	}
	if _, err := run(hook.Process{Argv: []string{"/no/such/program"}}, time.Minute); err == nil {
		t.Error("a program that is not there ran")
	}
	if out, err := run(hook.Process{Script: "kill -9 $$"}, time.Minute); err == nil {
		t.Errorf("a crash is no failure: %+v", out)
	}
	dir := t.TempDir()
	start := time.Now()
	if _, err := run(hook.Process{Script: "(sleep 1000; touch late) & sleep 1000", Dir: dir}, 200*time.Millisecond); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("a hook that hangs: %v after %v", err, time.Since(start))
	}
	start = time.Now()
	out, err = run(hook.Process{Script: "sleep 1000 & echo $!", Dir: dir}, time.Minute)
	child, perr := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil || perr != nil || time.Since(start) > 20*time.Second {
		t.Fatalf("a child that keeps the pipes: %+v %v after %v", out, err, time.Since(start))
	}
	if p, err := os.FindProcess(child); err == nil {
		p.Kill() // what a hook leaves behind is its own; this one is ours
	}
}

// P11: the ledger says that a hook refused a call.
func TestP11_HookInTheLedger(t *testing.T) {
	_, box := hooked(t, nil)
	call(t, box, "write_file", map[string]any{"path": "generated/x", "content": "x"})
	entries, err := box.Ledger(t.Context(), 0, 0)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%+v %v", entries, err)
	}
	if e := entries[0]; e.Decision != "deny" || !strings.HasPrefix(e.By, "hook ") || !strings.Contains(e.Reason, "made by a tool") {
		t.Errorf("%+v", e)
	}
}
