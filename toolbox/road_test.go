package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

type echoInput struct {
	Text  string   `json:"text" jsonschema:"What to say"`
	Times int      `json:"times,omitempty" jsonschema:"How often"`
	Tags  []string `json:"tags,omitempty" jsonschema:"Labels"`
}

// echo is a tool whose plan and run a test may replace.
func echo(spec tool.Spec, run func(ctx context.Context, r tool.Runner, in echoInput) (tool.Result, error), effects ...tool.Effect) tool.Tool {
	if spec.Name == "" {
		spec.Name = "echo"
	}
	if spec.Category == "" {
		spec.Category = "test"
	}
	if spec.Description == "" {
		spec.Description = "Say something."
	}
	if spec.Example == "" {
		spec.Example = `{"text": "hello"}`
	}
	if effects == nil {
		effects = []tool.Effect{tool.Read}
	}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in echoInput) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: effects}, Run: func(ctx context.Context, r tool.Runner) (tool.Result, error) {
			if run == nil {
				return tool.TextResult(in.Text, in), nil
			}
			return run(ctx, r, in)
		}}, nil
	})
}

func newBox(t *testing.T, cfg Config, tools ...tool.Tool) *Box {
	t.Helper()
	if cfg.Env.Mode == "" {
		cfg.Env.Mode = "code"
	}
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range tools {
		if err := b.Register(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func call(t *testing.T, b *Box, name, args string) tool.Result {
	t.Helper()
	res, err := b.Call(t.Context(), Request{Tool: name, Args: json.RawMessage(args), Session: "s"})
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return res
}

type gateFunc func(GateRequest) tool.Decision

func (f gateFunc) Decide(_ context.Context, req GateRequest) (tool.Decision, error) {
	return f(req), nil
}

type answererFunc func(Asked) tool.Decision

func (f answererFunc) Answer(_ context.Context, a Asked) (tool.Decision, error) { return f(a), nil }

// T2: one road, in one order, whatever the outcome.
func TestT2_OrderOfTheRoad(t *testing.T) {
	var steps []string
	note := func(s string) { steps = append(steps, s) }
	tl := tool.Define(tool.Spec{Name: "echo", Category: "test", Description: "Say something."}, func(_ context.Context, _ *tool.Call, in echoInput) (tool.Action, error) {
		note("plan " + in.Text)
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			note("run")
			return tool.TextResult(in.Text, nil), nil
		}}, nil
	})
	b := newBox(t, Config{
		Gate:     gateFunc(func(GateRequest) tool.Decision { note("gate"); return tool.Decision{Verdict: tool.Allow, By: "test"} }),
		Recorder: recorderFunc(func(r *session.Record) { note("record " + string(r.Phase)) }),
		Hooks: []Hook{hookFuncs{
			before: func(r *Request) error {
				note("before")
				r.Args = json.RawMessage(`{"text":"from the hook","times":"2"}`)
				return nil
			},
			after: func(*tool.Result) error { note("after"); return nil },
		}},
	}, tl)
	res := call(t, b, "echo", `{"text":"from the model"}`)
	want := []string{"before", "plan from the hook", "gate", "record start", "run", "after", "record end"}
	if !slices.Equal(steps, want) {
		t.Errorf("steps\n got %q\nwant %q", steps, want)
	}
	if len(res.Meta.Repairs) != 1 {
		t.Errorf("the repaired number is not reported: %q", res.Meta.Repairs)
	}
}

type recorderFunc func(*session.Record)

func (f recorderFunc) Record(_ context.Context, r *session.Record) error { f(r); return nil }

type hookFuncs struct {
	before func(*Request) error
	after  func(*tool.Result) error
}

func (h hookFuncs) Before(_ context.Context, r *Request) error {
	if h.before == nil {
		return nil
	}
	return h.before(r)
}

func (h hookFuncs) After(_ context.Context, _ *Request, res *tool.Result) error {
	if h.after == nil {
		return nil
	}
	return h.after(res)
}

// T6, T7: every wrong call gets its code, the field, what was expected, an example and what to do next.
func TestT7_WrongCalls(t *testing.T) {
	b := newBox(t, Config{}, echo(tool.Spec{}, nil))
	for _, tt := range []struct {
		name, tool, args string
		code             tool.Code
		holds            []string
	}{
		{"unknown tool", "ecko", `{}`, tool.UnknownTool, []string{`"ecko"`, "echo"}},
		{"missing", "echo", `{}`, tool.MissingParameter, []string{"PARAMETER: text", "EXAMPLE: echo {"}},
		{"wrong", "echo", `{"text":"a","times":"many"}`, tool.InvalidParameter, []string{"PARAMETER: times", `many`}},
		{"unknown parameter", "echo", `{"text":"a","time":3}`, tool.InvalidParameter, []string{"time"}},
		{"truncated", "echo", `{"text":"a`, tool.InvalidArguments, []string{"cut off"}},
		{"not an object", "echo", `[1,2]`, tool.InvalidArguments, []string{"EXAMPLE"}},
		{"no JSON", "echo", `text=a`, tool.InvalidArguments, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := call(t, b, tt.tool, tt.args)
			if res.Err == nil || res.Err.Code != tt.code {
				t.Fatalf("got %+v, want %s", res.Err, tt.code)
			}
			text := res.Text()
			for _, h := range append(tt.holds, "TOOL ERROR: "+string(tt.code), "RECOVERY HINT: ") {
				if !strings.Contains(text, h) {
					t.Errorf("lacks %q:\n%s", h, text)
				}
			}
		})
	}
}

