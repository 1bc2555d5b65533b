package ask

import (
	"strings"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/internal/show"
)

// decoded returns the commands that a line would run, one a line, each quoted afresh and indented below the one that runs
// it: what stands behind quotes and escapes, or in the script of "sh -c", is seen as the shell would read it. It is empty
// where the line is itself that one command. problem says why the line cannot be trusted to be what it seems.
func decoded(line string) (runs, problem string) {
	facts, err := command.Parse(line)
	if err != nil {
		problem = "The line cannot be read for certain: " + show.Line(err.Error()) + "."
	}
	depth := make([]int, len(facts.Calls))
	var b strings.Builder
	for i := range facts.Calls {
		c := &facts.Calls[i]
		if c.Parent >= 0 {
			depth[i] = depth[c.Parent] + 1
		}
		b.WriteString(strings.Repeat("  ", min(depth[i], command.MaxDepth)) + show.Line(c.String()))
		if c.Problem != "" {
			b.WriteString("   (" + show.Line(c.Problem) + ")")
		}
		b.WriteString("\n")
	}
	if strings.TrimSpace(b.String()) == show.Line(strings.TrimSpace(line)) {
		return "", problem
	}
	return b.String(), problem
}

// suggested returns the narrowest useful patterns for a command line: none for interpreters, wrappers and what cannot be
// read.
func suggested(line string) []string {
	facts, err := command.Parse(line)
	if err != nil {
		return nil
	}
	list, reason := facts.Suggest()
	if reason != "" {
		return nil
	}
	var out []string
	for _, s := range list {
		out = append(out, s.Pattern.String())
	}
	return out
}
