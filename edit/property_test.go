package edit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/internal/words"
)

// file draws the text of a file: lines of few words, so that they repeat, with endings, blanks and characters mixed.
func file(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"a", "b1", "foo", "if x {", "}", "“q”", `"q"`, "\xff", "é", "\\n", "12\t", "- ", "…", ""})
	indent := rapid.SampledFrom([]string{"", "", "  ", "    ", "\t", "\t\t"})
	tail := rapid.SampledFrom([]string{"", "", "", " ", "\t", "\u00a0"})
	endings := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}, {"\r"}, {"\n", "\r"}}).Draw(t, "endings")
	var b strings.Builder
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		b.WriteString(indent.Draw(t, "indent") + word.Draw(t, "word") + word.Draw(t, "word") + tail.Draw(t, "tail"))
		b.WriteString(rapid.SampledFrom(endings).Draw(t, "ending"))
	}
	return b.String() + rapid.SampledFrom([]string{"", "foo", "\tb1"}).Draw(t, "last")
}

// damage copies a piece of a file as a model might.
func damage(t *rapid.T, s string) string {
	switch rapid.IntRange(0, 6).Draw(t, "damage") {
	case 1:
		s = strings.ReplaceAll(s, "\r\n", "\n")
	case 2:
		s = strings.ReplaceAll(s, "\n", "\r\n")
	case 3:
		s = strings.ReplaceAll(s, "\t", "    ")
	case 4:
		s = strings.NewReplacer("“", `"`, "”", `"`, "…", "...").Replace(s)
	case 5:
		s = strings.ReplaceAll(s, "\n", " \n")
	case 6:
		s = strings.ReplaceAll(s, "\n", "\n  ")
	}
	return s
}

// F3: whatever the request, an edit touches only its spans; what it does is said by them; and an error changes nothing.
func TestF3_OnlyTheSpan(t *testing.T) {
	rungs := map[edit.Rung]int{}
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(file(t))
		r := edit.Request{
			Old:        damage(t, piece(t, content)),
			ReplaceAll: rapid.Bool().Draw(t, "all"),
			Line:       rapid.IntRange(0, 4).Draw(t, "line"),
		}
		r.New = rapid.OneOf(rapid.Just(""), rapid.Just(strings.Replace(r.Old, "foo", "bar\nbaz", 1)), rapid.Custom(file)).Draw(t, "new")
		before := bytes.Clone(content)
		res, err := edit.Apply(content, r)
		if !bytes.Equal(content, before) {
			t.Fatalf("the content was changed")
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("no text for %T", err)
			}
			return
		}
		rungs[res.Rung]++
		checkSpans(t, content, res.Content, res.Spans)
		if len(res.Spans) == 0 || len(res.Spans) > 1 && !r.ReplaceAll {
			t.Fatalf("%d spans", len(res.Spans))
		}
		if bytes.Equal(content, res.Content) {
			t.Fatalf("nothing changed")
		}
		if res.Rung == edit.Exact && !strings.Contains(r.Old, "\n") && !strings.ContainsAny(r.New, "\r\n") {
			n := 1
			if r.ReplaceAll {
				n = -1
			}
			if r.Line == 0 || r.ReplaceAll {
				if want := strings.Replace(string(content), r.Old, r.New, n); want != string(res.Content) {
					t.Fatalf("got %q, want %q", res.Content, want)
				}
			}
		}
	})
	t.Logf("rungs reached: %v", rungs)
	if exact := rungs[edit.Exact]; exact == 0 || len(rungs) < 3 {
		t.Error("the generator has lost its bite")
	}
}

// piece draws a part of a file, often whole lines.
func piece(t *rapid.T, content []byte) string {
	if l := text.Index(content); l.Len() > 0 && rapid.Bool().Draw(t, "whole lines") {
		from := rapid.IntRange(0, l.Len()-1).Draw(t, "from")
		to := rapid.IntRange(from, min(from+2, l.Len()-1)).Draw(t, "to")
		return string(content[l.Start(from):l.End(to)])
	}
	lo := rapid.IntRange(0, len(content)).Draw(t, "lo")
	return string(content[lo:rapid.IntRange(lo, len(content)).Draw(t, "hi")])
}

