package toolbox

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

func newTextLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func named(name string) tool.Tool { return echo(tool.Spec{Name: name}, nil) }

// T8: modes, system tools, stable order, names unique per mode.
func TestT8_Registration(t *testing.T) {
	b := newBox(t, Config{})
	reg := func(want string, name string, modes ...string) {
		t.Helper()
		err := b.Register(named(name), modes...)
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Fatalf("%s %v: %v", name, modes, err)
			}
		} else if want != "" {
			t.Fatalf("%s %v: registered, want %q", name, modes, want)
		}
	}
	reg("", "zeta", "code", "plan")
	reg("", "edit", "code")
	reg("", "edit", "dev") // one name, another tool, another mode
	reg("", "title")       // system tool
	reg("already", "edit", "dev", "code")
	reg("already", "title")
	reg("", "alpha", "plan")
	if got := b.Names(View{Mode: "code"}); !slices.Equal(got, []string{"zeta", "edit"}) {
		t.Errorf("code: %v", got)
	}
	if got := b.Names(View{Mode: "plan"}); !slices.Equal(got, []string{"zeta", "alpha"}) {
		t.Errorf("plan: %v", got)
	}
	if got := b.Modes(); !slices.Equal(got, []string{"code", "dev", "plan"}) {
		t.Errorf("modes: %v", got)
	}
	if res := call(t, b, "title", `{"text":"x"}`); res.Err == nil || res.Err.Code != tool.UnknownTool {
		t.Errorf("a model called a system tool: %+v", res)
	}
	res, err := b.Call(t.Context(), Request{Tool: "title", Args: json.RawMessage(`{"text":"x"}`), Platform: true})
	if err != nil || !res.OK() {
		t.Errorf("the platform cannot call it: %v %v", res.Err, err)
	}
	if err := b.Replace(named("edit"), "code"); err != nil {
		t.Fatal(err)
	}
	if got := b.Names(View{Mode: "code"}); !slices.Equal(got, []string{"zeta", "edit"}) {
		t.Errorf("replacing moved a name: %v", got)
	}
}

// T8: one tool may take the place of several of its name; none of them stays behind, and what they did is still counted.
func TestT8_ReplaceSeveral(t *testing.T) {
	b := newBox(t, Config{})
	for _, r := range []struct{ name, mode string }{{"edit", "code"}, {"last", "code"}, {"edit", "dev"}, {"last", "dev"}} {
		if err := b.Register(named(r.name), r.mode); err != nil {
			t.Fatal(err)
		}
	}
	call(t, b, "edit", `{"text":"x"}`)
	if err := b.Replace(echo(tool.Spec{Name: "edit", Title: "new"}, nil), "code", "dev"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"code", "dev"} {
		defs := b.Tools(View{Mode: mode})
		if len(defs) != 2 || defs[0].Name != "edit" || defs[0].Title != "new" || defs[1].Name != "last" {
			t.Errorf("%s: %v", mode, b.Names(View{Mode: mode}))
		}
	}
	b = newBox(t, Config{})
	if err := b.Register(named("edit"), "code", "dev"); err != nil {
		t.Fatal(err)
	}
	call(t, b, "edit", `{"text":"x"}`)
	if err := b.Replace(named("edit"), "dev"); err != nil {
		t.Fatal(err)
	}
	calls := int64(0)
	for _, f := range b.Figures() {
		calls += f.Calls
	}
	if calls != 1 {
		t.Errorf("%d calls counted after half of the tool was replaced", calls)
	}
}

