//go:build linux || darwin

package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// TestMain lets this test binary act as a keeper of commands.
func TestMain(m *testing.M) {
	proc.KeeperMain()
	os.Exit(m.Run())
}

// world is a workspace with the tool in a toolbox: the local host, a real runner and real policy.
type world struct {
	t      testing.TB
	top    string // outside of the workspace
	dir    string // the workspace
	host   host.Host
	box    *toolbox.Box
	runner *proc.Runner
	env    []string  // of plain git
	asks   *approver // who answers; nil: nobody
	ticks  int64     // files that were written: each is younger than the last
}

// approver says yes.
type approver struct{ asked int }

func (w *world) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
	if w.asks == nil {
		return tool.Decision{Verdict: tool.Deny, By: "nobody", Fingerprint: a.Intent.Fingerprint}, nil
	}
	w.asks.asked++
	return tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}, nil
}

type option struct {
	rules  []permission.Rule
	bounds tool.Bounds
}

func newWorld(t testing.TB, opt option) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the tool is not tried")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, top: top, dir: filepath.Join(top, "ws")}
	w.env = append(os.Environ(), "HOME="+filepath.Join(top, "home"), "XDG_CONFIG_HOME="+filepath.Join(top, "home", "xdg"), "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05+0100", "GIT_COMMITTER_DATE=2026-01-02T03:04:05+0100", "GIT_ALLOW_PROTOCOL=file:ext", "LC_ALL=C.UTF-8")
	for _, d := range []string{w.dir, filepath.Join(top, "home", "xdg")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(top, "home", "xdg"))
	t.Setenv("TMPDIR", w.mkdir("tmp"))
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(top, "state")}); err != nil {
		t.Fatal(err)
	}
	if w.runner, err = proc.Open(proc.Config{Keeper: proc.Self(), Dir: w.dir, StateDir: filepath.Join(top, "state")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.runner.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Join(top, "tmp")); err != nil || len(left) > 0 {
			t.Errorf("left in the folder for temporary files: %v %v", left, err)
		}
	})
	o := permission.Options{Facts: permission.FactsOf(w.host.Info())}
	if opt.rules != nil {
		o.Layers = []permission.Layer{{Name: permission.User, Rules: opt.rules}}
	}
	gate, err := permission.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if w.box, err = toolbox.New(toolbox.Config{Host: w.host, Gate: gate, Env: tool.Environment{Mode: "code"}, Bounds: opt.bounds, Answerer: w}); err != nil {
		t.Fatal(err)
	}
	for _, tl := range Tools(Config{Runner: w.runner}) {
		if err := w.box.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) mkdir(name string) string {
	w.t.Helper()
	d := filepath.Join(w.top, name)
	if err := os.MkdirAll(d, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// put writes a file of the workspace, with a time of its own in the past.
func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.ticks++
	past := time.Unix(1_000_000_000+w.ticks, 0)
	if err := os.Chtimes(p, past, past); err != nil {
		w.t.Fatal(err)
	}
}

// plain runs git as anybody would.
func (w *world) plain(args ...string) string {
	w.t.Helper()
	return w.in(w.dir, args...)
}

func (w *world) in(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v", args, err)
	}
	return out
}

func (w *world) try(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir, c.Env = dir, w.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return string(out), err
}

// repository makes one with two commits.
func (w *world) repository() {
	w.t.Helper()
	w.plain("init", "-q", "-b", "main", ".")
	w.put("a.txt", "one\ntwo\nthree\n")
	w.put("sub/b.txt", "b\n")
	w.plain("add", ".")
	w.plain("commit", "-q", "-m", "first\n\nwith a body")
	w.put("a.txt", "one\nTWO\nthree\n")
	w.plain("commit", "-q", "-a", "-m", "second")
}

type args map[string]any

func (w *world) call(a args) tool.Result {
	w.t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.box.Call(context.Background(), toolbox.Request{Tool: "git", Args: b, Session: "s", Dir: w.dir})
	if err != nil {
		w.t.Fatalf("git %s: fault: %v", b, err)
	}
	return res
}

// ok calls the tool, which must succeed, and returns its text.
func (w *world) ok(a args) string {
	w.t.Helper()
	res := w.call(a)
	if !res.OK() {
		w.t.Fatalf("git %v: %s", a, res.Text())
	}
	return res.Text()
}

// fails calls the tool, which must fail with a code, and returns its text.
func (w *world) fails(a args, code tool.Code) string {
	w.t.Helper()
	res := w.call(a)
	if res.OK() {
		w.t.Fatalf("git %v: succeeded: %s", a, res.Text())
	}
	if res.Err.Code != code {
		w.t.Fatalf("git %v: code %s, want %s:\n%s", a, res.Err.Code, code, res.Text())
	}
	return res.Text()
}

// holds checks that a text has every part, and none of those that begin with "!".
func (w *world) holds(text string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if not, ok := strings.CutPrefix(p, "!"); ok {
			if strings.Contains(text, not) {
				w.t.Errorf("holds %q:\n%s", not, text)
			}
		} else if !strings.Contains(text, p) {
			w.t.Errorf("lacks %q:\n%s", p, text)
		}
	}
}

// digest renders everything in a folder, times included.
func (w *world) digest(dir string) string {
	w.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s %d %s\n", p, info.Mode(), info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}
