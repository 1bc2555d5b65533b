package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/tool"
)

// The defaults of Options.
const (
	DefaultStartTime = 20 * time.Second
	DefaultMaxAnswer = 32 << 20
)

// Options configure a Pool. The zero value works and starts no server that a project's file names.
type Options struct {
	// Approved reports whether a server that a project's file names may be started; nil means never. Approve exactly the
	// fingerprint: command, arguments, environment and address.
	Approved func(s *Server) bool
	// Cache keeps the last list of each server, so that its tools are there before it is, and so that a tool which
	// changed between two runs is noticed; nil keeps lists in memory only.
	Cache Cache
	// Elicit asks a person on behalf of a server, which is named; nil declines, and servers are told that nobody can be
	// asked. It is never called for a form that asks for a secret.
	Elicit func(ctx context.Context, server, message string, schema any) (action string, content map[string]any, err error)

	// OAuth returns what gets tokens for a server that asks for authorization; nil, or a nil handler, uses the configured
	// headers only. See CheckAuthorizationURL.
	OAuth func(s *Server) (auth.OAuthHandler, error)

	Dir       string        // working directory of servers that name none
	StartTime time.Duration // for start, introduction and list of one server; default 20 s
	MaxAnswer int           // bytes of one message of a server; default 32 MiB
	Version   string        // of ours, as servers see it; default "dev"
	Log       *slog.Logger  // default: discards
	Clock     func() time.Time
}

// Cache stores what servers offered, by fingerprint of the server.
type Cache interface {
	Load(fingerprint string) ([]byte, error) // errors wrap fs.ErrNotExist where there is nothing
	Store(fingerprint string, data []byte) error
}

// Pool holds the connections to servers. It is safe for concurrent use.
type Pool struct {
	opt     Options
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	changed chan struct{}

	servers []*remote
}

// remote is one server with what it offers.
type remote struct {
	link *link
	done chan struct{} // closed when the first listing ended

	mu       sync.Mutex
	tools    []*imported
	pins     map[string]string // hash of each tool's definition, as it was when it was accepted
	withheld []Withheld
	problem  error // of the last listing
	cached   bool  // tools come from the cache
}

