// Package agenttest is the suite that every driver of the loop joins: the embedded one, and those that put the same machine on
// another engine.
//
//	func TestDriver(t *testing.T) { agenttest.Run(t, newDriver) }
//
// The suite plays models and tools, ends processes by taking their store away, and then looks at what is stored: [Check] holds any
// log against what a driver must keep, and can be used alone.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Driver runs sessions. Its methods are safe for concurrent use.
type Driver interface {
	// Run says something to a session, which is begun where it is new, and returns when it rests.
	Run(ctx context.Context, session, text string) (agent.Turn, error)
	// Resume goes on with what an earlier driver over the same store left, and returns when the session rests.
	Resume(ctx context.Context, session string) (agent.Turn, error)
	// Say steers the turn that runs. It is stored when Say returns.
	Say(ctx context.Context, session string, m agent.Message) error
	// Cancel ends the turn that runs.
	Cancel(ctx context.Context, session, reason string) error
}

// New makes a driver as another process would make it. Config holds the model, the toolbox, the store and the records.
type New func(t *testing.T, cfg agent.Config) Driver

// Embedded makes the embedded driver.
func Embedded(t *testing.T, cfg agent.Config) Driver {
	t.Helper()
	a, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return embedded{a}
}

type embedded struct{ *agent.Agent }

func (e embedded) Resume(ctx context.Context, session string) (agent.Turn, error) {
	s, err := e.Open(ctx, session)
	if err != nil {
		return agent.Turn{}, err
	}
	return s.Resume(ctx)
}

func (e embedded) Say(ctx context.Context, session string, m agent.Message) error {
	s, err := e.Open(ctx, session)
	if err != nil {
		return err
	}
	return s.Say(ctx, m)
}

func (e embedded) Cancel(ctx context.Context, session, reason string) error {
	s, err := e.Open(ctx, session)
	if err == nil {
		s.Cancel(reason)
	}
	return err
}

// Model answers by what it is sent, so that it goes on the same way in another process: f gets the number of answers that the
// conversation holds, and the request.
type Model func(ctx context.Context, answers int, req model.Request) (model.Answer, error)

// Info is described at model.Model.
func (Model) Info() model.Info {
	return model.Info{Provider: "test", Name: "agenttest", Window: 50_000}
}

// Stream is described at model.Model.
func (m Model) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	n := 0
	for _, msg := range req.Messages {
		if msg.Role == model.Assistant {
			n++
		}
	}
	ans, err := m(ctx, n, req)
	if err == nil && on != nil {
		for _, b := range ans.Message.Blocks {
			if b.Part != nil {
				err = errors.Join(err, on(model.Piece{Text: b.Part.Text}))
			}
		}
	}
	return ans, err
}

// Says returns an answer of words.
func Says(text string) (model.Answer, error) {
	p := content.TextPart(text)
	return model.Answer{Message: model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &p}}}, Stop: model.End}, nil
}

// Calls returns an answer of calls, each written as its name and its argument "text".
func Calls(list ...string) (model.Answer, error) {
	m := model.Message{Role: model.Assistant}
	for i, c := range list {
		name, text, _ := strings.Cut(c, " ")
		args, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			return model.Answer{}, err
		}
		m.Blocks = append(m.Blocks, model.Block{Call: &model.Call{ID: fmt.Sprintf("call_%d", i), Name: name, Arguments: args}})
	}
	return model.Answer{Message: m, Stop: model.Calls}, nil
}

// place is what outlives the processes of one test.
type place struct {
	events *store.Memory
	mu     sync.Mutex
	did    map[string]int // calls of act, by text
	hold   chan struct{}  // what "wait" waits for
	began  chan string    // gets a text when wait begins
}

func newPlace() *place {
	return &place{events: &store.Memory{}, did: map[string]int{}, hold: make(chan struct{}), began: make(chan string, 100)}
}

type input struct {
	Text string `json:"text,omitempty" jsonschema:"Any text"`
}

// process returns what a driver of another process works with. The process lives for so many appends; negative is for ever.
func (p *place) process(t *testing.T, m model.Model, gate func(toolbox.GateRequest) tool.Decision, appends int) agent.Config {
	t.Helper()
	var events store.Events = p.events
	if appends >= 0 {
		events = &mortal{Events: p.events, left: appends}
	}
	if gate == nil {
		gate = func(toolbox.GateRequest) tool.Decision { return tool.Decision{Verdict: tool.Allow, By: "test"} }
	}
	log := session.NewLog(events)
	box, err := toolbox.New(toolbox.Config{Env: tool.Environment{Mode: "code"}, Gate: gateFunc(gate), Recorder: log, Sessions: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range []struct {
		name   string
		effect tool.Effect
		f      func(ctx context.Context, text string) (tool.Result, error)
	}{{"look", tool.Read, p.look}, {"act", tool.Execute, p.act}, {"wait", tool.Read, p.wait}} {
		name, effects, f := tl.name, []tool.Effect{tl.effect}, tl.f
		err := box.Register(tool.Define(tool.Spec{Name: name, Category: "test", Description: "A tool for tests."}, func(_ context.Context, _ *tool.Call, in input) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: effects}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) { return f(ctx, in.Text) }}, nil
		}), "code")
		if err != nil {
			t.Fatal(err)
		}
	}
	return agent.Config{Model: m, Box: box, Events: events, Records: log, Clock: agent.Clock{Wait: func(ctx context.Context, d time.Duration) error {
		if d >= agent.DefaultStall { // nothing stalls here
			<-ctx.Done()
		}
		return ctx.Err()
	}}}
}

func (p *place) look(_ context.Context, text string) (tool.Result, error) {
	return tool.TextResult("saw "+text, nil), nil
}

func (p *place) act(_ context.Context, text string) (tool.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did[text]++
	return tool.TextResult("did "+text, nil), nil
}

func (p *place) wait(ctx context.Context, text string) (tool.Result, error) {
	p.began <- text
	select {
	case <-p.hold:
		return tool.TextResult("waited "+text, nil), nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
}

// done returns how often act was called with a text.
func (p *place) done(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.did[text]
}

// log returns the events of a session and holds them against what a driver must keep.
func (p *place) log(t *testing.T, session string) ([]agent.Event, agent.State) {
	t.Helper()
	stored, err := p.events.Read(t.Context(), session, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	evs, err := agent.Read(stored)
	if err != nil {
		t.Fatal(err)
	}
	return evs, Check(t, evs)
}

type gateFunc func(toolbox.GateRequest) tool.Decision

// Decide is described at toolbox.Gate.
func (f gateFunc) Decide(_ context.Context, r toolbox.GateRequest) (tool.Decision, error) {
	return f(r), nil
}

// mortal is a store that a process can use for so many appends; then the process is as good as dead.
type mortal struct {
	store.Events
	mu   sync.Mutex
	left int
}

var errDead = errors.New("the process has ended")

// Append is described at store.Events.
func (m *mortal) Append(ctx context.Context, evs ...store.Event) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == 0 {
		return nil, errDead
	}
	m.left--
	return m.Events.Append(ctx, evs...)
}
