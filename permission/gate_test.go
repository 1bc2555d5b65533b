package permission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// P1: inside a layer the last match, over layers the strictest, the posture only where no layer has an opinion.
func TestP1_Layers(t *testing.T) {
	tests := []struct {
		name    string
		layers  []Layer
		path    string
		verdict tool.Verdict
		by      string
	}{
		{"no rule, inside", nil, "a.go", tool.Allow, "posture guarded"},
		{"no rule, outside", nil, "/etc/hosts", tool.Ask, "posture guarded"},
		{"the last match decides", user(t, "deny edit src/**\nallow edit src/gen/**"), "src/gen/x.go", tool.Allow, "rule user:2"},
		{"an exception above its rule is none", user(t, "allow edit src/gen/**\ndeny edit src/**"), "src/gen/x.go", tool.Deny, "rule user:2"},
		{"ask above deny", user(t, "deny edit **\nask edit src/**"), "src/x.go", tool.Ask, "rule user:2"},
		{"strictest over layers", []Layer{{Name: User, Rules: parse(t, "allow edit **")}, {Name: Project, Rules: parse(t, "ask edit src/**")}},
			"src/x.go", tool.Ask, "rule project:1"},
		{"whichever comes first", []Layer{{Name: User, Rules: parse(t, "deny edit src/**")}, {Name: Project, Rules: parse(t, "allow edit **")}},
			"src/x.go", tool.Deny, "rule user:1"},
		{"a layer's allow silences the posture", user(t, "allow edit /srv/**"), "/srv/x", tool.Allow, "rule user:1"},
		{"other permissions do not count", user(t, "deny read_file **"), "a.go", tool.Allow, "posture guarded"},
		{"any permission", user(t, "deny * src/**"), "src/x", tool.Deny, "rule user:1"},
		{"a permission with a star", user(t, "deny ed* src/**"), "src/x", tool.Deny, "rule user:1"},
		{"an untrusted layer only tightens", []Layer{{Name: Project, Untrusted: true, Rules: parse(t, "allow edit /srv/**\nask edit src/**")}},
			"/srv/x", tool.Ask, "posture guarded"},
		{"an untrusted layer does tighten", []Layer{{Name: Project, Untrusted: true, Rules: parse(t, "deny edit src/**\nallow edit **")}},
			"src/x", tool.Deny, "rule project:1"},
		// P2: a rule that names a tool means what the tool asks under.
		{"a tool's name", user(t, "deny write_file src/**"), "src/x", tool.Deny, "rule user:1"},
		{"a tool's name with a star restricts", user(t, "deny write_* src/**"), "src/x", tool.Deny, "rule user:1"},
		{"a tool's name with a star does not permit", user(t, "allow write_* /srv/**"), "/srv/x", tool.Ask, "posture guarded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := gate(t, Options{Layers: tt.layers})
			d := decide(t, g, Request{Intent: on("edit", tool.Write, resolve(tt.path, nil))})
			if d.Verdict != tt.verdict || d.By != tt.by {
				t.Errorf("got %s by %s (%s), want %s by %s", d.Verdict, d.By, d.Reason, tt.verdict, tt.by)
			}
		})
	}
}

// P5: a project's patterns are relative to its own folder, which need not be a root; its allows stay within the roots.
func TestP5_Base(t *testing.T) {
	layer := func(rules string) []Layer {
		return []Layer{{Name: Project, Base: "/w", Rules: parse(t, rules)}}
	}
	tests := []struct {
		rules, path string
		want        tool.Verdict
	}{
		{"deny edit ws/gen/**", "gen/a", tool.Deny},
		{"deny edit gen/**", "gen/a", tool.Allow},
		{"deny edit *.lock", "a/b.lock", tool.Deny},
		{"deny edit other/", "/w/other/a", tool.Deny},
		{"ask edit **\nallow edit ws/gen/**", "gen/a", tool.Allow},
		{"allow edit **", "/w/other/a", tool.Ask},
		{"allow edit /w/other/**", "/w/other/a", tool.Allow},
		{"deny edit *", "/w/other/a", tool.Deny},
	}
	for _, tt := range tests {
		g := gate(t, Options{Layers: layer(tt.rules)})
		if d := decide(t, g, Request{Intent: on("edit", tool.Write, resolve(tt.path, nil))}); d.Verdict != tt.want {
			t.Errorf("%q, %s: got %s by %s, want %s", tt.rules, tt.path, d.Verdict, d.By, tt.want)
		}
	}
	if _, err := New(Options{Layers: []Layer{{Name: Project, Base: "rel"}}}); err == nil {
		t.Error("a relative base is accepted")
	}
}

