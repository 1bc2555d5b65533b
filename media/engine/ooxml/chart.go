package ooxml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// cellRef is a cell as the formula of a chart names it.
type cellRef struct {
	sheet    string
	col, row int
}

// firstCell reads the first cell of a range such as 'My data'!$B$2:$B$4.
func firstCell(formula string) (c cellRef, ok bool) {
	at := strings.LastIndexByte(formula, '!')
	if at < 0 {
		return c, false
	}
	c.sheet = formula[:at]
	if n := len(c.sheet); n > 1 && c.sheet[0] == '\'' && c.sheet[n-1] == '\'' {
		c.sheet = strings.ReplaceAll(c.sheet[1:n-1], "''", "'")
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(formula[at+1:], "$", ""), ":")
	i := 0
	for i < len(first) && first[i] >= 'A' && first[i] <= 'Z' && i < 3 {
		c.col = c.col*26 + int(first[i]-'A') + 1
		i++
	}
	row, err := strconv.Atoi(first[i:])
	c.row = row
	return c, err == nil && c.col > 0 && row > 0
}

func (c cellRef) address() string { return columnName(c.col) + strconv.Itoa(c.row) }

func columnName(n int) string {
	s := ""
	for ; n > 0; n = (n - 1) / 26 {
		s = string(rune('A'+(n-1)%26)) + s
	}
	return s
}

// column writes a range of one column.
func (c cellRef) column(rows int) string {
	name := c.sheet
	if strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) || name == "" || name[0] <= '9' {
		name = "'" + strings.ReplaceAll(name, "'", "''") + "'"
	}
	out := fmt.Sprintf("%s!$%s$%d", name, columnName(c.col), c.row)
	if rows > 1 {
		out += fmt.Sprintf(":$%s$%d", columnName(c.col), c.row+rows-1)
	}
	return out
}

// chartData are the values that a chart is to show.
type chartData struct {
	names []string
	cats  []string
	vals  [][]json.RawMessage // by series
}

func readChartData(raw json.RawMessage) (*chartData, error) {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 2 || len(rows[0]) < 2 {
		return nil, media.Failf(`data is no table with a row of names and a column of categories, such as [["","2025"],["North",12]].`)
	}
	d := &chartData{}
	for _, c := range rows[0][1:] {
		d.names = append(d.names, plainValue(c))
	}
	d.vals = make([][]json.RawMessage, len(d.names))
	for i, row := range rows[1:] {
		if len(row) != len(rows[0]) {
			return nil, media.Failf("row %d of data has %d cells, and the first row %d.", i+2, len(row), len(rows[0]))
		}
		d.cats = append(d.cats, plainValue(row[0]))
		for k, v := range row[1:] {
			var f float64
			if string(v) != "null" && json.Unmarshal(v, &f) != nil {
				return nil, media.Failf("row %d of data: %s is no number.", i+2, v)
			}
			d.vals[k] = append(d.vals[k], v)
		}
	}
	return d, nil
}

// updateChart sets the names, categories and values of the first chart of a slide, in its caches and in its workbook.
func (f *file) updateChart(ctx context.Context, slide string) error {
	data, err := readChartData(f.r.Args["data"].(json.RawMessage))
	if err != nil {
		return err
	}
	root, err := f.tree(slide)
	if err != nil {
		return err
	}
	ref := find(root, "c:chart")
	if ref == nil {
		return media.Failf("the slide has no chart.")
	}
	rel, ok := f.rel(slide, ref.Get("r:id"))
	if !ok || rel.external || !f.has(rel.target) {
		return media.Failf("the chart of the slide is not in the file.")
	}
	part := rel.target
	if err := f.ownChart(slide, ref, &part); err != nil {
		return err
	}
	chart, err := f.tree(part)
	if err != nil {
		return err
	}
	series := chart.All("c:ser")
	if len(series) == 0 {
		return media.Failf("the chart has no series that could be set.")
	}
	parent := series[0].Parent
	for _, s := range series {
		if s.Parent != parent && len(data.names) != len(series) {
			return media.Failf("the chart has %d series of several kinds; give data for exactly as many.", len(series))
		}
	}
	src, err := f.part(part)
	if err != nil {
		return err
	}
	book := newChartBook(series)
	var cuts []tree.Splice
	last := len(series) - 1
	most := 0
	for _, s := range series {
		for _, name := range []string{"c:idx", "c:order"} {
			if k := s.Child(name); k != nil {
				n, _ := strconv.Atoi(k.Get("val"))
				most = max(most, n)
			}
		}
	}
	for i := range max(len(data.names), len(series)) {
		switch {
		case i >= len(data.names):
			cuts = append(cuts, tree.Splice{From: series[i].From, To: series[i].To})
		case i < len(series):
			cuts = append(cuts, book.fill(series[i], i, data)...)
		default:
			base := series[last]
			text := string(tree.Apply(src[base.From:base.To], shifted(renumbered(book.fill(base, i, data), base, most+1+i-len(series)), base.From)))
			cuts = append(cuts, tree.Splice{From: base.To, To: base.To, With: text})
		}
	}
	if err := f.splice(part, cuts); err != nil {
		return err
	}
	f.counts.Modified = len(data.names) * (len(data.cats) + 1)
	rows := 0
	for _, s := range series {
		if v := s.Child("c:val", "c:yVal"); v != nil {
			rows = max(rows, len(points(v)))
		}
	}
	return f.fillBook(ctx, part, book, data, len(series), rows)
}

