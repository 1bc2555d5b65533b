package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/internal/clip"
)

func text(s string) Source {
	return Source{ReaderAt: strings.NewReader(s), Size: int64(len(s)), Name: "test"}
}

func named(name, s string) Source {
	src := text(s)
	src.Name = name
	return src
}

func run(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, src Source, q Query) Answer {
	t.Helper()
	a, err := Run(context.Background(), src, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return a
}

// TestO6_Cases runs the questions in testdata/*.txt: a document and, for each question, the answer's text or error.
func TestO6_Cases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("found only %d files of cases: %v", len(files), err)
	}
	cases := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(data), "\n=== ")
		if !ok {
			t.Fatalf("%s has no question", f)
		}
		name, body, _ := strings.Cut(head, "\n")
		src := named(strings.TrimPrefix(name, "# "), body+"\n")
		var out strings.Builder
		out.WriteString(head)
		for _, c := range strings.Split(rest, "\n=== ") {
			question, want, _ := strings.Cut(c, "\n")
			cases++
			var q Query
			dec := json.NewDecoder(strings.NewReader(question))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&q); err != nil {
				t.Fatalf("%s: question %s: %v", f, question, err)
			}
			a, err := Run(t.Context(), src, q)
			got := a.Text
			if err != nil {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %s: %v", f, question, err)
				}
				got = fmt.Sprintf("! %s %s: %v", e.Code, e.Field, e)
			}
			if os.Getenv("UPDATE") == "" && got != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s: %s\n%s", f, question, cmp.Diff(strings.TrimSuffix(want, "\n"), got))
			}
			if _, err := json.Marshal(a); err != nil {
				t.Errorf("%s: %s: the data is not JSON: %v", f, question, err)
			}
			out.WriteString("\n=== " + question + "\n" + got + "\n")
		}
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(f, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cases < 60 {
		t.Errorf("only %d cases were found", cases)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, mime, data string
		want             Format
	}{
		{"x.json", "", "", JSON}, {"x.jsonl", "", "{", JSONLines}, {"x.md", "", "x", Markdown}, {"x.jsonc", "", "", JSON5},
		{"x.json", "", "a\x00b", Binary}, {"x", "application/json; charset=utf-8", "x", JSON}, {"x", "application/vnd.api+json", "x", JSON},
		{"x", "image/png", "x", Binary}, {"x", "text/plain", `{"a":1}`, JSON}, {"x", "", "{\"a\":1}\n{\"a\":2}\n", JSONLines},
		{"x", "", "{\n \"a\": 1\n}\n", JSON}, {"x", "", "[1]\n", JSON}, {"x", "", "[info] started\n[info] more\n", Text},
		{"x", "", "[1]\nhello\n", Text}, {"x", "", "{not json", Text}, {"x", "", "", Text}, {"x", "", "plain", Text},
		{"x", "", "caf\xe9 au lait et encore un peu de texte", Text}, {"x", "", "\x89\x8a\x8b\x8c\xff\xfe\xfd", Binary},
		{"x", "", `{"a":"` + strings.Repeat("x", 20000) + `"}`, JSON}, {"x", "", "[" + strings.Repeat("INFO a b c ", 2000), Text},
		{"x", "", `{"a":"` + strings.Repeat("x", 5000) + "\"}\n{\"a\":\"" + strings.Repeat("y", 20000), JSONLines},
	} {
		src := named(c.name, c.data)
		src.MIME = c.mime
		if got, err := Detect(src); got != c.want || err != nil {
			t.Errorf("%s %s %.20q: %s, %v, want %s", c.name, c.mime, c.data, got, err, c.want)
		}
	}
}

