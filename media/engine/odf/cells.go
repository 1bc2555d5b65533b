package odf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
	"github.com/tackle-dev/tackle/media/internal/workbook"
)

// setting is what one cell shall hold; nothing at all where empty is set.
type setting struct {
	cell  workbook.Cell
	empty bool
}

func (s *sheets) update() error {
	i, err := s.find(s.r.Args["sheet"])
	if err != nil {
		return err
	}
	want, err := parseUpdates(s.r.Args["updates"].(json.RawMessage))
	if err != nil {
		return err
	}
	cuts, err := s.place(s.tables[i], want)
	if err != nil {
		return err
	}
	src := tree.Apply(s.src, append(cuts, s.dateStyles(want)...))
	s.set("content.xml", s.stale(src))
	s.counts.Modified = 0
	for _, row := range want {
		s.counts.Modified += len(row)
	}
	return nil
}

// parseUpdates reads updates= into rows of columns.
func parseUpdates(raw json.RawMessage) (map[int]map[int]setting, error) {
	var list []struct {
		Address string          `json:"address"`
		Row     int             `json:"row"`
		Col     json.RawMessage `json:"col"`
		Value   json.RawMessage `json:"value"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil || len(list) == 0 {
		return nil, media.Failf(`updates is no list such as [{"address":"B2","value":3},{"row":3,"col":"C","value":"=B3*2"}].`)
	}
	out := map[int]map[int]setting{}
	for i, u := range list {
		row, col, ok := parseCell(u.Address)
		if u.Address == "" {
			var letters string
			row = u.Row
			if json.Unmarshal(u.Col, &col) != nil && json.Unmarshal(u.Col, &letters) == nil {
				_, col, _ = parseCell(letters + "1")
			}
			ok = row >= 1 && row <= workbook.MaxRow && col >= 1 && col <= workbook.MaxCol
		}
		if !ok || u.Value == nil {
			return nil, media.Failf(`element %d of updates needs a cell and a value: {"address":"B2","value":3}, or "row":2 and "col":"B"; null empties a cell.`, i+1)
		}
		v, err := parseValue(u.Value, workbook.Name(row, col))
		if err != nil {
			return nil, err
		}
		if out[row] == nil {
			out[row] = map[int]setting{}
		}
		if _, twice := out[row][col]; twice {
			return nil, media.Failf("updates sets the cell %s twice.", workbook.Name(row, col))
		}
		out[row][col] = v
	}
	return out, nil
}

var outgoing = []string{"WEBSERVICE(", "HYPERLINK(", "DDE(", "EXTERNALREF(", "IMPORTXML("}

func parseValue(raw json.RawMessage, at string) (setting, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return setting{}, media.Failf("%s: %v.", at, err)
	}
	switch v := v.(type) {
	case nil:
		return setting{empty: true}, nil
	case bool:
		c := workbook.Cell{Kind: workbook.Bool, Value: "0"}
		if v {
			c.Value = "1"
		}
		return setting{cell: c}, nil
	case json.Number:
		return setting{cell: workbook.Cell{Kind: workbook.Number, Value: v.String()}}, nil
	case string:
		if len(v) > 1 && v[0] == '=' {
			for _, f := range outgoing {
				if strings.Contains(strings.ToUpper(strings.ReplaceAll(v, " ", "")), f) {
					return setting{}, media.Failf("%s: the function %s reaches out of the file; it is not written.", at, strings.TrimSuffix(f, "("))
				}
			}
			return setting{cell: workbook.Cell{Kind: workbook.Number, Formula: v[1:]}}, nil
		}
		for layout, kind := range map[string]workbook.Kind{"2006-01-02": workbook.Date, "2006-01-02T15:04:05": workbook.DateTime} {
			if t, err := time.Parse(layout, v); err == nil {
				return setting{cell: workbook.Cell{Kind: kind, Value: workbook.Serial(t)}}, nil
			}
		}
		return setting{cell: workbook.Cell{Value: v}}, nil
	}
	return setting{}, media.Failf("%s: a cell holds a text, a number, true, false or null, not %.40s.", at, raw)
}

// place writes cells where they belong. Rows and cells that stand for several are taken apart.
func (s *sheets) place(t *tree.Node, want map[int]map[int]setting) ([]tree.Splice, error) {
	var cuts []tree.Splice
	left := sortedKeys(want) // rows that no element stands for yet
	at := 1
	var last *tree.Node
	for _, row := range t.All("table:table-row") {
		if owner(row) != t {
			continue
		}
		last = row
		n := times(row, "table:number-rows-repeated")
		hit := left[:0]
		for len(left) > len(hit) && left[len(hit)] < at+n {
			hit = left[:len(hit)+1]
		}
		left = left[len(hit):]
		if len(hit) > 0 {
			var b strings.Builder
			next := at
			for _, k := range hit {
				b.WriteString(repeated(s.src, row, "table:number-rows-repeated", k-next))
				one, err := s.line(row, want[k], k)
				if err != nil {
					return nil, err
				}
				b.WriteString(one)
				next = k + 1
			}
			b.WriteString(repeated(s.src, row, "table:number-rows-repeated", at+n-next))
			cuts = append(cuts, tree.Splice{From: row.From, To: row.To, With: b.String()})
		}
		at += n
	}
	if len(left) == 0 {
		return cuts, nil
	}
	p := prefixOf(t, "table")
	var b strings.Builder
	for _, k := range left {
		if k > at {
			fmt.Fprintf(&b, `<%[1]stable-row %[1]snumber-rows-repeated="%[2]d"><%[1]stable-cell/></%[1]stable-row>`, p, k-at)
		}
		b.WriteString("<" + p + "table-row>")
		col := 1
		for _, c := range sortedKeys(want[k]) {
			if c > col {
				fmt.Fprintf(&b, `<%[1]stable-cell %[1]snumber-columns-repeated="%[2]d"/>`, p, c-col)
			}
			b.WriteString(s.fresh(t, "", nil, want[k][c]))
			col = c + 1
		}
		b.WriteString("</" + p + "table-row>")
		at = k + 1
	}
	if last == nil {
		return append(cuts, tree.Splice{From: t.Out, To: t.Out, With: b.String()}), nil
	}
	end := last
	for end.Parent != t {
		end = end.Parent
	}
	return append(cuts, tree.Splice{From: end.To, To: end.To, With: b.String()}), nil
}

// owner returns the table to which a row belongs.
func owner(n *tree.Node) *tree.Node {
	for n = n.Parent; n != nil && n.Name != "table:table"; n = n.Parent {
	}
	return n
}

func sortedKeys[V any](m map[int]V) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// repeated writes an element with another count; nothing where it is 0.
func repeated(src []byte, n *tree.Node, attr string, count int) string {
	if count <= 0 {
		return ""
	}
	var cuts []tree.Splice
	if a := n.Find(attr); a != nil {
		cuts = append(cuts, tree.Splice{From: a.VFrom - n.From, To: a.VTo - n.From, With: strconv.Itoa(count)})
	}
	return string(tree.Apply(src[n.From:n.To], cuts))
}

// line writes a row with some cells changed.
func (s *sheets) line(row *tree.Node, want map[int]setting, number int) (string, error) {
	var cuts []tree.Splice
	if a := row.Find("table:number-rows-repeated"); a != nil {
		cuts = append(cuts, tree.Splice{From: a.From - row.From, To: a.To - row.From})
	}
	cols := sortedKeys(want)
	at := 1
	done := 0
	for _, c := range row.Kids {
		if c.Name != "table:table-cell" && c.Name != "table:covered-table-cell" {
			continue
		}
		n := times(c, "table:number-columns-repeated")
		var b strings.Builder
		next, any := at, false
		for done < len(cols) && cols[done] < at+n {
			k := cols[done]
			if c.Name == "table:covered-table-cell" {
				return "", media.Failf("%s is covered by a merged cell; name the first cell of it.", workbook.Name(number, k))
			}
			b.WriteString(repeated(s.src, c, "table:number-columns-repeated", k-next))
			b.WriteString(s.fresh(c, c.Get("table:style-name"), c, want[k]))
			next, any = k+1, true
			done++
		}
		if any {
			b.WriteString(repeated(s.src, c, "table:number-columns-repeated", at+n-next))
			cuts = append(cuts, tree.Splice{From: c.From - row.From, To: c.To - row.From, With: b.String()})
		}
		at += n
	}
	if done < len(cols) {
		p := prefixOf(row, "table")
		var b strings.Builder
		for _, k := range cols[done:] {
			if k > at {
				fmt.Fprintf(&b, `<%[1]stable-cell %[1]snumber-columns-repeated="%[2]d"/>`, p, k-at)
			}
			b.WriteString(s.fresh(row, "", nil, want[k]))
			at = k + 1
		}
		if row.Closed() {
			cuts = append(cuts, tree.Splice{From: row.To - 2 - row.From, To: row.To - row.From, With: ">" + b.String() + "</" + row.Raw + ">"})
		} else {
			cuts = append(cuts, tree.Splice{From: row.Out - row.From, To: row.Out - row.From, With: b.String()})
		}
	}
	return string(tree.Apply(s.src[row.From:row.To], cuts)), nil
}

// fresh writes a cell in the place of old, whose style, span, comment and drawings stay.
func (s *sheets) fresh(in *tree.Node, style string, old *tree.Node, v setting) string {
	t, o, x := prefixOf(in, "table"), officePrefix(in), textPrefix(in)
	var b strings.Builder
	b.WriteString("<" + t + "table-cell")
	if v.cell.Kind == workbook.Date || v.cell.Kind == workbook.DateTime {
		if old == nil || old.Get("office:value-type") != "date" {
			style = map[workbook.Kind]string{workbook.Date: "tackleDate", workbook.DateTime: "tackleTime"}[v.cell.Kind]
		}
	}
	if style != "" {
		b.WriteString(" " + t + `style-name="` + tree.Escape(style) + `"`)
	}
	var kept strings.Builder
	if old != nil {
		for _, a := range old.Attr {
			if _, local, _ := strings.Cut(a.Name, ":"); strings.Contains(local, "spanned") && !strings.Contains(local, "matrix") || local == "content-validation-name" {
				b.WriteString(" " + string(s.src[a.From:a.To]))
			}
		}
		for _, k := range old.Kids {
			if k.Name != "text:p" && k.Name != "text:h" && k.Name != "" {
				kept.Write(s.src[k.From:k.To])
			}
		}
	}
	if v.empty {
		b.WriteString(">" + kept.String() + "</" + t + "table-cell>")
		return b.String()
	}
	attrs, shown := valueAttrs(v.cell)
	for _, a := range []string{"ceDate", "ceTime"} {
		attrs = strings.Replace(attrs, ` table:style-name="`+a+`"`, "", 1)
	}
	attrs = strings.NewReplacer(" table:", " "+t, " office:", " "+o).Replace(attrs)
	b.WriteString(attrs + ">" + kept.String())
	if v.cell.Formula == "" {
		for _, l := range strings.Split(shown, "\n") {
			b.WriteString("<" + x + "p>" + paragraph(l, x) + "</" + x + "p>")
		}
	}
	b.WriteString("</" + t + "table-cell>")
	return b.String()
}

// dateStyles adds the styles of dates where some are written.
func (s *sheets) dateStyles(want map[int]map[int]setting) []tree.Splice {
	dates := false
	for _, row := range want {
		for _, v := range row {
			dates = dates || v.cell.Kind == workbook.Date || v.cell.Kind == workbook.DateTime
		}
	}
	styles := first(s.root, "office:automatic-styles")
	if !dates || styles == nil || bytes.Contains(s.src, []byte("tackleDate")) {
		return nil
	}
	const add = ` xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"`
	day := `<number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/>`
	out := `<number:date-style` + add + ` style:name="tackleN1">` + day + `</number:date-style>` +
		`<number:date-style` + add + ` style:name="tackleN2">` + day + `<number:text> </number:text><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/></number:date-style>` +
		`<style:style` + add + ` style:name="tackleDate" style:family="table-cell" style:data-style-name="tackleN1"/>` +
		`<style:style` + add + ` style:name="tackleTime" style:family="table-cell" style:data-style-name="tackleN2"/>`
	if styles.Closed() {
		return []tree.Splice{{From: styles.To - 2, To: styles.To, With: ">" + out + "</" + styles.Raw + ">"}}
	}
	return []tree.Splice{{From: styles.Out, To: styles.Out, With: out}}
}
