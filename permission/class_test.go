package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// P6, field/security.md 5.1: the classes of single paths. One row: path, class of reading, class of writing.
func TestP6_Paths(t *testing.T) {
	const rows = `
src/main.go                         read-in      write-in
/etc/hosts                          read-out     write-out
/w/ws_evil/x                        read-out     write-out
/w/ws                               read-in      write-in
.env                                read-secret  write-protected
sub/.env.local                      read-secret  write-protected
.env.example                        read-in      write-in
.env.local.sample                   read-in      write-in
prod.env                            read-secret  write-protected
.ENV                                read-secret  write-protected
config/id_rsa                       read-secret  write-protected
config/id_rsa.pub                   read-in      write-in
config/id_ed25519_work              read-secret  write-protected
certs/server.pem                    read-secret  write-protected
certs/server.crt                    read-in      write-in
credentials.json                    read-secret  write-protected
src/credentials.go                  read-in      write-in
src/secrets.go                      read-in      write-in
secrets.yaml                        read-secret  write-protected
client_secret_1.json                read-secret  write-protected
terraform.tfstate                   read-secret  write-protected
~/.ssh/config                       read-secret  write-protected
~/.aws/credentials                  read-secret  write-protected
~/.netrc                            read-secret  write-protected
~/.config/gcloud/x.db               read-secret  write-protected
~/.config/gh/hosts.yml              read-secret  write-protected
~/.config/foo-credentials/x         read-secret  write-protected
~/.mozilla/firefox/p/key4.db        read-secret  write-protected
~/.config/google-chrome/Default/x   read-secret  write-protected
~/Library/Application@Support/Google/Chrome/x  read-secret  write-protected
~/.bash_history                     read-secret  write-protected
/etc/shadow                         read-secret  write-protected
/proc/self/environ                  read-secret  write-protected
/proc/1/mem                         read-secret  write-protected
/proc/cpuinfo                       read-out     write-out
.git/hooks/pre-commit               read-in      write-protected
.git/config                         read-in      write-protected
.git                                read-in      write-protected
sub/module/.git                     read-in      write-protected
.gitmodules                         read-in      write-protected
.gitattributes                      read-in      write-protected
.gitignore                          read-in      write-in
.github/workflows/ci.yml            read-in      write-in
.vscode/tasks.json                  read-in      write-protected
.VSCode/tasks.json                  read-in      write-protected
.idea/x                             read-in      write-protected
dev.code-workspace                  read-in      write-protected
.devcontainer/devcontainer.json     read-in      write-protected
.cursor/mcp.json                    read-in      write-protected
.claude/settings.json               read-in      write-protected
.codex/config.toml                  read-in      write-protected
.gemini/x                           read-in      write-protected
.opencode/x                         read-in      write-protected
.mcp.json                           read-in      write-protected
AGENTS.md                           read-in      write-protected
docs/CLAUDE.md                      read-in      write-protected
.envrc                              read-in      write-protected
.npmrc                              read-in      write-protected
.ripgreprc                          read-in      write-protected
.husky/pre-push                     read-in      write-protected
~/.bashrc                           read-out     write-protected
~/.zshrc                            read-out     write-protected
~/.config/git/config                read-out     write-protected
~/.config/systemd/user/x.service    read-out     write-protected
~/.local/bin/ls                     read-out     write-protected
~/.kube/config                      read-secret  write-protected
.tackle/config.yaml                 read-in      config
~/.config/tackle/config.yaml        read-out     config
~/.local/state/tackle/ledger        read-secret  write-protected
~/.local/state/tackle/artifacts/a1  read-in      write-protected
`
	n := 0
	for row := range strings.Lines(rows) {
		f := strings.Fields(row)
		if len(f) != 3 {
			continue
		}
		n++
		path := strings.ReplaceAll(strings.Replace(f[0], "~", home, 1), "@", " ")
		for i, e := range []tool.Effect{tool.Read, tool.Write} {
			got := Classify(on("x", e, resolve(path, nil)), facts())
			if diff := cmp.Diff([]Class{Class(f[i+1])}, got); diff != "" {
				t.Errorf("%s %s: -want +got\n%s", e, f[0], diff)
			}
		}
	}
	if n < 60 {
		t.Fatalf("only %d rows were found", n)
	}
}

