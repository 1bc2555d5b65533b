package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// Causes of a cancelled call.
var (
	errCancelled  = errors.New("the client cancelled the call")
	errStopped    = errors.New("the model stopped the call")
	errGone       = errors.New("the client went away")
	errUnasked    = errors.New("the client did not come back with an answer")
	errNoRequests = errors.New("this revision of the protocol has no requests from servers")
)

// outcome is what a request learns about a call. Exactly one of its forms is set.
type outcome struct {
	res    *tool.Result // the call ended
	fault  error        // the host or the program failed
	asks   bool         // the call waits for answers that the client brings with its next request
	goesOn bool         // the call is still running, under its id
}

// running is a call under way. It may outlive the request that started it: past the budget the request is answered with
// the id, and later requests wait for the call.
type running struct {
	srv   *Server
	owner string // only requests of the same owner find it
	name  string // of the tool
	peer  peer
	began time.Time
	ctx   context.Context
	end   context.CancelCauseFunc

	mu      sync.Mutex
	id      string // made when first needed
	waiter  *waiter
	last    *outcome            // the end
	asks    map[string]*openAsk // not answered yet; whoever waits next gets them
	asked   int                 // asks so far
	changed time.Time           // of the last ask, answer or end
}

// waiter is a request that waits for a call.
type waiter struct {
	deliver func(outcome)
	budget  *time.Timer
}

// attach makes deliver the receiver of the next outcome. deliver is called exactly once unless the waiter is detached:
// at the latest when the budget is over. An earlier waiter learns that the call goes on.
func (r *running) attach(budget time.Duration, deliver func(outcome)) *waiter {
	w := &waiter{deliver: deliver}
	r.mu.Lock()
	earlier, now := r.waiter, r.last
	if now == nil && len(r.asks) > 0 {
		now = &outcome{asks: true}
	}
	r.waiter = nil
	if now == nil {
		r.waiter = w
		if budget > 0 {
			w.budget = time.AfterFunc(budget, func() { r.goesOn(w) })
		}
	}
	r.mu.Unlock()
	if earlier != nil {
		earlier.take(outcome{goesOn: true})
	}
	if now != nil {
		deliver(*now)
	}
	return w
}

func (w *waiter) take(o outcome) {
	if w.budget != nil {
		w.budget.Stop()
	}
	w.deliver(o)
}

// detach ends the wait without an outcome and reports whether w was still waiting.
func (r *running) detach(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiter != w {
		return false
	}
	r.waiter = nil
	if w.budget != nil {
		w.budget.Stop()
	}
	return true
}

// goesOn answers a waiter whose budget is over.
func (r *running) goesOn(w *waiter) {
	r.mu.Lock()
	mine := r.waiter == w
	if mine {
		r.waiter = nil
		r.makeID()
	}
	r.mu.Unlock()
	if mine {
		r.srv.calls.keep(r)
		w.take(outcome{goesOn: true})
	}
}

// deliver gives an outcome to the waiter. An end is also kept for later waiters.
func (r *running) deliver(o outcome) {
	r.mu.Lock()
	w := r.waiter
	r.waiter = nil
	if !o.asks {
		r.last, r.changed = &o, time.Now()
	}
	kept := r.id != ""
	r.mu.Unlock()
	if !o.asks && kept {
		r.srv.calls.ended(r)
	}
	if w != nil {
		w.take(o)
	}
}

// over reports whether the call has ended.
func (r *running) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last != nil
}

// handle returns the id under which the call can be waited for.
func (r *running) handle() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.makeID()
	return r.id
}

func (r *running) makeID() {
	if r.id == "" {
		r.id = "c-" + rand.Text()[:12]
	}
}

// keeper holds the calls that outlive their requests, until a while after they ended. The zero value is ready.
type keeper struct {
	mu        sync.Mutex
	calls     map[string]*running
	retention time.Duration
}

func (k *keeper) keep(r *running) {
	id := r.handle()
	k.mu.Lock()
	if k.calls == nil {
		k.calls = map[string]*running{}
	}
	_, known := k.calls[id]
	k.calls[id] = r
	k.mu.Unlock()
	if !known && r.over() {
		k.ended(r)
	}
}

// ended forgets the call after the retention time.
func (k *keeper) ended(r *running) {
	id := r.handle()
	time.AfterFunc(k.retention, func() {
		k.mu.Lock()
		delete(k.calls, id)
		k.mu.Unlock()
	})
}

// find returns the call of the owner, or nil.
func (k *keeper) find(id, owner string) *running {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.calls[id]; r != nil && r.owner == owner {
		return r
	}
	return nil
}

// of returns the ids and tools of the owner's calls.
func (k *keeper) of(owner string) []*running {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*running
	for _, r := range k.calls {
		if r.owner == owner {
			out = append(out, r)
		}
	}
	return out
}

type runningKey struct{}

func runningFrom(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}
