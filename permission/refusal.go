package permission

import (
	"crypto/sha256"
	"sync"

	"github.com/tackle-dev/tackle/tool"
)

// MaxRefusals is the number of identical refusals that ends a turn (P13).
const MaxRefusals = 3

// Refusals counts how often one call was refused. Two calls are the same when tool and arguments are; what the files hold
// does not matter. The zero value is ready; it is safe for concurrent use. Make a new one for each turn.
type Refusals struct {
	mu    sync.Mutex
	count map[[sha256.Size]byte]int
}

// Refused notes a refusal and reports how often this call was refused so far, and whether that ends the turn.
func (r *Refusals) Refused(in *tool.Intent) (times int, end bool) {
	key := sameCall(in)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[[sha256.Size]byte]int{}
	}
	r.count[key]++
	return r.count[key], r.count[key] >= MaxRefusals
}

// Passed notes that a call was let through, so that its refusals before count no more.
func (r *Refusals) Passed(in *tool.Intent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.count) > 0 {
		delete(r.count, sameCall(in))
	}
}

func sameCall(in *tool.Intent) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(in.Tool))
	h.Write([]byte{0})
	h.Write(in.Args)
	return [sha256.Size]byte(h.Sum(nil))
}
