package tackle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/config/mode"
	"github.com/tackle-dev/tackle/mcp/client"
)

// Servers are other MCP servers whose tools the box offers as its own: under its policy, bounds and records.
type Servers struct {
	box     *Box
	pool    *client.Pool
	servers []client.Server
	done    chan struct{}
	wg      sync.WaitGroup
}

// ServerFiles returns the files that may name other servers: the person's own and the project's .mcp.json.
func (b *Box) ServerFiles() (user, project string) {
	if f := config.UserFile(os.LookupEnv); f != "" {
		user = filepath.Join(filepath.Dir(f), "mcp.json")
	}
	return user, filepath.Join(b.merged.ProjectDir, ".mcp.json")
}

// OpenServers starts the servers that the person's mcp.json and the project's .mcp.json name and registers their tools
// for the modes that list them. A server that a project's file names is started only when exactly it was trusted (TrustServer).
// It waits at most for budget; tools that come later are registered then, and changed is called, if it is set.
// Without any server it returns nil. Close ends the servers.
func (b *Box) OpenServers(ctx context.Context, budget time.Duration, changed func()) (*Servers, error) {
	list, err := b.readServers()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	trust := b.trust()
	pool, err := client.New(list, client.Options{Dir: b.cfg.Dir, Cache: client.Dir(filepath.Join(b.cfg.StateDir, "mcp")), Log: b.cfg.Log,
		Approved: func(s *client.Server) bool { return trust.Trusted(s.Fingerprint()) }})
	if err != nil {
		return nil, err
	}
	s := &Servers{box: b, pool: pool, servers: list, done: make(chan struct{})}
	wait, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	pool.Wait(wait)
	if err := s.register(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.wg.Go(func() { s.watch(changed) })
	return s, nil
}

func (b *Box) readServers() ([]client.Server, error) {
	user, project := b.ServerFiles()
	var out []client.Server
	var errs []error
	for _, f := range []struct {
		path    string
		project bool
	}{{user, false}, {project, true}} {
		if f.path == "" || b.cfg.NoFiles {
			continue
		}
		data, err := readPlain(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list, err := client.Parse(data, os.LookupEnv, f.project)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.path, err))
		}
		out = append(out, list...)
	}
	return out, errors.Join(errs...)
}

// register puts the tools that are offered now into the box, in place of those of the same name.
func (s *Servers) register() error {
	registered := []string{mode.Code}
	if own, err := s.box.Mode(s.box.cfg.Mode); err == nil && own.From != mode.Code {
		registered = append(registered, own.Name)
	}
	for _, t := range s.pool.Tools() {
		modes := s.box.modes.For(t.Definition().Name, registered...)
		if len(modes) == 0 {
			continue
		}
		if err := s.box.Replace(t, modes...); err != nil {
			return fmt.Errorf("imported tool: %w", err)
		}
	}
	return nil
}

// watch registers what comes late.
func (s *Servers) watch(changed func()) {
	for {
		select {
		case <-s.done:
			return
		case <-s.pool.Changed():
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		s.pool.Refresh(ctx)
		cancel()
		if err := s.register(); err != nil && s.box.cfg.Log != nil {
			s.box.cfg.Log.Error("tools of another server", "err", err)
			continue
		}
		if changed != nil {
			changed()
		}
	}
}

// Status returns the state of every server.
func (s *Servers) Status() []client.Status { return s.pool.Status() }

// Configured returns the servers as they are configured.
func (s *Servers) Configured() []client.Server { return s.servers }

// Trust trusts a server of the project's file exactly as it is configured now: command, arguments, environment, address.
func (s *Servers) Trust(name string) error {
	for i := range s.servers {
		if srv := &s.servers[i]; srv.Name == name {
			_, project := s.box.ServerFiles()
			return s.box.trust().Add(srv.Fingerprint(), project+" "+name)
		}
	}
	return fmt.Errorf("no server %q is configured", name)
}

// Accept accepts the present definition of a tool that is withheld because it changed.
func (s *Servers) Accept(ctx context.Context, server, name string) error {
	return s.pool.Accept(ctx, server, name)
}

// Close ends the servers. Their tools stay listed and fail.
func (s *Servers) Close() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.done:
	default:
		close(s.done)
	}
	err := s.pool.Close()
	s.wg.Wait()
	return err
}
