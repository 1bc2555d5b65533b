package forge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/forge"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

const movePatch = `*** Begin Patch\n*** Update File: src/old.ts\n*** Move to: src/new.ts\n@@\n-let a = 1\n+let a = 2\n*** End Patch\n`

// D4: the exact calls and payloads of the gate for every granular tool: acquire and the step, never a third.
func TestD4_Transcript(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"src/index.go": "package src\n\nimport (\n\t\"os\"\n\t\"fmt\"\n)\n\nvar  x = fmt.Sprint(os.Args)\n", "s.sh": "if true;then\necho hi\nfi\n", "n.md": "# n\n", "src/old.ts": "let a = 1\n"}})
	same(t, "tools", w.names(), []string{"read_lines", "edit", "apply_patch", "format", "lint", "check"})
	all := `["n.md","s.sh","src/index.go","src/old.ts"]`
	for _, row := range []struct {
		tool, args string
		want       []string
	}{
		{"read_lines", `{"path":"src/index.go","limit":1}`, []string{
			`{"step":"acquire","args":{"paths":["src/index.go"]},"targets":["src/index.go"],"mayCreate":[]}`,
			`{"step":"read_lines","args":{"path":"src/index.go","limit":1},"targets":["src/index.go"],"mayCreate":[]}`}},
		{"edit", `{"path":"./src/index.go","edits":[{"old_string":"var  x","new_string":"var  y"}]}`, []string{
			`{"step":"acquire","args":{"paths":["./src/index.go"]},"targets":["src/index.go"],"mayCreate":[]}`,
			`{"step":"edit","args":{"path":"./src/index.go","edits":[{"old_string":"var  x","new_string":"var  y"}],"persists":true},"targets":["src/index.go"],"mayCreate":[]}`}},
		{"edit", `{"path":"made.txt","edits":[{"old_string":"","new_string":"made\n"}]}`, []string{
			`{"step":"acquire","args":{"paths":["made.txt"]},"targets":[],"mayCreate":[]}`,
			`{"step":"edit","args":{"path":"made.txt","edits":[{"old_string":"","new_string":"made\n"}],"persists":true},"targets":["made.txt"],"mayCreate":["made.txt"]}`}},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: made.txt\n*** End Patch\n"}`, []string{
			`{"step":"acquire","args":{"paths":["made.txt"]},"targets":["made.txt"],"mayCreate":[]}`,
			`{"step":"apply_patch","args":{"patch":"*** Begin Patch\n*** Delete File: made.txt\n*** End Patch\n","persists":true},"targets":["made.txt"],"mayCreate":[]}`}},
		{"format", `{}`, []string{
			`{"step":"acquire","args":{},"targets":` + all + `,"mayCreate":[]}`,
			`{"step":"format","args":{"persists":true},"targets":["s.sh","src/index.go"],"mayCreate":[],"engines":["gofmt","shfmt"]}`}},
		{"lint", `{}`, []string{
			`{"step":"acquire","args":{},"targets":` + all + `,"mayCreate":[]}`,
			`{"step":"lint","args":{},"targets":["src/index.go"],"mayCreate":[],"engines":["goimports"]}`}},
		{"lint", `{"paths":["src"],"fix":true}`, []string{
			`{"step":"acquire","args":{"paths":["src"]},"targets":["src/index.go","src/old.ts"],"mayCreate":[]}`,
			`{"step":"lint","args":{"paths":["src"],"fix":true,"persists":true},"targets":["src/index.go"],"mayCreate":[],"engines":["goimports"]}`}},
		{"check", `{"paths":["src/*.go"]}`, []string{
			`{"step":"acquire","args":{"paths":["src/*.go"]},"targets":["src/index.go"],"mayCreate":[]}`,
			`{"step":"check","args":{"paths":["src/*.go"]},"targets":["src/index.go"],"mayCreate":[],"engines":["gofmt"]}`}},
		{"apply_patch", `{"patch":"` + movePatch + `"}`, []string{
			`{"step":"acquire","args":{"paths":["src/old.ts","src/new.ts"]},"targets":["src/old.ts"],"mayCreate":[]}`,
			`{"step":"apply_patch","args":{"patch":"` + movePatch + `","persists":true},"targets":["src/old.ts","src/new.ts"],"mayCreate":["src/new.ts"]}`}},
	} {
		w.ok(row.tool, row.args)
		same(t, row.tool+" "+row.args, w.payloads(), row.want)
	}
	if got := w.get("src/index.go"); got != "package src\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar y = fmt.Sprint(os.Args)\n" || w.get("src/new.ts") != "let a = 2\n" || w.get("made.txt") != "<absent>" {
		t.Errorf("on the disk: %q", got)
	}
	// What cannot be understood never comes to the gate.
	for _, bad := range [][2]string{{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: s.sh\n@@\n-x\n"}`}, {"edit", `{"path":"s.sh","edits":[]}`}, {"format", `{"paths":["nothing/here"]}`}} {
		if res := w.call(bad[0], bad[1]); res.OK() {
			t.Errorf("%v: %s", bad, res.Text())
		}
	}
	same(t, "asked about what cannot be understood", w.payloads(), nil)
}

