package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/schema"
)

// call holds every name of T16 that has aliases, and a value of every kind.
type call struct {
	Path       string            `json:"path,omitempty" jsonschema:"File to read"`
	Content    string            `json:"content,omitempty"`
	Old        string            `json:"old_string,omitempty"`
	New        string            `json:"new_string,omitempty"`
	All        bool              `json:"replace_all,omitempty"`
	Pattern    string            `json:"pattern,omitempty"`
	Glob       string            `json:"glob,omitempty"`
	Insens     bool              `json:"case_insensitive,omitempty"`
	Literal    bool              `json:"literal,omitempty"`
	Before     int               `json:"before,omitempty"`
	After      int               `json:"after,omitempty"`
	Context    int               `json:"context,omitempty"`
	Command    string            `json:"command,omitempty"`
	Timeout    int               `json:"timeout,omitempty" jsonschema:"Limit in seconds" schema:"min=1,max=600"`
	Workdir    string            `json:"workdir,omitempty"`
	Background bool              `json:"background,omitempty"`
	Offset     int               `json:"offset,omitempty" jsonschema:"First line, 1-based" schema:"min=1"`
	Limit      int               `json:"limit,omitempty" jsonschema:"How many lines"`
	URL        string            `json:"url,omitempty"`
	Patch      string            `json:"patch,omitempty"`
	Rate       float64           `json:"rate,omitempty"`
	Tags       []string          `json:"tags,omitempty"`
	Sizes      []int             `json:"sizes,omitempty"`
	Points     []point           `json:"points,omitempty"`
	Grid       [][]int           `json:"grid,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	At         *point            `json:"at,omitempty"`
	Mode       string            `json:"mode,omitempty" schema:"enum=content|count"`
	Free       json.RawMessage   `json:"free,omitempty" jsonschema:"Anything" schema:"any"`
}

func TestT6_Repairs(t *testing.T) {
	c := compileFor[call](t)
	for _, row := range []struct{ name, raw, want, repairs string }{
		// a JSON array or object sent as a string
		{"array as string", `{"tags":"[\"a\",\"b\"]"}`, `{"tags":["a","b"]}`, `tags: JSON sent as a string`},
		{"object as string", `{"at":"{\"x\":1}"}`, `{"at":{"x":1}}`, `at: JSON sent as a string`},
		{"map as string", `{"env":" {\"A\":\"1\"} "}`, `{"env":{"A":"1"}}`, `env: JSON sent as a string`},
		{"repairs go on inside", `{"points":"[{\"x\":\"1\",\"y\":null}]"}`, `{"points":[{"x":1}]}`,
			`points: JSON sent as a string; points[0].x: number sent as a string; points[0].y: null for an absent optional`},
		{"string in string", `{"at":"\"{\\\"x\\\":1}\""}`, "", ""},
		// a number or boolean sent as a string
		{"integer", `{"offset":"5"}`, `{"offset":5}`, "offset: number sent as a string"},
		{"negative, spaced", `{"limit":" -5 "}`, `{"limit":-5}`, "limit: number sent as a string"},
		{"whole fraction", `{"limit":"5.0"}`, `{"limit":5}`, "limit: number sent as a string"},
		{"exponent", `{"limit":"5e2"}`, `{"limit":500}`, "limit: number sent as a string"},
		{"number keeps its text", `{"rate":"0.10000000000000000001"}`, `{"rate":0.10000000000000000001}`, "rate: number sent as a string"},
		{"items", `{"sizes":["1",2]}`, `{"sizes":[1,2]}`, "sizes[0]: number sent as a string"},
		{"true", `{"replace_all":"true"}`, `{"replace_all":true}`, "replace_all: boolean sent as a string"},
		{"False", `{"replace_all":"False"}`, `{"replace_all":false}`, "replace_all: boolean sent as a string"},
		{"number for an integer", `{"limit":5.0}`, `{"limit":5}`, "limit: whole number"},
		// null for an absent optional
		{"null first", `{"path":null,"limit":1}`, `{"limit":1}`, "path: null for an absent optional"},
		{"null last", `{"limit":1, "path":null}`, `{"limit":1}`, "path: null for an absent optional"},
		{"nulls around", `{"path":null, "mode":null, "limit":1, "tags":null, "at":null}`, `{"limit":1}`, "path: null for an absent optional; " +
			"mode: null for an absent optional; tags: null for an absent optional; at: null for an absent optional"},
		{"only nulls", `{ "path":null, "mode":null }`, `{  }`, "path: null for an absent optional; mode: null for an absent optional"},
		{"nested null", `{"at":{"x":1,"y":null}}`, `{"at":{"x":1}}`, "at.y: null for an absent optional"},
		// a single value where an array of it is expected
		{"single", `{"tags":"a"}`, `{"tags":["a"]}`, "tags: single value for an array"},
		{"single looks like JSON", `{"tags":"[a-z]"}`, `{"tags":["[a-z]"]}`, "tags: single value for an array"},
		{"single is JSON of other items", `{"tags":"[1]"}`, `{"tags":["[1]"]}`, "tags: single value for an array"},
		{"single object", `{"points":{"x":1}}`, `{"points":[{"x":1}]}`, "points: single value for an array"},
		{"single object as string", `{"points":"{\"x\":1}"}`, `{"points":[{"x":1}]}`, "points: single value for an array; points[0]: JSON sent as a string"},
		{"single number as string", `{"sizes":"7"}`, `{"sizes":[7]}`, "sizes: single value for an array; sizes[0]: number sent as a string"},
		// around the whole object
		{"fences", "```json\n{\"limit\":1}\n```", `{"limit":1}`, "arguments: code fences removed"},
		{"fences on one line", " ``` {\"limit\":1}``` ", `{"limit":1}`, "arguments: code fences removed"},
		{"encoded twice", `"{\"limit\":1}"`, `{"limit":1}`, "arguments: arguments were encoded twice"},
		{"encoded thrice", `"\"{\\\"limit\\\":1}\""`, `{"limit":1}`, "arguments: arguments were encoded twice; arguments: arguments were encoded twice"},
		{"fenced and encoded", "\"```\\n{\\\"limit\\\":1}\\n```\"", `{"limit":1}`, "arguments: arguments were encoded twice; arguments: code fences removed"},
		{"empty", "", `{}`, "arguments: no arguments"},
		{"space", " \n", `{}`, "arguments: no arguments"},
		{"null", " null ", `{}`, "arguments: no arguments"},
		{"encoded nothing", `""`, `{}`, "arguments: arguments were encoded twice; arguments: no arguments"},
		// untouched bytes stay: order, spaces, number text, escapes
		{"bytes stay", "{ \"rate\" : 1.50e+1,\n\"free\":{\"a\":\"\\u0041\" , \"b\":null}, \"limit\":\"1\" }", "{ \"rate\" : 1.50e+1,\n\"free\":{\"a\":\"\\u0041\" , \"b\":null}, \"limit\":1 }",
			"limit: number sent as a string"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := c.Prepare([]byte(row.raw))
			if err != nil {
				t.Fatal(err)
			}
			if row.want == "" {
				if len(p.Problems) == 0 || string(p.Args) != row.raw || len(p.Repairs) > 0 {
					t.Errorf("got %s with %v, want it refused as it stands", p.Args, p.Repairs)
				}
				return
			}
			checkPrepared(t, c, p, row.want, row.repairs)
		})
	}
}

