package dev_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/host"
)

// script is an engine that does what a test wants, for files named *.x, and counts its jobs.
type script struct {
	name   string
	can    []dev.Capability
	inputs []string
	config []string
	batch  bool
	run    func(ctx context.Context, job *dev.Job) (*dev.Report, error)

	mu   sync.Mutex
	jobs []dev.Job
}

func (s *script) Info() dev.Info {
	info := dev.Info{Name: s.name, Version: "1", Can: map[dev.Capability]dev.Ability{}, Config: s.config, Batch: s.batch}
	if info.Name == "" {
		info.Name = "script"
	}
	for _, c := range s.can {
		info.Can[c] = dev.Ability{Files: []string{"*.x"}, Inputs: s.inputs}
	}
	return info
}

func (s *script) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	s.mu.Lock()
	s.jobs = append(s.jobs, *job)
	s.mu.Unlock()
	return s.run(ctx, job)
}

// looked lists the files of all jobs since the last call.
func (s *script) looked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, j := range s.jobs {
		for _, f := range j.Files {
			out = append(out, f.Path)
		}
	}
	s.jobs = nil
	slices.Sort(out)
	return out
}

// todo reports each line that begins with "bad", and formats by making letters small.
func todo(_ context.Context, job *dev.Job) (*dev.Report, error) {
	r := &dev.Report{Contents: map[string][]byte{}}
	for _, f := range job.Files {
		if job.Capability == dev.CanFormat {
			if small := bytes.ToLower(f.Content); !bytes.Equal(small, f.Content) {
				r.Contents[f.Path] = small
			}
			continue
		}
		for i, line := range strings.Split(string(f.Content), "\n") {
			if strings.HasPrefix(line, "bad") {
				r.Diagnostics = append(r.Diagnostics, dev.Diagnostic{File: f.Path, Range: dev.At(i+1, 1), Severity: dev.Err, Code: "bad", Source: "script", Message: line + " is bad"})
			}
		}
	}
	return r, nil
}

// An engine that crashes, hangs, fails or vanishes fails the step: the error names the engine and says what to do, and
// nothing is written.
func TestEngineFailures(t *testing.T) {
	leave := make(chan struct{})
	defer close(leave)
	for name, row := range map[string]struct {
		run  func(ctx context.Context, job *dev.Job) (*dev.Report, error)
		want string
	}{
		"panics":                {func(context.Context, *dev.Job) (*dev.Report, error) { panic("index out of range") }, "a mistake of its own: index out of range"},
		"fails":                 {func(context.Context, *dev.Job) (*dev.Report, error) { return nil, errors.New("disk on fire") }, "disk on fire"},
		"waits for its context": {func(ctx context.Context, _ *dev.Job) (*dev.Report, error) { <-ctx.Done(); return nil, ctx.Err() }, "was ended"},
		"never returns":         {func(context.Context, *dev.Job) (*dev.Report, error) { <-leave; return nil, nil }, "was ended"},
		"vanishes": {func(context.Context, *dev.Job) (*dev.Report, error) {
			return nil, &host.PathError{Op: "exec", Path: "/bin/script", Err: fs.ErrNotExist}
		}, "install it again"},
		"says how to repair it": {func(context.Context, *dev.Job) (*dev.Report, error) {
			return nil, &dev.Error{Code: dev.EngineFailed, Message: "its configuration is broken", Hint: "Look at script.json."}
		}, "Look at script.json."},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []string{"format", "check"} {
				eng := &script{can: []dev.Capability{dev.CanFormat, dev.CanCheck}, run: row.run}
				w := newWorldWith(t, map[string]string{"a.x": "A\n", "b.x": "B\n"}, dev.Config{Engines: []dev.Engine{eng}, Timeout: 20 * time.Millisecond})
				res, err := w.step(step, `{}`)
				var e *dev.Error
				if !errors.As(err, &e) || e.Code != dev.EngineFailed || e.Engine != "script" || !strings.Contains(err.Error(), "script") || !strings.Contains(err.Error(), row.want) || e.Hint == "" {
					t.Errorf("%s: %v", step, err)
				}
				if res == nil || res.OK || w.get("a.x") != "A\n" {
					t.Errorf("%s: %+v", step, res)
				}
			}
		})
	}
}

