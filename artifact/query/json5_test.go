package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestJSON5(t *testing.T) {
	num := func(s string) json.Number { return json.Number(s) }
	for in, want := range map[string]any{
		`{a: 1, 'b': 2, "c": 3, $d_1: 4, ü: 5, \u0065x: 6}`: map[string]any{"a": num("1"), "b": num("2"), "c": num("3"), "$d_1": num("4"), "ü": num("5"), "ex": num("6")},
		"[1, 2,] // end":           []any{num("1"), num("2")},
		"/* a */ [ /* b */ ] /**/": []any{},
		"{}":                       map[string]any{},
		`'it\'s "x" \x41\u00e9\ud83d\ude00\0\v\q'`:            "it's \"x\" Aé😀\x00\vq",
		"'two\\\nlines\\\r\nhere'":                            "twolineshere",
		"[0x1F, -0XfF, +1, .5, 5., -.5e3, 1e-2, 5.e1, +0x10]": []any{num("31"), num("-255"), num("1"), num("0.5"), num("5.0"), num("-0.5e3"), num("1e-2"), num("5.0e1"), num("16")},
		"[NaN, -NaN, Infinity, -Infinity, +Infinity]":         []any{math.NaN(), math.NaN(), math.Inf(1), math.Inf(-1), math.Inf(1)},
		"[null,true,false]":                                   []any{nil, true, false},
		"\ufeff\u00a0\u2003{ a\u2028:\u2029 1 }":              map[string]any{"a": num("1")},
		`{a:1,a:2}`:                                           map[string]any{"a": num("2")},
		`"\ud800x"`:                                           "\uFFFDx",
		"{null: 1, Infinity: 2}":                              map[string]any{"null": num("1"), "Infinity": num("2")},
	} {
		got, err := parseJSON5(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s (-want +got):\n%s", in, d)
		}
	}
}

func TestJSON5Errors(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "line 1, column 1: a value is missing",
		"{a:1\n b:2}":              "line 2, column 2: found 'b' instead of ',' or '}'",
		"{a 1}":                    `line 1, column 4: found '1' instead of ':' behind key "a"`,
		"[1,,2]":                   "line 1, column 4: found ',' instead of a key or value",
		"[1":                       "line 1, column 3: found the end instead of ',' or ']'",
		"é x":                      `line 1, column 1: "é" is no value`,
		"1 2":                      "line 1, column 3: '2' stands behind the value",
		"'a\nb'":                   "line 1, column 3: a string has no end on its line",
		`"\u12"`:                   `line 1, column 4: an escape is cut off`,
		`"\xzz "`:                  `line 1, column 4: "zz" are no hexadecimal digits`,
		`"\1"`:                     `line 1, column 4: \1 is no escape`,
		"01":                       `line 1, column 1: "01" is no number`,
		"1e":                       `line 1, column 1: "1e" is no number`,
		"0x":                       `line 1, column 1: "0x" is no number`,
		"--1":                      `line 1, column 1: "-" is no number`,
		"/* x":                     "line 1, column 1: a comment has no end",
		strings.Repeat("[", 10001): "line 1, column 10001: nested deeper than 10000",
		"{":                        "line 1, column 2: found the end instead of a key or value",
	} {
		_, err := parseJSON5(in)
		var se *syntaxError
		if !errors.As(err, &se) || err.Error() != want {
			t.Errorf("%.40q: error %v, want %s", in, err, want)
		}
	}
}

// Every JSON document is a JSON5 document with the same meaning.
func FuzzJSON5(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\n"],"b":{}}`, "[]", "1", "{a:'b',}", "[0x1,NaN]", `"\ud83d\ude00"`, "// c\n{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseJSON5(s)
		var want any
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if dec.Decode(&want) == nil && len(bytes.TrimSpace([]byte(s)[dec.InputOffset():])) == 0 {
			if err != nil {
				t.Fatalf("JSON is refused as JSON5: %v", err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("(-JSON +JSON5):\n%s", d)
			}
		}
		if err == nil {
			if out := encode(got); !json.Valid(out) {
				t.Fatalf("encoded as %s", out)
			}
		}
	})
}

// No content and no question make the package panic or break its bounds.
func FuzzRun(f *testing.F) {
	f.Add("{\"a\":[1,{\"b\":2}]}", "x.json", "$.a[1].b", 3)
	f.Add("{\"a\":1}\n{\"a\":2}\n", "x.jsonl", "a", -1)
	f.Add("# A\ntext\n## B\nmore\n", "x.md", "B", 2)
	f.Add("one\ntwo\r\nthree", "x.txt", "t.*o|three", 0)
	f.Fuzz(func(t *testing.T, content, name, arg string, n int) {
		src := Source{ReaderAt: strings.NewReader(content), Size: int64(len(content)), Name: name}
		for _, qu := range questions() {
			if qu.op == Filter {
				continue // has its own parser and fuzz tests, and a clock
			}
			q := Query{Op: qu.op, Count: n, From: int64(n), Column: n, Pattern: arg, Path: arg, Start: n, End: &n, Fields: []string{arg}, Section: arg, Offset: n % 5, Limit: n}
			a, err := Run(t.Context(), src, q)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%s: %v", qu.op, err)
			}
			if len(a.Text) > 51200+8000 {
				t.Fatalf("%s: %d bytes", qu.op, len(a.Text))
			}
			if _, err := json.Marshal(a); err != nil {
				t.Fatalf("%s: %v", qu.op, err)
			}
		}
	})
}

func BenchmarkQueries(b *testing.B) {
	var doc bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&doc, "{\"id\":%d,\"level\":\"info\",\"msg\":\"request %d handled in time\"}\n", i, i*7)
	}
	src := named("x.jsonl", doc.String())
	for _, q := range []Query{
		{Op: Head}, {Op: Tail}, {Op: Cat, From: 90000, To: 90010}, {Op: Tokens},
		{Op: Grep, Pattern: "99993 handled"}, {Op: Grep, Pattern: `request \d+993 `}, {Op: Grep, Pattern: "absent"},
		{Op: Get, Path: "$.id", Offset: 99990}, {Op: Filter, Program: "select(.id == 99999)"}, {Op: Keys},
	} {
		b.Run(fmt.Sprintf("%s %s%s%s", q.Op, q.Pattern, q.Path, q.Program), func(b *testing.B) {
			b.SetBytes(src.Size)
			for b.Loop() {
				run(b, src, q)
			}
		})
	}
}
