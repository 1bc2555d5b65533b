package flow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sample() *Doc {
	item := func(level int, ordered bool, s string, more ...Block) Block {
		return Block{Kind: Item, Level: level, Ordered: ordered, Runs: []Run{{Text: s}}, Blocks: more}
	}
	cell := func(s string) Cell { return Cell{Blocks: []Block{P(s)}} }
	return &Doc{
		Title: `A & <b>`,
		Blocks: []Block{
			{Kind: Heading, Level: 1, Runs: []Run{{Text: "One # *two*"}}},
			{Runs: []Run{{Text: "id 123-"}, {Text: "45-", Bold: true}, {Text: "6789", Italic: true}, {Text: " x"}, {Note: 1}, {Text: "gone", Deleted: true}, {Text: "new", Inserted: true}, {Note: 2}}},
			item(1, true, "first", P("more of it")), item(2, false, "inner"), item(1, true, "second"),
			{Kind: Table, Heads: 1, Rows: [][]Cell{{cell("a|b"), cell("c")}, {{Blocks: []Block{P("x"), P("y")}, ColSpan: 2}}, {cell(""), cell("z")}}},
			{Kind: Code, Label: "go", Runs: []Run{{Text: "a := `b`\nif x < y {}"}}},
			{Kind: Aside, Label: "Notes", Blocks: []Block{P("say this")}},
			{Kind: Rule},
			{Runs: []Run{{Text: "see", Link: "https://a.example/x?y=(1)"}, {Text: " bad", Link: "javascript:alert(1)"}, {Image: &Image{Name: "image1.png", Alt: "a [cat]"}}, {Text: "line\nbreak"}}},
			P("1. no list"), P("# no heading"), P("- no item <script>"),
		},
		Notes: []Note{{Blocks: []Block{P("under"), P("twice")}}, {Kind: Comment, Author: "Bob", Date: "2025-01-02", Blocks: []Block{P("why?")}}},
	}
}

func TestMarkdown(t *testing.T) {
	want := "# One # \\*two\\*\n\nid 123-45-*6789* x[^1]new[^comment1]\n\n1. first\n\n   more of it\n   - inner\n2. second\n\n" +
		"| a\\|b | c |\n| --- | --- |\n| x<br>y | |\n| | z |\n\n```go\na := `b`\nif x < y {}\n```\n\n> **Notes:**\n>\n> say this\n\n---\n\n" +
		"[see](https://a.example/x?y=%281%29) bad![a \\[cat\\]](image1.png)line\\\nbreak\n\n1\\. no list\n\n\\# no heading\n\n\\- no item \\<script\\>\n\n" +
		"[^1]: under\n\n    twice\n\n[^comment1]: Bob, 2025-01-02: why?\n"
	if d := cmp.Diff(want, sample().Markdown(Options{})); d != "" {
		t.Error(d)
	}
}

func TestText(t *testing.T) {
	want := "One # *two*\n\nid 123-45-6789 x[1]new[comment 1]\n\n1. first\n\n  more of it\n  - inner\n2. second\n\na|b\tc\nx y\n\tz\n\na := `b`\nif x < y {}\n\nNotes: say this\n\n" +
		"see bad[a [cat]]line\nbreak\n\n1. no list\n\n# no heading\n\n- no item <script>\n\n[1] under\n\ntwice\n\n[comment 1] Bob, 2025-01-02: why?\n"
	if d := cmp.Diff(want, sample().Text(Options{})); d != "" {
		t.Error(d)
	}
	if got := sample().Text(Options{Changes: true}); !strings.Contains(got, "x[1][-gone-]{+new+}") {
		t.Error(got)
	}
}

func TestHTML(t *testing.T) {
	got := sample().HTML(Options{Changes: true})
	for _, want := range []string{
		"<title>A &amp; &lt;b&gt;</title>", "<h1>One # *two*</h1>", "<strong>45-</strong><em>6789</em>", "<del>gone</del><ins>new</ins>",
		"<ol>\n<li>first\n<p>more of it</p>\n<ul>\n<li>inner</li>\n</ul>\n</li>\n<li>second</li>\n</ol>\n",
		"<tr><th>a|b</th><th>c</th></tr>\n<tr><td colspan=\"2\"><p>x</p>\n<p>y</p>\n</td></tr>", "if x &lt; y {}", "<a href=\"https://a.example/x?y=(1)\">see</a> bad<img src=\"image1.png\" alt=\"a [cat]\">",
		"<sup><a href=\"#note1\">1</a></sup>", "<aside id=\"note2\"><sup>comment 1</sup> Bob, 2025-01-02: \n<p>why?</p>", "- no item &lt;script&gt;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "javascript") || strings.Contains(got, "<script") {
		t.Error(got)
	}
}

