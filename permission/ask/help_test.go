package ask_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
)

const root = "/w/ws"

func path(given string) host.Path {
	abs := given
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(root, given)
	}
	p := host.Path{Given: given, Abs: filepath.Clean(abs), Real: filepath.Clean(abs)}
	p.Rel = p.Real
	if rel, ok := strings.CutPrefix(p.Real, root+"/"); ok {
		p.Root, p.Rel = root, rel
	}
	return p
}

// intent makes a sealed intent of a tool over paths.
func intent(name string, e tool.Effect, paths ...string) *tool.Intent {
	args, _ := json.Marshal(map[string]any{"path": strings.Join(paths, " ")})
	in := &tool.Intent{Tool: name, Permission: name, Effects: []tool.Effect{e}, Args: args}
	for _, p := range paths {
		in.Targets = append(in.Targets, tool.PathTo(path(p), e))
	}
	in.Seal()
	return in
}

func on(kind tool.TargetKind, e tool.Effect, name, value string) *tool.Intent {
	args, _ := json.Marshal(map[string]any{"command": value})
	in := &tool.Intent{Tool: name, Permission: name, Effects: []tool.Effect{e}, Args: args, Targets: []tool.Target{{Kind: kind, Effect: e, Value: value}}}
	in.Seal()
	return in
}

// gate asks before every edit below src and has a keeper over the store, where one is given.
func gate(t testing.TB, s kept.Store) *permission.Gate {
	t.Helper()
	grants := &permission.Grants{}
	if s != nil {
		grants.Keeper = kept.NewGrants(s, root, nil)
	}
	g, err := permission.New(permission.Options{
		Facts:  permission.Facts{Roots: []string{root}, Home: "/home/u", State: []string{"/home/u/.local/state/tackle"}},
		Layers: []permission.Layer{{Name: permission.User, Rules: []permission.Rule{{Permission: "edit", Pattern: "src/**", Action: tool.Ask}}}},
		Grants: grants,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func queue(t testing.TB, opt ask.Options) (*ask.Queue, *permission.Gate) {
	t.Helper()
	g := gate(t, nil)
	if opt.Gate == nil {
		opt.Gate = func() *permission.Gate { return g }
	}
	opt.Root = root
	return ask.New(opt), opt.Gate()
}

// question asks the gate, which must ask.
func question(t testing.TB, g *permission.Gate, in *tool.Intent) ask.Question {
	t.Helper()
	qu := ask.Question{Request: permission.Request{Intent: in, Session: "s", Turn: "t", Call: "c"}, Hunks: in.Hunks}
	d, err := g.Decide(context.Background(), qu.Request)
	if err != nil || d.Verdict != tool.Ask {
		t.Fatalf("the gate says %s by %s, %v; the test needs an ask", d.Verdict, d.By, err)
	}
	qu.Policy = d
	return qu
}

// yes answers a request as a person at a test.
func yes(r *ask.Request) ask.Answer {
	return ask.Answer{Allow: true, Fingerprint: r.Fingerprint, Approver: ask.Approver{Name: "reviewer", Face: "test"}}
}

func no(r *ask.Request, words string) ask.Answer {
	a := yes(r)
	a.Allow, a.Words = false, words
	return a
}

// answerer answers everything with what f says.
func answerer(f func(r *ask.Request) ask.Answer) ask.Face {
	return ask.FaceFunc(func(_ context.Context, r *ask.Request) (ask.Answer, error) { return f(r), nil })
}

// asked puts a question and answers it by f.
func asked(t testing.TB, q *ask.Queue, qu ask.Question, f func(r *ask.Request) ask.Answer) tool.Decision {
	t.Helper()
	qu.Faces = append(slices.Clone(qu.Faces), answerer(f))
	d, err := q.Ask(context.Background(), qu)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func memory() *store.Memory { return &store.Memory{} }

func at(sec int64) func() time.Time { return func() time.Time { return time.Unix(sec, 0) } }
