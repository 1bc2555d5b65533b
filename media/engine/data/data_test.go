package data

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	yaml "go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func run(t testing.TB, name, content, statement string) (string, error) {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Query(t.Context(), media.Payload{Data: []byte(content), Name: name}, statement)
	if err != nil {
		return "", err
	}
	if res.Read != nil {
		b, _ := json.Marshal(res.Read.Data)
		return string(b), nil
	}
	return string(res.Media.Data), nil
}

func TestM2_DataEdits(t *testing.T) {
	const nice = "{\n  \"z\": 1.10,\n  \"a\": {\n    \"b\": [1, 2]\n  }\n}\n"
	const y = "# top\nz: 1.10 # first\na:\n  # inner\n  b:\n    - 1\n    - 2\n"
	for _, tt := range []struct{ name, in, do, want string }{
		{"a.json", nice, `data set path=z value=2`, strings.Replace(nice, "1.10", "2", 1)},
		{"a.json", nice, `data set path="a.b[1]" value='"x"'`, strings.Replace(nice, "1, 2", `1, "x"`, 1)},
		{"a.json", nice, `data set path="a.b[2]" value=3`, strings.Replace(nice, "1, 2", `1, 2, 3`, 1)},
		{"a.json", nice, `data set path="a.c.d[0]" value=true`, "{\n  \"z\": 1.10,\n  \"a\": {\n    \"b\": [1, 2],\n    \"c\": {\n      \"d\": [\n        true\n      ]\n    }\n  }\n}\n"},
		{"a.json", nice, `data set path=z value='{"x":[1,{"y":null}]}'`, "{\n  \"z\": {\n    \"x\": [\n      1,\n      {\n        \"y\": null\n      }\n    ]\n  },\n  \"a\": {\n    \"b\": [1, 2]\n  }\n}\n"},
		{"a.json", `{"a":1,"b":2}`, `data set path=c value=3`, `{"a":1,"b":2,"c":3}`},
		{"a.json", `{"a": 1}`, `data set path=c value='{"x":1}'`, `{"a": 1, "c": {"x":1}}`},
		{"a.json", `{}`, `data set path=c value=3`, "{\n  \"c\": 3\n}"},
		{"a.json", ``, `data set path="c[0].x" value=3`, "{\n  \"c\": [\n    {\n      \"x\": 3\n    }\n  ]\n}\n"},
		{"a.json", `null`, `data set path=c value=3`, `{"c":3}`},
		{"a.json", `{"a.b":{"c":1}}`, `data set path="[\"a.b\"].c" value=2`, `{"a.b":{"c":2}}`},
		{"a.json", `{"é":"\u00e9","n":1e5}`, `data set path="é" value=x`, `{"é":"x","n":1e5}`},
		{"a.json", nice, `data delete path=z`, "{\n  \"a\": {\n    \"b\": [1, 2]\n  }\n}\n"},
		{"a.json", nice, `data delete path=a`, "{\n  \"z\": 1.10\n}\n"},
		{"a.json", nice, `data delete path="a.b[0]"`, strings.Replace(nice, "1, 2", "2", 1)},
		{"a.json", `{"a":[1]}`, `data delete path="a[0]"`, `{"a":[]}`},
		{"a.json", `{"a":{"b":{"x":1,"y":2}},"k":0}`, `data merge fragment='{"a":{"b":{"y":3,"z":4}},"n":5}'`, `{"a":{"b":{"x":1,"y":3,"z":4}},"k":0,"n":5}`},
		{"a.json", `{"a":{"b":{"x":1}}}`, `data merge fragment='{"a":{"c":1}}' strategy=shallow`, `{"a":{"c":1}}`},

		{"a.yaml", y, `data set path=z value=2`, strings.Replace(y, "1.10", "2", 1)},
		{"a.yaml", y, `data set path="a.b[2]" value='"yes"'`, y + "    - \"yes\"\n"},
		{"a.yaml", y, `data set path=a.c.d value=hello`, y + "  c:\n    d: hello\n"},
		{"a.yaml", y, `data delete path="a.b[0]"`, strings.Replace(y, "    - 1\n", "", 1)},
		{"a.yaml", y, `data merge fragment='{"a":{"e":1.50},"z":null}'`, "# top\nz: null # first\na:\n  # inner\n  b:\n    - 1\n    - 2\n  e: 1.50\n"},
		{"a.yaml", "", `data set path="a[0]" value=1`, "a:\n  - 1\n"},
		{"a.yaml", "base: &b\n  x: 1\nuse: *b\n", `data set path=base.y value=2`, "base: &b\n  x: 1\n  y: 2\nuse: *b\n"},
	} {
		got, err := run(t, tt.name, tt.in, tt.do)
		if err != nil || got != tt.want {
			t.Errorf("%s on %q\n got %q (%v)\nwant %q", tt.do, tt.in, got, err, tt.want)
		}
	}
}