// T15: an alias stands in only where no tool has its name.
func TestT15_AliasIsNoDisguise(t *testing.T) {
	b := newBox(t, Config{Aliases: map[string]string{"apply": "other"}})
	for name, mode := range map[string]string{"apply": "dev", "other": "code"} {
		if err := b.Register(echo(tool.Spec{Name: name, Title: name + " itself"}, nil), mode); err != nil {
			t.Fatal(err)
		}
	}
	for mode, want := range map[string]string{"dev": "apply itself", "code": "other itself"} {
		if d, _ := b.Definition("apply", mode); d.Title != want {
			res, err := b.Call(t.Context(), Request{Tool: "apply", Mode: mode, Args: json.RawMessage(`{"text":"x"}`)})
			t.Errorf("%s: %q, want %q (%v %s)", mode, d.Title, want, err, res.Text())
		}
	}
}

// P3: a tool that a request switches off by an old name is off.
func TestP3_OverlayByAlias(t *testing.T) {
	b := newBox(t, Config{Aliases: map[string]string{"shout": "echo", "cry": "echo"}}, echo(tool.Spec{}, nil))
	for _, tt := range []struct {
		overlay map[string]bool
		listed  bool
	}{
		{map[string]bool{"shout": false}, false}, {map[string]bool{"echo": false, "shout": true}, false}, {map[string]bool{"echo": true, "shout": false}, false},
		{map[string]bool{"shout": true, "cry": false}, false}, {map[string]bool{"shout": true}, true}, {map[string]bool{"other": false}, true}, {nil, true},
	} {
		given := maps.Clone(tt.overlay)
		if got := len(b.Names(View{Mode: "code", Overlay: tt.overlay})) == 1; got != tt.listed {
			t.Errorf("%v: listed %v", tt.overlay, got)
		}
		for _, name := range []string{"echo", "shout"} {
			for _, platform := range []bool{false, true} {
				res, err := b.Call(t.Context(), Request{Tool: name, Args: json.RawMessage(`{"text":"x"}`), Overlay: tt.overlay, Platform: platform})
				if err != nil || res.OK() != tt.listed {
					t.Errorf("%v: %s: %v %s", tt.overlay, name, err, res.Text())
				}
			}
		}
		if !maps.Equal(given, tt.overlay) {
			t.Errorf("the caller's map was changed: %v", tt.overlay)
		}
	}
}

// T8: a bad definition is found at registration, with the provider that would refuse it (T14).
func TestT14_BadDefinitions(t *testing.T) {
	type loose struct {
		V any `json:"v"`
	}
	plan := func(context.Context, *tool.Call, loose) (tool.Action, error) { return tool.Action{}, nil }
	b := newBox(t, Config{})
	for name, tl := range map[string]tool.Tool{
		"name":        named("Bad Name"),
		"long name":   named(strings.Repeat("n", 41)),
		"category":    tool.Define(tool.Spec{Name: "x", Description: "d"}, func(context.Context, *tool.Call, echoInput) (tool.Action, error) { return tool.Action{}, nil }),
		"description": tool.Define(tool.Spec{Name: "x", Category: "c"}, func(context.Context, *tool.Call, echoInput) (tool.Action, error) { return tool.Action{}, nil }),
		"schema":      tool.Define(tool.Spec{Name: "x", Category: "c", Description: "d"}, plan),
		"example":     echo(tool.Spec{Example: "{"}, nil),
	} {
		if err := b.Register(tl, "code"); err == nil {
			t.Errorf("%s: registered", name)
		}
	}
	if got := b.Names(View{Mode: "code"}); got != nil {
		t.Errorf("registered: %v", got)
	}
}

// T15: overrides rename and re-describe by default name; aliases keep old names working.
func TestT15_OverridesAndAliases(t *testing.T) {
	b := newBox(t, Config{Overrides: map[string]Override{"echo": {Name: "say", Description: "Speak."}}, Aliases: map[string]string{"shout": "say"}}, echo(tool.Spec{}, nil))
	d := b.Tools(View{Mode: "code"})
	if len(d) != 1 || d[0].Name != "say" || d[0].Description != "Speak." || d[0].Permission != "echo" {
		t.Errorf("definition %+v", d)
	}
	for _, name := range []string{"say", "shout"} {
		if res := call(t, b, name, `{"text":"x"}`); !res.OK() {
			t.Errorf("%s: %v", name, res.Err)
		}
	}
	if res := call(t, b, "echo", `{"text":"x"}`); res.OK() {
		t.Error("the default name still answers")
	}
}

