package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// shelf is a box whose tool "put" writes files of a workspace.
type shelf struct {
	t   *testing.T
	dir string
	box *Box
	rec []*session.Record
	ran int
}

// putInput names files by letter. Each of Planned is part of the plan; Later is committed by the run.
type putInput struct {
	Planned []string `json:"planned,omitempty" jsonschema:"Files of the plan"`
	Later   []string `json:"later,omitempty" jsonschema:"Files of the run"`
	Twice   bool     `json:"twice,omitempty" jsonschema:"Commit each set twice"`
	Exec    bool     `json:"exec,omitempty" jsonschema:"Have the effect execute"`
}

func newShelf(t *testing.T, cfg Config, files map[string]string) *shelf {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{t: t, dir: filepath.Join(dir, "ws")}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		s.write(name, content)
	}
	if cfg.Host, err = local.Open(local.Config{Roots: []host.Root{{Path: s.dir}}, StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	cfg.Recorder = recorderFunc(func(r *session.Record) { c := *r; s.rec = append(s.rec, &c) })
	s.box = newBox(t, cfg, tool.Define(tool.Spec{Name: "put", Category: "test", Description: "Write files."}, s.plan))
	return s
}

func (s *shelf) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) read(name string) string {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return "<absent>"
	}
	return string(b)
}

// set appends "+" to each file.
func (s *shelf) set(names []string) *change.Set {
	set := &change.Set{}
	for _, n := range names {
		path := filepath.Join(s.dir, n)
		data, err := os.ReadFile(path)
		if err != nil {
			set.Ops = append(set.Ops, change.Create(path, []byte("+"), 0o644))
			continue
		}
		set.Ops = append(set.Ops, change.Replace(path, change.FileState(data, 0o644), append(data, '+')))
	}
	return set
}

func (s *shelf) plan(ctx context.Context, call *tool.Call, in putInput) (tool.Action, error) {
	effects := []tool.Effect{tool.Write}
	if in.Exec {
		effects = append(effects, tool.Execute)
	}
	var names []string
	for i, n := range in.Planned {
		if ok, _ := call.Approved(i + 1); ok {
			names = append(names, n)
		}
	}
	intent := tool.Intent{Effects: effects, Persists: true, Hunks: len(in.Planned)}
	for _, n := range slices.Concat(names, in.Later) {
		p, err := call.Resolve(ctx, n)
		if err != nil {
			return tool.Action{}, err
		}
		intent.Targets = append(intent.Targets, tool.PathTo(p, tool.Write))
	}
	set := s.set(names)
	if !set.Empty() {
		intent.Changes = set
	}
	later := s.set(in.Later)
	return tool.Action{Intent: intent, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
		s.ran++
		for _, c := range []*change.Set{later, set} {
			for range 1 + len(map[bool][]int{true: {0}}[in.Twice]) {
				if _, err := r.Commit(ctx, c); err != nil {
					return tool.Result{}, err
				}
			}
		}
		return tool.TextResult("done", nil), nil
	}}, nil
}

var allowAll = gateFunc(func(GateRequest) tool.Decision { return tool.Decision{Verdict: tool.Allow, By: "test"} })
var askAll = gateFunc(func(GateRequest) tool.Decision { return tool.Decision{Verdict: tool.Ask, By: "test"} })

func yes(a Asked) tool.Decision {
	return tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}
}

// T5, P9: of a call that is approved in part, what was approved is what is written: a file that changed while the person
// looked at it is STALE, although the narrowed plan would fit it.
func TestP9_HunksOfAnotherVersion(t *testing.T) {
	var s *shelf
	s = newShelf(t, Config{Gate: askAll, Answerer: answererFunc(func(a Asked) tool.Decision {
		s.write("a", "foreign")
		d := yes(a)
		d.Hunks = []int{1}
		return d
	})}, map[string]string{"a": "one", "b": "two"})
	res := call(t, s.box, "put", `{"planned":["a","b"]}`)
	if res.Err == nil || res.Err.Code != tool.Stale || s.read("a") != "foreign" || s.read("b") != "two" {
		t.Errorf("a %q, b %q: %s", s.read("a"), s.read("b"), res.Text())
	}
}