// A syntax error in a file is a finding about that file; the others are formatted.
func TestSyntaxErrorIsADiagnostic(t *testing.T) {
	w := newWorld(t, map[string]string{"bad.go": "package bad\n\nfunc {\n", "good.go": "package  good\n", "bad.sh": "if then\n", "x.json": "{\"a\": }\n"})
	res := w.ok(w.step("format", `{}`))
	if !has(res, "bad.go", "syntax") || !has(res, "bad.sh", "syntax") || w.get("good.go") != "package good\n" || w.get("bad.go") != "package bad\n\nfunc {\n" {
		t.Errorf("%+v", res)
	}
	res = w.ok(w.step("check", `{}`))
	if res.Counts[dev.Err] < 3 || !has(res, "x.json", "syntax") {
		t.Errorf("%+v", res.Diagnostics)
	}
	for _, d := range res.Diagnostics {
		if d.Severity == dev.Err && (d.Range.Start.Line == 0 || d.Source == "" || d.Message == "" || d.File == "") {
			t.Errorf("incomplete: %+v", d)
		}
	}
}

// A file that is removed between two steps is said, not stumbled over; one that was named is an error of its step.
func TestFileRemovedBetweenSteps(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package  a\n", "b.go": "package  b\n"})
	remove := func(name string) func(*dev.Request) {
		return func(*dev.Request) {
			if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
	}
	w.hooks["acquire"] = remove("b.go")
	res := w.ok(w.step("format", `{}`))
	if !has(res, "b.go", "gone") || w.get("a.go") != "package a\n" || w.get("b.go") != "<absent>" || len(res.Changes.Files) != 1 {
		t.Errorf("%+v", res)
	}
	w.hooks["acquire"] = remove("a.go")
	var e *dev.Error
	if _, err := w.step("edit", `{"path":"a.go","edits":[{"old_string":"a","new_string":"b"}]}`); !errors.As(err, &e) || e.Code != dev.NotFound {
		t.Errorf("got %v", err)
	}
	// Between the answer of the gate and the write.
	delete(w.hooks, "acquire")
	w.put("a.go", "package  a\n")
	w.hooks["format"] = remove("a.go")
	if _, err := w.step("format", `{}`); !errors.As(err, &e) || e.Code != dev.Stale || w.get("a.go") != "<absent>" {
		t.Errorf("got %v", err)
	}
}

// What somebody else wrote meanwhile is never overwritten.
func TestStaleIsNotWritten(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package  a\n", "b.go": "package  b\n"})
	w.hooks["write"] = func(*dev.Request) { w.put("b.go", "package theirs\n") }
	res, err := w.p.Acquire().Format().Write().Run(t.Context())
	var e *dev.Error
	if !errors.As(err, &e) || e.Code != dev.Stale || e.Path != "b.go" || res.OK {
		t.Errorf("got %v", err)
	}
	if w.get("a.go") != "package  a\n" || w.get("b.go") != "package theirs\n" {
		t.Error("half of the plan was written")
	}
	ops := w.asked[2].Changes.Ops
	if len(ops) != 2 || ops[0].Path > ops[1].Path {
		t.Errorf("the order of writing: %v", w.asked[2].Changes.Paths())
	}
	if !slices.Equal(res.Unwritten, []string{"a.go", "b.go"}) {
		t.Errorf("unwritten %v", res.Unwritten)
	}
}

// An unchanged file is never looked at twice: findings are kept by content, version and configuration.
func TestResultsByContent(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanFormat, dev.CanLint, dev.CanCheck}, config: []string{"script.json"}, run: todo}
	w := newWorld(t, map[string]string{"d/a.x": "bad one\n", "d/b.x": "fine\n", "e/c.x": "FINE\n"}, eng)
	check := func(want ...string) *dev.Result {
		t.Helper()
		res := w.ok(w.step("check", `{}`))
		if got := eng.looked(); !slices.Equal(got, want) {
			t.Errorf("looked at %v, want %v", got, want)
		}
		if !has(res, "d/a.x", "bad") {
			t.Errorf("%+v", res.Diagnostics)
		}
		return res
	}
	check("d/a.x", "d/b.x", "e/c.x")
	if res := check(); res.Engines[0].Files != 3 || res.Engines[0].Known != 3 {
		t.Errorf("%+v", res.Engines)
	}
	w.put("d/b.x", "other\n")
	check("d/b.x")
	w.put("d/b.x", "fine\n") // known from before
	check()
	w.put("d/script.json", "{}")
	check("d/a.x", "d/b.x") // the configuration counts below its folder
	w.put("script.json", "{}")
	check("d/a.x", "d/b.x", "e/c.x")
	w.ok(w.step("format", `{}`)) // another capability is another question
	if got := eng.looked(); len(got) != 3 {
		t.Errorf("looked at %v", got)
	}
	check("e/c.x") // it was changed by the formatter
	none := newWorldWith(t, map[string]string{"a.x": "x\n"}, dev.Config{Engines: []dev.Engine{eng}, Results: -1})
	for range 2 {
		none.ok(none.step("check", `{}`))
	}
	if got := eng.looked(); len(got) != 2 {
		t.Errorf("with nothing kept: looked at %v", got)
	}
}

