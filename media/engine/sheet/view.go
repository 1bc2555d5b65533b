package sheet

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// Viewable reports whether a type can be opened by [NewView].
func Viewable(mime string) bool {
	return media.Matches([]string{xlsxMIME, xlsmMIME, csvMIME, tsvMIME}, mime)
}

// View gives windows of a workbook or table to people who look at it: some rows and columns at a time, with formulas. It
// keeps the unpacked parts of the sheets that were looked at and a mark for every 64th row, and no values. It is safe for
// concurrent use.
type View struct {
	mu     sync.Mutex
	b      *book
	table  data.Table // of CSV; then b is nil
	name   string
	size   int64
	sheets []*viewed
}

// ViewSheet is a sheet as it is listed.
type ViewSheet struct {
	Name    string
	Chart   bool // it holds a chart and no cells
	Rows    int  // the last row that holds anything
	Columns int  // the last such column
}

// ViewRow is a row of a window. Rows that hold nothing are left out.
type ViewRow struct {
	Row   int // from 1
	Cells []ViewCell
}

// ViewCell is a cell that holds something.
type ViewCell struct {
	Column  int // from 1
	Text    string
	Formula string // without "="; "" for a value
	Number  bool
}

// viewed is what is known of a sheet that was looked at.
type viewed struct {
	info    ViewSheet
	ready   bool
	g       *grid
	marks   []mark
	masters map[string]master
	value   func(pos) (string, bool)
}

// mark is the place of a row in a part.
type mark struct {
	row, at int
	before  int // number of the row that stands before it
}

// master is the first cell of a shared formula.
type master struct {
	at pos
	f  string
}

const marked = 64

// NewView opens a workbook or table. Errors: *media.Error.
func NewView(p media.Payload, lim media.Limits) (*View, error) {
	lim = lim.WithDefaults()
	if err := lim.Check(&p); err != nil {
		return nil, err
	}
	p = media.Identify(p)
	if !Viewable(p.MIME) {
		return nil, media.Failf("%s is %s, which is no workbook and no table that can be read here.", p.Name, p.MIME)
	}
	v := &View{name: media.Base(p.Name)}
	if media.Matches([]string{csvMIME, tsvMIME}, p.MIME) {
		var err error
		if v.table, _, err = data.ReadCSV(&p, lim); err != nil {
			return nil, err
		}
		info := ViewSheet{Name: v.name, Rows: len(v.table)}
		for _, r := range v.table {
			info.Columns = max(info.Columns, len(r))
			for _, c := range r {
				v.size += int64(len(c)) + 16
			}
		}
		v.sheets = []*viewed{{info: info, ready: true}}
		return v, nil
	}
	var err error
	if v.b, err = openBook(&media.Request{In: p, Limits: lim}); err != nil {
		return nil, err
	}
	for _, s := range v.b.sheets {
		v.sheets = append(v.sheets, &viewed{info: ViewSheet{Name: s.name, Chart: s.chart}})
	}
	return v, nil
}

// Names returns the names of the sheets in order.
func (v *View) Names() []string {
	var out []string
	for _, s := range v.sheets {
		out = append(out, s.info.Name)
	}
	return out
}

// Weight returns about how many bytes the view keeps.
func (v *View) Weight() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.b == nil {
		return v.size
	}
	n := int64(len(v.b.r.In.Data))
	for _, p := range v.b.parts {
		n += int64(len(p))
	}
	for _, s := range v.b.strings {
		n += int64(len(s)) + 16
	}
	return n
}

// Sheet describes a sheet; i counts from 0. The first time it reads the sheet once.
func (v *View) Sheet(ctx context.Context, i int) (ViewSheet, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, err := v.look(ctx, i)
	if err != nil {
		return ViewSheet{}, err
	}
	return s.info, nil
}

