package sheet

import (
	"bytes"
	"strconv"

	"github.com/tackle-dev/tackle/media"
)

// cell is a cell of a sheet part, with its places in it.
type cell struct {
	pos
	from, to int    // of the whole element
	style    []byte // raw s
	kind     []byte // raw t
	f        []byte // raw text of the formula; nil if there is none
	fTag     tag    // of the formula
	fTo      int    // behind its end
	hasF     bool
	v        []byte // raw text of the value; nil if there is none
	vFrom    int    // of the <v> element
	vTo      int
	text     string // of an inline string
}

// row is a row of a sheet part.
type row struct {
	n      int
	open   tag // its tag
	closed bool
	endAt  int // where </row> begins; for a closed one, its end
	to     int // behind it
}

// grid walks the cells of a sheet part in the order in which they stand.
type grid struct {
	src []byte
	// where sheetData is: its tag, and where </sheetData> begins. data.closed: it is empty.
	data  tag
	endAt int
}

// findGrid finds the sheetData of a part.
func findGrid(src []byte) (*grid, error) {
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return nil, media.Failf("a sheet has no cells part (sheetData); the workbook is damaged.")
		}
		if string(t.name) != "sheetData" || t.end {
			continue
		}
		g := &grid{src: src, data: t, endAt: t.to}
		if !t.closed {
			end := bytes.LastIndex(src, []byte("sheetData>"))
			for end > 0 && src[end] != '<' {
				end--
			}
			if end < t.to {
				return nil, media.Failf("the cells part of a sheet has no end; the workbook is damaged.")
			}
			g.endAt = end
		}
		return g, nil
	}
}

// walk calls onRow at the begin of each row (nil is allowed) and onCell for each cell. onEnd is called with the row when
// all its cells were seen. Any may return false to stop.
func (g *grid) walk(onRow func(*row) bool, onCell func(*row, *cell) bool, onEnd func(*row) bool) {
	g.walkFrom(g.data.to, 0, onRow, onCell, onEnd)
}

// walkFrom is walk from the place of a row on; last is the number of the row before it.
func (g *grid) walkFrom(at, last int, onRow func(*row) bool, onCell func(*row, *cell) bool, onEnd func(*row) bool) {
	if g.data.closed {
		return
	}
	s := scanner{b: g.src[:g.endAt], i: at}
	for {
		t, ok := s.next()
		if !ok {
			return
		}
		if string(t.name) != "row" || t.end {
			continue
		}
		r := row{open: t, n: last + 1, closed: t.closed, endAt: t.to, to: t.to}
		if raw, _, ok := value(t.attrs, "r"); ok {
			if n, err := strconv.Atoi(string(raw)); err == nil && n > 0 && n <= maxRow {
				r.n = n
			}
		}
		last = r.n
		if onRow != nil && !onRow(&r) {
			return
		}
		col := 0
		for !t.closed {
			c, ok := s.next()
			if !ok {
				return
			}
			if string(c.name) == "row" && c.end {
				r.endAt, r.to = c.from, c.to
				break
			}
			if string(c.name) != "c" || c.end {
				continue
			}
			x := readCell(&s, c, pos{r.n, col + 1})
			col = x.col
			if onCell != nil && !onCell(&r, &x) {
				return
			}
		}
		if onEnd != nil && !onEnd(&r) {
			return
		}
	}
}

