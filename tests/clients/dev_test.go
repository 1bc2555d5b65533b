package clients

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/mcp/setup"
	"github.com/tackle-dev/tackle/tests/clients/fakemodel"
	"github.com/tackle-dev/tackle/tests/npm"
)

// A real client drives edit, format and check of the dev pipeline, and its model sees what the edits brought and mended.
func TestDevPipeline(t *testing.T) {
	npm.Root(t)
	bin := binary(t)
	for _, name := range withModel() {
		t.Run(name, func(t *testing.T) { driveDev(t, name, recipes[name], bin) })
	}
}

func driveDev(t *testing.T, name string, r recipe, bin string) {
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"run.sh": "if true;then\necho hi\nfi\n", "mended.json": "{\"a\": }\n", "hurt.json": "{\"a\": 1}\n"} {
		if err := os.WriteFile(filepath.Join(ws, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := func(name string) *regexp.Regexp {
		return regexp.MustCompile(strings.Replace(r.tool, "read_file", name, 1))
	}
	model := &fakemodel.Model{Script: []fakemodel.Call{
		{Tool: tool("edit"), Args: `{"path":"mended.json","edits":[{"old_string":"{\"a\": }","new_string":"{\"a\": 2}"}]}`},
		{Tool: tool("edit"), Args: `{"path":"hurt.json","edits":[{"old_string":"1}","new_string":"1"}]}`},
		{Tool: tool("format"), Args: `{"paths":["run.sh"]}`},
		{Tool: tool("check"), Args: `{"delta":true}`},
	}}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	s := &stage{t: t, home: t.TempDir(), ws: ws, model: endpoint.URL}
	s.entry = setup.Entry{Name: "tackle", Command: bin, Args: []string{"mcp", "-C", ws, "--state", t.TempDir(), "--no-config", "--mode", "dev"}}
	args, env := r.run(s)
	modules := npm.Install(t, strings.NewReplacer("@", "", "/", "-").Replace(r.pkg), r.pkg)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm.Bin(t, modules, r.bin), args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = ws, environment(t, s.home, env...), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.4000s", name, err, out)
	}
	var last []string
	for _, q := range model.Requests() {
		if len(q.Results) > len(last) {
			last = q.Results
		}
	}
	if len(last) != 4 {
		t.Fatalf("the model saw %d results: %.2000s\n%.2000s", len(last), strings.Join(last, "\n---\n"), out)
	}
	for i, parts := range [][]string{{"edit: ok", "1 file changed"}, {"edit: ok"}, {"format: ok", "run.sh"}, {"check: ok; 1 error", "1 introduced", "hurt.json:", "resolved: mended.json:1:"}} {
		for _, part := range parts {
			if !strings.Contains(last[i], part) {
				t.Errorf("result %d lacks %q: %s", i+1, part, last[i])
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(ws, "run.sh")); err != nil || string(b) != "if true; then\n\techo hi\nfi\n" {
		t.Errorf("run.sh: %q %v", b, err)
	}
}