func TestO6_Errors(t *testing.T) {
	long := `{"a":[` + strings.Repeat("1,", 1000) + `1]}`
	for _, c := range []struct {
		name string
		src  Source
		q    Query
		code Code
		says []string
	}{
		{"unknown op", text("x"), Query{Op: "sort"}, CodeInvalid, []string{`unknown op "sort"`, "head, tail"}},
		{"JSON op on text", text("x"), Query{Op: Keys}, CodeFormat, []string{"keys needs JSON or JSON5 or JSON lines, but test is text", "there is: describe, head"}},
		{"text op on binary", text("\x00"), Query{Op: Head}, CodeFormat, []string{"head needs text, but test is binary", "describe, size"}},
		{"no pattern", text("x"), Query{Op: Grep}, CodeInvalid, []string{"grep needs a pattern"}},
		{"bad pattern", text("x"), Query{Op: Grep, Pattern: "a("}, CodeInvalid, []string{`"a("`, "missing closing )", "literal=true"}},
		{"line break", text("x"), Query{Op: Grep, Pattern: `a\nb`}, CodeInvalid, []string{"line break"}},
		{"offset", text("x\n"), Query{Op: Grep, Pattern: "x", Offset: 5}, CodeInvalid, []string{"behind the last match; matching lines: 1"}},
		{"from", text("x\n"), Query{Op: Cat, From: 5}, CodeInvalid, []string{"line 5 is behind the end", "has 1 line"}},
		{"too large", named("x.json", long), Query{Op: Keys, MaxJSON: 100}, CodeTooLarge, []string{"2009 bytes", "up to 100", "grep"}},
		{"malformed", named("x.json", "{\n \"a\": 1,\n b c\n}"), Query{Op: Keys}, CodeMalformed, []string{"line 3, column 2", "cat"}},
		{"two values", named("x.json", "{}\n{}"), Query{Op: Keys}, CodeMalformed, []string{"line 1, column 3", "more text"}},
		{"no line is JSON", named("x.jsonl", "a\nb\n"), Query{Op: Type}, CodeMalformed, []string{"no line is a JSON value", "line 1"}},
		{"bad path", named("x.json", "{}"), Query{Op: Get, Path: "$.["}, CodeInvalid, []string{`"$.["`, "$.items[0].name"}},
		{"bad jq", named("x.json", "{}"), Query{Op: Filter, Program: ".a | | .b"}, CodeInvalid, []string{"not a jq program", "character"}},
		{"unknown jq function", named("x.json", "{}"), Query{Op: Filter, Program: "nope"}, CodeInvalid, []string{"nope"}},
		{"jq fails", named("x.json", `{"a":1}`), Query{Op: Filter, Program: ".a.b"}, CodeInvalid, []string{"the jq program fails", "number"}},
		{"jq fails in a line", named("x.jsonl", "{}\n[]\n"), Query{Op: Filter, Program: ".a"}, CodeInvalid, []string{"at line 2"}},
		{"endless jq", named("x.json", "1"), Query{Op: Filter, Program: "def f: f; f", Timeout: 50e6}, CodeTimedOut, []string{"stopped after 50ms"}},
		{"jq reads no files", named("x.json", "1"), Query{Op: Filter, Program: `import "a" as a; 1`}, CodeInvalid, []string{"cannot run"}},
	} {
		_, err := Run(t.Context(), c.src, c.q)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: error %v, want code %s", c.name, err, c.code)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", c.name, err, s)
			}
		}
	}
}

func TestJQSeesNoEnvironment(t *testing.T) {
	t.Setenv("QUERY_CANARY", "secret")
	a := run(t, named("x.json", "1"), Query{Op: Filter, Program: `[env, $ENV]`})
	if strings.Contains(a.Text, "secret") || strings.Contains(a.Text, "PATH") {
		t.Errorf("the program sees %s", a.Text)
	}
}

