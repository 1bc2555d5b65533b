package edit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/edit"
)

// outcome writes a result or an error in one word and a text, for tables.
func outcome(res edit.Result, err error) (rung, content string) {
	var (
		notFound  *edit.NotFoundError
		ambiguous *edit.AmbiguousError
		identical *edit.IdenticalError
		empty     *edit.EmptyOldError
		omission  *edit.OmissionError
	)
	switch {
	case err == nil:
		return res.Rung.String(), string(res.Content)
	case errors.As(err, &notFound) && notFound.Why != "":
		return "unclear", ""
	case errors.As(err, &notFound):
		return "not found", ""
	case errors.As(err, &ambiguous):
		return "ambiguous", fmt.Sprint(ambiguous.Lines)
	case errors.As(err, &identical):
		return "identical", ""
	case errors.As(err, &empty):
		return "empty old", ""
	case errors.As(err, &omission):
		return "omission", omission.Line
	}
	return "unknown error " + err.Error(), ""
}

type row struct {
	name    string
	content string
	req     edit.Request
	rung    string // or the kind of error
	want    string // the content, or what outcome says about the error
}

func run(t *testing.T, rows []row) {
	t.Helper()
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			before := strings.Clone(r.content)
			res, err := edit.Apply([]byte(r.content), r.req)
			rung, got := outcome(res, err)
			if rung != r.rung || got != r.want {
				t.Errorf("%s\n got %q\nwant %s\n     %q\nerror: %v", rung, got, r.rung, r.want, err)
			}
			if r.content != before {
				t.Error("the content was changed")
			}
			if err == nil {
				checkSpans(t, []byte(r.content), res.Content, res.Spans)
				if (res.Note == "") != (res.Rung == edit.Exact) {
					t.Errorf("rung %v with the note %q", res.Rung, res.Note)
				}
			} else if err.Error() == "" {
				t.Error("no text for the error")
			}
		})
	}
}

// req is a request for one place.
func req(old, new string) edit.Request { return edit.Request{Old: old, New: new} }

func all(old, new string) edit.Request { return edit.Request{Old: old, New: new, ReplaceAll: true} }

// checkSpans proves that new is old outside of the spans. F3.
func checkSpans(t interface{ Errorf(string, ...any) }, old, new []byte, spans []edit.Span) {
	at, newAt := 0, 0
	for i, s := range spans {
		if s.Start < at || s.End < s.Start || s.NewStart < newAt || s.NewEnd < s.NewStart || s.End > len(old) || s.NewEnd > len(new) {
			t.Errorf("span %d of %v is out of order", i, spans)
			return
		}
		if string(old[at:s.Start]) != string(new[newAt:s.NewStart]) {
			t.Errorf("before span %d: %q became %q", i, old[at:s.Start], new[newAt:s.NewStart])
		}
		if n := 1 + strings.Count(string(old[:s.Start]), "\n"); strings.Contains(string(old), "\n") && s.Line != n {
			t.Errorf("span %d: line %d, want %d", i, s.Line, n)
		}
		if n := 1 + strings.Count(string(new[:s.NewStart]), "\n"); strings.Contains(string(old), "\n") && s.NewLine != n {
			t.Errorf("span %d: new line %d, want %d", i, s.NewLine, n)
		}
		at, newAt = s.End, s.NewEnd
	}
	if string(old[at:]) != string(new[newAt:]) {
		t.Errorf("behind the last span: %q became %q", old[at:], new[newAt:])
	}
}

