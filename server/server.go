package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/console"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// Role is what the holder of a token may do.
type Role = access.Role

// The roles. Each of the first three may also do what the ones before it may; an agent makes calls and sees nothing.
const (
	Viewer   = access.Viewer   // sees everything
	Approver = access.Approver // answers asks, takes changes back
	Admin    = access.Admin    // makes calls, revokes grants, reloads policy, removes records, makes tokens
	Agent    = access.Agent    // makes calls, at /mcp and over the API
)

// Identity is who makes a request.
type Identity = access.Identity

// Token describes a token that is kept in the store.
type Token = access.Token

// Keys keeps tokens, codes and logins as digests.
type Keys = access.Keys

// NewKeys returns the keys of the store of a box. It touches nothing.
func NewKeys(box *tackle.Box) *Keys { return access.NewKeys(box.Store(), nil) }

// DefaultListen is the address of a server that was given none.
const DefaultListen = "127.0.0.1:7710"

// Config configures a Server. Box is required.
type Config struct {
	Box     *tackle.Box // stays the caller's
	Version string      // of the program
	// MCP is served at /mcp, to agents and admins. Nil serves none.
	MCP *mcp.Server
	// Tokens are secrets that are valid beside those of the store, such as one from the environment.
	Tokens []FixedToken

	Listen  string   // HOST:PORT or unix:PATH; default DefaultListen
	Public  bool     // let Listen be an address that other machines can reach
	Hosts   []string // names of the server besides localhost, without port
	Origins []string // web origins, such as https://tackle.example, whose pages may call besides its own
	Secure  bool     // the server stands behind TLS: cookies are for TLS only

	// Connect are ways to connect an agent, shown in the console where nothing has happened yet.
	Connect []Connection

	// Keep removes sessions that were not used for so long. 0 keeps them.
	Keep time.Duration
	// Streams bounds the open event streams. Default 4096.
	Streams int
	// Buffer is how many events may wait for one stream before it is dropped. Default 1024.
	Buffer int
	// Middleware stands before everything, such as one that reads the trace of a request. Optional.
	Middleware func(http.Handler) http.Handler
	Log        *slog.Logger // default: discards
}

// FixedToken is a secret of the configuration.
type FixedToken struct {
	Name    string
	Role    Role
	Program bool
	Secret  string // at least 32 bytes
}

// Connection is a way to connect an agent: a name and the line to type.
type Connection = console.Connection

// Server serves a box. It is safe for concurrent use. Close it when done.
type Server struct {
	cfg     Config
	core    *core.Core
	keys    *Keys
	door    *access.Door
	console *console.Console
	handler http.Handler
	metrics metrics
	routes  []route
	spec    []byte // the description of the API

	asks   *ask.Subscription
	wg     sync.WaitGroup
	stop   context.CancelFunc
	closed sync.Once

	announced bool
	patience  time.Duration // with clients of streams that do not read
	beat      time.Duration // between signs of life of a stream, and looks at whether its reader may still read it
	bodyTime  time.Duration // to send a body
}

// New puts a server together. From now on asks wait for an answer. Errors: contradictions in cfg.
func New(cfg Config) (*Server, error) {
	if cfg.Box == nil {
		return nil, errors.New("server: no box")
	}
	if cfg.Keep < 0 || cfg.Streams < 0 || cfg.Buffer < 0 {
		return nil, fmt.Errorf("server: keep %v, streams %d and buffer %d must not be negative", cfg.Keep, cfg.Streams, cfg.Buffer)
	}
	cfg.Listen, cfg.Streams = cmp.Or(cfg.Listen, DefaultListen), cmp.Or(cfg.Streams, 4096)
	cfg.Hosts, cfg.Origins = slices.Clone(cfg.Hosts), slices.Clone(cfg.Origins)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	guard, err := mcp.NewGuard(cfg.Hosts, cfg.Origins)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &Server{cfg: cfg, keys: NewKeys(cfg.Box), patience: writeTime, beat: beat, bodyTime: bodyTime}
	s.door = &access.Door{Keys: s.keys, Guard: guard, Secure: cfg.Secure, Refuse: refuse}
	for _, t := range cfg.Tokens {
		if err := cmp.Or(access.CheckName(t.Name), t.Role.Check()); err != nil {
			return nil, fmt.Errorf("server: token: %w", err)
		}
		if len(t.Secret) < 32 {
			return nil, fmt.Errorf("server: the token of %s has %d bytes, at least 32 are wanted", t.Name, len(t.Secret))
		}
		s.door.Fixed = append(s.door.Fixed, access.Fixed{Identity: Identity{Name: t.Name, Role: t.Role, Program: t.Program}, Digest: sha256.Sum256([]byte(t.Secret))})
	}
	cfg.Tokens, s.cfg.Tokens = nil, nil // digests are enough
	s.core = core.New(cfg.Box, core.Options{Version: cfg.Version, Buffer: cfg.Buffer, Log: cfg.Log})
	s.routes = s.table()
	if s.spec, err = s.describe(); err != nil {
		return nil, fmt.Errorf("server: description of the API: %w", err)
	}
	if s.console, err = console.New(console.Config{Core: s.core, Logout: "/logout", Code: s.codeAgain, Connect: slices.Clone(cfg.Connect), Log: cfg.Log}); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if s.handler, err = s.mux(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if cfg.Middleware != nil {
		s.handler = cfg.Middleware(s.handler)
	}
	s.attend()
	return s, nil
}

// attend keeps asks open for those who may come, counts them, and keeps the house.
func (s *Server) attend() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.asks = s.cfg.Box.Asks().Subscribe(ask.Audience{})
	s.wg.Go(func() {
		for {
			e, err := s.asks.Next(ctx)
			if err != nil {
				return
			}
			s.metrics.ask(e)
		}
	})
	s.wg.Go(func() { s.keepHouse(ctx) })
}

// Box returns the box that is served.
func (s *Server) Box() *tackle.Box { return s.cfg.Box }

// Handler returns what answers requests, with all checks before it.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen opens the configured address. Any host but a loopback one needs Config.Public. A socket is for this user only.
func (s *Server) Listen() (net.Listener, error) {
	l, err := mcp.Listen(s.cfg.Listen, s.cfg.Public)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return l, nil
}

// Serve serves until ctx ends. Then event streams end at once, with a notice, and other requests have a few seconds.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, s.core.EndStreams)()
	return mcp.Serve(ctx, l, s.handler, s.cfg.Log)
}

// Code makes a code that logs a person in at the console, once, and returns the path to open it with.
func (s *Server) Code(ctx context.Context, who Identity) (path string, err error) {
	code, _, err := s.keys.Code(ctx, who, "")
	return "/login?code=" + code, err
}

// Close ends what runs in the background: streams, calls that nobody waits for, the attendance for asks. The box stays open.
func (s *Server) Close() {
	s.closed.Do(func() {
		s.console.Close()
		s.core.Close()
		s.stop()
		s.asks.Close()
		s.wg.Wait()
		s.withdraw()
	})
}
