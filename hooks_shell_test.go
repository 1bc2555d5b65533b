//go:build linux

package tackle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission/ask"
)

// P10, HOOK-004: a settings file with a guard for Bash, as it is written for Claude Code, guards our shell: its names and
// units, its "if", its answers in JSON, what it rewrites. Its allow does not answer the guard of unconfined commands.
func TestP10_ClaudeCodeBashHook(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".claude/hooks/bash.sh": `#!/bin/sh
input=$(cat)
echo "$input" >> "$CLAUDE_PROJECT_DIR/seen.log"
case "$input" in
*'git push'*)
  echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "push from the terminal"}}';;
*'"command":"git log"'*)
  echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "touch made && echo git rewritten"}}}';;
esac
exit 0
`})
	if err := os.Chmod(filepath.Join(p.dir, "ws/.claude/hooks/bash.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.put("config/tackle/hooks.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "command", "command": "$CLAUDE_PROJECT_DIR/.claude/hooks/bash.sh", "timeout": 20, "if": "Bash(git *)"}]}]}}`)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	var shown []string
	box := p.open(tackle.Config{Faces: []ask.Face{ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) {
		shown = append(shown, r.View.Targets[0].Value)
		return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "ada", Face: "test"}}, nil
	})}}, true)
	for _, line := range []string{"git push", "ls && git push -f", "FOO=1 git push", "timeout 5 git push", "sh -c 'git push'"} {
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied == nil || !strings.Contains(res.Text(), "push from the terminal") {
			t.Errorf("%s: %s", line, res.Text())
		}
	}
	if shown != nil {
		t.Errorf("a person was asked about what a hook denies: %q", shown)
	}
	res := call(t, box, "shell", map[string]any{"command": "git log", "timeout": 90, "description": "look"})
	if !res.OK() || !strings.Contains(res.Text(), "git rewritten") || len(shown) != 1 || shown[0] != "touch made && echo git rewritten" {
		t.Errorf("rewritten: shown %q, %s", shown, res.Text())
	}
	seen := p.get("ws/seen.log")
	for _, part := range []string{`"tool_name":"Bash"`, `"command":"git log"`, `"timeout":90000`, `"description":"look"`, `"hook_event_name":"PreToolUse"`, `"permission_mode":"default"`, `"cwd":"` + p.dir + `/ws"`} {
		if !strings.Contains(seen, part) {
			t.Errorf("%s is not in what the hook got: %s", part, seen)
		}
	}
	if res := call(t, box, "shell", map[string]any{"command": "cat a.txt"}); !res.OK() || strings.Count(p.get("ws/seen.log"), "\n") != 6 {
		t.Errorf("a command that is no git: %s; the hook ran %d times", res.Text(), strings.Count(p.get("ws/seen.log"), "\n"))
	}
}
