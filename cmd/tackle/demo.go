package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/internal/cli/demo"
	"github.com/tackle-dev/tackle/internal/cli/talk"
	"github.com/tackle-dev/tackle/internal/show"
)

func (a *app) demoCommand() *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See a whole session on a scratch project: plan, edit, a refusal, tests, undo; no key needed",
		Long: "A scripted model works on a scratch project in a folder of its own: it plans, runs a failing test, edits, is refused\n" +
			"something, runs the test again, and its change is taken back. Only the model is scripted; your own files, configuration\n" +
			"and sessions are not touched.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "tackle-demo-")
			if err != nil {
				return err
			}
			p := a.printer("text", false).(*talk.Text)
			p.Asked = true
			if plain = plain || !p.ErrTTY; plain {
				p.Color = false
			}
			say := func(line string) {
				p.Rest()
				if p.Color && line != "" {
					line = "\x1b[36m" + line + "\x1b[0m"
				}
				fmt.Fprintln(a.err, line)
			}
			if err := demo.Run(cmd.Context(), dir, demo.Options{Printer: p, Say: say, Plain: plain, Self: self(), Keeper: proc.Self()}); err != nil {
				return err
			}
			say("   All of it is in " + show.Arg(dir) + "; remove that folder when you like.")
			return nil
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "at once and without colour")
	return cmd
}
