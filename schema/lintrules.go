package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

var (
	portableName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// maxToolName leaves room for the longest prefix of a client, mcp__<16 characters>__, within the 64 of the providers.
const maxToolName = 40

// maxDescription is what older OpenAI and Azure deployments accept, in characters.
const maxDescription = 1024

func (l *linter) definition() {
	if !portableName.MatchString(l.def.Name) {
		l.add("E6", "", "the name %q does not match %s", l.def.Name, portableName)
	} else if len(l.def.Name) > maxToolName {
		l.add("E6", "", "the name has %d characters; clients put a prefix before it, so more than %d may not fit into 64", len(l.def.Name), maxToolName)
	}
	if n := utf8.RuneCountInString(l.def.Description); n > maxDescription {
		l.add("W6", "", "the description has %d characters, more than %d", n, maxDescription)
	}
	if l.def.Annotations == nil {
		l.add("W10", "", "there are no annotations")
	}
	if l.def.Output != nil {
		l.add("W11", "", "there is an output schema: every result needs text that says the same")
	}
	if l.def.Schema == nil {
		l.add("E2", "", "there is no schema")
		return
	}
	l.root(l.def.Schema)
	if err := walk(l.def.Schema, "", l.schema); err != nil {
		l.add("E1", "", "%v", err)
	} else {
		l.size(l.def.Schema)
	}
}

func (l *linter) root(s *jsonschema.Schema) {
	switch {
	case s.Type != "object":
		l.add("E2", "", "the root has type %s, not object", cmpOr(strings.Join(typesOf(s), ", "), "none"))
	case s.Properties == nil:
		l.add("E2", "", "the root has no properties; an empty object {} must be there")
	}
	for _, c := range children(s, false) {
		if c.inPlace {
			l.add("E3", "", "%s at the root", c.keyword)
			break
		}
	}
	if path, found := recursive(s); found {
		l.add("E8", path, "the schema refers to itself")
	}
}

// schema checks one schema and the positions of its direct children.
func (l *linter) schema(s *jsonschema.Schema, path string) error {
	for _, c := range children(s, true) {
		switch {
		case c.keyword == "additionalProperties" || strings.HasPrefix(c.keyword, "unevaluated") || c.keyword == "additionalItems":
			if c.keyword == "additionalProperties" && !isFalse(c.schema) && !isTrue(c.schema) {
				l.add("W8", path, "its further properties have a schema")
			}
		case isTrue(c.schema):
			l.add("E1", c.path(path), "an empty schema is written as the boolean true; say a type or a description")
		case isFalse(c.schema):
			l.add("E1", c.path(path), "a schema that accepts nothing is written as the boolean false; leave it out")
		case !c.inPlace && untyped(c.schema):
			l.add("W5", c.path(path), "any value is accepted; some providers want a type")
		}
	}
	l.array(s, path)
	for _, name := range propertyNames(s) {
		l.key(name, join(path, name))
	}
	l.keywords(s, path)
	for _, f := range facts(s) {
		if f.keyword != "enum" && f.keyword != "const" && !f.said(s.Description) {
			l.add("W4", path, "the description does not say %s (%s)", f.keyword, f.phrase)
		}
	}
	l.values(s, path)
	return nil
}

func (l *linter) array(s *jsonschema.Schema, path string) {
	if !slices.Contains(typesOf(s), "array") {
		return
	}
	switch {
	case s.ItemsArray != nil || s.PrefixItems != nil:
		l.add("E4", path, "a tuple; some clients drop the tool")
	case s.Items == nil:
		l.add("E4", path, "an array without items")
	}
}

// key checks a property name against each provider's own rule.
func (l *linter) key(name, path string) {
	if portableKey.MatchString(name) {
		return
	}
	among := []Profile{Gemini, GeminiJSONSchema}
	if !anthropicKey.MatchString(name) {
		among = append([]Profile{MCP, Anthropic, AnthropicStrict}, among...)
	}
	l.addFor(among, "E5", path, "the property name %q does not match %s", name, portableKey)
}

func (l *linter) keywords(s *jsonschema.Schema, path string) {
	if len(s.Types) > 0 {
		l.add("W1", path, "the type is an array of %d types", len(s.Types))
	}
	if s.Ref != "" {
		if _, err := resolve(l.def.Schema, s.Ref); err != nil {
			l.add("E7", path, "%v", err)
		} else {
			l.add("W2", path, "$ref %q", s.Ref)
		}
	}
	var words []string
	for _, c := range children(s, false) {
		switch c.keyword {
		case "oneOf", "allOf", "not", "if", "patternProperties", "propertyNames", "dependentSchemas", "dependencies", "unevaluatedProperties",
			"unevaluatedItems", "contains":
			if !slices.Contains(words, c.keyword) {
				words = append(words, c.keyword)
			}
		}
	}
	if s.Const != nil {
		words = append(words, "const")
	}
	if s.DependentRequired != nil || s.DependencyStrings != nil {
		words = append(words, "dependentRequired")
	}
	if len(words) > 0 && !isFalse(s) {
		l.add("W3", path, "%s", strings.Join(words, ", "))
	}
}

// untyped reports a schema from which nobody can tell what kind of value it wants.
func untyped(s *jsonschema.Schema) bool {
	return s.Type == "" && s.Types == nil && s.Ref == "" && s.Enum == nil && s.Const == nil && s.AnyOf == nil && s.OneOf == nil &&
		s.AllOf == nil && s.Not == nil && s.If == nil
}

func (l *linter) values(s *jsonschema.Schema, path string) {
	kinds := map[string]bool{}
	for _, v := range s.Enum {
		kinds[fmt.Sprintf("%T", v)] = true
	}
	switch {
	case len(kinds) > 1:
		l.add("E9", path, "the enum mixes types")
	case len(kinds) == 1 && !kinds["string"]:
		l.add("E9", path, "the enum has values that are not strings")
	}
	if len(s.Enum) > 250 {
		l.add("W7", path, "the enum has %d values, more than 250", len(s.Enum))
	}
}

// size counts depth and properties over references once.
func (l *linter) size(s *jsonschema.Schema) {
	properties := 0
	follow(s, s, map[*jsonschema.Schema]bool{}, func(s *jsonschema.Schema) { properties += len(s.Properties) })
	if properties > 100 {
		l.add("W7", "", "%d properties, more than 100", properties)
	}
	if d := depth(s); d > 5 {
		l.add("W7", "", "%d levels of nesting, more than 5", d)
	}
}

// depth is the number of levels of objects, maps and arrays.
func depth(s *jsonschema.Schema) int {
	deepest := 0
	for _, c := range children(s, false) {
		switch {
		case isTrue(c.schema) || isFalse(c.schema):
		case c.inPlace:
			deepest = max(deepest, depth(c.schema))
		default:
			deepest = max(deepest, depth(c.schema)+1)
		}
	}
	return deepest
}
