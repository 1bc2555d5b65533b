package pipe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestM1_Statements(t *testing.T) {
	l := Standard()
	for _, tt := range []struct {
		name, src, want string
		plan            []Step
	}{
		{"folding", "extract_text | chunk size=5", "extract text | chunk size=5", []Step{{Verb: "extract.text"}, {Verb: "chunk", Args: map[string]any{"size": 5.0}}}},
		{"folding of three words", "sheet update cells updates='[]'", "sheet update_cells updates='[]'", nil},
		{"folding of two", "sheet update_cells updates='[]'", "sheet update_cells updates='[]'", nil},
		{"folding of one", "Sheet.Update_Cells updates='[]'", "sheet update_cells updates='[]'", nil},
		{"lines and comments", "select # pages\n  pages = 1 , 2,3 # three\r\n| convert to = pdf\n", "select pages=1-3 | convert to=pdf", nil},
		{"runs", "select pages=5,1-2,3,3,4", "select pages=5,1-3,3-4", []Step{{Verb: "select", Args: map[string]any{"pages": Ints{{5, 5}, {1, 3}, {3, 4}}}}}},
		{"a large range costs nothing", "select pages=1-99999", "select pages=1-99999", nil},
		{"regex", `redact match=/[/"]\/x/ig replace=""`, `redact match=/[\/"]\/x/gi replace=""`, []Step{{Verb: "redact", Args: map[string]any{"match": []Match{{Source: `[/"]/x`, Flags: "gi"}}, "replace": ""}}}},
		{"several matches", `redact match="a,b",/x/,plain`, `redact match="a,b",/x/,plain`, nil},
		{"escapes in one pass", `append text="a\\n\n\t\"\'\/\d"`, `append text="a\\n\n\t\"'/\\d"`, []Step{{Verb: "append", Args: map[string]any{"text": "a\\n\n\t\"'/\\d"}}}},
		{"number as text keeps its digits", `append text=007`, `append text="007"`, nil},
		{"index", `sheet delete_rows sheet=2025 rows=1`, `sheet delete_rows sheet=2025 rows=1`, []Step{{Verb: "sheet.delete_rows", Args: map[string]any{"sheet": NameOrIndex{Index: 2025}, "rows": Ints{{1, 1}}}}}},
		{"name", `sheet delete_rows sheet="2025" rows=1`, `sheet delete_rows sheet="2025" rows=1`, []Step{{Verb: "sheet.delete_rows", Args: map[string]any{"sheet": NameOrIndex{Name: "2025"}, "rows": Ints{{1, 1}}}}}},
		{"references", `merge with=@a-1,@empty:xlsx,@"reports/b c.pdf"`, `merge with=@a-1,@empty:xlsx,@"reports/b c.pdf"`, []Step{{Verb: "merge", Args: map[string]any{"with": []MediaID{"a-1", "empty:xlsx", "reports/b c.pdf"}}}}},
		{"JSON with quotes", `data merge fragment='{"a": "it\'s \\n", "n": 1.10}'`, `data merge fragment='{"a":"it\'s \\n","n":1.10}'`, []Step{{Verb: "data.merge", Args: map[string]any{"fragment": json.RawMessage(`{"a":"it's \n","n":1.10}`)}}}},
		{"value: boolean", "data set path=a value=true", "data set path=a value='true'", []Step{{Verb: "data.set", Args: map[string]any{"path": "a", "value": json.RawMessage("true")}}}},
		{"value: number", "data set path=a.b value=1.50", `data set path="a.b" value='1.50'`, nil},
		{"value: text", "data set path=a value=hello", `data set path=a value='"hello"'`, nil},
		{"value: object", `data set path=a value='{"x": [1]}'`, `data set path=a value='{"x":[1]}'`, nil},
		{"JSON with its own escapes", `data merge fragment='{"a":"x \"y\"","b":"1\n2"}'`, `data merge fragment='{"a":"x \\"y\\"","b":"1\\n2"}'`, nil},
		{"order of the table", `data set value=1 path=a`, `data set path=a value='1'`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := l.Parse(tt.src, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.plan != nil && !p.Equal(Plan{tt.plan}) {
				t.Errorf("plan: %s", cmp.Diff(tt.plan, p.Steps))
			}
			got, err := l.Print(p)
			if err != nil || got != tt.want {
				t.Errorf("printed %s\nwant    %s (%v)", got, tt.want, err)
			}
		})
	}
}

