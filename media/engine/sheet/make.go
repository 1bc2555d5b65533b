package sheet

import (
	"bytes"
	"context"
	"fmt"
	"regexp"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

const (
	mainNS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relNS  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	pkgNS  = "http://schemas.openxmlformats.org/package/2006/"
)

// newBook returns a workbook with one sheet.
func newBook(name, cells string) ([]byte, error) {
	return pack.Create(
		pack.Member{Name: "[Content_Types].xml", Data: []byte(head + `<Types xmlns="` + pkgNS + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + worksheetType + `"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`)},
		pack.Member{Name: "_rels/.rels", Data: []byte(head + `<Relationships xmlns="` + pkgNS + `relationships"><Relationship Id="rId1" Type="` + relNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`)},
		pack.Member{Name: "xl/workbook.xml", Data: []byte(head + `<workbook xmlns="` + mainNS + `" xmlns:r="` + relNS + `"><bookViews><workbookView/></bookViews><sheets><sheet name="` + escape(name) + `" sheetId="1" r:id="rId1"/></sheets></workbook>`)},
		pack.Member{Name: "xl/_rels/workbook.xml.rels", Data: []byte(head + `<Relationships xmlns="` + pkgNS + `relationships"><Relationship Id="rId1" Type="` + relNS + `/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` + relNS + `/styles" Target="styles.xml"/></Relationships>`)},
		pack.Member{Name: "xl/worksheets/sheet1.xml", Data: []byte(head + `<worksheet xmlns="` + mainNS + `">` + cells + `</worksheet>`)},
		pack.Member{Name: "xl/styles.xml", Data: []byte(head + `<styleSheet xmlns="` + mainNS + `"><fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`)},
	)
}

func blankBook(context.Context, *media.Request) (media.Result, error) {
	data, err := newBook("Sheet1", "<sheetData/>")
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: data}}, nil
}

// plainNumber are texts that are numbers and nothing else: no leading zeros, which make codes, and no more digits than a
// number of a workbook keeps.
var plainNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?$`)

// toBook makes a workbook of a table. No text of it becomes a formula.
func toBook(ctx context.Context, r *media.Request) (media.Result, error) {
	var t data.Table
	var err error
	if r.In.MIME == jsonMIME {
		t, err = data.ReadJSON(&r.In, r.Limits)
	} else {
		t, _, err = data.ReadCSV(&r.In, r.Limits)
	}
	if err != nil {
		return media.Result{}, err
	}
	var b bytes.Buffer
	b.WriteString("<sheetData>")
	if len(t) > maxRow {
		return media.Result{}, media.Failf("the table has %d rows; a sheet has at most %d.", len(t), maxRow)
	}
	for i, row := range t {
		if i&1023 == 0 && ctx.Err() != nil {
			return media.Result{}, ctx.Err()
		}
		if len(row) > maxCol {
			return media.Result{}, media.Failf("row %d has %d cells; a sheet has at most %d columns.", i+1, len(row), maxCol)
		}
		fmt.Fprintf(&b, `<row r="%d">`, i+1)
		for c, s := range row {
			if s == "" {
				continue
			}
			p := pos{i + 1, c + 1}
			if len([]rune(s)) > maxText {
				return media.Result{}, media.Failf("%v: the text is longer than the %d characters that a cell holds.", p, maxText)
			}
			if plainNumber.MatchString(s) {
				b.WriteString(`<c r="` + p.String() + `"><v>` + s + "</v></c>")
			} else {
				b.WriteString(`<c r="` + p.String() + `" t="inlineStr"><is><t xml:space="preserve">` + escapeText(protectX(s)) + "</t></is></c>")
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString("</sheetData>")
	out, err := newBook("Sheet1", b.String())
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: out}}, nil
}
