package dev_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/host"
)

// D1: a pipeline without a gate is never built, whatever else it has.
func TestD1_NoGate(t *testing.T) {
	w := newWorld(t, nil)
	for name, cfg := range map[string]dev.Config{
		"no gate":      {Host: w.host, Engines: engine.All()},
		"no host":      {Gate: w},
		"nothing":      {},
		"same engines": {Host: w.host, Gate: w, Engines: []dev.Engine{engine.Gofmt{}, engine.Gofmt{}}},
		"no such root": {Host: w.host, Gate: w, Root: "\x00"},
	} {
		if p, err := dev.New(cfg); err == nil || p != nil {
			t.Errorf("%s: %v %v", name, p, err)
		}
	}
	if _, err := dev.New(dev.Config{Host: w.host}); err == nil || !strings.Contains(err.Error(), "no gate") {
		t.Errorf("the error does not say what is missing: %v", err)
	}
}

// D2: the builder and the plan that it makes, written down and read again, ask and do the same.
func TestD2_BuilderAndPlan(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nvar  x = 1\n", "b.sh": "if true;then\necho hi\nfi\n", "old.txt": "one\ntwo\n"}
	patch := "*** Begin Patch\n*** Update File: old.txt\n*** Move to: new.txt\n@@\n one\n-two\n+zwei\n*** Add File: d/e.txt\n+x\n*** End Patch\n"
	build := func(w *world) *dev.Builder {
		return w.p.Acquire("a.go", "b.sh", "old.txt").ReadLines("a.go", 1, 1).Edit("a.go", dev.Block{Old: "= 1", New: "= 2 // <&>"}).
			ApplyPatch(patch).Format().Lint(dev.Lint{Fix: true}).Lint(dev.Lint{}).Check(dev.Check{Delta: true}).Write()
	}
	one, two := newWorld(t, files), newWorld(t, files)
	a := one.ok(build(one).Run(t.Context()))

	plan, err := build(two).Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var read dev.Plan
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	b := two.ok(two.p.Run(t.Context(), read))

	if x, y := one.transcript(), two.transcript(); x != y {
		t.Errorf("the gate was asked\n%s\nand\n%s", x, y)
	}
	a.Changes.Transactions, b.Changes.Transactions = nil, nil
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if errors.Join(err1, err2) != nil || string(x) != string(y) {
		t.Errorf("results differ:\n%s\n%s", x, y)
	}
	for _, w := range []*world{one, two} {
		for file, want := range map[string]string{"a.go": "package a\n\nvar x = 2 // <&>\n", "b.sh": "if true; then\n\techo hi\nfi\n", "old.txt": "<absent>", "new.txt": "one\nzwei\n", "d/e.txt": "x\n"} {
			if got := w.get(file); got != want {
				t.Errorf("%s is %q, want %q", file, got, want)
			}
		}
	}
}

// D2: steps are data: arguments, effect, requirement.
func TestD2_StepsAreData(t *testing.T) {
	type row struct {
		args   string
		effect dev.Effect
		needs  dev.Capability
	}
	rows := map[string][]row{
		"read_lines":  {{`{"path":"a"}`, dev.Reads, ""}},
		"edit":        {{`{"path":"a","edits":[]}`, dev.Delta, ""}},
		"apply_patch": {{`{"patch":""}`, dev.Delta, ""}},
		"format":      {{`{}`, dev.Delta, dev.CanFormat}},
		"lint":        {{`{}`, dev.Reads, dev.CanLint}, {`{"fix":true}`, dev.Delta, dev.CanFix}},
		"check":       {{`{}`, dev.Reads, dev.CanCheck}},
		"write":       {{`{}`, dev.Writes, ""}},
	}
	steps := dev.Steps()
	if len(steps) != len(rows) {
		t.Fatalf("%d steps", len(steps))
	}
	for _, s := range steps {
		most := dev.Reads
		for _, r := range rows[s.Name] {
			if e, n := s.Effect(json.RawMessage(r.args)), s.Requires(json.RawMessage(r.args)); e != r.effect || n != r.needs {
				t.Errorf("%s %s: %v %q", s.Name, r.args, e, n)
			}
			most = max(most, r.effect)
		}
		if s.Most != most || s.Args == nil || s.Args.Type != "object" || s.About == "" {
			t.Errorf("%s: most %v, schema %v", s.Name, s.Most, s.Args)
		}
	}
}