// ownChart makes sure that no other slide shows the chart.
func (f *file) ownChart(slide string, ref *tree.Node, part *string) error {
	users := 0
	for _, name := range f.names() {
		if path.Ext(name) != ".rels" {
			continue
		}
		rels, err := f.rels(ownerOf(name))
		if err != nil {
			return err
		}
		for _, r := range rels {
			if !r.external && r.target == *part {
				users++
			}
		}
	}
	if users < 2 {
		return nil
	}
	name, err := f.graft(f, *part, map[string]string{}, func(*relation) bool { return false })
	if err != nil {
		return err
	}
	id, err := f.addRel(slide, "chart", name)
	if err != nil {
		return err
	}
	a := ref.Find("r:id")
	*part = name
	return f.splice(slide, []tree.Splice{{From: a.VFrom, To: a.VTo, With: id}})
}

// chartBook says in which cells of the workbook the data of a chart stand.
type chartBook struct {
	names, vals []cellRef // by series
	cats        cellRef
	ok          bool
}

func formulaOf(n *tree.Node) string {
	if n == nil {
		return ""
	}
	if f := find(n, "c:f"); f != nil {
		return strings.TrimSpace(f.Words())
	}
	return ""
}

func newChartBook(series []*tree.Node) *chartBook {
	b := &chartBook{ok: true}
	for i, s := range series {
		name, ok1 := firstCell(formulaOf(s.Child("c:tx")))
		val, ok2 := firstCell(formulaOf(s.Child("c:val", "c:yVal")))
		if !ok1 && ok2 && val.row > 1 {
			name, ok1 = cellRef{val.sheet, val.col, val.row - 1}, true
		}
		b.ok = b.ok && ok1 && ok2
		b.names, b.vals = append(b.names, name), append(b.vals, val)
		if i == 0 {
			cat, ok := firstCell(formulaOf(s.Child("c:cat", "c:xVal")))
			if !ok && val.col > 1 {
				cat, ok = cellRef{val.sheet, val.col - 1, val.row}, true
			}
			b.cats, b.ok = cat, b.ok && ok
		}
	}
	return b
}

// at returns the cells of a series, of one that is new too: it stands right of the last.
func (b *chartBook) at(i int) (name, val cellRef) {
	n := len(b.vals) - 1
	if i <= n {
		return b.names[i], b.vals[i]
	}
	name, val = b.names[n], b.vals[n]
	name.col += i - n
	val.col += i - n
	return name, val
}

func strCache(pre string, vals []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<%sstrCache><%sptCount val="%d"/>`, pre, pre, len(vals))
	for i, v := range vals {
		fmt.Fprintf(&b, `<%spt idx="%d"><%sv>%s</%sv></%spt>`, pre, i, pre, tree.Escape(v), pre, pre)
	}
	return b.String() + "</" + pre + "strCache>"
}

func numCache(pre, format string, vals []json.RawMessage) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<%snumCache><%sformatCode>%s</%sformatCode><%sptCount val="%d"/>`, pre, pre, tree.Escape(format), pre, pre, len(vals))
	for i, v := range vals {
		if string(v) != "null" {
			fmt.Fprintf(&b, `<%spt idx="%d"><%sv>%s</%sv></%spt>`, pre, i, pre, v, pre, pre)
		}
	}
	return b.String() + "</" + pre + "numCache>"
}