// P9: an answer in part runs in part; one that names hunks of a call that has none is no answer.
func TestP9_Hunks(t *testing.T) {
	part := answererFunc(func(a Asked) tool.Decision { d := yes(a); d.Hunks = []int{2}; return d })
	s := newShelf(t, Config{Gate: askAll, Answerer: part}, map[string]string{"a": "one", "b": "two"})
	if res := call(t, s.box, "put", `{"planned":["a","b"]}`); !res.OK() || s.read("a") != "one" || s.read("b") != "two+" {
		t.Errorf("a %q, b %q: %s", s.read("a"), s.read("b"), res.Text())
	}
	if res := call(t, s.box, "put", `{"later":["a"]}`); res.OK() || s.read("a") != "one" {
		t.Errorf("a %q: %s", s.read("a"), res.Text())
	}
}

// The second gate point is asked for whole: the hunks of the plan are not those of what the run made.
func TestSecondGateIsWhole(t *testing.T) {
	asked := 0
	s := newShelf(t, Config{Gate: askAll, Answerer: answererFunc(func(a Asked) tool.Decision {
		d := yes(a)
		if asked++; asked == 2 && a.Hunks > 0 {
			d.Hunks = []int{1}
		}
		return d
	})}, map[string]string{"a": "one", "b": "two"})
	call(t, s.box, "put", `{"planned":["a","b"],"later":["c","d"]}`)
	if asked != 2 || s.read("c") != "+" || s.read("d") != "+" {
		t.Errorf("asked %d times; c %q, d %q", asked, s.read("c"), s.read("d"))
	}
}

// T17, P11: both decisions of a call are recorded, each with its intent, and everything that was committed.
func TestSecondGateIsRecorded(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll}, map[string]string{"a": "one"})
	if res := call(t, s.box, "put", `{"planned":["a"],"later":["b"]}`); !res.OK() {
		t.Fatal(res.Text())
	}
	var got []string
	for _, r := range s.rec {
		path := ""
		if len(r.Intent.Targets) == 1 {
			path = filepath.Base(r.Intent.Targets[0].Value)
		}
		got = append(got, strings.Trim(string(r.Phase)+" "+path, " "))
		if r.Point == 2 && r.Intent.Permission != tool.EditPermission {
			t.Errorf("what the run changes is judged as %q (P2)", r.Intent.Permission)
		}
		if r.Decision == nil || r.Intent.Fingerprint == "" && r.Phase == session.End {
			t.Errorf("%s: %+v", r.Phase, r)
		}
	}
	if want := []string{"start", "start b", "end"}; !slices.Equal(got, want) || s.rec[1].Point != 2 {
		t.Errorf("records %q, want %q", got, want)
	}
	if n := len(s.rec[2].Committed); n != 2 {
		t.Errorf("%d committed sets", n)
	}
}

// A call can change files at two points and no third, and make its planned changes once.
func TestOnlyTwoPoints(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll}, map[string]string{"a": "one"})
	for args, want := range map[string]string{`{"later":["b"],"twice":true}`: "more points", `{"planned":["a"],"twice":true}`: "twice"} {
		if res := call(t, s.box, "put", args); res.OK() || !strings.Contains(res.Text(), want) || !strings.Contains(res.Text(), "undo can take it back") {
			t.Errorf("%s: %s", args, res.Text())
		}
	}
	if s.read("a") != "one+" || s.read("b") != "+" {
		t.Errorf("a %q, b %q", s.read("a"), s.read("b"))
	}
}

// T5: a call that did something that cannot be done twice is not run again when a file changed under it.
func TestT5_CommandsRunOnce(t *testing.T) {
	for args, runs := range map[string]int{`{"planned":["a"]}`: 2, `{"planned":["a"],"exec":true}`: 1, `{"planned":["a"],"later":["b"]}`: 1} {
		var s *shelf
		changed := false
		s = newShelf(t, Config{Gate: gateFunc(func(GateRequest) tool.Decision {
			if !changed {
				changed = true
				s.write("a", "foreign")
			}
			return tool.Decision{Verdict: tool.Allow, By: "test"}
		})}, map[string]string{"a": "one"})
		res := call(t, s.box, "put", args)
		if s.ran != runs || (runs == 2) != res.OK() || runs == 1 && (res.Err.Code != tool.Stale || s.read("a") != "foreign") {
			t.Errorf("%s: ran %d times, a %q: %s", args, s.ran, s.read("a"), res.Text())
		}
	}
}

