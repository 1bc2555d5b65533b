package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// A1: calls run, their results go back, and what the model says at the end is what comes out.
func TestA1_Turn(t *testing.T) {
	m := &actor{play: []act{calls(`look {"text":"a"}`, `act {"text":"b"}`), says("done")}}
	w := newWorld(t, Config{}, m, nil)
	turn, err := w.Run(t.Context(), "s1", "do it")
	if err != nil || turn.Text != "done" || turn.End.Why != Done || turn.Tally.Calls != 2 || turn.Tally.Rounds != 2 {
		t.Fatalf("%+v %v", turn, err)
	}
	story := w.story(t, "s1")
	for _, part := range []string{"started, said, answered look act, ", "planned once", "running once", "ran ok", "answered, finished done"} {
		if !strings.Contains(story, part) {
			t.Errorf("no %q in %s", part, story)
		}
	}
	reqs := m.sent()
	consistent(t, reqs[1].Messages)
	want := "user:\n  do it\nassistant:\n  call p1_0 look {\"text\":\"a\"}\n  call p1_1 act {\"text\":\"b\"}\nuser:\n  result p1_0 look false: echo a\n  result p1_1 act false: echo b\n"
	if got := shown(reqs[1].Messages); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(reqs[0].Tools) != 2 || !strings.Contains(reqs[0].System, "untrusted") || reqs[0].Session != "s1" {
		t.Errorf("%+v", reqs[0])
	}
	turn, err = w.Run(t.Context(), "s1", "and again")
	if err != nil || turn.Text != "done" || turn.Tally.Rounds != 1 {
		t.Fatalf("%+v %v", turn, err)
	}
	consistent(t, m.sent()[2].Messages)
}

// Bad models: what they get wrong is told to them, and the conversation stays one that providers take.
func TestBadModels(t *testing.T) {
	for _, c := range []struct {
		name  string
		play  []act
		end   Ending
		tells []string // parts of the last request
	}{
		{"unknown tool", []act{calls(`lok {}`), says("x")}, Done, []string{"UNKNOWN_TOOL", "Did you mean look?"}},
		{"a name that is none", []act{calls(`no/such.tool! {}`), says("x")}, Done, []string{"call p1_0 no_such_tool_ {}", "UNKNOWN_TOOL"}},
		{"no name", []act{calls(" {}"), says("x")}, Done, []string{"call p1_0 unnamed {}", "UNKNOWN_TOOL"}},
		{"broken JSON", []act{calls(`look {"text": "a`), says("x")}, Done, []string{"INVALID_TOOL_ARGUMENTS", "cut off"}},
		{"arguments that are no object", []act{calls(`look [1,2]`), says("x")}, Done, []string{"INVALID_TOOL_ARGUMENTS"}},
		{"two calls with one id", []act{calls(`id=look {"text":"a"}`, `id=look {"text":"b"}`), says("x")}, Done, []string{"call id look", "call call_2 look", "result id look false: echo a", "result call_2 look false: echo b"}},
		{"one id in two answers", []act{calls(`id=look {"text":"a"}`), calls(`id=look {"text":"b"}`), says("x")}, Done, []string{"result id look false: echo a", "result call_2 look false: echo b"}},
		{"no id", []act{calls(`=look {"text":"a"}`), says("x")}, Done, []string{"result call_1 look false: echo a"}},
		{"nothing", []act{says(""), says("x")}, Done, []string{"Your last answer was empty"}},
		{"nothing at all", []act{says("")}, SaysNothing, []string{"Your last answer was empty"}},
		{"never stops", []act{func(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
			return calls(fmt.Sprintf(`look {"text":"%d"}`, len(req.Messages)))(ctx, req, on)
		}}, AtLimit, nil},
		{"repeats itself", []act{calls(`look {"text":"a"}`)}, GoesRound, []string{"third time", "will not be run", "This call was not run"}},
		{"panics", []act{func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error) { panic("oh") }}, ModelFailed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &actor{play: c.play}
				w := newWorld(t, Config{Limits: Limits{Rounds: 20}}, m, nil)
				turn, err := w.Run(t.Context(), "s", "go")
				if err != nil || turn.End.Why != c.end {
					t.Fatalf("%+v %v", turn, err)
				}
				for _, r := range m.sent() {
					consistent(t, r.Messages)
				}
				s, err := w.Open(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				msgs, err := s.Messages(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				consistent(t, msgs)
				for _, tell := range c.tells {
					if got := shown(msgs); !strings.Contains(got, tell) {
						t.Errorf("no %q in\n%s", tell, got)
					}
				}
			})
		})
	}
}

