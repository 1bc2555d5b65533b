package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle"
)

// TestMain lets the test binary be a process of its own: with TACKLE_CHILD set it edits instead of testing.
func TestMain(m *testing.M) {
	if name := os.Getenv("TACKLE_CHILD"); name != "" {
		run := child
		if name == "shout" {
			run = func(string) error { return serveShout() }
		}
		if err := run(name); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const editsEach = 25

// child inserts lines before the end mark, each with a call of its own.
func child(name string) error {
	ctx := context.Background()
	box, err := tackle.Open(ctx, tackle.Config{Dir: os.Getenv("TACKLE_DIR"), StateDir: os.Getenv("TACKLE_STATE"), NoFiles: true, Session: name})
	if err != nil {
		return err
	}
	defer box.Close()
	for i := range editsEach {
		args, err := json.Marshal(map[string]string{"path": "shared.txt", "old_string": "END", "new_string": fmt.Sprintf("%s-%d\nEND", name, i)})
		if err != nil {
			return err
		}
		res, err := box.Call(ctx, tackle.NewRequest("edit", args))
		if err != nil {
			return err
		}
		if !res.OK() {
			return fmt.Errorf("edit %d: %s", i, res.Text())
		}
	}
	return nil
}

// T5: 100 parallel edits of one file by 4 processes lose none.
func TestT5_ParallelProcessesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	ws, state := filepath.Join(dir, "ws"), filepath.Join(dir, "state")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(ws, "shared.txt")
	if err := os.WriteFile(file, []byte("BEGIN\nEND\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for p := range 4 {
		wg.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), fmt.Sprintf("TACKLE_CHILD=p%d", p), "TACKLE_DIR="+ws, "TACKLE_STATE="+state)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", p, err, out)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) != 4*editsEach+2 {
		t.Errorf("%d lines, want %d", len(lines), 4*editsEach+2)
	}
	for p := range 4 {
		last := -1
		for _, l := range lines { // each process's own lines stand in its order
			var n int
			if _, err := fmt.Sscanf(l, fmt.Sprintf("p%d-%%d", p), &n); err == nil {
				if n != last+1 {
					t.Errorf("process %d: line %d after %d", p, n, last)
				}
				last = n
			}
		}
		if last != editsEach-1 {
			t.Errorf("process %d lost edits: last is %d", p, last)
		}
	}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: ws, StateDir: state, NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, f := range box.Probe(t.Context()) {
		if f.Err != nil {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
}

// F9, A3: what one process read, the next one knows, in the same session.
func TestF9_SessionOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func(session string) *tackle.Box {
		cfg := tackle.Config{Dir: ws, StateDir: filepath.Join(dir, "state"), NoFiles: true, Session: session}
		cfg.Options.RequireRead = true
		box, err := tackle.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	edit := tackle.NewRequest("edit", `{"path":"a","old_string":"one","new_string":"two"}`)
	first := open("s1")
	if res, err := first.Call(t.Context(), tackle.NewRequest("read_file", `{"path":"a"}`)); err != nil || !res.OK() {
		t.Fatal(err, res.Text())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	other := open("s2")
	defer other.Close()
	if res, err := other.Call(t.Context(), edit); err != nil || res.OK() {
		t.Errorf("another session edits what it never read: %v %s", err, res.Text())
	}
	again := open("s1")
	defer again.Close()
	if res, err := again.Call(t.Context(), edit); err != nil || !res.OK() {
		t.Errorf("the session forgot what it read: %v %s", err, res.Text())
	}
}