// P1, T10: modes, sessions and requests are layers like the others.
func TestP1_ModeSessionRequest(t *testing.T) {
	g := gate(t, Options{Modes: map[string][]Layer{"plan": {{Rules: parse(t, "deny edit *")}}}})
	session, err := g.Compile(Layer{Name: Session, Rules: parse(t, "ask edit docs/**")})
	if err != nil {
		t.Fatal(err)
	}
	edit := on("edit", tool.Write, resolve("docs/a.md", nil))
	tests := []struct {
		name string
		r    Request
		want tool.Verdict
		by   string
	}{
		{"none", Request{}, tool.Allow, "posture guarded"},
		{"mode", Request{Mode: "plan"}, tool.Deny, "rule mode plan:1"},
		{"a mode without a layer", Request{Mode: "code"}, tool.Allow, "posture guarded"},
		{"session", Request{Layers: []*Compiled{session}}, tool.Ask, "rule session:1"},
		{"overlay off", Request{Overlay: map[string]bool{"edit": false}}, tool.Deny, "request"},
		{"overlay on does not lift an ask", Request{Overlay: map[string]bool{"edit": true}, Layers: []*Compiled{session}}, tool.Ask, "rule session:1"},
		{"overlay of another tool", Request{Overlay: map[string]bool{"write_file": false}}, tool.Allow, "posture guarded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.Intent = edit
			if d := decide(t, g, tt.r); d.Verdict != tt.want || d.By != tt.by {
				t.Errorf("got %s by %s, want %s by %s", d.Verdict, d.By, tt.want, tt.by)
			}
		})
	}
	outside := on("edit", tool.Write, resolve("/srv/x", nil))
	if d := decide(t, g, Request{Intent: outside, Overlay: map[string]bool{"edit": true}}); d.Verdict != tool.Allow || d.By != "request" {
		t.Errorf("overlay on: got %s by %s", d.Verdict, d.By)
	}
	secret := on("edit", tool.Write, resolve(".env", nil))
	if d := decide(t, g, Request{Intent: secret, Overlay: map[string]bool{"edit": true}}); d.Verdict != tool.Ask {
		t.Errorf("overlay on for a secret: got %s by %s", d.Verdict, d.By)
	}
}

// P1, P7: no rule silences a guard.
func TestP1_Guards(t *testing.T) {
	const all = "allow * *\nallow edit /**\nallow edit **\nallow edit .git/**\nallow read_file /**"
	tests := []struct {
		tool    string
		effect  tool.Effect
		path    string
		verdict tool.Verdict
		by      string
	}{
		{"edit", tool.Write, "src/x.go", tool.Allow, "rule user:3"},
		{"edit", tool.Write, ".git/hooks/pre-commit", tool.Ask, "guard protected-names"},
		{"edit", tool.Write, ".tackle/config.yaml", tool.Ask, "guard config"},
		{"edit", tool.Write, "sub/.TACKLE/config.yaml", tool.Ask, "guard config"},
		{"edit", tool.Write, home + "/.config/tackle/config.yaml", tool.Ask, "guard config"},
		{"edit", tool.Write, home + "/.bashrc", tool.Ask, "guard protected-names"},
		{"edit", tool.Write, state + "/journal/1", tool.Deny, "guard state"},
		{"edit", tool.Write, state, tool.Deny, "guard state"},
		{"edit", tool.Write, state + "/artifacts/x", tool.Deny, "guard state"},
		{"edit", tool.Write, strings.ToUpper(state) + "/journal/1", tool.Deny, "guard state"},
		{"edit", tool.Write, state + "-other/x", tool.Allow, "rule user:2"},
		{"read_file", tool.Read, state + "/ledger", tool.Ask, "guard state"},
		{"read_file", tool.Read, ".git/config", tool.Allow, "rule user:5"},
	}
	g := gate(t, Options{Layers: user(t, all)})
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			d := decide(t, g, Request{Intent: on(tt.tool, tt.effect, resolve(tt.path, nil))})
			if d.Verdict != tt.verdict || d.By != tt.by {
				t.Errorf("got %s by %s (%s), want %s by %s", d.Verdict, d.By, d.Reason, tt.verdict, tt.by)
			}
		})
	}
	artifact := on("read_file", tool.Read, resolve(state+"/artifacts/a1", nil))
	if d := decide(t, gate(t, Options{}), Request{Intent: artifact}); d.Verdict != tool.Allow {
		t.Errorf("F1: an artifact reads like the workspace; got %s by %s", d.Verdict, d.By)
	}
	command := &tool.Intent{Tool: "shell", Permission: "shell", Effects: []tool.Effect{tool.Execute},
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: "make"}}}
	if d := decide(t, g, Request{Intent: command}); d.Verdict != tool.Ask || d.By != "guard unconfined-command" {
		t.Errorf("command: got %s by %s", d.Verdict, d.By)
	}
}

