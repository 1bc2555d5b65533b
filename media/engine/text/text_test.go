package text

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

func pipeline(t testing.TB) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{data.Engine(), Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func query(t testing.TB, name, content, statement string, with ...media.Payload) (media.Result, error) {
	t.Helper()
	p := pipeline(t)
	plan, err := p.Compile(statement)
	if err != nil {
		return media.Result{}, err
	}
	return p.Run(t.Context(), media.Payload{Data: []byte(content), Name: name}, plan, media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) {
		for _, w := range with {
			if w.Name == id {
				return w, nil
			}
		}
		return media.Payload{}, fmt.Errorf("no %s", id)
	}})
}

func TestM2_TextEdits(t *testing.T) {
	utf16le := func(s string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	for _, tt := range []struct{ name, in, do, want string }{
		// redact
		{"a.txt", "id 123-45-6789.\r\nJane", `redact match=/\d{3}-\d{2}-\d{4}/,Jane replace="[SSN]"`, "id [SSN].\r\n[SSN]"},
		{"a.txt", "aXbX", `redact match=X`, "a█b█"},
		{"a.txt", "caf\xe9 Jane", `redact match=Jane replace=""`, "caf\xe9 "},
		{"a.txt", utf16le("für Jane"), `redact match=Jane replace=J`, utf16le("für J")},
		{"a.html", "<p>12<b class=x>3-45</b>-6789 &amp; 123&#45;45&#x2d;6789</p>", `redact match=/\d{3}-\d{2}-\d{4}/ replace="<x>"`, "<p>&lt;x&gt;<b class=x></b> &amp; &lt;x&gt;</p>"},
		{"a.html", "<p>Ja</p><p>ne</p><!-- Jane --><img alt='J&#97;ne' title=Jane><script>Jane</script>", `redact match=Jane replace=X`, "<p>Ja</p><p>ne</p><!-- X --><img alt='X' title=X><script>X</script>"},
		{"a.svg", "<svg><text>Ja<tspan>ne</tspan></text></svg>", `redact match=Jane replace=""`, "<svg><text><tspan></tspan></text></svg>"},
		{"a.json", `{"J\u0061ne": "x Jane", "n": 12345}`, `redact match=Jane,/234/ replace="a\"b"`, `{"a\"b": "x a\"b", "n": "1a\"b5"}`},
		{"a.yaml", "name: Jane # Jane\n", `redact match=Jane replace=REDACTED`, "name: REDACTED # REDACTED\n"},
		{"a.csv", "name,x\n\"Jane, D\",1\n", `redact match="Jane, D" replace=R`, "name,x\n\"R\",1\n"},
		// what is read only after one more decoding
		{"a.txt", "se\u00adcret\u200b!", `redact match=secret replace=X`, "X\u200b!"},
		{"a.txt", "see https://x/?q=Ja%6ee%20Doe&r=1", `redact match="Jane Doe" replace="X Y"`, "see https://x/?q=X%20Y&r=1"},
		{"a.md", "[a](mailto:a?subject=1%2D2) 1-2", `redact match="1-2" replace="é"`, "[a](mailto:a?subject=%C3%A9) é"},
		{"a.html", `<a href="?q=J%61ne&amp;x">a</a><p style="--a:'J\61 ne'" srcdoc="&lt;i&gt;Ja&lt;/i&gt;ne">b</p>`, `redact match=Jane replace=X`, `<a href="?q=X&amp;x">a</a><p style="--a:'X'" srcdoc="&lt;i&gt;X&lt;/i&gt;">b</p>`},
		{"a.html", `<style>p{content:"J\000061ne"}</style><script>a="J\u0061ne\x4a\u{61}ne"</script>`, `redact match=Jane replace="\"X"`, `<style>p{content:"\"X"}</style><script>a="\"X\"X"</script>`},
		{"a.html", `<a href="data:text/html;base64,PHA+SmE8Yj5uZTwvYj48L3A+">a</a>`, `redact match=Jane replace=X`, `<a href="data:text/html;base64,PHA+WDxiPjwvYj48L3A+">a</a>`},
		{"a.txt", "x data:text/plain;base64,SmFuZQ== and so; on\ndata:;base64,SmFuZS4u then 100%25 of Jane", `redact match=Jane replace=X`, "x data:text/plain;base64,WA== and so; on\ndata:;base64,WC4u then 100%25 of X"},
		{"a.html", "<img src='data:text/plain;charset=utf-8;BASE64,Sm\n Fu\n ZQ%3d%3D'>", `redact match=Jane replace=X`, "<img src='data:text/plain;charset=utf-8;BASE64,WA=='>"},
		{"a.json", `{"a": "data:;base64,SmFuZQ=="}`, `redact match=Jane replace=X`, `{"a": "data:;base64,WA=="}`},
		// sanitize
		{"a.txt", "a\x07b\tc\u202e\U000e0041d", `sanitize`, "ab\tcd"},
		{"a.html", `<p onclick="x()">a<script>b</script><a href="JaVa&#115;cript:x">c</a><img src="https://t/x.png" alt=q><a href="https://ok/">d</a></p>`, `sanitize`, `<p>a<a>c</a><img alt=q><a href="https://ok/">d</a></p>`},
		{"a.html", `<style>@import url(//x)</style><style>p{}</style><iframe src=x><p>in</p></iframe><meta http-equiv=refresh content="0;url=x"><link rel=stylesheet href=//x><p style="background:url(http://x)">z`, `sanitize`, `<style></style><style>p{}</style><p>z`},
		{"a.svg", `<svg><foreignObject><body/></foreignObject><image xlink:href="http://x/y"/><use href="#a"/><set attributeName="href" to="javascript:x"/><rect fill="url(http://x)"/></svg>`, `sanitize`, `<svg><image/><use href="#a"/><rect/></svg>`},
		{"a.csv", "a,b\n=1+1,-5\n@x,+1.5\n", `sanitize`, "a,b\n'=1+1,-5\n'@x,+1.5\n"},
		// normalize
		{"a.txt", "\xef\xbb\xbfa \r\nb\t\re\u0301\n", `normalize`, "a\nb\n\u00e9\n"},
		{"a.md", "a  \nb   \n   \n", `normalize`, "a  \nb  \n\n"},
		{"a.txt", "caf\xe9 \n", `normalize`, "café\n"},
		// update_text
		{"a.txt", "x $1 x", `update_text anchor=x replace="$&$1"`, "$&$1 $1 x"},
		{"a.txt", "a\r\nb\r\n", `update_text anchor="a\nb" replace="c\nd"`, "c\r\nd\r\n"},
		{"a.txt", "a b", `update_text anchor=" b" replace=""`, "a"},
		// append
		{"a.txt", "", `append text=x`, "x\n"},
		{"a.txt", "a", `append text=x`, "a\nx\n"},
		{"a.txt", "a\r\n", `append text="x\ny"`, "a\r\nx\r\ny\r\n"},
		{"a.txt", "a", `append text=x newline=false`, "ax"},
		{"a.csv", "a,b\n", `append text="1,2"`, "a,b\n1,2\n"},
		// conversions
		{"a.md", "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x</script>\n", `convert to=html`, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>a</title>\n</head>\n<body>\n<h1>T</h1>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n<!-- raw HTML omitted -->\n</body>\n</html>\n"},
		{"a.html", "<h1>T</h1><p>a <b>b</b></p><table><tr><th>x</th></tr><tr><td>1</td></tr></table>", `convert to=md`, "# T\n\na **b**\n\n| x |\n|---|\n| 1 |\n"},
		{"a.html", "<title>q</title><h1>T &amp; U</h1><p>a <b>b</b>c<br>d</p><ul><li>one<li>two</ul><script>no</script><table><tr><td>1</td><td>2</td></tr></table>", `convert to=txt`, "q\n\nT & U\n\na bc\nd\n\none\ntwo\n\n1\t2\n"},
		{"a.txt", "# no *x*\n", `convert to=md`, "\\# no \\*x\\*\n"},
		{"a.txt", "a<b", `convert to=html`, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>a</title>\n</head>\n<body>\n<pre>a&lt;b</pre>\n</body>\n</html>\n"},
	} {
		res, err := query(t, tt.name, tt.in, tt.do)
		if err != nil {
			t.Errorf("%s on %q: %v", tt.do, tt.in, err)
			continue
		}
		if got := string(res.Media.Data); got != tt.want {
			t.Errorf("%s on %q\n got %q %v\nwant %q", tt.do, tt.in, got, res.Warnings, tt.want)
		}
		if !strings.HasPrefix(tt.do, "convert") && res.Media.Name != tt.name {
			t.Errorf("%s: the name became %s", tt.do, res.Media.Name)
		}
	}
}

func TestM6_TextFailures(t *testing.T) {
	for _, tt := range []struct{ name, in, do, want string }{
		{"a.txt", "abc", `redact match=x,/\d+/`, `redact: nothing in a.txt matches "x", /\d+/. Nothing was changed.`},
		{"a.txt", "abc", `redact match=b replace=bb`, `redact: "b" still matches in the result, at "b": either the replacement matches itself, or the words stand there in an escaped form. Choose another replacement, or convert the file first. Nothing was changed.`},
		{"a.yaml", "name: \"J\\x61ne\"\nb: Jane\n", `redact match=Jane replace=R`, `redact: "Jane" still matches in the result, at "Jane": either the replacement matches itself, or the words stand there in an escaped form. Choose another replacement, or convert the file first. Nothing was changed.`},
		{"a.yaml", "ssn: 1\n", `redact match="1" replace="[x]"`, `redact: the replacement "[x]" would change the structure of the YAML. Choose a plain word such as REDACTED.`},
		{"a.csv", "a,b\n", `redact match=a replace="x,y"`, `redact: the replacement "x,y" would change the columns of the table. Choose a plain word such as REDACTED.`},
		{"a.txt", strings.Repeat("a", 50) + "b", `redact match=/(a+)+$/`, `redact: the expression /(a+)+$/ took longer than 2s on this text. Write a simpler one, without nested repetitions such as (a+)+.`},
		{"a.html", "<p>Jane</p><a href=\"data:application/x-any;base64,AAECA0phbmUgRG9lAAEC\">a</a>", `redact match="Jane Doe",Jane`, `redact: "Jane Doe" stands in a file that is embedded in base64, which cannot be changed here. Take it out first. Nothing was changed.`},
		{"a.html", "<p>Jane</p><a href=\"data:application/zip;base64,UEsDBAoAAAAAAA==\">a</a>", `redact match=Jane`, `redact: the file holds application/zip in base64, which cannot be looked into here, so it cannot be redacted with certainty. Take that out first. Nothing was changed.`},
		{"a.txt", "abc", `update_text anchor=x replace=y`, `update_text: the text "x" does not stand in a.txt. Read it with extract text and copy the words exactly.`},
		{"a.txt", "abc", `chunk size=5 overlap=5`, `chunk: overlap=5 must be less than size=5.`},
		{"a.md", "abc", `split by=section`, `split: a.md has no heading of the first level to split at.`},
		{"a.md", "abc", `split`, `a.md has no pages. Use: split by=section`},
		{"a.md", "# a\n# b\n", `split by=section ranges='[[2,1]]'`, `split: the range [2 1] does not lie within 1 to 2, or runs backwards.`},
		{"a.html", "<img src=x.png>", `extract assets`, `extract assets: a.html holds no embedded files of the kind asked for; files that it only links to are not in it.`},
		{"a.txt", "one\n", `apply_patch patch="--- a\n+++ b\n@@ -1 +1 @@\n-two\n+three\n"`, ``},
	} {
		_, err := query(t, tt.name, tt.in, tt.do)
		if err == nil || tt.want != "" && err.Error() != tt.want {
			t.Errorf("%s on %.40q\n got %v\nwant %s", tt.do, tt.in, err, tt.want)
		}
	}
}

func TestUpdateTextSaysThatThereAreMore(t *testing.T) {
	res, err := query(t, "a.txt", "x\nx\nx", `update_text anchor=x replace=y`)
	want := []string{"The text stands there 3 times; only the first, in line 1, was replaced."}
	if d := cmp.Diff(want, res.Warnings); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestDiffIsAPatch(t *testing.T) {
	b := media.Payload{Data: []byte("one\nTWO\nthree\n"), Name: "new b.txt"}
	res, err := query(t, "a.txt", "one\ntwo\nthree", `diff with=@"new b.txt"`, b)
	if err != nil {
		t.Fatal(err)
	}
	want := "--- a/a.txt\n+++ b/new b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n\\ No newline at end of file\n+TWO\n+three\n"
	if res.Read.Text != want {
		t.Errorf("got\n%s", res.Read.Text)
	}
	c := res.Read.Data.(comparison)
	if c.Patch != want || len(c.Changes) != 3 || !c.Changes[1].Removed || c.Changes[1].Value != "two\nthree" || c.Changes[2].Count != 2 {
		t.Errorf("%+v", c)
	}
	if res, err = query(t, "a.txt", "x", `diff with=@c`, media.Payload{Data: []byte("x"), Name: "c"}); err != nil || res.Read.Text != "No differences.\n" {
		t.Error(res.Read, err)
	}
}

// apply_patch(diff(A, B)) on A is B, whatever the lines are.
func TestPatchProperty(t *testing.T) {
	p := pipeline(t)
	line := rapid.SampledFrom([]string{"a", "b", "", " ", "-", "+x", "@@", "\\ No", "é", "--- x", "tab\t", "*** End Patch"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "ending"))
		if rapid.Bool().Draw(t, "final") {
			s += "\n"
		}
		return s
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		res := compare("a.txt", rapid.SampledFrom([]string{"a.txt", "b c.txt", "sub/d.md"}).Draw(rt, "name"), a, b)
		diffed := res.Read.Data.(comparison).Patch
		if diffed == "" {
			if a != b {
				rt.Fatalf("no difference of %q and %q", a, b)
			}
			return
		}
		out, err := p.Build().Then("apply_patch", media.Args{"patch": diffed}).Run(t.Context(), media.Payload{Data: []byte(a), Name: "a.txt"}, media.RunOptions{})
		if err != nil {
			rt.Fatalf("%q to %q: %v\n%s", a, b, err, diffed)
		}
		if out.Media == nil || string(out.Media.Data) != b {
			rt.Fatalf("%q to %q gave %+v\n%s", a, b, out.Media, diffed)
		}
	})
}

func TestEnvelope(t *testing.T) {
	b := media.Payload{Data: []byte("bee\n"), Name: "b.md"}
	res, err := query(t, "a.txt", "one\ntwo\n", `apply_patch with=@"b.md" patch="*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Delete File: b.md\n*** Add File: c.json\n+{}\n*** End Patch"`, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range res.List {
		got = append(got, fmt.Sprintf("%s %s %q", p.Name, p.MIME, p.Data))
	}
	if d := cmp.Diff([]string{`a.txt text/plain "one\n2\n"`, `c.json application/json "{}\n"`}, got); d != "" {
		t.Error(d)
	}
	for _, tt := range []struct{ patch, want string }{
		{`*** Begin Patch\n*** Update File: ../a.txt\n@@\n-one\n+1\n*** End Patch`, "has an empty part, . or .. in it"},
		{`*** Begin Patch\n*** Add File: /etc/x\n+1\n*** End Patch`, "is no relative name"},
		{`*** Begin Patch\n*** Add File: a.txt\n+1\n*** End Patch`, "exist"},
		{`*** Begin Patch\n*** Delete File: zzz\n*** End Patch`, "zzz"},
		{`*** Begin Patch\n*** Delete File: a.txt\n*** End Patch`, "deletes every file"},
		{`*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+1\n*** End Patch`, "Nothing was changed"},
		{`no patch`, "cannot be read"},
	} {
		if _, err := query(t, "a.txt", "x\nx\n", `apply_patch patch="`+tt.patch+`"`); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.patch, err, tt.want)
		}
	}
	// One file left under a new name.
	res, err = query(t, "a.txt", "x\n", `apply_patch patch="*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n*** End Patch"`)
	if err != nil || res.Media == nil || res.Media.Name != "b.txt" || string(res.Media.Data) != "y\n" {
		t.Errorf("%+v %v", res.Media, err)
	}
	// Models forget the + of added lines.
	res, err = query(t, "a.txt", "x\n", `apply_patch patch="*** Begin Patch\n*** Add File: b.txt\nhello\nyou\n*** End Patch"`)
	if err == nil && (len(res.List) != 2 || string(res.List[1].Data) != "hello\nyou\n" || res.Warnings == nil) {
		t.Errorf("%+v %v", res, err)
	}
}

func TestChunks(t *testing.T) {
	const src = "One two.  Three four!\n\n\n Five six seven\n \nEight"
	for _, tt := range []struct {
		by            string
		size, overlap int
		want          []string
	}{
		{"paragraph", 100, 0, []string{"One two.  Three four!", "Five six seven", "Eight"}},
		{"paragraph", 10, 0, []string{"One two.  ", "Three ", "four!", "Five six ", "seven", "Eight"}},
		{"sentence", 100, 0, []string{"One two.", "Three four!", "Five six seven", "Eight"}},
		{"fixed", 20, 5, []string{"One two.  Three four", " four!\n\n\n Five six s"[1:20], ""}},
	} {
		got, err := Chunks(t.Context(), src, tt.by, tt.size, tt.overlap)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got {
			if tt.by != "fixed" && (i >= len(tt.want) || c.Text != tt.want[i]) {
				t.Errorf("%s %d: %d is %q", tt.by, tt.size, i, c.Text)
			}
		}
		if tt.by != "fixed" && len(got) != len(tt.want) {
			t.Errorf("%s %d: %d chunks", tt.by, tt.size, len(got))
		}
	}
	got, err := Chunks(t.Context(), "ae\u0301👩‍👩‍👧b", "fixed", 3, 0)
	var texts []string
	for _, c := range got {
		texts = append(texts, c.Text)
	}
	if d := cmp.Diff([]string{"ae\u0301", "👩\u200d👩", "\u200d👧b"}, texts); err != nil || d != "" {
		t.Error(err, d) // the family is longer than a piece, so it is cut
	}
}

// Offsets point at the text, no piece is too long, and nothing but blanks is left out.
func TestChunkProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := rapid.StringOf(rapid.RuneFrom([]rune("ab. \n!?é\u0301👩\u200d🇩🇪"))).Draw(rt, "text")
		by := rapid.SampledFrom([]string{"paragraph", "sentence", "fixed"}).Draw(rt, "by")
		size := rapid.IntRange(1, 12).Draw(rt, "size")
		overlap := rapid.IntRange(0, size-1).Draw(rt, "overlap")
		got, err := Chunks(t.Context(), src, by, size, overlap)
		if err != nil {
			rt.Fatal(err)
		}
		runes := []rune(src)
		covered := 0
		for i, c := range got {
			if c.Index != i || string(runes[c.Start:c.End]) != c.Text || utf8.RuneCountInString(c.Text) > size || c.Text == "" {
				rt.Fatalf("piece %d of %q: %+v", i, src, c)
			}
			if gap := string(runes[min(covered, c.Start):c.Start]); strings.TrimSpace(gap) != "" {
				rt.Fatalf("%q is in no piece of %q: %+v", gap, src, got)
			}
			covered = max(covered, c.End)
		}
		if strings.TrimSpace(string(runes[covered:])) != "" {
			rt.Fatalf("the end of %q is in no piece: %+v", src, got)
		}
	})
}

