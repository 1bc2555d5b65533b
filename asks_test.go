package tackle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// place is a workspace with a state folder, in which boxes are opened.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir}
	if err := os.Mkdir(filepath.Join(dir, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		p.put("ws/"+name, content)
	}
	return p
}

func (p *place) put(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) get(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return "(absent)"
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// open opens a box. Without files it reads no configuration.
func (p *place) open(cfg tackle.Config, files bool) *tackle.Box {
	p.t.Helper()
	cfg.Dir, cfg.StateDir, cfg.NoFiles = filepath.Join(p.dir, "ws"), filepath.Join(p.dir, "state"), !files
	box, err := tackle.Open(p.t.Context(), cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { box.Close() })
	return box
}

func call(t *testing.T, box *tackle.Box, name string, args any) tool.Result {
	t.Helper()
	res, err := box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// serve lets a person at a terminal answer everything by f, until the test ends.
func serve(t *testing.T, box *tackle.Box, f func(r *ask.Request) ask.Answer) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	sub := box.Asks().Subscribe(ask.Audience{}) // it is there before the first call
	go func() {
		defer close(done)
		_ = sub.Serve(ctx, ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) {
			a := f(r)
			a.Fingerprint, a.Approver = r.Fingerprint, ask.Approver{Name: "ada", Face: "terminal"}
			return a, nil
		}))
	}()
	t.Cleanup(func() { cancel(); <-done })
}

var askEdits = []permission.Rule{{Permission: "edit", Pattern: "*", Action: tool.Ask}}

// UI-007: one edit is one prompt, and reading is none.
func TestUI007_OnePrompt(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	box := p.open(tackle.Config{Rules: askEdits}, false)
	prompts := 0
	serve(t, box, func(*ask.Request) ask.Answer { prompts++; return ask.Answer{Allow: true} })
	for range 20 {
		if res := call(t, box, "read_file", map[string]any{"path": "a.txt"}); !res.OK() {
			t.Fatal(res.Text())
		}
	}
	if prompts != 0 {
		t.Errorf("%d prompts for reading", prompts)
	}
	if res := call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}); !res.OK() || !res.Meta.Decision.Person {
		t.Errorf("%s %+v", res.Text(), res.Meta.Decision)
	}
	if prompts != 1 || p.get("ws/a.txt") != "two\n" {
		t.Errorf("%d prompts, the file is %q", prompts, p.get("ws/a.txt"))
	}
}

// T5: a file that changes behind a shown approval: nothing is written, and the model is told STALE with the foreign diff.
func TestT5_ChangedBehindTheApproval(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\n"})
	box := p.open(tackle.Config{Rules: askEdits}, false)
	serve(t, box, func(r *ask.Request) ask.Answer {
		if !strings.Contains(r.View.Diff, "-two\n+three\n") {
			t.Errorf("shown: %s", r.View.Diff)
		}
		p.put("ws/a.txt", "zero\ntwo\n")
		return ask.Answer{Allow: true}
	})
	res := call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "two", "new_string": "three"})
	if res.Err == nil || res.Err.Code != tool.Stale || !strings.Contains(res.Text(), "-one\n+zero\n") {
		t.Errorf("got %s", res.Text())
	}
	if got := p.get("ws/a.txt"); got != "zero\ntwo\n" {
		t.Errorf("written: %q", got)
	}
}

// P9: of a multi_edit only the allowed hunks are written, and the result reports each by the model's number.
func TestP9_PartialApproval(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	box := p.open(tackle.Config{Rules: askEdits}, false)
	serve(t, box, func(r *ask.Request) ask.Answer {
		return ask.Answer{Allow: true, Hunks: []int{1}, Denied: map[int]string{2: "two stays"}}
	})
	res := call(t, box, "multi_edit", map[string]any{"path": "a.txt", "edits": []map[string]string{
		{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}, {"old_string": "four", "new_string": "4"}}})
	if got := p.get("ws/a.txt"); got != "1\ntwo\nthree\n" {
		t.Errorf("written: %q", got)
	}
	for _, part := range []string{"#1 applied", "#2 denied: two stays", "#3 "} {
		if !strings.Contains(res.Text(), part) {
			t.Errorf("%q is not in %s", part, res.Text())
		}
	}
}

