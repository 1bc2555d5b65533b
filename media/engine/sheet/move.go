package sheet

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

func itoa(n int) string { return strconv.Itoa(n) }

// move moves rows or columns of a sheet, and all that refers to them: formulas everywhere, names, charts, pivot sources,
// merged cells, conditions, validations, links, filters, tables, comments, drawings.
func (b *book) move(i int, m *remap) error {
	torn := 0
	m.torn = &torn
	sh := b.sheets[i]
	w := &rewrite{sheet: sh.name, remap: m}
	src, err := b.part(sh.part)
	if err != nil {
		return err
	}
	if src, err = unshare(src); err != nil {
		return err
	}
	if last, _, err := used(src); err != nil {
		return err
	} else if end := map[bool]int{false: last.row, true: last.col}[m.cols]; m.n > 0 && end >= m.at && end+m.n > m.limitOf() {
		return media.Failf("the sheet %q is full: what stands at its end would be pushed off.", sh.name)
	}
	g, err := findGrid(src)
	if err != nil {
		return err
	}
	head, tail := src[:g.data.from], src[g.endAt:]
	if g.data.closed {
		tail = src[g.data.to:]
	}
	out := bytes.Join([][]byte{b.surroundings(head, w, sh.name), b.gridMoved(g, w, sh.name), b.surroundings(tail, w, sh.name)}, nil)
	if bytes.Count(out, []byte("<"+prefix(src[g.data.from:])+"mergeCell ")) < bytes.Count(src, []byte("<"+prefix(src[g.data.from:])+"mergeCell ")) {
		b.warn("Merged cells that lay in what was deleted are no longer merged.")
	}
	b.set(sh.part, out)
	for _, rel := range b.rels(sh.part) {
		if rel.external || !b.has(rel.target) || !strings.HasSuffix(rel.target, ".xml") && !strings.HasSuffix(rel.target, ".vml") {
			continue
		}
		p, err := b.part(rel.target)
		if err != nil {
			return err
		}
		switch kind := rel.kind[strings.LastIndexByte(rel.kind, '/')+1:]; kind {
		case "drawing":
			p = anchors(p, m)
		case "comments", "threadedComment":
			p = attribute(p, []string{"comment", "threadedComment"}, "ref", func(was string) (string, bool) { return m.plain(was) })
		case "vmlDrawing":
			p = notes(p, m)
		case "table":
			if p, err = b.table(p, m, w, sh.name); err != nil {
				return err
			}
		case "pivotTable":
			p = attribute(p, []string{"location"}, "ref", func(was string) (string, bool) {
				now, ok := m.plain(was)
				if !ok {
					return was, true
				}
				return now, true
			})
		}
		b.set(rel.target, p)
	}
	if err := b.everywhere(w, i); err != nil {
		return err
	}
	if torn > 0 {
		b.warn("%d ranges no longer lie together and now span what is between.", torn)
	}
	return b.stale(i)
}

// gridMoved returns the cells of a sheet at their new places.
func (b *book) gridMoved(g *grid, w *rewrite, home string) []byte {
	m := w.remap
	if g.data.closed {
		return g.src[g.data.from:g.data.to]
	}
	var out bytes.Buffer
	out.Write(g.src[g.data.from:g.data.to])
	type moved struct {
		col int
		xml []byte
	}
	var cells []moved
	keep := true
	var open []byte
	g.walk(func(r *row) bool {
		cells = cells[:0]
		n := r.n
		if !m.cols {
			n = m.to(r.n)
		}
		keep = n > 0
		num := itoa(n)
		open = g.src[r.open.from:r.open.to]
		if raw, _, ok := value(r.open.attrs, "r"); !ok || string(raw) != num {
			open = with(g.src, &r.open, "r", &num)
		}
		if m.cols {
			s := scanner{b: open}
			if t, ok := s.next(); ok && t.get("spans") != "" {
				open = with(open, &t, "spans", nil)
			}
		}
		if keep && r.closed {
			out.Write(open)
		}
		return true
	}, func(_ *row, c *cell) bool {
		if !keep {
			return true
		}
		p := c.pos
		if m.cols {
			p.col = m.to(p.col)
		} else {
			p.row = m.to(p.row)
		}
		if p.col > 0 && p.col <= maxCol && p.row <= maxRow {
			cells = append(cells, moved{p.col, w.cell(g.src, c, p, home)})
		}
		return true
	}, func(r *row) bool {
		if !keep || r.closed {
			return true
		}
		if m.moved {
			slices.SortStableFunc(cells, func(a, b moved) int { return a.col - b.col })
		}
		out.Write(open)
		for _, c := range cells {
			out.Write(c.xml)
		}
		out.Write(g.src[r.endAt:r.to])
		return true
	})
	return out.Bytes()
}

// cell writes a cell at a new place, its formula rewritten and its computed value taken away.
func (w *rewrite) cell(src []byte, c *cell, at pos, home string) []byte {
	if at == c.pos && !c.hasF {
		return src[c.from:c.to]
	}
	s := scanner{b: src[:c.to], i: c.from}
	t, _ := s.next()
	addr := at.String()
	out := bytes.Clone(with(src, &t, "r", &addr))
	if !c.hasF {
		return append(out, src[t.to:c.to]...)
	}
	out = append(out, src[t.to:c.fTag.from]...)
	ft := src[c.fTag.from:c.fTag.to]
	for _, name := range []string{"ref", "r1", "r2"} {
		u := scanner{b: ft}
		x, _ := u.next()
		if was := x.get(name); was != "" {
			if now, ok := w.remap.plain(was); ok {
				ft = with(ft, &x, name, &now)
			}
		}
	}
	out = append(out, ft...)
	out = append(out, escapeText(w.formula(unescape(c.f), home))...)
	if !c.fTag.closed {
		out = append(out, src[c.fTag.to+len(c.f):c.fTo]...)
	}
	rest := c.fTo
	if c.v != nil && c.vFrom >= c.fTo {
		out = append(out, src[c.fTo:c.vFrom]...)
		rest = c.vTo
	}
	return append(out, src[rest:c.to]...)
}

