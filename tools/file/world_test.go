package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// world is a workspace with a toolbox on the local host.
type world struct {
	t    testing.TB
	dir  string
	host host.Host
	box  *toolbox.Box

	seen func(*tool.Result) // told about every result
}

func newWorld(t testing.TB, files map[string]string, opt tool.Options) *world {
	t.Helper()
	return newWorldWith(t, files, toolbox.Config{Options: opt})
}

// newWorldWith is newWorld with rules, and with what else a toolbox can have.
func newWorldWith(t testing.TB, files map[string]string, cfg toolbox.Config, rules ...permission.Rule) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(dir, "ws")}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		w.put(name, content)
	}
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	o := permission.Options{Facts: permission.FactsOf(w.host.Info())}
	if rules != nil {
		o.Layers = []permission.Layer{{Name: "user", Rules: rules}}
	}
	gate, err := permission.New(o)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Host, cfg.Gate, cfg.Env = w.host, gate, tool.Environment{Mode: "code"}
	if w.box, err = toolbox.New(cfg); err != nil {
		t.Fatal(err)
	}
	for _, tl := range Tools(search.Config{}) {
		if err := w.box.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(p, 0o755); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// get returns the content of a file, or "<absent>".
func (w *world) get(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "<absent>"
	}
	return string(b)
}

func (w *world) call(name string, args any) tool.Result {
	w.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.box.Call(context.Background(), toolbox.Request{Tool: name, Args: b, Session: "s", Dir: w.dir})
	if err != nil {
		w.t.Fatalf("%s %s: fault: %v", name, b, err)
	}
	if w.seen != nil {
		w.seen(&res)
	}
	return res
}

type args map[string]any

// ok calls a tool that must succeed and returns its text.
func (w *world) ok(name string, a args) string {
	w.t.Helper()
	res := w.call(name, a)
	if !res.OK() {
		w.t.Fatalf("%s %v: %s", name, a, res.Text())
	}
	return res.Text()
}

// fails calls a tool that must fail with a code, and returns its text.
func (w *world) fails(name string, a args, code tool.Code) string {
	w.t.Helper()
	res := w.call(name, a)
	if res.OK() {
		w.t.Fatalf("%s %v: succeeded: %s", name, a, res.Text())
	}
	if res.Err.Code != code {
		w.t.Fatalf("%s %v: code %s, want %s:\n%s", name, a, res.Err.Code, code, res.Text())
	}
	return res.Text()
}

func (w *world) holds(text string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			w.t.Errorf("lacks %q:\n%s", p, text)
		}
	}
}