// T5: the plan that is made again under the lock may need folders that the first one found.
func TestT5_ReplanNeedsOtherPaths(t *testing.T) {
	var s *shelf
	gone := false
	s = newShelf(t, Config{Gate: gateFunc(func(GateRequest) tool.Decision {
		if !gone {
			gone = true
			if err := os.Remove(filepath.Join(s.dir, "a")); err != nil {
				t.Error(err)
			}
		}
		return tool.Decision{Verdict: tool.Allow, By: "test"}
	})}, map[string]string{"a": "one"})
	other := tool.Define(tool.Spec{Name: "sprawl", Category: "test", Description: "Write more files where one is gone."}, func(ctx context.Context, call *tool.Call, _ struct{}) (tool.Action, error) {
		names := []string{"a"}
		if s.read("a") == "<absent>" {
			names = append(names, "b", "c")
		}
		return s.plan(ctx, call, putInput{Planned: names})
	})
	if err := s.box.Register(other, "code"); err != nil {
		t.Fatal(err)
	}
	if res := call(t, s.box, "sprawl", `{}`); !res.OK() || s.read("a")+s.read("b")+s.read("c") != "+++" {
		t.Errorf("%s: %q %q %q", res.Text(), s.read("a"), s.read("b"), s.read("c"))
	}
}

// A planned call runs at most once, and only as it was decided.
func TestRunIsBound(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll}, map[string]string{"a": "one"})
	p, err := s.box.Plan(t.Context(), Request{Tool: "put", Args: json.RawMessage(`{"planned":["a"]}`)})
	if err != nil || p.Err != nil {
		t.Fatal(err, p.Err)
	}
	if res, err := s.box.Run(t.Context(), p, tool.Decision{Verdict: tool.Allow, Fingerprint: "0000"}); err != nil || res.OK() || res.Err.Code != tool.Stale || s.read("a") != "one" {
		t.Errorf("another fingerprint: %v %s", err, res.Text())
	}
	if _, err := s.box.Run(t.Context(), p, tool.Decision{Verdict: tool.Allow}); err == nil || !tool.IsFault(err) {
		t.Errorf("run twice: %v", err)
	}
}

// A ticket holds what the face brought: hooks see it again and do not rewrite their own work. What policy denies by now
// does not run, whoever allowed it.
func TestTicket(t *testing.T) {
	deny := false
	hook := hookFuncs{before: func(r *Request) error {
		r.Args = json.RawMessage(strings.Replace(string(r.Args), `["`, `["x`, 1))
		return nil
	}}
	s := newShelf(t, Config{Hooks: []Hook{hook}, Gate: gateFunc(func(GateRequest) tool.Decision {
		if deny {
			return tool.Decision{Verdict: tool.Deny, By: "rule user:9"}
		}
		return tool.Decision{Verdict: tool.Ask, By: "test"}
	})}, nil)
	ticket := func() Ticket {
		p, err := s.box.Plan(t.Context(), Request{Tool: "put", Args: json.RawMessage(`{"planned":["a"]}`)})
		if err != nil || p.Err != nil {
			t.Fatal(err, p.Err)
		}
		b, err := json.Marshal(p.Ticket(tool.Decision{Verdict: tool.Ask}))
		if err != nil {
			t.Fatal(err)
		}
		var back Ticket
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		return back
	}
	first, second := ticket(), ticket()
	allow := tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: first.Intent.Fingerprint}
	if res, err := s.box.Resume(t.Context(), first, allow); err != nil || !res.OK() || s.read("xa") != "+" {
		t.Errorf("%v %s: %q", err, res.Text(), s.read("xa"))
	}
	if res, err := s.box.Resume(t.Context(), second, allow); err != nil || res.OK() || res.Err.Code != tool.Stale || s.read("xa") != "+" {
		t.Errorf("a second time: %v %s", err, res.Text())
	}
	third := ticket()
	deny, allow.Fingerprint = true, third.Intent.Fingerprint
	if res, err := s.box.Resume(t.Context(), third, allow); err != nil || res.Denied == nil || !strings.Contains(res.Text(), "rule user:9") || s.read("xa") != "+" {
		t.Errorf("denied by now: %v %s", err, res.Text())
	}
}

