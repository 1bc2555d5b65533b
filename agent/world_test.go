package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// actor plays a model: each request is answered by the next function, and the last one answers all that follow.
type actor struct {
	mu       sync.Mutex
	info     model.Info
	play     []func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error)
	requests []model.Request
}

func (a *actor) Info() model.Info {
	if a.info.Name == "" {
		return model.Info{Provider: "test", Name: "actor", Window: 100_000, Images: true}
	}
	return a.info
}

func (a *actor) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	a.mu.Lock()
	n := len(a.requests)
	a.requests = append(a.requests, req)
	f := a.play[min(n, len(a.play)-1)]
	a.mu.Unlock()
	return f(ctx, req, on)
}

func (a *actor) sent() []model.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

type act = func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error)

// says answers with words.
func says(text string) act {
	return func(_ context.Context, _ model.Request, on func(model.Piece) error) (model.Answer, error) {
		if err := on(model.Piece{Text: text}); err != nil {
			return model.Answer{}, err
		}
		return model.Answer{Message: model.Message{Role: model.Assistant, Blocks: []model.Block{textBlock(text)}}, Stop: model.End}, nil
	}
}

// calls answers with calls: "NAME {ARGS}", each with an id of its own unless it begins with "ID=".
func calls(list ...string) act {
	return func(_ context.Context, req model.Request, _ func(model.Piece) error) (model.Answer, error) {
		m := model.Message{Role: model.Assistant}
		for i, c := range list {
			id := fmt.Sprintf("p%d_%d", len(req.Messages), i)
			if before, after, ok := strings.Cut(c, "="); ok && !strings.ContainsAny(before, " {") {
				id, c = before, after
			}
			name, args, _ := strings.Cut(c, " ")
			call := &model.Call{ID: id, Name: name, Arguments: json.RawMessage(args)}
			if args == "" {
				call.Arguments = json.RawMessage(`{}`)
			} else if !json.Valid([]byte(args)) {
				call.Arguments, call.Malformed = nil, args
			}
			m.Blocks = append(m.Blocks, model.Block{Call: call})
		}
		return model.Answer{Message: m, Stop: model.Calls}, nil
	}
}

func fails(class model.Class) act {
	return func(context.Context, model.Request, func(model.Piece) error) (model.Answer, error) {
		return model.Answer{}, &model.Error{Class: class, Provider: "test", Message: "it failed"}
	}
}

type textInput struct {
	Text string `json:"text,omitempty" jsonschema:"Any text"`
}

// testTool makes a tool that answers with what f returns.
func testTool(name string, effects []tool.Effect, f func(ctx context.Context, text string) (tool.Result, error)) tool.Tool {
	return tool.Define(tool.Spec{Name: name, Category: "test", Description: "A tool for tests."}, func(_ context.Context, _ *tool.Call, in textInput) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: effects}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) { return f(ctx, in.Text) }}, nil
	})
}

func echo(_ context.Context, text string) (tool.Result, error) {
	return tool.TextResult("echo "+text, nil), nil
}

type gateFunc func(req toolbox.GateRequest) tool.Decision

func (f gateFunc) Decide(_ context.Context, req toolbox.GateRequest) (tool.Decision, error) {
	return f(req), nil
}

func allowAll(toolbox.GateRequest) tool.Decision {
	return tool.Decision{Verdict: tool.Allow, By: "test"}
}

// world is an agent over a store in memory.
type world struct {
	*Agent
	model   *actor
	events  *store.Memory
	updates []Update
	mu      sync.Mutex
}

func newWorld(t *testing.T, cfg Config, m *actor, gate gateFunc, tools ...tool.Tool) *world {
	t.Helper()
	if gate == nil {
		gate = allowAll
	}
	return newWorldOf(t, cfg, m, toolbox.Config{Gate: gate}, tools...)
}