// New returns a pool of the servers and begins to start them in the background, those that may be started.
func New(servers []Server, opt Options) (*Pool, error) {
	if opt.StartTime == 0 {
		opt.StartTime = DefaultStartTime
	}
	if opt.MaxAnswer == 0 {
		opt.MaxAnswer = DefaultMaxAnswer
	}
	if opt.StartTime < 0 || opt.MaxAnswer < 0 {
		return nil, fmt.Errorf("mcp client: start time %v and largest answer %d must not be negative", opt.StartTime, opt.MaxAnswer)
	}
	if opt.Version == "" {
		opt.Version = "dev"
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	p := &Pool{opt: opt, changed: make(chan struct{}, 1)}
	names := map[string]bool{}
	for i := range servers {
		s := servers[i]
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("mcp client: %w", err)
		}
		if names[s.Name] {
			return nil, fmt.Errorf("mcp client: two servers are named %s", s.Name)
		}
		names[s.Name] = true
		if !s.Disabled {
			p.servers = append(p.servers, &remote{link: &link{cfg: s, pool: p}, done: make(chan struct{}), pins: map[string]string{}})
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for _, r := range p.servers {
		r.restore()
		p.running.Go(func() {
			r.refresh(p.ctx)
			close(r.done)
			p.announce()
		})
	}
	return p, nil
}

// announce tells that lists may have changed.
func (p *Pool) announce() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Changed receives when lists may have changed: a server arrived late, or says so. Look at Tools again at the next turn
// boundary; in the middle of a turn a list stays as it is.
func (p *Pool) Changed() <-chan struct{} { return p.changed }

// Wait waits until every server was listed or failed, or ctx ends. It is the budget of a start: what comes later comes
// with Changed.
func (p *Pool) Wait(ctx context.Context) {
	for _, r := range p.servers {
		select {
		case <-r.done:
		case <-ctx.Done():
			return
		}
	}
}

// Refresh asks the servers that said so for their lists again.
func (p *Pool) Refresh(ctx context.Context) {
	for _, r := range p.servers {
		if r.link.relisted.Load() {
			r.refresh(ctx)
		}
	}
}

// Tools returns what the servers offer now, in the order of the servers and of their lists, without what is withheld.
func (p *Pool) Tools() []tool.Tool {
	var out []tool.Tool
	for _, r := range p.servers {
		r.mu.Lock()
		for _, t := range r.tools {
			out = append(out, t)
		}
		r.mu.Unlock()
	}
	return out
}

// Status says how a server is.
type Status struct {
	Server   string
	Tools    int
	Listed   bool  // the first listing has ended
	Cached   bool  // its tools are those of an earlier run
	Err      error // why it could not be started, reached or listed
	Withheld []Withheld
}

// Withheld is a tool whose definition is not the one that was accepted.
type Withheld struct {
	Server, Tool string
	Name         string // as models would see it
	Now          string // the new description
}

// Status returns the state of every server.
func (p *Pool) Status() []Status {
	var out []Status
	for _, r := range p.servers {
		r.mu.Lock()
		s := Status{Server: r.link.cfg.Name, Tools: len(r.tools), Cached: r.cached, Err: r.problem, Withheld: slices.Clone(r.withheld)}
		r.mu.Unlock()
		select {
		case <-r.done:
			s.Listed = true
		default:
		}
		out = append(out, s)
	}
	return out
}

// Accept accepts the present definition of a withheld tool.
func (p *Pool) Accept(ctx context.Context, server, name string) error {
	for _, r := range p.servers {
		if r.link.cfg.Name == server {
			r.mu.Lock()
			delete(r.pins, name)
			r.mu.Unlock()
			r.refresh(ctx)
			p.announce()
			return nil
		}
	}
	return fmt.Errorf("mcp client: no server %q", server)
}

// Close ends the connections and the servers that were started, and returns when they are gone.
func (p *Pool) Close() error {
	p.cancel()
	var wg sync.WaitGroup
	for _, r := range p.servers {
		wg.Go(r.link.close)
	}
	wg.Wait()
	p.running.Wait()
	return nil
}

var errNotApproved = errors.New("a file of the project names this server, and starting it has not been approved")

// allowed reports whether the server may be started or addressed.
func (l *link) allowed() error {
	if l.cfg.Project && (l.pool.opt.Approved == nil || !l.pool.opt.Approved(&l.cfg)) {
		return errNotApproved
	}
	return nil
}

// vouch refuses a tool that is no longer what was accepted. A server that said that its list changed is asked again first.
func (r *remote) vouch(ctx context.Context, t *imported) *tool.Error {
	if r.link.relisted.Load() {
		r.refresh(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.withheld {
		if w.Tool == t.name {
			e := tool.Errorf(tool.PermissionDenied, "%s is withheld: the server %q changed what it says about it after it was accepted.", t.def.Name, w.Server)
			return e.With("Do without it, and tell the person, who can accept the new definition.")
		}
	}
	return nil
}

// refresh lists the server's tools and takes over what it may.
func (r *remote) refresh(ctx context.Context) {
	l := r.link
	err := l.allowed()
	var list []*sdk.Tool
	if err == nil {
		limited, cancel := context.WithTimeout(ctx, l.pool.opt.StartTime+l.pool.opt.StartTime/2)
		list, err = l.list(limited)
		cancel()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = err
	if err != nil {
		l.pool.opt.Log.Warn("mcp server", "server", l.cfg.Name, "err", err)
		if len(list) == 0 {
			if errors.Is(err, errNotApproved) {
				r.tools = nil
			}
			return
		}
	}
	r.cached = false
	r.adopt(list)
	r.store(list)
}

// adopt makes tools of a list. A tool whose definition changed since it was accepted is withheld.
func (r *remote) adopt(list []*sdk.Tool) {
	l := r.link
	r.tools, r.withheld = nil, nil
	for _, t := range list {
		if l.cfg.Tools != nil && !slices.Contains(l.cfg.Tools, t.Name) {
			continue
		}
		hash := pin(t)
		if old, ok := r.pins[t.Name]; ok && old != hash {
			r.withheld = append(r.withheld, Withheld{l.cfg.Name, t.Name, toolName(l.cfg.Name, t.Name), strings.TrimSpace(t.Description)})
			continue
		}
		r.pins[t.Name] = hash
		it, err := newImported(r, t, hash)
		if err != nil {
			l.pool.opt.Log.Warn("mcp tool", "server", l.cfg.Name, "tool", t.Name, "err", err)
			continue
		}
		r.tools = append(r.tools, it)
	}
}
