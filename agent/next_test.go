package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// play takes events that are written as words, and returns the state and the steps of each event as words.
func play(t *testing.T, limits Limits, words ...string) (State, []string) {
	t.Helper()
	s, _ := Next(State{}, Event{Kind: Started, At: t0, Setup: &Setup{Version: Version, Session: "s", Limits: limits, Model: model.Info{Window: 1000}}})
	var got []string
	for i, w := range words {
		ev := parse(t, &s, w)
		ev.Seq = int64(i + 2)
		if ev.At.IsZero() {
			ev.At = t0
		}
		var steps []Step
		s, steps = Next(s, ev)
		var out []string
		for _, st := range steps {
			out = append(out, stepWords(st))
		}
		got = append(got, strings.Join(out, "; "))
	}
	return s, got
}

func stepWords(st Step) string {
	w := string(st.Kind)
	for _, c := range st.Calls {
		w += " " + c.Name
	}
	if st.End != nil {
		w += " " + string(st.End.Why)
	}
	if st.After > 0 {
		w += " later"
	}
	return w
}

// parse reads an event: "said ID", "answer NAME…" (calls; "empty", "cut" and "declines" are answers without), "ran NAME [OUTCOME]
// [DIGEST]", "KIND NAME CLASS", "fails CLASS".
func parse(t *testing.T, s *State, w string) Event {
	t.Helper()
	f := strings.Fields(w)
	arg := func(i int, or string) string {
		if i < len(f) {
			return f[i]
		}
		return or
	}
	id := func(name string) string {
		for _, c := range s.Calls {
			if c.Name == name && c.Status != Settled {
				return c.ID
			}
		}
		return "none"
	}
	switch f[0] {
	case "said":
		return Event{Kind: Said, Said: &Message{ID: f[1], Tokens: 10}}
	case "answer":
		a := &Answer{Tokens: 10}
		for i, n := range f[1:] {
			switch n {
			case "empty":
				a.Empty = true
			case "cut":
				a.Stop = model.Length
			case "declines":
				a.Stop = model.Refusal
			case "big":
				a.Usage.Input = 900
			case "mid":
				a.Usage.Input = 190
			case "dear":
				a.Cost = 1
			default:
				a.Calls = append(a.Calls, Call{ID: s.CallID(i), Name: n, Same: n})
			}
		}
		return Event{Kind: Answered, Answer: a}
	case "ran":
		o := Outcome(arg(2, "ok"))
		return Event{Kind: Ran, Result: &Result{ID: id(f[1]), Outcome: o, Digest: arg(3, "d"), Changed: strings.HasPrefix(f[1], "w")}}
	case "unknown":
		return Event{Kind: Unknown, Result: &Result{ID: id(f[1]), Outcome: NotSure}}
	case "planned", "asked", "decided", "running":
		return Event{Kind: Kind(prefix + f[0]), Call: &CallEvent{ID: id(f[1]), Class: Class(arg(2, ""))}}
	case "fails":
		return Event{Kind: Failed, Failure: &Failure{Class: model.Class(strings.ReplaceAll(f[1], "_", " ")), Message: "broken"}}
	case "waits":
		return Event{Kind: Failed, Failure: &Failure{Class: model.Retry, After: time.Hour, Message: "come back in an hour"}}
	case "compacted":
		return Event{Kind: Compacted, Compaction: &Compaction{Upto: 1, Tokens: 100}}
	case "limited", "cancelled", "resumed":
		return Event{Kind: Kind(prefix + f[0]), Reason: "r"}
	case "late":
		ev := parse(t, s, strings.Join(f[1:], " "))
		ev.At = t0.Add(time.Hour)
		return ev
	case "finished":
		return Event{Kind: Finished, End: s.Ending}
	}
	t.Fatalf("no such event: %s", w)
	return Event{}
}

