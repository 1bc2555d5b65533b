package permission

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// P1, P8: a grant answers an ask, within its scope, and never lifts a deny; a guard takes only a person's exact grant.
func TestP1_Grants(t *testing.T) {
	const session = "s1"
	ask := on("edit", tool.Write, resolve("/srv/out/a", nil))
	guarded := on("edit", tool.Write, resolve(".git/config", nil))
	denied := on("edit", tool.Write, resolve("no/a", nil))
	sealed := *guarded
	sealed.Seal()
	at := time.Unix(1000, 0) // the gate's clock
	tests := []struct {
		name  string
		grant Grant
		in    *tool.Intent
		r     Request
		want  tool.Verdict
	}{
		{"none of the kind", Grant{Permission: "grep", Target: "/srv/out/a", Scope: ThisProject}, ask, Request{}, tool.Ask},
		{"target", Grant{Permission: "edit", Target: "/srv/out/a", Scope: ThisProject}, ask, Request{}, tool.Allow},
		{"another target", Grant{Permission: "edit", Target: "/srv/out/b", Scope: ThisProject}, ask, Request{}, tool.Ask},
		{"pattern", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisProject}, ask, Request{}, tool.Allow},
		{"session", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisSession, Session: session}, ask, Request{Session: session}, tool.Allow},
		{"another session (POL-020)", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisSession, Session: session}, ask, Request{Session: "s2"}, tool.Ask},
		{"turn", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisTurn, Session: session, Turn: "t1"}, ask, Request{Session: session, Turn: "t1"}, tool.Allow},
		{"another turn", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisTurn, Session: session, Turn: "t1"}, ask, Request{Session: session, Turn: "t2"}, tool.Ask},
		{"not yet expired", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisProject, Expires: at.Add(1)}, ask, Request{}, tool.Allow},
		{"expired (POL-020)", Grant{Permission: "edit", Pattern: "/srv/out/*", Scope: ThisProject, Expires: at}, ask, Request{}, tool.Ask},
		{"a pattern does not answer a guard", Grant{Permission: "edit", Pattern: ".git/*", Scope: ThisProject, Person: "ann"}, guarded, Request{}, tool.Ask},
		{"a program does not answer a guard", Grant{Permission: "edit", Target: root + "/.git/config", Scope: ThisProject}, guarded, Request{}, tool.Ask},
		{"a person's exact grant answers a guard", Grant{Permission: "edit", Target: root + "/.git/config", Scope: ThisProject, Person: "ann"}, guarded, Request{}, tool.Allow},
		{"a person's fingerprint answers a guard", Grant{Fingerprint: sealed.Fingerprint, Scope: ThisProject, Person: "ann"}, guarded, Request{}, tool.Allow},
		{"another fingerprint (POL-020)", Grant{Fingerprint: strings.Repeat("0", 64), Scope: ThisProject, Person: "ann"}, guarded, Request{}, tool.Ask},
		{"a deny stays", Grant{Permission: "edit", Target: root + "/no/a", Scope: ThisProject, Person: "ann"}, denied, Request{}, tool.Deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := gate(t, Options{Layers: user(t, "deny edit no/**")})
			if err := g.Grant(t.Context(), tt.grant); err != nil {
				t.Fatal(err)
			}
			tt.r.Intent = tt.in
			if d := decide(t, g, tt.r); d.Verdict != tt.want {
				t.Errorf("got %s by %s (%s), want %s", d.Verdict, d.By, d.Reason, tt.want)
			}
		})
	}
}

// P6, P8: the pattern of a grant covers a path only when both of its spellings are covered; a link above the workspace is the
// person's own and makes no difference.
func TestP6_GrantsAndLinks(t *testing.T) {
	for _, tt := range []struct {
		name, path, from, to string
		want                 tool.Verdict
	}{
		{"as given and as resolved", "src/a", root + "/src", root + "/src", tool.Allow},
		{"only as given", "src/a", root + "/src", root + "/other", tool.Ask},
		{"only as resolved", "link/a", root + "/link", root + "/src", tool.Ask},
		{"given by another name of the workspace", "/home/u/ws/src/a", "/home/u/ws", root, tool.Allow},
	} {
		g := gate(t, Options{Layers: user(t, "ask edit **")})
		if err := g.Grant(t.Context(), Grant{Permission: "edit", Pattern: "src/**", Scope: ThisProject, Person: "ann"}); err != nil {
			t.Fatal(err)
		}
		in := on("edit", tool.Write, resolve(tt.path, map[string]string{tt.from: tt.to}))
		if d := decide(t, g, Request{Intent: in}); d.Verdict != tt.want {
			t.Errorf("%s: %s by %s, want %s", tt.name, d.Verdict, d.By, tt.want)
		}
	}
}

// fixed is a keeper that holds what it is given.
type fixed struct{ list []Grant }

func (k *fixed) Load(context.Context) ([]Grant, error)       { return k.list, nil }
func (k *fixed) Keep(_ context.Context, g Grant) error       { k.list = append(k.list, g); return nil }
func (k *fixed) Drop(context.Context, ...string) error       { return nil }
func (k *fixed) Spend(context.Context, string) (bool, error) { return true, nil }

