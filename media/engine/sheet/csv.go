package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// csvBook is a table that is changed by the verbs of workbooks.
type csvBook struct {
	r        *media.Request
	t        data.Table
	sep      rune
	counts   media.Counts
	warnings []string
}

func editCSV(_ context.Context, r *media.Request) (media.Result, error) {
	t, sep, err := data.ReadCSV(&r.In, r.Limits)
	if err != nil {
		return media.Result{}, err
	}
	if n, ok := r.Args["sheet"].(media.NameOrIndex); ok && n.Index != 1 && n.Name != media.Base(r.In.Name) && n.Name != "Sheet1" {
		return media.Result{}, media.Failf("%s is a table of one sheet; leave sheet= out.", r.In.Name)
	}
	c := &csvBook{r: r, t: t, sep: sep}
	switch r.Op {
	case "sheet.add_rows":
		err = c.addRows()
	case "sheet.add_columns":
		err = c.addColumns()
	case "sheet.update_cells":
		err = c.update()
	case "sheet.delete_rows":
		err = c.delete("rows")
	case "sheet.delete_columns":
		err = c.delete("columns")
	default:
		err = c.transform()
	}
	if err != nil {
		return media.Result{}, err
	}
	out := data.WriteCSV(c.t, c.sep)
	if bytes.Contains(r.In.Data, []byte("\r\n")) {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	if bytes.HasPrefix(r.In.Data, []byte("\xef\xbb\xbf")) {
		out = append([]byte("\xef\xbb\xbf"), out...)
	}
	if out == nil {
		out = []byte{}
	}
	return media.Result{Media: &media.Payload{Data: out}, Counts: c.counts, Warnings: c.warnings}, nil
}

// plain returns a JSON value as a cell of CSV.
func plainCell(raw json.RawMessage) (string, error) {
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		return s, json.Unmarshal(raw, &s)
	case raw[0] == '{' || raw[0] == '[':
		return "", media.Failf("a cell holds a text, a number, true, false or null, not %.40s.", raw)
	}
	return string(raw), nil
}

func (c *csvBook) width() int {
	n := 0
	for _, r := range c.t {
		n = max(n, len(r))
	}
	return n
}

func (c *csvBook) set(p pos, s string) error {
	if p.row > len(c.t)+100_000 || p.col > maxCol {
		return media.Failf("%v lies far outside of the table, which has %d rows.", p, len(c.t))
	}
	for len(c.t) < p.row {
		c.t = append(c.t, make([]string, max(1, c.width())))
	}
	for len(c.t[p.row-1]) < p.col {
		c.t[p.row-1] = append(c.t[p.row-1], "")
	}
	c.t[p.row-1][p.col-1] = s
	return nil
}

func (c *csvBook) place() (int, error) {
	return placeArg(&book{r: c.r})
}

func (c *csvBook) update() error {
	cells, err := parseUpdates(c.r.Args["updates"].(json.RawMessage))
	if err != nil {
		return err
	}
	for p, v := range cells {
		s, err := plainCell(v.raw)
		if err != nil {
			return err
		}
		if err := c.set(p, s); err != nil {
			return err
		}
		if strings.HasPrefix(s, "=") {
			c.warnings = []string{"CSV holds no formulas; the text that begins with = is one only for programs that take it so. Convert to xlsx for formulas."}
		}
	}
	c.counts.Modified = len(cells)
	return nil
}

func (c *csvBook) addRows() error {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(c.r.Args["rows"].(json.RawMessage), &rows); err != nil || len(rows) == 0 {
		return media.Failf(`rows is no list of lists such as [["North",12],["South",7]].`)
	}
	at, err := c.place()
	if err != nil {
		return err
	}
	if at == 0 || at > len(c.t)+1 {
		at = len(c.t) + 1
	}
	var fresh data.Table
	for _, r := range rows {
		var row []string
		for _, v := range r {
			s, err := plainCell(v)
			if err != nil {
				return err
			}
			row = append(row, s)
		}
		fresh = append(fresh, row)
	}
	c.t = slices.Insert(c.t, at-1, fresh...)
	c.counts.Added = len(fresh)
	return nil
}

func (c *csvBook) addColumns() error {
	var cols []struct {
		Header json.RawMessage   `json:"header"`
		Values []json.RawMessage `json:"values"`
	}
	if raw, ok := c.r.Args["columns"].(json.RawMessage); ok {
		if err := json.Unmarshal(raw, &cols); err != nil {
			return media.Failf(`columns is no list such as [{"header":"Total","values":[1,2]}]: %v.`, err)
		}
	}
	heads, _ := c.r.Args["headers"].([]string)
	at, err := c.place()
	if err != nil {
		return err
	}
	width := c.width()
	if at == 0 || at > width+1 {
		at = width + 1
	}
	n := len(cols) + len(heads)
	for i := range c.t {
		for len(c.t[i]) < at-1 {
			c.t[i] = append(c.t[i], "")
		}
		c.t[i] = slices.Insert(c.t[i], at-1, make([]string, n)...)
	}
	for k, col := range cols {
		for r, v := range append([]json.RawMessage{col.Header}, col.Values...) {
			s, err := plainCell(v)
			if err != nil {
				return err
			}
			if s == "" && r >= len(c.t) {
				continue
			}
			if err := c.set(pos{r + 1, at + k}, s); err != nil {
				return err
			}
		}
	}
	for k, h := range heads {
		if err := c.set(pos{1, at + len(cols) + k}, h); err != nil {
			return err
		}
	}
	c.counts.Added = n
	return nil
}

