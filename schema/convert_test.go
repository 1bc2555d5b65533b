package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata, one section a line group.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// T14: testdata/convert holds schemas as authored and, in .golden, as each provider gets them.
func TestT14_Convert(t *testing.T) {
	files, err := filepath.Glob("testdata/convert/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("only %d schemas: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := schema.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			before, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, p := range schema.Profiles() {
				got, err := schema.Convert(p, s)
				if err != nil {
					fmt.Fprintf(&out, "-- %s --\nerror: %v\n", p, err)
					continue
				}
				fmt.Fprintf(&out, "-- %s --\n%s\n", p, got)
				twin, err := schema.Parse(b)
				if err != nil {
					t.Fatal(err)
				}
				again, err := schema.Convert(p, twin)
				if err != nil || !bytes.Equal(again, got) {
					t.Errorf("%s: not stable: %s", p, again)
				}
				checkConverted(t, p, got)
			}
			golden(t, strings.TrimSuffix(file, ".json")+".golden", out.Bytes())
			if after, err := json.Marshal(s); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the schema was changed: %v %s", err, after)
			}
		})
	}
}

// checkConverted holds for every converted schema: no booleans, and nothing that its reader refuses.
func checkConverted(t *testing.T, p schema.Profile, text json.RawMessage) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatalf("%s: %v: %s", p, err, text)
	}
	var visit func(v any, key string)
	visit = func(v any, key string) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		props, _ := m["properties"].(map[string]any)
		for name, child := range props {
			if _, ok := child.(map[string]any); !ok {
				t.Errorf("%s: the property %s is %v", p, name, child)
			}
			visit(child, name)
		}
		for _, keyword := range []string{"items", "not", "additionalProperties"} {
			visit(m[keyword], keyword)
		}
		list, _ := m["anyOf"].([]any)
		for _, child := range list {
			visit(child, "anyOf")
		}
		var banned []string
		switch p {
		case schema.OpenAIStrict:
			banned = []string{"default", "oneOf", "allOf", "not", "minLength", "maxLength", "$ref", "examples"}
			if m["type"] == "object" && (m["additionalProperties"] != false || len(props) != lenOf(m["required"])) {
				t.Errorf("%s: %s is not strict: %v", p, key, m)
			}
		case schema.AnthropicStrict:
			banned = []string{"default", "oneOf", "not", "minimum", "pattern", "minLength", "$ref"}
			if m["type"] == "object" && m["additionalProperties"] != false {
				t.Errorf("%s: %s is open: %v", p, key, m)
			}
		case schema.Gemini:
			banned = []string{"additionalProperties", "$ref", "$defs", "const", "oneOf", "allOf", "not", "default", "pattern", "exclusiveMinimum", "exclusiveMaximum", "title"}
			if _, ok := m["type"].([]any); ok {
				t.Errorf("%s: %s has a type array", p, key)
			}
			enum, _ := m["enum"].([]any)
			if slices.ContainsFunc(enum, func(v any) bool { _, ok := v.(string); return !ok }) {
				t.Errorf("%s: %s has an enum of other than strings: %v", p, key, enum)
			}
		case schema.GeminiJSONSchema, schema.Ollama:
			banned = []string{"$ref", "$defs", "const", "oneOf", "allOf", "not", "default", "pattern", "exclusiveMinimum", "exclusiveMaximum"}
		}
		for _, word := range banned {
			if _, ok := m[word]; ok {
				t.Errorf("%s: %s has %s: %v", p, key, word, m)
			}
		}
	}
	visit(tree, "root")
	root, _ := tree.(map[string]any)
	if root["type"] != "object" || root["properties"] == nil {
		t.Errorf("%s: the root is no object with properties: %s", p, text)
	}
}

func lenOf(v any) int {
	list, _ := v.([]any)
	return len(list)
}

// What a strict provider makes of the converted schema passes the checker of the original one.
func TestT14_StrictArgumentsPass(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawObject(t, 3)
		if bytes.Contains(mustMarshal(t, s), []byte(`"oneOf"`)) {
			return // it becomes anyOf, which is wider where branches overlap
		}
		for _, p := range []schema.Profile{schema.OpenAIStrict, schema.GeminiJSONSchema} {
			got, err := schema.Convert(p, s)
			if err != nil {
				continue // names that Gemini refuses
			}
			var strict jsonschema.Schema
			if err := json.Unmarshal(got, &strict); err != nil {
				t.Fatal(err)
			}
			oracle, err := strict.CloneSchemas().Resolve(nil)
			if err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			c, err := schema.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			raw := drawMembers(t, &strict, 3)
			var v any
			if err := json.Unmarshal([]byte(raw), &v); err != nil {
				t.Fatal(err)
			}
			if oracle.Validate(v) != nil {
				continue
			}
			prepared, err := c.Prepare([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if len(prepared.Problems) == 0 {
				passed++
			} else if !saidInWords(string(got)) {
				t.Fatalf("%s: %s fits %s, but %+v", p, raw, got, prepared.Problems)
			}
		}
	})
	if passed == 0 {
		t.Error("the generator made no valid arguments")
	}
}

