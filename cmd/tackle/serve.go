package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"runtime/debug"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/internal/telemetry"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/mcp/setup"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server"
)

// serveFlags are the flags of tackle serve.
type serveFlags struct {
	listen         string
	public, secure bool
	hosts, origins []string
	keep           string
	noMCP          bool
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the console, an API and MCP over HTTP: see what agents do, and answer them",
		Long: "Serve the console for people, a JSON API and MCP on one address of this machine, until Ctrl-C.\n\n" +
			"The console opens with a code that is printed and valid once. Programs carry a token (tackle serve token create);\n" +
			"one in the variable TACKLE_TOKEN is an agent's, too. While the server runs, what policy asks waits for an answer.",
		Example: "  tackle serve\n  tackle serve token create my-agent --role agent\n  tackle serve code",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", server.DefaultListen, "address: HOST:PORT (loopback unless --public) or unix:PATH")
	fl.BoolVar(&f.public, "public", false, "let other machines reach the address; put TLS in front of it")
	fl.StringArrayVar(&f.hosts, "host", nil, "a name under which the server is reached besides localhost; may be repeated")
	fl.StringArrayVar(&f.origins, "origin", nil, "a web origin, such as https://tackle.example, whose pages may call; may be repeated")
	fl.BoolVar(&f.secure, "secure", false, "the server is reached through TLS: cookies are for TLS only")
	fl.StringVar(&f.keep, "keep", "", "remove sessions that were not used for so long, such as 90d (default: keep them)")
	fl.BoolVar(&f.noMCP, "no-mcp", false, "do not serve MCP at /mcp")
	cmd.AddCommand(a.tokenCommand(), a.codeCommand())
	return cmd
}

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	cfg := server.Config{Version: version, Listen: f.listen, Public: f.public, Hosts: f.hosts, Origins: f.origins, Secure: f.secure, Log: a.warnings()}
	if f.keep != "" {
		var err error
		if cfg.Keep, err = config.ParseDuration(f.keep); err != nil || cfg.Keep <= 0 {
			return usage{fmt.Errorf("--keep %q: want a length of time such as 90d", f.keep)}
		}
	}
	if secret, ok := os.LookupEnv("TACKLE_TOKEN"); ok {
		cfg.Tokens = []server.FixedToken{{Name: "TACKLE_TOKEN", Role: server.Agent, Program: true, Secret: secret}}
	}
	debug.SetGCPercent(100) // a process that stays, with a heap of many small things
	traces, err := a.traces(cfg.Log)
	if err != nil {
		return usage{err}
	}
	if traces != nil {
		cfg.Middleware = traces.Middleware
		defer endTraces(ctx, traces)
	}
	a.faces = []ask.Face{mcp.Face{}}
	box, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer box.Close()
	cfg.Box = box
	if !f.noMCP {
		servers, err := a.serveMCP(ctx, box, &cfg)
		if err != nil {
			return err
		}
		defer servers.Close()
	}
	l, err := mcp.Listen(f.listen, f.public)
	if errors.Is(err, syscall.EADDRINUSE) {
		return usage{fmt.Errorf("--listen: %w; if that is another tackle serve, '%s serve code%s' opens its console, else choose another address", err, self(), a.again(box))}
	}
	if err != nil {
		return usage{fmt.Errorf("--listen: %w", err)}
	}
	base := "http://" + l.Addr().String()
	if l.Addr().Network() == "unix" {
		base = "http://localhost"
	}
	if !f.noMCP {
		cfg.Connect = a.connections(box, base)
	}
	s, err := server.New(cfg)
	if err != nil {
		return usage{errors.Join(err, l.Close())}
	}
	defer s.Close()
	if err := a.greet(ctx, s, base, l.Addr(), cfg.Connect); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l)
}

