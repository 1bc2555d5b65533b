package media

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
)

const (
	relType  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	wordType = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	slides   = "application/vnd.openxmlformats-officedocument.presentationml."
	wNS      = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`
	pNS      = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`
	head     = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
)

// opc is a box with content types and relationships.
type opc struct {
	*box
	owner string // part that new parts are related to
	n     int
}

// part adds a part, its type and a relationship of the owner to it, and returns the id of that.
func (o *opc) part(name, rel, kind, data string) string {
	o.t.Helper()
	o.add(name, data)
	if kind != "" && !strings.HasSuffix(name, ".png") {
		o.before("[Content_Types].xml", "</Types>", `<Override PartName="/`+name+`" ContentType="`+kind+`"/>`)
	}
	return o.rel(o.owner, rel, "/"+name, "")
}

func (o *opc) rel(owner, rel, target, mode string) string {
	o.t.Helper()
	o.n++
	id := fmt.Sprintf("rIdT%d", o.n)
	if !strings.Contains(rel, "/") {
		rel = relType + rel
	}
	dir, file := "", owner
	if i := strings.LastIndexByte(owner, '/'); i >= 0 {
		dir, file = owner[:i+1], owner[i+1:]
	}
	name := dir + "_rels/" + file + ".rels"
	if owner == "" {
		name = "_rels/.rels"
	}
	if _, ok := o.parts[name]; !ok {
		o.add(name, head+`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>`)
	}
	if mode != "" {
		mode = ` TargetMode="` + mode + `"`
	}
	o.before(name, "</Relationships>", `<Relationship Id="`+id+`" Type="`+rel+`" Target="`+target+`"`+mode+`/>`)
	return id
}

// metadata plants in what all containers of Office have beside their content.
func (o *opc) metadata(g *garden) {
	o.edit("docProps/core.xml", "<dc:title>", "<dc:title>"+g.at("title")+" ")
	o.before("docProps/core.xml", "</cp:coreProperties>", "<cp:keywords>"+g.at("keywords")+"</cp:keywords><cp:category>"+g.at("category")+"</cp:category>")
	if strings.Contains(string(o.parts["docProps/app.xml"]), "<Company>") {
		o.edit("docProps/app.xml", "<Company>", "<Company>"+g.at("company"))
	} else {
		o.before("docProps/app.xml", "</Properties>", "<Company>"+g.at("company")+"</Company><Manager>"+g.at("manager")+"</Manager>")
	}
	o.owner, o.n = "", o.n+1
	owner := o.owner
	o.part("docProps/custom.xml", "custom-properties", "application/vnd.openxmlformats-officedocument.custom-properties+xml", head+
		`<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="Own"><vt:lpwstr>`+g.at("own property")+`</vt:lpwstr></property></Properties>`)
	o.part("docProps/thumbnail.png", "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail", "", string(picture("shows "+g.at("thumbnail"))))
	o.owner = owner
	o.comment = "archived for " + g.at("comment of the archive")
}

// workbook is a workbook with a number in a cell, as programs keep one behind a chart.
func workbook(t testing.TB, n string) string {
	return string(must(t, media.Payload{Data: []byte("name,number\nJane,\"" + n + "\"\n"), Name: "b.csv"}, "convert to=xlsx").Media.Data)
}

func chartXML(g *garden, where string) string {
	a, b, c := split(g.at(where + ", title over runs"))
	return head + `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>` +
		a + `</a:t></a:r><a:r><a:rPr b="1"/><a:t>` + b + `</a:t></a:r><a:r><a:t>` + c + `</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:ser><c:idx val="0"/><c:order val="0"/><c:cat><c:strRef><c:f>Sheet1!$A$2:$A$3</c:f><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>` +
		g.at(where+", cached category") + `</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$B$2:$B$3</c:f><c:numCache><c:ptCount val="1"/><c:pt idx="0"><c:v>1</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:crossAx val="1"/></c:valAx></c:plotArea></c:chart><c:externalData r:id="rIdT1"/></c:chartSpace>`
}

