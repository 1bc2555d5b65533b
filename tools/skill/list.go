package skill

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed list.md
var listText string

// List is list_skills.
type List struct{ Config }

type listInput struct {
	Query  string `json:"query,omitempty" jsonschema:"Words that name or description must have"`
	Offset int    `json:"offset,omitempty" jsonschema:"Skills to skip" schema:"min=0"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Default 100" schema:"min=1,max=1000"`
}

// listed is one skill for people and programs.
type listed struct {
	Total  int           `json:"total"`
	Skills []skill.Skill `json:"skills"`
	// Rejected are files that look like skills and cannot be used.
	Rejected []skill.Finding `json:"rejected,omitempty"`
}

const (
	listLimit = 100 // as other listings (O4)
	listWidth = 300 // characters of a description in a list
)

// Tool returns the tool.
func (t List) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "list_skills", Category: "skill", Title: "List skills",
		Description: tool.Describe(listText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"query": "release"}`,
	}, t.plan)
}

func (t List) plan(_ context.Context, _ *tool.Call, in listInput) (tool.Action, error) {
	return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		c, err := t.Load(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		return list(c, in), nil
	}}, nil
}

func list(c *skill.Catalogue, in listInput) tool.Result {
	var all listed
	words := strings.Fields(strings.ToLower(in.Query))
	for _, s := range c.Skills {
		if has(strings.ToLower(s.Name+" "+s.Description), words) {
			all.Skills = append(all.Skills, s)
		}
	}
	for _, f := range c.Findings {
		if f.State == skill.Rejected {
			all.Rejected = append(all.Rejected, f)
		}
	}
	all.Total = len(all.Skills)
	from := min(in.Offset, all.Total)
	limit := in.Limit
	if limit == 0 {
		limit = listLimit
	}
	all.Skills = all.Skills[from:min(from+limit, all.Total)]
	var b strings.Builder
	for _, s := range all.Skills {
		fmt.Fprintf(&b, "%s (%s)%s: %s\n", s.Name, s.Place, manual(s), cut(s.Description, listWidth))
	}
	switch rest := all.Total - from - len(all.Skills); {
	case all.Total == 0 && in.Query != "" && len(c.Skills) > 0:
		fmt.Fprintf(&b, "No skill has the words %q; there are %d skills. Ask with other words, or without query.\n", in.Query, len(c.Skills))
	case all.Total == 0:
		b.WriteString("There are no skills here.\n")
	case len(all.Skills) == 0:
		fmt.Fprintf(&b, "There are %d skills; offset %d is behind the last one.\n", all.Total, in.Offset)
	case rest > 0:
		fmt.Fprintf(&b, "%d more; go on with offset %d.\n", rest, from+len(all.Skills))
	}
	if n := len(all.Rejected); n > 0 && in.Offset == 0 {
		fmt.Fprintf(&b, "Not usable: %s (%s)", all.Rejected[0].Path, all.Rejected[0].Reason)
		if n > 1 {
			fmt.Fprintf(&b, " and %d more", n-1)
		}
		b.WriteString(".\n")
	}
	return tool.Result{Parts: []tool.Part{tool.Text(strings.TrimSuffix(b.String(), "\n"))}, Data: all}
}

func manual(s skill.Skill) string {
	if s.Manual {
		return " [people start it]"
	}
	return ""
}

func has(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// cut keeps the first n characters of a line and says that there are more.
func cut(s string, n int) string {
	i := 0
	for at := range s {
		if i == n {
			return s[:at] + "…"
		}
		i++
	}
	return s
}