func (v *View) look(ctx context.Context, i int) (*viewed, error) {
	if i < 0 || i >= len(v.sheets) {
		return nil, media.Failf("there is no sheet number %d; there are %d.", i+1, len(v.sheets))
	}
	s := v.sheets[i]
	if s.ready || s.info.Chart {
		return s, nil
	}
	part := v.b.sheets[i].part
	if part == "" || !v.b.has(part) {
		return nil, media.Failf("the workbook names a sheet %q and does not hold it; it is damaged.", s.info.Name)
	}
	src, err := v.b.part(part)
	if err != nil {
		return nil, err
	}
	if s.g, err = findGrid(src); err != nil {
		return nil, err
	}
	if _, err := v.b.sharedStrings(); err != nil {
		return nil, err
	}
	if _, err := v.b.loadStyles(); err != nil {
		return nil, err
	}
	s.masters, s.marks, s.info.Rows, s.info.Columns = map[string]master{}, nil, 0, 0
	n, last := 0, 0
	s.g.walk(func(r *row) bool {
		if n%marked == 0 {
			s.marks = append(s.marks, mark{r.n, r.open.from, last})
		}
		n, last = n+1, r.n
		return n&1023 != 0 || ctx.Err() == nil
	}, func(_ *row, c *cell) bool {
		if c.v == nil && !c.hasF && c.text == "" {
			return true
		}
		s.info.Rows, s.info.Columns = max(s.info.Rows, c.row), max(s.info.Columns, c.col)
		if c.hasF && len(c.f) > 0 {
			if si, ok := c.shared(); ok {
				s.masters[si] = master{c.pos, unescape(c.f)}
			}
		}
		return true
	}, nil)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.value, s.ready = v.b.calculator(s.info.Name), true
	return s, nil
}

// Rows returns the cells of a window: rows from row on, at most rows of them, and of these the columns from column on, at
// most columns of them. Sheets count from 0, rows and columns from 1.
func (v *View) Rows(ctx context.Context, sheet, row0, rows, column0, columns int) ([]ViewRow, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, err := v.look(ctx, sheet)
	if err != nil || s.info.Chart || row0 < 1 || column0 < 1 {
		return nil, err
	}
	if v.b == nil {
		return v.tableRows(row0, rows, column0, columns), nil
	}
	at := mark{at: s.g.data.to}
	for _, m := range s.marks {
		if m.row > row0 {
			break
		}
		at = m
	}
	var out []ViewRow
	var one ViewRow
	s.g.walkFrom(at.at, at.before, func(r *row) bool {
		one = ViewRow{Row: r.n}
		return r.n < row0+rows && ctx.Err() == nil
	}, func(r *row, c *cell) bool {
		if r.n < row0 || c.col < column0 || c.col >= column0+columns || c.v == nil && !c.hasF && c.text == "" {
			return true
		}
		one.Cells = append(one.Cells, v.cell(s, c))
		return true
	}, func(r *row) bool {
		if len(one.Cells) > 0 {
			out = append(out, one)
		}
		return true
	})
	return out, ctx.Err()
}

func (v *View) cell(s *viewed, c *cell) ViewCell {
	sh := v.b.show(c, v.b.strings, v.b.styles, s.value)
	out := ViewCell{Column: c.col, Text: sh.text, Number: sh.raw && sh.text != "true" && sh.text != "false"}
	if !c.hasF {
		return out
	}
	out.Formula = unescape(c.f)
	if si, ok := c.shared(); ok && len(c.f) == 0 {
		if m, known := s.masters[si]; known {
			out.Formula = offset(m.f, c.row-m.at.row, c.col-m.at.col)
		}
	}
	if c.v == nil && c.text == "" && sh.text == "=" { // one that stands at its master
		out.Text = "=" + out.Formula
	}
	return out
}

func (v *View) tableRows(row0, rows, column0, columns int) []ViewRow {
	var out []ViewRow
	for n := row0; n < row0+rows && n <= len(v.table); n++ {
		r := ViewRow{Row: n}
		for k := column0; k < column0+columns && k <= len(v.table[n-1]); k++ {
			if text := v.table[n-1][k-1]; text != "" {
				_, err := strconv.ParseFloat(text, 64)
				r.Cells = append(r.Cells, ViewCell{Column: k, Text: text, Number: err == nil})
			}
		}
		if len(r.Cells) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Letters returns the name of a column, which counts from 1: A, B, …
func Letters(column int) string { return letters(column) }

// Address reads the address of a cell such as C12.
func Address(s string) (row, column int, err error) {
	p, ok := parsePos(s)
	if !ok {
		return 0, 0, fmt.Errorf("%q is no address of a cell such as C12", s)
	}
	return p.row, p.col, nil
}
