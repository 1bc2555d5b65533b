package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
)

// Defaults of Config.
const (
	DefaultMaxFiles          = 20_000
	DefaultMaxFileSize int64 = 16 << 20 // bytes
	DefaultTimeout           = 4 * time.Minute
	DefaultResults     int64 = 64 << 20 // bytes
)

// Config configures a pipeline. Host and Gate are required.
type Config struct {
	Host host.Host
	// FileSystem says what may be written, and writes. Default: the host, which refuses files without a write bit.
	FileSystem FileSystem
	// PathTranslator turns the paths of callers into those of the host. Default: they are the same.
	PathTranslator PathTranslator
	// Gate is asked once before each step. There is no pipeline without one.
	Gate Gate
	// Root holds every file that the pipeline touches. Default: the first root of the host.
	Root string
	// Engines do the work of format, lint and check. The order is that in which they are preferred: a file is formatted by
	// the first one that serves it, and linted and checked by all.
	Engines []Engine

	Search      search.Config // ignore files, for selectors
	MaxFiles    int           // of one plan; DefaultMaxFiles
	MaxFileSize int64         // of each file, bytes; DefaultMaxFileSize
	Timeout     time.Duration // of one job of an engine; DefaultTimeout
	Results     int64         // bytes of findings that are kept by content; DefaultResults, negative for none

	// FormatOnEdit formats what the steps edit and apply_patch change, where they persist: in the same changeset, before the
	// gate is asked about it. Only engines that start no program take part.
	FormatOnEdit bool
}

// FileSystem is where a pipeline writes.
type FileSystem interface {
	// CanWrite says why a file may not be written, nil where it may. It is asked before the gate is.
	CanWrite(ctx context.Context, p host.Path) error
	// Commit writes a set, all of it or nothing.
	Commit(ctx context.Context, set *change.Set) (host.Receipt, error)
}

// PathTranslator translates between the paths that callers write and those of the host.
type PathTranslator interface {
	// Host returns the path on the host, absolute or relative to the root.
	Host(path string) (string, error)
	// Caller returns the form in which callers see a path that is relative to the root.
	Caller(rel string) string
}

// Pipeline runs plans. It is safe for concurrent use; plans that run at the same time have a workspace each.
type Pipeline struct {
	cfg     Config
	root    host.Path
	search  *search.Engine
	results *results
}

// New returns a pipeline. cfg is copied. A pipeline without a gate is an error: it would change files unasked.
func New(cfg Config) (*Pipeline, error) {
	switch {
	case cfg.Gate == nil:
		return nil, errors.New("dev: no gate: every pipeline is built with the gate that decides about its steps")
	case cfg.Host == nil:
		return nil, errors.New("dev: no host")
	}
	seen := map[string]bool{}
	engines := make([]Engine, len(cfg.Engines))
	for i, e := range cfg.Engines {
		engines[i] = described{e, e.Info()}
		name := e.Info().Name
		if name == "" || seen[name] {
			return nil, fmt.Errorf("dev: two engines are named %q; names are unique", name)
		}
		seen[name] = true
	}
	cfg.Engines = engines
	if cfg.Root == "" {
		roots := cfg.Host.Info().Roots
		if len(roots) == 0 {
			return nil, errors.New("dev: no root: the host has none, so name one")
		}
		cfg.Root = roots[0].Path
	}
	if cfg.FileSystem == nil {
		cfg.FileSystem = HostFiles{cfg.Host}
	}
	if cfg.PathTranslator == nil {
		cfg.PathTranslator = samePaths{}
	}
	cfg.MaxFiles, cfg.MaxFileSize = orDefault(cfg.MaxFiles, DefaultMaxFiles), orDefault(cfg.MaxFileSize, DefaultMaxFileSize)
	cfg.Timeout, cfg.Results = orDefault(cfg.Timeout, DefaultTimeout), orDefault(cfg.Results, DefaultResults)
	root, err := cfg.Host.Resolve(context.Background(), "", cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("dev: root: %w", err)
	}
	return &Pipeline{cfg: cfg, root: root, search: search.New(search.HostFS(cfg.Host), cfg.Search), results: newResults(cfg.Results)}, nil
}

// described is an engine that was asked once what it is: the question comes with every file.
type described struct {
	Engine
	info Info
}

func (d described) Info() Info { return d.info }

func orDefault[T int | int64 | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// Root returns the absolute, resolved path of the root.
func (p *Pipeline) Root() string { return p.root.Real }

// Engines describes the engines, in their order.
func (p *Pipeline) Engines() []Info {
	out := make([]Info, len(p.cfg.Engines))
	for i, e := range p.cfg.Engines {
		out[i] = e.Info()
	}
	return out
}

// Has reports whether any engine has a capability, for whatever file. No capability is always there.
func (p *Pipeline) Has(c Capability) bool {
	if c == "" {
		return true
	}
	for _, e := range p.cfg.Engines {
		if _, ok := e.Info().Can[c]; ok {
			return true
		}
	}
	return false
}

// serving returns the engines that have a capability for a file.
func (p *Pipeline) serving(c Capability, file string) []Engine {
	var out []Engine
	for _, e := range p.cfg.Engines {
		if e.Info().Serves(c, file) {
			out = append(out, e)
			if c == CanFormat {
				break
			}
		}
	}
	return out
}

// HostFiles is the file system that a host is by itself.
type HostFiles struct{ Host host.Host }

// CanWrite is described at FileSystem.
func (f HostFiles) CanWrite(ctx context.Context, p host.Path) error {
	info, err := f.Host.Stat(ctx, p.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Special != "":
		return &host.PathError{Op: "write", Path: p.Real, Err: host.ErrSpecial}
	case info.Type == change.File && info.Mode&0o222 == 0:
		return &host.PathError{Op: "write", Path: p.Real, Err: fmt.Errorf("it has no write bit: %w", fs.ErrPermission)}
	}
	return nil
}

// Commit is described at FileSystem.
func (f HostFiles) Commit(ctx context.Context, set *change.Set) (host.Receipt, error) {
	return f.Host.Commit(ctx, set, host.CommitOptions{Note: map[string]string{"tool": "dev"}})
}

type samePaths struct{}

func (samePaths) Host(path string) (string, error) { return path, nil }
func (samePaths) Caller(rel string) string         { return rel }

// VirtualRoot translates for callers who know the root under another absolute path, such as the one that it has in
// their container: with VirtualRoot("/workspace") they write /workspace/a or a.
type VirtualRoot string

// Host is described at PathTranslator.
func (v VirtualRoot) Host(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return path, nil
	}
	rel, err := filepath.Rel(string(v), path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is outside of %s", path, string(v))
	}
	return rel, nil
}

// Caller is described at PathTranslator. Callers see paths relative to the root.
func (v VirtualRoot) Caller(rel string) string { return strings.TrimPrefix(rel, "./") }
