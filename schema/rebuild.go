package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// dialect is what a provider knows of JSON Schema. Keywords are allowed by name; the rest goes into descriptions.
type dialect struct {
	verbatim     bool // keeps every keyword
	strict       bool // every property is required and optional ones accept null
	closed       bool // additionalProperties false everywhere
	further      bool // additionalProperties may be said
	mapsAsText   bool // maps and recursive parts are asked for as JSON text
	nullable     bool // "nullable": true in place of a type array
	typeArrays   bool // several types in one array
	untyped      bool // a schema may do without a type
	stringEnums  bool // only strings in enums
	emptyObjects bool // an object may have no properties
	exclusive    bool // exclusive bounds
	keywords     string
	formats      string // formats that are kept, "*" for all
}

const commonFormats = " date-time date time duration email hostname ipv4 ipv6 uuid "

func dialectOf(p Profile) (dialect, bool) {
	switch p {
	case MCP, OpenAI, Anthropic:
		return dialect{verbatim: true}, true
	case OpenAIStrict:
		return dialect{strict: true, closed: true, mapsAsText: true, typeArrays: true, emptyObjects: true, exclusive: true,
			formats: commonFormats, keywords: " enum const pattern minimum/maximum multipleOf minItems/maxItems "}, true
	case AnthropicStrict:
		return dialect{closed: true, mapsAsText: true, typeArrays: true, emptyObjects: true, formats: commonFormats + "uri ", keywords: " enum const "}, true
	case Gemini:
		return dialect{mapsAsText: true, nullable: true, stringEnums: true, formats: " date-time enum int32 int64 float double ",
			keywords: " enum minimum/maximum minItems/maxItems "}, true
	case GeminiJSONSchema:
		return dialect{further: true, typeArrays: true, untyped: true, emptyObjects: true, formats: "*", keywords: " enum minimum/maximum minItems/maxItems title "}, true
	case Ollama:
		return dialect{typeArrays: true, untyped: true, emptyObjects: true, keywords: " enum "}, true
	}
	return dialect{}, false
}

// maxNodes bounds a schema after its references are inlined.
const maxNodes = 5000

// rebuilder makes a schema of the dialect's keywords. open holds the references that are being inlined.
type rebuilder struct {
	dialect
	root  *jsonschema.Schema
	open  map[*jsonschema.Schema]bool
	count int
}

// schema rebuilds one schema. The result shares nothing with the input.
func (r *rebuilder) schema(s *jsonschema.Schema, required bool) (*jsonschema.Schema, error) {
	if r.count++; r.count > maxNodes || len(r.open) > maxSchemaDepth {
		return nil, fmt.Errorf("with its references inlined it has more than %d schemas or %d levels", maxNodes, maxSchemaDepth)
	}
	s, opened, err := r.inline(s)
	if err != nil {
		return nil, err
	}
	s, err = r.mergeAllOf(s, &opened)
	defer func() {
		for _, t := range opened {
			delete(r.open, t)
		}
	}()
	if err != nil {
		return nil, err
	}
	out := &jsonschema.Schema{Description: s.Description}
	names, null := splitNull(s)
	branches, orNull := r.branches(s)
	null = null || orNull
	switch {
	case len(branches) > 0:
		err = r.anyOf(out, branches)
	case len(names) == 0 && null:
		if out.Type = "null"; r.nullable {
			out.Type, out.Description = "string", describe(out.Description, []string{"always null"})
		}
	case len(names) == 0:
		r.anything(out, s)
	case len(names) > 1 && r.typeArrays && simpleTypes(names):
		out.Types = names
		r.constrain(out, s)
	case len(names) > 1:
		for _, name := range names {
			one := *s
			one.Type, one.Types, one.Description = name, nil, ""
			branches = append(branches, &one)
		}
		err = r.anyOf(out, branches)
	default:
		out.Type = names[0]
		err = r.typed(out, s)
	}
	if err != nil {
		return nil, err
	}
	if len(branches) > 0 {
		out.Description = describe(out.Description, annotations(s, out.Description))
	}
	if null || !required && r.strict {
		r.orNull(out)
	}
	return out, nil
}