// fill returns the splices that set one series.
func (b *chartBook) fill(ser *tree.Node, i int, d *chartData) []tree.Splice {
	pre := prefixOf(ser)
	name, val := b.at(i)
	ref := func(kind, formula, cache string) string {
		if !b.ok { // values that stand in the chart alone
			return strings.ReplaceAll(strings.ReplaceAll(cache, "strCache>", "strLit>"), "numCache>", "numLit>")
		}
		return "<" + pre + kind + "><" + pre + "f>" + tree.Escape(formula) + "</" + pre + "f>" + cache + "</" + pre + kind + ">"
	}
	var cuts []tree.Splice
	put := func(n *tree.Node, inner string) {
		cuts = append(cuts, tree.Splice{From: n.From, To: n.To, With: "<" + n.Raw + ">" + inner + "</" + n.Raw + ">"})
	}
	tx := ref("strRef", name.column(1), strCache(pre, d.names[i:i+1]))
	if !b.ok {
		tx = "<" + pre + "v>" + tree.Escape(d.names[i]) + "</" + pre + "v>"
	}
	if n := ser.Child("c:tx"); n != nil {
		put(n, tx)
	} else if o := ser.Child("c:order"); o != nil {
		cuts = append(cuts, tree.Splice{From: o.To, To: o.To, With: "<" + pre + "tx>" + tx + "</" + pre + "tx>"})
	}
	value := ser.Child("c:val", "c:yVal")
	if n := ser.Child("c:cat", "c:xVal"); n != nil {
		if n.Name == "c:xVal" && allNumbers(d.cats) {
			put(n, ref("numRef", b.cats.column(len(d.cats)), numCache(pre, "General", rawNumbers(d.cats))))
		} else {
			put(n, ref("strRef", b.cats.column(len(d.cats)), strCache(pre, d.cats)))
		}
	} else if value != nil && value.Name == "c:val" {
		cuts = append(cuts, tree.Splice{From: value.From, To: value.From, With: "<" + pre + "cat>" + ref("strRef", b.cats.column(len(d.cats)), strCache(pre, d.cats)) + "</" + pre + "cat>"})
	}
	if value != nil {
		format := "General"
		if c := find(value, "c:formatCode"); c != nil {
			format = c.Words()
		}
		put(value, ref("numRef", val.column(len(d.vals[i])), numCache(pre, format, d.vals[i])))
	}
	return cuts
}

func allNumbers(s []string) bool {
	for _, x := range s {
		if _, err := strconv.ParseFloat(x, 64); err != nil {
			return false
		}
	}
	return true
}

func rawNumbers(s []string) []json.RawMessage {
	out := make([]json.RawMessage, len(s))
	for i, x := range s {
		out[i] = json.RawMessage(x)
	}
	return out
}

// renumbered gives the copy of a series a number of its own, and lets the program choose its colours.
func renumbered(cuts []tree.Splice, ser *tree.Node, n int) []tree.Splice {
	for _, name := range []string{"c:idx", "c:order"} {
		if k := ser.Child(name); k != nil {
			if a := k.Find("val"); a != nil {
				cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: strconv.Itoa(n)})
			}
		}
	}
	for _, name := range []string{"c:spPr", "c:extLst"} {
		if k := ser.Child(name); k != nil {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
		}
	}
	return cuts
}

// shifted moves splices of a part to a piece of it.
func shifted(cuts []tree.Splice, by int) []tree.Splice {
	out := make([]tree.Splice, len(cuts))
	for i, c := range cuts {
		out[i] = tree.Splice{From: c.From - by, To: c.To - by, With: c.With}
	}
	return out
}

// fillBook sets the same values in the workbook within the chart. It held old series of rows values.
func (f *file) fillBook(ctx context.Context, part string, book *chartBook, d *chartData, old, rows int) error {
	inner := f.to(part, "package")
	if len(inner) == 0 {
		f.warn("The chart has no workbook of its own; the values that it shows were set.")
		return nil
	}
	if !book.ok {
		f.warn("The workbook of the chart was left as it is: the chart does not say where in it its data stand.")
		return nil
	}
	data, err := f.part(inner[0])
	if err != nil {
		return err
	}
	type cell struct {
		Address string `json:"address"`
		Value   any    `json:"value"`
	}
	var set []cell
	for i := range d.names {
		name, val := book.at(i)
		set = append(set, cell{name.address(), d.names[i]})
		for k, v := range d.vals[i] {
			at := val
			at.row += k
			set = append(set, cell{at.address(), v})
		}
	}
	for k, c := range d.cats {
		at := book.cats
		at.row += k
		set = append(set, cell{at.address(), c})
	}
	for k := len(d.cats); k < rows; k++ {
		at := book.cats
		at.row += k
		set = append(set, cell{at.address(), nil})
	}
	for i := range old { // what was there and is no longer
		name, val := book.at(i)
		from := len(d.cats)
		if i >= len(d.names) {
			set = append(set, cell{name.address(), nil})
			from = 0
		}
		for k := from; k < rows; k++ {
			at := val
			at.row += k
			set = append(set, cell{at.address(), nil})
		}
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return err
	}
	req := *f.r
	req.In = media.Identify(media.Payload{Data: data, Name: path.Base(inner[0])})
	req.Op = "sheet.update_cells"
	req.Args = map[string]any{"sheet": media.NameOrIndex{Name: book.vals[0].sheet}, "updates": json.RawMessage(raw)}
	res, err := sheet.Do(ctx, &req)
	var e *media.Error
	if errors.As(err, &e) {
		f.warn("The workbook of the chart could not be set and holds the old data: %s", e.Message)
		return nil
	}
	if err != nil {
		return err
	}
	f.set(inner[0], res.Media.Data)
	return nil
}
