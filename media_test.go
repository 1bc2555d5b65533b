package tackle_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

func mediaBox(t *testing.T, cfg tackle.Config) (*tackle.Box, func(args map[string]any) tool.Result) {
	t.Helper()
	dir := t.TempDir()
	cfg.Dir, cfg.StateDir, cfg.NoFiles = filepath.Join(dir, "ws"), filepath.Join(dir, "state"), true
	for name, s := range map[string]string{"a.csv": "n,v\nx,1\n", "sub/b.csv": "n,v\nx,2\n", ".env": "KEY=secret\n"} {
		p := filepath.Join(cfg.Dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box, err := tackle.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box, func(args map[string]any) tool.Result {
		t.Helper()
		res, err := box.Call(t.Context(), tackle.NewRequest("media_query", args))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
}

// Files of the workspace are media under the rules that hold for reading them, and are never changed by it.
func TestM4_FilesOfTheWorkspace(t *testing.T) {
	box, query := mediaBox(t, tackle.Config{Rules: []permission.Rule{{Permission: "read_file", Pattern: "sub/**", Action: tool.Deny}}})
	res := query(map[string]any{"media_id": "file:a.csv", "q": `sheet update_cells updates='[{"address":"B2","value":9}]'`})
	a, ok := res.Data.(forge.Answer)
	if !ok || len(a.Media) != 1 {
		t.Fatal(res.Text())
	}
	if b, err := os.ReadFile(filepath.Join(box.Dir(), "a.csv")); err != nil || string(b) != "n,v\nx,1\n" {
		t.Errorf("the file is %q now (%v)", b, err)
	}
	if it := a.Media[0]; it.Inherits != forge.Private || it.Derived[0] != "file:a.csv" || it.Trust != forge.FirstParty {
		t.Errorf("%+v", it)
	}
	if res = query(map[string]any{"media_id": a.Media[0].ID, "q": `diff with=@"file:a.csv"`}); !strings.Contains(res.Text(), "-x,9\n+x,1") {
		t.Error(res.Text())
	}
	// A rule about the file decides, whether it is the subject or a reference.
	for _, args := range []map[string]any{{"media_id": "file:sub/b.csv", "q": "extract text"}, {"media_id": "file:a.csv", "q": `diff with=@"file:sub/b.csv"`}} {
		if res = query(args); res.Denied == nil || strings.Contains(res.Text(), "x,2") {
			t.Errorf("%v: %s", args, res.Text())
		}
	}
	// Secrets are not simply read.
	if res = query(map[string]any{"media_id": "file:.env", "q": "extract text"}); res.OK() || strings.Contains(res.Text(), "KEY=") {
		t.Error(res.Text())
	}
}

func TestM4_Attachments(t *testing.T) {
	box, query := mediaBox(t, tackle.Config{})
	it, err := box.Attach(t.Context(), "", "no../te.md", "", []byte("# T\n"))
	if err != nil || it.Filename != "te.md" || it.MIMEType != "text/markdown" {
		t.Fatal(it, err)
	}
	res := query(map[string]any{"media_id": it.ID, "q": "convert to=html"})
	list, err := box.Media(t.Context(), "")
	if err != nil || len(list) != 2 || list[0].ID != it.ID || list[1].Source != "tool:media_query" {
		t.Errorf("%s %+v %v", res.Text(), list, err)
	}
	got, data, err := box.OpenMedia(t.Context(), "", list[1].ID)
	if err != nil || got.MIMEType != "text/html" || !strings.Contains(string(data), "<h1>T</h1>") {
		t.Errorf("%+v %s %v", got, data, err)
	}
	if _, _, err = box.OpenMedia(t.Context(), "another", it.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// The record of the call tells where the text came from.
	res = query(map[string]any{"media_id": it.ID, "q": "extract text"})
	b, _ := json.Marshal(res.Meta.Values)
	if string(b) != `{"derivedFrom":["`+it.ID+`"],"trust":"third-party-private"}` {
		t.Errorf("%s", b)
	}
}