func TestM6_Errors(t *testing.T) {
	l := Standard()
	can := func(id string) bool { return id != "convert" && !strings.HasPrefix(id, "slides.") }
	for _, tt := range []struct {
		src, code, want string
	}{
		{"", Syntax, `column 1: the statement is empty. Use: extract text`},
		{`extract text | `, Syntax, `column 14: nothing follows the last "|".`},
		{`| extract text`, Syntax, `column 1: a step begins with a verb, not with "|".`},
		{`to=pdf`, Syntax, `column 1: "to" is an argument; a step begins with its verb.`},
		{`audio transcribe lang=en-US`, Syntax, `column 25: "-" is not allowed in an unquoted value. Quote it. Use: audio transcribe lang="en-US"`},
		{`select pages=5-2`, Syntax, `column 14: the range 5-2 runs backwards. Use: select pages=2-5`},
		{`select pages=1-999999999`, Syntax, `column 14: the range 1-999999999 has more than 100000 numbers.`},
		{`convert pdf`, EngineRequired, ``},
		{`image format png x`, Syntax, `column 14: "png" has no name. Every argument is name=value. Use: image format to=png`},
		{`image resize width=100 200`, Syntax, `column 24: "200" has no name. Every argument is name=value. Use: image resize width=100 height=200`},
		{`sanitize all`, Syntax, `column 10: sanitize takes no arguments, so "all" is out of place. Use: sanitize`},
		{`data set path=a[0].b value=1`, Syntax, `column 15: "a[0].b" cannot be written bare. Quote it. Use: data set path="a[0].b" value=1`},
		{`append text=12abc`, Syntax, `column 13: "12abc" cannot be written bare. Quote it. Use: append text="12abc"`},
		{`append text=2024-01-05 newline=true`, Syntax, `column 17: "-" is not allowed in an unquoted value. Quote it. Use: append text="2024-01-05" newline=true`},
		{`extract text | data set path=a[0] value=x-y`, Syntax, `column 30: "a[0]" cannot be written bare. Quote it. Use: data set path="a[0]" value="x-y"`},
		{`data set path=a value=-5`, Syntax, `column 23: "-5": negative numbers cannot be written bare. Quote the value. Use: data set path=a value="-5"`},
		{`merge with=@b.pdf`, Syntax, `column 12: "@b.pdf" is not a plain media id. Quote it. Use: merge with=@"b.pdf"`},
		{`merge with=@`, Syntax, `column 12: "@" must be followed by the id of a media, as in @a1b2.`},
		{`select pages=1 - 3`, Syntax, `column 16: "-" stands alone. A range has no blanks (2-5); any other text with "-" is quoted.`},
		{`append text=`, Syntax, `column 13: text has no value before the end.`},
		{`append text=#fff`, Syntax, `column 17: text has no value, because "#" begins a comment. Quote a value that holds it: text="#…".`},
		{`append text="a`, Syntax, `column 13: the string that begins here has no closing ".`},
		{"append text=\"a\nb\"", Syntax, `line 1, column 13: the string that begins here has no closing " before the end of the line. Write a line break in a string as \n.`},
		{`redact match=/a`, Syntax, `column 14: the regular expression that begins here has no closing /. Quote a value that begins with /.`},
		{`redact match=/a/x`, Syntax, `column 14: "x" is no flag of a regular expression; there are d g i m s u v y.`},
		{`redact match=/a/ii`, Syntax, `column 14: the flag "i" stands twice in /ii.`},
		{`redact match=//`, Syntax, `column 14: a regular expression is not empty.`},
		{`append text=/usr/bin/x`, Syntax, `column 13: "/usr/bin/x" begins like a regular expression and does not end like one. Quote it, or write \/ for a slash in an expression. Use: append text="/usr/bin/x"`},
		{`append text=a text=b`, Syntax, `column 15: text stands twice in this step. Write a list as one value: text=one,two.`},

		{`redackt match=a`, UnknownVerb, `column 1: there is no verb "redackt". Closest: redact. Use: redact match=/\d{3}-\d{2}-\d{4}/`},
		{`resize width=3`, UnknownVerb, `column 1: there is no verb "resize". Closest: image resize. Use: image resize width=800`},
		{`extract text now`, Syntax, `column 14: "now" has no name. Every argument is name=value. Use: extract text lang=now`},
		{`extract text | conjure`, UnknownVerb, ``},
		{`convert to=pdf`, EngineRequired, `column 1: convert needs a conversion engine and this deployment has none. Do not retry convert. Usable here: select, split, merge, reorder, redact, sanitize, normalize, update_text, diff, apply_patch, append, data set, data merge, data delete, extract text, extract metadata, extract assets, chunk, sheet add_rows, sheet add_columns, sheet update_cells, sheet delete_rows, sheet delete_columns, sheet rename_sheet, sheet add_sheet, sheet remove_sheet, sheet reorder_sheets, sheet transform_table, image resize, image format, image rotate, image flip, image strip_metadata, audio transcribe.`},
		{`image format format=png`, UnknownArg, `column 14: image format takes no "format". It takes to, quality, strip_metadata. Use: image format to=png`},
		{`image resize widht=3`, UnknownArg, `column 14: image resize takes no "widht". Did you mean "width"? Use: image resize width=800`},
		{`select pages=0`, BadArg, `column 8: select pages: numbers start at 1, got 0. Use: select pages=1-3,5`},
		{`select pages=1.5`, BadArg, `column 8: select pages: want whole numbers, got 1.5. Use: select pages=1-3,5`},
		{`append text=true`, BadArg, `column 8: append text: true without quotes is true or false, and this is a text. Quote it. Use: append text="true"`},
		{`append text=a newline=yes`, BadArg, `column 15: append newline: want true or false, got yes. Use: append text="one more line"`},
		{`sheet update_cells updates='[{"a'`, BadArg, `column 20: sheet update_cells updates: not valid JSON (it ends at byte 4, unfinished). Use: sheet update_cells updates='[{"address":"B2","value":3},{"address":"C2","value":"=B2*2"}]'`},
		{`sheet update_cells updates=B2`, BadArg, `column 20: sheet update_cells updates: want JSON in single quotes, got B2. Use: sheet update_cells updates='[{"address":"B2","value":3},{"address":"C2","value":"=B2*2"}]'`},
		{`image format to=gif`, BadArg, `column 14: image format to: "gif" is none of png, jpg, jpeg, webp, tiff, avif. Use: image format to=tiff`},
		{`image format to=PNG`, BadArg, `column 14: image format to: "PNG" is written png. Use: image format to=png`},
		{`image resize width=0`, BadArg, `column 14: image resize width: want a number from 1 to 16384, got 0. Use: image resize width=800`},
		{`image resize width="300"`, BadArg, `column 14: image resize width: want a number, got "300". Use: image resize width=300`},
		{`merge with=abc`, BadArg, `column 7: merge with: want a media id, which begins with @, got abc. Use: merge with=@abc`},
		{`redact`, MissingArg, `column 1: redact needs match (text or /regex/). Use: redact match=/\d{3}-\d{2}-\d{4}/`},
		{`image resize fit=cover`, MissingArg, `column 1: image resize needs width or height. Use: image resize width=800`},
		{`chunk | redact match=a`, Unsupported, `column 1: chunk gives a value, not a file, so only the last step may be one. Use: chunk`},
		{`split by=page | sanitize`, Unsupported, `column 1: split gives several files, so only the last step may be one. Use: split by=page`},
	} {
		_, err := l.Parse(tt.src, can)
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%s: got %v, want an *Error", tt.src, err)
			continue
		}
		if e.Code != tt.code || tt.want != "" && e.Error() != tt.want {
			t.Errorf("%s\n got %s %s\nwant %s %s", tt.src, e.Code, e.Error(), tt.code, tt.want)
		}
		if e.Use != "" {
			if _, err := l.Parse(e.Use, can); err != nil {
				t.Errorf("%s: the line to copy, %s, is no statement: %v", tt.src, e.Use, err)
			}
		}
	}
}