// checkPrepared compares arguments and repairs, and prepares the result again: it must pass untouched.
func checkPrepared(t *testing.T, c *schema.Checker, p schema.Prepared, want, repairs string) {
	t.Helper()
	var got []string
	for _, r := range p.Repairs {
		s, _, _ := strings.Cut(r.String(), " (")
		got = append(got, s)
	}
	if diff := cmp.Diff(want, string(p.Args)); diff != "" || len(p.Problems) > 0 {
		t.Errorf("%s%+v", diff, p.Problems)
	}
	if diff := cmp.Diff(repairs, strings.Join(got, "; ")); diff != "" {
		t.Error(diff)
	}
	again, err := c.Prepare(p.Args)
	if err != nil || len(again.Repairs)+len(again.Problems) > 0 || !bytes.Equal(again.Args, p.Args) {
		t.Errorf("not stable: %s %v %v %v", again.Args, again.Repairs, again.Problems, err)
	}
}

// T16: names and units that models learned elsewhere.
func TestT16_Names(t *testing.T) {
	c := compileFor[call](t)
	rows := []struct{ raw, want string }{
		{`{"file_path":"a"}`, `{"path":"a"}`}, {`{"filePath":"a"}`, `{"path":"a"}`}, {`{"filename":"a"}`, `{"path":"a"}`}, {`{"file":"a"}`, `{"path":"a"}`},
		{`{"filepath":"a"}`, `{"path":"a"}`}, {`{"target_file":"a"}`, `{"path":"a"}`}, {`{"PATH":"a"}`, `{"path":"a"}`},
		{`{"oldString":"a"}`, `{"old_string":"a"}`}, {`{"old_str":"a"}`, `{"old_string":"a"}`}, {`{"oldText":"a"}`, `{"old_string":"a"}`}, {`{"search":"a"}`, `{"old_string":"a"}`},
		{`{"newString":"a"}`, `{"new_string":"a"}`}, {`{"new_str":"a"}`, `{"new_string":"a"}`}, {`{"newText":"a"}`, `{"new_string":"a"}`}, {`{"replace":"a"}`, `{"new_string":"a"}`},
		{`{"replaceAll":true}`, `{"replace_all":true}`},
		{`{"cmd":"a"}`, `{"command":"a"}`},
		{`{"-i":true}`, `{"case_insensitive":true}`}, {`{"case_sensitive":false}`, `{"case_insensitive":true}`}, {`{"is_regex":"true"}`, `{"literal":false}`},
		{`{"-A":1,"-B":2,"-C":3}`, `{"after":1,"before":2,"context":3}`},
		{`{"cwd":"a"}`, `{"workdir":"a"}`}, {`{"workingDirectory":"a"}`, `{"workdir":"a"}`}, {`{"working_dir":"a"}`, `{"workdir":"a"}`}, {`{"dir":"a"}`, `{"workdir":"a"}`},
		{`{"contents":"a"}`, `{"content":"a"}`}, {`{"text":"a"}`, `{"content":"a"}`}, {`{"file_text":"a"}`, `{"content":"a"}`},
		{`{"regex":"a"}`, `{"pattern":"a"}`}, {`{"query":"a"}`, `{"pattern":"a"}`},
		{`{"run_in_background":true}`, `{"background":true}`},
		{`{"timeout_ms":5000}`, `{"timeout":5}`}, {`{"timeoutMs":"5000"}`, `{"timeout":5}`}, {`{"timeout_ms":1500}`, `{"timeout":2}`}, {`{"timeout_ms":1}`, `{"timeout":1}`},
		{`{"start_line":3}`, `{"offset":3}`}, {`{"start_line":3,"end_line":5}`, `{"offset":3,"limit":3}`}, {`{"endLine":5,"startLine":"3"}`, `{"limit":3,"offset":3}`},
		{`{"end_line":5}`, `{"limit":5}`}, {`{"patchText":"a"}`, `{"patch":"a"}`}, {`{"uri":"a"}`, `{"url":"a"}`},
		// both names, the same value: one is dropped
		{`{"path":"a","file_path":"a"}`, `{"path":"a"}`}, {`{"file_path":"a","path":"a"}`, `{"path":"a"}`}, {`{"file":"a","filename":"\u0061"}`, `{"path":"a"}`},
		{`{"timeout":2,"timeout_ms":2000}`, `{"timeout":2}`},
		// null under either name says nothing
		{`{"path":null,"file_path":"a"}`, `{"path":"a"}`}, {`{"path":"a","file_path":null}`, `{"path":"a"}`}, {`{"file_path":null}`, `{}`}, {`{"timeout_ms":null}`, `{}`},
		// names and values are repaired together
		{`{"replaceAll":"true","filePath":"a"}`, `{"replace_all":true,"path":"a"}`},
	}
	for _, row := range rows {
		t.Run(row.raw, func(t *testing.T) {
			p, err := c.Prepare([]byte(row.raw))
			if err != nil {
				t.Fatal(err)
			}
			if string(p.Args) != row.want || len(p.Problems) > 0 || len(p.Repairs) == 0 {
				t.Errorf("got %s %v %+v, want %s", p.Args, p.Repairs, p.Problems, row.want)
			}
			for _, r := range p.Repairs {
				if r.From == "" || r.What == "" {
					t.Errorf("repair without a record: %+v", r)
				}
			}
		})
	}
}

