package media

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// onPage adds content, and what it uses, to the first page of a file.
func onPage(t testing.TB, f *object.File, content string, resources object.Dict, annots ...object.Object) {
	t.Helper()
	pages := f.Dict(f.Catalog()["Pages"])
	page := f.Dict(f.Array(pages["Kids"])[0])
	was := page["Contents"]
	list := f.Array(was)
	if list == nil {
		list = object.Array{was}
	}
	page["Contents"] = append(append(object.Array{f.Add(object.Deflate([]byte("q "), nil))}, list...), f.Add(object.Deflate([]byte(" Q\n"+content), nil)))
	res := f.Dict(page["Resources"])
	for kind, more := range resources {
		d := f.Dict(res[kind])
		if d == nil {
			d = object.Dict{}
		}
		for k, v := range more.(object.Dict) {
			d[k] = v
		}
		res[kind] = d
	}
	page["Annots"] = append(f.Array(page["Annots"]), annots...)
}

func openPDF(t testing.TB) *object.File {
	t.Helper()
	data, err := os.ReadFile("testdata/contract.pdf")
	if err != nil {
		t.Fatal(err)
	}
	f, err := object.Open(data, object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var helvetica = object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Helvetica"), "Encoding": object.Name("WinAnsiEncoding")}

// plantPDF is the contract as LibreOffice writes it.
func plantPDF(t testing.TB, g *garden) []byte {
	f := openPDF(t)
	g.own("123-45-6789", "body in three fonts")
	g.own("987-65-4321", "footnote")
	g.own("111-22-3333", "header")
	g.own("555-66-7777", "deletion, which the page shows")
	form := func(content string) object.Ref {
		return f.Add(object.Deflate([]byte(content), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Form"), "BBox": object.Array{int64(0), int64(0), int64(595), int64(842)}, "Resources": object.Dict{"Font": object.Dict{"FT": helvetica}}}))
	}
	line := func(x, y int, words string) string {
		return fmt.Sprintf("BT /FT 7 Tf %d %d Td %s ET\n", x, y, words)
	}
	show := func(s string) string { return "(" + s + ") Tj" }
	var c strings.Builder
	y := 75 // below the words of the page
	at := func(words string) { c.WriteString(line(320, y, words)); y -= 9 }
	at(show("plain " + g.at("content of the page")))
	n := g.at("with distances between the letters")
	var kern strings.Builder
	for _, d := range n {
		fmt.Fprintf(&kern, "(%c) -20 ", d)
	}
	at("[(kerned )" + kern.String() + "] TJ")
	at(fmt.Sprintf("(hex ) Tj <%x> Tj", g.at("hexadecimal")))
	n = g.at("octal")
	at(fmt.Sprintf(`(octal \%03o%s) Tj`, n[0], n[1:]))
	a, b, d := split(g.at("three operators"))
	at(show("three "+a) + show(b) + show(d))
	at("3 Tr " + show("unseen "+g.at("invisible text")) + " 0 Tr")
	c.WriteString(line(320, 2000, show("above "+g.at("outside of the page"))))
	c.WriteString("1 g " + line(320, y-60, show("white "+g.at("white text"))) + "0 g\n")
	c.WriteString("/Span <</ActualText (" + g.at("text that stands for another") + ") /Alt (" + g.at("alternative of a span") + ") >> BDC " + line(320, 12, show("replaced")) + " EMC\n")
	c.WriteString("/FX Do\n")
	rect := func(y int64) object.Array { return object.Array{int64(450), y, int64(560), y + 12} }
	note := f.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Text"), "Contents": object.String("see " + g.at("note")), "T": object.String(g.at("author of a note")), "RC": object.String("<p>" + g.at("rich text of a note") + "</p>"), "Rect": rect(700)})
	free := f.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("FreeText"), "Contents": object.String(g.at("text on the page")), "DA": object.String("/FT 7 Tf"), "Rect": rect(680), "AP": object.Dict{"N": form(line(10, 10, show(g.at("look of a note"))))}})
	link := f.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Link"), "Rect": rect(660), "A": object.Dict{"S": object.Name("URI"), "URI": object.String("https://a.example/?q=" + g.at("target of a link"))}})
	field := f.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Widget"), "FT": object.Name("Tx"), "T": object.String("n" + g.at("name of a field")), "TU": object.String(g.at("hint of a field")), "V": object.String(g.at("value of a field")), "DV": object.String(g.at("first value of a field")), "Rect": rect(640), "AP": object.Dict{"N": form("/Tx BMC " + line(2, 2, show(g.at("look of a field"))) + " EMC")}})
	onPage(t, f, c.String(), object.Dict{"Font": object.Dict{"FT": helvetica}, "XObject": object.Dict{"FX": form(line(320, 3, show("form "+g.at("form of the page"))))}}, note, free, link, field)
	cat := f.Catalog()
	cat["AcroForm"] = object.Dict{"Fields": object.Array{field}, "DR": object.Dict{"Font": object.Dict{"FT": helvetica}}}
	outlines := f.Add(nil)
	item := f.Add(object.Dict{"Title": object.TextString("About é " + g.at("outline")), "Parent": outlines})
	f.Set(outlines, object.Dict{"First": item, "Last": item, "Count": int64(1)})
	cat["Outlines"] = outlines
	info := f.Dict(f.Trailer["Info"])
	info["Title"] = object.TextString("é " + g.at("title"))
	info["Keywords"] = object.String(g.at("keywords"))
	info["Own"] = object.String(g.at("own property"))
	cat["Metadata"] = f.Add(&object.Stream{Dict: object.Dict{"Type": object.Name("Metadata"), "Subtype": object.Name("XML")}, Raw: []byte(`<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li>` + g.at("XMP") + `</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`)})
	file := f.Add(object.Deflate([]byte("for "+g.at("attached file")), object.Dict{"Type": object.Name("EmbeddedFile")}))
	cat["Names"] = object.Dict{
		"EmbeddedFiles": object.Dict{"Names": object.Array{object.String("a"), object.Dict{"Type": object.Name("Filespec"), "F": object.String("a" + g.at("name of an attached file") + ".txt"), "Desc": object.String(g.at("description of an attached file")), "EF": object.Dict{"F": file}}}},
		"Dests":         object.Dict{"Names": object.Array{object.String("d" + g.at("name of a place")), object.Array{f.Array(f.Dict(cat["Pages"])["Kids"])[0], object.Name("Fit")}}},
		"JavaScript":    object.Dict{"Names": object.Array{object.String("j"), object.Dict{"S": object.Name("JavaScript"), "JS": object.String("var n = '" + g.at("script") + "';")}}},
	}
	cat["PageLabels"] = object.Dict{"Nums": object.Array{int64(0), object.Dict{"P": object.String("p" + g.at("label of a page"))}}}
	cat["OCProperties"] = object.Dict{"OCGs": object.Array{f.Add(object.Dict{"Type": object.Name("OCG"), "Name": object.String(g.at("name of a layer"))})}, "D": object.Dict{}}
	cat["PieceInfo"] = object.Dict{"Own": object.Dict{"LastModified": object.String("D:20250101"), "Private": f.Add(object.Deflate([]byte("kept "+g.at("what a program keeps")), nil))}}
	if root := f.Dict(cat["StructTreeRoot"]); root != nil {
		root["K"] = f.Add(object.Dict{"S": object.Name("P"), "Alt": object.String(g.at("alternative in the structure")), "ActualText": object.String(g.at("text in the structure")), "E": object.String(g.at("expansion in the structure"))})
	} else {
		cat["StructTreeRoot"] = f.Add(object.Dict{"Type": object.Name("StructTreeRoot"), "K": f.Add(object.Dict{"S": object.Name("P"), "Alt": object.String(g.at("alternative in the structure")), "ActualText": object.String(g.at("text in the structure")), "E": object.String(g.at("expansion in the structure"))})})
	}
	out, err := f.Write()
	if err != nil {
		t.Fatal(err)
	}
	return revised(t, out, g)
}

var start = regexp.MustCompile(`startxref\s+(\d+)`)

// revised puts two revisions on top, the first with a number that the second takes away again, and a remark behind all.
func revised(t testing.TB, data []byte, g *garden) []byte {
	t.Helper()
	f, err := object.Open(data, object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	root, _ := f.Trailer["Root"].(object.Ref)
	info, _ := f.Trailer["Info"].(object.Ref)
	free := f.All()[len(f.All())-1] + 1
	for _, words := range []string{"once " + g.at("earlier revision"), "now nothing"} {
		all := start.FindAllSubmatch(data, -1)
		prev, err := strconv.Atoi(string(all[len(all)-1][1]))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		b.Write(data)
		b.WriteByte('\n')
		obj := b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n(%s)\nendobj\n", free, words)
		xref := b.Len()
		fmt.Fprintf(&b, "xref\n%d 1\n%010d 00000 n \ntrailer\n<</Size %d/Root %d 0 R/Info %d 0 R/Prev %d/Own %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", free, obj, free+1, root.Num, info.Num, prev, free, xref)
		data = b.Bytes()
	}
	return append(data, "% left by "+g.at("remark behind the end")+"\n"...)
}

// paintedPDF is what a redaction is that only paints: a black bar lies over each line with a number, and the title is clean.
func paintedPDF(t testing.TB) []byte {
	f := openPDF(t)
	onPage(t, f, "0 g 40 60 500 740 re f\n", nil)
	out, err := f.Write()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
