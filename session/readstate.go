package session

import (
	"context"
	"sync"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// ReadState is a tool.ReadState in memory. The zero value is empty and ready; it is safe for concurrent use.
type ReadState struct{ m sync.Map }

// Seen is described at tool.ReadState.
func (r *ReadState) Seen(key string) (change.Digest, bool) {
	v, ok := r.m.Load(key)
	if !ok {
		return change.Digest{}, false
	}
	return v.(change.Digest), true
}

// Mark is described at tool.ReadState.
func (r *ReadState) Mark(key string, d change.Digest) {
	if d.IsZero() {
		r.m.Delete(key)
		return
	}
	r.m.Store(key, d)
}

// Hydrate rebuilds the state from stored calls, oldest first. It only fills keys that are missing: what is in memory
// may be newer than any stored turn, and history cannot prove that it is not.
func (r *ReadState) Hydrate(recs []Record) {
	folded := map[string]change.Digest{}
	for _, rec := range recs {
		for _, m := range rec.Marks {
			folded[m.Key] = m.Digest
		}
	}
	for key, d := range folded {
		if !d.IsZero() {
			r.m.LoadOrStore(key, d)
		}
	}
}

// Len returns the number of known keys.
func (r *ReadState) Len() int {
	n := 0
	r.m.Range(func(any, any) bool { n++; return true })
	return n
}

type readStateKey struct{}

// WithReadState returns a context in which every session has the given read-state: a parent hands its own to a child
// that shares it.
func WithReadState(ctx context.Context, rs tool.ReadState) context.Context {
	return context.WithValue(ctx, readStateKey{}, rs)
}

// handedOver returns the read-state that a parent handed over, if any; it wins over the session's own.
func handedOver(ctx context.Context) (tool.ReadState, bool) {
	rs, ok := ctx.Value(readStateKey{}).(tool.ReadState)
	return rs, ok
}

// Memory keeps the read-states of sessions for the life of the process and records nothing. The zero value is ready.
type Memory struct {
	mu     sync.Mutex
	states map[string]*ReadState
}

// ReadState returns the read-state of a session; an unknown one is new and empty.
func (m *Memory) ReadState(ctx context.Context, session string) (tool.ReadState, error) {
	if rs, ok := handedOver(ctx); ok {
		return rs, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.states == nil {
		m.states = map[string]*ReadState{}
	}
	rs, ok := m.states[session]
	if !ok {
		rs = &ReadState{}
		m.states[session] = rs
	}
	return rs, nil
}
