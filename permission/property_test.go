package permission

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/tool"
)

var (
	drawName = rapid.SampledFrom([]string{"a", "b", "A", "sub", "x.go", "y.tar.gz", ".env", "k.pem", ".git", "é", "E\u0301", "ａ", "a.", "*"})
	drawPart = rapid.SampledFrom([]string{"a", "b", "A", "sub", "*", "**", "**", "*.go", "*.gz", "x.*", "?", "[ab]", "[!a]", "{a,b}", "{a/b,sub}", ".env", "*.pem", "x.go", "É", `\*`})
	drawPath = rapid.Custom(func(t *rapid.T) string {
		p := strings.Join(rapid.SliceOfN(drawName, 1, 4).Draw(t, "names"), "/")
		return rapid.SampledFrom([]string{"", "", "", "/", home + "/", state + "/"}).Draw(t, "where") + p
	})
	drawPattern = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 7).Draw(t, "any") == 0 {
			return Any
		}
		p := strings.Join(rapid.SliceOfN(drawPart, 1, 4).Draw(t, "parts"), "/")
		return rapid.SampledFrom([]string{"", "", "", "", "/", "~/", root + "/"}).Draw(t, "where") + p + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "end")
	})
	drawRule = rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			Permission: rapid.SampledFrom([]string{"edit", "edit", "write_file", "*", "e*", "read_file"}).Draw(t, "permission"),
			Pattern:    drawPattern.Draw(t, "pattern"),
			Action:     tool.Verdict(rapid.IntRange(0, 2).Draw(t, "action")),
		}
	})
	drawLayers = rapid.Custom(func(t *rapid.T) []Layer {
		var out []Layer
		for i := range rapid.IntRange(1, 3).Draw(t, "layers") {
			out = append(out, Layer{Name: string(rune('A' + i)), Rules: rapid.SliceOfN(drawRule, 0, 12).Draw(t, "rules"),
				Untrusted: rapid.IntRange(0, 3).Draw(t, "trust") == 0,
				Base:      rapid.SampledFrom([]string{"", "", root, "/w", root + "/sub"}).Draw(t, "base")})
		}
		return out
	})
	drawIntent = rapid.Custom(func(t *rapid.T) *tool.Intent {
		links := map[string]string{}
		if rapid.Bool().Draw(t, "linked") {
			links[root+"/sub"] = rapid.SampledFrom([]string{root + "/a", "/srv", root + "/.git"}).Draw(t, "link")
		}
		in := on(rapid.SampledFrom([]string{"edit", "read_file"}).Draw(t, "tool"), tool.Write)
		in.Effects = nil
		for range rapid.IntRange(1, 3).Draw(t, "targets") {
			e := rapid.SampledFrom([]tool.Effect{tool.Read, tool.Write}).Draw(t, "effect")
			in.Targets = append(in.Targets, tool.PathTo(resolve(drawPath.Draw(t, "path"), links), e))
		}
		return in
	})
)

func propGate(t *rapid.T, o Options) *Gate {
	o.Facts, o.Tools, o.Now = facts(), tools(), func() time.Time { return time.Time{} }
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func verdict(t *rapid.T, g *Gate, in *tool.Intent) tool.Verdict {
	d, err := g.Decide(context.Background(), Request{Intent: in})
	if err != nil {
		t.Fatal(err)
	}
	return d.Verdict
}

// P1: adding a deny rule anywhere never makes anything more allowed than it was.
func TestP1_DenyOnlyTightens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers, in := drawLayers.Draw(t, "layers"), drawIntent.Draw(t, "intent")
		before := verdict(t, propGate(t, Options{Layers: layers}), in)
		deny := drawRule.Draw(t, "deny")
		deny.Action = tool.Deny
		k := rapid.IntRange(0, len(layers)-1).Draw(t, "layer")
		at := rapid.IntRange(0, len(layers[k].Rules)).Draw(t, "at")
		layers[k].Rules = slices.Insert(slices.Clone(layers[k].Rules), at, deny)
		if after := verdict(t, propGate(t, Options{Layers: layers}), in); after < before {
			t.Fatalf("%s became %s", before, after)
		}
	})
}

// P1: the order of layers means nothing.
func TestP1_LayerOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers, in := drawLayers.Draw(t, "layers"), drawIntent.Draw(t, "intent")
		one := verdict(t, propGate(t, Options{Layers: layers}), in)
		if other := verdict(t, propGate(t, Options{Layers: rapid.Permutation(layers).Draw(t, "order")}), in); one != other {
			t.Fatalf("%s in one order, %s in another", one, other)
		}
	})
}

