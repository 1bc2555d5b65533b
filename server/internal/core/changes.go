package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/undo"
)

// ChangeQuery selects committed changes, newest first.
type ChangeQuery struct {
	Session string    `json:"session,omitempty" jsonschema:"of this session only"`
	Call    string    `json:"call,omitempty" jsonschema:"of this call only"`
	Before  time.Time `json:"before,omitzero" jsonschema:"committed before this time: the next page"`
	Limit   int       `json:"limit,omitempty" jsonschema:"at most so many; default 50, most 500"`
}

// Changes is a page of changes.
type Changes struct {
	Changes []Change `json:"changes"`
	More    bool     `json:"more"`
}

// Change is a committed changeset. Its diff is that of its call.
type Change struct {
	ID       string        `json:"id" jsonschema:"of the transaction"`
	At       time.Time     `json:"at"`
	Tool     string        `json:"tool,omitempty"`
	Session  string        `json:"session,omitempty"`
	Call     string        `json:"call,omitempty"`
	Undoes   []string      `json:"undoes" jsonschema:"transactions that it took back"`
	UndoneBy string        `json:"undoneBy,omitempty" jsonschema:"the transaction that took it back"`
	Undoable bool          `json:"undoable" jsonschema:"it can be taken back now"`
	Paths    []ChangedPath `json:"paths"`
}

// ChangedPath is one path of a change.
type ChangedPath struct {
	Kind   string `json:"kind" jsonschema:"write, delete, move, mkdir, link, chmod, …"`
	Path   string `json:"path"`
	To     string `json:"to,omitempty"`
	Before int64  `json:"before" jsonschema:"bytes"`
	After  int64  `json:"after" jsonschema:"bytes"`
	New    bool   `json:"new,omitempty"`
	Gone   bool   `json:"gone,omitempty"`
	Kept   bool   `json:"kept" jsonschema:"the content before is still kept"`
}

// Changes lists what was changed.
func (c *Core) Changes(ctx context.Context, q ChangeQuery) (Changes, error) {
	all, err := c.box.Host().Transactions(ctx, "")
	if err != nil {
		return Changes{}, err
	}
	undoable, err := c.box.Undoable(ctx, tackle.UndoRequest{Session: q.Session, Call: q.Call})
	if err != nil {
		return Changes{}, err
	}
	can := map[string]bool{}
	for _, tx := range undoable {
		can[tx.ID] = true
	}
	by := map[string]string{}
	for _, tx := range all {
		for _, id := range strings.Fields(tx.Note[undo.NoteUndoes]) {
			by[id] = tx.ID
		}
	}
	limit := page(q.Limit, 50, 500)
	out := Changes{Changes: []Change{}}
	for _, tx := range slices.Backward(all) {
		switch {
		case q.Session != "" && tx.Note[undo.NoteSession] != q.Session, q.Call != "" && tx.Note[undo.NoteCall] != q.Call,
			!q.Before.IsZero() && !tx.At.Before(q.Before):
			continue
		case len(out.Changes) == limit:
			out.More = true
			return out, nil
		}
		one := changeOf(&tx)
		one.Undoable, one.UndoneBy = can[tx.ID], by[tx.ID]
		out.Changes = append(out.Changes, one)
	}
	return out, nil
}

func changeOf(tx *host.Transaction) Change {
	out := Change{ID: tx.ID, At: tx.At.UTC(), Tool: tx.Note[undo.NoteTool], Session: tx.Note[undo.NoteSession], Call: tx.Note[undo.NoteCall],
		Undoes: list(strings.Fields(tx.Note[undo.NoteUndoes])), Paths: []ChangedPath{}}
	for _, p := range tx.Paths {
		out.Paths = append(out.Paths, ChangedPath{Kind: fmt.Sprint(p.Kind), Path: p.Path, To: p.To, Before: p.BeforeSize, After: p.AfterSize,
			New: p.BeforeType == change.Absent, Gone: p.AfterType == change.Absent, Kept: p.HasImage})
	}
	return out
}

// UndoInput selects what to take back. With neither session nor call it is everything in this workspace.
type UndoInput struct {
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Since   time.Time `json:"since,omitzero" jsonschema:"only what was committed after this time"`
	Last    bool      `json:"last,omitempty" jsonschema:"only the newest call of the selection"`
	Merge   bool      `json:"merge,omitempty" jsonschema:"where others changed a file since, take back our change and keep theirs"`
	Plan    bool      `json:"plan,omitempty" jsonschema:"only show what would happen"`
	// All must be set where nothing else selects: to take back everything is never a slip.
	All bool `json:"all,omitempty" jsonschema:"needed where nothing else selects"`
}

// Undo takes changes back. It is a call: policy decides it, it is recorded, and it can be taken back too. Errors: Forbidden,
// Invalid; what stands against it (a file that others changed since) is a result.
func (c *Core) Undo(ctx context.Context, who access.Identity, in UndoInput) (Tried, error) {
	if err := need(who, access.Approver, "take changes back"); err != nil {
		return Tried{}, err
	}
	if in.Session == "" && in.Call == "" && in.Since.IsZero() && !in.Last && !in.All {
		return Tried{}, errorf(Invalid, "say what to take back: a call, a session, a time, last, or all")
	}
	u := tackle.UndoRequest{Session: in.Session, Call: in.Call, Since: in.Since, Last: in.Last, Merge: in.Merge}
	req := tackle.Request{Session: c.box.SessionID()}
	if in.Plan {
		intent, terr, err := c.box.PreviewUndo(ctx, u)
		if err != nil {
			return Tried{}, err
		}
		out := Tried{Session: req.Session, State: OK, Files: []File{}}
		if terr != nil {
			out.State, out.Result = Failed, &Result{Parts: []tool.Part{}, Text: terr.Render(), Error: terr, Repairs: []string{}}
			return out, nil
		}
		p := c.box.PreviewOf(intent)
		out.Intent, out.Diff, out.Summary = intentOf(intent), p.Diff, p.Summary()
		for i := range p.Files {
			out.Files = append(out.Files, fileOf(&p.Files[i]))
		}
		return out, nil
	}
	if err := c.box.Note(ctx, who.String(), fmt.Sprintf("takes back changes (session %q, call %q, last %v, all %v)", in.Session, in.Call, in.Last, in.All)); err != nil {
		return Tried{}, Mistake(err)
	}
	res, err := c.box.Undo(ctx, u)
	if err != nil {
		return Tried{}, Mistake(err)
	}
	req.ID = res.Meta.Call
	return tried(req, &res), nil
}
