package pdf

import (
	"bytes"
	"math"
	"strings"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// matrix is a transformation [a b c d e f]: x' = ax+cy+e, y' = bx+dy+f.
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0}

// then is m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5]}
}

func (m matrix) at(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

type box struct{ left, bottom, right, top float64 }

func (b box) meets(c box) bool {
	return b.left < c.right && c.left < b.right && b.bottom < c.top && c.bottom < b.top
}

// around is the box of the unit square under a transformation.
func around(m matrix) box {
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		x, y := m.at(p[0], p[1])
		b = box{min(b.left, x), min(b.bottom, y), max(b.right, x), max(b.top, y)}
	}
	return b
}

type textState struct {
	font               *font
	size               float64
	space, words, lead float64
	stretch, rise      float64
	ctm                matrix
}

// walker goes over content streams as a viewer does, and can leave glyphs out on its way.
type walker struct {
	d *document
	// drop says whether the glyph whose origin is at x, y on the page is to be left out. nil drops none.
	drop func(x, y float64) bool
	// image is told the box of each picture, and the picture; nil for one that stands within the content.
	image func(b box, s *object.Stream)
	// strip removes alternatives for text from marked content.
	strip bool
	text  strings.Builder
	// chars are those of text, when record is set, and of says which of glyphs each belongs to, -1 for none.
	record bool
	chars  []rune
	of     []int
	glyphs []glyph
	pen    *[2]float64 // where the last glyph ended
	depth  int
	steps  int
	open   int // q without Q at the end of the outermost stream
	limit  bool
	said   []string // the alternatives that were met
	mended bool     // a form that shows itself was taken out of it

	// reading collects what is shown in seen, and changes nothing.
	reading bool
	seen    []char
	spans   []tagged
	unsure  int         // characters that are not known
	most    int         // bound of operators, if not 0
	stop    func() bool // asked now and then
}

// shownForm is a form as it was, and which of its glyphs were left out so far, on whatever page.
type shownForm struct {
	open bool // it is being walked over: a form within itself shows nothing more
	src  []byte
	gone map[int]bool
}

// walk goes over a stream with its resources and returns it without what was dropped; changed says whether that differs.
func (w *walker) walk(src []byte, res object.Dict, ctm matrix) (out []byte, changed bool) {
	return w.walkForm(src, res, ctm, nil)
}

func (w *walker) walkForm(src []byte, res object.Dict, ctm matrix, form *shownForm) (out []byte, changed bool) {
	if w.depth > 20 {
		w.limit = true
		return src, false
	}
	w.depth++
	defer func() { w.depth-- }()
	c := &stream{w: w, form: form, res: res, l: object.NewLexer(src), src: src, st: textState{stretch: 1, ctm: ctm}, tm: unit, lm: unit}
	for c.step() {
		if w.steps++; w.steps > 20_000_000 || w.most > 0 && w.steps > w.most || w.steps&0xfff == 0 && w.stop != nil && w.stop() {
			w.limit = true
			return src, false
		}
	}
	if w.depth == 1 {
		w.open = len(c.stack)
	}
	if !c.changed {
		return src, false
	}
	c.out.Write(src[c.copied:])
	return c.out.Bytes(), true
}

// stream is the walk over one content stream.
type stream struct {
	w       *walker
	res     object.Dict
	l       *object.Lexer
	src     []byte
	out     bytes.Buffer
	copied  int
	changed bool
	args    []object.Object
	from    int // where the operands of the next operator begin
	st      textState
	stack   []textState
	tm, lm  matrix
	form    *shownForm
	glyphs  int
}

// replace puts other bytes in the place of the operator that ends here.
func (c *stream) replace(b []byte) {
	c.out.Write(c.src[c.copied:c.from])
	c.out.Write(b)
	c.copied, c.changed = c.l.Pos(), true
}

func (c *stream) num(i int) float64 {
	if i < len(c.args) {
		v, _ := object.Number(c.args[i])
		return v
	}
	return 0
}

