package custom

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

func TestA10_Manifest(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"description: d\ncommand: [./x.sh]\n", ""},
		{"name: other\ndescription: d\ncommand: [python3, ./x.py, -v]\nschema: {type: object, properties: {a: {type: integer}}, required: [a]}\nexample: {a: 1}\noutput: json\ntimeout: 1m\nenv: [TOKEN]\neffects: [read, network]\nmodes: [build]\ntitle: X\n", ""},
		{"", "it is empty"},
		{"description: d\n", "no command"},
		{"command: [x]\n", "no description"},
		{"name: Bad-Name\ndescription: d\ncommand: [x]\n", `name "Bad-Name"`},
		{"description: d\ncommand: [x]\ncomand: [y]\n", "field comand not found"},
		{"description: d\ncommand: x y\n", "cannot unmarshal"},
		{"description: d\ncommand: [x]\ntimeout: 1h\n", "want at most 10m"},
		{"description: d\ncommand: [x]\noutput: xml\n", "want text or json"},
		{"description: d\ncommand: [x]\neffects: [magic]\n", `effect "magic"`},
		{"description: d\ncommand: [x]\nenv: [A=b]\n", `env "A=b"`},
		{"description: d\ncommand: [x]\nmodes: []\n", "name at least one"},
		{"description: d\ncommand: [x]\nschema: {type: string}\n", "not an object"},
		{"description: d\ncommand: [x]\nschema: {type: object, properties: {a: {type: 7}}}\n", "schema"},
		{"description: d\ncommand: [x]\nexample: {a: 1}\n", "example"},
		{"description: d\ncommand: [\"a\\0b\"]\n", "NUL"},
		{"name: mcp__issues__list\ndescription: d\ncommand: [x]\n", "other servers"},
		{"description: d\ncommand: [bin/x]\n", "begin it with ./"},
		{"description: d\ncommand: [/bin/x]\n", ""},
		{"a: &a [x,x]\n", "field a not found"},
		{strings.Repeat("#", maxManifest+1), "at most"},
	} {
		m, err := Parse("/p/thing.yaml", []byte(tt.in))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.in, err)
		case tt.want == "" && (m.schema == nil || m.Timeout == 0 || m.Name == ""):
			t.Errorf("%q: %+v", tt.in, m)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "/p/thing.yaml")):
			t.Errorf("%q: got %v, want %q", tt.in, err, tt.want)
		}
	}
}

type world struct {
	t    *testing.T
	dir  string
	host host.Host
	run  host.Runner
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := local.Open(local.Config{Roots: []host.Root{{Path: ws}}, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.EndCommands() })
	r, err := l.Runner()
	if err != nil {
		t.Skip("this machine runs no commands: ", err)
	}
	return &world{t, ws, l, r}
}

func (w *world) tool(script, manifest string) tool.Tool {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "x.sh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	m, err := Parse(filepath.Join(w.dir, "thing.yaml"), []byte("description: d\ncommand: [./x.sh, --flag]\nschema: {type: object, properties: {a: {type: string}}}\n"+manifest))
	if err != nil {
		w.t.Fatal(err)
	}
	return New(m, Config{Runner: w.run, Getenv: func(n string) (string, bool) { return "value of " + n, n == "TOKEN" }})
}

type quiet struct{ tool.Runner }

func (quiet) Meta(string, any) {}

func (w *world) call(tl tool.Tool, args string) (tool.Result, error) {
	a, err := tl.Plan(w.t.Context(), &tool.Call{Host: w.host, Dir: w.dir, Session: "s1"}, json.RawMessage(args))
	if err != nil {
		return tool.Result{}, err
	}
	return a.Run(w.t.Context(), quiet{})
}

func TestContract(t *testing.T) {
	w := newWorld(t)
	tooltest.Run(t, w.tool("cat\n", ""), tooltest.World{Host: w.host, Dir: w.dir, Good: []string{`{"a":"x"}`}})
}

// A10: what a program prints, refuses, never ends or floods becomes a result that says so.
func TestA10_Run(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		name, script, manifest, args string
		code                         tool.Code
		want                         string
	}{
		{"arguments", "cat; echo \" $1 $TACKLE_TOOL $TACKLE_SESSION $TOKEN ${HOME_TOKEN-none}\"", "env: [TOKEN, HOME_TOKEN]\n", `{"a":"b c"}`, "", "{\"a\":\"b c\"}\n --flag thing s1 value of TOKEN none"},
		{"no variable that is not named", "echo ${TOKEN-none}", "", `{}`, "", "none"},
		{"reads nothing", "echo done", "", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "", "done"},
		{"silent", "cat >/dev/null", "", `{}`, "", "ended well and wrote nothing"},
		{"json", "echo '{\"n\": 1}'", "output: json\n", `{}`, "", `{"n": 1}`},
		{"garbage for json", "echo oops", "output: json\n", `{}`, tool.ExecutionFailed, "wrote no JSON"},
		{"garbage", `printf 'a\000b\377c'`, "", `{}`, "", "a\uFFFDb\uFFFDc"},
		{"fails", "echo half; echo 'bad thing' >&2; exit 3", "", `{}`, tool.ExecutionFailed, "thing failed (exit status 3).\nbad thing\nhalf"},
		{"never ends", "sleep 1000", "timeout: 300ms\n", `{}`, tool.TimedOut, "ended after 300ms, with everything"},
		{"floods", "while :; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; done", "", `{}`, tool.LimitExceeded, "wrote more than"},
		{"kills itself", "kill -9 $$", "", `{}`, tool.ExecutionFailed, "SIGKILL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := w.call(w.tool(tt.script, tt.manifest), tt.args)
			if err != nil {
				t.Fatal(err)
			}
			code := tool.Code("")
			if res.Err != nil {
				code = res.Err.Code
			}
			if code != tt.code || !strings.Contains(res.Text(), tt.want) {
				t.Errorf("%s: %s\nwant %s: %s", code, res.Text(), tt.code, tt.want)
			}
		})
	}
}

// A10: what programs get of a JSON output is JSON in UTF-8, whatever bytes it had in its strings.
func TestA10_ValueIsText(t *testing.T) {
	w := newWorld(t)
	res, err := w.call(w.tool(`printf '{"a":"\377"}'`, "output: json\n"), `{}`)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(res.Data)
	if err != nil || !utf8.Valid(b) || !strings.Contains(string(b), "\uFFFD") {
		t.Errorf("%v %q", err, b)
	}
}

// P4, A10: a manifest that says "read" is a command all the same, and an approval is bound to the script as it was.
func TestA10_LiesAndChanges(t *testing.T) {
	w := newWorld(t)
	tl := w.tool("touch made; echo x", "effects: [read]\n")
	call := &tool.Call{Host: w.host, Dir: w.dir}
	a, err := tl.Plan(t.Context(), call, json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if tl.Definition().Annotations.ReadOnly {
		t.Error("the road and clients take its word for it that it only reads")
	}
	if !a.Intent.Has(tool.Execute) || len(a.Intent.Targets) != 1 || a.Intent.Targets[0].Kind != tool.CommandTarget || len(a.Intent.Scripts) != 1 {
		t.Errorf("intent %+v", a.Intent)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "x.sh"), []byte("#!/bin/sh\necho other\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(context.Background(), quiet{}); err == nil || !strings.Contains(err.Error(), "changed after the call was approved") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
		t.Error("it ran")
	}
}