// inline follows references. A reference into an open schema is recursive: it becomes an object without detail, which
// the dialect spells as it spells maps.
func (r *rebuilder) inline(s *jsonschema.Schema) (_ *jsonschema.Schema, opened []*jsonschema.Schema, err error) {
	for s.Ref != "" {
		target, err := resolve(r.root, s.Ref)
		if err != nil {
			return nil, opened, err
		}
		if r.open[target] || len(opened) > maxSchemaDepth {
			note := describe(s.Description, []string{"nested like the value around it"})
			return &jsonschema.Schema{Type: cmpOr(target.Type, "object"), Items: target.Items, Description: note}, opened, nil
		}
		r.open[target] = true
		opened = append(opened, target)
		merged := mergeInto(*target, s)
		merged.Ref = target.Ref
		s = merged
	}
	return s, opened, nil
}

// mergeAllOf makes one schema of an allOf, whose references are opened too.
func (r *rebuilder) mergeAllOf(s *jsonschema.Schema, opened *[]*jsonschema.Schema) (*jsonschema.Schema, error) {
	for depth := 0; len(s.AllOf) > 0; depth++ {
		if depth > maxSchemaDepth {
			return nil, fmt.Errorf("allOf nests deeper than %d", maxSchemaDepth)
		}
		list, base := s.AllOf, *s
		base.AllOf = nil
		s = &base
		for _, b := range list {
			b, more, err := r.inline(b)
			if err != nil {
				return nil, err
			}
			*opened = append(*opened, more...)
			s = mergeInto(*b, s)
		}
	}
	return s, nil
}

// splitNull returns the types of a schema, inferred from its other keywords where it has none, and whether null is one.
func splitNull(s *jsonschema.Schema) (names []string, null bool) {
	for _, t := range typesOf(s) {
		if t == "null" {
			null = true
		} else {
			names = append(names, t)
		}
	}
	if len(names) > 0 || null {
		return names, null
	}
	switch {
	case s.Const != nil:
		names = enumTypes([]any{*s.Const})
	case s.Enum != nil:
		names = enumTypes(s.Enum)
	case s.Properties != nil || s.AdditionalProperties != nil:
		names = []string{"object"}
	case s.Items != nil:
		names = []string{"array"}
	}
	if i := slices.Index(names, "null"); i >= 0 {
		return slices.Delete(names, i, i+1), true
	}
	return names, false
}

func enumTypes(values []any) (names []string) {
	n := node{enum: values}
	t := n.enumTypes()
	for i, name := range typeNames {
		if t&(1<<i) != 0 && name != "integer" {
			names = append(names, name)
		}
	}
	return names
}

func simpleTypes(names []string) bool {
	return !slices.Contains(names, "array") && !slices.Contains(names, "object")
}

// branches returns the alternatives of a schema, each with what the schema says beside them, and whether null is one.
func (r *rebuilder) branches(s *jsonschema.Schema) (out []*jsonschema.Schema, null bool) {
	list := s.AnyOf
	if len(list) == 0 {
		list = s.OneOf
	}
	base := *s
	base.AnyOf, base.OneOf, base.Description = nil, nil, ""
	for _, b := range list {
		if isNull(b) {
			null = true
			continue
		}
		if isTrue(constraints(base)) {
			out = append(out, b)
		} else {
			out = append(out, mergeInto(base, b))
		}
	}
	return out, null
}

// annotations returns what desc does not say of a schema's default and examples.
func annotations(s *jsonschema.Schema, desc string) []string {
	return phrases(&jsonschema.Schema{Default: s.Default, Examples: s.Examples}, desc)
}

// anyOf writes alternatives; a single one is no choice.
func (r *rebuilder) anyOf(out *jsonschema.Schema, branches []*jsonschema.Schema) error {
	var list []*jsonschema.Schema
	for _, b := range branches {
		n, err := r.schema(b, true)
		if err != nil {
			return err
		}
		list = append(list, n)
	}
	if len(list) == 1 || allEqual(list) {
		desc := out.Description
		*out = *list[0]
		if desc != "" && out.Description != "" && !strings.Contains(desc, out.Description) {
			desc = describe(desc, []string{out.Description})
		}
		out.Description = cmpOr(desc, out.Description)
		return nil
	}
	out.AnyOf = list
	return nil
}

