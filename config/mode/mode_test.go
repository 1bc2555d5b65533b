package mode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

func builtIn(t *testing.T, more ...File) *Set {
	t.Helper()
	s, err := Join(append(BuiltIn(), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A9: the modes to start with are there, and those that only look cannot change anything.
func TestA9_BuiltIn(t *testing.T) {
	s := builtIn(t)
	if want := []string{"code", "plan", "build", "debug", "research", "explore", "dev"}; !slices.Equal(s.Names(), want) {
		t.Fatalf("modes %q", s.Names())
	}
	for _, m := range s.All() {
		if m.Description == "" || len(m.Prompt) < 200 || strings.Contains(m.Prompt, "---") || m.Model != "" {
			t.Errorf("%s: %q, model %q, %d bytes of prompt", m.Name, m.Description, m.Model, len(m.Prompt))
		}
		looks := slices.Contains([]string{"plan", "research", "explore"}, m.Name)
		for _, tool := range []string{"edit", "shell", "write_file", "format"} {
			if m.Has(tool) == looks {
				t.Errorf("%s has %s: %v", m.Name, tool, m.Has(tool))
			}
		}
		for _, p := range []string{"edit", "shell"} {
			g, err := permission.New(permission.Options{Modes: s.Layers()})
			if err != nil {
				t.Fatal(err)
			}
			// Plan may change plans, so that what changes files is denied call by call there; its list has only the tools for plans.
			if hidden, by := g.Hidden(p, m.Name); hidden != (looks && (m.Name != "plan" || p != "edit")) {
				t.Errorf("%s hides %s: %v by %q", m.Name, p, hidden, by)
			}
		}
	}
}

func TestParse(t *testing.T) {
	m, err := Parse(File{Layer: config.LayerUser, Path: "/home/u/.config/tackle/modes/review.md", Data: []byte("\uFEFF---\r\n" + `name: review
description: Look at a change
tools: [read_*, grep, "*"]
permissions:
  - edit: deny
  - shell: {"git *": allow}
model: anthropic/some/model
effort: off
` + "---\r\n\r\nYou review.\r\nBriefly.\r\n")})
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "review" || m.Description != "Look at a change" || m.From != "code" || m.Prompt != "You review.\nBriefly." || m.Model != "anthropic/some/model" || m.Effort != model.Off {
		t.Errorf("%+v", m)
	}
	rules := m.Layers[0].Rules
	if len(rules) != 2 || rules[0].Action != tool.Deny || rules[0].Source.Line != 6 || rules[0].Source.File != m.Origin.File || m.Layers[0].Untrusted {
		t.Errorf("%+v", m.Layers)
	}
	m, err = Parse(File{Path: "few.md", Data: []byte("---\ndescription: x\ntools: []\n---\n")})
	if err != nil || m.Has("grep") || m.Prompt != "" {
		t.Errorf("%+v %v", m, err)
	}
}

// Every mistake is told with the file and its line, and all of them at once.
func TestParseMistakes(t *testing.T) {
	for _, c := range []struct{ file, data, want string }{
		{"a.md", "You review.", `a.md:1:1: a mode begins with a head`},
		{"a.md", "---\ndescription: x\n", `a.md:1:1: the head begins with "---" and has no second`},
		{"a.md", "---\n---\n", "a.md:1:1: description: a mode needs a description"},
		{"A B.md", "---\ndescription: x\n---\n", "A B.md: the name of the file"},
		{"a.md", "---\nname: b\ndescription: x\n---\n", `a.md:2:7: name: the name "b" is not that of the file`},
		{"a.md", "---\ndescription: x\ndescription: y\n---\n", `a.md:3:1: the key "description" stands twice`},
		{"a.md", "---\ndescription: [x]\n---\n", "a.md:2:14: description: want a single value"},
		{"a.md", "---\ndescription: |\n  x\n  y\n---\n", "a.md:2:14: description: want one line"},
		{"a.md", "---\ndescription: x\ntool: [grep]\n---\n", `a.md:3:1: tool: a mode has no key of this name; did you mean tools?`},
		{"a.md", "---\ndescription: x\ntools: grep\n---\n", "a.md:3:8: tools: want a list of names"},
		{"a.md", "---\ndescription: x\ntools: [grep, rm -rf]\n---\n", `a.md:3:15: tools: "rm -rf" is no name of a tool`},
		{"a.md", "---\ndescription: x\nfrom: plan\n---\n", `a.md:3:7: from: "plan" is none of code, dev`},
		{"a.md", "---\ndescription: x\nmodel: gpt\n---\n", `a.md:3:8: model: the model "gpt" is not of the form PROVIDER/NAME`},
		{"a.md", "---\ndescription: x\neffort: huge\n---\n", `a.md:3:9: effort: "huge" is none of off, low, medium, high`},
		{"a.md", "---\ndescription: x\npermissions: {edit: deny}\n---\n", "a.md:3:14: permissions: rules are a list"},
		{"a.md", "---\ndescription: x\npermissions:\n  - edit: denied\n---\n", `a.md:4:11: permissions: the action "denied" is none of allow, ask, deny`},
		{"a.md", "---\ndescription: x\npermissions:\n  - edit: {\"[\": deny}\n---\n", "a.md:4:12: rule 1"},
		{"a.md", "---\ndescription: x: y: z\n---\n", "a.md:2: not YAML"},
		{"a.md", "---\n- x\n---\n", "a.md:2:1: want keys and values"},
		{"a.md", "---\ndescription: x\nmodel: &a x/y\n---\n", "a.md:3:8: model: want a single value"},
		{"a.md", "---\ndescription: x\n---\n" + strings.Repeat("x", maxFile), "at most 262144 are read"},
	} {
		_, err := Parse(File{Layer: config.LayerUser, Path: c.file, Data: []byte(c.data)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, want %s", c.data, err, c.want)
		}
	}
	_, err := Join(File{Layer: config.LayerUser, Path: "a.md"}, File{Layer: config.LayerProject, Path: "b.md", Data: []byte("---\ncolor: red\n---\n")})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v", err)
	}
	if e := (*config.Error)(nil); !errors.As(err, &e) {
		t.Errorf("%T", err)
	}
}

// P12: whatever a project says about modes, nothing is allowed that was not.
func TestP12_ProjectOnlyTightens(t *testing.T) {
	user := File{Layer: config.LayerUser, Path: "mine.md", Data: []byte("---\ndescription: mine\ntools: [grep]\npermissions: [{edit: deny}]\nmodel: ollama/a\n---\nMine.")}
	loose := func(name string, trusted bool) File {
		return File{Layer: config.LayerProject, Path: "/p/.tackle/modes/" + name + ".md", Trusted: trusted, Base: "/p",
			Data: []byte("---\ndescription: theirs\npermissions: [{edit: allow}, {shell: deny}]\nmodel: evil/b\neffort: high\n---\nTheirs.")}
	}
	decide := func(s *Set, mode, perm string) tool.Verdict {
		g, err := permission.New(permission.Options{Modes: s.Layers(), Posture: permission.Guarded, Facts: permission.Facts{Roots: []string{"/p"}},
			Layers: []permission.Layer{{Name: permission.User, Rules: []permission.Rule{{Permission: "edit", Pattern: "secret/**", Action: tool.Ask}}}}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := g.Decide(t.Context(), permission.Request{Mode: mode, Intent: &tool.Intent{Tool: perm, Permission: perm, Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{tool.PathTo(host.Path{Abs: "/p/secret/a", Real: "/p/secret/a", Root: "/p", Rel: "secret/a"}, tool.Write)}}})
		if err != nil {
			t.Fatal(err)
		}
		return d.Verdict
	}
	s := builtIn(t, user, loose("mine", false), loose("plan", false), loose("new", false))
	mine, _ := s.Get("mine")
	if mine.Description != "mine" || mine.Has("edit") || mine.Model != "ollama/a" || mine.Prompt != "Mine." || len(mine.Notes) != 1 {
		t.Errorf("an untrusted project made of the person's mode %+v", mine)
	}
	if m, _ := s.Get("new"); m.Model != "" || m.Prompt != "Theirs." || len(m.Notes) != 1 {
		t.Errorf("%+v", m)
	}
	for mode, want := range map[string]tool.Verdict{"mine": tool.Deny, "plan": tool.Deny, "new": tool.Ask, "code": tool.Ask} {
		if got := decide(s, mode, "edit"); got != want {
			t.Errorf("edit in %s, untrusted: %v", mode, got)
		}
	}
	if decide(s, "mine", "shell") != tool.Deny || decide(s, "code", "shell") == tool.Deny {
		t.Error("a rule that tightens counts, in its mode alone")
	}
	s = builtIn(t, user, loose("mine", true), loose("plan", true), loose("new", true))
	if m, _ := s.Get("mine"); m.Prompt != "Theirs." || m.Model != "evil/b" || m.Notes != nil {
		t.Errorf("%+v", m)
	}
	for mode, want := range map[string]tool.Verdict{"mine": tool.Deny, "plan": tool.Deny, "new": tool.Ask} {
		if got := decide(s, mode, "edit"); got != want {
			t.Errorf("edit in %s, trusted: %v", mode, got)
		}
	}
}

func TestFor(t *testing.T) {
	s := builtIn(t, File{Layer: config.LayerUser, Path: "steps.md", Data: []byte("---\ndescription: x\nfrom: dev\ntools: [\"*edit\", no*]\n---\n")})
	for _, c := range []struct {
		tool string
		in   []string
		want []string
	}{
		{"edit", []string{"code"}, []string{"code", "build", "debug"}},
		{"grep", []string{"code"}, []string{"code", "plan", "build", "debug", "research", "explore"}},
		{"edit", []string{"dev"}, []string{"dev", "steps"}},
		{"read_lines", []string{"dev"}, []string{"dev"}},
		{"probe", []string{"own"}, []string{"own"}},
		{"undo", nil, []string{}},
	} {
		if got := s.For(c.tool, c.in...); !slices.Equal(got, c.want) {
			t.Errorf("%s in %v: %v", c.tool, c.in, got)
		}
	}
	if err := s.Unknown("plna", "own"); !strings.Contains(err.Error(), "did you mean plan?") || !strings.Contains(err.Error(), "own") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, b := range BuiltIn() {
		f.Add(b.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(File{Layer: config.LayerProject, Path: "a.md", Data: data})
		if err == nil && (m.Description == "" || m.Name != "a") {
			t.Errorf("%q is %+v", data, m)
		}
	})
}