// The three outcomes are never mixed.
func TestOutcomes(t *testing.T) {
	boom := errors.New("disk on fire")
	for _, tt := range []struct {
		name  string
		err   error
		code  tool.Code
		fault bool
	}{
		{"tool error", tool.Errorf(tool.NotFound, "nothing there"), tool.NotFound, false},
		{"wrapped tool error", fmt.Errorf("while looking: %w", tool.Errorf(tool.NotFound, "nothing there")), tool.NotFound, false},
		{"denial", &tool.Denial{Message: "no"}, tool.PermissionDenied, false},
		{"plain error", boom, tool.ExecutionFailed, false},
		{"fault", tool.Fault(boom), "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t, Config{}, echo(tool.Spec{}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) { return tool.Result{}, tt.err }))
			res, err := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(`{"text":"a"}`)})
			if (err != nil) != tt.fault {
				t.Fatalf("error %v, want fault %v", err, tt.fault)
			}
			if !tt.fault && (res.Err == nil || res.Err.Code != tt.code) {
				t.Errorf("got %+v, want %s", res.Err, tt.code)
			}
			if denied := res.Denied != nil; denied != (tt.code == tool.PermissionDenied) {
				t.Errorf("denied = %v", denied)
			}
		})
	}
}

func TestPanicIsAResult(t *testing.T) {
	b := newBox(t, Config{}, echo(tool.Spec{}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) { panic("oh") }))
	if res := call(t, b, "echo", `{"text":"a"}`); res.Err == nil || res.Err.Code != tool.ExecutionFailed || !strings.Contains(res.Err.Message, "oh") {
		t.Errorf("got %+v", res.Err)
	}
}

