package odf

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/internal/tree"
	"github.com/tackle-dev/tackle/media/internal/workbook"
)

const (
	xlsxMIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	xlsmMIME = "application/vnd.ms-excel.sheet.macroenabled.12"
)

// convertSheets converts a spreadsheet by way of a workbook.
func convertSheets(ctx context.Context, r *media.Request) (media.Result, error) {
	book, warnings, err := asBook(r.In, r)
	if err != nil {
		return media.Result{}, err
	}
	if r.To == "xlsx" {
		warnings = append(warnings, "Values, formulas and kinds of numbers were carried over; colours, charts and pictures were not.")
		return media.Result{Media: &media.Payload{Data: book.Data}, Warnings: warnings}, nil
	}
	sub := *r
	sub.In = *book
	res, err := sheet.Do(ctx, &sub)
	res.Warnings = append(warnings, res.Warnings...)
	return res, err
}

// viaBook splits and compares spreadsheets as workbooks.
func viaBook(ctx context.Context, r *media.Request) (media.Result, error) {
	book, warnings, err := asBook(r.In, r)
	if err != nil {
		return media.Result{}, err
	}
	sub := *r
	sub.In, sub.With = *book, nil
	for _, w := range r.With {
		if w.MIME == odsMIME || w.MIME == fodsMIME {
			other, _, err := asBook(w, r)
			if err != nil {
				return media.Result{}, err
			}
			w = *other
		}
		sub.With = append(sub.With, w)
	}
	res, err := sheet.Do(ctx, &sub)
	res.Warnings = append(warnings, res.Warnings...)
	return res, err
}

func asBook(p media.Payload, r *media.Request) (*media.Payload, []string, error) {
	sub := *r
	sub.In = p
	d, err := open(&sub)
	if err != nil {
		return nil, nil, err
	}
	b, err := d.book()
	if err == nil {
		err = b.Count(p.Name, r.Limits)
	}
	if err != nil {
		return nil, nil, err
	}
	out, warnings, err := b.XLSX()
	return &media.Payload{Data: out, MIME: xlsxMIME, Name: p.Name}, append(d.warnings, warnings...), err
}

// book reads the cells of a spreadsheet.
func (d *doc) book() (*workbook.Book, error) {
	_, root, err := d.tree("content.xml")
	if err != nil {
		return nil, err
	}
	body := first(root, "office:spreadsheet")
	if body == nil {
		return nil, media.Failf("%s is damaged: it has no cells.", d.r.In.Name)
	}
	left := d.r.Limits.WithDefaults().Cells
	out := &workbook.Book{}
	for _, t := range body.Kids {
		if t.Name != "table:table" {
			continue
		}
		rd := &cells{d: d, left: &left, sheet: workbook.Sheet{Name: t.Get("table:name")}}
		rd.rows(t)
		if left < 0 {
			return nil, media.Failf("%s has more than the %d cells that can be read at once.", d.r.In.Name, d.r.Limits.WithDefaults().Cells)
		}
		if rd.out {
			d.warn("The sheet %q reaches beyond row %d or column %s; what is behind was left out.", rd.sheet.Name, workbook.MaxRow, workbook.Letters(workbook.MaxCol))
		}
		out.Sheets = append(out.Sheets, rd.sheet)
	}
	return out, nil
}

// cells reads the cells of one sheet.
type cells struct {
	d     *doc
	sheet workbook.Sheet
	row   int // the last one that was read
	left  *int
	out   bool // something lies beyond the size of a sheet
}

func (c *cells) rows(n *tree.Node) {
	for _, k := range n.Kids {
		switch k.Name {
		case "table:table-header-rows", "table:table-rows", "table:table-row-group":
			c.rows(k)
		case "table:table-row":
			line := c.line(k)
			count := times(k, "table:number-rows-repeated")
			if len(line) == 0 {
				c.row = min(c.row+count, math.MaxInt32)
				continue
			}
			for range count {
				if c.row++; c.row > workbook.MaxRow {
					c.out = true
					return
				}
				if *c.left -= len(line); *c.left < 0 {
					return
				}
				c.sheet.Rows = append(c.sheet.Rows, workbook.Row{N: c.row, Cells: line})
			}
		}
	}
}

