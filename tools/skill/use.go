package skill

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed use.md
var useText string

// Use is skills_use: it gives the model the instructions of a skill. The text is that of the catalogue, as it was read when the
// session began; policy judges it as reading the skill's file.
type Use struct{ Config }

type useInput struct {
	Name      string `json:"name" jsonschema:"Name of the skill"`
	Arguments string `json:"arguments,omitempty" jsonschema:"What the skill is to work on"`
}

// used is what people and programs see of it.
type used struct {
	Skill     skill.Skill `json:"skill"`
	Arguments string      `json:"arguments,omitempty"`
	Missing   []string    `json:"missing,omitempty"` // tools that it expects and that are not here
}

// Tool returns the tool.
func (t Use) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "skills_use", Category: "skill", Title: "Use skill",
		Description: tool.Describe(useText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"name": "release-notes"}`,
	}, t.plan)
}

func (t Use) plan(ctx context.Context, call *tool.Call, in useInput) (tool.Action, error) {
	s, err := t.find(ctx, in.Name)
	if err != nil {
		return tool.Action{}, err
	}
	if s.Manual {
		return tool.Action{}, tool.Errorf(tool.OperationNotAllowed, "skill %q is started by people only.", s.Name).With("Ask the person to start it, or go on without it.")
	}
	intent := tool.Intent{Effects: []tool.Effect{tool.Read}}
	if call.Host != nil {
		p, to, err := target(ctx, call, s.Path)
		if err != nil {
			return tool.Action{}, err
		}
		if call.Reading(p) == tool.Deny { // rules for reading files speak about this one too
			return tool.Action{}, tool.Errorf(tool.PermissionDenied, "the file of skill %q, %s, may not be read here.", s.Name, s.Path).With("Go on without it.")
		}
		intent.Targets = []tool.Target{to}
	}
	return tool.Action{Intent: intent, Run: func(context.Context, tool.Runner) (tool.Result, error) {
		u := used{Skill: *s, Arguments: in.Arguments}
		if t.Known != nil {
			u.Missing = Missing(s, func(name string) bool { return t.Known(call, name) })
		}
		return tool.TextResult(Instructions(s, in.Arguments, u.Missing), u), nil
	}}, nil
}

// Instructions is the text of a skill as a model gets it: where its files are, what it expects that is not here, the text
// with its arguments, and the arguments once more where the text has no place for them.
func Instructions(s *skill.Skill, arguments string, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Skill %s (%s). Follow it as far as the person's request and the rules allow. Its files are in %s; read them with read_skill.\n", s.Name, s.Place, s.Dir)
	if len(missing) > 0 {
		fmt.Fprintf(&b, "It expects tools that are not here: %s. Use what comes nearest, or say what you cannot do.\n", strings.Join(missing, ", "))
	}
	b.WriteByte('\n')
	body, placed := s.Body, false
	if strings.Contains(body, "$ARGUMENTS") {
		body, placed = strings.ReplaceAll(body, "$ARGUMENTS", arguments), true
	}
	b.WriteString(body)
	if arguments != "" && !placed {
		fmt.Fprintf(&b, "\n\nArguments: %s", arguments)
	}
	return strings.TrimRight(b.String(), "\n")
}