// P6: both spellings of a path are judged: deny and ask if either matches, allow only if both do.
func TestP6_Links(t *testing.T) {
	links := map[string]string{root + "/ok.txt": root + "/.env", root + "/out": "/srv/out", root + "/a": root + "/b"}
	tests := []struct {
		name, rules, path string
		effect            tool.Effect
		want              tool.Verdict
	}{
		{"link to a secret", "", "ok.txt", tool.Read, tool.Ask},
		{"link to a denied file", "deny * .env", "ok.txt", tool.Read, tool.Deny},
		{"denied by the link's own name", "deny * ok.txt", "ok.txt", tool.Read, tool.Deny},
		{"link to the outside", "", "out/x", tool.Write, tool.Ask},
		{"allow of the link's name only", "allow * out/**", "out/x", tool.Write, tool.Ask},
		{"allow of the target only", "allow * /srv/out/**", "out/x", tool.Write, tool.Ask},
		{"allow of both", "allow * /srv/out/**\nallow * out/**", "out/x", tool.Write, tool.Allow},
		{"ask of one", "allow * b/**\nask * a/**", "a/x", tool.Write, tool.Ask},
		{"each name has its own rule", "allow * b/**\nallow * a/**", "a/x", tool.Write, tool.Allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := gate(t, Options{Layers: user(t, tt.rules)})
			if d := decide(t, g, Request{Intent: on("edit", tt.effect, resolve(tt.path, links))}); d.Verdict != tt.want {
				t.Errorf("got %s by %s (%s), want %s", d.Verdict, d.By, d.Reason, tt.want)
			}
		})
	}
	// A link above the root is the person's own: the root itself was given through it.
	p := host.Path{Given: "/mnt/ws/src/a", Abs: "/mnt/ws/src/a", Real: root + "/src/a", Root: root, Rel: "src/a"}
	g := gate(t, Options{Posture: CI, Layers: user(t, "deny edit **\nallow edit src/**")})
	if d := decide(t, g, Request{Intent: on("edit", tool.Write, p)}); d.Verdict != tool.Allow {
		t.Errorf("link above the root: got %s by %s", d.Verdict, d.By)
	}
}