func (c *cells) line(n *tree.Node) []workbook.Cell {
	var out []workbook.Cell
	col := 0
	for _, k := range n.Kids {
		if k.Name != "table:table-cell" && k.Name != "table:covered-table-cell" {
			continue
		}
		count := times(k, "table:number-columns-repeated")
		v := value(k)
		wide, high := times(k, "table:number-columns-spanned"), times(k, "table:number-rows-spanned")
		if (wide > 1 || high > 1) && c.row < workbook.MaxRow && col < workbook.MaxCol && len(c.sheet.Merged) < 100_000 {
			c.sheet.Merged = append(c.sheet.Merged, workbook.Name(c.row+1, col+1)+":"+workbook.Name(min(workbook.MaxRow, c.row+high), min(workbook.MaxCol, col+wide)))
		}
		if v.Value == "" && v.Formula == "" {
			col = min(col+count, math.MaxInt32)
			continue
		}
		for range count {
			if col++; col > workbook.MaxCol {
				c.out = true
				return out
			}
			if len(out) > *c.left {
				*c.left = -1
				return out
			}
			v.Col = col
			out = append(out, v)
		}
	}
	return out
}

// value reads a cell.
func value(n *tree.Node) workbook.Cell {
	c := workbook.Cell{Formula: excelFormula(n.Get("table:formula"))}
	number := func(kind workbook.Kind) {
		s := n.Get("office:value")
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			c.Kind, c.Value = kind, s
			if strings.ContainsAny(s, "xX_pP") {
				c.Value = strconv.FormatFloat(f, 'g', -1, 64)
			}
		} else {
			c.Value = cellText(n)
		}
	}
	switch n.Get("office:value-type") {
	case "float", "currency":
		number(workbook.Number)
	case "percentage":
		number(workbook.Percent)
	case "boolean":
		c.Kind, c.Value = workbook.Bool, "0"
		if n.Get("office:boolean-value") == "true" {
			c.Value = "1"
		}
	case "date":
		s := n.Get("office:date-value")
		c.Value = cellText(n)
		for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05Z07:00"} {
			if t, err := time.Parse(layout, s); err == nil {
				c.Kind, c.Value = workbook.Date, workbook.Serial(t)
				if len(s) > 10 {
					c.Kind = workbook.DateTime
				}
				break
			}
		}
	case "time":
		c.Value = cellText(n)
		var h, m int
		var s float64
		if _, err := fmt.Sscanf(n.Get("office:time-value"), "PT%dH%dM%fS", &h, &m, &s); err == nil {
			c.Kind, c.Value = workbook.Clock, strconv.FormatFloat((float64(h)*3600+float64(m)*60+s)/86400, 'f', -1, 64)
		}
	default:
		if c.Value = cellText(n); c.Formula != "" && c.Value == "" {
			c.Kind = workbook.Number // it has no stored result
		}
		if a := n.Find("office:string-value"); a != nil && c.Value == "" {
			c.Value = a.Val
		}
		if c.Formula != "" && strings.HasPrefix(c.Value, "#") && !strings.ContainsAny(c.Value, " ") && (strings.HasSuffix(c.Value, "!") || strings.HasSuffix(c.Value, "?") || c.Value == "#N/A") {
			c.Kind = workbook.Fault
		}
	}
	return c
}