// P1: a call gets the strictest verdict of its targets, so a further target never loosens.
func TestP1_TargetsOnlyTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, in := propGate(t, Options{Layers: drawLayers.Draw(t, "layers")}), drawIntent.Draw(t, "intent")
		worst := tool.Allow
		for i := range in.Targets {
			one := *in
			one.Targets = in.Targets[i : i+1]
			worst = max(worst, verdict(t, g, &one))
		}
		if got := verdict(t, g, in); got != worst {
			t.Fatalf("together %s, one by one at worst %s", got, worst)
		}
	})
}

// P12: a child's verdict is the strictest of both gates.
func TestP12_Ceiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := propGate(t, Options{Posture: rapid.SampledFrom(Postures()).Draw(t, "posture"), Layers: drawLayers.Draw(t, "parent")})
		child := propGate(t, Options{Layers: drawLayers.Draw(t, "child")})
		in := drawIntent.Draw(t, "intent")
		if got, want := verdict(t, parent.Narrow(child), in), max(verdict(t, parent, in), verdict(t, child, in)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

// P12: whatever a child is granted, and whatever is granted for its session, it has no right that its parent lacks; and what a
// search may show is what a call may read, also of a child.
func TestP12_GrantsAndScreens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := propGate(t, Options{Posture: rapid.SampledFrom(Postures()).Draw(t, "posture"), Layers: drawLayers.Draw(t, "parent")})
		child := propGate(t, Options{Layers: drawLayers.Draw(t, "child")})
		in := drawIntent.Draw(t, "intent")
		for range rapid.IntRange(0, 3).Draw(t, "grants") {
			gr := Grant{Permission: in.Permission, Scope: ThisProject, Person: rapid.SampledFrom([]string{"", "ann"}).Draw(t, "person")}
			if rapid.Bool().Draw(t, "exact") {
				gr.Target = rapid.SampledFrom(in.Targets).Draw(t, "target").Value
			} else if gr.Pattern = drawPattern.Draw(t, "pattern"); gr.Pattern == Any {
				continue
			}
			if err := child.Grant(context.Background(), gr); err != nil {
				continue
			}
		}
		narrow := parent.Narrow(child)
		if got, ceiling := verdict(t, narrow, in), verdict(t, parent, in); got < ceiling {
			t.Fatalf("the child gets %s, the parent %s", got, ceiling)
		}
		screen := narrow.Screen(Request{Intent: &tool.Intent{Tool: in.Tool, Permission: in.Permission}})
		for _, target := range in.Targets {
			one := *in
			one.Targets = []tool.Target{target}
			if got, want := screen(target), verdict(t, narrow, &one); got != want {
				t.Fatalf("%s %s: shown as %s, decided as %s", target.Effect, target.Value, got, want)
			}
		}
	})
}

// The index finds the rule that trying every rule finds.
func TestIndexEqualsScan(t *testing.T) {
	g := propGate(nil, Options{})
	rapid.Check(t, func(t *rapid.T) {
		c, err := g.Compile(Layer{Name: "A", Rules: rapid.SliceOfN(drawRule, 0, 40).Draw(t, "rules")})
		if err != nil {
			t.Fatal(err)
		}
		in := drawIntent.Draw(t, "intent")
		v := c.view(in.Permission)
		for _, s := range g.judge.subjects(in) {
			for i := range s.n {
				var want *rule
				for _, r := range v.live {
					if r.path.match(&s.forms[i]) {
						want = r
					}
				}
				if got := v.last(&s.forms[i]); got != want {
					t.Fatalf("%q: index %v, scan %v", s.forms[i].native, got, want)
				}
			}
		}
	})
}

// P4: an explanation explains the decision that is made.
func TestP4_WhyEqualsDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := propGate(t, Options{Layers: drawLayers.Draw(t, "child")})
		if rapid.Bool().Draw(t, "narrowed") {
			g = propGate(t, Options{Layers: drawLayers.Draw(t, "parent")}).Narrow(g)
		}
		in := drawIntent.Draw(t, "intent")
		d, err := g.Decide(context.Background(), Request{Intent: in})
		if err != nil {
			t.Fatal(err)
		}
		e := g.Why(tool.Definition{Name: in.Tool}, Request{Intent: in})
		if e.Decision.Verdict != d.Verdict || e.Decision.By != d.By || e.Decision.Reason != d.Reason {
			t.Fatalf("decided %+v, explained %+v", d, *e.Decision)
		}
		for _, target := range e.Targets {
			for _, l := range target.Layers {
				if n := countDecides(l); l.Opinion != "" && n != 1 || l.Opinion == "" && n != 0 {
					t.Fatalf("layer %s says %q by %d rules", l.Name, l.Opinion, n)
				}
			}
		}
		if e.Text() == "" {
			t.Fatal("no text")
		}
	})
}

