package search

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// world is a workspace with the search tools in a toolbox, on the local host or on one that wraps it.
type world struct {
	t    *testing.T
	dir  string // the workspace; its parent is outside of it
	host host.Host
	box  *toolbox.Box
}

type option struct {
	wrap   func(host.Host) host.Host
	layers []permission.Layer
	bounds tool.Bounds
}

func newWorld(t *testing.T, files map[string]string, opt option) *world {
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
	if opt.wrap != nil {
		w.host = opt.wrap(w.host)
	}
	gate, err := permission.New(permission.Options{Facts: permission.FactsOf(w.host.Info()), Layers: opt.layers})
	if err != nil {
		t.Fatal(err)
	}
	if w.box, err = toolbox.New(toolbox.Config{Host: w.host, Gate: gate, Env: tool.Environment{Mode: "code"}, Bounds: opt.bounds}); err != nil {
		t.Fatal(err)
	}
	for _, tl := range Tools(search.Config{}) {
		if err := w.box.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// put writes a file; a time in the past makes the order by time certain.
func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) age(name string, d time.Duration) {
	w.t.Helper()
	at := time.Unix(1_700_000_000, 0).Add(-d)
	if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
		w.t.Fatal(err)
	}
}

type args map[string]any

func (w *world) call(name string, a args) tool.Result {
	w.t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.box.Call(context.Background(), toolbox.Request{Tool: name, Args: b, Session: "s", Dir: w.dir})
	if err != nil {
		w.t.Fatalf("%s %s: fault: %v", name, b, err)
	}
	return res
}

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

// rows are the lines of a result without its notes, sorted where their order is no promise.
func rows(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "[") {
			out = append(out, line)
		}
	}
	return out
}

// faulty is a host without raw directories on which some paths fail: what a real one does only to a user who is not
// root, or in a race.
type faulty struct {
	host.Host
	refuse string // no access below this base name
	ghost  string // a name that listings show and nothing can open
}

func (h faulty) check(op, path string) error {
	parts := strings.Split(path, string(filepath.Separator))
	switch {
	case h.refuse != "" && slices.Contains(parts, h.refuse):
		return &host.PathError{Op: op, Path: path, Err: fs.ErrPermission}
	case h.ghost != "" && filepath.Base(path) == h.ghost:
		return &host.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
	}
	return nil
}

func (h faulty) Open(ctx context.Context, real string) (host.File, error) {
	if err := h.check("open", real); err != nil {
		return nil, err
	}
	return h.Host.Open(ctx, real)
}

func (h faulty) ReadDir(ctx context.Context, real string) ([]host.FileInfo, error) {
	if err := h.check("read", real); err != nil {
		return nil, err
	}
	list, err := h.Host.ReadDir(ctx, real)
	if h.ghost != "" && err == nil {
		list = append(list, host.FileInfo{Name: h.ghost, Type: change.File})
	}
	return list, err
}
