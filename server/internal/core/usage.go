package core

import (
	"context"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/toolbox"
)

// kept is how far back usage is counted.
const kept = 31 * 24 * time.Hour

// UsageQuery selects a span of time that ends now.
type UsageQuery struct {
	Hours int `json:"hours,omitempty" jsonschema:"how many hours back; default 24, most 744"`
	Step  int `json:"step,omitempty" jsonschema:"hours in a bucket; default 1"`
}

// Usage is what was used, over all sessions of the store, also those of other processes.
type Usage struct {
	From    time.Time   `json:"from"`
	Until   time.Time   `json:"until"`
	Step    int         `json:"step" jsonschema:"hours in a bucket"`
	Total   Figures     `json:"total"`
	Tools   []ToolUsage `json:"tools" jsonschema:"most calls first"`
	Buckets []Bucket    `json:"buckets" jsonschema:"without gaps, oldest first"`
	// Process are the figures of this process alone, exact, since its start.
	Process []toolbox.Figures `json:"process"`
}

// Figures are the figures of some calls.
type Figures struct {
	Calls    int64   `json:"calls"`
	Failures int64   `json:"failures" jsonschema:"tool errors; denials not counted"`
	Denied   int64   `json:"denied"`
	Asks     int64   `json:"asks"`
	BytesIn  int64   `json:"bytesIn"`
	BytesOut int64   `json:"bytesOut"`
	P50MS    float64 `json:"p50Ms" jsonschema:"quantiles of the duration, waiting for people included, exact to 13 %"`
	P90MS    float64 `json:"p90Ms"`
	P99MS    float64 `json:"p99Ms"`
}

// ToolUsage are the figures of one tool.
type ToolUsage struct {
	Tool string `json:"tool"`
	Figures
}

// Bucket are the figures of a span of time.
type Bucket struct {
	At time.Time `json:"at" jsonschema:"begin of the bucket"`
	Figures
}

// usage is the fold of the feed that usage is made of. It follows the store.
type usage struct {
	mu     sync.Mutex
	begun  bool
	cursor int64
	cells  map[cellKey]*cell
}

type cellKey struct {
	hour int64 // since 1970
	tool string
}

type cell struct {
	calls, failures, denied, asks, in, out int64
	times                                  map[int]int64 // by bucket of eight per doubling of a microsecond
}

func (a *cell) add(b *cell) {
	a.calls, a.failures, a.denied, a.asks, a.in, a.out = a.calls+b.calls, a.failures+b.failures, a.denied+b.denied, a.asks+b.asks, a.in+b.in, a.out+b.out
	for k, n := range b.times {
		if a.times == nil {
			a.times = map[int]int64{}
		}
		a.times[k] += n
	}
}

func (a *cell) figures() Figures {
	return Figures{Calls: a.calls, Failures: a.failures, Denied: a.denied, Asks: a.asks, BytesIn: a.in, BytesOut: a.out,
		P50MS: a.quantile(.5), P90MS: a.quantile(.9), P99MS: a.quantile(.99)}
}

// slot maps microseconds to eight buckets per doubling.
func slot(us int64) int {
	n := uint64(max(us, 0))
	if n < 8 {
		return int(n)
	}
	exp := bits.Len64(n) - 4
	return exp*8 + int(n>>exp)
}

// top is the upper end of a slot in milliseconds.
func top(slot int) float64 {
	if slot < 8 {
		return float64(slot+1) / 1000
	}
	exp := slot/8 - 1
	return math.Ldexp(float64(slot%8+9), exp) / 1000
}

func (a *cell) quantile(q float64) float64 {
	var total int64
	var slots []int
	for s, n := range a.times {
		slots = append(slots, s)
		total += n
	}
	slices.Sort(slots)
	rank := int64(math.Ceil(q * float64(total)))
	for _, s := range slots {
		if rank -= a.times[s]; rank <= 0 {
			return top(s)
		}
	}
	return 0
}

// follow reads what is new in the feed.
func (u *usage) follow(ctx context.Context, st store.Store, now time.Time) error {
	if !u.begun {
		start, err := firstSince(ctx, st, now.Add(-kept))
		if err != nil {
			return err
		}
		u.begun, u.cursor, u.cells = true, start, map[cellKey]*cell{}
	}
	oldest := now.Add(-kept).Unix() / 3600
	for k := range u.cells {
		if k.hour < oldest {
			delete(u.cells, k)
		}
	}
	for {
		fed, err := st.Follow(ctx, u.cursor, 1000)
		if err != nil || len(fed) == 0 {
			return err
		}
		for i := range fed {
			u.take(&fed[i])
			u.cursor = fed[i].ID
		}
	}
}