// P13: the third identical refusal ends the turn, with the reason, and later calls of the same answer have results.
func TestP13_ThirdRefusal(t *testing.T) {
	m := &actor{play: []act{calls(`act {"text":"a"}`, `look {}`)}}
	w := newWorld(t, Config{}, m, func(req toolbox.GateRequest) tool.Decision {
		if req.Intent.Has(tool.Execute) {
			return tool.Decision{Verdict: tool.Deny, By: "test", Reason: "never"}
		}
		return allowAll(req)
	})
	turn, err := w.Run(t.Context(), "s", "go")
	if err != nil || turn.End.Why != RefusedOver || turn.Tally.Rounds != 3 || !strings.Contains(turn.End.Detail, "refused 3 times") {
		t.Fatalf("%+v %v", turn, err)
	}
}

// Errors of models: what may pass is tried again after the time that the provider asks for, the rest ends the turn and says why.
func TestModelErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		m := &actor{play: []act{
			func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error) {
				return model.Answer{}, &model.Error{Class: model.Retry, After: 40 * time.Second, Provider: "test", Message: "overloaded"}
			},
			fails(model.Retry), says("done"),
		}}
		w := newWorld(t, Config{}, m, nil)
		turn, err := w.Run(t.Context(), "s", "go")
		if took := time.Since(begin); err != nil || turn.End.Why != Done || took < 42*time.Second || took > 45*time.Second {
			t.Fatalf("%+v %v after %v", turn, err, took)
		}
		for class, why := range map[model.Class]Ending{model.Unauthorized: ModelFailed, model.Refused: Declined, model.Retry: ModelFailed, model.Invalid: ModelFailed, model.TooLong: DoesNotFit} {
			w := newWorld(t, Config{}, &actor{play: []act{fails(class)}}, nil)
			turn, err := w.Run(t.Context(), "s", "go")
			if err != nil || turn.End.Why != why || turn.End.Detail == "" {
				t.Errorf("%s: %+v %v", class, turn, err)
			}
			if turn, err = w.Run(t.Context(), "s", "and now?"); err != nil || turn.End.Why != why {
				t.Errorf("%s, a second time: %+v %v", class, turn, err)
			}
			w = newWorld(t, Config{}, &actor{play: []act{says("first"), fails(class)}}, nil)
			if turn, err = w.Run(t.Context(), "s", "go"); err != nil || turn.Text != "first" {
				t.Errorf("%s: %+v %v", class, turn, err)
			}
			if turn, err = w.Run(t.Context(), "s", "and now?"); err != nil || turn.Text != "" {
				t.Errorf("%s: the answer of another turn is taken for this one's: %+v %v", class, turn, err)
			}
		}
	})
}

// A model that says nothing for too long is given up and asked again; one that goes on speaking is not.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &actor{play: []act{
			func(ctx context.Context, _ model.Request, _ func(model.Piece) error) (model.Answer, error) {
				<-ctx.Done()
				return model.Answer{}, &model.Error{Class: model.Canceled, Provider: "test", Message: "ended", Cause: ctx.Err()}
			},
			func(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
				for range 30 {
					time.Sleep(time.Minute)
					if err := on(model.Piece{Reasoning: "hm"}); err != nil {
						return model.Answer{}, err
					}
				}
				return says("done")(ctx, req, on)
			},
		}}
		w := newWorld(t, Config{}, m, nil)
		turn, err := w.Run(t.Context(), "s", "go")
		if err != nil || turn.End.Why != Done || len(m.sent()) != 2 {
			t.Fatalf("%+v %v, %d requests", turn, err, len(m.sent()))
		}
		if story := w.story(t, "s"); !strings.Contains(story, "failed retry") {
			t.Error(story)
		}
	})
}

