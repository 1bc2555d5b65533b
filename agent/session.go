package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
)

// Session is a conversation with its loop. It is safe for concurrent use. A session that rests costs a few kilobytes.
type Session struct {
	agent *Agent
	id    string
	fresh bool // its setup was made by this agent

	mu    sync.Mutex // guards what follows
	state State
	talk  *talk  // nil: not in memory
	drive *drive // the turn that runs
}

// ID returns the name of the session.
func (s *Session) ID() string { return s.id }

// State returns where the session stands. It is a copy.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	st.Calls = append([]CallState(nil), st.Calls...)
	st.Repeats = append([]Repeat(nil), st.Repeats...)
	return st
}

// Messages returns the conversation as the next request would hold it. Media are where their parts say.
func (s *Session) Messages(ctx context.Context) ([]model.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.talk == nil {
		evs, err := s.agent.read(ctx, s.id)
		if err != nil {
			return nil, err
		}
		return Messages(evs), nil
	}
	return s.talk.messages(), nil
}

// Run says something and runs the turn to its end. Where an earlier process left a turn unfinished, that turn is taken up and
// steered with it. Errors: ErrBusy while a turn runs; anything else is a fault. When ctx ends the turn is cancelled.
func (s *Session) Run(ctx context.Context, parts ...content.Part) (Turn, error) {
	return s.run(ctx, &Message{Parts: parts})
}

// Resume takes up a turn that an earlier process left unfinished. A session that rests, rests: its last end is returned.
func (s *Session) Resume(ctx context.Context) (Turn, error) { return s.run(ctx, nil) }

// Say says something to the turn that runs: the model reads it with its next request. It is stored when Say returns. In a session
// that rests it is what the next Resume begins with.
func (s *Session) Say(ctx context.Context, m Message) error {
	s.mu.Lock()
	d := s.drive
	ev, err := s.message(ctx, m)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	if d == nil {
		defer s.mu.Unlock()
		release, err := s.claim()
		if err != nil {
			return err
		}
		defer release()
		if err := s.catchUp(ctx); err != nil {
			return err
		}
		ev.Said.Steers = s.state.Phase != Resting
		evs := []Event{ev}
		_, err = s.append(context.WithoutCancel(ctx), evs)
		s.publish(evs, err)
		return err
	}
	s.mu.Unlock()
	if err := d.post(ev, true); !errors.Is(err, errOver) {
		return err
	}
	<-d.over // the turn ended meanwhile
	return s.Say(ctx, m)
}

// Compact tells the conversation in short now, whatever its length. The session must rest. Errors: ErrBusy, or those of the store.
func (s *Session) Compact(ctx context.Context) error {
	d := &drive{s: s, ctx: ctx, over: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.mu.Lock()
	if s.drive != nil {
		s.mu.Unlock()
		return fmt.Errorf("session %s: %w", s.id, ErrBusy)
	}
	s.drive = d
	s.mu.Unlock()
	release, err := s.claim()
	if err != nil {
		d.end()
		return err
	}
	defer func() {
		d.end()
		release()
	}()
	s.mu.Lock()
	err = s.catchUp(ctx)
	st := s.state
	s.mu.Unlock()
	if err == nil && st.Phase != Resting {
		err = fmt.Errorf("session %s has an unfinished turn; resume it first", s.id)
	}
	if err != nil {
		return err
	}
	d.compact(ctx, d.request(&st), st.Window()/10)
	_, err = d.follow(d.take())
	s.agent.use(s)
	return err
}

// Cancel ends the turn that runs, for a reason that the person is told. It does not wait: Run returns when the session is
// consistent. Without a turn it does nothing.
func (s *Session) Cancel(reason string) {
	s.mu.Lock()
	d := s.drive
	s.mu.Unlock()
	if d != nil {
		d.cancel(reason)
	}
}

// Close forgets the session in this process; a turn that runs is cancelled and waited for. The stored session is left alone.
func (s *Session) Close() {
	s.mu.Lock()
	d := s.drive
	s.mu.Unlock()
	if d != nil {
		d.cancel("the session was closed")
		<-d.over
	}
	s.agent.forget(s)
}

// message makes the event of something that is said. The caller holds s.mu.
func (s *Session) message(ctx context.Context, m Message) (Event, error) {
	if len(m.Parts) == 0 {
		return Event{}, fmt.Errorf("session %s: nothing is said; give at least one part", s.id)
	}
	parts, err := s.agent.keep(ctx, s.id, m.Parts)
	if err != nil {
		return Event{}, err
	}
	if m.ID == "" {
		m.ID = "m_" + strings.ToLower(rand.Text()[:12])
	}
	m.Parts, m.Tokens, m.Steers = parts, estimate(parts), s.state.Phase != Resting
	return Event{Kind: Said, At: s.agent.cfg.Clock.Now().UTC(), Said: &m}, nil
}

// append stores events and follows them. It returns the steps that they lead to. The caller holds s.mu, and publishes the events
// when it has let go of it.
func (s *Session) append(ctx context.Context, evs []Event) ([]Step, error) {
	stored := make([]store.Event, len(evs))
	for i := range evs {
		var err error
		if stored[i], err = s.masked(&evs[i]); err != nil {
			return nil, err
		}
	}
	seqs, err := s.agent.cfg.Events.Append(ctx, stored...)
	if err != nil {
		return nil, fmt.Errorf("store what happened in session %s: %w", s.id, err)
	}
	var steps []Step
	for i := range evs {
		ev := &evs[i]
		if seqs[i] <= s.state.Seq {
			if stored[i].Key == "" { // numbers began again: what was stored before is gone
				return nil, fmt.Errorf("session %s: %w", s.id, ErrGone)
			}
			continue // it was stored before: delivered twice
		}
		ev.Seq = seqs[i]
		was := s.state.Phase
		var more []Step
		s.state, more = Next(s.state, *ev)
		if s.talk != nil {
			s.talk.add(ev, was, more)
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// masked returns the form in which an event is stored, without the secrets of the environment (T9). The event becomes what another
// process would read; only calls are run as the model wrote them.
func (s *Session) masked(ev *Event) (store.Event, error) {
	stored, err := ev.Stored(s.id)
	if err != nil {
		return stored, err
	}
	body := s.agent.cfg.Box.Mask(stored.Body)
	if bytes.Equal(body, stored.Body) {
		return stored, nil
	}
	clear := ev.Answer
	*ev = Event{At: ev.At, Kind: ev.Kind}
	if err := json.Unmarshal(body, ev); err != nil {
		return stored, fmt.Errorf("event %s of session %s without its secrets: %w", ev.Kind, s.id, err)
	}
	if clear != nil && ev.Answer != nil {
		ev.Answer.clear = clear.Message
	}
	stored.Body = body
	return stored, nil
}

// publish shows events that are stored.
func (s *Session) publish(evs []Event, err error) {
	if err != nil {
		return
	}
	for i := range evs {
		if evs[i].Seq > 0 {
			s.agent.cfg.Watch(s.id, Update{Event: &evs[i]})
		}
	}
}

// cool drops the conversation from memory, unless a turn runs.
func (s *Session) cool() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.drive != nil {
		return false
	}
	s.talk = nil
	return true
}