func TestF3_Exact(t *testing.T) {
	run(t, []row{
		{"part of a line", "a = 1\nb = 2\n", req("= 2", "= 3"), "exact", "a = 1\nb = 3\n"},
		{"deletion", "a\nb\nc\n", req("b\n", ""), "exact", "a\nc\n"},
		{"several lines", "a\nb\nc\n", req("a\nb", "x\ny\nz"), "exact", "x\ny\nz\nc\n"},
		{"all", "x y x\nx", all("x", "zz"), "exact", "zz y zz\nzz"},
		{"all, one place", "x y", all("x", "z"), "exact", "z y"},
		{"all with blanks only", "\ta\t\tb", all("\t", "  "), "exact", "  a    b"},
		{"exact before loose", "  foo()\nfoo()  \n", req("  foo()\n", "  bar()\n"), "exact", "  bar()\nfoo()  \n"},
		{"two places", "foo\nbar\nfoo\n", req("foo", "x"), "ambiguous", "[1 3]"},
		{"two places, line", "foo\nbar\nfoo\n", edit.Request{Old: "foo", New: "x", Line: 3}, "exact", "foo\nbar\nx\n"},
		{"line within the place", "{\n  a\n}\n{\n  a\n}\n", edit.Request{Old: "{\n  a\n}", New: "x", Line: 5}, "exact", "{\n  a\n}\nx\n"},
		{"line beside the places", "foo\nbar\nfoo\n", edit.Request{Old: "foo", New: "x", Line: 2}, "ambiguous", "[1 3]"},
		{"line with two places", "foo foo\nfoo\n", edit.Request{Old: "foo", New: "x", Line: 1}, "ambiguous", "[1 1 2]"},
		{"line behind a place that ends with its break", "a\na\n", edit.Request{Old: "a\n", New: "b\n", Line: 2}, "exact", "a\nb\n"},
		{"line does not forbid the only place", "foo\nbar\n", edit.Request{Old: "foo", New: "x", Line: 2}, "exact", "x\nbar\n"},
		{"old equals new", "a", req("a", "a"), "identical", ""},
		{"both empty", "a", req("", ""), "identical", ""},
		{"empty file becomes new", "", req("", "hello\r\n"), "exact", "hello\r\n"},
		{"file with a mark only", "\uFEFF", req("", "hello"), "exact", "\uFEFFhello"},
		{"old on an empty file", "", req("x", "y"), "not found", ""},
		{"no old on a file", "a", req("", "b"), "empty old", ""},
		{"byte order mark stays", "\uFEFFusing A;\nb\n", req("using A;", "using B;"), "exact", "\uFEFFusing B;\nb\n"},
		{"byte order mark in the request", "\uFEFFa\nb\n", req("\uFEFFa\n", "\uFEFFx\n"), "exact", "\uFEFFx\nb\n"},
		{"invalid bytes stay", "caf\xe9 a\nb\xff\n", req("a\nb", "x\ny"), "exact", "caf\xe9 x\ny\xff\n"},
		{"missing final newline stays", "a\nb", req("b", "c"), "exact", "a\nc"},
		{"final newline can be removed", "a\nb\n", req("b\n", "b"), "exact", "a\nb"},
		{"final newline can be added", "a\nb", req("b", "b\n"), "exact", "a\nb\n"},
	})
}