func TestM1_StructuredOperations(t *testing.T) {
	l := Standard()
	for _, tt := range []struct{ ops, pipe string }{
		{`[{"verb":"select","args":{"pages":[1,2,3,"7-9"]}},{"verb":"convert","args":{"to":"pdf"}}]`, `select pages=1-3,7-9 | convert to=pdf`},
		{`{"verb":"extract_text"}`, `extract text`},
		{`[{"verb":"extract.text","args":{"lang":null}}]`, `extract text`},
		{`[{"verb":"redact","args":{"match":["/\\d+/g","/usr/bin",{"regex":"a/b","flags":"i"},{"text":"/x/"}]}}]`, `redact match=/\d+/g,"/usr/bin",/a\/b/i,"/x/"`},
		{`[{"verb":"redact","args":{"match":"Jane"}}]`, `redact match=Jane`},
		{`[{"verb":"merge","args":{"with":["a","@b"]}}]`, `merge with=@a,@b`},
		{`[{"verb":"sheet.update_cells","args":{"sheet":"2025","updates":[{"address":"A1","value":1}]}}]`, `sheet update_cells sheet="2025" updates='[{"address":"A1","value":1}]'`},
		{`[{"verb":"sheet.update_cells","args":{"sheet":2,"updates":"[{\"address\":\"A1\",\"value\":1}]"}}]`, `sheet update_cells sheet=2 updates='[{"address":"A1","value":1}]'`},
		{`[{"verb":"data.set","args":{"path":"a","value":"5"}}]`, `data set path=a value='"5"'`},
		{`[{"verb":"data.set","args":{"path":"a","value":{"x":null}}}]`, `data set path=a value='{"x":null}'`},
		{`[{"verb":"data.set","args":{"path":"a","value":null}}]`, `data set path=a value='null'`},
		{`[{"verb":"data.set","args":{"path":"a","value":-5}}]`, `data set path=a value='-5'`},
		{`[{"verb":"image.rotate","args":{"deg":90}}]`, `image rotate deg="90"`},
	} {
		p, err := l.Ops([]byte(tt.ops), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.ops, err)
			continue
		}
		if got, err := l.Print(p); err != nil || got != tt.pipe {
			t.Errorf("%s\n got %s %v\nwant %s", tt.ops, got, err, tt.pipe)
		}
		if q, err := l.Parse(tt.pipe, nil); err != nil || !p.Equal(q) {
			t.Errorf("%s: the statement gives another plan (%v)\n%s", tt.ops, err, cmp.Diff(p.Steps, q.Steps))
		}
	}
	for _, tt := range []struct{ ops, code string }{
		{`[]`, BadArg}, {`"select"`, BadArg}, {`[{"verb":"select","pages":[1]}]`, BadArg}, {`not json`, BadArg},
		{`[{"verb":"select","args":{"pages":[]}}]`, BadArg}, {`[{"verb":"select","args":{"pages":[1.5]}}]`, BadArg},
		{`[{"verb":"select","args":{"pages":"9-2"}}]`, BadArg}, {`[{"verb":"redact","args":{"match":{"regex":"[a"}}}]`, BadArg},
		{`[{"verb":"select"}]`, MissingArg}, {`[{"verb":"slect"}]`, UnknownVerb},
	} {
		_, err := l.Ops([]byte(tt.ops), nil)
		if e, ok := err.(*Error); !ok || e.Code != tt.code {
			t.Errorf("%s: got %v, want %s", tt.ops, err, tt.code)
		}
	}
}