func TestM6_DataFailures(t *testing.T) {
	for _, tt := range []struct{ name, in, do, want string }{
		{"a.json", `{"a":[1],"b":5}`, `data set path="a[4]" value=1`, "data set: a has 1 items, so the next index is 1, not 4."},
		{"a.json", `{"b":5}`, `data set path="a.x[1]" value=1`, "data set: a.x is not there yet, so its first index is 0, not 1."},
		{"a.yaml", `{"b":5}`, `data set path="a.x[1]" value=1`, "data set: a.x is not there yet, so its first index is 0, not 1."},
		{"a.json", `{"a":[1],"b":5}`, `data set path=b.c value=1`, `data set: b is a number, so it has no "c".`},
		{"a.json", `{"a":[1],"b":5}`, `data delete path=c`, `data delete: there is no c; the root has "a", "b".`},
		{"a.json", `{"a":[1],"b":5}`, `data delete path="a[1]"`, `data delete: there is no a[1]; a has 1 items, from [0].`},
		{"a.json", `{"a":1`, `data delete path=a`, `data delete: it is no valid JSON: line 1: unexpected end of JSON input. Mend it with update_text first.`},
		{"a.json", `[]`, `data merge fragment='{}'`, `data merge: a.json is an array at its root; only into an object can be merged. Use data set with a path.`},
		{"a.json", `{}`, `data merge fragment='[]'`, `data merge: the fragment is an array; only an object can be merged.`},
		{"a.json", `{}`, `data set path="a..b" value=1`, `data set: the path "a..b" has an empty name. Write it as in server.ports[0] or ["a.b"].c.`},
		{"a.json", strings.Repeat("[", 300) + strings.Repeat("]", 300), `data set path="[0]" value=1`, "data set: the JSON is nested deeper than 200."},
		{"a.yaml", "a: 1\n---\nb: 2\n", `data set path=a value=1`, "data set: it holds several YAML documents; only a file with one can be changed."},
		{"a.yaml", "a: [", `data set path=a value=1`, "data set: it is no valid YAML: line 1: did not find expected node content."},
		{"a.yaml", "a: &x 1\nb: *x\n", `data delete path=a`, "data delete: a holds an anchor that aliases elsewhere need; delete those first."},
		{"a.yaml", "a: {b: 1}\nb:\n  <<: {c: 1}\n", `convert to=json`, "convert: line 3: << merges keys, which JSON cannot say; write them out first."},
		{"a.json", `{"a":1}`, `convert to=csv`, "convert: it is an object at its root; a table is made of an array of arrays or of objects."},
	} {
		_, err := run(t, tt.name, tt.in, tt.do)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s on %.40q\n got %v\nwant %s", tt.do, tt.in, err, tt.want)
		}
	}
}

func TestM2_DataConversions(t *testing.T) {
	for _, tt := range []struct{ name, in, to, want string }{
		{"a.json", `{"z":1.10,"a":["x",null,true]}`, "yaml", "z: 1.10\na:\n  - x\n  - null\n  - true\n"},
		{"a.yaml", "z: 1.10 # c\na: [yes, 'no', ~]\n", "json", "{\n  \"z\": 1.10,\n  \"a\": [\n    \"yes\",\n    \"no\",\n    null\n  ]\n}\n"},
		{"a.yaml", "a: &x {k: 0x10}\nb: *x\n", "json", "{\n  \"a\": {\n    \"k\": 16\n  },\n  \"b\": {\n    \"k\": 16\n  }\n}\n"},
		{"a.csv", "a;b\n\"x;\ny\";2\n", "json", "[\n  [\"a\",\"b\"],\n  [\"x;\\ny\",\"2\"]\n]\n"},
		{"a.json", `[{"b":1,"a":"x,y"},{"c":{"d":[1]},"a":null}]`, "csv", "b,a,c\n1,\"x,y\",\n,,\"{\"\"d\"\":[1]}\"\n"},
		{"a.json", `[[1,"a"],[2.50]]`, "csv", "1,a\n2.50\n"},
	} {
		got, err := run(t, tt.name, tt.in, "convert to="+tt.to)
		if err != nil || got != tt.want {
			t.Errorf("%s to %s\n got %q (%v)\nwant %q", tt.in, tt.to, got, err, tt.want)
		}
	}
}

