package toolbox

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
)

// Figures are the usage figures of one tool since the box was made (T13).
type Figures struct {
	Tool     string        `json:"tool"`
	Version  string        `json:"version"`
	Author   string        `json:"author"`
	Calls    int64         `json:"calls"`
	Failures int64         `json:"failures"` // tool errors, denials not counted
	Denied   int64         `json:"denied"`
	BytesIn  int64         `json:"bytesIn"`  // raw arguments
	BytesOut int64         `json:"bytesOut"` // text and data of the parts
	P50      time.Duration `json:"p50"`      // nanoseconds; quantiles are exact to 13 %
	P90      time.Duration `json:"p90"`
	P99      time.Duration `json:"p99"`
}

// figures counts without a lock. Durations fall into buckets of eight per power of two.
type figures struct {
	calls, failures, denied, in, out atomic.Int64
	buckets                          [bucketCount]atomic.Int64
}

const bucketCount = 8 * 48

func (f *figures) note(res *tool.Result, argBytes int) {
	f.count(Counted{Denied: res.Denied != nil, Failed: res.Err != nil, In: int64(argBytes), Out: int64(content.Bytes(res.Parts)), Duration: res.Meta.Duration})
}

func (f *figures) count(c Counted) {
	f.calls.Add(1)
	switch {
	case c.Denied:
		f.denied.Add(1)
	case c.Failed:
		f.failures.Add(1)
	}
	f.in.Add(c.In)
	f.out.Add(c.Out)
	f.buckets[bucket(c.Duration)].Add(1)
}

// bucket maps a duration to 8 buckets per doubling; the first holds everything below 8 ns.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 8 {
		return 0
	}
	exp := bits.Len64(n) - 4 // n>>exp is 8…15
	return min(exp*8+int(n>>exp)-8+1, bucketCount-1)
}

// bucketTop is the upper end of a bucket.
func bucketTop(i int) time.Duration {
	if i == 0 {
		return 8
	}
	exp, step := (i-1)/8, (i-1)%8
	return time.Duration(uint64(step+9) << exp)
}

func (f *figures) quantile(q float64) time.Duration {
	var total int64
	var counts [bucketCount]int64
	for i := range f.buckets {
		counts[i] = f.buckets[i].Load()
		total += counts[i]
	}
	if total == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(total)))
	for i, n := range counts {
		if rank -= n; rank <= 0 {
			return bucketTop(i)
		}
	}
	return bucketTop(bucketCount - 1)
}

// Figures returns the figures of every tool, in the order of registration.
func (b *Box) Figures() []Figures {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := make([]Figures, 0, len(b.entries))
	for _, e := range b.entries {
		out = append(out, e.figures.figures(e.def.Name, e.def.Version, e.def.Author))
	}
	return out
}

func (f *figures) figures(name, version, author string) Figures {
	return Figures{Tool: name, Version: version, Author: author,
		Calls: f.calls.Load(), Failures: f.failures.Load(), Denied: f.denied.Load(), BytesIn: f.in.Load(), BytesOut: f.out.Load(),
		P50: f.quantile(.5), P90: f.quantile(.9), P99: f.quantile(.99)}
}

// Tally counts calls that were made elsewhere, such as those of records, into figures. The zero value is ready; it is not
// safe for concurrent use.
type Tally struct {
	names []string
	tools map[string]*figures
}

// Counted is one call of a Tally.
type Counted struct {
	Tool           string
	Failed, Denied bool
	In, Out        int64 // bytes
	Duration       time.Duration
}

// Note counts a call.
func (t *Tally) Note(c Counted) {
	f := t.tools[c.Tool]
	if f == nil {
		if t.tools == nil {
			t.tools = map[string]*figures{}
		}
		f = &figures{}
		t.tools[c.Tool], t.names = f, append(t.names, c.Tool)
	}
	f.count(c)
}

// Figures returns the figures of every tool that was called, those with the most calls first.
func (t *Tally) Figures() []Figures {
	out := make([]Figures, 0, len(t.names))
	for _, name := range t.names {
		out = append(out, t.tools[name].figures(name, "", ""))
	}
	slices.SortStableFunc(out, func(a, b Figures) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Tool, b.Tool)) })
	return out
}

// limit takes a token of the tool's rate, or says how long to wait.
func (b *Box) limit(e *entry) *tool.Error {
	if e.limiter == nil {
		return nil
	}
	now := b.cfg.Clock()
	r := e.limiter.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &tool.Error{Code: tool.RateLimited, Retry: true,
		Message:  fmt.Sprintf("%s may be called %d times per %v.", e.def.Name, e.def.Rate.Calls, e.def.Rate.Per),
		Expected: fmt.Sprintf("the next call in %v", wait.Round(time.Millisecond)),
		Hint:     "Wait that long, or do something else first."}
}
