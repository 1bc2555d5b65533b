package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/schema"
)

func parse(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &s
}

var clean = &schema.Annotations{ReadOnly: true}

// T14: each rule of field/mcp.md section 5 with a schema that breaks it, and the path where it is found.
func TestT14_LintRules(t *testing.T) {
	prop := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	many := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(parts, ",")
	}
	deep := `{"type":"string"}`
	for range 6 {
		deep = prop(deep)
	}
	rows := []struct {
		rule, path, schema string
		def                schema.Def // instead of a schema
		also               string     // a rule that the same schema cannot help breaking
	}{
		{rule: "E1", path: "a", schema: prop(`true`)},
		{rule: "E1", path: "a", schema: prop(`{}`)}, // encoding/json writes it as true
		{rule: "E1", path: "a", schema: prop(`false`)},
		{rule: "E1", path: "a[]", schema: prop(`{"type":"array","items":true}`)},
		{rule: "E2", schema: `{"properties":{}}`},
		{rule: "E2", schema: `{"type":"object"}`},
		{rule: "E2", schema: `{"type":"string"}`},
		{rule: "E2", def: schema.Def{Name: "x", Annotations: clean}},
		{rule: "E3", schema: `{"type":"object","properties":{},"anyOf":[{"required":["a"]},{"required":["b"]}]}`},
		{rule: "E3", schema: `{"type":"object","properties":{},"if":{"required":["a"]},"then":{"required":["b"]}}`, also: "W3"},
		{rule: "E4", path: "a", schema: prop(`{"type":"array"}`)},
		{rule: "E4", path: "a", schema: prop(`{"type":"array","prefixItems":[{"type":"string"}]}`)},
		{rule: "E4", path: "a", schema: prop(`{"type":"array","items":[{"type":"string"}]}`)},
		{rule: "E5", path: "weird prop", schema: `{"type":"object","properties":{"weird prop":{"type":"string"}}}`},
		{rule: "E5", path: "a-b", schema: `{"type":"object","properties":{"a-b":{"type":"string"}}}`},
		{rule: "E6", def: schema.Def{Name: "dots.in.name", Schema: parse(t, prop(`{"type":"string"}`)), Annotations: clean}},
		{rule: "E6", def: schema.Def{Name: "2starts", Schema: parse(t, prop(`{"type":"string"}`)), Annotations: clean}},
		{rule: "E6", def: schema.Def{Name: strings.Repeat("n", 41), Schema: parse(t, prop(`{"type":"string"}`)), Annotations: clean}},
		{rule: "E7", path: "a", schema: prop(`{"$ref":"https://x.example/y"}`)},
		{rule: "E8", path: "next", schema: `{"type":"object","properties":{"next":{"$ref":"#"}}}`, also: "W2"},
		{rule: "E9", path: "a", schema: prop(`{"type":"integer","enum":[1,2]}`)},
		{rule: "E9", path: "a", schema: prop(`{"enum":["a",1]}`)},
		{rule: "W1", path: "a", schema: prop(`{"type":["string","null"]}`)},
		{rule: "W2", path: "a", schema: `{"type":"object","$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s"}}}`},
		{rule: "W3", path: "a", schema: prop(`{"oneOf":[{"type":"string"},{"type":"integer"}]}`)},
		{rule: "W3", path: "a", schema: prop(`{"type":"string","not":{"enum":["x"]}}`)},
		{rule: "W3", path: "a", schema: prop(`{"type":"object","patternProperties":{"x":{"type":"string"}}}`)},
		{rule: "W3", path: "a", schema: prop(`{"type":"object","dependentRequired":{"x":["y"]}}`)},
		{rule: "W3", path: "a", schema: prop(`{"type":"string","const":"x"}`)},
		{rule: "W4", path: "a", schema: prop(`{"type":"string","pattern":"^a$","description":"letters"}`)},
		{rule: "W4", path: "a", schema: prop(`{"type":"integer","maximum":10,"description":"100 or 210"}`)},
		{rule: "W4", path: "a", schema: prop(`{"type":"integer","default":3}`)},
		{rule: "W4", path: "a", schema: prop(`{"type":"string","format":"uri"}`)},
		{rule: "W4", path: "a", schema: prop(`{"type":"string","examples":["x"]}`)},
		{rule: "W5", path: "a", schema: prop(`{"description":"whatever"}`)},
		{rule: "W6", def: schema.Def{Name: "x", Description: strings.Repeat("é", 1025), Schema: parse(t, prop(`{"type":"string"}`)), Annotations: clean}},
		{rule: "W7", schema: deep},
		{rule: "W7", schema: `{"type":"object","properties":{` + many(101, `"p%d":{"type":"string"}`) + `}}`},
		{rule: "W7", path: "a", schema: prop(`{"type":"string","enum":[` + many(251, `"v%d"`) + `]}`)},
		{rule: "W8", path: "a", schema: prop(`{"type":"object","additionalProperties":{"type":"string"}}`)},
		{rule: "W10", def: schema.Def{Name: "x", Schema: parse(t, prop(`{"type":"string"}`))}},
		{rule: "W11", def: schema.Def{Name: "x", Schema: parse(t, prop(`{"type":"string"}`)), Annotations: clean, Output: parse(t, `{"type":"object"}`)}},
	}
	covered := map[string]bool{"E10": true, "W9": true} // rules of lists, below
	for _, row := range rows {
		covered[row.rule] = true
		def := row.def
		if row.schema != "" {
			def = schema.Def{Name: "x", Schema: parse(t, row.schema), Annotations: clean}
		}
		findings := slices.DeleteFunc(schema.Lint(def), func(f schema.Finding) bool { return f.Rule == row.also })
		if len(findings) == 0 || slices.ContainsFunc(findings, func(f schema.Finding) bool { return f.Rule != row.rule || f.Path != row.path }) {
			t.Errorf("%s at %q: got %v", row.rule, row.path, findings)
			continue
		}
		// Asked for one profile, a finding names only that one, and the others are silent.
		for _, p := range schema.Profiles() {
			concerned := slices.Contains(findings[0].Profiles, p)
			got := slices.DeleteFunc(schema.Lint(def, p), func(f schema.Finding) bool { return f.Rule == row.also })
			if concerned != (len(got) > 0) || concerned && !slices.Equal(got[0].Profiles, []schema.Profile{p}) {
				t.Errorf("%s for %s: got %v", row.rule, p, got)
			}
		}
	}
	for _, r := range schema.Rules() {
		if !covered[r.Name] {
			t.Errorf("rule %s has no case", r.Name)
		}
		if (r.Name[0] == 'E') != (r.Severity == schema.Error) || len(r.Profiles) == 0 || r.About == "" {
			t.Errorf("%+v", r)
		}
	}
}