func (c *stream) step() bool {
	if len(c.args) == 0 {
		c.l.SkipSpace()
		c.from = c.l.Pos()
	}
	o, ok := c.l.Next()
	if !ok {
		return false
	}
	op, isOp := o.(object.Keyword)
	if !isOp {
		if len(c.args) < 1000 {
			c.args = append(c.args, o)
		}
		return true
	}
	c.operator(string(op))
	c.args = nil
	return true
}

func (c *stream) operator(op string) {
	switch op {
	case "q":
		if len(c.stack) < 1000 {
			c.stack = append(c.stack, c.st)
		}
	case "Q":
		if n := len(c.stack); n > 0 {
			c.st, c.stack = c.stack[n-1], c.stack[:n-1]
		}
	case "cm":
		c.st.ctm = c.matrix().then(c.st.ctm)
	case "gs":
		if n, ok := c.arg(0).(object.Name); ok {
			if f := c.w.d.Array(c.w.d.Dict(c.w.d.Dict(c.res["ExtGState"])[n])["Font"]); len(f) == 2 {
				c.st.font = c.w.d.knownFont(f[0])
				c.st.size, _ = object.Number(c.w.d.Resolve(f[1]))
			}
		}
	case "Do":
		c.do()
	case "BI":
		c.inline()
	case "BDC", "DP", "BMC", "EMC":
		if c.w.reading {
			c.tagged(op)
		} else if op == "BDC" || op == "DP" {
			c.mark(op)
		}
	default:
		c.textOperator(op)
	}
}

