package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
)

// idleSession is how long the session of a token lives without a call. The newer era has no sessions of its own, so the
// calls of one token at one endpoint form one until they pause.
const idleSession = 30 * time.Minute

// sessionNames gives calls their toolbox session: the process for stdio, the MCP session in the older era, and else
// token and endpoint with idle expiry. Names hold digests, since an MCP session id is as good as a credential, and in front of
// them the holder of the token, for people.
type sessionNames struct {
	process string
	ended   func(session string) // or nil

	mu   sync.Mutex
	used map[string]*usedName // by token and endpoint
}

type usedName struct {
	last  time.Time
	epoch int
}

func (n *sessionNames) of(o Origin) string {
	switch {
	case o.Endpoint == "":
		return n.process
	case o.SessionID != "":
		return "mcp-" + holder(o.Principal) + short(o.SessionID)
	}
	key := holder(o.Principal) + short(o.Principal+"\x00"+o.Endpoint)
	name, over := n.current(key)
	if over != "" && n.ended != nil {
		n.ended(over)
	}
	return name
}

// current returns the name of the present session of a token, and that of the one before when that is just over.
func (n *sessionNames) current(key string) (name, over string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.used == nil {
		n.used = map[string]*usedName{}
	}
	now := time.Now()
	u := n.used[key]
	if u == nil {
		u = &usedName{last: now}
		n.used[key] = u
	}
	if now.Sub(u.last) > idleSession {
		over = fmt.Sprintf("%s-%s-%d", n.process, key, u.epoch)
		u.epoch++
	}
	u.last = now
	return fmt.Sprintf("%s-%s-%d", n.process, key, u.epoch), over
}

// holder is the part of a session's name that says to people whose token it is.
func holder(principal string) string {
	if principal == "" {
		return ""
	}
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, principal)
	return clean[:min(len(clean), 40)] + "-"
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// slots bound the calls of each owner, each many at once with each many more waiting, and know which run.
type slots struct {
	each int

	mu     sync.Mutex
	owners map[string]*ownerSlots
}

type ownerSlots struct {
	free  chan struct{} // holds a token for each running call
	held  int           // running and waiting
	calls map[*running]struct{}
}

// slot is the right of one call to run.
type slot struct {
	all   *slots
	owner *ownerSlots
	call  *running
}

// take waits for a slot. It returns false when too many wait already or ctx ends.
func (s *slots) take(ctx context.Context, owner string) (slot, bool) {
	s.mu.Lock()
	if s.owners == nil {
		s.owners = map[string]*ownerSlots{}
	}
	o := s.owners[owner]
	if o == nil {
		s.prune()
		o = &ownerSlots{free: make(chan struct{}, s.each), calls: map[*running]struct{}{}}
		s.owners[owner] = o
	}
	if o.held == 2*s.each {
		s.mu.Unlock()
		return slot{}, false
	}
	o.held++
	s.mu.Unlock()
	select {
	case o.free <- struct{}{}:
		return slot{all: s, owner: o}, true
	case <-ctx.Done():
		s.mu.Lock()
		o.held--
		s.mu.Unlock()
		return slot{}, false
	}
}

// begin notes which call runs in the slot.
func (s *slot) begin(r *running) {
	s.call = r
	s.all.mu.Lock()
	s.owner.calls[r] = struct{}{}
	s.all.mu.Unlock()
}

func (s *slot) release() {
	s.all.mu.Lock()
	delete(s.owner.calls, s.call)
	s.owner.held--
	s.all.mu.Unlock()
	<-s.owner.free
}

// endAll cancels the calls of an owner.
func (s *slots) endAll(owner string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.owners[owner]; o != nil {
		for r := range o.calls {
			r.end(cause)
		}
	}
}

// prune forgets owners without calls when there are many. The caller holds mu.
func (s *slots) prune() {
	if len(s.owners) < 256 {
		return
	}
	for name, o := range s.owners {
		if o.held == 0 {
			delete(s.owners, name)
		}
	}
}

func compare(a, b string) int { return strings.Compare(a, b) }
