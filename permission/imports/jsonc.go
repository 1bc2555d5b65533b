package imports

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A node is a JSON value with its line. Objects keep the order of their keys, which means something in rules.
type node struct {
	kind  byte // '{', '[', '"', or 'v' for numbers, true, false and null
	text  string
	keys  []string
	items []*node // values of an object or an array
	line  int
}

// get returns the last value of a key, or nil.
func (n *node) get(key string) *node {
	var found *node
	for i, k := range n.keys {
		if k == key {
			found = n.items[i]
		}
	}
	return found
}

// jsonc reads JSON with comments and trailing commas.
type jsonc struct {
	s string
	i int
}

const maxDepth = 64

func parseJSON(data []byte) (*node, error) {
	p := &jsonc{s: string(data)}
	p.i = len(p.s) - len(strings.TrimPrefix(p.s, "\ufeff"))
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.blank(); err != nil {
		return nil, err
	}
	if p.i < len(p.s) {
		return nil, p.fail("text behind the value")
	}
	return n, nil
}

func (p *jsonc) line() int { return 1 + strings.Count(p.s[:min(p.i, len(p.s))], "\n") }

func (p *jsonc) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", p.line(), fmt.Sprintf(format, args...))
}

// blank skips white space and comments.
func (p *jsonc) blank() error {
	for p.i < len(p.s) {
		switch rest := p.s[p.i:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.i++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return p.fail("a comment that does not end")
			}
			p.i += end + 2
		default:
			return nil
		}
	}
	return nil
}

func (p *jsonc) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("too deeply nested")
	}
	if err := p.blank(); err != nil {
		return nil, err
	}
	if p.i >= len(p.s) {
		return nil, p.fail("the value is missing")
	}
	n := &node{line: p.line()}
	switch c := p.s[p.i]; c {
	case '{', '[':
		n.kind = c
		p.i++
		return n, p.list(n, depth)
	case '"':
		n.kind = '"'
		text, err := p.str()
		n.text = text
		return n, err
	default:
		n.kind = 'v'
		end := strings.IndexAny(p.s[p.i:], " \t\r\n,]}/")
		if end < 0 {
			end = len(p.s) - p.i
		}
		n.text = p.s[p.i : p.i+end]
		if !json.Valid([]byte(n.text)) {
			return nil, p.fail("%q is no value", n.text)
		}
		p.i += end
		return n, nil
	}
}

// list reads the rest of an object or an array.
func (p *jsonc) list(n *node, depth int) error {
	closing := n.kind + 2 // in ASCII, ']' is '['+2 and '}' is '{'+2
	for first := true; ; first = false {
		if err := p.blank(); err != nil {
			return err
		}
		if !first && p.i < len(p.s) && p.s[p.i] == ',' {
			p.i++
			if err := p.blank(); err != nil {
				return err
			}
		} else if !first && (p.i >= len(p.s) || p.s[p.i] != closing) {
			return p.fail("want a comma or %q", closing)
		}
		if p.i < len(p.s) && p.s[p.i] == closing {
			p.i++
			return nil
		}
		if n.kind == '{' {
			if p.i >= len(p.s) || p.s[p.i] != '"' {
				return p.fail("want a key in quotes")
			}
			key, err := p.str()
			if err != nil {
				return err
			}
			if err := p.blank(); err != nil {
				return err
			}
			if p.i >= len(p.s) || p.s[p.i] != ':' {
				return p.fail("want a colon behind %q", key)
			}
			p.i++
			n.keys = append(n.keys, key)
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
}

func (p *jsonc) str() (string, error) {
	for end := p.i + 1; end < len(p.s); end++ {
		switch p.s[end] {
		case '\\':
			end++
		case '\n':
			return "", p.fail("a string that does not end")
		case '"':
			var text string
			if err := json.Unmarshal([]byte(p.s[p.i:end+1]), &text); err != nil {
				return "", p.fail("the string %s: %v", p.s[p.i:end+1], err)
			}
			p.i = end + 1
			return text, nil
		}
	}
	return "", p.fail("a string that does not end")
}
