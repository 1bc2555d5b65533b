package pdf

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// cmap says how strings are cut into codes, and which glyph of a font each code is.
type cmap struct {
	vertical bool
	// spans are the ranges of codes of a map that stands in the file; none for maps that are only named.
	spans []codeSpan
	cids  map[int]int
	runs  []cidRun
	// utf16 says that codes are characters; legacy is the encoding of others.
	utf16  bool
	legacy encoding.Encoding
	// identity says that codes are numbers of glyphs.
	identity bool
}

type codeSpan struct {
	size     int
	from, to int
}

type cidRun struct{ from, to, cid int }

// cmapOf reads the map of a font: one that is named, or one that stands in the file.
func (d *document) cmapOf(o object.Object, depth int) *cmap {
	m := &cmap{identity: true}
	switch v := d.Resolve(o).(type) {
	case object.Name:
		name := string(v)
		m.vertical = strings.HasSuffix(name, "-V") || name == "V"
		m.identity = strings.HasPrefix(name, "Identity")
		m.utf16 = strings.HasPrefix(name, "Uni") && (strings.Contains(name, "UCS2") || strings.Contains(name, "UTF16"))
		switch {
		case strings.Contains(name, "RKSJ"):
			m.legacy = japanese.ShiftJIS
		case strings.HasPrefix(name, "GBK"), strings.HasPrefix(name, "GB-EUC"), strings.HasPrefix(name, "GBpc"):
			m.legacy = simplifiedchinese.GBK
		case strings.HasPrefix(name, "ETen-B5"), strings.HasPrefix(name, "B5pc"), strings.HasPrefix(name, "ETenms-B5"):
			m.legacy = traditionalchinese.Big5
		case strings.HasPrefix(name, "KSC"):
			m.legacy = korean.EUCKR
		}
	case *object.Stream:
		if used := v.Dict["UseCMap"]; used != nil && depth < 5 {
			m = d.cmapOf(used, depth+1)
		}
		m.vertical = m.vertical || d.Int(v.Dict["WMode"], 0) == 1
		if data, _, err := d.Decode(v); err == nil {
			m.read(data)
		}
	}
	return m
}

// read takes ranges of codes and the glyphs of codes from a map.
func (m *cmap) read(data []byte) {
	each(data, func(op object.Keyword, args []object.Object) {
		switch op {
		case "endcodespacerange":
			for i := 0; i+1 < len(args) && len(m.spans) < 100; i += 2 {
				s, _ := args[i].(object.String)
				m.spans = append(m.spans, codeSpan{len(s), code(args[i]), code(args[i+1])})
			}
		case "endcidchar":
			for i := 0; i+1 < len(args); i += 2 {
				if cid, ok := args[i+1].(int64); ok {
					if m.cids == nil {
						m.cids = map[int]int{}
					}
					m.cids[code(args[i])], m.identity = int(cid), false
				}
			}
		case "endcidrange":
			for i := 0; i+2 < len(args) && len(m.runs) < 10_000; i += 3 {
				if cid, ok := args[i+2].(int64); ok {
					m.runs, m.identity = append(m.runs, cidRun{code(args[i]), code(args[i+1]), int(cid)}), false
				}
			}
		}
	})
}

// each calls do for the operators of a map with what stands before them.
func each(data []byte, do func(op object.Keyword, args []object.Object)) {
	l := object.NewLexer(data)
	var args []object.Object
	for {
		o, ok := l.Next()
		if !ok {
			return
		}
		op, isOp := o.(object.Keyword)
		if !isOp {
			if args = append(args, o); len(args) > 300_000 {
				return
			}
			continue
		}
		do(op, args)
		args = args[:0]
	}
}

// next cuts the first code off a string that is not empty.
func (m *cmap) next(s object.String) (code, size int) {
	at := func(n int) (v int) {
		for i := range n {
			v = v<<8 | int(s[i])
		}
		return v
	}
	for n := 1; n <= 4 && n <= len(s) && m.spans != nil; n++ {
		v := at(n)
		for _, p := range m.spans {
			if p.size == n && v >= p.from && v <= p.to {
				return v, n
			}
		}
	}
	switch {
	case m.utf16 && len(s) >= 4 && s[0]&0xfc == 0xd8 && s[2]&0xfc == 0xdc:
		return at(4), 4
	case m.legacy != nil && (s[0] < 0x80 || m.legacy == japanese.ShiftJIS && (s[0] >= 0xa0 && s[0] < 0xe0)):
		return at(1), 1
	}
	n := min(2, len(s))
	return at(n), n
}

// cid returns the number of the glyph of a code; -1 where it is not known.
func (m *cmap) cid(code, size int) int {
	if m.identity {
		return code
	}
	if c, ok := m.cids[code]; ok {
		return c
	}
	for _, r := range m.runs {
		if code >= r.from && code <= r.to {
			return r.cid + code - r.from
		}
	}
	if (m.utf16 || m.legacy != nil && size == 1) && code >= 0x20 && code < 0x7f {
		return code - 0x1f // in all collections of characters of Adobe
	}
	return -1
}

// text returns the characters of a code of a map whose codes are characters.
func (m *cmap) text(code, size int) (string, bool) {
	switch {
	case m.utf16 && size == 4:
		return string(utf16.DecodeRune(rune(code>>16), rune(code&0xffff))), true
	case m.utf16:
		return string(rune(code)), true
	case m.legacy != nil:
		raw := []byte{byte(code >> 8), byte(code)}
		t, err := m.legacy.NewDecoder().Bytes(raw[2-size:])
		return string(t), err == nil && len(t) > 0
	}
	return "", false
}

// unicode reads the characters of codes from a ToUnicode map.
func (f *font) unicode(data []byte) {
	each(data, func(op object.Keyword, args []object.Object) {
		switch op {
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.mean(code(args[i]), args[i+1], 0)
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				from, to := code(args[i]), code(args[i+1])
				list, isList := args[i+2].(object.Array)
				for c := from; c <= min(to, from+65535) && from >= 0 && f.more(); c++ {
					if isList {
						if c-from < len(list) {
							f.mean(c, list[c-from], 0)
						}
					} else {
						f.mean(c, args[i+2], c-from)
					}
				}
			}
		}
	})
}

// code reads the number that a string is; -1 where it is none.
func code(o object.Object) int {
	s, ok := o.(object.String)
	if !ok || len(s) > 4 {
		return -1
	}
	v := 0
	for _, c := range []byte(s) {
		v = v<<8 | int(c)
	}
	return v
}

// mean says what a code means: a text, its last character moved on.
func (f *font) mean(c int, to object.Object, plus int) {
	s, ok := to.(object.String)
	if c < 0 || !ok || len(s) == 0 {
		return
	}
	if len(s) == 1 {
		f.words[c] = string(rune(int(s[0]) + plus))
		return
	}
	var units []uint16
	for i := 0; i+1 < len(s) && i < 512; i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	r := utf16.Decode(units)
	r[len(r)-1] += rune(plus)
	f.words[c] = string(r)
}