// D4: what the caller wrote and what it came to are never mixed.
func TestD4_ArgsAndTargets(t *testing.T) {
	files := map[string]string{}
	var names []string
	for i := range 40 {
		name := "src/" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".go"
		files[name] = "package  src\n"
		names = append(names, name)
	}
	w := newWorld(t, files)
	w.ok(w.step("format", `{}`))
	if len(w.asked) != 2 {
		t.Fatalf("asked %v", w.steps())
	}
	for _, r := range w.asked {
		if !slices.Equal(r.Targets, names) {
			t.Errorf("%s: targets %v", r.Step, r.Targets)
		}
		if strings.Contains(string(r.Args), "src") {
			t.Errorf("%s: args %s", r.Step, r.Args)
		}
		for i, p := range r.Paths {
			if p.Real != filepath.Join(w.dir, names[i]) {
				t.Errorf("path %d is %s", i, p.Real)
			}
		}
	}
	w.asked = nil
	w.ok(w.step("edit", `{"path": "src/../src/./aa.go",  "edits": [ {"old_string":"src","new_string":"s"} ]}`))
	if got := string(w.asked[1].Args); got != `{"path": "src/../src/./aa.go",  "edits": [ {"old_string":"src","new_string":"s"} ],"persists":true}` {
		t.Errorf("args are not what was written: %s", got)
	}
	if !slices.Equal(w.asked[1].Targets, []string{"src/aa.go"}) {
		t.Errorf("targets %v", w.asked[1].Targets)
	}
}

// D4: a patch is parsed before the gate; its targets are both ends of a move, mayCreate are exact paths.
func TestD4_PatchPayload(t *testing.T) {
	w := newWorld(t, map[string]string{"src/old.ts": "let a = 1\n", "keep.ts": "x\n"})
	patch := "*** Begin Patch\n*** Update File: src/old.ts\n*** Move to: src/new.ts\n@@\n-let a = 1\n+let a = 2\n*** Add File: src/deep/made.ts\n+made\n*** End Patch\n"
	args, err := json.Marshal(map[string]string{"patch": patch})
	if err != nil {
		t.Fatal(err)
	}
	w.ok(w.step("apply_patch", string(args)))
	step := w.asked[1]
	if !slices.Equal(step.Targets, []string{"src/old.ts", "src/new.ts", "src/deep/made.ts"}) || !slices.Equal(step.MayCreate, []string{"src/deep/made.ts", "src/new.ts"}) {
		t.Errorf("targets %v, mayCreate %v", step.Targets, step.MayCreate)
	}
	if !step.Persists || step.Changes.Empty() || step.Engines != nil {
		t.Errorf("%+v", step)
	}
	if w.get("src/new.ts") != "let a = 2\n" || w.get("src/deep/made.ts") != "made\n" || w.get("src/old.ts") != "<absent>" {
		t.Error("the patch was not written")
	}
	w.asked = nil
	for _, bad := range []string{"*** Begin Patch\n*** Update File: keep.ts\n@@\n-x\n", "--- a/keep.ts\n@@ -1 +1 @@\n-x\n+y\n", "--- a/keep.ts\n+++ b/keep.ts\n@@ -1 +1 @@\n?x\n+y\n", "nothing like a patch", ""} {
		args, err := json.Marshal(map[string]string{"patch": bad})
		if err != nil {
			t.Fatal(err)
		}
		var e *dev.Error
		if _, err := w.step("apply_patch", string(args)); !errors.As(err, &e) || e.Code != dev.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
		if err := w.p.Acquire("keep.ts").ApplyPatch(bad).Err(); err == nil {
			t.Errorf("%q: the builder takes it", bad)
		}
	}
	if len(w.asked) > 0 {
		t.Errorf("a patch with a mistake reached the gate: %v", w.steps())
	}
	if w.get("keep.ts") != "x\n" {
		t.Error("keep.ts was changed")
	}
}

