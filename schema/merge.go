package schema

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// mergeInto adds to base what the other schema says; where both speak, the other one wins.
func mergeInto(base jsonschema.Schema, s *jsonschema.Schema) *jsonschema.Schema {
	out := base
	out.Description = cmpOr(s.Description, base.Description)
	if len(typesOf(s)) > 0 {
		out.Type, out.Types = s.Type, s.Types
	}
	if s.Properties != nil {
		props := map[string]*jsonschema.Schema{}
		for k, v := range base.Properties {
			props[k] = v
		}
		order := propertyNames(&base)
		for _, k := range propertyNames(s) {
			if _, ok := props[k]; !ok {
				order = append(order, k)
			}
			props[k] = s.Properties[k]
		}
		out.Properties, out.PropertyOrder = props, order
	}
	out.Required = union(base.Required, s.Required)
	pick := func(dst **jsonschema.Schema, v *jsonschema.Schema) {
		if v != nil {
			*dst = v
		}
	}
	pick(&out.Items, s.Items)
	pick(&out.AdditionalProperties, s.AdditionalProperties)
	floats(&out.Minimum, s.Minimum)
	floats(&out.Maximum, s.Maximum)
	floats(&out.ExclusiveMinimum, s.ExclusiveMinimum)
	floats(&out.ExclusiveMaximum, s.ExclusiveMaximum)
	floats(&out.MultipleOf, s.MultipleOf)
	floats(&out.MinLength, s.MinLength)
	floats(&out.MaxLength, s.MaxLength)
	floats(&out.MinItems, s.MinItems)
	floats(&out.MaxItems, s.MaxItems)
	floats(&out.Const, s.Const)
	out.Pattern, out.Format, out.Title = cmpOr(s.Pattern, base.Pattern), cmpOr(s.Format, base.Format), cmpOr(s.Title, base.Title)
	if s.Enum != nil {
		out.Enum = s.Enum
	}
	if s.Default != nil {
		out.Default = s.Default
	}
	if s.Examples != nil {
		out.Examples = s.Examples
	}
	out.AnyOf = append(slices.Clone(base.AnyOf), s.AnyOf...)
	out.OneOf = append(slices.Clone(base.OneOf), s.OneOf...)
	out.AllOf = append(slices.Clone(base.AllOf), s.AllOf...)
	pick(&out.Not, s.Not)
	return &out
}

func floats[T any](dst **T, v *T) {
	if v != nil {
		*dst = v
	}
}

// constrain copies the constraints that the dialect knows and says the others.
func (r *rebuilder) constrain(out, s *jsonschema.Schema) {
	has := func(keyword string) bool { return strings.Contains(r.keywords, " "+keyword+" ") }
	if has("title") {
		out.Title = s.Title
	}
	var said []string
	for _, f := range facts(s) {
		switch {
		case f.keyword == "const" && !has("const") && has("enum") && r.enumFits([]any{*s.Const}):
			out.Enum = []any{*s.Const}
		case f.keyword == "pattern" && strings.Contains(s.Pattern, "(?"): // look-around is refused by those that read patterns
			said = append(said, f.phrase)
		case has(f.keyword) && (f.keyword != "enum" || r.enumFits(s.Enum)):
			copyFact(out, s, f.keyword)
			if open := s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil; open && f.keyword == "minimum/maximum" && !r.exclusive {
				out.ExclusiveMinimum, out.ExclusiveMaximum = nil, nil
				said = append(said, f.phrase)
			}
		case f.keyword == "format" && (r.formats == "*" || strings.Contains(r.formats, " "+s.Format+" ")):
			out.Format = s.Format
		case !f.said(out.Description):
			said = append(said, f.phrase)
		}
	}
	rest := &jsonschema.Schema{Not: s.Not, If: s.If, Then: s.Then, Else: s.Else, PatternProperties: s.PatternProperties, PropertyNames: s.PropertyNames,
		DependentRequired: s.DependentRequired, DependentSchemas: s.DependentSchemas, Contains: s.Contains}
	if !isTrue(rest) {
		if b, err := emit(rest); err == nil {
			said = append(said, "must also fit "+clipText(string(b), 2*clipRunes))
		}
	}
	out.Description = describe(out.Description, said)
}

func (r *rebuilder) enumFits(values []any) bool {
	for _, v := range values {
		if _, ok := v.(string); r.stringEnums && !ok {
			return false
		}
	}
	return true
}

func copyFact(out, s *jsonschema.Schema, keyword string) {
	switch keyword {
	case "enum":
		out.Enum = slices.Clone(s.Enum)
	case "const":
		out.Const = s.Const
	case "pattern":
		out.Pattern = s.Pattern
	case "minimum/maximum":
		out.Minimum, out.Maximum, out.ExclusiveMinimum, out.ExclusiveMaximum = s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum
	case "multipleOf":
		out.MultipleOf = s.MultipleOf
	case "minItems/maxItems":
		out.MinItems, out.MaxItems = s.MinItems, s.MaxItems
	}
}
