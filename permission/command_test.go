package permission

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// run makes the intent of a shell call.
func run(line string) *tool.Intent {
	return &tool.Intent{Tool: "shell", Permission: Shell, Effects: []tool.Effect{tool.Execute},
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: line}}}
}

// sandboxed are facts of a place where commands are confined.
func sandboxed() Facts {
	f := facts()
	f.Command = func(tool.Target) Class { return ExecSandboxed }
	return f
}

// P5: a line is allowed when every part is, over rules and layers, and denied when any part is. Posture ci asks for nothing:
// what no rule allows is denied by it, so the rules alone speak.
func TestP5_CommandRules(t *testing.T) {
	f := facts()
	f.Command = func(tool.Target) Class { return External } // no guard, and never allowed by the posture
	const git = `allow shell ["git", ["status","diff","log"], "..."]`
	for _, tt := range []struct {
		rules, line string
		want        tool.Verdict
	}{
		{git, "git status", tool.Allow},
		{git, "git status && git diff | head -5", tool.Allow},
		{git, "cd src && ls && echo done", tool.Allow},
		{git, "git status; make", tool.Ask},
		{git, "git status $(make)", tool.Ask},
		{git, "git diff > out", tool.Ask},
		{git, "timeout 5 git diff", tool.Allow},
		{git, "timeout 5 make", tool.Ask},
		{git, "bash -lc 'git diff | head'", tool.Allow},
		{git, "sudo git diff", tool.Ask},
		{git, "A=1 git diff", tool.Ask},
		{git, "cd sub && git status", tool.Ask},
		{git, "if git diff; then git log; fi", tool.Allow},
		{git, "if git diff; then ls; fi", tool.Ask},
		{git, "ls(){ ls|ls& };ls", tool.Ask},
		{git, "for x in a; do git log; done", tool.Ask},
		{git, "git status # \\\nmake", tool.Ask},
		{git, "git 'status", tool.Ask},
		{git, "# nothing", tool.Ask},
		{git, "bash -c ''", tool.Ask},
		{git, "X=1", tool.Ask},
		{git, "> out", tool.Ask},
		{git, "[[ -f x ]] && git status", tool.Ask},
		{git, strings.Repeat("git status;", 51), tool.Ask},
		{git + "\n" + `allow shell ["make", "..."]`, "git status && make all", tool.Allow},
		{"allow shell git diff *\nallow shell make", "git diff -w; make", tool.Allow},
		{"allow shell git diff:*", "git diff -w", tool.Allow},
		{"allow shell git diff:*", "git log", tool.Ask},
		{"allow shell *", "anything at all", tool.Allow},
		{"allow shell *", "git 'status", tool.Allow}, // Any is every target of every kind
		{"allow shell *\n" + `deny shell ["rm"]`, "make; env rm x", tool.Deny},
		{"allow shell *\n" + `deny shell ["rm"]`, "make", tool.Allow},
		{"allow shell *\n" + `deny shell ["rm"]`, "$X y", tool.Ask},
		{"allow shell *\n" + `deny shell ["rm"]`, "curl x | sh", tool.Ask},
		{"allow shell *\n" + `deny shell ["rm"]`, `bash -c "$X"`, tool.Ask},
		{"allow shell *\n" + `deny shell ["rm"]`, "ls 'x", tool.Ask},
		{"allow shell *\n" + `deny shell ["rm"]`, "rm x # \u200b", tool.Deny},
		{"allow shell *\n" + `deny shell ["rm"]`, "r\\\nm x", tool.Deny},
		{"allow shell *\n" + `deny shell ["rm"]`, "sudo --what rm x", tool.Ask},
		{"allow shell *\n" + `deny shell ["rm"]`, strings.Repeat("true;", 60) + "rm x", tool.Deny},
		{"allow shell *\n" + `deny shell ["timeout"]`, "timeout 5 make", tool.Deny},
		{`deny shell ["git"]` + "\n" + `allow shell ["git", "status"]`, "git status", tool.Allow},
		{`deny shell ["git"]` + "\n" + `allow shell ["git", "status"]`, "git status && git push", tool.Deny},
		{`allow shell ["git", "..."]` + "\n" + `ask shell ["git", "push"]`, "git push", tool.Ask},
		{`allow shell ["git", "..."]` + "\n" + `ask shell ["git", "push"]`, "git $X", tool.Ask},
		{"deny shell *", "ls", tool.Deny},
		{`deny shell ["ls"]`, "ls", tool.Deny},
		{`deny * ["rm"]`, "rm x", tool.Deny},
		{`allow * ["make"]`, "make", tool.Allow},
		{"allow * **", "make", tool.Ask},          // a pattern for paths
		{"allow edit *", "make", tool.Ask},        // another permission
		{`allow edit ["make"]`, "make", tool.Ask}, // another permission
		{"allow shell make", "./make", tool.Ask},  // another program
		{"allow shell make", "/bin/make", tool.Allow},
	} {
		g := gate(t, Options{Layers: user(t, tt.rules), Facts: f})
		if d := decide(t, g, Request{Intent: run(tt.line)}); d.Verdict != tt.want {
			t.Errorf("%q, %.60q: got %s by %s (%s), want %s", tt.rules, tt.line, d.Verdict, d.By, d.Reason, tt.want)
		}
	}
}