// T4, T5: the changes themselves are judged, whatever the targets say.
func TestT5_ChangesAreJudged(t *testing.T) {
	g := gate(t, Options{Layers: user(t, "deny edit secret/**\ndeny edit keep/*.key\ndeny edit **/x.lock")})
	dir := change.State{Type: change.Dir}
	file := change.State{Type: change.File}
	op := func(kind change.Kind, path, to string, before change.State) change.Op {
		return change.Op{Kind: kind, Path: root + "/" + path, To: root + "/" + to, Before: before}
	}
	tests := []struct {
		name string
		ops  []change.Op
		want tool.Verdict
	}{
		{"a path that no target names", []change.Op{op(change.Write, "secret/x", "", file)}, tool.Deny},
		{"the destination of a move", []change.Op{op(change.Move, "a", "secret/a", file)}, tool.Deny},
		{"the source of a move", []change.Op{op(change.Move, "secret/a", "a", file)}, tool.Deny},
		{"a renamed parent of what a rule names", []change.Op{op(change.Move, "keep", "free", dir)}, tool.Deny},
		{"a renamed directory that may hold it", []change.Op{op(change.Move, "lib", "free", dir)}, tool.Allow},
		{"a made parent goes with its file", []change.Op{op(change.Mkdir, "n", "", change.State{}), op(change.Write, "n/x", "", file)}, tool.Allow},
		{"a made directory on its own", []change.Op{op(change.Mkdir, "secret", "", change.State{})}, tool.Deny},
		{"state below a renamed directory", []change.Op{{Kind: change.Move, Path: home, To: "/home/v", Before: dir}}, tool.Deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := on("edit", tool.Write, resolve("plain.txt", nil))
			in.Changes = &change.Set{Ops: tt.ops}
			if d := decide(t, g, Request{Intent: in}); d.Verdict != tt.want {
				t.Errorf("got %s by %s (%s), want %s", d.Verdict, d.By, d.Reason, tt.want)
			}
		})
	}
	maybe := gate(t, Options{Layers: user(t, "deny edit src/**/keys/*.txt")})
	in := on("edit", tool.Write)
	in.Changes = &change.Set{Ops: []change.Op{op(change.Move, "src/sub", "free", dir)}}
	if d := decide(t, maybe, Request{Intent: in}); d.Verdict != tool.Ask || !strings.Contains(d.Reason, "may be covered by rule user:1") {
		t.Errorf("renamed below a rule: got %s: %s", d.Verdict, d.Reason)
	}
	create := on("edit", tool.Write, resolve("plain.txt", nil))
	create.MayCreate = []string{root + "/secret/new"}
	if d := decide(t, g, Request{Intent: create}); d.Verdict != tool.Deny {
		t.Errorf("MayCreate: got %s", d.Verdict)
	}
}

// P5, P6: what cannot be judged is asked for, never allowed.
func TestP5_UnknownTargets(t *testing.T) {
	all := user(t, "allow * *")
	target := func(kind tool.TargetKind, e tool.Effect, value string) *tool.Intent {
		return &tool.Intent{Tool: "x", Permission: "x", Effects: []tool.Effect{e}, Targets: []tool.Target{{Kind: kind, Effect: e, Value: value}}}
	}
	wrong := on("edit", tool.Write, resolve("a", nil))
	wrong.Targets[0].Value = root + "/b"
	tests := []struct {
		name string
		in   *tool.Intent
		rule string
		want tool.Verdict
	}{
		{"a kind without a matcher", target("database", tool.Write, "orders"), "", tool.Ask},
		{"an address", target(tool.URLTarget, tool.Read, "https://example.com/"), "", tool.Allow},
		{"an address that is none", target(tool.URLTarget, tool.Read, "https:/example.com"), "", tool.Ask},
		{"an address that cannot be read", target(tool.URLTarget, tool.Read, "https://example.com\\@evil.test"), "", tool.Ask},
		{"a relative path", target(tool.PathTarget, tool.Write, "a/b"), "", tool.Ask},
		{"value and path differ", wrong, "", tool.Ask},
		{"an imported tool", target(tool.ToolTarget, tool.Write, "github_delete"), "", tool.Allow},
		{"a denied imported tool", target(tool.ToolTarget, tool.Write, "github_delete"), "deny x github_*", tool.Deny},
		{"a deny that cannot be compared", target("database", tool.Write, "orders"), "deny x orders", tool.Ask},
		{"any denies every kind", target("database", tool.Write, "orders"), "deny x *", tool.Deny},
		{"a doubt above a certain deny", target("database", tool.Write, "orders"), "deny x *\nask x orders", tool.Deny},
		{"write without a target", &tool.Intent{Permission: "edit", Effects: []tool.Effect{tool.Write}}, "", tool.Allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			layers := all
			if tt.rule != "" {
				layers = append(slices.Clone(all), Layer{Name: Project, Rules: parse(t, tt.rule)})
			}
			g := gate(t, Options{Layers: layers})
			if d := decide(t, g, Request{Intent: tt.in}); d.Verdict != tt.want {
				t.Errorf("got %s by %s (%s), want %s", d.Verdict, d.By, d.Reason, tt.want)
			}
		})
	}
	silent := &tool.Intent{Tool: "x", Permission: "x", Effects: []tool.Effect{tool.Write}}
	if d := decide(t, gate(t, Options{}), Request{Intent: silent}); d.Verdict != tool.Ask {
		t.Errorf("a write that names no target: got %s", d.Verdict)
	}
}