// Cancelling leaves a session that can go on: every call has a result, what was said so far is kept, nothing runs any more.
func TestCancel(t *testing.T) {
	for _, during := range []string{"model", "calls", "backoff"} {
		t.Run(during, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &actor{}
				switch during {
				case "model":
					m.play = []act{func(ctx context.Context, _ model.Request, on func(model.Piece) error) (model.Answer, error) {
						_ = on(model.Piece{Text: "I was about"})
						<-ctx.Done()
						return model.Answer{Message: model.Message{Blocks: []model.Block{textBlock("I was about")}}}, &model.Error{Class: model.Canceled, Provider: "test", Message: "ended"}
					}, says("done")}
				case "calls":
					m.play = []act{calls(`slow {}`, `slow {"text":"2"}`, `look {}`), says("done")}
				case "backoff":
					m.play = []act{fails(model.Retry), says("done")}
				}
				slow := testTool("slow", []tool.Effect{tool.Execute}, func(ctx context.Context, _ string) (tool.Result, error) {
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				})
				w := newWorld(t, Config{}, m, nil, slow)
				s, err := w.Start(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				got := make(chan Turn, 1)
				go func() {
					turn, err := s.Run(ctx, content.TextPart("go"))
					if err != nil {
						t.Error(err)
					}
					got <- turn
				}()
				synctest.Wait()
				if during == "calls" {
					s.Cancel("enough")
				} else {
					cancel()
				}
				turn := <-got
				cancel()
				if turn.End.Why != WasCanceled || turn.End.Detail == "" {
					t.Errorf("%+v", turn)
				}
				turn, err = s.Run(t.Context(), content.TextPart("go on"))
				if err != nil || turn.End.Why != Done {
					t.Errorf("%+v %v", turn, err)
				}
				reqs := m.sent()
				last := reqs[len(reqs)-1].Messages
				consistent(t, last)
				text := shown(last)
				switch during {
				case "model":
					if !strings.Contains(text, "assistant:\n  I was about\nuser:\n  [You were interrupted here.]\n  go on") {
						t.Error(text)
					}
				case "calls":
					if strings.Count(text, "result ") != 3 || strings.Count(text, "CANCELLED") != 3 {
						t.Error(text)
					}
				}
			})
		})
	}
}

// Limits of time end what runs.
func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := testTool("slow", []tool.Effect{tool.Read}, func(ctx context.Context, _ string) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		m := &actor{play: []act{calls(`slow {}`)}}
		w := newWorld(t, Config{Limits: Limits{Time: time.Minute}}, m, nil, slow)
		begin := time.Now()
		turn, err := w.Run(t.Context(), "s", "go")
		if err != nil || turn.End.Why != AtLimit || time.Since(begin) != time.Minute {
			t.Fatalf("%+v %v after %v", turn, err, time.Since(begin))
		}
		m.play = []act{says("done")} // the next turn has its own time
		if turn, err = w.Run(t.Context(), "s", "go on"); err != nil || turn.End.Why != Done {
			t.Fatalf("%+v %v", turn, err)
		}
	})
}

// What is said while a turn runs is in the next request, behind what the model saw before; a second turn at once is refused.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		wait := testTool("wait", []tool.Effect{tool.Read}, func(context.Context, string) (tool.Result, error) {
			<-hold
			return tool.TextResult("waited", nil), nil
		})
		think := make(chan struct{})
		m := &actor{play: []act{calls(`wait {}`), func(ctx context.Context, r model.Request, on func(model.Piece) error) (model.Answer, error) {
			<-think
			return says("first")(ctx, r, on)
		}, says("done")}}
		w := newWorld(t, Config{}, m, nil, wait)
		s, err := w.Start(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan Turn, 1)
		go func() {
			turn, err := s.Run(t.Context(), content.TextPart("go"))
			if err != nil {
				t.Error(err)
			}
			got <- turn
		}()
		synctest.Wait()
		say := func(id, text string) {
			t.Helper()
			if err := s.Say(t.Context(), Message{ID: id, Parts: []content.Part{content.TextPart(text)}}); err != nil {
				t.Fatal(err)
			}
		}
		say("x", "while a call runs")
		say("x", "while a call runs") // delivered twice
		if _, err := s.Run(t.Context(), content.TextPart("no")); !errors.Is(err, ErrBusy) {
			t.Errorf("a second turn at once: %v", err)
		}
		close(hold)
		synctest.Wait()
		say("y", "while the model answers")
		close(think)
		turn := <-got
		if turn.Text != "done" || turn.Tally.Rounds != 3 {
			t.Errorf("%+v", turn)
		}
		reqs := m.sent()
		consistent(t, reqs[2].Messages)
		want := "user:\n  go\nassistant:\n  call p1_0 wait {}\nuser:\n  result p1_0 wait false: waited\n  while a call runs\nassistant:\n  first\nuser:\n  while the model answers\n"
		if got := shown(reqs[2].Messages); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if got, pre := shown(reqs[2].Messages), shown(reqs[1].Messages); !strings.HasPrefix(got, pre) {
			t.Errorf("what was sent before was changed:\n%s", pre)
		}
	})
}

