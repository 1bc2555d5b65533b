//go:build unix

package tackle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Whatever a media id says, no file is read that read_file would not read, and no result lands where copy_file may not write.
func TestM4_FilesThatAreNotForMedia(t *testing.T) {
	box, query := mediaBox(t, tackle.Config{Rules: []permission.Rule{{Permission: "read_file", Pattern: "sub/**", Action: tool.Deny}}})
	ws := box.Dir()
	outside := filepath.Join(filepath.Dir(ws), "outside.csv")
	for _, err := range []error{
		os.WriteFile(outside, []byte("hush-hush,1\n"), 0o600),
		os.Symlink(outside, filepath.Join(ws, "out.csv")), os.Symlink("sub/b.csv", filepath.Join(ws, "denied.csv")), os.Symlink(".env", filepath.Join(ws, "env.txt")),
		os.Symlink("loop", filepath.Join(ws, "loop")), os.Mkdir(filepath.Join(ws, "folder"), 0o755),
		os.WriteFile(filepath.Join(ws, "id_rsa"), []byte("-----BEGIN OPENSSH PRIVATE KEY-----\nhush-hush\n"), 0o600),
		syscall.Mkfifo(filepath.Join(ws, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../outside.csv", outside, "out.csv", "denied.csv", "sub/b.csv", "./sub/../sub/b.csv", ".env", "env.txt", "id_rsa", "loop", "folder", "pipe", "", "a.csv/x", "~/.ssh/id_rsa", "/proc/self/environ", "nothing.csv"} {
		for _, args := range []map[string]any{
			{"media_id": "file:" + path, "q": "extract text"},
			{"media_id": "@file:" + path, "q": "extract text"},
			{"media_id": "file:a.csv", "q": `diff with=@"file:` + path + `"`},
			{"media_id": "empty:txt", "ops": []any{map[string]any{"verb": "diff", "args": map[string]any{"with": "file:" + path}}}},
			{"media_id": "empty:txt", "ops": []any{map[string]any{"verb": "diff", "args": map[string]any{"with": "@file:" + path}}}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			res, err := box.Call(ctx, tackle.NewRequest("media_query", args))
			cancel()
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			text := res.Text()
			if res.OK() || strings.Contains(text, "hush-hush") || strings.Contains(text, "KEY=") || strings.Contains(text, "x,2") || strings.Contains(text, "BEGIN OPENSSH") || strings.Contains(text, "PATH=") {
				t.Errorf("%v: %s", args, text)
			}
		}
	}
	// Nothing of it came into the session.
	if list, err := box.Media(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	// Results become files by copy_file, under its rules.
	res := query(map[string]any{"media_id": "file:a.csv", "q": "convert to=json"})
	id := res.Data.(forge.Answer).Media[0].ID
	for _, to := range []string{"../stolen.json", filepath.Join(filepath.Dir(ws), "stolen.json"), "sub/../../stolen.json", ".git/config", "folder"} {
		res, err := box.Call(t.Context(), tackle.NewRequest("copy_file", map[string]any{"path": "artifact:" + id, "to": to}))
		if err != nil || res.OK() {
			t.Errorf("%s: %s %v", to, res.Text(), err)
		}
	}
	if got, err := filepath.Glob(filepath.Join(filepath.Dir(ws), "stolen*")); err != nil || got != nil {
		t.Errorf("%q %v", got, err)
	}
	if res, err := box.Call(t.Context(), tackle.NewRequest("copy_file", map[string]any{"path": "artifact:" + id, "to": "made/a.json"})); err != nil || !res.OK() {
		t.Errorf("%s %v", res.Text(), err)
	}
}
