package schema

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// flattenRoot removes combinators at the root. The properties of all branches become optional ones, a property that
// differs between branches takes what any of them takes, what all branches require stays required, and the choice is
// said in the description.
func flattenRoot(s *jsonschema.Schema) *jsonschema.Schema {
	out := *s
	out.AllOf, out.AnyOf, out.OneOf, out.Not, out.If, out.Then, out.Else = nil, nil, nil, nil, nil, nil, nil
	out.DependentSchemas, out.DependencySchemas = nil, nil
	order, variants := propertyNames(s), map[string][]*jsonschema.Schema{}
	take := func(branch *jsonschema.Schema) {
		for _, k := range propertyNames(branch) {
			if own := s.Properties[k]; isFalse(branch.Properties[k]) || own != nil && branch != s {
				continue // the root's own schema holds for every branch
			}
			if !slices.Contains(order, k) {
				order = append(order, k)
			}
			variants[k] = append(variants[k], branch.Properties[k])
		}
	}
	take(s)
	for _, b := range s.AllOf {
		b = openRef(s, b)
		take(b)
		out.Required = union(out.Required, b.Required)
	}
	var said []string
	choice := func(word string, branches []*jsonschema.Schema) {
		var sets [][]string
		for _, b := range branches {
			b = openRef(s, b)
			take(b)
			sets = append(sets, b.Required)
		}
		common, phrase := choose(sets)
		out.Required = union(out.Required, common)
		if phrase != "" {
			said = append(said, word+phrase)
		}
	}
	choice("at least one of these is needed: ", s.AnyOf)
	choice("exactly one of these is needed: ", s.OneOf)
	if s.If != nil || s.Not != nil || s.DependentSchemas != nil || s.DependencySchemas != nil {
		said = append(said, "further conditions apply")
	}
	out.Properties, out.PropertyOrder = map[string]*jsonschema.Schema{}, order
	for _, k := range order {
		out.Properties[k] = anyOfThem(variants[k])
	}
	out.Description = describe(out.Description, said)
	return &out
}

func openRef(root, s *jsonschema.Schema) *jsonschema.Schema {
	if s.Ref != "" {
		if target, err := resolve(root, s.Ref); err == nil {
			return target
		}
	}
	return s
}

// choose returns the names that all sets hold, and in words the sets without them; no words if one is empty then.
func choose(sets [][]string) (common []string, phrase string) {
	if len(sets) == 0 {
		return nil, ""
	}
	for _, name := range sets[0] {
		if !slices.ContainsFunc(sets, func(set []string) bool { return !slices.Contains(set, name) }) {
			common = append(common, name)
		}
	}
	var words []string
	for _, set := range sets {
		rest := slices.DeleteFunc(slices.Clone(set), func(name string) bool { return slices.Contains(common, name) })
		if len(rest) == 0 {
			return common, ""
		}
		words = append(words, strings.Join(rest, " + "))
	}
	return common, strings.Join(words, "; ")
}

// anyOfThem makes one schema that accepts what any variant accepts; constants and enums become one enum.
func anyOfThem(variants []*jsonschema.Schema) *jsonschema.Schema {
	if len(variants) == 1 || allEqual(variants) {
		return variants[0]
	}
	merged := jsonschema.Schema{}
	for _, v := range variants {
		rest := *constraints(*v)
		values := rest.Enum
		if rest.Const != nil {
			values = append(slices.Clone(values), *rest.Const)
		}
		if rest.Enum, rest.Const, rest.Type = nil, nil, ""; !isTrue(&rest) || len(values) == 0 {
			return &jsonschema.Schema{AnyOf: variants}
		}
		for _, value := range values {
			if !slices.ContainsFunc(merged.Enum, func(e any) bool { return jsonschema.Equal(e, value) }) {
				merged.Enum = append(merged.Enum, value)
			}
		}
		merged.Description = cmpOr(merged.Description, v.Description)
	}
	if names := enumTypes(merged.Enum); len(names) == 1 {
		merged.Type = names[0]
	}
	return &merged
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