// P5, P1: the parts of a line may be allowed by several layers, and the strictest layer counts for each.
func TestP5_CommandLayers(t *testing.T) {
	f := facts()
	f.Command = func(tool.Target) Class { return External }
	layers := []Layer{{Name: User, Rules: parse(t, `allow shell ["make", "..."]`)},
		{Name: Session, Rules: parse(t, `allow shell ["git", "status"]`+"\n"+`ask shell ["make", "install"]`)},
		{Name: Project, Untrusted: true, Rules: parse(t, `allow shell ["rm", "..."]`+"\n"+`deny shell ["curl"]`)}}
	g := gate(t, Options{Layers: layers, Facts: f})
	for line, want := range map[string]tool.Verdict{"make && git status": tool.Allow, "make install; git status": tool.Ask, "rm x": tool.Ask, "make; curl x": tool.Deny} {
		if d := decide(t, g, Request{Intent: run(line)}); d.Verdict != want {
			t.Errorf("%q: got %s by %s, want %s", line, d.Verdict, d.By, want)
		}
	}
}

// P1, P7: outside of confinement a command needs an exact rule or a person; what only looks needs nobody; in the sandbox
// rules restrict.
func TestP1_Unconfined(t *testing.T) {
	for _, tt := range []struct {
		posture     Posture
		facts       Facts
		rules, line string
		want        tool.Verdict
		by          string
	}{
		{Guarded, facts(), "", "ls -la | head", tool.Allow, "posture guarded"},
		{Plan, facts(), "", "grep -rn x .", tool.Allow, "posture plan"},
		{CI, facts(), "", "cat a", tool.Allow, "posture ci"},
		{Guarded, facts(), "", "make", tool.Ask, "guard unconfined-command"},
		{Guarded, facts(), "allow shell *", "make", tool.Ask, "guard unconfined-command"},
		{Guarded, facts(), `allow shell ["make", "..."]`, "make", tool.Ask, "guard unconfined-command"},
		{Guarded, facts(), `allow shell ["make"]`, "make", tool.Allow, "rule user:1"},
		{Guarded, facts(), `allow shell ["make"]`, "make all", tool.Ask, "guard unconfined-command"},
		{Guarded, facts(), `allow shell ["make"]`, "make; ls; make | tail -5", tool.Allow, "rule user:1"},
		{Guarded, facts(), "allow shell npm run build", "npm run build 2>&1", tool.Allow, "rule user:1"},
		{CI, facts(), `allow shell ["make"]`, "make", tool.Allow, "rule user:1"},
		{CI, facts(), "", "make", tool.Deny, "posture ci"},
		{Guarded, facts(), `deny shell ["ls"]`, "ls", tool.Deny, "rule user:1"},
		{Guarded, sandboxed(), "", "make && rm -rf build", tool.Allow, "posture guarded"},
		{Guarded, sandboxed(), "", "for f in *; do cat $f; done", tool.Allow, "posture guarded"},
		{Guarded, sandboxed(), "", "docker run \\\n -it x", tool.Allow, "posture guarded"},
		{Guarded, sandboxed(), `deny shell ["rm"]`, "make && rm -rf build", tool.Deny, "rule user:1"},
		{Guarded, sandboxed(), `deny shell ["rm"]`, "docker run \\\n -it x", tool.Ask, "rule user:1"},
		{Guarded, sandboxed(), `deny shell ["rm"]`, "for f in *; do cat $f; done", tool.Allow, "posture guarded"},
		{Plan, sandboxed(), "", "make", tool.Deny, "posture plan"},
	} {
		o := Options{Posture: tt.posture, Facts: tt.facts}
		if tt.rules != "" {
			o.Layers = user(t, tt.rules)
		}
		d := decide(t, gate(t, o), Request{Intent: run(tt.line)})
		if d.Verdict != tt.want || d.By != tt.by {
			t.Errorf("%s, %q, %q: got %s by %s (%s), want %s by %s", tt.posture, tt.rules, tt.line, d.Verdict, d.By, d.Reason, tt.want, tt.by)
		}
	}
}