// A1, P13: what the machine does, event by event.
func TestA1_Next(t *testing.T) {
	thrice := func(w ...string) (out []string) {
		for range 3 {
			out = append(out, w...)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		limits Limits
		events []string
		steps  []string
		phase  Phase
	}{
		{"answers without calls end the turn", Limits{}, []string{"said a", "answer", "finished"}, []string{"call model", "finish done", ""}, Resting},
		{"results go back", Limits{}, []string{"said a", "answer r1 r2", "ran r1", "ran r2", "answer", "finished"},
			[]string{"call model", "run calls r1 r2", "", "call model", "finish done", ""}, Resting},
		{"a second result of a call changes nothing", Limits{}, []string{"said a", "answer r1 r2", "ran r1", "ran r1", "ran r2"}, []string{"call model", "run calls r1 r2", "", "", "call model"}, Thinking},
		{"the next message begins the next turn", Limits{}, []string{"said a", "answer", "finished", "said b"}, []string{"call model", "finish done", "", "call model"}, Thinking},
		{"steering between steps", Limits{}, []string{"said a", "answer r", "said b", "ran r"}, []string{"call model", "run calls r", "", "call model"}, Thinking},
		{"what is said while the model answers is answered", Limits{}, []string{"said a", "said b", "answer", "answer"}, []string{"call model", "", "call model", "finish done"}, Ends},
		{"what is said too late begins a turn", Limits{}, []string{"said a", "answer", "said b", "finished"}, []string{"call model", "finish done", "", "call model"}, Thinking},
		{"one message twice", Limits{}, []string{"said a", "said a", "answer"}, []string{"call model", "", "finish done"}, Ends},
		{"rounds", Limits{Rounds: 2}, []string{"said a", "answer r", "ran r", "answer r", "ran r ok e"}, []string{"call model", "run calls r", "call model", "run calls r", "finish limit"}, Ends},
		{"tokens", Limits{Tokens: 900}, []string{"said a", "answer big r", "ran r"}, []string{"call model", "run calls r", "finish limit"}, Ends},
		{"cost", Limits{Cost: 1}, []string{"said a", "answer dear r", "ran r"}, []string{"call model", "run calls r", "finish limit"}, Ends},
		{"time, between steps", Limits{Time: time.Minute}, []string{"said a", "answer r", "late ran r"}, []string{"call model", "run calls r", "finish limit"}, Ends},
		{"time, within one", Limits{Time: time.Minute}, []string{"said a", "answer r", "limited", "ran r error"}, []string{"call model", "run calls r", "interrupt", "finish limit"}, Ends},
		{"cancelled while the model answers", Limits{}, []string{"said a", "cancelled", "fails canceled"}, []string{"call model", "interrupt", "finish cancelled"}, Ends},
		{"cancelled, but it answered", Limits{}, []string{"said a", "cancelled", "answer r", "ran r skipped"}, []string{"call model", "interrupt", "settle r", "finish cancelled"}, Ends},
		{"cancelled while calls run", Limits{}, []string{"said a", "answer r w", "cancelled", "ran r error", "ran w error"}, []string{"call model", "run calls r w", "interrupt", "", "finish cancelled"}, Ends},
		{"cancelled at rest", Limits{}, []string{"cancelled"}, []string{""}, Resting},
		{"overloaded", Limits{}, []string{"said a", "fails retry", "answer"}, []string{"call model", "call model later", "finish done"}, Ends},
		{"overloaded for an hour", Limits{}, []string{"said a", "waits"}, []string{"call model", "finish model failed"}, Ends},
		{"no key", Limits{}, []string{"said a", "fails unauthorized"}, []string{"call model", "finish model failed"}, Ends},
		{"refused by the provider", Limits{}, []string{"said a", "fails refused"}, []string{"call model", "finish declined"}, Ends},
		{"wrong three times", Limits{}, append([]string{"said a"}, thrice("fails invalid")...), []string{"call model", "call model later", "call model later", "finish model failed"}, Ends},
		{"too long", Limits{}, []string{"said a", "fails too_long", "compacted", "answer"}, []string{"call model", "compact", "call model", "finish done"}, Ends},
		{"too long for ever", Limits{}, append(append([]string{"said a"}, thrice("fails too_long", "compacted")...), "fails too_long"),
			[]string{"call model", "compact", "call model", "compact", "call model", "compact", "call model", "finish too long"}, Ends},
		{"over the threshold", Limits{}, []string{"said a", "answer big r", "ran r", "compacted"}, []string{"call model", "run calls r", "compact", "call model"}, Thinking},
		{"over the threshold, and nothing to gain", Limits{Compact: 0.15}, []string{"said a", "answer big r", "ran r", "compacted", "answer mid r", "ran r", "answer big r", "ran r"},
			[]string{"call model", "run calls r", "compact", "call model", "run calls r", "call model", "run calls r", "compact"}, Compacting},
		{"over no threshold", Limits{Compact: -1}, []string{"said a", "answer big r", "ran r"}, []string{"call model", "run calls r", "call model"}, Thinking},
		{"empty answers", Limits{}, append([]string{"said a"}, thrice("answer empty")...), []string{"call model", "call model", "call model", "finish empty"}, Ends},
		{"cut answers", Limits{}, append([]string{"said a"}, thrice("answer cut")...), []string{"call model", "call model", "call model", "finish empty"}, Ends},
		{"the model declines", Limits{}, []string{"said a", "answer declines"}, []string{"call model", "finish declined"}, Ends},
		{"P13: the third identical refusal", Limits{}, append([]string{"said a"}, thrice("answer w", "ran w denied")...),
			[]string{"call model", "run calls w", "call model", "run calls w", "call model", "run calls w", "finish refused"}, Ends},
		{"refusals of other calls", Limits{}, []string{"said a", "answer w", "ran w denied", "answer v", "ran v denied", "answer w", "ran w denied"},
			[]string{"call model", "run calls w", "call model", "run calls v", "call model", "run calls w", "call model"}, Thinking},
		{"a call that goes through forgets refusals", Limits{}, []string{"said a", "answer w", "ran w denied", "answer w", "ran w denied", "answer w", "ran w", "answer w", "ran w denied"},
			[]string{"call model", "run calls w", "call model", "run calls w", "call model", "run calls w", "call model", "run calls w", "call model"}, Thinking},
		{"the same result over and over", Limits{}, []string{"said a", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r skipped", "answer r x", "ran r skipped", "ran x", "answer r", "ran r skipped"},
			[]string{"call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "settle r", "call model", "settle r; run calls x", "", "call model", "settle r", "finish repeats"}, Ends},
		{"other results in between", Limits{}, []string{"said a", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r ok e", "answer r"},
			[]string{"call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "run calls r"}, Working},
		{"a change in between makes it new", Limits{}, []string{"said a", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r", "answer r", "ran r", "answer w", "ran w", "answer r"},
			[]string{"call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "run calls r", "call model", "run calls w", "call model", "run calls r"}, Working},
		{"taken up while the model answered", Limits{}, []string{"said a", "resumed"}, []string{"call model", "call model"}, Thinking},
		{"taken up with calls: what read runs again, what did not begin runs, what may have run is looked into", Limits{},
			[]string{"said a", "answer r w x y", "running r reads", "running w once", "planned x once", "resumed", "unknown w", "ran r", "ran x", "ran y"},
			[]string{"call model", "run calls r w x y", "", "", "", "find out w", "run calls r x y", "", "", "call model"}, Thinking},
		{"taken up, and it turns out that it did not run", Limits{}, []string{"said a", "answer w", "running w journalled", "resumed", "planned w"},
			[]string{"call model", "run calls w", "", "find out w", "run calls w"}, Working},
		{"taken up again and again without progress", Limits{}, []string{"said a", "answer r x", "resumed", "resumed", "resumed", "resumed", "resumed", "resumed", "ran r skipped", "ran x skipped"},
			[]string{"call model", "run calls r x", "run calls r x", "run calls r x", "run calls r x", "run calls r x", "run calls r x", "settle r x", "", "call model"}, Thinking},
		{"taken up after it was cancelled", Limits{}, []string{"said a", "answer r w", "running w once", "cancelled", "resumed", "unknown w", "ran r skipped"},
			[]string{"call model", "run calls r w", "", "interrupt", "find out w", "settle r", "finish cancelled"}, Ends},
		{"taken up at its end", Limits{}, []string{"said a", "answer", "resumed", "finished"}, []string{"call model", "finish done", "finish done", ""}, Resting},
		{"taken up at rest", Limits{}, []string{"resumed"}, []string{""}, Resting},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, got := play(t, c.limits, c.events...)
			if !slices.Equal(got, c.steps) || s.Phase != c.phase {
				t.Errorf("steps\n got %q\nwant %q\nphase %s, want %s", got, c.steps, s.Phase, c.phase)
			}
		})
	}
}

// What is repeated is told before it is stopped.
func TestP13_Remark(t *testing.T) {
	words := []string{"said a"}
	for i, want := range []string{"", "", "third time", "will not be run", ""} {
		s, _ := play(t, Limits{}, append(words, "answer r")...)
		got := s.Remark(Call{Name: "r", Same: "r"}, "d")
		if want == "" && got != "" && i < 4 || !strings.Contains(got, want) {
			t.Errorf("result %d: %q, want %q", i+1, got, want)
		}
		if other := s.Remark(Call{Name: "r", Same: "r"}, "another"); other != "" {
			t.Errorf("another result: %q", other)
		}
		words = append(words, "answer r", "ran r")
	}
}

func TestBackoff(t *testing.T) {
	for try := 1; try <= maxTries; try++ {
		d := backoff("s", 3, try, 0)
		base := min(time.Second<<(try-1), time.Minute)
		if d < base || d > base+base/4 || d != backoff("s", 3, try, 0) {
			t.Errorf("try %d: %v", try, d)
		}
	}
	if d := backoff("s", 1, 1, 20*time.Second); d < 20*time.Second || d > 21*time.Second {
		t.Errorf("asked for 20 s: %v", d)
	}
}

// drawEvent draws any event, sensible or not.
func drawEvent(t *rapid.T, s *State) Event {
	ids := []string{"none"}
	for _, c := range s.Calls {
		ids = append(ids, c.ID)
	}
	tokens := rapid.IntRange(-1, 600)
	ev := Event{At: t0.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "at")) * time.Second),
		Kind: rapid.SampledFrom([]Kind{Started, Configured, Said, Said, Answered, Answered, Answered, Failed, Planned, Asked, Decided, Running, Running, Ran, Ran, Ran, Unknown, Compacted, Limited, Cancelled, Resumed, Finished}).Draw(t, "kind")}
	if rapid.IntRange(0, 30).Draw(t, "bare") == 0 {
		return ev
	}
	switch ev.Kind {
	case Started, Configured:
		ev.Setup = &Setup{Version: Version, Session: "s", Limits: Limits{Rounds: rapid.IntRange(0, 9).Draw(t, "rounds"), Time: time.Minute}, Model: model.Info{Window: 1000}}
	case Said:
		ev.Said = &Message{ID: rapid.StringMatching(`[a-d]?`).Draw(t, "id"), Tokens: tokens.Draw(t, "n"), Parts: []content.Part{content.TextPart("x")}}
	case Answered:
		a := &Answer{Empty: rapid.Bool().Draw(t, "empty"), Stop: rapid.SampledFrom([]model.Stop{model.End, model.Calls, model.Length, model.Refusal, ""}).Draw(t, "stop"), Tokens: tokens.Draw(t, "n"), Message: &model.Message{}}
		for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
			n := rapid.SampledFrom([]string{"r", "w", "x"}).Draw(t, "name")
			a.Calls = append(a.Calls, Call{ID: s.CallID(i), Name: n, Same: n})
		}
		ev.Answer = a
	case Failed:
		ev.Failure = &Failure{Class: rapid.SampledFrom([]model.Class{model.Retry, model.TooLong, model.Refused, model.Unauthorized, model.Invalid, model.Canceled, "?"}).Draw(t, "class"), Partial: "so far"}
	case Planned, Asked, Decided, Running:
		ev.Call = &CallEvent{ID: rapid.SampledFrom(ids).Draw(t, "id"), Class: rapid.SampledFrom([]Class{"", Reads, Idempotent, Journalled, Once}).Draw(t, "class")}
	case Ran, Unknown:
		ev.Result = &Result{ID: rapid.SampledFrom(ids).Draw(t, "id"), Outcome: rapid.SampledFrom([]Outcome{OK, Error, Denied, Skipped, Lost}).Draw(t, "outcome"), Digest: rapid.SampledFrom([]string{"d", "e"}).Draw(t, "digest"), Changed: rapid.Bool().Draw(t, "changed"), Parts: []content.Part{content.TextPart("x")}}
	case Compacted:
		ev.Compaction = &Compaction{Upto: 1, Tokens: tokens.Draw(t, "n"), Summary: "x"}
	case Finished:
		ev.End = s.Ending
	}
	return ev
}

// watchdog holds every step against what must never happen, whatever the events were.
type watchdog struct {
	ran map[string]bool // calls that may have run and cannot be run again
}

func (w *watchdog) check(t interface{ Fatalf(string, ...any) }, before State, ev Event, after State, steps []Step) {
	if e := ev.Call; ev.Kind == Running && e != nil && before.Phase == Working {
		for _, c := range after.Calls {
			if c.ID == e.ID && c.Status == IsRunning && !c.Class.Again() {
				w.ran[c.ID] = true
			}
		}
	}
	if e := ev.Call; ev.Kind == Planned && e != nil { // of a call in doubt: it is sure that it did not run
		for _, c := range before.Calls {
			if c.ID == e.ID && c.Status == InDoubt {
				delete(w.ran, c.ID)
			}
		}
	}
	asks := 0
	for _, st := range steps {
		switch st.Kind {
		case CallModel, Compact:
			asks++
			if after.Ending != nil {
				t.Fatalf("a turn that ends goes on: %+v", st)
			}
			if len(before.Unsettled()) > 1 || st.Kind == CallModel && len(after.Calls) > 0 {
				t.Fatalf("the model is asked while calls have no result: %+v", before.Calls)
			}
		case RunCalls:
			if after.Ending != nil && after.Ending.Why == WasCanceled {
				t.Fatalf("calls of a cancelled turn are run")
			}
			for _, c := range st.Calls {
				if w.ran[c.ID] && !(ev.Kind == Planned && ev.Call != nil) {
					t.Fatalf("%s may have run and is run again", c.ID)
				}
				for _, cs := range before.Calls {
					if cs.ID == c.ID && cs.Status == Settled && before.Phase == Working {
						t.Fatalf("%s has its result and is run again", c.ID)
					}
				}
			}
		case Finish:
			asks++
			if st.End == nil || len(after.Unsettled()) > 0 {
				t.Fatalf("finish with calls that have no result: %+v", after.Calls)
			}
		}
	}
	if asks > 1 {
		t.Fatalf("two things at once: %+v", steps)
	}
}

// Whatever happens, in whatever order: Next is a function, leaves its argument alone, does not look at the transcript, and keeps
// the rules of the watchdog. A state that was written down and read goes on the same way.
func TestNextIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := Next(State{}, Event{Kind: Started, Setup: &Setup{Version: Version, Session: "s", Model: model.Info{Window: 1000}}})
		dog := &watchdog{ran: map[string]bool{}}
		for i := range rapid.IntRange(1, 60).Draw(t, "events") {
			ev := drawEvent(t, &s)
			ev.Seq = int64(i + 2)
			was := asJSON(t, s)
			got, steps := Next(s, ev)
			if asJSON(t, s) != was {
				t.Fatalf("%s changed its argument", ev.Kind)
			}
			again, steps2 := Next(s, ev.Control())
			if d := cmp.Diff(asJSON(t, got), asJSON(t, again)) + cmp.Diff(steps, steps2); d != "" {
				t.Fatalf("%s: another outcome: %s", ev.Kind, d)
			}
			var read State
			if err := json.Unmarshal([]byte(was), &read); err != nil {
				t.Fatal(err)
			}
			if third, _ := Next(read, ev); asJSON(t, third) != asJSON(t, got) {
				t.Fatalf("%s: another outcome from a state that was written down", ev.Kind)
			}
			dog.check(t, s, ev, got, steps)
			s = got
		}
	})
}

func asJSON(t interface{ Fatal(...any) }, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A state stays small, however long the session is.
func TestStateIsSmall(t *testing.T) {
	words := []string{"said a"}
	for i := range 300 {
		words = append(words, fmt.Sprintf("answer r%d w%d", i, i), fmt.Sprintf("ran r%d", i), fmt.Sprintf("ran w%d", i))
	}
	s, _ := play(t, Limits{Rounds: -1, Compact: -1}, words...)
	if n := len(asJSON(t, s)); n > 8<<10 {
		t.Errorf("%d bytes", n)
	}
}

// FuzzNext feeds any bytes as events: Next never fails and keeps the rules.
func FuzzNext(f *testing.F) {
	f.Add([]byte("sarf"))
	f.Add([]byte("saRsrfu"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := Next(State{}, Event{Kind: Started, Setup: &Setup{Version: Version, Session: "s", Model: model.Info{Window: 1000}}})
		dog := &watchdog{ran: map[string]bool{}}
		data = data[:min(len(data), 200)]
		words := []string{"said a", "said b", "answer", "answer r", "answer w", "answer r w", "answer big r", "answer empty", "answer cut", "ran r", "ran w", "ran w denied", "ran r ok e",
			"unknown w", "planned w once", "asked w", "decided w", "running w once", "running r reads", "running w journalled", "fails retry", "fails too_long", "fails canceled", "fails invalid",
			"compacted", "limited", "cancelled", "resumed", "finished", "waits", "late said c"}
		for i, b := range data {
			ev := parse(t, &s, words[int(b)%len(words)])
			ev.Seq = int64(i + 2)
			got, steps := Next(s, ev)
			dog.check(t, s, ev, got, steps)
			s = got
		}
	})
}
