package seeds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// What document 003 says of the whole, tried on the whole.

func open(t *testing.T, cfg tackle.Config) (*tackle.Box, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return openAt(t, ws, cfg)
}

// openAt opens a box in a workspace that is there; its state lies beside it.
func openAt(t *testing.T, ws string, cfg tackle.Config) (*tackle.Box, string) {
	t.Helper()
	cfg.Dir, cfg.StateDir, cfg.NoFiles = ws, filepath.Join(filepath.Dir(ws), "state"), true
	box, err := tackle.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box, cfg.Dir
}

func call(t *testing.T, box *tackle.Box, name string, args any) tool.Result {
	t.Helper()
	res, err := box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

type probeInput struct {
	Lines int `json:"lines,omitempty"`
}

// probe is a tool of a plugin. It shows what it is given and what it may give back.
func probe(seen func(ctx context.Context, c *tool.Call, r tool.Runner) error) tackle.Tool {
	return tackle.Tool{Tool: tool.Define(tool.Spec{Name: "probe", Category: "test", Description: "Show the call.", Example: `{}`},
		func(_ context.Context, c *tool.Call, in probeInput) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				if err := seen(ctx, c, r); err != nil {
					return tool.Result{}, err
				}
				return tool.TextResult(strings.Repeat("0123456789\n", in.Lines)+"end", nil), nil
			}}, nil
		})}
}

// 003-12, 003-20: a tool of a plugin is called with ids, mode and cancellation, and writes metadata back.
func TestSeed003_CallContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	box, _ := open(t, tackle.Config{Session: "s1", Tools: []tackle.Tool{probe(func(ctx context.Context, c *tool.Call, r tool.Runner) error {
		if c.Session != "s1" || c.Message != "m1" || c.Mode != "code" || c.ID == "" {
			t.Errorf("session %q, message %q, mode %q, id %q", c.Session, c.Message, c.Mode, c.ID)
		}
		r.Meta("seen", true)
		if c.Model == "stops" {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})}})
	if !slices.Contains(box.Names(box.View()), "probe") {
		t.Error("the tool of a plugin is not listed")
	}
	req := tackle.NewRequest("probe", map[string]any{})
	req.Message = "m1"
	res, err := box.Call(ctx, req)
	if err != nil || !res.OK() || res.Meta.Values["seen"] != true {
		t.Errorf("%s %v %v", res.Text(), res.Meta.Values, err)
	}
	req.Model = "stops"
	if res, err := box.Call(ctx, req); err != nil || res.Err == nil || res.Err.Code != tool.Cancelled {
		t.Errorf("%s %v", res.Text(), err)
	}
}

// 003-32: the tools that change files fold into one permission, whichever of their names a rule uses.
func TestSeed003_EditFamily(t *testing.T) {
	plain, _ := open(t, tackle.Config{})
	family := slices.DeleteFunc(plain.Names(plain.View()), func(name string) bool {
		def, _ := plain.Definition(name, "code")
		return def.Permission != "edit"
	})
	if len(family) < 4 || !slices.Contains(family, "write_file") || !slices.Contains(family, "apply_patch") {
		t.Fatalf("the family is %q", family)
	}
	for _, name := range []string{"edit", "write_file", "apply_patch"} {
		box, _ := open(t, tackle.Config{Rules: []permission.Rule{{Permission: name, Pattern: "*", Action: tool.Deny}}})
		for _, other := range family {
			if slices.Contains(box.Names(box.View()), other) {
				t.Errorf("a rule against %s leaves %s in the list", name, other)
			}
		}
	}
}

