package permission

import (
	"context"
	"sync/atomic"

	"github.com/tackle-dev/tackle/tool"
)

// Live is a gate whose configuration can be replaced while calls run: every decision is one of the newest gate. What a
// list of tools shows stays as it was at first, so that lists are byte-stable; a rule that comes later refuses calls.
// It is safe for concurrent use.
type Live struct {
	first *Gate
	now   atomic.Pointer[Gate]
}

// NewLive returns a live gate that begins with g.
func NewLive(g *Gate) *Live {
	l := &Live{first: g}
	l.now.Store(g)
	return l
}

// Gate returns the gate as it is now.
func (l *Live) Gate() *Gate { return l.now.Load() }

// Replace compiles the options and puts the new gate in place of the old one. Where o has no Grants, the new gate keeps
// those of the old one. When the options cannot be read, the old gate stays, and the error is that of [New].
func (l *Live) Replace(o Options) error {
	if o.Grants == nil {
		o.Grants = l.Gate().grants
	}
	g, err := New(o)
	if err != nil {
		return err
	}
	l.now.Store(g)
	return nil
}

// Decide is [Gate.Decide] of the gate as it is now.
func (l *Live) Decide(ctx context.Context, r Request) (tool.Decision, error) {
	return l.Gate().Decide(ctx, r)
}

// Screen is [Gate.Screen] of the gate as it is now.
func (l *Live) Screen(r Request) func(tool.Target) tool.Verdict { return l.Gate().Screen(r) }

// Asking is [Gate.Asking] of the gate as it is now.
func (l *Live) Asking(r Request) []string { return l.Gate().Asking(r) }

// Hidden is [Gate.Hidden] of the first gate.
func (l *Live) Hidden(permission, mode string) (hidden bool, by string) {
	return l.first.Hidden(permission, mode)
}
