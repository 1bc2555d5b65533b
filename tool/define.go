package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/tackle-dev/tackle/schema"
)

// Spec is the part of a Definition that its author writes; Define fills the schema from the input type.
type Spec = Definition

// Define makes a tool from an input struct and a plan function. The schema comes from In (json and schema tags), so
// nobody writes it twice; arguments have been repaired and validated against it before plan is called. What cannot be
// a tool (a bad name, a type without a schema) is reported at registration.
func Define[In any](spec Spec, plan func(ctx context.Context, call *Call, in In) (Action, error)) Tool {
	s, err := schema.For[In]()
	spec.Schema = s
	spec.err = errors.Join(err, complete(&spec))
	return &defined[In]{spec, plan}
}

type defined[In any] struct {
	def  Definition
	plan func(context.Context, *Call, In) (Action, error)
}

func (d *defined[In]) Definition() Definition { return d.def }

func (d *defined[In]) Plan(ctx context.Context, call *Call, args json.RawMessage) (Action, error) {
	var in In
	if err := json.Unmarshal(args, &in); err != nil {
		return Action{}, &Error{Code: InvalidArguments, Message: fmt.Sprintf("the arguments do not fit %s: %v.", d.def.Name, err), Example: d.def.Example, Err: err}
	}
	return d.plan(ctx, call, in)
}

var nameRule = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// complete fills defaults and finds contradictions.
func complete(d *Definition) error {
	if d.Permission == "" {
		d.Permission = d.Name
	}
	if d.Version == "" {
		d.Version = "1"
	}
	if d.Author == "" {
		d.Author = "tackle"
	}
	switch {
	case !nameRule.MatchString(d.Name):
		return fmt.Errorf("tool name %q: want %s", d.Name, nameRule)
	case d.Category == "":
		return fmt.Errorf("tool %s: no category", d.Name)
	case d.Description == "":
		return fmt.Errorf("tool %s: no description", d.Name)
	case d.Annotations.ReadOnly && d.Annotations.Destructive:
		return fmt.Errorf("tool %s: both read-only and destructive", d.Name)
	case d.Example != "" && !json.Valid([]byte(d.Example)):
		return fmt.Errorf("tool %s: its example is not JSON: %s", d.Name, d.Example)
	}
	return nil
}

// Describe fills the limits of a tool into its description: text is a text/template (usually an embedded .md file),
// data the struct or map that holds the very constants that the tool enforces. Newlines inside a paragraph are joined.
// It panics on a template that does not fit, which is a mistake of the program.
func Describe(text string, data any) string {
	t := template.Must(template.New("description").Option("missingkey=error").Parse(text))
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		panic(err)
	}
	paragraphs := strings.Split(strings.TrimSpace(b.String()), "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, "- ") && !strings.Contains(p, "\n- ") {
			paragraphs[i] = strings.Join(strings.Fields(p), " ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
