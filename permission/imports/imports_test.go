package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

type importer func([]byte) ([]permission.Rule, []Finding, error)

// show renders what an import makes: rules, then findings.
func show(rules []permission.Rule, findings []Finding) string {
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "%d: %s %s %s", r.Source.Line, r.Action, r.Permission, r.Pattern)
		if r.Reason != "" {
			fmt.Fprintf(&b, " (%s)", r.Reason)
		}
		b.WriteString("\n")
	}
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func check(t *testing.T, read importer, source, want string) {
	t.Helper()
	rules, findings, err := read([]byte(source))
	if err != nil {
		t.Errorf("%v\n%s", err, source)
		return
	}
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(show(rules, findings))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := permission.New(permission.Options{Facts: permission.Facts{Home: "/home/u"}, Layers: []permission.Layer{{Name: "import", Rules: rules}}}); err != nil {
		t.Errorf("no gate can be built: %v", err)
	}
}

// P5: Claude Code.
func TestP5_Claude(t *testing.T) {
	check(t, Claude, `{
  "model": "x",
  "permissions": {
    "deny": ["Bash(git push *)", "Read(.env)", "Edit(//etc/**)", "WebFetch(domain:evil.example)", "mcp__db__drop", "Bash(curl * | sh)"],
    "allow": [
      "Bash(git diff:*)",
      "Bash(npm run build)",
      "Bash(npm run test:*)",
      "Bash",
      "Bash(*)",
      "Bash(* --help)",
      "Bash(ls*)",
      "Bash(python *)",
      "Bash(git commit -m \"$(date)\")",
      "Read(~/notes/**)", "Read(/docs/**)", "Edit(src/**)", "Edit(./x.md)", "Edit(*.md)", "Write(src/**)",
      "WebFetch(domain:example.com)", "WebSearch", "mcp__github", "mcp__github__list", "mcp__github__get_*", "Agent(Explore)", "LSP"
    ],
    "ask": ["Bash(git commit *)", "Edit"],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../x"]
  }
}`, `
6: allow shell {"text":"git diff *"}
7: allow shell {"text":"npm run build"}
8: allow shell {"text":"npm run test *"}
9: allow shell *
10: allow shell *
13: allow shell {"text":"python *"}
15: allow read_file ~/notes/**
15: allow grep ~/notes/**
15: allow glob ~/notes/**
15: allow list_dir ~/notes/**
15: allow read_file docs/**
15: allow grep docs/**
15: allow glob docs/**
15: allow list_dir docs/**
15: allow edit src/**
15: allow edit x.md
15: allow edit **/*.md
16: allow fetch_url example.com
16: allow web_fetcher example.com
16: allow search_google *
16: allow mcp__github__* *
16: allow mcp__github__list *
16: allow mcp__github__get_* *
18: ask shell {"text":"git commit *"}
18: ask edit *
4: deny shell {"text":"git push *"}
4: deny read_file **/.env
4: deny grep **/.env
4: deny glob **/.env
4: deny list_dir **/.env
4: deny edit /etc/**
4: deny fetch_url evil.example
4: deny web_fetcher evil.example
4: deny mcp__db__drop *
4: deny shell {"text":"curl * | sh"}
line 11: warning: Bash(* --help): left out: a rule that allows spells out the command's name
line 12: warning: Bash(ls*): left out: a rule that allows spells out the command's name
line 13: note: Bash(python *): python runs whatever its arguments say, so an allow with any arguments covers everything; spell out what it may run
line 14: warning: Bash(git commit -m "$(date)"): left out: the text "git commit -m \"$(date)\"" is no single command with literal words, so it can deny and not allow
line 15: warning: Write(src/**): left out: Claude Code looks at Edit(…) only
line 16: warning: Agent(Explore): left out: its argument is not compared
line 16: warning: LSP: left out: there is no tool LSP here
line 19: note: defaultMode: modes are not imported; choose a posture instead
line 20: note: additionalDirectories: folders are not imported; add them as roots
`)
}

