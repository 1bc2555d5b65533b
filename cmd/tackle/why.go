package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/tool"
)

func (a *app) whyCommand() *cobra.Command {
	var asJSON bool
	var session string
	cmd := &cobra.Command{
		Use:   "why TOOL [JSON] | --session ID",
		Short: "Explain why a tool is visible or not, and what a call of it would get",
		Long: "Explain, layer by layer and rule by rule, why a tool is visible or not, and what a call of it would get.\n" +
			"With --session: what the policy of now (rules, posture, grants) would say to every call of a recorded session.",
		Example: `  tackle why edit '{"path": ".git/hooks/pre-commit", "old_string": "a", "new_string": "b"}'
  tackle why --session s_k3v9 --posture ci`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (session == "") {
				return usage{errors.New("why: want either a TOOL or --session ID")}
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if session != "" {
				return a.dryRun(cmd, box, session, asJSON)
			}
			var raw json.RawMessage
			if len(args) == 2 {
				raw = json.RawMessage(args[1])
			}
			e, err := box.Why(cmd.Context(), tackle.NewRequest(args[0], raw))
			if err != nil {
				return err
			}
			if !asJSON {
				_, err = fmt.Fprint(a.out, e.Text())
				return err
			}
			enc := json.NewEncoder(a.out)
			enc.SetIndent("", "  ")
			return enc.Encode(e)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the explanation as JSON")
	cmd.Flags().StringVar(&session, "session", "", "a recorded session: what would this policy have said to its calls")
	return cmd
}

// dryRun prints what policy would say to the calls of a session: those that it would not just allow, and those that it
// would treat otherwise than then.
func (a *app) dryRun(cmd *cobra.Command, box *tackle.Box, session string, asJSON bool) error {
	run, err := box.DryRun(cmd.Context(), session)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(run)
	}
	for i := range run.Calls {
		c := &run.Calls[i]
		if c.Now.Verdict == tool.Allow && !c.Differs() {
			continue
		}
		target := ""
		if len(c.Targets) > 0 {
			target, _ = show.Cut(show.Line(c.Targets[0]), 100)
			target = " " + target
		}
		if n := len(c.Targets) - 1; n > 0 {
			target += fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(a.out, "%-5s %s%s by %s", c.Now.Verdict, show.Line(c.Tool), target, show.Line(c.Now.By))
		if c.Differs() {
			fmt.Fprintf(a.out, " (then: %s by %s)", c.Then.Verdict, show.Line(c.Then.By))
		}
		fmt.Fprintln(a.out)
	}
	for _, v := range []tool.Verdict{tool.Allow, tool.Ask, tool.Deny} {
		now, then := run.Count(v)
		fmt.Fprintf(a.out, "%-5s %d of %d calls (then %d)\n", v, now, len(run.Calls), then)
	}
	if run.Skipped > 0 {
		fmt.Fprintf(a.out, "%d calls failed before policy was asked\n", run.Skipped)
	}
	return nil
}