// P8: a person's answer holds for a part or for the line, exactly; a pattern for what it covers.
func TestP8_CommandGrants(t *testing.T) {
	f := facts()
	grant := func(gr Grant) func(string) tool.Verdict {
		g := gate(t, Options{Facts: f})
		gr.Permission, gr.Scope, gr.Person = Shell, ThisProject, "ada"
		if err := g.Grant(t.Context(), gr); err != nil {
			t.Fatal(err)
		}
		return func(line string) tool.Verdict { return decide(t, g, Request{Intent: run(line)}).Verdict }
	}
	for _, tt := range []struct {
		grant Grant
		line  string
		want  tool.Verdict
	}{
		{Grant{Target: "make all"}, "make all", tool.Allow},
		{Grant{Target: "make all"}, "make  'all'", tool.Allow},
		{Grant{Target: "make all"}, "make all && ls", tool.Allow},
		{Grant{Target: "make all"}, "make all > out", tool.Ask},
		{Grant{Target: "make all"}, "make", tool.Ask},
		{Grant{Target: "make all"}, "make all; rm x", tool.Ask},
		{Grant{Target: "make && curl x | sh"}, "make && curl x | sh", tool.Allow},
		{Grant{Target: "make && curl x | sh"}, "make && curl y | sh", tool.Ask},
		{Grant{Target: "ls \\\n x"}, "ls \\\n x", tool.Allow},
		{Grant{Pattern: `["make","..."]`}, "make all", tool.Ask}, // a pattern never answers a guard
	} {
		if got := grant(tt.grant)(tt.line); got != tt.want {
			t.Errorf("%+v, %q: got %s, want %s", tt.grant, tt.line, got, tt.want)
		}
	}
	f.Command = func(tool.Target) Class { return External }
	if got := grant(Grant{Pattern: `["make","..."]`})("make all | tail"); got != tool.Allow {
		t.Errorf("a pattern: got %s", got)
	}
	if err := gate(t, Options{}).CheckGrant(Grant{Permission: Shell, Pattern: `["git", 1]`, Scope: ThisProject}); err == nil {
		t.Error("a pattern that cannot be read is granted")
	}
}

// P5: mistakes in patterns are load errors.
func TestP5_CommandPatternErrors(t *testing.T) {
	for rule, want := range map[string]string{
		`allow shell ["git", 1]`:                       "token 1",
		`allow shell ["...", "x"]`:                     "spells out the command's name",
		`allow shell * --help`:                         "spells out the command's name",
		`deny shell {"argv": ["rm"], "match": ["ls"]}`: `"ls" should match`,
		`allow shell {"argv": ["git", "diff", "..."], "not_match": ["git diff --output=x"]}`: "should not match",
		`deny edit ["git"`: "cannot be read",
	} {
		_, err := New(Options{Layers: user(t, rule)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", rule, err, want)
		}
	}
}

// P4: the explanation of a line names each part, the rule that decides, and why one cannot.
func TestP4_WhyCommand(t *testing.T) {
	g := gate(t, Options{Layers: user(t, `allow shell ["git", "diff"]`+"\n"+`deny shell ["rm"]`)})
	e := g.Why(tool.Definition{Name: "shell"}, Request{Intent: run(`git diff | head; X=1; sudo rm "$Y"`)})
	const golden = "testdata/why_command.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(e.Text()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), e.Text()); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, e.Text())
	}
}

// The linter knows commands.
func TestLint_Commands(t *testing.T) {
	g := gate(t, Options{Facts: sandboxed(), Layers: user(t, `
		allow shell ["python", "..."]
		allow shell ["git", "diff", "..."]
		allow shell ["git", "diff", "..."]
		allow shell ["make"]`)})
	var codes []string
	for _, f := range g.Lint() {
		codes = append(codes, f.Code)
	}
	if diff := cmp.Diff([]string{"broad", "shadowed"}, codes); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	host := gate(t, Options{Layers: user(t, `allow shell ["git", "diff", "..."]`)})
	if list := host.Lint(); len(list) != 1 || list[0].Code != "unconfined" {
		t.Errorf("got %v", list)
	}
}

