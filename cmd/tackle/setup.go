package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/mcp/setup"
)

func (a *app) setupCommand() *cobra.Command {
	var write, project bool
	var url, tokenEnv string
	names := clientNames()
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Print or write the settings with which an MCP client finds tackle",
		Long:  "Print the settings with which an MCP client starts (or, with --url, reaches) tackle for the working folder; --write puts them\ninto the client's own file and leaves everything else in it alone.\n\nClients: " + strings.Join(names, ", "),
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, c := range setup.Clients() {
					fmt.Fprintf(a.out, "%-12s %s\n", c.Name, c.Title)
				}
				return nil
			}
			c, ok := setup.Find(args[0])
			if !ok {
				return usage{fmt.Errorf("no client %q is known; known are %s", args[0], strings.Join(names, ", "))}
			}
			entry, err := a.entry(url, tokenEnv)
			if err != nil {
				return err
			}
			if !write {
				snippet, err := c.Snippet(entry)
				if err != nil {
					return err
				}
				fmt.Fprint(a.out, snippet)
				return nil
			}
			return a.writeSettings(c, entry, project)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&write, "write", false, "write the client's settings file instead of printing")
	f.BoolVar(&project, "project", false, "with --write: the project's file, which can be shared, instead of the person's own")
	f.StringVar(&url, "url", "", "reach a running server (tackle mcp --http) instead of starting one")
	f.StringVar(&tokenEnv, "token-env", "TACKLE_TOKEN", "with --url: the variable that holds the token")
	return cmd
}

func clientNames() []string {
	var names []string
	for _, c := range setup.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// entry is our server as clients shall know it.
func (a *app) entry(url, tokenEnv string) (setup.Entry, error) {
	if url != "" {
		return setup.Entry{Name: "tackle", URL: url, TokenEnv: tokenEnv}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return setup.Entry{}, err
	}
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return setup.Entry{}, err
	}
	return setup.Entry{Name: "tackle", Command: self, Args: []string{"mcp", "-C", dir}}, nil
}

func (a *app) settingsFile(c setup.Client, project bool) (string, error) {
	scope := setup.User
	if project {
		scope = setup.Project
	} else if scopes := c.Scopes(); !slices.Contains(scopes, scope) {
		scope = scopes[0]
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", err
	}
	return c.Path(scope, home, dir)
}

// writeSettings puts the entry into the client's file: beside it and renamed, so that a failure leaves the old one whole.
func (a *app) writeSettings(c setup.Client, entry setup.Entry, project bool) error {
	path, err := a.settingsFile(c, project)
	if err != nil {
		return usage{err}
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, changed, err := c.Edit(old, entry)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !changed {
		fmt.Fprintf(a.out, "%s knows tackle already (%s).\n", c.Title, path)
		return nil
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := path + ".tackle-new"
	if err := os.WriteFile(tmp, out, mode); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	fmt.Fprintf(a.out, "%s knows tackle now: %s\n", c.Title, path)
	if c.Note != "" {
		fmt.Fprintln(a.out, c.Note)
	}
	return nil
}