// toSheets makes a spreadsheet of a table or a workbook.
func toSheets(ctx context.Context, r *media.Request) (media.Result, error) {
	var b *workbook.Book
	var warnings []string
	switch r.In.MIME {
	case xlsxMIME, xlsmMIME:
		var err error
		if b, warnings, err = sheet.Read(ctx, r); err != nil {
			return media.Result{}, err
		}
		warnings = append(warnings, "Values, formulas and kinds of numbers were carried over; colours, charts and pictures were not.")
	default:
		var t data.Table
		var err error
		if r.In.MIME == "application/json" {
			t, err = data.ReadJSON(&r.In, r.Limits)
		} else {
			t, _, err = data.ReadCSV(&r.In, r.Limits)
		}
		if err != nil {
			return media.Result{}, err
		}
		b = tableBook(t)
	}
	out, err := write(b)
	return media.Result{Media: &media.Payload{Data: out}, Warnings: warnings}, err
}

// tableBook makes a workbook of a table; numbers are what is written as numbers and nothing else.
func tableBook(t data.Table) *workbook.Book {
	s := workbook.Sheet{Name: "Sheet1"}
	for i, row := range t {
		line := workbook.Row{N: i + 1}
		for k, v := range row {
			if v != "" {
				c := workbook.Cell{Col: k + 1, Value: v}
				if plainNumber(v) {
					c.Kind = workbook.Number
				}
				line.Cells = append(line.Cells, c)
			}
		}
		s.Rows = append(s.Rows, line)
	}
	return &workbook.Book{Sheets: []workbook.Sheet{s}}
}

// plainNumber reports whether a text is a number that keeps its digits: no leading zeros, at most 15 digits.
func plainNumber(s string) bool {
	d := strings.TrimPrefix(s, "-")
	whole, frac, dot := strings.Cut(d, ".")
	if whole == "" || len(whole)+len(frac) > 15 || dot && frac == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	return strings.Trim(whole+frac, "0123456789") == ""
}

const cellStyles = `<number:date-style style:name="N1"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>` +
	`<number:date-style style:name="N2"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/><number:text> </number:text><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/></number:date-style>` +
	`<number:time-style style:name="N3"><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/></number:time-style>` +
	`<number:percentage-style style:name="N4"><number:number number:decimal-places="2" number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>` +
	`<style:style style:name="ceDate" style:family="table-cell" style:data-style-name="N1"/><style:style style:name="ceTime" style:family="table-cell" style:data-style-name="N2"/><style:style style:name="ceClock" style:family="table-cell" style:data-style-name="N3"/><style:style style:name="cePercent" style:family="table-cell" style:data-style-name="N4"/>`

// write makes a spreadsheet file.
func write(b *workbook.Book) ([]byte, error) {
	var w bytes.Buffer
	w.WriteString("<office:spreadsheet>")
	for i := range b.Sheets {
		s := &b.Sheets[i]
		w.WriteString(`<table:table table:name="` + tree.Escape(s.Name) + `"><table:table-column/>`)
		spans := map[[2]int][2]int{}
		for _, m := range s.Merged {
			if r1, c1, r2, c2, ok := area(m); ok {
				spans[[2]int{r1, c1}] = [2]int{r2 - r1 + 1, c2 - c1 + 1}
			}
		}
		next := 1
		for k := range s.Rows {
			r := &s.Rows[k]
			if r.N > next {
				fmt.Fprintf(&w, `<table:table-row table:number-rows-repeated="%d"><table:table-cell/></table:table-row>`, r.N-next)
			}
			next = r.N + 1
			w.WriteString("<table:table-row>")
			col := 1
			for _, c := range r.Cells {
				if c.Col > col {
					fmt.Fprintf(&w, `<table:table-cell table:number-columns-repeated="%d"/>`, c.Col-col)
				}
				col = c.Col + 1
				writeCell(&w, c, spans[[2]int{r.N, c.Col}])
			}
			if len(r.Cells) == 0 {
				w.WriteString("<table:table-cell/>")
			}
			w.WriteString("</table:table-row>")
		}
		if len(s.Rows) == 0 {
			w.WriteString("<table:table-row><table:table-cell/></table:table-row>")
		}
		w.WriteString("</table:table>")
	}
	w.WriteString("</office:spreadsheet>")
	return create(odsMIME, cellStyles, w.String())
}

