package core

import (
	"context"

	"github.com/tackle-dev/tackle/media/engine/sheet"
)

// RowsQuery selects a window of a sheet.
type RowsQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
	Media   string `json:"media" jsonschema:"id of the media"`
	Sheet   int    `json:"sheet,omitempty" jsonschema:"number of the sheet, from 1; default the first"`
	Row     int    `json:"row,omitempty" jsonschema:"number of the first row, from 1"`
	Rows    int    `json:"rows,omitempty" jsonschema:"at most so many; default 100, most 1000"`
	Column  int    `json:"column,omitempty" jsonschema:"number of the first column, from 1"`
	Columns int    `json:"columns,omitempty" jsonschema:"at most so many; default 50, most 200"`
}

// Rows is a window of a sheet.
type Rows struct {
	Sheet   string     `json:"sheet" jsonschema:"its name"`
	Chart   bool       `json:"chart,omitempty" jsonschema:"it holds a chart and no cells"`
	Last    int        `json:"last" jsonschema:"the last row that holds anything"`
	Width   int        `json:"width" jsonschema:"the last column that holds anything"`
	Row     int        `json:"row" jsonschema:"number of the first row of the window"`
	Column  int        `json:"column" jsonschema:"number of its first column"`
	Columns int        `json:"columns" jsonschema:"how many columns the window has"`
	Rows    []SheetRow `json:"rows" jsonschema:"those that hold anything"`
}

// SheetRow is a row of a window.
type SheetRow struct {
	Row   int         `json:"row"`
	Cells []SheetCell `json:"cells" jsonschema:"those that hold anything, from left to right"`
}

// SheetCell is a cell of a window.
type SheetCell struct {
	At      string `json:"at" jsonschema:"address, such as C12"`
	Column  int    `json:"column"`
	Text    string `json:"text" jsonschema:"the value as it is read"`
	Formula string `json:"formula,omitempty" jsonschema:"with ="`
	Number  bool   `json:"number,omitempty"`
	Cut     bool   `json:"cut,omitempty" jsonschema:"the text is longer than the 2000 characters that are given"`
}

// MediaRows returns a window of a sheet. Errors: NotFound; Invalid for what is no workbook and no table, or a sheet that is
// not there.
func (c *Core) MediaRows(ctx context.Context, q RowsQuery) (Rows, error) {
	_, s, err := c.find(ctx, MediaID{q.Session, q.Media})
	if err != nil {
		return Rows{}, err
	}
	return c.rows(ctx, s, q)
}

func (c *Core) rows(ctx context.Context, s *subject, q RowsQuery) (Rows, error) {
	if viewOf(s.mime) != SheetView {
		return Rows{}, errorf(Invalid, "%s is %s, which has no sheets", s.name, s.mime)
	}
	v, err := c.looks.sheet(ctx, s)
	if err != nil {
		return Rows{}, unfit(err)
	}
	if n := len(v.Names()); q.Sheet < 0 || q.Sheet > n {
		return Rows{}, errorf(Invalid, "there is no sheet number %d: %s has %d", q.Sheet, s.name, n)
	}
	at := max(q.Sheet-1, 0)
	info, err := v.Sheet(ctx, at)
	if err != nil {
		return Rows{}, unfit(err)
	}
	c.looks.weigh("sheet "+s.digest+" "+s.mime, v.Weight())
	out := Rows{Sheet: info.Name, Chart: info.Chart, Last: info.Rows, Width: info.Columns, Row: max(q.Row, 1), Column: max(q.Column, 1), Columns: page(q.Columns, 50, 200), Rows: []SheetRow{}}
	rows, err := v.Rows(ctx, at, out.Row, page(q.Rows, 100, 1000), out.Column, out.Columns)
	if err != nil {
		return Rows{}, unfit(err)
	}
	for _, r := range rows {
		row := SheetRow{Row: r.Row}
		for _, cell := range r.Cells {
			one := SheetCell{At: address(r.Row, cell.Column), Column: cell.Column, Text: cell.Text, Number: cell.Number}
			one.Text, one.Cut = shortCell(cell.Text)
			if cell.Formula != "" {
				one.Formula, _ = shortCell("=" + cell.Formula)
			}
			row.Cells = append(row.Cells, one)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

func shortCell(s string) (string, bool) {
	if len(s) <= mostLine {
		return s, false
	}
	r := []rune(s)
	return string(r[:min(len(r), mostLine)]), len(r) > mostLine
}

func address(row, column int) string { return sheet.Letters(column) + itoa(row) }
