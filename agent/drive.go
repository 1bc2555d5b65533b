package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// errOver is returned to those who post to a drive that has ended.
var errOver = errors.New("the turn is over")

// drive runs one session until it rests. One goroutine, that of the caller of Run, stores events and follows them; what takes time
// runs in others, which post what came of it. Events that are posted while others are being stored are stored together.
type drive struct {
	s    *Session
	ctx  context.Context // of the caller: its end cancels the turn
	over chan struct{}   // closed when the drive has ended

	mu     sync.Mutex // guards what follows
	queue  []post
	closed bool
	wake   chan struct{} // holds a token while something may be queued

	// Of the goroutine that drives, but ended:
	work     context.Context // of what runs
	stopWork context.CancelFunc
	ended    sync.Once          // cancels the turn for the caller's context
	turn     string             // for which the clock runs
	stopTime context.CancelFunc // stops it
	running  sync.WaitGroup
}

// post is an event that is to be stored.
type post struct {
	ev   Event
	done chan error // nil: nobody waits
}

func (s *Session) run(ctx context.Context, m *Message) (Turn, error) {
	d := &drive{s: s, ctx: ctx, over: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.mu.Lock()
	if s.drive != nil {
		s.mu.Unlock()
		return Turn{}, fmt.Errorf("session %s: %w", s.id, ErrBusy)
	}
	s.drive = d
	s.mu.Unlock()
	release, err := s.claim()
	if err != nil {
		d.end()
		return Turn{}, err
	}
	defer func() {
		d.end()
		release()
	}()
	first, err := d.begin(m)
	if err != nil {
		return Turn{}, err
	}
	if len(first) > 0 {
		if err := d.loop(first); err != nil {
			return Turn{}, err
		}
	}
	s.agent.use(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Turn{Tally: s.state.Tally}
	if s.state.Last != nil {
		out.End = *s.state.Last
	}
	if s.talk != nil {
		out.Text = s.talk.lastText(s.state.Opened)
	}
	return out, nil
}

// claim keeps other processes from the session.
func (s *Session) claim() (release func(), err error) {
	if s.agent.cfg.Claim == nil {
		return func() {}, nil
	}
	if release, err = s.agent.cfg.Claim(s.id); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.id, err)
	}
	return release, nil
}

// catchUp reads the conversation where it is not in memory, and otherwise what another process did with it since. The caller holds
// s.mu and the claim.
func (s *Session) catchUp(ctx context.Context) error {
	if s.talk == nil {
		return s.load(ctx)
	}
	stored, err := s.agent.cfg.Events.Read(ctx, s.id, s.state.Seq, 0)
	if err != nil {
		return fmt.Errorf("read session %s: %w", s.id, err)
	}
	evs, err := Read(stored)
	if err != nil {
		return err
	}
	for i := range evs {
		was := s.state.Phase
		var steps []Step
		s.state, steps = Next(s.state, evs[i])
		s.talk.add(&evs[i], was, steps)
		s.fresh = s.fresh && evs[i].Kind != Configured
	}
	return nil
}

// end lets the session go.
func (d *drive) end() {
	d.close(errOver)
	d.s.mu.Lock()
	d.s.drive = nil
	d.s.mu.Unlock()
	close(d.over)
}

// begin reads the conversation, where it is not in memory, and returns the events that the drive begins with.
func (d *drive) begin(m *Message) ([]Event, error) {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(d.ctx); err != nil {
		return nil, err
	}
	now := s.agent.cfg.Clock.Now().UTC()
	var evs []Event
	if s.state.Phase != Resting {
		evs = append(evs, Event{Kind: Resumed, At: now})
	} else if m != nil && !s.fresh {
		setup, err := s.agent.setup(d.ctx, s.id)
		if err != nil {
			return nil, err
		}
		old := s.state.Setup
		setup.Nonce, setup.Origin = old.Nonce, old.Origin
		if setup != old {
			evs = append(evs, Event{Kind: Configured, At: now, Setup: &setup})
		}
		s.fresh = true
	}
	if m != nil {
		ev, err := s.message(d.ctx, *m)
		if err != nil {
			return nil, err
		}
		evs = append(evs, ev)
	}
	return evs, nil
}

