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

	"github.com/tackle-dev/tackle/dev"
)

// starter is an engine that would start a program to format *.x, and counts how often it ran.
type starter struct{ ran int }

func (s *starter) Info() dev.Info {
	a := dev.Ability{Files: []string{"*.x"}, Commands: []string{"xfmt -w"}}
	return dev.Info{Name: "xfmt", Can: map[dev.Capability]dev.Ability{dev.CanFormat: a, dev.CanFix: a, dev.CanLint: a}}
}

func (s *starter) Run(_ context.Context, _ *dev.Job) (*dev.Report, error) {
	s.ran++
	return &dev.Report{}, nil
}

// A program of an engine runs only after the gate was asked about it: also where the files that it serves are made by the
// plan, so that there was none of them when the plan acquired.
func TestD4_NoProgramUnasked(t *testing.T) {
	const patch = `"*** Begin Patch\n*** Add File: n.x\n+1\n*** End Patch\n"`
	const moved = `"*** Begin Patch\n*** Update File: a.txt\n*** Move to: n.x\n@@\n-a\n+b\n*** End Patch\n"`
	op := func(step, args string) dev.Op { return dev.Op{Step: step, Args: json.RawMessage(args)} }
	edit := op("edit", `{"path":"n.x","edits":[{"old_string":"","new_string":"1\n"}]}`)
	for _, c := range []struct {
		name   string
		onEdit bool
		plan   dev.Plan
		call   dev.Call
	}{
		{"edit then format", false, dev.Plan{Paths: []string{"a.txt"}, Ops: []dev.Op{edit, op("format", "{}")}}, dev.Call{}},
		{"edit then fix", false, dev.Plan{Paths: []string{"a.txt"}, Ops: []dev.Op{edit, op("lint", `{"fix":true}`)}}, dev.Call{}},
		{"patch then format", false, dev.Plan{Paths: []string{"a.txt"}, Ops: []dev.Op{op("apply_patch", `{"patch":`+patch+`}`), op("format", "{}")}}, dev.Call{}},
		{"move then format", false, dev.Plan{Paths: []string{"a.txt"}, Ops: []dev.Op{op("apply_patch", `{"patch":`+moved+`}`), op("format", "{}")}}, dev.Call{}},
		{"format on edit", true, dev.Plan{Ops: []dev.Op{edit}}, dev.Call{Persist: true}},
		{"format on patch", true, dev.Plan{Ops: []dev.Op{op("apply_patch", `{"patch":`+patch+`}`)}}, dev.Call{Persist: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eng := &starter{}
			w := newWorldWith(t, map[string]string{"a.txt": "a\n"}, dev.Config{Engines: []dev.Engine{eng}, FormatOnEdit: c.onEdit})
			asked := 0
			w.answer = func(r *dev.Request) error {
				if slices.Contains(r.Commands, "xfmt -w") {
					asked++
					return &dev.DeniedError{Step: r.Step, Reason: "no programs"}
				}
				return nil
			}
			_, err := w.p.RunCall(context.Background(), c.plan, c.call)
			if eng.ran > 0 {
				t.Errorf("the program ran %d times; its start was asked about %d times: %v", eng.ran, asked, err)
			}
		})
	}
}

// A configuration that is a link counts where it stays below the root; one that leads out is not read, and that is said.
func TestConfigByLink(t *testing.T) {
	var got []string
	eng := &script{can: []dev.Capability{dev.CanCheck}, config: []string{"x.conf"}, run: func(_ context.Context, job *dev.Job) (*dev.Report, error) {
		for _, f := range job.Config {
			got = append(got, f.Path+"="+string(f.Content))
		}
		return nil, nil
	}}
	w := newWorld(t, map[string]string{"a.x": "1\n", "shared/real.conf": "shared", "../secret": "secret"}, eng)
	link := filepath.Join(w.dir, "x.conf")
	if err := os.Symlink(filepath.Join("shared", "real.conf"), link); err != nil {
		t.Fatal(err)
	}
	if res := w.ok(w.step("check", `{"paths":["a.x"]}`)); !slices.Equal(got, []string{"x.conf=shared"}) || has(res, "x.conf", "config") {
		t.Errorf("within the root: %q %+v", got, res.Diagnostics)
	}
	got = nil
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "secret"), link); err != nil {
		t.Fatal(err)
	}
	res := w.ok(w.step("check", `{"paths":["a.x"]}`))
	if strings.Contains(strings.Join(got, " "), "secret") || !has(res, "x.conf", "config") {
		t.Errorf("out of the root: %q %+v", got, res.Diagnostics)
	}
}

// Files that a configuration names are configuration too, each once, and never from outside of the root.
func TestConfigFollowed(t *testing.T) {
	var got []string
	eng := following{&script{can: []dev.Capability{dev.CanCheck}, config: []string{"x.conf"}, run: func(_ context.Context, job *dev.Job) (*dev.Report, error) {
		for _, f := range job.Config {
			got = append(got, f.Path)
		}
		return nil, nil
	}}}
	w := newWorld(t, map[string]string{"d/a.x": "1\n", "d/x.conf": "../base.conf ../../out.conf", "base.conf": "d/x.conf more.conf gone.conf", "more.conf": "", "../out.conf": "secret"}, eng)
	if w.ok(w.step("check", `{"paths":["d"]}`)); !slices.Equal(got, []string{"d/x.conf", "base.conf", "more.conf"}) {
		t.Errorf("%q", got)
	}
	got = nil
	if w.ok(w.step("check", `{"paths":["d"]}`)); got != nil {
		t.Errorf("looked twice: %q", got)
	}
	w.put("more.conf", "changed")
	if w.ok(w.step("check", `{"paths":["d"]}`)); got == nil {
		t.Error("a followed configuration changed, and what was found before still counts")
	}
}

type following struct{ *script }

func (f following) Info() dev.Info {
	i := f.script.Info()
	i.Follow = func(c dev.File) []string { return strings.Fields(string(c.Content)) }
	return i
}

// A folder that turns into a link out of the root while the gate thinks is not written through.
func TestD4_LinkedAwayWhileAsked(t *testing.T) {
	for _, step := range [][2]string{{"edit", `{"path":"d/a.go","edits":[{"old_string":"a\n","new_string":"b\n"}]}`}, {"edit", `{"path":"d/new.go","edits":[{"old_string":"","new_string":"b\n"}]}`}, {"format", `{"paths":["d"]}`}} {
		const text = "package  a\n"
		w := newWorld(t, map[string]string{"d/a.go": text, "../out/a.go": text})
		w.hooks[step[0]] = func(*dev.Request) {
			if err := errors.Join(os.Rename(filepath.Join(w.dir, "d"), filepath.Join(w.dir, "was")), os.Symlink(filepath.Join("..", "out"), filepath.Join(w.dir, "d"))); err != nil {
				t.Error(err)
			}
		}
		res, err := w.step(step[0], step[1])
		if err == nil || res.OK || w.get("../out/a.go") != text || w.get("../out/new.go") != "<absent>" {
			t.Errorf("%v: %v, outside is %q %q", step, err, w.get("../out/a.go"), w.get("../out/new.go"))
		}
	}
}