func (c *stream) arg(i int) object.Object {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

func (c *stream) matrix() matrix {
	var m matrix
	for i := range m {
		m[i] = c.num(i)
	}
	return m
}

func (c *stream) textOperator(op string) {
	switch op {
	case "BT":
		c.tm, c.lm = unit, unit
	case "Tf":
		if n, ok := c.arg(0).(object.Name); ok {
			c.st.font = c.font(n)
		}
		c.st.size = c.num(1)
	case "Tc":
		c.st.space = c.num(0)
	case "Tw":
		c.st.words = c.num(0)
	case "Tz":
		c.st.stretch = c.num(0) / 100
	case "TL":
		c.st.lead = c.num(0)
	case "Ts":
		c.st.rise = c.num(0)
	case "Td":
		c.move(c.num(0), c.num(1))
	case "TD":
		c.st.lead = -c.num(1)
		c.move(c.num(0), c.num(1))
	case "Tm":
		c.lm = c.matrix()
		c.tm = c.lm
	case "T*":
		c.move(0, -c.st.lead)
	case "Tj":
		c.show("", object.Array{c.arg(0)})
	case "TJ":
		a, _ := c.arg(0).(object.Array)
		c.show("", a)
	case "'":
		c.move(0, -c.st.lead)
		c.show("T* ", object.Array{c.arg(0)})
	case `"`:
		c.st.words, c.st.space = c.num(0), c.num(1)
		c.move(0, -c.st.lead)
		var b bytes.Buffer
		object.Print(&b, c.arg(0))
		b.WriteString(" Tw ")
		object.Print(&b, c.arg(1))
		b.WriteString(" Tc T* ")
		c.show(b.String(), object.Array{c.arg(2)})
	}
}

func (c *stream) move(x, y float64) {
	c.lm = matrix{1, 0, 0, 1, x, y}.then(c.lm)
	c.tm = c.lm
}

func (c *stream) font(n object.Name) *font { return c.w.d.knownFont(c.w.d.Dict(c.res["Font"])[n]) }

// show goes over shown text. Glyphs that are left out leave their width behind, so that everything else keeps its place.
func (c *stream) show(before string, list object.Array) {
	st := &c.st
	if st.font == nil {
		st.font = c.w.d.knownFont(nil)
	}
	if c.w.reading {
		c.see(list)
		return
	}
	var out object.Array
	dropped := false
	for _, e := range list {
		s, ok := e.(object.String)
		if !ok {
			if v, ok := object.Number(e); ok {
				c.forth(-v / 1000 * st.size)
				out = append(out, e)
			}
			continue
		}
		var kept []byte
		for len(s) > 0 {
			code, size := st.font.next(s)
			raw := s[:size]
			s = s[size:]
			shape := st.font.shapeOf(code, size)
			x, y := c.tm.then(st.ctm).at(0, st.rise)
			step := st.step(shape, raw)
			at := c.tm
			c.forth(step)
			if !c.leaves(x, y) {
				kept = append(kept, raw...)
				c.read(shape.text, at, shape.width*st.size*st.stretch)
				continue
			}
			dropped = true
			if len(kept) > 0 {
				out = append(out, object.String(kept))
				kept = nil
			}
			if st.size != 0 {
				out = append(out, -step/st.size*1000)
			}
		}
		if len(kept) > 0 {
			out = append(out, object.String(kept))
		}
	}
	if dropped {
		var b bytes.Buffer
		b.WriteString(before)
		object.Print(&b, out)
		b.WriteString(" TJ")
		c.replace(b.Bytes())
	}
}

// step is how far a glyph moves on, before stretching.
func (st *textState) step(s shape, raw object.String) float64 {
	step := s.width*st.size + st.space
	if st.font.down != 0 {
		step = st.font.down*st.size + st.space
	}
	if raw == " " {
		step += st.words
	}
	return step
}

// forth moves on in the direction of writing.
func (c *stream) forth(step float64) {
	if f := c.st.font; f != nil && f.down != 0 {
		c.tm = matrix{1, 0, 0, 1, 0, step}.then(c.tm)
		return
	}
	c.tm = matrix{1, 0, 0, 1, step * c.st.stretch, 0}.then(c.tm)
}

// read takes note of a glyph: a gap before it is a blank, another height another line.
func (c *stream) read(text string, tm matrix, width float64) {
	if strings.TrimSpace(text) == "" {
		return // some programs put blanks without width into words; the gap says what is seen
	}
	w, m := c.w, tm.then(c.st.ctm)
	x, y := m.at(0, c.st.rise)
	dx, dy := m.at(1, c.st.rise)
	dx, dy = dx-x, dy-y
	long := math.Hypot(dx, dy)
	em := long * math.Abs(c.st.size)
	if w.pen != nil && em > 0 {
		gx, gy := x-w.pen[0], y-w.pen[1]
		along, across := (gx*dx+gy*dy)/long, math.Abs(gx*dy-gy*dx)/long
		switch {
		case across > 0.4*em:
			w.put("\n", -1)
		case along > 0.25*em || along < -0.4*em:
			w.put(" ", -1)
		case along > 0.12*em:
			w.put(string(perhaps), -1)
		}
	}
	ex, ey := m.at(width, c.st.rise)
	w.pen = &[2]float64{ex, ey}
	g := -1
	if w.record && len(w.glyphs) < 5_000_000 {
		b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		for _, p := range [][2]float64{{0, -0.25}, {width, -0.25}, {0, 0.85}, {width, 0.85}} {
			px, py := m.at(p[0], c.st.rise+p[1]*c.st.size)
			b = box{min(b.left, px), min(b.bottom, py), max(b.right, px), max(b.top, py)}
		}
		g = len(w.glyphs)
		w.glyphs = append(w.glyphs, glyph{x: x, y: y, box: b, ink: true})
	}
	w.put(text, g)
}

// perhaps is a gap that may be a blank, or the loose setting of a word.
const perhaps = '\u200a'

func (w *walker) put(s string, g int) {
	w.text.WriteString(s)
	if w.record {
		for _, r := range s {
			w.chars, w.of = append(w.chars, r), append(w.of, g)
		}
	}
}

// leaves reports whether the glyph at x, y is to be left out here, or was before, where a form is shown again.
func (c *stream) leaves(x, y float64) bool {
	c.glyphs++
	drop := c.w.drop != nil && c.w.drop(x, y)
	if c.form != nil {
		if drop {
			c.form.gone[c.glyphs] = true
		}
		return c.form.gone[c.glyphs]
	}
	return drop
}

// do draws a picture or a form. A form that loses glyphs is changed where it stands, for every page that shows it.
func (c *stream) do() {
	d, w := c.w.d, c.w
	n, _ := c.arg(0).(object.Name)
	entry := d.Dict(c.res["XObject"])[n]
	s, ok := d.Resolve(entry).(*object.Stream)
	if !ok {
		return
	}
	switch d.Name(s.Dict["Subtype"]) {
	case "Image":
		if w.image != nil {
			w.image(around(c.st.ctm), s)
		}
	case "Form":
		f := d.shown[s]
		if f == nil {
			data, _, err := d.Decode(s)
			if err != nil {
				w.limit = true
				return
			}
			f = &shownForm{src: data, gone: map[int]bool{}}
			if d.shown == nil {
				d.shown = map[*object.Stream]*shownForm{}
			}
			d.shown[s] = f
		}
		m := unit
		if v := d.Numbers(s.Dict["Matrix"]); len(v) == 6 {
			m = matrix(v)
		}
		res := d.Dict(s.Dict["Resources"])
		if res == nil {
			res = c.res
		}
		if f.open {
			if w.strip { // PDFium would not come to an end
				delete(d.Dict(c.res["XObject"]), n)
				w.mended = true
			}
			return
		}
		f.open = true
		out, changed := w.walkForm(f.src, res, m.then(c.st.ctm), f)
		if f.open = false; changed {
			// The same stream, so that all who refer to it see the change.
			made := object.Deflate(out, s.Dict)
			s.Raw, s.Dict = made.Raw, made.Dict
		}
	}
}

// inline passes over a picture within the stream.
func (c *stream) inline() {
	if c.w.image != nil {
		c.w.image(around(c.st.ctm), nil)
	}
	for {
		o, ok := c.l.Next()
		if !ok {
			return
		}
		if o == object.Keyword("ID") {
			break
		}
	}
	at := c.l.Pos() + 1
	for at < len(c.src) {
		i := bytes.Index(c.src[at:], []byte("EI"))
		if i < 0 {
			c.l.Seek(len(c.src))
			return
		}
		at += i
		blank := func(k int) bool {
			return k < 0 || k >= len(c.src) || strings.IndexByte(" \n\r\t\x00", c.src[k]) >= 0
		}
		if blank(at-1) && blank(at+2) && printable(c.src[at+2:min(at+20, len(c.src))]) {
			c.l.Seek(at + 2)
			return
		}
		at += 2
	}
	c.l.Seek(len(c.src))
}

func printable(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f || c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != 0 {
			return false
		}
	}
	return true
}

