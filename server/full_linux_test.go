package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// X4: on a full disk nothing is said to have happened that is not stored; reading goes on.
func TestX4_FullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small disk cannot be mounted here (%v): the kinds of store errors are tried in TestX4_KindsOfFaults", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	p := &place{t: t, dir: t.TempDir(), state: dir, tokens: map[string]string{}}
	p.open(func(c *Config) {
		c.Tokens = []FixedToken{{Name: "admin", Role: Admin, Secret: strings.Repeat("r", 40)}}
	})
	p.tokens["admin"] = strings.Repeat("r", 40)
	p.write("a.txt", "x")
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	refused := answer{}
	for range 50 {
		if refused = p.send("admin", "POST", "/api/calls", core.CallInput{Tool: "read_file", Args: json.RawMessage(`{"path":"a.txt"}`)}); refused.StatusCode != 200 {
			break
		}
	}
	wantStatus(t, "a call on a full disk", refused, 503)
	if !strings.Contains(refused.problem().Message, "free some space") {
		t.Errorf("it does not say what to do: %s", refused.body)
	}
	p.get("admin", "/api/sessions", nil)
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	p.post("admin", "/api/calls", core.CallInput{Tool: "read_file", Args: json.RawMessage(`{"path":"a.txt"}`)}, nil)
}