// A session that is removed under its turn ends it with an error: its numbers begin again, and what is stored would be taken for
// what was stored before, for ever.
func TestA1_RemovedWhileItRuns(t *testing.T) {
	var w *world
	remove := func(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
		if err := w.events.Remove(ctx, "s"); err != nil {
			return model.Answer{}, err
		}
		return says("done")(ctx, req, on)
	}
	w = newWorld(t, Config{}, &actor{play: []act{calls(`act {"text":"a"}`), remove}}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := w.Run(ctx, "s", "go"); !errors.Is(err, ErrGone) {
		t.Errorf("the turn ended with %v", err)
	}
}

// Persist before publish: every event that is shown is stored, and in order.
func TestPersistBeforePublish(t *testing.T) {
	m := &actor{play: []act{calls(`look {"text":"a"}`, `act {"text":"b"}`, `look {"text":"c"}`), says("done")}}
	var w *world
	last := int64(0)
	w = newWorld(t, Config{Watch: func(session string, u Update) {
		if u.Event == nil {
			return
		}
		n, err := w.events.Last(context.Background(), session)
		if err != nil || n < u.Event.Seq || u.Event.Seq <= last {
			t.Errorf("%s: event %d after %d is shown, %d are stored, %v", u.Event.Kind, u.Event.Seq, last, n, err)
		}
		last = u.Event.Seq
	}}, m, nil)
	if _, err := w.Run(t.Context(), "s", "go"); err != nil {
		t.Fatal(err)
	}
}

// Two processes over one store: who does not hold the claim is refused, and who gets it knows what the other one did.
func TestTwoProcesses(t *testing.T) {
	held := make(chan struct{}, 1)
	claim := func(string) (func(), error) {
		select {
		case held <- struct{}{}:
			return func() { <-held }, nil
		default:
			return nil, errors.New("another process works on it")
		}
	}
	m := &actor{play: []act{says("one"), says("two"), says("three")}}
	w := newWorld(t, Config{Claim: claim}, m, nil)
	other, err := New(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), "s", "first"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(t.Context(), "s", "second"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), "s", "third"); err != nil { // it has the session in memory, as it was before
		t.Fatal(err)
	}
	reqs := m.sent()
	want := "user:\n  first\nassistant:\n  one\nuser:\n  second\nassistant:\n  two\nuser:\n  third\n"
	if got := shown(reqs[2].Messages); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s, err := w.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	held <- struct{}{}
	if _, err := s.Run(t.Context(), content.TextPart("fourth")); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("run: %v", err)
	}
	if err := s.Say(t.Context(), Message{Parts: []content.Part{content.TextPart("fourth")}}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("say: %v", err)
	}
	<-held
	if err := s.Say(t.Context(), Message{Parts: []content.Part{content.TextPart("fourth")}}); err != nil {
		t.Error(err)
	}
	if turn, err := s.Resume(t.Context()); err != nil || turn.Text != "three" {
		t.Errorf("what was said at rest begins a turn: %+v %v", turn, err)
	}
}

