package imports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Codex reads an execution policy of Codex (*.rules): calls of prefix_rule and host_executable with literal arguments.
// The strictest rule that matches wins there, so the rules come out as allow, prompt, forbidden.
func Codex(data []byte) ([]permission.Rule, []Finding, error) {
	calls, err := parseCalls(string(data))
	if err != nil {
		return nil, nil, err
	}
	r := &result{}
	type prefix struct {
		source
		pattern *command.Pattern
	}
	var rules []prefix
	for _, c := range calls {
		switch c.name {
		case "prefix_rule":
			s, p, err := c.prefixRule()
			if err != nil {
				return nil, nil, err
			}
			rules = append(rules, prefix{s, p})
		case "host_executable":
			r.note(c.line, c.name, "not imported: a name stands for a program on the path, or in /bin and /usr/bin, and for no other")
		case "network_rule":
			r.warn(c.line, c.name, "left out: rules for hosts have no place here yet")
		default:
			return nil, nil, fmt.Errorf("line %d: %s is no call that is known here", c.line, c.name)
		}
	}
	slices.SortStableFunc(rules, func(a, b prefix) int { return int(a.action) - int(b.action) })
	for i := range rules {
		r.command(&rules[i].source, rules[i].pattern)
	}
	return r.rules, r.findings, nil
}

// prefixRule reads one rule.
func (c *call) prefixRule() (source, *command.Pattern, error) {
	s := source{line: c.line, text: c.name}
	fail := func(format string, args ...any) (source, *command.Pattern, error) {
		return s, nil, fmt.Errorf("line %d: prefix_rule: %s", c.line, fmt.Sprintf(format, args...))
	}
	p := &command.Pattern{}
	for key, value := range c.args {
		var ok bool
		switch key {
		case "pattern":
			ok = tokens(value, &p.Argv)
		case "decision":
			var word string
			if word, ok = value.(string); ok {
				s.action, ok = map[string]tool.Verdict{"allow": tool.Allow, "prompt": tool.Ask, "forbidden": tool.Deny}[word]
			}
		case "justification":
			if s.reason, ok = value.(string); value == nil {
				ok = true
			}
		case "match":
			p.Match, ok = examples(value)
		case "not_match":
			p.NotMatch, ok = examples(value)
		default:
			return fail("%s is not known here", key)
		}
		if !ok {
			return fail("%s has a value that is not read: %v", key, value)
		}
	}
	if len(p.Argv) == 0 {
		return fail("there is no pattern")
	}
	var words []string
	for _, t := range p.Argv {
		words = append(words, strings.Join(t.One, "|"))
	}
	s.text = strings.Join(words, " ")
	for _, e := range p.Match {
		if !begins(e, p.Argv) {
			return fail("the example %q should match and does not", e)
		}
	}
	for _, e := range p.NotMatch {
		if begins(e, p.Argv) {
			return fail("the example %q should not match and does", e)
		}
	}
	if s.action == tool.Allow {
		p.Argv = append(p.Argv, command.Token{Rest: true})
	}
	return s, p, nil
}

// tokens reads a pattern: strings, and lists of strings for alternatives.
func tokens(value any, out *[]command.Token) bool {
	list, ok := value.([]any)
	if !ok {
		return false
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			*out = append(*out, command.Token{One: []string{v}})
		case []any:
			var t command.Token
			for _, alternative := range v {
				text, ok := alternative.(string)
				if !ok {
					return false
				}
				t.One = append(t.One, text)
			}
			if len(t.One) == 0 {
				return false
			}
			*out = append(*out, t)
		default:
			return false
		}
	}
	return len(list) > 0
}

// examples reads a list of command lines, each a string or a list of words.
func examples(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, value == nil
	}
	var out []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			var words []string
			for _, word := range v {
				text, ok := word.(string)
				if !ok {
					return nil, false
				}
				words = append(words, command.Quote(text))
			}
			out = append(out, strings.Join(words, " "))
		default:
			return nil, false
		}
	}
	return out, true
}

// begins reports whether the words of an example begin with the tokens, as Codex itself compares them.
func begins(example string, tokens []command.Token) bool {
	facts, err := command.Parse(example)
	if err != nil || len(facts.Calls) == 0 {
		return false
	}
	argv, _ := facts.Calls[0].Argv()
	if len(argv) < len(tokens) {
		return false
	}
	for i, t := range tokens {
		if !slices.Contains(t.One, argv[i]) {
			return false
		}
	}
	return true
}
