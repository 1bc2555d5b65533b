package file

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/undo"
)

// Undo is the system tool that takes committed calls back (F10). No model sees it: it answers to a person.
type Undo struct {
	// Diff returns the diff that the record of a transaction keeps, and the folder its paths are relative to; nil
	// means that no merge can be offered.
	Diff func(ctx context.Context, tx host.Transaction) (diff, dir string, ok bool)
}

type undoInput struct {
	Session      string   `json:"session,omitempty" jsonschema:"Only calls of this session"`
	Call         string   `json:"call,omitempty" jsonschema:"Only this call"`
	Since        string   `json:"since,omitempty" jsonschema:"Only what was committed after this time (RFC 3339)"`
	Last         bool     `json:"last,omitempty" jsonschema:"Only the newest call"`
	Merge        bool     `json:"merge,omitempty" jsonschema:"Where others changed a file since, take back our change and keep theirs"`
	Transactions []string `json:"transactions,omitempty" jsonschema:"Only these transactions"`
}

// UndoData is what people and programs see of undo.
type UndoData struct {
	Transactions []string        `json:"transactions"`
	Left         int             `json:"left,omitempty"` // older transactions that another call has to take back
	Conflicts    []undo.Conflict `json:"conflicts,omitempty"`
	Merged       []string        `json:"merged,omitempty"`
}

// Tool returns the tool.
func (t Undo) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "undo", Category: "file", Title: "Undo", Permission: "edit",
		Description: "Take back what calls changed, newest first, and refuse where others changed the same since.",
		Annotations: tool.Annotations{Destructive: true},
		Example:     `{"last": true}`,
	}, t.plan)
}

func (t Undo) plan(ctx context.Context, call *tool.Call, in undoInput) (tool.Action, error) {
	q := undo.Query{Session: in.Session, Call: in.Call, Last: in.Last, Txs: in.Transactions}
	if in.Since != "" {
		at, err := time.Parse(time.RFC3339Nano, in.Since)
		if err != nil {
			return tool.Action{}, tool.Errorf(tool.InvalidParameter, "since is no time: %v.", err).For("since", "a time such as 2026-01-31T14:00:00Z")
		}
		q.Since = at
	}
	all, err := call.Host.Transactions(ctx, "")
	if err != nil {
		return tool.Action{}, tool.Fault(fmt.Errorf("read the journal: %w", err))
	}
	for _, r := range call.Host.Info().Roots { // the journal is that of all workspaces
		q.Roots = append(q.Roots, r.Path)
	}
	txs := q.Select(all)
	if len(txs) == 0 {
		return tool.Action{}, tool.Errorf(tool.NotFound, "there is nothing to undo here.").With("Name another session or time; 'tackle undo --list' shows what can be taken back.")
	}
	plan, gone, err := t.newest(ctx, call.Host, txs)
	if err != nil {
		return tool.Action{}, tool.PathError("path", "the files to restore", err)
	}
	data := UndoData{Transactions: plan.Txs, Left: plan.Left, Conflicts: plan.Conflicts}
	if err := t.resolve(&plan, &data, in.Merge); err != nil {
		return tool.Action{}, err
	}
	set := &plan.Set
	intent := tool.Intent{Effects: []tool.Effect{tool.Write}, Persists: true, Changes: set, Alone: true,
		Note: map[string]string{undo.NoteUndoes: strings.Join(append(gone, plan.Txs...), " ")}}
	for _, path := range set.Paths() {
		p, err := call.ResolveSelf(ctx, path)
		if err != nil {
			return tool.Action{}, err
		}
		intent.Targets = append(intent.Targets, tool.PathTo(p, tool.Write))
	}
	if set.Empty() {
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Alone: true}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			return tool.TextResult("Nothing to do: the files are as they were before.", data), nil
		}}, nil
	}
	return tool.Action{Intent: intent, Run: commit(set, func(host.Receipt) tool.Result {
		whose := "the change of one call"
		if n := len(plan.Txs); n > 1 {
			whose = fmt.Sprintf("%d changes", n)
		}
		text := fmt.Sprintf("Took back %s:\n%s", whose, set.Preview(call.Dir, change.PreviewOptions{}).Summary())
		if plan.Left > 0 {
			text += fmt.Sprintf("\n%d older transactions remain; call undo again for them.", plan.Left)
		}
		if len(data.Merged) > 0 {
			text += "\nMerged with what others changed: " + strings.Join(data.Merged, ", ")
		}
		return tool.TextResult(text, data)
	})}, nil
}

// newest plans to take back the newest transactions that one changeset can. Those of which nothing is left to take back,
// because somebody did it already, are passed over and named.
func (t Undo) newest(ctx context.Context, h host.Host, txs []host.Transaction) (plan undo.Plan, gone []string, err error) {
	byID := map[string]host.Transaction{}
	for _, tx := range txs {
		byID[tx.ID] = tx
	}
	diffs := func(tx string) (string, string, bool) {
		if t.Diff == nil {
			return "", "", false
		}
		return t.Diff(ctx, byID[tx])
	}
	for {
		if plan, err = undo.New(ctx, h, txs, diffs); err != nil {
			return plan, nil, err
		}
		if !plan.Set.Empty() || len(plan.Conflicts) > 0 || plan.Left == 0 {
			return plan, gone, nil
		}
		gone, txs = append(gone, plan.Txs...), txs[:plan.Left]
	}
}

// resolve takes the merges where they are wanted. Any conflict that stays refuses the whole undo.
func (t Undo) resolve(plan *undo.Plan, data *UndoData, merge bool) error {
	var b strings.Builder
	offered := 0
	for i := range plan.Conflicts {
		c := &plan.Conflicts[i]
		if c.Merge != nil && merge {
			plan.Set.Ops = append(plan.Set.Ops, *c.Merge)
			data.Merged = append(data.Merged, c.Path)
			continue
		}
		fmt.Fprintf(&b, "\n%s", c.Error())
		if c.Merge != nil {
			offered++
			b.WriteString(" (can be merged)")
		}
		if c.Foreign != "" {
			b.WriteString("\n" + strings.TrimSuffix(c.Foreign, "\n"))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	e := &tool.Error{Code: tool.Stale, Message: "some files are not what these calls left; nothing was changed." + b.String(),
		Hint: "Take back single calls, or restore these files by hand from the before-images."}
	if offered > 0 {
		e.Hint = "Call again with merge to take back our change and keep theirs where both fit."
	}
	return e
}
