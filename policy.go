package tackle

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
)

// policy is the gate of a box with the files that it follows. The person's own file counts at the next call after it was
// changed; that of the project counts as it was when the box was opened, whatever an agent makes of it meanwhile.
type policy struct {
	*permission.Live
	box  *Box
	host host.Info
	tool map[string]string // name → permission

	mu   sync.Mutex
	seen stamp // of the person's file
}

// stamp tells whether a file changed.
type stamp struct {
	time time.Time
	size int64
	mode fs.FileMode
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}

// newPolicy makes the gate. Grants are kept in the store, for the project in the first root.
func (b *Box) newPolicy(h host.Host, tools []Tool) (*policy, error) {
	p := &policy{box: b, host: h.Info(), tool: make(map[string]string, len(tools)), seen: stampOf(b.userFile())}
	for _, t := range tools {
		d := t.Definition()
		p.tool[d.Name] = d.Permission
	}
	o := p.options(b.merged)
	o.Grants = &permission.Grants{Keeper: kept.NewGrants(b.store, b.cfg.Roots[0], nil)}
	g, err := permission.New(o)
	if err != nil {
		return nil, err
	}
	for _, f := range g.Lint() {
		if f.Severity == permission.Warning {
			b.notes = append(b.notes, f.String())
		}
	}
	p.Live = permission.NewLive(g)
	return p, nil
}

// options returns what a gate is made of.
func (p *policy) options(m config.Merged) permission.Options {
	b := p.box
	facts := permission.FactsOf(p.host)
	facts.State = append(facts.State, b.cfg.StateDir)
	if b.commands.dir != "" {
		facts.State = append(facts.State, b.commands.dir)
	}
	facts.OpenPath = b.cfg.Host == nil && openPath(os.Getenv("PATH"), b.cfg.Roots)
	facts.Artifacts = b.artifacts.SessionDir(b.cfg.Session)
	facts.Readable = m.Config.ReadRoots
	facts.Skills = b.skills.kept
	for _, f := range m.Files {
		facts.Config = append(facts.Config, f.Path)
	}
	facts.Config = append(facts.Config, b.programs...)
	if file := b.userFile(); file != "" {
		facts.Config = append(facts.Config, filepath.Dir(file)) // what is not there yet too: hooks, servers
	}
	layers := m.Layers
	if len(b.cfg.Rules) > 0 {
		layers = append(layers[:len(layers):len(layers)], permission.Layer{Name: "program", Rules: b.cfg.Rules})
	}
	return permission.Options{Posture: m.Config.Posture, Layers: layers, Modes: b.modes.Layers(), Facts: facts, Tools: p.tool}
}

// Decide is described at toolbox.Gate.
func (p *policy) Decide(ctx context.Context, r permission.Request) (tool.Decision, error) {
	p.follow(ctx)
	return p.Live.Decide(ctx, r)
}

// follow reads the person's file again where it changed. One that cannot be read leaves the last good rules in force.
func (p *policy) follow(ctx context.Context) {
	path := p.box.userFile()
	if path == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := stampOf(path)
	if now == p.seen {
		return
	}
	p.seen = now
	if err := p.reload(ctx); err != nil {
		p.box.logger().ErrorContext(ctx, "the configuration cannot be read; the last good rules stay", "file", path, "err", err)
	}
}

func (p *policy) reload(ctx context.Context) error {
	b := p.box
	b.snapshot.forget(b.userFile())
	m, err := config.Load(ctx, b.loading)
	if err != nil {
		return err
	}
	return p.Replace(p.options(m))
}

// ReloadPolicy reads the person's configuration file again and puts its rules and posture in force. It is not needed:
// every decision looks whether the file changed. The error says what cannot be read; the last good rules stay then.
func (b *Box) ReloadPolicy(ctx context.Context) error {
	b.policy.mu.Lock()
	defer b.policy.mu.Unlock()
	if err := b.policy.reload(ctx); err != nil {
		return fmt.Errorf("reload policy: %w", err)
	}
	return nil
}

// userFile returns the path of the person's file, "" where none is read.
func (b *Box) userFile() string {
	if b.cfg.NoFiles {
		return ""
	}
	return config.UserFile(os.LookupEnv)
}

// snapshot remembers files as they were first read, and that they were not there.
type snapshot struct {
	mu    sync.Mutex
	files map[string]read
}

type read struct {
	data []byte
	err  error
}

func (s *snapshot) read(path string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.files[path]
	if !ok {
		r.data, r.err = readPlain(path)
		if s.files == nil {
			s.files = map[string]read{}
		}
		s.files[path] = r
	}
	return r.data, r.err
}

func (s *snapshot) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, path)
}

// openPath reports whether a directory of PATH lies in a workspace root, as it is named or as it resolves.
func openPath(path string, roots []string) bool {
	real := func(dir string) string {
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			return r
		}
		return dir
	}
	for _, dir := range filepath.SplitList(path) {
		for _, root := range roots {
			for _, d := range []string{dir, real(dir)} {
				if rel, err := filepath.Rel(real(root), d); err == nil && filepath.IsLocal(rel) {
					return true
				}
			}
		}
	}
	return false
}
