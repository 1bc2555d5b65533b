package core

import (
	"context"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// SessionQuery selects sessions, the most recently used first.
type SessionQuery struct {
	Limit  int       `json:"limit,omitempty" jsonschema:"at most so many; default 50, most 500"`
	Since  time.Time `json:"since,omitzero" jsonschema:"used at or after this time"`
	Before time.Time `json:"before,omitzero" jsonschema:"used before this time: the next page"`
}

// Sessions is a page of sessions.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	More     bool      `json:"more" jsonschema:"there are older ones: ask again with before set to the last one's updated"`
}

// Session is a session in a list.
type Session struct {
	ID      string         `json:"id"`
	Started time.Time      `json:"started"`
	Updated time.Time      `json:"updated"`
	Dir     string         `json:"dir,omitempty"`
	Calls   int            `json:"calls"`
	Running int            `json:"running"`
	Failed  int            `json:"failed"`
	Denied  int            `json:"denied"`
	Asking  int            `json:"asking" jsonschema:"calls that wait for a person"`
	Changed int            `json:"changed" jsonschema:"files that were changed, each change counted"`
	Tools   map[string]int `json:"tools" jsonschema:"calls by tool"`
	Current bool           `json:"current,omitempty" jsonschema:"the one of this process"`
}

// Sessions lists sessions.
func (c *Core) Sessions(ctx context.Context, q SessionQuery) (Sessions, error) {
	c.box.Settle()
	all, err := c.box.Store().Sessions(ctx, store.Filter{Since: q.Since})
	if err != nil {
		return Sessions{}, Mistake(err)
	}
	if !q.Before.IsZero() {
		all = slices.DeleteFunc(all, func(s store.Session) bool { return !s.Updated.Before(q.Before) })
	}
	limit := page(q.Limit, 50, 500)
	out := Sessions{Sessions: []Session{}, More: len(all) > limit}
	for _, s := range all[:min(limit, len(all))] {
		one, err := c.describe(ctx, s.ID)
		if err != nil {
			return out, err
		}
		one.Started, one.Updated = s.First.At, s.Updated
		out.Sessions = append(out.Sessions, one)
	}
	return out, nil
}

// Session describes one session. Errors: NotFound.
func (c *Core) Session(ctx context.Context, id string) (Session, error) {
	c.box.Settle()
	found, err := c.box.Store().Sessions(ctx, store.Filter{Prefix: id})
	if err != nil {
		return Session{}, Mistake(err)
	}
	for _, s := range found {
		if s.ID == id && id != "" && id[0] != '.' {
			one, err := c.describe(ctx, id)
			one.Started, one.Updated = s.First.At, s.Updated
			return one, err
		}
	}
	return Session{}, noSession(id)
}

func noSession(id string) error { return errorf(NotFound, "no session %q is recorded here", id) }

func (c *Core) describe(ctx context.Context, id string) (Session, error) {
	f, err := c.fold(ctx, id)
	if err != nil {
		return Session{}, err
	}
	defer f.mu.Unlock()
	waiting := c.waiting()
	s := Session{ID: id, Dir: f.dir, Calls: len(f.calls), Tools: map[string]int{}, Current: id == c.box.SessionID()}
	for _, call := range f.calls {
		s.Tools[call.Tool]++
		s.Changed += len(call.Files)
		now := c.now(call, waiting)
		switch now.State {
		case Running:
			s.Running++
		case Asking:
			s.Asking++
		case Failed:
			s.Failed++
		case Denied:
			s.Denied++
		}
	}
	return s, nil
}

// CallQuery selects calls of a session.
type CallQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
	After   int64  `json:"after,omitempty" jsonschema:"behind this place (seq of a call), oldest first"`
	Before  int64  `json:"before,omitempty" jsonschema:"before this place, the newest of them"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most so many; default 100, most 1000"`
	Tool    string `json:"tool,omitempty" jsonschema:"of this tool only"`
	State   State  `json:"state,omitempty" jsonschema:"in this state only"`
}

// Calls is a page of calls, oldest first.
type Calls struct {
	Calls []Call `json:"calls"`
	More  bool   `json:"more" jsonschema:"there are more in the direction of the question"`
}

// Calls lists calls of a session: the newest, unless After or Before say otherwise. Errors: NotFound.
func (c *Core) Calls(ctx context.Context, q CallQuery) (Calls, error) {
	f, err := c.fold(ctx, q.Session)
	if err != nil {
		return Calls{}, err
	}
	defer f.mu.Unlock()
	if f.last == 0 {
		return Calls{}, noSession(q.Session)
	}
	waiting := c.waiting()
	out := Calls{Calls: []Call{}}
	for _, call := range f.calls {
		now := c.now(call, waiting)
		if q.Tool != "" && now.Tool != q.Tool || q.State != "" && now.State != q.State || call.Seq <= q.After || q.Before > 0 && call.Seq >= q.Before {
			continue
		}
		out.Calls = append(out.Calls, now)
	}
	limit := page(q.Limit, 100, 1000)
	if n := len(out.Calls); n > limit {
		out.More = true
		if q.After > 0 {
			out.Calls = out.Calls[:limit]
		} else {
			out.Calls = out.Calls[n-limit:]
		}
	}
	return out, nil
}

// Recent returns the newest calls over all sessions, newest first, at most limit (default 50, most 500).
func (c *Core) Recent(ctx context.Context, limit int) (Calls, error) {
	limit = page(limit, 50, 500)
	c.box.Settle()
	sessions, err := c.box.Store().Sessions(ctx, store.Filter{Limit: limit})
	if err != nil {
		return Calls{}, Mistake(err)
	}
	out := Calls{Calls: []Call{}}
	for _, s := range sessions {
		if len(out.Calls) >= limit && s.Updated.Before(out.Calls[limit-1].Started) {
			break // no call of it, nor of the older ones, is among the newest
		}
		one, err := c.Calls(ctx, CallQuery{Session: s.ID, Limit: limit})
		if err != nil {
			return out, err
		}
		out.Calls = append(out.Calls, one.Calls...)
		slices.SortStableFunc(out.Calls, func(a, b Call) int { return b.Started.Compare(a.Started) })
		if len(out.Calls) > limit {
			out.Calls, out.More = out.Calls[:limit], true
		}
	}
	return out, nil
}
