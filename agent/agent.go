package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/toolbox"
)

// Agent is the embedded driver: it runs sessions in this process over an event log. It is safe for concurrent use; one session
// runs one turn at a time, different sessions run side by side.
type Agent struct {
	cfg Config
	mu  sync.Mutex
	// open holds the sessions of which somebody has a *Session, so that there is one of each.
	open map[string]*Session
	warm []*Session // that keep their conversation in memory, the longest unused first
	// Texts that sessions share, as far as they were used.
	prompts map[Text]string
	lists   map[Text][]model.Tool

	known sync.Mutex // guards refs
	refs  map[string]Text
}

// keptWarm is how many resting sessions keep their conversation in memory; others read it again when they are used.
const keptWarm = 16

// Errors of sessions.
var (
	ErrNotFound = errors.New("there is no session of this name")
	ErrExists   = errors.New("there is a session of this name already")
	ErrBusy     = errors.New("the session runs a turn already; say something to steer it, or wait")
	ErrGone     = errors.New("the session was removed while it was worked on; nothing goes on in it")
)

// New returns an agent. cfg is copied.
func New(cfg Config) (*Agent, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Agent{cfg: cfg, open: map[string]*Session{}, prompts: map[Text]string{}, lists: map[Text][]model.Tool{}, refs: map[string]Text{}}, nil
}

// Turn is what came of a turn.
type Turn struct {
	End   End
	Text  string // of the last answer in the turn, also where it was interrupted
	Tally Tally
}

// Run says something to a session and runs the turn to its end. A session that does not exist is begun; an empty name makes one.
// The error is a fault; what a turn ended for is in Turn.End. When ctx ends the turn is cancelled, and Run returns once the
// session is consistent.
func (a *Agent) Run(ctx context.Context, session, prompt string) (Turn, error) {
	s, err := a.Open(ctx, session)
	if errors.Is(err, ErrNotFound) {
		s, err = a.Start(ctx, session)
	}
	if err != nil {
		return Turn{}, err
	}
	return s.Run(ctx, content.TextPart(prompt))
}

// NewID returns a name for a session that nobody has used.
func NewID() string { return "s_" + strings.ToLower(rand.Text()[:12]) }

// Start begins a session. An empty name makes one. Errors: ErrExists.
func (a *Agent) Start(ctx context.Context, session string) (*Session, error) {
	return a.StartFrom(ctx, session, nil)
}

// StartFrom is Start for a session that was made from another one.
func (a *Agent) StartFrom(ctx context.Context, session string, origin *Origin) (*Session, error) {
	if session == "" {
		session = NewID()
	}
	if strings.HasPrefix(session, ".") {
		return nil, fmt.Errorf("session %q: a name that begins with a dot is the program's own; choose another", session)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[session] != nil {
		return nil, fmt.Errorf("session %s: %w", session, ErrExists)
	}
	setup, err := a.setup(ctx, session)
	if err != nil {
		return nil, err
	}
	setup.Origin = origin
	ev := Event{Kind: Started, At: a.cfg.Clock.Now().UTC(), Setup: &setup}
	stored, err := ev.Stored(session)
	if err != nil {
		return nil, err
	}
	stored.Key = prefix + "started"
	last, err := a.cfg.Events.Last(ctx, session)
	if err != nil {
		return nil, err
	}
	seqs, err := a.cfg.Events.Append(ctx, stored)
	if err != nil {
		return nil, fmt.Errorf("begin session %s: %w", session, err)
	}
	if seqs[0] <= last {
		return nil, fmt.Errorf("session %s: %w", session, ErrExists)
	}
	ev.Seq = seqs[0]
	s := &Session{agent: a, id: session, fresh: true}
	s.state, _ = Next(State{}, ev)
	s.talk = &talk{}
	s.talk.add(&ev, Fresh, nil)
	a.open[session] = s
	a.cfg.Watch(session, Update{Event: &ev})
	return s, nil
}

// Open returns a session that was begun, by this process or another one. Errors: ErrNotFound.
func (a *Agent) Open(ctx context.Context, session string) (*Session, error) {
	if session == "" {
		return nil, fmt.Errorf("open a session: %w", ErrNotFound)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.open[session]; s != nil {
		return s, nil
	}
	s := &Session{agent: a, id: session}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	s.talk = nil // it is read again when it is used: most sessions that are opened are only looked at
	a.open[session] = s
	return s, nil
}

// setup describes a session that would begin now.
func (a *Agent) setup(ctx context.Context, session string) (Setup, error) {
	c := &a.cfg
	setup := Setup{Version: Version, Session: session, Mode: c.Mode, Model: c.Model.Info(), Dir: c.Dir, Limits: c.Limits, Nonce: rand.Text()}
	list, err := a.tools()
	if err != nil {
		return setup, err
	}
	tools, err := json.Marshal(list)
	if err != nil {
		return setup, err
	}
	if setup.System, err = a.putText(ctx, c.Prompt.Render()); err != nil {
		return setup, err
	}
	setup.Tools, err = a.putText(ctx, string(tools))
	return setup, err
}

// tools returns the list that the model sees.
func (a *Agent) tools() ([]model.Tool, error) {
	view := toolbox.View{Mode: a.cfg.Mode, Model: a.cfg.Model.Info().Name, Overlay: a.cfg.Overlay}
	out := []model.Tool{}
	for _, def := range a.cfg.Box.Tools(view) {
		js, err := schema.Convert(schema.MCP, def.Schema)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", def.Name, err)
		}
		out = append(out, model.Tool{Name: def.Name, Description: def.Description, Schema: js})
	}
	return out, nil
}

// use notes that a session keeps its conversation in memory, and has the one that was unused for longest read its own again.
func (a *Agent) use(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.warm = append(slices.DeleteFunc(a.warm, func(o *Session) bool { return o == s }), s)
	for i := 0; len(a.warm) > keptWarm && i < len(a.warm)-1; {
		if o := a.warm[i]; o.cool() {
			a.warm = slices.Delete(a.warm, i, i+1)
		} else {
			i++
		}
	}
}

// forget closes a session.
func (a *Agent) forget(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[s.id] == s {
		delete(a.open, s.id)
	}
	a.warm = slices.DeleteFunc(a.warm, func(o *Session) bool { return o == s })
}

// load reads the events of the session.
func (s *Session) load(ctx context.Context) error {
	evs, err := s.agent.read(ctx, s.id)
	if err != nil {
		return err
	}
	s.talk, s.state = follow(evs)
	return nil
}

// read returns the events of the loop in a session.
func (a *Agent) read(ctx context.Context, session string) ([]Event, error) {
	stored, err := a.cfg.Events.Read(ctx, session, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", session, err)
	}
	return Events(session, stored)
}

// Events returns the events of the loop among those of a session. Errors: ErrNotFound where there is none.
func Events(session string, stored []store.Event) ([]Event, error) {
	evs, err := Read(stored)
	if err != nil {
		return nil, err
	}
	if len(evs) == 0 || evs[0].Kind != Started {
		return nil, fmt.Errorf("session %q: %w", session, ErrNotFound)
	}
	return evs, nil
}
