package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// val is what a cell shall hold: raw is JSON. With text set a leading = is a character like the rest.
type val struct {
	raw  json.RawMessage
	text bool
}

// maxText is the most characters that a cell holds.
const maxText = 32767

// cellUpdate is one element of updates=.
type cellUpdate struct {
	Address string          `json:"address"`
	Row     int             `json:"row"`
	Col     json.RawMessage `json:"col"`
	Value   json.RawMessage `json:"value"`
}

func parseUpdates(raw json.RawMessage) (map[pos]val, error) {
	var list []cellUpdate
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return nil, media.Failf(`updates is no list such as [{"address":"B2","value":3},{"row":3,"col":"C","value":"=B3*2"}]: %v.`, err)
	}
	if len(list) == 0 {
		return nil, media.Failf("updates is empty.")
	}
	out := map[pos]val{}
	for i, u := range list {
		p, ok := parsePos(u.Address)
		if u.Address == "" {
			p.row = u.Row
			var n int
			var s string
			if json.Unmarshal(u.Col, &n) == nil {
				p.col = n
			} else if json.Unmarshal(u.Col, &s) == nil {
				p.col = column(s)
			}
			ok = p.row >= 1 && p.row <= maxRow && p.col >= 1 && p.col <= maxCol
		}
		if !ok {
			return nil, media.Failf(`element %d of updates names no cell: give "address":"B2", or "row":2 and "col":"B".`, i+1)
		}
		if _, twice := out[p]; twice {
			return nil, media.Failf("updates sets the cell %v twice.", p)
		}
		if u.Value == nil {
			return nil, media.Failf(`element %d of updates has no "value"; null empties a cell.`, i+1)
		}
		out[p] = val{raw: u.Value}
	}
	return out, nil
}

// element writes a cell.
func (b *book) element(pre string, p pos, style []byte, v val) (string, error) {
	open := "<" + pre + `c r="` + p.String() + `"`
	if len(style) > 0 {
		open += ` s="` + string(style) + `"`
	}
	raw := bytes.TrimSpace(v.raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return open + "/>", nil
	case raw[0] == 't' || raw[0] == 'f':
		n := "0"
		if raw[0] == 't' {
			n = "1"
		}
		return open + ` t="b"><` + pre + "v>" + n + "</" + pre + "v></" + pre + "c>", nil
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		if f, err := strconv.ParseFloat(string(raw), 64); err != nil || f > 9.99e307 || f < -9.99e307 {
			return "", media.Failf("%v: the number %s is larger than a cell can hold.", p, raw)
		}
		return open + "><" + pre + "v>" + string(raw) + "</" + pre + "v></" + pre + "c>", nil
	case raw[0] != '"':
		return "", media.Failf("%v: a cell holds a text, a number, true, false or null, not %.40s.", p, raw)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", media.Failf("%v: %v.", p, err)
	}
	if !v.text && len(s) > 1 && s[0] == '=' {
		return b.formulaCell(open, pre, p, s[1:])
	}
	if t, clock, ok := parseISO(s); ok && !v.text {
		st, err := b.dated(style, clock)
		if err != nil {
			return "", err
		}
		if st != "" {
			open = "<" + pre + `c r="` + p.String() + `" s="` + st + `"`
			return open + "><" + pre + "v>" + strconv.FormatFloat(serial(t, b.date1904), 'f', -1, 64) + "</" + pre + "v></" + pre + "c>", nil
		}
	}
	if n := len([]rune(s)); n > maxText {
		return "", media.Failf("%v: the text has %d characters; a cell holds %d.", p, n, maxText)
	}
	return open + ` t="inlineStr"><` + pre + "is><" + pre + `t xml:space="preserve">` + escapeText(protectX(s)) + "</" + pre + "t></" + pre + "is></" + pre + "c>", nil
}

// protectX writes a text that happens to look like the escape of a character, _x0041_, so that it is read as it is.
func protectX(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	return escapeLike.ReplaceAllString(s, "_x005F$0")
}

var escapeLike = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

var reaching = []string{"WEBSERVICE(", "HYPERLINK(", "RTD(", "IMPORTXML(", "IMPORTDATA(", "IMPORTHTML(", "CALL(", "REGISTER.ID(", "EXEC(", "IMAGE("}

