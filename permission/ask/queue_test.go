package ask_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// P8: one winner per ask, a thousand times, of two answerers that answer at once.
func TestP8_OneWinner(t *testing.T) {
	q, g := queue(t, ask.Options{})
	sub := q.Subscribe(ask.Audience{})
	defer sub.Close()
	in := intent("edit", tool.Write, "src/a.go")
	for i := range 1000 {
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		result := make(chan tool.Decision, 1)
		wg.Go(func() {
			d, err := q.Ask(t.Context(), question(t, g, in))
			if err != nil {
				t.Error(err)
			}
			result <- d
		})
		e, err := sub.Next(t.Context())
		if err != nil || e.Kind != ask.Opened {
			t.Fatalf("round %d: %v %v", i, e.Kind, err)
		}
		start := make(chan struct{})
		for name, allow := range map[string]bool{"ada": true, "bob": false} {
			wg.Go(func() {
				a := yes(e.Request)
				a.Allow, a.Approver.Name = allow, name
				<-start
				switch _, err := q.Answer(t.Context(), e.Request.ID, a); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ask.ErrAnswered):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		d := <-result
		if won.Load() != 1 || lost.Load() != 1 {
			t.Fatalf("round %d: %d answers won, %d lost", i, won.Load(), lost.Load())
		}
		if want := map[tool.Verdict]string{tool.Allow: "person ada (test)", tool.Deny: "person bob (test)"}[d.Verdict]; d.By != want || !d.Person {
			t.Fatalf("round %d: %s by %s", i, d.Verdict, d.By)
		}
		if e, err = sub.Next(t.Context()); err != nil || e.Kind != ask.Closed || e.Decision.By != d.By {
			t.Fatalf("round %d: %+v %v", i, e, err)
		}
	}
}

// P8, POL-020: an answer that does not belong to the ask is refused, in words, and the ask stays open; after the right
// answer every other one is refused.
func TestP8_AnswersThatDoNotFit(t *testing.T) {
	q, g := queue(t, ask.Options{})
	in := intent("edit", tool.Write, "src/a.go")
	in.Hunks = 3
	guarded := intent("edit", tool.Write, ".git/hooks/pre-commit")
	tests := []struct {
		name string
		in   *tool.Intent
		make func(r *ask.Request, a *ask.Answer)
		kind error
		says string
	}{
		{"changed arguments", in, func(r *ask.Request, a *ask.Answer) { a.Fingerprint = strings.Repeat("0", 64) }, ask.ErrOther, "fingerprint 000000000000"},
		{"no fingerprint", in, func(r *ask.Request, a *ask.Answer) { a.Fingerprint = "" }, ask.ErrOther, "no fingerprint"},
		{"another session", in, func(r *ask.Request, a *ask.Answer) { a.Session = "other" }, ask.ErrOther, `session "other"`},
		{"an unknown scope", in, func(r *ask.Request, a *ask.Answer) { a.Scope = "forever" }, ask.ErrNotOffered, "offered are once, turn, session, like, project, always, until"},
		{"until without a time", in, func(r *ask.Request, a *ask.Answer) { a.Scope = ask.Until }, ask.ErrNotOffered, "needs a time"},
		{"once until a time", in, func(r *ask.Request, a *ask.Answer) { a.Until = time.Unix(9, 0) }, ask.ErrNotOffered, "belongs to"},
		{"a no for the session", in, func(r *ask.Request, a *ask.Answer) { a.Allow, a.Scope = false, ask.Session }, ask.ErrNotOffered, "write a rule"},
		{"hunk 0", in, func(r *ask.Request, a *ask.Answer) { a.Hunks = []int{0} }, ask.ErrNotOffered, "hunk 0; there are 1 to 3"},
		{"hunk 4", in, func(r *ask.Request, a *ask.Answer) { a.Hunks = []int{1, 4} }, ask.ErrNotOffered, "hunk 4"},
		{"a hunk twice", in, func(r *ask.Request, a *ask.Answer) { a.Hunks = []int{1, 1} }, ask.ErrNotOffered, "each once"},
		{"no hunk", in, func(r *ask.Request, a *ask.Answer) { a.Hunks = []int{} }, ask.ErrNotOffered, "say no instead"},
		{"hunks for the session", in, func(r *ask.Request, a *ask.Answer) { a.Hunks, a.Scope = []int{1}, ask.Session }, ask.ErrNotOffered, "once"},
		{"hunks where there are none", guarded, func(r *ask.Request, a *ask.Answer) { a.Hunks = []int{1} }, ask.ErrNotOffered, "no hunks"},
		{"a program for a guard", guarded, func(r *ask.Request, a *ask.Answer) { a.Approver.Name = "" }, ask.ErrNotOffered, "only a person"},
		{"a pattern for a guard", guarded, func(r *ask.Request, a *ask.Answer) { a.Scope = ask.Always }, ask.ErrNotOffered, "once, turn, session, project, until"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := true
			var refused error
			var id string
			qu := question(t, g, tt.in)
			d := asked(t, q, qu, func(r *ask.Request) ask.Answer {
				id = r.ID
				if first {
					first = false
					a := yes(r)
					tt.make(r, &a)
					_, refused = q.Answer(t.Context(), r.ID, a)
				}
				return yes(r)
			})
			if !errors.Is(refused, tt.kind) || !strings.Contains(refused.Error(), tt.says) || !strings.Contains(refused.Error(), id) {
				t.Errorf("got %v", refused)
			}
			if d.Verdict != tool.Allow {
				t.Errorf("the right answer did not count: %+v", d)
			}
			a := ask.Answer{Allow: true, Fingerprint: tt.in.Fingerprint, Approver: ask.Approver{Name: "eve"}}
			if _, err := q.Answer(t.Context(), id, a); !errors.Is(err, ask.ErrAnswered) || !strings.Contains(err.Error(), "yes by person ada (test)") {
				t.Errorf("a second answer: %v", err)
			}
		})
	}
	if _, err := q.Answer(t.Context(), "ask_1", ask.Answer{}); !errors.Is(err, ask.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// P8: asks time out, and an answer after that is told so.
func TestP8_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, g := queue(t, ask.Options{})
		sub := q.Subscribe(ask.Audience{})
		defer sub.Close()
		start := time.Now()
		d, err := q.Ask(t.Context(), question(t, g, intent("edit", tool.Write, "src/a.go")))
		if err != nil || d.Verdict != tool.Deny || d.Person || !strings.Contains(d.Reason, "nobody answered within 10m0s") {
			t.Errorf("%+v %v", d, err)
		}
		if took := time.Since(start); took != ask.DefaultTimeout {
			t.Errorf("it took %v", took)
		}
		e, _ := sub.Next(t.Context())
		if _, err := q.Answer(t.Context(), e.Request.ID, yes(e.Request)); !errors.Is(err, ask.ErrExpired) {
			t.Errorf("a late answer: %v", err)
		}
		if e, _ := sub.Next(t.Context()); e.Kind != ask.Closed {
			t.Errorf("%+v", e)
		}
	})
}

