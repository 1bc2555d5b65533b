package edit_test

import (
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/edit"
)

// Silent corruption seen in other tools that replace text for models, each with the input that brings it out.
func TestF3_Hazards(t *testing.T) {
	run(t, []row{
		{"block anchor: equal ends, another middle", "func stop() {\n\tflush()\n\tclose()\n}\n", req("func stop() {\n\tlog()\n\texit()\n}", "x"), "not found", ""},
		{"block anchor: a pair of braces far apart", "{\n  a\n}\n" + strings.Repeat("line\n", 50) + "{\n  b\n}\n", req("{\n  c\n}", "x"), "not found", ""},
		{"uniqueness per text: equal after trimming, different depth", "if a:\n    go(1)\nif b:\n        go(1)\n", req("\tgo(1)", "\tstop(1)"), "ambiguous", "[2 4]"},
		{"blank old", "a\nb\n", all("  \n", "x"), "not found", ""},
		{"blank old, one place", "a\n\t\nb\n", req("  ", "x"), "not found", ""},
		{"blank old that is there", "a  b", all("  ", "-"), "exact", "a-b"},
		{"white space inside is text", "foo bar\n", req("foobar", "x"), "not found", ""},
		{"more white space inside is text", "foo  bar\n", req("foo bar", "x"), "not found", ""},
		{"letter case is text", "const Foo = 1\n", req("const foo = 1", "x"), "not found", ""},
		{"letter case that changes the length", "İstanbul x\n", req("i̇stanbul", "x"), "not found", ""},
		{"untouched lines keep quotes and blanks", "‘a’  \n“b”\n", req("\"b\"", "\"c\""), "punctuation", "‘a’  \n\"c\"\n"},
		{"untouched lines keep mixed endings", "a\r\nb\nc\rd\r\ne\n", req("b", "x"), "exact", "a\r\nx\nc\rd\r\ne\n"},
		{"one crlf elsewhere is no reason", "a\nb\nc\r\n", req("a", "x\ny"), "exact", "x\ny\nb\nc\r\n"},
		{"final newline taken away", "a\n", req("a\n", "a"), "exact", "a"},
		{"final newline added", "a", req("a", "a\n"), "exact", "a\n"},
		{"overlap counts twice", "aaa\n", req("aa", "b"), "ambiguous", "[1 1]"},
		{"overlap, all", "aaaaa\n", all("aa", "b"), "exact", "bba\n"},
		{"overlap of lines", "x1\nx1\nx1\n", req("x1\nx1\n", "y\n"), "ambiguous", "[1 2]"},
		{"replacement signs are text", "a.b\n", req("a.b", `$1 $& $$ \1 \0 ${x}`), "exact", "$1 $& $$ \\1 \\0 ${x}\n"},
		{"pattern signs are text", "aXb\n(a|b)*\n", req("(a|b)*", "[x]+"), "exact", "aXb\n[x]+\n"},
		{"pattern signs match nothing else", "aXb\n", req("a.b", "x"), "not found", ""},
		{"newline at the end of old that the file lacks", "a\nb", req("b\n", "c\n"), "line endings", "a\nc"},
		{"old is gone already", "a\nnew text here\n", req("old text here", "new text here"), "not found", ""},
		{"latin-1 bytes in untouched lines", "caf\xe9\nb\n", req("b", "c"), "exact", "caf\xe9\nc\n"},
		{"nul bytes in untouched lines", "a\x00b\nc\n", req("c", "d"), "exact", "a\x00b\nd\n"},
		{"first line of old that is not there", "line1\nline2\n", req("other\nline2", "other\nx"), "not found", ""},
		{"dots are no elision", "f() {\n  a\n  b\n}\n", req("f() {\n...\n}", "x"), "not found", ""},
		{"one digit off", "retries: 3\n", req("retries: 2", "retries: 5"), "not found", ""},
		{"similar is not equal", "enable(true),\n", req("enable(true)\n", "x\n"), "not found", ""},
	})
}

// A request made again finds nothing to do. F3.
func TestF3_SecondTime(t *testing.T) {
	content := []byte("func f() {\n\treturn one\n}\n")
	r := req("return one", "return two, nil")
	res, err := edit.Apply(content, r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = edit.Apply(res.Content, r)
	nf, ok := err.(*edit.NotFoundError)
	if !ok || nf.AlreadyApplied != 2 {
		t.Errorf("second time: %v", err)
	}
	for _, r := range []edit.Request{
		req("no such text", "x"),                   // too short to tell
		req("xyz(return two, nil)", "two"),         // a part of old
		req("no such text", "\n}\n"),               // no letter
		req("no such text", "no such text at all"), // not there
	} {
		_, err := edit.Apply(res.Content, r)
		if nf, ok := err.(*edit.NotFoundError); !ok || nf.AlreadyApplied != 0 {
			t.Errorf("%q: %v", r.New, err)
		}
	}
}
