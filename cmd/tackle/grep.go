package main

import (
	"context"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/internal/cli/grep"
)

// grepCommand and globCommand parse their own flags: those of ripgrep, of which -C means lines of context. They open no
// box and have the exit codes of grep.
func (a *app) grepCommand() *cobra.Command {
	return a.searchCommand("grep", "grep PATTERN [PATH…]", "Search files for lines, as ripgrep does", grep.Run)
}

func (a *app) globCommand() *cobra.Command {
	return a.searchCommand("glob", "glob PATTERN [PATH]", "Find files by name pattern", grep.RunGlob)
}

func (a *app) searchCommand(name, use, short string, run func(context.Context, []string, grep.Streams) int) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			code := run(cmd.Context(), args, grep.Streams{Out: a.out, Err: a.err, Dir: a.dir, Terminal: isTerminal(a.out), Explain: isTerminal(a.err), Plain: os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"})
			if code != exitOK {
				return exit(code)
			}
			return nil
		}}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { _, _ = a.out.Write([]byte(grep.Usage(name))) })
	return cmd
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
