package ooxml

import (
	"context"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

const (
	pNS   = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`
	pType = "application/vnd.openxmlformats-officedocument.presentationml."
	// treeHead begins the shapes of a slide.
	treeHead = `<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>`
)

// blank makes an empty document, or a deck of one empty slide.
func blank(_ context.Context, r *media.Request) (media.Result, error) {
	var data []byte
	var err error
	if r.To == "pptx" {
		data, err = newDeck()
	} else {
		data, _, err = WriteDoc(&flow.Doc{})
	}
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: data}}, nil
}

// box is a placeholder of a layout, in 12700ths of an inch's 72nd part.
type box struct {
	kind, idx, name, prompt string
	x, y, w, h              int
}

func (b *box) xml(id int, layout bool) string {
	ph := `<p:ph`
	if b.kind != "" {
		ph += ` type="` + b.kind + `"`
	}
	if b.idx != "" {
		ph += ` idx="` + b.idx + `"`
	}
	pos, text := "", `<a:p><a:endParaRPr lang="en-US"/></a:p>`
	if layout {
		pos = fmt.Sprintf(`<a:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></a:xfrm>`, b.x*12700, b.y*12700, b.w*12700, b.h*12700)
		text = `<a:p><a:r><a:rPr lang="en-US"/><a:t>` + b.prompt + `</a:t></a:r></a:p>`
	}
	return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="%d" name="%s"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>%s/></p:nvPr></p:nvSpPr><p:spPr>%s</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>%s</p:txBody></p:sp>`, id, b.name, ph, pos, text)
}

func boxes(list []box, layout bool) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(list[i].xml(i+2, layout))
	}
	return b.String()
}