// F3: through an encoding and back, the bytes of the file outside of the span are the same, whatever the encoding.
func TestF3_EncodedFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]text.Encoding{
			{}, {BOM: true}, {Charset: text.UTF16LE, BOM: true}, {Charset: text.UTF16BE, BOM: true}, {Charset: text.Latin1}, {Charset: text.GB18030},
		}).Draw(t, "encoding")
		line := rapid.SampledFrom([]string{"é ü ß", "plain", "你好世界中国", "x = “1”"})
		if e.Charset == text.Latin1 {
			line = rapid.SampledFrom([]string{"é ü ß", "plain", "x = “1”"})
		}
		if e.Charset == text.GB18030 {
			line = rapid.SampledFrom([]string{"你好世界中国", "中文注释"})
		}
		ending := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ending")
		head := strings.Join(rapid.SliceOfN(line, 1, 5).Draw(t, "head"), ending)
		tail := strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "tail"), ending)
		encode := func(s string) []byte {
			raw, err := e.Encode([]byte(s))
			if err != nil {
				t.Fatalf("encode %q: %v", s, err)
			}
			return raw
		}
		old, want := head+ending+"KEY = 1"+ending+tail, head+ending+"KEY = 2"+ending+"NEW"+ending+tail
		got, err := text.Decode(encode(old))
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		res, err := edit.Apply(got.Content, edit.Request{Old: "KEY = 1", New: "KEY = 2\nNEW"})
		if err != nil {
			t.Fatalf("edit: %v", err)
		}
		raw, err := got.Encoding.Encode(res.Content)
		if err != nil || !bytes.Equal(raw, encode(want)) {
			t.Fatalf("%v: got % x (%v)\nwant % x", e, raw, err, encode(want))
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), "a\nb", "x\ny", false)
	f.Add([]byte("\ta “b”\n\tc\n"), "a \"b\"\nc", "d", true)
	f.Add([]byte("\xef\xbb\xbfa\rb\r"), "1\ta\n2\tb", "+x", false)
	f.Add([]byte("x…y\u00a0\n"), "...", `\n`, true)
	f.Add([]byte("say(\"a\")\n"), `say(\"a\")`, `say(\"b\")`, false)
	f.Fuzz(func(t *testing.T, content []byte, old, new string, all bool) { checkApply(t, content, old, new, all) })
}

func checkApply(t rapid.TB, content []byte, old, new string, all bool) {
	res, err := edit.Apply(content, edit.Request{Old: old, New: new, ReplaceAll: all})
	if err == nil {
		checkSpans(t, content, res.Content, res.Spans)
		return
	}
	var nf *edit.NotFoundError
	if errors.As(err, &nf) && nf.Nearest != nil && (nf.Nearest.Line < 1 || nf.Nearest.Last < nf.Nearest.Line) {
		t.Errorf("nearest region %d-%d", nf.Nearest.Line, nf.Nearest.Last)
	}
	_ = err.Error()
}

// Texts of what the rungs of the ladder know: numbers of lines, marks of diffs, quotes and blanks of every kind, escapes.
func TestWords(t *testing.T) {
	parts := []string{"a", "b", "foo", " ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "1\t", "2\t", "12: ", "1|", "    1→", "+", "-", "@@", "…", "...", "“", "”", "\"", "'", "‘", "’", "–", "—", "\u00a0",
		"\u200b", "\ufeff", "\xff", "é", "e\u0301", "\\n", "\\t", "\\\"", "\\\\", "\\", "\\u00e9", "{", "}", "(", ")", "<", "&lt;", "&amp;", "```\n", "```go\n", "\x00", "\v", "\u2028"}
	rapid.Check(t, func(t *rapid.T) {
		content := words.Draw(t, parts, file(t))
		old := words.Draw(t, parts, content, damage(t, piece(t, []byte(content))))
		checkApply(t, []byte(content), old, words.Draw(t, parts, old), rapid.Bool().Draw(t, "all"))
		checkFind(t, []byte(content), old, rapid.IntRange(-1, 4).Draw(t, "from"))
	})
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("a\r\n b\n"), "a\nb", 0)
	f.Fuzz(func(t *testing.T, content []byte, lines string, from int) { checkFind(t, content, lines, from) })
}

func checkFind(t rapid.TB, content []byte, lines string, from int) {
	want := strings.Split(lines, "\n")
	fd := edit.NewFinder(content)
	last := -1
	for _, b := range fd.Find(want, edit.FindOptions{From: from, Ragged: true, Extra: want}) {
		if b.Line < from || b.Line < last || b.Len != len(want) || b.Start > b.End || b.End > len(content) {
			t.Fatalf("block %+v", b)
		}
		last = b.Line
		if n := fd.Lines().Len(); b.Line+b.Len > n {
			t.Fatalf("block of lines %d+%d in a file of %d", b.Line, b.Len, n)
		}
		b.Adapt(want[0], len(want))
		b.Ending()
	}
}