// P3: only a last rule with the pattern "*" and deny hides.
func TestP3_Hidden(t *testing.T) {
	tests := []struct {
		rules string
		want  bool
	}{
		{"", false},
		{"deny edit *", true},
		{"ask edit *", false},
		{"deny edit **", false},
		{"deny edit src/**", false},
		{"deny edit *\nallow edit docs/**", false},
		{"allow edit docs/**\ndeny edit *", true},
		{"deny * *", true},
		{"deny write_file *", true},
		{"deny edit *\ndeny read_file src/**", true},
	}
	for _, tt := range tests {
		g := gate(t, Options{Layers: user(t, tt.rules)})
		if hidden, by := g.Hidden("edit", ""); hidden != tt.want || hidden != (by != "") {
			t.Errorf("%q: hidden %v by %q, want %v", tt.rules, hidden, by, tt.want)
		}
	}
	g := gate(t, Options{Modes: map[string][]Layer{"plan": {{Rules: parse(t, "deny edit *")}}}})
	if hidden, _ := g.Hidden("edit", "plan"); !hidden {
		t.Error("mode plan does not hide edit")
	}
	if hidden, _ := g.Hidden("edit", "code"); hidden {
		t.Error("mode code hides edit")
	}
	open := gate(t, Options{Layers: []Layer{{Name: Project, Untrusted: true, Rules: parse(t, "deny edit *\nallow edit docs/**")}}})
	if hidden, _ := open.Hidden("edit", ""); !hidden {
		t.Error("the ignored allow of an untrusted layer keeps edit visible")
	}
}

// P12: a child never has a right that its parent lacks.
func TestP12_Narrow(t *testing.T) {
	parent := gate(t, Options{Layers: user(t, "deny edit src/**\nask edit docs/**")})
	child := parent.Narrow(gate(t, Options{Layers: user(t, "allow edit **\ndeny edit tmp/**\ndeny grep *")}))
	grandchild := child.Narrow(gate(t, Options{Layers: user(t, "allow * *")}))
	tests := []struct {
		path string
		want tool.Verdict
		by   string
	}{
		{"src/a", tool.Deny, "parent: rule user:1"},
		{"docs/a", tool.Ask, "parent: rule user:2"},
		{"tmp/a", tool.Deny, "rule user:2"},
		{"a", tool.Allow, "rule user:1"},
	}
	for _, tt := range tests {
		in := on("edit", tool.Write, resolve(tt.path, nil))
		if d := decide(t, child, Request{Intent: in}); d.Verdict != tt.want || d.By != tt.by {
			t.Errorf("child, %s: got %s by %s, want %s by %s", tt.path, d.Verdict, d.By, tt.want, tt.by)
		}
		if d := decide(t, grandchild, Request{Intent: in}); d.Verdict != tt.want {
			t.Errorf("grandchild, %s: got %s by %s, want %s", tt.path, d.Verdict, d.By, tt.want)
		}
	}
	if hidden, _ := grandchild.Hidden("grep", ""); !hidden {
		t.Error("a grandchild sees what its parent does not")
	}
	screen := grandchild.Screen(Request{Intent: &tool.Intent{Tool: "edit", Permission: "edit"}})
	if v := screen(tool.PathTo(resolve("src/a", nil), tool.Write)); v != tool.Deny {
		t.Errorf("screen: got %s", v)
	}
}

