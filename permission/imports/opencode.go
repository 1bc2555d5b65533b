package imports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Opencode reads the permission key of an opencode.json: a word for everything, or an object with a word or an object of
// patterns for each tool. The last rule that matches wins there as here. Permissions of single agents are not imported,
// nor is that everything is allowed where no rule matches.
func Opencode(data []byte) ([]permission.Rule, []Finding, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, nil, err
	}
	if root.kind != '{' {
		return nil, nil, errors.New("line 1: the configuration is no object")
	}
	r := &result{}
	if agents := root.get("agent"); agents != nil {
		r.note(agents.line, "agent", "permissions of single agents are not imported")
	}
	r.opencodeTools(root.get("tools"))
	n := root.get("permission")
	switch {
	case n == nil:
		return r.rules, r.findings, nil
	case n.kind == '"':
		s := &source{line: n.line, text: n.text}
		if err := s.word(n); err != nil {
			return nil, nil, err
		}
		r.add(s, []string{"*"}, permission.Any)
		return r.rules, r.findings, nil
	case n.kind != '{':
		return nil, nil, fmt.Errorf("line %d: permission is neither a word nor an object", n.line)
	}
	for i, key := range n.keys {
		if err := r.opencodeKey(key, n.items[i]); err != nil {
			return nil, nil, err
		}
	}
	return r.rules, r.findings, nil
}

// word reads allow, ask or deny.
func (s *source) word(n *node) error {
	if n.kind != '"' || s.action.UnmarshalText([]byte(n.text)) != nil {
		return fmt.Errorf("line %d: %s: want allow, ask or deny", n.line, n.text)
	}
	return nil
}

// opencodeTools reads the older booleans: false takes a tool away.
func (r *result) opencodeTools(n *node) {
	if n == nil || n.kind != '{' {
		return
	}
	for i, key := range n.keys {
		if n.items[i].text == "false" {
			s := &source{line: n.items[i].line, text: key, action: tool.Deny}
			if perms := opencodePermissions(key); perms != nil {
				r.add(s, perms, permission.Any)
			}
		}
	}
}

// opencodePermissions maps a key to permissions; nil where there is nothing like it here.
func opencodePermissions(key string) []string {
	switch key {
	case "bash":
		return []string{permission.Shell}
	case "edit", "write", "patch", "multiedit":
		return []string{"edit"}
	case "read":
		return []string{"read_file"}
	case "grep", "glob":
		return []string{key}
	case "list":
		return []string{"list_dir"}
	case "task":
		return []string{"spawn"}
	case "skill":
		return []string{"skills_use"}
	case "webfetch":
		return fetches()
	case "websearch":
		return []string{"search_google"}
	case "lsp", "todoread", "todowrite", "codesearch", "external_directory", "doom_loop":
		return nil
	}
	return []string{key} // "*", and tools of plugins and servers
}

func (r *result) opencodeKey(key string, n *node) error {
	perms := opencodePermissions(key)
	if perms == nil {
		r.note(n.line, key, "not imported: there is nothing like it here, or it is built in")
		return nil
	}
	s := &source{line: n.line, text: key}
	if n.kind == '"' {
		if err := s.word(n); err != nil {
			return err
		}
		r.add(s, perms, permission.Any)
		return nil
	}
	if n.kind != '{' {
		return fmt.Errorf("line %d: %s is neither a word nor an object", n.line, key)
	}
	for i, pattern := range n.keys {
		s := &source{line: n.items[i].line, text: key + " " + pattern}
		if err := s.word(n.items[i]); err != nil {
			return err
		}
		r.opencodeRule(s, key, perms, pattern)
	}
	return nil
}

func (r *result) opencodeRule(s *source, key string, perms []string, pattern string) {
	switch {
	case strings.Trim(pattern, "*") == "":
		r.add(s, perms, permission.Any)
	case key == "bash":
		r.text(s, pattern)
	case key == "edit" || key == "read" || key == "list":
		r.add(s, perms, opencodePath(pattern, s.action != tool.Allow))
	case key == "webfetch":
		// "https://host/*" is every address of the host; anything else is compared with the text of the address there.
		host, whole := strings.CutSuffix(pattern, "/*")
		if !whole || !strings.Contains(host, "://") || strings.Contains(host, "*") {
			r.lost(s, perms, "rules here compare the host of an address: https://HOST/*")
			return
		}
		r.host(s, host)
	default:
		r.lost(s, perms, "what the pattern is compared with is not a path or a command")
	}
}

// opencodePath turns a wildcard in which "*" also stands for slashes into a glob.
func opencodePath(pattern string, restrict bool) string {
	for _, home := range []string{"$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(pattern, home); ok {
			pattern = "~/" + rest
		}
	}
	pattern = strings.TrimPrefix(pattern, "./")
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case strings.Trim(part, "*") == "" && part != "" && i == len(parts)-1:
			parts[i] = "**"
		case strings.Trim(part, "*") == "" && part != "":
			parts[i] = "*/**"
		case strings.HasPrefix(part, "*") && strings.Count(part, "*") == 1:
			parts[i] = "**/" + part
		case strings.Contains(part, "*") && restrict:
			// The star may reach over folders: what stands before it in one, what stands behind it in another.
			head, tail, _ := strings.Cut(part, "*")
			parts[i] = "{" + part + "," + head + "*/**/*" + tail + "}"
		}
	}
	return strings.Join(parts, "/")
}
