package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tackle-dev/tackle/toolbox"
)

// P10: a settings file of Claude Code is read as it is.
func TestParse(t *testing.T) {
	set, notes, err := Parse([]byte(`{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {"allow": ["Bash(npm run test:*)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/.claude/guard.sh", "timeout": 10, "if": "Bash(git *)"}]},
      {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "check", "args": ["--all"]}, {"type": "http", "url": "https://example.com"}]}
    ],
    "Notification": [{"hooks": [{"type": "command", "command": "notify-send hello"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "done.sh"}]}]
  }
}`), "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []Command{
		{Event: PreToolUse, Matcher: "Bash", If: "Bash(git *)", Command: "~/.claude/guard.sh", Timeout: 10 * time.Second, Source: "settings.json"},
		{Event: PreToolUse, Matcher: "Edit|Write", Command: "check", Args: []string{"--all"}, Timeout: DefaultTimeout, Source: "settings.json"},
		{Event: PreToolUse, Matcher: "Edit|Write", Timeout: DefaultTimeout, Source: "settings.json", Unsupported: "http"},
		{Event: Stop, Command: "done.sh", Timeout: DefaultTimeout, Source: "settings.json"},
	}
	if diff := cmp.Diff(want, set.Commands(), cmpopts.IgnoreUnexported(Command{})); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "Notification") || !strings.Contains(notes[1], `"http"`) {
		t.Errorf("notes %q", notes)
	}
	if set, notes, err := Parse([]byte(`{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`), "f"); err != nil || len(set.Commands()) != 0 || len(notes) != 1 {
		t.Errorf("%v %q %v", set, notes, err)
	}
}

// A file that cannot be read is an error with its place, never a set without the guard.
func TestParse_Errors(t *testing.T) {
	for in, says := range map[string]string{
		"{\n  \"hooks\": {,\n":          "f:2:14",
		`{"hooks": []}`:                 "f:1:",
		`{"hooks": {"PreToolUse": {}}}`: "hooks.PreToolUse",
		`{"hooks": {"PreToolUse": [{"matcher": "a(", "hooks": []}]}}`:                                             `hooks.PreToolUse[0]: matcher "a("`,
		`{"hooks": {"PreToolUse": [{"matcher": "(?=x)y", "hooks": []}]}}`:                                         "RE2",
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": " "}]}]}}`:                           "without a command",
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": -1}]}]}}`:            "timeout -1",
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "if": "Bash(git"}]}]}}`:         `if "Bash(git"`,
		`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "soon"}]}]}}`:        "hooks.PreToolUse",
		`{"hooks": {"PreToolUse": [{"matcher": "a(", "hooks": []}], "Stop": [{"hooks": [{"type": "command"}]}]}}`: "hooks.Stop[0]: a hook without a command",
	} {
		set, _, err := Parse([]byte(in), "f")
		if err == nil || set != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestMatcher(t *testing.T) {
	for matcher, tests := range map[string]map[string]bool{
		"":                {"Bash": true, "say": true},
		"*":               {"Bash": true},
		"Bash":            {"Bash": true, "bash": false, "BashOutput": false},
		"Edit|Write":      {"Edit": true, "Write": true, "MultiEdit": false},
		"Edit, Write":     {"Edit": true, "Write": true},
		"Notebook.*":      {"NotebookEdit": true, "Read": false},
		"mcp__github__.*": {"mcp__github__list": true, "mcp__gitlab__list": false},
		"^(Edit|Write)$":  {"Edit": true, "MultiEdit": false},
	} {
		m, err := parseMatcher(matcher)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range tests {
			if _, got := m.matches(name); got != want {
				t.Errorf("%q with %s: %t", matcher, name, got)
			}
		}
	}
}

// HOOK-004: a condition spares only what it certainly is not about.
func TestHOOK004_Condition(t *testing.T) {
	for _, tt := range []struct {
		rule, name, input string
		want              bool
	}{
		{"Bash(git *)", "Bash", `{"command": "git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "ls && git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "FOO=1 git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "timeout 5 git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "sh -c 'git push'"}`, true},
		{"Bash(git *)", "Bash", `{"command": "g\"i\"t push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "/usr/bin/git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "$X push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "echo 'open"}`, true},
		{"Bash(git *)", "Bash", `{"command": "eval \"$LINE\""}`, true},
		{"Edit(ws/src/**)", "Edit", `{"file_path": "../src/a.go"}`, true},
		{"Bash(git *)", "Bash", `{"command": "ls -l"}`, false},
		{"Bash(git:*)", "Bash", `{"command": "ls -l"}`, false},
		{"Bash(*)", "Bash", `{"command": "ls"}`, true},
		{"Bash(g* push)", "Bash", `{"command": "ls"}`, true},
		{"Bash", "Bash", `{"command": "ls"}`, true},
		{"Bash(git *)", "Edit", `{"file_path": "/w/git"}`, false},
		{"Edit(src/**)", "Edit", `{"file_path": "/w/src/a.go"}`, true},
		{"Edit(src/**)", "Write", `{"file_path": "/w/src/a.go"}`, true},
		{"Edit(src/**)", "Read", `{"file_path": "/w/src/a.go"}`, false},
		{"Edit(src/**)", "Edit", `{"file_path": "/w/doc/a.md"}`, false},
		{"Edit(src/**)", "Edit", `{"file_path": "/w/doc/../src/a.go"}`, true},
		{"Read(.env)", "Read", `{"file_path": "/w/.env"}`, true},
		{"Read(//etc/passwd)", "Read", `{"file_path": "/etc/passwd"}`, true},
		{"Read(*.pem)", "Read", `{"file_path": "/w/k/a.pem"}`, true},
		{"Read(*.pem)", "Read", `{"file_path": "/w/k/a.txt"}`, false},
		{"Read(.env)", "outline Read", `{"file_path": "/w/.env"}`, true},
		{"Read(.env)", "outline", `{"file_path": "/w/.env"}`, false},
		{"", "Anything", `{}`, true},
	} {
		c, err := parseCondition(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.holds(strings.Fields(tt.name), json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%q for %s %s: %t", tt.rule, tt.name, tt.input, got)
		}
	}
}

