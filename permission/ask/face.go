package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tackle-dev/tackle/tool"
)

// Face asks somebody. ctx ends when the ask was decided elsewhere, its cause then says so; Ask returns soon after. An error means that no answer comes
// from here, and leaves the ask to other faces.
type Face interface {
	Ask(ctx context.Context, r *Request) (Answer, error)
}

// FaceFunc is a Face that is a function: the answerer of a Go program.
type FaceFunc func(ctx context.Context, r *Request) (Answer, error)

// Ask implements Face.
func (f FaceFunc) Ask(ctx context.Context, r *Request) (Answer, error) { return f(ctx, r) }

// ErrElsewhere is the cause of the end of a face's context when the ask was decided by another face.
var ErrElsewhere = errors.New("the ask was decided elsewhere")

// EventKind says what happened to an ask.
type EventKind string

// The kinds of events.
const (
	Opened EventKind = "opened"
	Closed EventKind = "closed"
)

// Event is what a subscriber is told. Every ask opens once and closes once.
type Event struct {
	Kind     EventKind      `json:"kind"`
	Request  *Request       `json:"request"`
	Decision *tool.Decision `json:"decision,omitempty"` // of Closed
}

// Audience describes a subscriber.
type Audience struct {
	// Sees limits the requests that it is told of; nil is all of them.
	Sees func(*Request) bool
	// Watches says that it only watches: it does not count as somebody who could answer.
	Watches bool
}

// Subscription delivers events in order, none lost. Close it when done.
type Subscription struct {
	q        *Queue
	audience Audience
	mu       sync.Mutex
	events   []Event
	ready    chan struct{} // of capacity 1: there may be events
	closed   bool
}

// Subscribe returns a subscription. Asks that are open already are its first events.
func (q *Queue) Subscribe(a Audience) *Subscription {
	s := &Subscription{q: q, audience: a, ready: make(chan struct{}, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.subs[s] = true
	for _, p := range q.open {
		if p.claimed || !s.sees(p.req) {
			continue
		}
		if s.answers(p.req) {
			p.faces[s] = true
		}
		s.push(Event{Kind: Opened, Request: p.req})
	}
	return s
}

func (s *Subscription) sees(r *Request) bool { return s.audience.Sees == nil || s.audience.Sees(r) }

func (s *Subscription) answers(r *Request) bool { return !s.audience.Watches && s.sees(r) }

func (s *Subscription) push(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// errClosed is what a closed subscription returns.
var errClosed = errors.New("ask: the subscription is closed")

// Next waits for the next event. Errors: that of the context, or that the subscription is closed. One goroutine at a time
// may wait.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		if len(s.events) > 0 {
			e := s.events[0]
			s.events = s.events[1:]
			s.mu.Unlock()
			return e, nil
		}
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return Event{}, errClosed
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Pass says that no answer to an ask will come from here. Where nobody else is left, the ask ends.
func (s *Subscription) Pass(ctx context.Context, id string) { s.q.pass(ctx, s, id) }

// Close ends the subscription. Asks that nobody else could answer end too.
func (s *Subscription) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
	s.q.mu.Lock()
	delete(s.q.subs, s)
	var ids []string
	for _, p := range s.q.open {
		if p.faces[s] {
			ids = append(ids, p.req.ID)
		}
	}
	s.q.mu.Unlock()
	for _, id := range ids {
		s.q.pass(context.Background(), s, id)
	}
}

// serveInline starts the faces of one ask. The function that it returns ends them and waits.
func (q *Queue) serveInline(ctx context.Context, p *pending, faces []Face) (stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for i, f := range faces {
		wg.Go(func() {
			if !q.answerBy(ctx, p.req, f) {
				q.pass(ctx, i, p.req.ID)
			}
		})
	}
	return func() {
		cancel(ErrElsewhere)
		wg.Wait()
	}
}

// answerBy asks one face and reports whether its answer was taken. An answer that does not fit is asked for again, a few
// times.
func (q *Queue) answerBy(ctx context.Context, r *Request, f Face) bool {
	for range 3 {
		a, err := f.Ask(ctx, r)
		if err != nil || ctx.Err() != nil {
			return false
		}
		if _, err = q.Answer(ctx, r.ID, a); !errors.Is(err, ErrNotOffered) && !errors.Is(err, ErrOther) {
			return true
		}
	}
	return false
}

// Serve lets a face answer the asks of the subscription, one after the other, until ctx ends, and closes it; it returns
// the cause. An ask that is decided elsewhere meanwhile ends the face's context.
func (s *Subscription) Serve(ctx context.Context, f Face) error {
	defer s.Close()
	for {
		e, err := s.Next(ctx)
		if err != nil {
			return fmt.Errorf("serve asks: %w", context.Cause(ctx))
		}
		if e.Kind != Opened {
			continue
		}
		s.serveOne(ctx, e.Request, f)
	}
}

// serveOne lets the face answer one ask while it watches for its end.
func (s *Subscription) serveOne(ctx context.Context, r *Request, f Face) {
	q := s.q
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := q.Subscribe(Audience{Watches: true, Sees: func(o *Request) bool { return o.ID == r.ID }})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer watch.Close()
	wg.Go(func() {
		for {
			e, err := watch.Next(asking)
			if err != nil {
				return
			}
			if e.Kind == Closed {
				cancel(ErrElsewhere)
				return
			}
		}
	})
	if q.isOpen(r.ID) && !q.answerBy(asking, r, f) {
		s.Pass(ctx, r.ID)
	}
}

func (q *Queue) isOpen(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err := q.find(id)
	return err == nil
}
