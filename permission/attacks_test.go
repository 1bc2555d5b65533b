package permission

import (
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

// The cases of the attack corpus that rules over paths can answer, by their ids. links are those of resolve.
func TestAttacks(t *testing.T) {
	links := map[string]string{
		root + "/link": "/etc/passwd", root + "/d": "/tmp/out", root + "/ok.txt": root + "/.env", root + "/p": "/proc/self/root",
		"/proc/self/root": "/", root + "/hooks": root + "/.git/hooks", root + "/late": root + "/.claude",
	}
	const wide = "allow edit **\nallow edit *\nallow read_file *" // a person who allowed everything
	tests := []struct {
		id, rules, path string
		effect          tool.Effect
		want            tool.Verdict
	}{
		{"FS-001", "allow read_file **", "/w/ws_evil/secret", tool.Read, tool.Ask},
		{"FS-001", "allow read_file **", "../ws_evil/secret", tool.Read, tool.Ask},
		{"FS-002", "allow * **", "link", tool.Read, tool.Ask},
		{"FS-002", "allow * **", "link", tool.Write, tool.Ask},
		{"FS-003", "allow * **", "d/new.txt", tool.Write, tool.Ask},
		{"FS-005", "allow * **", "a/./../../x", tool.Read, tool.Ask},
		{"FS-005", "allow * **", "/w/ws//../x", tool.Read, tool.Ask},
		{"FS-006", "deny * ~/.ssh/**", home + "/tmp/../.ssh/id", tool.Read, tool.Deny},
		{"FS-006", "deny * ~/.ssh/**", home + "/./.ssh//id", tool.Read, tool.Deny},
		{"FS-007", "deny * .env", "ok.txt", tool.Read, tool.Deny},
		{"FS-008", wide, ".VSCode/tasks.json", tool.Write, tool.Ask},
		{"FS-008", wide, ".GIT/hooks/pre-commit", tool.Write, tool.Ask},
		{"FS-008", wide, ".Cursor/mcp.json", tool.Write, tool.Ask},
		{"FS-009", wide, "．env", tool.Write, tool.Ask},
		{"FS-009", wide, ".ｇit/config", tool.Write, tool.Ask},
		{"FS-009", wide, ".g\u200dit/config", tool.Write, tool.Ask},
		{"FS-009", "deny * caf\u00e9.txt", "cafe\u0301.txt", tool.Read, tool.Deny},
		{"FS-010", "allow * **", "/proc/self/root/etc/passwd", tool.Read, tool.Ask},
		{"FS-010", "allow * **", "p/etc/x", tool.Write, tool.Ask},
		{"FS-011", "", "/../proc/self/environ", tool.Read, tool.Ask},
		{"FS-011", "allow * /**", "/dev/../proc/1/environ", tool.Read, tool.Ask},
		{"FS-016", "allow * **", "file:///etc/passwd", tool.Read, tool.Allow}, // a literal name inside the root
		{"FS-016", "allow * **", "%2e%2e/x", tool.Read, tool.Allow},
		{"FS-018", "ask edit **\nallow edit src/**", "vendor/x/src/a.txt", tool.Write, tool.Ask},
		{"FS-019", "deny * ~/.aws/", home + "/.aws/credentials", tool.Read, tool.Deny},
		{"FS-020", "allow * **", "/tmp/outside.txt", tool.Write, tool.Ask},
		{"FS-028", wide, ".git/hooks/pre-commit", tool.Write, tool.Ask},
		{"FS-029", wide, ".git::$INDEX_ALLOCATION/config", tool.Write, tool.Ask},
		{"FS-029", wide, "git~1/config", tool.Write, tool.Ask},
		{"SELF-001", wide, ".vscode/settings.json", tool.Write, tool.Ask},
		{"SELF-001", wide, ".tackle/config.yaml", tool.Write, tool.Ask},
		{"SELF-002", wide, ".mcp.json", tool.Write, tool.Ask},
		{"SELF-004", wide, "x.code-workspace", tool.Write, tool.Ask},
		{"SELF-004", wide, ".vscode/launch.json", tool.Write, tool.Ask},
		{"SELF-004", wide, ".idea/runConfigurations/x.xml", tool.Write, tool.Ask},
		{"SELF-005", wide, ".git/config", tool.Write, tool.Ask},
		{"SELF-005", wide, ".git/info/attributes", tool.Write, tool.Ask},
		{"SELF-005", wide, "hooks/pre-commit", tool.Write, tool.Ask}, // through a link
		{"SELF-006", wide, ".git", tool.Write, tool.Ask},
		{"SELF-015", wide, home + "/.bashrc", tool.Write, tool.Ask},
		{"SELF-015", wide, home + "/.ssh/authorized_keys", tool.Write, tool.Ask},
		{"SELF-015", wide, home + "/.config/systemd/user/x.service", tool.Write, tool.Ask},
		{"SELF-016", wide, "AGENTS.md", tool.Write, tool.Ask},
		{"SELF-016", wide, ".claude/skills/x/SKILL.md", tool.Write, tool.Ask},
		{"SELF-017", wide, "late/settings.json", tool.Write, tool.Ask},
		{"SELF-018", wide, state + "/ledger/1", tool.Write, tool.Deny},
		{"SELF-018", wide, state + "/ledger/1", tool.Read, tool.Ask},
		{"POL-010", "allow edit *\nask edit src/**", "src/a", tool.Write, tool.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.path, func(t *testing.T) {
			name := "edit"
			if tt.effect == tool.Read {
				name = "read_file"
			}
			g := gate(t, Options{Layers: user(t, tt.rules)})
			d := decide(t, g, Request{Intent: on(name, tt.effect, resolve(tt.path, links))})
			if d.Verdict != tt.want {
				t.Errorf("got %s by %s (%s), want %s", d.Verdict, d.By, d.Reason, tt.want)
			}
		})
	}
}

// FS-017: a search filters what it looks at by the same rules.
func TestAttacks_Screen(t *testing.T) {
	g := gate(t, Options{Layers: user(t, "deny * .env\ndeny grep internal/**")})
	screen := g.Screen(Request{Intent: &tool.Intent{Tool: "grep", Permission: "grep"}})
	for path, want := range map[string]tool.Verdict{"a.go": tool.Allow, ".env": tool.Deny, "sub/.env": tool.Deny, "internal/x": tool.Deny, "id_rsa": tool.Ask} {
		if got := screen(tool.PathTo(resolve(path, nil), tool.Read)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// POL-002: an allow of one layer does not override the ask of another; POL-014: a rule that is gone is gone in the next
// gate; POL-017: no pattern is slow.
func TestAttacks_Policy(t *testing.T) {
	in := on("edit", tool.Write, resolve("src/a", nil))
	managed := Layer{Name: "managed", Rules: parse(t, "ask edit src/**")}
	if d := decide(t, gate(t, Options{Layers: append(user(t, "allow edit *"), managed)}), Request{Intent: in}); d.Verdict != tool.Ask {
		t.Errorf("POL-002: got %s", d.Verdict)
	}
	ci := Options{Posture: CI, Layers: user(t, "allow edit /srv/**")}
	out := on("edit", tool.Write, resolve("/srv/a", nil))
	if d := decide(t, gate(t, ci), Request{Intent: out}); d.Verdict != tool.Allow {
		t.Fatalf("POL-014: got %s", d.Verdict)
	}
	ci.Layers = nil
	if d := decide(t, gate(t, ci), Request{Intent: out}); d.Verdict != tool.Deny {
		t.Errorf("POL-014: got %s", d.Verdict)
	}
	long := make([]byte, 50_000)
	for i := range long {
		long[i] = 'a'
	}
	slow := gate(t, Options{Layers: user(t, "deny edit *a*a*a*a*a*a*a*a*b/**\ndeny edit **/a*/**/a*/**/b")})
	if d := decide(t, slow, Request{Intent: on("edit", tool.Write, resolve(string(long), nil))}); d.Verdict != tool.Allow {
		t.Errorf("POL-017: got %s", d.Verdict)
	}
}
