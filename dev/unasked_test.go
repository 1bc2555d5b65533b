package dev_test

import (
	"context"
	"encoding/json"
	"slices"
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
