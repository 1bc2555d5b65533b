package fit

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/schema"
)

var rule = Rule{Max: 64, First: Letter, Rest: Word}

// What fits stays; what does not becomes something that fits, the same each time, and different for different words.
func TestA2_RuleApplies(t *testing.T) {
	for s, want := range map[string]string{"read_file": "read_file", "a": "a", "x-1": "x-1"} {
		if got := rule.apply(s); got != want {
			t.Errorf("%q became %q", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		x, y := rule.apply(a), rule.apply(b)
		if !rule.fits(x) || x != rule.apply(a) || a != b && x == y {
			t.Fatalf("%q became %q, %q became %q", a, x, b, y)
		}
	})
	long := strings.Repeat("x", 100)
	if a, b := rule.apply(long), rule.apply(long+"y"); a == b || len(a) > 64 {
		t.Errorf("%q and %q", a, b)
	}
}

func TestA2_NamesGoThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tools []model.Tool
		for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 8, rapid.ID).Draw(t, "names") {
			tools = append(tools, model.Tool{Name: name})
		}
		n := NewNames(rule, tools)
		for _, x := range tools {
			if back := n.Own(n.Wire(x.Name)); back != x.Name {
				t.Fatalf("%q came back as %q", x.Name, back)
			}
		}
	})
	if got := NewNames(rule, nil).Own("unheard_of"); got != "unheard_of" {
		t.Errorf("a name that the model made up became %q", got)
	}
}

// Each call has an id of its own, and its result the same.
func TestA2_IDsPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := IDs{Rule: Rule{Max: 64, First: Word, Rest: Word}}
		if rapid.Bool().Draw(t, "any id goes") {
			x.Rule = Rule{}
		}
		seen := map[string]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a_2", "a_3", "b", "", "ö:1"}), 1, 5).Draw(t, "ids")
			var wires []string
			for _, id := range ids {
				w := x.Call(id)
				if seen[w] || x.Rule.Max > 0 && !x.Rule.fits(w) {
					t.Fatalf("%q became %q, which was given before or does not fit", id, w)
				}
				seen[w] = true
				wires = append(wires, w)
			}
			for i, id := range ids {
				if w := x.Result(id); w != wires[i] {
					t.Fatalf("the result of %q is of %q, want %q", id, w, wires[i])
				}
			}
		}
	})
	var x IDs
	x.Call("a")
	x.Result("a")
	if got := x.Result("a"); got != "a" {
		t.Errorf("a second result of one call is of %q", got)
	}
	if got := x.Result("never"); got != "never" {
		t.Errorf("a result without a call is of %q", got)
	}
}

func TestA2_SchemasAreRemembered(t *testing.T) {
	s := Schemas{Profile: schema.Anthropic}
	raw := json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}`)
	first := s.Fit(model.Tool{Name: "x", Schema: raw})
	if again := s.Fit(model.Tool{Name: "y", Schema: raw}); string(again.Schema) != string(first.Schema) || string(first.Schema) != string(raw) {
		t.Errorf("%s, then %s, of %s", first.Schema, again.Schema, raw)
	}
	for i := range 2*keep + 1 {
		s.Fit(model.Tool{Schema: json.RawMessage(`{"type":"object","maxProperties":` + json.Number(strings.Repeat("1", 1+i%9)).String() + `}`)})
	}
	if len(s.known) > keep {
		t.Errorf("%d schemas are kept", len(s.known))
	}
	for _, bad := range []string{`true`, `{"type":`, `[]`, `{"type":"object","properties":{"a b":{}}}`} {
		got := s.Fit(model.Tool{Name: "x", Description: "Does.", Schema: json.RawMessage(bad)})
		if !json.Valid(got.Schema) || !strings.HasPrefix(string(got.Schema), `{"type":"object"`) || !strings.HasPrefix(got.Description, "Does.") {
			t.Errorf("%s became %s %q", bad, got.Schema, got.Description)
		}
	}
}