func TestF3_LineEndings(t *testing.T) {
	run(t, []row{
		{"lf for crlf", "a\r\nb\r\nc\r\n", req("a\nb\n", "x\ny\nz\n"), "line endings", "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf for lf", "a\nb\nc\n", req("a\r\nb", "x\r\ny"), "line endings", "x\ny\nc\n"},
		{"exact, but new in crlf", "a\nb\n", req("a\nb", "a\r\nc"), "exact", "a\nc\n"},
		{"exact, but new in lf", "a\r\nb\r\n", req("a\r\nb", "a\nc"), "exact", "a\r\nc\r\n"},
		{"one line becomes two", "a\r\nb\r\n", req("b", "x\ny"), "exact", "a\r\nx\r\ny\r\n"},
		{"one line becomes two, break before", "a\r\nb", req("b", "x\ny"), "exact", "a\r\nx\r\ny"},
		{"crlf that is meant", "a\nb\n", req("a\n", "a\r\n"), "exact", "a\r\nb\n"},
		{"lf that is meant", "a\r\nb\r\n", all("\r\n", "\n"), "exact", "a\nb\n"},
		{"mixed: the endings of the place", "a\nb\r\nc\r\nd\n", req("b\nc\n", "b\nx\nc\n"), "line endings", "a\nb\r\nx\r\nc\r\nd\n"},
		{"mixed: kept lines keep theirs", "a\r\nb\nc\r\nd\n", req("a\nb\nc\n", "a\nb\nX\n"), "line endings", "a\r\nb\nX\r\nd\n"},
		{"mixed: twins in both styles", "hi\r\nyou\r\n--\r\nhi\nyou\n", req("hi\nyou\n", "x\n"), "ambiguous", "[1 4]"},
		{"mixed: twins, but old sees the CR", "hi\r\nyou\r\n--\r\nhi\nyou\n", req("hi\r\nyou\r\n", "x\n"), "exact", "x\r\n--\r\nhi\nyou\n"},
		{"mixed: all twins", "hi\r\n--\r\nhi\n", all("hi\n", "ho\nha\n"), "line endings", "ho\r\nha\r\n--\r\nho\nha\n"},
		{"break first", "a\r\nb\r\n", req("\nb", "\nc"), "line endings", "a\r\nc\r\n"},
		{"break removed", "a\r\nb\r\n", req("\nb", "b"), "line endings", "ab\r\n"},
		{"cr only", "a\rb\rc\r", req("a\nb", "x\ny\nz"), "line endings", "x\ry\rz\rc\r"},
		{"cr only, one line", "a\rb\r", req("b", "x\ny"), "exact", "a\rx\ry\r"},
		{"cr inside lf lines is text", "a\rb\nc\n", req("a\nb", "x"), "not found", ""},
		{"one line file takes new as it is", "abc", req("b", "x\r\ny"), "exact", "ax\r\nyc"},
		{"same after conversion", "a\r\nb\r\n", req("a\nb", "a\r\nb"), "identical", ""},
		{"break that the file lacks at its end", "a\nb", req("b\n", "c\n"), "line endings", "a\nc"},
		{"the same, new without it", "a\nb", req("a\nb\n", "c"), "line endings", "c"},
		{"the same, nothing new", "a\nb", req("b\n", ""), "line endings", "a\n"},
		{"break at the end, exact place first", "b\nb", req("b\n", "c\n"), "exact", "c\nb"},
	})
}

func TestF3_TrailingSpace(t *testing.T) {
	run(t, []row{
		{"file has it", "a  \nb\t\nc\n", req("a\nb\n", "x\n"), "trailing white space", "x\nc\n"},
		{"old has it", "a\nb\nc\n", req("a  \nb", "a\nx"), "trailing white space", "a\nx\nc\n"},
		{"with crlf", "a \r\nb\r\nc\r\n", req("a\nb\n", "x\ny\n"), "trailing white space", "x\r\ny\r\nc\r\n"},
		{"kept lines keep it", "one  \ntwo  \nthree  \n", req("one\ntwo\nthree", "one\n2\nthree"), "trailing white space", "one  \n2\nthree  \n"},
		{"begins inside a line", "x = f(a, \n  b)\n", req("f(a,\n  b)", "f(a,\n  c)"), "trailing white space", "x = f(a, \n  c)\n"},
		{"a piece of a line needs its blanks", "hello world\n", req("hello  ", "bye "), "not found", ""},
		{"but at the end of a line it does not", "x\nhello\n", req("hello  ", "bye"), "trailing white space", "x\nbye\n"},
		{"blanks of the next line stay", "a \nb\n   \nc\n", req("a\nb\n", "x\n"), "trailing white space", "x\n   \nc\n"},
		{"blank line inside", "a\n  \nb\n", req("a\n\nb", "a\n\nc"), "trailing white space", "a\n  \nc\n"},
		{"two places", "a \nb\na\t\nb\n", req("a\nb", "x"), "ambiguous", "[1 3]"},
		{"all", "a \nb\na\t\nb\n", all("a\nb", "x"), "trailing white space", "x\nx\n"},
	})
}