// D1: a forged tool is gated exactly as a direct call of the builder is.
func TestD1_ForgedAsDirect(t *testing.T) {
	files := map[string]string{"a.go": "package  a\n", "b.sh": "echo  x\n"}
	forged := newWorld(t, setup{files: files, opt: forge.Options{Surface: forge.Composite}})
	forged.ok("dev_plan", `{"paths":["a.go","b.sh"],"ops":[{"step":"edit","path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]},{"step":"format"},{"step":"lint","fix":true},{"step":"check"},{"step":"write"}]}`)
	var direct []string
	own := dev.GateFunc(func(_ context.Context, r *dev.Request) error {
		j, err := json.Marshal(r)
		direct = append(direct, string(j))
		return err
	})
	other := newWorld(t, setup{files: files, gate: own})
	if _, err := other.p.Acquire("a.go", "b.sh").Edit("a.go", dev.Block{Old: "a\n", New: "b\n"}).Format().Lint(dev.Lint{Fix: true}).Check().Write().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "asked", forged.payloads(), direct)
	// And so is a step alone.
	granular := newWorld(t, setup{files: files})
	granular.ok("format", `{"paths":["a.go"]}`)
	direct, other = nil, newWorld(t, setup{files: files, gate: own})
	if _, err := other.p.RunCall(t.Context(), dev.Plan{Ops: []dev.Op{{Step: "format", Args: json.RawMessage(`{"paths":["a.go"]}`)}}}, dev.Call{Persist: true}); err != nil {
		t.Fatal(err)
	}
	same(t, "asked", granular.payloads(), direct)
}

// D5: the exact calls of the gate for a plan: every step, write too, and persists nowhere.
func TestD5_Transcript(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n"}, opt: forge.Options{Surface: forge.Composite}})
	same(t, "tools", w.names(), []string{"dev_plan"})
	res := w.ok("dev_plan", `{"paths":["a.go"],"ops":[{"step":"edit","path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]},{"step":"format"},{"step":"check"},{"step":"write"}]}`)
	same(t, "dev_plan", w.payloads(), []string{
		`{"step":"acquire","args":{"paths":["a.go"]},"targets":["a.go"],"mayCreate":[]}`,
		`{"step":"edit","args":{"path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]},"targets":["a.go"],"mayCreate":[]}`,
		`{"step":"format","args":{},"targets":["a.go"],"mayCreate":[],"engines":["gofmt"]}`,
		`{"step":"check","args":{},"targets":["a.go"],"mayCreate":[],"engines":["gofmt"]}`,
		`{"step":"write","args":{},"targets":["a.go"],"mayCreate":[]}`})
	if w.get("a.go") != "package b\n" || !strings.Contains(res.Text(), "1 file changed") {
		t.Errorf("%q: %s", w.get("a.go"), res.Text())
	}
	res = w.ok("dev_plan", `{"ops":[{"step":"edit","path":"a.go","edits":[{"old_string":"b","new_string":"c"}]}]}`)
	if !strings.Contains(res.Text(), "not written") || w.get("a.go") != "package b\n" {
		t.Errorf("a plan without write: %s", res.Text())
	}
	// Raw newlines, quotes and regular expressions come through as they are: there is no grammar to escape them for.
	odd := "re := `\\d+\\n`\n\tx \"y\" | z=1 'q' $HOME\n"
	plan, err := json.Marshal(map[string]any{"ops": []any{map[string]any{"step": "edit", "path": "odd.txt", "edits": []any{map[string]string{"old_string": "", "new_string": odd}}}, map[string]string{"step": "write"}}})
	if err != nil {
		t.Fatal(err)
	}
	if w.ok("dev_plan", string(plan)); w.get("odd.txt") != odd {
		t.Errorf("written %q", w.get("odd.txt"))
	}
}