// P8: with nobody to answer, an ask is a denial that says so; an answer counts only for what it was shown.
func TestP8_Asks(t *testing.T) {
	asks := gateFunc(func(GateRequest) tool.Decision {
		return tool.Decision{Verdict: tool.Ask, By: "rule user:1", Reason: "edits are asked"}
	})
	write := echo(tool.Spec{}, nil, tool.Write)
	for _, tt := range []struct {
		name   string
		answer Answerer
		ok     bool
		holds  string
	}{
		{"nobody", nil, false, "Nobody is here"},
		{"yes", answererFunc(func(a Asked) tool.Decision {
			return tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}
		}), true, "a"},
		{"no, with words", answererFunc(func(a Asked) tool.Decision {
			return tool.Decision{Verdict: tool.Deny, By: "person", Reason: "use the other file", Fingerprint: a.Intent.Fingerprint}
		}), false, "use the other file"},
		{"yes to something else", answererFunc(func(Asked) tool.Decision {
			return tool.Decision{Verdict: tool.Allow, By: "person", Fingerprint: "0000"}
		}), false, "another version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t, Config{Gate: asks, Answerer: tt.answer}, write)
			res := call(t, b, "echo", `{"text":"a"}`)
			if res.OK() != tt.ok || !strings.Contains(res.Text(), tt.holds) {
				t.Errorf("ok = %v\n%s", res.OK(), res.Text())
			}
			if !tt.ok && (res.Denied == nil || res.Err.Code != tool.PermissionDenied) {
				t.Errorf("no denial: %+v", res)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obedient := echo(tool.Spec{Name: "waits", Timeout: time.Second}, func(ctx context.Context, _ tool.Runner, _ echoInput) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		release := make(chan struct{})
		deaf := echo(tool.Spec{Name: "deaf", Timeout: time.Second}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) {
			<-release
			return tool.TextResult("late", nil), nil
		})
		b := newBox(t, Config{}, obedient, deaf)
		start := time.Now()
		if res := call(t, b, "waits", `{"text":"a"}`); res.Err == nil || res.Err.Code != tool.TimedOut || !strings.Contains(res.Err.Message, "1s") {
			t.Errorf("obedient: %+v", res.Err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("took %v", d)
		}
		if res := call(t, b, "deaf", `{"text":"a"}`); res.Err == nil || res.Err.Code != tool.TimedOut || !strings.Contains(res.Err.Message, "unknown") {
			t.Errorf("deaf: %+v", res.Err)
		}
		close(release)
	})
}

// T12: a tool's rate holds, and the error says how long to wait.
func TestT12_Rate(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBox(t, Config{Clock: func() time.Time { return now }}, echo(tool.Spec{Rate: tool.Rate{Calls: 2, Per: time.Minute}}, nil))
	for i := range 2 {
		if res := call(t, b, "echo", `{"text":"a"}`); !res.OK() {
			t.Fatalf("call %d: %v", i, res.Err)
		}
	}
	res := call(t, b, "echo", `{"text":"a"}`)
	if res.Err == nil || res.Err.Code != tool.RateLimited || !strings.Contains(res.Err.Expected, "30s") || !res.Err.Retry {
		t.Fatalf("got %+v", res.Err)
	}
	now = now.Add(30 * time.Second)
	if res := call(t, b, "echo", `{"text":"a"}`); !res.OK() {
		t.Errorf("after the wait: %v", res.Err)
	}
}

// T13: usage figures.
func TestT13_Figures(t *testing.T) {
	b := newBox(t, Config{}, echo(tool.Spec{}, func(_ context.Context, _ tool.Runner, in echoInput) (tool.Result, error) {
		if in.Text == "fail" {
			return tool.Result{}, tool.Errorf(tool.OperationFailed, "as asked")
		}
		return tool.TextResult(in.Text, nil), nil
	}), echo(tool.Spec{Name: "writes"}, nil, tool.Write))
	call(t, b, "echo", `{"text":"four"}`)
	call(t, b, "echo", `{"text":"fail"}`)
	call(t, b, "writes", `{"text":"x"}`)
	f := b.Figures()
	if f[0].Calls != 2 || f[0].Failures != 1 || f[0].BytesIn != 30 || f[0].BytesOut < 4 || f[0].P99 <= 0 || f[0].P50 > f[0].P99 {
		t.Errorf("echo: %+v", f[0])
	}
	if f[1].Calls != 1 || f[1].Denied != 1 || f[1].Failures != 0 {
		t.Errorf("writes: %+v", f[1])
	}
}

func TestBuckets(t *testing.T) {
	for d := time.Duration(1); d < time.Hour; d = d*5/4 + 1 {
		top := bucketTop(bucket(d))
		if top < d || d >= 8 && float64(top) > float64(d)*1.14 {
			t.Fatalf("%d falls into the bucket up to %d", d, top)
		}
	}
}

// T9: a canary credential shows up nowhere: not in results, errors, records, artifacts or logs.
func TestT9_Canary(t *testing.T) {
	const canary = "canary-4f1d9a"
	var log strings.Builder
	var recorded []string
	arts := &memArtifacts{}
	var env tool.Environment
	env.Services.Google.CSE = tool.CSE{APIKey: tool.NewSecret(canary), EngineID: "cx"}
	env.Mode = "code"
	leaky := func(err error) tool.Tool {
		return echo(tool.Spec{}, func(_ context.Context, r tool.Runner, in echoInput) (tool.Result, error) {
			r.Partial("key " + canary)
			if err != nil {
				return tool.Result{}, err
			}
			return tool.TextResult(strings.Repeat("key "+canary+"\n", in.Times), map[string]string{"key": canary}), nil
		})
	}
	for _, err := range []error{nil, tool.Errorf(tool.NetworkError, "GET https://x/?key=%s", canary), errors.New("with " + canary)} {
		b, e := New(Config{Env: env, Artifacts: arts, Log: newTextLog(&log), Recorder: recorderFunc(func(r *session.Record) {
			j, _ := json.Marshal(r)
			recorded = append(recorded, string(j))
		})})
		if e != nil {
			t.Fatal(e)
		}
		if e := b.Register(leaky(err), "code"); e != nil {
			t.Fatal(e)
		}
		b.cfg.Log.With("key", canary).Error("with "+canary, "attr", canary, "err", fmt.Errorf("e %s", canary))
		partial := ""
		res, e := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(`{"text":"` + canary + `","times":3000}`), Partial: func(s string) { partial += s }})
		if e != nil {
			t.Fatal(e)
		}
		j, _ := json.Marshal(res)
		for where, s := range map[string]string{"result": string(j), "text": res.Text(), "partial": partial, "environment": fmt.Sprintf("%v %+v %#v", b.Env(), b.Env(), b.Env())} {
			if strings.Contains(s, canary) {
				t.Errorf("the canary is in the %s: %.300s", where, s)
			}
		}
	}
	all := log.String() + strings.Join(recorded, "") + strings.Join(arts.texts, "")
	if strings.Contains(all, canary) || !strings.Contains(all, "[secret]") {
		t.Errorf("the canary is in log, records or artifacts, or nothing was masked")
	}
	if len(arts.texts) == 0 || len(recorded) == 0 || log.Len() == 0 {
		t.Errorf("nothing was looked at: %d artifacts, %d records, %d log bytes", len(arts.texts), len(recorded), log.Len())
	}
}