// What is written can be read again: the same blocks from the same page.
func TestReadHTML(t *testing.T) {
	d, err := ReadHTML(`<title>T</title><script>x</script><h2>Head <b>x</b></h2><p>a <i>b</i>c<br>d <a href="javascript:x">e</a></p>
<ol start=3><li>one<ul><li><p>in</p></ul><li>two<p>more</ol><table><thead><tr><th>h<th>k</thead><tr><td colspan=2>v</table><pre><code class="language-go">x
 y
</code></pre><blockquote>q</blockquote><img src="data:image/png;base64,AAAA" alt=pic>`)
	if err != nil {
		t.Fatal(err)
	}
	want := Doc{Title: "T", Blocks: []Block{
		{Kind: Heading, Level: 2, Runs: []Run{{Text: "Head "}, {Text: "x", Bold: true}}},
		{Runs: []Run{{Text: "a "}, {Text: "b", Italic: true}, {Text: "c"}, {Text: "\n"}, {Text: "d "}, {Text: "e"}}},
		{Kind: Item, Level: 1, Ordered: true, Number: 3, Runs: []Run{{Text: "one"}}},
		{Kind: Item, Level: 2, Runs: []Run{{Text: "in"}}},
		{Kind: Item, Level: 1, Ordered: true, Runs: []Run{{Text: "two"}}, Blocks: []Block{P("more")}},
		{Kind: Table, Heads: 1, Rows: [][]Cell{{{Blocks: []Block{P("h")}}, {Blocks: []Block{P("k")}}}, {{ColSpan: 2, Blocks: []Block{P("v")}}}}},
		{Kind: Code, Label: "go", Runs: []Run{{Text: "x\n y"}}},
		{Kind: Quote, Blocks: []Block{P("q")}},
		{Runs: []Run{{Image: &Image{Name: "image", Alt: "pic", MIME: "image/png", Data: []byte{0, 0, 0}}}}},
	}}
	if df := cmp.Diff(want, d); df != "" {
		t.Error(df)
	}
}

func TestReadMarkdownNotes(t *testing.T) {
	d, err := ReadMarkdown("a[^x] b\n\n[^x]: under **it**\n\n- [x] done\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Doc{Blocks: []Block{{Runs: []Run{{Text: "a"}, {Note: 1}, {Text: " b"}}}, {Kind: Item, Level: 1, Runs: []Run{{Text: "☑ "}, {Text: "done"}}}},
		Notes: []Note{{Blocks: []Block{{Runs: []Run{{Text: "under "}, {Text: "it", Bold: true}}}}}}}
	if df := cmp.Diff(want, d); df != "" {
		t.Error(df)
	}
}

// Words that are written as Markdown are the same words when they are read, whatever characters they are of.
func TestWordsSurviveMarkdown(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("ab1 .-*_`#[]()<>&;!\\|~+=é→")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		var runs []Run
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			runs = append(runs, Run{Text: word.Draw(t, "text"), Bold: rapid.Bool().Draw(t, "b"), Italic: rapid.Bool().Draw(t, "i")})
		}
		want := strings.Join(strings.Fields(Words(runs)), " ")
		d := Doc{Blocks: []Block{{Runs: runs}}}
		md := d.Markdown(Options{})
		back, err := ReadMarkdown(md)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(back.Text(Options{})), " "); got != want {
			t.Fatalf("%q was written as %q and read as %q", want, md, got)
		}
	})
}

func TestGrid(t *testing.T) {
	rows := [][]Cell{{{RowSpan: 2}, {ColSpan: 2}}, {{}, {}}, {{RowSpan: 9}}}
	g := grid(rows)
	shape := ""
	for _, r := range g {
		for _, c := range r {
			if c == nil {
				shape += "."
			} else {
				shape += "x"
			}
		}
		shape += " "
	}
	if shape != "xx. .xx x.. " {
		t.Error(shape)
	}
}