// firstSince returns the number behind which the events of a time begin, found by halving: numbers grow with time.
func firstSince(ctx context.Context, st store.Feed, since time.Time) (int64, error) {
	high, err := st.Newest(ctx)
	if err != nil {
		return 0, err
	}
	low := int64(0)
	for low < high {
		mid := low + (high-low)/2
		fed, err := st.Follow(ctx, mid, 1)
		if err != nil {
			return 0, err
		}
		if len(fed) == 0 || !fed[0].At.Before(since) {
			high = mid
		} else {
			low = fed[0].ID
		}
	}
	return low, nil
}

func (u *usage) cell(at time.Time, toolName string) *cell {
	key := cellKey{at.Unix() / 3600, toolName}
	c := u.cells[key]
	if c == nil {
		c = &cell{times: map[int]int64{}}
		u.cells[key] = c
	}
	return c
}

func (u *usage) take(f *store.Fed) {
	if strings.HasPrefix(f.Session, ".") {
		return
	}
	switch f.Kind {
	case tackle.AskKind:
		var rec struct {
			Phase ask.EventKind `json:"phase"`
			Tool  string        `json:"tool"`
		}
		if json.Unmarshal(f.Body, &rec) == nil && rec.Phase == ask.Opened {
			u.cell(f.At, rec.Tool).asks++
		}
	case session.EventKind:
		if !strings.HasSuffix(f.Key, "/"+string(session.End)) {
			return
		}
		var rec struct {
			Tool   string          `json:"tool"`
			Raw    json.RawMessage `json:"raw"`
			Result *struct {
				Parts []struct {
					Text string `json:"text"`
					Size int64  `json:"size"`
				} `json:"parts"`
				Err    *struct{} `json:"error"`
				Denied bool      `json:"denied"`
				Meta   struct {
					Duration time.Duration `json:"duration"`
				} `json:"meta"`
			} `json:"result"`
		}
		if json.Unmarshal(f.Body, &rec) != nil || rec.Result == nil {
			return
		}
		c := u.cell(f.At, rec.Tool)
		c.calls++
		switch {
		case rec.Result.Denied:
			c.denied++
		case rec.Result.Err != nil:
			c.failures++
		}
		c.in += int64(len(rec.Raw))
		for _, p := range rec.Result.Parts {
			c.out += max(p.Size, int64(len(p.Text)))
		}
		c.times[slot(rec.Result.Meta.Duration.Microseconds())]++
	}
}

// Usage returns figures over time.
func (c *Core) Usage(ctx context.Context, q UsageQuery) (Usage, error) {
	now := c.opt.Now().UTC()
	hours, step := page(q.Hours, 24, int(kept/time.Hour)), page(q.Step, 1, 24)
	u := &c.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	c.box.Settle()
	if err := u.follow(ctx, c.box.Store(), now); err != nil {
		return Usage{}, Mistake(err)
	}
	end := now.Unix()/3600 + 1
	count := (hours + step - 1) / step
	begin := end - int64(count*step)
	buckets, tools, total := make([]cell, count), map[string]*cell{}, cell{}
	for k, v := range u.cells {
		if k.hour < begin || k.hour >= end {
			continue
		}
		buckets[int(k.hour-begin)/step].add(v)
		total.add(v)
		if tools[k.tool] == nil {
			tools[k.tool] = &cell{}
		}
		tools[k.tool].add(v)
	}
	out := Usage{From: time.Unix(begin*3600, 0).UTC(), Until: now, Step: step, Total: total.figures(), Tools: []ToolUsage{}, Buckets: []Bucket{}, Process: list(c.box.Figures())}
	for i := range buckets {
		out.Buckets = append(out.Buckets, Bucket{At: out.From.Add(time.Duration(i*step) * time.Hour), Figures: buckets[i].figures()})
	}
	for name, v := range tools {
		out.Tools = append(out.Tools, ToolUsage{name, v.figures()})
	}
	slices.SortFunc(out.Tools, func(a, b ToolUsage) int {
		if a.Calls != b.Calls {
			return int(b.Calls - a.Calls)
		}
		return strings.Compare(a.Tool, b.Tool)
	})
	return out, nil
}