// P5: Codex.
func TestP5_Codex(t *testing.T) {
	check(t, Codex, `# rules of a person
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",   # allow | prompt | forbidden
    justification = "talks to " + 'the network',
    match = [["git", "push", "origin", "main"], "git fetch"],
    not_match = [["git", "status"]],
)
prefix_rule(pattern = ["rm", "-rf"], decision = "forbidden", justification = """no""")
prefix_rule(pattern=["ls"], match=["ls -la"])
prefix_rule(pattern = ["gh", "pr", "view"], decision = "prompt", not_match = ["gh --repo x pr view 1"])
prefix_rule(pattern = ["bash", "-lc"])
host_executable(name = "git", paths = ["/opt/bin/git"])
`, `
10: allow shell {"argv":["ls","..."],"match":["ls -la"]}
12: allow shell ["bash","-lc","..."]
2: ask shell {"argv":["git",["push","fetch"]],"match":["git push origin main","git fetch"],"not_match":["git status"]} (talks to the network)
11: ask shell ["gh","pr","view"]
9: deny shell ["rm","-rf"] (no)
line 13: note: host_executable: not imported: a name stands for a program on the path, or in /bin and /usr/bin, and for no other
line 11: note: gh pr view: the examples are left out, because a rule here decides them otherwise: the example "gh --repo x pr view 1" should not match and does
`)
}

// P5: Gemini CLI.
func TestP5_Gemini(t *testing.T) {
	check(t, Gemini, `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", "git diff"]
decision = "allow"
priority = 100

[[rule]]
commandPrefix = "rm -rf"
decision = "deny"
priority = 500
denyMessage = "Deletion is permanent"

[[rule]]
commandRegex = "git (commit|push)\\b"
decision = "ask_user"
priority = 200

[[rule]]
commandRegex = "^npm run [a-z]+$"
decision = "allow"
priority = 10

[[rule]]
commandRegex = "docker .*--privileged"
decision = "deny"
priority = 900

[[rule]]
toolName = ["write_file", "replace"]
decision = "ask_user"
priority = 10

[[rule]]
mcpName = "db"
toolName = "drop"
decision = "deny"
priority = 10

[[rule]]
toolName = "mcp_*"
decision = "ask_user"
priority = 1

[[rule]]
toolName = "read_file"
argsPattern = '"path":"/etc'
decision = "deny"
priority = 10

[[rule]]
commandPrefix = "make"
decision = "allow"
allowRedirection = true
priority = 10

[[rule]]
commandPrefix = "cargo"
decision = "allow"
modes = ["yolo"]
priority = 10

[[rule]]
toolName = "run_shell_command"
argsPattern = '"command":"go (test|vet)"'
decision = "allow"
priority = 10
strange = 1
`, `
40: ask mcp__* *
63: allow shell ["go",["test","vet"]]
51: allow shell {"argv":["make","..."],"redirects":true}
45: ask read_file *
34: deny mcp__db__drop *
29: ask edit *
2: allow shell {"text":"git status *"}
2: allow shell {"text":"git diff *"}
14: ask shell ["git",["commit","push"]]
8: deny shell {"text":"rm -rf *"} (Deletion is permanent)
24: ask shell *
line 1: note: rule.strange: not imported
line 57: warning: cargo: left out: it holds only in the modes yolo
line 51: note: make: make runs whatever its arguments say, so an allow with any arguments covers everything; spell out what it may run
line 45: warning: read_file "path":"/etc: everything under read_file asks instead: a regular expression over JSON is not read
line 19: warning: ^npm run [a-z]+$: left out: the regular expression is not read; write the words as tokens
line 24: warning: docker .*--privileged: everything under shell asks instead: the regular expression is not read; write the words as tokens
`)
}

// P5: the regular expressions of Gemini CLI that are lists of words; "!" is not read.
func TestP5_GeminiRegex(t *testing.T) {
	for _, tt := range []struct{ regex, allow, deny string }{
		{`git status`, `["git","status","..."]`, `["git",{"glob":"status*"}]`},
		{`git status$`, `["git","status"]`, `["git","status"]`},
		{`git status\b`, `["git","status","..."]`, `["git","status"]`},
		{`git status .*`, `["git","status",{"glob":"*"},"..."]`, `["git","status"]`},
		{`git status(\s.*)?$`, `["git","status","..."]`, `["git","status"]`},
		{`^git\s+(status|diff)(?:\s|$)`, `["git",["status","diff"],"..."]`, `["git",["status","diff"]]`},
		{`git (a|b)`, `["git",["a","b"],"..."]`, "!"},
		{`rm.*`, `["rm","..."]`, `[{"glob":"rm*"}]`},
		{`./run\.sh`, "!", "!"},
		{`/run\.sh`, `["/run.sh","..."]`, `[{"glob":"/run.sh*"}]`},
		{`.*`, "!", "!"},
		{`(a`, "!", "!"},
		{`git [a-z]+`, "!", "!"},
		{`a|b`, "!", "!"},
		{`a+ b`, "!", "!"},
		{``, "!", "!"},
	} {
		for restrict, want := range map[bool]string{false: tt.allow, true: tt.deny} {
			argv, ok := regexTokens(tt.regex, restrict)
			got := "!"
			if ok {
				got = (&command.Pattern{Argv: argv}).String()
			}
			if got != want {
				t.Errorf("%s, restrict %t: got %s, want %s", tt.regex, restrict, got, want)
			}
		}
	}
}

