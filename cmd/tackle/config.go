package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/config"
)

func (a *app) configCommand() *cobra.Command {
	var asJSON, asSchema, trust bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the merged configuration with the origin of each value",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asSchema {
				b, err := config.Schema()
				if err != nil {
					return err
				}
				_, err = a.out.Write(b)
				return err
			}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if trust {
				path, err := box.TrustProject()
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "Trusted %s as it is now. A change of the file needs your word again.\n", path)
				return nil
			}
			if !asJSON {
				_, err = fmt.Fprint(a.out, box.Settings().Text())
				return err
			}
			enc := json.NewEncoder(a.out)
			enc.SetIndent("", "  ")
			return enc.Encode(box.Settings())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print values with origins as JSON")
	f.BoolVar(&asSchema, "schema", false, "print the JSON Schema of configuration files, for editors")
	f.BoolVar(&trust, "trust", false, "trust the project's configuration file as it is now, so that its rules may also allow")
	return cmd
}
