package ask_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// linked is an edit of a path that is a link to another.
func linked(from, to string) *tool.Intent {
	in := intent("edit", tool.Write, to)
	in.Targets[0].Path.Given, in.Targets[0].Path.Abs, in.Targets[0].Path.Link = from, path(from).Abs, true
	in.Seal()
	return in
}

// P8: the answer proposes the narrowest useful pattern, and none where a pattern would be too much.
func TestP8_Proposals(t *testing.T) {
	tests := []struct {
		name string
		in   *tool.Intent
		want []string // of "always"; nil: not offered
	}{
		{"a file of the workspace", intent("edit", tool.Write, "src/a.go"), []string{"src/*.go"}},
		{"two of one folder", intent("edit", tool.Write, "src/a.go", "src/b.go"), []string{"src/*.go"}},
		{"two folders", intent("edit", tool.Write, "src/a.go", "src/x/b.ts"), []string{"src/*.go", "src/x/*.ts"}},
		{"only what policy asks about", intent("edit", tool.Write, "src/a.go", "doc/a.md"), []string{"src/*.go"}},
		{"too many folders", intent("edit", tool.Write, "src/1/a.go", "src/2/a.go", "src/3/a.go", "src/4/a.go", "src/5/a.go", "src/6/a.go"), nil},
		{"no extension", intent("edit", tool.Write, "src/Makefile"), nil},
		{"characters of patterns", intent("edit", tool.Write, "src/[a]/b.go"), []string{`src/\[a\]/*.go`}},
		{"a guard", intent("edit", tool.Write, ".git/config"), nil},
		{"a guard and a rule", intent("edit", tool.Write, "src/a.go", ".git/config"), nil},
		{"a secret", intent("read_file", tool.Read, ".env"), nil},
		{"reading elsewhere", intent("read_file", tool.Read, "/home/u/other/notes.txt"), []string{"/home/u/other/*.txt"}},
		{"reading elsewhere, no extension", intent("read_file", tool.Read, "/home/u/other/README"), []string{"/home/u/other/*"}},
		{"near the top", intent("read_file", tool.Read, "/etc/hosts"), nil},
		{"the home directory", intent("read_file", tool.Read, "/home/u/notes.txt"), nil},
		{"listing elsewhere", intent("list_dir", tool.Read, "/home/u/other"), []string{"/home/u/other/**"}},
		{"listing the home directory", intent("list_dir", tool.Read, "/home"), nil},
		{"what a link leads to", linked("src/l.go", "src/real/x.go"), nil},
		{"POL-009 an interpreter", on(tool.CommandTarget, tool.Execute, "shell", "python x.py"), nil},
		{"an address", on(tool.URLTarget, tool.Network, "fetch_url", "https://Example.com/a?b=c"), []string{"https://example.com"}},
		{"an address with a port", on(tool.URLTarget, tool.Network, "fetch_url", "http://example.com:8080/a"), []string{"http://example.com:8080"}},
		{"POL-018 an address with a user", on(tool.URLTarget, tool.Network, "fetch_url", "https://example.com@evil.test/"), nil},
		{"a numeric address", on(tool.URLTarget, tool.Network, "fetch_url", "http://10.0.0.1/"), nil},
		{"a number in disguise", on(tool.URLTarget, tool.Network, "fetch_url", "http://10.0.0.0x1/"), nil},
		{"a host of this network", on(tool.URLTarget, tool.Network, "fetch_url", "http://intranet/"), nil},
		{"a host in other letters", on(tool.URLTarget, tool.Network, "fetch_url", "https://ex\u0430mple.com/"), nil},
		{"sending", on(tool.URLTarget, tool.Write, "fetch_url", "https://example.com/a"), nil},
	}
	q, g := queue(t, ask.Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked(t, q, question(t, g, tt.in), func(r *ask.Request) ask.Answer {
				o, ok := r.Offered(ask.Always)
				if ok != (tt.want != nil) || !cmp.Equal(o.Patterns, tt.want) {
					t.Errorf("got %q (offered: %t), want %q", o.Patterns, ok, tt.want)
				}
				if _, ok := r.Offered(ask.Session); !ok {
					t.Error("the exact targets are not offered for the session")
				}
				return no(r, "")
			})
		})
	}
}

