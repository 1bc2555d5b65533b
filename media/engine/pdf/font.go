package pdf

import (
	"bytes"
	"math"
	"reflect"
	"strings"

	"golang.org/x/image/font/sfnt"

	"github.com/tackle-dev/tackle/media/engine/pdf/charset"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// shape is what a code of a font shows: its characters, how far it moves on as a part of the size of the font, and whether
// the characters are known.
type shape struct {
	text  string
	width float64
	known bool
}

// font is what the walk over a content stream needs of a font: how codes are cut, how far each moves, what each means.
type font struct {
	one      *[256]shape // of fonts with codes of one byte; nil for others
	cmap     *cmap       // how codes of several bytes are cut, and which glyph each is
	cids     map[int]float64
	none     float64 // width of glyphs that have none, in thousandths
	words    map[int]string
	program  func() map[int]rune // reads glyphs, when they are needed
	glyphs   map[int]rune        // the characters that the program of the font has for its glyphs
	entries  int                 // of its tables, so far
	down     float64             // how far glyphs move down in vertical writing, as a part of the size; 0 for horizontal writing
	met      map[int]shape
	rescaled bool // its own space is not of thousandths of its size
	tall     float64
}

// fontOf reads a font dictionary. What it cannot know (maps of codes that are not in the file, codes that only the program
// of a font explains) is said of each code that is met.
func (d *document) fontOf(dict object.Dict) *font {
	f := &font{words: map[int]string{}}
	switch v := d.Resolve(dict["ToUnicode"]).(type) {
	case *object.Stream:
		if data, _, err := d.Decode(v); err == nil {
			f.unicode(data)
		}
	case object.Name:
		if strings.HasPrefix(string(v), "Identity") {
			f.words = nil // a code is its character
		}
	}
	if d.Name(dict["Subtype"]) == "Type0" {
		d.composite(f, dict)
	} else {
		d.simple(f, dict)
	}
	return f
}

// knownFont reads a font once.
func (d *document) knownFont(o object.Object) *font {
	if r, ok := o.(object.Ref); ok {
		f := d.known[r.Num]
		if f == nil {
			if d.known == nil {
				d.known = map[int]*font{}
			}
			f = d.fontOf(d.Dict(r))
			d.known[r.Num] = f
		}
		return f
	}
	dict := d.Dict(o)
	at := reflect.ValueOf(dict).Pointer() // the file holds it, so that it stays what it is
	f := d.direct[at]
	if f == nil {
		if d.direct == nil {
			d.direct = map[uintptr]*font{}
		}
		f = d.fontOf(dict)
		d.direct[at] = f
	}
	return f
}

// composite reads a font whose codes lead to glyphs by numbers.
func (d *document) composite(f *font, dict object.Dict) {
	desc := object.Dict(nil)
	if a := d.Array(dict["DescendantFonts"]); len(a) > 0 {
		desc = d.Dict(a[0])
	}
	f.none, f.cids, f.met = float64(d.Int(desc["DW"], 1000)), map[int]float64{}, map[int]shape{}
	d.cidWidths(f, d.Array(desc["W"]))
	f.cmap = d.cmapOf(dict["Encoding"], 0)
	if s, ok := d.Resolve(d.Dict(desc["FontDescriptor"])["FontFile2"]).(*object.Stream); ok && d.Resolve(desc["CIDToGIDMap"]) != nil && d.Array(desc["CIDToGIDMap"]) == nil {
		f.program = func() map[int]rune { return d.program(s, desc["CIDToGIDMap"]) }
	}
	if f.cmap.vertical {
		f.down = -1
		if v := d.Numbers(desc["DW2"]); len(v) == 2 {
			f.down = v[1] / 1000
		}
	}
}

// simple reads a font with codes of one byte.
func (d *document) simple(f *font, dict object.Dict) {
	f.one = &[256]shape{}
	name := string(d.Name(dict["BaseFont"]))
	desc := d.Dict(dict["FontDescriptor"])
	scale, none := 0.001, 0.0
	kind := d.Name(dict["Subtype"])
	if kind == "Type3" {
		if m := d.Numbers(dict["FontMatrix"]); len(m) == 6 {
			scale = m[0]
			// How tall its letters are is told by their box, or else guessed from a usual one.
			f.rescaled, f.tall = true, math.Abs(m[3])*1000
			if b := d.Numbers(dict["FontBBox"]); len(b) == 4 && b[3] > b[1] {
				f.tall = math.Abs(m[3]) * (b[3] - b[1]) * 0.8
			}
		}
	}
	if desc != nil {
		none = float64(d.Int(desc["MissingWidth"], 0))
	}
	widths := map[int]float64{}
	first := d.Int(dict["FirstChar"], 0)
	for i, w := range d.Array(dict["Widths"]) {
		if v, ok := object.Number(d.Resolve(w)); ok {
			widths[first+i] = v
		}
	}
	var std *charset.Metrics
	if kind != "Type3" {
		std = charset.Standard(name)
	}
	e := d.encoding(dict, desc, std)
	for c := range f.one {
		s := &f.one[c]
		if text := f.words[c]; text != "" {
			s.text, s.known = text, true
		} else if f.words == nil {
			s.text, s.known = string(rune(c)), true
		} else if e[c] != "" {
			s.text, s.known = e[c], true
		} else if !embedded(desc) && kind != "Type3" {
			s.known = true // it shows nothing
		} else if c > ' ' && c < 0x7f {
			s.text = string(rune(c)) // as readers guess
		}
		w, ok := widths[c]
		if !ok && std != nil && len(widths) == 0 {
			if std.Own != nil {
				w, ok = std.Code[c]
			} else {
				w, ok = std.Char[e[c]]
			}
		}
		if !ok {
			if w = none; std == nil && len(widths) == 0 {
				w = 500 // nothing is known of it
			}
		}
		s.width = w * scale
	}
}

// encoding says what the codes of a simple font mean; "" where only its program says.
func (d *document) encoding(dict, desc object.Dict, std *charset.Metrics) charset.Encoding {
	var e charset.Encoding
	base := d.Name(dict["Encoding"])
	enc := d.Dict(dict["Encoding"])
	if enc != nil {
		base = d.Name(enc["BaseEncoding"])
	}
	kind := d.Name(dict["Subtype"])
	named := charset.Named(string(base))
	switch {
	case kind == "Type3" && named == nil:
	case std != nil && std.Own != nil && !embedded(desc):
		e = *std.Own
	case named != nil:
		e = *named
	case embedded(desc) && kind != "TrueType":
		e = d.builtIn(desc)
	case kind == "TrueType":
		e = *charset.Named("WinAnsiEncoding")
		if embedded(desc) && d.Int(desc["Flags"], 0)&4 != 0 && enc == nil {
			e = charset.Encoding{} // symbols, as the program has them
		}
	default:
		e = *charset.Named("StandardEncoding")
	}
	c := 0
	for _, o := range d.Array(enc["Differences"]) {
		switch v := d.Resolve(o).(type) {
		case int64:
			c = int(v)
		case object.Name:
			if c >= 0 && c < 256 {
				e[c], _ = charset.Text(string(v))
			}
			c++
		}
	}
	return e
}

func embedded(desc object.Dict) bool {
	return desc["FontFile"] != nil || desc["FontFile2"] != nil || desc["FontFile3"] != nil
}

// builtIn reads the encoding that the program of a Type 1 font has, which stands in it as text.
func (d *document) builtIn(desc object.Dict) charset.Encoding {
	var e charset.Encoding
	s, ok := d.Resolve(desc["FontFile"]).(*object.Stream)
	if !ok {
		return e
	}
	data, _, err := d.Decode(s)
	if err != nil {
		return e
	}
	if i := bytes.Index(data, []byte("eexec")); i >= 0 {
		data = data[:i]
	}
	i := bytes.Index(data, []byte("/Encoding"))
	if i < 0 {
		return e
	}
	l := object.NewLexer(data[i+9:])
	var last [2]object.Object
	for n := 0; n < 2000; n++ {
		o, ok := l.Next()
		if !ok {
			break
		}
		switch o {
		case object.Keyword("StandardEncoding"):
			return *charset.Named("StandardEncoding")
		case object.Keyword("put"):
			if c, ok := last[0].(int64); ok && c >= 0 && c < 256 {
				name, _ := last[1].(object.Name)
				e[c], _ = charset.Text(string(name))
			}
		case object.Keyword("def"), object.Keyword("readonly"):
			if n > 8 {
				return e
			}
		}
		last[0], last[1] = last[1], o
	}
	return e
}

func (d *document) cidWidths(f *font, list object.Array) {
	for i := 0; i < len(list); {
		first := d.Int(list[i], -1)
		if i+1 >= len(list) || first < 0 {
			return
		}
		if a := d.Array(list[i+1]); a != nil {
			for k, w := range a {
				if v, ok := object.Number(d.Resolve(w)); ok {
					f.cids[first+k] = v
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last := d.Int(list[i+1], -1)
		w, _ := object.Number(d.Resolve(list[i+2]))
		for c := first; c <= min(last, first+65535) && f.more(); c++ {
			f.cids[c] = w
		}
		i += 3
	}
}

// shapeOf returns what a code shows.
func (f *font) shapeOf(code, size int) shape {
	if f.one != nil {
		return f.one[code&0xff]
	}
	key := code | size<<32
	if s, ok := f.met[key]; ok {
		return s
	}
	s := shape{width: f.none}
	if w, ok := f.cids[f.cmap.cid(code, size)]; ok {
		s.width = w
	}
	s.width /= 1000
	switch text, ok := f.words[code]; {
	case ok:
		s.text, s.known = text, true
	case f.words == nil:
		s.text, s.known = string(rune(code)), true
	default:
		s.text, s.known = f.cmap.text(code, size)
	}
	if !s.known && f.program != nil {
		if f.glyphs == nil {
			f.glyphs = f.program()
		}
		if r, ok := f.glyphs[f.cmap.cid(code, size)]; ok {
			s.text, s.known = string(r), true
		}
	}
	if !s.known {
		s.text = "\ufffd"
	}
	if len(f.met) < 1<<16 {
		f.met[key] = s
	}
	return s
}

// program reads which characters the glyphs of a TrueType font belong to.
func (d *document) program(s *object.Stream, to object.Object) map[int]rune {
	out := map[int]rune{}
	if d.programs++; d.programs > 50 {
		return out
	}
	data, _, err := d.Decode(s)
	if err != nil {
		return out
	}
	f, err := sfnt.Parse(data)
	if err != nil {
		return out
	}
	var b sfnt.Buffer
	glyphs := map[int]rune{}
	for r := rune(0x20); r < 0x30000; r++ {
		if r == 0xd800 {
			r = 0xf900 // private characters mean nothing outside of their font
		}
		g, err := f.GlyphIndex(&b, r)
		if err != nil {
			break
		}
		if _, known := glyphs[int(g)]; g != 0 && !known {
			glyphs[int(g)] = r
		}
	}
	m, ok := d.Resolve(to).(*object.Stream)
	if !ok {
		return glyphs
	}
	table, _, err := d.Decode(m)
	if err != nil {
		return out
	}
	for cid := 0; 2*cid+1 < len(table); cid++ {
		if r, ok := glyphs[int(table[2*cid])<<8|int(table[2*cid+1])]; ok {
			out[cid] = r
		}
	}
	return out
}

// more counts the entries of the tables of a font, and says when there are too many: a range of codes can be small and
// name a great many, again and again.
func (f *font) more() bool {
	f.entries++
	return f.entries < 1<<18
}

// next cuts the first code off a string.
func (f *font) next(s object.String) (code, size int) {
	if f.one != nil {
		return int(s[0]), 1
	}
	return f.cmap.next(s)
}
