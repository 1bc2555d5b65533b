package imports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Claude reads the permissions of a settings.json of Claude Code: the lists allow, ask and deny of rules such as
// "Bash(git diff *)", "Edit(src/**)", "Read(//etc/hosts)" and "mcp__github__*". Deny comes before ask and ask before
// allow there, whatever their order; so the rules come out as allow, ask, deny.
//
// A pattern "/x" is relative to the folder of the settings; give the layer that folder as its Base.
func Claude(data []byte) ([]permission.Rule, []Finding, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, nil, err
	}
	if root.kind != '{' {
		return nil, nil, errors.New("line 1: the settings are no object")
	}
	r := &result{}
	perms := root.get("permissions")
	if perms == nil {
		return nil, nil, nil
	}
	if perms.kind != '{' {
		return nil, nil, fmt.Errorf("line %d: permissions is no object", perms.line)
	}
	for _, list := range []struct {
		key    string
		action tool.Verdict
	}{{"allow", tool.Allow}, {"ask", tool.Ask}, {"deny", tool.Deny}} {
		n := perms.get(list.key)
		if n == nil {
			continue
		}
		if n.kind != '[' {
			return nil, nil, fmt.Errorf("line %d: %s is no list", n.line, list.key)
		}
		for _, item := range n.items {
			if item.kind != '"' {
				return nil, nil, fmt.Errorf("line %d: a rule of %s is no string", item.line, list.key)
			}
			if err := r.claude(&source{line: item.line, text: item.text, action: list.action}); err != nil {
				return nil, nil, err
			}
		}
	}
	for i, key := range perms.keys {
		switch key {
		case "allow", "ask", "deny":
		case "defaultMode":
			r.note(perms.items[i].line, key, "modes are not imported; choose a posture instead")
		case "additionalDirectories":
			r.note(perms.items[i].line, key, "folders are not imported; add them as roots")
		default:
			r.note(perms.items[i].line, key, "not imported")
		}
	}
	return r.rules, r.findings, nil
}

// claude reads one rule.
func (r *result) claude(s *source) error {
	name, spec, has := strings.Cut(strings.TrimSpace(s.text), "(")
	if has {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed || name == "" {
			return fmt.Errorf("line %d: the rule %q: want Tool or Tool(what)", s.line, s.text)
		}
		if strings.TrimSpace(spec) == "" {
			return fmt.Errorf("line %d: the rule %q is about nothing; leave out the parentheses for everything", s.line, s.text)
		}
	}
	all := !has || spec == "*"
	switch name {
	case "Bash":
		if all {
			r.add(s, []string{permission.Shell}, permission.Any)
			return nil
		}
		r.text(s, spec)
	case "Read":
		r.claudePath(s, reads(), spec, all)
	case "Glob", "Grep", "LS":
		if !all && s.action == tool.Allow {
			r.warn(s.line, s.text, "left out: Claude Code looks at Read(…) only")
			return nil
		}
		r.claudePath(s, map[string][]string{"Glob": {"glob"}, "Grep": {"grep"}, "LS": {"list_dir"}}[name], spec, all)
	case "Edit":
		r.claudePath(s, []string{"edit"}, spec, all)
	case "Write", "MultiEdit", "NotebookEdit":
		if !all && s.action == tool.Allow {
			r.warn(s.line, s.text, "left out: Claude Code looks at Edit(…) only")
			return nil
		}
		r.claudePath(s, []string{"edit"}, spec, all)
	case "WebFetch":
		domain, ok := strings.CutPrefix(spec, "domain:")
		if all || !ok {
			r.tool(s, fetches(), all, `only "domain:HOST" is read`)
			return nil
		}
		r.host(s, domain)
	case "WebSearch":
		r.tool(s, []string{"search_google"}, all, "its argument is not compared")
	case "Agent", "Task":
		r.tool(s, []string{"spawn"}, all, "its argument is not compared")
	case "Skill":
		r.tool(s, []string{"skills_use"}, all, "its argument is not compared")
	default:
		r.claudeOther(s, name, all)
	}
	return nil
}

// tool takes over a rule about all calls of a tool.
func (r *result) tool(s *source, perms []string, all bool, why string) {
	if all {
		r.add(s, perms, permission.Any)
		return
	}
	r.lost(s, perms, why)
}

// claudeOther reads the names of imported tools, and "*".
func (r *result) claudeOther(s *source, name string, all bool) {
	switch {
	case strings.HasPrefix(name, "mcp__"):
		if server := strings.TrimPrefix(name, "mcp__"); !strings.Contains(server, "__") {
			name += "__*"
		}
		r.tool(s, []string{name}, all, "its argument is not compared")
	case name == "*" && s.action != tool.Allow:
		r.add(s, []string{"*"}, permission.Any)
	case strings.Contains(name, "*") && s.action == tool.Allow:
		r.warn(s.line, s.text, "left out: an allow names its tool")
	case s.action == tool.Allow:
		r.warn(s.line, s.text, "left out: there is no tool %s here", name)
	default:
		r.note(s.line, s.text, "there is no tool %s here, so there is nothing to restrict", name)
	}
}

// claudePath takes over a rule about paths. The patterns are those of .gitignore: one without a slash counts at every
// depth; "//x" is absolute, "/x" relative to the settings, "x" and "./x" to the working directory.
func (r *result) claudePath(s *source, perms []string, spec string, all bool) {
	if all {
		r.add(s, perms, permission.Any)
		return
	}
	pattern := spec
	switch {
	case strings.HasPrefix(spec, "//"):
		pattern = spec[1:]
	case strings.HasPrefix(spec, "~/"):
	case strings.HasPrefix(spec, "/"):
		pattern = spec[1:]
	case strings.HasPrefix(spec, "!"):
		r.lost(s, perms, `"!" does not turn a pattern around`)
		return
	default:
		pattern = strings.TrimPrefix(spec, "./")
		if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") && pattern == spec && pattern != "**" {
			pattern = "**/" + pattern
		}
	}
	r.add(s, perms, pattern)
}