func TestF3_LineNumbers(t *testing.T) {
	const file = "package a\n\nfunc f() {\n\treturn 1\n}\n"
	run(t, []row{
		{"cat -n", file, req("     3\tfunc f() {\n     4\t\treturn 1\n", "     3\tfunc g() {\n     4\t\treturn 2\n"), "line numbers", "package a\n\nfunc g() {\n\treturn 2\n}\n"},
		{"arrow, new without", file, req("  3→func f() {\n  4→\treturn 1", "func g() {\n\treturn 2"), "line numbers", "package a\n\nfunc g() {\n\treturn 2\n}\n"},
		{"colon and blank", file, req("4: \treturn 1", "4: \treturn 2"), "line numbers", "package a\n\nfunc f() {\n\treturn 2\n}\n"},
		{"grep -n", file, req("3:func f() {\n4:\treturn 1", "func f() {\n\treturn 2"), "line numbers", "package a\n\nfunc f() {\n\treturn 2\n}\n"},
		{"bar", file, req("3| func f() {\n4| \treturn 1", "3| func f() {\n4| \treturn 2"), "line numbers", "package a\n\nfunc f() {\n\treturn 2\n}\n"},
		{"empty line", file, req("1|package a\n2|\n3|func f() {", "1|package b\n2|\n3|func f() {"), "line numbers", "package b\n\nfunc f() {\n\treturn 1\n}\n"},
		{"empty line that lost its blank", file, req("1: package a\n2:\n3: func f() {", "package b\n\nfunc f() {"), "line numbers", "package b\n\nfunc f() {\n\treturn 1\n}\n"},
		{"numbers choose among equal lines", "a\nb\na\nb\n", req("3\ta\n4\tb", "x\ny"), "line numbers", "a\nb\nx\ny\n"},
		{"numbers that fit no equal lines", "a\nb\na\nb\n", req("2\ta\n3\tb", "x\ny"), "ambiguous", "[1 3]"},
		{"numbers with a gap", file, req("3\tfunc f() {\n5\t\treturn 1", "x"), "not found", ""},
		{"not on all lines of new", file, req("3\tfunc f() {\n4\t\treturn 1", "3\tfunc f() {\n\tx()\n4\t\treturn 1"), "not found", ""},
		{"whole lines only", "xx = 1\n", req("1\tx = 1", "y = 1"), "not found", ""},
		{"with indentation", "\tif a {\n\t\tb()\n\t}\n", req("7: if a {\n8: \tb()\n9: }", "7: if a {\n8: \tc()\n9: }"), "indentation", "\tif a {\n\t\tc()\n\t}\n"},
		{"a map with numbers is no listing", "1: foo\n2: bar\n", req("1: foo\n2: bar\n", "1: baz\n"), "exact", "1: baz\n"},
	})
}

func TestF3_DiffMarkers(t *testing.T) {
	const file = "a()\n\tb()\nc()\n"
	run(t, []row{
		{"hunk body", file, req(" a()\n-\tb()\n c()", " a()\n+\tx()\n+\ty()\n c()"), "diff markers", "a()\n\tx()\n\ty()\nc()\n"},
		{"minus and plus", file, req("-\tb()", "+\tx()"), "diff markers", "a()\n\tx()\nc()\n"},
		{"added lines copied", file, req("+a()\n+\tb()", "+a()\n+\tx()"), "diff markers", "a()\n\tx()\nc()\n"},
		{"new without", file, req("-\tb()", "\tx()"), "diff markers", "a()\n\tx()\nc()\n"},
		{"deletion", file, req(" a()\n-\tb()\n c()", " a()\n c()"), "diff markers", "a()\nc()\n"},
		{"nothing new", file, req("-\tb()\n", ""), "diff markers", "a()\nc()\n"},
		{"new has minus signs", file, req("-\tb()", "-\tx()\n"), "not found", ""},
		{"context without signs in new", file, req(" a()\n-\tb()", "a()"), "not found", ""},
		{"blanks only are indentation", "  a\n  b\n", req(" a\n b", " a\n c"), "indentation", "  a\n  c\n"},
		{"a list is a list", "- one\n- two\n", req("- one\n- two\n", "- one\n"), "exact", "- one\n"},
	})
}

