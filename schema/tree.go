package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// child is a schema inside another one.
type child struct {
	keyword string // "properties"
	key     string // the name or index under the keyword; "" where the keyword holds one schema
	schema  *jsonschema.Schema
	inPlace bool // applies to the same value as its parent, so a cycle of such edges never ends
}

// children lists the schemas directly inside s in a fixed order, without $defs and definitions where defs is false.
func children(s *jsonschema.Schema, defs bool) []child {
	if isFalse(s) { // written as false: nothing is in it
		return nil
	}
	var out []child
	one := func(keyword string, c *jsonschema.Schema, inPlace bool) {
		if c != nil {
			out = append(out, child{keyword, "", c, inPlace})
		}
	}
	several := func(keyword string, list []*jsonschema.Schema, inPlace bool) {
		for i, c := range list {
			out = append(out, child{keyword, strconv.Itoa(i), c, inPlace})
		}
	}
	named := func(keyword string, m map[string]*jsonschema.Schema, inPlace bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, child{keyword, k, m[k], inPlace})
		}
	}
	for _, k := range propertyNames(s) {
		out = append(out, child{"properties", k, s.Properties[k], false})
	}
	named("patternProperties", s.PatternProperties, false)
	one("additionalProperties", s.AdditionalProperties, false)
	one("propertyNames", s.PropertyNames, false)
	one("unevaluatedProperties", s.UnevaluatedProperties, false)
	one("items", s.Items, false)
	several("items", s.ItemsArray, false)
	several("prefixItems", s.PrefixItems, false)
	one("additionalItems", s.AdditionalItems, false)
	one("contains", s.Contains, false)
	one("unevaluatedItems", s.UnevaluatedItems, false)
	several("allOf", s.AllOf, true)
	several("anyOf", s.AnyOf, true)
	several("oneOf", s.OneOf, true)
	one("not", s.Not, true)
	one("if", s.If, true)
	one("then", s.Then, true)
	one("else", s.Else, true)
	named("dependentSchemas", s.DependentSchemas, true)
	named("dependencies", s.DependencySchemas, true)
	if defs {
		named("$defs", s.Defs, false)
		named("definitions", s.Definitions, false)
	}
	return out
}