// POL-014: a grant that another process narrows under the same id holds as it is now.
func TestGrants_Changed(t *testing.T) {
	k := &fixed{}
	g := gate(t, Options{Grants: &Grants{Keeper: k}})
	if err := g.Grant(t.Context(), Grant{Permission: "edit", Pattern: "/srv/out/**", Scope: ThisProject, Person: "ann"}); err != nil {
		t.Fatal(err)
	}
	in := on("edit", tool.Write, resolve("/srv/out/a", nil))
	if d := decide(t, g, Request{Intent: in}); d.Verdict != tool.Allow {
		t.Fatalf("%s by %s", d.Verdict, d.By)
	}
	for name, change := range map[string]func(*Grant){
		"another pattern": func(g *Grant) { g.Pattern = "/srv/other/**" },
		"expired":         func(g *Grant) { g.Expires = time.Unix(1, 0) },
		"another session": func(g *Grant) { g.Scope, g.Session = ThisSession, "x" },
	} {
		before := k.list[0]
		change(&k.list[0])
		if d := decide(t, g, Request{Intent: in}); d.Verdict != tool.Ask {
			t.Errorf("%s: %s by %s", name, d.Verdict, d.By)
		}
		k.list[0] = before
		if d := decide(t, g, Request{Intent: in}); d.Verdict != tool.Allow {
			t.Errorf("as before %q: %s by %s", name, d.Verdict, d.By)
		}
	}
}

// POL-020: a grant for one decision leads to one allow, whoever is faster, and a refused call does not use it up.
func TestP8_OnceIsOnce(t *testing.T) {
	in := on("edit", tool.Write, resolve("/srv/a", nil))
	two := on("edit", tool.Write, resolve("/srv/a", nil), resolve("/srv/b", nil))
	var set Grants
	parent := gate(t, Options{Grants: &set})
	g := parent.Narrow(gate(t, Options{Grants: &set}))
	if err := g.Grant(t.Context(), Grant{Permission: "edit", Target: "/srv/a", Scope: Once, Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, g, Request{Intent: two, Session: "s"}); d.Verdict != tool.Ask {
		t.Fatalf("one of two targets is granted: got %s", d.Verdict)
	}
	if v := g.Screen(Request{Intent: in, Session: "s"})(in.Targets[0]); v != tool.Allow {
		t.Fatalf("screen: got %s", v)
	}
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if d, err := g.Decide(t.Context(), Request{Intent: in, Session: "s"}); err == nil && d.Verdict == tool.Allow {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 1 {
		t.Errorf("%d decisions were allowed by one grant", n)
	}
}

func TestGrants_Keeping(t *testing.T) {
	g := gate(t, Options{})
	for _, gr := range []Grant{
		{ID: "turn", Permission: "edit", Target: "/a", Scope: ThisTurn, Session: "s", Turn: "t"},
		{ID: "session", Permission: "edit", Target: "/a", Scope: ThisSession, Session: "s"},
		{ID: "other", Permission: "edit", Target: "/a", Scope: ThisSession, Session: "o"},
		{Permission: "edit", Target: "/a", Scope: ThisProject, Expires: time.Unix(2000, 0)},
	} {
		if err := g.Grant(t.Context(), gr); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(now time.Time) string {
		var out []string
		for _, gr := range grantsOf(t, g).List(now) {
			out = append(out, gr.ID)
		}
		return strings.Join(out, " ")
	}
	now := time.Unix(1000, 0)
	if got := ids(now); got != "turn session other g1" {
		t.Errorf("all: %s", got)
	}
	grantsOf(t, g).EndTurn("s", "t")
	if got := ids(now); got != "session other g1" {
		t.Errorf("after the turn: %s", got)
	}
	if err := grantsOf(t, g).EndSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := ids(now); got != "other g1" {
		t.Errorf("after the session: %s", got)
	}
	for _, want := range []bool{true, false} {
		if was, err := grantsOf(t, g).Revoke(t.Context(), "other"); was != want || err != nil {
			t.Errorf("Revoke says %t, %v; want %t", was, err, want)
		}
	}
	if got := ids(time.Unix(2000, 0)); got != "" {
		t.Errorf("after expiry: %s", got)
	}
	for _, bad := range []Grant{
		{}, {Permission: "edit", Target: "/a", Pattern: "b", Scope: ThisProject}, {Target: "/a", Scope: ThisProject},
		{Permission: "edit", Pattern: "*", Scope: ThisProject}, {Permission: "edit", Pattern: "a[", Scope: ThisProject},
		{Permission: "edit", Target: "/a"}, {Permission: "edit", Target: "/a", Scope: ThisSession}, {Permission: "edit", Target: "/a", Scope: ThisTurn, Session: "s"},
		{Permission: "edit", Target: "/a", Scope: Once},
	} {
		if g.Grant(t.Context(), bad) == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
}

func grantsOf(t *testing.T, g *Gate) *Grants {
	t.Helper()
	set, err := g.Grants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return set
}
