package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
)

func (a *app) whyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "why TOOL [JSON]",
		Short:   "Explain why a tool is visible or not, and what a call of it would get",
		Example: `  tackle why edit '{"path": ".git/hooks/pre-commit", "old_string": "a", "new_string": "b"}'`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
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
	return cmd
}
