package access

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func keys() (*Keys, *store.Memory, *clock) {
	c := &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	m := &store.Memory{Now: c.now}
	return NewKeys(m, c.now), m, c
}

func TestX4_RolesReach(t *testing.T) {
	want := map[Role]string{Viewer: "viewer", Approver: "viewer approver", Admin: "viewer approver admin agent", Agent: "agent", "": "", "king": ""}
	for role, list := range want {
		for _, other := range []Role{Viewer, Approver, Admin, Agent} {
			if got := role.Reaches(other); got != strings.Contains(" "+list+" ", " "+string(other)+" ") {
				t.Errorf("%q reaches %s: %v", role, other, got)
			}
		}
		if role.Reaches("") || role.Reaches("king") {
			t.Errorf("%q reaches what does not exist", role)
		}
		if (role.Check() == nil) != (list != "") {
			t.Errorf("%q: %v", role, role.Check())
		}
	}
}

func TestX4_NobodyMayNothing(t *testing.T) {
	id := From(context.Background())
	if id.Role.Reaches(Viewer) || id.Role.Reaches("") || CSRF(context.Background()) != "" {
		t.Errorf("nobody is %+v", id)
	}
}

func TestX4_TokensEnd(t *testing.T) {
	k, m, c := keys()
	secret, tok, err := k.Create(t.Context(), Token{Name: "operator", Role: Approver}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Token(t.Context(), secret); err != nil || got.Name != "operator" || got.ID != tok.ID || !got.Expires.Equal(c.at.Add(time.Hour)) {
		t.Errorf("%+v, %v", got, err)
	}
	c.at = c.at.Add(time.Hour - time.Nanosecond)
	if _, err := k.Token(t.Context(), secret); err != nil {
		t.Errorf("just before its end: %v", err)
	}
	c.at = c.at.Add(time.Nanosecond)
	if _, err := k.Token(t.Context(), secret); !errors.Is(err, ErrNobody) {
		t.Errorf("at its end: %v", err)
	}
	if list, err := k.Tokens(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("an expired token is not listed: %v, %v", list, err)
	}
	for _, id := range []string{"", "t_", "t_0123456789", tok.ID[2:], tok.ID + "0", "%"} {
		if was, err := k.Revoke(t.Context(), id); was || err != nil {
			t.Errorf("revoked %q: %v, %v", id, was, err)
		}
	}
	if was, err := k.Revoke(t.Context(), tok.ID); !was || err != nil {
		t.Errorf("revoke: %v, %v", was, err)
	}
	recs, err := m.List(t.Context(), tokenSpace, store.RecordQuery{})
	if err != nil || len(recs) != 0 {
		t.Errorf("%d tokens are left, %v", len(recs), err)
	}
	if _, _, err := k.Create(t.Context(), Token{Name: "x", Role: "king"}, 0); err == nil {
		t.Error("a token for a role that does not exist")
	}
	if _, _, err := k.Create(t.Context(), Token{Name: "x", Role: Viewer}, -1); err == nil {
		t.Error("a token that ended before it began")
	}
}

// WEB-012: of many uses of a code at once one succeeds.
func TestWEB012_OneLoginPerCode(t *testing.T) {
	k, m, c := keys()
	code, expires, err := k.Code(t.Context(), Identity{Name: "operator", Role: Viewer, Via: "api"}, "t_x")
	if err != nil || !expires.Equal(c.at.Add(CodeTime)) {
		t.Fatal(err)
	}
	var won atomic.Int32
	var cookie atomic.Value
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, id, err := NewKeys(m, c.now).Login(t.Context(), code)
			switch {
			case err == nil:
				won.Add(1)
				cookie.Store(got)
				if id.Name != "operator" || id.Role != Viewer {
					t.Errorf("logged in as %+v", id)
				}
			case !errors.Is(err, ErrNobody):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d logins with one code", won.Load())
	}
	value := cookie.Load().(string)
	if id, token, err := k.Cookie(t.Context(), value); err != nil || id.Name != "operator" || token != "t_x" {
		t.Errorf("%+v %q %v", id, token, err)
	}
	c.at = c.at.Add(LoginTime)
	if _, _, err := k.Cookie(t.Context(), value); !errors.Is(err, ErrNobody) {
		t.Errorf("after its end: %v", err)
	}
	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, space := range []string{codeSpace, loginSpace} {
		if recs, err := m.List(t.Context(), space, store.RecordQuery{}); err != nil || len(recs) != 0 {
			t.Errorf("%d records of %s are left, %v", len(recs), space, err)
		}
	}
}

func TestWEB012_CodesEnd(t *testing.T) {
	k, _, c := keys()
	code, _, err := k.Code(t.Context(), Identity{Name: "operator", Role: Viewer}, "")
	if err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(CodeTime)
	if _, _, err := k.Login(t.Context(), code); !errors.Is(err, ErrNobody) {
		t.Errorf("a late code: %v", err)
	}
	for _, id := range []Identity{{Name: "bot", Role: Agent, Program: true}, {Name: "", Role: Viewer}, {Name: "a\x1bb", Role: Viewer}, {Name: "operator", Role: "king"}} {
		if _, _, err := k.Code(t.Context(), id, ""); err == nil {
			t.Errorf("a code for %+v", id)
		}
	}
}

func TestWEB016_DigestsOnly(t *testing.T) {
	k, m, _ := keys()
	tok, _, err := k.Create(t.Context(), Token{Name: "operator", Role: Viewer}, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, _, err := k.Code(t.Context(), Identity{Name: "operator", Role: Viewer}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, space := range []string{tokenSpace, codeSpace} {
		recs, err := m.List(t.Context(), space, store.RecordQuery{})
		if err != nil || len(recs) != 1 {
			t.Fatal(len(recs), err)
		}
		b, _ := json.Marshal(recs[0])
		for _, s := range []string{tok, code, tok[len(tokenPrefix):], code[len(codePrefix):]} {
			if strings.Contains(string(b), s) {
				t.Errorf("%s holds a secret: %s", space, b)
			}
		}
	}
}
