package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
)

func (a *app) skillsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skills [NAME]",
		Short: "List skills, or show one as a model gets it",
		Long: "List skills, or show one as a model gets it. A skill is a folder with a SKILL.md in .tackle/skills, .agents/skills or\n" +
			".claude/skills of the project or of the person, or in a folder of the setting skills.folders.\n" +
			"'tackle skills doctor' says of every candidate whether it is used and why not.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			if len(args) == 1 {
				text, err := box.SkillText(cmd.Context(), args[0], "")
				var e *tool.Error
				if errors.As(err, &e) {
					fmt.Fprintln(a.err, forPeople(a.err, e.RenderLine()))
					return exit(exitFailed)
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, forPeople(a.out, text))
				return nil
			}
			all, err := box.Skills(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(append([]skill.Skill{}, all.Skills...))
			}
			a.listSkills(all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	var doctorJSON bool
	doctor := &cobra.Command{
		Use: "doctor", Short: "Say of every file that looks like a skill whether it is used, and why not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer box.Close()
			all, err := box.Skills(cmd.Context())
			if err != nil {
				return err
			}
			if doctorJSON {
				return a.printJSON(append([]skill.Finding{}, all.Findings...))
			}
			return a.skillDoctor(box, all)
		},
	}
	doctor.Flags().BoolVar(&doctorJSON, "json", false, "print JSON")
	cmd.AddCommand(doctor)
	return cmd
}

func (a *app) listSkills(all *skill.Catalogue) {
	width := 0
	for _, s := range all.Skills {
		width = max(width, len(s.Name))
	}
	for _, s := range all.Skills {
		fmt.Fprintf(a.out, "%-*s  %s  %s\n", width, show.Line(s.Name), s.Place, show.Line(s.Description))
	}
	count := map[skill.State]int{}
	for _, f := range all.Findings {
		count[f.State]++
	}
	if len(all.Skills) == 0 {
		fmt.Fprintln(a.out, "There are no skills. A skill is a folder such as .tackle/skills/NAME with a SKILL.md: ---, name: NAME, description: what it is for and when to use it, ---, and what to do.")
	}
	var said []string
	for _, s := range []skill.State{skill.Mended, skill.Shadowed, skill.Rejected} {
		if n := count[s]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, s))
		}
	}
	if said != nil {
		fmt.Fprintf(a.err, "%s: 'tackle skills doctor' says why.\n", strings.Join(said, ", "))
	}
}

// skillDoctor prints every finding, and fails where a candidate cannot be used.
func (a *app) skillDoctor(box *tackle.Box, all *skill.Catalogue) error {
	rejected := 0
	for _, f := range all.Findings {
		if f.State == skill.Rejected {
			rejected++
		}
		fmt.Fprintf(a.out, "%-8s  %s  %s\n", f.State, show.Line(cmp.Or(f.Name, "?")), show.Line(f.Path))
		if f.Reason != "" {
			fmt.Fprintf(a.out, "          %s\n", show.Line(f.Reason))
		}
	}
	if len(all.Findings) == 0 {
		fmt.Fprintln(a.out, "Nothing looks like a skill in:")
	} else {
		fmt.Fprintln(a.out, "\nLooked in, the first first:")
	}
	for _, p := range box.SkillPlaces() {
		fmt.Fprintf(a.out, "  %-8s %s\n", p.Name, p.Dir)
	}
	if rejected > 0 {
		fmt.Fprintf(a.err, "%d of %d cannot be used.\n", rejected, len(all.Findings))
		return exit(exitFailed)
	}
	return nil
}

// prompts are the skills as what a person can start from the menu of an MCP client.
func prompts(ctx context.Context, box *tackle.Box) ([]mcp.Prompt, error) {
	all, err := box.Skills(ctx)
	if err != nil {
		return nil, err
	}
	var out []mcp.Prompt
	for _, s := range all.Skills {
		out = append(out, mcp.Prompt{Name: s.Name, Description: s.Description, Argument: cmp.Or(s.Hint, "What the skill is to work on"),
			Text: func(ctx context.Context, arg string) (string, error) { return box.SkillText(ctx, s.Name, arg) }})
	}
	return out, nil
}