// T2, D4: the toolbox's gate decides about each step; the road adds no decision; a person is asked once for one thing.
func TestT2_RoadIsTheGate(t *testing.T) {
	ask := []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n", "b.go": "package b\n"}, rules: ask, answer: func(toolbox.Asked) bool { return true }})
	res := w.ok("format", `{}`)
	if len(w.asks) != 1 {
		t.Fatalf("a person was asked %d times", len(w.asks))
	}
	in := w.asks[0].Intent
	if in.Permission != "edit" || !in.Persists || in.Changes.Empty() || len(in.Changes.Ops) != 1 || len(in.Targets) != 1 || in.Targets[0].Path.Rel != "a.go" || in.Targets[0].Effect != tool.Write {
		t.Errorf("%+v", in)
	}
	if string(in.Args) != `{"persists":true}` || len(in.Engines) != 1 || in.Engines[0] != "gofmt" {
		t.Errorf("args %s, engines %v", in.Args, in.Engines)
	}
	if w.get("a.go") != "package a\n" || len(res.Meta.Transaction) != 1 || len(res.Meta.Changes) != 1 {
		t.Errorf("%+v", res.Meta)
	}
	var points []int
	for _, r := range w.records {
		if r.Phase == session.Start {
			points = append(points, r.Point)
			if r.Decision == nil || r.Decision.Verdict != tool.Allow || r.Intent.Fingerprint == "" {
				t.Errorf("point %d: %+v", r.Point, r.Decision)
			}
		}
	}
	if len(points) != 2 || points[0] != 1 || points[1] != 2 || len(w.records) != 3 {
		t.Errorf("recorded points %v in %d records", points, len(w.records))
	}
	// Calls that change nothing ask nobody.
	w.ok("check", `{}`)
	w.ok("read_lines", `{"path":"a.go"}`)
	if len(w.asks) != 1 {
		t.Errorf("a person was asked %d times", len(w.asks))
	}
}

// P2: rules about edit hold for every tool that changes files, rules about reading for what they acquire.
func TestP2_Rules(t *testing.T) {
	rules := []permission.Rule{{Permission: "edit", Pattern: "gen/**", Action: tool.Deny, Reason: "generated"}, {Permission: "read_file", Pattern: "secret/**", Action: tool.Deny}}
	w := newWorld(t, setup{files: map[string]string{"gen/a.go": "package  a\n", "secret/s.go": "package  s\n", "ok.go": "package  ok\n"}, rules: rules})
	for _, c := range [][2]string{
		{"edit", `{"path":"gen/a.go","edits":[{"old_string":"a","new_string":"b","replace_all":true}]}`},
		{"format", `{"paths":["gen/a.go"]}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: gen/a.go\n@@\n-package  a\n+package b\n*** End Patch\n"}`},
		{"edit", `{"path":"gen/new.go","edits":[{"old_string":"","new_string":"x"}]}`},
		{"read_lines", `{"path":"secret/s.go"}`},
		{"check", `{"paths":["secret/s.go"]}`},
		{"edit", `{"path":"secret/none.go","edits":[{"old_string":"x","new_string":"y"}]}`},
		{"read_lines", `{"path":"secret/none.go"}`},
	} {
		res := w.call(c[0], c[1])
		if res.Denied == nil || res.Err.Code != tool.PermissionDenied {
			t.Errorf("%v: %s", c, res.Text())
		}
	}
	if w.get("gen/a.go") != "package  a\n" || w.get("gen/new.go") != "<absent>" {
		t.Error("something was written")
	}
	// A selector leaves out what may not be read, and says so.
	w.payloads()
	w.ok("format", `{"paths":["gen"]}`)
	if w.payloads(); w.get("gen/a.go") != "package  a\n" {
		t.Error("a file that may not be edited was formatted")
	}
	res := w.ok("check", `{}`)
	if got := w.payloads(); strings.Contains(strings.Join(got, "\n"), "secret") || !strings.Contains(res.Text(), "1 file that policy does not let be read") {
		t.Errorf("%v\n%s", got, res.Text())
	}
	w.ok("format", `{"paths":["ok.go"]}`)
}

