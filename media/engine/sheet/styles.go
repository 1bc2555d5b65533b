package sheet

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// styles knows the number formats of cell styles, and adds styles for dates.
type styles struct {
	part    string
	formats []int          // numFmtId by style
	codes   map[int]string // own formats by id
	byKey   map[string]int
}

func (b *book) loadStyles() (*styles, error) {
	if b.styles != nil {
		return b.styles, nil
	}
	st := &styles{codes: map[int]string{}, byKey: map[string]int{}}
	for _, rel := range b.rels(b.main) {
		if strings.HasSuffix(rel.kind, "/styles") {
			st.part = rel.target
		}
	}
	b.styles = st
	if st.part == "" || !b.has(st.part) {
		st.part = ""
		return st, nil
	}
	src, err := b.part(st.part)
	if err != nil {
		return nil, err
	}
	s := scanner{b: src}
	within := false
	for {
		t, ok := s.next()
		if !ok {
			return st, nil
		}
		switch string(t.name) {
		case "cellXfs":
			within = !t.end && !t.closed
		case "numFmt":
			if id, err := strconv.Atoi(t.get("numFmtId")); err == nil {
				st.codes[id] = t.get("formatCode")
			}
		case "xf":
			if within && !t.end {
				id, _ := strconv.Atoi(t.get("numFmtId")) // absent is 0, the general format
				st.formats = append(st.formats, id)
			}
		}
	}
}

// kindOf says what a style makes of a number: "" (a number), "date", "time", "datetime", "percent".
func (st *styles) kindOf(style []byte) string {
	if len(style) == 0 {
		return ""
	}
	n, err := strconv.Atoi(string(style))
	if err != nil || n < 0 || n >= len(st.formats) {
		return ""
	}
	id := st.formats[n]
	switch {
	case id >= 14 && id <= 17 || id >= 27 && id <= 31 || id >= 50 && id <= 58 && id != 45 && id != 46 && id != 47:
		return "date"
	case id == 22:
		return "datetime"
	case id >= 18 && id <= 21 || id >= 45 && id <= 47:
		return "time"
	case id == 9 || id == 10:
		return "percent"
	}
	return codeKind(st.codes[id])
}

// codeKind reads a format code such as dd.mm.yyyy hh:mm;@.
func codeKind(code string) string {
	date, clock, percent := false, false, false
	in := byte(0)
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case in != 0:
			if c == in || in == '[' && c == ']' {
				in = 0
			}
		case c == '"':
			in = '"'
		case c == '[':
			if j := strings.IndexByte(code[i:], ']'); j > 0 {
				if strings.Trim(strings.ToLower(code[i+1:i+j]), "hms") == "" {
					clock = true
				}
			}
			in = '['
		case c == '\\':
			i++
		case c == ';':
			i = len(code)
		case strings.IndexByte("yYdD", c) >= 0:
			date = true
		case strings.IndexByte("hHsS", c) >= 0:
			clock = true
		case c == '%':
			percent = true
		}
	}
	switch {
	case date && clock:
		return "datetime"
	case date:
		return "date"
	case clock:
		return "time"
	case percent:
		return "percent"
	}
	return ""
}

// serial returns the number that stands for a moment.
func serial(t time.Time, date1904 bool) float64 {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	d := t.Sub(epoch).Seconds() / 86400
	if !date1904 && d < 61 { // the 29th of February 1900, which never was, has the number 60
		d--
	}
	return d
}

// moment is the inverse of serial, as an ISO text.
func moment(v float64, kind string, date1904 bool) (string, bool) {
	if v < 0 || v > 2958466 {
		return "", false
	}
	if !date1904 && v < 61 && v >= 1 {
		v++
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	secs := math.Round(v * 86400)
	t := epoch.Add(time.Duration(secs) * time.Second)
	switch kind {
	case "date":
		if math.Mod(secs, 86400) != 0 {
			return t.Format("2006-01-02T15:04:05"), true
		}
		return t.Format("2006-01-02"), true
	case "time":
		return fmt.Sprintf("%02d:%02d:%02d", int(secs)/3600, int(secs)/60%60, int(secs)%60), true
	}
	return t.Format("2006-01-02T15:04:05"), true
}

// parseISO reads a date, or a date with a time, as JSON has it.
func parseISO(s string) (t time.Time, clock, ok bool) {
	if len(s) < 10 || len(s) > 29 || s[4] != '-' || s[7] != '-' {
		return t, false, false
	}
	if t, err := time.Parse("2006-01-02", s); err == nil {
		return t, false, t.Year() >= 1900
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05Z"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true, t.Year() >= 1900
		}
	}
	return t, false, false
}

// dated returns a style that is like another one and shows dates.
func (b *book) dated(style []byte, clock bool) (string, error) {
	st, err := b.loadStyles()
	if err != nil || st.part == "" {
		return "", err
	}
	if k := st.kindOf(style); k == "date" && !clock || k == "datetime" {
		return string(style), nil
	}
	id := 14
	if clock {
		id = 22
	}
	key := fmt.Sprintf("%s/%d", style, id)
	if n, ok := st.byKey[key]; ok {
		return strconv.Itoa(n), nil
	}
	src, err := b.part(st.part)
	if err != nil {
		return "", err
	}
	want, _ := strconv.Atoi(string(style)) // absent is the first
	s := scanner{b: src}
	within, n := false, 0
	var list tag
	e := &edits{src: src}
	base := []byte(nil)
	for {
		t, ok := s.next()
		if !ok {
			return "", nil
		}
		switch {
		case string(t.name) == "cellXfs" && !t.end:
			within, list = true, t
		case string(t.name) == "cellXfs" && t.end:
			fresh := string(base)
			if fresh == "" {
				return "", nil
			}
			e.replace(t.from, t.from, []byte(fresh))
			out := e.done()
			count := strconv.Itoa(n + 1)
			head := with(out, &list, "count", &count)
			out = bytes.Join([][]byte{out[:list.from], head, out[list.to:]}, nil)
			b.set(st.part, out)
			st.formats = append(st.formats, id)
			st.byKey[key] = n
			return strconv.Itoa(n), nil
		case within && string(t.name) == "xf" && !t.end:
			if n == want {
				base = xfAs(src, t, &s, id)
			}
			n++
		}
	}
}

// xfAs copies a style with another number format.
func xfAs(src []byte, t tag, s *scanner, id int) []byte {
	end := t.to
	if !t.closed {
		look := scanner{b: src, i: s.i}
		for {
			x, ok := look.next()
			if !ok {
				return nil
			}
			if string(x.name) == "xf" && x.end {
				end = x.to
				break
			}
		}
	}
	num, one := strconv.Itoa(id), "1"
	head := with(src, &t, "numFmtId", &num)
	u := scanner{b: head}
	ht, _ := u.next()
	head = with(head, &ht, "applyNumberFormat", &one)
	return append(bytes.Clone(head), src[t.to:end]...)
}
