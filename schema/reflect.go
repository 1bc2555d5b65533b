package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// For makes the portable JSON Schema of a Go struct: an object with its properties in declared order and
// additionalProperties false, without booleans for schemas, type arrays and references.
//
// A field is required unless it is a pointer or its json tag says omitempty or omitzero. The jsonschema tag is the
// field's description in plain words; the schema tag holds constraints, separated by commas:
//
//	Limit int    `json:"limit,omitempty" jsonschema:"Lines to read" schema:"min=1,max=2000,default=2000"`
//	Mode  string `json:"mode" jsonschema:"What to show" schema:"enum=content|count"`
//
// min and max bound a number, the characters of a string or the items of an array. enum, pattern and format on an array
// speak of its items. Further keys: default, example (JSON, or plain text for strings) and any. A value with a comma or
// a bar stands in single quotes: pattern='a{1,2}'. What a constraint says is appended to the description.
//
// Nested structs are inlined and embedded structs are flattened. time.Time, []byte (base64) and types that unmarshal
// text are strings. A field of type any or json.RawMessage needs a description and schema:"any".
//
// Errors name the field: a type that has no portable schema (functions, time.Duration, recursive types, types with
// their own JSON form), an unknown or contradictory tag, a name that some provider refuses.
func For[T any]() (*jsonschema.Schema, error) { return ForType(reflect.TypeFor[T]()) }

// ForType is For with a type that is known only at run time: a struct or a pointer to one.
func ForType(t reflect.Type) (*jsonschema.Schema, error) {
	if t == nil {
		return nil, fmt.Errorf("schema of nil: want a struct")
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || isText(t) {
		return nil, fmt.Errorf("schema of %s: want a struct", t)
	}
	b := builder{}
	s, err := b.object(t, "")
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return s, nil
}

// Element is an array element whose faults are its own. Arguments are not checked inside it, so that one malformed
// element does not fail the call; the tool hands Raw to the [Checker] of T and reports per element. In the schema an
// Element[T] looks like T, which must be a struct.
type Element[T any] struct {
	Raw json.RawMessage // the element as the model wrote it
}

// UnmarshalJSON keeps the text.
func (e *Element[T]) UnmarshalJSON(b []byte) error {
	e.Raw = slices.Clone(b)
	return nil
}

// MarshalJSON returns the text; null for the zero value.
func (e Element[T]) MarshalJSON() ([]byte, error) {
	if e.Raw == nil {
		return []byte("null"), nil
	}
	return e.Raw, nil
}

func (Element[T]) elementType() reflect.Type { return reflect.TypeFor[T]() }

// opaqueKey marks the items schema of an Element array. Convert drops it, as every keyword that begins with "tackle:".
const opaqueKey = "tackle:opaque"

// portableKey is what every provider accepts as a property name.
var portableKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

// builder walks a type; stack holds the structs that are open, to find recursion.
type builder struct {
	stack []reflect.Type
}

func (b *builder) object(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if slices.Contains(b.stack, t) {
		return nil, fmt.Errorf("%s: recursive type %s has no inline schema", at(path), t)
	}
	b.stack = append(b.stack, t)
	defer func() { b.stack = b.stack[:len(b.stack)-1] }()
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	if err := b.fields(s, t, path); err != nil {
		return nil, err
	}
	return s, nil
}

// fields adds the fields of t to s, those of embedded structs in their place.
func (b *builder) fields(s *jsonschema.Schema, t reflect.Type, path string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		where := join(path, cmpOr(name, f.Name))
		if f.Anonymous && name == "" {
			if f.Type.Kind() != reflect.Struct || isText(f.Type) {
				return fmt.Errorf("%s: an embedded %s cannot be flattened; give it a json name", where, f.Type)
			}
			if err := b.fields(s, f.Type, path); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		name = cmpOr(name, f.Name)
		switch {
		case !portableKey.MatchString(name):
			return fmt.Errorf("%s: property names match %s (Gemini and Anthropic refuse others)", where, portableKey)
		case s.Properties[name] != nil:
			return fmt.Errorf("%s: two fields have this name", where)
		}
		options := strings.Split(flags, ",")
		if slices.Contains(options, "string") {
			return fmt.Errorf("%s: the json option string hides the type; use a string field", where)
		}
		required := f.Type.Kind() != reflect.Pointer && !slices.Contains(options, "omitempty") && !slices.Contains(options, "omitzero")
		p, err := b.field(f, required, where)
		if err != nil {
			return err
		}
		s.Properties[name] = p
		s.PropertyOrder = append(s.PropertyOrder, name)
		if required {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// labelled catches the tag style of other libraries, which would become part of the description.
var labelled = regexp.MustCompile(`^[a-zA-Z]+=`)

func (b *builder) field(f reflect.StructField, required bool, path string) (*jsonschema.Schema, error) {
	desc := f.Tag.Get("jsonschema")
	if labelled.MatchString(desc) {
		return nil, fmt.Errorf("%s: the jsonschema tag is the description in plain words; constraints go into the schema tag", path)
	}
	opts, err := parseTag(f.Tag.Get("schema"))
	if err != nil {
		return nil, fmt.Errorf("%s: schema tag: %w", path, err)
	}
	if _, ok := opts.get("default"); ok && required {
		return nil, fmt.Errorf("%s: a required field has no use for a default; add omitempty", path)
	}
	s, err := b.typ(f.Type, opts.has("any"), path)
	if err != nil {
		return nil, err
	}
	if opts.has("any") && desc == "" {
		return nil, fmt.Errorf("%s: an untyped property needs a description", path)
	}
	if err := opts.apply(s); err != nil {
		return nil, fmt.Errorf("%s: schema tag: %w", path, err)
	}
	base := strings.TrimSpace(desc)
	if s.Description != "" { // a note that the type itself made, such as base64
		base = describe(base, []string{s.Description})
	}
	s.Description = describe(base, phrases(s, base))
	return s, nil
}

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	numberType  = reflect.TypeFor[json.Number]()
	textType    = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonType    = reflect.TypeFor[json.Unmarshaler]()
	elementType = reflect.TypeFor[interface{ elementType() reflect.Type }]()
)

func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// typ returns the schema of a type without its tags. untyped allows values of any kind.
func (b *builder) typ(t reflect.Type, untyped bool, path string) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case untyped:
		if t.Kind() == reflect.Interface || t == rawType {
			return &jsonschema.Schema{}, nil
		}
		if t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && (t.Elem().Kind() == reflect.Interface || t.Elem() == rawType) {
			return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}, nil
		}
		return nil, fmt.Errorf("%s: the option any is for any, json.RawMessage and maps of them, not %s", path, t)
	case t.PkgPath() == "time" && t.Name() == "Time":
		return &jsonschema.Schema{Type: "string", Format: "date-time"}, nil
	case t == numberType:
		return &jsonschema.Schema{Type: "number"}, nil
	case t.PkgPath() == "time" && t.Name() == "Duration":
		return nil, fmt.Errorf("%s: time.Duration has no unit in JSON; use a number and say its unit", path)
	case t == rawType || t.Kind() == reflect.Interface:
		return nil, fmt.Errorf("%s: %s has no type that a model could see; use a concrete type or say schema:\"any\"", path, t)
	case reflect.PointerTo(t).Implements(jsonType):
		return nil, fmt.Errorf("%s: %s reads its own JSON, so its schema is unknown", path, t)
	case isText(t):
		return &jsonschema.Schema{Type: "string"}, nil
	}
	return b.kind(t, path)
}

