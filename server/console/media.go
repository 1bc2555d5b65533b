package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// mediaListData is the media of a session.
type mediaListData struct {
	Session string
	Groups  []mediaGroup
}

type mediaGroup struct {
	Title string
	Media []core.Media
}

func (c *Console) mediaList(r *http.Request, p *page) error {
	d := mediaListData{Session: r.PathValue("session"), Groups: []mediaGroup{{Title: "Attachments"}, {Title: "Results of tools"}}}
	list, err := c.core.Media(r.Context(), core.MediaQuery{Session: d.Session})
	if err != nil {
		return err
	}
	for _, m := range list.Media {
		g := &d.Groups[1]
		if m.Origin == "attachment" {
			g = &d.Groups[0]
		}
		g.Media = append(g.Media, m)
	}
	p.Name, p.Title, p.Section, p.Data, p.Live, p.Session = "medialist", "Media of "+d.Session, "sessions", d, "call.ended session.removed", d.Session
	return nil
}

// mediaData is one media and what its viewer draws of it.
type mediaData struct {
	core.MediaView
	Others []core.Media // of the session, to compare with
	From   []mediaFrom
	Tabs   []tab
	Grid   *gridData
	Lines  *core.Lines
	Next   int // of the first line of the next piece; 0 for none
	Prior  int // of the piece before; 0 for none
	AsText bool
	Page   int    // of a document, which is drawn; 0 for none
	Drawn  string // where the picture of it is
	Beside []tab  // pages
}

// mediaFrom is something that media was made from: media of the session where ID is not empty.
type mediaFrom struct{ ID, Name string }

// tab is a way to look at the same thing.
type tab struct {
	Name, To string
	Is       bool
}

// pieceOfText is how many lines of a text stand on a page.
const pieceOfText = 1000

func (c *Console) media(r *http.Request, p *page) error {
	id := core.MediaID{Session: r.PathValue("session"), Media: r.PathValue("media")}
	v, err := c.core.MediaByID(r.Context(), id)
	if err != nil {
		return err
	}
	d := &mediaData{MediaView: v}
	p.Name, p.Title, p.Section, p.Data = "media", v.Media.Name, "sessions", d
	if d.Others, d.From, err = c.relations(r, &v.Media); err != nil {
		return err
	}
	own := link("/sessions", id.Session) + link("/media", id.Media)
	as := r.URL.Query().Get("as")
	d.AsText = v.Text && (v.Media.View == core.TextView || v.Media.View == core.DocumentView && v.Pages == 0 || as == "text" || v.Problem != "")
	switch {
	case v.Pages > 0 && !d.AsText:
		n, err := numberParam(r, "page")
		if err != nil {
			return err
		}
		d.Page = int(max(1, min(n, int64(v.Pages))))
		d.Drawn = withQuery(link("/api/sessions", id.Session)+link("/media", id.Media)+"/picture", "page", d.Page)
		at := func(name string, n int) tab { return tab{Name: name, To: withQuery(own, "page", n)} }
		if d.Page > 1 {
			d.Beside = append(d.Beside, at("Page before", d.Page-1))
		}
		if d.Page < v.Pages {
			d.Beside = append(d.Beside, at("Next page", d.Page+1))
		}
	case d.AsText:
		from, err := numberParam(r, "from")
		if err != nil {
			return err
		}
		lines, err := c.core.MediaLines(r.Context(), core.LinesQuery{Session: id.Session, Media: id.Media, From: int(min(from, 1<<30)), Limit: pieceOfText})
		if err != nil {
			return err
		}
		d.Lines = &lines
		if next := lines.From + len(lines.Lines); len(lines.Lines) > 0 && next <= lines.Total {
			d.Next = next
		}
		if lines.From > 1 {
			d.Prior = max(lines.From-pieceOfText, 1)
		}
	case v.Media.View == core.SheetView && v.Problem == "":
		if d.Grid, err = c.grid(r, id, own); err != nil {
			return err
		}
		for i, name := range v.Sheets {
			d.Tabs = append(d.Tabs, tab{Name: name, To: withQuery(own, "sheet", i+1), Is: i+1 == d.Grid.Sheet})
		}
	}
	return nil
}

// relations returns the other media of the session, and what one was made from.
func (c *Console) relations(r *http.Request, m *core.Media) (others []core.Media, from []mediaFrom, err error) {
	list, err := c.core.Media(r.Context(), core.MediaQuery{Session: m.Session})
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	for _, o := range list.Media {
		names[o.ID] = o.Name
		if o.ID != m.ID && o.View != core.NoView {
			others = append(others, o)
		}
	}
	for _, id := range m.Derived {
		if name, ok := names[id]; ok {
			from = append(from, mediaFrom{id, name})
		} else {
			from = append(from, mediaFrom{Name: id})
		}
	}
	return others, from, nil
}