func wp(runs string) string { return "<w:p>" + runs + "</w:p>" }
func wr(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
func wb(text string) string {
	return `<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

// plantDOCX is the contract as LibreOffice writes it, with numbers in more places.
func plantDOCX(t testing.TB, g *garden) []byte {
	o := &opc{box: openBox(t, "ooxml/testdata/contract.docx"), owner: "word/document.xml"}
	g.own("123-45-6789", "body over three runs")
	g.own("987-65-4321", "footnote")
	g.own("111-22-3333", "header")
	g.own("222-33-4444", "comment")
	g.own("555-66-7777", "tracked deletion")
	var body strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&body, format, args...) }
	runs := func(place string) string {
		a, b, c := split(g.at(place))
		return wr(a) + wb(b) + wr(c)
	}
	add("%s", wp(wr("Number ")+`<w:proofErr w:type="spellStart"/>`+runs("split by marks of the proof reader")+wr(" here.")))
	n := g.at("entities")
	add("%s", wp(wr(fmt.Sprintf("Entity &#%d;%s", n[0], n[1:]))))
	add("%s", wp(`<w:r><w:t><![CDATA[Raw `+g.at("CDATA")+`]]></w:t></w:r>`))
	a, b, c := split(g.at("soft hyphens and joiners"))
	add("%s", wp(wr("Soft "+a+"\u00ad"+b+"\u200b"+c)))
	n = g.at("hyphens as elements")
	add("%s", wp(`<w:r><w:t>`+n[:3]+`</w:t><w:noBreakHyphen/><w:t>`+n[4:6]+`</w:t><w:noBreakHyphen/><w:t>`+n[7:]+`</w:t></w:r>`))
	a, b, c = split(g.at("split by an insertion"))
	add("%s", wp(wr("Inserted "+a)+`<w:ins w:id="901" w:author="B"><w:r><w:t>xyz</w:t></w:r></w:ins>`+wr(b+c)))
	add("%s", wp(wr("Moved ")+`<w:moveFrom w:id="902" w:author="B"><w:r><w:t>`+g.at("moved away")+`</w:t></w:r></w:moveFrom>`))
	add("%s", wp(wr("Hidden ")+`<w:r><w:rPr><w:vanish/></w:rPr><w:t>`+g.at("hidden text")+`</w:t></w:r>`))
	add("%s", wp(`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> QUOTE "`+g.at("code of a field")+`" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`+wr("field "+g.at("result of a field"))+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`))
	add("%s", wp(`<w:fldSimple w:instr=" QUOTE &quot;`+g.at("simple field")+`&quot; ">`+wr("x")+`</w:fldSimple>`))
	link := o.rel("word/document.xml", "hyperlink", "https://a.example/?q="+g.at("target of a link"), "External")
	add("%s", wp(`<w:hyperlink r:id="`+link+`" w:tooltip="`+g.at("hint of a link")+`">`+wr("a link")+`</w:hyperlink>`))
	add("%s", wp(`<w:bookmarkStart w:id="903" w:name="_`+g.at("bookmark")+`"/>`+wr("marked")+`<w:bookmarkEnd w:id="903"/>`))
	box := `<wps:txbx><w:txbxContent>` + wp(runs("text box")) + `</w:txbxContent></wps:txbx>`
	add("%s", wp(`<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:extent cx="2000000" cy="400000"/><wp:docPr id="904" name="Box" descr="`+g.at("alternative text")+`" title="`+g.at("title of a drawing")+`"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2000000" cy="400000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr>`+box+`<wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape alt="`+g.at("alternative text of the fallback")+`"><v:textbox><w:txbxContent>`+wp(runs("text box of the fallback"))+`</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>`))
	add(`<w:sdt><w:sdtPr><w:alias w:val="%s"/><w:tag w:val="%s"/><w:dropDownList><w:listItem w:displayText="%s" w:value="%s"/></w:dropDownList></w:sdtPr><w:sdtContent>%s</w:sdtContent></w:sdt>`,
		g.at("name of a control"), g.at("tag of a control"), g.at("choice of a control"), g.at("value of a choice"), wp(wr("chosen")))
	add(`<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="dxa"/></w:tblPr><w:tblGrid><w:gridCol w:w="5000"/></w:tblGrid><w:tr><w:tc>%s</w:tc></w:tr></w:tbl>`, wp(runs("cell")))
	add("%s", wp(wr("Math ")+`<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>`+g.at("formula")+`</m:t></m:r></m:oMath>`))
	add("<!-- %s -->%s", g.at("comment of the XML"), wp(`<w:ins w:id="905" w:author="`+g.at("author of a change")+`"><w:r><w:t>somebody</w:t></w:r></w:ins>`))
	foot := o.part("word/footer1.xml", "footer", wordType+"footer+xml", head+`<w:ftr `+wNS+`>`+wp(wr("Foot ")+runs("footer"))+`</w:ftr>`)
	add("%s", wp(wr("End note")+`<w:r><w:endnoteReference w:id="2"/></w:r>`))
	o.before("word/document.xml", "<w:sectPr>", body.String())
	o.edit("word/document.xml", "<w:footnotePr>", `<w:footerReference w:type="default" r:id="`+foot+`"/><w:footnotePr>`)
	o.edit("word/document.xml", `w:header="1134" w:top="1701" w:footer="0"`, `w:header="1134" w:top="1701" w:footer="800"`)
	o.part("word/endnotes.xml", "endnotes", wordType+"endnotes+xml", head+`<w:endnotes `+wNS+`><w:endnote w:id="0" w:type="separator">`+wp(`<w:r><w:separator/></w:r>`)+`</w:endnote><w:endnote w:id="1" w:type="continuationSeparator">`+wp(`<w:r><w:continuationSeparator/></w:r>`)+`</w:endnote><w:endnote w:id="2">`+wp(runs("endnote"))+`</w:endnote></w:endnotes>`)
	o.part("word/glossary/document.xml", "glossaryDocument", wordType+"document.glossary+xml", head+`<w:glossaryDocument `+wNS+`><w:docParts><w:docPart><w:docPartPr><w:name w:val="`+g.at("name of a building block")+`"/></w:docPartPr><w:docPartBody>`+wp(runs("building block"))+`</w:docPartBody></w:docPart></w:docParts></w:glossaryDocument>`)
	o.before("word/settings.xml", "</w:settings>", `<w:docVars><w:docVar w:name="n" w:val="`+g.at("variable of the document")+`"/></w:docVars>`)
	o.edit("word/comments.xml", `w:author="`, `w:author="`+g.at("author of a comment")+` `)
	o.part("customXml/item1.xml", "customXml", "", `<data number="`+g.at("custom XML, attribute")+`"><n>`+g.at("custom XML")+`</n></data>`)
	o.part("word/charts/chart1.xml", "chart", "application/vnd.openxmlformats-officedocument.drawingml.chart+xml", chartXML(g, "chart"))
	o.before("[Content_Types].xml", "</Types>", `<Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/><Default Extension="docx" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document"/>`)
	o.add("word/charts/_rels/chart1.xml.rels", head+`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdT1" Type="`+relType+`package" Target="../embeddings/book1.xlsx"/></Relationships>`)
	o.add("word/embeddings/book1.xlsx", workbook(t, g.at("workbook behind a chart")))
	inner := must(t, media.Payload{Data: []byte("# Inner\n\nSecret " + g.at("document within") + "\n"), Name: "i.md"}, "convert to=docx").Media.Data
	o.part("word/embeddings/inner.docx", "package", "", string(inner))
	o.part("word/media/image1.png", "image", "image/png", string(picture("taken of "+g.at("note in a picture"))))
	o.metadata(g)
	return o.bytes()
}

