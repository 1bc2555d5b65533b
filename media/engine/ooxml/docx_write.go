package ooxml

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // the sizes of pictures
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

const (
	wNS   = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	wType = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	draws = ` xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`
)

// toDoc makes a document of Markdown, HTML or plain text.
func toDoc(_ context.Context, r *media.Request) (media.Result, error) {
	src := media.DecodeText(r.In.Data)
	var d flow.Doc
	var err error
	switch r.In.MIME {
	case "text/markdown":
		d, err = flow.ReadMarkdown(src)
	case "text/html":
		d, err = flow.ReadHTML(src)
	default:
		d = flow.ReadText(src)
	}
	if err != nil {
		return media.Result{}, media.Failf("%s cannot be read: %v.", r.In.Name, err)
	}
	data, warnings, err := WriteDoc(&d)
	return media.Result{Media: &media.Payload{Data: data}, Warnings: warnings}, err
}

// docWriter writes a neutral document as docx.
type docWriter struct {
	body     bytes.Buffer
	doc      *flow.Doc
	rels     []string
	media    []pack.Member
	kinds    map[string]string // extension to type
	lists    []int             // starts of ordered lists, by number
	open     []int             // numbers of the open lists, by level
	links    map[string]string
	shapes   int
	warnings []string
	inNote   bool
}

