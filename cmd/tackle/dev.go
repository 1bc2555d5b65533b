package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/cli/report"
	"github.com/tackle-dev/tackle/undo"
)

// devCommands are format, lint and check for a person: what is typed here is what is wanted, so nobody is asked, and the
// engines of the project run. What is written is journalled like everything else.
func (a *app) devCommands() []*cobra.Command {
	const how = "\n\nPATHS are files, folders and globs; none is the working folder. The engines are those that 'tackle doctor' lists, and a\n" +
		"project's own programs among them run.\nExit status: 0 nothing is wrong, 1 an error was found or an engine failed, 2 wrong command line."
	var fix, dry bool
	check := a.devCommand(&cobra.Command{Use: "check [PATHS]", Short: "Check files for errors of syntax and types",
		Long: "Check files for errors of syntax and types." + how}, "check", func() any { return struct{}{} })
	lint := a.devCommand(&cobra.Command{Use: "lint [PATHS]", Short: "Find questionable code, and with --fix repair it",
		Long: "Find questionable code. Warnings alone are no failure." + how}, "lint", func() any {
		return struct {
			Fix bool `json:"fix,omitempty"`
		}{fix}
	})
	lint.Flags().BoolVar(&fix, "fix", false, "repair what can be repaired safely")
	format := a.devCommand(&cobra.Command{Use: "fmt [PATHS]", Short: "Give files their canonical format",
		Long: "Give files their canonical format, and print what changed." + how}, "format", func() any { return struct{}{} })
	format.Flags().BoolVar(&dry, "check", false, "write nothing; exit with 1 where a file is not formatted")
	run := format.RunE
	format.RunE = func(cmd *cobra.Command, args []string) error {
		if dry {
			return a.unformatted(cmd, args)
		}
		return run(cmd, args)
	}
	return []*cobra.Command{check, format, lint}
}

// devCommand runs a step alone.
func (a *app) devCommand(cmd *cobra.Command, step string, args func() any) *cobra.Command {
	var format string
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&format, "format", "text", "form of the output: "+strings.Join(report.Formats(), ", "))
	cmd.RunE = func(cmd *cobra.Command, paths []string) error {
		raw, err := json.Marshal(args())
		if err != nil {
			return err
		}
		return a.pipeline(cmd, format, dev.Plan{Paths: pathsOrDir(paths), Ops: []dev.Op{{Step: step, Args: raw}}}, true, func(*dev.Result) bool { return false })
	}
	return cmd
}

func pathsOrDir(paths []string) []string {
	if len(paths) == 0 {
		return []string{"."}
	}
	return paths
}

// unformatted names the files that are not formatted.
func (a *app) unformatted(cmd *cobra.Command, paths []string) error {
	format, err := cmd.Flags().GetString("format")
	if err != nil {
		return err
	}
	plan := dev.Plan{Paths: pathsOrDir(paths), Ops: []dev.Op{{Step: "format"}}}
	return a.pipeline(cmd, format, plan, false, func(res *dev.Result) bool {
		found := slices.DeleteFunc(res.Diagnostics, func(d dev.Diagnostic) bool { return d.Code == "unwritten" })
		for _, file := range res.Unwritten {
			found = append(found, dev.Diagnostic{File: file, Severity: dev.Err, Source: "dev", Code: "format", Message: "the file is not formatted; tackle fmt formats it", Fix: true})
		}
		bad := len(res.Unwritten) > 0
		res.Diagnostics, res.Unwritten = found, nil
		return bad
	})
}

// pipeline runs a plan and prints its result. failed may change the result, and says whether it counts as a failure.
func (a *app) pipeline(cmd *cobra.Command, format string, plan dev.Plan, persist bool, failed func(*dev.Result) bool) error {
	if !slices.Contains(report.Formats(), format) {
		return usage{fmt.Errorf("--format %q: want %s", format, strings.Join(report.Formats(), ", "))}
	}
	box, err := a.open(cmd.Context())
	if err != nil {
		return err
	}
	defer box.Close()
	p, err := box.Pipeline(dev.GateFunc(func(context.Context, *dev.Request) error { return nil }))
	if err != nil {
		return err
	}
	call := dev.Call{Dir: box.Dir(), Persist: persist, Commit: func(ctx context.Context, set *change.Set) (host.Receipt, error) {
		return box.Host().Commit(ctx, set, host.CommitOptions{Note: map[string]string{"tool": cmd.Name(), undo.NoteSession: box.SessionID()}})
	}}
	res, err := p.RunCall(cmd.Context(), plan, call)
	var own *dev.Error
	switch {
	case errors.As(err, &own) && own.Code == dev.Invalid, errors.As(err, &own) && own.Code == dev.NotFound && res == nil:
		return usage{err}
	case err != nil && res == nil:
		return err
	}
	dir := box.Dir()
	if r, err := box.Host().Resolve(cmd.Context(), "", dir); err == nil { // the root is known by its own name
		dir = r.Real
	}
	bad := failed(res)
	if werr := report.Write(a.out, format, res, report.Options{Root: p.Root(), Dir: dir, Version: version, Show: func(s string) string { return forPeople(a.out, s) }}); werr != nil {
		return werr
	}
	if err != nil {
		return err
	}
	if bad || slices.ContainsFunc(res.Diagnostics, func(d dev.Diagnostic) bool { return d.Severity == dev.Err }) {
		return exit(exitFailed)
	}
	return nil
}
