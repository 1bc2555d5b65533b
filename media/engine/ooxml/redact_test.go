package ooxml

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tackle-dev/tackle/media"
)

const ssn = "123-45-6789"

var anySSN = regexp.MustCompile(`\d{3}-\d{2}-\d{4}`)

// leaks looks for numbers in decoded members in ways that share nothing with the engine: in the bytes, without the tags,
// with entities and percent signs decoded, as UTF-16, and as base64.
func leaks(t testing.TB, data []byte) []string {
	t.Helper()
	tags := regexp.MustCompile(`<[^>]*>`)
	var out []string
	for name, b := range members(t, data) {
		s := string(b)
		bare := html.UnescapeString(tags.ReplaceAllString(s, ""))
		bare = strings.Map(func(r rune) rune {
			if r == 0xad || r == 0x200b || r == 0x2060 {
				return -1
			}
			return r
		}, bare)
		accepted := html.UnescapeString(tags.ReplaceAllString(regexp.MustCompile(`(?s)<w:del [^>]*>.*?</w:del>|<w:instrText.*?</w:instrText>`).ReplaceAllString(s, ""), ""))
		texts := []string{s, bare, accepted, html.UnescapeString(s)}
		if u, err := url.PathUnescape(s); err == nil {
			texts = append(texts, u)
		}
		wide := make([]byte, 0, 2*len(ssn))
		for _, c := range utf16.Encode([]rune(ssn)) {
			wide = append(wide, byte(c), byte(c>>8))
		}
		for _, x := range texts {
			if m := anySSN.FindString(x); m != "" {
				out = append(out, name+": "+m)
				break
			}
		}
		if bytes.Contains(b, wide) || strings.Contains(s, base64.StdEncoding.EncodeToString([]byte(ssn))) {
			out = append(out, name+" (encoded)")
		}
	}
	slices.Sort(out)
	return out
}

const redactAll = `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`

// The trap of three programs: numbers over three runs, in a header, a footnote, a comment, a tracked deletion, notes.
func TestRedactSamples(t *testing.T) {
	for name, counts := range map[string]int{"contract.docx": 5, "gen.docx": 1, "rep.docx": 1, "gen.pptx": 2, "deck.pptx": 5} {
		in := sample(t, name)
		if len(leaks(t, in.Data)) == 0 {
			t.Fatalf("%s holds no number to begin with", name)
		}
		res := must(t, in, redactAll)
		if got := leaks(t, res.Media.Data); got != nil || res.Counts.Modified != counts {
			t.Errorf("%s: %d changed, left: %v", name, res.Counts.Modified, got)
		}
		before, after := members(t, in.Data), members(t, res.Media.Data)
		for part, was := range before {
			if !anySSN.Match(regexp.MustCompile(`<[^>]*>`).ReplaceAll(was, nil)) && !bytes.Equal(was, after[part]) {
				t.Errorf("%s: %s was not concerned and is not the same", name, part)
			}
			if !strings.HasSuffix(part, ".xml") {
				continue
			}
			// What is left of a part without its words is what it was: every run and its format.
			shape := func(b []byte) string {
				s := strings.ReplaceAll(string(b), ` xml:space="preserve"`, "")
				return regexp.MustCompile(`>[^<]*<`).ReplaceAllString(s, "><")
			}
			if shape(was) != shape(after[part]) {
				t.Errorf("%s: %s lost more than words", name, part)
			}
		}
	}
}