// plantPPTX is a deck as pptxgenjs writes it, with a chart, its workbook and notes.
func plantPPTX(t testing.TB, g *garden) []byte {
	const slide = "ppt/slides/slide1.xml"
	o := &opc{box: openBox(t, "ooxml/testdata/gen.pptx"), owner: slide}
	g.own("123-45-6789", "body and notes")
	ar := func(text string) string { return `<a:r><a:rPr lang="en-US"/><a:t>` + text + `</a:t></a:r>` }
	runs := func(place string) string {
		a, b, c := split(g.at(place))
		return ar(a) + `<a:r><a:rPr lang="en-US" b="1"/><a:t>` + b + `</a:t></a:r>` + ar(c)
	}
	shape := func(id int, attrs, inner string) string {
		return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="%d" name="S%d"%s</p:cNvPr><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="914400" y="%d"/><a:ext cx="6858000" cy="300000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p>%s</a:p></p:txBody></p:sp>`, id, id, attrs, 1200000+id*3500, inner)
	}
	o.before(slide, "</p:spTree>", shape(201, ` descr="`+g.at("alternative text")+`" title="`+g.at("title of a shape")+`">`, ar("Runs ")+runs("slide, over runs"))+
		shape(301, `><a:hlinkClick r:id="`+o.rel(slide, "hyperlink", "https://a.example/?q="+g.at("target of a link"), "External")+`" tooltip="`+g.at("hint of a link")+`"/>`, ar("linked"))+
		shape(401, ` hidden="1">`, ar("hidden ")+runs("hidden shape")))
	o.edit("ppt/slides/slide3.xml", "<a:tc>", `<a:tc><a:txBody><a:bodyPr/><a:p>`+runs("cell")+`</a:p></a:txBody><a:tcPr/></a:tc><a:tc>`)
	o.edit("ppt/slides/slide3.xml", "<p:cSld name=\"Slide 3\">", `<p:cSld name="`+g.at("name of a slide")+`">`)
	a, b, c := split(g.at("notes, over runs"))
	o.edit("ppt/notesSlides/notesSlide2.xml", "<a:p><a:r>", `<a:p>`+ar(a)+ar(b)+ar(c)+"</a:p><a:p><a:r>")
	layout := func(name, place string) { o.before(name, "</p:spTree>", shape(501, ">", ar("L ")+runs(place))) }
	layout("ppt/slideLayouts/slideLayout1.xml", "layout")
	layout("ppt/slideMasters/slideMaster1.xml", "master")
	layout("ppt/notesMasters/notesMaster1.xml", "master of the notes")
	author := o.part("ppt/commentAuthors.xml", "commentAuthors", slides+"commentAuthors+xml", head+`<p:cmAuthorLst `+pNS+`><p:cmAuthor id="0" name="`+g.at("author of a comment")+`" initials="A" lastIdx="1" clrIdx="0"/></p:cmAuthorLst>`)
	_ = author // the relationship is that of the slide here; the part is what counts
	o.part("ppt/comments/comment1.xml", "comments", slides+"comments+xml", head+`<p:cmLst `+pNS+`><p:cm authorId="0" dt="2025-01-01T00:00:00" idx="1"><p:pos x="10" y="10"/><p:text>about `+g.at("comment")+`</p:text></p:cm></p:cmLst>`)
	o.part("ppt/tags/tag1.xml", "tags", slides+"tags+xml", head+`<p:tagLst `+pNS+`><p:tag name="N" val="`+g.at("tag")+`"/></p:tagLst>`)
	o.part("ppt/diagrams/data1.xml", "diagramData", "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml", head+`<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst><dgm:pt modelId="1"><dgm:t><a:bodyPr/><a:p>`+runs("diagram")+`</a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`)
	o.before("ppt/presentation.xml", "</p:presentation>", `<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"><p14:sectionLst xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"><p14:section name="`+g.at("name of a section")+`" id="{00000000-0000-0000-0000-000000000001}"><p14:sldIdLst/></p14:section></p14:sectionLst></p:ext></p:extLst>`)
	o.edit("ppt/charts/chart1.xml", "<c:v>Q1</c:v>", "<c:v>"+g.at("cached category of a chart")+"</c:v>")
	o.add("ppt/embeddings/Microsoft_Excel_Worksheet1.xlsx", workbook(t, g.at("workbook behind a chart")))
	o.part("ppt/media/image9.png", "image", "image/png", string(picture("taken of "+g.at("note in a picture"))))
	o.part("customXml/item1.xml", "customXml", "", `<data>`+g.at("custom XML")+`</data>`)
	o.metadata(g)
	return o.bytes()
}

