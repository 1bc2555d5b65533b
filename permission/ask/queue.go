package ask

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Times.
const (
	DefaultTimeout = 10 * time.Minute // until an ask that nobody answered is a no
	LateTime       = 10 * time.Minute // how long the yes to a ticket waits for the call
)

// remembered is how many ended asks a queue can say something about.
const remembered = 1000

// Options configure a Queue. The zero value works: no grants, no journal, no tickets.
type Options struct {
	// Timeout ends an ask that nobody answers. Default DefaultTimeout; negative means that only the call ends it.
	Timeout time.Duration
	// Gate returns the gate that asks, as it is now: it explains the asks and takes the grants. Nil: only "once".
	Gate func() *permission.Gate
	// Root is what the paths of previews are relative to; "" shows them absolute.
	Root string
	// Secrets returns the secret values of the environment, which are masked in everything that is shown or kept. Optional.
	Secrets func() []string
	// Journal stores asks and answers. Optional.
	Journal Journal
	// Tickets keeps asks that nobody was there to answer. Optional.
	Tickets Tickets
	Now     func() time.Time // default time.Now
}

// Journal stores what was asked and answered. An error of either stops the call.
type Journal interface {
	// Asked is called before any face sees the request.
	Asked(ctx context.Context, r *Request) error
	// Closed is called before the call goes on, for every request that Asked was called for.
	Closed(ctx context.Context, r *Request, d tool.Decision) error
}

// Queue is the one queue of asks. It is safe for concurrent use.
type Queue struct {
	opt  Options
	mu   sync.Mutex
	open []*pending       // in the order of asking
	past map[string]error // what a late answer to an ended ask is told
	ring []string         // keys of past, oldest first
	subs map[*Subscription]bool
}

// pending is an open ask. The queue's mutex guards it.
type pending struct {
	req     *Request
	reason  string       // of policy
	ticket  string       // of the same call, open already
	claimed bool         // somebody decides it
	result  chan decided // of capacity 1
	faces   map[any]bool // who may still answer
}

type decided struct {
	decision tool.Decision
	err      error
}

// New returns an empty queue. opt is copied.
func New(opt Options) *Queue {
	opt.Timeout = cmp.Or(opt.Timeout, DefaultTimeout)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Queue{opt: opt, past: map[string]error{}, subs: map[*Subscription]bool{}}
}

func (q *Queue) gate() *permission.Gate {
	if q.opt.Gate == nil {
		return nil
	}
	return q.opt.Gate()
}