type memArtifacts struct {
	mu    sync.Mutex
	texts []string
}

func (m *memArtifacts) Put(_ context.Context, _, _, _ string, r io.Reader) (string, error) {
	b, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts = append(m.texts, string(b))
	return fmt.Sprintf("a%d", len(m.texts)), err
}

func (m *memArtifacts) Open(context.Context, string) (tool.ArtifactReader, error) {
	return nil, errors.New("not kept")
}

// O1, O2, O3: the shared bound, a tool that bounds itself, and the hint.
func TestO1_Bounds(t *testing.T) {
	long := strings.Repeat("0123456789\n", 6000) // 66,000 bytes
	own := echo(tool.Spec{Name: "own"}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) {
		return tool.Result{Parts: []tool.Part{tool.Text(long)}, Bounded: true}, nil
	})
	plain := echo(tool.Spec{Name: "plain"}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) {
		return tool.TextResult(long, nil), nil
	})
	wide := echo(tool.Spec{Name: "wide"}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) {
		return tool.TextResult(strings.Repeat("ä", 60_000), nil), nil
	})
	arts := &memArtifacts{}
	b := newBox(t, Config{Artifacts: arts}, own, plain, wide)
	if res := call(t, b, "own", `{"text":""}`); res.Text() != long {
		t.Error("a bounded result was cut again")
	}
	res := call(t, b, "plain", `{"text":""}`)
	if got := strings.Count(res.Text(), "0123456789\n"); got != 2000 || !res.Meta.Truncated || res.Meta.Artifact != "a1" {
		t.Errorf("%d lines kept, meta %+v", got, res.Meta)
	}
	if !strings.Contains(res.Text(), "2000 of 6000 lines") || !strings.Contains(res.Text(), "artifact:a1 offset=2001") || arts.texts[0] != long {
		t.Errorf("notice: %s", res.Text()[len(res.Text())-300:])
	}
	if res := call(t, b, "wide", `{"text":""}`); len(res.Text()) > 52_000 || strings.ContainsRune(res.Text(), '\uFFFD') {
		t.Errorf("%d bytes", len(res.Text()))
	}
	small, err := b.Call(t.Context(), Request{Tool: "plain", Args: json.RawMessage(`{"text":""}`), Bounds: tool.Bounds{Bytes: 1000}, Options: tool.Options{Spawns: true}})
	if err != nil || len(small.Text()) > 1000 || !strings.Contains(small.Text(), "subagent") {
		t.Errorf("the face shows 1000 bytes and would cut the notice off: %d bytes, %v\n%s", len(small.Text()), err, small.Text())
	}
}

