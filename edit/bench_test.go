package edit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/edit"
)

// source writes n bytes that look like a program: no two functions are alike, most lines occur elsewhere.
func source(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "// handle%d answers requests of kind %d.\nfunc (s *server) handle%d(ctx context.Context, req *request) (*response, error) {\n", i, i%7, i)
		fmt.Fprintf(&b, "\tif err := s.check(ctx, req); err != nil {\n\t\treturn nil, fmt.Errorf(\"handle %d: %%w\", err)\n\t}\n", i)
		fmt.Fprintf(&b, "\tfor _, item := range req.items {\n\t\ts.total += item.size * %d\n\t}\n\treturn s.reply(ctx, req)\n}\n\n", i%31)
	}
	return b.Bytes()
}

// target is the text of one function near the end, and its replacement.
func target(content []byte) (old, new string) {
	at := bytes.LastIndex(content[:len(content)*9/10], []byte("func (s *server)"))
	old = string(content[at : at+bytes.Index(content[at:], []byte("\n}\n"))+3])
	return old, strings.Replace(old, "s.total +=", "s.sum +=", 1)
}

func BenchmarkApply(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"10KB", 10 << 10}, {"1MB", 1 << 20}} {
		content := source(size.n)
		old, new := target(content)
		crlf := bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
		typographic := bytes.ReplaceAll(content, []byte("\"handle"), []byte("“handle"))
		line := func(s string, f func(int, string) string) string {
			lines := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
			for i := range lines {
				lines[i] = f(i, lines[i])
			}
			return strings.Join(lines, "") + "\n"
		}
		numbered := func(i int, s string) string { return fmt.Sprintf("%6d\t%s", i+1, s) }
		blanks := func(_ int, s string) string { return strings.ReplaceAll(s, "\t", "    ") }
		trailing := func(_ int, s string) string { return strings.TrimSuffix(s, "\n") + " \n" }
		escaped := strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`)
		cases := []struct {
			rung    edit.Rung
			content []byte
			req     edit.Request
		}{
			{edit.Exact, content, req(old, new)},
			{edit.LineEndings, crlf, req(old, new)},
			{edit.TrailingSpace, content, req(line(old, trailing), new)},
			{edit.LineNumbers, content, req(line(old, numbered), line(new, numbered))},
			{edit.DiffMarkers, content, req(line(old, func(_ int, s string) string { return "-" + s }), line(new, func(_ int, s string) string { return "+" + s }))},
			{edit.Indentation, content, req(line(old, blanks), line(new, blanks))},
			{edit.Punctuation, typographic, req(old, new)},
			{edit.Escapes, content, req(escaped.Replace(old), escaped.Replace(new))},
		}
		for _, c := range cases {
			b.Run(size.name+"/"+strings.ReplaceAll(c.rung.String(), " ", "-"), func(b *testing.B) {
				b.SetBytes(int64(len(c.content)))
				b.ReportAllocs()
				for b.Loop() {
					res, err := edit.Apply(c.content, c.req)
					if err != nil || res.Rung != c.rung {
						b.Fatalf("rung %v, error %v", res.Rung, err)
					}
				}
			})
		}
	}
}

func BenchmarkNotFound(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"10KB", 10 << 10}, {"1MB", 1 << 20}, {"10MB", 10 << 20}} {
		content := source(size.n)
		old, _ := target(content)
		for name, old := range map[string]string{
			"near":  strings.Replace(old, "item.size", "item.length", 1),
			"words": "check server context response handle request items\n",
			"none":  "zzz qqq\n",
		} {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				for b.Loop() {
					if _, err := edit.Apply(content, req(old, "x")); err == nil {
						b.Fatal("found")
					}
				}
			})
		}
	}
}

// The floor: what a program does that trusts its strings.
func BenchmarkBareReplace1MB(b *testing.B) {
	content := source(1 << 20)
	old, new := target(content)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if bytes.Count(content, []byte(old)) != 1 {
			b.Fatal("not found")
		}
		bytes.Replace(content, []byte(old), []byte(new), 1)
	}
}

// Requests that would be expensive for a search that goes back, compares every pair, or keeps every place.
func TestF11_NoQuadraticSearch(t *testing.T) {
	same := strings.Repeat("foo\n", 250_000)
	tests := []struct {
		name    string
		content string
		req     edit.Request
	}{
		{"one long line of one letter", strings.Repeat("a", 400_000), req(strings.Repeat("a", 100_000)+"b", "x")},
		{"overlapping itself", strings.Repeat("a", 400_000), req(strings.Repeat("a", 100_000), "x")},
		{"equal lines", same, req(strings.Repeat("  foo\n", 200)+"  bar", "x")},
		{"equal lines, all", same, all(strings.Repeat("  foo\n", 200), "  bar\n")},
		{"equal lines, nearest", same, req(strings.Repeat("foo\nbar\n", 1000), "x")},
		{"long old and new text", strings.Repeat("foo\nbar\n", 20_000), req(strings.Repeat("foo \nbar\n", 20_000), strings.Repeat("bar\nfoo\n", 20_000))},
		{"breaks in a file of one line", strings.Repeat("a;", 300_000), all(";", ";\n")},
		{"every letter", strings.Repeat("e", 1<<20), req("e", "x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := edit.Apply([]byte(tt.content), tt.req)
			if err != nil && len(err.Error()) > 4000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}
