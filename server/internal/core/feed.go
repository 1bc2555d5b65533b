package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// FromNow as Subscription.After delivers what happens from now on.
const FromNow = -1

// Subscription says what somebody wants to follow. The zero Subscription is everything that was ever stored, but ledger
// entries.
type Subscription struct {
	After   int64    // behind this event; FromNow for none of the past
	Session string   // of this session only
	Types   []string // of these types only; nil is every type but LedgerEntry
}

// Check reports a type that does not exist.
func (s *Subscription) Check() error {
	for _, t := range s.Types {
		if !slices.Contains(EventTypes, t) {
			return errorf(Invalid, "there are no events of type %q; types are %v", t, EventTypes)
		}
	}
	return nil
}

func (s *Subscription) wants(e *Event) bool {
	switch {
	case s.Session != "" && e.Session != s.Session:
		return false
	case s.Types == nil:
		return e.Type != LedgerEntry
	}
	return slices.Contains(s.Types, e.Type)
}

// ErrClosed is the end of a stream whose server stops. A client comes back with the last id it saw.
var ErrClosed = errors.New("the server stops; come back with the last id")

// SlowError is the end of a stream whose reader did not keep up.
type SlowError struct {
	Last   int64 // id of the last event that was delivered
	Buffer int
}

func (e *SlowError) Error() string {
	return fmt.Sprintf("more than %d events waited for this reader; come back with the last id, %d, and nothing is lost", e.Buffer, e.Last)
}

// Stream delivers events in order, none lost and none twice. One goroutine reads it. Close it when done.
type Stream struct {
	hub   *hub
	what  Subscription
	reset bool

	mu     sync.Mutex // guards what follows, inside of the hub's
	live   bool       // events come from the hub; before that, from the store
	from   int64      // where it went live: the hub may be behind that
	queue  []*Event
	slow   bool
	closed bool
	ready  chan struct{} // of capacity 1

	pos int64 // of the reader: id of the last event of the feed that was looked at
}

// hub follows the store for all streams. It runs while there are any.
type hub struct {
	core *Core

	mu      sync.Mutex
	streams map[*Stream]bool
	cursor  int64 // everything up to here was handed out
	stop    chan struct{}
	running bool
	closed  bool
	wg      sync.WaitGroup
}

// Subscribe begins a stream. Errors: Invalid, ErrClosed, and those of the store.
func (c *Core) Subscribe(ctx context.Context, what Subscription) (*Stream, error) {
	if err := what.Check(); err != nil {
		return nil, err
	}
	newest, err := c.box.Store().Newest(ctx)
	if err != nil {
		return nil, Mistake(err)
	}
	h := &c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if !h.running {
		h.cursor, h.running, h.stop = newest, true, make(chan struct{})
		h.wg.Go(h.follow)
	}
	s := &Stream{hub: h, what: what, ready: make(chan struct{}, 1), pos: what.After}
	if s.reset = what.After > max(newest, h.cursor); s.reset || what.After < 0 {
		s.pos = max(newest, h.cursor)
	}
	if h.streams == nil {
		h.streams = map[*Stream]bool{}
	}
	h.streams[s] = true
	return s, nil
}

// Streams returns how many streams are open.
func (c *Core) Streams() int {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	return len(c.hub.streams)
}

// Position returns the id behind which the stream goes on: what a client names when it comes back without having got
// any event.
func (s *Stream) Position() int64 { return s.pos }

// Reset reports whether the client asked for events behind one that was never stored here: the store is another one, and
// what the client knows is of no use.
func (s *Stream) Reset() bool { return s.reset }