// WriteDoc returns a docx file with the content of a document, and what could not be kept.
func WriteDoc(d *flow.Doc) ([]byte, []string, error) {
	w := &docWriter{doc: d, kinds: map[string]string{}, links: map[string]string{}}
	w.rel("styles", "styles.xml", false)
	w.rel("numbering", "numbering.xml", false)
	w.rel("settings", "settings.xml", false)
	w.blocks(d.Blocks, "")
	if len(d.Blocks) == 0 {
		w.body.WriteString("<w:p/>")
	}
	main := w.body.String()
	parts := []pack.Member{}
	types := ""
	add := func(name, kind, xml string) {
		parts = append(parts, pack.Member{Name: name, Data: []byte(relHead + xml)})
		types += `<Override PartName="/` + name + `" ContentType="` + kind + `"/>`
	}
	settings := `<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat>`
	var notes [3]strings.Builder
	w.inNote = true
	for i := range d.Notes {
		n := &d.Notes[i]
		w.body.Reset()
		style, mark := "FootnoteText", ""
		el := map[flow.NoteKind]string{flow.Footnote: "footnote", flow.Endnote: "endnote", flow.Comment: "comment"}[n.Kind]
		if n.Kind != flow.Comment {
			mark = `<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:` + el + `Ref/></w:r><w:r><w:t xml:space="preserve"> </w:t></w:r>`
		}
		blocks := n.Blocks
		if len(blocks) == 0 || blocks[0].Kind != flow.Para {
			blocks = append([]flow.Block{{}}, blocks...)
		}
		w.para(&blocks[0], `<w:pStyle w:val="`+style+`"/>`, mark)
		w.blocks(blocks[1:], "")
		extra := ""
		if n.Kind == flow.Comment {
			extra = fmt.Sprintf(` w:author="%s"`, tree.Escape(n.Author))
			if len(n.Date) == len("2006-01-02") {
				extra += ` w:date="` + tree.Escape(n.Date) + `T00:00:00Z"`
			}
		}
		fmt.Fprintf(&notes[n.Kind], `<w:%s w:id="%d"%s>%s</w:%s>`, el, i+1, extra, w.body.String(), el)
	}
	for kind, el := range []string{"footnotes", "endnotes", "comments"} {
		if notes[kind].Len() == 0 {
			continue
		}
		sep := ""
		if el != "comments" {
			one := strings.TrimSuffix(el, "s")
			sep = `<w:` + one + ` w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:` + one + `><w:` + one + ` w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:` + one + `>`
			settings = `<w:` + one + `Pr><w:` + one + ` w:id="-1"/><w:` + one + ` w:id="0"/></w:` + one + `Pr>` + settings
		}
		w.rel(el, el+".xml", false)
		add("word/"+el+".xml", wType+el+"+xml", `<w:`+el+` `+wNS+draws+`>`+sep+notes[kind].String()+`</w:`+el+`>`)
	}
	add("word/document.xml", wType+"document.main+xml", `<w:document `+wNS+draws+`><w:body>`+main+
		`<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr></w:body></w:document>`)
	add("word/styles.xml", wType+"styles+xml", docStyles())
	add("word/numbering.xml", wType+"numbering+xml", w.numbering())
	add("word/settings.xml", wType+"settings+xml", `<w:settings `+wNS+`>`+settings+`</w:settings>`)
	add("docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml", `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>`+tree.Escape(d.Title)+`</dc:title></cp:coreProperties>`)
	for ext, kind := range w.kinds {
		types += `<Default Extension="` + ext + `" ContentType="` + kind + `"/>`
	}
	head := []pack.Member{
		{Name: typesPart, Data: []byte(relHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` + types + `</Types>`)},
		{Name: "_rels/.rels", Data: []byte(relsXML(`<Relationship Id="rId1" Type="`+relBase+`officeDocument" Target="word/document.xml"/>`, `<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>`))},
		{Name: "word/_rels/document.xml.rels", Data: []byte(relsXML(w.rels...))},
	}
	data, err := pack.Create(append(append(head, parts...), w.media...)...)
	return data, w.warnings, err
}

func relsXML(rels ...string) string {
	return relHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + strings.Join(rels, "") + `</Relationships>`
}

func (w *docWriter) warn(s string) {
	for _, have := range w.warnings {
		if have == s {
			return
		}
	}
	w.warnings = append(w.warnings, s)
}

func (w *docWriter) rel(kind, target string, external bool) string {
	id := fmt.Sprintf("rId%d", len(w.rels)+1)
	mode := ""
	if external {
		mode = ` TargetMode="External"`
	}
	w.rels = append(w.rels, `<Relationship Id="`+id+`" Type="`+relBase+kind+`" Target="`+tree.Escape(target)+`"`+mode+`/>`)
	return id
}

// blocks writes blocks; style is that of plain paragraphs.
func (w *docWriter) blocks(blocks []flow.Block, style string) {
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != flow.Item {
			w.open = nil
		}
		switch b.Kind {
		case flow.Heading:
			w.para(b, fmt.Sprintf(`<w:pStyle w:val="Heading%d"/>`, max(1, min(b.Level, 6))), "")
		case flow.Item:
			w.item(b)
		case flow.Table:
			w.table(b)
		case flow.Code:
			w.para(&flow.Block{Runs: []flow.Run{{Text: flow.Words(b.Runs)}}}, `<w:pStyle w:val="SourceCode"/>`, "")
		case flow.Quote:
			w.blocks(b.Blocks, `<w:pStyle w:val="Quote"/>`)
		case flow.Aside:
			if b.Label != "" {
				w.para(&flow.Block{Runs: []flow.Run{{Text: b.Label, Bold: true}}}, `<w:pStyle w:val="Quote"/>`, "")
			}
			w.blocks(b.Blocks, `<w:pStyle w:val="Quote"/>`)
		case flow.Rule:
			w.body.WriteString(`<w:p><w:pPr><w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="auto"/></w:pBdr></w:pPr></w:p>`)
		case flow.Page:
			w.body.WriteString(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
		default:
			w.para(b, style, "")
		}
	}
	w.open = nil
}

func (w *docWriter) item(b *flow.Block) {
	level := max(1, min(b.Level, 9))
	if len(w.open) > level {
		w.open = w.open[:level]
	}
	for len(w.open) < level {
		w.open = append(w.open, -1)
	}
	num := w.open[level-1]
	switch {
	case !b.Ordered:
		num = 1
	case num <= 1 || b.Number == 1:
		w.lists = append(w.lists, max(1, b.Number))
		num = len(w.lists) + 1
	}
	w.open[level-1] = num
	open := w.open
	w.para(b, fmt.Sprintf(`<w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level-1, num), "")
	if len(b.Blocks) > 0 {
		w.blocks(b.Blocks, fmt.Sprintf(`<w:pStyle w:val="ListParagraph"/><w:ind w:left="%d"/>`, 720*level))
	}
	w.open = open
}

func (w *docWriter) numbering() string {
	var b strings.Builder
	b.WriteString(`<w:numbering ` + wNS + `>`)
	for id, ordered := range []bool{false, true} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d"><w:multiLevelType w:val="hybridMultilevel"/>`, id)
		for l := range 9 {
			format, text := "bullet", string([]rune("•◦▪")[l%3])
			if ordered {
				format, text = []string{"decimal", "lowerLetter", "lowerRoman"}[l%3], fmt.Sprintf("%%%d.", l+1)
			}
			fmt.Fprintf(&b, `<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%s"/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="%d" w:hanging="360"/></w:pPr></w:lvl>`, l, format, text, 720*(l+1))
		}
		b.WriteString(`</w:abstractNum>`)
	}
	b.WriteString(`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	for i, start := range w.lists {
		fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="1"/>`, i+2)
		for l := range 9 {
			s := 1
			if start > 1 {
				s = start
			}
			fmt.Fprintf(&b, `<w:lvlOverride w:ilvl="%d"><w:startOverride w:val="%d"/></w:lvlOverride>`, l, s)
		}
		b.WriteString(`</w:num>`)
	}
	return b.String() + `</w:numbering>`
}