// P3: model, credential and request decide what is listed, and what is not listed cannot be called.
func TestP3_Visibility(t *testing.T) {
	b := newBox(t, Config{},
		echo(tool.Spec{Name: "patch", Models: func(m string) bool { return strings.HasPrefix(m, "gpt") }}, nil),
		echo(tool.Spec{Name: "google", Credential: "google.cse"}, nil),
		echo(tool.Spec{Name: "plain"}, nil))
	for _, tt := range []struct {
		view View
		want []string
	}{
		{View{Mode: "code"}, []string{"patch", "plain"}},
		{View{Mode: "code", Model: "gpt-5"}, []string{"patch", "plain"}},
		{View{Mode: "code", Model: "claude"}, []string{"plain"}},
		{View{Mode: "code", Overlay: map[string]bool{"plain": false}}, []string{"patch"}},
		{View{Mode: "code", Overlay: map[string]bool{"google": true}}, []string{"patch", "plain"}},
		{View{Mode: "none"}, nil},
	} {
		if got := b.Names(tt.view); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.view, got, tt.want)
		}
	}
	if res := call(t, b, "google", `{"text":"x"}`); res.Err == nil || !strings.Contains(res.Text(), "google.cse") {
		t.Errorf("hidden tool: %s", res.Text())
	}
	var env tool.Environment
	env.Services.Google.CSE = tool.CSE{APIKey: tool.NewSecret("k-1234"), EngineID: "e"}
	env.Mode = "code"
	b2 := newBox(t, Config{Env: env}, echo(tool.Spec{Name: "google", Credential: "google.cse"}, nil))
	if got := b2.Names(View{Mode: "code"}); len(got) != 1 {
		t.Errorf("with the credential: %v", got)
	}
}

// T10: the environment of a live box can change; a running call keeps what it started with.
func TestT10_LiveUpdates(t *testing.T) {
	started, release := make(chan tool.Environment), make(chan struct{})
	tl := tool.Define(tool.Spec{Name: "env", Category: "test", Description: "Show the environment."}, func(_ context.Context, c *tool.Call, _ echoInput) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			started <- c.Env
			<-release
			return tool.TextResult(c.Env.Project.Name, nil), nil
		}}, nil
	})
	b := newBox(t, Config{Env: tool.Environment{Mode: "code", Project: tool.Project{Name: "one"}}}, tl)
	if err := b.Register(tl, "plan"); err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		res, _ := b.Call(context.Background(), Request{Tool: "env", Args: json.RawMessage(`{"text":""}`)})
		done <- res.Text()
	}()
	if e := <-started; e.Project.Name != "one" {
		t.Errorf("started with %+v", e)
	}
	b.UpdateProject(tool.Project{Name: "two"}, "plan")
	b.UpdateWorkspace(tool.Workspace{ProjectDir: "/p"})
	close(release)
	if got := <-done; got != "one" {
		t.Errorf("the running call saw %q", got)
	}
	if e := b.Env(); e.Project.Name != "two" || e.Mode != "plan" || e.Workspace.ProjectDir != "/p" {
		t.Errorf("environment %+v", e)
	}
}

// The list is byte-stable from turn to turn: prompt caches depend on it.
func TestT8_ByteStable(t *testing.T) {
	b := newBox(t, Config{}, named("b"), named("a"), named("c"))
	first, _ := json.Marshal(b.Tools(View{Mode: "code"})[0].Schema)
	names := b.Names(View{Mode: "code"})
	for range 50 {
		again, _ := json.Marshal(b.Tools(View{Mode: "code"})[0].Schema)
		if string(again) != string(first) || !slices.Equal(b.Names(View{Mode: "code"}), names) {
			t.Fatal("the list changed")
		}
	}
}
