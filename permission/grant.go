package permission

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	// Dir limits a grant for a command to one folder to run in: the same line does something else elsewhere. "" is any.
	Dir string `json:"dir,omitempty"`
	// Scripts, beside Dir, limits it to the scripts that the line ran when it was granted, as they were: see
	// [tool.Intent.ScriptsDigest]. With a Dir, "" is a line that ran none.
	Scripts string `json:"scripts,omitempty"`

	Scope   Scope     `json:"scope"`
	Session string    `json:"session,omitempty"` // required but for ThisProject
	Turn    string    `json:"turn,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: only the scope ends it
	// Person names who answered. A grant without a person (a program's) does not answer a guard.
	Person string    `json:"person,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Given  time.Time `json:"given,omitzero"` // set by Gate.Grant where it is zero
}

// Keeper keeps grants for other processes and for later ones. Implementations are safe for concurrent use.
type Keeper interface {
	// Load returns every grant that is kept, in the order in which they were given.
	Load(ctx context.Context) ([]Grant, error)
	// Keep stores a grant.
	Keep(ctx context.Context, gr Grant) error
	// Drop removes grants; one that does not exist is no error.
	Drop(ctx context.Context, ids ...string) error
	// Spend removes a grant for one decision and reports whether it was there: of several decisions, in whatever process,
	// exactly one is told true.
	Spend(ctx context.Context, id string) (bool, error)
}

// Grants is a set of grants of one project. The zero value is empty and ready; it is safe for concurrent use and outlives
// the gates that use it.
//
// With a Keeper the set holds what the keeper holds, and turns besides, which end with the process. It is read anew
// whenever a decision depends on it, that is, when policy asks: a grant that another process gives or revokes counts at
// the next call. A set that cannot be read answers nothing.
type Grants struct {
	Keeper Keeper // set it before the first use; nil keeps grants in memory

	mu   sync.Mutex
	next int
	list []*granted
}

type granted struct {
	Grant
	rule rule // where Pattern is set
	kept bool // by the keeper
}

// CheckGrant reports what is wrong with a grant, without giving it. Errors: those of [Gate.Grant].
func (g *Gate) CheckGrant(gr Grant) error {
	_, err := g.settings.read(gr)
	return err
}

// read compiles a grant.
func (s *settings) read(gr Grant) (*granted, error) {
	in := &granted{Grant: gr}
	if err := gr.check(); err != nil {
		return nil, err
	}
	if gr.Pattern != "" {
		in.rule.Rule = Rule{Permission: gr.Permission, Pattern: gr.Pattern, Action: tool.Allow}
		if err := in.rule.compile(s, ""); err != nil {
			return nil, fmt.Errorf("grant: %w", err)
		}
	}
	return in, nil
}

func (gr *Grant) check() error {
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
	return nil
}