// 003-33, 003-34: only a deny of everything takes a tool out of the list; a narrower deny rejects the calls that it matches; an
// ask leaves the tool in the list, asks before anything happens, and the call goes on after the answer.
func TestSeed003_DenyAndAsk(t *testing.T) {
	deny := permission.Rule{Permission: "edit", Pattern: "src/**", Action: tool.Deny}
	box, _ := open(t, tackle.Config{Rules: []permission.Rule{deny}})
	if !slices.Contains(box.Names(box.View()), "write_file") {
		t.Error("a narrow deny takes the tool out of the list")
	}
	if res := call(t, box, "write_file", map[string]any{"path": "src/a", "content": "x"}); res.Denied == nil {
		t.Errorf("got %s", res.Text())
	}
	if res := call(t, box, "write_file", map[string]any{"path": "doc/a", "content": "x"}); !res.OK() {
		t.Errorf("got %s", res.Text())
	}
	var dir string
	asked := 0
	face := ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) {
		asked++
		if _, err := os.Stat(filepath.Join(dir, "new.txt")); !errors.Is(err, os.ErrNotExist) {
			t.Error("the file was there before the answer")
		}
		return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "ada"}}, nil
	})
	box, dir = open(t, tackle.Config{Rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}, Faces: []ask.Face{face}})
	if !slices.Contains(box.Names(box.View()), "write_file") {
		t.Error("an ask takes the tool out of the list")
	}
	if res := call(t, box, "write_file", map[string]any{"path": "new.txt", "content": "x"}); !res.OK() || asked != 1 {
		t.Errorf("%d asks: %s", asked, res.Text())
	}
}

// 003-35: the booleans of one request hide and refuse, and allow what is only asked by default.
func TestSeed003_RequestBooleans(t *testing.T) {
	box, _ := open(t, tackle.Config{})
	view := box.View()
	view.Overlay = map[string]bool{"write_file": false}
	if slices.Contains(box.Names(view), "write_file") {
		t.Error("a tool that the request switches off is listed")
	}
	req := tackle.NewRequest("write_file", map[string]any{"path": "x", "content": "x"})
	req.Overlay = view.Overlay
	if res, err := box.Call(t.Context(), req); err != nil || res.OK() {
		t.Errorf("%s %v", res.Text(), err)
	}
}

// 003-48: the whole output lies where the session can read it, unless a rule denies it.
func TestSeed003_WholeOutputIsReadable(t *testing.T) {
	long := probe(func(context.Context, *tool.Call, tool.Runner) error { return nil })
	box, _ := open(t, tackle.Config{Tools: []tackle.Tool{long}})
	res := call(t, box, "probe", map[string]any{"lines": 5000})
	if !res.Meta.Truncated || res.Meta.Artifact == "" || !strings.Contains(res.Text(), "2000 of 5001 lines") {
		t.Fatalf("%+v: %s", res.Meta, res.Text()[len(res.Text())-200:])
	}
	read := map[string]any{"path": "artifact:" + res.Meta.Artifact, "offset": 5001}
	if got := call(t, box, "read_file", read); !got.OK() || !strings.Contains(got.Text(), "end") {
		t.Errorf("got %s", got.Text())
	}
	// A rule against reading is a rule against reading this.
	req := tackle.NewRequest("read_file", read)
	req.Overlay = map[string]bool{"read_file": false}
	if got, err := box.Call(t.Context(), req); err != nil || got.OK() {
		t.Errorf("%.200s %v", got.Text(), err)
	}
	id := "artifact:" + res.Meta.Artifact
	for _, pattern := range []string{"artifact:*", id, filepath.Join(strings.TrimSuffix(box.Dir(), "ws"), "state", "artifacts") + "/**"} {
		denied, _ := openAt(t, box.Dir(), tackle.Config{Session: box.SessionID(), Rules: []permission.Rule{{Permission: "*", Pattern: pattern, Action: tool.Deny}}})
		for name, args := range map[string]map[string]any{"read_file": {"path": id}, "artifact": {"id": res.Meta.Artifact, "op": "tail"},
			"copy_file": {"path": id, "to": "copy"}, "write_file": {"path": "copy", "content": "@" + id}} {
			if got := call(t, denied, name, args); got.Denied == nil && (got.Err == nil || got.Err.Code != tool.PermissionDenied) {
				t.Errorf("%s, with a rule against %s: %.200s", name, pattern, got.Text())
			}
		}
	}
}
