package tackle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A10: a project's tool runs as the person has seen it, and not after its script changed.
func TestA10_ProjectToolsAreTrustedAsTheyAre(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), ".config"))
	open := func() *Box {
		t.Helper()
		box, err := Open(t.Context(), Config{Dir: dir, StateDir: state, Approve: ApproveAlways})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Close() })
		return box
	}
	has := func(b *Box) bool { return slices.Contains(b.Names(b.View()), "count_lines") }
	paths, err := open().NewTool("count_lines", false)
	if err != nil || len(paths) != 3 {
		t.Fatal(paths, err)
	}
	box := open()
	if has(box) {
		t.Fatal("a tool that nobody has trusted is listed")
	}
	if _, err := box.TrustProject(); err != nil {
		t.Fatal(err)
	}
	box = open()
	if !has(box) {
		t.Fatalf("the trusted tool is not listed: %q", box.notes)
	}
	call := func() string {
		t.Helper()
		res, err := box.Call(t.Context(), NewRequest("count_lines", map[string]any{"text": "one\ntwo\n"}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Text()
	}
	if got := call(); got != "2" {
		t.Errorf("got %q", got)
	}
	script := paths[1]
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho evil\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := call(); !strings.Contains(got, "is another one than when this session began") {
		t.Errorf("got %q", got)
	}
	if has(open()) {
		t.Error("a tool with another script is listed")
	}
	// An agent changes neither manifest nor script without a person.
	never, err := Open(t.Context(), Config{Dir: dir, StateDir: state, Approve: ApproveNever})
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	for _, p := range paths[:2] {
		res, err := never.Call(t.Context(), NewRequest("write_file", map[string]any{"path": p, "content": "x"}))
		if err != nil || res.OK() {
			t.Errorf("%s: %v %s", p, err, res.Text())
		}
	}
}
