package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/media"
)

// parseYAML reads the one document of a file. An empty one is a null.
func parseYAML(src string, lim media.Limits) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(src))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!null"}}, HeadComment: strings.TrimSpace(src)}, nil
	}
	if err != nil {
		return nil, media.Failf("it is no valid YAML: %s.", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, media.Failf("it holds several YAML documents; only a file with one can be changed.")
	}
	return &doc, checkYAML(&doc, lim.WithDefaults().Depth)
}

func checkYAML(n *yaml.Node, depth int) error {
	if depth == 0 {
		return media.Failf("the YAML is nested too deep.")
	}
	for _, c := range n.Content {
		if err := checkYAML(c, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func yamlWhat(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "an object"
	case n.Kind == yaml.SequenceNode:
		return "an array"
	case n.Tag == "!!null":
		return "null"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "a number"
	case n.Tag == "!!bool":
		return "true or false"
	}
	return "a text"
}

// yamlValue makes nodes of JSON, keys in order and numbers as written.
func yamlValue(n *node, src string) *yaml.Node {
	text := src[n.from:n.to]
	switch n.kind {
	case '{':
		out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range n.members {
			out.Content = append(out.Content, yamlText(m.key), yamlValue(m.val, src))
		}
		return out
	case '[':
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, v := range n.items {
			out.Content = append(out.Content, yamlValue(v, src))
		}
		return out
	case '"':
		var s string
		_ = json.Unmarshal([]byte(text), &s) // it is valid
		return yamlText(s)
	case '0':
		tag := "!!int"
		if strings.ContainsAny(text, ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	case 't':
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: text}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

func yamlText(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s) // quotes what would read as something else
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off": // older readers take these for true and false
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// yamlDoc is a YAML file that is being edited.
type yamlDoc struct {
	root     *yaml.Node // the value, not the document
	warnings []string
	counts   media.Counts
}

// follow goes through an alias to what it stands for.
func (d *yamlDoc) follow(n *yaml.Node, at []segment) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		d.warnings = append(d.warnings, fmt.Sprintf("%s is an alias of &%s, so the change shows at every use of it.", printPath(at), n.Value))
		n = n.Alias
	}
	return n
}

// child returns the index in Content of what a segment names, or -1.
func child(n *yaml.Node, s segment) int {
	switch {
	case s.is && n.Kind == yaml.SequenceNode && s.index < len(n.Content):
		return s.index
	case !s.is && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s.key {
				return i + 1
			}
		}
	}
	return -1
}

func keepComments(to, from *yaml.Node) {
	to.HeadComment, to.LineComment, to.FootComment, to.Anchor = from.HeadComment, from.LineComment, from.FootComment, from.Anchor
	if from.Kind == to.Kind {
		if to.Kind == yaml.ScalarNode && from.Tag == to.Tag && from.Style != yaml.LiteralStyle && from.Style != yaml.FoldedStyle || to.Kind != yaml.ScalarNode {
			to.Style = from.Style
		}
	}
}

func (d *yamlDoc) set(path []segment, raw []byte, lim media.Limits) error {
	n := d.root
	for i, s := range path {
		n = d.follow(n, path[:i])
		if k := child(n, s); k >= 0 {
			if i == len(path)-1 {
				v, err := parseJSON(string(raw), lim)
				if err != nil {
					return err
				}
				old := n.Content[k]
				fresh := yamlValue(v, string(raw))
				keepComments(fresh, old)
				n.Content[k] = fresh
				d.counts.Modified++
				return nil
			}
			n = n.Content[k]
			continue
		}
		if err := fromZero(path, i, n.Kind == yaml.ScalarNode); err != nil {
			return err
		}
		wrapped := wrap(path[i+1:], raw)
		v, err := parseJSON(string(wrapped), lim)
		if err != nil {
			return err
		}
		fresh := yamlValue(v, string(wrapped))
		switch {
		case n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || i == 0):
			whole := wrap(path[i:], raw)
			if v, err = parseJSON(string(whole), lim); err != nil {
				return err
			}
			fresh = yamlValue(v, string(whole))
			keepComments(fresh, n)
			*n = *fresh
		case s.is && n.Kind == yaml.SequenceNode:
			if s.index > len(n.Content) {
				return media.Failf("%s has %d items, so the next index is %d, not %d.", printPath(path[:i]), len(n.Content), len(n.Content), s.index)
			}
			n.Content = append(n.Content, fresh)
		case !s.is && n.Kind == yaml.MappingNode:
			n.Content = append(n.Content, yamlText(s.key), fresh)
		case s.is:
			return media.Failf("%s is %s, so it has no %s.", printPath(path[:i]), yamlWhat(n), s)
		default:
			return media.Failf("%s is %s, so it has no %q.", printPath(path[:i]), yamlWhat(n), s.key)
		}
		d.counts.Added++
		return nil
	}
	return nil
}

func (d *yamlDoc) remove(path []segment) error {
	n := d.root
	for i, s := range path {
		n = d.follow(n, path[:i])
		k := child(n, s)
		if k < 0 {
			return media.Failf("there is no %s; %s.", printPath(path[:i+1]), yamlHolds(n, printPath(path[:i])))
		}
		if i < len(path)-1 {
			n = n.Content[k]
			continue
		}
		from := k
		if n.Kind == yaml.MappingNode {
			from = k - 1
		}
		if hasAnchor(n.Content[k]) {
			return media.Failf("%s holds an anchor that aliases elsewhere need; delete those first.", printPath(path))
		}
		n.Content = append(n.Content[:from:from], n.Content[k+1:]...)
	}
	d.counts.Removed++
	return nil
}

