//go:build linux

package attacks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/imports"
	"github.com/tackle-dev/tackle/tool"
)

// POL-013, POL-021, SELF-009, SELF-010: there is no list of commands that are forbidden, and none that a prefix lets out of
// confinement. While commands run unconfined, each that does more than look waits for a person, in every posture, whatever
// rules allow by prefix and whatever single commands are denied; with nobody there, none runs. Once a person says yes it
// does, so the lines are not refused for another reason.
func TestPOL013_CommandsWaitForAPerson(t *testing.T) {
	allow := `{"permissions": {"allow": ["Bash(echo:*)", "Bash(mv:*)", "Bash(mkdir:*)", "Bash(python3:*)", "Bash(git:*)", "Bash(cp:*)", "Bash(tee:*)"], "deny": ["Bash(curl:*)", "Bash(wget:*)"]}}`
	rules, _, err := imports.Claude([]byte(allow))
	if err != nil || len(rules) < 5 {
		t.Fatal(rules, err)
	}
	lines := map[string]string{ // line → file that it leaves, seen from the workspace
		`echo x > ../canary`:                                                "../canary",
		`python3 -c 'open("../canary","w").write("x")'`:                     "../canary",
		`perl -e 'open(F,">../canary");print F "x"'`:                        "../canary",
		`cp a.txt ../canary`:                                                "../canary",
		`tee ../canary < a.txt`:                                             "../canary",
		`bash -c 'exec 3<>/dev/tcp/127.0.0.1/9; true'; echo x > canary`:     "canary",
		`env python3 -c 'import urllib.request' && echo x > canary`:         "canary",
		`git clone -q ./.git copied 2>/dev/null; echo x > canary`:           "canary",
		`openssl version && echo x > canary`:                                "canary",
		`mv .git x && mkdir -p .git/hooks && echo evil > .git/hooks/canary`: ".git/hooks/canary",
		`mkdir -p .claude && echo '{"hooks":{}}' > .claude/settings.json`:   ".claude/settings.json",
		`mkdir -p .tackle && echo 'posture: auto' > .tackle/config.yaml`:    ".tackle/config.yaml",
	}
	for line, file := range lines {
		for _, posture := range []string{"plan", "guarded", "auto", "ci"} {
			p := newPlace(t, map[string]string{"ws/.git/HEAD": "ref: refs/heads/main\n"})
			canary := filepath.Join(p.dir, "ws", file)
			box := p.open(tackle.Config{Posture: posture, Rules: rules})
			res := call(t, box, "shell", map[string]any{"command": line})
			if res.Denied == nil {
				t.Errorf("posture %s, nobody there: %s: %s", posture, line, res.Text())
			}
			if _, err := os.Lstat(canary); err == nil {
				t.Fatalf("posture %s: %s left %s", posture, line, file)
			}
		}
		p := newPlace(t, map[string]string{"ws/.git/HEAD": "ref: refs/heads/main\n"})
		box := p.open(tackle.Config{Rules: rules, Faces: always(t, nil)})
		if res := call(t, box, "shell", map[string]any{"command": line}); res.Denied != nil {
			t.Errorf("a person says yes: %s: %s", line, res.Text())
		}
		if _, err := os.Lstat(filepath.Join(p.dir, "ws", file)); err != nil {
			t.Errorf("a person says yes: %s does not do what it should: %v", line, err)
		}
	}
	p := newPlace(t, nil)
	box := p.open(tackle.Config{Rules: append(rules, permission.Rule{Permission: "shell", Pattern: `["echo", "free"]`}), Faces: always(t, nil)})
	if res := call(t, box, "shell", map[string]any{"command": "echo free"}); !res.OK() || !strings.Contains(res.Text(), "free") {
		t.Errorf("what a rule spells out: %s", res.Text())
	}
	if res := call(t, box, "shell", map[string]any{"command": "true && curl -s http://127.0.0.1:9/"}); res.Denied == nil || res.Denied.Decision.Verdict != tool.Deny || res.Denied.Decision.Person {
		t.Errorf("a denied command is asked for: %s", res.Text())
	}
}
