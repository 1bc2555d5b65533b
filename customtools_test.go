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

// A10: a manifest that cannot be used, or says something that nobody means, is noted and takes nothing else away.
func TestA10_CarelessManifests(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	mine := filepath.Join(home, ".config/tackle")
	for name, text := range map[string]string{
		"config.yaml":        "tools:\n  list_dir: {name: listing}\n",
		"tools/listing.yaml": "description: d\ncommand: [cat]\n",
		"tools/typo.yaml":    "description: d\ncommand: [cat]\nmodes: [cod]\n",
		"tools/bare.yaml":    "description: d\ncommand: [sh, bare.sh]\n",
		"tools/bare.sh":      "cat\n",
		"tools/good.yaml":    "description: d\ncommand: [cat]\n",
	} {
		at := filepath.Join(mine, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box, err := Open(t.Context(), Config{Dir: dir, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if names := box.Names(box.View()); !slices.Contains(names, "good") || !slices.Contains(names, "listing") || slices.Contains(names, "bare") {
		t.Errorf("tools %q", names)
	}
	said := strings.Join(box.Notes(), "\n")
	for _, want := range []string{`a tool named "listing" already`, "no mode lists it; modes are", "write ./bare.sh"} {
		if !strings.Contains(said, want) {
			t.Errorf("notes %q\nwant %q", said, want)
		}
	}
}