// P8: a yes for the turn holds in it, for the same target, and in no other turn or session.
func TestP8_ForTheTurn(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "0\n"})
	box := p.open(tackle.Config{Rules: askEdits}, false)
	asked := 0
	serve(t, box, func(r *ask.Request) ask.Answer {
		asked++
		if _, ok := r.Offered(ask.Turn); !ok {
			t.Errorf("the turn %q is not offered", r.Turn)
		}
		return ask.Answer{Allow: true, Scope: ask.Turn}
	})
	for i, tt := range []struct {
		message, turn, session string
		asks                   bool
	}{{"m1", "", "", true}, {"m1", "", "", false}, {"m2", "m1", "", false}, {"m2", "", "", true}, {"m1", "", "", false}, {"m1", "", "other", true}} {
		req := tackle.NewRequest("write_file", map[string]any{"path": "a.txt", "content": fmt.Sprint(i)})
		req.Message, req.Turn, req.Session = tt.message, tt.turn, tt.session
		before := asked
		if res, err := box.Call(t.Context(), req); err != nil || !res.OK() {
			t.Errorf("%s %v", res.Text(), err)
		}
		if (asked > before) != tt.asks {
			t.Errorf("call %d: asked %d times", i, asked-before)
		}
	}
}

// P8: with nobody there the call is denied, says how it can be allowed, and the same call passes once after that.
func TestP8_TicketOverProcesses(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	agent := p.open(tackle.Config{Rules: askEdits, Session: "s1"}, false)
	edit := map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"}
	res := call(t, agent, "edit", edit)
	if res.Denied == nil || res.Denied.Decision.Ticket == "" || !strings.Contains(res.Text(), "tackle approve "+res.Denied.Decision.Ticket) {
		t.Fatalf("got %s", res.Text())
	}
	person := p.open(tackle.Config{Rules: askEdits}, false)
	open, err := person.Asks().Tickets(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v %v", open, err)
	}
	r := open[0].Request
	if _, err := person.Asks().AnswerTicket(t.Context(), r.ID, ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "ada", Face: "terminal"}}); err != nil {
		t.Fatal(err)
	}
	if res := call(t, agent, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "other"}); res.Denied == nil {
		t.Errorf("another call passed: %s", res.Text())
	}
	if res := call(t, agent, "edit", edit); !res.OK() || p.get("ws/a.txt") != "two\n" {
		t.Errorf("got %s", res.Text())
	}
	p.put("ws/a.txt", "one\n")
	if res := call(t, agent, "edit", edit); res.Denied == nil {
		t.Errorf("it passed twice: %s", res.Text())
	}
}

// A Go program answers; a face that does not answer leaves the ask to the queue.
func TestP8_Faces(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	face := func(f func(r *ask.Request) (ask.Answer, error)) []ask.Face {
		return []ask.Face{ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) { return f(r) })}
	}
	program := face(func(r *ask.Request) (ask.Answer, error) {
		return ask.Answer{Words: "not today", Fingerprint: r.Fingerprint, Approver: ask.Approver{Face: "robot"}}, nil
	})
	res := call(t, p.open(tackle.Config{Rules: askEdits, Faces: program}, false), "write_file", map[string]any{"path": "b.txt", "content": "x"})
	if res.Denied == nil || res.Denied.Decision.By != "program (robot)" || !strings.Contains(res.Text(), "not today") {
		t.Errorf("got %s", res.Text())
	}
	passes := face(func(*ask.Request) (ask.Answer, error) { return ask.Answer{}, errors.New("nobody there") })
	box := p.open(tackle.Config{Rules: askEdits, Faces: passes}, false)
	if res := call(t, box, "write_file", map[string]any{"path": "b.txt", "content": "x"}); res.Denied == nil || !strings.Contains(res.Text(), "nobody is here") {
		t.Errorf("got %s", res.Text())
	}
	serve(t, box, func(*ask.Request) ask.Answer { return ask.Answer{Allow: true} })
	if res := call(t, box, "write_file", map[string]any{"path": "b.txt", "content": "x"}); !res.OK() {
		t.Errorf("got %s", res.Text())
	}
}