// An engine that sees the whole root looks again when any of its inputs changed, and only then.
func TestResultsOfWholeRoots(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanCheck}, inputs: []string{"*.x", "project.toml"}, batch: true, run: todo}
	w := newWorld(t, map[string]string{"a.x": "bad a\n", "b.x": "bad b\n", "project.toml": "", "note.md": ""}, eng)
	for _, row := range []struct {
		file, content string
		jobs          int
	}{{"", "", 1}, {"", "", 0}, {"note.md", "n", 0}, {"b.x", "bad\nbad b\n", 1}, {"project.toml", "x=1", 1}, {"c.x", "", 1}, {"", "", 0}} {
		if row.file != "" {
			w.put(row.file, row.content)
		}
		res := w.ok(w.step("check", `{"paths":["a.x"]}`))
		eng.mu.Lock()
		jobs := len(eng.jobs)
		eng.jobs = nil
		eng.mu.Unlock()
		if jobs != row.jobs {
			t.Errorf("after %q: %d jobs, want %d", row.file, jobs, row.jobs)
		}
		if !has(res, "a.x", "bad") || res.Counts[dev.Err] != 1 {
			t.Errorf("%+v", res.Diagnostics)
		}
	}
}

// What an engine of the whole root found in files that were not selected is counted, not listed.
func TestFoundElsewhere(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanCheck}, inputs: []string{"*.x"}, batch: true, run: func(_ context.Context, job *dev.Job) (*dev.Report, error) {
		return &dev.Report{Diagnostics: []dev.Diagnostic{{File: "a.x", Severity: dev.Err, Source: "script", Message: "here"}, {File: "b.x", Severity: dev.Err, Source: "script", Message: "there"}, {Severity: dev.Warn, Source: "script", Message: "everywhere"}}}, nil
	}}
	w := newWorld(t, map[string]string{"a.x": "", "b.x": ""}, eng)
	res := w.ok(w.step("check", `{"paths":["a.x"]}`))
	if res.Counts[dev.Err] != 1 || res.Counts[dev.Warn] != 1 || !has(res, "", "elsewhere") || res.Counts[dev.Note] != 1 {
		t.Errorf("%+v", res.Diagnostics)
	}
	if res = w.ok(w.step("check", `{}`)); res.Counts[dev.Err] != 2 || has(res, "", "elsewhere") {
		t.Errorf("%+v", res.Diagnostics)
	}
}

