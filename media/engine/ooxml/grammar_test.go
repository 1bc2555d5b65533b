package ooxml

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	grammar "github.com/tackle-dev/tackle/internal/words"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"pgregory.net/rapid"
)

// inputs are a small document and a small deck, and the parts of them that FuzzRead writes anew.
func inputs(t testing.TB) map[string]media.Payload {
	t.Helper()
	small := doc(t, wp(wr("a")), [3]string{"word/numbering.xml", "numbering", relHead + `<w:numbering ` + wNS + `/>`}, [3]string{"word/styles.xml", "styles", relHead + `<w:styles ` + wNS + `/>`},
		[3]string{"word/footnotes.xml", "footnotes", relHead + `<w:footnotes ` + wNS + `/>`}, [3]string{"word/comments.xml", "comments", relHead + `<w:comments ` + wNS + `/>`},
		[3]string{"word/header1.xml", "header", relHead + `<w:hdr ` + wNS + `/>`}, [3]string{"word/charts/chart1.xml", "chart", relHead + `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"/>`},
		[3]string{"docProps/custom.xml", refs + "relationships/custom-properties", relHead + `<Properties xmlns="` + refs + `custom-properties"/>`})
	res, err := blank(context.Background(), &media.Request{To: "pptx"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]media.Payload{"docx": small, "pptx": {Data: res.Media.Data, Name: "a.pptx", MIME: pptxMIME}}
}

// FuzzRead writes one part of a document or a deck anew and does all that there is with it.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"contract.docx", "gen.docx", "gen.pptx"} {
		all := members(f, sample(f, name).Data)
		for _, part := range []string{"word/document.xml", "word/numbering.xml", "ppt/slides/slide3.xml", "ppt/charts/chart1.xml", "_rels/.rels"} {
			if b := all[part]; b != nil && len(b) < 20_000 {
				f.Add(strings.Replace(part, "slide3", "slide1", 1), string(b))
			}
		}
	}
	base := inputs(f)
	for _, in := range base {
		for name, b := range members(f, in.Data) {
			if strings.HasSuffix(name, "l") || strings.HasSuffix(name, "s") {
				f.Add(name, string(b))
			}
		}
	}
	body := relHead + `<w:document ` + wNS + `><w:body>`
	for _, w := range docWords {
		f.Add("word/document.xml", body+wp(wr("1")+w)+`</w:body></w:document>`)
	}
	f.Fuzz(func(t *testing.T, part, xml string) {
		for kind, in := range base {
			z, err := pack.Open(&in, media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !z.Has(part) || strings.HasSuffix(part, "/") {
				continue
			}
			if in.Data, err = z.Rewrite(map[string][]byte{part: []byte(xml)}); err != nil {
				t.Fatal(err)
			}
			do := func(run func(context.Context, *media.Request) (media.Result, error), r media.Request) {
				r.In = in
				if res, err := run(t.Context(), &r); err == nil && res.Media == nil && res.List == nil && res.Read == nil {
					t.Errorf("%s %s gave nothing", kind, r.Op)
				}
			}
			ints, err := json.Marshal([][2]int{{1, 1}})
			if err != nil {
				t.Fatal(err)
			}
			do(convert, media.Request{To: "md"})
			do(convert, media.Request{To: "html"})
			do(redact, media.Request{Op: "redact", Args: map[string]any{"match": []media.Match{{Source: "[0-9]+"}}, "replace": "X"}})
			do(sanitize, media.Request{Op: "sanitize", Args: map[string]any{}})
			do(normalize, media.Request{Op: "normalize", Args: map[string]any{}})
			do(describe, media.Request{Op: "extract.metadata", Args: map[string]any{}})
			do(updateText, media.Request{Op: "update_text", Args: map[string]any{"anchor": "1", "replace": "2\n3"}})
			if kind == "docx" {
				do(splitDoc, media.Request{Op: "split", Args: map[string]any{"by": "section"}})
				continue
			}
			do(splitDeck, media.Request{Op: "split", Args: map[string]any{"ranges": json.RawMessage(ints)}})
			do(arrange, media.Request{Op: "slides.duplicate", Args: map[string]any{}})
			do(arrange, media.Request{Op: "slides.add", Args: map[string]any{"title": "t"}})
			do(reshape, media.Request{Op: "slides.update_text", Args: map[string]any{"text": "t"}})
			do(reshape, media.Request{Op: "slides.update_table", Args: map[string]any{"updates": json.RawMessage(`[{"row":1,"col":1,"value":"x"}]`)}})
			do(reshape, media.Request{Op: "slides.update_chart", Args: map[string]any{"data": json.RawMessage(`[["","A"],["x",1]]`)}})
		}
	})
}