// D4: what the gate is shown is what is written, and nothing before it says yes.
func TestD4_BytesPassTheGate(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package  a\n"})
	w.watch = "a.go"
	w.ok(w.step("format", `{}`))
	shown := w.asked[1].Changes
	if shown.Empty() || len(shown.Ops) != 1 {
		t.Fatalf("shown %v", shown)
	}
	after, _ := shown.Ops[0].After.Blob.Bytes()
	if string(after) != "package a\n" || w.get("a.go") != string(after) || w.onDisk[1] != "package  a\n" {
		t.Errorf("shown %q, written %q, before the answer %q", after, w.get("a.go"), w.onDisk[1])
	}
}

// A refusal ends the plan; nothing of the step and of what follows happens.
func TestD4_Refused(t *testing.T) {
	for _, refuse := range []string{"acquire", "edit", "format", "check", "write"} {
		w := newWorld(t, map[string]string{"a.go": "package  a\n"})
		w.answer = func(r *dev.Request) error {
			if r.Step == refuse {
				return &dev.DeniedError{Step: r.Step, Reason: "not today"}
			}
			return nil
		}
		res, err := w.p.Acquire("a.go").Edit("a.go", dev.Block{Old: "a", New: "b", Line: 1, ReplaceAll: true}).Format().Check().Write().Run(t.Context())
		var denied *dev.DeniedError
		if !errors.As(err, &denied) || denied.Step != refuse || res.OK || !strings.Contains(res.Error, "not today") {
			t.Errorf("%s: %v", refuse, err)
		}
		if last := w.asked[len(w.asked)-1].Step; last != refuse {
			t.Errorf("after the refusal of %s the gate was asked about %s", refuse, last)
		}
		if w.get("a.go") != "package  a\n" {
			t.Errorf("%s was refused, but the file was written", refuse)
		}
	}
	broken := errors.New("the gate is on fire")
	w := newWorld(t, map[string]string{"a.go": "package a\n"})
	w.answer = func(*dev.Request) error { return broken }
	var denied *dev.DeniedError
	if _, err := w.step("check", `{}`); !errors.Is(err, broken) || errors.As(err, &denied) {
		t.Errorf("a failure of the gate became %v", err)
	}
}

