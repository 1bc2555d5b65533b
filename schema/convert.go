package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Convert writes a schema as a provider takes it. Equal schemas give equal bytes. What a provider does not know is said
// in the description; the [Checker] of the original schema stays the one that decides, and accepts what the converted
// schema asks for (null for an absent optional, an object as JSON text). Errors: a property name that the provider
// refuses, a schema that grows without bound when its references are inlined, an unknown profile.
//
// MCP, OpenAI and Anthropic keep every keyword; only what makes them refuse a tool is rewritten, as [Mend] does, and for
// the last two a combinator at the root. The others get a schema built anew from the keywords that they know.
func Convert(p Profile, s *jsonschema.Schema) (json.RawMessage, error) {
	out, err := convertSchema(p, s)
	if err != nil {
		return nil, fmt.Errorf("schema for %s: %w", p, err)
	}
	return emit(out)
}

func convertSchema(p Profile, s *jsonschema.Schema) (*jsonschema.Schema, error) {
	if s == nil {
		return nil, errors.New("there is no schema")
	}
	if err := walk(s, "", func(*jsonschema.Schema, string) error { return nil }); err != nil {
		return nil, err
	}
	if err := checkKeys(p, s); err != nil {
		return nil, err
	}
	d, ok := dialectOf(p)
	if !ok {
		return nil, errors.New("unknown profile")
	}
	s = Mend(s)
	if p == MCP {
		return s, nil
	}
	root := flattenRoot(s)
	if d.verbatim {
		return root, nil
	}
	r := rebuilder{dialect: d, root: s, open: map[*jsonschema.Schema]bool{}}
	return r.schema(root, true)
}

func checkKeys(p Profile, s *jsonschema.Schema) error {
	rule := anthropicKey
	switch p {
	case Gemini, GeminiJSONSchema:
		rule = portableKey
	case Anthropic, AnthropicStrict:
	default:
		return nil
	}
	return walk(s, "", func(s *jsonschema.Schema, path string) error {
		for _, name := range propertyNames(s) {
			if !rule.MatchString(name) {
				return fmt.Errorf("%s: property names match %s", join(path, name), rule)
			}
		}
		return nil
	})
}

// Mend rewrites, in a copy, what makes clients and providers lose a tool and can be said otherwise: booleans where a
// schema belongs, a root without type or properties or with only a $ref, arrays without items, tuples. The result
// accepts at least what s accepts. Schemas made by [For] come back unchanged.
func Mend(s *jsonschema.Schema) *jsonschema.Schema {
	out := s.CloneSchemas()
	if out.Ref != "" && bareRef(out) {
		if target, err := resolve(out, out.Ref); err == nil && target != out {
			root := *target.CloneSchemas()
			root.Defs, root.Definitions, root.ID, root.Schema = out.Defs, out.Definitions, out.ID, out.Schema
			root.Description = cmpOr(out.Description, root.Description)
			out = &root
		}
	}
	if out.Type == "" && (out.Types == nil || slices.Contains(out.Types, "object")) {
		out.Type, out.Types = "object", nil
	}
	if out.Properties == nil {
		out.Properties = map[string]*jsonschema.Schema{}
	}
	mendBelow(out)
	return out
}

const anyValue = "any JSON value"

func mendBelow(s *jsonschema.Schema) {
	for _, name := range propertyNames(s) {
		if !isFalse(s.Properties[name]) {
			continue
		}
		delete(s.Properties, name)
		s.PropertyOrder = slices.DeleteFunc(slices.Clone(s.PropertyOrder), func(n string) bool { return n == name })
	}
	mendTuple(s)
	if slices.Contains(typesOf(s), "array") && s.Items == nil {
		s.Items = &jsonschema.Schema{Description: anyValue}
	}
	for _, c := range children(s, true) {
		switch {
		case c.keyword == "additionalProperties" || strings.HasPrefix(c.keyword, "unevaluated") || c.keyword == "additionalItems":
		case isTrue(c.schema):
			c.schema.Description = anyValue
		}
		if !isFalse(c.schema) {
			mendBelow(c.schema)
		}
	}
}

// mendTuple turns a tuple into an array of any of its items and says the order.
func mendTuple(s *jsonschema.Schema) {
	tuple := s.PrefixItems
	if tuple == nil {
		tuple = s.ItemsArray
	}
	if len(tuple) == 0 {
		if s.Items != nil && isFalse(s.Items) {
			s.Items, s.MaxItems = nil, new(0)
		}
		return
	}
	rest := s.Items
	if s.ItemsArray != nil {
		rest = s.AdditionalItems
	}
	names := make([]string, len(tuple))
	for i, t := range tuple {
		names[i] = acceptedTypes(t).String()
	}
	s.Description = describe(s.Description, []string{"in this order: " + strings.Join(names, ", ")})
	switch {
	case rest != nil && isFalse(rest):
		if s.MaxItems == nil {
			s.MaxItems = new(len(tuple))
		}
	case rest != nil && !isTrue(rest):
		tuple = append(slices.Clone(tuple), rest)
	default:
		tuple = []*jsonschema.Schema{{Description: anyValue}} // whatever follows is free
	}
	s.PrefixItems, s.ItemsArray, s.AdditionalItems = nil, nil, nil
	if s.Items = tuple[0]; len(tuple) > 1 && !allEqual(tuple) {
		s.Items = &jsonschema.Schema{AnyOf: tuple}
	}
}

func allEqual(list []*jsonschema.Schema) bool {
	first, err := emit(list[0])
	for _, s := range list[1:] {
		if b, e := emit(s); err != nil || e != nil || string(b) != string(first) {
			return false
		}
	}
	return true
}