// P8: an ask ends with its call.
func TestP8_EndsWithItsCall(t *testing.T) {
	q, g := queue(t, ask.Options{})
	sub := q.Subscribe(ask.Audience{})
	defer sub.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
	go func() { _, err := q.Ask(ctx, qu); done <- err }()
	e, err := sub.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Open()) != 1 {
		t.Errorf("%d open", len(q.Open()))
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := q.Answer(t.Context(), e.Request.ID, yes(e.Request)); !errors.Is(err, ask.ErrEnded) {
		t.Errorf("a late answer: %v", err)
	}
	if len(q.Open()) != 0 {
		t.Error("it is still open")
	}
	if _, err := q.Ask(ctx, qu); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is over asks: %v", err)
	}
}

// P8: with nobody to answer, the result is a denial that says so; also when the last one leaves or passes.
func TestP8_Nobody(t *testing.T) {
	q, g := queue(t, ask.Options{})
	qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
	check := func(d tool.Decision, err error) {
		t.Helper()
		if err != nil || d.Verdict != tool.Deny || d.Person || !strings.Contains(d.Reason, "nobody is here") || !strings.Contains(d.Reason, "rule user:1") {
			t.Errorf("%+v %v", d, err)
		}
	}
	check(q.Ask(t.Context(), qu))
	watcher := q.Subscribe(ask.Audience{Watches: true})
	defer watcher.Close()
	other := q.Subscribe(ask.Audience{Sees: func(r *ask.Request) bool { return r.Session == "another" }})
	defer other.Close()
	check(q.Ask(t.Context(), qu))
	passing := qu
	passing.Faces = []ask.Face{ask.FaceFunc(func(context.Context, *ask.Request) (ask.Answer, error) { return ask.Answer{}, errors.New("dismissed") })}
	check(q.Ask(t.Context(), passing))
	sub := q.Subscribe(ask.Audience{})
	done := make(chan struct{})
	go func() { check(q.Ask(t.Context(), qu)); close(done) }()
	if _, err := sub.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub.Close()
	<-done
}

