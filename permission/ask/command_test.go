package ask_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// commands asks about every command in the sandbox; outside of it the guard asks.
func commands(t *testing.T, class permission.Class) (*ask.Queue, *permission.Gate) {
	t.Helper()
	g, err := permission.New(permission.Options{
		Facts:  permission.Facts{Roots: []string{root}, Command: func(tool.Target) permission.Class { return class }},
		Layers: []permission.Layer{{Name: permission.User, Rules: []permission.Rule{{Permission: "shell", Pattern: "*", Action: tool.Ask}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ask.New(ask.Options{Gate: func() *permission.Gate { return g }}), g
}

func shell(line string) *tool.Intent {
	return on(tool.CommandTarget, tool.Execute, "shell", line)
}

// POL-008, POL-009: "always" stores the narrowest pattern of each part, and none for interpreters and wrappers.
func TestPOL009_CommandProposals(t *testing.T) {
	q, g := commands(t, permission.ExecSandboxed)
	for line, want := range map[string]bool{ // whether a prefix is proposed
		"go test ./...":         true,
		"cd a && go test ./...": true,
		"python x.py":           false,
		"bash -c 'rm x'":        false,
		"sudo make":             false,
		"go test $X":            false,
		"git push --force":      false,
	} {
		asked(t, q, question(t, g, shell(line)), func(r *ask.Request) ask.Answer {
			o, ok := r.Offered(ask.Always)
			for _, p := range o.Patterns {
				if strings.Contains(p, "python") && strings.Contains(p, "...") || p == "*" {
					t.Errorf("%s: %q", line, p)
				}
			}
			prefix := ok && strings.Contains(strings.Join(o.Patterns, " "), `...`)
			if prefix != want {
				t.Errorf("%s: offered %q", line, o.Patterns)
			}
			return no(r, "")
		})
	}
	asked(t, q, question(t, g, shell("cd a && go test ./...")), func(r *ask.Request) ask.Answer {
		a := yes(r)
		a.Scope = ask.Always
		return a
	})
	for line, want := range map[string]tool.Verdict{
		"go test ./x": tool.Allow, "go vet ./x": tool.Ask, "go test ./x && rm y": tool.Ask, "go test -exec sh ./x": tool.Ask,
	} {
		if d, _ := g.Decide(t.Context(), permission.Request{Intent: shell(line), Session: "s"}); d.Verdict != want {
			t.Errorf("%s: %s by %s, want %s", line, d.Verdict, d.By, want)
		}
	}
}

// P8: what a command does depends on the folder that it runs in: that is shown, and a yes that holds longer holds there.
func TestP8_FolderOfACommand(t *testing.T) {
	in := func(line, dir string) *tool.Intent {
		i := shell(line)
		i.Dir, i.Scripts = dir, []tool.Script{{Path: dir + "/x\u202e.sh"}}
		i.Seal()
		return i
	}
	for _, scope := range []ask.Scope{ask.Session, ask.Project, ask.Always} {
		for line, want := range map[string]tool.Verdict{"make": tool.Ask, "./x.sh a b": tool.Ask, "go test ./...": tool.Allow} {
			q, g := commands(t, permission.ExecSandboxed)
			offered := false
			asked(t, q, question(t, g, in(line, root+"/sub")), func(r *ask.Request) ask.Answer {
				last := r.View.Targets[len(r.View.Targets)-1]
				if r.View.Dir != root+"/sub" || last.Kind != "script" || last.Value != root+`/sub/x\u{202E}.sh` {
					t.Errorf("%s: shown in %q, %+v", line, r.View.Dir, last)
				}
				o, ok := r.Offered(scope)
				if offered = ok; !ok {
					return no(r, "")
				}
				if scope != ask.Always && !strings.Contains(o.Says, " in "+root+"/sub") {
					t.Errorf("%s: offered %q", line, o.Says)
				}
				a := yes(r)
				a.Scope = scope
				return a
			})
			if !offered {
				continue
			}
			if d, _ := g.Decide(t.Context(), permission.Request{Intent: in(line, root+"/sub"), Session: "s"}); d.Verdict != tool.Allow {
				t.Errorf("%s for %s: %s by %s", line, scope, d.Verdict, d.By)
			}
			if scope != ask.Always { // an exact line means what it means there only
				want = tool.Ask
			}
			if d, _ := g.Decide(t.Context(), permission.Request{Intent: in(line, root+"/other"), Session: "s"}); d.Verdict != want {
				t.Errorf("%s for %s, elsewhere: %s by %s, want %s", line, scope, d.Verdict, d.By, want)
			}
		}
	}
}

// P8: a yes that holds longer for a line that runs a script holds while the script is what it was: an agent that may write it
// would otherwise have a yes to anything.
func TestP8_ScriptOfACommand(t *testing.T) {
	in := func(line, content string) *tool.Intent {
		i := shell(line)
		i.Dir = root
		if content != "" {
			i.Scripts = []tool.Script{{Path: root + "/x.sh", Digest: change.Sum([]byte(content))}}
		}
		i.Seal()
		return i
	}
	for _, scope := range []ask.Scope{ask.Session, ask.Project} {
		q, g := commands(t, permission.ExecHost)
		for line, content := range map[string]string{"./x.sh": "one", "make": ""} {
			asked(t, q, question(t, g, in(line, content)), func(r *ask.Request) ask.Answer {
				a := yes(r)
				a.Scope = scope
				return a
			})
		}
		for _, tt := range []struct {
			line, content string
			want          tool.Verdict
		}{{"./x.sh", "one", tool.Allow}, {"./x.sh", "two", tool.Ask}, {"./x.sh", "", tool.Ask}, {"make", "", tool.Allow}, {"make", "one", tool.Ask}} {
			if d, _ := g.Decide(t.Context(), permission.Request{Intent: in(tt.line, tt.content), Session: "s"}); d.Verdict != tt.want {
				t.Errorf("%s for %s, with a script of %q: %s by %s, want %s", tt.line, scope, tt.content, d.Verdict, d.By, tt.want)
			}
		}
	}
}

// A yes for the session to a line of several parts holds for that line, not for its parts elsewhere.
func TestP8_LineIsGrantedWhole(t *testing.T) {
	q, g := commands(t, permission.ExecHost)
	asked(t, q, question(t, g, shell("cd a && rm x")), func(r *ask.Request) ask.Answer {
		want := []ask.Target{{Effect: "execute", Kind: "command", Value: "cd a && rm x", Class: r.View.Targets[0].Class, Asks: true, By: r.View.Targets[0].By}}
		if diff := cmp.Diff(want, r.View.Targets); diff != "" {
			t.Error(diff)
		}
		if !r.PersonOnly {
			t.Error("a command outside of confinement is not for persons only")
		}
		a := yes(r)
		a.Scope = ask.Session
		return a
	})
	for line, want := range map[string]tool.Verdict{"cd a && rm x": tool.Allow, "cd b && rm x": tool.Ask, "rm x": tool.Ask} {
		if d, _ := g.Decide(t.Context(), permission.Request{Intent: shell(line), Session: "s"}); d.Verdict != want {
			t.Errorf("%s: %s by %s, want %s", line, d.Verdict, d.By, want)
		}
	}
}
