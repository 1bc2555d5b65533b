package sheet

import (
	"fmt"
	"strconv"
	"strings"
)

// The size of a sheet.
const (
	maxRow = 1 << 20
	maxCol = 1 << 14
)

// pos is a cell, from 1.
type pos struct{ row, col int }

func (p pos) String() string { return letters(p.col) + strconv.Itoa(p.row) }

// letters returns the name of a column.
func letters(col int) string {
	var b [4]byte
	i := len(b)
	for ; col > 0; col = (col - 1) / 26 {
		i--
		b[i] = byte('A' + (col-1)%26)
	}
	return string(b[i:])
}

// column returns the number of a column, or 0.
func column(s string) int {
	n := 0
	for i := range len(s) {
		c := s[i] &^ 0x20
		if c < 'A' || c > 'Z' || n > maxCol {
			return 0
		}
		n = n*26 + int(c-'A') + 1
	}
	if n > maxCol {
		return 0
	}
	return n
}

// parsePos reads an address such as B2 or $B$2.
func parsePos(s string) (pos, bool) {
	s = strings.ReplaceAll(s, "$", "")
	i := 0
	for i < len(s) && (s[i]|0x20) >= 'a' && (s[i]|0x20) <= 'z' {
		i++
	}
	col := column(s[:i])
	row, err := strconv.Atoi(s[i:])
	if col == 0 || err != nil || row < 1 || row > maxRow || s[i] == '+' {
		return pos{}, false
	}
	return pos{row, col}, true
}

// box is a range of cells, both ends within.
type box struct{ a, b pos }

func parseBox(s string) (box, bool) {
	x, y, two := strings.Cut(s, ":")
	a, ok := parsePos(x)
	if !ok {
		return box{}, false
	}
	b := a
	if two {
		if b, ok = parsePos(y); !ok {
			return box{}, false
		}
	}
	return box{a, b}, true
}

func (b box) String() string {
	if b.a == b.b {
		return b.a.String()
	}
	return b.a.String() + ":" + b.b.String()
}

func (b box) has(p pos) bool {
	return p.row >= b.a.row && p.row <= b.b.row && p.col >= b.a.col && p.col <= b.b.col
}

// remap says where rows or columns of a sheet go.
type remap struct {
	cols bool
	// to returns the new place of an index, or 0 if it is deleted.
	to func(i int) int
	// insert: where rows are put in, the first new one and how many; ranges grow across it.
	at, n int
	// moved: places change their order, so a range may be torn.
	moved bool
	torn  *int // counts ranges that could not be kept whole
}

func inserting(cols bool, at, n int) *remap {
	return &remap{cols: cols, at: at, n: n, to: func(i int) int {
		if i >= at {
			return i + n
		}
		return i
	}}
}

// deleting takes sorted indices without repeats.
func deleting(cols bool, gone []int) *remap {
	return &remap{cols: cols, to: func(i int) int {
		n := 0
		for _, g := range gone {
			if g == i {
				return 0
			}
			if g > i {
				break
			}
			n++
		}
		return i - n
	}}
}

// span maps both ends of a range; ok is false where nothing of it is left.
func (m *remap) span(a, b int) (int, int, bool) {
	if a > b {
		a, b = b, a
	}
	if a == b {
		t := m.to(a)
		return t, t, t > 0
	}
	if m.moved {
		lo, hi, n := 0, 0, 0
		for i := a; i <= b && i-a < maxCol; i++ {
			t := m.to(i)
			if t == 0 {
				continue
			}
			if n++; n == 1 {
				lo, hi = t, t
			}
			lo, hi = min(lo, t), max(hi, t)
		}
		if n > 0 && hi-lo+1 != n && m.torn != nil {
			*m.torn++
		}
		return lo, hi, n > 0
	}
	for m.to(a) == 0 && a < b {
		a++
	}
	for m.to(b) == 0 && b > a {
		b--
	}
	x, y := m.to(a), m.to(b)
	return x, y, x > 0 && y > 0
}

// limitOf is the last index of an axis.
func (m *remap) limitOf() int {
	if m.cols {
		return maxCol
	}
	return maxRow
}

// box maps a range; ok is false where nothing of it is left.
func (m *remap) box(b box) (box, bool) {
	if m.cols {
		x, y, ok := m.span(b.a.col, b.b.col)
		return box{pos{b.a.row, x}, pos{b.b.row, min(y, maxCol)}}, ok && x <= maxCol
	}
	x, y, ok := m.span(b.a.row, b.b.row)
	return box{pos{x, b.a.col}, pos{min(y, maxRow), b.b.col}}, ok && x <= maxRow
}

// sqref maps a list of ranges; "" where nothing is left.
func (m *remap) sqref(s string) string {
	var out []string
	for _, f := range strings.Fields(s) {
		t, ok := m.plain(f)
		if ok {
			out = append(out, t)
		}
	}
	return strings.Join(out, " ")
}

// plain maps one range without a sheet: A1, A1:B2, A:B, 1:2.
func (m *remap) plain(s string) (string, bool) {
	if b, ok := parseBox(s); ok {
		t, ok := m.box(b)
		if !ok {
			return "", false
		}
		if strings.Contains(s, ":") && t.a == t.b {
			return t.a.String(), true
		}
		return t.String(), true
	}
	return m.area(s)
}

// area maps whole rows or columns.
func (m *remap) area(s string) (string, bool) {
	x, y, two := strings.Cut(s, ":")
	if !two {
		return s, true
	}
	cols := column(strings.TrimPrefix(x, "$")) > 0
	if cols != m.cols {
		return s, true
	}
	num := func(s string) (int, string) {
		t := strings.TrimPrefix(s, "$")
		if cols {
			return column(t), s[:len(s)-len(t)]
		}
		n, err := strconv.Atoi(t)
		if err != nil {
			return 0, ""
		}
		return n, s[:len(s)-len(t)]
	}
	a, da := num(x)
	b, db := num(y)
	if a == 0 || b == 0 {
		return s, true
	}
	lo, hi, ok := m.span(a, b)
	if !ok {
		return "", false
	}
	hi = min(hi, m.limitOf())
	if cols {
		return da + letters(lo) + ":" + db + letters(hi), true
	}
	return fmt.Sprintf("%s%d:%s%d", da, lo, db, hi), true
}
