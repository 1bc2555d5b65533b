package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/permission"
)

func (a *app) modesCommand() *cobra.Command {
	var asJSON, asFile bool
	cmd := &cobra.Command{
		Use:   "modes [NAME]",
		Short: "List the modes (sets of tools, rules and a prompt), or show one",
		Long: "List the modes, or show one with its tools, its rules and what it tells an agent.\n\n" +
			"A mode is a Markdown file: yours lie in the folder modes beside your configuration, a project's in .tackle/modes.\n" +
			"Write your own by changing a copy of one, and use it with --mode.",
		Example: "  tackle modes\n  tackle modes plan\n  tackle modes code --file > ~/.config/tackle/modes/mine.md\n  tackle tools --mode plan",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			list := box.AllModes()
			if len(args) == 1 {
				m, err := box.Mode(args[0])
				if err != nil {
					return usage{err}
				}
				list = []tackle.Mode{m}
			}
			switch {
			case asFile && len(args) == 0:
				return usage{errors.New("modes: --file wants the name of a mode")}
			case asFile:
				_, err := io.WriteString(a.out, list[0].Text)
				return err
			case asJSON:
				out := make([]modeOutput, len(list))
				for i := range list {
					out[i] = outputOf(box, &list[i])
				}
				return a.printJSON(out)
			case len(args) == 1:
				return a.showMode(box, &list[0])
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			for _, m := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Name, counted(len(box.Names(tackle.View{Mode: m.Name})), "tool"), origin(&m), show.Line(m.Description))
			}
			for _, n := range box.Notes() {
				fmt.Fprintf(a.err, "note: %s\n", show.Line(n))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the modes as JSON")
	cmd.Flags().BoolVar(&asFile, "file", false, "print the file of the mode as it is")
	return cmd
}

// modeOutput is the JSON form of a mode.
type modeOutput struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	From        string             `json:"from"`
	Tools       []string           `json:"tools"`
	Permissions []permissionOutput `json:"permissions,omitempty"`
	Model       string             `json:"model,omitempty"`
	Effort      string             `json:"effort,omitempty"`
	Prompt      string             `json:"prompt"`
	Origin      config.Origin      `json:"origin"`
	Notes       []string           `json:"notes,omitempty"`
}

type permissionOutput struct {
	permission.Rule
	Layer     string `json:"layer"`
	Untrusted bool   `json:"untrusted,omitempty"`
}

func outputOf(box *tackle.Box, m *tackle.Mode) modeOutput {
	out := modeOutput{Name: m.Name, Description: m.Description, From: m.From, Tools: box.Names(tackle.View{Mode: m.Name}), Model: m.Model,
		Effort: string(m.Effort), Prompt: m.Prompt, Origin: m.Origin, Notes: m.Notes}
	for _, l := range m.Layers {
		for _, r := range l.Rules {
			out.Permissions = append(out.Permissions, permissionOutput{Rule: r, Layer: l.Name, Untrusted: l.Untrusted})
		}
	}
	return out
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// origin says where a mode comes from: a file, or "built in".
func origin(m *tackle.Mode) string {
	switch m.Origin.Layer {
	case config.LayerBuiltIn:
		return "built in"
	case config.LayerProgram:
		return "this program"
	}
	return show.Line(m.Origin.File)
}

func (a *app) showMode(box *tackle.Box, m *tackle.Mode) error {
	fmt.Fprintf(a.out, "%s — %s\n\n", m.Name, cmp.Or(show.Line(m.Description), "a mode of this program"))
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "From\t%s\n", origin(m))
	fmt.Fprintf(w, "Tools\t%s\n", cmp.Or(strings.Join(box.Names(tackle.View{Mode: m.Name}), " "), "none"))
	for _, l := range m.Layers {
		for _, r := range l.Rules {
			note := ""
			if r.Source.File != "" && r.Source.File != m.Origin.File {
				note = "  (" + show.Line(r.Source.String()) + ")"
			}
			fmt.Fprintf(w, "Rule\t%s%s\n", show.Line(r.String()), note)
		}
	}
	if m.Model != "" {
		fmt.Fprintf(w, "Model\t%s\n", show.Line(m.Model))
	}
	if m.Effort != "" {
		fmt.Fprintf(w, "Effort\t%s\n", m.Effort)
	}
	for _, n := range m.Notes {
		fmt.Fprintf(w, "Note\t%s\n", show.Line(n))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if m.Prompt == "" {
		return nil
	}
	_, err := io.WriteString(a.out, "\n"+show.Text(m.Prompt)+"\n")
	return err
}
