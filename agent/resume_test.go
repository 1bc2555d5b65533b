package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// mortal is a store that a process can use for so many appends; then the process is as good as dead.
type mortal struct {
	store.Events
	mu   sync.Mutex
	left int
}

var errDead = errors.New("dead")

func (m *mortal) Append(ctx context.Context, evs ...store.Event) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == 0 {
		return nil, errDead
	}
	m.left--
	return m.Events.Append(ctx, evs...)
}

// script is a model that follows a plan by what it sees, so that it goes on the same way in another process.
func script() *actor {
	return &actor{play: []act{func(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
		answers := 0
		for _, m := range req.Messages {
			if m.Role == model.Assistant {
				answers++
			}
		}
		switch answers {
		case 0:
			return calls(`look {"text":"1"}`, `act {"text":"a"}`, `look {"text":"2"}`)(ctx, req, on)
		case 1:
			return calls(`act {"text":"b"}`, `act {"text":"c"}`)(ctx, req, on)
		case 2:
			return calls(`no_such {}`, `look {"text":"3"}`)(ctx, req, on)
		}
		return says("done")(ctx, req, on)
	}}}
}

// A crash at every moment between two appends: the turn is finished by another process, no event that was stored is lost, no call
// that acts is run twice, and of one that may have run it is said that nobody knows.
func TestResumeAtEveryMoment(t *testing.T) {
	unsure := 0
	for n := 1; ; n++ {
		mem := &store.Memory{}
		var mu sync.Mutex
		acted := map[string]int{}
		process := func(events store.Events) (*Agent, *session.Log) {
			log := session.NewLog(events)
			box, err := toolbox.New(toolbox.Config{Env: tool.Environment{Mode: "code"}, Gate: gateFunc(allowAll), Recorder: log, Sessions: log})
			if err != nil {
				t.Fatal(err)
			}
			for _, tl := range []tool.Tool{testTool("look", []tool.Effect{tool.Read}, echo), testTool("act", []tool.Effect{tool.Execute}, func(_ context.Context, text string) (tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				acted[text]++
				return tool.TextResult("did "+text, nil), nil
			})} {
				if err := box.Register(tl, "code"); err != nil {
					t.Fatal(err)
				}
			}
			a, err := New(Config{Model: script(), Box: box, Events: events, Records: log})
			if err != nil {
				t.Fatal(err)
			}
			return a, log
		}
		first, log := process(&mortal{Events: mem, left: n})
		turn, err := first.Run(t.Context(), "s", "go")
		_ = log.Close() // what it could not store is lost with it
		if err == nil {
			if turn.Text != "done" || n < 12 {
				t.Fatalf("after %d appends: %+v", n, turn)
			}
			break
		}
		before, err := mem.Read(t.Context(), "s", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		second, log := process(mem)
		s, err := second.Open(t.Context(), "s")
		if errors.Is(err, ErrNotFound) {
			continue // it died before the session began
		}
		if err != nil {
			t.Fatal(err)
		}
		if turn, err = s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.State().Turns == 0 { // it died before anything was said
			continue
		}
		if turn.End.Why != Done || turn.Text != "done" {
			t.Fatalf("after %d appends: %+v", n, turn)
		}
		after, err := mem.Read(t.Context(), "s", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			if string(after[i].Body) != string(before[i].Body) {
				t.Fatalf("after %d appends: event %d is another", n, i+1)
			}
		}
		msgs, err := s.Messages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		consistent(t, msgs)
		text := shown(msgs)
		unsure += strings.Count(text, "Outcome unknown")
		for _, call := range []string{"a", "b", "c"} {
			switch told := strings.Contains(text, "did "+call); {
			case acted[call] > 1:
				t.Fatalf("after %d appends: act %s ran %d times\n%s", n, call, acted[call], text)
			case acted[call] == 0 && told:
				t.Fatalf("after %d appends: act %s is said to have run", n, call)
			case !told && !strings.Contains(text, "Outcome unknown"):
				t.Fatalf("after %d appends: nothing is said of act %s\n%s", n, call, text)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if unsure == 0 {
		t.Error("no crash fell into a running call")
	}
}

// What the road recorded of a call is its outcome, although the loop's own event was lost.
func TestOutcomeFromTheRecord(t *testing.T) {
	mem := &store.Memory{}
	m := &actor{play: []act{calls(`act {"text":"a"}`), says("done")}}
	w := newWorld(t, Config{Events: mem}, m, nil)
	s, err := w.Start(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	// The events of a process that was killed between the record of the call and the event of it.
	st := s.State()
	id := st.CallID(0)
	msg := model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "p", Name: "act", Arguments: []byte(`{"text":"a"}`)}}}}
	for _, ev := range []Event{
		{Kind: Said, Said: &Message{ID: "m1", Parts: []content.Part{content.TextPart("go")}}},
		{Kind: Answered, Answer: &Answer{Calls: []Call{{ID: id, Name: "act", Same: "x"}}, Message: &msg}},
		{Kind: Running, Call: &CallEvent{ID: id, Class: Once}},
	} {
		stored, err := ev.Stored("s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.events.Append(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	rec := &session.Record{Phase: session.End, Call: id, Tool: "act", Session: "s", Result: &session.Outcome{Parts: []content.Part{content.TextPart("did a, it is on record")}}, At: t0}
	if err := w.cfg.Records.Record(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	again := newWorld(t, Config{}, &actor{play: []act{says("done")}}, nil)
	again.cfg.Events, again.cfg.Records = w.events, session.NewLog(w.events)
	turn, err := again.Run(t.Context(), "s", "are you there?")
	if err != nil || turn.End.Why != Done {
		t.Fatalf("%+v %v", turn, err)
	}
	got := shown(again.model.sent()[0].Messages)
	if want := "user:\n  go\nassistant:\n  call p act {\"text\":\"a\"}\nuser:\n  result p act false: did a, it is on record\n  are you there?\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A session of a newer program is refused with what to do; one whose events cannot be read says which.
func TestForeignSessions(t *testing.T) {
	w := newWorld(t, Config{}, &actor{play: []act{says("x")}}, nil)
	put := func(session, kind, body string) {
		t.Helper()
		if _, err := w.events.Append(t.Context(), store.Event{Session: session, Kind: kind, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	put("new", string(Started), fmt.Sprintf(`{"setup":{"v":%d}}`, Version+1))
	put("broken", string(Started), `{"setup":{"v":1}}`)
	put("broken", string(Said), `{"said":7}`)
	put("calls", "call", `{}`)
	for name, want := range map[string]string{"new": "update tackle", "broken": "event 2 (agent.said)", "calls": ErrNotFound.Error(), "none": ErrNotFound.Error(), "": ErrNotFound.Error()} {
		if _, err := w.Open(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	put("old", string(Started), `{"setup":{"v":1,"session":"old"},"field":"that nobody knows"}`)
	put("old", "agent.later", `{"said":{"id":"x"}}`)
	if turn, err := w.Run(t.Context(), "old", "go"); err != nil || turn.Text != "x" {
		t.Errorf("%+v %v", turn, err)
	}
	if _, err := w.Start(t.Context(), "old"); !errors.Is(err, ErrExists) {
		t.Errorf("started twice: %v", err)
	}
	if _, err := w.Start(t.Context(), ".own"); err == nil {
		t.Error("a stream of the program was taken for a session")
	}
}