// A person may have the conversation told in short whenever it rests.
func TestCompactByHand(t *testing.T) {
	m := &actor{play: []act{says(strings.Repeat("long ", 20000)), says("in short"), says("done")}}
	w := newWorld(t, Config{}, m, nil)
	if _, err := w.Run(t.Context(), "s", "first"); err != nil {
		t.Fatal(err)
	}
	s, err := w.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	before := s.State().Context
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := s.State().Context; after > before/4 {
		t.Errorf("%d tokens after, %d before", after, before)
	}
	if _, err := s.Run(t.Context(), content.TextPart("go on")); err != nil {
		t.Fatal(err)
	}
	got := shown(m.sent()[2].Messages)
	consistent(t, m.sent()[2].Messages)
	if strings.Contains(got, "long long") || !strings.Contains(got, "in short") || !strings.Contains(got, "go on") {
		t.Errorf("%.2000s", got)
	}
}

// O2, O3: the road knows what the face can show, and whether the session can start subagents.
func TestO3_CallsKnowTheSession(t *testing.T) {
	var got []*tool.Call
	peek := tool.Define(tool.Spec{Name: "peek", Category: "test", Description: "Look at the call."}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Action, error) {
		got = append(got, c)
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			return tool.TextResult(strings.Repeat("line\n", 100), nil), nil
		}}, nil
	})
	for _, spawn := range []bool{false, true} {
		m := &actor{play: []act{calls(`peek {}`), says("done")}}
		tools := []tool.Tool{peek}
		if spawn {
			tools = append(tools, testTool("spawn", []tool.Effect{tool.Spawn}, echo))
		}
		w := newWorld(t, Config{Bounds: tool.Bounds{Lines: 10}, Dir: "/w"}, m, nil, tools...)
		if _, err := w.Run(t.Context(), "s", "go"); err != nil {
			t.Fatal(err)
		}
		c := got[len(got)-1]
		if c.Options.Spawns != spawn || c.Bounds.Lines != 10 || c.Session != "s" || c.Dir != "/w" || c.Mode != "code" || c.Model != "actor" || c.ID != "s-1-1" || c.Message != "s-1" {
			t.Errorf("%+v", c)
		}
		if text := shown(m.sent()[1].Messages); !strings.Contains(text, "the first 10 of 100 lines") {
			t.Error(text)
		}
	}
}

// A fault of the program ends the turn, and the session stays consistent.
func TestFault(t *testing.T) {
	bad := testTool("bad", []tool.Effect{tool.Execute}, func(context.Context, string) (tool.Result, error) {
		return tool.Result{}, tool.Fault(errors.New("the disk is gone"))
	})
	m := &actor{play: []act{calls(`look {}`, `bad {}`, `look {"text":"2"}`), says("done")}}
	w := newWorld(t, Config{}, m, nil, bad)
	turn, err := w.Run(t.Context(), "s", "go")
	if err != nil || turn.End.Why != Broken || !strings.Contains(turn.End.Detail, "the disk is gone") {
		t.Fatalf("%+v %v", turn, err)
	}
	if _, err = w.Run(t.Context(), "s", "go on"); err != nil {
		t.Fatal(err)
	}
	msgs := m.sent()[1].Messages
	consistent(t, msgs)
	if text := shown(msgs); !strings.Contains(text, "Whether it did its work is unknown") {
		t.Error(text)
	}
}

type answererFunc func(ctx context.Context, a toolbox.Asked) (tool.Decision, error)

func (f answererFunc) Answer(ctx context.Context, a toolbox.Asked) (tool.Decision, error) {
	return f(ctx, a)
}

