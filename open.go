// Package tackle is the front door: [Open] gives a ready box of tools for agents, with policy, journal, sessions and
// artifacts behind it.
//
//	box, err := tackle.Open(ctx, tackle.Config{Dir: "."})
//	if err != nil { … }
//	defer box.Close()
//	res, err := box.Call(ctx, tackle.NewRequest("read_file", map[string]any{"path": "go.mod"}))
//
// A result whose OK is false is for the model: a tool error or a denial, with what to do next. An error beside the
// result is a fault of the host or the program. The packages that Open puts together are all usable alone.
package tackle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
	"github.com/tackle-dev/tackle/tools/file"
)

// DefaultMode is the mode of a box that was given none.
const DefaultMode = "code"

// Config configures a box. The zero value works in the current folder, with the configuration files of the user and of
// the project, posture guarded, and nobody to answer asks. Fields that are set win over the files.
type Config struct {
	Dir      string   // working folder; default: the current one
	Roots    []string // workspace roots; default: Dir
	StateDir string   // sessions, journal, before-images; default: the user's state folder
	NoFiles  bool     // read no configuration files

	Mode    string // default "code"
	Session string // default: a new one
	Posture string // plan, guarded, auto or ci
	// Rules are a layer of their own, as strict as any other: the strictest opinion wins.
	Rules []permission.Rule
	// Answerer answers what policy asks a person; nil means that nobody is there. Approve answers without a person.
	Answerer toolbox.Answerer
	Approve  permission.Answer

	// Tools are added to the built-in ones, for the given modes (default: the box's mode).
	Tools []Tool
	Hooks []toolbox.Hook
	// Host replaces the local host.
	Host    host.Host
	Options tool.Options
	Log     *slog.Logger // default: discards
	Version string       // of the program, for its faces
}

// Tool is a tool with the modes that list it.
type Tool struct {
	tool.Tool
	Modes []string
}

// Answers for Config.Approve.
const (
	// ApproveAlways answers every ask with yes, also those of guards, as a person would who saw nothing. Denials stay.
	ApproveAlways = permission.Always
	// ApproveNever answers every ask with no.
	ApproveNever = permission.Never
)

// View selects a list of tools.
type View = toolbox.View

// Request is one call.
type Request = toolbox.Request

// Box is a toolbox with everything that stands behind it. It is safe for concurrent use.
type Box struct {
	*toolbox.Box
	cfg   Config
	gate  *permission.Gate
	store store.Store
	log   *session.Log

	artifacts tool.Artifacts
}

// Open puts a box together. Close it when done. Opening is cheap: the database is opened by the first call that
// records something.
func Open(ctx context.Context, cfg Config) (*Box, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("open tackle: %w", err)
	}
	b := &Box{cfg: cfg}
	if err := b.assemble(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open tackle: %w", err), b.Close())
	}
	return b, nil
}

// complete fills defaults and makes paths absolute.
func (c *Config) complete() error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	c.Dir = dir
	roots := make([]string, 0, len(c.Roots))
	for _, r := range c.Roots {
		if !filepath.IsAbs(r) {
			r = filepath.Join(dir, r)
		}
		roots = append(roots, r)
	}
	if c.Roots = roots; len(roots) == 0 {
		c.Roots = []string{dir}
	}
	if c.StateDir == "" {
		if c.StateDir, err = local.DefaultStateDir(); err != nil {
			return err
		}
	}
	if c.StateDir, err = filepath.Abs(c.StateDir); err != nil {
		return err
	}
	if c.Mode == "" {
		c.Mode = DefaultMode
	}
	if c.Session == "" {
		c.Session = "s_" + strings.ToLower(rand.Text()[:12])
	}
	return nil
}

func (b *Box) assemble(ctx context.Context) error {
	cfg := &b.cfg
	h := cfg.Host
	if h == nil {
		roots := make([]host.Root, 0, len(cfg.Roots))
		for _, r := range cfg.Roots {
			roots = append(roots, host.Root{Path: r})
		}
		l, err := local.Open(local.Config{Roots: roots, StateDir: filepath.Join(cfg.StateDir, "host")})
		if err != nil {
			return err
		}
		h = l
	}
	b.store = store.Open(cfg.StateDir, store.Options{})
	b.log = session.NewLog(b.store)
	facts := permission.FactsOf(h.Info())
	facts.State = append(facts.State, cfg.StateDir)
	env := tool.Environment{Mode: cfg.Mode, Workspace: tool.Workspace{WorkspaceDir: cfg.Roots[0], ProjectDir: cfg.Dir, Roots: cfg.Roots[1:]}}
	tools := b.builtins()
	gate, err := permission.New(permission.Options{Posture: permission.Posture(cfg.Posture), Facts: facts,
		Layers: []permission.Layer{{Name: permission.User, Rules: cfg.Rules}}, Tools: permissionsOf(tools)})
	if err != nil {
		return err
	}
	b.gate = gate
	answerer := cfg.Answerer
	if cfg.Approve != permission.Nobody {
		answerer = settle(cfg.Approve)
	}
	b.Box, err = toolbox.New(toolbox.Config{Host: h, Env: env, Gate: gate, Answerer: answerer, Recorder: b.log, Sessions: b.log,
		Hooks: cfg.Hooks, Options: cfg.Options, Log: cfg.Log})
	if err != nil {
		return err
	}
	for _, t := range tools {
		if err := b.Register(t.Tool, t.Modes...); err != nil {
			return err
		}
	}
	return nil
}

// builtins is the explicit list of tools, in the order in which models see them.
func (b *Box) builtins() []Tool {
	var out []Tool
	for _, t := range file.Tools() {
		out = append(out, Tool{t, []string{DefaultMode}})
	}
	for _, t := range b.cfg.Tools {
		if t.Modes == nil {
			t.Modes = []string{b.cfg.Mode}
		}
		out = append(out, t)
	}
	return out
}

func permissionsOf(tools []Tool) map[string]string {
	m := make(map[string]string, len(tools))
	for _, t := range tools {
		d := t.Definition()
		m[d.Name] = d.Permission
	}
	return m
}

// settle answers asks without a person.
type settle permission.Answer

// Answer is described at toolbox.Answerer.
func (s settle) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
	d := permission.Settle(a.Policy, permission.Answer(s))
	d.Fingerprint = a.Intent.Fingerprint
	return d, nil
}

// Close ends the box. Calls that still run fail.
func (b *Box) Close() error {
	if b.store == nil {
		return nil
	}
	return b.store.Close()
}

// View returns the view of the box's own mode.
func (b *Box) View() View { return View{Mode: b.Env().Mode} }

// SessionID returns the session of calls that name none.
func (b *Box) SessionID() string { return b.cfg.Session }