// propertyNames returns the names of the properties: the declared order first, the rest sorted.
func propertyNames(s *jsonschema.Schema) []string {
	names := make([]string, 0, len(s.Properties))
	for _, k := range s.PropertyOrder {
		if _, ok := s.Properties[k]; ok && !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	ordered := len(names)
	for k := range s.Properties {
		if !slices.Contains(names[:ordered], k) {
			names = append(names, k)
		}
	}
	slices.Sort(names[ordered:])
	return names
}

func (c child) path(parent string) string {
	switch {
	case c.keyword == "properties":
		return join(parent, c.key)
	case c.keyword == "items" && c.key == "":
		return parent + "[]"
	case c.key == "":
		return parent + "/" + c.keyword
	}
	return parent + "/" + c.keyword + "/" + c.key
}

// walk visits s and every schema in it, parents first, but nothing inside the schema that accepts nothing. It stops at the first error.
func walk(s *jsonschema.Schema, path string, visit func(s *jsonschema.Schema, path string) error) error {
	return walkDepth(s, path, 0, visit)
}

// maxSchemaDepth bounds the nesting of a schema; it also ends the walk of a schema whose Go pointers form a ring.
const maxSchemaDepth = 100

func walkDepth(s *jsonschema.Schema, path string, depth int, visit func(*jsonschema.Schema, string) error) error {
	if s == nil {
		return fmt.Errorf("%s: a nil schema", at(path))
	}
	if depth > maxSchemaDepth {
		return fmt.Errorf("the schema nests deeper than %d", maxSchemaDepth)
	}
	if err := visit(s, path); err != nil {
		return err
	}
	if isFalse(s) {
		return nil // the {} inside is no schema of anybody
	}
	for _, c := range children(s, true) {
		if err := walkDepth(c.schema, c.path(path), depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// isTrue reports the schema that accepts everything. encoding/json writes it as the boolean true.
func isTrue(s *jsonschema.Schema) bool { return reflect.ValueOf(*s).IsZero() }

// isFalse reports the schema that accepts nothing, {"not": {}}.
func isFalse(s *jsonschema.Schema) bool { return s.Not != nil && isTrue(s.Not) }

// isNull reports a schema that says only type null.
func isNull(s *jsonschema.Schema) bool {
	c := *s
	c.Type = ""
	return s.Type == "null" && isTrue(constraints(c))
}

// constraints returns a schema without what only describes: titles, definitions, formats, foreign keywords.
func constraints(s jsonschema.Schema) *jsonschema.Schema {
	s.ID, s.Schema, s.Comment, s.Anchor, s.DynamicAnchor, s.Vocabulary = "", "", "", "", "", nil
	s.Title, s.Description, s.Default, s.Examples = "", "", nil, nil
	s.Deprecated, s.ReadOnly, s.WriteOnly = false, false, false
	s.Defs, s.Definitions, s.Extra, s.PropertyOrder = nil, nil, nil, nil
	s.Format, s.ContentEncoding, s.ContentMediaType, s.ContentSchema = "", "", "", nil
	return &s
}

// bareRef reports a $ref beside which only descriptions stand.
func bareRef(s *jsonschema.Schema) bool {
	c := constraints(*s)
	c.Ref = ""
	return s.Ref != "" && isTrue(c)
}

// nullUnion recognises anyOf [X, null], the usual spelling of an optional value, and returns X.
func nullUnion(s *jsonschema.Schema) (*jsonschema.Schema, bool) {
	c := constraints(*s)
	c.AnyOf = nil
	if len(s.AnyOf) != 2 || !isTrue(c) {
		return nil, false
	}
	switch a, b := s.AnyOf[0], s.AnyOf[1]; {
	case isNull(b):
		return a, true
	case isNull(a):
		return b, true
	}
	return nil, false
}

// errRemote marks a reference that leaves the schema.
var errRemote = errors.New("points outside the schema")

// resolve finds the schema that a $ref names inside root.
func resolve(root *jsonschema.Schema, ref string) (*jsonschema.Schema, error) {
	local, ok := localRef(root, ref)
	if !ok {
		return nil, fmt.Errorf("$ref %q %w", ref, errRemote)
	}
	if local == "#" {
		return root, nil
	}
	if !strings.HasPrefix(local, "#/") {
		var found *jsonschema.Schema
		err := walk(root, "", func(s *jsonschema.Schema, _ string) error {
			if s.Anchor == local[1:] && found == nil {
				found = s
			}
			return nil
		})
		if err == nil && found == nil {
			err = fmt.Errorf("$ref %q names nothing", ref)
		}
		return found, err
	}
	s, rest := root, strings.Split(local[2:], "/")
	for len(rest) > 0 && s != nil {
		s, rest = step(s, rest)
	}
	if s == nil {
		return nil, fmt.Errorf("$ref %q names nothing", ref)
	}
	return s, nil
}

// step follows one keyword of a JSON pointer, and the key under it where the keyword holds several schemas.
func step(s *jsonschema.Schema, rest []string) (*jsonschema.Schema, []string) {
	key := ""
	if len(rest) > 1 {
		key = unescapePointer(rest[1])
	}
	switch {
	case rest[0] == "$defs" && len(rest) > 1:
		return s.Defs[key], rest[2:]
	case rest[0] == "definitions" && len(rest) > 1:
		return s.Definitions[key], rest[2:]
	case rest[0] == "properties" && len(rest) > 1:
		return s.Properties[key], rest[2:]
	}
	for _, c := range children(s, true) {
		switch {
		case c.keyword != rest[0]:
		case c.key == "":
			return c.schema, rest[1:]
		case c.key == key:
			return c.schema, rest[2:]
		}
	}
	return nil, nil
}

// localRef turns a reference into a fragment; a reference that begins with the root's own $id is local too.
func localRef(root *jsonschema.Schema, ref string) (string, bool) {
	if id := strings.TrimSuffix(root.ID, "#"); id != "" {
		if rest, ok := strings.CutPrefix(ref, id); ok && (rest == "" || rest[0] == '#') {
			ref = cmpOr(rest, "#")
		}
	}
	return ref, strings.HasPrefix(ref, "#")
}

func unescapePointer(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
			s = s[:i] + string([]byte{byte(c)}) + s[i+3:]
		}
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
}

// follow walks s and everything that it reaches, references resolved; each schema once.
func follow(root, s *jsonschema.Schema, seen map[*jsonschema.Schema]bool, visit func(*jsonschema.Schema)) {
	if seen[s] {
		return
	}
	seen[s] = true
	visit(s)
	for _, c := range children(s, false) {
		follow(root, c.schema, seen, visit)
	}
	if s.Ref != "" {
		if target, err := resolve(root, s.Ref); err == nil {
			follow(root, target, seen, visit)
		}
	}
}

// recursive reports whether a schema reaches itself through references, and where the ring closes.
func recursive(root *jsonschema.Schema) (path string, found bool) {
	open, done := map[*jsonschema.Schema]bool{}, map[*jsonschema.Schema]bool{}
	var visit func(s *jsonschema.Schema, p string) bool
	visit = func(s *jsonschema.Schema, p string) bool {
		if open[s] {
			path = p
			return true
		}
		if done[s] {
			return false
		}
		open[s] = true
		defer func() { open[s], done[s] = false, true }()
		for _, c := range children(s, false) {
			if visit(c.schema, c.path(p)) {
				return true
			}
		}
		if s.Ref != "" {
			if target, err := resolve(root, s.Ref); err == nil {
				return visit(target, p)
			}
		}
		return false
	}
	found = visit(root, "")
	return path, found
}