// surroundings moves what stands around the cells of a sheet.
func (b *book) surroundings(src []byte, w *rewrite, home string) []byte {
	m := w.remap
	keepOld := func(was string) (string, bool) {
		if now := m.sqref(was); now != "" {
			return now, true
		}
		return was, true
	}
	drop := func(was string) (string, bool) { now := m.sqref(was); return now, now != "" }
	src = attribute(src, []string{"dimension"}, "ref", keepOld)
	src = attribute(src, []string{"selection"}, "activeCell", keepOld)
	src = attribute(src, []string{"selection"}, "sqref", keepOld)
	src = attribute(src, []string{"pane", "sheetView"}, "topLeftCell", keepOld)
	src = attribute(src, []string{"mergeCell"}, "ref", func(was string) (string, bool) {
		now, ok := m.plain(was)
		return now, ok && strings.Contains(now, ":")
	})
	src = attribute(src, []string{"conditionalFormatting", "dataValidation", "protectedRange", "ignoredError"}, "sqref", drop)
	src = attribute(src, []string{"hyperlink", "autoFilter", "sortState", "sortCondition"}, "ref", drop)
	if m.cols {
		src = columnWidths(src, m)
	}
	axis := map[bool]string{false: "rowBreaks", true: "colBreaks"}[m.cols]
	if at := bytes.Index(src, []byte(axis)); at >= 0 {
		src = breaks(src, axis, m)
	}
	src = content(src, []string{"formula", "formula1", "formula2", "f"}, func(_ *tag, f string) string { return w.formula(f, home) })
	src = content(src, []string{"sqref"}, func(_ *tag, s string) string {
		if now := m.sqref(s); now != "" {
			return now
		}
		return s
	})
	return tidy(src)
}

func breaks(src []byte, axis string, m *remap) []byte {
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return src
		}
		if string(t.name) != axis || t.end || t.closed {
			continue
		}
		end := elementEnd(src, &t)
		in := attribute(src[t.from:end], []string{"brk"}, "id", func(was string) (string, bool) {
			n, err := strconv.Atoi(was)
			if err != nil {
				return was, true
			}
			to := m.to(n)
			return itoa(to), to > 0
		})
		return bytes.Join([][]byte{src[:t.from], in, src[end:]}, nil)
	}
}

// columnWidths moves the widths and styles of columns.
func columnWidths(src []byte, m *remap) []byte {
	e := &edits{src: src}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return e.done()
		}
		if string(t.name) != "col" || t.end {
			continue
		}
		lo, err1 := strconv.Atoi(t.get("min"))
		hi, err2 := strconv.Atoi(t.get("max"))
		if err1 != nil || err2 != nil {
			continue
		}
		// A run can be torn by what is put in or moved, so it is written as the runs that it becomes.
		var runs []box
		for i := lo; i <= hi && i <= maxCol; i++ {
			n := m.to(i)
			if n == 0 || n > maxCol {
				continue
			}
			if k := len(runs) - 1; k >= 0 && runs[k].b.col+1 == n {
				runs[k].b.col = n
			} else {
				runs = append(runs, box{pos{0, n}, pos{0, n}})
			}
		}
		var out []byte
		for _, r := range runs {
			a, z := itoa(r.a.col), itoa(r.b.col)
			one := with(src, &t, "min", &a)
			u := scanner{b: one}
			x, _ := u.next()
			out = append(out, with(one, &x, "max", &z)...)
		}
		end := elementEnd(src, &t)
		e.replace(t.from, end, out)
	}
}

// anchor maps a place counted from 0, forward to the next one that is left.
func (m *remap) anchor(n int) int {
	for i := n + 1; i <= m.limitOf(); i++ {
		if t := m.to(i); t > 0 {
			return min(t, m.limitOf()) - 1
		}
	}
	return n
}

func anchors(src []byte, m *remap) []byte {
	name := map[bool]string{false: "row", true: "col"}[m.cols]
	return content(src, []string{name}, func(_ *tag, s string) string {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return s
		}
		return itoa(m.anchor(n))
	})
}

// notes moves the boxes of comments, and removes those whose cell is gone.
func notes(src []byte, m *remap) []byte {
	name, at := "Row", 2
	if m.cols {
		name, at = "Column", 0
	}
	src = removeWhere(src, "shape", func(t *tag) bool {
		in := src[t.to:elementEnd(src, t)]
		gone := false
		content(in, []string{name}, func(_ *tag, s string) string {
			if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && m.to(n+1) == 0 {
				gone = true
			}
			return s
		})
		return gone
	})
	src = content(src, []string{name}, func(_ *tag, s string) string {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			return itoa(m.to(n+1) - 1)
		}
		return s
	})
	return content(src, []string{"Anchor"}, func(_ *tag, s string) string {
		f := strings.Split(s, ",")
		if len(f) != 8 {
			return s
		}
		for _, k := range []int{at, at + 4} {
			if n, err := strconv.Atoi(strings.TrimSpace(f[k])); err == nil {
				f[k] = " " + itoa(m.anchor(n))
			}
		}
		return strings.TrimSpace(strings.Join(f, ","))
	})
}