func (w *docWriter) para(b *flow.Block, props, lead string) {
	w.body.WriteString("<w:p>")
	if props != "" {
		w.body.WriteString("<w:pPr>" + props + "</w:pPr>")
	}
	w.body.WriteString(lead)
	for i := range b.Runs {
		w.run(&b.Runs[i])
	}
	w.body.WriteString("</w:p>")
}

func (w *docWriter) run(r *flow.Run) {
	switch {
	case r.Note > 0 && r.Note <= len(w.doc.Notes):
		switch w.doc.Notes[r.Note-1].Kind {
		case flow.Comment:
			fmt.Fprintf(&w.body, `<w:r><w:commentReference w:id="%d"/></w:r>`, r.Note)
		case flow.Endnote:
			fmt.Fprintf(&w.body, `<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:endnoteReference w:id="%d"/></w:r>`, r.Note)
		default:
			fmt.Fprintf(&w.body, `<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteReference w:id="%d"/></w:r>`, r.Note)
		}
		return
	case r.Image != nil && !w.inNote && w.picture(r.Image):
		return
	}
	text := r.Text
	if r.Image != nil {
		if text = r.Image.Alt; text == "" {
			text = r.Image.Name
		}
		w.warn("Pictures that are not within the file stand as their descriptions.")
	}
	var pr strings.Builder
	link := flow.SafeLink(r.Link)
	switch {
	case link != "" && !w.inNote:
		pr.WriteString(`<w:rStyle w:val="Hyperlink"/>`)
	case r.Code:
		pr.WriteString(`<w:rStyle w:val="VerbatimChar"/>`)
	}
	for _, p := range []struct {
		on  bool
		xml string
	}{{r.Bold, `<w:b/>`}, {r.Italic, `<w:i/>`}, {r.Strike, `<w:strike/>`}, {r.Super, `<w:vertAlign w:val="superscript"/>`}, {r.Sub, `<w:vertAlign w:val="subscript"/>`}} {
		if p.on {
			pr.WriteString(p.xml)
		}
	}
	run := "<w:r>"
	if pr.Len() > 0 {
		run += "<w:rPr>" + pr.String() + "</w:rPr>"
	}
	run += runText(text, "w:") + "</w:r>"
	switch {
	case link == "" || w.inNote: // the relationships of notes are their own
	case strings.HasPrefix(link, "#"):
		run = `<w:hyperlink w:anchor="` + tree.Escape(link[1:]) + `">` + run + `</w:hyperlink>`
	default:
		id := w.links[link]
		if id == "" {
			id = w.rel("hyperlink", strings.ReplaceAll(link, " ", "%20"), true)
			w.links[link] = id
		}
		run = `<w:hyperlink r:id="` + id + `">` + run + `</w:hyperlink>`
	}
	w.body.WriteString(run)
}

// runText writes text as the content of a run, with its tabs and line breaks.
func runText(text, prefix string) string {
	var b strings.Builder
	flush := func(s string) {
		if s != "" {
			b.WriteString("<" + prefix + `t xml:space="preserve">` + tree.Escape(s) + "</" + prefix + "t>")
		}
	}
	at := 0
	for i := range len(text) {
		switch text[i] {
		case '\n', '\t':
			flush(text[at:i])
			at = i + 1
			if text[i] == '\n' {
				b.WriteString("<" + prefix + "br/>")
			} else {
				b.WriteString("<" + prefix + "tab/>")
			}
		}
	}
	flush(text[at:])
	return b.String()
}

// picture embeds a picture whose bytes are known and whose format programs show.
func (w *docWriter) picture(im *flow.Image) bool {
	if len(im.Data) == 0 {
		return false
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(im.Data))
	if err != nil || cfg.Width <= 0 || cfg.Height <= 0 {
		return false
	}
	w.kinds[format] = "image/" + format
	w.shapes++
	name := fmt.Sprintf("media/image%d.%s", w.shapes, format)
	w.media = append(w.media, pack.Member{Name: "word/" + name, Data: im.Data, Plain: true})
	id := w.rel("image", name, false)
	const most = 5_486_400 // the width of the text, in 914400ths of an inch
	wide, high := int64(cfg.Width)*9525, int64(cfg.Height)*9525
	if wide > most {
		wide, high = most, max(1, high*most/wide)
	}
	fmt.Fprintf(&w.body, `<w:r><w:drawing><wp:inline><wp:extent cx="%d" cy="%d"/><wp:docPr id="%d" name="Picture %d" descr="%s"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="%d" name="Picture %d"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="%s"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`,
		wide, high, w.shapes, w.shapes, tree.Escape(im.Alt), w.shapes, w.shapes, id, wide, high)
	return true
}

