package dev_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
)

// world is a root on the local host with a pipeline whose gate writes down what it is asked.
type world struct {
	t    testing.TB
	dir  string
	host host.Host
	p    *dev.Pipeline

	mu     sync.Mutex
	asked  []dev.Request
	onDisk []string                      // content of the files named by watch, at each request
	watch  string                        // file whose content is noted at each request
	answer func(r *dev.Request) error    // nil allows
	hooks  map[string]func(*dev.Request) // run before a step is answered
}

func newWorld(t testing.TB, files map[string]string, engines ...dev.Engine) *world {
	t.Helper()
	if engines == nil {
		engines = engine.All()
	}
	return newWorldWith(t, files, dev.Config{Engines: engines})
}

func newWorldWith(t testing.TB, files map[string]string, cfg dev.Config) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(dir, "ws"), hooks: map[string]func(*dev.Request){}}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		w.put(name, content)
	}
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	cfg.Host, cfg.Gate = w.host, w
	if w.p, err = dev.New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

// Ask notes the request and lets it pass, unless answer says otherwise.
func (w *world) Ask(_ context.Context, r *dev.Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, *r)
	if w.watch != "" {
		w.onDisk = append(w.onDisk, w.get(w.watch))
	}
	if f := w.hooks[r.Step]; f != nil {
		f(r)
	}
	if w.answer != nil {
		return w.answer(r)
	}
	return nil
}

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

func (w *world) get(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "<absent>"
	}
	return string(b)
}

// transcript is what the gate was asked since the last transcript, one payload a line.
func (w *world) transcript() string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for i := range w.asked {
		j, err := json.Marshal(&w.asked[i])
		if err != nil {
			w.t.Fatal(err)
		}
		b.Write(j)
		b.WriteByte('\n')
	}
	w.asked = nil
	return b.String()
}

func (w *world) steps() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, r := range w.asked {
		out = append(out, r.Step)
	}
	return out
}

// step runs a step alone, as a granular tool does.
func (w *world) step(name, args string) (*dev.Result, error) {
	return w.p.RunCall(context.Background(), dev.Plan{Ops: []dev.Op{{Step: name, Args: json.RawMessage(args)}}}, dev.Call{Persist: true})
}

func (w *world) ok(r *dev.Result, err error) *dev.Result {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if !r.OK || r.Error != "" {
		w.t.Fatalf("not ok: %+v", r)
	}
	return r
}

// has reports whether a diagnostic with the code is among those of a file.
func has(r *dev.Result, file, code string) bool {
	return slices.ContainsFunc(r.Diagnostics, func(d dev.Diagnostic) bool { return d.File == file && d.Code == code })
}
