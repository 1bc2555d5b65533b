package legacy

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/workbook"
)

// The layout of the old Excel formats is published as [MS-XLS]: records of at most 8,224 bytes, those that are longer
// carried on in CONTINUE records.

// biff is a record.
type biff struct {
	op   int
	body []byte
}

type xls struct {
	*cfb
	stream   []byte
	old      bool // Excel 5 or 95: texts of one byte a character
	date1904 bool
	strs     []string
	formats  map[int]string
	cells    []int // format of each cell style
	left     int   // cells that may still be read
	warnings []string
}

// next reads the record at an offset.
func (x *xls) next(i int) (biff, int, bool) {
	if i < 0 || i+4 > len(x.stream) {
		return biff{}, i, false
	}
	n := u16(x.stream, i+2)
	if i+4+n > len(x.stream) {
		return biff{}, i, false
	}
	return biff{u16(x.stream, i), x.stream[i+4 : i+4+n]}, i + 4 + n, true
}

// xls reads the cells of a workbook: values, with the kind of number that their format says.
func (c *cfb) xls() (*workbook.Book, []string, error) {
	x := &xls{cfb: c, stream: c.get("Workbook"), formats: map[int]string{}, left: c.lim.Cells}
	if x.stream == nil {
		x.stream = c.get("Book")
	}
	first, _, ok := x.next(0)
	if !ok || first.op != 0x809 {
		return nil, nil, c.bad("it has no workbook")
	}
	x.old = u16(first.body, 0) != 0x600
	type place struct {
		name string
		at   int
		kind int
	}
	var places []place
	for i := 0; ; {
		r, n, ok := x.next(i)
		if !ok {
			break
		}
		i = n
		switch r.op {
		case 0x2f:
			return nil, nil, media.Refusef("%s is encrypted. Save it without a password first.", c.name)
		case 0x22:
			x.date1904 = u16(r.body, 0) == 1
		case 0x85:
			if len(r.body) > 7 {
				name := x.short(r.body[6:])
				places = append(places, place{name, u32(r.body, 0), int(r.body[5])})
			}
		case 0xfc:
			var parts [][]byte
			parts = append(parts, r.body)
			for {
				m, k, ok := x.next(i)
				if !ok || m.op != 0x3c {
					break
				}
				parts, i = append(parts, m.body), k
			}
			x.strs = shared(parts)
		case 0x41e:
			if x.old {
				x.formats[u16(r.body, 0)] = x.short(cut(r.body, 2, len(r.body)))
			} else if s, _ := unicode(cut(r.body, 2, len(r.body))); s != "" {
				x.formats[u16(r.body, 0)] = s
			}
		case 0xe0:
			x.cells = append(x.cells, u16(r.body, 2))
		}
		if r.op == 0x0a {
			break
		}
	}
	out := &workbook.Book{}
	for _, p := range places {
		if p.kind != 0 {
			x.warnings = append(x.warnings, "The sheet "+strconv.Quote(p.name)+" holds a chart or macros and no cells; it was left out.")
			continue
		}
		s, err := x.sheet(p.name, p.at)
		if err != nil {
			return nil, nil, err
		}
		out.Sheets = append(out.Sheets, s)
	}
	if len(out.Sheets) == 0 {
		return nil, nil, c.bad("it has no sheets")
	}
	return out, x.warnings, nil
}

// short reads a text with a length of one byte.
func (x *xls) short(b []byte) string {
	if len(b) < 1 {
		return ""
	}
	n := int(b[0])
	switch {
	case x.old:
		return narrow(cut(b, 1, n))
	case len(b) < 2:
		return ""
	case b[1]&1 != 0:
		return wide(cut(b, 2, 2*n))
	}
	return latin(cut(b, 2, n))
}

// latin reads characters whose upper byte is 0.
func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

// unicode reads a text with a length of two bytes, and how long it is.
func unicode(b []byte) (string, int) {
	if len(b) < 3 {
		return "", len(b)
	}
	n, flags, at := u16(b, 0), b[2], 3
	if flags&8 != 0 {
		at += 2
	}
	if flags&4 != 0 {
		at += 4
	}
	if flags&1 != 0 {
		return wide(cut(b, at, 2*n)), at + 2*n
	}
	return latin(cut(b, at, n)), at + n
}

// shared reads the table of texts. A text may be cut anywhere between characters, and says at the start of the next part
// anew how wide they are.
func shared(parts [][]byte) []string {
	r := &partReader{parts: parts}
	head := r.bytes(8)
	count := u32(head, 4)
	var out []string
	for range min(count, 4_000_000) {
		if r.done() {
			return out
		}
		h := r.bytes(3)
		n, flags := u16(h, 0), byte(0)
		if len(h) > 2 {
			flags = h[2]
		}
		runs, ext := 0, 0
		if flags&8 != 0 {
			runs = u16(r.bytes(2), 0)
		}
		if flags&4 != 0 {
			ext = u32(r.bytes(4), 0)
		}
		out = append(out, r.chars(n, flags&1 != 0))
		r.skip(4*runs + ext)
	}
	return out
}