func TestTwoVerbsThatFoldAlike(t *testing.T) {
	if _, err := New([]Verb{{ID: "a.b"}, {ID: "a_b"}}); err == nil {
		t.Error("accepted")
	}
}

// Every verb of the table has an example that is a statement in its canonical form.
func TestExamplesAreStatements(t *testing.T) {
	l := Standard()
	for i := range l.Verbs() {
		v := &l.Verbs()[i]
		ex := l.Example(v)
		p, err := l.Parse(ex, nil)
		if err != nil {
			t.Errorf("%s: %s: %v", v.ID, ex, err)
			continue
		}
		if again, _ := l.Print(p); again != ex {
			t.Errorf("%s: %s prints as %s", v.ID, ex, again)
		}
		for j := range v.Params {
			pr := &v.Params[j]
			if _, err := l.Parse(v.example()+" "+pr.Name+"="+pr.sample(), nil); err != nil && !strings.Contains(err.Error(), "twice") {
				t.Errorf("%s %s: its sample: %v", v.ID, pr.Name, err)
			}
		}
	}
}

// Plan.Refs looks at one argument only.
func TestReferencesAreCalledWith(t *testing.T) {
	for _, v := range Table() {
		for _, p := range v.Params {
			if (p.Type == Media || p.Type == MediaList) != (p.Name == refArg) {
				t.Errorf("%s %s", v.ID, p.Name)
			}
		}
	}
}

func TestTheListOfWhatIsUsableIsShownWhereNothingIsNear(t *testing.T) {
	_, err := Standard().Parse("conjure", func(id string) bool { return id == "chunk" })
	want := `column 1: there is no verb "conjure". Usable here: chunk.`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