// loop drives until the session rests. The error is that of the store: nothing was done that is not stored.
func (d *drive) loop(evs []Event) error {
	defer func() {
		if d.stopWork != nil {
			d.stopWork()
		}
		if d.stopTime != nil {
			d.stopTime()
		}
		d.running.Wait()
	}()
	var queue []post
	for _, ev := range evs {
		queue = append(queue, post{ev: ev})
	}
	cancelled := d.ctx.Done()
	for {
		if len(queue) > 0 {
			more, err := d.follow(queue)
			if err != nil {
				d.close(err)
				return err
			}
			queue = more
			continue
		}
		if queue = d.take(); len(queue) > 0 {
			queue = d.gather(queue)
			continue
		}
		if d.rests() {
			return nil
		}
		select {
		case <-d.wake:
		case <-cancelled:
			cancelled = nil
			d.ended.Do(func() { d.cancel("") })
		}
	}
}

// window is how long results wait for others of the same answer, to be stored together with them.
const window = 2 * time.Millisecond

// gather waits a moment for more, where all that was posted are results and plans, calls of the same answer still run, and nobody
// waits for any of it. A batch of calls that only read is stored in one or two transactions then, not in twenty, and the result of
// a call that acts together with the beginning of the next one.
func (d *drive) gather(queue []post) []post {
	d.s.mu.Lock()
	open := len(d.s.state.Unsettled())
	d.s.mu.Unlock()
	patient := func() bool {
		results := 0
		for _, p := range queue {
			switch {
			case p.done != nil || p.ev.Kind != Ran && p.ev.Kind != Planned:
				return false
			case p.ev.Kind == Ran:
				results++
			}
		}
		return results < open
	}
	if !patient() {
		return queue
	}
	t := time.NewTimer(window)
	defer t.Stop()
	for patient() {
		select {
		case <-d.wake:
			queue = append(queue, d.take()...)
		case <-t.C:
			return queue
		}
	}
	return queue
}

// take returns what was posted.
func (d *drive) take() []post {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queue
	d.queue = nil
	return q
}

// rests ends the drive where the session rests and nothing was posted.
func (d *drive) rests() bool {
	d.s.mu.Lock()
	resting := d.s.state.Phase == Resting
	d.s.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if resting && len(d.queue) == 0 {
		d.closed = true
		return true
	}
	return false
}

// close refuses what is posted from now on, and tells those who wait.
func (d *drive) close(err error) {
	d.mu.Lock()
	q := d.queue
	d.queue, d.closed = nil, true
	d.mu.Unlock()
	for _, p := range q {
		if p.done != nil {
			p.done <- err
		}
	}
}

// post hands over an event. With wait it returns when the event is stored.
func (d *drive) post(ev Event, wait bool) error {
	if ev.At.IsZero() {
		ev.At = d.s.agent.cfg.Clock.Now().UTC()
	}
	p := post{ev: ev}
	if wait {
		p.done = make(chan error, 1)
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return errOver
	}
	d.queue = append(d.queue, p)
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
	if !wait {
		return nil
	}
	return <-p.done
}

func (d *drive) cancel(reason string) {
	_ = d.post(Event{Kind: Cancelled, Reason: cmp.Or(reason, "whoever began the turn ended it")}, false) // over already is cancelled too
}