type partReader struct {
	parts [][]byte
	at    int
}

// here moves to a part with something left in it.
func (r *partReader) here() bool {
	for len(r.parts) > 0 && r.at >= len(r.parts[0]) {
		r.parts, r.at = r.parts[1:], 0
	}
	return len(r.parts) > 0
}

func (r *partReader) done() bool { return !r.here() }

func (r *partReader) bytes(n int) []byte {
	var out []byte
	for len(out) < n && r.here() {
		k := min(n-len(out), len(r.parts[0])-r.at)
		out = append(out, r.parts[0][r.at:r.at+k]...)
		r.at += k
	}
	return out
}

func (r *partReader) skip(n int) {
	for n > 0 && r.here() {
		k := min(n, len(r.parts[0])-r.at)
		r.at += k
		n -= k
	}
}

func (r *partReader) chars(n int, two bool) string {
	var u []uint16
	for len(u) < n && len(r.parts) > 0 {
		if r.at >= len(r.parts[0]) {
			if !r.here() || len(r.parts[0]) == 0 {
				break
			}
			two = r.parts[0][0]&1 != 0
			r.at = 1
			continue
		}
		if two {
			if r.at+2 > len(r.parts[0]) {
				r.at = len(r.parts[0])
				continue
			}
			u = append(u, binary.LittleEndian.Uint16(r.parts[0][r.at:]))
			r.at += 2
		} else {
			u = append(u, uint16(r.parts[0][r.at]))
			r.at++
		}
	}
	return string(utf16.Decode(u))
}

// sheet reads the cells of one sheet.
func (x *xls) sheet(name string, at int) (workbook.Sheet, error) {
	s := workbook.Sheet{Name: name}
	rows := map[int][]workbook.Cell{}
	order := []int{}
	put := func(row, col int, c workbook.Cell) {
		if row >= workbook.MaxRow || col >= workbook.MaxCol || c.Value == "" {
			return
		}
		if x.left--; x.left < 0 {
			return
		}
		if _, ok := rows[row]; !ok {
			order = append(order, row)
		}
		c.Col = col + 1
		rows[row] = append(rows[row], c)
	}
	depth, records, pending := 0, 0, [2]int{-1, -1}
	for i := at; ; {
		r, n, ok := x.next(i)
		if !ok {
			break
		}
		i = n
		if records++; x.left < 0 || records%4096 == 0 && x.lim.Err() != nil {
			return s, x.enough()
		}
		b := r.body
		row, col, style := u16(b, 0), u16(b, 2), u16(b, 4)
		switch r.op {
		case 0x809:
			depth++ // a chart within the sheet
		case 0x0a:
			depth--
		case 0xfd:
			if k := u32(b, 6); depth == 1 && k < len(x.strs) {
				put(row, col, workbook.Cell{Value: x.strs[k]})
			}
		case 0x204, 0xd6:
			t := ""
			if x.old {
				t = narrow(cut(b, 8, u16(b, 6)))
			} else {
				t, _ = unicode(cut(b, 6, len(b)))
			}
			put(row, col, workbook.Cell{Value: t})
		case 0x203:
			if len(b) >= 14 {
				put(row, col, x.number(style, math.Float64frombits(binary.LittleEndian.Uint64(b[6:]))))
			}
		case 0x27e:
			put(row, col, x.number(style, rk(u32(b, 6))))
		case 0xbd:
			for k := 0; 4+6*k+6 <= len(b)-2; k++ {
				put(row, col+k, x.number(u16(b, 4+6*k), rk(u32(b, 6+6*k))))
			}
		case 0x205:
			if len(b) >= 8 {
				put(row, col, boolErr(b[6], b[7] != 0))
			}
		case 0x06:
			if len(b) < 14 {
				continue
			}
			if b[12] != 0xff || b[13] != 0xff {
				put(row, col, x.number(style, math.Float64frombits(binary.LittleEndian.Uint64(b[6:]))))
				continue
			}
			switch b[6] {
			case 0:
				pending = [2]int{row, col}
			case 1:
				put(row, col, boolErr(b[8], false))
			case 2:
				put(row, col, boolErr(b[8], true))
			}
		case 0x207:
			if pending[0] >= 0 {
				t := ""
				if x.old {
					t = narrow(cut(b, 2, u16(b, 0)))
				} else {
					t, _ = unicode(b)
				}
				put(pending[0], pending[1], workbook.Cell{Value: t})
				pending[0] = -1
			}
		case 0xe5:
			merge(&s, b)
		}
		if depth <= 0 {
			break
		}
	}
	s.Rows = inOrder(order, rows)
	return s, nil
}

