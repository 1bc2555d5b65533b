package pipe

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var letters = rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab1-_.,|=#@/\\\"'\n\r\t []{}nré"))), rapid.SampledFrom([]string{"true", "false", "null", "12", "1.5", "1-2", "@x", "/a/", ""}))

func genJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Custom(func(t *rapid.T) any { return letters.Draw(t, "s") }), rapid.Custom(func(t *rapid.T) any { return rapid.Int().Draw(t, "n") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "b") }), rapid.Just(any(nil)))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(genJSON(depth-1), 0, 3).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(letters, genJSON(depth-1), 0, 3).Draw(t, "object") }))
}

func genMatch(t *rapid.T) Match {
	if rapid.Bool().Draw(t, "regex") {
		m, bad := expression(letters.Draw(t, "source"), rapid.SampledFrom([]string{"", "g", "ig", "ms"}).Draw(t, "flags"))
		if bad == nil {
			return m
		}
	}
	s := letters.Filter(func(s string) bool { return s != "" }).Draw(t, "text")
	return Match{Text: s}
}

func genValue(t *rapid.T, p *Param) any {
	switch p.Type {
	case Number:
		lo, hi := int(p.Min), int(p.Max)
		return float64(rapid.IntRange(lo, hi).Draw(t, "number"))
	case Bool:
		return rapid.Bool().Draw(t, "bool")
	case Enum:
		return rapid.SampledFrom(p.Enum).Draw(t, "enum")
	case Numbers:
		return MakeInts(rapid.SliceOfN(rapid.IntRange(int(p.Min), 12), 1, 8).Draw(t, "numbers")...)
	case Texts:
		if p.Enum != nil {
			return rapid.SliceOfN(rapid.SampledFrom(p.Enum), 1, 3).Draw(t, "enums")
		}
		return rapid.SliceOfN(letters, 1, 3).Draw(t, "texts")
	case Matches:
		return rapid.SliceOfN(rapid.Custom(genMatch), 1, 3).Draw(t, "matches")
	case Name:
		if rapid.Bool().Draw(t, "by index") {
			return NameOrIndex{Index: rapid.IntRange(1, 3000).Draw(t, "index")}
		}
		return NameOrIndex{Name: letters.Filter(func(s string) bool { return s != "" }).Draw(t, "name")}
	case Media:
		return MediaID(letters.Filter(func(s string) bool { return s != "" && s[0] != '@' }).Draw(t, "id"))
	case MediaList:
		return []MediaID{MediaID(letters.Filter(func(s string) bool { return s != "" && s[0] != '@' }).Draw(t, "id"))}
	case JSON, Any:
		raw, err := json.Marshal(genJSON(2).Draw(t, "json"))
		if err != nil {
			t.Fatal(err)
		}
		return json.RawMessage(raw)
	}
	return letters.Draw(t, "text")
}

func genPlan(t *rapid.T) Plan {
	l := Standard()
	var p Plan
	for n := rapid.IntRange(1, 3).Draw(t, "steps"); n > 0; n-- {
		v := rapid.SampledFrom(l.Verbs()).Filter(func(v Verb) bool { return n == 1 || v.Out != Many && v.Out != Data }).Draw(t, "verb")
		s := Step{Verb: v.ID, Args: map[string]any{}}
		for i := range v.Params {
			pr := &v.Params[i]
			if pr.Required || rapid.Bool().Draw(t, "give") || len(v.OneOf) > 0 && v.OneOf[0] == pr.Name {
				s.Args[pr.Name] = genValue(t, pr)
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// Printing is the inverse of parsing, for both fronts, and has one form.
func TestM1_RoundTrip(t *testing.T) {
	l := Standard()
	rapid.Check(t, func(t *rapid.T) {
		p := genPlan(t)
		s, err := l.Print(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := l.Parse(s, nil)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if !p.Equal(q) {
			t.Fatalf("%s: %s", s, cmp.Diff(p.Steps, q.Steps))
		}
		if again, err := l.Print(q); err != nil || again != s {
			t.Fatalf("prints as %s, then as %s (%v)", s, again, err)
		}
		ops, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if q, err = l.Ops(ops, nil); err != nil || !p.Equal(q) {
			t.Fatalf("%s: %v %s", ops, err, cmp.Diff(p.Steps, q.Steps))
		}
	})
}

// What parses prints, and what is printed parses to the same; what does not parse says where.
func FuzzParse(f *testing.F) {
	l := Standard()
	for i := range l.Verbs() {
		f.Add(l.Example(&l.Verbs()[i]))
	}
	for _, s := range []string{`redact match=/[/]\/x/gi,"a" | convert to=pdf # end`, "select\npages=1-3,\t7", `data set path="a[0]" value=-5`, `append text=@"x" newline=`, `a b c d`, `x=1-`, `"`, `/`, `@`, `'\'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := l.Parse(src, nil)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Message == "" || e.Pos.Line == 0 || e.Pos.Offset > len(src) {
				t.Fatalf("%q: %#v", src, err)
			}
			if e.Use != "" {
				if _, err := l.Parse(e.Use, nil); err != nil {
					t.Fatalf("%q: the line to copy, %q: %v", src, e.Use, err)
				}
			}
			return
		}
		s, err := l.Print(p)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		q, err := l.Parse(s, nil)
		if err != nil || !p.Equal(q) {
			t.Fatalf("%q prints as %q: %v", src, s, err)
		}
	})
}
