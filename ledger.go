package tackle

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// LedgerEntry is one line of the ledger: what was asked, who or what decided, and what ran.
type LedgerEntry = ledger.Entry

// LedgerAnchor names an entry of the ledger by number and hash. One that is kept elsewhere shows that nothing was cut off
// or written anew.
type LedgerAnchor = ledger.Anchor

// LedgerReport says what was verified.
type LedgerReport = ledger.Report

// Ledger returns entries of the ledger behind number after, in order, at most limit (all where that is not positive).
func (b *Box) Ledger(ctx context.Context, after int64, limit int) ([]LedgerEntry, error) {
	return b.ledger.Read(ctx, after, limit)
}

// VerifyLedger reads the whole ledger. The error names the first entry that is not as it was written, or an anchor that
// does not fit.
func (b *Box) VerifyLedger(ctx context.Context, anchors ...LedgerAnchor) (LedgerReport, error) {
	return b.ledger.Verify(ctx, anchors...)
}

// ExportLedger writes the entries behind number after as JSON lines, each exactly as it is stored.
func (b *Box) ExportLedger(ctx context.Context, w io.Writer, after int64) error {
	return b.ledger.Export(ctx, w, after)
}

// DryRun is what the policy of a box would say to the calls of a recorded session.
type DryRun struct {
	Session string       `json:"session"`
	Calls   []DryRunCall `json:"calls"`             // that were planned, in order
	Skipped int          `json:"skipped,omitempty"` // calls that failed before policy was asked
}

// DryRunCall is one recorded call.
type DryRunCall struct {
	Call    string         `json:"call"`
	Tool    string         `json:"tool"`
	Targets []string       `json:"targets,omitempty"`
	Then    *tool.Decision `json:"then,omitempty"` // what was decided
	Now     tool.Decision  `json:"now"`            // what policy would say; ask means that a person would be asked
}

// Differs reports whether policy would now treat the call otherwise. What was decided by a person was asked.
func (c *DryRunCall) Differs() bool { return c.Then != nil && thenVerdict(c.Then) != c.Now.Verdict }

// thenVerdict is what policy had said: an answer by a person, a program or a flag was asked for.
func thenVerdict(d *tool.Decision) tool.Verdict {
	for _, by := range []string{"person ", "program", "--approve"} {
		if strings.HasPrefix(d.By, by) {
			return tool.Ask
		}
	}
	if d.Ticket != "" {
		return tool.Ask
	}
	return d.Verdict
}

// Count returns how many calls would get a verdict, and how many got it then.
func (r *DryRun) Count(v tool.Verdict) (now, then int) {
	for i := range r.Calls {
		if r.Calls[i].Now.Verdict == v {
			now++
		}
		if d := r.Calls[i].Then; d != nil && thenVerdict(d) == v {
			then++
		}
	}
	return now, then
}

// DryRun asks the policy of the box about the calls of a recorded session, one by one, and runs nothing. Grants that hold
// count, and none is spent. What a call would write only when it ran is judged as far as it was recorded.
func (b *Box) DryRun(ctx context.Context, id string) (DryRun, error) {
	run := DryRun{Session: id}
	recs, err := b.log.Calls(ctx, id)
	if err != nil {
		return run, err
	}
	if len(recs) == 0 {
		return run, fmt.Errorf("no session %q is recorded here", id)
	}
	ended := map[string]bool{}
	for _, rec := range recs {
		ended[rec.Call] = ended[rec.Call] || rec.Phase == session.End
	}
	gate := b.policy.Gate()
	for i := range recs {
		rec := &recs[i]
		switch {
		case rec.Phase == session.Start && ended[rec.Call]:
			continue
		case rec.Intent == nil:
			run.Skipped++
			continue
		}
		rec.Intent.Fingerprint = "" // of bytes that the record does not hold
		e := gate.Why(tool.Definition{Name: rec.Intent.Tool, Permission: rec.Intent.Permission}, permission.Request{Intent: rec.Intent, Session: id, Mode: rec.Mode})
		c := DryRunCall{Call: rec.Call, Tool: rec.Tool, Then: rec.Decision, Now: *e.Decision}
		for _, t := range rec.Intent.Targets {
			c.Targets = append(c.Targets, t.Value)
		}
		run.Calls = append(run.Calls, c)
	}
	return run, nil
}
