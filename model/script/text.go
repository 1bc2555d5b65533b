package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// variable is ${name}, or $${ for a plain ${.
var variable = regexp.MustCompile(`\$\$\{|\$\{(\w+)\}`)

// expand puts variables into a text.
func expand(s string, value func(name string) string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return variable.ReplaceAllStringFunc(s, func(m string) string {
		if m == "$${" {
			return "${"
		}
		return value(m[2 : len(m)-1])
	})
}

// checkText finds variables that nothing sets.
func checkText(s string, known map[string]bool) (err error) {
	expand(s, func(name string) string {
		if !known[name] && err == nil {
			err = fmt.Errorf("${%s} is set by no expectation before it: capture it with (?P<%s>…), name it in vars, or write $${%s} for the plain text", name, name, name)
		}
		return ""
	})
	return err
}

// toJSON writes a YAML value as JSON, its keys in their order. text is applied to every string that is no key.
func toJSON(n *yaml.Node, text func(string) string) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, n, text, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxDepth bounds the nesting of arguments, and aliases that hold themselves.
const maxDepth = 100

func writeJSON(b *bytes.Buffer, n *yaml.Node, text func(string) string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("line %d: nested deeper than %d", n.Line, maxDepth)
	}
	switch n.Kind {
	case 0:
		b.WriteString("{}")
	case yaml.AliasNode:
		return writeJSON(b, n.Alias, text, depth+1)
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			putString(b, n.Content[i].Value)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1], text, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, x := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, x, text, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		if n.ShortTag() == "!!str" {
			putString(b, text(n.Value))
			return nil
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		b.Write(raw)
	}
	return nil
}

func putString(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always marshals, into a buffer
	b.Truncate(b.Len() - 1)
}
