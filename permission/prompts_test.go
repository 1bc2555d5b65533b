package permission

import (
	"os"
	"strings"
	"testing"

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
func TestP7_PromptsPerTask(t *testing.T) {
	calls := recorded(t)
	everything := gate(t, Options{Layers: user(t, "ask edit *\nask shell *")})
	every, _ := prompts(t, everything, calls, false)
	sandboxed := facts()
	sandboxed.Command = func(tool.Target) Class { return ExecSandboxed }
	contained, what := prompts(t, gate(t, Options{Facts: sandboxed}), calls, false)
	bare, _ := prompts(t, gate(t, Options{}), calls, true)
	t.Logf("%d calls: ask for everything %d prompts; guarded with the sandbox %d; guarded without it, answered for the session, %d", len(calls), every, contained, bare)
	t.Logf("guarded with the sandbox asks: %s", strings.Join(what, "; "))
	if contained*4 > every {
		t.Errorf("guarded asks %d times, a quarter of everything is %d", contained, every/4)
	}
	if contained == 0 {
		t.Error("guarded never asks: the session has no boundary in it")
	}
}