// P8: a yes holds exactly as long as it says, for exactly what it says.
func TestP8_Scopes(t *testing.T) {
	type try struct {
		path          string
		session, turn string
		want          tool.Verdict
	}
	const a, same, other = "src/a.go", "src/b.go", "src/x/c.go"
	tests := []struct {
		name   string
		scope  ask.Scope
		until  time.Time
		expect []try
	}{
		{"once", "", time.Time{}, []try{{a, "s", "t", tool.Ask}}},
		{"turn", ask.Turn, time.Time{}, []try{{a, "s", "t", tool.Allow}, {a, "s", "t2", tool.Ask}, {same, "s", "t", tool.Ask}}},
		{"session", ask.Session, time.Time{}, []try{{a, "s", "t2", tool.Allow}, {a, "s2", "t", tool.Ask}, {same, "s", "t", tool.Ask}}},
		{"like", ask.Like, time.Time{}, []try{{same, "s", "t2", tool.Allow}, {same, "s2", "t", tool.Ask}, {other, "s", "t", tool.Ask}}},
		{"project", ask.Project, time.Time{}, []try{{a, "s2", "", tool.Allow}, {same, "s", "t", tool.Ask}}},
		{"always", ask.Always, time.Time{}, []try{{a, "s2", "", tool.Allow}, {same, "s2", "", tool.Allow}, {other, "s", "t", tool.Ask}}},
		{"until later", ask.Until, time.Now().Add(time.Hour), []try{{a, "s2", "", tool.Allow}, {same, "s", "t", tool.Ask}}},
		{"until before", ask.Until, time.Now().Add(-time.Hour), []try{{a, "s", "t", tool.Ask}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, g := queue(t, ask.Options{})
			d := asked(t, q, question(t, g, intent("edit", tool.Write, a)), func(r *ask.Request) ask.Answer {
				answer := yes(r)
				answer.Scope, answer.Until = tt.scope, tt.until
				return answer
			})
			if d.Verdict != tool.Allow {
				t.Fatalf("%+v", d)
			}
			for _, e := range tt.expect {
				got, err := g.Decide(t.Context(), permission.Request{Intent: intent("edit", tool.Write, e.path), Session: e.session, Turn: e.turn})
				if err != nil || got.Verdict != e.want {
					t.Errorf("%s in session %s, turn %s: %s by %s, want %s", e.path, e.session, e.turn, got.Verdict, got.By, e.want)
				}
			}
			for _, gr := range grants(t, g) {
				if gr.Person != "ada" {
					t.Errorf("the grant does not name who gave it: %+v", gr)
				}
			}
		})
	}
}

// A guard is answered for its exact target, by a person, also for longer.
func TestP8_GuardForTheSession(t *testing.T) {
	q, g := queue(t, ask.Options{})
	in := intent("edit", tool.Write, ".git/hooks/pre-commit")
	asked(t, q, question(t, g, in), func(r *ask.Request) ask.Answer {
		if !r.PersonOnly {
			t.Error("not for persons only")
		}
		a := yes(r)
		a.Scope = ask.Session
		return a
	})
	for path, want := range map[string]tool.Verdict{".git/hooks/pre-commit": tool.Allow, ".git/hooks/pre-push": tool.Ask} {
		if d, _ := g.Decide(t.Context(), permission.Request{Intent: intent("edit", tool.Write, path), Session: "s"}); d.Verdict != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.By)
		}
	}
}

// What a parent session asks can be allowed once only: the grant would belong there.
func TestP12_ParentAsks(t *testing.T) {
	parent := gate(t, nil)
	child, err := permission.New(permission.Options{Facts: permission.Facts{Roots: []string{root}, Home: "/home/u"}})
	if err != nil {
		t.Fatal(err)
	}
	narrow := parent.Narrow(child)
	q, _ := queue(t, ask.Options{Gate: func() *permission.Gate { return narrow }})
	asked(t, q, question(t, narrow, intent("edit", tool.Write, "src/a.go")), func(r *ask.Request) ask.Answer {
		if len(r.Offers) != 1 || !strings.HasPrefix(r.By, "parent: ") {
			t.Errorf("by %s: %+v", r.By, r.Offers)
		}
		return yes(r)
	})
}

func grants(t *testing.T, g *permission.Gate) []permission.Grant {
	t.Helper()
	set, err := g.Grants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return set.List(time.Now())
}
