package pdf

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// finder knows what is looked for, and what was found so far.
type finder struct {
	patterns []*media.Pattern
	found    map[string]bool // the words that matched, without blanks
	each     []int           // matches of each pattern
	// gone are the words that must not be anywhere in the result. A word may stay where the expression does not match it,
	// as "Anna" in "Annabel".
	gone []string
}

// readings are the ways in which lines of a page may be read: as lines, as one line, and with lines put together, because
// the end of a line may divide a number.
const readings = 3

// reading writes characters in one of the ways; from says which character each byte comes from.
func reading(chars []rune, way int) (text string, from []int) {
	var b strings.Builder
	put := func(c rune, i int) {
		n := b.Len()
		b.WriteRune(c)
		for ; n < b.Len(); n++ {
			from = append(from, i)
		}
	}
	for i := 0; i < len(chars); i++ {
		c := chars[i]
		switch {
		case c == 0x02 || c == 0xfffe || c == 0xad: // a hyphen that divides a word
			if way == 0 {
				put('-', i)
			}
			continue
		case !unicode.IsSpace(c):
			divided := c == '-' && way == 2 && i > 0 && unicode.IsLetter(chars[i-1]) && i+1 < len(chars) && (chars[i+1] == '\n' || chars[i+1] == '\r')
			if c != 0 && !divided {
				put(c, i)
			}
			continue
		}
		line := false
		j := i
		for ; j < len(chars) && unicode.IsSpace(chars[j]); j++ {
			line = line || chars[j] == '\n' || chars[j] == '\r'
		}
		switch {
		case line && way == 0:
			put('\n', i)
		case line && way == 2:
		default:
			put(' ', i)
		}
		i = j - 1
	}
	return b.String(), from
}

// in returns which characters belong to a match, and how many matches there are.
func (f *finder) in(chars []rune) (hits map[int]bool, count int, err error) {
	hits = map[int]bool{}
	most := make([]int, len(f.patterns))
	for way := range readings {
		text, from := reading(chars, way)
		for k, p := range f.patterns {
			spans, err := p.Find(text)
			if err != nil {
				return nil, 0, err
			}
			most[k] = max(most[k], len(spans))
			for _, s := range spans {
				f.found[squeeze(text[s.From:s.To])] = true
				for at := s.From; at < s.To; at++ {
					hits[from[at]] = true
				}
			}
		}
	}
	for k, n := range most {
		f.each[k] += n
		count += n
	}
	return hits, count, nil
}

// text reports whether a text matches in some reading.
func (f *finder) text(s string) (bool, error) {
	hits, n, err := (&finder{patterns: f.patterns, found: map[string]bool{}, each: make([]int, len(f.patterns))}).in([]rune(s))
	return n > 0 || len(hits) > 0, err
}

// squeeze takes the blanks out of a text.
func squeeze(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == 0x02 || c == 0xfffe || c == 0xad {
			return -1
		}
		return c
	}, s)
}

// known reports whether a text holds words that matched somewhere and are nowhere to be seen now, however they are spaced.
func (f *finder) known(s string) bool {
	s = squeeze(s)
	for _, w := range f.gone {
		if len(w) >= 4 && strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// glyph is a character of a match and where it stands.
type glyph struct {
	x, y float64 // its origin
	box  box
	ink  bool // it is to be found in the content of the page
	met  bool // it was
}

// search finds matches on a page.
func (f *finder) search(w *worker, i int) (glyphs []glyph, count int, err error) {
	plain, err := w.pageText(i)
	if err != nil {
		return nil, 0, err
	}
	if ok, err := f.text(plain); err != nil || !ok {
		return nil, 0, err
	}
	page, err := w.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: w.doc, Index: i})
	if err != nil {
		return nil, 0, err
	}
	defer w.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	text, err := w.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return nil, 0, err
	}
	defer w.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	n, err := w.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return nil, 0, err
	}
	chars := make([]rune, n.Count)
	for c := range chars {
		if u, err := w.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text.TextPage, Index: c}); err == nil {
			chars[c] = rune(u.Unicode)
		}
		if c > 0 && utf16.IsSurrogate(chars[c-1]) && utf16.IsSurrogate(chars[c]) {
			chars[c], chars[c-1] = utf16.DecodeRune(chars[c-1], chars[c]), 0
		}
	}
	hits, count, err := f.in(chars)
	if err != nil {
		return nil, 0, err
	}
	for c := range chars {
		if hits[c] {
			if g, ok := w.glyph(text.TextPage, c); ok {
				g.ink = g.ink && !unicode.IsSpace(chars[c])
				glyphs = append(glyphs, g)
			}
		}
	}
	return glyphs, count, nil
}

