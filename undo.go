package tackle

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tools/file"
	"github.com/tackle-dev/tackle/undo"
)

// UndoRequest selects what to take back. The zero value is everything that was done in this workspace; with a session or a
// call it is what that did, wherever.
type UndoRequest struct {
	Session string    // "" for every session
	Call    string    // only this call
	Since   time.Time // only what was committed after this time
	Last    bool      // only the newest call of what the rest selects
	Merge   bool      // where others changed a file since, take back our change and keep theirs
	// Transactions are the only ones that are meant; nil means any.
	Transactions []string
	// By is the session that the undo itself belongs to; default the box's own.
	By string
}

// Undo takes committed calls back. It is a call like any other: policy decides it, it is recorded, and it can itself be
// undone. What one changeset can take back is taken back wholly or not at all; a selection that moved folders about
// takes several, newest first, and stops at the first that is refused.
func (b *Box) Undo(ctx context.Context, u UndoRequest) (tool.Result, error) {
	req := b.undoCall(u)
	b.fill(&req)
	for {
		res, err := b.Box.Call(ctx, req)
		if err != nil || !res.OK() || u.Last || len(res.Meta.Transaction) == 0 || left(&res) == 0 {
			return res, err
		}
	}
}

// left is how many older transactions another call has to take back.
func left(res *tool.Result) int {
	data, ok := res.Data.(file.UndoData)
	if raw, masked := res.Data.(json.RawMessage); masked {
		ok = json.Unmarshal(raw, &data) == nil
	}
	if !ok {
		return 0
	}
	return data.Left
}

// PreviewUndo plans an undo and changes nothing. The plan's intent holds the exact bytes.
func (b *Box) PreviewUndo(ctx context.Context, u UndoRequest) (*tool.Intent, *tool.Error, error) {
	p, err := b.Plan(ctx, b.undoCall(u))
	if err != nil {
		return nil, nil, err
	}
	return &p.Action.Intent, p.Err, nil
}

func (b *Box) undoCall(u UndoRequest) Request {
	args := map[string]any{}
	for key, v := range map[string]string{"session": u.Session, "call": u.Call} {
		if v != "" {
			args[key] = v
		}
	}
	if !u.Since.IsZero() {
		args["since"] = u.Since.Format(time.RFC3339Nano)
	}
	if u.Last {
		args["last"] = true
	}
	if u.Merge {
		args["merge"] = true
	}
	if u.Transactions != nil {
		args["transactions"] = u.Transactions
	}
	req := NewRequest("undo", args)
	req.Platform, req.Session = true, u.By
	return req
}

// Undoable lists the transactions that can be taken back, oldest first: those of this workspace, or of the session or
// call that is named.
func (b *Box) Undoable(ctx context.Context, u UndoRequest) ([]host.Transaction, error) {
	all, err := b.Host().Transactions(ctx, "")
	if err != nil {
		return nil, err
	}
	q := undo.Query{Session: u.Session, Call: u.Call, Since: u.Since, Last: u.Last, Txs: u.Transactions}
	for _, r := range b.Host().Info().Roots {
		q.Roots = append(q.Roots, r.Path)
	}
	return q.Select(all), nil
}