// P8: with nobody to answer an ask is a denial that says so; --approve answers asks and lifts no deny.
func TestP8_Settle(t *testing.T) {
	ask := tool.Decision{Verdict: tool.Ask, By: "posture guarded", Reason: "edit of \"x\" needs a person's approval: why"}
	deny := tool.Decision{Verdict: tool.Deny, By: "rule user:1", Reason: "no"}
	tests := []struct {
		d    tool.Decision
		a    Answer
		want tool.Decision
	}{
		{ask, Nobody, tool.Decision{Verdict: tool.Deny, By: "posture guarded", Reason: ask.Reason + ". Nobody is here to give it"}},
		{ask, Never, tool.Decision{Verdict: tool.Deny, By: "--approve never", Reason: ask.Reason + ". The session was started with --approve never"}},
		{ask, Always, tool.Decision{Verdict: tool.Allow, By: "--approve always", Reason: "asked by posture guarded"}},
		{deny, Always, deny},
		{tool.Decision{Verdict: tool.Allow, By: "x"}, Never, tool.Decision{Verdict: tool.Allow, By: "x"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Settle(tt.d, tt.a)); diff != "" {
			t.Errorf("Settle(%s, %d): -want +got\n%s", tt.d.Verdict, tt.a, diff)
		}
	}
}

// P13: the third identical refusal ends the turn.
func TestP13_Refusals(t *testing.T) {
	var r Refusals
	one := &tool.Intent{Tool: "edit", Args: []byte(`{"path":"a"}`)}
	two := &tool.Intent{Tool: "edit", Args: []byte(`{"path":"b"}`)}
	for i, want := range []bool{false, false, true, true} {
		if n, end := r.Refused(one); n != i+1 || end != want {
			t.Errorf("refusal %d: got %d, %v", i+1, n, end)
		}
	}
	if n, end := r.Refused(two); n != 1 || end {
		t.Errorf("another call: got %d, %v", n, end)
	}
	r.Passed(one)
	if n, end := r.Refused(one); n != 1 || end {
		t.Errorf("after it passed: got %d, %v", n, end)
	}
	if n, _ := r.Refused(two); n != 2 {
		t.Errorf("another call, after the first passed: got %d", n)
	}
}

func TestDecide_Errors(t *testing.T) {
	g := gate(t, Options{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Decide(ended, Request{Intent: &tool.Intent{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	if _, err := g.Decide(context.Background(), Request{}); err == nil {
		t.Error("no intent: no error")
	}
}

// POL-006, POL-007: a rule that cannot be understood leaves no gate, and every such rule is named with its position.
func TestNew_Errors(t *testing.T) {
	_, err := New(Options{Posture: "yolo", Layers: user(t, "deny edit src/[a\ndeny bash() x\nallow edit ../x\nallow edit src/**")})
	var re *RuleError
	if !errors.As(err, &re) || re.Number != 1 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`posture "yolo"`, "rules:1: rule 1", "not closed", "rules:2: rule 2", `'('`, "rules:3", `".." would leave`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if err := Check(Layer{Name: User, Rules: []Rule{{Permission: "edit", Pattern: "a", Action: 7}}}); err == nil {
		t.Error("an action out of range is accepted")
	}
}

// What lies below a folder that a call may read is shown, where only the posture asks; secrets, rules and everything beside
// it stay hidden.
func TestP6_BelowAnApprovedFolder(t *testing.T) {
	g := gate(t, Options{Layers: user(t, "ask grep /srv/lib/asked/**\ndeny grep /srv/lib/denied/**")})
	folder := tool.PathTo(resolve("/srv/lib", nil), tool.Read)
	in := &tool.Intent{Permission: "grep"}
	plain := g.Screen(Request{Intent: in})
	approved := g.Screen(Request{Intent: in, Approved: []tool.Target{folder}})
	links := map[string]string{"/srv/lib/out": "/srv/other"}
	for path, want := range map[string]tool.Verdict{
		"/srv/lib/a.go": tool.Allow, "/srv/lib/sub/b.go": tool.Allow, "/srv/lib/.env": tool.Ask, "/srv/lib/asked/x": tool.Ask, "/srv/lib/denied/x": tool.Deny,
		"/srv/library": tool.Ask, "/srv/other": tool.Ask, "/srv/lib/out/x": tool.Ask, state + "/x": tool.Ask,
	} {
		target := tool.PathTo(resolve(path, links), tool.Read)
		if got := approved(target); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if got := plain(target); got == tool.Allow {
			t.Errorf("%s is shown without an approval", path)
		}
	}
}