func hasAnchor(n *yaml.Node) bool {
	if n.Anchor != "" {
		return true
	}
	for _, c := range n.Content {
		if hasAnchor(c) {
			return true
		}
	}
	return false
}

func yamlHolds(n *yaml.Node, name string) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return fmt.Sprintf("%s has %d items, from [0]", name, len(n.Content))
	case yaml.MappingNode:
		var keys []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i == 40 {
				keys = append(keys, "…")
				break
			}
			keys = append(keys, fmt.Sprintf("%q", n.Content[i].Value))
		}
		if len(keys) == 0 {
			return name + " is empty"
		}
		return name + " has " + strings.Join(keys, ", ")
	}
	return name + " is " + yamlWhat(n)
}

func (d *yamlDoc) merge(path []segment, fragment *node, text string, deep bool, lim media.Limits) error {
	for _, m := range fragment.members {
		at := append(path[:len(path):len(path)], segment{key: m.key})
		if deep && m.val.kind == '{' {
			n := d.root
			for _, s := range at {
				for n.Kind == yaml.AliasNode && n.Alias != nil {
					n = n.Alias
				}
				k := child(n, s)
				if k < 0 {
					n = nil
					break
				}
				n = n.Content[k]
			}
			if n != nil && (n.Kind == yaml.MappingNode || n.Kind == yaml.AliasNode) {
				if err := d.merge(at, m.val, text, deep, lim); err != nil {
					return err
				}
				continue
			}
		}
		if err := d.set(at, []byte(text[m.val.from:m.val.to]), lim); err != nil {
			return err
		}
	}
	return nil
}

func editYAML(_ context.Context, r *media.Request) (media.Result, error) {
	src, enc, err := decode(&r.In)
	if err != nil {
		return media.Result{}, err
	}
	doc, err := parseYAML(src, r.Limits)
	if err != nil {
		return media.Result{}, err
	}
	d := &yamlDoc{root: doc.Content[0]}
	switch r.Op {
	case "data.merge":
		fragment := string(r.Args["fragment"].(json.RawMessage))
		var f *node
		if f, err = parseJSON(fragment, r.Limits); err != nil {
			return media.Result{}, err
		}
		if f.kind != '{' {
			return media.Result{}, media.Failf("the fragment is %s; only an object can be merged.", f.what())
		}
		if d.root.Kind == yaml.ScalarNode && d.root.Tag == "!!null" {
			d.root.Kind, d.root.Tag, d.root.Value = yaml.MappingNode, "!!map", ""
		}
		if d.root.Kind != yaml.MappingNode {
			return media.Result{}, media.Failf("%s is %s at its root; only into an object can be merged. Use data set with a path.", r.In.Name, yamlWhat(d.root))
		}
		err = d.merge(nil, f, fragment, r.Args["strategy"] != "shallow", r.Limits)
	default:
		var path []segment
		if path, err = parsePath(r.Args["path"].(string)); err != nil {
			return media.Result{}, err
		}
		if r.Op == "data.set" {
			err = d.set(path, r.Args["value"].(json.RawMessage), r.Limits)
		} else {
			err = d.remove(path)
		}
	}
	if err != nil {
		return media.Result{}, err
	}
	out, err := printYAML(doc)
	if err != nil {
		return media.Result{}, err
	}
	return done(r, out, enc, d.warnings, d.counts)
}

func printYAML(doc *yaml.Node) (string, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(doc), e.Close()); err != nil {
		return "", media.Failf("the result cannot be written as YAML: %v.", err)
	}
	return b.String(), nil
}

// jsonOf writes YAML nodes as JSON. budget bounds what aliases may make of a small file, depth one that holds itself.
func jsonOf(b *bytes.Buffer, n *yaml.Node, budget *int, depth int) error {
	if *budget--; *budget < 0 || depth > 1000 {
		return media.Failf("its aliases make it larger than is allowed.")
	}
	str := func(s string) {
		q, _ := json.Marshal(s) // a string always encodes
		b.Write(q)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return jsonOf(b, n.Content[0], budget, depth+1)
	case yaml.AliasNode:
		return jsonOf(b, n.Alias, budget, depth+1)
	case yaml.MappingNode:
		b.WriteByte('{')
		wrote := false
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if k.Tag == "!!merge" {
				return media.Failf("line %d: << merges keys, which JSON cannot say; write them out first.", k.Line)
			}
			if k.Kind != yaml.ScalarNode {
				return media.Failf("line %d: a key is %s, and keys of JSON are texts.", k.Line, yamlWhat(k))
			}
			if wrote {
				b.WriteByte(',')
			}
			wrote = true
			str(k.Value)
			b.WriteByte(':')
			if err := jsonOf(b, v, budget, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, v := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonOf(b, v, budget, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		switch {
		case n.Tag == "!!null":
			b.WriteString("null")
		case (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)):
			b.WriteString(n.Value)
		case n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool":
			var v any
			if err := n.Decode(&v); err != nil {
				return media.Failf("line %d: %v.", n.Line, err)
			}
			q, err := json.Marshal(v)
			if err != nil {
				return media.Failf("line %d: %s has no form in JSON.", n.Line, n.Value)
			}
			b.Write(q)
		default:
			str(n.Value)
		}
	}
	return nil
}
