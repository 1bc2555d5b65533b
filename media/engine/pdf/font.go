package pdf

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// font is what the walk over a content stream needs of a font: how codes are cut, how far each moves, what each means.
type font struct {
	two    bool // codes of two bytes
	widths map[int]float64
	none   float64 // width of codes that have none
	scale  float64 // of widths to text space
	words  map[int]string
	simple bool
}

// fontOf reads a font dictionary. What it cannot know (the widths of fonts that every viewer has, codes of maps that are
// not in the file) makes glyphs miss their place, and then pages are drawn instead of edited.
func (d *document) fontOf(dict object.Dict) *font {
	f := &font{widths: map[int]float64{}, scale: 0.001, none: 500, words: map[int]string{}}
	switch d.Name(dict["Subtype"]) {
	case "Type0":
		f.two = true
		desc := object.Dict(nil)
		if a := d.Array(dict["DescendantFonts"]); len(a) > 0 {
			desc = d.Dict(a[0])
		}
		f.none = float64(d.Int(desc["DW"], 1000))
		d.cidWidths(f, d.Array(desc["W"]))
	case "Type3":
		if m := d.Numbers(dict["FontMatrix"]); len(m) == 6 {
			f.scale = m[0]
		}
		fallthrough
	default:
		f.simple = true
		if n := d.Dict(dict["FontDescriptor"]); n != nil {
			f.none = float64(d.Int(n["MissingWidth"], 0))
		}
		if strings.Contains(string(d.Name(dict["BaseFont"])), "Courier") {
			f.none = 600
		}
		first := d.Int(dict["FirstChar"], 0)
		for i, w := range d.Array(dict["Widths"]) {
			if v, ok := object.Number(d.Resolve(w)); ok {
				f.widths[first+i] = v
			}
		}
		if len(f.widths) == 0 {
			standardWidths(f, string(d.Name(dict["BaseFont"])))
		}
	}
	if s, ok := d.Resolve(dict["ToUnicode"]).(*object.Stream); ok {
		if data, _, err := d.Decode(s); err == nil {
			f.unicode(data)
		}
	}
	return f
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
					f.widths[first+k] = v
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
		for c := first; c <= min(last, first+65535); c++ {
			f.widths[c] = w
		}
		i += 3
	}
}

// helvetica are the widths of the characters 32 to 126 of Helvetica, in thousandths.
var helvetica = []float64{278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584}

// standardWidths are known of Helvetica and Courier.
func standardWidths(f *font, name string) {
	if name == "Helvetica" || name == "Helvetica-Oblique" || name == "Arial" {
		for i, w := range helvetica {
			f.widths[32+i] = w
		}
	}
}

// unicode reads the characters of codes from a ToUnicode map.
func (f *font) unicode(data []byte) {
	l := object.NewLexer(data)
	var args []object.Object
	for {
		o, ok := l.Next()
		if !ok {
			return
		}
		k, isOp := o.(object.Keyword)
		if !isOp {
			if args = append(args, o); len(args) > 100_000 {
				return
			}
			continue
		}
		switch k {
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.mean(code(args[i]), args[i+1], 0)
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				from, to := code(args[i]), code(args[i+1])
				list, isList := args[i+2].(object.Array)
				for c := from; c <= min(to, from+65535) && from >= 0; c++ {
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
		args = nil
	}
}

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
	if c < 0 || !ok || len(s) < 2 {
		return
	}
	var units []uint16
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	r := utf16.Decode(units)
	r[len(r)-1] += rune(plus)
	f.words[c] = string(r)
}

// codes cuts a shown string.
func (f *font) codes(s object.String) []int {
	var out []int
	if !f.two {
		for _, c := range []byte(s) {
			out = append(out, int(c))
		}
		return out
	}
	for i := 0; i+1 < len(s); i += 2 {
		out = append(out, int(s[i])<<8|int(s[i+1]))
	}
	return out
}

func (f *font) size() int {
	if f.two {
		return 2
	}
	return 1
}

func (f *font) width(c int) float64 {
	if w, ok := f.widths[c]; ok {
		return w * f.scale
	}
	return f.none * f.scale
}

func (f *font) text(c int) string {
	if w, ok := f.words[c]; ok {
		return w
	}
	if f.two {
		return string(rune(c))
	}
	return string(charmap.Windows1252.DecodeByte(byte(c)))
}
