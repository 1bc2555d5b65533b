package core

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/server/internal/access"
)

// Options configure a Core. The zero value works.
type Options struct {
	Version string // of the program
	// Buffer is how many events may wait for one subscriber before it is dropped. Default 1024.
	Buffer int
	// Gather is how long events are gathered after a delivery before the next one, with few streams. Default 20 ms.
	Gather time.Duration
	// Look is how often the store is looked at for what other processes stored. Default 500 ms.
	Look time.Duration
	Now  func() time.Time // default time.Now
	Log  *slog.Logger     // default: discards
}

func (o Options) withDefaults() Options {
	if o.Buffer <= 0 {
		o.Buffer = 1024
	}
	if o.Gather <= 0 {
		o.Gather = 20 * time.Millisecond
	}
	if o.Look <= 0 {
		o.Look = 500 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Core answers questions about a box. It is safe for concurrent use. Close it when done.
type Core struct {
	box     *tackle.Box
	opt     Options
	started time.Time
	folds   folds
	usage   usage
	hub     hub
	looks   *looks

	detached struct {
		ctx    context.Context
		cancel context.CancelFunc
		mu     sync.Mutex
		n      int
		closed bool
		wg     sync.WaitGroup
	}
}

// New returns a core over a box, which stays the caller's. It reads nothing yet.
func New(box *tackle.Box, opt Options) *Core {
	c := &Core{box: box, opt: opt.withDefaults(), looks: newLooks(box.MediaPipeline())}
	c.started = c.opt.Now()
	c.hub.core = c
	c.detached.ctx, c.detached.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends all streams and the calls that nobody waits for, and waits for their end.
func (c *Core) Close() {
	c.hub.close()
	c.detached.mu.Lock()
	c.detached.closed = true
	c.detached.mu.Unlock()
	c.detached.cancel()
	c.detached.wg.Wait()
}

// Box returns the box.
func (c *Core) Box() *tackle.Box { return c.box }

// Info says what runs here.
type Info struct {
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Dir     string    `json:"dir"`
	Roots   []Root    `json:"roots"`
	Session string    `json:"session" jsonschema:"session of calls that name none"`
	Mode    string    `json:"mode"`
	Modes   []string  `json:"modes"`
	Posture string    `json:"posture"`
	Host    Host      `json:"host"`
	Notes   []string  `json:"notes" jsonschema:"what a person should know about the configuration"`
	Newest  int64     `json:"newest" jsonschema:"id of the newest event"`
	Open    int       `json:"open" jsonschema:"asks that wait for an answer"`
}

// Root is a workspace root.
type Root struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Host is where tools act.
type Host struct {
	Name  string   `json:"name"`
	OS    string   `json:"os"`
	Notes []string `json:"notes" jsonschema:"what it cannot do"`
}

// Info describes the box.
func (c *Core) Info(ctx context.Context) (Info, error) {
	h := c.box.Host().Info()
	out := Info{Version: c.opt.Version, Started: c.started.UTC(), Dir: c.box.Dir(), Session: c.box.SessionID(), Mode: c.box.View().Mode,
		Modes: list(c.box.Modes()), Posture: string(c.box.Gate().Posture()), Notes: list(c.box.Notes()),
		Host: Host{Name: h.Name, OS: h.OS, Notes: list(h.Notes)}, Roots: []Root{}, Open: len(c.box.Asks().Open())}
	for _, r := range h.Roots {
		out.Roots = append(out.Roots, Root{r.Name, r.Path})
	}
	var err error
	out.Newest, err = c.box.Store().Newest(ctx)
	return out, Mistake(err)
}

// Ready reports why the server cannot serve: a store that cannot be read.
func (c *Core) Ready(ctx context.Context) error {
	if _, err := c.box.Store().Newest(ctx); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}

// need reports a role that does not reach.
func need(who access.Identity, role access.Role, what string) error {
	if who.Role.Reaches(role) {
		return nil
	}
	return errorf(Forbidden, "%s is %s and may not %s: that needs the role %s; make a token with it (tackle serve token)", who.Name, who.Role, what, role)
}

// list returns an empty list for nil, so that JSON has [] and not null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// millis is a duration as JSON has it.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// page bounds how many of something are returned.
func page(limit, usual, most int) int {
	switch {
	case limit <= 0:
		return usual
	case limit > most:
		return most
	}
	return limit
}

// lru keeps the values that were used last.
type lru[K comparable, V any] struct {
	mu   sync.Mutex
	most int
	tick int64
	all  map[K]*lruEntry[V]
}

type lruEntry[V any] struct {
	value V
	used  int64
}

// get returns the value of a key, made by make where there is none.
func (l *lru[K, V]) get(key K, make_ func() V) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tick++
	if e := l.all[key]; e != nil {
		e.used = l.tick
		return e.value
	}
	if l.all == nil {
		l.all = map[K]*lruEntry[V]{}
	}
	if len(l.all) >= l.most {
		var oldest K
		first := true
		for k, e := range l.all {
			if first || e.used < l.all[oldest].used {
				oldest, first = k, false
			}
		}
		delete(l.all, oldest)
	}
	e := &lruEntry[V]{value: make_(), used: l.tick}
	l.all[key] = e
	return e.value
}