// A face that comes later sees the asks that are open, and may answer them.
func TestP8_LateFace(t *testing.T) {
	q, g := queue(t, ask.Options{})
	first := q.Subscribe(ask.Audience{})
	defer first.Close()
	done := make(chan tool.Decision, 1)
	qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
	go func() { d, _ := q.Ask(context.Background(), qu); done <- d }()
	if _, err := first.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := q.Subscribe(ask.Audience{}).Serve(ctx, answerer(func(r *ask.Request) ask.Answer { return no(r, "use the other file") })); !errors.Is(err, over) {
			t.Error(err)
		}
	})
	if d := <-done; d.Verdict != tool.Deny || d.Reason != "use the other file" || d.By != "person ada (test)" {
		t.Errorf("%+v", d)
	}
	cancel(over)
	wg.Wait()
}

// A face whose ask was decided elsewhere is told by its context, and goes on with the next one.
func TestP8_DecidedElsewhere(t *testing.T) {
	q, g := queue(t, ask.Options{})
	showing := make(chan *ask.Request)
	ended := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = q.Subscribe(ask.Audience{}).Serve(ctx, ask.FaceFunc(func(ctx context.Context, r *ask.Request) (ask.Answer, error) {
			showing <- r
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return ask.Answer{}, ctx.Err()
		}))
	})
	sub := q.Subscribe(ask.Audience{})
	for range 2 {
		qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
		wg.Go(func() { _, _ = q.Ask(context.Background(), qu) })
		r := <-showing
		if _, err := q.Answer(t.Context(), r.ID, yes(r)); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, ask.ErrElsewhere) {
			t.Errorf("got %v", err)
		}
	}
	sub.Close()
	cancel()
	wg.Wait()
}

type journal struct {
	mu    sync.Mutex
	lines []string
	fail  string
}

func (j *journal) note(what string, r *ask.Request) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, what+" "+r.Tool)
	if j.fail != "" && strings.HasPrefix(what, j.fail) {
		return errors.New("disk full")
	}
	return nil
}

func (j *journal) Asked(_ context.Context, r *ask.Request) error { return j.note("asked", r) }

func (j *journal) Closed(_ context.Context, r *ask.Request, d tool.Decision) error {
	return j.note(fmt.Sprintf("closed %s by %s", d.Verdict, d.By), r)
}

// P11: what is asked is stored before a face sees it, what is answered before the call goes on; if it cannot be, the call
// stops.
func TestP11_Journal(t *testing.T) {
	j := &journal{}
	q, g := queue(t, ask.Options{Journal: j})
	qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
	asked(t, q, qu, func(r *ask.Request) ask.Answer {
		if got := slices.Clone(j.lines); !cmp.Equal(got, []string{"asked edit"}) {
			t.Errorf("when it is shown: %q", got)
		}
		if r.Shown == "" {
			t.Error("no digest of what is shown")
		}
		return yes(r)
	})
	if want := []string{"asked edit", "closed allow by person ada (test) edit"}; !cmp.Equal(j.lines, want) {
		t.Error(cmp.Diff(want, j.lines))
	}
	for _, fail := range []string{"asked", "closed"} {
		j.fail = fail
		shown := false
		qu.Faces = []ask.Face{answerer(func(r *ask.Request) ask.Answer { shown = true; return yes(r) })}
		if _, err := q.Ask(t.Context(), qu); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", fail, err)
		}
		if shown != (fail == "closed") {
			t.Errorf("%s: shown %t", fail, shown)
		}
	}
}

