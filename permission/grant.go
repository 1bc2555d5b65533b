package permission

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// Scope says how long a grant holds.
type Scope string

// The scopes.
const (
	Once        Scope = "once"    // one decision
	ThisTurn    Scope = "turn"    // Grant.Session and Grant.Turn
	ThisSession Scope = "session" // Grant.Session
	ThisProject Scope = "project" // as long as the set of grants is kept
)

// Grant is the stored answer of a person: an allow in advance. It says what is granted in exactly one of three ways.
type Grant struct {
	ID         string `json:"id"`                   // "" lets Gate.Grant choose one
	Permission string `json:"permission,omitempty"` // exact; not used with Fingerprint

	Fingerprint string `json:"fingerprint,omitempty"` // exactly this intent
	Target      string `json:"target,omitempty"`      // exactly this resolved path, command, URL or tool name
	Pattern     string `json:"pattern,omitempty"`     // what a rule with this pattern would allow; never answers a guard

	Scope   Scope     `json:"scope"`
	Session string    `json:"session,omitempty"` // required but for ThisProject
	Turn    string    `json:"turn,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: only the scope ends it
	// Person names who answered. A grant without a person (a program's) does not answer a guard.
	Person string `json:"person,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Grants is a set of grants of one project. The zero value is empty and ready; it is safe for concurrent use and outlives
// the gates that use it.
type Grants struct {
	mu   sync.Mutex
	next int
	list []*granted
}

type granted struct {
	Grant
	rule rule // where Pattern is set
}

// Grant adds a grant. Errors: a grant that says nothing or too much, or a pattern that cannot be read.
func (g *Gate) Grant(gr Grant) error {
	ways := 0
	for _, w := range [...]string{gr.Fingerprint, gr.Target, gr.Pattern} {
		if w != "" {
			ways++
		}
	}
	switch {
	case ways != 1:
		return errors.New("grant: want exactly one of fingerprint, target and pattern")
	case gr.Fingerprint == "" && gr.Permission == "":
		return errors.New("grant: a target or a pattern needs the permission that it is granted for")
	case gr.Pattern == Any:
		return errors.New(`grant: the pattern "*" would answer every ask; write a rule instead`)
	case !slices.Contains([]Scope{Once, ThisTurn, ThisSession, ThisProject}, gr.Scope):
		return fmt.Errorf("grant: scope %q: want once, turn, session or project", gr.Scope)
	case gr.Session == "" && gr.Scope != ThisProject:
		return fmt.Errorf("grant: the scope %s needs a session", gr.Scope)
	case gr.Turn == "" && gr.Scope == ThisTurn:
		return errors.New("grant: the scope turn needs a turn")
	}
	in := &granted{Grant: gr}
	if gr.Pattern != "" {
		in.rule.Rule = Rule{Permission: gr.Permission, Pattern: gr.Pattern, Action: tool.Allow}
		if err := in.rule.compile(&g.settings, ""); err != nil {
			return fmt.Errorf("grant: %w", err)
		}
	}
	s := g.grants
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.ID == "" {
		s.next++
		in.ID = fmt.Sprintf("g%d", s.next)
	}
	s.list = append(s.list, in)
	return nil
}

// Revoke removes a grant and reports whether it was there.
func (s *Grants) Revoke(id string) bool {
	return s.drop(func(g *granted) bool { return g.ID == id }) > 0
}

// EndTurn removes what was granted for a turn.
func (s *Grants) EndTurn(session, turn string) {
	s.drop(func(g *granted) bool { return g.Scope == ThisTurn && g.Session == session && g.Turn == turn })
}

// EndSession removes what was granted for a session, its turns and single calls.
func (s *Grants) EndSession(session string) {
	s.drop(func(g *granted) bool { return g.Scope != ThisProject && g.Session == session })
}

// List returns the grants that hold at a time, in the order in which they were given.
func (s *Grants) List(now time.Time) []Grant {
	s.drop(func(g *granted) bool { return g.expired(now) })
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Grant
	for _, g := range s.list {
		out = append(out, g.Grant)
	}
	return out
}

func (s *Grants) drop(ends func(*granted) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, ends)
	return before - len(s.list)
}

// any reports whether a grant of the set is such a one.
func (s *Grants) any(is func(*granted) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, is)
}

func (g *granted) expired(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// answers reports whether the grant answers an ask about the subject. guarded says that a guard asks.
func (g *granted) answers(r *Request, s *subject, guarded bool, now time.Time) bool {
	switch {
	case g.expired(now), g.Scope != ThisProject && g.Session != r.Session, g.Scope == ThisTurn && g.Turn != r.Turn:
		return false
	case guarded && (g.Person == "" || g.Pattern != ""):
		return false
	case g.Fingerprint != "":
		return g.Fingerprint == r.Intent.Fingerprint
	case g.Permission != r.Intent.Permission || s.problem != "":
		return false
	case g.Target != "":
		return s.target.Kind != "" && g.Target == s.target.Value
	case !s.isPath():
		matches, _ := g.rule.matchesOther(&s.target)
		return matches
	}
	matched := 0
	for i := range s.n {
		if g.rule.path.match(&s.forms[i]) {
			matched++
		}
	}
	return matched == s.n || s.alike && matched > 0
}

// find returns the grant that answers an ask, or nil. A grant for one decision is noted in used, which may be nil.
func (s *Grants) find(r *Request, sub *subject, guarded bool, now time.Time, used map[*granted]*Grants) *granted {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.list {
		if g.answers(r, sub, guarded, now) {
			if used != nil && g.Scope == Once {
				used[g] = s
			}
			return g
		}
	}
	return nil
}

// spend removes the grants for one decision that a decision used. It reports false when another decision was faster with
// one of them.
func spend(used map[*granted]*Grants) bool {
	won := true
	for g, s := range used {
		if s.drop(func(o *granted) bool { return o == g }) == 0 {
			won = false
		}
	}
	return won
}