// Ask puts a question on the queue and waits for its decision, which is allow or deny, bound to the fingerprint of the
// intent. The error is that of the context (the call has ended), or of journal and store; no answer counts then.
func (q *Queue) Ask(ctx context.Context, qu Question) (tool.Decision, error) {
	if err := ctx.Err(); err != nil {
		return tool.Decision{}, err
	}
	if qu.Intent == nil || qu.Intent.Fingerprint == "" {
		return tool.Decision{}, errors.New("ask: a question needs a sealed intent")
	}
	before, ticket, err := q.before(ctx, &qu)
	if err != nil {
		return tool.Decision{}, err
	}
	if before != nil {
		return *before, nil
	}
	req := q.request(&qu)
	if q.opt.Journal != nil {
		if err := q.opt.Journal.Asked(ctx, req); err != nil {
			return tool.Decision{}, fmt.Errorf("ask: %w", err)
		}
	}
	p := &pending{req: req, reason: qu.Policy.Reason, ticket: ticket, result: make(chan decided, 1), faces: map[any]bool{}}
	q.publish(p, len(qu.Faces))
	defer q.serveInline(ctx, p, qu.Faces)()
	q.nobodyLeft(ctx, p)

	var timeout <-chan time.Time
	if q.opt.Timeout > 0 {
		t := time.NewTimer(q.opt.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case r := <-p.result:
		return r.decision, r.err
	case <-ctx.Done():
		q.finish(ctx, p, tool.Decision{Verdict: tool.Deny, By: req.By, Reason: "the call ended before it was answered", Fingerprint: req.Fingerprint}, ErrEnded)
	case <-timeout:
		q.unanswered(ctx, p, fmt.Sprintf("nobody answered within %v", q.opt.Timeout), ErrExpired)
	}
	r := <-p.result // of whoever claimed it: perhaps an answer at the last moment
	if err := ctx.Err(); err != nil && r.err == nil {
		r.err = err
	}
	return r.decision, r.err
}

// request builds what faces see.
func (q *Queue) request(qu *Question) *Request {
	now := q.opt.Now()
	r := &Request{ID: "ask_" + strings.ToLower(rand.Text()[:20]), Tool: qu.Intent.Tool, Permission: qu.Intent.Permission,
		Session: qu.Session, Turn: qu.Turn, Mode: qu.Mode, Call: qu.Call,
		Fingerprint: qu.Intent.Fingerprint, Intent: qu.Intent, By: qu.Policy.By, Hunks: qu.Hunks, Dir: qu.Intent.Dir, Scripts: qu.Intent.ScriptsDigest(), Asked: now}
	if q.opt.Timeout > 0 {
		r.Expires = now.Add(q.opt.Timeout)
	}
	var e *permission.Explanation
	var asks []permission.TargetView
	if gate := q.gate(); gate != nil {
		why := gate.Why(tool.Definition{Name: qu.Intent.Tool, Permission: qu.Intent.Permission}, qu.Request)
		e = &why
		asks, r.PersonOnly = asked(e)
	}
	r.PersonOnly = r.PersonOnly || strings.Contains(qu.Policy.By, "guard ")
	mask := q.masker()
	if r.Offers = q.offers(qu, asks, r.PersonOnly, mask); len(r.Offers) > 1 {
		for _, t := range asks {
			if target := exact(&t); !slices.Contains(r.Asks, target) {
				r.Asks = append(r.Asks, target)
			}
		}
	}
	r.View = q.makeView(qu, e, mask)
	r.Shown = r.View.digest()
	return r
}

// publish opens the ask to every face that is there.
func (q *Queue) publish(p *pending, inline int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range inline {
		p.faces[i] = true
	}
	for s := range q.subs {
		if s.answers(p.req) {
			p.faces[s] = true
		}
	}
	q.open = append(q.open, p)
	for s := range q.subs {
		if s.sees(p.req) {
			s.push(Event{Kind: Opened, Request: p.req})
		}
	}
}

// nobodyLeft ends the ask when no face is left that could answer it.
func (q *Queue) nobodyLeft(ctx context.Context, p *pending) {
	q.mu.Lock()
	alone := len(p.faces) == 0 && !p.claimed
	q.mu.Unlock()
	if alone {
		q.unanswered(ctx, p, "nobody is here to give it", ErrEnded)
	}
}

// claim takes the right to decide an ask; only one gets it.
func (q *Queue) claim(p *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.claimed {
		return false
	}
	p.claimed = true
	return true
}

// finish claims and closes an ask. late is what answers are told that come afterwards. It reports false when somebody
// else was first.
func (q *Queue) finish(ctx context.Context, p *pending, d tool.Decision, late error) bool {
	if !q.claim(p) {
		return false
	}
	q.close(ctx, p, d, late)
	return true
}

// close stores the decision of a claimed ask, tells every face, and lets the call go on.
func (q *Queue) close(ctx context.Context, p *pending, d tool.Decision, late error) {
	if d.At.IsZero() {
		d.At = q.opt.Now()
	}
	var err error
	if q.opt.Journal != nil { // the call is over where ctx is, its record is not
		if err = q.opt.Journal.Closed(context.WithoutCancel(ctx), p.req, d); err != nil {
			err = fmt.Errorf("ask %s: %w", p.req.ID, err)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, o := range q.open {
		if o == p {
			q.open = append(q.open[:i:i], q.open[i+1:]...)
			break
		}
	}
	q.remember(p.req.ID, fmt.Errorf("ask %s: %w", p.req.ID, late))
	for s := range q.subs {
		if s.sees(p.req) {
			s.push(Event{Kind: Closed, Request: p.req, Decision: &d})
		}
	}
	p.result <- decided{d, err}
}

func (q *Queue) remember(id string, err error) {
	if len(q.ring) == remembered {
		delete(q.past, q.ring[0])
		q.ring = append(q.ring[:0:0], q.ring[1:]...)
	}
	q.past[id], q.ring = err, append(q.ring, id)
}

// Answer decides an open ask. The first answer wins. It returns the decision that the call gets.
// Errors: ErrUnknown, ErrAnswered, ErrExpired, ErrEnded, ErrOther and ErrNotOffered, each with the id and what is wrong;
// after the last two the ask is still open. An error beside an allow says that the call goes on, but that the answer could
// not be kept for later calls.
func (q *Queue) Answer(ctx context.Context, id string, a Answer) (tool.Decision, error) {
	q.mu.Lock()
	p, err := q.find(id)
	if err == nil {
		if err = p.req.check(&a); err == nil {
			p.claimed = true
		}
	}
	q.mu.Unlock()
	if err != nil {
		return tool.Decision{}, err
	}
	now := q.opt.Now()
	d := p.req.decision(&a, now)
	var kept error
	if a.Allow {
		for _, g := range p.req.grants(&a) {
			if kept = q.gate().Grant(ctx, g); kept != nil {
				kept = fmt.Errorf("ask %s: the call goes on, but later ones will be asked again: %w", id, kept)
				break
			}
		}
	}
	word := "no"
	if a.Allow {
		word = "yes"
	}
	q.close(ctx, p, d, fmt.Errorf("%w: %s by %s at %s", ErrAnswered, word, a.Approver, now.Format(time.TimeOnly)))
	return d, kept
}

// find returns the open ask that nobody decides yet. The caller holds the mutex.
func (q *Queue) find(id string) (*pending, error) {
	for _, p := range q.open {
		if p.req.ID == id {
			if p.claimed {
				return nil, fmt.Errorf("ask %s: %w", id, ErrAnswered)
			}
			return p, nil
		}
	}
	if err, ok := q.past[id]; ok {
		return nil, err
	}
	return nil, fmt.Errorf("ask %q: %w", id, ErrUnknown)
}

// Open returns the asks that wait for an answer, oldest first.
func (q *Queue) Open() []*Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*Request
	for _, p := range q.open {
		if !p.claimed {
			out = append(out, p.req)
		}
	}
	return out
}

// pass notes that a face will not answer an ask, and ends the ask where it was the last one.
func (q *Queue) pass(ctx context.Context, face any, id string) {
	q.mu.Lock()
	var p *pending
	for _, o := range q.open {
		if o.req.ID == id {
			p = o
		}
	}
	if p == nil || !p.faces[face] {
		q.mu.Unlock()
		return
	}
	delete(p.faces, face)
	q.mu.Unlock()
	q.nobodyLeft(ctx, p)
}
