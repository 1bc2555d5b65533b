package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/mcp/client"
	"github.com/tackle-dev/tackle/permission/ask"
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
	cmd.AddCommand(a.serversTrust(), a.serversAccept())
	return cmd
}

func (a *app) serversTrust() *cobra.Command {
	return &cobra.Command{
		Use: "trust NAME", Short: "Show a server of the project's file and trust it as it is configured now; answered at the terminal", Args: usageArgs(cobra.ExactArgs(1)),
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
			list := servers.Configured()
			i := slices.IndexFunc(list, func(s client.Server) bool { return s.Name == args[0] })
			if i < 0 {
				return usage{fmt.Errorf("no server %q is configured", args[0])}
			}
			if err := a.confirm(cmd.Context(), "servers trust", serverView(&list[i])); err != nil {
				return err
			}
			if err := servers.Trust(args[0]); err != nil {
				return usage{err}
			}
			fmt.Fprintf(a.out, "Trusted %s as it is configured now. A change needs your word again.\n", args[0])
			return nil
		},
	}
}

func (a *app) serversAccept() *cobra.Command {
	return &cobra.Command{
		Use: "accept SERVER TOOL", Short: "Accept the new definition of a tool that changed; answered at the terminal", Args: usageArgs(cobra.ExactArgs(2)),
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
			for _, s := range servers.Status() {
				for _, h := range s.Withheld {
					if h.Server != args[0] || h.Tool != args[1] {
						continue
					}
					view := ask.View{Title: fmt.Sprintf("Take the new definition of %s of the server %s?", show.Line(h.Tool), show.Line(h.Server)),
						Args: []ask.Field{{Name: "description", Value: show.Line(h.Now)}}}
					if err := a.confirm(cmd.Context(), "servers accept", view); err != nil {
						return err
					}
					return servers.Accept(cmd.Context(), h.Server, h.Tool)
				}
			}
			return usage{fmt.Errorf("no tool %q of a server %q is withheld; 'tackle servers' lists those that are", args[1], args[0])}
		},
	}
}

// serverView shows what would be started or addressed: all that the trust is bound to. What the file takes from the
// environment is shown by its name.
func serverView(s *client.Server) ask.View {
	named := func(text string) string {
		for _, v := range os.Environ() {
			if name, value, _ := strings.Cut(v, "="); len(value) >= 8 && name != "PWD" && name != "HOME" {
				text = strings.ReplaceAll(text, value, "${"+name+"}")
			}
		}
		return text
	}
	view := ask.View{Title: fmt.Sprintf("Trust the server %s of the project?", show.Line(s.Name))}
	add := func(name, value string) { view.Args = append(view.Args, ask.Field{Name: name, Value: value}) }
	if s.Command != "" {
		argv := []string{named(s.Command)}
		for _, arg := range s.Args {
			argv = append(argv, named(arg))
		}
		view.Scripts = []string{show.Args(argv) + "\n"}
	} else {
		add("address", show.Line(named(s.URL)))
	}
	if s.Dir != "" {
		add("folder", show.Line(s.Dir))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		add("environment", show.Arg(k+"="+named(s.Env[k])))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		add("header", show.Line(k+": "+named(s.Headers[k])))
	}
	return view
}