// What For makes has no errors for anybody, and its constraints are said.
func TestT14_ForIsPortable(t *testing.T) {
	s, err := schema.For[call]()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range schema.Lint(schema.Def{Name: "call", Description: "Does it.", Schema: s, Annotations: clean}) {
		got = append(got, f.Rule+" "+f.Path)
	}
	if diff := cmp.Diff([]string{"W5 free", "W8 env"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestT14_LintList(t *testing.T) {
	def := func(name string) schema.Def {
		return schema.Def{Name: name, Description: "Does it.", Schema: parse(t, `{"type":"object","properties":{}}`), Annotations: clean}
	}
	list := func(n int) (out []schema.Def) {
		for i := range n {
			out = append(out, def(fmt.Sprintf("tool_%d", i)))
		}
		return out
	}
	long := def("long")
	long.Description = strings.Repeat("word ", 4000)
	long.Schema = parse(t, `{"type":"object","properties":{}}`)
	for _, row := range []struct {
		name     string
		defs     []schema.Def
		profiles []schema.Profile
		want     []string
	}{
		{"few", list(40), nil, nil},
		{"same name", []schema.Def{def("a"), def("a")}, nil, []string{"E6 a"}},
		{"names that become equal", []schema.Def{def("dots.in"), def("dots_in")}, nil, []string{"E6 dots.in", "E6 dots_in"}},
		{"many", list(41), nil, []string{"W9 "}},
		{"too many", list(129), nil, []string{"E10 ", "W9 "}},
		{"too many, but for Anthropic", list(129), []schema.Profile{schema.Anthropic}, []string{"W9 "}},
		{"too many for Gemini", list(513), []schema.Profile{schema.Gemini}, []string{"E10 ", "W9 "}},
		{"too long", []schema.Def{long}, []schema.Profile{schema.MCP}, []string{"W9 "}},
	} {
		var got []string
		for _, f := range schema.LintList(row.defs, row.profiles...) {
			got = append(got, f.Rule+" "+f.Tool)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
	f := schema.LintList(list(129), schema.OpenAI)
	if s := f[0].String(); s != "E10 list: 129 tools; OpenAI takes 128 (openai)" {
		t.Error(s)
	}
}
