package plan

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/tools/file"
)

func world(t *testing.T) (host.Host, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	if err := os.MkdirAll(filepath.Join(ws, tool.PlanFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, tool.PlanFolder, "release.md"), []byte("# Release\n\n- [ ] tests\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: ws}}, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	return h, ws
}

func tools() []tool.Tool {
	return Tools(Files{Read: file.Read{}.Tool(), Write: file.Write{}.Tool(), Edit: file.Edit{}.Tool()})
}

func TestContract(t *testing.T) {
	for _, tl := range tools() {
		h, ws := world(t)
		w := tooltest.World{Host: h, Dir: ws}
		switch tl.Definition().Name {
		case "plan_read":
			w.Good = []string{`{"path":"release"}`, `{"path":".tackle/plans/release.md","limit":1}`}
			w.Bad = map[string]tool.Code{`{"path":"none"}`: tool.NotFound, `{"path":"../x.md"}`: tool.InvalidParameter, `{"path":""}`: tool.InvalidParameter, `{"path":"/etc/passwd"}`: tool.InvalidParameter}
		case "plan_write":
			w.Good = []string{`{"path":"new/deep.md","content":"# x\n"}`}
			w.Bad = map[string]tool.Code{`{"path":"a.txt","content":"x"}`: tool.InvalidParameter, `{"path":".hidden.md","content":"x"}`: tool.InvalidParameter, `{"path":"a/../../b.md","content":"x"}`: tool.InvalidParameter}
		case "plan_edit":
			w.Bad = map[string]tool.Code{`{"path":"release","old_string":"zzz","new_string":"b"}`: tool.NotFound}
		}
		t.Run(tl.Definition().Name, func(t *testing.T) { tooltest.Run(t, tl, w) })
	}
}

// stray is a file tool that would write elsewhere.
type stray struct{ tool.Tool }

func (s stray) Plan(_ context.Context, call *tool.Call, _ json.RawMessage) (tool.Action, error) {
	p := filepath.Join(call.Host.Info().Roots[0].Path, "main.md")
	return tool.Action{Intent: tool.Intent{Changes: &change.Set{Ops: []change.Op{change.Create(p, []byte("x"), 0)}}}}, nil
}

// A7: whatever the file tool below does, a plan tool writes in the folder of plans alone; a folder that is a link is refused.
func TestA7_Confined(t *testing.T) {
	h, ws := world(t)
	write := confined[writeInput](stray{file.Write{}.Tool()}, tool.Spec{Name: "plan_write", Description: "x"})
	call := &tool.Call{Host: h, Dir: ws}
	if _, err := write.Plan(t.Context(), call, json.RawMessage(`{"path":"a.md","content":"x"}`)); err == nil || !strings.Contains(err.Error(), "leave the folder of plans") {
		t.Errorf("got %v", err)
	}
	if err := os.Rename(filepath.Join(ws, ".tackle/plans"), filepath.Join(ws, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere", filepath.Join(ws, ".tackle/plans")); err != nil {
		t.Skip("this machine makes no links: ", err)
	}
	for _, tl := range tools() {
		if _, err := tl.Plan(t.Context(), call, json.RawMessage(tl.Definition().Example)); err == nil || !strings.Contains(err.Error(), "is a link to") {
			t.Errorf("%s: got %v", tl.Definition().Name, err)
		}
	}
}

// O9: a name or heading with line ends or invisible characters is quoted, so that it is no other line of the list.
func TestA7_ListIsOneLineEach(t *testing.T) {
	h, ws := world(t)
	if err := os.WriteFile(filepath.Join(ws, tool.PlanFolder, "a\nb.md"), []byte("# x\u202ey\x1b[31m\n"), 0o600); err != nil {
		t.Skip("this machine has no such names: ", err)
	}
	a, err := tools()[0].Plan(t.Context(), &tool.Call{Host: h, Dir: ws}, json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Text(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\u202e\x1b") || !strings.Contains(got, `"a\nb.md"`) {
		t.Errorf("got %q", got)
	}
}
