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
// token and endpoint with idle expiry. Names hold digests, since an MCP session id is as good as a credential.
type sessionNames struct {
	process string

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
		return "mcp-" + short(o.SessionID)
	}
	key := short(o.Principal + "\x00" + o.Endpoint)
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
		u.epoch++
	}
	u.last = now
	return fmt.Sprintf("%s-%s-%d", n.process, key, u.epoch)
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// slots bound the calls of each owner: each many run, each many more wait.
type slots struct {
	each int

	mu     sync.Mutex
	owners map[string]*ownerSlots
}

type ownerSlots struct {
	free chan struct{} // holds a token for each running call
	held int           // running and waiting
}

// take waits for a slot. It returns false when too many wait already or ctx ends.
func (s *slots) take(ctx context.Context, owner string) (release func(), ok bool) {
	s.mu.Lock()
	if s.owners == nil {
		s.owners = map[string]*ownerSlots{}
	}
	o := s.owners[owner]
	if o == nil {
		s.prune()
		o = &ownerSlots{free: make(chan struct{}, s.each)}
		s.owners[owner] = o
	}
	if o.held == 2*s.each {
		s.mu.Unlock()
		return nil, false
	}
	o.held++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		o.held--
		s.mu.Unlock()
	}
	select {
	case o.free <- struct{}{}:
		return func() { <-o.free; leave() }, true
	case <-ctx.Done():
		leave()
		return nil, false
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
