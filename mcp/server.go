package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/tool"
)

// Server serves one view of a box. It is safe for concurrent use and can serve any number of connections.
type Server struct {
	box   Box
	cfg   Config
	sdk   *sdk.Server
	info  []byte // serverInfo as JSON, for the answers of the newer era
	wait  *waitTool
	calls keeper
	slots slots
	web   webSessions
	names sessionNames

	refresh sync.Mutex
	tools   atomic.Pointer[map[string]tool.Definition] // what is listed, by name
}

// NewServer returns a server of the box. The list of tools is what the box has for the view now; see Refresh.
// Errors: contradictions in cfg, or a tool of the box with the name call_wait.
func NewServer(box Box, cfg Config) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	cfg.Roots, cfg.Prompts = slices.Clone(cfg.Roots), slices.Clone(cfg.Prompts)
	if cfg.StateKey == nil {
		cfg.StateKey = make([]byte, 32)
		rand.Read(cfg.StateKey) // never fails
	}
	s := &Server{box: box, cfg: cfg}
	s.calls.retention = cfg.Retention
	s.slots.each = cfg.InFlight
	s.names.process, s.names.ended = "mcp-"+rand.Text()[:10], cfg.Ended
	if cfg.Budget > 0 {
		w, err := newWaitTool(cfg.Budget)
		if err != nil {
			return nil, err
		}
		s.wait = w
	}
	defs, err := s.definitions()
	if err != nil {
		return nil, err
	}
	impl := &sdk.Implementation{Name: cfg.Name, Title: cfg.Title, Version: cfg.Version}
	if s.info, err = json.Marshal(impl); err != nil {
		return nil, fmt.Errorf("mcp: server info: %w", err)
	}
	opts := &sdk.ServerOptions{
		Instructions: instructions(&cfg, defs),
		Logger:       cfg.Log,
		Capabilities: capabilities(),
		SetCacheable: cacheable,
	}
	if cfg.SDKOptions != nil {
		cfg.SDKOptions(opts)
	}
	s.sdk = sdk.NewServer(impl, opts)
	s.sdk.AddReceivingMiddleware(s.intercept)
	if err := s.addTasks(); err != nil {
		return nil, err
	}
	s.publish(defs)
	if cfg.Artifacts != nil {
		s.addArtifacts()
	}
	if err := s.addPrompts(); err != nil {
		return nil, err
	}
	if f, ok := box.(figurer); ok {
		s.addUsage(f)
	}
	return s, nil
}

func capabilities() *sdk.ServerCapabilities {
	c := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}}
	c.AddExtension(tasksExtension, nil)
	return c
}

// SDK returns the underlying server of the MCP SDK, for programs that add features of their own. Tools that are added
// there do not take the road of the toolbox: no gate, no record, no bounds. Calls of the toolbox's tools mostly do not
// pass through it, so middleware that is added there does not see them.
func (s *Server) SDK() *sdk.Server { return s.sdk }

// Instructions returns what clients are told to tell their models.
func (s *Server) Instructions() string { return instructions(&s.cfg, s.listed()) }

// Refresh takes over the box's present list of tools and tells the clients where it changed. Call it at a turn boundary:
// a list that changes in the middle of a turn costs the model its prompt cache.
func (s *Server) Refresh() error {
	defs, err := s.definitions()
	if err != nil {
		return err
	}
	s.publish(defs)
	return nil
}

// definitions returns what is to be listed: the box's tools and our own.
func (s *Server) definitions() ([]tool.Definition, error) {
	defs := slices.Clone(s.box.Tools(s.cfg.View))
	if s.wait == nil {
		return defs, nil
	}
	for _, d := range defs {
		if d.Name == waitName {
			return nil, fmt.Errorf("mcp: the box has a tool named %s, which the server adds itself; set Budget negative or rename the tool", waitName)
		}
	}
	return append(defs, s.wait.def), nil
}

// publish makes the list what clients see.
func (s *Server) publish(defs []tool.Definition) {
	s.refresh.Lock()
	defer s.refresh.Unlock()
	next := make(map[string]tool.Definition, len(defs))
	var old map[string]tool.Definition
	if p := s.tools.Load(); p != nil {
		old = *p
	}
	for _, d := range defs {
		next[d.Name] = d
		if before, ok := old[d.Name]; !ok || !same(before, d) {
			s.sdk.AddTool(describeTool(d), unreachable)
		}
	}
	s.tools.Store(&next)
	var gone []string
	for name := range old {
		if _, ok := next[name]; !ok {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.sdk.RemoveTools(gone...)
	}
}

// same reports whether two definitions look the same to a client.
func same(a, b tool.Definition) bool {
	return a.Title == b.Title && a.Description == b.Description && a.Annotations == b.Annotations && a.Schema == b.Schema
}

// describeTool is the protocol's form of a definition. All four hints are sent: a client that finds none may refuse the
// tool. A schema is sent as it is; there is no output schema, because results are text.
func describeTool(d tool.Definition) *sdk.Tool {
	destructive, open := d.Annotations.Destructive, d.Annotations.OpenWorld
	return &sdk.Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.Schema,
		Annotations: &sdk.ToolAnnotations{Title: d.Title, ReadOnlyHint: d.Annotations.ReadOnly, IdempotentHint: d.Annotations.Idempotent,
			DestructiveHint: &destructive, OpenWorldHint: &open},
	}
}

// unreachable is the SDK's handler of our tools: calls of them never get that far, intercept takes them.
func unreachable(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return nil, fmt.Errorf("tool %q: the call was not intercepted", req.Params.Name)
}

// has reports whether a call of the name is ours: a listed tool, or an alias that the box knows.
func (s *Server) has(name string) bool {
	if _, ok := (*s.tools.Load())[name]; ok {
		return true
	}
	b, ok := s.box.(interface {
		Definition(name, mode string) (tool.Definition, bool)
	})
	if !ok {
		return false
	}
	_, ok = b.Definition(name, s.cfg.View.Mode)
	return ok
}

func (s *Server) listed() []tool.Definition {
	var out []tool.Definition
	for _, d := range *s.tools.Load() {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b tool.Definition) int { return compare(a.Name, b.Name) })
	return out
}

// cacheable says how long clients may keep a list. Lists change only by Refresh, which is announced; a client that does
// not listen asks again after a minute. Artifacts never change.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch r := req.(type) {
	case *sdk.ReadResourceRequest:
		if r.Params.URI != usageURI { // what is kept does not change
			c.TTLMs = 3_600_000
		}
	default:
		c.TTLMs = 60_000
	}
}
