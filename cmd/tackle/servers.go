package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "Show the other MCP servers whose tools are offered, and trust those of a project",
		Long:  "Show the MCP servers that the project's .mcp.json and the person's own mcp.json name. A server of a project is started\nonly after 'tackle servers trust NAME': for exactly its command, arguments, environment and address.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			servers, err := box.OpenServers(cmd.Context(), 20*time.Second, nil)
			if err != nil {
				return err
			}
			user, project := box.ServerFiles()
			if servers == nil {
				fmt.Fprintf(a.out, "No other server is configured, neither in %s nor in %s.\n", project, user)
				return nil
			}
			defer servers.Close()
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			for _, s := range servers.Status() {
				state := fmt.Sprintf("%d tools", s.Tools)
				if s.Err != nil {
					state = s.Err.Error()
				}
				fmt.Fprintf(w, "%s\t%s\n", s.Server, state)
				for _, h := range s.Withheld {
					fmt.Fprintf(w, "\t%s changed since it was accepted and is withheld; 'tackle servers accept %s %s' takes the new one\n", h.Tool, h.Server, h.Tool)
				}
			}
			return w.Flush()
		},
	}
	trust := &cobra.Command{
		Use: "trust NAME", Short: "Trust a server of the project's file as it is configured now", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			servers, err := box.OpenServers(cmd.Context(), 0, nil)
			if err != nil {
				return err
			}
			if servers == nil {
				return usage{fmt.Errorf("no server is configured here")}
			}
			defer servers.Close()
			if err := servers.Trust(args[0]); err != nil {
				return usage{err}
			}
			fmt.Fprintf(a.out, "Trusted %s as it is configured now. A change needs your word again.\n", args[0])
			return nil
		},
	}
	accept := &cobra.Command{
		Use: "accept SERVER TOOL", Short: "Accept the new definition of a tool that changed", Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			servers, err := box.OpenServers(cmd.Context(), 20*time.Second, nil)
			if err != nil {
				return err
			}
			if servers == nil {
				return usage{fmt.Errorf("no server is configured here")}
			}
			defer servers.Close()
			return servers.Accept(cmd.Context(), args[0], args[1])
		},
	}
	cmd.AddCommand(trust, accept)
	return cmd
}