// Grant adds a grant. Errors: a grant that says nothing or too much, a pattern that cannot be read, or those of the
// keeper; the grant is not given then.
func (g *Gate) Grant(ctx context.Context, gr Grant) error {
	in, err := g.settings.read(gr)
	if err != nil {
		return err
	}
	s := g.grants
	if in.Given.IsZero() {
		in.Given = g.now()
	}
	in.kept = s.Keeper != nil && in.Scope != ThisTurn
	s.mu.Lock()
	if in.ID == "" && s.Keeper != nil {
		in.ID = "g_" + strings.ToLower(rand.Text()[:10]) // unique over processes
	}
	if in.ID == "" {
		s.next++
		in.ID = fmt.Sprintf("g%d", s.next)
	}
	s.mu.Unlock()
	if in.kept {
		if err := s.Keeper.Keep(ctx, in.Grant); err != nil {
			return fmt.Errorf("keep the grant: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, in)
	return nil
}

// load takes over what the keeper holds and reports whether that changed anything. When the keeper cannot be read, the
// set holds nothing of it.
func (s *Grants) load(ctx context.Context, set *settings) (changed bool, err error) {
	if s.Keeper == nil {
		return false, nil
	}
	stored, err := s.Keeper.Load(ctx)
	if err != nil {
		stored, err = nil, fmt.Errorf("the stored grants cannot be read: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := map[string]*granted{}
	var list []*granted
	for _, g := range s.list {
		if g.kept {
			have[g.ID] = g
		} else {
			list = append(list, g)
		}
	}
	for _, gr := range stored {
		g := have[gr.ID]
		if g == nil || !g.same(gr) {
			changed = true
			var bad error
			if g, bad = set.read(gr); bad != nil {
				continue // of another version, or for a kind of target that has no matcher here: it answers nothing
			}
			g.kept = true
		}
		delete(have, gr.ID)
		list = append(list, g)
	}
	s.list = list
	return changed || len(have) > 0, err
}

// same reports whether two grants say the same.
func (gr Grant) same(o Grant) bool {
	sameTimes := gr.Given.Equal(o.Given) && gr.Expires.Equal(o.Expires)
	gr.Given, gr.Expires, o.Given, o.Expires = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return sameTimes && gr == o
}

// Revoke removes a grant and reports whether it was there. The error is the keeper's.
func (s *Grants) Revoke(ctx context.Context, id string) (bool, error) {
	return s.end(ctx, func(g *granted) bool { return g.ID == id })
}

// EndTurn removes what was granted for a turn.
func (s *Grants) EndTurn(session, turn string) {
	s.drop(func(g *granted) bool { return g.Scope == ThisTurn && g.Session == session && g.Turn == turn })
}

// EndSession removes what was granted for a session, its turns and single calls. The error is the keeper's.
func (s *Grants) EndSession(ctx context.Context, session string) error {
	_, err := s.end(ctx, func(g *granted) bool { return g.Scope != ThisProject && g.Session == session })
	return err
}

// end removes grants, also those of the keeper that this set has not read yet.
func (s *Grants) end(ctx context.Context, ends func(*granted) bool) (bool, error) {
	if s.Keeper != nil {
		stored, err := s.Keeper.Load(ctx)
		if err != nil {
			return false, err
		}
		var ids []string
		for _, gr := range stored {
			if ends(&granted{Grant: gr}) {
				ids = append(ids, gr.ID)
			}
		}
		if len(ids) > 0 {
			if err := s.Keeper.Drop(ctx, ids...); err != nil {
				return false, err
			}
			s.drop(ends)
			return true, nil
		}
	}
	return s.drop(ends) > 0, nil
}

// List returns the grants that hold at a time, in the order in which they were given. With a keeper it is what was read
// last; [Gate.Grants] reads.
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
	case g.Permission != r.Intent.Permission || s.problem != "", g.Dir != "" && s.line != nil && (g.Dir != r.Intent.Dir || g.Scripts != r.Intent.ScriptsDigest()):
		return false
	case g.Target != "":
		return s.target.Kind != "" && (g.Target == s.target.Value || s.whole != "" && g.Target == s.whole)
	case !s.isPath():
		matches, _ := g.rule.matchesOther(s)
		return matches
	case g.rule.command != nil:
		return false
	}
	matched := 0
	for i := range s.n {
		if g.rule.path.match(&s.forms[i]) {
			matched++
		}
	}
	return matched == s.n || s.alike && matched > 0
}

// find returns the grant that answers an ask, or nil. It is noted in used, which may be nil.
func (s *Grants) find(r *Request, sub *subject, guarded bool, now time.Time, used map[*granted]*Grants) *granted {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.list {
		if g.answers(r, sub, guarded, now) {
			if used != nil {
				used[g] = s
			}
			return g
		}
	}
	return nil
}

// spend removes the grants for one decision that a decision used. It reports false when another decision was faster with
// one of them.
func spend(ctx context.Context, used map[*granted]*Grants) bool {
	won := true
	for g, s := range used {
		if g.Scope != Once {
			continue
		}
		if s.drop(func(o *granted) bool { return o == g }) == 0 {
			won = false
		} else if g.kept {
			first, err := s.Keeper.Spend(ctx, g.ID)
			won = won && first && err == nil
		}
	}
	return won
}
