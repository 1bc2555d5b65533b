package fit

import (
	"crypto/sha256"
	"sync"
)

// Refused remembers signed reasoning that its provider does not take back, for reasons that only the provider knows: another key,
// another server, a rule that is new. Without it, a session that holds such reasoning would fail with each request from then on.
// The zero value is ready, and safe for concurrent use.
type Refused struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]bool
}

// Has reports whether an opaque form was refused.
func (r *Refused) Has(opaque []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen) > 0 && r.seen[sha256.Sum256(opaque)]
}

// Add remembers opaque forms. Beyond as many as schemas, all are forgotten: the provider tells it again.
func (r *Refused) Add(opaque [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen)+len(opaque) > keep {
		r.seen = map[[sha256.Size]byte]bool{}
	}
	for _, o := range opaque {
		r.seen[sha256.Sum256(o)] = true
	}
}