// P8: a yes for the session holds in the next process of that session, until it is revoked.
func TestP8_GrantsAreKept(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	first := p.open(tackle.Config{Rules: askEdits, Session: "s1"}, false)
	serve(t, first, func(r *ask.Request) ask.Answer { return ask.Answer{Allow: true, Scope: ask.Session} })
	write := func(box *tackle.Box) tool.Result {
		return call(t, box, "write_file", map[string]any{"path": "b.txt", "content": "x"})
	}
	if res := write(first); !res.OK() {
		t.Fatal(res.Text())
	}
	later := p.open(tackle.Config{Rules: askEdits, Session: "s1"}, false)
	if res := write(later); !res.OK() {
		t.Errorf("got %s", res.Text())
	}
	if res := write(p.open(tackle.Config{Rules: askEdits, Session: "s2"}, false)); res.Denied == nil {
		t.Errorf("another session: %s", res.Text())
	}
	list, err := later.Grants(t.Context())
	if err != nil || len(list) != 1 || list[0].Person != "ada" || list[0].Target != filepath.Join(p.dir, "ws", "b.txt") {
		t.Fatalf("%+v %v", list, err)
	}
	if was, err := later.Revoke(t.Context(), list[0].ID); !was || err != nil {
		t.Fatal(was, err)
	}
	if res := write(p.open(tackle.Config{Rules: askEdits, Session: "s1"}, false)); res.Denied == nil {
		t.Errorf("after it was revoked: %s", res.Text())
	}
}

// POL-014, POL-006, SELF-001: a change of the person's file counts at the next call, a malformed one leaves the last good
// rules in force, and what becomes of the project's file meanwhile does not count.
func TestPolicyIsFollowed(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n", ".tackle/config.yaml": "rules:\n  - edit: {\"kept/**\": deny}\n"})
	p.put("config/tackle/config.yaml", "rules:\n  - edit: {\"src/**\": deny}\n")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	box := p.open(tackle.Config{}, true)
	refused := func(path string) string {
		res := call(t, box, "write_file", map[string]any{"path": path, "content": "x"})
		if res.Denied == nil {
			return ""
		}
		return res.Denied.Decision.By
	}
	is := func(path, want string) {
		t.Helper()
		if got := refused(path); got != want {
			t.Errorf("%s is refused by %q, want %q", path, got, want)
		}
	}
	is("src/a", "rule user:1")
	is("kept/a", "rule project:1")
	is("doc/a", "")
	p.put("config/tackle/config.yaml", "rules:\n  - edit: {\"doc/**\": deny}\n")
	is("src/a", "")
	is("doc/a", "rule user:1")
	p.put("config/tackle/config.yaml", "rules: [broken\n")
	is("doc/a", "rule user:1")
	if err := box.ReloadPolicy(t.Context()); err == nil {
		t.Error("a malformed file was read")
	}
	p.put("ws/.tackle/config.yaml", "rules: []\n")
	p.put("config/tackle/config.yaml", "rules: []\n")
	is("doc/a", "")
	is("kept/a", "rule project:1")
	if err := os.Remove(filepath.Join(p.dir, "config/tackle/config.yaml")); err != nil {
		t.Fatal(err)
	}
	is("doc/b", "")
}

// T9: no ask shows a credential of the environment.
func TestT9_AsksHoldNoCredential(t *testing.T) {
	p := newPlace(t, nil)
	t.Setenv("CANARY_KEY", "canary-5f2e")
	p.put("config/tackle/config.yaml", "services:\n  google:\n    cse: {api_key: \"${CANARY_KEY}\", engine_id: e}\nrules:\n  - edit: ask\n")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	box := p.open(tackle.Config{}, true)
	res := call(t, box, "write_file", map[string]any{"path": "canary-5f2e.txt", "content": "canary-5f2e"})
	if res.Denied == nil || strings.Contains(res.Text(), "canary-5f2e") {
		t.Errorf("got %s", res.Text())
	}
	open, err := box.Asks().Tickets(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	if b, _ := json.Marshal(open[0]); strings.Contains(string(b), "5f2e") {
		t.Errorf("the ask holds it: %s", b)
	}
}