// Every answer keeps to the limits, beside one line that says how to go on.
func TestO1_AnswersAreBounded(t *testing.T) {
	var lines, array, object strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "{\"id\":%d,\"text\":%q}\n", i, strings.Repeat("é", i%300))
		fmt.Fprintf(&array, ",{\"id\":%d,\"text\":%q}", i, strings.Repeat("x", 100))
		fmt.Fprintf(&object, ",\"key %d\":[1,2,3]", i)
	}
	jsonl, arr, obj := named("x.jsonl", lines.String()), named("x.json", "["+array.String()[1:]+"]"), named("x.json", "{"+object.String()[1:]+"}")
	lim := clip.Limits{Lines: 50, Bytes: 3000}
	for _, c := range []struct {
		src Source
		q   Query
	}{
		{jsonl, Query{Op: Head, Count: 1000}}, {jsonl, Query{Op: Tail, Count: 1000}}, {jsonl, Query{Op: Cat, From: 7}},
		{jsonl, Query{Op: Grep, Pattern: "id", Limit: 1000}}, {jsonl, Query{Op: Grep, Pattern: "9", Limit: 1000, Before: 3, After: 3}},
		{jsonl, Query{Op: Get, Path: "$.text", Limit: 1000}}, {jsonl, Query{Op: Filter, Program: ".", Limit: 1000}},
		{jsonl, Query{Op: Pluck, Fields: []string{"text"}, Limit: 1000}}, {jsonl, Query{Op: Slice, Start: 3, Limit: 1000}},
		{arr, Query{Op: Get, Path: "$[*].text", Limit: 1000}}, {arr, Query{Op: Get}}, {arr, Query{Op: Slice, Limit: 1000}},
		{obj, Query{Op: Keys, Limit: 1000}}, {obj, Query{Op: Get}}, {named("x.md", strings.Repeat("# Title\n", 3000)), Query{Op: Sections}},
	} {
		c.q.Limits = lim
		a := run(t, c.src, c.q)
		kept, note, _ := strings.Cut(a.Text, "\n[")
		if strings.HasPrefix(a.Text, "[") {
			note, kept, _ = strings.Cut(a.Text, "\n")
		}
		if len(kept) > lim.Bytes+50 || strings.Count(kept, "\n") > lim.Lines || strings.Count(note, "\n") > 0 {
			t.Errorf("%s %s: %d bytes, %d lines, note %q", c.src.Name, c.q.Op, len(kept), strings.Count(kept, "\n"), note)
		}
		if !a.Truncated {
			t.Errorf("%s %s: not marked as truncated", c.src.Name, c.q.Op)
		}
	}
}

// Following Next reads everything, once.
func TestO6_NextReadsOn(t *testing.T) {
	var doc strings.Builder
	for i := range 500 {
		fmt.Fprintf(&doc, "{\"id\":%d}\n", i)
	}
	src := named("x.jsonl", doc.String())
	for _, q := range []Query{
		{Op: Cat}, {Op: Head, Count: 7}, {Op: Grep, Pattern: "id", Limit: 60}, {Op: Get, Path: "$.id", Limit: 60},
		{Op: Filter, Program: ".id", Limit: 60}, {Op: Slice, Limit: 60}, {Op: Pluck, Fields: []string{"id"}, Limit: 60},
	} {
		seen := 0
		for next := &q; next != nil; {
			next.Limits = clip.Limits{Lines: 40, Bytes: 700}
			a := run(t, src, *next)
			for row := range strings.Lines(a.Text) {
				if row[0] == '[' {
					continue
				}
				if want := fmt.Sprintf("%d", seen+1); !strings.HasPrefix(row, want+"\t") && !strings.HasPrefix(row, want+":") {
					t.Fatalf("%s: after %d rows came %q", q.Op, seen, row)
				}
				seen++
			}
			next = a.Next
		}
		if seen != 500 {
			t.Errorf("%s: %d rows, want 500", q.Op, seen)
		}
	}
}

func TestEmptyContent(t *testing.T) {
	for _, op := range []Op{Describe, Head, Tail, Cat, Size, Lines, Tokens} {
		if a := run(t, text(""), Query{Op: op}); a.Text == "" {
			t.Errorf("%s of nothing says nothing", op)
		}
	}
	if a := run(t, text(""), Query{Op: Grep, Pattern: "x"}); a.Text != `No line of 0 matches "x".` {
		t.Errorf("grep says %q", a.Text)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src := text(strings.Repeat("line\n", 1<<20))
	for _, q := range []Query{{Op: Head}, {Op: Tail}, {Op: Grep, Pattern: "zzz"}, {Op: Grep, Pattern: "[xyz]$"}, {Op: Tokens}, {Op: Lines}} {
		if _, err := Run(ctx, src, q); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", q.Op, err)
		}
	}
}