// D6: check with delta reports what the plan introduced and resolved, wherever the lines have moved.
func TestD6_Delta(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanCheck}, run: todo}
	w := newWorld(t, map[string]string{"a.x": "bad old\nfine\nbad gone\nbad twice\nbad twice\n", "b.x": "bad b\n"}, eng)
	res := w.ok(w.p.Acquire().Edit("a.x", dev.Block{Old: "bad old\n", New: "new\nnew\nbad old\n"}, dev.Block{Old: "bad gone\n", New: "bad new\n"}, dev.Block{Old: "bad twice\nbad twice\n", New: "bad twice\nbad twice\nbad twice\n"}).
		Check(dev.Check{Delta: true}).Run(t.Context()))
	c := res.Compared
	if c == nil || c.Introduced != 2 || len(c.Resolved) != 1 || c.Resolved[0].Message != "bad gone is bad" || c.Unchanged != 4 || c.Baseline == "" {
		t.Fatalf("%+v", c)
	}
	var got []string
	for _, d := range res.Diagnostics {
		if d.Code == "bad" {
			got = append(got, d.String())
		}
	}
	if len(got) != 2 || !strings.Contains(got[0], "bad new") || !strings.Contains(got[1], "bad twice") {
		t.Errorf("introduced %v", got)
	}
	// Nothing changed: nothing is new.
	res = w.ok(w.p.Acquire().Check(dev.Check{Delta: true}).Run(t.Context()))
	if res.Compared.Introduced != 0 || len(res.Compared.Resolved) != 0 || res.Compared.Unchanged != 5 {
		t.Errorf("%+v", res.Compared)
	}
	// A file that is new, one that is gone, and a baseline of the caller's own.
	call := dev.Call{Persist: true, Baseline: func(context.Context) (map[string]change.State, string, error) {
		return map[string]change.State{filepath.Join(w.dir, "b.x"): {}, filepath.Join(w.dir, "a.x"): change.FileState([]byte("bad old\n"), 0o644)}, "yesterday", nil
	}}
	res, err := w.p.RunCall(t.Context(), dev.Plan{Ops: []dev.Op{{Step: "check", Args: []byte(`{"delta":true}`)}}}, call)
	if w.ok(res, err); res.Compared.Baseline != "yesterday" || res.Compared.Introduced != 4 || res.Compared.Unchanged != 1 {
		t.Errorf("%+v %+v", res.Compared, res.Diagnostics)
	}
}

// Formatting on edit is part of the changeset of the edit: one question, one write, one pass.
func TestFormatOnEdit(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanFormat}, run: todo}
	w := newWorldWith(t, map[string]string{"a.x": "one\n", "b.txt": "x\n"}, dev.Config{Engines: []dev.Engine{eng}, FormatOnEdit: true})
	res := w.ok(w.step("edit", `{"path":"a.x","edits":[{"old_string":"one","new_string":"ONE"},{"old_string":"ONE\n","new_string":"ONE\nTWO\n"}]}`))
	if w.get("a.x") != "one\ntwo\n" || len(res.Changes.Files) != 1 || len(res.Changes.Transactions) != 1 || len(res.Notes) != 1 || len(eng.looked()) != 1 {
		t.Errorf("%q %+v", w.get("a.x"), res)
	}
	if got := w.asked; len(got) != 2 || !slices.Equal(got[1].Engines, []string{"script"}) {
		t.Errorf("%+v", got)
	}
	shown, _ := w.asked[1].Changes.Ops[0].After.Blob.Bytes()
	if string(shown) != "one\ntwo\n" {
		t.Errorf("the gate was shown %q", shown)
	}
	w.ok(w.step("edit", `{"path":"b.txt","edits":[{"old_string":"x","new_string":"Y"}]}`))
	if w.get("b.txt") != "Y\n" || len(eng.looked()) != 0 {
		t.Error("a file that no formatter serves")
	}
	eng.run = func(context.Context, *dev.Job) (*dev.Report, error) { return nil, errors.New("no") }
	res = w.ok(w.step("edit", `{"path":"a.x","edits":[{"old_string":"one","new_string":"ONE"}]}`))
	if w.get("a.x") != "ONE\ntwo\n" || !has(res, "", "not-formatted") {
		t.Errorf("an edit whose formatter fails: %+v", res)
	}
	plan := w.ok(w.p.Acquire("a.x").Edit("a.x", dev.Block{Old: "two", New: "TWO"}).Write().Run(t.Context()))
	if w.get("a.x") != "ONE\nTWO\n" || plan.Notes != nil {
		t.Error("a plan has a step for formatting")
	}
}

// A cancelled plan stops where it is.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	eng := &script{can: []dev.Capability{dev.CanFormat}, run: func(c context.Context, _ *dev.Job) (*dev.Report, error) {
		cancel()
		<-c.Done()
		return nil, c.Err()
	}}
	w := newWorld(t, map[string]string{"a.x": "A\n"}, eng)
	if _, err := w.p.Acquire().Format().Write().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if w.get("a.x") != "A\n" || slices.Contains(w.steps(), "format") {
		t.Errorf("asked %v", w.steps())
	}
}

