package forge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/dev/forge"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/toolbox"
	"github.com/tackle-dev/tackle/undo"
)

func TestContract(t *testing.T) {
	files := map[string]string{"main.go": "package main\n\nx := 1\n", "src/a.go": "package  src\n"}
	good := map[string][]string{"read_lines": {`{"path":"main.go"}`}, "edit": {`{"path":"new.txt","edits":[{"old_string":"","new_string":"x"}]}`}, "format": {`{}`, `{"paths":["src/*.go"]}`}, "lint": {`{"fix":true}`}, "check": {`{"delta":true}`}, "dev_plan": {`{"ops":[]}`}}
	bad := map[string]map[string]tool.Code{
		"read_lines": {`{"path":"none"}`: tool.NotFound, `{"path":"../x"}`: tool.SecurityViolation}, "edit": {`{"path":"main.go","edits":[]}`: tool.InvalidParameter},
		"apply_patch": {`{"patch":"x"}`: tool.InvalidParameter}, "format": {`{"paths":["none"]}`: tool.NotFound}, "dev_plan": {`{"ops":[{"step":"polish"}]}`: tool.InvalidParameter},
	}
	for _, surface := range []forge.Surface{forge.Granular, forge.Composite} {
		w := newWorld(t, setup{files: files, opt: forge.Options{Surface: surface}})
		for _, tl := range w.tools {
			name := tl.Definition().Name
			t.Run(name, func(t *testing.T) {
				tooltest.Run(t, tl, tooltest.World{Host: w.host, Dir: w.dir, Good: good[name], Bad: bad[name], Artifacts: spool{w.kept}})
			})
		}
	}
}

// The absence of a gate among the options is a promise.
func TestD1_ForgeHasNoGate(t *testing.T) {
	gate := reflect.TypeFor[dev.Gate]()
	typ := reflect.TypeFor[forge.Options]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		if strings.Contains(strings.ToLower(f.Name), "gate") || f.Type == gate || f.Type.Kind() == reflect.Func {
			t.Errorf("the forge takes %s %v", f.Name, f.Type)
		}
	}
}

// D3: schemas come from the steps, arrays stay arrays; what persists follows from the effect.
func TestD3_Granular(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n", "clean.go": "package clean\n"}})
	if slices.Contains(w.names(), "write") {
		t.Error("write is forged")
	}
	for _, s := range dev.Steps() {
		for _, tl := range w.tools {
			if d := tl.Definition(); d.Name == s.Name {
				got, err1 := json.Marshal(d.Schema)
				want, err2 := json.Marshal(s.Args)
				if errors.Join(err1, err2) != nil || string(got) != string(want) {
					t.Errorf("%s:\n%s\n%s", s.Name, got, want)
				}
				if d.Annotations.ReadOnly != (s.Most == dev.Reads) || !d.SelfGated {
					t.Errorf("%s: %+v", s.Name, d.Annotations)
				}
			}
		}
	}
	edit, err := json.Marshal(w.tools[1].Definition().Schema.Properties["edits"])
	if err != nil || !strings.Contains(string(edit), `"type":"array"`) || !strings.Contains(string(edit), "old_string") {
		t.Errorf("%s", edit)
	}
	// A call leaves nothing behind but what it wrote: the next one begins from the disk.
	w.ok("edit", `{"path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`)
	if w.get("a.go") != "package  b\n" {
		t.Error("the edit was not written")
	}
	w.put("a.go", "package  c\n")
	if res := w.ok("read_lines", `{"path":"a.go"}`); !strings.Contains(res.Text(), "package  c") {
		t.Errorf("%s", res.Text())
	}
	for name, writes := range map[string]bool{"check": false, "lint": false, "read_lines": false, "format": true} {
		args := `{}`
		if name == "read_lines" {
			args = `{"path":"a.go"}`
		}
		w.put("a.go", "package  c\n")
		res := w.ok(name, args)
		if (len(res.Meta.Transaction) > 0) != writes || (w.get("a.go") != "package  c\n") != writes {
			t.Errorf("%s: %+v", name, res.Meta.Transaction)
		}
	}
	w.put("a.go", "package c\n")
	if res := w.ok("lint", `{"fix":true}`); len(res.Meta.Transaction) > 0 {
		t.Error("nothing to repair, and something was written")
	}
}