func (b *book) formulaCell(open, pre string, p pos, f string) (string, error) {
	if len(f) > 8192 {
		return "", media.Failf("%v: the formula has %d characters; a cell holds 8192.", p, len(f))
	}
	depth := 0
	for i := 0; i < len(f); i++ {
		switch f[i] {
		case '"', '\'':
			end := quotedEnd(f, i)
			if f[end-1] != f[i] || end == i+1 {
				return "", media.Failf("%v: a quote of the formula =%s is not closed.", p, f)
			}
			i = end - 1
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return "", media.Failf("%v: the parentheses of the formula =%s do not match.", p, f)
	}
	up := strings.ToUpper(f)
	if strings.Contains(up, "|") && strings.Contains(up, "!") {
		return "", media.Failf("%v: the formula =%s would start another program (DDE); it is refused.", p, f)
	}
	for _, fn := range reaching {
		if strings.Contains(up, fn) {
			b.warn("%v holds a formula that reaches out of the workbook: =%s.", p, f)
		}
	}
	return open + "><" + pre + "f>" + escapeText(f) + "</" + pre + "f></" + pre + "c>", nil
}

// put writes cells into a sheet part. New rows and cells go where they belong; all else stays byte for byte, except that
// values computed by formulas of this sheet, which may be out of date now, are taken away.
func (b *book) put(src []byte, cells map[pos]val) ([]byte, error) {
	g, err := findGrid(src)
	if err != nil {
		return nil, err
	}
	pre := prefix(src[g.data.from:])
	want := make([]pos, 0, len(cells))
	for p := range cells {
		want = append(want, p)
	}
	slices.SortFunc(want, func(a, b pos) int {
		if a.row != b.row {
			return a.row - b.row
		}
		return a.col - b.col
	})
	e := &edits{src: src}
	if g.data.closed {
		e.replace(g.data.from, g.data.to, []byte("<"+pre+"sheetData>"))
	}
	w := &writer{b: b, e: e, pre: pre, cells: cells, want: want}
	formulas := bytes.Contains(src, []byte("<"+pre+"f")) // their computed values go, so all rows must be seen
	on := func() bool { return w.err == nil && (formulas || len(w.want) > 0) }
	g.walk(func(r *row) bool { w.begin(r); return on() }, func(r *row, c *cell) bool { w.cell(c); return w.err == nil },
		func(r *row) bool { w.end(r); return on() })
	end := g.endAt
	if g.data.closed {
		end = g.data.to
	}
	w.rowsBefore(maxRow+1, end)
	if w.err != nil {
		return nil, w.err
	}
	if g.data.closed {
		e.replace(end, end, []byte("</"+pre+"sheetData>"))
	}
	return dimension(e.done(), want), nil
}

// writer is the state of put.
type writer struct {
	b     *book
	e     *edits
	pre   string
	cells map[pos]val
	want  []pos // left to write, in order
	row   *row
	err   error
}

func (w *writer) one(p pos, style []byte) string {
	s, err := w.b.element(w.pre, p, style, w.cells[p])
	w.err = errors.Join(w.err, err)
	return s
}

// rowsBefore writes the rows that belong before row n, at an offset.
func (w *writer) rowsBefore(n, at int) {
	var out strings.Builder
	for len(w.want) > 0 && w.want[0].row < n {
		r := w.want[0].row
		fmt.Fprintf(&out, `<%srow r="%d">`, w.pre, r)
		for len(w.want) > 0 && w.want[0].row == r {
			out.WriteString(w.one(w.want[0], nil))
			w.want = w.want[1:]
		}
		out.WriteString("</" + w.pre + "row>")
	}
	if out.Len() > 0 {
		w.e.replace(at, at, []byte(out.String()))
	}
}

func (w *writer) begin(r *row) {
	w.rowsBefore(r.n, r.open.from)
	w.row = r
	if len(w.want) == 0 || w.want[0].row != r.n {
		return
	}
	// The hint where a row begins and ends need not be true any more.
	var open []byte
	if _, _, ok := value(r.open.attrs, "spans"); ok {
		open = with(w.e.src, &r.open, "spans", nil)
	}
	if r.closed {
		if open == nil {
			open = bytes.Clone(w.e.src[r.open.from:r.open.to])
		}
		open = append(bytes.TrimRight(open[:len(open)-2], " "), '>')
	}
	if open != nil {
		w.e.replace(r.open.from, r.open.to, open)
	}
}

func (w *writer) cell(c *cell) {
	var before strings.Builder
	for len(w.want) > 0 && w.want[0].row == c.row && w.want[0].col < c.col {
		before.WriteString(w.one(w.want[0], nil))
		w.want = w.want[1:]
	}
	if before.Len() > 0 {
		w.e.replace(c.from, c.from, []byte(before.String()))
	}
	if len(w.want) > 0 && w.want[0] == c.pos {
		w.e.replace(c.from, c.to, []byte(w.one(c.pos, c.style)))
		w.want = w.want[1:]
		w.b.counts.Modified++
		return
	}
	if c.hasF && c.v != nil {
		w.e.replace(c.vFrom, c.vTo, nil)
	}
}

func (w *writer) end(r *row) {
	var rest strings.Builder
	for len(w.want) > 0 && w.want[0].row == r.n {
		rest.WriteString(w.one(w.want[0], nil))
		w.want = w.want[1:]
	}
	if rest.Len() == 0 {
		return
	}
	if r.closed {
		w.e.replace(r.to, r.to, []byte(rest.String()+"</"+w.pre+"row>"))
	} else {
		w.e.replace(r.endAt, r.endAt, []byte(rest.String()))
	}
}

// dimension widens the hint of what a sheet uses.
func dimension(src []byte, cells []pos) []byte {
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok || string(t.name) == "sheetData" {
			return src
		}
		if string(t.name) != "dimension" {
			continue
		}
		bx, ok := parseBox(t.get("ref"))
		if !ok {
			return src
		}
		for _, p := range cells {
			bx.a.row, bx.a.col = min(bx.a.row, p.row), min(bx.a.col, p.col)
			bx.b.row, bx.b.col = max(bx.b.row, p.row), max(bx.b.col, p.col)
		}
		ref := bx.String()
		if ref == t.get("ref") {
			return src
		}
		return bytes.Join([][]byte{src[:t.from], with(src, &t, "ref", &ref), src[t.to:]}, nil)
	}
}