func (b *builder) kind(t reflect.Type, path string) (*jsonschema.Schema, error) {
	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}, nil
	case reflect.Int8, reflect.Int16:
		limit := float64(int64(1) << (t.Bits() - 1))
		return &jsonschema.Schema{Type: "integer", Minimum: new(-limit), Maximum: new(limit - 1)}, nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}, nil
	case reflect.Uint8, reflect.Uint16:
		return &jsonschema.Schema{Type: "integer", Minimum: new(0.0), Maximum: new(float64(int64(1)<<t.Bits() - 1))}, nil
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: new(0.0)}, nil
	case reflect.Struct:
		return b.object(t, path)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || isText(t.Key()) {
			return nil, fmt.Errorf("%s: a map needs keys of a string type, not %s", path, t.Key())
		}
		values, err := b.typ(t.Elem(), false, path+"{}")
		return &jsonschema.Schema{Type: "object", AdditionalProperties: values}, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &jsonschema.Schema{Type: "string", Description: "base64"}, nil
		}
		return b.array(t, path)
	case reflect.Array:
		s, err := b.array(t, path)
		if err == nil {
			s.MinItems, s.MaxItems = new(t.Len()), new(t.Len())
		}
		return s, err
	}
	return nil, fmt.Errorf("%s: %s has no JSON form", path, t)
}

func (b *builder) array(t reflect.Type, path string) (*jsonschema.Schema, error) {
	elem, opaque := t.Elem(), false
	if elem.Implements(elementType) {
		elem, opaque = reflect.Zero(elem).Interface().(interface{ elementType() reflect.Type }).elementType(), true
		if elem.Kind() != reflect.Struct {
			return nil, fmt.Errorf("%s: Element is for structs, not %s", path, elem)
		}
	}
	items, err := b.typ(elem, false, path+"[]")
	if err != nil {
		return nil, err
	}
	if items.Description == "" {
		items.Description = describe("", phrases(items, ""))
	}
	if opaque {
		items.Extra = map[string]any{opaqueKey: true}
	}
	return &jsonschema.Schema{Type: "array", Items: items}, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// at names the place of an error; the root has no name.
func at(path string) string {
	if path == "" {
		return "at the root"
	}
	return path
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
