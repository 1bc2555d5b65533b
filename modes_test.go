package tackle_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// A9, P12: a mode of the project counts fully only when exactly its content was trusted, and what it allows is no more than
// the person's policy does.
func TestA9_ProjectMode(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	path := filepath.Join(ws, ".tackle", "modes", "quick.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("---\ndescription: Quick\ntools: [read_file, write_file]\npermissions:\n  - edit: allow\nmodel: ollama/small\n---\nBe quick.\n")
	cfg := tackle.Config{Dir: ws, StateDir: filepath.Join(dir, "state"), Mode: "quick",
		Rules: []permission.Rule{{Permission: "edit", Pattern: "kept/**", Action: tool.Deny}, {Permission: "edit", Pattern: "asked/**", Action: tool.Ask}}}
	open := func() *tackle.Box {
		t.Helper()
		box, err := tackle.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { box.Close() })
		return box
	}
	box := open()
	if m, err := box.Mode(""); err != nil || m.Model != "" || m.Prompt != "Be quick." || len(box.Notes()) != 1 {
		t.Errorf("%+v %v %q", m, err, box.Notes())
	}
	if got := box.Names(box.View()); !slices.Equal(got, []string{"read_file", "write_file"}) {
		t.Errorf("tools %q", got)
	}
	files, err := box.ProjectFiles()
	if err != nil || len(files) != 1 || files[0].Path != path || files[0].Trusted {
		t.Fatalf("%+v %v", files, err)
	}
	if err := box.Trust(files...); err != nil {
		t.Fatal(err)
	}
	box = open()
	if m, err := box.Mode("quick"); err != nil || m.Model != "ollama/small" {
		t.Errorf("%+v %v", m, err)
	}
	for file, ok := range map[string]bool{"a.txt": true, "kept/a.txt": false, "asked/a.txt": false, ".git/hooks/x": false} {
		res, err := box.Call(t.Context(), tackle.NewRequest("write_file", map[string]any{"path": file, "content": "x"}))
		if err != nil || res.OK() != ok {
			t.Errorf("%s: %s %v", file, res.Text(), err)
		}
	}
	write("---\ndescription: Quick\nmodel: ollama/other\n---\n")
	if m, err := open().Mode("quick"); err != nil || m.Model != "" {
		t.Errorf("after a change %+v %v", m, err)
	}
}

// A program may have a mode of its own, which is nothing but a name for its tools; a name that nothing knows is a mistake.
func TestA9_ModeOfProgram(t *testing.T) {
	cfg := tackle.Config{Dir: t.TempDir(), StateDir: t.TempDir(), NoFiles: true, Mode: "own"}
	if _, err := tackle.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), `there is no mode "own"`) {
		t.Errorf("got %v", err)
	}
	probe := tool.Define(tool.Spec{Name: "probe", Category: "test", Description: "Show.", Example: `{}`}, nilPlan)
	cfg.Tools = []tackle.Tool{{Tool: probe}}
	box, err := tackle.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if m, err := box.Mode(""); err != nil || m.Name != "own" || !slices.Equal(box.Names(box.View()), []string{"probe"}) {
		t.Errorf("%+v %v", m, err)
	}
	all := box.AllModes()
	if all[0].Name != "code" || all[len(all)-1].Name != "own" {
		t.Errorf("%+v", all)
	}
}

func nilPlan(context.Context, *tool.Call, struct{}) (tool.Action, error) {
	return tool.Action{Run: func(context.Context, tool.Runner) (tool.Result, error) { return tool.TextResult("shown", nil), nil }}, nil
}