func TestF3_Punctuation(t *testing.T) {
	run(t, []row{
		{"quotes", "x = “a” + ‘b’\n", req(`x = "a" + 'b'`, `x = "c"`), "punctuation", "x = \"c\"\n"},
		{"the other way round", "say \"hi\" now\n", req("say “hi” now", "say “ho” now"), "punctuation", "say “ho” now\n"},
		{"part of a line", "print(“a”, 1)\n", req(`"a", 1`, `"b", 2`), "punctuation", "print(\"b\", 2)\n"},
		{"dashes", "1–5 and 6—7 and −8\n", req("1-5 and 6-7 and -8", "x"), "punctuation", "x\n"},
		{"spaces", "a\u00a0b\u3000c\n", req("a b c", "x"), "punctuation", "x\n"},
		{"invisible", "pass\u200bword\n", req("password", "x"), "punctuation", "x\n"},
		{"ellipsis", "wait… what\n", req("wait... what", "go"), "punctuation", "go\n"},
		{"half an ellipsis is none", "wait… what\n", req("wait..", "go"), "not found", ""},
		{"full width", "你好，世界（一）\n", req("你好,世界(一)", "再见"), "punctuation", "再见\n"},
		{"full-width letters are letters", "ＡＢＣ\n", req("ABC", "x"), "not found", ""},
		{"with trailing blank, crlf and indentation", "\ta = “b”\u00a0\r\n\tc\r\n", req("a = \"b\"\nc", "a = \"x\"\nc"), "punctuation", "\ta = \"x\"\r\n\tc\r\n"},
		{"two places", "“a”\n‘x’\n„a”\n\"a\" “a”\n", req("“a“", "x"), "ambiguous", "[1 3 4 4]"},
		{"kept lines keep their quotes", "say “hi”\nthen go\n", req("say \"hi\"\nthen go", "say \"hi\"\nthen stop"), "punctuation", "say “hi”\nthen stop\n"},
		{"accents count", "cafe\n", req("café", "x"), "not found", ""},
	})
}

func TestF3_Escapes(t *testing.T) {
	run(t, []row{
		{"quotes", "say(\"hi\")\n", req(`say(\"hi\")`, `say(\"ho\")`), "escapes", "say(\"ho\")\n"},
		{"new is right already", "say(\"hi\")\n", req(`say(\"hi\")`, `say("a\n")`), "escapes", "say(\"a\\n\")\n"},
		{"line breaks and tabs", "if a {\n\tb\n}\n", req(`if a {\n\tb\n}`, `if a {\n\tc\n}`), "escapes", "if a {\n\tc\n}\n"},
		{"line breaks in a crlf file", "a {\r\n b\r\n}\r\n", req(`a {\n b`, `a {\n c`), "escapes", "a {\r\n c\r\n}\r\n"},
		{"twice escaped", "p(\"a\\n\")\n", req(`p(\"a\\n\")`, `p(\"b\\n\")`), "escapes", "p(\"b\\n\")\n"},
		{"only the quotes", "p(\"a\\n\")\n", req(`p(\"a\n\")`, `p(\"b\n\")`), "escapes", "p(\"b\\n\")\n"},
		{"new is open", "say(\"hi\")\n", req(`say(\"hi\")`, `x\ny`), "not found", ""},
		{"real line break beside an escape", "a\nb\n", req("a\nb\\n", "x"), "not found", ""},
		{"no escape that a slip makes", "a d b\n", req(`a \d b`, "x"), "not found", ""},
		{"two places", "\"a\"\n\"a\"\n", req(`\"a\"`, `\"b\"`), "ambiguous", "[1 2]"},
		{"backslashes are literal", "C:\\new\\table\n", req(`C:\new`, `D:\new`), "exact", "D:\\new\\table\n"},
	})
}

