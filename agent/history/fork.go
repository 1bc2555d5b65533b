package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/store"
)

// Errors of Fork and Cut.
var (
	ErrNoLoop = errors.New("no loop ran this session, it only holds calls; there is nothing to go on with")
	ErrTaken  = errors.New("a session of this name exists")
)

// Cut returns the last event of a session that keeps its first turns. So many turns must be over; 0 keeps what
// was set up before the first. Errors: ErrNoLoop, and what to ask for instead.
func (s *Session) Cut(turns int) (seq int64, err error) {
	over := s.Over()
	switch {
	case !s.Looped():
		return 0, fmt.Errorf("session %s: %w", s.ID, ErrNoLoop)
	case turns < 0 || turns > len(s.Turns):
		return 0, fmt.Errorf("session %s has %d turns; keep 0 to %d of them", s.ID, len(s.Turns), over)
	case turns > over:
		return 0, fmt.Errorf("turn %d of session %s is not over; keep at most %d turns, or let it end first (tackle run --resume %s)", turns, s.ID, over, s.ID)
	case turns == len(s.Turns):
		return s.Events, nil
	}
	return s.Turns[turns].First - 1, nil
}

// Over returns how many turns are over, from the first on.
func (s *Session) Over() int {
	n := 0
	for n < len(s.Turns) && s.Turns[n].Over() {
		n++
	}
	return n
}

// Fork makes a session of another's events up to one that [Session.Cut] gave. It begins where that turn ended, knows what was read
// and done until then, and goes its own way. Artifacts and media are not copied here: whoever keeps them shares them.
// Errors: ErrTaken.
func (s *Session) Fork(ctx context.Context, to Store, id string, seq int64) error {
	if last, err := to.Last(ctx, id); err != nil {
		return err
	} else if last > 0 {
		return fmt.Errorf("session %q: %w", id, ErrTaken)
	}
	var evs []store.Event
	for _, ev := range s.Log {
		if ev.Seq > seq {
			break
		}
		ev.Session = id
		if ev.Kind == string(agent.Started) {
			var err error
			if ev.Body, err = s.begun(ev.Body, id, seq); err != nil {
				return fmt.Errorf("session %s, event %d: %w", s.ID, ev.Seq, err)
			}
		}
		evs = append(evs, ev)
	}
	if _, err := to.Append(ctx, evs...); err != nil { // all or none
		return fmt.Errorf("copy session %s: %w", s.ID, err)
	}
	return nil
}

// begun is the beginning of a session that comes from this one.
func (s *Session) begun(body json.RawMessage, id string, seq int64) (json.RawMessage, error) {
	var e agent.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, err
	}
	if e.Setup == nil {
		return body, nil
	}
	e.Setup.Session, e.Setup.Origin = id, &agent.Origin{Session: s.ID, Seq: seq, How: "fork"}
	return json.Marshal(&e)
}