// A call that is cancelled before it runs does nothing, says so, and is recorded.
func TestCancelledIsRecorded(t *testing.T) {
	for name, at := range map[string]func(cancel context.CancelFunc) Config{
		"before": func(cancel context.CancelFunc) Config { cancel(); return Config{Gate: allowAll} },
		"by hook": func(cancel context.CancelFunc) Config {
			return Config{Gate: allowAll, Hooks: []Hook{hookFuncs{before: func(*Request) error { cancel(); return nil }}}}
		},
		"by gate": func(cancel context.CancelFunc) Config {
			return Config{Gate: gateFunc(func(GateRequest) tool.Decision { cancel(); return tool.Decision{Verdict: tool.Allow, By: "test"} })}
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newShelf(t, at(cancel), map[string]string{"a": "one"})
		res, err := s.box.Call(ctx, Request{Tool: "put", Args: json.RawMessage(`{"planned":["a"]}`)})
		if err != nil || res.Err == nil || res.Err.Code != tool.Cancelled || res.Err.Hint == "" || s.read("a") != "one" {
			t.Errorf("%s: %v %s", name, err, res.Text())
		}
		if len(s.rec) == 0 || s.rec[len(s.rec)-1].Phase != session.End {
			t.Errorf("%s: not recorded", name)
		}
	}
}

// The time of a call stands still while a person looks at what it made; a person may think longer than a call may run.
func TestAskStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		slow := answererFunc(func(a Asked) tool.Decision {
			asked++
			<-time.After(time.Hour) // at both points
			return yes(a)
		})
		b := newBox(t, Config{Gate: askAll, Answerer: slow}, tool.Define(tool.Spec{Name: "slow", Category: "test", Description: "Ask at the second point.", Timeout: time.Minute},
			func(context.Context, *tool.Call, struct{}) (tool.Action, error) {
				return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
					<-time.After(50 * time.Second)
					if _, err := r.(*runner).decide(ctx, &tool.Intent{Effects: []tool.Effect{tool.Write}}, 2); err != nil || ctx.Err() != nil {
						t.Errorf("the ask: %v, %v", err, context.Cause(ctx))
					}
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				}}, nil
			}))
		begin := time.Now()
		res := call(t, b, "slow", `{}`)
		if took := time.Since(begin); res.Err == nil || res.Err.Code != tool.TimedOut || asked != 2 || took != 2*time.Hour+time.Minute {
			t.Errorf("after %v: %+v", took, res.Err)
		}
	})
}

// stubHost counts commits.
type stubHost struct {
	host.Host
	commits chan struct{} // one token each
}

func (h *stubHost) Info() host.Info { return host.Info{} }

func (h *stubHost) Commit(context.Context, *change.Set, host.CommitOptions) (host.Receipt, error) {
	h.commits <- struct{}{}
	return host.Receipt{ID: "t1"}, nil
}

// A tool that outlives its time commits nothing behind the caller's back, and says nothing any more.
func TestAbandonedCallIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &stubHost{commits: make(chan struct{}, 9)}
		release, finished := make(chan struct{}), make(chan error, 1)
		deaf := tool.Define(tool.Spec{Name: "deaf", Category: "test", Description: "Never stop.", Timeout: time.Second}, func(context.Context, *tool.Call, struct{}) (tool.Action, error) {
			set := &change.Set{Ops: []change.Op{change.Create("/w/a", nil, 0)}}
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Persists: true, Changes: set}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
				r.Partial("early")
				<-release
				r.Partial("late")
				r.Progress(1, 1, "late")
				r.Meta("late", true)
				_, err := r.Commit(context.WithoutCancel(ctx), set)
				finished <- err
				return tool.TextResult("late", nil), nil
			}}, nil
		})
		b := newBox(t, Config{Gate: allowAll, Host: h}, deaf)
		said := make(chan string, 9)
		res, err := b.Call(t.Context(), Request{Tool: "deaf", Args: json.RawMessage(`{}`), Partial: func(s string) { said <- s }, Progress: func(_, _ float64, s string) { said <- s }})
		if err != nil || res.Err == nil || res.Err.Code != tool.TimedOut || !strings.Contains(res.Err.Message, "unknown") {
			t.Errorf("%v %+v", err, res.Err)
		}
		close(release)
		var e *tool.Error
		if err := <-finished; !errors.As(err, &e) || e.Code != tool.Cancelled || len(h.commits) != 0 || len(said) != 1 {
			t.Errorf("%v: %d commits, said %d", err, len(h.commits), len(said))
		}
	})
}

