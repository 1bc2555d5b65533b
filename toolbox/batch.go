package toolbox

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// CallAll runs the calls of one turn and returns their results in the order of the requests. Calls run in parallel
// where their intents allow it (T11): reads together, two calls that touch the same path in the order given when one
// of them writes it, and an exclusive call (an execution that is not read-only) alone. The results are those of running
// the calls one by one.
//
// How that is kept: a call starts only when every earlier call that it conflicts with has ended. What it conflicts with
// follows from its intent; a call that waited is planned again, because what it saw may have changed. A call that
// cannot be planned yet could touch anything: that of a read-only tool waits for every earlier call that changes
// something, and later ones of those wait for it; any other runs alone.
//
// A fault in one call does not stop the others; the first one, in request order, is returned beside the results.
func (b *Box) CallAll(ctx context.Context, reqs []Request) ([]tool.Result, error) {
	results := make([]tool.Result, len(reqs))
	faults := make([]error, len(reqs))
	if len(reqs) == 1 {
		results[0], faults[0] = b.Call(ctx, reqs[0])
		return results, faults[0]
	}
	jobs := make([]*job, len(reqs))
	slots := make(chan struct{}, b.cfg.Parallel)
	var wg sync.WaitGroup
	for i := range reqs {
		j := &job{done: make(chan struct{})}
		running := unfinished(jobs[:i]) // before planning: what ends meanwhile may have changed what the plan saw
		p, err := b.Plan(ctx, reqs[i])
		if err == nil {
			j.footprint = b.footprintOf(ctx, p)
			for _, earlier := range running {
				if conflict(earlier.footprint, j.footprint) {
					j.after = append(j.after, earlier)
				}
			}
		}
		jobs[i] = j
		wg.Go(func() {
			defer close(j.done)
			if err != nil {
				results[i], faults[i] = b.fault(ctx, p, err)
				return
			}
			for _, earlier := range j.after {
				<-earlier.done
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			if len(j.after) > 0 {
				if err := b.again(ctx, p); err != nil {
					results[i], faults[i] = b.fault(ctx, p, err)
					return
				}
			}
			results[i], faults[i] = b.finish(ctx, p)
		})
	}
	wg.Wait()
	for _, err := range faults {
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// again plans a call that waited once more. Its hooks have spoken already.
func (b *Box) again(ctx context.Context, p *Planned) error {
	p.started = b.cfg.Clock()
	if p.Call == nil { // refused before it could be planned
		return nil
	}
	return b.plan(ctx, p)
}

// job is one call of a batch.
type job struct {
	footprint footprint
	after     []*job
	done      chan struct{}
}

func unfinished(jobs []*job) []*job {
	var out []*job
	for _, j := range jobs {
		select {
		case <-j.done:
		default:
			out = append(out, j)
		}
	}
	return out
}

// footprint is what a call touches, as far as scheduling cares.
type footprint struct {
	unknown   bool // not planned, or a command: it may read anything
	exclusive bool
	reads     []string
	writes    []string
}

func (f *footprint) mutates() bool { return f.exclusive || len(f.writes) > 0 }

func (b *Box) footprintOf(ctx context.Context, p *Planned) footprint {
	switch {
	case p.Call == nil: // refused before planning: no order of calls changes that
		return footprint{}
	case p.stopped():
		return footprint{unknown: true, exclusive: !p.entry.def.Annotations.ReadOnly}
	}
	in := &p.Action.Intent
	f := footprint{exclusive: in.Alone || in.Has(tool.Execute) && !in.Looks && !p.entry.def.Annotations.ReadOnly}
	for _, t := range in.Targets {
		if t.Kind == tool.CommandTarget {
			f.unknown = true
		}
		if t.Kind != tool.PathTarget {
			continue
		}
		paths := append([]string{t.Value}, b.otherNames(ctx, t.Value)...)
		if t.Path != nil && t.Path.Abs != t.Value {
			paths = append(paths, t.Path.Abs)
		}
		if t.Effect == tool.Write {
			f.writes = append(f.writes, paths...)
		} else {
			f.reads = append(f.reads, paths...)
		}
	}
	f.writes = append(f.writes, in.MayCreate...)
	if !in.Changes.Empty() {
		f.writes = append(f.writes, in.Changes.Paths()...)
	}
	if len(in.Targets) == 0 && (in.Has(tool.Write) || in.Has(tool.Spawn) || in.Has(tool.Interact)) {
		f.exclusive = true
	}
	return f
}

// otherNames returns a name that all hard links of a file share.
func (b *Box) otherNames(ctx context.Context, path string) []string {
	if b.cfg.Host == nil {
		return nil
	}
	info, err := b.cfg.Host.Stat(ctx, path)
	if err != nil || info.Type != change.File || info.Links < 2 {
		return nil
	}
	return []string{fmt.Sprintf("inode %d/%d", info.Dev, info.Ino)}
}

// conflict reports whether two calls must keep their order.
func conflict(a, b footprint) bool {
	switch {
	case a.exclusive || b.exclusive:
		return true
	case a.unknown:
		return b.mutates()
	case b.unknown:
		return a.mutates()
	}
	return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes)
}

// overlap reports whether a path of one list equals, contains or lies below a path of the other: a folder's listing
// depends on the files in it.
func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || below(x, y) || below(y, x) {
				return true
			}
		}
	}
	return false
}

func below(path, dir string) bool {
	return len(path) > len(dir) && strings.HasPrefix(path, dir) && (path[len(dir)] == '/' || path[len(dir)] == '\\' || strings.HasSuffix(dir, "/"))
}
