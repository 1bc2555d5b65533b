package forge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/dev/forge"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// world is a workspace with a toolbox that holds forged tools.
type world struct {
	t     testing.TB
	dir   string
	host  host.Host
	box   *toolbox.Box
	p     *dev.Pipeline
	tools []tool.Tool
	kept  *artifact.Store

	mu      sync.Mutex
	records []session.Record
	asks    []toolbox.Asked
	payload []string // what the pipeline's gate was asked
}

// setup is how a world is made.
type setup struct {
	files   map[string]string
	engines []dev.Engine
	opt     forge.Options
	rules   []permission.Rule
	gate    dev.Gate // default: the road's, with its payloads noted
	options tool.Options
	format  bool
	answer  func(toolbox.Asked) bool
}

func newWorld(t testing.TB, s setup) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(dir, "ws")}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range s.files {
		w.put(name, content)
	}
	if w.host, err = local.Open(local.Config{Roots: []host.Root{{Path: w.dir}}, StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	if s.engines == nil {
		s.engines = engine.All()
	}
	if s.gate == nil {
		s.gate = dev.GateFunc(func(ctx context.Context, r *dev.Request) error {
			j, err := json.Marshal(r)
			if err != nil {
				return err
			}
			w.mu.Lock()
			w.payload = append(w.payload, string(j))
			w.mu.Unlock()
			return forge.Road{}.Ask(ctx, r)
		})
	}
	if w.p, err = dev.New(dev.Config{Host: w.host, Gate: s.gate, Engines: s.engines, FormatOnEdit: s.format}); err != nil {
		t.Fatal(err)
	}
	if w.tools, err = forge.Tools(w.p, s.opt); err != nil {
		t.Fatal(err)
	}
	gate, err := permission.New(permission.Options{Facts: permission.FactsOf(w.host.Info()), Layers: []permission.Layer{{Name: "user", Rules: s.rules}}})
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(filepath.Join(dir, "store"), store.Options{})
	t.Cleanup(func() { st.Close() })
	w.kept = artifact.New(st, st, artifact.Options{Dir: filepath.Join(dir, "artifacts")})
	cfg := toolbox.Config{Host: w.host, Gate: gate, Env: tool.Environment{Mode: "dev"}, Recorder: w, Artifacts: spool{w.kept}, Options: s.options}
	if s.answer != nil {
		cfg.Answerer = answerer{w, s.answer}
	}
	if w.box, err = toolbox.New(cfg); err != nil {
		t.Fatal(err)
	}
	for _, tl := range w.tools {
		if err := w.box.Register(tl, "dev"); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

type spool struct{ *artifact.Store }

func (s spool) Put(ctx context.Context, session, name, mime string, r io.Reader) (string, error) {
	a, err := s.Store.Put(ctx, session, name, mime, r)
	return a.ID, err
}

func (s spool) Open(ctx context.Context, id string) (tool.ArtifactReader, error) {
	r, err := s.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, nil
}

type answerer struct {
	w   *world
	yes func(toolbox.Asked) bool
}

func (a answerer) Answer(_ context.Context, q toolbox.Asked) (tool.Decision, error) {
	a.w.mu.Lock()
	a.w.asks = append(a.w.asks, q)
	a.w.mu.Unlock()
	d := tool.Decision{Verdict: tool.Deny, By: "person", Reason: "no, thank you", Person: true, Fingerprint: q.Intent.Fingerprint}
	if a.yes(q) {
		d.Verdict = tool.Allow
	}
	return d, nil
}

// Record is described at toolbox.Recorder.
func (w *world) Record(_ context.Context, rec *session.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, *rec)
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
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "<absent>"
	}
	return string(b)
}

func (w *world) call(name, args string) tool.Result {
	w.t.Helper()
	res, err := w.box.Call(context.Background(), toolbox.Request{Tool: name, Args: json.RawMessage(args), Session: "s", Dir: w.dir})
	if err != nil {
		w.t.Fatalf("%s %s: fault: %v", name, args, err)
	}
	return res
}

func (w *world) ok(name, args string) tool.Result {
	w.t.Helper()
	res := w.call(name, args)
	if !res.OK() {
		w.t.Fatalf("%s %s: %s", name, args, res.Text())
	}
	return res
}

// payloads returns what the pipeline's gate was asked since the last time.
func (w *world) payloads() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.payload
	w.payload = nil
	return out
}

func (w *world) names() []string {
	var out []string
	for _, t := range w.tools {
		out = append(out, t.Definition().Name)
	}
	return out
}

// whole reads the artifact of a result.
func (w *world) whole(res tool.Result) (out dev.Result) {
	w.t.Helper()
	r, err := w.kept.Open(context.Background(), res.Meta.Artifact)
	if err != nil {
		w.t.Fatalf("artifact %q: %v", res.Meta.Artifact, err)
	}
	defer r.Close()
	b := make([]byte, r.Size())
	if _, err := r.ReadAt(b, 0); err != nil {
		w.t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