func area(s string) (r1, c1, r2, c2 int, ok bool) {
	a, b, found := strings.Cut(s, ":")
	r1, c1, ok = parseCell(a)
	if !ok || !found {
		return 0, 0, 0, 0, false
	}
	r2, c2, ok = parseCell(b)
	return r1, c1, r2, c2, ok && r2 >= r1 && c2 >= c1
}

// parseCell reads a name such as B12.
func parseCell(s string) (row, col int, ok bool) {
	s = strings.ToUpper(strings.ReplaceAll(s, "$", ""))
	i := 0
	for ; i < len(s) && s[i] >= 'A' && s[i] <= 'Z'; i++ {
		if col = col*26 + int(s[i]-'A') + 1; col > workbook.MaxCol {
			return 0, 0, false
		}
	}
	row, err := strconv.Atoi(s[i:])
	return row, col, err == nil && i > 0 && row > 0 && row <= workbook.MaxRow
}

// writeCell writes a cell with its value, and what it shows as text.
func writeCell(w *bytes.Buffer, c workbook.Cell, span [2]int) {
	w.WriteString("<table:table-cell")
	if span[0] > 1 || span[1] > 1 {
		fmt.Fprintf(w, ` table:number-columns-spanned="%d" table:number-rows-spanned="%d"`, span[1], span[0])
	}
	attrs, shown := valueAttrs(c)
	w.WriteString(attrs + ">")
	for _, line := range strings.Split(shown, "\n") {
		w.WriteString("<text:p>" + paragraph(line, "text:") + "</text:p>")
	}
	w.WriteString("</table:table-cell>")
}

// valueAttrs returns the attributes that hold the value of a cell, and what it shows.
func valueAttrs(c workbook.Cell) (attrs, shown string) {
	f := ""
	if c.Formula != "" {
		f = ` table:formula="` + tree.Escape(openFormula(c.Formula)) + `"`
	}
	num := func(style, kind string) string {
		if style != "" {
			style = ` table:style-name="` + style + `"`
		}
		return style + f + ` office:value-type="` + kind + `" office:value="` + tree.Escape(c.Value) + `"`
	}
	switch c.Kind {
	case workbook.Number:
		if c.Value == "" {
			return f, ""
		}
		return num("", "float"), c.Value
	case workbook.Percent:
		v, _ := strconv.ParseFloat(c.Value, 64)
		return num("cePercent", "percentage"), strconv.FormatFloat(v*100, 'f', 2, 64) + "%"
	case workbook.Bool:
		v := map[bool]string{true: "true", false: "false"}[c.Value == "1"]
		return f + ` office:value-type="boolean" office:boolean-value="` + v + `"`, strings.ToUpper(v)
	case workbook.Date, workbook.DateTime, workbook.Clock:
		t, ok := workbook.Moment(c.Value)
		switch {
		case !ok:
			return num("", "float"), c.Value
		case c.Kind == workbook.Clock:
			v, _ := strconv.ParseFloat(c.Value, 64)
			sec := int(math.Round(v * 86400))
			return ` table:style-name="ceClock"` + f + fmt.Sprintf(` office:value-type="time" office:time-value="PT%02dH%02dM%02dS"`, sec/3600, sec/60%60, sec%60), t.Format("15:04:05")
		case c.Kind == workbook.Date:
			return ` table:style-name="ceDate"` + f + ` office:value-type="date" office:date-value="` + t.Format("2006-01-02") + `"`, t.Format("2006-01-02")
		}
		return ` table:style-name="ceTime"` + f + ` office:value-type="date" office:date-value="` + t.Format("2006-01-02T15:04:05") + `"`, t.Format("2006-01-02 15:04:05")
	}
	return f + ` office:value-type="string"`, c.Value
}
