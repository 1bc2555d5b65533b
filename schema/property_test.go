package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/schema"
)

// names mixes canonical names, aliases and strangers, so that repairs of names are met.
var names = []string{"path", "file_path", "filePath", "old_string", "oldString", "timeout", "timeout_ms", "replace_all", "a", "b", "weird name", "é"}

// drawSchema makes a random schema in the form that jsonschema-go can decide too.
func drawSchema(t *rapid.T, depth int) *jsonschema.Schema {
	kinds := []string{"string", "integer", "number", "boolean", "null", "any", "enum", "types"}
	if depth > 0 {
		kinds = append(kinds, "array", "object", "map", "orNull", "anyOf", "oneOf")
	}
	s := &jsonschema.Schema{}
	switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
	case "any":
	case "string":
		s.Type = k
		if rapid.Bool().Draw(t, "bounded") {
			s.MinLength, s.MaxLength = new(rapid.IntRange(0, 2).Draw(t, "min")), new(rapid.IntRange(2, 5).Draw(t, "max"))
		}
		if rapid.IntRange(0, 3).Draw(t, "pattern") == 0 {
			s.Pattern = "^[a-z0-9]*$"
		}
	case "integer", "number":
		s.Type = k
		if rapid.Bool().Draw(t, "bounded") {
			s.Minimum, s.ExclusiveMaximum = new(float64(rapid.IntRange(-3, 3).Draw(t, "min"))), new(float64(rapid.IntRange(3, 9).Draw(t, "max")))
		}
		if rapid.IntRange(0, 5).Draw(t, "step") == 0 {
			s.MultipleOf = new(2.0)
		}
	case "enum":
		s.Enum = rapid.SampledFrom([][]any{{"a", "b"}, {1.0, 2.0}, {"a", 1.0, nil, true}, {[]any{"a"}}}).Draw(t, "values")
	case "types":
		s.Types = rapid.SampledFrom([][]string{{"string", "null"}, {"integer", "boolean"}, {"array", "null"}, {"number", "string"}}).Draw(t, "types")
	case "array":
		s.Type, s.Items = k, drawSchema(t, depth-1)
		if rapid.Bool().Draw(t, "bounded") {
			s.MinItems, s.MaxItems = new(rapid.IntRange(0, 1).Draw(t, "min")), new(rapid.IntRange(1, 3).Draw(t, "max"))
		}
		s.UniqueItems = rapid.IntRange(0, 5).Draw(t, "unique") == 0
	case "object":
		s = drawObject(t, depth)
	case "map":
		s.Type, s.AdditionalProperties = "object", drawSchema(t, depth-1)
	case "orNull":
		s.AnyOf = []*jsonschema.Schema{drawSchema(t, depth-1), {Type: "null"}}
	case "anyOf":
		s.AnyOf = []*jsonschema.Schema{drawSchema(t, depth-1), drawSchema(t, depth-1)}
	case "oneOf":
		s.OneOf = []*jsonschema.Schema{drawSchema(t, depth-1), drawSchema(t, depth-1)}
	default:
		s.Type = k
	}
	return s
}

func drawObject(t *rapid.T, depth int) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "names") {
		s.Properties[name] = drawSchema(t, depth-1)
		if name == "timeout" {
			s.Properties[name].Description = "in seconds"
		}
		if rapid.Bool().Draw(t, "required") {
			s.Required = append(s.Required, name)
		}
	}
	if rapid.Bool().Draw(t, "closed") {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	return s
}

// drawJSON makes the text of a value, which often fits s, and sometimes would if it were no string or no array.
func drawJSON(t *rapid.T, s *jsonschema.Schema, depth int) string {
	text := drawValue(t, s, depth)
	if rapid.IntRange(0, 5).Draw(t, "as text") == 0 {
		return string(mustMarshal(t, text))
	}
	return text
}