// saidInWords reports that a constraint became text, which only a model can respect.
func saidInWords(s string) bool {
	for _, word := range []string{"character", "matches", "twice", "multiple of", "above", "below", "must also", "as text", "anyOf", "free names", "one of", "any JSON value"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// T14: a whole definition in every format.
func TestT14_Render(t *testing.T) {
	s, err := schema.For[editArgs]()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := schema.For[struct{}]()
	if err != nil {
		t.Fatal(err)
	}
	for file, def := range map[string]schema.Def{
		"edit": {Name: "edit", Title: "Edit a file", Description: "Replace text in one file.\nExact match first; <b>\"quotes\"</b> stay.", Schema: s,
			Annotations: &schema.Annotations{Destructive: true}},
		"none": {Name: "list_media", Description: "List media.", Schema: empty, Output: parse(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`), Annotations: clean},
	} {
		var out bytes.Buffer
		for _, f := range schema.Formats() {
			got, err := schema.Render(f, def)
			if err != nil || !json.Valid(got) {
				t.Fatalf("%s: %v %s", f, err, got)
			}
			fmt.Fprintf(&out, "-- %s --\n%s\n", f, got)
			if parsed, err := schema.ParseFormat(string(f)); err != nil || parsed != f {
				t.Errorf("%s: %v", f, err)
			}
		}
		golden(t, "testdata/render/"+file+".golden", out.Bytes())
	}
}

func TestConvertRefuses(t *testing.T) {
	ok := parse(t, `{"type":"object","properties":{"a":{"type":"string"}}}`)
	for _, row := range []struct {
		format schema.Format
		def    schema.Def
		want   string
	}{
		{"nonsense", schema.Def{Name: "a", Schema: ok}, "unknown format"},
		{schema.FormatMCP, schema.Def{Name: "a", Schema: nil}, "no schema"},
		{schema.FormatMCP, schema.Def{Name: "a b", Schema: ok}, "names match"},
		{schema.FormatOpenAIChat, schema.Def{Name: "a.b", Schema: ok}, "names match"},
		{schema.FormatOpenAIChat, schema.Def{Name: strings.Repeat("a", 65), Schema: ok}, "names match"},
		{schema.FormatGemini, schema.Def{Name: "2a", Schema: ok}, "names match"},
		{schema.FormatAnthropic, schema.Def{Name: "a", Schema: parse(t, `{"type":"object","properties":{"a b":{"type":"string"}}}`)}, "property names match"},
		{schema.FormatGemini, schema.Def{Name: "a", Schema: parse(t, `{"type":"object","properties":{"a":{"type":"object","properties":{"b-c":{"type":"string"}}}}}`)}, "a.b-c: property names match"},
		{schema.FormatOllama, schema.Def{Name: "a", Schema: parse(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`)}, "names nothing"},
	} {
		if _, err := schema.Render(row.format, row.def); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.format, err, row.want)
		}
	}
	// A chain of references that would inline into an endless text ends with a short error.
	long := `{"type":"object","$defs":{`
	for i := range 300 {
		long += fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	long += `"d300":{"type":"string"}},"properties":{"q":{"$ref":"#/$defs/d0"}}}`
	for _, p := range []schema.Profile{schema.OpenAIStrict, schema.Gemini, schema.Ollama} {
		if _, err := schema.Convert(p, parse(t, long)); err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := schema.Convert("x", ok); err == nil {
		t.Error("unknown profile")
	}
	if f, err := schema.ParseFormat("openai"); err != nil || f != schema.FormatOpenAIChat {
		t.Error(f, err)
	}
	if _, err := schema.ParseFormat("x"); err == nil {
		t.Error("unknown format")
	}
}

// Mend takes away the errors that can be mended, and leaves alone what is portable.
func TestMend(t *testing.T) {
	s, err := schema.For[call]()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(s)
	if after, _ := json.Marshal(schema.Mend(s)); !bytes.Equal(before, after) {
		t.Errorf("a portable schema was changed: %s", after)
	}
	bad := parse(t, `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":true,"y":false,"l":{"type":"array"},"t":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}}}`)
	for _, f := range schema.Lint(schema.Def{Name: "x", Schema: schema.Mend(bad), Annotations: clean}) {
		if f.Severity == schema.Error {
			t.Error(f)
		}
	}
}

// Parse keeps the order in which a foreign schema names its properties, at every depth.
func TestParse(t *testing.T) {
	const text = `{"type":"object","properties":{"z":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}},` +
		`"y":{"type":"string","anyOf":[{"type":"object","properties":{"d":{"type":"string"},"c":{"type":"string"}}}]}},"required":["y"],` +
		`"additionalProperties":{"type":"object","properties":{"f":{"type":"string"},"e":{"type":"string"}}},` +
		`"$defs":{"x":{"type":"object","properties":{"h":{"type":"string"},"g":{"type":"string"}}}}}`
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := schema.Convert(schema.MCP, s)
	if diff := cmp.Diff(text, string(got)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, bad := range []string{"", "{", `{"type":5}`, `{"properties":{"a":{},"a":{}}}`} {
		s, err := schema.Parse([]byte(bad))
		if err == nil {
			_, err = schema.Convert(schema.OpenAI, s)
		}
		if bad != `{"properties":{"a":{},"a":{}}}` && err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