// plantODT is the contract as LibreOffice writes it.
func plantODT(t testing.TB, g *garden) []byte {
	o := openBox(t, "odf/testdata/contract.odt")
	g.own("123-45-6789", "body over three spans")
	g.own("987-65-4321", "footnote")
	g.own("111-22-3333", "header")
	g.own("222-33-4444", "comment")
	g.own("555-66-7777", "tracked deletion")
	runs := func(place string) string {
		a, b, c := split(g.at(place))
		return a + `<text:span text:style-name="T1">` + b + `</text:span>` + c
	}
	p := func(inner string) string { return `<text:p text:style-name="Standard">` + inner + `</text:p>` }
	n := g.at("entities")
	a, b, c := split(g.at("split by marks"))
	d, e, f := split(g.at("soft hyphens and joiners"))
	more := p("Runs "+runs("over spans")) + p(fmt.Sprintf("Entity &#%d;%s", n[0], n[1:])) + p("Raw <![CDATA["+g.at("CDATA")+"]]>") +
		p("Marks "+a+`<text:bookmark text:name="m1"/>`+b+`<text:soft-page-break/>`+c) + p("Soft "+d+"\u00ad"+e+"\u200b"+f) +
		p("Link "+`<text:a xlink:type="simple" xlink:href="https://a.example/?q=`+g.at("target of a link")+`" office:title="`+g.at("title of a link")+`">a link</text:a>`) +
		p("Hidden "+`<text:hidden-text text:condition="ooow:1" text:string-value="`+g.at("hidden text")+`" text:is-hidden="true"/>`) +
		p("Choice "+`<text:conditional-text text:condition="ooow:1" text:string-value-if-true="`+g.at("condition, true")+`" text:string-value-if-false="`+g.at("condition, false")+`">shown</text:conditional-text>`) +
		p("Named "+`<text:bookmark text:name="n`+g.at("name of a bookmark")+`"/>`) +
		p("Index "+`<text:alphabetical-index-mark text:string-value="`+g.at("entry of an index")+`"/>`) +
		p("Endnote "+`<text:note text:id="ftn9" text:note-class="endnote"><text:note-citation>i</text:note-citation><text:note-body>`+p(runs("endnote"))+`</text:note-body></text:note>`) +
		p(`<draw:frame draw:name="F`+g.at("name of a frame")+`" text:anchor-type="as-char" svg:width="6cm" svg:height="1cm"><draw:text-box>`+p(runs("text box"))+`</draw:text-box><svg:title>`+g.at("title of a frame")+`</svg:title><svg:desc>`+g.at("alternative text")+`</svg:desc></draw:frame>`) +
		`<table:table table:name="T` + g.at("name of a table") + `"><table:table-column/><table:table-row><table:table-cell office:value-type="string">` + p("Cell "+runs("cell")+` <text:expression text:formula="ooow:&quot;`+g.at("formula")+`&quot;" office:value-type="string" office:string-value="x">x</text:expression>`) + `</table:table-cell></table:table-row></table:table>` +
		"<!-- " + g.at("comment of the XML") + " -->"
	o.edit("content.xml", "</office:text>", more+"</office:text>")
	o.edit("content.xml", "<text:sequence-decls>", `<text:user-field-decls><text:user-field-decl office:value-type="string" office:string-value="`+g.at("field of a person")+`" text:name="u"/></text:user-field-decls><text:sequence-decls>`)
	o.edit("content.xml", "<dc:creator>Bob</dc:creator>", "<dc:creator>Bob "+g.at("author of a change")+"</dc:creator>")
	o.edit("styles.xml", "<style:header>", "<style:footer>"+p("Foot "+runs("footer"))+"</style:footer><style:header>")
	o.edit("meta.xml", "<dc:title>", "<dc:title>"+g.at("title")+" ")
	o.edit("meta.xml", "</office:meta>", "<dc:subject>"+g.at("subject")+"</dc:subject><meta:keyword>"+g.at("keyword")+`</meta:keyword><meta:user-defined meta:name="Own">`+g.at("own property")+`</meta:user-defined><meta:printed-by>`+g.at("who printed it")+`</meta:printed-by></office:meta>`)
	o.edit("settings.xml", "<config:config-item ", `<config:config-item config:name="PrinterName" config:type="string">`+g.at("settings")+`</config:config-item><config:config-item `)
	o.edit("manifest.rdf", "</rdf:RDF>", `<rdf:Description rdf:about="content.xml"><x:note xmlns:x="urn:x">`+g.at("manifest of facts")+`</x:note></rdf:Description></rdf:RDF>`)
	o.add("Thumbnails/thumbnail.png", string(picture("shows "+g.at("thumbnail"))))
	entry := func(name, kind string) {
		o.edit("META-INF/manifest.xml", "</manifest:manifest>", `<manifest:file-entry manifest:full-path="`+name+`" manifest:media-type="`+kind+`"/></manifest:manifest>`)
	}
	o.add("Object 1/content.xml", `<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" office:version="1.3"><office:body><office:chart><chart:chart chart:class="chart:bar"><chart:title><text:p>`+g.at("title of a chart")+`</text:p></chart:title></chart:chart></office:chart></office:body></office:document-content>`)
	entry("Object 1/", "application/vnd.oasis.opendocument.chart")
	entry("Object 1/content.xml", "text/xml")
	o.add("ObjectReplacements/Object 1", "VCLMTF "+g.at("picture that stands for an object"))
	entry("ObjectReplacements/Object 1", "application/x-openoffice-gdimetafile")
	o.add("Pictures/a.svg", `<svg xmlns="http://www.w3.org/2000/svg"><title>`+g.at("title of a drawing")+`</title><text>`+strings.Replace(g.at("drawing"), "-", "<tspan>-</tspan>", 1)+`</text></svg>`)
	entry("Pictures/a.svg", "image/svg+xml")
	o.add("Pictures/a.png", string(picture("taken of "+g.at("note in a picture"))))
	entry("Pictures/a.png", "image/png")
	o.comment = "archived for " + g.at("comment of the archive")
	return o.bytes()
}

