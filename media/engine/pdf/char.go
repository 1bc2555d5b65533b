package pdf

import (
	"math"
	"strings"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// char is what one code shows on a page: where it begins and ends on its line of writing, in which direction that runs, and
// how large it is.
type char struct {
	text   string
	x, y   float64
	ex, ey float64
	dx, dy float64 // of length 1
	em     float64
}

// tagged is marked content that is open.
type tagged struct {
	actual string // the text that stands for it
	is     bool
	from   int // the first of its characters
}

// see takes note of shown text.
func (c *stream) see(list object.Array) {
	st, w := &c.st, c.w
	f := st.font
	m := c.tm.then(st.ctm)
	across, tall := math.Hypot(m[0], m[1]), math.Hypot(m[2], m[3])
	em := tall * math.Abs(st.size)
	dx, dy := m[0]/across, m[1]/across
	if st.size*st.stretch < 0 {
		dx, dy = -dx, -dy
	}
	if f.down != 0 {
		dx, dy, em = -m[2]/tall, -m[3]/tall, across*math.Abs(st.size)
	}
	if f.rescaled { // the size of its glyphs is what its matrix makes of it
		em = max(em, across*math.Abs(st.size)) * f.tall
	}
	at := 0.0
	place := func(at float64) (x, y float64) {
		if f.down != 0 {
			return m.at(0, at)
		}
		return m.at(at*st.stretch, st.rise)
	}
	for _, e := range list {
		s, ok := e.(object.String)
		if !ok {
			if v, ok := object.Number(e); ok {
				at -= v / 1000 * st.size
			}
			continue
		}
		for len(s) > 0 {
			code, size := f.next(s)
			raw := s[:size]
			s = s[size:]
			shape := f.shapeOf(code, size)
			step := st.step(shape, raw)
			if !shape.known {
				w.unsure++
			}
			if len(w.seen) >= mostSeen {
				w.limit = true
				return
			}
			if shape.text != "" && em > 0 && across > 0 {
				x, y := place(at)
				width := shape.width * st.size
				if f.down != 0 {
					width = f.down * st.size
				}
				ex, ey := place(at + width)
				w.seen = append(w.seen, char{shape.text, x, y, ex, ey, dx, dy, em})
			}
			at += step
		}
	}
	c.forth(at)
}

// tagged follows marked content, which may say what its characters stand for.
func (c *stream) tagged(op string) {
	w := c.w
	switch op {
	case "BMC":
		w.spans = append(w.spans, tagged{})
	case "BDC":
		props, ok := c.arg(1).(object.Dict)
		if !ok {
			props = w.d.Dict(w.d.Dict(c.res["Properties"])[nameOf(c.arg(1))])
		}
		s, is := w.d.Resolve(props["ActualText"]).(object.String)
		w.spans = append(w.spans, tagged{s.Text(), is, len(w.seen)})
	case "EMC":
		n := len(w.spans) - 1
		if n < 0 {
			return
		}
		s := w.spans[n]
		if w.spans = w.spans[:n]; !s.is || s.from >= len(w.seen) {
			return
		}
		first, last := w.seen[s.from], w.seen[len(w.seen)-1]
		w.seen = w.seen[:s.from]
		if strings.TrimSpace(s.actual) != "" {
			first.text, first.ex, first.ey = s.actual, last.ex, last.ey
			w.seen = append(w.seen, first)
		}
	}
}

// seenOn returns what a page shows, with what its annotations show; ok is false where more than one
// character in twenty is not known. picture says that it shows a
// picture. What is seen takes the place of what is in room.
func (d *document) seenOn(page object.Dict, room []char, stop func() bool) (seen []char, picture, ok bool) {
	src, err := d.contents(page)
	if err != nil {
		return room[:0], false, false
	}
	w := &walker{d: d, reading: true, most: readMost, stop: stop, seen: room[:0], image: func(box, *object.Stream) { picture = true }}
	w.walk(src, d.Dict(page["Resources"]), unit)
	for _, a := range d.Array(page["Annots"]) {
		w.spans = nil
		w.look(d.Dict(a))
	}
	return w.seen, picture, w.unsure*20 <= len(w.seen) && !w.limit
}

// mostSeen is how many characters of a page are read.
const mostSeen = 4_000_000

// readMost is how many operators are read of a page before it is left to PDFium, whose calls can be stopped.
const readMost = 3_000_000

// look reads what an annotation shows: its look, laid into its rectangle.
func (w *walker) look(a object.Dict) {
	const hidden, noView = 1 << 1, 1 << 5
	d := w.d
	if d.Int(a["F"], 0)&(hidden|noView) != 0 || d.Name(a["Subtype"]) == "Popup" {
		return
	}
	if w.untold(a) {
		return
	}
	o := d.Resolve(d.Dict(a["AP"])["N"])
	if states, ok := o.(object.Dict); ok {
		o = d.Resolve(states[d.Name(a["AS"])])
	}
	s, ok := o.(*object.Stream)
	rect, bbox := d.Numbers(a["Rect"]), []float64(nil)
	if ok {
		bbox = d.Numbers(s.Dict["BBox"])
	}
	if len(rect) != 4 || len(bbox) != 4 {
		return
	}
	m := unit
	if v := d.Numbers(s.Dict["Matrix"]); len(v) == 6 {
		m = matrix(v)
	}
	b := around(matrix{bbox[2] - bbox[0], 0, 0, bbox[3] - bbox[1], bbox[0], bbox[1]}.then(m))
	if b.right-b.left == 0 || b.top-b.bottom == 0 {
		return
	}
	sx, sy := math.Abs(rect[2]-rect[0])/(b.right-b.left), math.Abs(rect[3]-rect[1])/(b.top-b.bottom)
	fit := matrix{sx, 0, 0, sy, min(rect[0], rect[2]) - b.left*sx, min(rect[1], rect[3]) - b.bottom*sy}
	data, _, err := d.Decode(s)
	if err != nil {
		w.limit = true
		return
	}
	from, unsure := len(w.seen), w.unsure
	w.walk(data, d.Dict(s.Dict["Resources"]), m.then(fit))
	if w.unsure > unsure && d.Name(a["Subtype"]) == "Widget" {
		w.seen, w.unsure = w.seen[:from], unsure // its value says what it means to show
		w.says(a, rect)
	}
}

// untold reads the annotations that come without a look and for which viewers make one: text in the form's fields, and
// text that stands on the page.
func (w *walker) untold(a object.Dict) bool {
	d := w.d
	if d.Dict(a["AP"])["N"] != nil {
		return false
	}
	if rect := d.Numbers(a["Rect"]); len(rect) == 4 {
		w.says(a, rect)
	}
	return true
}

// says takes what an annotation says instead of what it shows.
func (w *walker) says(a object.Dict, rect []float64) {
	d := w.d
	text := ""
	switch d.Name(a["Subtype"]) {
	case "FreeText":
		s, _ := d.Resolve(a["Contents"]).(object.String)
		text = s.Text()
	case "Line":
		if d.Resolve(a["Cap"]) == true {
			s, _ := d.Resolve(a["Contents"]).(object.String)
			text = s.Text()
		}
	case "Widget":
		if kind := d.Name(d.field(a, "FT")); kind == "Tx" || kind == "Ch" {
			switch v := d.field(a, "V").(type) {
			case object.String:
				text = v.Text()
			case object.Array:
				for _, o := range v {
					s, _ := d.Resolve(o).(object.String)
					text += s.Text() + "\n"
				}
			}
		}
	}
	x, y := min(rect[0], rect[2]), max(rect[1], rect[3])
	em := max(1, min(12, math.Abs(rect[3]-rect[1])))
	for line := range strings.Lines(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)) {
		y -= em
		w.seen = append(w.seen, char{line, x, y, x + em, y, 1, 0, em})
	}
}

// field returns an entry of a field of the form, which may stand in one above it.
func (d *document) field(a object.Dict, k object.Name) object.Object {
	for range 20 {
		if v := d.Resolve(a[k]); v != nil {
			return v
		}
		if a = d.Dict(a["Parent"]); a == nil {
			break
		}
	}
	return nil
}