// anything writes a schema without a type.
func (r *rebuilder) anything(out, s *jsonschema.Schema) {
	out.Description = cmpOr(out.Description, anyValue)
	if r.untyped {
		r.constrain(out, s)
		return
	}
	for _, t := range []string{"string", "number", "boolean"} {
		out.AnyOf = append(out.AnyOf, &jsonschema.Schema{Type: t})
	}
}

// orNull makes a value optional in the dialect's words.
func (r *rebuilder) orNull(out *jsonschema.Schema) {
	switch {
	case r.nullable:
		out.Extra = map[string]any{"nullable": true}
		return
	case out.AnyOf != nil:
		if !slices.ContainsFunc(out.AnyOf, isNull) {
			out.AnyOf = append(out.AnyOf, &jsonschema.Schema{Type: "null"})
		}
		return
	case out.Type != "" && out.Type != "null":
		out.Types, out.Type = []string{out.Type, "null"}, ""
	case len(out.Types) > 0 && !slices.Contains(out.Types, "null"):
		out.Types = append(out.Types, "null")
	case out.Type == "" && out.Types == nil:
		return // a schema without a type accepts null
	}
	if out.Enum != nil && !slices.Contains(out.Enum, nil) {
		out.Enum = append(slices.Clone(out.Enum), nil)
	}
	if out.Const != nil {
		out.Enum, out.Const = []any{*out.Const, nil}, nil
	}
}

// typed fills in a schema of one type.
func (r *rebuilder) typed(out, s *jsonschema.Schema) error {
	switch out.Type {
	case "array":
		r.constrain(out, s)
		if out.Items = s.Items; out.Items == nil {
			out.Items = &jsonschema.Schema{Description: anyValue}
		}
		items, err := r.schema(out.Items, true)
		out.Items = items
		return err
	case "object":
		return r.object(out, s)
	}
	r.constrain(out, s)
	return nil
}

func (r *rebuilder) object(out, s *jsonschema.Schema) error {
	root := r.count == 1
	free := s.AdditionalProperties == nil || !isFalse(s.AdditionalProperties)
	if len(s.Properties) == 0 && !root && (free && r.mapsAsText || !r.emptyObjects) {
		out.Type = "string"
		note := "a JSON object, as text"
		if a := s.AdditionalProperties; a != nil && !isFalse(a) && len(typesOf(a)) > 0 {
			note = "a JSON object as text, with values of type " + strings.Join(typesOf(a), " or ")
		}
		out.Description = describe(out.Description, []string{note})
		return nil
	}
	a := s.AdditionalProperties
	if root && len(s.Properties) == 0 && r.mapsAsText && (s.PatternProperties != nil || a != nil && !isFalse(a) && !isTrue(a)) {
		return errors.New("the arguments have free names, which cannot be said here")
	}
	r.constrain(out, s)
	if len(s.Properties) > 0 || root || !free {
		out.Properties = map[string]*jsonschema.Schema{}
	}
	out.PropertyOrder = propertyNames(s)
	for _, name := range out.PropertyOrder {
		required := slices.Contains(s.Required, name)
		p, err := r.schema(s.Properties[name], required)
		if err != nil {
			return err
		}
		out.Properties[name] = p
		if required || r.strict {
			out.Required = append(out.Required, name)
		}
	}
	return r.others(out, s)
}

// others says what further names an object may have, as far as the dialect can.
func (r *rebuilder) others(out, s *jsonschema.Schema) error {
	a := s.AdditionalProperties
	switch {
	case r.closed, r.further && a != nil && isFalse(a):
		out.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	case a == nil || isFalse(a):
	case r.further && !isTrue(a):
		values, err := r.schema(a, true)
		out.AdditionalProperties = values
		return err
	case !isTrue(a) && len(typesOf(a)) > 0:
		out.Description = describe(out.Description, []string{"free names, with values of type " + strings.Join(typesOf(a), " or ")})
	}
	return nil
}