// D7, tier 1: a step without any engine is no tool and in no schema; the explicit call says what exists and not to retry.
func TestD7_Narrowing(t *testing.T) {
	formats := []dev.Engine{polishless{dev.CanFormat, dev.CanLint}}
	w := newWorld(t, setup{files: map[string]string{"a.go": "package a\n"}, engines: formats})
	same(t, "tools", w.names(), []string{"read_lines", "edit", "apply_patch", "format", "lint"})
	res := w.call("check", `{}`)
	if res.Err == nil || res.Err.Code != tool.UnknownTool || !strings.Contains(res.Text(), "Do not") || !strings.Contains(res.Text(), "read_lines") {
		t.Errorf("%s", res.Text())
	}
	for _, tl := range w.tools {
		if d := tl.Definition(); d.Name == "lint" && (d.Schema.Properties["fix"] != nil || !d.Annotations.ReadOnly) {
			t.Error("fix is offered where nothing can repair")
		}
	}
	w = newWorld(t, setup{files: map[string]string{"a.go": "package a\n"}, engines: formats, opt: forge.Options{Surface: forge.Composite}})
	b, err := json.Marshal(w.tools[0].Definition().Schema)
	if err != nil || strings.Contains(string(b), "check") || strings.Contains(string(b), "delta") || strings.Contains(w.tools[0].Definition().Description, "format, lint, check") {
		t.Errorf("%s", b)
	}
	res = w.call("dev_plan", `{"ops":[{"step":"check"}]}`)
	if res.OK() || !strings.Contains(res.Text(), "Do not retry") || !strings.Contains(res.Text(), "format") {
		t.Errorf("%s", res.Text())
	}
	same(t, "asked", w.payloads(), nil)
	none := newWorld(t, setup{engines: []dev.Engine{}})
	same(t, "tools without engines", none.names(), []string{"read_lines", "edit", "apply_patch"})
}

// polishless has capabilities and finds nothing.
type polishless []dev.Capability

func (p polishless) Info() dev.Info {
	info := dev.Info{Name: "polishless", Version: "1", Can: map[dev.Capability]dev.Ability{}}
	for _, c := range p {
		info.Can[c] = dev.Ability{Files: []string{"*.go"}}
	}
	return info
}

func (polishless) Run(context.Context, *dev.Job) (*dev.Report, error) { return nil, nil }

// T15: tools are renamed and described anew by their default names.
func TestT15_Overrides(t *testing.T) {
	opt := forge.Options{Surface: forge.Granular, Overrides: map[string]forge.Override{"edit": {Name: "apply_text_edits", Description: "Apply exact replacements to files of the workspace."}, "check": {Description: "Look for mistakes."}}}
	w := newWorld(t, setup{files: map[string]string{"a.go": "package a\n"}, opt: opt})
	same(t, "tools", w.names(), []string{"read_lines", "apply_text_edits", "apply_patch", "format", "lint", "check"})
	if d := w.tools[1].Definition(); d.Description != "Apply exact replacements to files of the workspace." || d.Permission != "edit" {
		t.Errorf("%+v", d)
	}
	w.ok("apply_text_edits", `{"path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`)
	if got := w.payloads(); len(got) != 2 || !strings.HasPrefix(got[1], `{"step":"edit",`) {
		t.Errorf("%v", got)
	}
	for name, o := range map[string]map[string]forge.Override{"unknown": {"write": {Name: "w"}}, "bad": {"edit": {Name: "Edit it"}}, "taken": {"edit": {Name: "check"}}} {
		if tools, err := forge.Tools(w.p, forge.Options{Overrides: o}); err == nil {
			t.Errorf("%s: %d tools", name, len(tools))
		}
	}
	if _, err := forge.Tools(w.p, forge.Options{Surface: "both"}); err == nil {
		t.Error("a surface that does not exist")
	}
}

