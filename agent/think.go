package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// request is what the goroutine of a request to the model works with.
type request struct {
	session  string
	setup    Setup
	messages []model.Message
	spoken   []utterance // the same, with the events that they came with
	waiting  int         // tokens of what is not spoken yet, which no compaction can take
	answer   int         // number of the answer that comes
	ids      func(n int) string
}

// request takes down the conversation as it is. It is called by the goroutine that drives.
func (d *drive) request(st *State) *request {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	snapshot := *st
	t := d.s.talk
	wait := model.Message{Blocks: t.waiting()}
	return &request{session: d.s.id, setup: st.Setup, messages: t.messages(), spoken: t.spoken[:len(t.spoken):len(t.spoken)], waiting: estimateMessage(&wait),
		answer: st.Answers + 1, ids: snapshot.CallID}
}

// callModel asks the model and posts what it answered.
func (d *drive) callModel(ctx context.Context, r *request, step Step) {
	if step.After > 0 {
		if err := d.s.agent.cfg.Clock.Wait(ctx, step.After); err != nil {
			d.tell(ctx)
			_ = d.post(Event{Kind: Failed, Failure: &Failure{Class: model.Canceled, Message: "the turn was ended while it waited to try again"}}, false)
			return
		}
	}
	ans, err := d.s.agent.ask(ctx, r, model.Auto, func(p model.Piece) error {
		d.s.agent.cfg.Watch(d.s.id, Update{Piece: &p})
		return nil
	})
	if err == nil {
		var ev Event
		if ev, err = d.s.agent.answered(ctx, r, ans); err == nil {
			_ = d.post(ev, false) // refused only when the store failed, and then the drive ends with that
			return
		}
	}
	d.tell(ctx)
	f := failureOf(ctx, err)
	f.Usage, f.Cost = ans.Usage, r.setup.Model.Price.Cost(ans.Usage)
	if f.Class == model.Canceled {
		f.Partial = textOf(&ans.Message)
	}
	_ = d.post(Event{Kind: Failed, Failure: f}, false)
}

// tell says that the turn is cancelled before it is said what that ended, where it was the caller's context that ended.
func (d *drive) tell(ctx context.Context) {
	if ctx.Err() != nil && d.ctx.Err() != nil {
		d.ended.Do(func() { d.cancel("") })
	}
}

// ask sends a request to the model, with the frozen prompt and list of tools of the session.
func (a *Agent) ask(ctx context.Context, r *request, choose model.Choice, on func(model.Piece) error) (model.Answer, error) {
	system, tools, err := a.texts(ctx, &r.setup)
	if err != nil {
		return model.Answer{}, err
	}
	messages, err := a.load(ctx, r.session, &r.setup.Model, r.messages)
	if err != nil {
		return model.Answer{}, err
	}
	req := model.Request{Tools: tools, System: system, Messages: messages, Choose: choose, MaxTokens: a.cfg.MaxTokens,
		Temperature: a.cfg.Temperature, Effort: a.cfg.Effort, Session: r.session}
	return a.stream(ctx, req, on)
}

// errStalled is the cause of a request that was given up.
var errStalled = errors.New("the model gave no sign of life")

// stream sends a request and gives it up where nothing arrives for too long.
func (a *Agent) stream(ctx context.Context, req model.Request, on func(model.Piece) error) (ans model.Answer, err error) {
	ctx, end := context.WithCancelCause(ctx)
	var beats atomic.Int64
	var watch sync.WaitGroup
	watch.Go(func() {
		for seen := int64(0); ; {
			if a.cfg.Clock.Wait(ctx, a.cfg.Stall) != nil {
				return
			}
			if n := beats.Load(); n != seen {
				seen = n
				continue
			}
			end(errStalled)
			return
		}
	})
	defer func() {
		end(nil)
		watch.Wait()
		if v := recover(); v != nil {
			a.cfg.Log.Error("model panicked", "panic", v, "stack", string(debug.Stack()))
			err = &model.Error{Class: model.Invalid, Provider: a.cfg.Model.Info().Provider, Message: fmt.Sprintf("the adapter failed by a mistake of its own: %v; report it", v)}
		}
	}()
	ans, err = a.cfg.Model.Stream(ctx, req, func(p model.Piece) error {
		beats.Add(1)
		return on(p)
	})
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		err = &model.Error{Class: model.Retry, Provider: a.cfg.Model.Info().Provider, Message: fmt.Sprintf("nothing arrived for %v, so the request was given up; it is tried again", a.cfg.Stall), Cause: err}
	}
	return ans, err
}