// A commit that is under way when the time ends is waited for, and what it did is reported.
func TestLateCommitIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &stubHost{commits: make(chan struct{})}
		set := &change.Set{Ops: []change.Op{change.Create("/w/a", nil, 0)}}
		b := newBox(t, Config{Gate: allowAll, Host: h}, tool.Define(tool.Spec{Name: "slow", Category: "test", Description: "Commit slowly.", Timeout: time.Second},
			func(context.Context, *tool.Call, struct{}) (tool.Action, error) {
				return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}, Persists: true, Changes: set}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
					_, err := r.Commit(ctx, set)
					return tool.TextResult("done", nil), err
				}}, nil
			}))
		go func() {
			<-time.After(8 * time.Second) // after time and grace, before that of the runner
			<-h.commits
		}()
		res := call(t, b, "slow", `{}`)
		if res.Err == nil || res.Err.Code != tool.TimedOut || !slices.Equal(res.Meta.Transaction, []string{"t1"}) || !strings.Contains(res.Text(), "undo can take it back") {
			t.Errorf("%v\n%s", res.Meta.Transaction, res.Text())
		}
	})
}

// P13, POL-022: the third refusal of the same call in a turn ends the turn, and the model is told before and then; other calls,
// other turns and other sessions count for themselves, and so does a call that passed meanwhile. Who refuses does not matter.
func TestP13_SameRefusal(t *testing.T) {
	open := false
	gate := gateFunc(func(GateRequest) tool.Decision {
		if open {
			return tool.Decision{Verdict: tool.Allow, By: "test"}
		}
		return tool.Decision{Verdict: tool.Deny, By: "rule user:1", Reason: "no"}
	})
	hook := hookFuncs{before: func(r *Request) error {
		if strings.Contains(string(r.Args), "hooked") {
			return &tool.Denial{Decision: tool.Decision{Verdict: tool.Deny, By: "hook x"}, Tool: r.Tool, Message: "not by hook x."}
		}
		return nil
	}}
	b := newBox(t, Config{Gate: gate, Hooks: []Hook{hook}}, echo(tool.Spec{}, nil, tool.Write))
	try := func(session, message, text string) (string, any) {
		t.Helper()
		res, err := b.Call(t.Context(), Request{Tool: "echo", Session: session, Message: message, Args: json.RawMessage(`{"text": "` + text + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return res.Text(), res.Meta.Values[EndTurnValue]
	}
	for _, text := range []string{"a", "hooked"} {
		for i, want := range []string{"", "refused 2 times now; at the next time the turn ends", "refused 3 times. Do not make it again: change your approach", "refused 4 times"} {
			got, end := try("s", "m", text)
			if !strings.Contains(got, want) || i == 0 && strings.Contains(got, "times") || (end != nil) != (i >= 2) {
				t.Errorf("%s, refusal %d: %v, %s", text, i+1, end, got)
			}
		}
	}
	for _, other := range [][3]string{{"s", "m", "b"}, {"s", "m2", "a"}, {"s2", "m", "a"}} {
		if got, end := try(other[0], other[1], other[2]); end != nil || strings.Contains(got, "times") {
			t.Errorf("%v: %v, %s", other, end, got)
		}
	}
	open = true
	if got, end := try("s", "m", "a"); end != nil || strings.Contains(got, "refused") {
		t.Errorf("it passes: %v, %s", end, got)
	}
	open = false
	if got, end := try("s", "m", "a"); end != nil || strings.Contains(got, "times") {
		t.Errorf("after it passed: %v, %s", end, got)
	}
	for i := range 2 * keptTurns {
		try("s", fmt.Sprint("turn ", i), "a")
	}
	if n := len(b.refused.turns); n != keptTurns || len(b.refused.order) != n {
		t.Errorf("%d turns are kept", n)
	}
}
