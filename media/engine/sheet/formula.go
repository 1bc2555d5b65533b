package sheet

import (
	"strconv"
	"strings"
)

// rewrite changes the references of formulas: to a sheet whose rows or columns moved, that is renamed, or that is removed.
type rewrite struct {
	sheet  string // that it is about
	remap  *remap // or nil
	rename string // new name, or ""
	remove bool
	lost   int // references that became #REF!
}

// same compares names of sheets as spreadsheets do.
func same(a, b string) bool { return strings.EqualFold(a, b) }

// formula returns a formula of a sheet with its references rewritten.
func (w *rewrite) formula(f, home string) string {
	var b strings.Builder
	for i := 0; i < len(f); {
		switch c := f[i]; {
		case c == '"':
			n := quotedEnd(f, i)
			b.WriteString(f[i:n])
			i = n
		case c == '[':
			n := bracketEnd(f, i)
			if n < len(f) && (nameByte(f[n]) || f[n] == '!') { // [1]Sheet!A1 is of another workbook
				for n < len(f) && (nameByte(f[n]) || f[n] == '!' || f[n] == ':') {
					n++
				}
			}
			b.WriteString(f[i:n])
			i = n
		case c == '\'':
			n := quotedEnd(f, i)
			if n < len(f) && f[n] == '!' {
				name := strings.ReplaceAll(f[i+1:n-1], "''", "'")
				i = w.qualified(&b, f, f[i:n], name, n+1)
				continue
			}
			b.WriteString(f[i:n])
			i = n
		case nameByte(c):
			n := i
			for n < len(f) && nameByte(f[n]) {
				n++
			}
			switch {
			case n < len(f) && f[n] == '!':
				i = w.qualified(&b, f, f[i:n], f[i:n], n+1)
			case n < len(f) && (f[n] == '(' || f[n] == '['):
				b.WriteString(f[i:n])
				i = n
			case n < len(f) && f[n] == ':' && w.sheetRange(f, n):
				// Sheet1:Sheet3!A1 goes over several sheets; the names follow, the cells stay.
				m := n + 1
				for m < len(f) && nameByte(f[m]) {
					m++
				}
				b.WriteString(w.name(f[i:n]) + ":" + w.name(f[n+1:m]))
				i = m
			default:
				i = w.reference(&b, f, i, same(home, w.sheet))
			}
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

func (w *rewrite) sheetRange(f string, n int) bool {
	m := n + 1
	for m < len(f) && nameByte(f[m]) {
		m++
	}
	return m < len(f) && f[m] == '!' && m > n+1
}

func (w *rewrite) name(s string) string {
	if w.rename != "" && same(s, w.sheet) {
		return quoteSheet(w.rename)
	}
	return s
}

func nameByte(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '?' || c == '\\' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// quotedEnd returns the offset behind a quoted text, in which a doubled quote stands for one.
func quotedEnd(f string, i int) int {
	q := f[i]
	for j := i + 1; j < len(f); j++ {
		if f[j] == q {
			if j+1 < len(f) && f[j+1] == q {
				j++
				continue
			}
			return j + 1
		}
	}
	return len(f)
}

func bracketEnd(f string, i int) int {
	depth := 0
	for j := i; j < len(f); j++ {
		switch f[j] {
		case '\'':
			j++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return len(f)
}

// qualified writes a reference behind Name!, which is at f[at:].
func (w *rewrite) qualified(b *strings.Builder, f, written, name string, at int) int {
	if strings.ContainsAny(name, "[]") || !same(name, w.sheet) {
		b.WriteString(written + "!")
		return w.reference(b, f, at, false)
	}
	if w.remove {
		w.lost++
		b.WriteString("#REF!")
		return skipReference(f, at)
	}
	if w.rename != "" {
		written = quoteSheet(w.rename)
	}
	b.WriteString(written + "!")
	return w.reference(b, f, at, true)
}

func skipReference(f string, at int) int {
	for at < len(f) && (nameByte(f[at]) || f[at] == ':' || f[at] == '#') {
		at++
	}
	return at
}

// reference writes a reference, or whatever word stands there, mapped if own.
func (w *rewrite) reference(b *strings.Builder, f string, at int, own bool) int {
	n := at
	for n < len(f) && nameByte(f[n]) {
		n++
	}
	first := f[at:n]
	end := n
	if n < len(f) && f[n] == ':' {
		m := n + 1
		for m < len(f) && nameByte(f[m]) {
			m++
		}
		if cellLike(first) && cellLike(f[n+1:m]) || areaLike(first) && areaLike(f[n+1:m]) {
			end = m
		}
	}
	text := f[at:end]
	if end == at { // Name!#REF!
		return at
	}
	if !own || w.remap == nil {
		b.WriteString(text)
		return end
	}
	switch {
	case end > n && areaLike(first):
		t, ok := w.remap.area(text)
		if !ok {
			w.lost++
			t = "#REF!"
		}
		b.WriteString(t)
	case cellLike(first) && (end > n || n == end):
		t, ok := w.cells(first, text[len(first):])
		if !ok {
			w.lost++
			t = "#REF!"
		}
		b.WriteString(t)
	default:
		b.WriteString(text)
	}
	return end
}

// cells maps $A$1 or $A$1:B2, dollars kept.
func (w *rewrite) cells(first, rest string) (string, bool) {
	a, _ := parsePos(first)
	if rest == "" {
		t, ok := w.remap.box(box{a, a})
		return dollars(first, t.a), ok
	}
	second := rest[1:]
	z, _ := parsePos(second)
	bx := box{pos{min(a.row, z.row), min(a.col, z.col)}, pos{max(a.row, z.row), max(a.col, z.col)}}
	t, ok := w.remap.box(bx)
	return dollars(first, t.a) + ":" + dollars(second, t.b), ok
}

// dollars writes a cell with the signs of what it was.
func dollars(was string, p pos) string {
	s := ""
	if strings.HasPrefix(was, "$") {
		s = "$"
	}
	s += letters(p.col)
	if strings.LastIndexByte(was, '$') > 0 {
		s += "$"
	}
	return s + strconv.Itoa(p.row)
}

// cellLike reports whether a word is the address of a cell.
func cellLike(s string) bool {
	t := strings.TrimPrefix(s, "$")
	i := 0
	for i < len(t) && t[i]|0x20 >= 'a' && t[i]|0x20 <= 'z' {
		i++
	}
	if i == 0 || i > 3 {
		return false
	}
	t2 := strings.TrimPrefix(t[i:], "$")
	if t2 == "" || t2[0] == '0' || strings.Trim(t2, "0123456789") != "" {
		return false
	}
	_, ok := parsePos(t[:i] + t2)
	return ok
}

// areaLike reports whether a word is a whole row or column.
func areaLike(s string) bool {
	t := strings.TrimPrefix(s, "$")
	if t == "" {
		return false
	}
	return column(t) > 0 || strings.Trim(t, "0123456789") == "" && len(t) <= 7
}

// quoteSheet returns a name of a sheet as formulas have it.
func quoteSheet(name string) string {
	plain := name != "" && !cellLike(name) && (name[0] < '0' || name[0] > '9')
	for i := range len(name) {
		if c := name[i]; !nameByte(c) || c == '$' || c == '?' || c == '\\' || c == '.' {
			plain = false
		}
	}
	if plain && column(name) == 0 {
		return name
	}
	if plain && len(name) > 3 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", "''") + "'"
}

// offset moves the relative references of a formula, as when a shared formula is written out.
func offset(f string, rows, cols int) string {
	var b strings.Builder
	for i := 0; i < len(f); {
		switch c := f[i]; {
		case c == '"' || c == '\'':
			n := quotedEnd(f, i)
			b.WriteString(f[i:n])
			i = n
		case c == '[':
			n := bracketEnd(f, i)
			b.WriteString(f[i:n])
			i = n
		case nameByte(c):
			n := i
			for n < len(f) && nameByte(f[n]) {
				n++
			}
			word := f[i:n]
			if n < len(f) && (f[n] == '(' || f[n] == '!' || f[n] == '[') || !cellLike(word) {
				word = moveArea(f, i, n, rows, cols)
			} else {
				p, _ := parsePos(word)
				if !strings.HasPrefix(word, "$") {
					p.col += cols
				}
				if strings.LastIndexByte(word, '$') <= 0 {
					p.row += rows
				}
				if p.col < 1 || p.row < 1 || p.col > maxCol || p.row > maxRow {
					word = "#REF!"
				} else {
					word = dollars(word, p)
				}
			}
			b.WriteString(word)
			i = n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// moveArea moves one end of A:B or 1:2.
func moveArea(f string, i, n, rows, cols int) string {
	word := f[i:n]
	side := n < len(f) && f[n] == ':' || i > 0 && f[i-1] == ':'
	if !side || strings.HasPrefix(word, "$") || !areaLike(word) {
		return word
	}
	if c := column(word); c > 0 {
		return letters(max(1, c+cols))
	}
	if r, err := strconv.Atoi(word); err == nil {
		return strconv.Itoa(max(1, r+rows))
	}
	return word
}