var docWords = []string{"<w:p>", "</w:p>", "<w:r><w:t>", "</w:t></w:r>", "<w:r>", "</w:r>", "<w:t>", "</w:t>", "<w:t xml:space=\"preserve\"> ", "secret", "sec", "ret", "se", "cret", "keep ", "s&#101;cret", "&amp;", "<![CDATA[sec]]>", "<!-- secret -->", "\u00ad", "\u200b", " ",
	"<w:tab/>", "<w:br/>", "<w:noBreakHyphen/>", "<w:softHyphen/>", "<w:sym w:font=\"A\" w:char=\"0065\"/>", "<w:proofErr w:type=\"x\"/>", "<w:bookmarkStart w:id=\"1\" w:name=\"secret\"/>", "<w:rPr><w:b/></w:rPr>", "<w:rPr><w:vanish/></w:rPr>",
	"<w:del w:id=\"1\" w:author=\"secret\">", "</w:del>", "<w:ins w:id=\"2\">", "</w:ins>", "<w:delText>", "</w:delText>", "<w:fldSimple w:instr=\"QUOTE secret\">", "</w:fldSimple>", "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>", "</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>",
	"<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>", "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>", "<w:hyperlink w:anchor=\"secret\">", "</w:hyperlink>", "<w:sdt><w:sdtPr><w:alias w:val=\"secret\"/></w:sdtPr><w:sdtContent>", "</w:sdtContent></w:sdt>",
	"<w:r><w:ruby><w:rt><w:r><w:t>se</w:t></w:r></w:rt><w:rubyBase>", "</w:rubyBase></w:ruby></w:r>", "<w:r><w:pict><v:shape alt=\"secret\"><v:textbox><w:txbxContent>", "</w:txbxContent></v:textbox></v:shape></w:pict></w:r>", "<m:oMath><m:f><m:num><m:r><m:t>", "</m:t></m:r></m:num></m:f></m:oMath>",
	"<w:p><w:pPr><w:rPr><w:del w:id=\"3\"/></w:rPr></w:pPr>", "<mc:AlternateContent><mc:Choice Requires=\"wps\">", "</mc:Choice><mc:Fallback>", "</mc:Fallback></mc:AlternateContent>", "<w:p><w:pPr><w:pStyle w:val=\"H\"/></w:pPr>"}

// What is redacted is nowhere, and all other words are where they were.
func TestRedactDocKeepsTheRest(t *testing.T) {
	shell := doc(t, "@")
	z, err := pack.Open(&shell, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	frame, err := z.Read("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	inTag := regexp.MustCompile(`<[^>]*secret`)
	text := func(t *rapid.T, in media.Payload) string {
		f, err := open(&media.Request{In: in})
		if err != nil {
			return "" // it is not well formed
		}
		d, err := f.read(false)
		if err != nil {
			t.Fatal(err)
		}
		return d.Text(flow.Options{})
	}
	rapid.Check(t, func(t *rapid.T) {
		body := grammar.Draw(t, docWords, wp(wr("a sec")+`<w:r><w:rPr><w:i/></w:rPr><w:t>re</w:t></w:r>`+wr("t keep"))+wp(wr("b")), wp(wr("se")+`<w:del w:id="1"><w:r><w:delText>x</w:delText></w:r></w:del>`+wr("cret")))
		in := shell
		if in.Data, err = z.Rewrite(map[string][]byte{"word/document.xml": []byte(strings.Replace(string(frame), "@", body, 1))}); err != nil {
			t.Fatal(err)
		}
		before := text(t, in)
		res, err := redact(t.Context(), &media.Request{In: in, Args: map[string]any{"match": []media.Match{{Text: "secret"}}, "replace": "Q"}})
		if err != nil {
			if strings.Contains(before, "secret") && !inTag.MatchString(body) { // names are not changed
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		in.Data = res.Media.Data
		after := text(t, in)
		out := string(parts(t, in.Data)["word/document.xml"])
		if strings.Contains(after, "secret") || strings.Contains(out, "secret") && !inTag.MatchString(out) {
			t.Fatalf("%s became %s, which reads %q", body, out, after)
		}
		// Where readers see different texts, more went than one of them saw.
		if want := strings.ReplaceAll(before, "secret", "Q"); !views.MatchString(body) && after != want {
			t.Fatalf("%s became %s, which reads %q and not %q", body, out, after, want)
		}
	})
}

var views = regexp.MustCompile(`m:oMath|w:del|w:ins|vanish|instrText|\x{ad}|\x{200b}|Alternate`)

func parts(t *rapid.T, data []byte) map[string][]byte {
	z, err := pack.Open(&media.Payload{Data: data, Name: "x"}, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, name := range z.Names() {
		if out[name], err = z.Read(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
