package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/undo"
)

func (a *app) undoCommand() *cobra.Command {
	var to string
	var last, dry, list, merge, asJSON bool
	var call string
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take back what calls changed: the last one, a session, or everything since a time",
		Long: "Take back what calls changed in this workspace. Without a selection the newest call is meant.\n" +
			"Nothing is overwritten that others changed since; --merge keeps both where they fit.",
		Example: "  tackle undo --dry-run\n  tackle undo --session s_k3v9 --merge\n  tackle undo --to 15m",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u := tackle.UndoRequest{Session: a.session, Call: call, Last: last || a.session == "" && to == "" && call == "", Merge: merge}
			if to != "" {
				since, err := parseTime(to)
				if err != nil {
					return usage{fmt.Errorf("--to %q: want a time such as 2026-01-31T14:00:00Z or 14:00, or how long ago, such as 15m", to)}
				}
				u.Since = since
			}
			a.session = "" // the undo itself is a session of its own
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			switch {
			case list:
				u.Last = false
				return a.listUndo(cmd, box, u)
			case dry:
				return a.previewUndo(cmd, box, u)
			}
			res, err := box.Undo(cmd.Context(), u)
			if err != nil {
				return err
			}
			return a.finish(&res, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.session, "session", "", "take back the calls of this session")
	f.StringVar(&call, "call", "", "take back this call")
	f.BoolVar(&last, "last", false, "take back only the newest call of the selection")
	f.StringVar(&to, "to", "", "take back what was changed after this time (RFC 3339, 15:04, or a duration ago such as 15m)")
	f.BoolVar(&dry, "dry-run", false, "show what would change, and change nothing")
	f.BoolVar(&list, "list", false, "list what can be taken back")
	f.BoolVar(&merge, "merge", false, "where others changed a file since, take back our change and keep theirs")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.StringVar(&a.approve, "approve", "", "answer what policy would ask a person: always or never (default: never)")
	return cmd
}

func parseTime(s string) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return time.Now().Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation("15:04", s, time.Local)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, time.Local), nil
}

func (a *app) listUndo(cmd *cobra.Command, box *tackle.Box, u tackle.UndoRequest) error {
	txs, err := box.Undoable(cmd.Context(), u)
	if err != nil {
		return err
	}
	if len(txs) == 0 {
		fmt.Fprintln(a.out, "Nothing to undo here.")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, tx := range txs {
		paths := tx.Paths[0].Path
		if n := len(tx.Paths); n > 1 {
			paths += fmt.Sprintf(" and %d more", n-1)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", tx.At.Local().Format(time.DateTime), tx.Note[undo.NoteSession], tx.Note[undo.NoteCall], tx.Note[undo.NoteTool], paths)
	}
	return w.Flush()
}

func (a *app) previewUndo(cmd *cobra.Command, box *tackle.Box, u tackle.UndoRequest) error {
	in, failed, err := box.PreviewUndo(cmd.Context(), u)
	if err != nil {
		return err
	}
	if failed != nil {
		fmt.Fprintln(a.err, failed.Render())
		return exit(exitFailed)
	}
	p := in.Changes.Preview(box.Dir(), change.PreviewOptions{})
	fmt.Fprint(a.out, p.Summary())
	fmt.Fprint(a.out, p.Diff)
	return nil
}