// P5: opencode.
func TestP5_Opencode(t *testing.T) {
	check(t, Opencode, `{
  // a comment
  "$schema": "https://opencode.ai/config.json",
  "tools": {"webfetch": false, "read": true},
  "permission": {
    "*": "ask",
    "edit": {
      "*": "deny",
      "packages/web/*.mdx": "allow",
      "src/*": "allow",
      "*.lock": "deny",
      "$HOME/x/**": "ask",
      "a/gen*x/b": "deny",
    },
    "read": "allow",
    "bash": {
      "*": "ask",
      "git *": "allow",
      "git commit *": "deny",
      "git status": "allow",
      "rm -?f *": "deny",
      "npm run t?st": "allow", /* another */
    },
    "webfetch": {"https://x/*": "allow", "*": "ask"},
    "task": {"review": "deny"},
    "doom_loop": "ask",
    "myserver_tool": "deny"
  },
  "agent": {"build": {}}
}`, `
4: deny fetch_url *
4: deny web_fetcher *
6: ask * *
8: deny edit *
9: allow edit packages/web/**/*.mdx
10: allow edit src/**
11: deny edit **/*.lock
12: ask edit ~/x/**
13: deny edit a/{gen*x,gen*/**/*x}/b
15: allow read_file *
17: ask shell *
18: allow shell {"text":"git *"}
19: deny shell {"text":"git commit *"}
20: allow shell {"text":"git status"}
21: deny shell {"text":"rm -?f *"}
24: allow fetch_url https://x
24: allow web_fetcher https://x
24: ask fetch_url *
24: ask web_fetcher *
25: ask spawn *
27: deny myserver_tool *
line 29: note: agent: permissions of single agents are not imported
line 22: warning: bash npm run t?st: left out: the text "npm run t?st" is no single command with literal words, so it can deny and not allow
line 25: warning: task review: everything under spawn asks instead: what the pattern is compared with is not a path or a command
line 26: note: doom_loop: not imported: there is nothing like it here, or it is built in
`)
	check(t, Opencode, `{"permission": "ask"}`, "1: ask * *")
	check(t, Opencode, `{}`, "")
}

// P5: what cannot be said about hosts is left out where it allows and an ask where it restricts.
func TestP5_Hosts(t *testing.T) {
	check(t, Claude, `{"permissions": {"allow": ["WebFetch(domain:*.example.com)", "WebFetch(domain:exa*ple.com)", "WebFetch(example.com)"],
"deny": ["WebFetch(domain:b\u00fccher.example)", "WebFetch(domain:)"]}}`, `
1: allow fetch_url *.example.com
1: allow web_fetcher *.example.com
2: ask fetch_url *
2: ask web_fetcher *
2: ask fetch_url *
2: ask web_fetcher *
line 1: warning: WebFetch(domain:exa*ple.com): left out: rules compare the hosts of addresses: write "example.com", "*.example.com" or "https://example.com:8443"
line 1: warning: WebFetch(example.com): left out: only "domain:HOST" is read
line 2: warning: WebFetch(domain:bücher.example): everything under fetch_url, web_fetcher asks instead: "bücher.example": write the host in its ASCII form (xn--…)
line 2: warning: WebFetch(domain:): everything under fetch_url, web_fetcher asks instead: "" is no host
`)
	check(t, Opencode, `{"permission": {"webfetch": {"https://*.x.org/*": "allow", "https://x.org/a/*": "allow", "*x*": "deny"}}}`, `
1: ask fetch_url *
1: ask web_fetcher *
line 1: warning: webfetch https://*.x.org/*: left out: rules here compare the host of an address: https://HOST/*
line 1: warning: webfetch https://x.org/a/*: left out: rules compare the hosts of addresses: write "example.com", "*.example.com" or "https://example.com:8443"
line 1: warning: webfetch *x*: everything under fetch_url, web_fetcher asks instead: rules here compare the host of an address: https://HOST/*
`)
}