// newDeck returns a deck of one slide with the usual layouts.
func newDeck() ([]byte, error) {
	title := box{"title", "", "Title 1", "Click to edit title", 66, 29, 828, 104}
	body := box{"", "1", "Content Placeholder 2", "Click to edit text", 66, 144, 828, 343}
	first := []box{{"ctrTitle", "", "Title 1", "Click to edit title", 120, 88, 720, 188}, {"subTitle", "1", "Subtitle 2", "Click to edit subtitle", 120, 284, 720, 130}}
	two := []box{title, {"", "1", "Content Placeholder 2", "Click to edit text", 66, 144, 408, 343}, {"", "2", "Content Placeholder 3", "Click to edit text", 486, 144, 408, 343}}
	layouts := []struct {
		name, kind string
		boxes      []box
	}{
		{"Title Slide", "title", first}, {"Title and Content", "obj", []box{title, body}}, {"Section Header", "secHead", []box{{"title", "", "Title 1", "Click to edit title", 66, 135, 828, 224}, {"body", "1", "Text Placeholder 2", "Click to edit text", 66, 361, 828, 118}}},
		{"Two Content", "twoObj", two}, {"Title Only", "titleOnly", []box{title}}, {"Blank", "blank", nil},
	}
	var parts []pack.Member
	types := ""
	add := func(name, kind, xml string, rels ...string) {
		parts = append(parts, pack.Member{Name: name, Data: []byte(relHead + xml)})
		types += `<Override PartName="/` + name + `" ContentType="` + kind + `"/>`
		if len(rels) > 0 {
			parts = append(parts, pack.Member{Name: relsOf(name), Data: []byte(relsXML(rels...))})
		}
	}
	rel := func(n int, kind, target string) string {
		return fmt.Sprintf(`<Relationship Id="rId%d" Type="%s%s" Target="%s"/>`, n, relBase, kind, target)
	}
	add("ppt/presentation.xml", pType+"presentation.main+xml", `<p:presentation `+pNS+`><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="12192000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
		rel(1, "slideMaster", "slideMasters/slideMaster1.xml"), rel(2, "slide", "slides/slide1.xml"), rel(3, "theme", "theme/theme1.xml"))
	add("ppt/slides/slide1.xml", pType+"slide+xml", `<p:sld `+pNS+`><p:cSld><p:spTree>`+treeHead+boxes(first, false)+`</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`, rel(1, "slideLayout", "../slideLayouts/slideLayout1.xml"))
	ids := ""
	var masterRels []string
	for i, l := range layouts {
		add(fmt.Sprintf("ppt/slideLayouts/slideLayout%d.xml", i+1), pType+"slideLayout+xml", `<p:sldLayout `+pNS+` type="`+l.kind+`" preserve="1"><p:cSld name="`+l.name+`"><p:spTree>`+treeHead+boxes(l.boxes, true)+`</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`, rel(1, "slideMaster", "../slideMasters/slideMaster1.xml"))
		ids += fmt.Sprintf(`<p:sldLayoutId id="%d" r:id="rId%d"/>`, 2147483649+i, i+1)
		masterRels = append(masterRels, rel(i+1, "slideLayout", fmt.Sprintf("../slideLayouts/slideLayout%d.xml", i+1)))
	}
	masterRels = append(masterRels, rel(len(layouts)+1, "theme", "../theme/theme1.xml"))
	level := func(n, size, indent int, bullet string) string {
		return fmt.Sprintf(`<a:lvl%dpPr marL="%d" indent="%d" algn="l">%s<a:defRPr sz="%d"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr></a:lvl%dpPr>`, n, indent, -min(indent, 228600), bullet, size, n)
	}
	bodyStyle := ""
	for i, size := range []int{2800, 2400, 2000, 1800, 1800} {
		bodyStyle += level(i+1, size, 228600+457200*i, `<a:buChar char="•"/>`)
	}
	styles := `<p:txStyles><p:titleStyle><a:lvl1pPr algn="l"><a:defRPr sz="4400"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>` + bodyStyle + `</p:bodyStyle><p:otherStyle>` + level(1, 1800, 0, "") + `</p:otherStyle></p:txStyles>`
	body.kind = "body"
	add("ppt/slideMasters/slideMaster1.xml", pType+"slideMaster+xml", `<p:sldMaster `+pNS+`><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree>`+treeHead+boxes([]box{title, body}, true)+`</p:spTree></p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst>`+ids+`</p:sldLayoutIdLst>`+styles+`</p:sldMaster>`, masterRels...)
	add("ppt/theme/theme1.xml", "application/vnd.openxmlformats-officedocument.theme+xml", theme())
	head := []pack.Member{
		{Name: typesPart, Data: []byte(relHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` + types + `</Types>`)},
		{Name: "_rels/.rels", Data: []byte(relsXML(rel(1, "officeDocument", "ppt/presentation.xml")))},
	}
	return pack.Create(append(head, parts...)...)
}

func theme() string {
	colors := ""
	for _, c := range [][2]string{{"dk1", "000000"}, {"lt1", "FFFFFF"}, {"dk2", "44546A"}, {"lt2", "E7E6E6"}, {"accent1", "4472C4"}, {"accent2", "ED7D31"}, {"accent3", "A5A5A5"}, {"accent4", "FFC000"}, {"accent5", "5B9BD5"}, {"accent6", "70AD47"}, {"hlink", "0563C1"}, {"folHlink", "954F72"}} {
		colors += `<a:` + c[0] + `><a:srgbClr val="` + c[1] + `"/></a:` + c[0] + `>`
	}
	fonts := ""
	for _, f := range []string{"majorFont", "minorFont"} {
		fonts += `<a:` + f + `><a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/></a:` + f + `>`
	}
	fill := strings.Repeat(`<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`, 3)
	line := strings.Repeat(`<a:ln w="6350"><a:solidFill><a:schemeClr val="phClr"/></a:solidFill><a:prstDash val="solid"/></a:ln>`, 3)
	effect := strings.Repeat(`<a:effectStyle><a:effectLst/></a:effectStyle>`, 3)
	return `<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Plain"><a:themeElements><a:clrScheme name="Plain">` + colors + `</a:clrScheme><a:fontScheme name="Plain">` + fonts + `</a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>` + fill + `</a:fillStyleLst><a:lnStyleLst>` + line + `</a:lnStyleLst><a:effectStyleLst>` + effect + `</a:effectStyleLst><a:bgFillStyleLst>` + fill + `</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`
}
