package schema

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// expected says what a schema accepts: "an integer, 1–2000", "one of content, count", "an array of objects".
func (n *node) expected() string {
	orNull := n.orNull != nil
	n = n.plain()
	var out []string
	for _, f := range facts(n.src) {
		switch f.keyword {
		case "enum", "const":
			return f.phrase
		case "default", "examples":
		default:
			out = append(out, f.phrase)
		}
	}
	head := n.accept.String()
	if orNull {
		head = (n.accept | typeNull).String()
	}
	if n.accept == typeArray && n.items != nil {
		if item := n.items.plain().accept; item != typeAny {
			head = "an array of " + plural(item)
		}
	}
	return strings.Join(append([]string{head}, out...), ", ")
}

func plural(t types) string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	for i, name := range typeNames {
		if t == 1<<i {
			return name + "s"
		}
	}
	return "values, each " + t.String()
}

// example writes a small valid value as JSON, "" where none can be made up: strings with a pattern, numbers that must
// be multiples of something. The name of the property helps to find a telling one.
func (n *node) example(name string) string {
	v, ok := exampleValue(n, name, 0)
	if !ok {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// ordered is an object whose members keep their order in JSON.
type ordered []struct {
	name  string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(appendQuoted(b, m.name), ':'), v...)
	}
	return append(b, '}'), nil
}

func exampleValue(n *node, name string, depth int) (any, bool) {
	n = n.plain()
	s := n.src
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0], true
	case s.Default != nil && n.accept&typeNull == 0:
		return s.Default, true
	case len(n.enum) > 0:
		return n.enum[0], true
	case s.MultipleOf != nil || s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil || s.Ref != "" || depth > 4:
		return nil, false
	case n.accept == typeAny:
		return nil, false
	case n.accept&typeString != 0:
		return exampleString(n, name)
	case n.accept&(typeInteger|typeNumber) != 0:
		return exampleNumber(n, s)
	case n.accept&typeBoolean != 0:
		return true, true
	case n.accept&typeArray != 0:
		if n.items == nil || n.minItems > 1 || n.maxItems == 0 || s.Contains != nil || s.PrefixItems != nil {
			return nil, false
		}
		v, ok := exampleValue(n.items, strings.TrimSuffix(name, "s"), depth+1)
		return []any{v}, ok
	case n.accept&typeObject != 0:
		out := ordered{}
		for _, p := range n.props {
			if !p.required {
				continue
			}
			v, ok := exampleValue(p.node, p.name, depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, struct {
				name  string
				value any
			}{p.name, v})
		}
		return out, s.MinProperties == nil && s.PropertyNames == nil
	}
	return nil, n.accept&typeNull != 0
}

func exampleNumber(n *node, s *jsonschema.Schema) (any, bool) {
	try := []float64{1}
	if s.Minimum != nil {
		try = append(try, *s.Minimum)
	}
	if s.Maximum != nil {
		try = append(try, *s.Maximum)
	}
	if s.ExclusiveMinimum != nil {
		try = append(try, float64(int64(*s.ExclusiveMinimum)+1))
	}
	if s.ExclusiveMaximum != nil {
		try = append(try, float64(int64(*s.ExclusiveMaximum)-1))
	}
	for _, f := range try {
		if n.fitsNumber(f) && (n.accept&typeNumber != 0 || f == float64(int64(f))) {
			return json.RawMessage(formatFloat(f)), true
		}
	}
	return nil, false
}

func exampleString(n *node, name string) (any, bool) {
	text := "text"
	switch {
	case n.src.Format == "date-time":
		text = "2026-01-31T12:00:00Z"
	case n.src.Format == "date":
		text = "2026-01-31"
	case n.src.Format == "uri" || name == "url":
		text = "https://example.com/"
	case name == "path" || strings.HasSuffix(name, "_path"):
		text = "src/main.go"
	case name == "workdir":
		text = "src"
	case name == "glob":
		text = "**/*.go"
	case name == "pattern":
		text = "func main"
	case name == "command":
		text = "go test ./..."
	case name == "query":
		text = "words to look for"
	}
	return text, n.fitsString([]byte(text))
}