// The programs of engines are judged as commands, beside the files.
func TestT2_ProgramsAreCommands(t *testing.T) {
	files := map[string]string{"a.go": "package  a\n"}
	for _, row := range []struct {
		rules []permission.Rule
		ok    bool
	}{{nil, false}, {[]permission.Rule{{Permission: "shell", Pattern: "polish --all", Action: tool.Allow}}, true},
		{[]permission.Rule{{Permission: "shell", Pattern: "polish --all", Action: tool.Deny}}, false}} {
		w := newWorld(t, setup{files: files, engines: []dev.Engine{polish{}}, rules: row.rules})
		for _, name := range []string{"check", "format"} {
			if res := w.call(name, `{}`); res.OK() != row.ok {
				t.Errorf("%v %s: %s", row.rules, name, res.Text())
			} else if !row.ok && res.Denied == nil {
				t.Errorf("%v %s: %s", row.rules, name, res.Text())
			}
		}
		if (w.get("a.go") == "polished\n") != row.ok {
			t.Errorf("%v: %q", row.rules, w.get("a.go"))
		}
	}
}

// polish claims to be a program.
type polish struct{}

func (polish) Info() dev.Info {
	a := dev.Ability{Files: []string{"*.go"}, Commands: []string{"polish --all"}}
	return dev.Info{Name: "polish", Version: "1", Can: map[dev.Capability]dev.Ability{dev.CanFormat: a, dev.CanCheck: a}}
}

func (polish) Run(_ context.Context, job *dev.Job) (*dev.Report, error) {
	if job.Capability == dev.CanCheck {
		return nil, nil
	}
	return &dev.Report{Contents: map[string][]byte{job.Files[0].Path: []byte("polished\n")}}, nil
}

// A pipeline with a gate of its own keeps it: the forge adds none, and neither does the road.
func TestD1_OwnGate(t *testing.T) {
	var asked []string
	own := dev.GateFunc(func(_ context.Context, r *dev.Request) error {
		asked = append(asked, r.Step)
		if strings.Contains(string(r.Args), "forbidden") {
			return &dev.DeniedError{Step: r.Step, Reason: "the operator said no"}
		}
		return nil
	})
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n"}, gate: own, answer: func(toolbox.Asked) bool { return true },
		rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}})
	w.ok("format", `{}`)
	if len(asked) != 2 || len(w.asks) != 0 || w.get("a.go") != "package a\n" {
		t.Errorf("asked %v, and a person %d times", asked, len(w.asks))
	}
	res := w.call("edit", `{"path":"a.go","edits":[{"old_string":"a\n","new_string":"forbidden"}]}`)
	if res.Denied == nil || !strings.Contains(res.Text(), "the operator said no") || w.get("a.go") != "package a\n" {
		t.Errorf("%s", res.Text())
	}
	// Outside of a call there is no road to ask.
	p, err := dev.New(dev.Config{Host: w.host, Gate: forge.Road{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Acquire("a.go").Run(t.Context()); err == nil || !tool.IsFault(err) {
		t.Errorf("the road's gate outside of the road: %v", err)
	}
}