// What shows only a part of a call cannot be given back as a whole call.
func TestPartIsNotGivenBack(t *testing.T) {
	in := json.RawMessage(`{"file_path": "a", "old_string": "x", "new_string": "y"}`)
	if got, ok := rewritten("apply_patch", Shown{Name: "Edit", Input: in, Part: true}, in); ok {
		t.Errorf("a part became %s", got)
	}
	if got, ok := rewritten("edit", Shown{Name: "Edit", Input: in}, in); !ok || string(got) != `{"new_string":"y","old_string":"x","path":"a"}` {
		t.Errorf("%s %t", got, ok)
	}
	if _, ok := rewritten("edit", Shown{Name: "Edit", Input: in}, json.RawMessage(`[]`)); ok {
		t.Error("a list is given back")
	}
}

// Our calls in the names and fields of the convention, and back.
func TestForeign(t *testing.T) {
	for _, tt := range []struct {
		tool, args string
		want       []string // "Name input"
		part       bool
	}{
		{"shell", `{"command": "ls", "timeout": 30, "background": true}`, []string{`Bash {"command":"ls","run_in_background":true,"timeout":30000}`}, false},
		{"read_file", `{"path": "a.go", "offset": 3}`, []string{`Read {"file_path":"/w/a.go","offset":3}`}, false},
		{"read_file", `{"files": [{"path": "a"}, {"path": "/b", "limit": 1}]}`, []string{`Read {"file_path":"/w/a"}`, `Read {"file_path":"/b","limit":1}`}, true},
		{"write_file", `{"path": "a", "content": "x"}`, []string{`Write {"content":"x","file_path":"/w/a"}`}, false},
		{"edit", `{"path": "a", "old_string": "x", "new_string": "y"}`, []string{`Edit {"file_path":"/w/a","new_string":"y","old_string":"x"}`}, false},
		{"multi_edit", `{"path": "a", "edits": []}`, []string{`MultiEdit {"edits":[],"file_path":"/w/a"}`}, false},
		{"grep", `{"pattern": "x", "path": "src", "case_insensitive": true, "context": 2}`, []string{`Grep {"-C":2,"-i":true,"path":"/w/src","pattern":"x"}`}, false},
		{"glob", `{"pattern": "*.go"}`, []string{`Glob {"pattern":"*.go"}`}, false},
		{"delete_file", `{"path": "a"}`, []string{`Edit {"file_path":"/w/a","new_string":"","old_string":""}`}, true},
		{"move_file", `{"path": "a", "to": "b"}`, []string{`Edit {"file_path":"/w/a","new_string":"","old_string":""}`, `Edit {"file_path":"/w/b","new_string":"","old_string":""}`}, true},
		{"apply_patch", `{"patch": "*** Begin Patch\n*** Add File: n.txt\n+one\n*** Update File: a.go\n*** Move to: b.go\n@@\n x\n-y\n+z\n*** Delete File: d\n*** End Patch\n"}`, []string{
			`Write {"content":"one\n","file_path":"/w/n.txt"}`, `Edit {"file_path":"/w/a.go","new_string":"x\nz\n","old_string":"x\ny\n"}`,
			`Edit {"file_path":"/w/b.go","new_string":"","old_string":""}`, `Edit {"file_path":"/w/d","new_string":"","old_string":""}`}, true},
		{"task_input", `{"id": "t1", "content": "git push"}`, []string{`Bash {"command":"git push","description":"input of task t1"}`}, true},
		{"outline", `{"path": ".env"}`, []string{`outline {"file_path":"/w/.env","path":"/w/.env"}`}, true},
		{"git", `{"op": "show", "path": ".env"}`, []string{`git {"file_path":"/w/.env","op":"show","path":"/w/.env"}`}, true},
		{"git", `{"op": "status"}`, []string{`git {"op": "status"}`}, false},
		{"apply_patch", `{"patch": "nonsense"}`, []string{`apply_patch {"patch":"nonsense"}`}, false},
		{"mcp__x__y", `{"a": 1}`, []string{`mcp__x__y {"a": 1}`}, false},
	} {
		var got []string
		part := false
		shown := Foreign(meaning(tt.tool, tt.args), "/w")
		for _, s := range shown {
			got = append(got, s.Name+" "+string(s.Input))
			part = part || s.Part
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || part != tt.part {
			t.Errorf("%s %s (in part: %t):\n%s", tt.tool, tt.args, part, diff)
		}
		if tt.part || shown[0].Name == tt.tool {
			continue
		}
		back, ok := Ours(shown[0].Name, shown[0].Input)
		again := Foreign(meaning(tt.tool, string(back)), "/w")
		if !ok || len(again) != 1 || string(again[0].Input) != string(shown[0].Input) {
			t.Errorf("%s: back as %s", tt.tool, back)
		}
	}
	// A guard for "Read" sees every tool that shows what is in one file.
	reading, _ := parseMatcher("Read")
	for _, name := range []string{"read_file", "outline", "find_symbol", "git"} {
		s := Foreign(meaning(name, `{"path": "a"}`), "/w")[0]
		if _, ok := reading.matches(append([]string{s.Name}, s.Also...)...); !ok || !strings.Contains(string(s.Input), `"file_path":"/w/a"`) {
			t.Errorf("%s passes by the guard as %s %s", name, s.Name, s.Input)
		}
	}
	// A guard for "Edit|Write" sees every tool that changes files.
	m, _ := parseMatcher("Edit|Write")
	for _, name := range []string{"write_file", "edit", "multi_edit", "apply_patch", "delete_file", "move_file", "copy_file", "format"} {
		for _, s := range Foreign(meaning(name, `{"path": "a", "to": "b", "patch": "*** Begin Patch\n*** Delete File: d\n*** End Patch\n"}`), "/w") {
			if _, ok := m.matches(append([]string{s.Name}, s.Also...)...); !ok {
				t.Errorf("%s passes by the guard as %s", name, s.Name)
			}
		}
	}
}

func meaning(name, args string) toolbox.Meaning {
	m := toolbox.Meaning{Tool: name, Permission: name, Args: json.RawMessage(args)}
	for _, edits := range []string{"write", "edit", "patch", "delete", "move", "copy", "format"} {
		if strings.Contains(name, edits) {
			m.Permission = "edit"
		}
	}
	return m
}
