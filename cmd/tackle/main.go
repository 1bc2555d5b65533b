// Command tackle serves tools for agents: from the terminal, to scripts, and to any MCP client.
//
// Rules for what it prints: results go to standard output, everything else to standard error; a failure says what was
// being done, why it failed and what to do next; exit codes are 0 success, 1 the tool failed, 2 the command line is
// wrong, 3 the call was denied.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/toolbox"
)

// version is set by the linker.
var version = "dev"

// Exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
	exitDenied
)

// exit is an error that only carries an exit code: what there is to say was said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usage marks an error of the command line.
type usage struct{ error }

func main() {
	proc.KeeperMain() // first: as a keeper of commands this process is nothing else
	confine.Main()    // nor as the start of a confined program
	noCoreDumps()
	debug.SetGCPercent(400) // a short-lived heap of small calls: fewer collections, a few MiB more
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command, for main and for tests.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, out: out, err: errOut}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	err := cmd.ExecuteContext(ctx)
	var code exit
	var u usage
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &u):
		fmt.Fprintf(errOut, "tackle: %v\nSee 'tackle help'.\n", err)
		return exitUsage
	}
	fmt.Fprintf(errOut, "tackle: %v\n", err)
	return exitFailed
}

// app is what the commands share: streams and the flags that every command knows.
type app struct {
	in       io.Reader
	out, err io.Writer

	dir     string
	roots   []string
	state   string
	noFiles bool
	approve string
	session string
	mode    string
	posture string
	faces   []ask.Face // of calls, beside those of the queue
	hooks   []toolbox.Hook
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "tackle",
		Short:         "Gear for AI agents: tools that read, search and change files, safely and byte for byte, and agents that use them",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// Flags before the name of a command are the root's: "tackle -C DIR grep -C 2 x" means two things by -C.
		TraverseChildren: true,
		Args:             cobra.NoArgs,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	cmd.CompletionOptions.HiddenDefaultCmd = true
	f := cmd.PersistentFlags()
	f.StringVarP(&a.dir, "cwd", "C", "", "work in this folder (default: the current one)")
	f.StringArrayVar(&a.roots, "root", nil, "a workspace root; may be repeated (default: the working folder)")
	f.StringVar(&a.state, "state", "", "folder for sessions, journal and before-images (default: the user's state folder)")
	f.BoolVar(&a.noFiles, "no-config", false, "read no configuration files")
	f.StringVar(&a.mode, "mode", "", "mode of the tools (default: code)")
	f.StringVar(&a.posture, "posture", "", "defaults of policy: plan, guarded, auto or ci (default: guarded)")
	cmd.AddCommand(a.toolsCommand(), a.modesCommand(), a.runCommand(), a.sessionsCommand(), a.replayCommand(), a.demoCommand(), a.callCommand(), a.grepCommand(), a.globCommand(), a.mediaCommand(), a.mcpCommand(), a.serveCommand(), a.setupCommand(), a.serversCommand(), a.whyCommand(), a.approveCommand(), a.grantsCommand(), a.ledgerCommand(), a.hookCommand(), a.undoCommand(), a.skillsCommand(), a.newCommand(), a.planCommand(), a.tasksCommand(), a.configCommand(), a.doctorCommand())
	cmd.AddCommand(a.devCommands()...)
	for _, c := range cmd.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return cmd
}

// usageArgs marks a wrong number of arguments as a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usage{fmt.Errorf("%s: %w", cmd.Name(), err)}
		}
		return nil
	}
}

// open opens the box that the flags describe. Contradictions in flags and configuration are usage errors.
func (a *app) open(ctx context.Context) (*tackle.Box, error) {
	if a.state != "" { // -C is where the work is; what is typed beside it is meant from here, as everywhere else
		abs, err := filepath.Abs(a.state)
		if err != nil {
			return nil, usage{fmt.Errorf("--state: %w", err)}
		}
		a.state = abs
	}
	cfg := tackle.Config{Dir: a.dir, Roots: a.roots, StateDir: a.state, NoFiles: a.noFiles, Mode: a.mode, Posture: a.posture,
		Session: a.session, Faces: a.faces, Hooks: a.hooks, Keeper: proc.Self()}
	switch a.approve {
	case "":
	case "never":
		cfg.Approve = tackle.ApproveNever
	case "always":
		cfg.Approve = tackle.ApproveAlways
	default:
		return nil, usage{fmt.Errorf("--approve %q: want always or never", a.approve)}
	}
	box, err := tackle.Open(ctx, cfg)
	if err != nil {
		return nil, usage{err}
	}
	return box, nil
}
