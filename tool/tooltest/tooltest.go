// Package tooltest is the suite that every tool joins: what the contract promises about any tool, tried on this one.
//
//	func TestContract(t *testing.T) {
//		tooltest.Run(t, greet.Tool(), tooltest.World{})
//	}
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// World is the place in which the suite tries a tool. The zero World has no host.
type World struct {
	// Host and Dir: where the tool acts. The suite proves that planning changes nothing below Dir.
	Host host.Host
	Dir  string
	// Good are further argument objects that must plan; the definition's example is always tried.
	Good []string
	// Bad are argument objects that fit the schema but cannot be planned, each with the code that they get.
	Bad map[string]tool.Code
	// Artifacts, where the tool needs them.
	Artifacts tool.Artifacts
	Env       tool.Environment
}

// Run runs the suite.
func Run(t *testing.T, tl tool.Tool, w World) {
	t.Helper()
	def := tl.Definition()
	if err := def.Err(); err != nil {
		t.Fatal(err)
	}
	t.Run("definition", func(t *testing.T) { definition(t, def) })
	t.Run("stable", func(t *testing.T) {
		a, _ := json.Marshal(def.Schema)
		b, _ := json.Marshal(tl.Definition().Schema)
		if string(a) != string(b) || tl.Definition().Description != def.Description {
			t.Error("two calls of Definition differ (T8)")
		}
	})
	t.Run("plan", func(t *testing.T) { plan(t, tl, w) })
	t.Run("bad", func(t *testing.T) { bad(t, tl, w) })
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tl.Plan(ctx, w.call(def), json.RawMessage(def.Example)); err != nil && tool.IsFault(err) {
			t.Errorf("a cancelled plan is a fault: %v", err)
		}
	})
}

func (w World) call(def tool.Definition) *tool.Call {
	return &tool.Call{ID: "c1", Session: "s1", Tool: def.Name, Mode: "code", Dir: w.Dir, Host: w.Host, Env: w.Env,
		Log: slog.New(slog.DiscardHandler), ReadState: noReadState{}, Artifacts: w.Artifacts}
}

type noReadState struct{}

func (noReadState) Seen(string) (change.Digest, bool) { return change.Digest{}, false }
func (noReadState) Mark(string, change.Digest)        {}

func definition(t *testing.T, def tool.Definition) {
	if def.Example == "" {
		t.Error("no example: errors have nothing to quote (T7)")
	}
	if def.Title == "" {
		t.Error("no title")
	}
	first, _, _ := strings.Cut(def.Description, ".")
	if n := len(first); n == 0 || n > 160 {
		t.Errorf("the first sentence has to carry the meaning alone, in at most 160 bytes: %q", first)
	}
	if len(def.Description) > 1024 {
		t.Errorf("the description has %d bytes; some deployments refuse more than 1024", len(def.Description))
	}
	for _, f := range schema.Lint(def.Def()) {
		if f.Severity == schema.Error {
			t.Errorf("not portable (T14): %v", f)
		}
	}
	checker, err := schema.Compile(def.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := checker.Prepare([]byte(def.Example)); err != nil || len(p.Problems) > 0 || len(p.Repairs) > 0 {
		t.Errorf("the example does not fit the schema: %v %+v", err, p)
	}
}

// plan tries the example and the good calls: each gives an honest action and changes nothing (T3, T4).
func plan(t *testing.T, tl tool.Tool, w World) {
	def := tl.Definition()
	before := snapshot(t, w.Dir)
	for _, args := range append([]string{def.Example}, w.Good...) {
		a, err := tl.Plan(t.Context(), w.call(def), json.RawMessage(args))
		if err != nil {
			var e *tool.Error
			if args == def.Example && errors.As(err, &e) { // the example's files need not exist here
				continue
			}
			t.Errorf("%s: %v", args, err)
			continue
		}
		honest(t, def, args, a)
	}
	if after := snapshot(t, w.Dir); after != before {
		t.Errorf("planning changed the workspace:\nbefore %s\nafter  %s", before, after)
	}
}

func honest(t *testing.T, def tool.Definition, args string, a tool.Action) {
	in := &a.Intent
	if a.Run == nil {
		t.Fatalf("%s: no Run", args)
	}
	if len(in.Effects) == 0 {
		t.Errorf("%s: no effect", args)
	}
	for _, e := range in.Effects {
		if def.Annotations.ReadOnly && (e == tool.Write || e == tool.Execute) {
			t.Errorf("%s: a read-only tool has the effect %s", args, e)
		}
	}
	if in.Changes.Empty() {
		return
	}
	if err := in.Changes.Validate(); err != nil {
		t.Errorf("%s: %v", args, err)
	}
	if !in.Has(tool.Write) || !in.Persists || def.Permission != "edit" {
		t.Errorf("%s: changes files, with effects %v, persists %v, permission %s (P2)", args, in.Effects, in.Persists, def.Permission)
	}
	named := map[string]bool{}
	for _, tg := range in.Targets {
		named[tg.Value] = true
	}
	for _, m := range in.MayCreate {
		named[m] = true
	}
	for _, p := range in.Changes.Paths() {
		if !covered(named, p) {
			t.Errorf("%s: changes %s, which no target names (T4)", args, p)
		}
	}
}

// covered reports whether a target names the path, a folder above it, or (for folders made on the way) one below it.
func covered(named map[string]bool, p string) bool {
	for n := range named {
		if n == p || strings.HasPrefix(p, n+string(filepath.Separator)) || strings.HasPrefix(n, p+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// bad tries calls that cannot be planned: each fails with a code, a message and a next step, and changes nothing (T7).
func bad(t *testing.T, tl tool.Tool, w World) {
	def := tl.Definition()
	before := snapshot(t, w.Dir)
	for args, code := range w.Bad {
		_, err := tl.Plan(t.Context(), w.call(def), json.RawMessage(args))
		var e *tool.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a tool error %s", args, err, code)
			continue
		}
		if e.Code != code {
			t.Errorf("%s: code %s, want %s: %v", args, e.Code, code, e)
		}
		if e.Message == "" || e.Hint == "" && e.Expected == "" {
			t.Errorf("%s: the error does not say what to do next:\n%s", args, e.Render())
		}
	}
	if after := snapshot(t, w.Dir); after != before {
		t.Error("a call that failed changed the workspace")
	}
}

// snapshot describes everything below dir.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	if dir == "" {
		return ""
	}
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d", p, info.Mode(), info.Size())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v", change.Sum(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
