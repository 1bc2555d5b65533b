package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/tool"
)

func (a *app) planCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan [NAME]",
		Short: "List the plans of the workspace, or show one",
		Long: "List the plans of the workspace, or show one. Plans are Markdown files in .tackle/plans; the mode plan writes them and\n" +
			"changes nothing else.",
		Example: "  tackle run --mode plan 'plan how to replace the parser'\n  tackle plan parser\n  tackle run --mode build 'carry out .tackle/plans/parser.md'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if len(args) == 1 {
				text, err := box.PlanText(cmd.Context(), args[0])
				var e *tool.Error
				if errors.As(err, &e) {
					fmt.Fprintln(a.err, forPeople(a.err, e.RenderLine()))
					return exit(exitFailed)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, forPeople(a.out, text))
				return nil
			}
			all, err := box.Plans(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(append([]tackle.PlanFile{}, all...))
			}
			width := 0
			for _, p := range all {
				width = max(width, len(p.Path))
			}
			for _, p := range all {
				fmt.Fprintf(a.out, "%-*s  %s  %s\n", width, show.Line(p.Path), p.Time, show.Line(p.Title))
			}
			if len(all) == 0 {
				fmt.Fprintln(a.err, "There are no plans. The mode plan writes them: tackle run --mode plan 'what is to be planned'")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