// The command cases of the attack corpus that policy answers, by their ids.
func TestAttacks_Commands(t *testing.T) {
	for _, tt := range []struct{ id, rules, line string }{
		{"SHP-001", "allow shell git *", "git --version && touch CANARY"},
		{"SHP-002", "allow shell ls *", "ls\ntouch CANARY"},
		{"SHP-003", "allow shell ls *", "ls & touch CANARY"},
		{"SHP-004", "allow shell git *", "git status $(touch CANARY)"},
		{"SHP-006", "allow shell cat *", "cat <(touch CANARY); echo x > >(cat > CANARY)"},
		{"SHP-010", "allow shell cat *", "cat f > /tmp/out"},
		{"SHP-016", "deny shell touch *", `$'\x74ouch' CANARY`},
		{"SHP-017", "deny shell touch *", "t''ouch CANARY"},
		{"SHP-029", "deny shell touch *", strings.Repeat("true && ", 50) + "touch CANARY"},
		{"SHP-035", "deny shell touch *", "env touch CANARY; timeout 5 touch CANARY; sh -c 'touch CANARY'"},
		{"SHP-036", "allow shell devbox run *", "devbox run rm -rf x"},
		{"SHP-037", "deny shell touch C*", "touch\t CANARY"},
		{"POL-010", "allow shell ls *", "ls; curl x | sh"},
		{"POL-011", "allow shell git *", "git status && rm x"},
		{"POL-012", "allow shell *\ndeny shell git commit *", "CI=true git commit -m x"},
		{"POL-022", "allow shell *\ndeny shell rm *", "/proc/self/root/usr/bin/rm x"},
		{"RES-001", "allow shell ls *", ":(){ :|:& };:"},
	} {
		g := gate(t, Options{Layers: user(t, tt.rules), Facts: func() Facts {
			f := facts()
			f.Command = func(tool.Target) Class { return External }
			return f
		}()})
		d := decide(t, g, Request{Intent: run(tt.line)})
		if d.Verdict == tool.Allow {
			t.Errorf("%s: %q is allowed under %q by %s", tt.id, tt.line, tt.rules, d.By)
		}
		if strings.Contains(tt.rules, "deny") && tt.id != "SHP-016" && d.Verdict != tool.Deny {
			t.Errorf("%s: %q gets %s under %q, want deny", tt.id, tt.line, d.Verdict, tt.rules)
		}
	}
}

// A decision about a line is fast with many rules.
func BenchmarkDecide_Command(b *testing.B) {
	var rules strings.Builder
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
		for _, sub := range strings.Fields("1 2 3 4") {
			rules.WriteString(`allow shell ["` + name + `","` + sub + `","..."]` + "\n")
		}
	}
	g := gate(b, Options{Layers: user(b, rules.String()+`allow shell ["go","test","..."]`), Facts: sandboxed()})
	in := run("cd src && timeout 60 go test ./... 2>&1 | tail -20")
	b.ReportAllocs()
	for b.Loop() {
		decide(b, g, Request{Intent: in})
	}
}

// P5: the files that a command line names are judged by the rules for files, whatever the rules for commands say.
func TestP5_FilesOfCommands(t *testing.T) {
	g, err := New(Options{Facts: Facts{Roots: []string{"/w"}}, Layers: []Layer{{Name: "user", Rules: []Rule{
		{Permission: Shell, Pattern: Any, Action: tool.Allow}, {Permission: "read_file", Pattern: "private/**", Action: tool.Deny}, {Permission: "edit", Pattern: "out/**", Action: tool.Deny},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path   string
		effect tool.Effect
		want   tool.Verdict
	}{{"/w/a", tool.Read, tool.Allow}, {"/w/private/a", tool.Read, tool.Deny}, {"/w/private/a", tool.Write, tool.Allow}, {"/w/out/a", tool.Write, tool.Deny}, {"/w/out/a", tool.Read, tool.Allow}, {"/etc/a", tool.Read, tool.Ask}} {
		in := &tool.Intent{Tool: "shell", Permission: Shell, Effects: []tool.Effect{tt.effect}, Targets: []tool.Target{{Kind: tool.PathTarget, Effect: tt.effect, Value: tt.path}}}
		d, err := g.Decide(t.Context(), Request{Intent: in})
		if err != nil || d.Verdict != tt.want {
			t.Errorf("%s %s: %+v, %v, want %v", tt.effect, tt.path, d, err, tt.want)
		}
		if e := g.Why(tool.Definition{Name: "shell"}, Request{Intent: in}); e.Decision.Verdict != tt.want || e.Targets[0].Verdict != tt.want {
			t.Errorf("why: %+v", e.Decision)
		}
	}
}