// write puts cells into a sheet of the book, and sees to what depends on them.
func (b *book) write(i int, cells map[pos]val) error {
	part := b.sheets[i].part
	src, err := b.part(part)
	if err != nil {
		return err
	}
	if src, err = unshare(src); err != nil {
		return err
	}
	before := b.counts.Modified
	out, err := b.put(src, cells)
	if err != nil {
		return err
	}
	if n := len(cells) - (b.counts.Modified - before); n > 0 {
		b.counts.Added += n
	}
	b.set(part, out)
	b.merged(i, out, cells)
	if err := b.tableHeads(i, cells); err != nil {
		return err
	}
	return b.stale(i)
}

// merged warns of cells that do not show, because they lie under a merged one.
func (b *book) merged(i int, src []byte, cells map[pos]val) {
	at := bytes.LastIndex(src, []byte("sheetData"))
	s := scanner{b: src, i: max(0, at)}
	for {
		t, ok := s.next()
		if !ok {
			return
		}
		if string(t.name) != "mergeCell" {
			continue
		}
		bx, ok := parseBox(t.get("ref"))
		if !ok {
			continue
		}
		for p := range cells {
			if p != bx.a && bx.has(p) {
				b.warn("%s!%v lies under the merged cell %v and does not show.", b.sheets[i].name, p, bx)
			}
		}
	}
}

func updateCells(b *book) error {
	i, err := b.find(b.r.Args["sheet"])
	if err != nil {
		return err
	}
	cells, err := parseUpdates(b.r.Args["updates"].(json.RawMessage))
	if err != nil {
		return err
	}
	return b.write(i, cells)
}

// placeArg returns where to insert: 0 is at the end.
func placeArg(b *book) (int, error) {
	before, isBefore := b.r.Args["before"].(float64)
	after, isAfter := b.r.Args["after"].(float64)
	switch {
	case isBefore && isAfter:
		return 0, media.Failf("give before or after, not both.")
	case isBefore:
		return int(before), nil
	case isAfter:
		return int(after) + 1, nil
	}
	return 0, nil
}