// failureOf sorts an error of the model.
func failureOf(ctx context.Context, err error) *Failure {
	var e *model.Error
	switch {
	case errors.As(err, &e):
		f := &Failure{Class: e.Class, After: e.After, Message: e.Error()}
		if ctx.Err() != nil {
			f.Class = model.Canceled
		}
		return f
	case ctx.Err() != nil:
		return &Failure{Class: model.Canceled, Message: "the turn was ended"}
	}
	return &Failure{Class: model.Invalid, Message: err.Error()}
}

// answered makes the event of an answer.
func (a *Agent) answered(ctx context.Context, r *request, ans model.Answer) (Event, error) {
	m, err := asStored(ans.Message)
	if err != nil {
		return Event{}, err
	}
	out := &Answer{Stop: ans.Stop, Usage: ans.Usage, Cost: r.setup.Model.Price.Cost(ans.Usage), Model: ans.Model, Empty: true, Message: &m}
	for i, b := range m.Blocks {
		switch {
		case b.Call != nil:
			out.Calls = append(out.Calls, Call{ID: r.ids(len(out.Calls)), Name: b.Call.Name, Same: sameOf(b.Call)})
			out.Empty = false
		case b.Part != nil && (b.Part.Kind != content.Text || strings.TrimSpace(b.Part.Text) != ""):
			out.Empty = false
			if len(b.Part.Data) > 0 {
				parts, err := a.keep(context.WithoutCancel(ctx), r.session, []content.Part{*b.Part})
				if err != nil {
					return Event{}, err
				}
				m.Blocks[i].Part = &parts[len(parts)-1]
			}
		}
	}
	out.Tokens = estimateMessage(&m)
	return Event{Kind: Answered, Answer: out}, nil
}

// asStored returns a message as it is when it was stored and read again, so that this process sends the bytes that another one
// would send.
func asStored(m model.Message) (model.Message, error) {
	m.Role, m.Blocks = model.Assistant, slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		if b.Call != nil && len(b.Call.Arguments) > 0 && !json.Valid(b.Call.Arguments) { // an adapter should have seen it
			c := *b.Call
			c.Malformed, c.Arguments = string(c.Arguments), nil
			m.Blocks[i].Call = &c
		}
	}
	body, err := plain(&m)
	if err != nil {
		return m, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	var out model.Message
	return out, json.Unmarshal(body, &out)
}

// texts returns the system prompt and the list of tools of a setup. They are read once for all sessions that share them.
func (a *Agent) texts(ctx context.Context, s *Setup) (string, []model.Tool, error) {
	system, err := a.text(ctx, s.System)
	if err != nil {
		return "", nil, err
	}
	a.mu.Lock()
	tools, ok := a.lists[s.Tools]
	a.mu.Unlock()
	if ok || s.Tools == (Text{}) {
		return system, tools, nil
	}
	js, err := GetText(ctx, a.cfg.Events, s.Tools)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal([]byte(js), &tools); err != nil {
		return "", nil, fmt.Errorf("list of tools %.12s: %w", s.Tools.Digest, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lists) >= keptTexts {
		clear(a.lists)
	}
	a.lists[s.Tools] = tools
	return system, tools, nil
}

// keptTexts is how many prompts and lists of tools are kept in memory.
const keptTexts = 32

func (a *Agent) text(ctx context.Context, t Text) (string, error) {
	a.mu.Lock()
	s, ok := a.prompts[t]
	a.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := GetText(ctx, a.cfg.Events, t)
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.prompts) >= keptTexts {
		clear(a.prompts)
	}
	a.prompts[t] = s
	return s, nil
}
