//go:build linux || darwin

package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/hosttest"
)

// newLocal opens a host on a fresh root beside a fresh state directory, after the changes of tweak.
func newLocal(t *testing.T, tweak func(*Config)) *Local {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{Roots: []host.Root{{Path: filepath.Join(dir, "ws")}}, StateDir: filepath.Join(dir, "state")}
	if tweak != nil {
		tweak(&cfg)
	}
	if err := os.MkdirAll(cfg.Roots[0].Path, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// The suite runs over every road: the usual one, and those of kernels and file systems that lack something.
var roads = []struct {
	name string
	take func(*Local)
}{
	{"usual", func(*Local) {}},
	{"no openat2", func(l *Local) { l.noOpenat2.Store(true) }},
	{"state elsewhere", func(l *Local) { l.noState.Store(true) }},
	{"no exchange", func(l *Local) { l.noExchange.Store(true) }},
	{"no exchange, no hard links", func(l *Local) { l.noExchange.Store(true); l.noHardlink.Store(true) }},
}

func TestHost(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			hosttest.Run(t, func(t *testing.T) (host.Host, string) {
				l := newLocal(t, nil)
				road.take(l)
				return l, l.info.Roots[0].Path
			})
		})
	}
}