func TestF3_Omission(t *testing.T) {
	for _, line := range []string{
		"// ... existing code ...", "# rest of code ...", "(rest of methods ...)", "/* ... rest of the function ... */",
		"<!-- ... unchanged ... -->", "  // … remaining methods …", "... (existing code)", "-- ... same as before", "(unchanged code ...)",
		"// [rest of file unchanged...]",
	} {
		res, err := edit.Apply([]byte("a\nb\n"), req("b", "x\n"+line+"\ny"))
		if rung, got := outcome(res, err); rung != "omission" || got != strings.TrimSpace(line) {
			t.Errorf("%q: %s %q", line, rung, got)
		}
	}
	for _, line := range []string{
		"...", "def f(): ...", "args...", "// see the rest of the file", "f(rest...)", `"Previous..."`, "Previous...", "// TBD ...",
		"func f(existing ...string) {", "// ...", "[...existing, 1]", "# loading the rest of the data", "    ...existing,",
	} {
		if _, err := edit.Apply([]byte("a\nb\n"), req("b", line)); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	run(t, []row{
		{"was there before", "# ... existing code ...\nb\n", req("# ... existing code ...\nb", "b\n# ... existing code ..."), "exact", "b\n# ... existing code ...\n"},
		{"one more than before", "# ... rest ...\n", req("# ... rest ...", "# ... rest ...\nx\n# ... rest ..."), "omission", "# ... rest ..."},
	})
}

// What the errors tell a model.
func TestF3_ErrorTexts(t *testing.T) {
	const file = "func a() {\n\tx := 1\n\treturn x\n}\n\nfunc b() {\n\treturn 2\n}\n"
	tests := []struct {
		name string
		req  edit.Request
		want string
	}{
		{"nearest by lines", req("func b() {\n\treturn 3\n}", "x"), `old_string was not found. The nearest text is at lines 6-8 (- is old_string, + is the file; → is a tab, · a blank):
  6  func b() {
-    →return 3
+ 7  →return 2
  8  }
Copy the lines of the file, not those marked -`},
		{"a line is missing", req("func a() {\n\treturn x\n}", "x"), `old_string was not found. The nearest text is at lines 1-4 (- is old_string, + is the file; → is a tab, · a blank):
  1  func a() {
+ 2  →x := 1
  3  	return x
  4  }
Copy the lines of the file, not those marked -`},
		{"nearest by words", req("returning x", "y"), "old_string was not found, and nothing near it is in the file: read the file again and copy the text from there"},
		{"already applied", req("\treturn 1\n", "\treturn x\n"), "old_string was not found, but new_string stands at line 3: the edit seems to be made already"},
		{"ambiguous", req("return", "x"), "old_string matches 2 places, at lines 3, 7. Repeat more of the lines around the one you mean, or set replace_all to change them all"},
		{"ambiguous, hint", edit.Request{Old: "return", New: "x", Line: 5}, "old_string matches 2 places, at lines 3, 7; line 5 names none of them. Repeat more of the lines around the one you mean, or set replace_all to change them all"},
		{"open indentation", req("  x := 1\n  return x", "x := 2"), `old_string was not found exactly: the lines are there with other indentation, and new_string does not begin at the indentation of old_string, so it is open how deep to put it. The nearest text is at lines 2-3 (- is old_string, + is the file; → is a tab, · a blank):
-    ··x := 1
+ 2  →x := 1
-    ··return x
+ 3  →return x
Copy the lines of the file, not those marked -`},
	}
	for _, tt := range tests {
		_, err := edit.Apply([]byte(file), tt.req)
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		if d := cmp.Diff(tt.want, err.Error()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
	_, err := edit.Apply([]byte("a \nx\na\t\nx\n"), req("a\nx", "y"))
	if want := "(compared by trailing white space)"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v: want %s", err, want)
	}
	_, err = edit.Apply([]byte(strings.Repeat("x\n", 50)), req("x", "y"))
	if want := "matches 50 places, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 30 more. "; !strings.Contains(err.Error(), want) {
		t.Errorf("%v: want %s", err, want)
	}
}

// A difference in a line of a megabyte is shown without the megabyte.
func TestF3_LongLineExcerpt(t *testing.T) {
	line := strings.Repeat("var aa=1;", 100_000)
	content := line + "var unmistakable=1;" + line
	_, err := edit.Apply([]byte(content), req("var unmistakable=2;", "x"))
	if n := len(err.Error()); n > 1000 {
		t.Errorf("an error of %d bytes: %.300s", n, err)
	}
	_, err = edit.Apply([]byte("aé\n"+content), req(content[:800_000]+"!"+content[800_000:], "x"))
	if n := len(err.Error()); n > 2000 || !strings.Contains(err.Error(), "…") {
		t.Errorf("an error of %d bytes: %.300s", n, err)
	}
}