func TestMED004_AliasesThatGrow(t *testing.T) {
	b := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		p := string(rune('0' + i - 1))
		b += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat("*a"+p+",", 9) + "*a" + p + "]\n"
	}
	_, err := run(t, "bomb.yaml", b, "convert to=json")
	if err == nil || !strings.Contains(err.Error(), "larger than is allowed") {
		t.Errorf("got %v", err)
	}
}

func TestMED004_AnAliasOfItself(t *testing.T) {
	for _, do := range []string{"convert to=json", "data set path=\"a[0][0][0]\" value=1", "data merge fragment='{\"b\":1}'"} {
		if out, err := run(t, "a.yaml", "a: &a [*a]\n", do); err == nil && do == "convert to=json" {
			t.Errorf("%s gave %q", do, out)
		}
	}
}

func TestRichCSV(t *testing.T) {
	const sample = "testdata/rich.csv"
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(t, "rich.csv", string(b), "extract metadata")
	if err != nil || !strings.Contains(got, `"rows":`) {
		t.Errorf("%s %v", got, err)
	}
}

// What a set puts there is what is there, and nothing else changed; for JSON and YAML.
func TestSetProperty(t *testing.T) {
	value := func(depth int) *rapid.Generator[any] { return genValue(depth) }
	rapid.Check(t, func(rt *rapid.T) {
		doc := rapid.MapOfN(key, value(2), 0, 4).Draw(rt, "document")
		k, v := key.Draw(rt, "key"), value(2).Draw(rt, "value")
		src, err := json.MarshalIndent(doc, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(rt, "indent"))
		if err != nil {
			rt.Fatal(err)
		}
		raw, _ := json.Marshal(v)
		path, _ := json.Marshal(k)
		statement := "[" + string(path) + "]"
		doc[k] = v
		want, _ := json.Marshal(doc)
		p, err := media.New(media.Config{Engines: []media.Engine{Engine()}})
		if err != nil {
			rt.Fatal(err)
		}
		for _, name := range []string{"a.json", "a.yaml"} {
			in := string(src)
			if name == "a.yaml" {
				out, err := run(t, "a.json", in, "convert to=yaml")
				if err != nil {
					rt.Fatal(err)
				}
				in = out
			}
			res, err := p.Build().Then("data.set", media.Args{"path": statement, "value": map[string]json.RawMessage{"$json": raw}}).Run(t.Context(), media.Payload{Data: []byte(in), Name: name}, media.RunOptions{})
			if err != nil {
				rt.Fatal(err)
			}
			var got any
			if name == "a.json" {
				err = json.Unmarshal(res.Media.Data, &got)
			} else {
				err = yaml.Unmarshal(res.Media.Data, &got)
			}
			b, _ := json.Marshal(got)
			if err != nil || string(b) != string(want) {
				rt.Fatalf("%s: %s\nset %s = %s\ngot  %s (%v)\nwant %s", name, in, statement, raw, res.Media.Data, err, want)
			}
		}
	})
}

var key = rapid.StringMatching(`[a-z."\[\] é]{1,4}`)

func genValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Custom(func(t *rapid.T) any { return rapid.StringMatching(`[ -~é\n]{0,6}`).Draw(t, "s") }), rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(-9, 99).Draw(t, "n") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "b") }), rapid.Just(any(nil)))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(key, genValue(depth-1), 0, 3).Draw(t, "object") }))
}

func FuzzSet(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "{\n \"a\": [1,\n2]}", `[]`, `null`, ` {} `, `{"a":{}}`, `"x"`} {
		f.Add(s, "a.b[0]")
	}
	f.Fuzz(func(t *testing.T, src, path string) {
		segs, err := parsePath(path)
		if err != nil {
			return
		}
		d := &document{src: src, unit: indentUnit(src)}
		if err := d.set(segs, []byte(`{"v":[1,2]}`)); err != nil {
			return
		}
		root, err := parseJSON(d.src, media.Limits{})
		if err != nil {
			t.Fatalf("%q set %q is %q: %v", src, path, d.src, err)
		}
		for _, s := range segs {
			if root, _ = step(root, s); root == nil {
				t.Fatalf("%q set %q is %q, which does not hold it", src, path, d.src)
			}
		}
		if err := d.remove(segs); err != nil {
			t.Fatalf("%q: remove %q: %v", d.src, path, err)
		}
		if !json.Valid([]byte(d.src)) {
			t.Fatalf("%q without %q is %q", src, path, d.src)
		}
	})
}
