package forge

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed plan.md
var planText string

// describe is the description of a granular tool: what the step does, with which engines here, and what becomes of it.
func describe(p *dev.Pipeline, s dev.Step) string {
	parts := []string{s.About}
	switch s.Name {
	case "read_lines":
		parts = append(parts, fmt.Sprintf("Up to %d lines; offset and limit read on.", dev.MaxLines))
	case "edit":
		parts = append(parts, "Each old_string has to stand in the file at one place, unless replace_all or line says which. An empty old_string makes a new file. The file is written before the call returns.")
	case "apply_patch":
		parts = append(parts, "The files are written before the call returns.")
	case "format":
		parts = append(parts, using(p, dev.CanFormat), "Changed files are written before the call returns; files that no engine serves are skipped.")
	case "lint":
		parts = append(parts, using(p, dev.CanLint))
		if p.Has(dev.CanFix) {
			parts = append(parts, "With fix, what can be repaired is written before the call returns.")
		}
	case "check":
		parts = append(parts, using(p, dev.CanCheck), "With delta it reports only what the changes of this session introduced or resolved.")
	}
	return strings.Join(parts, " ")
}

// using names the engines of a capability with what they serve.
func using(p *dev.Pipeline, c dev.Capability) string {
	var names []string
	for _, e := range p.Engines() {
		if a, ok := e.Can[c]; ok {
			files := a.Files
			if len(files) > 4 {
				files = append(slices.Clone(files[:3]), "…")
			}
			names = append(names, fmt.Sprintf("%s (%s)", e.Name, strings.Join(files, " ")))
		}
	}
	return "Engines: " + strings.Join(names, ", ") + "."
}

func describePlan(steps []string) string {
	return tool.Describe(planText, map[string]any{"Steps": strings.Join(steps, ", ")})
}