// POL-005, POL-006, POL-007: a file that cannot be read gives no rule and an error with a line.
func TestImportErrors(t *testing.T) {
	for _, tt := range []struct {
		name         string
		read         importer
		source, want string
	}{
		{"claude", Claude, "{\n\"permissions\": {\"deny\": [\"Bash(rm *)\"", "line 2: want a comma"},
		{"claude", Claude, "[]", "no object"},
		{"claude", Claude, `{"permissions": []}`, "permissions is no object"},
		{"claude", Claude, `{"permissions": {"deny": "Bash"}}`, "deny is no list"},
		{"claude", Claude, `{"permissions": {"deny": [1]}}`, "no string"},
		{"claude", Claude, `{"permissions": {"deny": ["Bash()"]}}`, "is about nothing"},
		{"claude", Claude, `{"permissions": {"deny": ["Bash(rm *"]}}`, "want Tool or Tool(what)"},
		{"claude", Claude, `{"a": 'x'}`, "no value"},
		{"claude", Claude, `{"a" 1}`, "want a colon"},
		{"claude", Claude, `{a: 1}`, "want a key"},
		{"claude", Claude, `{"a": "x`, "does not end"},
		{"claude", Claude, `{"a": "\q"}`, "invalid"},
		{"claude", Claude, "{} x", "text behind"},
		{"claude", Claude, "/* x", "comment"},
		{"claude", Claude, "", "missing"},
		{"claude", Claude, strings.Repeat("[", 100), "too deeply"},
		{"codex", Codex, "prefix_rule(pattern = [])", "line 1: prefix_rule: pattern"},
		{"codex", Codex, "\nprefix_rule(decision = 'allow')", "line 2: prefix_rule: there is no pattern"},
		{"codex", Codex, "prefix_rule(pattern = ['a'], decision = 'maybe')", "decision"},
		{"codex", Codex, "prefix_rule(pattern = ['a'], strange = 'x')", "strange"},
		{"codex", Codex, "prefix_rule(pattern = ['a'], match = ['b'])", `"b" should match`},
		{"codex", Codex, "prefix_rule(pattern = ['a'], not_match = ['a b'])", "should not match"},
		{"codex", Codex, "prefix_rule(pattern = ['a'] + x)", "want a comma"},
		{"codex", Codex, "x = 1", "only calls"},
		{"codex", Codex, "unknown(a = 'b')", "no call that is known"},
		{"codex", Codex, "prefix_rule(['a'])", "want name = value"},
		{"codex", Codex, "prefix_rule(pattern = ['a'], pattern = ['b'])", "stands twice"},
		{"codex", Codex, "prefix_rule(pattern = ['a", "does not end"},
		{"codex", Codex, `prefix_rule(pattern = ['\x61'])`, "escape"},
		{"codex", Codex, "for x in []: pass", "only calls"},
		{"gemini", Gemini, "[[rule]\n", "line 2"},
		{"gemini", Gemini, "[[rule]]\ntoolName = 'x'\ndecision = 'maybe'", "line 1: rule"},
		{"gemini", Gemini, "[[rule]]\ndecision = 'deny'", "neither a tool nor a command"},
		{"gemini", Gemini, "[[rule]]\ntoolName = 1\ndecision = 'deny'", "strings"},
		{"gemini", Gemini, "[[rule]]\ncommandPrefix = 'a'\ncommandRegex = 'b'\ndecision = 'deny'", "both"},
		{"opencode", Opencode, `{"permission": {"bash": {"rm *": "denied"}}}`, "want allow, ask or deny"},
		{"opencode", Opencode, `{"permission": {"bash": 1}}`, "neither a word nor an object"},
		{"opencode", Opencode, `{"permission": 1}`, "neither a word nor an object"},
		{"opencode", Opencode, `{"permission": "maybe"}`, "want allow, ask or deny"},
		{"opencode", Opencode, `[]`, "no object"},
	} {
		rules, _, err := tt.read([]byte(tt.source))
		if err == nil || rules != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.60q: got %v and %d rules, want %q", tt.name, tt.source, err, len(rules), tt.want)
		}
	}
	// A key with a name of another world is a key like any other.
	check(t, Claude, `{"__proto__": {}, "toString": 1, "permissions": {"deny": ["Bash(rm *)"]}}`, `1: deny shell {"text":"rm *"}`)
}

