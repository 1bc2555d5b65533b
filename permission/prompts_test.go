package permission

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/tool"
)

// recorded reads the session of testdata as intents, in order.
func recorded(t testing.TB) []*tool.Intent {
	t.Helper()
	b, err := os.ReadFile("testdata/session.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []*tool.Intent
	for line := range strings.Lines(string(b)) {
		name, what, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		switch {
		case name == "shell":
			out = append(out, &tool.Intent{Tool: name, Permission: name, Effects: []tool.Effect{tool.Execute},
				Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: what}}})
		case tools()[name] == "edit":
			out = append(out, on(name, tool.Write, resolve(what, nil)))
		default:
			out = append(out, on(name, tool.Read, resolve(what, nil)))
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d calls", len(out))
	}
	return out
}

// prompts counts what a gate asks in a session. A person who answers "for this session" is asked once for one thing.
func prompts(t testing.TB, g *Gate, calls []*tool.Intent, remembers bool) (n int, what []string) {
	t.Helper()
	for _, in := range calls {
		in.Seal()
		d := decide(t, g, Request{Intent: in, Session: "s"})
		if d.Verdict == tool.Deny {
			t.Errorf("%s %s is denied by %s", in.Tool, in.Targets[0].Value, d.By)
		}
		if d.Verdict != tool.Ask {
			continue
		}
		n++
		what = append(what, in.Tool+" "+in.Targets[0].Value)
		if remembers {
			if err := g.Grant(t.Context(), Grant{Permission: in.Permission, Target: in.Targets[0].Value, Scope: ThisSession, Session: "s", Person: "ada"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n, what
}

// P7: prompts stand only at the boundary. In a recorded coding session the posture guarded asks at most a quarter of what
// asking for every edit and command asks.
//
// What is measured: the decisions of policy about the recorded calls, nothing else. "Contained" takes commands to run in the
// sandbox overlay, as the class exec-sandboxed says; whether they do is the host's affair. "Bare" is a host without a
// sandbox, where each command that does more than look is asked for: there only an exact line can be granted (P1), so the
// quarter is not reached, and what is held is that nothing is asked but the boundary, and nothing twice.
func TestP7_PromptsPerTask(t *testing.T) {
	calls := recorded(t)
	ask := func() *Gate { return gate(t, Options{Layers: user(t, "ask edit *\nask shell *")}) }
	every, _ := prompts(t, ask(), calls, false)
	once, _ := prompts(t, ask(), calls, true)
	sandboxed := facts()
	sandboxed.Command = func(tool.Target) Class { return ExecSandboxed }
	contained, what := prompts(t, gate(t, Options{Facts: sandboxed}), calls, false)
	bare, _ := prompts(t, gate(t, Options{}), calls, false)
	bareOnce, boundary := prompts(t, gate(t, Options{}), calls, true)
	t.Logf("%d calls. Prompts, each answered once / for the session: ask for every edit and command %d / %d; guarded without a sandbox %d / %d; guarded with it %d",
		len(calls), every, once, bare, bareOnce, contained)
	t.Logf("guarded with the sandbox asks: %s", strings.Join(what, "; "))
	t.Logf("guarded without it asks: %s", strings.Join(boundary, "; "))
	if contained*4 > every || contained*4 > once {
		t.Errorf("guarded asks %d times, a quarter of everything is %d, or %d where answers hold for the session", contained, every/4, once/4)
	}
	if contained == 0 {
		t.Error("guarded never asks: the session has no boundary in it")
	}
	if bareOnce*2 > every || bareOnce >= once || bare >= every {
		t.Errorf("without a sandbox guarded asks %d times (%d where answers hold), of %d (%d)", bare, bareOnce, every, once)
	}
	seen := map[string]bool{}
	for _, w := range boundary {
		if seen[w] {
			t.Errorf("%s is asked twice", w)
		}
		seen[w] = true
		name, target, _ := strings.Cut(w, " ")
		if name != "shell" && !slices.Contains(what, w) {
			t.Errorf("%s is no boundary", w)
		}
		if looks, _ := command.ReadOnly(target); name == "shell" && looks {
			t.Errorf("%s only looks", w)
		}
	}
}
