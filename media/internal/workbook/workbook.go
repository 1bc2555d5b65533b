// Package workbook is the neutral shape of a workbook: sheets of typed cells, as readers of old and open formats make them
// and as writers take them. It holds values, formulas and kinds of numbers, and not how a cell looks.
//
// Formulas are written as Excel writes them, without the leading equals sign.
package workbook

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values. Moments are numbers: days since the end of 1899.
const (
	Text Kind = iota
	Number
	Percent
	Date
	DateTime
	Clock
	Bool
	Fault // an error such as #N/A
)

// Cell is a cell with something in it. Col counts from 1.
type Cell struct {
	Col     int
	Kind    Kind
	Value   string // a text; a number as it is computed with; "1" or "0"
	Formula string
}

// Row is a row with something in it. N counts from 1.
type Row struct {
	N     int
	Cells []Cell
}

// Sheet is a sheet with its rows in order. Merged holds areas such as A1:B2.
type Sheet struct {
	Name   string
	Rows   []Row
	Merged []string
}

// Book is a workbook.
type Book struct{ Sheets []Sheet }

// The size of a sheet.
const (
	MaxRow = 1 << 20
	MaxCol = 1 << 14
)

// Letters returns the letters of a column, 1 is A.
func Letters(col int) string {
	s := ""
	for ; col > 0; col = (col - 1) / 26 {
		s = string(rune('A'+(col-1)%26)) + s
	}
	return s
}

// Name returns the name of a cell.
func Name(row, col int) string { return Letters(col) + strconv.Itoa(row) }

var epoch = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

// Serial returns a moment as the number of days since 30 December 1899.
func Serial(t time.Time) string {
	return strconv.FormatFloat(t.Sub(epoch).Hours()/24, 'f', -1, 64)
}

// Moment returns the moment of a number; ok is false where no calendar has it.
func Moment(days string) (time.Time, bool) {
	f, err := strconv.ParseFloat(days, 64)
	if err != nil || !(f > -700_000 && f < 3_000_000) {
		return time.Time{}, false
	}
	whole := int(f)
	part := time.Duration((f - float64(whole)) * float64(24*time.Hour)).Round(time.Millisecond)
	return epoch.AddDate(0, 0, whole).Add(part), true
}

const (
	head   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relNS  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	pkgNS  = "http://schemas.openxmlformats.org/package/2006/"
)

// styles has one format for each kind of number: its index is the kind.
const styles = head + `<styleSheet xmlns="` + mainNS + `"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="hh:mm:ss"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

// XLSX writes a workbook. It returns what it could not keep.
func (b *Book) XLSX() ([]byte, []string, error) {
	var warnings []string
	var types, sheets, rels bytes.Buffer
	members := make([]pack.Member, 0, len(b.Sheets)+6)
	if len(b.Sheets) == 0 {
		b = &Book{Sheets: []Sheet{{Name: "Sheet1"}}}
	}
	used := map[string]bool{}
	for i := range b.Sheets {
		s := &b.Sheets[i]
		name := sheetName(s.Name, used)
		if name != s.Name {
			warnings = append(warnings, fmt.Sprintf("The sheet %q is called %q in the result, because of the rules for names in xlsx.", s.Name, name))
		}
		fmt.Fprintf(&types, `<Override PartName="/xl/worksheets/sheet%d.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`, i+1)
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, tree.Escape(name), i+1, i+1)
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, i+1, relNS, i+1)
		data, cut := s.xml()
		if cut > 0 {
			warnings = append(warnings, fmt.Sprintf("%d texts of the sheet %q were longer than the 32767 characters that a cell of xlsx holds, and were cut.", cut, name))
		}
		members = append(members, pack.Member{Name: fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), Data: data})
	}
	n := len(b.Sheets) + 1
	fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="%s/styles" Target="styles.xml"/>`, n, relNS)
	out, err := pack.Create(append([]pack.Member{
		{Name: "[Content_Types].xml", Data: []byte(head + `<Types xmlns="` + pkgNS + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` + types.String() + `<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`)},
		{Name: "_rels/.rels", Data: []byte(head + `<Relationships xmlns="` + pkgNS + `relationships"><Relationship Id="rId1" Type="` + relNS + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`)},
		{Name: "xl/workbook.xml", Data: []byte(head + `<workbook xmlns="` + mainNS + `" xmlns:r="` + relNS + `"><bookViews><workbookView/></bookViews><sheets>` + sheets.String() + `</sheets></workbook>`)},
		{Name: "xl/_rels/workbook.xml.rels", Data: []byte(head + `<Relationships xmlns="` + pkgNS + `relationships">` + rels.String() + `</Relationships>`)},
		{Name: "xl/styles.xml", Data: []byte(styles)},
	}, members...)...)
	return out, warnings, err
}

// sheetName makes a name fit the rules of Excel: 31 characters, none of : \ / ? * [ ], no other sheet with it.
func sheetName(s string, used map[string]bool) string {
	s = strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/?*[]`, r) || r < ' ' {
			return '_'
		}
		return r
	}, s), "'")
	if s == "" {
		s = "Sheet"
	}
	cut := func(s string, n int) string {
		if r := []rune(s); len(r) > n {
			return string(r[:n])
		}
		return s
	}
	name := cut(s, 31)
	for i := 2; used[strings.ToLower(name)]; i++ {
		end := " " + strconv.Itoa(i)
		name = cut(s, 31-len(end)) + end
	}
	used[strings.ToLower(name)] = true
	return name
}

