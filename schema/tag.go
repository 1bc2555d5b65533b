package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// tagOption is one key of a schema tag; list holds the parts between bars.
type tagOption struct {
	key  string
	list []string
}

func (o tagOption) value() string { return strings.Join(o.list, "|") }

type tagOptions []tagOption

func (o tagOptions) get(key string) (tagOption, bool) {
	i := slices.IndexFunc(o, func(t tagOption) bool { return t.key == key })
	if i < 0 {
		return tagOption{}, false
	}
	return o[i], true
}

func (o tagOptions) has(key string) bool {
	_, ok := o.get(key)
	return ok
}

// parseTag reads key=value pairs that are separated by commas. A part in single quotes may hold commas and bars; a quote
// inside it is written twice.
func parseTag(tag string) (tagOptions, error) {
	var out tagOptions
	for rest := tag; rest != ""; {
		end := strings.IndexAny(rest, "=,")
		key, hasValue := rest, false
		switch {
		case end < 0:
			rest = ""
		default:
			key, hasValue, rest = rest[:end], rest[end] == '=', rest[end+1:]
		}
		key = strings.TrimSpace(key)
		if key == "" {
			return nil, fmt.Errorf("an empty key in %q", tag)
		}
		if out.has(key) {
			return nil, fmt.Errorf("%s stands twice", key)
		}
		o := tagOption{key: key}
		if hasValue {
			var err error
			if o.list, rest, err = parseParts(rest); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		if hasValue == (key == "any") {
			return nil, fmt.Errorf("%s: want %s", key, map[bool]string{true: "no value", false: key + "=value"}[hasValue])
		}
		out = append(out, o)
	}
	return out, nil
}

// parseParts reads a value up to its comma.
func parseParts(s string) (parts []string, rest string, err error) {
	for {
		part := ""
		if strings.HasPrefix(s, "'") {
			s = s[1:]
			for {
				end := strings.IndexByte(s, '\'')
				if end < 0 {
					return nil, "", fmt.Errorf("a quote is not closed")
				}
				part += s[:end]
				s = s[end+1:]
				if !strings.HasPrefix(s, "'") {
					break
				}
				part, s = part+"'", s[1:]
			}
		} else {
			end := strings.IndexAny(s, ",|")
			if end < 0 {
				end = len(s)
			}
			part, s = strings.TrimSpace(s[:end]), s[end:]
		}
		parts = append(parts, part)
		switch {
		case s == "":
			return parts, "", nil
		case s[0] == ',':
			return parts, s[1:], nil
		case s[0] == '|':
			s = s[1:]
		default:
			return nil, "", fmt.Errorf("text after a closing quote: %q", s)
		}
	}
}

// apply writes the options into the schema of their field and checks that they agree with each other.
func (o tagOptions) apply(s *jsonschema.Schema) error {
	item := s
	if s.Type == "array" {
		item = s.Items
	}
	for _, opt := range o {
		if err := opt.apply(s, item); err != nil {
			return fmt.Errorf("%s: %w", opt.key, err)
		}
	}
	if item != s {
		item.Description = describe(item.Description, phrases(item, item.Description))
	}
	if s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum || above(s.MinLength, s.MaxLength) || above(s.MinItems, s.MaxItems) {
		return fmt.Errorf("min is above max")
	}
	return checkOwn(s)
}

func above(a, b *int) bool { return a != nil && b != nil && *a > *b }

func (o tagOption) apply(s, item *jsonschema.Schema) error {
	switch o.key {
	case "any":
	case "min", "max":
		return o.bound(s)
	case "enum":
		for _, part := range o.list {
			v, err := literal(item, part)
			if err != nil {
				return err
			}
			if item.Type == "boolean" || item.Type == "object" {
				return fmt.Errorf("not for a %s", item.Type)
			}
			item.Enum = append(item.Enum, v)
		}
	case "pattern":
		if item.Type != "string" {
			return fmt.Errorf("only for strings")
		}
		if _, err := regexp.Compile(o.value()); err != nil {
			return err
		}
		item.Pattern = o.value()
	case "format":
		item.Format = o.value()
	case "default":
		v, err := literal(s, o.value())
		if err != nil {
			return err
		}
		s.Default, err = json.Marshal(v)
		return err
	case "example":
		v, err := literal(s, o.value())
		if err != nil {
			return err
		}
		s.Examples = []any{v}
	default:
		return fmt.Errorf("unknown key (have any, default, enum, example, format, max, min, pattern)")
	}
	return nil
}

func (o tagOption) bound(s *jsonschema.Schema) error {
	f, err := strconv.ParseFloat(o.value(), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", o.value())
	}
	n := int(f)
	if s.Type != "number" && float64(n) != f || s.Type != "number" && s.Type != "integer" && n < 0 {
		return fmt.Errorf("%q is not a count", o.value())
	}
	low := o.key == "min"
	set := func(lo, hi **int) {
		if low {
			*lo = &n
		} else {
			*hi = &n
		}
	}
	switch s.Type {
	case "number", "integer":
		if low {
			s.Minimum = &f
		} else {
			s.Maximum = &f
		}
	case "string":
		set(&s.MinLength, &s.MaxLength)
	case "array":
		set(&s.MinItems, &s.MaxItems)
	default:
		return fmt.Errorf("not for a %s", cmpOr(s.Type, "value of any type"))
	}
	return nil
}

// literal reads a tag value as a value of the schema's type: plain text for strings, JSON for the rest.
func literal(s *jsonschema.Schema, text string) (any, error) {
	if s.Type == "string" {
		return text, nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("%q is not JSON", text)
	}
	return v, nil
}

// checkOwn refuses a default or an example that the schema itself would refuse.
func checkOwn(s *jsonschema.Schema) error {
	c, err := Compile(&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"it": s}})
	if err != nil {
		return err
	}
	check := func(key string, value json.RawMessage) error {
		p, err := c.Prepare(slices.Concat([]byte(`{"it":`), value, []byte(`}`)))
		if err == nil && len(p.Problems) > 0 {
			err = fmt.Errorf("%s %s: %s", key, value, p.Problems[0].Message)
		}
		return err
	}
	if s.Default != nil {
		if err := check("default", s.Default); err != nil {
			return err
		}
	}
	for _, e := range s.Examples {
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := check("example", b); err != nil {
			return err
		}
	}
	return nil
}