// A person who is asked about a call is part of the story, and a turn that is cancelled meanwhile has not run it.
func TestAsked(t *testing.T) {
	asks := gateFunc(func(req toolbox.GateRequest) tool.Decision {
		if req.Intent.Has(tool.Execute) {
			return tool.Decision{Verdict: tool.Ask, By: "test", Reason: "it acts"}
		}
		return allowAll(req)
	})
	for _, c := range []struct {
		answer tool.Verdict
		wait   bool
		want   string
		end    Ending
	}{
		{tool.Allow, false, "planned once, asked, decided, running once, ran ok", Done},
		{tool.Deny, false, "planned once, asked, decided, ran denied", Done},
		{tool.Allow, true, "planned once, asked, cancelled, decided, ran denied, finished cancelled", WasCanceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			ran := 0
			act := testTool("act", []tool.Effect{tool.Execute}, func(context.Context, string) (tool.Result, error) {
				ran++
				return tool.TextResult("did it", nil), nil
			})
			var w *world
			m := &actor{play: []func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error){calls(`act {}`), says("done")}}
			w = newWorldOf(t, Config{}, m, toolbox.Config{Gate: asks, Answerer: answererFunc(func(ctx context.Context, a toolbox.Asked) (tool.Decision, error) {
				if c.wait {
					<-ctx.Done()
					return tool.Decision{}, ctx.Err()
				}
				return tool.Decision{Verdict: c.answer, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}, nil
			})})
			if err := w.cfg.Box.Replace(act, "code"); err != nil {
				t.Fatal(err)
			}
			s, err := w.Start(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if c.wait {
				go func() {
					synctest.Wait()
					if st := s.State(); len(st.Calls) != 1 || st.Calls[0].Status != IsAsked {
						t.Errorf("%+v", st.Calls)
					}
					s.Cancel("enough")
				}()
			}
			turn, err := s.Run(t.Context(), content.TextPart("go"))
			if err != nil || turn.End.Why != c.end {
				t.Fatalf("%+v %v", turn, err)
			}
			story := w.story(t, "s")
			if !strings.Contains(story, c.want) || ran > 0 != (c.answer == tool.Allow && !c.wait) {
				t.Errorf("ran %d: %s", ran, story)
			}
			for _, ev := range w.stored(t, "s") {
				if ev.Kind == Asked && ev.Call.Ask != "it acts" || ev.Kind == Decided && !c.wait && (ev.Call.Verdict != c.answer.String() || ev.Call.By != "person") {
					t.Errorf("%+v", ev.Call)
				}
			}
		})
	}
}

// T9: a secret of the environment is stored nowhere, although the model wrote it, the person said it and policy spoke of it; the
// call itself runs as it was written.
func TestT9_SecretsAreNotStored(t *testing.T) {
	const canary = `ca"n<a>ry-7f3`
	var ran string
	act := testTool("act", []tool.Effect{tool.Execute}, func(_ context.Context, text string) (tool.Result, error) {
		ran = text
		return tool.TextResult("used "+text, nil), nil
	})
	args, err := json.Marshal(map[string]string{"text": "use " + canary})
	if err != nil {
		t.Fatal(err)
	}
	m := &actor{play: []func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error){
		calls("act " + string(args)), fails(model.Retry), says("I used " + canary), says("in short, " + canary), says("done"),
	}}
	m.play[1] = func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error) {
		return model.Answer{}, &model.Error{Class: model.Retry, Provider: "test", Message: "no " + canary}
	}
	bc := toolbox.Config{Gate: gateFunc(func(toolbox.GateRequest) tool.Decision {
		return tool.Decision{Verdict: tool.Ask, By: "test", Reason: "it uses " + canary}
	}), Answerer: answererFunc(func(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
		return tool.Decision{Verdict: tool.Allow, By: "person " + canary, Fingerprint: a.Intent.Fingerprint}, nil
	})}
	bc.Env.Services.Google.CSE.APIKey = tool.NewSecret(canary)
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, Config{Prompt: Prompt{Facts: []string{"the key is " + canary}}}, m, bc)
		if err := w.cfg.Box.Replace(act, "code"); err != nil {
			t.Fatal(err)
		}
		if turn, err := w.Run(t.Context(), "s", "the key is "+canary); err != nil || strings.Contains(turn.Text, canary) {
			t.Fatalf("%+v %v", turn, err)
		}
		if ran != "use "+canary {
			t.Errorf("the call ran as %q", ran)
		}
		s, err := w.Open(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), content.TextPart("go on")); err != nil {
			t.Fatal(err)
		}
		w.cfg.Records.Settle()
		n := 0
		for _, stream := range []string{"s", Texts, ".ledger"} {
			evs, err := w.events.Read(t.Context(), stream, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range evs {
				n += strings.Count(string(ev.Body), "[secret]")
				if strings.Contains(string(ev.Body), "ry-7f3") {
					t.Errorf("%s, %s: %s", stream, ev.Kind, ev.Body)
				}
			}
		}
		if n < 8 {
			t.Errorf("%d masks", n)
		}
		for _, r := range m.sent()[1:] {
			if text := r.System + shown(r.Messages); strings.Contains(text, canary) {
				t.Error(text)
			}
		}
	})
}
