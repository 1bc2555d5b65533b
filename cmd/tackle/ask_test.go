//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// session is the command at a terminal of its own.
type session struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	tty  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
	from int
	news chan struct{}
	done chan struct{}
}

// at starts "tackle args" with a controlling terminal. stdin, where not empty, is what its standard input holds.
func at(t *testing.T, dir, stdin string, args ...string) *session {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	s := &session{t: t, dir: dir, cmd: exec.CommandContext(ctx, self), news: make(chan struct{}, 1), done: make(chan struct{})}
	s.cmd.Args = append([]string{"tackle"}, args...)
	s.cmd.Dir = filepath.Join(dir, "ws")
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", "NO_COLOR=1")
	if stdin != "" {
		s.cmd.Stdin = strings.NewReader(stdin)
	}
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1} // of standard output, which is the terminal
	if s.tty, err = pty.StartWithAttrs(s.cmd, &pty.Winsize{Rows: 40, Cols: 120}, attr); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); s.tty.Close(); <-s.done })
	return s
}

func (s *session) wait(text string) {
	s.t.Helper()
	for {
		s.mu.Lock()
		all := s.seen.String()
		s.mu.Unlock()
		if i := strings.Index(all[s.from:], text); i >= 0 {
			s.from += i + len(text)
			return
		}
		select {
		case <-s.news:
		case <-s.done:
			s.mu.Lock()
			all = s.seen.String()
			s.mu.Unlock()
			if !strings.Contains(all[s.from:], text) {
				s.t.Fatalf("%q does not come; the screen holds\n%s", text, all)
			}
		}
	}
}

// press presses a key until something comes of it: those that come too soon after the question are dropped.
func (s *session) press(key, until string) {
	s.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		found := strings.Contains(s.seen.String()[s.from:], until)
		s.mu.Unlock()
		if found {
			return
		}
		if _, err := s.tty.WriteString(key); err != nil {
			s.t.Fatal(err)
		}
		select {
		case <-tick.C:
		case <-s.done:
		}
	}
}

func (s *session) exit() int {
	err := s.cmd.Wait()
	if err != nil && s.cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

func newDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files["config/tackle/config.yaml"] = "rules:\n  - edit: {\"src/**\": ask}\n"
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// P8: "tackle call" asks at the terminal, shows the diff, and one key answers; a piped standard input never does.
func TestP8_CallAsksAtTheTerminal(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/src/a.txt": "one\n"})
	edit := `{"path": "src/a.txt", "old_string": "one", "new_string": "two"}`
	s := at(t, dir, "y\ny\ny\n", "call", "edit", edit)
	s.wait("edit asks to change 1 file")
	s.wait("-one")
	s.wait("+two")
	s.press("n", "denied")
	s.wait("PERMISSION_DENIED")
	if code := s.exit(); code != exitDenied {
		t.Errorf("exit code %d", code)
	}
	s = at(t, dir, "", "call", "edit", edit)
	s.wait("help")
	s.press("y", "allowed: this call")
	s.wait("Edited src/a.txt")
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "ws/src/a.txt")); err != nil || string(b) != "two\n" {
		t.Errorf("%q %v", b, err)
	}
	s = at(t, dir, "", "call", "--approve", "never", "edit", `{"path": "src/a.txt", "old_string": "two", "new_string": "one"}`)
	s.wait("--approve never")
	if code := s.exit(); code != exitDenied {
		t.Errorf("exit code %d", code)
	}
}

// P8: an ask that was left open is answered at a terminal, with its diff shown, and the ledger names the person.
func TestP8_Approve(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/src/a.txt": "one\n"})
	edit := `{"path": "src/a.txt", "old_string": "one", "new_string": "two"}`
	quiet := func(args ...string) (string, int) {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{"tackle"}, args...)
		cmd.Dir = filepath.Join(dir, "ws")
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := quiet("call", "--session", "s1", "edit", edit)
	_, rest, ok := strings.Cut(out, "tackle approve ")
	if code != exitDenied || !ok {
		t.Fatalf("%d %s", code, out)
	}
	id, _, _ := strings.Cut(rest, "`")
	s := at(t, dir, "", "approve", id)
	s.wait("+two")
	s.press("y", "allowed: this call")
	s.wait("Allowed once, within 10m0s, in session s1.")
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if out, code := quiet("call", "--session", "s1", "edit", edit); code != exitOK {
		t.Errorf("%d %s", code, out)
	}
	out, _ = quiet("ledger", "show")
	if !strings.Contains(out, "decision edit allow by person ") || !strings.Contains(out, "(terminal)") {
		t.Errorf("the ledger does not name the person:\n%s", out)
	}
}