// An alias never applies where the schema has that name itself, or where its meaning is not known.
func TestT16_NamesThatStay(t *testing.T) {
	type grep struct {
		Pattern string  `json:"pattern"`
		Query   string  `json:"query,omitempty"`
		Timeout int     `json:"timeout,omitempty" jsonschema:"Limit in milliseconds"`
		Offset  int     `json:"offset,omitempty" jsonschema:"Where to start"`
		Limit   int     `json:"limit,omitempty" jsonschema:"How many"`
		Wait    float64 `json:"wait,omitempty"`
	}
	c := compileFor[grep](t)
	for raw, want := range map[string]string{
		`{"pattern":"a","query":"b"}`:         "",
		`{"query":"b"}`:                       "missing pattern",
		`{"pattern":"a","timeout_ms":5}`:      "unknown timeout_ms",
		`{"pattern":"a","start_line":5}`:      "unknown start_line",
		`{"pattern":"a","end_line":5}`:        "unknown end_line",
		`{"pattern":"a","-n":true}`:           "unknown -n",
		`{"pattern":"a","-I":true}`:           "unknown -I",
		`{"pattern":"a","regex":"b"}`:         "unknown regex",
		`{"regex":"b","regexp":"c"}`:          "unknown regexp",
		`{"pattern":"a","Pattern":"b"}`:       "unknown Pattern",
		`{"pattern":"a","\u0070attern":"b"}`:  "wrong pattern",
		`{"\u0070attern":"a","\u0071uery":1}`: "wrong query",
	} {
		p, err := c.Prepare([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		got := ""
		if len(p.Problems) > 0 {
			got = string(p.Problems[0].Kind) + " " + p.Problems[0].Path
		}
		if got != want {
			t.Errorf("%s: got %q, want %q (%v)", raw, got, want, p.Repairs)
		}
	}
	type seconds struct {
		Timeout float64 `json:"timeout" jsonschema:"Limit in seconds"`
		Offset  int     `json:"offset,omitempty" jsonschema:"0-based line"`
		Limit   int     `json:"limit,omitempty" jsonschema:"Number of lines"`
	}
	c = compileFor[seconds](t)
	p, err := c.Prepare([]byte(`{"timeout_ms":1500,"start_line":3,"end_line":5}`))
	if err != nil || string(p.Args) != `{"timeout":1.5,"offset":2,"limit":3}` {
		t.Errorf("%s %v %v", p.Args, p.Problems, err)
	}
}

// What cannot be mended without a guess is a problem, and nothing of it is changed.
func TestT6_Problems(t *testing.T) {
	c := compileFor[call](t)
	for _, row := range []struct{ raw, want string }{
		{`{"replace_all":"yes"}`, `replace_all must be a boolean, but is "yes"; for example true.`},
		{`{"replace_all":1}`, `replace_all must be a boolean, but is 1; for example true.`},
		{`{"limit":"5 lines"}`, `limit must be an integer, but is "5 lines"; for example 1.`},
		{`{"limit":"5.5"}`, `limit must be an integer, but is "5.5"; for example 1.`},
		{`{"limit":5.5}`, `limit must be an integer, but is 5.5; for example 1.`},
		{`{"limit":"007"}`, `limit must be an integer, but is "007"; for example 1.`},
		{`{"limit":"0x10"}`, `limit must be an integer, but is "0x10"; for example 1.`},
		{`{"limit":"1e99"}`, `limit must be an integer, but is "1e99"; for example 1.`},
		{`{"rate":"NaN"}`, `rate must be a number, but is "NaN"; for example 1.`},
		{`{"rate":1e999}`, `rate must be a number, but is 1e999; for example 1.`},
		{`{"path":5}`, `path must be a string, but is 5; for example "src/main.go".`},
		{`{"path":["a"]}`, `path must be a string, but is ["a"]; for example "src/main.go".`},
		{`{"offset":0}`, `offset must be an integer, at least 1, but is 0; for example 1.`},
		{`{"timeout":"0"}`, `timeout must be an integer, 1–600, but is 0; for example 1.`},
		{`{"timeout":120000}`, `timeout must be an integer, 1–600, but is 120000 (the unit is seconds); did you mean 120?`},
		{`{"mode":"contents"}`, `mode must be one of content, count, but is "contents"; did you mean content?`},
		{`{"mode":"x"}`, `mode must be one of content, count, but is "x"; for example "content".`},
		{`{"mode":5}`, `mode must be one of content, count, but is 5; for example "content".`},
		{`{"grid":[1,2]}`, `grid[0] must be an array of integers, but is 1; for example [1].`},
		{`{"tags":{"a":1}}`, `tags must be an array of strings, but is {"a":1}; for example ["text"].`},
		{`{"tags":[null]}`, `tags[0] must be a string, but is null; for example "text".`},
		{`{"points":"[{\"x\":1}"}`, `points must be an array of objects, but is "[{\"x\":1}" (a string that would be JSON but for byte 8: ',' or ']' was expected); for example [{"x":1}].`},
		{`{"points":"[{\"y\":1}]"}`, `points[0].x is required, but missing: an integer, "Column"; for example 1.`},
		{`{"points":{"y":1}}`, `points[0].x is required, but missing: an integer, "Column"; for example 1.`},
		{`{"at":{"x":null}}`, `at.x is required, but is null: an integer, "Column"; for example 1.`},
		{`{"at":{"x":1,"z":2}}`, `Unknown property "z" in at. Known: x, y.`},
		{`{"at":"{\"x\":1,\"x\":2}"}`, `at.x is given twice in one object, so it is unclear which value counts. Give it once.`},
		{`{"path":"a","path":"a"}`, `path is given twice in one object, so it is unclear which value counts. Give it once.`},
		{`{"free":[{"a":1},{"a":1,"\u0061":2}]}`, `free[1].a is given twice in one object, so it is unclear which value counts. Give it once.`},
		{`{"path":"a","file_path":"b"}`, `file_path is another name of path, and both are given with different values ("b" and "a"). Give only path.`},
		{`{"timeout_ms":"soon"}`, `Unknown property "timeout_ms"; did you mean timeout? Known: path, content, old_string, new_string, replace_all, pattern, glob, case_insensitive, literal, before, after, context, command, timeout, workdir, background, offset, limit, url, patch and 9 more.`},
		{`["a"]`, `The arguments must be one JSON object, but are an array: ["a"].`},
		{`"hello"`, `The arguments must be one JSON object, but are a string: "hello".`},
		{`5`, `The arguments must be one JSON object, but are a number: 5.`},
	} {
		p, err := c.Prepare([]byte(row.raw))
		if err != nil {
			t.Errorf("%s: %v", row.raw, err)
			continue
		}
		if len(p.Problems) == 0 {
			t.Errorf("%s: no problem, got %s", row.raw, p.Args)
			continue
		}
		if diff := cmp.Diff(row.want, p.Problems[0].Message); diff != "" {
			t.Errorf("%s: %s", row.raw, diff)
		}
		if pr := p.Problems[0]; pr.Expected == "" && pr.Kind != schema.Missing {
			t.Errorf("%s: no expectation: %+v", row.raw, pr)
		}
	}
	type none struct{}
	p, err := compileFor[none](t).Prepare([]byte(`{"a":1}`))
	if err != nil || len(p.Problems) != 1 || p.Problems[0].Message != `Unknown property "a". There are no properties here.` {
		t.Errorf("%+v %v", p, err)
	}
}

// Every problem of a call is reported, up to a bound that the last problem names.
func TestT6_AllProblems(t *testing.T) {
	c := compileFor[call](t)
	p, err := c.Prepare([]byte(`{"path":1,"nope":2,"at":{},"limit":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pr := range p.Problems {
		got = append(got, string(pr.Kind)+" "+pr.Path)
	}
	if diff := cmp.Diff([]string{"wrong path", "unknown nope", "missing at.x", "wrong limit"}, got); diff != "" {
		t.Error(diff)
	}
	p, err = c.Prepare([]byte(`{"sizes":[` + strings.Repeat(`"x",`, 99) + `"x"]}`))
	if err != nil || len(p.Problems) != 17 || p.Problems[16].Message != "There are 84 more problems like these." {
		t.Errorf("%v %+v", err, p.Problems[len(p.Problems)-1])
	}
	// Long values are clipped at 80 characters.
	p, err = c.Prepare([]byte(`{"limit":"` + strings.Repeat("é", 5000) + `"}`))
	if err != nil || len(p.Problems[0].Message) > 300 || !strings.Contains(p.Problems[0].Message, strings.Repeat("é", 79)+"…") {
		t.Errorf("%v %s", err, p.Problems[0].Message)
	}
}

// T6: a truncated argument object is never completed; text that is not one JSON object is an error with its place.
func TestT6_Syntax(t *testing.T) {
	c := compileFor[call](t)
	whole := `{"path":"a\n\u00e9\ud83d\ude00","sizes":[1,-2.5e3],"at":{"x":true,"y":null}}`
	if _, err := c.Prepare([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	for text, from := range map[string]int{whole: 1, string(quoted): 1, "```json\n" + whole + "\n```": 3} {
		for i := from; i < len(text); i++ {
			p, err := c.Prepare([]byte(text[:i]))
			var se *schema.SyntaxError
			if !errors.As(err, &se) || !se.Truncated || len(p.Repairs) > 0 {
				t.Errorf("%q: %v %v", text[:i], err, p)
			}
		}
	}
	for _, row := range []struct {
		raw    string
		offset int64
		reason string
	}{
		{`{"a":1} x`, 8, "text after the end"},
		{`{"a":1}{"b":2}`, 7, "text after the end"},
		{`{"a":1}}`, 7, "text after the end"},
		{`{a:1}`, 1, "a name in double quotes"},
		{`{'a':1}`, 1, "a name in double quotes"},
		{`{"a":1,}`, 7, "a name in double quotes"},
		{`{"a" 1}`, 5, "':' was expected"},
		{`{"a":1 "b":2}`, 7, "',' or '}'"},
		{`{"a":[1 2]}`, 8, "',' or ']'"},
		{`{"a":tru}`, 5, `found "t"`},
		{`{"a":None}`, 5, `found "N"`},
		{`{"a":01}`, 6, "a digit"},
		{`{"a":1.}`, 7, "a digit"},
		{`{"a":+1}`, 5, `found "+"`},
		{"{\"a\":\"x\ny\"}", 7, "control character"},
		{`{"a":"\x"}`, 7, `unknown escape \x`},
		{`{"a":"\u12g4"}`, 10, "hexadecimal"},
		{`{"a":"\ud83d"}`, 7, "surrogate"},
		{`{"a":"\ude00"}`, 7, "surrogate"},
		{`{"a":"\ud83d\u0041"}`, 7, "surrogate"},
		{"{\"a\":\"\xff\"}", 6, "invalid UTF-8"},
		{"\ufeff{}", 0, "a value was expected"},
		{strings.Repeat(`{"a":`, 600), 2560, "nested deeper"},
	} {
		_, err := c.Prepare([]byte(row.raw))
		var se *schema.SyntaxError
		if !errors.As(err, &se) || se.Truncated || se.Offset != row.offset || !strings.Contains(se.Reason, row.reason) {
			t.Errorf("%.40q: got %v, want byte %d: %s", row.raw, err, row.offset, row.reason)
		}
	}
}

// Foreign schemas (other MCP servers): $ref, null unions and maps are walked, the rest goes to jsonschema-go.
func TestForeignSchemas(t *testing.T) {
	for _, row := range []struct{ name, schema, raw, want, problem string }{
		{"ref", `{"type":"object","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}},"required":["v"]}},
			"properties":{"n":{"$ref":"#/$defs/n"}}}`, `{"n":{"v":"1","next":"{\"v\":2}"}}`, `{"n":{"v":1,"next":{"v":2}}}`, ""},
		{"ref to root", `{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#"}},"v":{"type":"boolean"}},"additionalProperties":false}`,
			`{"c":[{"v":"true"},{"w":1}]}`, "", "unknown c[1].w"},
		{"null union", `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}],"default":null}}}`, `{"a":"5"}`, `{"a":5}`, ""},
		{"null union takes null", `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, `{"a":null}`, `{"a":null}`, ""},
		{"null union refuses", `{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"integer"}]}}}`, `{"a":"x"}`, "", "wrong a"},
		{"type array", `{"type":"object","properties":{"a":{"type":["integer","null"]},"b":{"type":["string","integer"]}}}`, `{"a":"5","b":"5"}`, `{"a":5,"b":"5"}`, ""},
		{"open object keeps names", `{"type":"object","properties":{"path":{"type":"string"}}}`, `{"file_path":"a"}`, `{"file_path":"a"}`, ""},
		{"open object, required name", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`, `{"file_path":"a"}`, `{"path":"a"}`, ""},
		{"open object, both names", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`, `{"path":"b","file_path":"a"}`, `{"path":"b","file_path":"a"}`, ""},
		{"open object, something else is missing", `{"type":"object","properties":{"path":{"type":"string"},"q":{}},"required":["q"]}`, `{"file_path":"a"}`, `{"file_path":"a"}`, "missing q"},
		{"open object, both names, something else is missing", `{"type":"object","properties":{"path":{"type":"string"},"q":{}},"required":["path","q"]}`,
			`{"path":"b","file_path":"a"}`, `{"path":"b","file_path":"a"}`, "missing q"},
		{"required without property", `{"type":"object","required":["q"]}`, `{}`, "", "missing q"},
		{"const", `{"type":"object","properties":{"k":{"const":"x"}}}`, `{"k":"y"}`, "", "wrong k"},
		{"enum of numbers", `{"type":"object","properties":{"k":{"enum":[1,2,null]}}}`, `{"k":"2"}`, `{"k":2}`, ""},
		{"any", `{"type":"object","properties":{"a":true,"b":{}}}`, `{"a":{"x":null},"b":"5"}`, `{"a":{"x":null},"b":"5"}`, ""},
		{"false property", `{"type":"object","properties":{"a":false}}`, `{"a":1}`, "", "wrong a"},
		{"null for an optional choice", `{"type":"object","properties":{"a":{"anyOf":[{"type":"boolean"},{"type":"string"}]},"b":{"oneOf":[{"type":"null"},{"enum":[null,1]}]},
			"c":{"allOf":[{"type":"string"},{}]},"d":{"not":{"type":"null"}},"e":{"if":{"type":"null"},"then":false},"f":{"not":{"type":"string"}}}}`,
			`{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null}`, `{"f":null}`, ""},
		{"null for a required choice", `{"type":"object","properties":{"a":{"anyOf":[{"type":"boolean"},{"type":"string"}]}},"required":["a"]}`, `{"a":null}`, "", "missing a"},
		{"choice without strings", `{"type":"object","properties":{"a":{"anyOf":[{"type":"boolean"},{"type":"number"}]},"b":{"oneOf":[{"type":"array"},{"type":"object","required":["x"]}]}}}`,
			`{"a":"5","b":"[1]"}`, `{"a":5,"b":[1]}`, ""},
		{"choice without strings, inside wrong", `{"type":"object","properties":{"b":{"oneOf":[{"type":"array"},{"type":"object","required":["x"]}]}}}`, `{"b":"{}"}`, "", "wrong "},
		{"oneOf", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer","minimum":5}]}}}`, `{"a":3}`, "", "wrong "},
		{"oneOf fits", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"a":"3"}`, `{"a":"3"}`, ""},
		{"root anyOf", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"c":1}`, "", "wrong "},
		{"tuple", `{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}}}`, `{"t":["a","b"]}`, "", "wrong "},
		{"pattern properties", `{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"y":1}`, "", "wrong "},
		{"dependent", `{"type":"object","dependentRequired":{"a":["b"]}}`, `{"a":1}`, "", "wrong "},
		{"multipleOf", `{"type":"object","properties":{"n":{"type":"number","multipleOf":0.5}}}`, `{"n":"1.5"}`, `{"n":1.5}`, ""},
		{"lookahead is left unchecked", `{"type":"object","properties":{"s":{"type":"string","pattern":"^(?!x)a+$"},"u":{"type":"array","uniqueItems":true}}}`, `{"s":"b"}`, `{"s":"b"}`, ""},
		{"draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"urn:x","type":"object","definitions":{"s":{"type":"string"}},
			"properties":{"l":{"type":"array","items":[{"$ref":"#/definitions/s"}]}}}`, `{"l":[1]}`, "", "wrong "},
		{"own id in ref", `{"$id":"https://x.example/s","type":"object","$defs":{"s":{"type":"integer"}},"properties":{"a":{"$ref":"https://x.example/s#/$defs/s"}}}`, `{"a":"1"}`, `{"a":1}`, ""},
		{"escaped pointer", `{"type":"object","$defs":{"a/b c~":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/a~1b%20c~0"}}}`, `{"a":"1"}`, `{"a":1}`, ""},
		{"anchor", `{"type":"object","$defs":{"s":{"$anchor":"n","type":"integer"}},"properties":{"a":{"$ref":"#n"}}}`, `{"a":"1"}`, `{"a":1}`, ""},
		{"ref with siblings", `{"type":"object","$defs":{"s":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/s","minimum":3}}}`, `{"a":2}`, "", "wrong "},
		{"unknown draft", `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"a":{"not":{"type":"boolean"}}}}`, `{"a":true}`, "", "wrong "},
		{"many properties", `{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{},"i":{},"j":{"type":"integer"}},"additionalProperties":{"type":"string"}}`,
			`{"j":"1","k":"x"}`, `{"j":1,"k":"x"}`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var s jsonschema.Schema
			if err := json.Unmarshal([]byte(row.schema), &s); err != nil {
				t.Fatal(err)
			}
			c, err := schema.Compile(&s)
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.Prepare([]byte(row.raw))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(p.Problems) > 0 {
				got = string(p.Problems[0].Kind) + " " + p.Problems[0].Path
			}
			if got != row.problem || row.want != "" && string(p.Args) != row.want {
				t.Errorf("got %s, problem %q (%+v)", p.Args, got, p.Problems)
			}
			if strings.HasPrefix(row.name, "lookahead") && !slices.Equal(c.Unchecked(), []string{`s: pattern "^(?!x)a+$"`}) {
				t.Errorf("unchecked: %q", c.Unchecked())
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	loop := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	loop.Properties["a"] = loop
	wide := `{"type":"object","$defs":{"a0":{"type":"string"}`
	for i := 1; i < 30; i++ {
		wide += strings.NewReplacer("I", string(rune('a'+i)), "P", string(rune('a'+i-1))).Replace(`,"I0":{"allOf":[{"$ref":"#/$defs/P0"},{"$ref":"#/$defs/P0"}]}`)
	}
	wide += `},"properties":{"x":{"$ref":"#/$defs/z0"}}}`
	for _, row := range []struct {
		name, schema string
		in           *jsonschema.Schema
		want         string
	}{
		{"nil", "", nil, "nil schema"},
		{"nil child", "", &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"a": nil}}, "a: a nil schema"},
		{"ring of pointers", "", loop, "nests deeper"},
		{"both types", "", &jsonschema.Schema{Type: "object", Types: []string{"object"}}, "both Type and Types"},
		{"root is a string", `{"type":"string"}`, nil, "the root accepts a string"},
		{"unknown type", `{"type":"object","properties":{"a":{"type":"file"}}}`, nil, `a: unknown type "file"`},
		{"dangling ref", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, nil, "names nothing"},
		{"dangling anchor", `{"type":"object","properties":{"a":{"$ref":"#x"}}}`, nil, "names nothing"},
		{"remote ref", `{"type":"object","properties":{"a":{"$ref":"https://x.example/y"}}}`, nil, "points outside"},
		{"dynamic ref", `{"type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`, nil, "not supported"},
		{"inner id", `{"type":"object","properties":{"a":{"$id":"https://x.example/y"}}}`, nil, "not supported"},
		{"ring of references", `{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`, nil, "leads back to itself"},
		{"self reference in a branch", `{"type":"object","anyOf":[{"$ref":"#"},{"type":"null"}]}`, nil, "leads back to itself"},
		{"too much in one place", wide, nil, "more than 10000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := row.in
			if row.schema != "" {
				s = new(jsonschema.Schema)
				if err := json.Unmarshal([]byte(row.schema), s); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := schema.Compile(s); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	names := []string{"read_file", "write_file", "list_dir", "glob", "grep"}
	for word, want := range map[string]string{
		"readFile": "read_file", "read-file": "read_file", "raed_file": "read_file", "wrte_file": "write_file", "ls": "", "grpe": "grep", "blob": "glob",
		"": "", "delete_everything_now": "", "READ_FILE": "read_file",
	} {
		if got := schema.Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

// The table of aliases holds no name twice for one property and none that is canonical for itself.
func TestT16_AliasTable(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, a := range schema.Aliases() {
		key := [2]string{a.Name, a.To + a.Says}
		if seen[key] || a.Name == a.To || a.Name == "" || a.To == "" {
			t.Errorf("%+v", a)
		}
		seen[key] = true
	}
	if len(seen) < 60 {
		t.Errorf("only %d aliases", len(seen))
	}
}
