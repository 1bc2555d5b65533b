//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tackle-dev/tackle/server"
)

// text returns what the screen holds.
func (s *session) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.seen.String(), "\r\n", "\n")
}

var loginLine = regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\?code=code_[\w-]{43}`)

// X4, X5: who starts the server at a terminal opens the console with the code that it prints; Ctrl-C ends it in peace.
func TestX4_ServeAtATerminal(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/a.txt": "one\n"})
	s := at(t, dir, "", "serve", "--listen", "127.0.0.1:0")
	s.wait("No agent at hand")
	link := loginLine.FindString(s.text())
	if link == "" {
		t.Fatalf("no address of the console:\n%s", s.text())
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	get := func(url string, want int) []byte {
		t.Helper()
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%s: %d, want %d: %.300s %v", url, res.StatusCode, want, body, err)
		}
		return body
	}
	base, _, _ := strings.Cut(link, "/login")
	get(base+"/api/me", 401)
	get(link, 200)
	var me server.Identity
	if err := json.Unmarshal(get(base+"/api/me", 200), &me); err != nil || me.Role != server.Admin || me.Via != "console" {
		t.Errorf("who: %+v, %v", me, err)
	}
	get(base+"/api/sessions", 200)

	// Another code, made beside the running server, names its address.
	c := at(t, dir, "", "serve", "code", "--role", "viewer")
	c.wait("Make a code")
	c.press("y", "/login?code=")
	c.wait("/login?code=code_")
	if code := c.exit(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, c.text())
	}
	second := loginLine.FindString(c.text())
	if !strings.HasPrefix(second, base) {
		t.Errorf("the code is for %q, the server is at %s", second, base)
	}
	if _, errOut, code := alone(t, dir, "serve", "--listen", strings.TrimPrefix(base, "http://")); code != exitUsage || !strings.Contains(errOut, "serve code") {
		t.Errorf("a second server at the same address: exit %d, %s", code, errOut)
	}
	s.tty.WriteString("\x03")
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d:\n%s", code, s.text())
	}
}

// alone runs tackle without a terminal, as an agent's command does.
func alone(t *testing.T, dir string, args ...string) (out, errOut string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"tackle"}, args...)
	cmd.Dir = filepath.Join(dir, "ws")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// X5: the folder of --state is meant from where the command is given, whatever -C says: so that the commands that serve prints
// find the records of the server.
func TestX5_StateIsMeantFromHere(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/a.txt": "one\n", "other/a.txt": "one\n"})
	if out, errOut, code := alone(t, dir, "serve", "token", "create", "my-agent", "--role", "agent", "-C", "../other", "--state", "records"); code != 0 {
		t.Fatalf("exit %d, %q, %q", code, out, errOut)
	}
	if _, err := os.Stat(filepath.Join(dir, "ws", "records", "tackle.db")); err != nil {
		t.Error(err)
	}
	if list, errOut, code := alone(t, dir, "serve", "token", "list", "-C", "../other", "--state", filepath.Join(dir, "ws", "records")); code != 0 || !strings.Contains(list, "my-agent") {
		t.Errorf("exit %d, %q, %q", code, list, errOut)
	}
}

// P8: no program makes itself its own approver.
func TestP8_TokensOfPeopleNeedATerminal(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/a.txt": "one\n"})
	for _, args := range [][]string{{"serve", "token", "create", "me", "--role", "admin"}, {"serve", "token", "create", "me", "--role", "approver", "--program"}, {"serve", "code"}} {
		out, errOut, code := alone(t, dir, args...)
		if code == 0 || out != "" || !strings.Contains(errOut, "terminal") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errOut)
		}
	}
	out, errOut, code := alone(t, dir, "serve", "token", "create", "my-agent", "--role", "agent", "--expires", "2d")
	if code != 0 || !strings.HasPrefix(out, "tackle_") || strings.Contains(errOut, strings.TrimSpace(out)) {
		t.Fatalf("an agent's token: exit %d, %q, %q", code, out, errOut)
	}
	list, _, _ := alone(t, dir, "serve", "token", "list")
	id, _, _ := strings.Cut(list, " ")
	if !strings.Contains(list, "my-agent") || !strings.Contains(list, "program") || strings.Contains(list, strings.TrimSpace(out)) {
		t.Errorf("list: %q", list)
	}
	if out, _, code := alone(t, dir, "serve", "token", "revoke", id); code != 0 || !strings.Contains(out, "void") {
		t.Errorf("revoke %s: exit %d, %q", id, code, out)
	}
	for _, args := range [][]string{{"serve", "token", "revoke", id}, {"serve", "token", "create", "x", "--role", "king"}, {"serve", "token", "create", "x", "--expires", "soon"},
		{"serve", "token", "create", "a\u202eb", "--role", "agent"}, {"serve", "token", "create"}, {"serve", "--listen", "0.0.0.0:0"}, {"serve", "--keep", "long"}, {"serve", "--host", "*"}, {"serve", "--origin", "x"}} {
		if _, errOut, code := alone(t, dir, args...); code != exitUsage {
			t.Errorf("%v: exit %d, want %d: %s", args, code, exitUsage, errOut)
		}
	}
}

func TestX4_TokenForAPerson(t *testing.T) {
	dir := newDir(t, map[string]string{"ws/a.txt": "one\n"})
	s := at(t, dir, "", "serve", "token", "create", "operator", "--role", "approver")
	s.wait("Make a token for operator with the role approver?")
	s.press("y", "tackle_")
	if code := s.exit(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, s.text())
	}
	n := at(t, dir, "", "serve", "token", "create", "other", "--role", "admin")
	n.wait("Make a token for other")
	n.press("n", "not confirmed")
	if code := n.exit(); code == 0 || strings.Contains(n.text(), "tackle_") {
		t.Errorf("after a no: exit %d\n%s", code, n.text())
	}
}