func drawValue(t *rapid.T, s *jsonschema.Schema, depth int) string {
	if s == nil || rapid.IntRange(0, 7).Draw(t, "stray") == 0 {
		s = &jsonschema.Schema{Type: rapid.SampledFrom([]string{"string", "integer", "number", "boolean", "null", "array", "object"}).Draw(t, "type")}
	}
	if s.Enum != nil {
		b, err := json.Marshal(rapid.SampledFrom(s.Enum).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if branches := slices.Concat(s.AnyOf, s.OneOf); len(branches) > 0 {
		return drawJSON(t, rapid.SampledFrom(branches).Draw(t, "branch"), depth)
	}
	typ := s.Type
	if len(s.Types) > 0 {
		typ = rapid.SampledFrom(s.Types).Draw(t, "type")
	}
	switch typ {
	case "string":
		return rapid.SampledFrom([]string{`"a"`, `""`, `"b\u0063"`, `"5"`, `"true"`, `"[1]"`, `"{\"a\":\"1\"}"`, `"[\"a\"]"`, `"é"`, `"5.0"`, `"null"`, `"abcdef"`}).Draw(t, "string")
	case "integer":
		return rapid.SampledFrom([]string{"0", "1", "-2", "4", "5", "7", "2.0", "3e0", "1000"}).Draw(t, "integer")
	case "number":
		return rapid.SampledFrom([]string{"0", "1.5", "-2.25", "4", "1e1", "7.50"}).Draw(t, "number")
	case "boolean":
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")
	case "array":
		out := "["
		for i := range rapid.IntRange(0, 3).Draw(t, "items") {
			if i > 0 {
				out += " ,"
			}
			out += drawJSON(t, s.Items, depth-1)
		}
		return out + "]"
	case "object":
		return drawMembers(t, s, depth)
	}
	return "null"
}

func drawMembers(t *rapid.T, s *jsonschema.Schema, depth int) string {
	out, first := "{ ", true
	add := func(name string, p *jsonschema.Schema) {
		if !first {
			out += ", "
		}
		first = false
		out += strconv.Quote(name) + ": " + drawJSON(t, p, depth-1)
	}
	used := map[string]bool{}
	for _, name := range names {
		if p := s.Properties[name]; p != nil && (slices.Contains(s.Required, name) || rapid.Bool().Draw(t, "given")) && rapid.IntRange(0, 9).Draw(t, "skip") > 0 {
			used[name] = true
			add(name, p)
		}
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID).Draw(t, "more") {
		if !used[name] && (depth > 0 || rapid.Bool().Draw(t, "deep")) {
			add(name, s.AdditionalProperties)
		}
	}
	return out + "}"
}

// respelled is the one repair that a valid argument may get: 5.0 is written 5.
func respelled(repairs []schema.Repair) bool {
	return len(repairs) > 0 && !slices.ContainsFunc(repairs, func(r schema.Repair) bool { return r.What != "whole number" })
}

// T6, against jsonschema-go as the oracle: repair never changes a valid argument, what passes is valid, and what was
// repaired passes untouched the second time.
func TestT6_RepairKeepsValidArguments(t *testing.T) {
	valid, repaired := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawObject(t, 3)
		oracle, err := s.CloneSchemas().Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		raw := drawMembers(t, s, 3)
		var in any
		if err := json.Unmarshal([]byte(raw), &in); err != nil {
			t.Fatal(err, raw)
		}
		p, err := c.Prepare([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		var out any
		if err := json.Unmarshal(p.Args, &out); err != nil {
			t.Fatalf("%s became %s: %v", raw, p.Args, err)
		}
		if oracle.Validate(in) == nil {
			valid++
			same := string(p.Args) == raw && len(p.Repairs) == 0 || respelled(p.Repairs) && jsonschema.Equal(in, out)
			if !same || len(p.Problems) > 0 {
				t.Fatalf("valid %s became %s: %v %+v", raw, p.Args, p.Repairs, p.Problems)
			}
		}
		if len(p.Problems) > 0 {
			return
		}
		if err := oracle.Validate(out); err != nil {
			t.Fatalf("%s passed as %s: %v", raw, p.Args, err)
		}
		if len(p.Repairs) > 0 {
			repaired++
		}
		again, err := c.Prepare(p.Args)
		if err != nil || len(again.Repairs)+len(again.Problems) > 0 || !bytes.Equal(again.Args, p.Args) {
			t.Fatalf("%s is not stable: %s %v %v", p.Args, again.Args, again.Repairs, err)
		}
	})
	if valid == 0 || repaired == 0 {
		t.Errorf("the generator made %d valid and %d repaired arguments", valid, repaired)
	}
}

// T6: whatever harmless damage a valid call suffers, the call comes back.
func TestT6_RepairRestores(t *testing.T) {
	c := compileFor[call](t)
	values := map[string][]string{
		"path": {`"a.go"`, `"5"`, `"[x]"`}, "content": {`""`, `"{\"a\":1}"`}, "replace_all": {"true", "false"}, "limit": {"5", "-3", "0"},
		"timeout": {"5", "600"}, "rate": {"1.5", "2e-3"}, "tags": {`["a","b"]`, `["x"]`, "[]"}, "sizes": {"[1,2]", "[7]"}, "points": {`[{"x":1,"y":2}]`},
		"env": {`{"A":"1"}`, "{}"}, "at": {`{"x":1}`}, "mode": {`"content"`},
	}
	aliases := map[string]string{"path": "filePath", "content": "text", "replace_all": "replaceAll", "mode": "Mode", "tags": "TAGS", "points": "Points"}
	order := []string{"path", "content", "replace_all", "limit", "timeout", "rate", "tags", "sizes", "points", "env", "at", "mode"}
	rapid.Check(t, func(t *rapid.T) {
		want, damaged := "{", "{"
		add := func(dst *string, name, value string) {
			if *dst != "{" {
				*dst += ","
			}
			*dst += strconv.Quote(name) + ":" + value
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(order), 1, 6, rapid.ID).Draw(t, "names") {
			value := rapid.SampledFrom(values[name]).Draw(t, name)
			how := rapid.SampledFrom([]string{"whole", "text", "alias", "null", "single", "twice"}).Draw(t, "damage")
			given, as := value, name
			switch {
			case how == "null":
				add(&damaged, name, "null")
				continue
			case how == "text" && value[0] != '"':
				given = string(mustMarshal(t, value))
			case how == "alias" && aliases[name] != "":
				as = aliases[name]
			case how == "single" && value[0] == '[' && value[1] != ']' && !bytes.Contains([]byte(value), []byte(`","`)) && value != "[1,2]":
				given = value[1 : len(value)-1]
			case how == "twice" && aliases[name] != "":
				add(&damaged, aliases[name], value)
			}
			add(&want, name, value)
			add(&damaged, as, given)
		}
		want, damaged = want+"}", damaged+"}"
		switch rapid.SampledFrom([]string{"", "fence", "encode"}).Draw(t, "around") {
		case "fence":
			damaged = "```json\n" + damaged + "\n```"
		case "encode":
			damaged = string(mustMarshal(t, damaged))
		}
		p, err := c.Prepare([]byte(damaged))
		if err != nil || string(p.Args) != want || len(p.Problems) > 0 {
			t.Fatalf("%s: got %s, want %s (%v %+v)", damaged, p.Args, want, err, p.Problems)
		}
	})
}

func mustMarshal(t *rapid.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The scanner accepts what encoding/json accepts, except what it would read with loss.
func FuzzPrepare(f *testing.F) {
	checkers := []*schema.Checker{compileFor[call](f), compileFor[struct{}](f)}
	for _, s := range []string{
		`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":["integer","null"]},"l":{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}},"required":["path"]}`,
		`{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"x":{"type":"boolean"}},"additionalProperties":false}}}`,
	} {
		var js jsonschema.Schema
		if err := json.Unmarshal([]byte(s), &js); err != nil {
			f.Fatal(err)
		}
		c, err := schema.Compile(&js)
		if err != nil {
			f.Fatal(err)
		}
		checkers = append(checkers, c)
	}
	for _, s := range []string{
		`{"path":"a","limit":"5","tags":"x","points":"[{\"x\":\"1\"}]","at":null,"filePath":"a"}`, "```json\n{\"a\":1}\n```", `"{\"path\":\"\\u00e9\"}"`,
		`{"path":null,"n":null,"l":[1,"2",null,{}]}`, `{"a":{"x":"true"},"b":[{"x":1}]}`, `{"a":"\ud83d\ude00","b":-0.5e+10}`, "", "null", `{"a":`, `{"a":1,"a":2}`,
		`{"timeout_ms":1500,"start_line":"3","end_line":5}`, "{\"\":\"\xff\"}", `{"grid":[[1],2,"[3]"]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, c := range checkers {
			before := bytes.Clone(raw)
			p, err := c.Prepare(raw)
			if !bytes.Equal(before, raw) {
				t.Fatalf("the input was written to: %q", raw)
			}
			if err != nil {
				if !bytes.Equal(p.Args, raw) || len(p.Repairs)+len(p.Problems) > 0 {
					t.Fatalf("%q: %v, and yet %+v", raw, err, p)
				}
				continue
			}
			if !json.Valid(p.Args) {
				t.Fatalf("%q became %q", raw, p.Args)
			}
			if len(p.Repairs) == 0 && !bytes.Equal(p.Args, raw) {
				t.Fatalf("%q changed to %q without a record", raw, p.Args)
			}
			for _, pr := range p.Problems {
				if pr.Message == "" || pr.Kind == "" || pr.Example != "" && !json.Valid([]byte(pr.Example)) {
					t.Fatalf("%q: %+v", raw, pr)
				}
			}
			if len(p.Problems) > 0 {
				continue
			}
			again, err := c.Prepare(p.Args)
			if err != nil || len(again.Repairs)+len(again.Problems) > 0 {
				t.Fatalf("%q became %q, which is not stable: %v %+v", raw, p.Args, err, again)
			}
		}
	})
}

// Examples in problems are themselves valid.
func TestExamplesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawObject(t, 2)
		c, err := schema.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Prepare([]byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, pr := range p.Problems {
			if pr.Example == "" {
				continue
			}
			one := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"v": s.Properties[pr.Path].CloneSchemas()}}
			oracle, err := one.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal([]byte(fmt.Sprintf(`{"v":%s}`, pr.Example)), &v); err != nil {
				t.Fatal(err)
			}
			if err := oracle.Validate(v); err != nil {
				t.Fatalf("example %s of %s: %v", pr.Example, pr.Path, err)
			}
		}
	})
}
