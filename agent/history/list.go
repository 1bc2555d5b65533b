package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/session"
)

// Summary says in a line what a session was.
type Summary struct {
	ID      string        `json:"id"`
	Title   string        `json:"title"`           // given, or the first words of the first message, or the tools that were called
	Given   string        `json:"given,omitempty"` // by whom the title was given: "model", "person"; "" where nobody gave one
	Opening string        `json:"opening,omitempty"`
	Started time.Time     `json:"started"`
	Updated time.Time     `json:"updated"`
	Dir     string        `json:"dir,omitempty"`
	Mode    string        `json:"mode,omitempty"`
	Model   string        `json:"model,omitempty"` // PROVIDER/NAME; "" where no loop ran it
	Origin  *agent.Origin `json:"origin,omitempty"`
	Phase   agent.Phase   `json:"phase,omitempty"` // of the loop; "" where none ran it
	Last    *agent.End    `json:"last,omitempty"`  // how its last turn ended

	Turns   int     `json:"turns"`
	Answers int     `json:"answers"`
	Calls   int     `json:"calls"`
	Failed  int     `json:"failed"`
	Denied  int     `json:"denied"`
	Unsure  int     `json:"unsure"`  // calls of which nobody knows whether they ran
	Changed int     `json:"changed"` // files that were changed, each change counted
	Tokens  int     `json:"tokens"`
	Cost    float64 `json:"cost"` // US dollars
	Events  int64   `json:"events"`
}

// Looped reports whether a loop ran the session, so that it can be gone on with.
func (s *Summary) Looped() bool { return s.Phase != agent.Fresh }

// Open reports whether a turn was begun and is not over.
func (s *Summary) Open() bool { return s.Phase != agent.Fresh && s.Phase != agent.Resting }

// Status says in a word or two how the session stands.
func (s *Summary) Status() string {
	switch {
	case !s.Looped():
		return "calls only"
	case s.Open():
		return "unfinished"
	case s.Last == nil:
		return "new"
	}
	return string(s.Last.Why)
}

// sums is what a summary adds up. It is stored between two looks, with the event that it goes up to.
type sums struct {
	V       int            `json:"v"`
	Upto    int64          `json:"upto"`
	State   agent.State    `json:"state"`
	Opening string         `json:"opening,omitempty"`
	Dir     string         `json:"dir,omitempty"`
	Mode    string         `json:"mode,omitempty"` // of calls without a loop
	Calls   int            `json:"calls,omitempty"`
	Failed  int            `json:"failed,omitempty"`
	Denied  int            `json:"denied,omitempty"`
	Changed int            `json:"changed,omitempty"`
	Tools   map[string]int `json:"tools,omitempty"`
}

// openingBytes is how much of the first message is kept for titles.
const openingBytes = 400

// take counts an event of the loop; state is that behind it.
func (s *sums) take(e agent.Event, state *agent.State) {
	s.State = *state
	if e.Said != nil && s.Opening == "" {
		s.Opening = cut(strings.Join(strings.Fields(content.JoinText(e.Said.Parts)), " "), openingBytes)
	}
}

// recorded counts the end of a call.
func (s *sums) recorded(rec *session.Record) {
	s.Calls++
	s.Dir, s.Mode = cmp.Or(s.Dir, rec.Dir), cmp.Or(s.Mode, rec.Mode)
	if s.Tools == nil {
		s.Tools = map[string]int{}
	}
	s.Tools[rec.Tool]++
	if o := rec.Result; o != nil {
		s.Changed += len(Changed(o.Meta))
		switch {
		case o.Denied:
			s.Denied++
		case o.Err != nil:
			s.Failed++
		}
	}
}

