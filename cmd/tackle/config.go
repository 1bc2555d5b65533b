package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission/ask"
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
				return a.trustProject(cmd.Context(), box)
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
	cmd.AddCommand(a.importCommand())
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print values with origins as JSON")
	f.BoolVar(&asSchema, "schema", false, "print the JSON Schema of configuration files, for editors")
	f.BoolVar(&trust, "trust", false, "show the project's configuration and hooks and trust them as they are now; answered at the terminal")
	return cmd
}

// trustProject shows what the project would be allowed to say, and trusts it where the person at the terminal says so.
func (a *app) trustProject(ctx context.Context, box *tackle.Box) error {
	files, err := box.ProjectFiles()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no configuration file of a project was found here")
	}
	files = slices.DeleteFunc(files, func(f tackle.ProjectFile) bool { return f.Trusted })
	if len(files) == 0 {
		fmt.Fprintln(a.out, "The project is trusted as it is now.")
		return nil
	}
	view := ask.View{Title: "Trust these files of the project, so that their rules may allow and their hooks run?"}
	for _, f := range files {
		view.Targets = append(view.Targets, ask.Target{Effect: "trust", Kind: "file", Value: show.Line(f.Path)})
		view.Diff += "+++ " + show.Line(f.Path) + "\n"
		for line := range strings.Lines(show.Text(strings.ToValidUTF8(string(f.Content), "\uFFFD"))) {
			view.Diff += "+" + strings.TrimSuffix(line, "\n") + "\n"
		}
	}
	if err := a.confirm(ctx, "config --trust", view); err != nil {
		return err
	}
	if err := box.Trust(files...); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(a.out, "Trusted %s as it was shown. A change of the file needs your word again.\n", show.Line(f.Path))
	}
	return nil
}
