package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/host"
)

// check is one finding of doctor.
type checkResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything tackle needs is here, and say what is missing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			checks := a.examine(cmd, box)
			if asJSON {
				enc := json.NewEncoder(a.out)
				enc.SetIndent("", "  ")
				if err := enc.Encode(checks); err != nil {
					return err
				}
			} else {
				a.report(checks)
			}
			for _, c := range checks {
				if !c.OK {
					return exit(exitFailed)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

func (a *app) examine(cmd *cobra.Command, box *tackle.Box) []checkResult {
	ctx := cmd.Context()
	checks := []checkResult{{Name: "version", OK: true, Detail: fmt.Sprintf("tackle %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)}}
	info := box.Host().Info()
	for _, r := range info.Roots {
		checks = append(checks, checkResult{Name: "root " + r.Name, OK: true, Detail: r.Path})
	}
	probe := box.Probe(ctx)
	for _, p := range probe {
		c := checkResult{Name: p.Name, OK: p.Err == nil, Detail: p.Detail, Fix: p.Fix}
		if p.Err != nil {
			c.Detail = p.Err.Error()
		}
		checks = append(checks, c)
	}
	for _, e := range box.Engines() {
		c := checkResult{Name: "engine " + e.Name, OK: true, Detail: strings.TrimSpace(e.Version + " " + e.Where)}
		if e.Reason != "" {
			c.Detail = "not here: " + e.Reason
		}
		checks = append(checks, c)
	}
	checks = append(checks, mediaChecks(ctx, box)...)
	for _, n := range info.Notes {
		checks = append(checks, checkResult{Name: "host", OK: true, Detail: n})
	}
	checks = append(checks, commandChecks(box.Host())...)
	for _, n := range box.Notes() {
		checks = append(checks, checkResult{Name: "policy", OK: true, Detail: n})
	}
	git := checkResult{Name: "git", OK: true, Detail: "not found; nothing needs it yet"}
	if path, err := exec.LookPath("git"); err == nil {
		git.Detail = path
	}
	return append(checks, git)
}

// commandChecks says what holds commands.
func commandChecks(h host.Host) []checkResult {
	c, ok := h.(host.Commander)
	if !ok {
		return []checkResult{{Name: "commands", OK: true, Detail: "this host runs none"}}
	}
	r, err := c.Runner()
	if err != nil {
		return []checkResult{{Name: "commands", Detail: err.Error()}}
	}
	conf := r.Confinement()
	checks := []checkResult{{Name: "commands", OK: true, Detail: conf.String()}}
	for _, n := range conf.Notes {
		checks = append(checks, checkResult{Name: "commands", OK: true, Detail: n})
	}
	return checks
}

func (a *app) report(checks []checkResult) {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark := "ok  "
		if !c.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(a.out, "%s  %-*s  %s\n", mark, width, c.Name, c.Detail)
		if c.Fix != "" && !c.OK {
			fmt.Fprintf(a.out, "      %s  fix: %s\n", strings.Repeat(" ", width), c.Fix)
		}
	}
}

// mediaChecks says which programs serve media here. That one is missing is no fault.
func mediaChecks(ctx context.Context, box *tackle.Box) []checkResult {
	found, err := box.MediaPrograms(ctx)
	if err != nil {
		return []checkResult{{Name: "media programs", Detail: err.Error()}}
	}
	out := []checkResult{{Name: "media programs", OK: true, Detail: box.MediaConfinement()}}
	for _, f := range found {
		c := checkResult{Name: "media " + f.Name, OK: true, Detail: strings.TrimSpace(f.Version+" "+f.Path) + ": " + f.Use}
		if f.Engine == nil {
			c.Detail = "not used: " + f.Reason
			if f.Use != "" {
				c.Detail = "not used, for " + f.Use + ": " + f.Reason
			}
		}
		out = append(out, c)
	}
	return out
}
