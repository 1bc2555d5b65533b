package config

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Rules are a list, because their order means something. An entry is one of
//
//   - edit: deny                              # every call of the permission
//   - edit: {"src/**": ask, "src/gen/**": allow}
//   - {permission: edit, pattern: "vendor/", action: deny, reason: change the upstream instead}
//
// References are not expanded in rules.

// readRules reads the list.
func (d *decoder) readRules(n *yaml.Node, f field) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, f.path, `rules are a list, because the last one that matches wins; put "- " before each`)
		return
	}
	for _, e := range n.Content {
		keys := d.entries(e, f.path)
		long := false
		for _, k := range keys {
			long = long || k[0].Value == "permission"
		}
		if long {
			d.longRule(e, keys, f)
			continue
		}
		for _, k := range keys {
			d.shortRule(k[0], k[1], f)
		}
	}
}

// longRule reads an entry that names its parts.
func (d *decoder) longRule(n *yaml.Node, keys [][2]*yaml.Node, f field) {
	r := permission.Rule{Source: d.source(n)}
	var action *yaml.Node
	has := map[string]bool{}
	for _, k := range keys {
		name := k[0].Value
		has[name] = true
		var into *string
		switch name {
		case "permission":
			into = &r.Permission
		case "pattern":
			into = &r.Pattern
		case "reason":
			into = &r.Reason
		case "action":
			action = k[1]
			continue
		default:
			d.unknown(k[0], f.below(name, "").path, []string{"action", "pattern", "permission", "reason"})
			return
		}
		if k[1].Kind != yaml.ScalarNode || k[1].ShortTag() == "!!null" {
			d.fail(k[1], f.path, "%s is a single value, not %s", name, kind(k[1]))
			return
		}
		*into = k[1].Value
	}
	switch {
	case !has["pattern"]:
		d.fail(n, f.path, `the rule has no pattern; write pattern: "*" for everything`)
	case action == nil:
		d.fail(n, f.path, "the rule has no action; write action: allow, ask or deny")
	case d.action(action, &r.Action, f):
		d.rules = append(d.rules, r)
	}
}

// shortRule reads "permission: action" or "permission: {pattern: action, …}".
func (d *decoder) shortRule(name, value *yaml.Node, f field) {
	if value.Kind != yaml.MappingNode {
		r := permission.Rule{Permission: name.Value, Pattern: permission.Any, Source: d.source(name)}
		if d.action(value, &r.Action, f) {
			d.rules = append(d.rules, r)
		}
		return
	}
	for _, e := range d.entries(value, f.path) {
		r := permission.Rule{Permission: name.Value, Pattern: e[0].Value, Source: d.source(e[0])}
		if d.action(e[1], &r.Action, f) {
			d.rules = append(d.rules, r)
		}
	}
}

func (d *decoder) source(n *yaml.Node) permission.Source {
	return permission.Source{File: d.origin.File, Line: n.Line, Column: n.Column}
}

// action reads allow, ask or deny.
func (d *decoder) action(n *yaml.Node, v *tool.Verdict, f field) bool {
	if n.Kind == yaml.ScalarNode && n.Anchor == "" && v.UnmarshalText([]byte(n.Value)) == nil {
		return true
	}
	words := []string{"allow", "ask", "deny"}
	hint := ""
	if near := schema.Nearest(n.Value, words); near != "" {
		hint = "; did you mean " + near + "?"
	}
	if n.Kind != yaml.ScalarNode {
		d.fail(n, f.path, "an action is one of %s, not %s", strings.Join(words, ", "), kind(n))
		return false
	}
	d.fail(n, f.path, "the action %q is none of %s%s", n.Value, strings.Join(words, ", "), hint)
	return false
}

// ReadRules reads a list of rules that stands in another file than a configuration, such as the head of a mode. Errors are
// *[Error], joined, and those of rules that nobody can understand.
func ReadRules(n *yaml.Node, path string, o Origin) ([]permission.Rule, error) {
	d := decoder{origin: o}
	d.readRules(n, field{path: path})
	if d.errs == nil {
		d.errs = append(d.errs, permission.Check(permission.Layer{Name: o.Layer, Rules: d.rules}))
	}
	return d.rules, errors.Join(d.errs...)
}
