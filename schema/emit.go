package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// writer emits JSON in an order of its own choosing, so that equal definitions have equal bytes.
type writer struct {
	buf bytes.Buffer
	err error
}

// emit writes a schema with its keywords in a fixed order. The schema that accepts everything is written as {}, never as
// true, and keywords of our own are left out.
func emit(s *jsonschema.Schema) (json.RawMessage, error) {
	w := &writer{}
	w.schema(s)
	return w.buf.Bytes(), w.err
}

// object writes { ... } around the members that fill adds.
func (w *writer) object(fill func(key func(name string))) {
	w.buf.WriteByte('{')
	first := true
	fill(func(name string) {
		if !first {
			w.buf.WriteByte(',')
		}
		first = false
		w.buf.Write(appendQuoted(nil, name))
		w.buf.WriteByte(':')
	})
	w.buf.WriteByte('}')
}

func (w *writer) text(s string) { w.buf.Write(appendQuoted(nil, s)) }

// value writes any Go value as compact JSON without HTML escapes.
func (w *writer) value(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.err = fmt.Errorf("schema: %w", err)
		return
	}
	w.buf.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func (w *writer) schema(s *jsonschema.Schema) {
	w.object(func(key func(string)) {
		text := func(name, v string) {
			if v != "" {
				key(name)
				w.text(v)
			}
		}
		text("$schema", s.Schema)
		text("$id", s.ID)
		text("$anchor", s.Anchor)
		text("$ref", s.Ref)
		if len(s.Types) > 0 {
			key("type")
			w.value(s.Types)
		}
		text("type", s.Type)
		text("title", s.Title)
		text("description", s.Description)
		w.values(s, key)
		text("pattern", s.Pattern)
		text("format", s.Format)
		w.bounds(s, key)
		w.children(s, key)
		for _, k := range slices.Sorted(maps.Keys(s.Extra)) {
			if !strings.HasPrefix(k, "tackle:") {
				key(k)
				w.value(s.Extra[k])
			}
		}
	})
}

func (w *writer) values(s *jsonschema.Schema, key func(string)) {
	if s.Enum != nil {
		key("enum")
		w.value(s.Enum)
	}
	if s.Const != nil {
		key("const")
		w.value(*s.Const)
	}
	if s.Default != nil {
		key("default")
		w.value(s.Default)
	}
	if s.Examples != nil {
		key("examples")
		w.value(s.Examples)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"deprecated", s.Deprecated}, {"readOnly", s.ReadOnly}, {"writeOnly", s.WriteOnly}, {"uniqueItems", s.UniqueItems}} {
		if f.set {
			key(f.name)
			w.value(true)
		}
	}
}

func (w *writer) bounds(s *jsonschema.Schema, key func(string)) {
	for _, f := range []struct {
		name  string
		value *float64
	}{{"minimum", s.Minimum}, {"maximum", s.Maximum}, {"exclusiveMinimum", s.ExclusiveMinimum}, {"exclusiveMaximum", s.ExclusiveMaximum},
		{"multipleOf", s.MultipleOf}} {
		if f.value != nil {
			key(f.name)
			w.buf.WriteString(formatFloat(*f.value))
		}
	}
	for _, f := range []struct {
		name  string
		value *int
	}{{"minLength", s.MinLength}, {"maxLength", s.MaxLength}, {"minItems", s.MinItems}, {"maxItems", s.MaxItems},
		{"minContains", s.MinContains}, {"maxContains", s.MaxContains}, {"minProperties", s.MinProperties}, {"maxProperties", s.MaxProperties}} {
		if f.value != nil {
			key(f.name)
			w.value(*f.value)
		}
	}
}

// children writes the keywords that hold schemas or names of properties.
func (w *writer) children(s *jsonschema.Schema, key func(string)) {
	if s.Properties != nil {
		key("properties")
		w.object(func(name func(string)) {
			for _, k := range propertyNames(s) {
				name(k)
				w.schema(s.Properties[k])
			}
		})
	}
	if s.Required != nil {
		key("required")
		w.value(s.Required)
	}
	if s.DependentRequired != nil {
		key("dependentRequired")
		w.value(s.DependentRequired)
	}
	if s.DependencyStrings != nil {
		key("dependencies")
		w.value(s.DependencyStrings)
	}
	list := children(s, true)
	for i := 0; i < len(list); {
		c, from := list[i], i
		for i < len(list) && list[i].keyword == c.keyword {
			i++
		}
		if c.keyword == "properties" || c.keyword == "dependencies" && s.DependencyStrings != nil {
			continue
		}
		key(c.keyword)
		w.group(list[from:i])
	}
}

// group writes the value of one keyword: a schema, a list of schemas, or schemas by name.
func (w *writer) group(list []child) {
	c := list[0]
	switch {
	case c.key == "" && len(list) == 1:
		boolean := c.keyword == "additionalProperties" || c.keyword == "additionalItems" || strings.HasPrefix(c.keyword, "unevaluated")
		switch {
		case boolean && isFalse(c.schema):
			w.value(false)
		case boolean && isTrue(c.schema):
			w.value(true)
		default:
			w.schema(c.schema)
		}
	case strings.Contains("patternProperties dependentSchemas dependencies $defs definitions", c.keyword):
		w.object(func(name func(string)) {
			for _, c := range list {
				name(c.key)
				w.schema(c.schema)
			}
		})
	default:
		w.buf.WriteByte('[')
		for i, c := range list {
			if i > 0 {
				w.buf.WriteByte(',')
			}
			w.schema(c.schema)
		}
		w.buf.WriteByte(']')
	}
}