// connections are the ways to connect an agent to this server.
func (a *app) connections(box *tackle.Box, base string) []server.Connection {
	out := []server.Connection{{Name: "First, a token", Line: fmt.Sprintf("export TACKLE_TOKEN=$(%s serve token create my-agent --role agent%s)", self(), a.again(box))}}
	for _, c := range setup.Clients() {
		out = append(out, server.Connection{Name: c.Title, Line: fmt.Sprintf("%s setup %s --url %s/mcp --write", self(), c.Name, base)})
	}
	return append(out, server.Connection{Name: "No agent at hand", Line: fmt.Sprintf(`%s call list_dir '{"path": "."}'%s`, self(), a.again(box))})
}

// warnings logs on standard error what a person should know.
func (a *app) warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// traces sends spans of calls where the environment names a collector; nil where it names none.
func (a *app) traces(log *slog.Logger) (*telemetry.Traces, error) {
	cfg, on, err := telemetry.FromEnv(os.LookupEnv)
	if err != nil || !on {
		return nil, err
	}
	cfg.Version, cfg.Log = version, log
	t, err := telemetry.New(cfg)
	if err != nil {
		return nil, err
	}
	a.hooks = append(a.hooks, t)
	return t, nil
}

// endTraces sends what waits.
func endTraces(ctx context.Context, t *telemetry.Traces) {
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = t.Close(soon) // what is lost was logged
}

// serveMCP adds the MCP server, and the tools of other servers to the box.
func (a *app) serveMCP(ctx context.Context, box *tackle.Box, cfg *server.Config) (*tackle.Servers, error) {
	srv, err := mcp.NewServer(box, a.mcpConfig(box))
	if err != nil {
		return nil, err
	}
	servers, err := box.OpenServers(ctx, 2*time.Second, func() {
		if err := srv.Refresh(); err != nil {
			fmt.Fprintf(a.err, "tackle: tools of another server: %v\n", err)
		}
	})
	if err != nil {
		return nil, err
	}
	if servers != nil {
		if err := srv.Refresh(); err != nil {
			return nil, errors.Join(err, servers.Close())
		}
	}
	cfg.MCP = srv
	return servers, nil
}

// person is the one who runs this process.
func person() server.Identity {
	name := "owner"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return server.Identity{Name: name, Role: server.Admin}
}

// self is how a person starts this program here.
func self() string {
	if found, err := exec.LookPath("tackle"); err == nil {
		if me, err := os.Executable(); err == nil && sameFile(found, me) {
			return "tackle"
		}
	}
	if me, err := os.Executable(); err == nil {
		return show.Arg(me)
	}
	return os.Args[0]
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// again returns the flags with which another command finds the same folder and the same records.
func (a *app) again(box *tackle.Box) string {
	s := " -C " + show.Arg(box.Dir())
	if a.state != "" {
		s += " --state " + show.Arg(a.state)
	}
	return s
}

// firstLogin returns the address of the console with a code, where a person started the server: without a terminal it may be a
// program, which would log in as that person.
func (a *app) firstLogin(ctx context.Context, s *server.Server, base string) (string, error) {
	_, tty, err := prompt()
	if err != nil {
		return base + "/\n           ('" + self() + " serve code" + a.again(s.Box()) + "', at a terminal, makes the code to log in with)", nil
	}
	tty.Close()
	path, err := s.Code(ctx, person())
	return base + path + "\n           (valid once, for five minutes; '" + self() + " serve code" + a.again(s.Box()) + "' makes another)", err
}

// greet says where everything is.
func (a *app) greet(ctx context.Context, s *server.Server, base string, addr net.Addr, connect []server.Connection) error {
	if err := s.Announce(ctx, base); err != nil {
		return err
	}
	console, err := a.firstLogin(ctx, s, base)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tackle %s serves %s until Ctrl-C\n\n", version, s.Box().Dir())
	fmt.Fprintf(&b, "  Console  %s\n", console)
	fmt.Fprintf(&b, "  API      %s/api/openapi.json\n", base)
	if addr.Network() == "unix" {
		fmt.Fprintf(&b, "  Socket   %s\n", addr)
	}
	if len(connect) > 0 {
		fmt.Fprintf(&b, "  MCP      %s/mcp\n\nConnect an agent, or try a call, and see it in the console:\n\n", base)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, c := range connect {
			fmt.Fprintf(w, "  %s\t%s\n", c.Name, c.Line)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.err, b.String())
	return err
}
