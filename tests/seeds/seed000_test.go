package seeds

import (
	"context"
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

// 000-33, 000-21: the mode dev has one tool for each step and never write; the mode code has the steps that need engines.
func TestSeed000_Modes(t *testing.T) {
	box, _ := open(t, tackle.Config{})
	if got, want := box.Names(tackle.View{Mode: tackle.DevMode}), []string{"read_lines", "edit", "apply_patch", "format", "lint", "check"}; !slices.Equal(got, want) {
		t.Errorf("mode dev lists %q", got)
	}
	code := box.Names(box.View())
	for _, name := range []string{"format", "lint", "check", "edit", "read_file"} {
		if !slices.Contains(code, name) {
			t.Errorf("mode code has no %s", name)
		}
	}
	if slices.Contains(code, "read_lines") || slices.Contains(code, "write") {
		t.Errorf("mode code lists %q", code)
	}
}

// 000-05, 000-24, 000-68: through the front door a person is asked once about an edit, sees exactly the bytes that are
// written, and nobody asks again behind.
func TestSeed000_OneOwnerOfTheGate(t *testing.T) {
	var seen []string
	var dir string
	face := ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) {
		b, err := os.ReadFile(filepath.Join(dir, "a.go"))
		seen = append(seen, string(b))
		return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "ada"}}, err
	})
	var box *tackle.Box
	box, dir = open(t, tackle.Config{Mode: tackle.DevMode, Rules: []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}, Faces: []ask.Face{face}})
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package  a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args map[string]any
		asks int
	}{
		{"check", map[string]any{"paths": []string{"a.txt"}}, 0}, {"read_lines", map[string]any{"path": "a.go"}, 0},
		{"edit", map[string]any{"path": "a.go", "edits": []map[string]string{{"old_string": "a\n", "new_string": "b\n"}}}, 1},
		{"format", map[string]any{"paths": []string{"a.go"}}, 1},
	} {
		seen = nil
		if res := call(t, box, c.name, c.args); !res.OK() || len(seen) != c.asks {
			t.Errorf("%s: %d asks: %s", c.name, len(seen), res.Text())
		}
	}
	if len(seen) != 1 || seen[0] != "package  b\n" {
		t.Errorf("the file was %q when a person was asked about formatting it", seen)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(b) != "package b\n" {
		t.Errorf("%q %v", b, err)
	}
}

// 000-104: what a tool of the pipeline found is an artifact that the artifact tool can be asked about.
func TestSeed000_ArtifactIsQueried(t *testing.T) {
	box, dir := open(t, tackle.Config{})
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	res := call(t, box, "check", map[string]any{"paths": []string{"x.json"}})
	if !res.OK() || res.Meta.Artifact == "" {
		t.Fatalf("%s", res.Text())
	}
	got := call(t, box, "artifact", map[string]any{"op": "get", "id": res.Meta.Artifact, "query": "$.diagnostics[0].file"})
	if !got.OK() || !strings.Contains(got.Text(), "x.json") {
		t.Errorf("%s", got.Text())
	}
}