func addRows(b *book) error {
	i, err := b.find(b.r.Args["sheet"])
	if err != nil {
		return err
	}
	var rows [][]json.RawMessage
	if err := json.Unmarshal(b.r.Args["rows"].(json.RawMessage), &rows); err != nil {
		return media.Failf(`rows is no list of lists such as [["North",12],["South",7]]: %v.`, err)
	}
	if len(rows) == 0 {
		return media.Failf("rows is empty.")
	}
	at, err := placeArg(b)
	if err != nil {
		return err
	}
	src, err := b.part(b.sheets[i].part)
	if err != nil {
		return err
	}
	last, _, err := used(src)
	if err != nil {
		return err
	}
	if at == 0 || at > last.row {
		if at == 0 {
			at = last.row + 1
		}
	} else if err := b.move(i, inserting(false, at, len(rows))); err != nil {
		return err
	}
	if at+len(rows)-1 > maxRow {
		return media.Failf("a sheet has at most %d rows.", maxRow)
	}
	styles, err := b.rowStyles(i, at-1)
	if err != nil {
		return err
	}
	cells := map[pos]val{}
	for k, row := range rows {
		if len(row) > maxCol {
			return media.Failf("row %d has %d cells; a sheet has at most %d columns.", k+1, len(row), maxCol)
		}
		for c, v := range row {
			cells[pos{at + k, c + 1}] = val{raw: v}
		}
	}
	added := b.counts
	if err := b.writeStyled(i, cells, styles); err != nil {
		return err
	}
	b.counts = added
	b.counts.Added += len(rows)
	return nil
}

// rowStyles returns the styles of the cells of a row, by column: new rows look like the one before them. The first row is
// none to look like, it is mostly a header.
func (b *book) rowStyles(i, n int) (map[int]string, error) {
	out := map[int]string{}
	if n < 2 {
		return out, nil
	}
	src, err := b.part(b.sheets[i].part)
	if err != nil {
		return nil, err
	}
	g, err := findGrid(src)
	if err != nil {
		return nil, err
	}
	g.walk(func(r *row) bool { return r.n <= n }, func(r *row, c *cell) bool {
		if r.n == n && len(c.style) > 0 {
			out[c.col] = string(c.style)
		}
		return true
	}, nil)
	return out, nil
}

// writeStyled is write with a style for each column of new cells: the cells are there first, empty and styled.
func (b *book) writeStyled(i int, cells map[pos]val, styles map[int]string) error {
	if len(styles) == 0 {
		return b.write(i, cells)
	}
	part := b.sheets[i].part
	src, err := b.part(part)
	if err != nil {
		return err
	}
	src, err = stamp(src, cells, styles)
	if err != nil {
		return err
	}
	b.set(part, src)
	return b.write(i, cells)
}

// stamp puts empty styled cells where new ones will be.
func stamp(src []byte, cells map[pos]val, styles map[int]string) ([]byte, error) {
	g, err := findGrid(src)
	if err != nil {
		return nil, err
	}
	have := map[pos]bool{}
	g.walk(nil, func(_ *row, c *cell) bool {
		if _, ok := cells[c.pos]; ok {
			have[c.pos] = true
		}
		return true
	}, nil)
	byRow := map[int][]int{}
	for p := range cells {
		if !have[p] && styles[p.col] != "" {
			byRow[p.row] = append(byRow[p.row], p.col)
		}
	}
	if len(byRow) == 0 || len(have) > 0 {
		return src, nil
	}
	rows := make([]int, 0, len(byRow))
	for r := range byRow {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	// New rows are wholly new, so they can be written whole where no row of their number stands.
	taken := map[int]bool{}
	next := map[int]int{} // where to write a row: before the first row with a higher number
	g.walk(func(r *row) bool {
		taken[r.n] = true
		for _, n := range rows {
			if _, ok := next[n]; !ok && r.n > n {
				next[n] = r.open.from
			}
		}
		return true
	}, nil, nil)
	if g.data.closed {
		return src, nil
	}
	pre := prefix(src[g.data.from:])
	e := &edits{src: src}
	for _, n := range rows {
		if taken[n] {
			continue
		}
		at, ok := next[n]
		if !ok {
			at = g.endAt
		}
		slices.Sort(byRow[n])
		var s strings.Builder
		fmt.Fprintf(&s, `<%srow r="%d">`, pre, n)
		for _, c := range byRow[n] {
			fmt.Fprintf(&s, `<%sc r="%v" s="%s"/>`, pre, pos{n, c}, styles[c])
		}
		s.WriteString("</" + pre + "row>")
		e.replace(at, at, []byte(s.String()))
	}
	return e.done(), nil
}