func (s *Sheet) xml() (data []byte, cut int) {
	var b bytes.Buffer
	b.WriteString(head + `<worksheet xmlns="` + mainNS + `"><sheetData>`)
	for i := range s.Rows {
		r := &s.Rows[i]
		fmt.Fprintf(&b, `<row r="%d">`, r.N)
		for k := range r.Cells {
			c := &r.Cells[k]
			v := c.Value
			if c.Kind == Text {
				if t := []rune(v); len(t) > 32767 {
					v, cut = string(t[:32767]), cut+1
				}
			}
			fmt.Fprintf(&b, `<c r="%s"`, Name(r.N, c.Col))
			if c.Kind >= Percent && c.Kind <= Clock {
				fmt.Fprintf(&b, ` s="%d"`, c.Kind)
			}
			f := ""
			if c.Formula != "" {
				f = "<f>" + tree.Escape(c.Formula) + "</f>"
			}
			switch {
			case c.Kind == Text && f == "":
				b.WriteString(` t="inlineStr"><is><t xml:space="preserve">` + tree.Escape(escapeX(v)) + "</t></is></c>")
			case c.Kind == Text:
				b.WriteString(` t="str">` + f + "<v>" + tree.Escape(escapeX(v)) + "</v></c>")
			case c.Kind == Bool:
				b.WriteString(` t="b">` + f + "<v>" + v + "</v></c>")
			case c.Kind == Fault:
				b.WriteString(` t="e">` + f + "<v>" + tree.Escape(v) + "</v></c>")
			case v == "":
				b.WriteString(">" + f + "</c>")
			default:
				b.WriteString(">" + f + "<v>" + v + "</v></c>")
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString("</sheetData>")
	if len(s.Merged) > 0 {
		fmt.Fprintf(&b, `<mergeCells count="%d">`, len(s.Merged))
		for _, m := range s.Merged {
			b.WriteString(`<mergeCell ref="` + m + `"/>`)
		}
		b.WriteString("</mergeCells>")
	}
	b.WriteString("</worksheet>")
	return b.Bytes(), cut
}

// escapeX protects texts that look like the escapes of xlsx: _x000D_.
func escapeX(s string) string {
	for i := 0; i+7 <= len(s); i++ {
		if s[i] == '_' && s[i+1] == 'x' && s[i+6] == '_' && strings.Trim(s[i+2:i+6], "0123456789abcdefABCDEF") == "" {
			s = s[:i] + "_x005F" + s[i:]
			i += 6
		}
	}
	return s
}

// Count refuses a workbook with more cells than are allowed, or with more text in them: cells that repeat and texts that many
// cells share take little room in a file.
func (b *Book) Count(name string, lim media.Limits) error {
	lim = lim.WithDefaults()
	n, size := 0, int64(0)
	for i := range b.Sheets {
		for k := range b.Sheets[i].Rows {
			cells := b.Sheets[i].Rows[k].Cells
			n += len(cells)
			for c := range cells {
				size += int64(len(cells[c].Value) + len(cells[c].Formula))
			}
		}
	}
	switch {
	case n > lim.Cells:
		return media.Failf("%s has more than the %d cells that can be read at once.", name, lim.Cells)
	case size > lim.Bytes:
		return media.Failf("%s has more than %d MB of text in its cells, which is more than is allowed.", name, lim.Bytes>>20)
	}
	return lim.Err()
}