// UI-008: what a file holds cannot act on the terminal of the person who reads it.
func TestUI008_OutputIsEscaped(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/a.txt": "x\x1b]52;c;aGk=\ay\n"})
	s := at(t, dir, "", "call", "read_file", `{"path": "a.txt"}`)
	s.wait(`x\u{1B}]52;c;aGk=\u{7}y`)
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// quiet runs the command without a terminal.
func quiet(t *testing.T, dir, stdin string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"tackle"}, args...)
	cmd.Dir, cmd.Stdin = filepath.Join(dir, "ws"), strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", "TOKEN_OF_MINE=hunter2hunter2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no controlling terminal either
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// P1: a project is trusted by the person at the terminal, who is shown what it says; no program can say so, and a file that
// changes while it is looked at is not trusted.
func TestP1_TrustNeedsAPerson(t *testing.T) {
	rules := "rules:\n  - read_file: {\"**/.env\": allow} # \u202eon\n"
	dir := newDir(t, map[string]string{"ws/.tackle/config.yaml": rules, "ws/.env": "A=1\n",
		"ws/.tackle/hooks.json": `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch HOOKED"}]}]}}`})
	out, code := quiet(t, dir, "y\ny\n", "config", "--trust")
	if code == exitOK || !strings.Contains(out, "the answer is given at a terminal") {
		t.Fatalf("%d %s", code, out)
	}
	s := at(t, dir, "y\ny\n", "config", "--trust")
	s.wait(`+  - read_file: {"**/.env": allow} # \u{202E}on`)
	s.wait("touch HOOKED")
	s.press("n", "denied")
	if code := s.exit(); code == exitOK {
		t.Error("a no is no failure")
	}
	if out, code := quiet(t, dir, "", "call", "read_file", `{"path": ".env"}`); code != exitDenied {
		t.Errorf("%d %s", code, out)
	}
	s = at(t, dir, "", "config", "--trust")
	s.wait("touch HOOKED")
	if err := os.WriteFile(filepath.Join(dir, "ws/.tackle/config.yaml"), []byte(rules+"  - edit: {\"/**\": allow}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.press("y", "Trusted")
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if out, _ := quiet(t, dir, "", "config"); !strings.Contains(out, "not trusted") {
		t.Errorf("what was not shown is trusted:\n%s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "ws/.tackle/config.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, code := quiet(t, dir, "", "call", "read_file", `{"path": ".env"}`); code != exitOK {
		t.Errorf("%d %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "ws/HOOKED")); err != nil {
		t.Errorf("the trusted hook did not run: %v", err)
	}
	if out, code := quiet(t, dir, "", "config", "--trust"); code != exitOK || !strings.Contains(out, "is trusted as it is now") {
		t.Errorf("%d %s", code, out)
	}
}

// UI-005: a server of the project is trusted by the person at the terminal, who is shown all of what would be started.
func TestUI005_ServerIsShown(t *testing.T) {
	t.Setenv("TOKEN_OF_MINE", "hunter2hunter2")
	dir := newDir(t, map[string]string{"ws/.mcp.json": `{"mcpServers": {"db": {"command": "sh", "args": ["-c", "touch STARTED; \u001b[2Kcat", "${TOKEN_OF_MINE}"],
		"env": {"NODE_OPTIONS": "--require ./x.js", "KEY": "${TOKEN_OF_MINE}"}, "cwd": "sub"}}}`})
	out, code := quiet(t, dir, "y\n", "servers", "trust", "db")
	if code == exitOK || !strings.Contains(out, "the answer is given at a terminal") {
		t.Fatalf("%d %s", code, out)
	}
	s := at(t, dir, "", "servers", "trust", "db")
	for _, part := range []string{"Trust the server db", "folder: sub", "KEY=${TOKEN_OF_MINE}", "NODE_OPTIONS=--require ./x.js", `touch STARTED; \u{1B}[2Kcat`, "${TOKEN_OF_MINE}"} {
		s.wait(part)
	}
	s.mu.Lock()
	if strings.Contains(s.seen.String(), "hunter2") {
		t.Error("the secret is shown")
	}
	s.mu.Unlock()
	s.press("n", "denied")
	s.exit()
	if out, _ := quiet(t, dir, "", "servers"); !strings.Contains(out, "has not been approved") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "ws/STARTED")); err == nil {
		t.Error("it was started")
	}
	s = at(t, dir, "", "servers", "trust", "db")
	s.wait("Trust the server db")
	s.press("y", "Trusted db")
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// T5: a file that changes behind the prompt: nothing is written, and the model is told what somebody else changed.
func TestT5_ChangedBehindThePrompt(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/src/a.txt": "one\ntwo\n"})
	s := at(t, dir, "", "call", "edit", `{"path": "src/a.txt", "old_string": "two", "new_string": "three"}`)
	s.wait("+three")
	if err := os.WriteFile(filepath.Join(dir, "ws/src/a.txt"), []byte("zero\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.press("y", "allowed: this call")
	s.wait("STALE")
	s.wait("-one")
	s.wait("+zero")
	if code := s.exit(); code == exitOK {
		t.Error("it succeeds")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "ws/src/a.txt")); err != nil || string(b) != "zero\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
}

// P8: a yes for the session to a command that runs a script says where and while what it holds, and holds for that alone.
func TestP8_GrantOfACommandIsShown(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/x.sh": "echo good\n"})
	call := []string{"call", "--session", "s1", "shell", `{"command": "sh x.sh"}`}
	s := at(t, dir, "", call...)
	s.wait("in " + dir + "/ws")
	s.wait("execute script " + dir + "/ws/x.sh")
	s.press("s", "allowed: shell of sh x.sh")
	s.wait("good")
	if code := s.exit(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if out, _ := quiet(t, dir, "", "grants"); !strings.Contains(out, "shell of sh x.sh in "+dir+"/ws, while its script stays as it is") {
		t.Errorf("%s", out)
	}
	if out, code := quiet(t, dir, "", call...); code != exitOK || !strings.Contains(out, "good") {
		t.Errorf("%d %s", code, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "ws/x.sh"), []byte("echo evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, code := quiet(t, dir, "", call...); code != exitDenied || strings.Contains(out, "evil\n") {
		t.Errorf("another script: %d %s", code, out)
	}
}