// O1: what failed is bounded like what succeeded, whatever the model sent, also where no tool was found.
func TestO1_FailuresAreBounded(t *testing.T) {
	huge := strings.Repeat("0123456789", 1<<20)
	fails := echo(tool.Spec{Name: "fails"}, func(_ context.Context, _ tool.Runner, in echoInput) (tool.Result, error) {
		res := tool.Result{Bounded: true} // the tool bounded its output, not its failure
		return res, tool.Errorf(tool.OperationFailed, "no %s", in.Text)
	})
	b := newBox(t, Config{Artifacts: &memArtifacts{}}, fails)
	for name, req := range map[string]Request{
		"error of a tool": {Tool: "fails", Args: json.RawMessage(`{"text":"` + huge + `"}`)},
		"unknown tool":    {Tool: huge, Args: json.RawMessage(`{}`)},
		"unknown field":   {Tool: "fails", Args: json.RawMessage(`{"` + huge + `":1}`)},
		"no JSON":         {Tool: "fails", Args: json.RawMessage(huge + "x")},
	} {
		res, err := b.Call(t.Context(), req)
		if err != nil || res.OK() || len(res.Text()) > 52_000 || len(res.Err.Message) > 52_000 {
			t.Errorf("%s: %v, %d bytes of text, %d of message", name, err, len(res.Text()), len(res.Err.Message))
		}
	}
}

// O9: media beyond what a request holds become artifacts, whoever made them.
func TestO9_MediaAreBounded(t *testing.T) {
	kept := keptArtifacts{}
	b := newBox(t, Config{Artifacts: kept}, echo(tool.Spec{}, func(context.Context, tool.Runner, echoInput) (tool.Result, error) {
		part := tool.Part{Kind: tool.DocumentKind, MIME: "application/pdf", Data: make([]byte, mediaBytes/2)}
		return tool.Result{Bounded: true, Parts: []tool.Part{tool.Text("three"), part, part, part, {Kind: tool.ImageKind}}}, nil
	}))
	res := call(t, b, "echo", `{"text":"a"}`)
	total := 0
	for _, p := range res.Parts {
		total += len(p.Data)
	}
	if total != mediaBytes || len(res.Parts) != 5 || !strings.Contains(res.Text(), "copy_file path=artifact:a000000") || len(kept["a000000"]) != mediaBytes/2 || !res.Meta.Truncated {
		t.Errorf("%d bytes, %d artifacts: %s", total, len(kept), res.Text())
	}
}

