package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/permission/ask"
)

func (a *app) mcpCommand() *cobra.Command {
	var hello, public bool
	var addr string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools of a folder to MCP clients over standard input and output, or over HTTP",
		Long: "Serve the tools to one MCP client over standard input and output, until the input ends.\n" +
			"This is the command to give to a client; started by hand it waits for a client's messages.\n\n" +
			"With --http ADDR the tools are served over streamable HTTP at /mcp, to clients that carry the token: that of the\n" +
			"variable TACKLE_TOKEN, or one that is made and printed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(150) // it stays for hours: memory counts (measured: 10 MiB less after load, the same time)
			traces, err := a.traces(a.warnings())
			if err != nil {
				return usage{err}
			}
			if traces != nil {
				defer endTraces(cmd.Context(), traces)
			}
			a.faces = []ask.Face{mcp.Face{}}
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if hello {
				a.sayHello(box)
			}
			cfg := a.mcpConfig(box)
			if cfg.Prompts, err = prompts(cmd.Context(), box); err != nil {
				return err
			}
			srv, err := mcp.NewServer(box, cfg)
			if err != nil {
				return err
			}
			servers, err := box.OpenServers(cmd.Context(), 2*time.Second, func() {
				if err := srv.Refresh(); err != nil {
					fmt.Fprintf(a.err, "tackle: tools of another server: %v\n", err)
				}
			})
			if err != nil {
				return err
			}
			defer servers.Close()
			if servers != nil {
				if err := srv.Refresh(); err != nil {
					return err
				}
			}
			if addr != "" {
				return a.serveHTTP(cmd.Context(), srv, addr, public)
			}
			err = srv.ServeStdio(cmd.Context(), a.in, a.out)
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "serve over HTTP at HOST:PORT (loopback unless --public) or unix:PATH")
	cmd.Flags().BoolVar(&public, "public", false, "with --http: let other machines reach the address")
	cmd.Flags().BoolVar(&hello, "hello", false, "first say on standard error how to connect")
	cmd.Flags().StringVar(&a.approve, "approve", "", "answer what policy would ask a person: always or never (default: ask the client)")
	return cmd
}

// serveHTTP serves until the context ends, to whoever carries the token.
func (a *app) serveHTTP(ctx context.Context, srv *mcp.Server, addr string, public bool) error {
	secret, given := os.LookupEnv("TACKLE_TOKEN")
	if !given {
		secret = mcp.NewSecret()
	}
	token, err := mcp.NewToken("client", secret)
	if err != nil {
		return usage{fmt.Errorf("TACKLE_TOKEN: %w", err)}
	}
	handler, err := mcp.Handler(map[string]*mcp.Server{"/mcp": srv}, mcp.HTTPConfig{Tokens: []mcp.Token{token}})
	if err != nil {
		return err
	}
	l, err := mcp.Listen(addr, public)
	if err != nil {
		return usage{fmt.Errorf("--http %s: %w", addr, err)}
	}
	where := "http://" + l.Addr().String() + "/mcp"
	if l.Addr().Network() == "unix" {
		where = addr
	}
	fmt.Fprintf(a.err, "Serving MCP at %s until Ctrl-C.\n", where)
	if !given {
		fmt.Fprintf(a.err, "Token of this run: %s\nSet it as TACKLE_TOKEN where the client runs, or choose one of your own before the start.\n", secret)
	}
	return mcp.Serve(ctx, l, handler, nil)
}

func (a *app) mcpConfig(box *tackle.Box) mcp.Config {
	view := box.View()
	view.Overlay = map[string]bool{"todo": false} // clients keep such lists themselves, and every tool costs their models tokens
	cfg := mcp.Config{Version: version, View: view, Dir: box.Dir(), Artifacts: box.Artifacts()}
	cfg.Ended = func(session string) {
		if err := box.EndSession(context.Background(), session); err != nil {
			fmt.Fprintf(a.err, "tackle: tasks of a session that is over: %v\n", err)
		}
	}
	for _, r := range box.Host().Info().Roots {
		cfg.Roots = append(cfg.Roots, mcp.Root{Name: r.Name, Path: r.Path})
	}
	return cfg
}

// sayHello tells a person who started the server by hand what to do with it.
func (a *app) sayHello(box *tackle.Box) {
	self, err := os.Executable()
	if err != nil {
		self = "tackle"
	}
	if abs, err := filepath.Abs(self); err == nil {
		self = abs
	}
	dir := box.Dir()
	names := box.Names(box.View())
	fmt.Fprintf(a.err, `tackle %s serves %d tools for %s
  %s

Connect a client (each runs this server itself; this one may be stopped with Ctrl-C):

  Claude Code   claude mcp add tackle -- %[5]s mcp -C %[3]s
  Codex         codex mcp add tackle -- %[5]s mcp -C %[3]s
  any other     {"mcpServers": {"tackle": {"command": %[6]q, "args": ["mcp", "-C", %[7]q]}}}

Try a call without a client:

  %[5]s call list_dir '{"path": "."}' -C %[3]s
  %[5]s call read_file '{"path": "README.md", "limit": 5}' -C %[3]s

Waiting for messages on standard input.
`, version, len(names), dir, strings.Join(names, " "), self, self, dir)
}