// Next waits for events. Errors: that of ctx, *SlowError, ErrClosed, and those of the store. The events are shared with other
// streams and must not be changed.
func (s *Stream) Next(ctx context.Context) ([]*Event, error) {
	for {
		s.mu.Lock()
		live, out, slow, closed := s.live, s.queue, s.slow, s.closed
		s.queue = nil
		s.mu.Unlock()
		switch {
		case len(out) > 0:
			s.pos = out[len(out)-1].ID
			return out, nil
		case slow:
			return nil, &SlowError{Last: s.pos, Buffer: s.hub.core.opt.Buffer}
		case closed:
			return nil, ErrClosed
		case !live:
			out, err := s.past(ctx)
			if err != nil || len(out) > 0 {
				return out, err
			}
			continue
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// past reads a page of what was stored before the stream went live, or lets it go live.
func (s *Stream) past(ctx context.Context) ([]*Event, error) {
	s.hub.mu.Lock()
	if s.pos >= s.hub.cursor {
		s.mu.Lock()
		s.live, s.from = true, s.pos
		s.mu.Unlock()
		s.hub.mu.Unlock()
		return nil, nil
	}
	until := s.hub.cursor
	s.hub.mu.Unlock()
	fed, err := s.hub.core.box.Store().Follow(ctx, s.pos, 500)
	if err != nil {
		return nil, Mistake(err)
	}
	var out []*Event
	for i := range fed {
		if fed[i].ID > until {
			break
		}
		s.pos = fed[i].ID
		if e, ok := eventOf(&fed[i]); ok && s.what.wants(&e) {
			out = append(out, &e)
		}
	}
	if len(fed) == 0 || fed[len(fed)-1].ID > until { // the rest was removed
		s.pos = until
	}
	return out, nil
}

// push hands events to a live stream. The hub's mutex is held.
func (s *Stream) push(evs []*Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live || s.slow {
		return
	}
	for _, e := range evs {
		if e.ID <= s.from || !s.what.wants(e) {
			continue
		}
		if len(s.queue) >= s.hub.core.opt.Buffer {
			s.slow = true
			break
		}
		s.queue = append(s.queue, e)
	}
	if len(s.queue) > 0 || s.slow {
		s.wake()
	}
}

func (s *Stream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Close ends the stream.
func (s *Stream) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.streams, s)
}

// follow reads the store and hands out what is new, until no stream is left.
func (h *hub) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	st, opt := h.core.box.Store(), &h.core.opt
	look := time.NewTicker(opt.Look)
	defer look.Stop()
	for {
		more := st.Appended()
		fed, err := st.Follow(ctx, h.cursor, 1000)
		if err == nil && len(fed) > 0 {
			h.hand(fed)
			more = after(h.gather()) // what comes meanwhile is handed out together
		}
		select {
		case <-h.stop:
			return
		case <-more:
		case <-look.C:
		}
		if h.idle() {
			return
		}
	}
}

// gather is how long events are gathered: longer with many streams, each of which costs a write for every delivery.
func (h *hub) gather() time.Duration {
	const perStream, most = 50 * time.Microsecond, 100 * time.Millisecond
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.core.opt.Gather, min(time.Duration(len(h.streams))*perStream, most))
}

func after(d time.Duration) <-chan struct{} {
	ch := make(chan struct{})
	time.AfterFunc(d, func() { close(ch) })
	return ch
}

func (h *hub) hand(fed []store.Fed) {
	evs := make([]*Event, 0, len(fed))
	for i := range fed {
		if e, ok := eventOf(&fed[i]); ok {
			e.wire = e.encode()
			evs = append(evs, &e)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cursor = fed[len(fed)-1].ID
	for s := range h.streams {
		s.push(evs)
	}
}

// idle ends the following where no stream is left.
func (h *hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) > 0 {
		return false
	}
	h.running = false
	return true
}

// EndStreams ends all streams, now and later.
func (c *Core) EndStreams() { c.hub.close() }

func (h *hub) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		if h.running {
			close(h.stop)
		}
		for s := range h.streams {
			s.mu.Lock()
			s.closed = true
			s.wake()
			s.mu.Unlock()
		}
	}
	h.mu.Unlock()
	h.wg.Wait()
}