// P10: hooks see a call as the model will, and can add to a failure; an error of theirs, or a panic, after the call does
// not lose the record of what happened.
func TestP10_AfterHooks(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll, Hooks: []Hook{hookFuncs{after: func(res *tool.Result) error {
		if res.Text() == "" {
			t.Error("the hook sees no text")
		}
		res.Parts = append(res.Parts, tool.Text("from the hook"))
		return nil
	}}}}, map[string]string{"a": "one"})
	if res := call(t, s.box, "put", `{"planned":7}`); res.OK() || !strings.Contains(res.Text(), "TOOL ERROR") || !strings.Contains(res.Text(), "from the hook") {
		t.Errorf("failure: %s", res.Text())
	}
	for name, after := range map[string]func(*tool.Result) error{
		"fault": func(*tool.Result) error { return tool.Fault(errors.New("broken")) },
		"panic": func(*tool.Result) error { panic("broken") },
		"error": func(*tool.Result) error { return tool.Errorf(tool.ValidationError, "not like this") },
	} {
		s := newShelf(t, Config{Gate: allowAll, Hooks: []Hook{hookFuncs{after: after}}}, map[string]string{"a": "one"})
		res, err := s.box.Call(t.Context(), Request{Tool: "put", Args: json.RawMessage(`{"planned":["a"]}`)})
		last := s.rec[len(s.rec)-1]
		if last.Phase != session.End || len(last.Result.Meta.Transaction) != 1 {
			t.Errorf("%s: the record is lost", name)
		}
		if name == "error" && (err != nil || res.Err.Code != tool.ValidationError || !strings.Contains(res.Text(), "undo can take it back")) || name != "error" && !tool.IsFault(err) {
			t.Errorf("%s: %v %s", name, err, res.Text())
		}
	}
	b := newBox(t, Config{Hooks: []Hook{hookFuncs{before: func(*Request) error { panic("broken") }}}}, echo(tool.Spec{}, nil))
	if _, err := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(`{"text":"a"}`)}); !tool.IsFault(err) {
		t.Errorf("a hook that panics before the call: %v", err)
	}
}

// T7: a plan whose changes contradict each other is the model's to mend, and stops no run.
func TestT7_ContradictoryChanges(t *testing.T) {
	s := newShelf(t, Config{Gate: allowAll}, map[string]string{"a": "one"})
	if res := call(t, s.box, "put", `{"planned":["a","a"]}`); res.Err == nil || res.Err.Code != tool.InvalidOperation || res.Err.Hint == "" || s.read("a") != "one" {
		t.Errorf("%s", res.Text())
	}
}

// What a model may not read it is not told by the error of a stale write either.
func TestStaleTellsNoSecrets(t *testing.T) {
	for _, verdict := range []tool.Verdict{tool.Allow, tool.Deny} {
		var s *shelf
		s = newShelf(t, Config{Gate: &screenGate{verdict, func() { s.write("a", "foreign secret") }}}, map[string]string{"a": "one"})
		res := call(t, s.box, "put", `{"planned":["a"],"exec":true}`)
		if res.Err == nil || res.Err.Code != tool.Stale || strings.Contains(res.Text(), "foreign secret") != (verdict == tool.Allow) {
			t.Errorf("reading is %s: %s", verdict, res.Text())
		}
	}
}

// screenGate lets every call through after doing something, and has one verdict for every target that is read.
type screenGate struct {
	read tool.Verdict
	then func()
}

func (g *screenGate) Decide(context.Context, GateRequest) (tool.Decision, error) {
	g.then()
	return tool.Decision{Verdict: tool.Allow, By: "test"}, nil
}

func (g *screenGate) Screen(GateRequest) func(tool.Target) tool.Verdict {
	return func(tool.Target) tool.Verdict { return g.read }
}
