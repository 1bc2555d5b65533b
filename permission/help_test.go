package permission

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

const (
	root  = "/w/ws"
	home  = "/home/u"
	state = "/home/u/.local/state/tackle"
)

func facts() Facts {
	return Facts{Roots: []string{root}, Home: home, State: []string{state}, Artifacts: state + "/artifacts",
		Config: []string{home + "/.config/tackle/config.yaml"}}
}

// tools is a vocabulary like that of the built-in tools.
func tools() map[string]string {
	return map[string]string{"write_file": "edit", "edit": "edit", "multi_edit": "edit", "apply_patch": "edit",
		"read_file": "read_file", "grep": "grep", "shell": "shell", "github_list": "github_list", "github_delete": "github_delete"}
}

// resolve makes the Path that a host gives for an absolute or workspace-relative path; links maps absolute paths to what
// they really are, with their descendants.
func resolve(given string, links map[string]string) host.Path {
	abs := given
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(root, given)
	}
	abs = filepath.Clean(abs)
	p := host.Path{Given: given, Abs: abs, Real: abs}
	for from, to := range links {
		if below(abs, from) {
			p.Real = filepath.Join(to, strings.TrimPrefix(abs, from))
		}
	}
	p.Rel = p.Real
	if below(p.Real, root) {
		p.Root = root
		p.Rel, _ = filepath.Rel(root, p.Real)
	}
	p.Link = p.Abs != p.Real && below(abs, root)
	return p
}

// on makes an intent of a tool for some paths.
func on(name string, e tool.Effect, paths ...host.Path) *tool.Intent {
	in := &tool.Intent{Tool: name, Permission: name, Effects: []tool.Effect{e}}
	if p, ok := tools()[name]; ok {
		in.Permission = p
	}
	for _, p := range paths {
		in.Targets = append(in.Targets, tool.PathTo(p, e))
	}
	return in
}

// parse reads rules written as "action permission pattern", one a line.
func parse(t testing.TB, text string) []Rule {
	t.Helper()
	var out []Rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		r := Rule{Permission: parts[1], Pattern: parts[2], Source: Source{File: "rules", Line: n}}
		if err := r.Action.UnmarshalText([]byte(parts[0])); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func gate(t testing.TB, o Options) *Gate {
	t.Helper()
	if o.Facts.Roots == nil {
		o.Facts = facts()
	}
	if o.Tools == nil {
		o.Tools = tools()
	}
	o.Now = func() time.Time { return time.Unix(1000, 0) }
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func user(t testing.TB, rules string) []Layer {
	t.Helper()
	return []Layer{{Name: User, Rules: parse(t, rules)}}
}

func decide(t testing.TB, g *Gate, r Request) tool.Decision {
	t.Helper()
	d, err := g.Decide(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
