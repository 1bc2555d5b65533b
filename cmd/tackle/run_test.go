package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// stopper ends a context when something was written.
type stopper struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	on   string
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.buf.Write(p)
	if s.stop != nil && strings.Contains(s.buf.String(), s.on) {
		s.stop()
	}
	return n, err
}

func (s *stopper) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// A1, A3: Ctrl-C, which ends the context of a command, leaves a session that goes on where it was: what was said so far is kept, and
// the line to go on with is printed.
func TestA3_RunIsCancelledAndResumed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	script := `
turns:
  - calls: [{tool: write_file, args: {path: a.txt, content: "one\n"}}]
  - say: "One two three four five six seven eight."
    delay: 1ms
  - expect: {user: go on}
    say: Here I am again.
`
	slow := strings.Replace(script, "turns:", "pace: 10m\nturns:", 1)
	for name, data := range map[string]string{"slow.yaml": slow, "fast.yaml": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &stopper{on: "One", stop: cancel}, &stopper{}
	common := []string{"-C", dir, "--state", filepath.Join(dir, "state")}
	if code := run(ctx, append(common, "run", "--model", "script/slow.yaml", "begin"), strings.NewReader(""), out, errs); code != exitCancelled {
		t.Fatalf("status %d\n%s", code, errs)
	}
	again := regexp.MustCompile(`go on with: .* run --resume (s_\w+) -C (\S+) --state (\S+)`).FindStringSubmatch(errs.String())
	if again == nil || !strings.Contains(errs.String(), "cancelled · 1 call · 1 file changed") {
		t.Fatalf("it says\n%s", errs)
	}
	out, errs = &stopper{}, &stopper{}
	if code := run(t.Context(), append(common, "run", "--resume", again[1], "--model", "script/fast.yaml", "go", "on"), strings.NewReader(""), out, errs); code != exitOK {
		t.Fatalf("status %d\n%s", code, errs)
	}
	if out.String() != "Here I am again.\n" {
		t.Errorf("it says %q\n%s", out, errs)
	}
	out, errs = &stopper{}, &stopper{}
	if code := run(t.Context(), append(common, "replay", again[1]), strings.NewReader(""), out, errs); code != exitOK || !strings.Contains(out.String(), "One") || !strings.Contains(errs.String(), "cancelled") {
		t.Errorf("status %d: %s\n%s", code, out, errs)
	}
}

// Lines of JSON end with the end also where the session cannot be driven: another process works on it.
func TestA3_JSONEndsWhereTheSessionIsHeld(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.WriteFile(filepath.Join(dir, "slow.yaml"), []byte("pace: 10m\nturns:\n  - say: One two.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	common := []string{"-C", dir, "--state", filepath.Join(dir, "state")}
	errs, lines, said := &stopper{}, &stopper{}, &stopper{}
	var once sync.Once
	out := &stopper{on: "One", stop: func() {
		once.Do(func() {
			defer cancel()
			id := regexp.MustCompile(`session (s_\w+)`).FindStringSubmatch(errs.String())
			if id == nil {
				t.Errorf("no session in %q", errs)
				return
			}
			if code := run(t.Context(), append(common, "run", "--output", "json", "--resume", id[1], "--model", "script/slow.yaml", "more"), strings.NewReader(""), lines, said); code != exitFailed {
				t.Errorf("status %d: %s", code, said)
			}
		})
	}}
	if code := run(ctx, append(common, "run", "--model", "script/slow.yaml", "begin"), strings.NewReader(""), out, errs); code != exitCancelled {
		t.Fatalf("status %d\n%s", code, errs)
	}
	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	var end struct{ Type, Why, Detail string }
	if err := json.Unmarshal([]byte(all[len(all)-1]), &end); err != nil || end.Type != "end" || end.Why != "fault" || !strings.Contains(end.Detail, "another process works on this session") {
		t.Errorf("%v: the last line is %q", err, all[len(all)-1])
	}
}

// A prompt without words is a mistake of the command line, and begins no session.
func TestRunWithoutWords(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.WriteFile(filepath.Join(dir, "one.yaml"), []byte("turns:\n  - say: Hello.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	common := []string{"-C", dir, "--state", filepath.Join(dir, "state")}
	for _, prompt := range []string{"", " \n"} {
		out, errs := &stopper{}, &stopper{}
		if code := run(t.Context(), append(common, "run", "--model", "script/one.yaml", prompt), strings.NewReader(""), out, errs); code != exitUsage || !strings.Contains(errs.String(), "the prompt is empty") {
			t.Errorf("%q: status %d: %s", prompt, code, errs)
		}
	}
	out, errs := &stopper{}, &stopper{}
	if code := run(t.Context(), append(common, "sessions"), strings.NewReader(""), out, errs); code != exitOK || !strings.Contains(out.String(), "No session is kept here") {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
}

// Ctrl-C ends the wait for a prompt that nobody writes.
func TestRunIsCancelledWhileItReads(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.WriteFile(filepath.Join(dir, "one.yaml"), []byte("turns:\n  - say: Hello.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	got := make(chan int, 1)
	go func() {
		got <- run(ctx, []string{"-C", dir, "--state", filepath.Join(dir, "state"), "run", "--model", "script/one.yaml"}, in, io.Discard, io.Discard)
	}()
	if _, err := w.Write([]byte("half a prompt")); err != nil { // it reads now
		t.Fatal(err)
	}
	cancel()
	select {
	case code := <-got:
		if code != exitCancelled {
			t.Errorf("status %d", code)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for its standard input")
	}
}

// A rewind that others' changes refuse names what is left to try.
func TestRewindRefusedSaysWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	script := "turns:\n  - calls: [{tool: write_file, args: {path: g.txt, content: \"one\\n\"}}]\n  - say: Done.\n"
	if err := os.WriteFile(filepath.Join(dir, "one.yaml"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	common := []string{"-C", dir, "--state", filepath.Join(dir, "state")}
	out, errs := &stopper{}, &stopper{}
	if code := run(t.Context(), append(common, "run", "--model", "script/one.yaml", "go"), strings.NewReader(""), out, errs); code != exitOK {
		t.Fatalf("status %d\n%s", code, errs)
	}
	id := regexp.MustCompile(`session (s_\w+)`).FindStringSubmatch(errs.String())[1]
	if err := os.WriteFile(filepath.Join(dir, "g.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--merge"}} {
		out, errs = &stopper{}, &stopper{}
		code := run(t.Context(), append(append(common, "sessions", "rewind", id), flags...), strings.NewReader(""), out, errs)
		if code != exitFailed || !strings.Contains(errs.String(), "--keep-files leaves") || strings.Contains(errs.String(), "--merge keeps") != (flags == nil) {
			t.Errorf("%v: status %d: %s", flags, code, errs)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "g.txt")); err != nil || string(b) != "mine\n" {
		t.Errorf("%q %v", b, err)
	}
}
