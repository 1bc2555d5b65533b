package schema_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/schema"
)

type point struct {
	X int `json:"x" jsonschema:"Column"`
	Y int `json:"y,omitempty"`
}

type embedded struct {
	Workdir string `json:"workdir,omitempty" jsonschema:"Where to run"`
}

type node struct {
	Next *node `json:"next,omitempty"`
}

type unmarshals struct{}

func (*unmarshals) UnmarshalJSON([]byte) error { return nil }

// T1: the schema is made from a Go struct, in the portable form of field/mcp.md section 5.
func TestT1_For(t *testing.T) {
	for _, row := range []struct {
		name string
		in   any
		want string // inside properties; the frame is the same for all
		req  string
	}{
		{"scalars", struct {
			S string  `json:"s"`
			B bool    `json:"b"`
			I int     `json:"i"`
			F float64 `json:"f"`
		}{}, `"s":{"type":"string"},"b":{"type":"boolean"},"i":{"type":"integer"},"f":{"type":"number"}`, `"s","b","i","f"`},
		{"optional", struct {
			P *int   `json:"p"`
			E string `json:"e,omitempty"`
			Z string `json:"z,omitzero"`
		}{}, `"p":{"type":"integer"},"e":{"type":"string"},"z":{"type":"string"}`, ""},
		{"small integers say their range", struct {
			U uint  `json:"u,omitempty"`
			B uint8 `json:"b,omitempty"`
			I int16 `json:"i,omitempty"`
		}{}, `"u":{"type":"integer","description":"at least 0","minimum":0},"b":{"type":"integer","description":"0–255","minimum":0,"maximum":255},` +
			`"i":{"type":"integer","description":"-32768–32767","minimum":-32768,"maximum":32767}`, ""},
		{"descriptions repeat constraints", struct {
			Limit int    `json:"limit,omitempty" jsonschema:"Lines to read." schema:"min=1,max=10,default=5"`
			Mode  string `json:"mode,omitempty" jsonschema:"What to show" schema:"enum=content|count"`
			Said  int    `json:"said,omitempty" jsonschema:"Between 1 and 10; the default is 5" schema:"min=1,max=10,default=5"`
			Name  string `json:"name,omitempty" schema:"min=1,max=9,pattern='^a{1,2}$',example=aa"`
		}{}, `"limit":{"type":"integer","description":"Lines to read (1–10, default 5).","default":5,"minimum":1,"maximum":10},` +
			`"mode":{"type":"string","description":"What to show (one of content, count)","enum":["content","count"]},` +
			`"said":{"type":"integer","description":"Between 1 and 10; the default is 5","default":5,"minimum":1,"maximum":10},` +
			`"name":{"type":"string","description":"1–9 characters, matches ^a{1,2}$, e.g. aa","examples":["aa"],"pattern":"^a{1,2}$","minLength":1,"maxLength":9}`, ""},
		{"arrays, maps, structs", struct {
			L []string          `json:"l" schema:"min=1,enum=a|b"`
			P []point           `json:"p"`
			A [2]float64        `json:"a"`
			M map[string]point  `json:"m"`
			N map[string]string `json:"n"`
		}{}, `"l":{"type":"array","description":"at least 1 item","minItems":1,"items":{"type":"string","description":"one of a, b","enum":["a","b"]}},` +
			`"p":{"type":"array","items":` + pointJSON + `},` +
			`"a":{"type":"array","description":"exactly 2 items","minItems":2,"maxItems":2,"items":{"type":"number"}},` +
			`"m":{"type":"object","additionalProperties":` + pointJSON + `},"n":{"type":"object","additionalProperties":{"type":"string"}}`, `"l","p","a","m","n"`},
		{"special types", struct {
			T time.Time       `json:"t"`
			B []byte          `json:"b" jsonschema:"Data"`
			N json.Number     `json:"n"`
			A netip.Addr      `json:"a"`
			R json.RawMessage `json:"r" jsonschema:"Anything" schema:"any"`
			M map[string]any  `json:"m" jsonschema:"Free" schema:"any"`
		}{}, `"t":{"type":"string","description":"RFC 3339 time","format":"date-time"},"b":{"type":"string","description":"Data (base64)"},` +
			`"n":{"type":"number"},"a":{"type":"string"},"r":{"description":"Anything"},` +
			`"m":{"type":"object","description":"Free","additionalProperties":true}`, `"t","b","n","a","r","m"`},
		{"embedded, hidden, unnamed", struct {
			embedded
			Skip   string `json:"-"`
			hidden string
			Plain  bool
		}{}, `"workdir":{"type":"string","description":"Where to run"},"Plain":{"type":"boolean"}`, `"Plain"`},
		{"elements look like their struct", struct {
			P []schema.Element[point] `json:"p"`
		}{}, `"p":{"type":"array","items":` + pointJSON + `}`, `"p"`},
		{"nothing", struct{}{}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := schema.ForType(reflect.TypeOf(row.in))
			if err != nil {
				t.Fatal(err)
			}
			got, err := schema.Convert(schema.MCP, s)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"type":"object","properties":{` + row.want + `},`
			if row.req != "" {
				want += `"required":[` + row.req + `],`
			}
			want += `"additionalProperties":false}`
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
			var back any // the library's own marshaller agrees but for booleans and order
			b, err := json.Marshal(s)
			if err != nil || json.Unmarshal(b, &back) != nil {
				t.Errorf("marshal: %v %s", err, b)
			}
			if _, err := schema.Compile(s); err != nil {
				t.Error(err)
			}
		})
	}
}

const pointJSON = `{"type":"object","properties":{"x":{"type":"integer","description":"Column"},"y":{"type":"integer"}},"required":["x"],"additionalProperties":false}`

// Contradictions are found at construction, and the error names the field.
func TestForRefuses(t *testing.T) {
	for _, row := range []struct {
		name string
		in   any
		want string
	}{
		{"not a struct", 5, "want a struct"},
		{"text", time.Time{}, "want a struct"},
		{"recursive", node{}, "next: recursive type"},
		{"any", struct{ A any }{}, `A: interface {} has no type`},
		{"raw", struct{ A json.RawMessage }{}, `A: json.RawMessage has no type`},
		{"list of any", struct{ A []any }{}, `A[]: interface {} has no type`},
		{"map of any", struct{ A map[string]any }{}, `A{}: interface {} has no type`},
		{"any without description", struct {
			A any `schema:"any"`
		}{}, "needs a description"},
		{"any on a string", struct {
			A string `jsonschema:"x" schema:"any"`
		}{}, "the option any is for"},
		{"duration", struct{ D time.Duration }{}, "no unit"},
		{"function", struct{ F func() }{}, "no JSON form"},
		{"own JSON", struct{ U unmarshals }{}, "reads its own JSON"},
		{"json string option", struct {
			I int `json:",string"`
		}{}, "hides the type"},
		{"bad name", struct {
			A int `json:"a b"`
		}{}, "property names match"},
		{"two of a name", struct {
			embedded
			W string `json:"workdir"`
		}{}, "two fields"},
		{"embedded pointer", struct{ *embedded }{}, "cannot be flattened"},
		{"integer keys", struct{ M map[int]string }{}, "keys of a string type"},
		{"element of string", struct{ E []schema.Element[string] }{}, "Element is for structs"},
		{"label in description", struct {
			A int `jsonschema:"description=x"`
		}{}, "plain words"},
		{"unknown key", struct {
			A int `schema:"minimum=1"`
		}{}, "unknown key"},
		{"twice", struct {
			A int `schema:"min=1,min=2"`
		}{}, "stands twice"},
		{"empty key", struct {
			A int `schema:"min=1,"`
			B int `schema:"=1"`
		}{}, "an empty key"},
		{"open quote", struct {
			A string `schema:"pattern='x"`
		}{}, "not closed"},
		{"text after quote", struct {
			A string `schema:"pattern='x'y"`
		}{}, "after a closing quote"},
		{"value for any", struct {
			A any `jsonschema:"x" schema:"any=1"`
		}{}, "want no value"},
		{"no value", struct {
			A int `schema:"min"`
		}{}, "want min=value"},
		{"min above max", struct {
			A int `schema:"min=2,max=1"`
		}{}, "min is above max"},
		{"min of a boolean", struct {
			A bool `schema:"min=2"`
		}{}, "not for a boolean"},
		{"not a number", struct {
			A int `schema:"min=x"`
		}{}, "not a number"},
		{"not a count", struct {
			A string `schema:"min=1.5"`
		}{}, "not a count"},
		{"pattern of a number", struct {
			A int `schema:"pattern=x"`
		}{}, "only for strings"},
		{"bad pattern", struct {
			A string `schema:"pattern=("`
		}{}, "missing closing"},
		{"enum of booleans", struct {
			A bool `schema:"enum=true|false"`
		}{}, "not for a boolean"},
		{"enum not JSON", struct {
			A int `schema:"enum=a|b"`
		}{}, "not JSON"},
		{"default of a required field", struct {
			A int `schema:"default=1"`
		}{}, "add omitempty"},
		{"default outside the range", struct {
			A int `json:",omitempty" schema:"default=5,max=1"`
		}{}, "default 5"},
		{"example outside the enum", struct {
			A string `json:",omitempty" schema:"enum=a|b,example=c"`
		}{}, "example"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := schema.ForType(reflect.TypeOf(row.in))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want an error with %q", err, row.want)
			}
		})
	}
	if _, err := schema.ForType(nil); err == nil {
		t.Error("nil has no schema")
	}
}

// A field whose elements carry their own faults: the call passes, the tool checks each element.
func TestF4_Element(t *testing.T) {
	type args struct {
		Edits []schema.Element[point] `json:"edits"`
	}
	c := compileFor[args](t)
	each := compileFor[point](t)
	p, err := c.Prepare([]byte(`{"edits":[{"x":"1"},{"y":2},5]}`))
	if err != nil || len(p.Problems) > 0 || len(p.Repairs) > 0 {
		t.Fatalf("%v %v", err, p)
	}
	var in args
	if err := json.Unmarshal(p.Args, &in); err != nil || len(in.Edits) != 3 {
		t.Fatal(err, in)
	}
	var got []string
	for _, e := range in.Edits {
		p, err := each.Prepare(e.Raw)
		if err != nil {
			t.Fatal(err)
		}
		word := string(p.Args)
		for _, pr := range p.Problems {
			word = string(pr.Kind) + " " + pr.Path
		}
		got = append(got, word)
	}
	if diff := cmp.Diff([]string{`{"x":1}`, "missing x", "wrong "}, got); diff != "" {
		t.Error(diff)
	}
	// The list itself is still repaired and checked.
	for raw, want := range map[string]string{
		`{"edits":"[{\"x\":1}]"}`: `{"edits":[{"x":1}]}`,
		`{"edits":{"y":1}}`:       `{"edits":[{"y":1}]}`,
		`{"edits":5}`:             "",
	} {
		p, err := c.Prepare([]byte(raw))
		if err != nil || (len(p.Problems) > 0) != (want == "") || want != "" && string(p.Args) != want {
			t.Errorf("%s: got %s %v %v, want %s", raw, p.Args, p.Problems, err, want)
		}
	}
	if b, err := json.Marshal(args{Edits: []schema.Element[point]{{Raw: json.RawMessage(`{"x":1}`)}, {}}}); err != nil || string(b) != `{"edits":[{"x":1},null]}` {
		t.Errorf("%s %v", b, err)
	}
}

func compileFor[T any](t testing.TB) *schema.Checker {
	t.Helper()
	s, err := schema.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	c, err := schema.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