// follow stores events, and performs the steps that they lead to. It returns the events of steps that need no doing.
func (d *drive) follow(queue []post) ([]post, error) {
	s := d.s
	evs := make([]Event, len(queue))
	s.mu.Lock()
	for i, p := range queue {
		evs[i] = p.ev
		s.remark(&evs[i])
	}
	steps, err := s.append(context.WithoutCancel(d.ctx), evs)
	st := s.state
	s.mu.Unlock()
	for _, p := range queue {
		if p.done != nil {
			p.done <- err
		}
	}
	if err != nil {
		return nil, err
	}
	s.publish(evs, nil)
	var more []post
	for _, step := range steps {
		more = append(more, d.perform(&st, step)...)
	}
	return more, nil
}

// remark puts behind a result what the model should read about its repetition. The caller holds s.mu.
func (s *Session) remark(ev *Event) {
	if ev.Kind != Ran || ev.Result == nil || ev.Result.Outcome == Skipped {
		return
	}
	for _, c := range s.state.Calls {
		if c.ID == ev.Result.ID {
			if words := s.state.Remark(c.Call, ev.Result.Digest); words != "" {
				block := textBlock("\n" + words)
				ev.Result.Parts = append(ev.Result.Parts[:len(ev.Result.Parts):len(ev.Result.Parts)], *block.Part)
			}
			return
		}
	}
}

// perform begins a step. Steps that need no doing are events at once.
func (d *drive) perform(st *State, step Step) []post {
	now := d.s.agent.cfg.Clock.Now().UTC()
	d.time(st, now)
	switch step.Kind {
	case CallModel:
		r := d.request(st)
		ctx := d.working()
		d.running.Go(func() { d.callModel(ctx, r, step) })
	case RunCalls:
		b := d.batch(st, step.Calls)
		ctx := d.working()
		d.running.Go(func() { d.runCalls(ctx, b) })
	case FindOut:
		records := st.Unsettled()
		d.running.Go(func() { d.findOut(records) })
	case Compact:
		r := d.request(st)
		ctx := d.working()
		d.running.Go(func() { d.compact(ctx, r, step.Target) })
	case Interrupt:
		if d.stopWork != nil {
			d.stopWork()
		}
	case Settle:
		var out []post
		for _, c := range step.Calls {
			out = append(out, post{ev: Event{Kind: Ran, At: now, Result: textResult(c.ID, Skipped, step.Words)}})
		}
		return out
	case Finish:
		if d.stopTime != nil {
			d.stopTime()
			d.stopTime, d.turn = nil, ""
		}
		return []post{{ev: Event{Kind: Finished, At: now, End: step.End}}}
	}
	return nil
}

// working returns the context of what runs in the turn; a turn that follows an interrupted one has its own.
func (d *drive) working() context.Context {
	if d.work == nil || d.work.Err() != nil {
		d.work, d.stopWork = context.WithCancel(d.ctx)
	}
	return d.work
}

// time has the turn end when its time is over.
func (d *drive) time(st *State, now time.Time) {
	limit := st.Setup.Limits.Time
	if limit <= 0 || d.turn == st.Turn || st.Phase == Resting || st.Phase == Ends {
		return
	}
	if d.stopTime != nil {
		d.stopTime()
	}
	d.turn = st.Turn
	ctx, stop := context.WithCancel(context.WithoutCancel(d.ctx))
	d.stopTime = stop
	left := limit - now.Sub(st.Began)
	d.running.Go(func() {
		if d.s.agent.cfg.Clock.Wait(ctx, left) == nil && ctx.Err() == nil {
			_ = d.post(Event{Kind: Limited, Reason: TimeIsOver(limit)}, false) // over already: nothing to end
		}
	})
}

// lastText returns the text of the last answer behind an event.
func (t *talk) lastText(after int64) string {
	for i := len(t.spoken) - 1; i >= 0 && t.spoken[i].seq > after; i-- {
		if t.spoken[i].Role == model.Assistant {
			return textOf(&t.spoken[i].Message)
		}
	}
	return ""
}

func textOf(m *model.Message) string {
	var s string
	for _, b := range m.Blocks {
		if b.Part != nil && b.Part.Text != "" {
			if s != "" {
				s += "\n"
			}
			s += b.Part.Text
		}
	}
	return s
}
