package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (e *Entry) validate() error {
	switch {
	case e.Name == "" || strings.Trim(e.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return fmt.Errorf("setup: server name %q: want letters, digits, dashes and underscores", e.Name)
	case (e.Command == "") == (e.URL == ""):
		return fmt.Errorf("setup: server %s: want either a command or a URL", e.Name)
	}
	return nil
}

// Edit returns a settings file with the entry in it, in place of an entry of the same name. file is the content as it
// is; empty for a file that does not exist. Everything else in it stays as it is. changed is false where the entry was
// there already.
// Errors: the file cannot be read, or it holds the name in a form that is not edited here.
func (c Client) Edit(file []byte, e Entry) (out []byte, changed bool, err error) {
	if err := e.validate(); err != nil {
		return nil, false, err
	}
	value := c.entry(e)
	switch c.form {
	case tomlForm:
		out, err = editTOML(file, c.at[0], e.Name, value.(object))
	case yamlForm:
		out, err = editYAML(file, c.at[0], e.Name, value.(object))
	default:
		out, err = editJSON(file, append(slices.Clone(c.at), e.Name), value)
	}
	if err != nil {
		return nil, false, fmt.Errorf("setup: settings of %s: %w", c.Title, err)
	}
	return out, !bytes.Equal(out, file), nil
}

// Snippet returns what a person would write into an empty settings file.
func (c Client) Snippet(e Entry) (string, error) {
	out, _, err := c.Edit(nil, e)
	return string(out), err
}

// Check says what is wrong with a settings file for doctor: "" means that the client knows the entry as it is.
func (c Client) Check(file []byte, e Entry) string {
	if len(bytes.TrimSpace(file)) == 0 {
		return "the file is empty or missing"
	}
	_, changed, err := c.Edit(file, e)
	switch {
	case err != nil:
		return err.Error()
	case !bytes.Contains(file, []byte(e.Name)):
		return "the server is not in it"
	case changed:
		return "the server is in it with other settings: another command, folder or address"
	}
	return ""
}

// appendJSON appends a value with the given indentation of its lines.
func appendJSON(b []byte, v any, indent string) []byte {
	const step = "  "
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, "\n"+indent+step...)
			b = append(append(b, quote(m.key)...), ": "...)
			b = appendJSON(b, m.value, indent+step)
		}
		if len(v) > 0 {
			b = append(b, "\n"+indent...)
		}
		return append(b, '}')
	case map[string]string:
		o := object{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			o.put(k, v[k])
		}
		return appendJSON(b, o, indent)
	case []string:
		b = append(b, '[')
		for i, s := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(b, quote(s)...)
		}
		return append(b, ']')
	case string:
		return append(b, quote(v)...)
	}
	return fmt.Append(b, v)
}

// quote is a JSON string, which is also a basic string of TOML.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // strings always encode
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// editTOML replaces or appends the table [table.name] and its subtables.
func editTOML(file []byte, table, name string, value object) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s.%s]\n", table, name)
	var sub strings.Builder
	for _, m := range value {
		switch v := m.value.(type) {
		case map[string]string:
			fmt.Fprintf(&sub, "\n[%s.%s.%s]\n", table, name, m.key)
			for _, k := range slices.Sorted(maps.Keys(v)) {
				fmt.Fprintf(&sub, "%s = %s\n", quote(k), quote(v[k]))
			}
		default:
			fmt.Fprintf(&b, "%s = %s\n", m.key, appendJSON(nil, v, ""))
		}
	}
	text := b.String() + sub.String()
	lines := strings.SplitAfter(string(file), "\n")
	from, to, err := findTable(lines, table, name)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		head := strings.TrimRight(string(file), "\n")
		if head != "" {
			head += "\n\n"
		}
		return []byte(head + text), nil
	}
	tail := strings.Join(lines[to:], "")
	if strings.TrimSpace(tail) != "" {
		text += "\n"
	}
	return []byte(strings.Join(lines[:from], "") + text + strings.TrimLeft(tail, "\n")), nil
}

// findTable returns the lines [from, to) of a table with its subtables; from is -1 where there is none. A comment above
// the next table belongs to that one.
func findTable(lines []string, table, name string) (from, to int, err error) {
	from = -1
	inString, current := false, ""
	for i, line := range lines {
		quotes := strings.Count(line, `"""`) + strings.Count(line, "'''")
		text := strings.TrimSpace(line)
		switch {
		case inString:
		case strings.HasPrefix(text, "["):
			current = header(text)
			mine := current == table+"."+name || strings.HasPrefix(current, table+"."+name+".")
			if mine && from < 0 {
				from = i
			}
			if from >= 0 && !mine && to == 0 {
				to = i
			}
			if mine && to > 0 {
				return -1, 0, fmt.Errorf("line %d: the table [%s] stands apart from its parent; edit the file by hand", i+1, current)
			}
		case current == "" && strings.HasPrefix(text, table+"."+name), current == table && definesKey(text, name):
			return -1, 0, fmt.Errorf("line %d: %s.%s is written as a value and not as a table; edit the file by hand", i+1, table, name)
		}
		if quotes%2 == 1 {
			inString = !inString
		}
	}
	if from >= 0 && to == 0 {
		to = len(lines)
	}
	for to > from+1 && from >= 0 { // comments and blank lines before the next table are its own
		if t := strings.TrimSpace(lines[to-1]); t != "" && !strings.HasPrefix(t, "#") {
			break
		}
		to--
	}
	return from, to, nil
}

func definesKey(text, name string) bool {
	key, _, ok := strings.Cut(text, "=")
	key = strings.Trim(strings.TrimSpace(key), `"'`)
	return ok && (key == name || strings.HasPrefix(key, name+"."))
}

// header returns the name of a table line without brackets, quotes and spaces.
func header(text string) string {
	text, _, _ = strings.Cut(text, "]")
	return strings.NewReplacer("[", "", `"`, "", "'", "", " ", "").Replace(text)
}

// editYAML sets key.name in a document, keeping comments and order.
func editYAML(file []byte, key, name string, value object) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(file, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want a mapping at the top", root.Line)
	}
	servers := child(root, key)
	if servers == nil {
		servers = &yaml.Node{Kind: yaml.MappingNode}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, servers)
	}
	if servers.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want a mapping for %s", servers.Line, key)
	}
	var entry yaml.Node
	if err := entry.Encode(ordered(value)); err != nil {
		return nil, err
	}
	if old := child(servers, name); old != nil {
		if same(old, &entry) {
			return file, nil
		}
		entry.HeadComment, entry.LineComment, entry.FootComment = old.HeadComment, old.LineComment, old.FootComment
		*old = entry
	} else {
		servers.Style = 0
		servers.Content = append(servers.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &entry)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

func child(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// same compares values, not spelling.
func same(a, b *yaml.Node) bool {
	var x, y any
	if a.Decode(&x) != nil || b.Decode(&y) != nil {
		return false
	}
	p, err1 := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(p, q)
}

// ordered is the object as a YAML mapping in its order.
func ordered(o object) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range o {
		var v yaml.Node
		value := m.value
		if list, ok := value.([]string); ok && list == nil {
			value = []string{}
		}
		if env, ok := value.(map[string]string); ok && env == nil {
			value = map[string]string{}
		}
		if err := v.Encode(value); err != nil { // strings, numbers, lists and maps of strings always encode
			panic(err)
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: m.key}, &v)
	}
	return n
}