// A file that is too large, or whose end never comes, is an error with its name where it was named, and left out with a
// word where it was not.
func TestLargeFiles(t *testing.T) {
	w := newWorldWith(t, map[string]string{"a.go": "package  a\n", "big.go": "package big\n" + strings.Repeat("// x\n", 100)}, dev.Config{Engines: engine.All(), MaxFileSize: 100, MaxFiles: 3})
	res := w.ok(w.step("format", `{}`))
	if !has(res, "big.go", "skipped") || w.get("a.go") != "package a\n" {
		t.Errorf("%+v", res)
	}
	var e *dev.Error
	if _, err := w.step("format", `{"paths":["big.go"]}`); !errors.As(err, &e) || e.Code != dev.TooLarge || e.Path != "big.go" {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"b.go", "c.go", "d.go"} {
		w.put(name, "package a\n")
	}
	if _, err := w.step("format", `{}`); !errors.As(err, &e) || e.Code != dev.TooLarge || !strings.Contains(e.Message, "more than 3 files") {
		t.Errorf("got %v", err)
	}
	if _, err := w.step("format", `{"paths":["nowhere/*.go"]}`); !errors.As(err, &e) || e.Code != dev.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := w.step("format", `{"paths":["nowhere.go"]}`); !errors.As(err, &e) || e.Code != dev.NotFound {
		t.Errorf("got %v", err)
	}
}

// Arguments that do not fit are refused before anything is asked.
func TestBadArguments(t *testing.T) {
	w := newWorld(t, map[string]string{"a.go": "package a\n"})
	for _, op := range []dev.Op{
		{Step: "format", Args: []byte(`{"path":"a.go"}`)}, {Step: "edit", Args: []byte(`{"path":"a.go"}`)}, {Step: "edit", Args: []byte(`[]`)},
		{Step: "edit", Args: []byte(`{"path":"a.go","edits":[{"old_string":"a","new_string":"b"}],"persists":true}`)}, {Step: "polish"}, {Step: "acquire"}, {Step: "write", Args: []byte(`{"force":true}`)},
	} {
		var e *dev.Error
		if _, err := w.p.Run(t.Context(), dev.Plan{Ops: []dev.Op{op}}); !errors.As(err, &e) || e.Code != dev.Invalid || e.Hint == "" {
			t.Errorf("%s %s: %v", op.Step, op.Args, err)
		}
	}
	var op dev.Op
	for _, text := range []string{`[]`, `{}`, `{"step":1}`, `"format"`, `{"step":"format"`} {
		if err := op.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, op)
		}
	}
	if len(w.asked) > 0 {
		t.Errorf("asked %v", w.steps())
	}
	// Edits that do not fit: all are named, none is made.
	var e *dev.Error
	_, err := w.step("edit", `{"path":"a.go","edits":[{"old_string":"package a","new_string":"package b"},{"old_string":"nope","new_string":"x"},{"old_string":"never","new_string":"x"}]}`)
	if !errors.As(err, &e) || e.Code != dev.NotFound || !strings.Contains(e.Message, "2 of 3") || !strings.Contains(e.Message, "edit #3") || w.get("a.go") != "package a\n" {
		t.Errorf("got %v", err)
	}
}

// What is found in files that the caller may not see is not told, in whatever way.
func TestHiddenFilesAreNotTold(t *testing.T) {
	eng := &script{can: []dev.Capability{dev.CanCheck}, inputs: []string{"*.x"}, batch: true, run: func(_ context.Context, job *dev.Job) (*dev.Report, error) {
		r := &dev.Report{}
		if len(job.Overlay) == 0 {
			return r, nil
		}
		for _, f := range []string{"a.x", "secret/key.x", "b.x"} {
			r.Diagnostics = append(r.Diagnostics, dev.Diagnostic{File: f, Severity: dev.Err, Source: "script", Message: "in " + f + " stands canary"})
		}
		return r, nil
	}}
	w := newWorld(t, map[string]string{"a.x": "a\n", "b.x": "b\n", "secret/key.x": "canary\n"}, eng)
	call := dev.Call{Visible: func(p host.Path) bool { return !strings.Contains(p.Real, "secret") }}
	plan, err := w.p.Acquire("a.x").Edit("a.x", dev.Block{Old: "a", New: "c"}).Check(dev.Check{Delta: true}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range []bool{true, false} {
		if !delta {
			plan.Ops[1].Args = nil
		}
		res, err := w.p.RunCall(t.Context(), plan, call)
		if w.ok(res, err); delta && res.Compared.Introduced != 2 {
			t.Errorf("%+v", res.Compared)
		}
		for _, d := range res.Diagnostics {
			if strings.Contains(d.String(), "secret") {
				t.Errorf("told: %s", d)
			}
		}
	}
}
