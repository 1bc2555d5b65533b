package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// full uses every setting.
const full = `
roots: [~/src, /srv/lib]
read_roots: [~/notes]
state_dir: ~/state
cache_dir: /var/cache/tackle
environment: test
project: {id: p1, name: Demo}
mode: build
posture: auto
rules:
  - edit: deny
  - edit: {"src/**": ask, "src/gen/**": allow}
  - {permission: shell, pattern: "*", action: ask, reason: look twice}
files: {require_read: true, durable: true}
output: {lines: 100, bytes: 20 KiB}
limits: {timeout: 90s, parallel: 4}
tools:
  grep: {enabled: false}
  edit: {name: replace, description: Replace text.}
artifacts: {max_age: 12h, max_bytes: 1 GB}
images: {max_age: 7d, max_bytes: 1073741824}
services: {google: {cse: {api_key: "${GOOGLE_KEY}", engine_id: cx}}}
dev: {format_on_edit: true, engines: [gofmt, json], surface: composite, commands: {ruff: {files: ["*.py"], format: [ruff, format], lint: [ruff, check], fix: [ruff, check, --fix], check: [mypy], find: sarif, exits: [1], config: [ruff.toml], inputs: ["*.py"], links: [.venv]}}}
shell: {timeout: 1m, max_timeout: 20m, output: 8 KiB, pass: [AWS_PROFILE, "NPM_*"]}
media: {programs: false, speech: {url: http://127.0.0.1:8000/v1, model: whisper-1, model_file: /srv/m.bin, api_key: '${GOOGLE_KEY}'}}
skills: {enabled: false, folders: [~/team-skills]}
tasks: {enabled: false, dir: ~/tasks, running: 3, log: 1 MiB, max_age: 1d, max_bytes: 10 MiB}
model: here/qwen
agent: {rounds: 50, tokens: 100000, cost: 1.5, time: 20m, title_model: openai/small}
providers: {here: {api: chat, url: "http://localhost:8000/v1", key: "${GOOGLE_KEY}", window: 32000, output: 4000, images: true, files: true, audio: true}}
`

const (
	userFile    = "/home/ann/.config/tackle/config.yaml"
	projectYAML = "/home/ann/src/demo/.tackle/config.yaml"
	here        = "/home/ann/src/demo/pkg/x"
)