// gridData is a window of a sheet and what the script needs to fetch others.
type gridData struct {
	Sheet   int // number, from 1
	Name    string
	Chart   bool
	Last    int // the last row that holds anything
	Width   int // the last such column
	Rows    []gridRow
	Columns []gridColumn
	First   int // of the rows that this page can scroll through
	Final   int
	Row     int    // first of the window
	Cell    string // that was asked for
	Source  string // address of other windows
	Own     string
	Beside  []tab // columns and stretches of rows beside
	Around  []tab // windows before and after, for who has no script
}

type gridRow struct {
	Row   int
	Cells []core.SheetCell // one for each column of the window
}

type gridColumn struct {
	Name  string
	Width string // name of a style
}

// Bounds of a grid: rows of a window and columns of it, and rows that one page scrolls through (browsers bound how high
// something may be).
const (
	gridRows    = 100
	gridColumns = 50
	gridReach   = 200_000
	gridLeast   = 20 // rows and columns that are drawn where fewer hold anything
)

func (c *Console) grid(r *http.Request, id core.MediaID, own string) (*gridData, error) {
	q := r.URL.Query()
	number, err := numberParam(r, "sheet")
	if err != nil {
		return nil, err
	}
	d := &gridData{Sheet: int(max(min(number, 1<<20), 1)), Own: own, Cell: strings.ToUpper(strings.TrimSpace(q.Get("cell")))}
	row, column := 1, 1
	if d.Cell != "" {
		if row, column, err = sheet.Address(d.Cell); err != nil {
			return nil, invalid(err.Error() + "; write the letters of the column and the number of the row")
		}
		d.Cell = sheet.Letters(column) + strconv.Itoa(row)
	}
	query := core.RowsQuery{Session: id.Session, Media: id.Media, Sheet: d.Sheet, Row: (row-1)/gridRows*gridRows + 1, Rows: gridRows,
		Column: (column-1)/gridColumns*gridColumns + 1, Columns: gridColumns}
	w, err := c.core.MediaRows(r.Context(), query)
	if err != nil {
		return nil, err
	}
	d.Name, d.Chart, d.Last, d.Width, d.Row = w.Sheet, w.Chart, w.Last, w.Width, query.Row
	d.First = (query.Row-1)/gridReach*gridReach + 1
	d.Final = min(max(d.Last, row, gridLeast), d.First+gridReach-1)
	d.Rows, d.Columns = fillGrid(&w, min(query.Row+gridRows-1, d.Final), max(column, gridLeast))
	d.Source = withQuery(own+"/rows", "sheet", d.Sheet, "column", query.Column, "columns", len(d.Columns))
	at := func(name string, row, column int) tab {
		return tab{Name: name, To: withQuery(own, "sheet", d.Sheet, "cell", sheet.Letters(column)+strconv.Itoa(row))}
	}
	if query.Column > 1 {
		d.Beside = append(d.Beside, at("Columns before "+sheet.Letters(query.Column), row, query.Column-gridColumns))
	}
	if next := query.Column + gridColumns; d.Width >= next {
		d.Beside = append(d.Beside, at("Columns from "+sheet.Letters(next), row, next))
	}
	if d.First > 1 {
		d.Beside = append(d.Beside, at("Rows before "+strconv.Itoa(d.First), d.First-gridReach, column))
	}
	if d.Last > d.Final {
		d.Beside = append(d.Beside, at("Rows from "+strconv.Itoa(d.Final+1), d.Final+1, column))
	}
	if query.Row > 1 {
		d.Around = append(d.Around, at("Rows before", query.Row-gridRows, column))
	}
	if d.Last >= query.Row+gridRows {
		d.Around = append(d.Around, at("Next rows", query.Row+gridRows, column))
	}
	return d, nil
}

// fillGrid gives every row up to last, and every column of a window, also those that hold nothing. The columns are as wide
// as what the window holds wants.
func fillGrid(w *core.Rows, last, columns int) (rows []gridRow, heads []gridColumn) {
	n := min(w.Columns, max(w.Width, columns)-w.Column+1)
	wide := make([]int, max(n, 0))
	next := w.Row
	empty := func(until int) {
		for ; next < until; next++ {
			rows = append(rows, gridRow{next, blankRow(next, w.Column, len(wide))})
		}
	}
	for _, r := range w.Rows {
		if r.Row > last {
			break
		}
		empty(r.Row)
		cells := blankRow(r.Row, w.Column, len(wide))
		for _, c := range r.Cells {
			if k := c.Column - w.Column; k < len(cells) {
				cells[k] = c
				wide[k] = max(wide[k], len([]rune(c.Text)))
			}
		}
		rows, next = append(rows, gridRow{r.Row, cells}), r.Row+1
	}
	empty(last + 1)
	for k := range wide {
		heads = append(heads, gridColumn{sheet.Letters(w.Column + k), "w" + strconv.Itoa(min(max((wide[k]+3)/4, 2), 9))})
	}
	return rows, heads
}

