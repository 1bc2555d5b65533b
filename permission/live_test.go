package permission

import (
	"errors"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

// A malformed file leaves the last good rules in force (POL-006, POL-007); a rule that is taken away is gone at the next
// call (POL-014); a list of tools does not change.
func TestLive(t *testing.T) {
	opt := func(rules string) Options {
		return Options{Facts: facts(), Tools: tools(), Layers: user(t, rules)}
	}
	g, err := New(opt("deny edit src/**\nallow read_file /srv/**"))
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(g)
	is := func(name string, e tool.Effect, path string, want tool.Verdict) {
		t.Helper()
		d, err := l.Decide(t.Context(), Request{Intent: on(name, e, resolve(path, nil))})
		if err != nil || d.Verdict != want {
			t.Errorf("%s %s: %s by %s, %v; want %s", name, path, d.Verdict, d.By, err, want)
		}
	}
	is("edit", tool.Write, "src/a", tool.Deny)
	is("read_file", tool.Read, "/srv/a", tool.Allow)
	if err := g.Grant(t.Context(), Grant{Permission: "edit", Target: "/srv/x", Scope: ThisProject}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"deny edit ../x", "deny edit a[", "deny bash() *", "allow edit $HOME/x"} {
		var re *RuleError
		if err := l.Replace(opt(bad)); !errors.As(err, &re) || re.Rule.Source.Line != 1 {
			t.Errorf("%s: %v", bad, err)
		}
	}
	is("edit", tool.Write, "src/a", tool.Deny)
	if err := l.Replace(opt("deny edit *")); err != nil {
		t.Fatal(err)
	}
	is("read_file", tool.Read, "/srv/a", tool.Ask)
	is("edit", tool.Write, "doc/a", tool.Deny)
	if hidden, _ := l.Hidden("edit", ""); hidden {
		t.Error("a rule that came later took a tool out of the list")
	}
	if err := l.Replace(opt("")); err != nil {
		t.Fatal(err)
	}
	is("edit", tool.Write, "/srv/x", tool.Allow) // the grant is still there
	if v := l.Screen(Request{Intent: &tool.Intent{Permission: "grep"}})(tool.PathTo(resolve(".env", nil), tool.Read)); v != tool.Ask {
		t.Errorf("screen: %s", v)
	}
}

// What asks is known for every target, also behind the first, and also what a parent asks.
func TestAsking(t *testing.T) {
	g := gate(t, Options{Layers: user(t, "ask edit src/**")})
	both := on("edit", tool.Write, resolve("/srv/x", nil), resolve("src/a", nil), resolve(".git/config", nil), resolve("doc/a", nil))
	if d := decide(t, g, Request{Intent: both}); d.By != "posture guarded" {
		t.Fatalf("by %s", d.By)
	}
	for _, p := range []*Gate{g, g.Narrow(gate(t, Options{}))} {
		if got := strings.Join(p.Asking(Request{Intent: both}), ", "); !strings.Contains(got, "posture guarded") || !strings.Contains(got, "rule user:1") || !strings.Contains(got, "guard protected-names") {
			t.Errorf("got %s", got)
		}
		if got := p.Asking(Request{Intent: on("edit", tool.Write, resolve("doc/a", nil))}); got != nil {
			t.Errorf("got %s", got)
		}
	}
}
