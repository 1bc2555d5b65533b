package tackle

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// Finding is one thing that Probe tried.
type Finding struct {
	Name   string
	Detail string
	Err    error
	Fix    string
}

// Probe tries what calls will need: the state folder, the database, the ledger, and transactions that an earlier
// process left behind. It repairs the last (see host.Host.Recover) and changes nothing else.
func (b *Box) Probe(ctx context.Context) []Finding {
	out := []Finding{b.probeStore(ctx), b.probeLedger(ctx)}
	rec, err := b.Host().Recover(ctx)
	f := Finding{Name: "journal", Err: err, Detail: fmt.Sprintf("%d transactions finished, %d dropped, %d temporary files removed", len(rec.Finished), len(rec.Dropped), rec.Swept),
		Fix: "look at the named files; both versions are kept"}
	if err == nil && len(rec.Conflicts) > 0 {
		c := rec.Conflicts[0]
		f.Err = fmt.Errorf("%d transactions are stuck; the first at %s: %s", len(rec.Conflicts), c.Path, c.Reason)
	}
	return append(out, f)
}

func (b *Box) probeStore(ctx context.Context) Finding {
	f := Finding{Name: "state", Detail: b.cfg.StateDir, Fix: "make the folder writable, or name another one with --state"}
	_, f.Err = b.store.Last(ctx, b.cfg.Session)
	return f
}

func (b *Box) probeLedger(ctx context.Context) Finding {
	f := Finding{Name: "ledger", Fix: "keep a copy of the state folder; 'tackle ledger verify' names the first broken entry"}
	report, err := b.log.Verify(ctx)
	f.Err = err
	f.Detail = fmt.Sprintf("%d entries, the chain holds", report)
	return f
}

// PreviewOf shows what a planned call would do to files: a summary and a unified diff with paths relative to the
// working folder. It is empty for a call that changes none.
func (b *Box) PreviewOf(in *tool.Intent) change.Preview {
	return in.Changes.Preview(b.cfg.Dir, change.PreviewOptions{})
}