func TestSplitAndAssets(t *testing.T) {
	res, err := query(t, "a.md", "intro\n\n# One\n1\n```\n# no\n```\n\nTwo\n===\n2\n", `split by=section`)
	var got []string
	for _, p := range res.List {
		got = append(got, p.Name+" "+string(p.Data))
	}
	want := []string{"a.part1.md intro\n\n", "a.part2.md # One\n1\n```\n# no\n```\n\n", "a.part3.md Two\n===\n2\n"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	res, err = query(t, "a.html", "<html><body><h1>A</h1>x<h1>B</h1>y</body></html>", `split by=section ranges='[[2,2]]'`)
	if err != nil || len(res.List) != 1 || string(res.List[0].Data) != "<html><body><h1>B</h1>y</body></html>" {
		t.Errorf("%+v %v", res.List, err)
	}
	res, err = query(t, "a.html", `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><a href="data:text/plain,hi%20you">`, `extract assets`)
	if err != nil || len(res.List) != 2 || res.List[0].Name != "a.asset1.gif" || string(res.List[1].Data) != "hi you" {
		t.Errorf("%+v %v", res.List, err)
	}
	res, err = query(t, "a.html", `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><a href="data:text/plain,hi%20you">`, `extract assets types=attachment`)
	if err != nil || len(res.List) != 1 || res.List[0].MIME != "text/plain" {
		t.Errorf("%+v %v", res.List, err)
	}
}

func TestMetadata(t *testing.T) {
	res, err := query(t, "a.md", "# T\r\nsome words\r\n", `extract metadata`)
	b, _ := json.Marshal(res.Read.Data)
	want := `{"encoding":"UTF-8","family":"document","filename":"a.md","headings":["# T"],"line_endings":"CRLF","lines":2,"mime_type":"text/markdown","size_bytes":17,"words":4}`
	if err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
}

// After a redaction no reading of the file has the words, whatever tags and entities stood between them.
func FuzzRedactHTML(f *testing.F) {
	for _, s := range []string{"<p>Jane</p>", "J<b>an</b>e", "&#74;ane", "<a title='Ja&#110;e'>", "<!-- Jane -->", "<script>Jane", "<svg><![CDATA[Jane]]>", "<p Jane"} {
		f.Add(s)
	}
	p := pipeline(f)
	f.Fuzz(func(t *testing.T, src string) {
		res, err := p.Query(t.Context(), media.Payload{Data: []byte("<html>" + src), Name: "a.html"}, `redact match=Jane replace=X`)
		if err != nil {
			return
		}
		if strings.Contains(htmlText(string(res.Media.Data)), "Jane") {
			t.Fatalf("%q gave %q", src, res.Media.Data)
		}
	})
}
