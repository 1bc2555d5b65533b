package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/proc"
)

// Defaults of [Config].
const (
	DefaultMaxImageBytes int64         = 1 << 30
	DefaultMaxImageAge   time.Duration = 30 * 24 * time.Hour
)

// Config configures a local host. The zero value is a host without workspace roots that can only read.
type Config struct {
	Name     string      // default "local"
	Roots    []host.Root // directories that exist; an empty Name becomes the base name of the path
	StateDir string      // usually [DefaultStateDir]; "" makes a host that reads only
	Home     string      // what "~" means; default the user's home directory

	// MaxImageBytes bounds the before-images that are kept, in bytes over all processes; the oldest go first.
	// It is checked after commits and may be exceeded by what other running processes added since. Default 1 GiB.
	MaxImageBytes int64
	// MaxImageAge bounds the age of before-images and of the transaction list. Default 30 days.
	MaxImageAge time.Duration
	// Now is the clock of transactions. Default time.Now.
	Now func() time.Time

	// Commands configures the command half. Its directory defaults to the first root, its state directory to StateDir.
	// The zero value runs commands without keepers: a program that wants its commands to end with it, kill -9 included,
	// calls proc.KeeperMain first in main and sets Commands.Keeper to proc.Self().
	Commands proc.Config
}

// Local is the host of this machine. It is safe for concurrent use.
type Local struct {
	cfg  Config
	info host.Info
	platform

	commands commands
}

var _ host.Commander = (*Local)(nil)

// DefaultStateDir returns $XDG_STATE_HOME/tackle, or ~/.local/state/tackle.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tackle"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "tackle"), nil
}

// Open returns the host that cfg describes. It makes nothing: the state directory appears with the first commit or lock.
func Open(cfg Config) (*Local, error) {
	if cfg.Name == "" {
		cfg.Name = "local"
	}
	if cfg.MaxImageBytes == 0 {
		cfg.MaxImageBytes = DefaultMaxImageBytes
	}
	if cfg.MaxImageAge == 0 {
		cfg.MaxImageAge = DefaultMaxImageAge
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Home == "" {
		cfg.Home, _ = os.UserHomeDir() // a user without a home is legal; "~" is then an invalid path
	}
	l := &Local{cfg: cfg, info: host.Info{Name: cfg.Name, OS: runtime.GOOS, Home: cfg.Home}}
	if err := l.setRoots(cfg.Roots); err != nil {
		return nil, err
	}
	if err := l.setStateDir(cfg.StateDir); err != nil {
		return nil, err
	}
	l.info.Notes = append(l.info.Notes, l.platformNotes()...)
	return l, nil
}

func (l *Local) setRoots(roots []host.Root) error {
	names := make(map[string]bool, len(roots))
	for _, r := range roots {
		if !filepath.IsAbs(r.Path) {
			return fmt.Errorf("workspace root %q is not absolute", r.Path)
		}
		real, err := filepath.EvalSymlinks(r.Path)
		if err != nil {
			return fmt.Errorf("workspace root: %w", err)
		}
		if fi, err := os.Stat(real); err != nil || !fi.IsDir() {
			return fmt.Errorf("workspace root %q is not a directory", r.Path)
		}
		if r.Name == "" {
			r.Name = uniqueName(names, filepath.Base(real))
		}
		if names[r.Name] {
			return fmt.Errorf("two workspace roots are named %q", r.Name)
		}
		names[r.Name] = true
		l.info.Roots = append(l.info.Roots, host.Root{Name: r.Name, Path: real})
	}
	return nil
}

func uniqueName(taken map[string]bool, name string) string {
	for base, i := name, 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}

func (l *Local) setStateDir(dir string) error {
	if dir == "" {
		l.info.Notes = append(l.info.Notes, "no state directory: this host reads only")
		return nil
	}
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("state directory %q is not absolute", dir)
	}
	real, _, err := l.follow(filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("state directory %q: %w", dir, err)
	}
	l.info.StateDir = real
	for _, r := range l.info.Roots {
		if within(r.Path, real) {
			l.info.Notes = append(l.info.Notes, fmt.Sprintf("the state directory %s lies inside the workspace root %s; commits refuse to touch it, listings should leave it out", real, r.Path))
		}
		if within(real, r.Path) {
			return fmt.Errorf("workspace root %q lies inside the state directory", r.Path)
		}
	}
	return nil
}

// Info describes the host.
func (l *Local) Info() host.Info {
	info := l.info
	info.Roots = append([]host.Root(nil), l.info.Roots...)
	info.Notes = append([]string(nil), l.info.Notes...)
	return info
}

// within reports whether path is dir or lies below it. Both are clean and absolute.
func within(dir, path string) bool {
	if !strings.HasPrefix(path, dir) {
		return false
	}
	return len(path) == len(dir) || os.IsPathSeparator(path[len(dir)]) || os.IsPathSeparator(dir[len(dir)-1])
}

// fail wraps an error of the operating system in the host's words.
func fail(op, path string, err error) error {
	var pe *host.PathError
	var se *host.StaleError
	if err == nil || errors.As(err, &pe) || errors.As(err, &se) {
		return err
	}
	return &host.PathError{Op: op, Path: path, Err: translate(err)}
}