// enough says why no more is read.
func (x *xls) enough() error {
	if err := x.lim.Err(); err != nil {
		return err
	}
	return media.Failf("%s has more than the %d cells that can be read at once.", x.name, x.lim.Cells)
}

// merge notes the areas that are one cell.
func merge(s *workbook.Sheet, b []byte) {
	for k := range u16(b, 0) {
		m := cut(b, 2+8*k, 8)
		if len(m) == 8 && len(s.Merged) < 100_000 {
			s.Merged = append(s.Merged, workbook.Name(u16(m, 0)+1, u16(m, 4)+1)+":"+workbook.Name(u16(m, 2)+1, u16(m, 6)+1))
		}
	}
}

func boolErr(v byte, fault bool) workbook.Cell {
	if !fault {
		return workbook.Cell{Kind: workbook.Bool, Value: strconv.Itoa(int(min(v, 1)))}
	}
	names := map[byte]string{0: "#NULL!", 7: "#DIV/0!", 0x0f: "#VALUE!", 0x17: "#REF!", 0x1d: "#NAME?", 0x24: "#NUM!", 0x2a: "#N/A"}
	if names[v] == "" {
		return workbook.Cell{Kind: workbook.Fault, Value: "#VALUE!"}
	}
	return workbook.Cell{Kind: workbook.Fault, Value: names[v]}
}

// rk unpacks a short number.
func rk(v int) float64 {
	f := 0.0
	if v&2 != 0 {
		f = float64(int32(v) >> 2)
	} else {
		f = math.Float64frombits(uint64(uint32(v)&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}

// number makes a cell of a number by the format of its style.
func (x *xls) number(style int, f float64) workbook.Cell {
	c := workbook.Cell{Kind: workbook.Number}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return workbook.Cell{Kind: workbook.Fault, Value: "#NUM!"}
	}
	id := 0
	if style < len(x.cells) {
		id = x.cells[style]
	}
	c.Kind = kindOf(id, x.formats[id])
	if x.date1904 && c.Kind >= workbook.Date && c.Kind <= workbook.DateTime {
		f += 1462
	}
	c.Value = strconv.FormatFloat(f, 'f', -1, 64)
	if len(c.Value) > 30 {
		c.Value = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return c
}

// kindOf says what a format makes of a number.
func kindOf(id int, code string) workbook.Kind {
	switch {
	case code == "" && (id == 9 || id == 10):
		return workbook.Percent
	case code == "" && (id >= 14 && id <= 17):
		return workbook.Date
	case code == "" && (id >= 18 && id <= 21 || id >= 45 && id <= 47):
		return workbook.Clock
	case code == "" && id == 22:
		return workbook.DateTime
	}
	plain := ""
	for i := 0; i < len(code); i++ { // without what is quoted, escaped or in brackets
		switch code[i] {
		case '"':
			k := strings.IndexByte(code[i+1:], '"')
			if k < 0 {
				k = len(code) - i - 2
			}
			i += k + 1
		case '[':
			k := strings.IndexByte(code[i:], ']')
			if in := strings.ToLower(cutTo(code[i:], k)); in == "[h" || in == "[hh" || in == "[mm" || in == "[ss" {
				plain += "h"
			}
			if k > 0 {
				i += k
			}
		case '\\', '_', '*':
			i++
		default:
			plain += strings.ToLower(code[i : i+1])
		}
	}
	plain, _, _ = strings.Cut(plain, ";")
	plain = strings.ReplaceAll(plain, "general", "")
	day, clock := strings.ContainsAny(plain, "yd"), strings.ContainsAny(plain, "hs")
	switch {
	case day && clock:
		return workbook.DateTime
	case day || strings.Contains(plain, "m") && !clock && strings.Trim(plain, "m-/. ") == "":
		if strings.Trim(plain, "yd") == plain && !strings.ContainsAny(plain, "yd") && !strings.Contains(plain, "m") {
			return workbook.Number
		}
		return workbook.Date
	case clock:
		return workbook.Clock
	case strings.Contains(plain, "%"):
		return workbook.Percent
	}
	return workbook.Number
}

func cutTo(s string, n int) string {
	if n < 0 {
		return s
	}
	return s[:n]
}

// inOrder sorts rows and the cells in them. Of two cells in one place the later counts.
func inOrder(order []int, rows map[int][]workbook.Cell) []workbook.Row {
	slices.Sort(order)
	out := make([]workbook.Row, 0, len(order))
	for _, n := range order {
		cells := rows[n]
		slices.SortStableFunc(cells, func(a, b workbook.Cell) int { return a.Col - b.Col })
		kept := cells[:0]
		for i, c := range cells {
			if i+1 < len(cells) && cells[i+1].Col == c.Col {
				continue
			}
			kept = append(kept, c)
		}
		out = append(out, workbook.Row{N: n + 1, Cells: kept})
	}
	return out
}
