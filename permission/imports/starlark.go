package imports

import (
	"fmt"
	"strings"
)

// A call is one call at the top of an execution policy, with its literal arguments. Policies are written in Starlark; they
// are lists of calls, and nothing else of the language is read.
type call struct {
	name string
	args map[string]any // string, []any, bool or nil (None)
	line int
}

type starlark struct {
	s    string
	i    int
	line int
}

// parseCalls reads all calls of a policy.
func parseCalls(text string) ([]call, error) {
	p := &starlark{s: text, line: 1}
	var out []call
	for {
		p.blank(true)
		if p.i >= len(p.s) {
			return out, nil
		}
		if p.s[p.i] == ';' {
			p.i++
			continue
		}
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
}

func (p *starlark) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", p.line, fmt.Sprintf(format, args...))
}

// blank skips white space and comments; newlines only where lines says so. A docstring at the top is skipped by call.
func (p *starlark) blank(lines bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '\n' && lines:
			p.line++
			p.i++
		case c == ' ' || c == '\t' || c == '\r':
			p.i++
		case c == '\\' && strings.HasPrefix(p.s[p.i:], "\\\n"):
			p.line++
			p.i += 2
		case c == '#':
			for p.i < len(p.s) && p.s[p.i] != '\n' {
				p.i++
			}
		default:
			return
		}
	}
}

func (p *starlark) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *starlark) name() string {
	from := p.i
	for p.i < len(p.s) && (p.s[p.i] == '_' || p.s[p.i]|0x20 >= 'a' && p.s[p.i]|0x20 <= 'z' || p.i > from && p.s[p.i] >= '0' && p.s[p.i] <= '9') {
		p.i++
	}
	return p.s[from:p.i]
}

func (p *starlark) call() (call, error) {
	c := call{args: map[string]any{}, line: p.line}
	if c.name = p.name(); c.name == "" {
		return c, p.fail("want a call such as prefix_rule(…), found %q", p.rest())
	}
	p.blank(false)
	if p.peek() != '(' {
		return c, p.fail("%s: only calls with literal arguments are read", c.name)
	}
	p.i++
	for {
		p.blank(true)
		if p.peek() == ')' {
			p.i++
			return c, nil
		}
		key := p.name()
		p.blank(true)
		if key == "" || p.peek() != '=' || strings.HasPrefix(p.s[p.i:], "==") {
			return c, p.fail("%s: want name = value, found %q", c.name, p.rest())
		}
		p.i++
		if _, twice := c.args[key]; twice {
			return c, p.fail("%s: %s stands twice", c.name, key)
		}
		v, err := p.value(0)
		if err != nil {
			return c, err
		}
		c.args[key] = v
		p.blank(true)
		switch p.peek() {
		case ',':
			p.i++
		case ')':
		default:
			return c, p.fail("%s: want a comma or a parenthesis, found %q", c.name, p.rest())
		}
	}
}

// rest returns what stands at the position, for messages.
func (p *starlark) rest() string {
	s, _, _ := strings.Cut(p.s[p.i:], "\n")
	return s[:min(len(s), 20)]
}

func (p *starlark) value(depth int) (any, error) {
	p.blank(true)
	switch c := p.peek(); {
	case depth > maxDepth:
		return nil, p.fail("too deeply nested")
	case c == '[' || c == '(':
		return p.list(c, depth)
	case c == '"' || c == '\'':
		return p.strings()
	}
	switch name := p.name(); name {
	case "True":
		return true, nil
	case "False":
		return false, nil
	case "None":
		return nil, nil
	}
	return nil, p.fail("want a string or a list, found %q", p.rest())
}

func (p *starlark) list(open byte, depth int) (any, error) {
	closing := byte(']')
	if open == '(' {
		closing = ')'
	}
	out := []any{}
	for p.i++; ; {
		p.blank(true)
		if p.peek() == closing {
			p.i++
			return out, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		p.blank(true)
		switch p.peek() {
		case ',':
			p.i++
		case closing:
		default:
			return nil, p.fail("want a comma or %q, found %q", closing, p.rest())
		}
	}
}

// strings reads a string, and what is added to it with "+".
func (p *starlark) strings() (any, error) {
	text, err := p.str()
	for err == nil {
		p.blank(true)
		if p.peek() != '+' {
			return text, nil
		}
		p.i++
		p.blank(true)
		var more string
		if more, err = p.str(); err == nil {
			text += more
		}
	}
	return nil, err
}

func (p *starlark) str() (string, error) {
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		return "", p.fail("want a string, found %q", p.rest())
	}
	end := string(quote)
	if strings.HasPrefix(p.s[p.i:], strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	p.i += len(end)
	var b strings.Builder
	for p.i < len(p.s) {
		rest := p.s[p.i:]
		switch {
		case strings.HasPrefix(rest, end):
			p.i += len(end)
			return b.String(), nil
		case rest[0] == '\n':
			if len(end) == 1 {
				return "", p.fail("a string that does not end")
			}
			p.line++
			b.WriteByte('\n')
			p.i++
		case rest[0] == '\\':
			if len(rest) < 2 || !strings.Contains(`\'"nt`, rest[1:2]) {
				return "", p.fail("the escape %q is not read", rest[:min(2, len(rest))])
			}
			switch c := rest[1]; c {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(c)
			}
			p.i += 2
		default:
			b.WriteByte(rest[0])
			p.i++
		}
	}
	return "", p.fail("a string that does not end")
}
