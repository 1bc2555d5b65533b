package imports

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// geminiRule is a [[rule]] of a policy file.
type geminiRule struct {
	ToolName         any            `toml:"toolName"`
	MCPName          any            `toml:"mcpName"`
	Subagent         string         `toml:"subagent"`
	ToolAnnotations  map[string]any `toml:"toolAnnotations"`
	ArgsPattern      string         `toml:"argsPattern"`
	CommandPrefix    any            `toml:"commandPrefix"`
	CommandRegex     string         `toml:"commandRegex"`
	Decision         string         `toml:"decision"`
	Priority         int            `toml:"priority"`
	Modes            []string       `toml:"modes"`
	Interactive      *bool          `toml:"interactive"`
	AllowRedirection bool           `toml:"allowRedirection"`
	DenyMessage      string         `toml:"denyMessage"`
	line             int
}

// Gemini reads a policy file of Gemini CLI (*.toml). The rule with the highest priority wins there, and of several with
// the same the first in the file; so the rules come out in ascending order, the first of equals last. The file of one tier
// belongs into one layer.
func Gemini(data []byte) ([]permission.Rule, []Finding, error) {
	var file struct {
		Rule []geminiRule `toml:"rule"`
	}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return nil, nil, fmt.Errorf("line %d: %s", pe.Position.Line, pe.Message)
		}
		return nil, nil, err
	}
	r := &result{}
	for _, key := range meta.Undecoded() {
		if key[0] != "rule" || len(key) == 2 {
			r.note(1, key.String(), "not imported")
		}
	}
	lines := headers(data)
	for i := range file.Rule {
		if i < len(lines) {
			file.Rule[i].line = lines[i]
		}
	}
	slices.Reverse(file.Rule)
	slices.SortStableFunc(file.Rule, func(a, b geminiRule) int { return a.Priority - b.Priority })
	for i := range file.Rule {
		if err := r.gemini(&file.Rule[i]); err != nil {
			return nil, nil, err
		}
	}
	return r.rules, r.findings, nil
}

// headers returns the lines on which rules begin.
func headers(data []byte) []int {
	var out []int
	n := 0
	for line := range bytes.Lines(data) {
		n++
		head, _, _ := strings.Cut(string(line), "#")
		if strings.ReplaceAll(strings.TrimSpace(head), " ", "") == "[[rule]]" {
			out = append(out, n)
		}
	}
	return out
}

// gemini reads one rule.
func (r *result) gemini(g *geminiRule) error {
	names, okTool := list(g.ToolName)
	prefixes, okPrefix := list(g.CommandPrefix)
	servers, okServer := list(g.MCPName)
	s := &source{line: g.line, text: strings.Join(slices.Concat(names, servers, prefixes, []string{g.CommandRegex, g.ArgsPattern}), " "), reason: g.DenyMessage}
	s.text = strings.Join(strings.Fields(s.text), " ")
	fail := func(format string, args ...any) error {
		return fmt.Errorf("line %d: rule %q: %s", g.line, s.text, fmt.Sprintf(format, args...))
	}
	switch g.Decision {
	case "allow":
	case "ask_user":
		s.action = tool.Ask
	case "deny":
		s.action = tool.Deny
	default:
		return fail("the decision %q is none of allow, deny and ask_user", g.Decision)
	}
	switch {
	case !okTool || !okPrefix || !okServer:
		return fail("toolName, mcpName and commandPrefix are strings or lists of strings")
	case len(prefixes) > 0 && g.CommandRegex != "":
		return fail("it has both commandPrefix and commandRegex")
	case len(names)+len(servers)+len(prefixes) == 0 && g.CommandRegex == "" && g.ArgsPattern == "" && g.ToolAnnotations == nil:
		return fail("it says neither a tool nor a command")
	}
	perms := g.permissions(names, servers)
	if why := g.condition(); why != "" {
		if s.action == tool.Allow {
			r.warn(s.line, s.text, "left out: it holds only %s", why)
			return nil
		}
		r.note(s.line, s.text, "it holds only %s there, and always here", why)
	}
	switch {
	case len(prefixes) > 0:
		for _, p := range prefixes {
			r.geminiPrefix(s, p, g.AllowRedirection)
		}
	case g.CommandRegex != "":
		r.geminiRegex(s, g.CommandRegex, g.AllowRedirection)
	case g.ArgsPattern != "" && slices.Equal(perms, []string{permission.Shell}) && strings.HasPrefix(g.ArgsPattern, `"command":"`):
		r.geminiRegex(s, strings.TrimPrefix(g.ArgsPattern, `"command":"`), g.AllowRedirection)
	case g.ArgsPattern != "":
		r.lost(s, perms, "a regular expression over JSON is not read")
	default:
		r.add(s, perms, permission.Any)
	}
	return nil
}

// condition says when the rule holds, where that is not always.
func (g *geminiRule) condition() string {
	switch {
	case len(g.Modes) > 0 && !slices.Contains(g.Modes, "default"):
		return "in the modes " + strings.Join(g.Modes, ", ")
	case g.Interactive != nil:
		return fmt.Sprintf("where interactive is %t", *g.Interactive)
	case g.Subagent != "":
		return "for the subagent " + g.Subagent
	case g.ToolAnnotations != nil:
		return "for tools with certain annotations"
	}
	return ""
}