func blankRow(row, column, n int) []core.SheetCell {
	out := make([]core.SheetCell, n)
	for k := range out {
		out[k] = core.SheetCell{At: sheet.Letters(column+k) + strconv.Itoa(row), Column: column + k}
	}
	return out
}

// mediaRows draws a window of a sheet for the script of the page: rows of a table.
func (c *Console) mediaRows(r *http.Request, p *page) error {
	q := core.RowsQuery{Session: r.PathValue("session"), Media: r.PathValue("media"), Rows: gridRows, Columns: gridColumns}
	final := 0
	for name, into := range map[string]*int{"sheet": &q.Sheet, "row": &q.Row, "column": &q.Column, "columns": &q.Columns, "final": &final} {
		n, err := numberParam(r, name)
		if err != nil {
			return err
		}
		*into = int(min(n, 1<<21))
	}
	w, err := c.core.MediaRows(r.Context(), q)
	if err != nil {
		return err
	}
	rows, _ := fillGrid(&w, min(w.Row+gridRows-1, max(final, 1)), w.Column+min(q.Columns, gridColumns)-1)
	p.Name, p.Part, p.Data = "media", "gridrows", &gridData{Rows: rows}
	return nil
}

// compareData is what differs between two files.
type compareData struct {
	core.Comparison
	Crumbs   []tab
	Before   source
	After    source
	Sheets   []sheetDiff
	Others   []core.Media
	Session  string
	Download string
}

// source is where a picture of a comparison comes from, and what it is.
type source struct {
	core.Side
	Picture string // address
	Page    string // address of its own page
}

// sheetDiff are the differences of a sheet.
type sheetDiff struct {
	Name  string
	Cells []core.CellDiff
}

func bySheet(cells []core.CellDiff) (out []sheetDiff) {
	for _, d := range cells {
		if len(out) == 0 || out[len(out)-1].Name != d.Sheet {
			out = append(out, sheetDiff{Name: d.Sheet})
		}
		s := &out[len(out)-1]
		s.Cells = append(s.Cells, d)
	}
	return out
}

func (c *Console) mediaCompare(r *http.Request, p *page) error {
	session, id := r.PathValue("session"), r.PathValue("media")
	cmp, err := c.core.MediaChanges(r.Context(), core.CompareQuery{Session: session, Media: id, With: r.URL.Query().Get("with")})
	if err != nil {
		return err
	}
	of := func(s core.Side) source {
		return source{Side: s, Picture: link("/api/sessions", session) + link("/media", s.Media) + "/picture", Page: link("/sessions", session) + link("/media", s.Media)}
	}
	d := &compareData{Comparison: cmp, Before: of(cmp.Before), After: of(cmp.After), Sheets: bySheet(cmp.Cells), Session: session,
		Crumbs: []tab{{Name: "Sessions", To: "/sessions"}, {Name: session, To: link("/sessions", session)}, {Name: "Media", To: link("/sessions", session) + "/media"}, {Name: cmp.After.Name, To: link("/sessions", session) + link("/media", id)}}}
	p.Name, p.Title, p.Section, p.Data = "compare", "Before and after: "+cmp.After.Name, "sessions", d
	return nil
}

// askCompare shows what a file is and what it would become, for the ask that it is of.
func (c *Console) askCompare(r *http.Request, p *page) error {
	ask := r.PathValue("ask")
	n, err := strconv.Atoi(r.PathValue("file"))
	if err != nil {
		return invalid("the address names no file; follow the links of the page")
	}
	cmp, err := c.core.AskChanges(r.Context(), core.AskFileID{Ask: ask, File: n})
	if err != nil {
		return err
	}
	of := func(s core.Side, which string) source {
		return source{Side: s, Picture: link("/api/asks", ask) + link("/media", n) + link("/picture", which)}
	}
	d := &compareData{Comparison: cmp, Before: of(cmp.Before, "before"), After: of(cmp.After, "after"), Sheets: bySheet(cmp.Cells),
		Crumbs: []tab{{Name: "Asks", To: "/asks"}, {Name: "the ask", To: link("/asks", ask)}}}
	p.Name, p.Title, p.Section, p.Data = "compare", "Before and after: "+cmp.After.Name, "asks", d
	if r.URL.Query().Get("part") != "" {
		p.Part = "differences"
	}
	return nil
}
