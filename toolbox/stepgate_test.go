package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/tool"
)

// stepGate is a box with one tool whose pipeline asks about its steps.
func stepGate(t *testing.T, selfGated bool, gate Gate, run func(ctx context.Context, c *tool.Call, r tool.Runner) error) (func() tool.Result, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: dir}}, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Host: h, Gate: gate, Env: tool.Environment{Mode: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	tl := tool.Define(tool.Spec{Name: "pipe", Category: "test", Description: "Run steps.", Example: `{}`, SelfGated: selfGated},
		func(_ context.Context, c *tool.Call, _ struct{}) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read, tool.Write}}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				return tool.TextResult("done", nil), run(ctx, c, r)
			}}, nil
		})
	if err := b.Register(tl, "m"); err != nil {
		t.Fatal(err)
	}
	return func() tool.Result {
		res, err := b.Call(context.Background(), Request{Tool: "pipe", Args: json.RawMessage(`{}`), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}, dir
}

// verdicts answers intents by what they change.
type verdicts func(in *tool.Intent) tool.Verdict

func (f verdicts) Decide(_ context.Context, r GateRequest) (tool.Decision, error) {
	return tool.Decision{Verdict: f(r.Intent), By: "test"}, nil
}

func creating(dir, name string) *change.Set {
	return &change.Set{Ops: []change.Op{change.Create(filepath.Join(dir, name), []byte("x"), 0o644)}}
}

// T2: what a self-gated tool asks about is decided by the gate of the road, and only what was granted is committed, once.
func TestT2_StepGate(t *testing.T) {
	var asked []string
	gate := verdicts(func(in *tool.Intent) tool.Verdict {
		asked = append(asked, in.Permission)
		if in.Permission == "forbidden" {
			return tool.Deny
		}
		return tool.Allow
	})
	var dir string
	var errs []error
	call, dir := stepGate(t, true, gate, func(ctx context.Context, _ *tool.Call, r tool.Runner) error {
		g := r.(tool.StepGate)
		note := func(err error) { errs = append(errs, err) }
		write := func(permission string, set *change.Set) error {
			_, err := g.Decide(ctx, &tool.Intent{Permission: permission, Effects: []tool.Effect{tool.Write}, Changes: set})
			return err
		}
		commit := func(set *change.Set) error { _, err := r.Commit(ctx, set); return err }
		_, err := g.Decide(ctx, &tool.Intent{Effects: []tool.Effect{tool.Read}})
		note(err) // 0: granted
		granted := creating(dir, "a")
		note(write("edit", granted))     // 1
		note(commit(granted))            // 2
		note(commit(granted))            // 3: twice
		note(commit(creating(dir, "b"))) // 4: never asked about
		denied := creating(dir, "c")     //
		note(write("forbidden", denied)) // 5
		note(commit(denied))             // 6: refused
		second := creating(dir, "d")     //
		note(write("edit", second))      // 7: there may be many steps
		note(commit(second))             // 8
		return nil
	})
	res := call()
	if !res.OK() || len(res.Meta.Transaction) != 2 || len(res.Meta.Changes) != 2 {
		t.Errorf("%s %+v", res.Text(), res.Meta)
	}
	for i, want := range []string{"", "", "", "no step was granted", "no step was granted", "not allowed", "no step was granted", "", ""} {
		if got := errs[i]; (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%d: %v, want %q", i, got, want)
		}
	}
	var denial *tool.Denial
	if !errors.As(errs[5], &denial) {
		t.Errorf("a refusal is %T", errs[5])
	}
	if got := strings.Join(asked, " "); got != "pipe edit forbidden edit" {
		t.Errorf("asked about %s", got)
	}
}

// A tool for which the road asks cannot ask by itself, and a self-gated one with a gate of its own is not asked for.
func TestT2_StepGateIsForSelfGatedTools(t *testing.T) {
	deny := verdicts(func(in *tool.Intent) tool.Verdict {
		if in.Changes.Empty() {
			return tool.Allow
		}
		return tool.Deny
	})
	call, _ := stepGate(t, false, verdicts(func(*tool.Intent) tool.Verdict { return tool.Allow }), func(ctx context.Context, _ *tool.Call, r tool.Runner) error {
		_, err := r.(tool.StepGate).Decide(ctx, &tool.Intent{})
		return err
	})
	if res := call(); res.OK() || !strings.Contains(res.Text(), "the road asks for this tool") {
		t.Errorf("%s", res.Text())
	}
	var dir string
	call, dir = stepGate(t, true, deny, func(ctx context.Context, _ *tool.Call, r tool.Runner) error {
		_, err := r.Commit(ctx, creating(dir, "own"))
		return err
	})
	if res := call(); !res.OK() || len(res.Meta.Transaction) != 1 {
		t.Errorf("%s", res.Text())
	}
}

// Shape changes what is written before it is decided about, and says so.
func TestShape(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: dir}}, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	gate := verdicts(func(in *tool.Intent) tool.Verdict {
		if !in.Changes.Empty() {
			b, _ := in.Changes.Ops[0].After.Blob.Bytes()
			shown = string(b)
		}
		return tool.Allow
	})
	b, err := New(Config{Host: h, Gate: gate, Env: tool.Environment{Mode: "m"}, Shape: func(_ context.Context, _ *tool.Call, set *change.Set) string {
		set.Ops[0].After = change.FileState([]byte("shaped"), 0o644)
		return "it was shaped."
	}})
	if err != nil {
		t.Fatal(err)
	}
	tl := tool.Define(tool.Spec{Name: "put", Category: "test", Description: "Put a file.", Example: `{}`},
		func(context.Context, *tool.Call, struct{}) (tool.Action, error) {
			set := creating(dir, "a")
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Changes: set}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				_, err := r.Commit(ctx, set)
				return tool.TextResult("done", nil), err
			}}, nil
		})
	if err := b.Register(tl, "m"); err != nil {
		t.Fatal(err)
	}
	res, err := b.Call(t.Context(), Request{Tool: "put", Args: json.RawMessage(`{}`), Dir: dir})
	if err != nil || !res.OK() || shown != "shaped" || !strings.Contains(res.Text(), "it was shaped") {
		t.Errorf("shown %q: %s %v", shown, res.Text(), err)
	}
	f, err := h.Open(t.Context(), filepath.Join(dir, "a"))
	if err != nil || f.Info().Size != int64(len("shaped")) {
		t.Errorf("%v", err)
	}
	f.Close()
}