// D4: writing keeps every check: translation, containment, links, permission of the file, parents.
func TestD4_WritingIsChecked(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "in/b.txt": "b\n"})
	out := filepath.Join(filepath.Dir(w.dir), "out.txt")
	if err := os.WriteFile(out, []byte("out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"leak.txt": out, "up": filepath.Dir(w.dir), "inner.txt": "in/b.txt"} {
		if err := os.Symlink(to, filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(w.dir, "a.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	edit := func(path string) string {
		return `{"path":"` + path + `","edits":[{"old_string":"","new_string":"x"}]}`
	}
	for path, code := range map[string]dev.Code{"leak.txt": dev.Outside, "up/new.txt": dev.Outside, "../out.txt": dev.Outside, out: dev.Outside, "in": dev.Invalid, "": dev.Invalid} {
		var e *dev.Error
		if _, err := w.step("edit", edit(path)); !errors.As(err, &e) || e.Code != code || e.Hint == "" {
			t.Errorf("%q: %v", path, err)
		}
	}
	var e *dev.Error
	if _, err := w.step("edit", `{"path":"a.txt","edits":[{"old_string":"a","new_string":"b"}]}`); !errors.As(err, &e) || e.Code != dev.Unwritable {
		t.Errorf("a file without a write bit: %v", err)
	}
	if steps := w.steps(); slices.Contains(steps, "edit") {
		t.Errorf("the gate was asked about what cannot be written: %v", steps)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "out\n" {
		t.Fatalf("outside: %q %v", b, err)
	}
	w.ok(w.step("edit", `{"path":"inner.txt","edits":[{"old_string":"b","new_string":"c"}]}`))
	w.ok(w.step("edit", edit("new/deep/file.txt")))
	if w.get("in/b.txt") != "c\n" || w.get("new/deep/file.txt") != "x" {
		t.Error("a link within the root, or missing parents")
	}
	if fi, err := os.Lstat(filepath.Join(w.dir, "inner.txt")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

// translator knows the root under another name.
func TestD1_PathTranslator(t *testing.T) {
	w := newWorldWith(t, map[string]string{"src/a.go": "package  a\n"}, dev.Config{Engines: engine.All(), PathTranslator: dev.VirtualRoot("/workspace")})
	res := w.ok(w.p.Acquire("/workspace/src").Format().Write().Run(t.Context()))
	if got := w.asked[0]; !slices.Equal(got.Targets, []string{"src/a.go"}) || string(got.Args) != `{"paths":["/workspace/src"]}` {
		t.Errorf("%v %s", got.Targets, got.Args)
	}
	if res.Changes.Files[0].Path != "src/a.go" || w.get("src/a.go") != "package a\n" {
		t.Errorf("%+v", res.Changes)
	}
	var e *dev.Error
	if _, err := w.p.Acquire("/etc/passwd").Check().Run(t.Context()); !errors.As(err, &e) || e.Code != dev.Outside {
		t.Errorf("got %v", err)
	}
}

// refusing is a file system that does not let some files be written.
type refusing struct {
	dev.HostFiles
	name      string
	committed int
}

func (f *refusing) CanWrite(ctx context.Context, p host.Path) error {
	if filepath.Base(p.Real) == f.name {
		return errors.New("it is generated")
	}
	return f.HostFiles.CanWrite(ctx, p)
}

func (f *refusing) Commit(ctx context.Context, set *change.Set) (host.Receipt, error) {
	f.committed++
	return f.HostFiles.Commit(ctx, set)
}

// D4: the file system is asked whether a file may be written, before the gate is, and it is what writes.
func TestD1_FileSystem(t *testing.T) {
	w := newWorld(t, map[string]string{"gen.go": "package  a\n", "own.go": "package  a\n"})
	files := &refusing{HostFiles: dev.HostFiles{Host: w.host}, name: "gen.go"}
	p, err := dev.New(dev.Config{Host: w.host, Gate: w, Engines: engine.All(), FileSystem: files})
	if err != nil {
		t.Fatal(err)
	}
	var e *dev.Error
	if _, err := p.Acquire().Format().Write().Run(t.Context()); !errors.As(err, &e) || e.Code != dev.Unwritable || !strings.Contains(e.Message, "it is generated") {
		t.Errorf("got %v", err)
	}
	if slices.Contains(w.steps(), "write") || w.get("own.go") != "package  a\n" || files.committed != 0 {
		t.Errorf("asked %v, committed %d", w.steps(), files.committed)
	}
	w.ok(p.Acquire("own.go").Format().Write().Run(t.Context()))
	if files.committed != 1 || w.get("own.go") != "package a\n" {
		t.Errorf("committed %d times", files.committed)
	}
}

// D5: changes that a plan leaves unwritten are listed, with a warning; write is a step like any other.
func TestD5_Unwritten(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package  a\n", "b.go": "package b\n"})
	res := w.ok(w.p.Acquire().Format().Run(t.Context()))
	if !slices.Equal(res.Unwritten, []string{"a.go"}) || !has(res, "", "unwritten") || res.Counts[dev.Warn] != 1 || len(res.Changes.Files) != 0 || w.get("a.go") != "package  a\n" {
		t.Errorf("%+v", res)
	}
	w.asked = nil
	res = w.ok(w.p.Acquire().Format().Write().Edit("b.go", dev.Block{Old: "b", New: "c"}).Edit("a.go", dev.Block{Old: "a\n", New: "z\n"}).Write().Run(t.Context()))
	if got := w.steps(); !slices.Equal(got, []string{"acquire", "format", "write", "edit", "edit", "write"}) {
		t.Errorf("asked %v", got)
	}
	if res.Unwritten != nil || w.get("a.go") != "package z\n" || w.get("b.go") != "package c\n" || len(res.Changes.Files) != 2 || len(res.Changes.Transactions) != 2 {
		t.Errorf("%+v", res)
	}
	writes := w.asked[5]
	if !slices.Equal(writes.Targets, []string{"a.go", "b.go"}) || strings.Contains(string(writes.Args), "persists") || !writes.Persists {
		t.Errorf("%+v", writes)
	}
	if len(w.asked[2].Targets) != 1 || string(w.asked[2].Args) != "{}" {
		t.Errorf("%+v", w.asked[2])
	}
}

// D6: one shape; only files that really changed are in the summary; line counts that cannot be told are absent.
func TestD6_Summary(t *testing.T) {
	files := map[string]string{"bin.dat": "\x00\x01\x02" + strings.Repeat("x", 100)}
	for i := range 50 {
		files[string(rune('a'+i/26))+string(rune('a'+i%26))+".go"] = "package a\n"
	}
	files["ba.go"], files["bb.go"] = "package  a\n", "package a\n\nvar  x = 1\nvar   y = 2\n"
	w := newWorld(t, files, append(engine.All(), packer{})...)
	res := w.ok(w.step("format", `{"paths":["*.go"]}`))
	want := "2 files changed, 3 insertions(+), 3 deletions(-)\n ba.go | 2 +-\n bb.go | 4 ++--"
	if res.Changes.Summary != want || !res.Changes.LineCountsAvailable || len(res.Changes.Files) != 2 || res.Steps[0].Targets != 50 || res.Steps[0].Changed != 2 {
		t.Errorf("%s\n%+v", res.Changes.Summary, res.Steps)
	}
	res = w.ok(w.step("format", `{"paths":["bin.dat","bb.go"]}`)) // bb.go is formatted by now
	b, err := json.Marshal(res)
	if err != nil || res.Changes.LineCountsAvailable || !strings.Contains(string(b), `"lineCountsAvailable":false`) || strings.Contains(string(b), `"added"`) || strings.Contains(res.Changes.Summary, "insertion") || !strings.HasPrefix(res.Changes.Summary, "1 file changed\n") || len(w.get("bin.dat")) != 51 {
		t.Errorf("%s %v", b, err)
	}
	for _, call := range [][2]string{{"read_lines", `{"path":"aa.go"}`}, {"check", `{}`}, {"lint", `{}`}, {"edit", `{"path":"aa.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`}} {
		res := w.ok(w.step(call[0], call[1]))
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{`"ok":true`, `"steps":`, `"counts":{"error":`, `"diagnostics":[`, `"changes":{"summary":`, `"lineCountsAvailable":true`} {
			if !strings.Contains(string(b), key) {
				t.Errorf("%s lacks %s: %s", call[0], key, b)
			}
		}
	}
}

// D7: a step that no engine can serve says what exists and not to retry, before anything is asked, on every road.
func TestD7_NoEngine(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package a\n"}, lintOnly{})
	if got := w.p.Available(); !slices.Equal(got, []string{"read_lines", "edit", "apply_patch", "lint", "write"}) {
		t.Errorf("available %v", got)
	}
	ways := map[string]error{}
	_, ways["plan"] = w.p.Run(t.Context(), dev.Plan{Ops: []dev.Op{{Step: "check"}}})
	_, ways["alone"] = w.step("check", `{}`)
	_, ways["builder"] = w.p.Acquire().Edit("a.go", dev.Block{Old: "a", New: "b"}).Check().Write().Run(t.Context())
	_, ways["fix"] = w.step("lint", `{"fix":true}`)
	for way, err := range ways {
		var e *dev.Error
		if !errors.As(err, &e) || e.Code != dev.NoEngine || !strings.Contains(err.Error(), "Do not retry") || !strings.Contains(err.Error(), "read_lines, edit, apply_patch") {
			t.Errorf("%s: %v", way, err)
		}
	}
	if err := w.p.Acquire().Check().Err(); err == nil || !strings.Contains(err.Error(), "no engine that is configured here can check") {
		t.Errorf("the builder method says %v", err)
	}
	if len(w.asked) > 0 || w.get("a.go") != "package a\n" {
		t.Errorf("asked %v", w.steps())
	}
}

// D7: files of a mixed tree that no engine serves are skipped with an informational diagnostic.
func TestD7_MixedFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package  a\n", "b.md": "# b\n", "c.py": "x=1\n", "Makefile": "all:\n", "d.sh": "echo  x\n"})
	res := w.ok(w.step("format", `{}`))
	if res.Counts[dev.Note] != 1 || res.Counts[dev.Err] != 0 || !strings.Contains(res.Diagnostics[0].Message, "3 files") || !strings.Contains(res.Diagnostics[0].Message, ".md, .py, Makefile") {
		t.Errorf("%+v", res.Diagnostics)
	}
	if w.get("a.go") != "package a\n" || w.get("d.sh") != "echo x\n" || w.get("c.py") != "x=1\n" {
		t.Error("not formatted")
	}
	res = w.ok(w.step("format", `{"paths":["b.md"]}`))
	if res.Steps[0].Targets != 0 || res.Counts[dev.Note] != 1 || len(res.Changes.Files) != 0 {
		t.Errorf("a file that is named and not served: %+v", res)
	}
}

// Steps of a plan see only what was acquired: nothing enters the workspace behind the caller's back.
func TestD2_OnlyWhatWasAcquired(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	for name, b := range map[string]*dev.Builder{
		"edit":   w.p.Acquire("a.go").Edit("b.go", dev.Block{Old: "b", New: "c"}),
		"read":   w.p.Acquire("a.go").ReadLines("b.go", 0, 0),
		"patch":  w.p.Acquire("a.go").ApplyPatch("*** Begin Patch\n*** Update File: b.go\n@@\n-package b\n+package c\n*** End Patch\n"),
		"format": w.p.Acquire("a.go").Format("b.go"),
	} {
		var e *dev.Error
		if _, err := b.Run(t.Context()); !errors.As(err, &e) || e.Code != dev.NotAcquired || !strings.Contains(e.Hint, "paths") {
			t.Errorf("%s: %v", name, err)
		}
	}
	res := w.ok(w.p.Acquire("a.go").Edit("new/c.go", dev.Block{New: "package  c\n"}).Format("new").Write().Run(t.Context()))
	if w.get("new/c.go") != "package c\n" || len(res.Changes.Files) != 1 {
		t.Errorf("a file that the plan makes: %+v", res)
	}
}

// packer formats binary files: their lines cannot be counted.
type packer struct{}

func (packer) Info() dev.Info {
	return dev.Info{Name: "packer", Version: "1", Can: map[dev.Capability]dev.Ability{dev.CanFormat: {Files: []string{"*.dat"}}}}
}

func (packer) Run(_ context.Context, job *dev.Job) (*dev.Report, error) {
	r := &dev.Report{Contents: map[string][]byte{}}
	for _, f := range job.Files {
		r.Contents[f.Path] = f.Content[:len(f.Content)/2]
	}
	return r, nil
}

type lintOnly struct{}

func (lintOnly) Info() dev.Info {
	return dev.Info{Name: "lintonly", Version: "1", Can: map[dev.Capability]dev.Ability{dev.CanLint: {Files: []string{"*.go"}}}}
}

func (lintOnly) Run(context.Context, *dev.Job) (*dev.Report, error) { return &dev.Report{}, nil }
