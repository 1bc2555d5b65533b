package sheet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// table moves a table of a sheet with its columns.
func (b *book) table(src []byte, m *remap, w *rewrite, home string) ([]byte, error) {
	s := scanner{b: src}
	t, ok := s.next()
	for ok && string(t.name) != "table" {
		t, ok = s.next()
	}
	bx, fine := parseBox(t.get("ref"))
	if !ok || !fine {
		return src, nil
	}
	now, left := m.box(bx)
	name := t.get("displayName")
	headless := t.get("headerRowCount") == "0"
	switch {
	case !left:
		return nil, media.Failf("all of the table %q would be deleted. Remove its sheet instead, or keep a column of it.", name)
	case !m.cols && !headless && m.to(bx.a.row) == 0:
		return nil, media.Failf("row %d is the header of the table %q and cannot be deleted.", bx.a.row, name)
	case !m.cols && now.a.row == now.b.row && !headless && bx.a.row != bx.b.row:
		return nil, media.Failf("the table %q would lose all its rows; keep one, and empty it with update_cells.", name)
	}
	src = attribute(src, []string{"table", "autoFilter", "sortState", "sortCondition"}, "ref", func(was string) (string, bool) {
		r, ok := m.plain(was)
		if !ok {
			return was, true
		}
		if !strings.Contains(r, ":") && strings.Contains(was, ":") {
			r += ":" + r
		}
		return r, true
	})
	src = content(src, []string{"calculatedColumnFormula", "totalsRowFormula"}, func(_ *tag, f string) string { return w.formula(f, home) })
	if !m.cols {
		return src, nil
	}
	return b.tableColumns(src, m, bx, now)
}

// tableColumns lists the columns of a table anew.
func (b *book) tableColumns(src []byte, m *remap, was, now box) ([]byte, error) {
	s := scanner{b: src}
	var list tag
	var cols [][]byte
	var names []string
	top := 0
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		switch {
		case string(t.name) == "tableColumns" && !t.end:
			list = t
		case string(t.name) == "tableColumn" && !t.end:
			end := elementEnd(src, &t)
			cols, names = append(cols, src[t.from:end]), append(names, t.get("name"))
			var id int
			if _, err := fmt.Sscan(t.get("id"), &id); err == nil {
				top = max(top, id)
			}
			s.i = end
		}
	}
	if list.to == 0 || len(cols) != was.b.col-was.a.col+1 {
		return src, nil
	}
	from := map[int]int{}
	for i := range cols {
		if to := m.to(was.a.col + i); to > 0 {
			from[to] = i
		}
	}
	pre := prefix(src[list.from:])
	var out bytes.Buffer
	n := 0
	for c := now.a.col; c <= now.b.col; c++ {
		n++
		if i, ok := from[c]; ok {
			out.Write(cols[i])
			continue
		}
		top++
		fresh := fmt.Sprintf("Column%d", top)
		for slices.ContainsFunc(names, func(s string) bool { return same(s, fresh) }) {
			fresh += "_"
		}
		names = append(names, fresh)
		fmt.Fprintf(&out, `<%stableColumn id="%d" name="%s"/>`, pre, top, escape(fresh))
	}
	end := elementEnd(src, &list)
	count := itoa(n)
	open := with(src, &list, "count", &count)
	return bytes.Join([][]byte{src[:list.from], open, out.Bytes(), []byte("</" + pre + "tableColumns>"), src[end:]}, nil), nil
}

// tableHeads keeps the names of table columns what their header cells say, as spreadsheet programs demand.
func (b *book) tableHeads(i int, cells map[pos]val) error {
	for _, rel := range b.rels(b.sheets[i].part) {
		if !strings.HasSuffix(rel.kind, "/table") || !b.has(rel.target) {
			continue
		}
		src, err := b.part(rel.target)
		if err != nil {
			return err
		}
		s := scanner{b: src}
		t, ok := s.next()
		for ok && string(t.name) != "table" {
			t, ok = s.next()
		}
		bx, fine := parseBox(t.get("ref"))
		if !ok || !fine || t.get("headerRowCount") == "0" {
			continue
		}
		col := bx.a.col
		e := &edits{src: src}
		for {
			c, ok := s.next()
			if !ok {
				break
			}
			if string(c.name) != "tableColumn" || c.end {
				continue
			}
			if v, set := cells[pos{bx.a.row, col}]; set {
				var text string
				if json.Unmarshal(v.raw, &text) != nil || text == "" || text[0] == '=' {
					return media.Failf("%v is the header of a column of the table %q and must be a text.", pos{bx.a.row, col}, t.get("displayName"))
				}
				e.replace(c.from, c.to, with(src, &c, "name", &text))
			}
			col++
		}
		b.set(rel.target, e.done())
	}
	return nil
}