// decide asks a gate about a command line, under the rules of an import. The class is one that no posture allows.
func decide(t *testing.T, rules []permission.Rule, line string) tool.Decision {
	t.Helper()
	g, err := permission.New(permission.Options{Layers: []permission.Layer{{Name: "import", Rules: rules}},
		Facts: permission.Facts{Command: func(tool.Target) permission.Class { return permission.External }}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Decide(t.Context(), permission.Request{Intent: &tool.Intent{Tool: "shell", Permission: permission.Shell,
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: line}}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// P5: one rule in four languages decides alike.
func TestP5_Alike(t *testing.T) {
	for name, source := range map[string]struct {
		read importer
		text string
	}{
		"claude":   {Claude, `{"permissions": {"allow": ["Bash(git diff *)", "Bash(git push *)"], "deny": ["Bash(git push *)"]}}`},
		"codex":    {Codex, `prefix_rule(pattern=["git", "push"], decision="forbidden") prefix_rule(pattern=["git", ["diff", "push"]])`},
		"gemini":   {Gemini, "[[rule]]\ncommandPrefix = ['git diff', 'git push']\ndecision = 'allow'\npriority = 1\n[[rule]]\ncommandPrefix = 'git push'\ndecision = 'deny'\npriority = 2"},
		"opencode": {Opencode, `{"permission": {"bash": {"git diff *": "allow", "git push *": "allow", "git push *": "deny"}}}`},
	} {
		rules, _, err := source.read([]byte(source.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for line, want := range map[string]tool.Verdict{
			"git diff":                    tool.Allow,
			"git diff --stat | head":      tool.Allow,
			"git diffx":                   tool.Ask,
			"git diff > out":              tool.Ask,
			"git diff; make":              tool.Ask,
			"git diff; git push":          tool.Deny,
			"env A=1 git push":            tool.Deny,
			"sh -c 'ls; git push origin'": tool.Deny,
		} {
			if d := decide(t, rules, line); d.Verdict != want {
				t.Errorf("%s: %q gets %s by %s, want %s", name, line, d.Verdict, d.By, want)
			}
		}
	}
}

// The attack corpus names the rule under which each input must ask or be denied.
func TestAttackCorpus(t *testing.T) {
	dir := os.Getenv("TACKLE_SHARED")
	if dir == "" {
		t.Skip("TACKLE_SHARED is not set: the attack corpus is not at hand; permission/command_test.go has rows of each class")
	}
	data, err := os.ReadFile(filepath.Join(dir, "attacks", "attacks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var attacks []struct{ ID, Group, Input, Test string }
	if err := json.Unmarshal(data, &attacks); err != nil {
		t.Fatal(err)
	}
	under := regexp.MustCompile(`under rule '([^']*)'`)
	seen := 0
	for _, a := range attacks {
		m := under.FindStringSubmatch(a.Test)
		if a.Input == "" || m == nil {
			continue
		}
		settings := map[string]any{}
		for rule := range strings.SplitSeq(m[1], ", ") {
			rule, _, _ = strings.Cut(rule, " + ")
			switch text, deny := strings.CutPrefix(rule, "deny "); {
			case deny && strings.HasPrefix(text, "Bash("):
				settings["allow"], settings["deny"] = []string{"Bash"}, []string{text}
			case strings.HasPrefix(text, "Bash("):
				list, _ := settings["allow"].([]string)
				settings["allow"] = append(list, text)
			}
		}
		file, err := json.Marshal(map[string]any{"permissions": settings})
		if err != nil {
			t.Fatal(err)
		}
		rules, _, err := Claude(file)
		if err != nil {
			t.Fatal(errors.Join(err, errors.New(a.ID)))
		}
		seen++
		if d := decide(t, rules, a.Input); d.Verdict == tool.Allow {
			t.Errorf("%s: %q is allowed under %s by %s", a.ID, a.Input, m[1], d.By)
		}
	}
	if seen < 30 {
		t.Errorf("found only %d cases", seen)
	}
}

// FuzzImports: no file makes an import panic, or make a rule that no gate reads.
func FuzzImports(f *testing.F) {
	for _, s := range []string{`{"permissions":{"allow":["Bash(a *)","Edit(x/**)"],"deny":["Read(//a)"]}}`, `prefix_rule(pattern=["a",["b","c"]],decision="prompt")`,
		"[[rule]]\ncommandRegex='a (b|c).*'\ndecision='deny'\npriority=1", `{"permission":{"bash":{"*":"ask","a?b *":"deny"},"edit":{"a*b/c":"allow"}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for name, read := range map[string]importer{"claude": Claude, "codex": Codex, "gemini": Gemini, "opencode": Opencode} {
			rules, _, err := read([]byte(source))
			if err != nil && rules != nil {
				t.Errorf("%s: rules beside an error", name)
			}
			if _, err := permission.New(permission.Options{Facts: permission.Facts{Home: "/h"}, Layers: []permission.Layer{{Name: "x", Rules: rules}}}); err != nil {
				t.Errorf("%s: %q makes a rule that cannot be read: %v", name, source, err)
			}
		}
	})
}