func newWorldOf(t *testing.T, cfg Config, m *actor, bc toolbox.Config, tools ...tool.Tool) *world {
	t.Helper()
	w := &world{model: m, events: &store.Memory{}}
	log := session.NewLog(w.events)
	bc.Env.Mode, bc.Recorder, bc.Sessions = "code", log, log
	box, err := toolbox.New(bc)
	if err != nil {
		t.Fatal(err)
	}
	tools = append(tools, testTool("look", []tool.Effect{tool.Read}, echo), testTool("act", []tool.Effect{tool.Execute}, echo))
	for _, tl := range tools {
		if err := box.Replace(tl, "code"); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Model, cfg.Box, cfg.Events, cfg.Records = m, box, w.events, log
	watch := cfg.Watch
	cfg.Watch = func(s string, u Update) {
		w.mu.Lock()
		w.updates = append(w.updates, u)
		w.mu.Unlock()
		if watch != nil {
			watch(s, u)
		}
	}
	if w.Agent, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) stored(t *testing.T, session string) []Event {
	t.Helper()
	evs, err := w.read(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return evs
}

// story tells a session in words, one for each event.
func (w *world) story(t *testing.T, session string) string {
	t.Helper()
	var out []string
	for _, ev := range w.stored(t, session) {
		s := strings.TrimPrefix(string(ev.Kind), prefix)
		switch {
		case ev.Answer != nil:
			for _, c := range ev.Answer.Calls {
				s += " " + c.Name
			}
		case ev.Result != nil:
			s += " " + string(ev.Result.Outcome)
		case ev.Call != nil && ev.Call.Class != "":
			s += " " + string(ev.Call.Class)
		case ev.End != nil:
			s += " " + string(ev.End.Why)
		case ev.Failure != nil:
			s += " " + string(ev.Failure.Class)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// shown tells messages in words.
func shown(msgs []model.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%s:\n", m.Role)
		for _, bl := range m.Blocks {
			switch {
			case bl.Part != nil:
				fmt.Fprintf(&b, "  %s\n", partWords(*bl.Part))
			case bl.Call != nil:
				fmt.Fprintf(&b, "  call %s %s %s\n", bl.Call.ID, bl.Call.Name, bl.Call.Arguments)
			case bl.Result != nil:
				var parts []string
				for _, p := range bl.Result.Parts {
					parts = append(parts, partWords(p))
				}
				fmt.Fprintf(&b, "  result %s %s %v: %s\n", bl.Result.CallID, bl.Result.Name, bl.Result.Error, strings.Join(parts, " + "))
			case bl.Reasoning != nil:
				fmt.Fprintf(&b, "  thinks %s\n", bl.Reasoning.Text)
			}
		}
	}
	return b.String()
}

func partWords(p content.Part) string {
	if p.Kind == content.Text {
		return p.Text
	}
	return fmt.Sprintf("<%s %d bytes %s>", p.Kind, len(p.Data), p.URI)
}

// consistent holds a conversation against what every provider wants: sides in turn, each call with its result right behind it.
func consistent(t *testing.T, msgs []model.Message) {
	t.Helper()
	ids := map[string]bool{}
	for i, m := range msgs {
		if i > 0 && msgs[i-1].Role == m.Role || i == 0 && m.Role != model.User {
			t.Errorf("message %d is of the %s again:\n%s", i, m.Role, shown(msgs))
		}
		var open []string
		for _, b := range m.Blocks {
			if b.Call != nil {
				if ids[b.Call.ID] {
					t.Errorf("two calls have the id %s", b.Call.ID)
				}
				ids[b.Call.ID] = true
				open = append(open, b.Call.ID)
			}
		}
		if len(open) == 0 {
			continue
		}
		var got []string
		if i+1 < len(msgs) {
			for _, b := range msgs[i+1].Blocks {
				if b.Result != nil {
					got = append(got, b.Result.CallID)
				}
			}
		}
		if !slices.Equal(open, got) {
			t.Errorf("calls %q have the results %q:\n%s", open, got, shown(msgs))
		}
	}
}