// list reads a string or a list of strings.
func list(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		var out []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// permissions maps the names of tools and servers.
func (g *geminiRule) permissions(names, servers []string) []string {
	var out []string
	if len(servers) > 0 {
		for _, server := range servers {
			if len(names) == 0 {
				out = append(out, "mcp__"+server+"__*")
			}
			for _, name := range names {
				out = append(out, "mcp__"+server+"__"+name)
			}
		}
		return out
	}
	for _, name := range names {
		for _, perm := range geminiTool(name) {
			if !slices.Contains(out, perm) {
				out = append(out, perm)
			}
		}
	}
	if len(out) == 0 {
		out = []string{"*"}
	}
	return out
}

func geminiTool(name string) []string {
	switch name {
	case "run_shell_command":
		return []string{permission.Shell}
	case "read_file", "read_many_files":
		return []string{"read_file"}
	case "search_file_content", "grep_search":
		return []string{"grep"}
	case "list_directory":
		return []string{"list_dir"}
	case "write_file", "replace", "edit":
		return []string{"edit"}
	case "web_fetch":
		return fetches()
	case "google_web_search":
		return []string{"search_google"}
	}
	if rest, ok := strings.CutPrefix(name, "mcp_"); ok {
		server, tool, both := strings.Cut(rest, "_")
		if !both {
			return []string{"mcp__" + server}
		}
		return []string{"mcp__" + server + "__" + tool}
	}
	return []string{name}
}

// geminiPrefix takes over a prefix: words, the last of which ends at a blank.
func (r *result) geminiPrefix(s *source, prefix string, redirects bool) {
	p, err := command.ParsePattern(strings.TrimSpace(prefix) + " *")
	if err != nil {
		r.lost(s, []string{permission.Shell}, err.Error())
		return
	}
	r.geminiPattern(s, p, redirects)
}

func (r *result) geminiPattern(s *source, p *command.Pattern, redirects bool) {
	if redirects && s.action == tool.Allow {
		p = &command.Pattern{Argv: p.Argv, Redirects: true}
	}
	r.command(s, p)
}

// geminiRegex takes over a regular expression that is a list of words, such as "git (status|diff)".
func (r *result) geminiRegex(s *source, regex string, redirects bool) {
	argv, ok := regexTokens(regex, s.action != tool.Allow)
	if !ok {
		r.lost(s, []string{permission.Shell}, "the regular expression is not read; write the words as tokens")
		return
	}
	r.geminiPattern(s, &command.Pattern{Argv: argv}, redirects)
}

// A tail is what follows the words of a regular expression.
type tail struct {
	exact bool // nothing may follow
	open  bool // the last word may go on
	needs bool // something must follow
}

// regexTail cuts the end of a regular expression that says what may follow the words.
func regexTail(regex string) (string, tail) {
	cut := func(ends ...string) bool {
		for _, end := range ends {
			if rest, ok := strings.CutSuffix(regex, end); ok && rest != "" && !strings.HasSuffix(rest, `\`) {
				regex = rest
				return true
			}
		}
		return false
	}
	anchored := cut("$", `"`)
	switch {
	case cut(`(?:\s.*)?`, `(\s.*)?`, `( .*)?`, `(?: .*)?`, `(\s+.*)?`, `(?:\s+.*)?`, `(\s|$)`, `(?:\s|$)`, `\b.*`, `\b`):
		return regex, tail{}
	case cut(`\s+.*`, `\s.*`, ` .*`, ` .+`, `\s.+`, `\s+.+`):
		return regex, tail{needs: true}
	case cut(`\s+`, `\s`, " "):
		return regex, tail{needs: true}
	case cut(".*"):
		return regex, tail{open: true}
	}
	return regex, tail{exact: anchored, open: !anchored}
}

// regexTokens reads a regular expression that is a list of literal words and groups of alternatives, matched from the
// beginning of the command. An allow covers no more than the expression, a rule that restricts no less.
func regexTokens(regex string, restrict bool) ([]command.Token, bool) {
	regex, end := regexTail(strings.TrimPrefix(regex, "^"))
	regex = strings.NewReplacer(`\s+`, " ", `\s`, " ").Replace(regex)
	var out []command.Token
	for w := range strings.FieldsSeq(regex) {
		alternatives, ok := regexWord(w)
		if !ok {
			return nil, false
		}
		out = append(out, command.Token{One: alternatives})
	}
	if len(out) == 0 {
		return nil, false
	}
	if last := &out[len(out)-1]; restrict && end.open {
		if len(last.One) > 1 {
			return nil, false
		}
		*last = command.Token{Glob: last.One[0] + "*"}
	}
	if !restrict && end.needs {
		out = append(out, command.Token{Glob: "*"})
	}
	if !restrict && !end.exact {
		out = append(out, command.Token{Rest: true})
	}
	return out, true
}

// regexWord reads a literal word, or a group of them.
func regexWord(w string) ([]string, bool) {
	alternatives := []string{w}
	if inner, ok := strings.CutPrefix(strings.Replace(w, "(?:", "(", 1), "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); !ok {
			return nil, false
		}
		alternatives = strings.Split(inner, "|")
	}
	for k, a := range alternatives {
		if strings.Contains(strings.ReplaceAll(a, `\.`, ""), ".") {
			return nil, false
		}
		a = strings.NewReplacer(`\.`, ".", `\-`, "-", `\/`, "/", `\:`, ":").Replace(a)
		if a == "" || strings.ContainsAny(a, `\^$*+?()[]{}|`) {
			return nil, false
		}
		alternatives[k] = a
	}
	return alternatives, true
}
