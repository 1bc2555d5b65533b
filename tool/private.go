package tool

import (
	"sync"

	"github.com/tackle-dev/tackle/host"
)

// Private collects paths of one call that may not simply be read. It is safe for concurrent use; nil collects nothing.
type Private struct {
	// Judge says what policy says to reading a path.
	Judge func(Target) Verdict

	mu      sync.Mutex
	targets []Target
}

func (p *Private) note(path host.Path) {
	if p == nil || path.Real == "" {
		return
	}
	t := PathTo(path, Read)
	if p.Judge(t) == Allow {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = append(p.targets, t)
}

// Targets returns what was collected.
func (p *Private) Targets() []Target {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.targets
}
