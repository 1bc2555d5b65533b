package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Schema returns the JSON Schema of a configuration file, for editors. It is the same bytes at every call.
func Schema() ([]byte, error) {
	s, err := jsonschema.For[Config](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Duration]():      {Type: "string", Pattern: `^([0-9]+d|([0-9.]+(ns|us|µs|ms|s|m|h))+|0|.*\$\{.*)$`},
		reflect.TypeFor[Size]():               {Types: []string{"integer", "string"}},
		reflect.TypeFor[tool.Secret]():        {Type: "string", Pattern: `^\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}$`},
		reflect.TypeFor[bool]():               {AnyOf: []*jsonschema.Schema{{Type: "boolean"}, referenceSchema()}},
		reflect.TypeFor[int]():                {AnyOf: []*jsonschema.Schema{{Type: "integer", Minimum: new(-1.0)}, referenceSchema()}},
		reflect.TypeFor[float64]():            {AnyOf: []*jsonschema.Schema{{Type: "number"}, referenceSchema()}},
		reflect.TypeFor[permission.Posture](): {AnyOf: []*jsonschema.Schema{{Enum: postures()}, referenceSchema()}},
		reflect.TypeFor[permission.Rule]():    ruleSchema(),
	}})
	if err != nil {
		return nil, fmt.Errorf("config schema: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "tackle configuration"
	if err := finish(s, reflect.TypeFor[Config]()); err != nil {
		return nil, fmt.Errorf("config schema: %w", err)
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("config schema: %w", err)
	}
	return append(out, '\n'), nil
}

// referenceSchema is a reference where another type stands: the file is read before the reference is replaced.
func referenceSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$`}
}

func postures() []any {
	var out []any
	for _, p := range permission.Postures() {
		out = append(out, p.String())
	}
	return out
}

func ruleSchema() *jsonschema.Schema {
	action := func() *jsonschema.Schema { return &jsonschema.Schema{Enum: []any{"allow", "ask", "deny"}} }
	text := func(about string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Description: about} }
	named := action()
	named.Description = "What happens to the calls that match."
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{
			Type: "object", Description: "A rule by its parts.",
			Properties: map[string]*jsonschema.Schema{
				"permission": text("Name of a permission or tool; * stands for any characters."),
				"pattern":    text("* for everything, or a glob: src/** below the roots, ~/notes/*.md, /srv/**, vendor/ for a folder."),
				"action":     named,
				"reason":     text("Shown with a deny or an ask."),
			},
			Required: []string{"permission", "pattern", "action"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
			PropertyOrder: []string{"permission", "pattern", "action", "reason"},
		},
		{
			Type: "object", Description: "Rules by permission: an action, or actions by pattern.", MinProperties: new(1),
			Properties: map[string]*jsonschema.Schema{"permission": {Not: &jsonschema.Schema{}}},
			AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{action(),
				{Type: "object", AdditionalProperties: action()}}},
		},
	}}
}

// finish adds defaults from the tags, and takes null away where a list is meant.
func finish(s *jsonschema.Schema, t reflect.Type) error {
	for sf := range t.Fields() {
		p := s.Properties[key(sf)]
		if p == nil {
			return fmt.Errorf("no property %s", key(sf))
		}
		if def := sf.Tag.Get("default"); def != "" {
			p.Description = strings.TrimSpace(p.Description + " Default: " + def + ".")
		}
		switch sf.Type.Kind() {
		case reflect.Slice:
			p.Types, p.Type = nil, "array"
		case reflect.Pointer:
			p.Types = nil
		}
		var err error
		switch {
		case sf.Type.Kind() == reflect.Map:
			err = finish(p.AdditionalProperties, sf.Type.Elem())
		case sf.Type.Kind() == reflect.Struct && sf.Type != reflect.TypeFor[tool.Secret]():
			err = finish(p, sf.Type)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