// plantEPUB is the contract as LibreOffice writes it.
func plantEPUB(t testing.TB, g *garden) []byte {
	o := openBox(t, "legacy/testdata/contract.epub")
	const page = "OEBPS/sections/section0001.xhtml"
	g.own("123-45-6789", "page over three spans")
	g.own("987-65-4321", "footnote")
	g.own("555-66-7777", "deletion, which the page shows")
	a, b, c := split(g.at("over elements"))
	n := g.at("entities")
	d, e, f := split(g.at("soft hyphens and joiners"))
	o.edit(page, "</body>", "<p>Runs "+a+"<b>"+b+"</b>"+c+"</p><p>"+fmt.Sprintf("Entity &#x%x;%s", n[0], n[1:])+"</p><p>Soft "+d+"&#173;"+e+"&#8203;"+f+`</p><p hidden="hidden">`+g.at("hidden text")+`</p><p title="`+g.at("title of an element")+`"><img src="../cover.png" alt="`+g.at("alternative text")+`"/><a href="https://a.example/?q=`+g.at("target of a link")+`">a link</a></p><!-- `+g.at("comment")+` --><p><![CDATA[`+g.at("CDATA")+`]]></p></body>`)
	o.edit(page, "</head>", `<meta name="description" content="`+g.at("meta of a page")+`"/><style>p::after{content:"`+g.at("style")+`"}</style></head>`)
	o.edit("OEBPS/content.opf", "<dc:title>", "<dc:title>"+g.at("title")+" ")
	o.edit("OEBPS/content.opf", "</metadata>", "<dc:description>"+g.at("description")+`</dc:description><dc:identifier>urn:x:`+g.at("identifier")+`</dc:identifier><meta name="own" content="`+g.at("meta of the book")+`"/><meta property="own">`+g.at("property of the book")+`</meta></metadata>`)
	o.edit("OEBPS/content.opf", "</manifest>", `<item href="cover.png" id="cover" media-type="image/png" properties="cover-image"/><item href="cover.svg" id="coverpage" media-type="image/svg+xml"/><item href="extra.js" id="js" media-type="application/javascript"/></manifest><guide><reference type="cover" title="`+g.at("guide")+`" href="cover.svg"/></guide>`)
	o.edit("OEBPS/toc.ncx", "<text/>", "<text>"+g.at("title of the list of contents")+"</text>")
	o.edit("OEBPS/toc.ncx", "<text>Salary", "<text>Salary "+g.at("list of contents"))
	o.edit("OEBPS/toc.xhtml", ">Salary", ">Salary "+g.at("navigation"))
	o.add("OEBPS/styles/stylesheet.css", string(o.parts["OEBPS/styles/stylesheet.css"])+"\n/* "+g.at("comment of a style sheet")+" */\n")
	o.add("OEBPS/cover.png", string(picture("cover of "+g.at("cover, note in a picture"))))
	o.add("OEBPS/cover.svg", `<svg xmlns="http://www.w3.org/2000/svg"><desc>`+g.at("cover, description")+`</desc><text>`+strings.Replace(g.at("cover, words"), "-", "<tspan>-</tspan>", 1)+`</text></svg>`)
	o.add("OEBPS/extra.js", "var n = '"+g.at("script")+"';\n")
	o.add("OEBPS/left.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>`+g.at("page that nothing lists")+`</p></body></html>`)
	o.add("META-INF/notes.txt", "for "+g.at("file beside the book")+"\n")
	o.comment = "archived for " + g.at("comment of the archive")
	return o.bytes()
}
