package permission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Severity says how much a finding matters.
type Severity string

// The severities.
const (
	Warning Severity = "warning" // the rule does not do what it seems to do
	Note    Severity = "note"    // the rule does something that a reader may not expect
)

// Finding is something that the linter found in a rule.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // "unknown-permission", "shadowed", …
	Layer    string   `json:"layer"`
	Number   int      `json:"number"` // of the rule, 1-based
	Rule     Rule     `json:"rule"`
	Message  string   `json:"message"`
}

func (f Finding) String() string {
	at := f.Rule.Source.String()
	if at == "" {
		at = "layer " + f.Layer
	}
	return fmt.Sprintf("%s: %s: rule %d (%s): %s [%s]", at, f.Severity, f.Number, f.Rule, f.Message, f.Code)
}

// Lint returns what is odd about the rules of a gate's layers and modes, in the order of the rules. It finds names that
// no tool asks under, rules that a later rule or a stricter layer leaves nothing to decide, permissions for what a guard
// decides, and patterns that say less than they seem to.
func (g *Gate) Lint() []Finding {
	all := slices.Clone(g.layers)
	for _, name := range slices.Sorted(maps.Keys(g.modes)) {
		all = append(all, g.modes[name]...)
	}
	var out []Finding
	for _, c := range all {
		for i := range c.rules {
			r := &c.rules[i]
			report := func(s Severity, code, format string, args ...any) {
				out = append(out, Finding{s, code, c.name, r.number, r.Rule, fmt.Sprintf(format, args...)})
			}
			g.lintName(r, report)
			g.lintPattern(r, report)
			for j := i + 1; j < len(c.rules); j++ {
				if later := &c.rules[j]; later.covers(r) {
					but := ""
					if r.restricts() && !later.restricts() {
						but = ", but for files of credentials and names in another case"
					}
					report(Warning, "shadowed", "rule %d (%s) below it matches everything that it matches%s, so it never decides", later.number, later.Rule, but)
					break
				}
			}
			g.lintLayers(c, r, report)
		}
	}
	return out
}

type reporter func(s Severity, code, format string, args ...any)

// lintName checks the permission against the names of the tools.
func (g *Gate) lintName(r *rule, report reporter) {
	tools := g.settings.tools
	if len(tools) == 0 {
		return
	}
	if p, ok := tools[r.Permission]; ok && p != r.Permission {
		report(Note, "folded", "%s asks under the permission %s, so the rule is about every tool of %s", r.Permission, p, p)
		return
	}
	known := slices.Concat(slices.Collect(maps.Keys(tools)), slices.Collect(maps.Values(tools)))
	if slices.ContainsFunc(known, func(name string) bool { return r.governs(name, tools) }) {
		return
	}
	hint := ""
	if n := schema.Nearest(r.Permission, known); n != "" {
		hint = fmt.Sprintf("; did you mean %s?", n)
	}
	report(Warning, "unknown-permission", "no tool asks under the permission %q%s", r.Permission, hint)
}

// lintPattern finds patterns that say less than they seem to.
func (g *Gate) lintPattern(r *rule, report reporter) {
	if why := g.never(r); why != "" {
		report(Warning, "never", "the pattern can never match: %s", why)
		return
	}
	if r.command != nil {
		g.lintCommand(r, report)
		return
	}
	text := r.path.text
	if r.restricts() || r.path.any {
		return
	}
	if g.judge.protected.named(text) || strings.Contains(text, ".tackle") && text != tool.PlanFolder+"/**" {
		report(Warning, "guarded", "the pattern spells a protected name, and no rule lifts a guard: writing there asks all the same")
	}
	if p := r.Pattern; glob.HasMeta(p) && !strings.ContainsAny(p, "/~") && p != "**" {
		report(Note, "top-only", "an allow without a slash is about the top of the workspace; write %q for every depth", "**/"+r.Pattern)
	}
	if r.path.absolute {
		for _, dir := range g.judge.state {
			if below("/"+text, dir) {
				report(Warning, "guarded", "the pattern lies in tackle's own state, which a guard protects")
			}
		}
	}
}

// never says why a pattern matches nothing that its permission is asked for, or "".
func (g *Gate) never(r *rule) string {
	switch {
	case r.command != nil:
		if !r.governs(Shell, g.settings.tools) {
			return fmt.Sprintf("it is one for commands, and %s runs none", r.Permission)
		}
	case strings.Contains(r.Pattern, "://") && r.other[tool.URLTarget] == nil:
		return `rules compare the hosts of addresses; write "example.com", "*.example.com" or "https://example.com"`
	case r.path.inside && len(g.judge.facts.Roots) > 0:
		// An allow of a project's layer covers what lies in a root only.
		dir := "/"
		if p, err := glob.Compile(r.path.text, glob.Options{}); err == nil {
			dir += p.Dir()
		}
		if !slices.ContainsFunc(g.judge.facts.Roots, func(root string) bool {
			root = fold(root)
			return below(root, dir) || below(dir, root)
		}) {
			return "an allow is about the workspace, and it names a place outside of every root"
		}
	}
	return ""
}

// lintLayers finds rules that another layer leaves nothing to decide.
func (g *Gate) lintLayers(c *Compiled, r *rule, report reporter) {
	if r.ignored {
		report(Note, "untrusted", "the layer is not trusted, so this allow is ignored")
		return
	}
	for _, other := range g.layers {
		if other == c || len(other.rules) == 0 {
			continue
		}
		last := &other.rules[len(other.rules)-1]
		if last.path.any && last.Action > r.Action && !last.ignored && covers(last.Permission, r.Permission) {
			report(Warning, "overruled", "the last rule of layer %s (%s) is stricter and matches everything that it matches", other.name, last.Rule)
			return
		}
	}
}

// covers reports whether the rule matches whatever an earlier rule of its layer matches, as far as can be seen from the
// texts. What an allow does not reach (other spellings, secrets) is left aside.
func (r *rule) covers(earlier *rule) bool {
	if r.ignored && !earlier.ignored || !covers(r.Permission, earlier.Permission) {
		return false
	}
	if r.command != nil || earlier.command != nil {
		return r.path.any || r.command != nil && earlier.command != nil && r.command.String() == earlier.command.String()
	}
	p, e := &r.path, &earlier.path
	switch {
	case !r.restricts() && e.names && !p.names && !earlier.restricts():
		return false // the earlier allow is there for secrets
	case p.any:
		return true
	case e.any || p.absolute != e.absolute:
		return false
	case p.text == e.text || p.text == "**":
		return true
	}
	dir, tree := strings.CutSuffix(p.text, "/**")
	return tree && !glob.HasMeta(dir) && (e.text == dir || strings.HasPrefix(e.text, dir+"/"))
}

// covers reports whether a permission pattern matches every name that another matches.
func covers(pattern, other string) bool { return pattern == other || wildcard(pattern, other) }