// mark looks at the properties of marked content, which may hold the text once more.
func (c *stream) mark(op string) {
	props, ok := c.arg(1).(object.Dict)
	if !ok {
		props = c.w.d.Dict(c.w.d.Dict(c.res["Properties"])[nameOf(c.arg(1))])
		if c.w.strip {
			for _, k := range alternatives {
				c.say(props[k])
				delete(props, k)
			}
		}
		return
	}
	found := false
	for _, k := range alternatives {
		if props[k] != nil {
			found = true
			c.say(props[k])
			delete(props, k)
		}
	}
	if found && c.w.strip {
		var b bytes.Buffer
		object.Print(&b, c.arg(0))
		b.WriteByte(' ')
		object.Print(&b, props)
		b.WriteString(" " + op)
		c.replace(b.Bytes())
	}
}

func (c *stream) say(o object.Object) {
	if s, ok := c.w.d.Resolve(o).(object.String); ok {
		c.w.said = append(c.w.said, s.Text())
	}
}

func nameOf(o object.Object) object.Name {
	n, _ := o.(object.Name)
	return n
}

// alternatives are the entries that say text a second time.
var alternatives = []object.Name{"ActualText", "Alt", "E"}

// contents returns the content of a page, its parts put together.
func (d *document) contents(page object.Dict) ([]byte, error) {
	var out []byte
	add := func(o object.Object) error {
		s, ok := d.Resolve(o).(*object.Stream)
		if !ok {
			return nil
		}
		data, _, err := d.Decode(s)
		out = append(append(out, data...), '\n')
		return err
	}
	if a := d.Array(page["Contents"]); a != nil {
		for _, e := range a {
			if err := add(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return out, add(page["Contents"])
}
