package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/imports"
)

// importers read the rule files of other agents, by the name of the format.
var importers = map[string]func([]byte) ([]permission.Rule, []imports.Finding, error){
	"claude": imports.Claude, "codex": imports.Codex, "gemini": imports.Gemini, "opencode": imports.Opencode,
}

// formatOf guesses the format of a rule file by its name.
func formatOf(path string) string {
	switch name := filepath.Base(path); {
	case strings.HasPrefix(name, "opencode.json"):
		return "opencode"
	case filepath.Ext(name) == ".rules":
		return "codex"
	case filepath.Ext(name) == ".toml":
		return "gemini"
	case strings.HasPrefix(name, "settings") && filepath.Ext(name) == ".json":
		return "claude"
	}
	return ""
}

func (a *app) importCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Print the rules of another agent's file as rules of a configuration file",
		Long: "Read a rule file of another agent and print its rules as they are written in a configuration file of tackle: Claude\n" +
			"Code (settings.json), Codex (*.rules), Gemini CLI (*.toml) and opencode (opencode.json). Nothing is changed; what is\n" +
			"read otherwise than it was meant is said on standard error. Within a file the last rule that matches wins, so keep\n" +
			"the order.",
		Example: "  tackle config import .claude/settings.json",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "" {
				format = formatOf(args[0])
			}
			read := importers[format]
			if read == nil {
				var names []string
				for n := range importers {
					names = append(names, n)
				}
				slices.Sort(names)
				return usage{fmt.Errorf("config import: whose file %s is cannot be seen by its name; say --format %s", args[0], strings.Join(names, ", "))}
			}
			data, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			rules, findings, err := read(data)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, f := range findings {
				fmt.Fprintf(a.err, "%s: %s\n", args[0], show.Line(f.String()))
			}
			return a.printRules(rules)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "claude, codex, gemini or opencode; default: by the file's name")
	return cmd
}

// scalar writes a value as YAML: as it reads best.
func scalar(s string) (string, error) {
	if strings.Contains(s, `"`) && !strings.ContainsFunc(s, unicode.IsControl) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'", nil
	}
	b, err := json.Marshal(s) // which YAML is made to read
	return string(b), err
}

// plain returns the pattern of a rule in the form in which people write it.
func plain(r permission.Rule) string {
	var form struct {
		Text string `json:"text"`
	}
	if r.Permission != permission.Shell || json.Unmarshal([]byte(r.Pattern), &form) != nil || form.Text == "" {
		return r.Pattern
	}
	if p, err := command.ParsePattern(form.Text); err != nil || p.String() != r.Pattern {
		return r.Pattern
	}
	return form.Text
}

// printRules writes rules as a configuration file has them.
func (a *app) printRules(rules []permission.Rule) error {
	if len(rules) == 0 {
		fmt.Fprintln(a.out, "rules: []")
		return nil
	}
	fmt.Fprintln(a.out, "rules:")
	for _, r := range rules {
		fields := []string{"permission", r.Permission, "pattern", plain(r), "action", r.Action.String()}
		if r.Reason != "" {
			fields = append(fields, "reason", r.Reason)
		}
		var parts []string
		for i := 0; i < len(fields); i += 2 {
			value, err := scalar(fields[i+1])
			if err != nil {
				return err
			}
			parts = append(parts, fields[i]+": "+value)
		}
		fmt.Fprintf(a.out, "  - {%s}\n", strings.Join(parts, ", "))
	}
	return nil
}