// P9: the answer may name the hunks that are allowed; the others carry words.
func TestP9_Hunks(t *testing.T) {
	q, g := queue(t, ask.Options{})
	in := intent("edit", tool.Write, "src/a.go")
	in.Hunks = 4
	d := asked(t, q, question(t, g, in), func(r *ask.Request) ask.Answer {
		a := yes(r)
		a.Hunks, a.Denied, a.Words = []int{3, 1}, map[int]string{2: "not this one"}, "keep the rest"
		return a
	})
	want := tool.Decision{Verdict: tool.Allow, By: "person ada (test)", Reason: "keep the rest", Person: true, Hunks: []int{1, 3},
		Denied: map[int]string{2: "not this one", 4: "keep the rest"}, Fingerprint: in.Fingerprint, Shown: d.Shown, At: d.At}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestZeroQueue(t *testing.T) {
	q := ask.New(ask.Options{})
	in := intent("edit", tool.Write, "a")
	d := asked(t, q, ask.Question{Request: permission.Request{Intent: in}, Policy: tool.Decision{Verdict: tool.Ask, By: "test"}}, yes)
	if d.Verdict != tool.Allow {
		t.Errorf("%+v", d)
	}
	if _, err := q.Ask(t.Context(), ask.Question{}); err == nil {
		t.Error("a question without an intent was asked")
	}
}

// BenchmarkAsk is one ask of a small edit with its answer: explanation, view, digest, decision.
func BenchmarkAsk(b *testing.B) {
	q, g := queue(b, ask.Options{})
	qu := question(b, g, intent("edit", tool.Write, "src/a.go"))
	qu.Faces = []ask.Face{answerer(yes)}
	for b.Loop() {
		if _, err := q.Ask(b.Context(), qu); err != nil {
			b.Fatal(err)
		}
	}
}

// slow is a keeper that takes its time.
type slow struct{ enter, leave chan struct{} }

func (k slow) Load(context.Context) ([]permission.Grant, error) { return nil, nil }
func (k slow) Keep(context.Context, permission.Grant) error {
	close(k.enter)
	<-k.leave
	return nil
}
func (k slow) Drop(context.Context, ...string) error       { return nil }
func (k slow) Spend(context.Context, string) (bool, error) { return true, nil }

// P8: an answer that is being stored when the call ends, or when its time is over, has won: nobody decides a second time,
// everybody is told once, and a call that has ended does not run for it.
func TestP8_AnswerWhileItEnds(t *testing.T) {
	for name, end := range map[string]func(cancel func()){
		"the call ends": func(cancel func()) { cancel() },
		"time is over":  func(func()) { time.Sleep(ask.DefaultTimeout + time.Second) }, // of the bubble's clock
	} {
		synctest.Test(t, func(t *testing.T) {
			k := slow{make(chan struct{}), make(chan struct{})}
			g, err := permission.New(permission.Options{Facts: permission.Facts{Roots: []string{root}}, Grants: &permission.Grants{Keeper: k},
				Layers: []permission.Layer{{Name: permission.User, Rules: []permission.Rule{{Permission: "edit", Pattern: "src/**", Action: tool.Ask}}}}})
			if err != nil {
				t.Fatal(err)
			}
			q := ask.New(ask.Options{Gate: func() *permission.Gate { return g }})
			sub := q.Subscribe(ask.Audience{})
			defer sub.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			qu := question(t, g, intent("edit", tool.Write, "src/a.go"))
			type outcome struct {
				d   tool.Decision
				err error
			}
			asked, answered := make(chan outcome, 1), make(chan outcome, 1)
			go func() {
				d, err := q.Ask(ctx, qu)
				asked <- outcome{d, err}
			}()
			e, err := sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				a := yes(e.Request)
				a.Scope = ask.Session
				d, err := q.Answer(t.Context(), e.Request.ID, a)
				answered <- outcome{d, err}
			}()
			<-k.enter
			end(cancel)
			synctest.Wait()
			if len(asked) != 0 || len(q.Open()) != 0 {
				t.Errorf("%s: decided while the answer is being stored", name)
			}
			if _, err := q.Answer(t.Context(), e.Request.ID, yes(e.Request)); !errors.Is(err, ask.ErrAnswered) {
				t.Errorf("%s: a second answer: %v", name, err)
			}
			close(k.leave)
			if o := <-answered; o.err != nil || o.d.Verdict != tool.Allow {
				t.Errorf("%s: answered %+v", name, o)
			}
			if o := <-asked; o.d.Verdict != tool.Allow || (ctx.Err() != nil) != (o.err != nil) {
				t.Errorf("%s: asked %+v", name, o)
			}
			if e, err := sub.Next(t.Context()); err != nil || e.Kind != ask.Closed || e.Decision.Verdict != tool.Allow {
				t.Errorf("%s: %+v %v", name, e, err)
			}
			none, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if e, err := sub.Next(none); err == nil {
				t.Errorf("%s: told twice: %+v", name, e)
			}
		})
	}
}
