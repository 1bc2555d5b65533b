package kept_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
)

const root = "/w/ws"

// process is a gate of its own over a store that several share.
func process(t *testing.T, s kept.Store, now func() time.Time) *permission.Gate {
	t.Helper()
	g, err := permission.New(permission.Options{Facts: permission.Facts{Roots: []string{root}}, Now: now,
		Grants: &permission.Grants{Keeper: kept.NewGrants(s, root, now)}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func decide(t *testing.T, g *permission.Gate, path, session string) tool.Decision {
	t.Helper()
	in := &tool.Intent{Tool: "edit", Permission: "edit", Effects: []tool.Effect{tool.Write}, Targets: []tool.Target{{Kind: tool.PathTarget, Effect: tool.Write, Value: path}}}
	d, err := g.Decide(t.Context(), permission.Request{Intent: in, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func grant(target string, scope permission.Scope, session string) permission.Grant {
	return permission.Grant{Permission: "edit", Target: target, Scope: scope, Session: session, Person: "ada"}
}

func stores(t *testing.T) map[string]func() kept.Store {
	dir := t.TempDir()
	return map[string]func() kept.Store{
		"memory": func() kept.Store { return &store.Memory{} },
		"disk": func() kept.Store {
			db := store.Open(filepath.Join(dir, "state"), store.Options{})
			t.Cleanup(func() { db.Close() })
			return db
		},
	}
}

// P8, POL-014: what one process grants or revokes counts in the next decision of another one.
func TestP8_GrantsOutliveTheProcess(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			s := open()
			first, second := process(t, s, nil), process(t, s, nil)
			if d := decide(t, second, "/srv/a", "s"); d.Verdict != tool.Ask {
				t.Fatalf("%+v", d)
			}
			for _, g := range []permission.Grant{grant("/srv/a", permission.ThisProject, ""), grant("/srv/b", permission.ThisSession, "s"), {Permission: "edit", Pattern: "/srv/out/*.txt", Scope: permission.ThisProject, Person: "ada"}} {
				if err := first.Grant(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			turn := grant("/srv/t", permission.ThisTurn, "s")
			turn.Turn = "t"
			if err := first.Grant(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				path, session string
				want          tool.Verdict
			}{
				{"/srv/a", "s", tool.Allow}, {"/srv/a", "other", tool.Allow}, {"/srv/b", "s", tool.Allow}, {"/srv/b", "other", tool.Ask},
				{"/srv/out/x.txt", "", tool.Allow}, {"/srv/out/x.md", "", tool.Ask}, {"/srv/t", "s", tool.Ask},
			} {
				if d := decide(t, second, tt.path, tt.session); d.Verdict != tt.want {
					t.Errorf("%s in %q: %s by %s, want %s", tt.path, tt.session, d.Verdict, d.By, tt.want)
				}
			}
			set, err := second.Grants(t.Context())
			if err != nil || len(set.List(time.Now())) != 3 {
				t.Fatalf("%v %v", set.List(time.Now()), err)
			}
			if was, err := set.Revoke(t.Context(), set.List(time.Now())[0].ID); !was || err != nil {
				t.Errorf("revoke: %t %v", was, err)
			}
			if err := set.EndSession(t.Context(), "s"); err != nil {
				t.Error(err)
			}
			for _, path := range []string{"/srv/a", "/srv/b"} {
				if d := decide(t, first, path, "s"); d.Verdict != tool.Ask {
					t.Errorf("%s is still granted: by %s", path, d.By)
				}
			}
		})
	}
}

// A grant belongs to the project in whose folder it was given.
func TestGrantsOfAnotherProject(t *testing.T) {
	s := &store.Memory{}
	g := process(t, s, nil)
	if err := g.Grant(t.Context(), grant("/srv/a", permission.ThisProject, "")); err != nil {
		t.Fatal(err)
	}
	if list, err := kept.NewGrants(s, "/w/other", nil).Load(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}

// POL-020: a grant for one decision leads to one allow, in whatever process.
func TestP8_OnceOverProcesses(t *testing.T) {
	s := &store.Memory{}
	for range 50 {
		if err := process(t, s, nil).Grant(t.Context(), grant("/srv/a", permission.Once, "s")); err != nil {
			t.Fatal(err)
		}
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			g := process(t, s, nil)
			wg.Go(func() {
				if decide(t, g, "/srv/a", "s").Verdict == tool.Allow {
					allowed.Add(1)
				}
			})
		}
		wg.Wait()
		if n := allowed.Load(); n != 1 {
			t.Fatalf("%d decisions were allowed by one grant", n)
		}
	}
}

// Expired grants are removed when the next one is given.
func TestExpiry(t *testing.T) {
	s := &store.Memory{}
	now := time.Unix(1000, 0)
	g := process(t, s, func() time.Time { return now })
	old := grant("/srv/a", permission.ThisProject, "")
	old.Expires = time.Unix(2000, 0)
	if err := g.Grant(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	now = time.Unix(2000, 0)
	if d := decide(t, g, "/srv/a", ""); d.Verdict != tool.Ask {
		t.Errorf("%+v", d)
	}
	if err := g.Grant(t.Context(), grant("/srv/b", permission.ThisProject, "")); err != nil {
		t.Fatal(err)
	}
	if list, err := kept.NewGrants(s, root, nil).Load(t.Context()); err != nil || len(list) != 1 || list[0].Target != "/srv/b" {
		t.Errorf("%+v %v", list, err)
	}
}

type broken struct{ *store.Memory }

func (broken) List(context.Context, string, store.RecordQuery) ([]store.Record, error) {
	return nil, errors.New("the disk is gone")
}

// Grants that cannot be read answer nothing, and the reason says so.
func TestGrantsThatCannotBeRead(t *testing.T) {
	mem := &store.Memory{}
	if err := process(t, mem, nil).Grant(t.Context(), grant("/srv/a", permission.ThisProject, "")); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]kept.Store{"a store that fails": broken{mem}, "a damaged record": damaged(t, mem)} {
		d := decide(t, process(t, s, nil), "/srv/a", "")
		if d.Verdict != tool.Ask || !strings.Contains(d.Reason, "the stored grants cannot be read") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func damaged(t *testing.T, from *store.Memory) kept.Store {
	s := &store.Memory{}
	recs, err := from.List(t.Context(), "grant", store.RecordQuery{})
	if err != nil || len(recs) != 1 {
		t.Fatal(recs, err)
	}
	recs[0].Body = []byte(`{"scope": 7}`)
	if err := s.Set(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
	return s
}

// together is a store whose readers of one record wait for each other.
type together struct {
	*store.Memory
	all *sync.WaitGroup
}

func (s together) Get(ctx context.Context, space, key string) (store.Record, error) {
	r, err := s.Memory.Get(ctx, space, key)
	s.all.Done()
	s.all.Wait()
	return r, err
}

// POL-020: of several who all see a grant for one decision before any of them spends it, one does.
func TestP8_SpentByOne(t *testing.T) {
	mem := &store.Memory{}
	if err := process(t, mem, nil).Grant(t.Context(), grant("/srv/a", permission.Once, "s")); err != nil {
		t.Fatal(err)
	}
	list, err := kept.NewGrants(mem, root, nil).Load(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	const n = 4
	var all, wg sync.WaitGroup
	all.Add(n)
	var won atomic.Int32
	for range n {
		k := kept.NewGrants(together{mem, &all}, root, nil)
		wg.Go(func() {
			ok, err := k.Spend(t.Context(), list[0].ID)
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d spent it", won.Load())
	}
}