func readCell(s *scanner, t tag, at pos) cell {
	c := cell{pos: at, from: t.from, to: t.to}
	c.style, _, _ = value(t.attrs, "s")
	c.kind, _, _ = value(t.attrs, "t")
	if raw, _, ok := value(t.attrs, "r"); ok {
		if p, ok := fastPos(raw); ok {
			c.pos = p
		}
	}
	if t.closed {
		return c
	}
	for {
		x, ok := s.next()
		if !ok {
			c.to = len(s.b)
			return c
		}
		switch {
		case string(x.name) == "c" && x.end:
			c.to = x.to
			return c
		case string(x.name) == "v" && !x.end && !x.closed:
			n := bytes.IndexByte(s.b[x.to:], '<')
			if n < 0 {
				continue
			}
			end, ok := s.next()
			if !ok {
				c.to = len(s.b)
				return c
			}
			c.v, c.vFrom, c.vTo = s.b[x.to:x.to+n], x.from, end.to
		case string(x.name) == "f" && !x.end:
			c.hasF, c.fTag, c.fTo = true, x, x.to
			if !x.closed {
				n := bytes.IndexByte(s.b[x.to:], '<')
				if n < 0 {
					continue
				}
				end, ok := s.next()
				if !ok { // what follows is no tag; the sheet is damaged, and the cell has no formula
					c.hasF, c.to = false, len(s.b)
					return c
				}
				c.f, c.fTo = s.b[x.to:x.to+n], end.to
			}
		case string(x.name) == "is" && !x.end && !x.closed:
			c.text, _ = richText(s, "is")
		}
	}
}

// fastPos reads an address without dollars.
func fastPos(b []byte) (pos, bool) {
	var p pos
	i := 0
	for ; i < len(b) && b[i] >= 'A' && b[i] <= 'Z'; i++ {
		p.col = p.col*26 + int(b[i]-'A') + 1
	}
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9' && p.row <= maxRow; i++ {
		p.row = p.row*10 + int(b[i]-'0')
	}
	return p, i == len(b) && p.col > 0 && p.col <= maxCol && p.row > 0 && p.row <= maxRow
}

// parseMaster reads what a shared formula says of itself.
func (c *cell) shared() (si string, ok bool) {
	if !c.hasF || c.fTag.get("t") != "shared" {
		return "", false
	}
	return c.fTag.get("si"), true
}

// unshare writes every shared formula of a sheet out, so that a change of one cell or row leaves the others alone.
func unshare(src []byte) ([]byte, error) {
	if !bytes.Contains(src, []byte("shared")) {
		return src, nil
	}
	g, err := findGrid(src)
	if err != nil {
		return nil, err
	}
	type master struct {
		at pos
		f  string
	}
	masters := map[string]master{}
	g.walk(nil, func(_ *row, c *cell) bool {
		if si, ok := c.shared(); ok && len(c.f) > 0 {
			masters[si] = master{c.pos, unescape(c.f)}
		}
		return true
	}, nil)
	if len(masters) == 0 {
		return src, nil
	}
	e := &edits{src: src}
	g.walk(nil, func(_ *row, c *cell) bool {
		si, ok := c.shared()
		m, known := masters[si]
		if !ok || !known {
			return true
		}
		var f string
		if len(c.f) == 0 {
			f = offset(m.f, c.row-m.at.row, c.col-m.at.col)
		} else {
			f = unescape(c.f)
		}
		p := prefix(src[c.from:])
		e.replace(c.fTag.from, c.fTo, []byte("<"+p+"f>"+escapeText(f)+"</"+p+"f>"))
		return true
	}, nil)
	return e.done(), nil
}

// prefix returns the namespace prefix of the tag at the start of b, with its colon.
func prefix(b []byte) string {
	i := bytes.IndexAny(b, " \t\r\n/>")
	if i < 0 {
		return ""
	}
	if c := bytes.IndexByte(b[:i], ':'); c > 0 {
		return string(b[1 : c+1])
	}
	return ""
}

// used returns the last row and column that hold anything, and whether there is any formula.
func used(src []byte) (last pos, formulas bool, err error) {
	g, err := findGrid(src)
	if err != nil {
		return last, false, err
	}
	g.walk(nil, func(_ *row, c *cell) bool {
		formulas = formulas || c.hasF
		if c.v != nil || c.hasF || c.text != "" {
			last.row, last.col = max(last.row, c.row), max(last.col, c.col)
		}
		return true
	}, nil)
	return last, formulas, nil
}
