package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) newCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "new", Short: "Begin something: a custom tool"}
	var own bool
	tool := &cobra.Command{
		Use: "tool NAME", Short: "Write the manifest, the script and the test of a custom tool that works", Args: cobra.ExactArgs(1),
		Long: "Write the manifest, the script and the test of a custom tool that works, into .tackle/tools of the project, or with\n" +
			"--user beside your own configuration. Change them to what you need; agents see the tool in their next session.",
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			paths, err := box.NewTool(args[0], own)
			for _, p := range paths {
				if err == nil {
					fmt.Fprintln(a.out, "Wrote", p)
				}
			}
			if err != nil {
				return usage{fmt.Errorf("new tool: %w", err)}
			}
			trust := ""
			if !own {
				trust = "tackle config --trust, since a project's tools run only as you have seen them; then "
			}
			fmt.Fprintf(a.out, "Test the script with %s. Then: %stackle call %s '{\"text\": \"one\\ntwo\\n\"}'\n", paths[len(paths)-1], trust, args[0])
			return nil
		},
	}
	tool.Flags().BoolVar(&own, "user", false, "for all your projects, beside your own configuration")
	cmd.AddCommand(tool)
	return cmd
}