// Each place alone: it is found, it is emptied, and an independent look finds nothing.
func TestRedactEveryPlace(t *testing.T) {
	rel := func(s string) [3]string { return [3]string{"", "", s} }
	other := func(root, ns, inner string) string {
		return relHead + `<` + root + ` ` + ns + `>` + inner + `</` + root + `>`
	}
	split := wr("123-") + `<w:proofErr w:type="spellStart"/>` + `<w:r><w:rPr><w:b/></w:rPr><w:t>45</w:t></w:r>` + wr("-6789")
	box := `<wps:txbx><w:txbxContent>` + wp(wr(ssn)) + `</w:txbxContent></wps:txbx>`
	dp := func(rel, ns, root, inner string) [3]string {
		return [3]string{"docProps/x.xml", rel, relHead + `<` + root + ` ` + ns + `>` + inner + `</` + root + `>`}
	}
	const ext = "http://schemas.openxmlformats.org/officeDocument/2006/"
	book := must(t, media.Payload{Data: []byte("name,number\nJane,\"" + ssn + "\"\n"), Name: "b.csv"}, "convert to=xlsx").Media.Data
	inner := doc(t, wp(split))
	chart := `xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + strings.TrimSuffix(relBase, "/") + `"`
	for _, tt := range []struct {
		name string
		in   media.Payload
	}{
		{"one run", doc(t, wp(wr("a "+ssn+" b")))},
		{"over runs", doc(t, wp(split))},
		{"over runs, printed with blanks between", doc(t, "<w:p>\n  <w:r>\n    <w:t>123-</w:t>\n  </w:r>\n  <w:r>\n    <w:t>45-6789</w:t>\n  </w:r>\n</w:p>")},
		{"entities", doc(t, wp(wr("1&#50;3-&#x34;5-6789")))},
		{"CDATA", doc(t, wp(`<w:r><w:t><![CDATA[123-45-6789]]></w:t></w:r>`))},
		{"soft hyphens and joiners", doc(t, wp(wr("12\u200b3-45\u00ad-67\u206089")))},
		{"hyphens as elements", doc(t, wp(`<w:r><w:t>123</w:t><w:noBreakHyphen/><w:t>45</w:t><w:noBreakHyphen/><w:t>6789</w:t></w:r>`))},
		{"digits as symbols", doc(t, wp(`<w:r><w:sym w:font="Arial" w:char="0031"/><w:t>23-45-678</w:t><w:sym w:font="Arial" w:char="F039"/></w:r>`))},
		{"soft hyphen elements", doc(t, wp(`<w:r><w:t>123-</w:t><w:softHyphen/><w:t>45-6789</w:t></w:r>`))},
		{"tracked deletion", doc(t, wp(`<w:del w:id="1" w:author="B"><w:r><w:delText>123-45-</w:delText></w:r><w:r><w:delText>6789</w:delText></w:r></w:del>`))},
		{"split by a deletion", doc(t, wp(wr("123-45-")+`<w:del w:id="1" w:author="B"><w:r><w:delText>99</w:delText></w:r></w:del>`+wr("6789")))},
		{"split by an insertion", doc(t, wp(wr("123-4")+`<w:ins w:id="1" w:author="B"><w:r><w:t>xyz</w:t></w:r></w:ins>`+wr("5-6789")))},
		{"joined by a deleted end of a paragraph", doc(t, `<w:p><w:pPr><w:rPr><w:del w:id="1" w:author="B"/></w:rPr></w:pPr>`+wr("123-45-")+`</w:p>`+wp(wr("6789")))},
		{"joined where an insertion is declined", doc(t, `<w:p><w:pPr><w:rPr><w:ins w:id="1" w:author="B"/></w:rPr></w:pPr>`+wr("123-45-")+`</w:p>`+wp(wr("6789")))},
		{"moved", doc(t, wp(`<w:moveFrom w:id="1" w:author="B"><w:r><w:t>123-45-6789</w:t></w:r></w:moveFrom>`))},
		{"hidden text", doc(t, wp(`<w:r><w:rPr><w:vanish/></w:rPr><w:t>123-45-6789</w:t></w:r>`))},
		{"split by hidden text", doc(t, wp(wr("123-4")+`<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>`+wr("5-6789")))},
		{"field instruction", doc(t, wp(`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE "123-4</w:instrText></w:r><w:r><w:instrText>5-6789" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`+wr("x")+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`))},
		{"simple field", doc(t, wp(`<w:fldSimple w:instr=" QUOTE &quot;123-45-6789&quot; ">`+wr("x")+`</w:fldSimple>`))},
		{"text box, both branches", doc(t, wp(`<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><a:graphic><a:graphicData uri="u"><wps:wsp>`+box+`</wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox><w:txbxContent>`+wp(split)+`</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>`))},
		{"formula", doc(t, wp(`<m:oMath><m:r><m:t>123-45-6789</m:t></m:r></m:oMath>`))},
		{"alternative text", doc(t, wp(`<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="of 123-45-6789" title="123-45-6789"/></wp:inline></w:drawing></w:r>`))},
		{"words as a picture of VML", doc(t, wp(`<w:r><w:pict><v:shape alt="123-45-6789"><v:textpath string="123-45-6789"/></v:shape></w:pict></w:r>`))},
		{"content control", doc(t, `<w:sdt><w:sdtPr><w:alias w:val="123-45-6789"/><w:tag w:val="t123-45-6789"/><w:dropDownList><w:listItem w:displayText="123-45-6789" w:value="123-45-6789"/></w:dropDownList></w:sdtPr><w:sdtContent>`+wp(wr("x"))+`</w:sdtContent></w:sdt>`)},
		{"bookmark", doc(t, wp(`<w:bookmarkStart w:id="1" w:name="_123-45-6789"/>`+wr("x")+`<w:bookmarkEnd w:id="1"/>`))},
		{"author of a change", doc(t, wp(`<w:ins w:id="1" w:author="123-45-6789"><w:r><w:t>x</w:t></w:r></w:ins>`))},
		{"cell", doc(t, `<w:tbl><w:tr><w:tc>`+wp(split)+`</w:tc></w:tr></w:tbl>`)},
		{"link", doc(t, wp(`<w:hyperlink r:id="rIdL" w:tooltip="123-45-6789">`+wr("x")+`</w:hyperlink>`), rel(`<Relationship Id="rIdL" Type="`+relBase+`hyperlink" Target="https://a.example/?q=123-45-6789" TargetMode="External"/>`))},
		{"link, escaped", doc(t, wp(`<w:hyperlink r:id="rIdL">`+wr("x")+`</w:hyperlink>`), rel(`<Relationship Id="rIdL" Type="`+relBase+`hyperlink" Target="mailto:a?subject=12%33-45-6789" TargetMode="External"/>`))},
		{"comment of the XML", doc(t, wp(wr("x"))+"<!-- 123-45-6789 --><?note 123-45-6789?>")},
		{"header", doc(t, wp(wr("x")), [3]string{"word/header1.xml", "header", other("w:hdr", wNS, wp(split))})},
		{"footnotes", doc(t, wp(wr("x")), [3]string{"word/footnotes.xml", "footnotes", other("w:footnotes", wNS, `<w:footnote w:id="2">`+wp(split)+`</w:footnote>`)})},
		{"endnotes", doc(t, wp(wr("x")), [3]string{"word/endnotes.xml", "endnotes", other("w:endnotes", wNS, `<w:endnote w:id="2">`+wp(split)+`</w:endnote>`)})},
		{"comments", doc(t, wp(wr("x")), [3]string{"word/comments.xml", "comments", other("w:comments", wNS, `<w:comment w:id="2" w:author="123-45-6789" w:initials="123-45-6789">`+wp(split)+`</w:comment>`)})},
		{"glossary", doc(t, wp(wr("x")), [3]string{"word/glossary/document.xml", "glossaryDocument", other("w:glossaryDocument", wNS, `<w:docParts><w:docPart><w:docPartPr><w:name w:val="123-45-6789"/></w:docPartPr><w:docPartBody>`+wp(split)+`</w:docPartBody></w:docPart></w:docParts>`)})},
		{"document variables", doc(t, wp(wr("x")), [3]string{"word/settings.xml", "settings", other("w:settings", wNS, `<w:docVars><w:docVar w:name="n" w:val="123-45-6789"/></w:docVars>`)})},
		{"properties", doc(t, wp(wr("x")), dp("http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties", `xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"`, "cp:coreProperties", "<dc:title>"+ssn+"</dc:title>"))},
		{"properties of the program", doc(t, wp(wr("x")), dp(ext+"relationships/extended-properties", `xmlns="`+ext+`extended-properties"`, "Properties", "<Company>"+ssn+"</Company>"))},
		{"own properties", doc(t, wp(wr("x")), dp(ext+"relationships/custom-properties", `xmlns="`+ext+`custom-properties" xmlns:vt="`+ext+`docPropsVTypes"`, "Properties", `<property pid="2" name="123-45-6789"><vt:lpwstr>`+ssn+`</vt:lpwstr></property>`))},
		{"custom XML", doc(t, wp(wr("x")), [3]string{"customXml/item1.xml", "customXml", `<data number="123-45-6789"><n>123-45-6789</n></data>`})},
		{"chart", doc(t, wp(wr("x")), [3]string{"word/charts/chart1.xml", "chart", other("c:chartSpace", chart, `<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>123-4</a:t></a:r><a:r><a:t>5-6789</a:t></a:r></a:p></c:rich></c:tx></c:title><c:ser><c:cat><c:strRef><c:f>'123-45-6789'!$A$1</c:f><c:strCache><c:pt idx="0"><c:v>123-45-6789</c:v></c:pt></c:strCache></c:strRef></c:cat></c:ser></c:chart>`)})},
		{"diagram", doc(t, wp(wr("x")), [3]string{"word/diagrams/data1.xml", "diagramData", other("dgm:dataModel", `xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`, `<dgm:pt><dgm:t><a:p><a:r><a:t>123-4</a:t></a:r><a:r><a:t>5-6789</a:t></a:r></a:p></dgm:t></dgm:pt>`)})},
		{"drawing of its own", doc(t, wp(wr("x")), [3]string{"word/media/image1.svg", "image", `<svg xmlns="http://www.w3.org/2000/svg"><text>123-<tspan>45-6789</tspan></text></svg>`})},
		{"workbook within", doc(t, wp(wr("x")), [3]string{"word/embeddings/b.xlsx", "package", string(book)})},
		{"document within", doc(t, wp(wr("x")), [3]string{"word/embeddings/d.docx", "package", string(inner.Data)})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if len(leaks(t, tt.in.Data)) == 0 && !slices.Contains([]string{"hyphens as elements", "digits as symbols", "split by an insertion", "split by hidden text", "over runs, printed with blanks between"}, tt.name) {
				t.Fatal("the test does not see its own trap")
			}
			res := must(t, tt.in, redactAll)
			if got := leaks(t, res.Media.Data); got != nil {
				t.Errorf("left: %v", got)
			}
			if !strings.Contains(fmt.Sprint(res.Warnings), "Redacted by part: ") {
				t.Errorf("no report: %v", res.Warnings)
			}
			if _, err := run(t, *res.Media, redactAll); err == nil || !strings.Contains(err.Error(), "nothing in trap.docx matches") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestRedactKeepsWhatIsAround(t *testing.T) {
	for _, tt := range []struct{ in, do, want string }{
		{wp(wr("a ") + `<w:r><w:rPr><w:b/></w:rPr><w:t>Jane</w:t></w:r>` + `<w:r><w:t xml:space="preserve"> Doe, b</w:t></w:r>`), `redact match="Jane Doe"`,
			wp(wr("a ") + `<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">█</w:t></w:r>` + `<w:r><w:t xml:space="preserve">, b</w:t></w:r>`)},
		{wp(wr("Jane and Jane")), `redact match=Jane replace=""`, wp(wr(" and "))},
		{wp(wr("x Jane")), `redact match=Jane replace="<&>"`, wp(wr("x &lt;&amp;&gt;"))},
		{wp(wr("A1 B2")), `redact match=/[A-Z]\d/,"1 B" replace=X`, wp(wr("X"))}, // matches that overlap are one
		{wp(`<w:r><w:t>Ja</w:t><w:noBreakHyphen/><w:t>ne</w:t></w:r>`), `redact match="Ja-ne"`, wp(`<w:r><w:t xml:space="preserve">█</w:t><w:t xml:space="preserve"></w:t></w:r>`)},
	} {
		res := must(t, doc(t, tt.in), tt.do)
		got := string(members(t, res.Media.Data)["word/document.xml"])
		if !strings.Contains(got, "<w:body>"+tt.want+"</w:body>") {
			t.Errorf("%s\n got %s\nwant %s", tt.do, got[strings.Index(got, "<w:body>"):], tt.want)
		}
	}
}

// Words that files are built of are no reason to refuse, and what they mean to a program stays.
func TestRedactWordsOfTheFormat(t *testing.T) {
	src := media.Payload{Data: []byte("# A heading of the document\n\nIts Title, image, style, Table and Normal text. Content of Default.\n\n> Quote\n\n- List\n"), Name: "a.md"}
	in := *must(t, src, "convert to=docx").Media
	for _, word := range []string{"heading", "document", "Title", "image", "style", "Table", "Normal", "Content", "Default", "Quote", "List"} {
		res := must(t, in, "redact match="+word+" replace=X")
		md := string(must(t, *res.Media, "convert to=md").Media.Data)
		if strings.Contains(md, word) || !strings.HasPrefix(md, "# A ") || !strings.Contains(md, "\n> ") || !strings.Contains(md, "\n- ") {
			t.Errorf("%s: %q", word, md)
		}
	}
	own := doc(t, wp(wr("x")), [3]string{"word/styles.xml", "styles", `<w:styles ` + wNS + `><w:style w:styleId="J"><w:name w:val="Style of Jane Doe"/></w:style></w:styles>`})
	if got := string(members(t, must(t, own, `redact match="Jane Doe"`).Media.Data)["word/styles.xml"]); strings.Contains(got, "Jane") {
		t.Error(got)
	}
}

// What cannot be emptied is refused, never given out.
func TestRedactRefuses(t *testing.T) {
	wide := make([]byte, 0, 64)
	for _, c := range utf16.Encode([]rune("xxxx " + ssn + " xxxx")) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 504)
	for _, tt := range []struct {
		name string
		in   media.Payload
		do   string
		want string
	}{
		{"nothing", doc(t, wp(wr("x"))), redactAll, "nothing in trap.docx matches. Nothing was changed."},
		{"matches itself", doc(t, wp(wr("Jane"))), `redact match=Jane replace=Janet`, `"Jane" still stands in the text of the result`},
		{"object", doc(t, wp(wr(ssn)), [3]string{"word/embeddings/o.bin", "oleObject", ole + ssn}), redactAll, "still stands in the part word/embeddings/o.bin"},
		{"object, wide", doc(t, wp(wr(ssn)), [3]string{"word/embeddings/o.bin", "oleObject", ole + string(wide)}), redactAll, "still stands in the part word/embeddings/o.bin"},
		{"page within", doc(t, wp(wr(ssn)), [3]string{"word/afchunk.htm", "aFChunk", "<p>" + ssn + "</p>"}), redactAll, "still stands in the part word/afchunk.htm"},
		{"metadata of a picture", doc(t, wp(wr(ssn)), [3]string{"word/media/image1.png", "image", "\x89PNG\r\n\x1a\n tEXt " + ssn + "\x00"}), redactAll, "stands in the metadata of the picture word/media/image1.png"},
		{"an attribute that is not to be touched", doc(t, wp(`<w:r><w:rPr><w:rStyle w:val="S123-45-6789"/></w:rPr><w:t>123-45-6789</w:t></w:r>`)), redactAll, "still stands in the part word/document.xml"},
		{"the name of a part", doc(t, wp(wr(ssn)), [3]string{"word/media/123-45-6789.png", "image", "\x89PNG\r\n\x1a\n"}), redactAll, "still stands in the name of the part"},
		{"an attribute that nobody knows", doc(t, wp(`<x:y xmlns:x="urn:x" hint="of Jane Doe"/>`+wr("Jane Doe"))), `redact match="Jane Doe"`, "still stands in the part word/document.xml"},
		{"UTF-16", doc(t, wp(wr(ssn)), [3]string{"word/header1.xml", "header", "\xff\xfe" + string(wide)}), redactAll, "is not UTF-8"},
	} {
		res, err := run(t, tt.in, tt.do)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v %v", tt.name, res.Warnings, err)
		}
	}
}

func TestRedactSaysWhatItDidNot(t *testing.T) {
	in := doc(t, wp(wr("Jane")), [3]string{"word/media/image1.png", "image", "\x89PNG\r\n\x1a\n"}, [3]string{"docProps/thumbnail.png", "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail", "\x89PNG\r\n\x1a\n"}, [3]string{"word/vbaProject.bin", "vbaProject", "macro"})
	res := must(t, in, `redact match=Jane,Otto`)
	got := strings.Join(res.Warnings, "\n")
	for _, want := range []string{"The thumbnail was removed", "Redacted by part: word/document.xml 1.", "The file holds 1 media file;", `Nothing matches "Otto".`, "word/vbaProject.bin is no document"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if members(t, res.Media.Data)["docProps/thumbnail.png"] != nil {
		t.Error("the thumbnail is still there")
	}
}

// hundred makes a document of about a hundred pages.
func hundred(t testing.TB) media.Payload {
	var b strings.Builder
	for i := range 2000 {
		b.WriteString(`<w:p><w:pPr><w:pStyle w:val="Normal"/></w:pPr>`)
		for k := range 6 {
			fmt.Fprintf(&b, `<w:r><w:rPr><w:sz w:val="22"/></w:rPr><w:t xml:space="preserve">Sentence %d of paragraph %d has some words in it. </w:t></w:r>`, k, i)
		}
		if i%20 == 0 {
			b.WriteString(wr("Number 123-") + wr("45-6789."))
		}
		b.WriteString("</w:p>")
	}
	return doc(t, b.String())
}

func BenchmarkRedactHundredPages(b *testing.B) {
	in := hundred(b)
	p := pipeline(b)
	plan, err := p.Compile(redactAll)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		res, err := p.Run(b.Context(), in, plan, media.RunOptions{})
		if err != nil || res.Counts.Modified != 100 {
			b.Fatal(res.Counts, err)
		}
	}
}