func countDecides(l LayerView) int {
	n := 0
	for _, r := range l.Rules {
		if r.Decides {
			n++
		}
	}
	return n
}

// FuzzPattern reads any pattern and matches it with any path: no panic, a deny matches whatever an allow matches, and
// the index agrees with the pattern.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"src/**", "src/a"}, {"**/*.go", "a/b.go"}, {"~/x", "/home/u/x"}, {"{a,b}/c", "b/c"}, {".env", ".ENV"}, {"a/", "a/b"}, {"/é", "/E\u0301"}, {"[a", "["}} {
		f.Add(s[0], s[1], false)
		f.Add(s[0], s[1], true)
	}
	j := newJudge(facts())
	f.Fuzz(func(t *testing.T, pattern, path string, based bool) {
		at := place{home: home}
		if based {
			at.base = "/w"
		}
		permit, err := compilePath(pattern, false, at, j.secret)
		if err != nil {
			return
		}
		restrict, err := compilePath(pattern, true, at, j.secret)
		if err != nil {
			t.Fatalf("%q is a pattern for an allow and not for a deny: %v", pattern, err)
		}
		s := j.subject(tool.PathTo(resolve(path, nil), tool.Write))
		for i := range s.n {
			fm := &s.forms[i]
			if permit.match(fm) && !restrict.match(fm) {
				t.Errorf("%q allows %q and does not deny it", pattern, path)
			}
			for _, p := range []*pathPattern{&permit, &restrict} {
				if p.any || !fm.inside && !p.absolute {
					continue
				}
				var x pathIndex
				x.add(p, 0)
				key := fm.fabs
				if !p.absolute {
					key = fm.frel
				}
				if found := x.last(key, -1, func(int32) bool { return p.match(fm) }) == 0; found != p.match(fm) {
					t.Errorf("%q on %q: index %v, pattern %v", pattern, path, found, p.match(fm))
				}
			}
		}
	})
}

// manyRules makes n rules of the kinds that people write, of one permission.
func manyRules(n int) []Rule {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		return string([]rune{rune('a' + r.IntN(26)), rune('a' + r.IntN(26)), rune('a' + r.IntN(26))})
	}
	var out []Rule
	for i := range n {
		p := word()
		switch i % 6 {
		case 0:
			p = word() + "/" + word() + "/**"
		case 1:
			p = "**/" + word() + ".go"
		case 2:
			p = word() + "/*." + word()
		case 3:
			p = word() + "/" + word() + "/" + word() + ".txt"
		case 4:
			p = "/srv/" + word() + "/**"
		case 5:
			p = "~/" + word() + "/*"
		}
		out = append(out, Rule{Permission: "edit", Pattern: p, Action: tool.Verdict(r.IntN(3))})
	}
	return out
}

func benchDecide(b *testing.B, rules, targets int) {
	g := gate(b, Options{Layers: []Layer{{Name: User, Rules: manyRules(rules)}}})
	in := on("edit", tool.Write)
	for i := range targets {
		in.Targets = append(in.Targets, tool.PathTo(resolve("pkg/server/internal/file"+string(rune('a'+i))+".go", nil), tool.Write))
	}
	req := Request{Intent: in, Session: "s", Mode: "code"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Decide(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecide_1000rules_1target(b *testing.B)    { benchDecide(b, 1000, 1) }
func BenchmarkDecide_1000rules_10targets(b *testing.B)  { benchDecide(b, 1000, 10) }
func BenchmarkDecide_10000rules_1target(b *testing.B)   { benchDecide(b, 10000, 1) }
func BenchmarkDecide_10000rules_10targets(b *testing.B) { benchDecide(b, 10000, 10) }

// A search asks once for every file that it looks at.
func BenchmarkScreen(b *testing.B) {
	g := gate(b, Options{Layers: user(b, "deny * .env\nask edit **\nallow edit src/**")})
	screen := g.Screen(Request{Intent: &tool.Intent{Tool: "grep", Permission: "grep"}})
	target := tool.PathTo(resolve("pkg/server/internal/file.go", nil), tool.Read)
	b.ReportAllocs()
	for b.Loop() {
		if screen(target) != tool.Allow {
			b.Fatal("not allowed")
		}
	}
}
