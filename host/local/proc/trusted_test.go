//go:build linux || darwin

package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

// SHF-023: a command that is trusted finds no program of the workspace, however PATH names its folder; others do.
func TestTrusted(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, out, link := filepath.Join(top, "ws"), filepath.Join(top, "out"), filepath.Join(top, "link")
	for _, d := range []string{ws, out} {
		if err := os.MkdirAll(filepath.Join(d, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "bin", "planted"), []byte("#!/bin/sh\necho "+filepath.Base(d)+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(ws, "bin"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(ws, "bin"), ws + "/./bin/", link, ws} {
		t.Setenv("PATH", path+":"+filepath.Join(ws, "bin")+":"+filepath.Join(out, "bin")+":/usr/bin:/bin")
		r, err := Open(Config{Dir: out, Workspace: []string{ws}, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, trusted := range []bool{true, false, true} {
			for _, c := range []host.Command{{Script: "planted"}, {Argv: []string{"planted"}}, {Script: "planted", Env: map[string]string{"PATH": path + ":" + filepath.Join(ws, "bin") + ":" + filepath.Join(out, "bin") + ":/bin"}}} {
				c.Trusted = trusted
				res, _, err := host.Run(t.Context(), r, c, clip.Limits{}, clip.Head)
				want := "ws"
				if trusted {
					want = "out"
				}
				if got := strings.TrimSpace(res.Text()); err != nil || got != want {
					t.Errorf("PATH %s, trusted %v, %+v: runs %q %v", path, trusted, c, got, err)
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := outsideOf(filepath.Join(ws, "bin"), []string{ws}); got != defaultPath {
		t.Errorf("nothing is left: %s", got)
	}
}