// P6: a root counts for the names below it, and not for itself.
func TestP6_RootNames(t *testing.T) {
	for _, tt := range []struct {
		root, path string
		want       Class
	}{
		{home + "/.config", "/gcloud/x", ReadSecret},
		{home + "/.config", "/app/x", ReadIn},
		{home + "/.ssh", "/config", ReadIn},
		{home, "/.ssh/config", ReadSecret},
		{"/", "/srv/x", ReadIn},
		{"/", "/etc/shadow", ReadSecret},
	} {
		f := facts()
		f.Roots = []string{tt.root}
		value := strings.TrimPrefix(tt.root+tt.path, "/")
		in := &tool.Intent{Targets: []tool.Target{{Kind: tool.PathTarget, Effect: tool.Read, Value: "/" + strings.TrimPrefix(value, "/")}}}
		if diff := cmp.Diff([]Class{tt.want}, Classify(in, f)); diff != "" {
			t.Errorf("root %s, %s: -want +got\n%s", tt.root, tt.path, diff)
		}
	}
}

// P6: targets that are no paths, and effects without targets.
func TestP6_OtherTargets(t *testing.T) {
	f := facts()
	f.Command = func(t tool.Target) Class {
		if strings.HasPrefix(t.Value, "ls") {
			return ExecReadonly
		}
		return ExecSandboxed
	}
	f.Known = func(t tool.Target) bool { return strings.HasPrefix(t.Value, "https://known/") }
	f.Trusted = func(name string) bool { return name == "docs_search" }
	target := func(kind tool.TargetKind, e tool.Effect, value string) *tool.Intent {
		return &tool.Intent{Targets: []tool.Target{{Kind: kind, Effect: e, Value: value}}, Effects: []tool.Effect{e}}
	}
	tests := []struct {
		name  string
		in    *tool.Intent
		facts Facts
		want  []Class
	}{
		{"command, nothing known", target(tool.CommandTarget, tool.Execute, "make"), facts(), []Class{ExecHost}},
		{"A7 plan", target(tool.PathTarget, tool.Write, root+"/.tackle/plans/a/b.md"), facts(), []Class{WritePlan}},
		{"A7 plan, not Markdown", target(tool.PathTarget, tool.Write, root+"/.tackle/plans/b.sh"), facts(), []Class{ConfigFile}},
		{"A7 plan, in another spelling", target(tool.PathTarget, tool.Write, root+"/.Tackle/plans/b.md"), facts(), []Class{ConfigFile}},
		{"A7 plan, below another folder", target(tool.PathTarget, tool.Write, root+"/sub/.tackle/plans/b.md"), facts(), []Class{ConfigFile}},
		{"A7 plan with a protected name", target(tool.PathTarget, tool.Write, root+"/.tackle/plans/AGENTS.md"), facts(), []Class{ConfigFile}},
		{"A7 no plan but a skill", target(tool.PathTarget, tool.Write, root+"/.tackle/plans/x/Skill.md"), facts(), []Class{ConfigFile}},
		{"A7 hidden plan", target(tool.PathTarget, tool.Write, root+"/.tackle/plans/.x/b.md"), facts(), []Class{ConfigFile}},
		{"A7 the folder of plans", target(tool.PathTarget, tool.Write, root+"/.tackle/plans"), facts(), []Class{ConfigFile}},
		{"command that looks", target(tool.CommandTarget, tool.Execute, "ls | head"), facts(), []Class{ExecReadonly}},
		{"command in parts", target(tool.CommandTarget, tool.Execute, "make && ls"), f, []Class{ExecReadonly, ExecSandboxed}},
		{"command that cannot be read", target(tool.CommandTarget, tool.Execute, "ls 'x"), facts(), []Class{ExecHost}},
		{"no command", target(tool.CommandTarget, tool.Execute, "# x"), facts(), []Class{ExecHost}},
		{"command in the sandbox", target(tool.CommandTarget, tool.Execute, "make"), f, []Class{ExecSandboxed}},
		{"known host", target(tool.URLTarget, tool.Network, "https://known/a"), f, []Class{NetKnown}},
		{"new host", target(tool.URLTarget, tool.Network, "https://new/a"), f, []Class{NetNew}},
		{"sending", target(tool.URLTarget, tool.Write, "https://known/a"), f, []Class{External}},
		{"trusted reader", target(tool.ToolTarget, tool.Read, "docs_search"), f, []Class{ReadIn}},
		{"POL-016 reader of unknown word", target(tool.ToolTarget, tool.Read, "delete_all"), f, []Class{External}},
		{"trusted, but writing", target(tool.ToolTarget, tool.Write, "docs_search"), f, []Class{External}},
		{"effects without targets", &tool.Intent{Effects: []tool.Effect{tool.Interact, tool.Spawn}}, f, []Class{ReadIn}},
		{"nothing at all", &tool.Intent{}, f, []Class{ReadIn}},
		{"execute without a target", &tool.Intent{Effects: []tool.Effect{tool.Execute}}, f, []Class{ExecHost}},
		{"network without a target", &tool.Intent{Effects: []tool.Effect{tool.Network}}, f, []Class{NetNew}},
		{"an effect that nobody knows", &tool.Intent{Effects: []tool.Effect{"teleport"}}, f, []Class{External}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Classify(tt.in, tt.facts)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// P7: the table of field/security.md 5.1. What only a rule can allow is denied by the posture.
func TestP7_Postures(t *testing.T) {
	const table = `
read-in          allow allow allow allow
exec-readonly    allow allow allow allow
read-out         ask   ask   ask   deny
read-secret      deny  ask   ask   deny
write-in         deny  allow allow allow
write-plan       allow allow allow allow
write-protected  deny  ask   ask   deny
config           deny  ask   ask   deny
write-out        deny  ask   ask   deny
exec-sandboxed   deny  allow allow allow
exec-host        deny  ask   ask   deny
net-known        allow allow allow deny
net-new          ask   ask   ask   deny
external         deny  ask   ask   deny
of-tomorrow      ask   ask   ask   deny
`
	seen := map[Class]bool{}
	for row := range strings.Lines(table) {
		f := strings.Fields(row)
		if len(f) != 5 {
			continue
		}
		seen[Class(f[0])] = true
		for i, p := range Postures() {
			if got := p.Verdict(Class(f[0])); got.String() != f[i+1] {
				t.Errorf("posture %s, class %s: got %s, want %s", p, f[0], got, f[i+1])
			}
		}
	}
	for _, c := range Classes() {
		if !seen[c] {
			t.Errorf("class %s is not in the table", c)
		}
	}
	if Posture("").Verdict(ReadOut) != Guarded.Verdict(ReadOut) || Posture("").String() != "guarded" {
		t.Error("the zero posture is not guarded")
	}
	if Posture("x").Check() == nil || Posture("").Check() != nil || CI.Check() != nil {
		t.Error("Check accepts the wrong postures")
	}
}

// P7: posture auto reads listed directories without asking; guarded does not.
func TestP7_AutoReadsListedRoots(t *testing.T) {
	f := facts()
	f.Readable = []string{"/srv/lib"}
	for _, tt := range []struct {
		posture Posture
		path    string
		want    tool.Verdict
	}{
		{Auto, "/srv/lib/a", tool.Allow}, {Auto, "/srv/library/a", tool.Ask}, {Auto, "/srv/lib/.env", tool.Ask},
		{Guarded, "/srv/lib/a", tool.Ask}, {CI, "/srv/lib/a", tool.Deny},
	} {
		g := gate(t, Options{Posture: tt.posture, Facts: f})
		if d := decide(t, g, Request{Intent: on("read_file", tool.Read, resolve(tt.path, nil))}); d.Verdict != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.posture, tt.path, d.Verdict, tt.want)
		}
	}
}

func TestFactsOf(t *testing.T) {
	got := FactsOf(host.Info{Roots: []host.Root{{Name: "a", Path: "/a"}, {Name: "b", Path: "/b"}}, Home: "/h", StateDir: "/s"})
	if diff := cmp.Diff(Facts{Roots: []string{"/a", "/b"}, Home: "/h", State: []string{"/s"}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFold(t *testing.T) {
	for _, tt := range [][2]string{
		{".git", ".git"}, {".GIT", ".git"}, {"．git", ".git"}, {".g\u200cit", ".git"}, {".ｇｉｔ", ".git"},
		{"e\u0301", "é"}, {"ﬁle", "file"}, {"K", "k"},
	} {
		if got := fold(tt[0]); got != tt[1] {
			t.Errorf("fold(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
	for _, tt := range [][2]string{{".git.", ".git"}, {".git  ", ".git"}, {".git::$index", ".git"}, {"git~1", ".git"}, {"..", ".."}, {"a:b", "a"}} {
		if got := foldName(tt[0]); got != tt[1] {
			t.Errorf("foldName(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

// P6, F1: kept output is read like the workspace unless a rule denies it, under whatever name it is read: by its id, by the
// folder that it lies in, for each permission.
func TestP6_Artifacts(t *testing.T) {
	read := func(perm, id string) *tool.Intent {
		return &tool.Intent{Tool: perm, Permission: perm, Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.ArtifactTo(id)}}
	}
	for _, p := range Postures() {
		if d := decide(t, gate(t, Options{Posture: p}), Request{Intent: read("read_file", "a7k2m9x")}); d.Verdict != tool.Allow {
			t.Errorf("posture %s: %s by %s", p, d.Verdict, d.By)
		}
	}
	for _, tt := range []struct {
		rule, perm, id string
		want           tool.Verdict
	}{
		{"deny read_file artifact:*", "read_file", "a7k2m9x", tool.Deny},
		{"deny read_file artifact:*", "artifact", "a7k2m9x", tool.Allow},
		{"deny * artifact:*", "artifact", "a7k2m9x", tool.Deny},
		{"deny read_file artifact:a7*", "read_file", "A7K2M9X", tool.Deny},
		{"deny read_file artifact:a7*", "read_file", "b7k2m9x", tool.Allow},
		{"ask read_file artifact:*", "read_file", "a7k2m9x", tool.Ask},
		{"deny read_file " + facts().Artifacts + "/**", "read_file", "a7k2m9x", tool.Deny},
		{"deny read_file *", "read_file", "a7k2m9x", tool.Deny},
		{"deny read_file src/**", "read_file", "a7k2m9x", tool.Allow},
		{"deny read_file artifact:*\nallow read_file artifact:a7k2m9x", "read_file", "a7k2m9x", tool.Allow},
		{"allow * *", "read_file", "../../etc/passwd", tool.Ask},
		{"allow * *", "read_file", "..", tool.Ask},
		{"allow * *", "read_file", "", tool.Ask},
	} {
		for _, f := range []Facts{facts(), {Roots: facts().Roots}} {
			if f.Artifacts == "" && strings.Contains(tt.rule, "/**") {
				continue
			}
			if d := decide(t, gate(t, Options{Facts: f, Layers: user(t, tt.rule)}), Request{Intent: read(tt.perm, tt.id)}); d.Verdict != tt.want {
				t.Errorf("%q, %s of %q: %s by %s (%s), want %s", tt.rule, tt.perm, tt.id, d.Verdict, d.By, d.Reason, tt.want)
			}
		}
	}
}