func (c *csvBook) delete(what string) error {
	gone := c.r.Args[what].(media.Ints).Slice()
	slices.Sort(gone)
	gone = slices.Compact(gone)
	have := len(c.t)
	if what == "columns" {
		have = c.width()
	}
	if k := gone[len(gone)-1]; k > have {
		return media.Failf("the table has %d %s, so there is no %d to delete.", have, what, k)
	}
	for i := len(gone) - 1; i >= 0; i-- {
		k := gone[i] - 1
		if what == "rows" {
			c.t = slices.Delete(c.t, k, k+1)
			continue
		}
		for r := range c.t {
			if k < len(c.t[r]) {
				c.t[r] = slices.Delete(c.t[r], k, k+1)
			}
		}
	}
	c.counts.Removed = len(gone)
	return nil
}

func (c *csvBook) transform() error {
	head := 1
	if n, ok := c.r.Args["header_row"].(float64); ok {
		head = int(n)
	}
	if head > len(c.t) {
		return media.Failf("the table has %d rows, so row %d is no header.", len(c.t), head)
	}
	heads := c.t[head-1]
	find := func(name string) (int, error) {
		if k := slices.Index(heads, name); k >= 0 {
			return k, nil
		}
		return 0, media.Failf("there is no column %q in row %d; there are %s.", name, head, strings.Join(heads, ", "))
	}
	if raw, ok := c.r.Args["rename"].(json.RawMessage); ok {
		var list []struct{ From, To string }
		if err := json.Unmarshal(raw, &list); err != nil {
			return media.Failf(`rename is no list such as [{"from":"Total","to":"Sum"}]: %v.`, err)
		}
		for _, r := range list {
			k, err := find(r.From)
			if err != nil {
				return err
			}
			heads[k] = r.To
			c.counts.Modified++
		}
	}
	var order []int
	for k := range c.width() {
		order = append(order, k)
	}
	drop, _ := c.r.Args["drop"].([]string)
	for _, name := range drop {
		k, err := find(name)
		if err != nil {
			return err
		}
		order = slices.DeleteFunc(order, func(i int) bool { return i == k })
	}
	if chosen, ok := c.r.Args["select"].([]string); ok {
		var picked []int
		for _, name := range chosen {
			k, err := find(name)
			if err != nil {
				return err
			}
			if !slices.Contains(order, k) {
				return media.Failf("the column %q is both dropped and selected.", name)
			}
			picked = append(picked, k)
		}
		order = picked
	}
	if len(order) == 0 {
		return media.Failf("no column would be left.")
	}
	c.counts.Removed = c.width() - len(order)
	for i, row := range c.t {
		fresh := make([]string, len(order))
		for n, k := range order {
			if k < len(row) {
				fresh[n] = row[k]
			}
		}
		c.t[i] = fresh
	}
	return nil
}

// csvMarkup writes a table as Markdown or HTML.
func csvMarkup(_ context.Context, r *media.Request) (media.Result, error) {
	t, _, err := data.ReadCSV(&r.In, r.Limits)
	if err != nil {
		return media.Result{}, err
	}
	width := 0
	for _, row := range t {
		width = max(width, len(row))
	}
	var w strings.Builder
	if r.To == "html" {
		fmt.Fprintf(&w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n<table>\n", html.EscapeString(media.Base(r.In.Name)))
	}
	for i, row := range t {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		if r.To == "html" {
			w.WriteString("<tr>")
		} else {
			w.WriteString("|")
		}
		for k := range width {
			s := ""
			if k < len(row) {
				s = row[k]
			}
			if r.To == "html" {
				fmt.Fprintf(&w, "<%s>%s</%s>", tag, html.EscapeString(s), tag)
			} else {
				w.WriteString(" " + strings.ReplaceAll(oneLine.Replace(s), "|", `\|`) + " |")
			}
		}
		if r.To == "html" {
			w.WriteString("</tr>")
		}
		w.WriteByte('\n')
		if i == 0 && r.To == "md" {
			w.WriteString("|" + strings.Repeat(" --- |", width) + "\n")
		}
	}
	if r.To == "html" {
		w.WriteString("</table>\n</body>\n</html>\n")
	}
	return media.Result{Media: &media.Payload{Data: []byte(w.String())}}, nil
}
