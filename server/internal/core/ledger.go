package core

import (
	"context"
	"errors"
	"io"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/ledger"
)

// LedgerQuery selects entries: the newest, unless After says otherwise.
type LedgerQuery struct {
	After  int64 `json:"after,omitempty" jsonschema:"behind this number"`
	Before int64 `json:"before,omitempty" jsonschema:"before this number, the newest of them"`
	Limit  int   `json:"limit,omitempty" jsonschema:"at most so many; default 100, most 1000"`
}

// Ledger is a page of the ledger, oldest first.
type Ledger struct {
	Entries []tackle.LedgerEntry `json:"entries"`
	Last    int64                `json:"last" jsonschema:"number of the newest entry"`
}

// Ledger returns entries.
func (c *Core) Ledger(ctx context.Context, q LedgerQuery) (Ledger, error) {
	last, err := c.box.Store().Last(ctx, ledger.Stream)
	if err != nil {
		return Ledger{}, Mistake(err)
	}
	limit := page(q.Limit, 100, 1000)
	from, until := q.After, last
	if q.After <= 0 {
		if q.Before > 0 {
			until = min(q.Before-1, last)
		}
		from = max(until-int64(limit), 0)
	}
	out := Ledger{Entries: []tackle.LedgerEntry{}, Last: last}
	if n := min(int64(limit), until-from); n > 0 {
		entries, err := c.box.Ledger(ctx, from, int(n))
		if err != nil {
			return out, Mistake(err)
		}
		out.Entries = list(entries)
	}
	return out, nil
}

// Verified says whether the ledger is whole.
type Verified struct {
	Whole   bool   `json:"whole"`
	Entries int64  `json:"entries" jsonschema:"that are whole, from the first"`
	Seq     int64  `json:"seq" jsonschema:"of the last of them"`
	Hash    string `json:"hash" jsonschema:"of the last of them: keep it elsewhere"`
	Problem string `json:"problem,omitempty" jsonschema:"the first entry that is not as it was written"`
}

// VerifyLedger reads the whole ledger.
func (c *Core) VerifyLedger(ctx context.Context) (Verified, error) {
	r, err := c.box.VerifyLedger(ctx)
	out := Verified{Whole: err == nil, Entries: r.Entries, Seq: r.Head.Seq, Hash: r.Head.Hash}
	if isBroken(err) {
		out.Problem = err.Error()
		return out, nil
	}
	return out, Mistake(err)
}

// ExportLedger writes entries as JSON lines, each exactly as it is stored.
func (c *Core) ExportLedger(ctx context.Context, w io.Writer, after int64) error {
	return Mistake(c.box.ExportLedger(ctx, w, after))
}

func isBroken(err error) bool {
	var broken *ledger.BrokenError
	return errors.As(err, &broken)
}