// world is a file system and an environment for Load.
func world(user, project string, env map[string]string) Options {
	files := map[string]string{}
	if user != "" {
		files[userFile] = user
	}
	if project != "" {
		files[projectYAML] = project
	}
	vars := map[string]string{"HOME": "/home/ann", "GOOGLE_KEY": "canary-key"}
	for k, v := range env {
		vars[k] = v
	}
	return Options{
		Dir: here,
		Env: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		ReadFile: func(path string) ([]byte, error) {
			if s, ok := files[path]; ok {
				return []byte(s), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		Exists:  func(path string) bool { return path == "/home/ann/src/demo/.git" },
		Resolve: func(path string) (string, error) { return path, nil },
	}
}

func trusted(o Options) Options {
	o.Trusted = func(string) bool { return true }
	return o
}

func load(t testing.TB, o Options) Merged {
	t.Helper()
	m, err := Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLoad_Full(t *testing.T) {
	m := load(t, world(full, "", nil))
	off := false
	want := Config{
		Roots: []string{"/home/ann/src", "/srv/lib"}, ReadRoots: []string{"/home/ann/notes"}, StateDir: "/home/ann/state",
		CacheDir: "/var/cache/tackle", Environment: "test", Project: Project{"p1", "Demo"}, Mode: "build", Posture: permission.Auto,
		Files: Files{true, true}, Dev: Dev{true, []string{"gofmt", "json"}, "composite", map[string]DevCommand{"ruff": {[]string{"*.py"}, []string{"ruff", "format"}, []string{"ruff", "check"}, []string{"ruff", "check", "--fix"}, []string{"mypy"}, "sarif", []int{1}, []string{"ruff.toml"}, []string{"*.py"}, []string{".venv"}}}}, Output: Output{100, 20 << 10}, Limits: Limits{90 * time.Second, 4},
		Tools:     map[string]Tool{"grep": {Enabled: &off}, "edit": {Name: "replace", Description: "Replace text."}},
		Artifacts: Retention{12 * time.Hour, 1e9}, Images: Retention{7 * day, 1 << 30},
		Services: Services{Google{CSE{tool.NewSecret("canary-key"), "cx"}}},
		Shell:    Shell{time.Minute, 20 * time.Minute, 8 << 10, []string{"AWS_PROFILE", "NPM_*"}},
		Tasks:    Tasks{&off, "/home/ann/tasks", 3, 1 << 20, day, 10 << 20},
		Media:    Media{&off, Speech{"http://127.0.0.1:8000/v1", "whisper-1", "/srv/m.bin", tool.NewSecret("canary-key")}},
		Skills:   Skills{&off, []string{"/home/ann/team-skills"}},
		Model:    "here/qwen", Agent: Agent{50, 100000, 1.5, 20 * time.Minute, "openai/small"},
		Providers: map[string]Provider{"here": {"chat", "http://localhost:8000/v1", tool.NewSecret("canary-key"), 32000, 4000, true, true, true}},
	}
	if diff := cmp.Diff(want, m.Config, cmp.AllowUnexported(tool.Secret{})); diff != "" {
		t.Errorf("config: -want +got\n%s", diff)
	}
	rules := []permission.Layer{{Name: permission.User, Rules: []permission.Rule{
		{Permission: "edit", Pattern: "*", Action: tool.Deny, Source: permission.Source{File: userFile, Line: 11, Column: 5}},
		{Permission: "edit", Pattern: "src/**", Action: tool.Ask, Source: permission.Source{File: userFile, Line: 12, Column: 12}},
		{Permission: "edit", Pattern: "src/gen/**", Action: tool.Allow, Source: permission.Source{File: userFile, Line: 12, Column: 27}},
		{Permission: "shell", Pattern: "*", Action: tool.Ask, Reason: "look twice", Source: permission.Source{File: userFile, Line: 13, Column: 5}},
	}}}
	if diff := cmp.Diff(rules, m.Layers); diff != "" {
		t.Errorf("rules: -want +got\n%s", diff)
	}
	for path, line := range map[string]int{"roots[0]": 2, "roots[1]": 2, "posture": 9, "tools.grep.enabled": 18, "services.google.cse.api_key": 22} {
		if o := m.Origins[path]; o.Line != line || o.File != userFile || o.Layer != LayerUser {
			t.Errorf("origin of %s: %+v", path, o)
		}
	}
	for _, v := range m.Values() {
		if v.Default {
			t.Errorf("full does not set %s", v.Path)
		}
	}
	e := m.ToolEnvironment()
	if !e.Has("google.cse") || e.Workspace.WorkspaceDir != "/home/ann/src" || e.Workspace.ProjectDir != "/home/ann/src/demo" ||
		!cmp.Equal(e.Workspace.Roots, []string{"/srv/lib"}) || e.Project.Name != "Demo" || e.Mode != "build" || e.Name != "test" {
		t.Errorf("T9: environment %+v", e)
	}
	if b := m.Bounds(); b.Lines != 100 || b.Bytes != 20<<10 {
		t.Errorf("bounds %+v", b)
	}
	if d := m.Disabled(); !cmp.Equal(d, []string{"grep"}) {
		t.Errorf("disabled %v", d)
	}
}

// Layers: scalars and keys by the strongest, lists whole, rules never.
func TestLoad_Layers(t *testing.T) {
	o := trusted(world(
		"mode: a\nposture: ci\nroots: [/u1, /u2]\noutput: {lines: 1}\ntools: {grep: {name: u, description: d}}\nrules: [edit: deny]\n",
		"mode: b\nroots: [sub]\noutput: {bytes: 2}\ntools: {grep: {name: p}}\nrules: [edit: ask]\n",
		map[string]string{"TACKLE_MODE": "c", "TACKLE_OUTPUT_LINES": "3", "TACKLE_POSTURE": "", "TACKLE_READ_ROOTS": "/r1:~/r2", "TACKLE_SERVICES_GOOGLE_CSE_API_KEY": "k"}))
	o.Flags = []Flag{{"mode", []string{"d"}}, {"tools.edit.enabled", []string{"false"}}, {"limits.timeout", []string{"1m"}}}
	m := load(t, o)
	off := false
	want := Config{Mode: "d", Posture: permission.CI, Roots: []string{"/home/ann/src/demo/sub"}, ReadRoots: []string{"/r1", "/home/ann/r2"},
		Output: Output{3, 2}, Limits: Limits{Timeout: time.Minute},
		Tools:    map[string]Tool{"grep": {Name: "p", Description: "d"}, "edit": {Enabled: &off}},
		Services: Services{Google{CSE{APIKey: tool.NewSecret("k")}}}}
	if diff := cmp.Diff(want, m.Config, cmp.AllowUnexported(tool.Secret{})); diff != "" {
		t.Errorf("config: -want +got\n%s", diff)
	}
	origins := map[string]Origin{
		"mode":                        {Layer: LayerFlags, Name: "mode"},
		"posture":                     {Layer: LayerUser, File: userFile, Line: 2, Column: 10},
		"roots[0]":                    {Layer: LayerProject, File: projectYAML, Line: 2, Column: 9},
		"read_roots[0]":               {Layer: LayerEnvironment, Name: "TACKLE_READ_ROOTS"},
		"read_roots[1]":               {Layer: LayerEnvironment, Name: "TACKLE_READ_ROOTS"},
		"output.lines":                {Layer: LayerEnvironment, Name: "TACKLE_OUTPUT_LINES"},
		"output.bytes":                {Layer: LayerProject, File: projectYAML, Line: 3, Column: 17},
		"tools.grep.name":             {Layer: LayerProject, File: projectYAML, Line: 4, Column: 22},
		"tools.grep.description":      {Layer: LayerUser, File: userFile, Line: 5, Column: 38},
		"tools.edit.enabled":          {Layer: LayerFlags, Name: "tools.edit.enabled"},
		"limits.timeout":              {Layer: LayerFlags, Name: "limits.timeout"},
		"services.google.cse.api_key": {Layer: LayerEnvironment, Name: "TACKLE_SERVICES_GOOGLE_CSE_API_KEY"},
	}
	if diff := cmp.Diff(origins, m.Origins); diff != "" {
		t.Errorf("origins: -want +got\n%s", diff)
	}
	if len(m.Layers) != 2 || m.Layers[0].Name != permission.User || m.Layers[1].Name != permission.Project || m.Layers[1].Untrusted || m.Layers[0].Base != "" || m.Layers[1].Base != "/home/ann/src/demo" {
		t.Errorf("layers %+v", m.Layers)
	}
	names := map[string]string{}
	for _, s := range settings(Config{}) {
		if other := names[Variable(s.path)]; other != "" {
			t.Errorf("%s and %s have one variable", other, s.path)
		}
		names[Variable(s.path)] = s.path
	}
}

// P1, SELF-012, SELF-014: a project that is not trusted only tightens.
func TestLoad_Untrusted(t *testing.T) {
	project := "posture: auto\nroots: [/]\nfiles: {require_read: true, durable: true}\nproject: {name: '${GOOGLE_KEY}'}\n" +
		"tools: {shell: {enabled: false}, grep: {enabled: true, description: evil}}\nservices: {google: {cse: {api_key: '${UNSET}'}}}\nrules: [{edit: allow}, {shell: deny}]\n"
	m := load(t, world("posture: guarded\n", project, nil))
	off := false
	want := Config{Posture: permission.Guarded, Files: Files{RequireRead: true}, Tools: map[string]Tool{"shell": {Enabled: &off}}}
	if diff := cmp.Diff(want, m.Config, cmp.AllowUnexported(tool.Secret{})); diff != "" {
		t.Errorf("config: -want +got\n%s", diff)
	}
	var ignored []string
	for _, i := range m.Ignored {
		ignored = append(ignored, fmt.Sprintf("%s:%d", i.Path, i.Origin.Line))
	}
	wantIgnored := []string{"posture:1", "roots:2", "files.durable:3", "project.name:4", "tools.grep.enabled:5", "tools.grep.description:5", "services.google.cse.api_key:6"}
	if diff := cmp.Diff(wantIgnored, ignored); diff != "" {
		t.Errorf("ignored: -want +got\n%s", diff)
	}
	if len(m.Layers) != 1 || !m.Layers[0].Untrusted {
		t.Errorf("layers %+v", m.Layers)
	}
	// Nor is there an engine without a command line, which nothing could be done with.
	if made := load(t, world("", "dev: {commands: {evil: {files: ['*.go'], lint: [evil]}}}", nil)); len(made.Config.Dev.Commands) != 0 || len(made.Ignored) != 2 {
		t.Errorf("an untrusted project made engines: %+v", made.Config.Dev)
	}
	off2 := load(t, world("", "files: {require_read: '${X}'}", nil))
	if off2.Config.Files.RequireRead || len(off2.Ignored) != 1 {
		t.Errorf("a reference in an untrusted project: %+v", off2.Ignored)
	}
	loose := load(t, world("files: {require_read: true}\ntools: {shell: {enabled: false}}", "files: {require_read: false}\ntools: {shell: {enabled: true}}", nil))
	if !loose.Config.Files.RequireRead || len(loose.Disabled()) != 1 || len(loose.Ignored) != 2 {
		t.Errorf("an untrusted project loosened: %+v", loose.Config)
	}
}

// Every mistake has its position and what to write instead.
func TestLoad_Errors(t *testing.T) {
	tests := []struct{ name, user, project, want string }{
		{"unknown key", "mode: a\noutptu: {lines: 1}", "", userFile + ":2:1: outptu: there is no setting of this name; did you mean output?"},
		{"unknown below", "output:\n  line: 1", "", userFile + ":2:3: output.line: there is no setting of this name; did you mean lines?"},
		{"unknown and far", "zzz: 1", "", "keys here are agent, artifacts, cache_dir"},
		{"reserved", "mcp: {}", "", "mcp: the key is reserved"},
		{"twice", "mode: a\nmode: b", "", ":2:1: the key \"mode\" stands twice, first in line 1"},
		{"posture", "posture: yolo", "", `:1:10: posture: posture "yolo": want plan, guarded, auto or ci`},
		{"number", "output: {lines: many}", "", `:1:17: output.lines: "many" is not a whole number`},
		{"size", "output: {bytes: 3 XB}", "", `has the unit "XB"`},
		{"duration", "limits: {timeout: soon}", "", `"soon" is not a duration`},
		{"bool", "files: {durable: yes}", "", `"yes" is neither true nor false`},
		{"list", "roots: /a", "", "want a list here, not a single value"},
		{"scalar", "mode: [a]", "", "want a single value here, not a list"},
		{"object", "output: 3", "", "want keys and values here, not a single value"},
		{"not YAML", "mode: [a\nb: c", "", userFile + ":"},
		{"star", "rules:\n  - edit: {*: deny}", "", "needs quotes"},
		{"two documents", "mode: a\n---\nmode: b", "", "second document"},
		{"alias", "mode: &m a\nenvironment: *m", "", "anchors and aliases are not read"},
		{"tag", "mode: !x a", "", "the tag !x is not read"},
		{"unset variable", "mode: ${NOPE}", "", ":1:7: mode: the environment variable NOPE is not set"},
		{"bad reference", "mode: ${NO PE}", "", `"NO PE" is not the name`},
		{"open reference", "mode: '${NOPE'", "", "not closed"},
		{"relative folder", "roots: [src]", "", `"src" is relative, and this file belongs to no folder`},
		{"another's home", "roots: [~clientB/src]", "", "only \"~/\" is read"},
		{"literal credential", "services: {google: {cse: {api_key: canary}}}", "", "a credential is written as a reference"},
		{"literal credential in a project", "", "services: {google: {cse: {api_key: canary}}}", projectYAML + ":1:36: services.google.cse.api_key: a credential is written as a reference"},
		{"credential with a default", "services: {google: {cse: {api_key: '${K:-canary}'}}}", "", "a credential is written as a reference"},
		{"a project's state", "", "state_dir: /tmp/x", projectYAML + ":1:12: state_dir: a project cannot make this setting"},
		{"rules as a map", "rules: {edit: deny}", "", `rules are a list, because the last one that matches wins`},
		{"action", "rules:\n  - edit: dney", "", `:2:11: rules: the action "dney" is none of allow, ask, deny; did you mean deny?`},
		{"no action", "rules:\n  - {permission: edit, pattern: a}", "", ":2:5: rules: the rule has no action"},
		{"no pattern", "rules: [{permission: edit, action: deny}]", "", "the rule has no pattern"},
		{"rule key", "rules: [{permission: edit, patern: a, action: deny}]", "", "rules.patern: there is no setting of this name; did you mean pattern?"},
		{"pattern twice", "rules: [edit: {a: deny, a: allow}]", "", `the key "a" stands twice`},
		{"pattern", "rules:\n  - edit: {'src/[a': deny}", "", userFile + ":2:12: rule 1"},
		{"permission", "rules:\n  - 'Bash(x)': deny", "", "has the character '('"},
		{"tool name", "tools: {'a.b': {enabled: false}}", "", `the key "a.b" is not a name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Load(context.Background(), world(tt.user, tt.project, nil))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the credential is in %v", err)
			}
			if m.Origins != nil {
				t.Error("there is a Merged beside the error (POL-006)")
			}
		})
	}
	// All mistakes at once; flags and variables by their names.
	o := world("mode: [a]\nposture: x", "", map[string]string{"TACKLE_OUTPUT_LINES": "x"})
	o.Flags = []Flag{{"outptu.lines", []string{"1"}}, {"rules", []string{"edit"}}, {"mode", []string{"a", "b"}}}
	_, err := Load(context.Background(), o)
	for _, want := range []string{":1:7: mode", ":2:10: posture", "TACKLE_OUTPUT_LINES: output.lines", "flag for outptu.lines: outptu: there is no", "flag for rules: rules: rules stand in files", "flag for mode: mode: want a single value"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	var ce *Error
	if !errors.As(err, &ce) || ce.Path != "mode" || ce.Origin.Line != 1 {
		t.Errorf("the error is not an *Error: %v", err)
	}
}

// T9: what came out of the environment is in no error, and credentials are in no rendering.
func TestLoad_Canaries(t *testing.T) {
	_, err := Load(context.Background(), world("output: {lines: '${GOOGLE_KEY}'}\nroots: ['${GOOGLE_KEY}']\nposture: ${GOOGLE_KEY}", "", nil))
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	m := load(t, world(full, "", nil))
	js, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{m.Text(), string(js), fmt.Sprintf("%v %+v %#v", m, m, m)} {
		if strings.Contains(text, "canary") {
			t.Errorf("the credential is in %s", text)
		}
	}
	if m.Config.Services.Google.CSE.APIKey.Reveal() != "canary-key" {
		t.Error("the credential is lost")
	}
}

func TestExpand(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "EMPTY": "", "NEST": "${A}"}[name]
		return v, ok
	}
	for _, tt := range [][2]string{
		{"x", "x"}, {"${A}", "1"}, {"a${A}b${A}", "a1b1"}, {"${B:-d}", "d"}, {"${EMPTY:-d}", "d"}, {"${EMPTY}", ""}, {"${A:-d}", "1"},
		{"$${A}", "${A}"}, {"$A", "$A"}, {"${NEST}", "${A}"}, {"$", "$"}, {"${B:-}", ""}, {"x$${", "x${"},
	} {
		if got, err := expand(tt[0], env); err != nil || got != tt[1] {
			t.Errorf("%s: got %q, %v, want %q", tt[0], got, err, tt[1])
		}
	}
	for _, bad := range []string{"${B}", "${", "${}", "${1A}", "${A-b}"} {
		if got, err := expand(bad, env); err == nil {
			t.Errorf("%s: got %q", bad, got)
		}
	}
}

func TestLoad_Places(t *testing.T) {
	m := load(t, world("", "mode: a", nil))
	if m.ProjectDir != "/home/ann/src/demo" || len(m.Files) != 1 || m.Files[0].Path != projectYAML || m.Files[0].Trusted {
		t.Errorf("found upwards: %s %+v", m.ProjectDir, m.Files)
	}
	o := world("", "mode: a", nil)
	o.Exists = func(string) bool { return false }
	if m := load(t, o); len(m.Files) != 0 || m.ProjectDir != here {
		t.Errorf("without a repository a folder above decides: %+v", m.Files)
	}
	o = world("mode: a", "mode: b", nil)
	o.NoFiles = true
	if m := load(t, o); m.Config.Mode != "" {
		t.Errorf("NoFiles reads %q", m.Config.Mode)
	}
	o = world("", "", nil)
	o.UserFile = "/elsewhere.yaml"
	if _, err := Load(context.Background(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
	o = world("", "", nil)
	o.ReadFile = func(string) ([]byte, error) { return nil, fs.ErrPermission }
	o.Exists = func(string) bool { return true }
	if _, err := Load(context.Background(), o); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("files that cannot be read: %v", err)
	}
	o = world("", "", nil)
	o.Dir = "rel"
	if _, err := Load(context.Background(), o); err == nil {
		t.Error("a relative Dir is accepted")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ended, world("", "", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	if got := UserFile(func(name string) (string, bool) { return map[string]string{"XDG_CONFIG_HOME": "/x"}[name], true }); got != "/x/tackle/config.yaml" {
		t.Errorf("XDG: %s", got)
	}
	if got := UserFile(func(string) (string, bool) { return "", false }); got != "" {
		t.Errorf("no home: %s", got)
	}
}

// The zero value works, and what is written in Go is the person's.
func TestOf(t *testing.T) {
	m := Of(Config{Mode: "x", Rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Deny}}, Roots: []string{"/w"}})
	want := Merged{Config: Config{Mode: "x", Roots: []string{"/w"}}, Origins: map[string]Origin{}, ProjectDir: "/w",
		Layers: []permission.Layer{{Name: "user", Rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Deny}}}}}
	if diff := cmp.Diff(want, m, cmpopts.EquateEmpty(), cmp.AllowUnexported(tool.Secret{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if text := Of(Config{}).Text(); !strings.Contains(text, "posture") || !strings.Contains(text, "built-in") {
		t.Errorf("zero value: %s", text)
	}
}

func TestMerged_Text(t *testing.T) {
	o := world("posture: ci\nmode: \"a\\u202eb\"\n", "mode: b\nrules: [edit: {'src/**': deny}]\n", map[string]string{"TACKLE_OUTPUT_LINES": "-1"})
	m := load(t, o)
	const file = "testdata/text.golden"
	if *update {
		if err := os.WriteFile(file, []byte(m.Text()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), m.Text()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	js, err := json.MarshalIndent(m, "", " ")
	if err != nil || !json.Valid(js) || !strings.Contains(string(js), `"path": "posture"`) {
		t.Errorf("JSON: %v %s", err, js)
	}
}

// The person's word is bound to content and place.
func TestTrust(t *testing.T) {
	tr := Trust{File: filepath.Join(t.TempDir(), "state", "trusted")}
	a, b := TrustKey("/p", []byte("mode: a")), TrustKey("/p", []byte("mode: b"))
	if a == b || a == TrustKey("/q", []byte("mode: a")) || a != TrustKey("/p", []byte("mode: a")) {
		t.Fatal("keys do not bind content and place")
	}
	if tr.Trusted(a) || tr.Trusted("") {
		t.Error("trusted without a list")
	}
	if err := tr.Remove(a); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := tr.Add(a, "/p/.tackle/config.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Add(b, "line\nbreak"); err != nil {
		t.Fatal(err)
	}
	if !tr.Trusted(a) || !tr.Trusted(b) {
		t.Error("not trusted after Add")
	}
	if err := tr.Remove(a); err != nil || tr.Trusted(a) || !tr.Trusted(b) {
		t.Errorf("after Remove: %v", err)
	}
	if err := tr.Add("x", ""); err == nil {
		t.Error("a key of another form is accepted")
	}
	info, err := os.Stat(tr.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	o := world("", "mode: a\nrules: [edit: allow]", nil)
	o.Trusted = tr.Trusted
	m := load(t, o)
	if err := tr.Add(m.Files[0].Key, m.Files[0].Path); err != nil {
		t.Fatal(err)
	}
	if m = load(t, o); !m.Files[0].Trusted || m.Config.Mode != "a" || m.Layers[0].Untrusted {
		t.Errorf("after trusting: %+v", m.Files)
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "-1": -1, "5": 5, "1 KiB": 1024, "1kb": 1000, "2MiB": 2 << 20, "3 GB": 3e9, "7 B": 7} {
		var s, back Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%q: %d, %v", text, s, err)
		}
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back != s {
			t.Errorf("%q prints as %q", text, s)
		}
	}
	for _, bad := range []string{"", "x", "-2", "-1 KB", "1 TB", "9999999999 GiB", "1.5 KB"} {
		var s Size
		if err := s.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is %d", bad, s)
		}
	}
	for text, want := range map[string]time.Duration{"30d": 30 * day, "0d": 0, "12h": 12 * time.Hour, "1m30s": 90 * time.Second, "5m": 5 * time.Minute} {
		d, err := ParseDuration(text)
		if err != nil || d != want {
			t.Errorf("%q: %v, %v", text, d, err)
		}
		if back, err := ParseDuration(formatDuration(d)); err != nil || back != d {
			t.Errorf("%v prints as %q", d, formatDuration(d))
		}
	}
	for _, bad := range []string{"", "d", "-1h", "999999999999d", "3 weeks"} {
		if d, err := ParseDuration(bad); err == nil {
			t.Errorf("%q is %v", bad, d)
		}
	}
}

// FuzzLoad: no file panics, hangs or reveals a credential, and what loads renders.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{full, "rules: [edit: {'*': deny}]", "a: &a [*a]", "mode: ${GOOGLE_KEY:-x}", "? {a: b}\n: c", "tools: {a: {enabled: }}", "\xff", "--- !!binary x"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, project bool) {
		o := trusted(world(text, "", nil))
		if project {
			o = world("", text, nil)
		}
		m, err := Load(context.Background(), o)
		if err != nil {
			if strings.Contains(err.Error(), "canary-key") {
				t.Errorf("a value of the environment is in %v", err)
			}
			return
		}
		if m.Text() == "" {
			t.Error("nothing is rendered")
		}
		if _, err := json.Marshal(m); err != nil {
			t.Error(err)
		}
		if _, err := permission.New(permission.Options{Layers: m.Layers, Facts: permission.Facts{Home: "/home/ann"}}); err != nil {
			t.Errorf("rules load and make no gate: %v", err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	o := world(full, "rules: [edit: {'src/**': deny}]", nil)
	for b.Loop() {
		load(b, o)
	}
}