func (w *docWriter) table(b *flow.Block) {
	cols := 1
	for _, row := range b.Rows {
		n := 0
		for i := range row {
			n += max(1, row[i].ColSpan)
		}
		cols = max(cols, n)
	}
	cols = min(cols, 1000)
	look := ""
	if b.Heads > 0 {
		look = `<w:tblLook w:val="0020" w:firstRow="1"/>`
	}
	w.body.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/>` + look + `</w:tblPr><w:tblGrid>` + strings.Repeat(fmt.Sprintf(`<w:gridCol w:w="%d"/>`, 9000/cols), cols) + `</w:tblGrid>`)
	type open struct{ left, span int }
	down := map[int]open{}
	for i, row := range b.Rows {
		w.body.WriteString("<w:tr>")
		if i < b.Heads {
			w.body.WriteString(`<w:trPr><w:tblHeader/></w:trPr>`)
		}
		col := 0
		covered := func() {
			for down[col].left > 0 {
				o := down[col]
				fmt.Fprintf(&w.body, `<w:tc><w:tcPr><w:gridSpan w:val="%d"/><w:vMerge/></w:tcPr><w:p/></w:tc>`, o.span)
				down[col] = open{o.left - 1, o.span}
				col += o.span
			}
		}
		for k := range row {
			covered()
			c := &row[k]
			span := min(max(1, c.ColSpan), 1000)
			w.body.WriteString("<w:tc><w:tcPr>")
			if span > 1 {
				fmt.Fprintf(&w.body, `<w:gridSpan w:val="%d"/>`, span)
			}
			if c.RowSpan > 1 {
				w.body.WriteString(`<w:vMerge w:val="restart"/>`)
				down[col] = open{min(c.RowSpan, len(b.Rows)-i) - 1, span}
			}
			w.body.WriteString("</w:tcPr>")
			blocks := c.Blocks
			w.blocks(blocks, "")
			if n := len(blocks); n == 0 || blocks[n-1].Kind == flow.Table {
				w.body.WriteString("<w:p/>")
			}
			w.body.WriteString("</w:tc>")
			col += span
		}
		covered()
		for ; col < cols; col++ {
			w.body.WriteString("<w:tc><w:p/></w:tc>")
		}
		w.body.WriteString("</w:tr>")
	}
	if len(b.Rows) == 0 {
		w.body.WriteString("<w:tr>" + strings.Repeat("<w:tc><w:p/></w:tc>", cols) + "</w:tr>")
	}
	w.body.WriteString("</w:tbl>")
	if !w.inNote {
		w.body.WriteString(`<w:p><w:pPr><w:spacing w:after="0"/></w:pPr></w:p>`)
	}
}

func docStyles() string {
	var b strings.Builder
	b.WriteString(`<w:styles ` + wNS + `><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/><w:sz w:val="22"/><w:lang w:val="en-US"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="160" w:line="259" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>`)
	b.WriteString(`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>`)
	for l, size := range []int{36, 30, 26, 24, 22, 22} {
		fmt.Fprintf(&b, `<w:style w:type="paragraph" w:styleId="Heading%d"><w:name w:val="heading %d"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/><w:pPr><w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="%d"/></w:pPr><w:rPr><w:b/><w:sz w:val="%d"/></w:rPr></w:style>`, l+1, l+1, l, size)
	}
	para := func(id, name, props, run string) {
		fmt.Fprintf(&b, `<w:style w:type="paragraph" w:styleId="%s"><w:name w:val="%s"/><w:basedOn w:val="Normal"/><w:qFormat/><w:pPr>%s</w:pPr><w:rPr>%s</w:rPr></w:style>`, id, name, props, run)
	}
	para("ListParagraph", "List Paragraph", `<w:contextualSpacing/>`, "")
	para("Quote", "Quote", `<w:ind w:left="567" w:right="567"/>`, `<w:i/>`)
	para("SourceCode", "Source Code", `<w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/>`, `<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/><w:sz w:val="20"/>`)
	para("FootnoteText", "footnote text", `<w:spacing w:after="0"/>`, `<w:sz w:val="20"/>`)
	char := func(id, name, run string) {
		fmt.Fprintf(&b, `<w:style w:type="character" w:styleId="%s"><w:name w:val="%s"/><w:rPr>%s</w:rPr></w:style>`, id, name, run)
	}
	char("VerbatimChar", "Verbatim Char", `<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/><w:sz w:val="20"/>`)
	char("Hyperlink", "Hyperlink", `<w:color w:val="0563C1"/><w:u w:val="single"/>`)
	char("FootnoteReference", "footnote reference", `<w:vertAlign w:val="superscript"/>`)
	edge := ""
	for _, e := range []string{"top", "left", "bottom", "right", "insideH", "insideV"} {
		edge += `<w:` + e + ` w:val="single" w:sz="4" w:space="0" w:color="auto"/>`
	}
	b.WriteString(`<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>`)
	b.WriteString(`<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr><w:tblPr><w:tblBorders>` + edge + `</w:tblBorders></w:tblPr><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style></w:styles>`)
	return b.String()
}