// traced finds matches in the content of a page as the walk over it reads it, which knows fonts that PDFium misreads.
func (f *finder) traced(d *document, page object.Dict) (glyphs []glyph, count int, err error) {
	src, err := d.contents(page)
	if err != nil {
		return nil, 0, nil // what cannot be decoded shows nothing
	}
	w := &walker{d: d, record: true}
	w.walk(src, d.Dict(page["Resources"]), unit)
	var tight []rune
	var of []int
	for i, r := range w.chars {
		if r != perhaps {
			tight, of = append(tight, r), append(of, w.of[i])
		}
	}
	found := map[int]bool{}
	for _, read := range []struct {
		chars []rune
		of    []int
	}{{w.chars, w.of}, {tight, of}} {
		hits, n, err := f.in(read.chars)
		if err != nil {
			return nil, 0, err
		}
		count = max(count, n)
		for i := range hits {
			if g := read.of[i]; g >= 0 && !found[g] {
				found[g] = true
				glyphs = append(glyphs, w.glyphs[g])
			}
		}
	}
	slices.SortFunc(glyphs, func(a, b glyph) int {
		return cmp.Or(cmp.Compare(math.Round(b.y), math.Round(a.y)), cmp.Compare(a.x, b.x))
	})
	return glyphs, count, nil
}

// laid finds matches in a page as its text is given out, and the whole lines that hold some: letters that are set loosely,
// accents that are drawn apart, and scripts that run to the left read otherwise there than in the order of the content.
func (f *finder) laid(d *document, page object.Dict) (lines []glyph, count int, err error) {
	page = maps.Clone(page)
	delete(page, "Annots") // they are looked at apart
	seen, _, _ := d.seenOn(page, nil, nil)
	if _, count, err = f.in([]rune(layout(seen))); err != nil || count == 0 {
		return nil, 0, err
	}
	rows(seen, func(row []glued) {
		if err != nil {
			return
		}
		var hit bool
		if hit, err = f.text(lineOf(row)); !hit {
			return
		}
		for _, g := range row {
			b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
			for _, p := range [][2]float64{{g.x, g.y}, {g.ex, g.ey}} {
				for _, up := range []float64{-0.3, 0.95} {
					px, py := p[0]-g.dy*up*g.em, p[1]+g.dx*up*g.em
					b = box{min(b.left, px), min(b.bottom, py), max(b.right, px), max(b.top, py)}
				}
			}
			lines = append(lines, glyph{x: g.x, y: g.y, box: b})
		}
	})
	return lines, count, err
}

// glyph tells where a character stands; ok is false for those that stand nowhere.
func (w *worker) glyph(text references.FPDF_TEXTPAGE, c int) (glyph, bool) {
	o, err := w.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: text, Index: c})
	if err != nil {
		return glyph{}, false
	}
	b, err := w.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: c})
	if err != nil {
		return glyph{}, false
	}
	g := glyph{x: o.X, y: o.Y, box: box{float64(b.Rect.Left), float64(b.Rect.Bottom), float64(b.Rect.Right), float64(b.Rect.Top)}, ink: true}
	if made, err := w.FPDFText_IsGenerated(&requests.FPDFText_IsGenerated{TextPage: text, Index: c}); err == nil && made.IsGenerated {
		g.ink = false
	}
	return g, g.box.right > g.box.left && g.box.top > g.box.bottom
}

// bars are boxes to paint over glyphs, those of one line put together.
func bars(glyphs []glyph) []box {
	var out []box
	for _, g := range glyphs {
		b := g.box
		if n := len(out) - 1; n >= 0 {
			l := out[n]
			height := l.top - l.bottom
			if b.bottom < l.bottom+height/2 && b.top > l.top-height/2 && b.left-l.right < height && l.left-b.right < height {
				out[n] = box{min(l.left, b.left), min(l.bottom, b.bottom), max(l.right, b.right), max(l.top, b.top)}
				continue
			}
		}
		out = append(out, b)
	}
	return out
}