func (s *sums) of(id string, started time.Time, last store.Event) Summary {
	st := &s.State
	out := Summary{ID: id, Opening: s.Opening, Started: started, Updated: last.At, Dir: cmp.Or(st.Setup.Dir, s.Dir), Mode: cmp.Or(st.Setup.Mode, s.Mode),
		Origin: st.Setup.Origin, Phase: st.Phase, Last: st.Last, Turns: st.Turns, Answers: st.Answers, Calls: s.Calls, Failed: s.Failed, Denied: s.Denied,
		Unsure: st.Unsure, Changed: s.Changed, Tokens: st.Total.Tokens(), Cost: st.Total.Cost, Events: last.Seq}
	if m := st.Setup.Model; m.Name != "" {
		out.Model = m.Provider + "/" + m.Name
	}
	return out
}

// Query selects sessions. Conditions are joined by "and".
type Query struct {
	Since time.Time
	Dir   string // that worked in this folder
	Loop  bool   // that a loop ran
	Limit int    // not positive: all
}

// cacheSpace holds sums, by session.
const (
	cacheSpace   = "history"
	cacheVersion = 1
	cacheEvery   = 64 // events that are read again rather than written down
)

// List returns what sessions were, the most recently used first. A session that cannot be read is listed with that as its title.
func List(ctx context.Context, s Store, q Query) ([]Summary, error) {
	all, err := s.Sessions(ctx, store.Filter{Since: q.Since})
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, one := range all {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		sum, err := summarize(ctx, s, one)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			sum = Summary{ID: one.ID, Title: "cannot be read: " + err.Error(), Started: one.First.At, Updated: one.Updated, Events: one.Last}
		}
		if q.Dir != "" && sum.Dir != q.Dir || q.Loop && !sum.Looped() {
			continue
		}
		out = append(out, sum)
	}
	return out, nil
}

// Newest returns the session that was used last of those that the query selects. Errors: ErrUnknown.
func Newest(ctx context.Context, s Store, q Query) (Summary, error) {
	q.Limit = 1
	list, err := List(ctx, s, q)
	if err != nil {
		return Summary{}, err
	}
	if len(list) == 0 {
		return Summary{}, ErrUnknown
	}
	return list[0], nil
}

// summarize brings the stored sums of a session up to now.
func summarize(ctx context.Context, s Store, one store.Session) (Summary, error) {
	r := newReader(nil)
	if rec, err := s.Get(ctx, cacheSpace, one.ID); err == nil {
		var old sums
		if json.Unmarshal(rec.Body, &old) == nil && old.V == cacheVersion && old.State.Version <= agent.Version && old.Upto <= one.Last {
			r.sums, r.state = old, old.State
		}
	}
	from := r.sums.Upto
	evs, err := s.Read(ctx, one.ID, from, 0)
	if err != nil {
		return Summary{}, err
	}
	loop, err := agent.Read(evs)
	if err != nil {
		return Summary{}, err
	}
	for _, e := range loop {
		r.loop[e.Seq] = e
	}
	last := store.Event{Seq: one.Last, At: one.Updated}
	for _, ev := range evs {
		if err := r.take(ev); err != nil {
			return Summary{}, fmt.Errorf("event %d (%s): %w", ev.Seq, ev.Kind, err)
		}
		last = ev
	}
	if r.sums.V, r.sums.Upto = cacheVersion, last.Seq; last.Seq-from >= cacheEvery {
		if body, err := json.Marshal(&r.sums); err == nil {
			if err := s.Set(ctx, store.Record{Space: cacheSpace, Key: one.ID, Owner: one.ID, Body: body}); err != nil {
				return Summary{}, err
			}
		}
	}
	sum := r.sums.of(one.ID, one.First.At, last)
	title, err := TitleOf(ctx, s, one.ID)
	if err != nil {
		return Summary{}, err
	}
	sum.entitle(title, r.sums.words())
	return sum, nil
}

// words is a title made of what is known.
func (s *sums) words() string {
	if s.Opening != "" {
		return s.Opening
	}
	return toolsOf(s.Tools)
}

// Forget removes what is kept beside the events of sessions that are removed.
func Forget(ctx context.Context, s store.Records, ids ...string) error {
	if err := s.Unset(ctx, cacheSpace, ids...); err != nil {
		return err
	}
	return s.Unset(ctx, titleSpace, ids...)
}