// D6: every tool gives the same shape: a summary inline, everything in a JSON artifact.
func TestD6_Artifact(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n", "bad.json": "{", "n.md": ""}})
	for _, c := range [][2]string{{"check", `{}`}, {"format", `{}`}, {"lint", `{}`}, {"read_lines", `{"path":"a.go"}`}, {"edit", `{"path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`}, {"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: n.md\n*** End Patch\n"}`}} {
		res := w.ok(c[0], c[1])
		whole := w.whole(res)
		data, ok := res.Data.(*dev.Result)
		if !ok || !whole.OK || whole.Changes.Summary != data.Changes.Summary || len(whole.Diagnostics) != len(data.Diagnostics) || whole.Steps[0].Step != c[0] {
			t.Errorf("%s: %+v %+v", c[0], whole, res.Data)
		}
		for _, part := range []string{c[0] + ": ok; ", "artifact:" + res.Meta.Artifact} {
			if !strings.Contains(res.Text(), part) {
				t.Errorf("%s lacks %q: %s", c[0], part, res.Text())
			}
		}
	}
	res := w.ok("check", `{}`)
	text := res.Text()
	if !strings.Contains(text, "1 error, 0 warnings") || !strings.Contains(text, "bad.json:1:2: error: ") {
		t.Errorf("%s", text)
	}
}

// flood finds as much as it is told to.
type flood int

func (flood) Info() dev.Info {
	return dev.Info{Name: "flood", Version: "1", Batch: true, Can: map[dev.Capability]dev.Ability{dev.CanCheck: {Files: []string{"*.x"}}}}
}

func (n flood) Run(_ context.Context, job *dev.Job) (*dev.Report, error) {
	r := &dev.Report{Diagnostics: make([]dev.Diagnostic, 0, int(n))}
	for i := range int(n) {
		r.Diagnostics = append(r.Diagnostics, dev.Diagnostic{File: job.Files[0].Path, Range: dev.At(i+1, 3), Severity: []dev.Severity{dev.Err, dev.Warn}[i%2], Code: "TS2322", Source: "flood", Message: fmt.Sprintf("Type '%d' is not assignable to type 'string' in this place", i)})
	}
	return r, nil
}

// D6: ten megabytes of diagnostics are an artifact; inline they are less than two kilobytes, and memory stays bounded.
func TestD6_TenMegabytes(t *testing.T) {
	const n = 60_000
	w := newWorld(t, setup{files: map[string]string{"a.x": "x"}, engines: []dev.Engine{flood(n)}})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res := w.ok("check", `{}`)
	runtime.GC()
	runtime.ReadMemStats(&after)
	r, err := w.kept.Open(t.Context(), res.Meta.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	size := r.Size()
	r.Close()
	if size < 10_000_000 {
		t.Errorf("only %d bytes of diagnostics", size)
	}
	if len(res.Text()) > 2048 || !strings.Contains(res.Text(), "30000 errors, 30000 warnings") || !strings.Contains(res.Text(), "more") {
		t.Errorf("%d bytes inline: %s", len(res.Text()), res.Text())
	}
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 50<<20 {
		t.Errorf("%d bytes are still held", held)
	}
	if whole := w.whole(res); len(whole.Diagnostics) != n || whole.Counts[dev.Err] != 0 && whole.Counts[dev.Err] != n/2 {
		t.Errorf("%d diagnostics in the artifact", len(whole.Diagnostics))
	}
	if data := res.Data.(*dev.Result); len(data.Diagnostics) > 100 || !res.Meta.Truncated {
		t.Errorf("%d diagnostics in the data", len(data.Diagnostics))
	}
	t.Logf("artifact of %d bytes, %d bytes inline", size, len(res.Text()))
}

// F9: reads and writes of the pipeline are the session's.
func TestF9_ReadState(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package a\n"}, options: tool.Options{RequireRead: true}})
	edit := `{"path":"a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`
	if res := w.call("edit", edit); res.OK() || res.Err.Code != tool.OperationNotAllowed || w.get("a.go") != "package a\n" {
		t.Errorf("%s", res.Text())
	}
	w.ok("read_lines", `{"path":"a.go"}`)
	w.ok("edit", edit)
	w.ok("edit", `{"path":"a.go","edits":[{"old_string":"b\n","new_string":"c\n"}]}`) // it knows what it wrote
	w.put("new.go", "package  n\n")
	w.ok("format", `{"paths":["new.go"]}`) // a formatter needs no knowledge of the file
	w.put("a.go", "package theirs\n")
	if res := w.call("edit", `{"path":"a.go","edits":[{"old_string":"theirs","new_string":"ours"}]}`); res.OK() || res.Err.Code != tool.Stale {
		t.Errorf("%s", res.Text())
	}
}

// F10: what the pipeline writes is journalled under the call, so undo takes it back.
func TestF10_Journalled(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package  a\n"}})
	res := w.ok("format", `{}`)
	list, err := w.host.Transactions(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].ID != res.Meta.Transaction[0] {
		t.Fatalf("%+v %v", list, err)
	}
	if n := list[0].Note; n["tool"] != "format" || n[undo.NoteSession] != "s" || n[undo.NoteCall] != res.Meta.Call {
		t.Errorf("%v", n)
	}
}

// D6: check with delta knows what the session has changed, over calls that keep nothing else.
func TestD6_DeltaOfASession(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package a\n\nfunc bad {\n", "b.json": "{}\n"}, engines: engine.All()})
	w.ok("edit", `{"path":"a.go","edits":[{"old_string":"func bad {","new_string":"func good() {}"}]}`)
	w.ok("edit", `{"path":"b.json","edits":[{"old_string":"{}","new_string":"{\"x\": }"}]}`)
	res := w.ok("check", `{"delta":true}`)
	c := res.Data.(*dev.Result).Compared
	if c == nil || c.Introduced != 1 || len(c.Resolved) == 0 || c.Resolved[0].File != "a.go" || !strings.Contains(c.Baseline, "session") {
		t.Errorf("%+v", c)
	}
	if text := res.Text(); !strings.Contains(text, "1 introduced") || !strings.Contains(text, "b.json:1:7: error") || !strings.Contains(text, "resolved: a.go") {
		t.Errorf("%s", text)
	}
	w.ok("apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: b.json\n*** Add File: c.json\n+[\n*** End Patch\n"}`)
	res = w.ok("check", `{"delta":true}`)
	if c := res.Data.(*dev.Result).Compared; c.Introduced != 1 || !strings.Contains(res.Text(), "c.json") {
		t.Errorf("%+v %s", c, res.Text())
	}
}

// T11: calls of one turn give the results and the files that they give one by one.
func TestT11_InParallel(t *testing.T) {
	kinds := [][2]string{
		{"edit", `{"path":"a.go","edits":[{"old_string":"package","new_string":"package "}]}`},
		{"edit", `{"path":"b.json","edits":[{"old_string":"{","new_string":"{ "}]}`},
		{"edit", `{"path":"new.go","edits":[{"old_string":"","new_string":"package  n\n"}]}`},
		{"format", `{}`}, {"check", `{}`}, {"check", `{"delta":true}`}, {"lint", `{"fix":true}`}, {"read_lines", `{"path":"a.go"}`}, {"read_lines", `{"path":"new.go"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: b.json\n*** End Patch\n"}`}, {"apply_patch", `{"patch":"*** Begin Patch\n*** Add File: b.json\n+{\n*** End Patch\n"}`},
	}
	cut := func(s string) string { s, _, _ = strings.Cut(s, "\nWhole result"); return s }
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var reqs [][2]string
		for range 7 {
			reqs = append(reqs, kinds[rnd.IntN(len(kinds))])
		}
		files := map[string]string{"a.go": "package a\n", "b.json": "{}\n"}
		one, all := newWorld(t, setup{files: files}), newWorld(t, setup{files: files})
		var turn []toolbox.Request
		var want []string
		for _, r := range reqs {
			res := one.call(r[0], r[1])
			want = append(want, cut(res.Text()))
			turn = append(turn, toolbox.Request{Tool: r[0], Args: json.RawMessage(r[1]), Session: "s", Dir: all.dir})
		}
		results, err := all.box.CallAll(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		for i := range results {
			if got := cut(results[i].Text()); got != want[i] {
				t.Errorf("seed %d, call %d %v:\n%s\none by one:\n%s", seed, i, reqs[i], got, want[i])
			}
		}
		for _, f := range []string{"a.go", "b.json", "new.go"} {
			if one.get(f) != all.get(f) {
				t.Errorf("seed %d: %s is %q, one by one %q", seed, f, all.get(f), one.get(f))
			}
		}
	}
}

// An engine that fails is a result that names it and the way on; nothing is written.
func TestEngineFailureIsAResult(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.x": "x"}, engines: []dev.Engine{broken{}}})
	for _, name := range []string{"format", "check"} {
		res := w.call(name, `{}`)
		if res.OK() || res.Err.Code != tool.OperationFailed || !strings.Contains(res.Text(), "the engine broken failed: out of order") || res.Err.Hint == "" {
			t.Errorf("%s", res.Text())
		}
	}
}

type broken struct{}

func (broken) Info() dev.Info {
	a := dev.Ability{Files: []string{"*.x"}}
	return dev.Info{Name: "broken", Version: "1", Can: map[dev.Capability]dev.Ability{dev.CanCheck: a, dev.CanFormat: a}}
}

func (broken) Run(context.Context, *dev.Job) (*dev.Report, error) {
	return nil, errors.New("out of order")
}
