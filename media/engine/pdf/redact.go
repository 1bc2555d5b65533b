package pdf

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium/requests"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/charset"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// redaction is one run of redact. Pages count from 0.
type redaction struct {
	*finder
	e       *engine
	r       *media.Request
	d       *document
	leaves  []leaf
	label   string
	glyphs  map[int][]glyph
	counts  map[int]int
	drawn   map[int]string // pages that are drawn, with the reason
	notes   map[int]bool   // pages whose annotations match
	strings int
	shows   map[int][]shown // the pictures of each page
	black   map[int]int     // how many of them were blackened
	read    int             // how many pictures were read
	unread  int             // how many were not
	unknown []int           // pages with many characters that are not known, from 1
}

// redact takes matches out of what pages show and what the file says beside them, and looks whether they are gone: in the
// text as PDFium reads it, in every string, and in every stream. What cannot be taken out of a page is drawn over, and the
// page becomes a picture. What is still found then is not given out.
func (e *engine) redact(ctx context.Context, r *media.Request) (media.Result, error) {
	ms, _ := r.Args["match"].([]media.Match)
	ps, err := media.Patterns(ms, r.Limits.WithDefaults().Match)
	if err != nil {
		return media.Result{}, err
	}
	d, err := e.change(ctx, r, &r.In)
	if err != nil {
		return media.Result{}, err
	}
	if d.xfa() {
		return media.Result{}, media.Refusef("%s holds an XFA form, whose content is not on its pages; it cannot be redacted. sanitize removes the XFA form and keeps the pages; redact the result.", r.In.Name)
	}
	x := &redaction{finder: &finder{patterns: ps, found: map[string]bool{}, each: make([]int, len(ps))}, e: e, r: r, d: d,
		leaves: d.leaves(), label: "█", glyphs: map[int][]glyph{}, counts: map[int]int{}, drawn: map[int]string{}, notes: map[int]bool{}}
	if s, ok := r.Args["replace"].(string); ok {
		x.label = s
	}
	if ok, err := x.text(x.label); err != nil {
		return media.Result{}, err
	} else if ok {
		return media.Result{}, media.Failf("the replacement %q matches what is to be redacted. Choose another one.", x.label)
	}
	if err := x.plain(); err != nil {
		return media.Result{}, err
	}
	if err := x.locate(ctx); err != nil {
		return media.Result{}, err
	}
	if err := x.pictures(ctx); err != nil {
		return media.Result{}, err
	}
	if err := x.clear(ctx); err != nil {
		return media.Result{}, err
	}
	var missed []string
	for i, n := range x.each {
		if n == 0 {
			missed = append(missed, describeMatch(ms[i]))
		}
	}
	if len(missed) == len(ps) {
		also := ""
		if x.unread > 0 {
			also = fmt.Sprintf(" Words within its pictures (%d) were not looked for.", x.unread)
		}
		return media.Result{}, media.Failf("nothing in %s matches %s. Nothing was changed.%s", r.In.Name, strings.Join(missed, ", "), also)
	}
	if missed != nil {
		d.warn("Nothing matches %s.", strings.Join(missed, ", "))
	}
	return x.finish(ctx)
}

func describeMatch(m media.Match) string {
	if m.Source != "" {
		return "/" + m.Source + "/" + m.Flags
	}
	return fmt.Sprintf("%q", m.Text)
}

// plain removes what says the text a second time, before anything is looked for: readers take it in place of the text.
func (x *redaction) plain() error {
	d := x.d
	var said []string
	changed := false
	for _, p := range x.leaves {
		src, err := d.contents(p.dict)
		if err != nil {
			continue // the page is looked at again, and drawn if need be
		}
		w := &walker{d: d, strip: true}
		out, differs := w.walk(src, d.Dict(p.dict["Resources"]), unit)
		if said = append(said, w.said...); differs {
			p.dict["Contents"] = d.Add(object.Deflate(out, nil))
		}
		changed = changed || differs || len(w.said) > 0 || w.mended
	}
	d.each(func(o object.Object) {
		v, ok := o.(object.Dict)
		if !ok {
			return
		}
		for _, k := range alternatives {
			if s, ok := d.Resolve(v[k]).(object.String); ok && (k != "E" || v["S"] != nil) {
				said, changed = append(said, s.Text()), true
				delete(v, k)
			}
		}
	})
	for _, s := range said {
		if _, _, err := x.in([]rune(s)); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	data, err := d.Write()
	if err != nil {
		return fail(x.r.In.Name, err)
	}
	f, err := object.Open(data, limits(x.r))
	if err != nil {
		return fail(x.r.In.Name, err)
	}
	d.File, d.data, d.shown, d.known, d.direct, d.masks, d.list = f, data, nil, nil, nil, nil, nil
	x.leaves = d.leaves()
	return nil
}

// locate finds the matches on the pages, and the pages whose annotations show some.
func (x *redaction) locate(ctx context.Context) error {
	box, noted := x.e.choose(x.d.tame(len(x.leaves)))
	return fail(x.r.In.Name, box.run(ctx, func(w *worker) error {
		if err := w.open(x.d.data, ""); err != nil {
			return err
		}
		n, err := w.pages()
		if err != nil {
			return err
		}
		if n != len(x.leaves) {
			return media.Failf("%s is damaged: it is not clear how many pages it has. Open it and save it anew first.", x.r.In.Name)
		}
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			glyphs, count, err := x.search(w, i)
			if err != nil {
				return err
			}
			more, traced, err := x.traced(x.d, x.leaves[i].dict)
			if err != nil {
				return err
			}
			if n := max(count, traced); n > 0 {
				x.glyphs[i], x.counts[i] = append(glyphs, more...), n
				continue
			}
			lines, laid, err := x.laid(x.d, x.leaves[i].dict)
			if err != nil {
				return err
			}
			if laid > 0 {
				x.glyphs[i], x.counts[i] = lines, laid
				x.drawn[i] = "its characters could not be told apart"
			}
		}
		for i := range n {
			if len(x.d.Array(x.leaves[i].dict["Annots"])) == 0 || noted != nil && !noted[i] {
				continue
			}
			more, err := w.flatText(i)
			if err != nil {
				return err
			}
			_, count, err := x.in([]rune(more))
			if err != nil {
				return err
			}
			x.notes[i] = count > x.counts[i]
		}
		return nil
	}))
}

// flatText returns the text of a page with what its annotations show. It changes the document that is open.
func (w *worker) flatText(i int) (string, error) {
	page, err := w.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: w.doc, Index: i})
	if err != nil {
		return "", err
	}
	_, err = w.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: requests.Page{ByReference: &page.Page}, Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
	if _, cerr := w.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}); err == nil {
		err = cerr
	}
	if err != nil {
		return "", err
	}
	return w.pageText(i)
}

// clear takes the matches out of the objects.
func (x *redaction) clear(ctx context.Context) error {
	d := x.d
	d.disarm()
	d.forget()
	for i, p := range x.leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.page(i, p.dict); err != nil {
			return err
		}
		if x.notes[i] {
			x.annotations(p.dict)
		}
	}
	for _, n := range d.All() {
		r := object.Ref{Num: n}
		o, err := x.scrub(d.Get(r), 0)
		if err != nil {
			return err
		}
		d.Set(r, o)
	}
	return nil
}

// page takes matches out of the content of a page, or gives the page up to be drawn.
func (x *redaction) page(i int, page object.Dict) error {
	glyphs := x.glyphs[i]
	src, err := x.d.contents(page)
	if err != nil {
		if len(glyphs) > 0 {
			x.drawn[i] = "its content cannot be decoded"
		}
		return nil
	}
	if len(glyphs) == 0 && x.counts[i] == 0 {
		return nil
	}
	covered := false
	w := &walker{d: x.d}
	if len(glyphs) > 0 {
		w.drop = func(px, py float64) bool {
			hit := false
			for k := range glyphs {
				g := &glyphs[k]
				near := math.Max(0.4, 0.06*(g.box.top-g.box.bottom))
				if math.Abs(px-g.x) < near && math.Abs(py-g.y) < near {
					g.met, hit = true, true
				}
			}
			return hit
		}
		w.image = func(b box, _ *object.Stream) {
			for _, g := range glyphs {
				covered = covered || b.meets(g.box)
			}
		}
	}
	out, _ := w.walk(src, x.d.Dict(page["Resources"]), unit)
	lost := false
	for _, g := range glyphs {
		lost = lost || g.ink && !g.met
	}
	_, already := x.drawn[i]
	switch {
	case already:
	case len(glyphs) == 0 && x.counts[i] > 0, lost:
		x.drawn[i] = "its characters could not be told apart"
	case covered:
		x.drawn[i] = "a picture lies where the words are"
	case w.limit:
		x.drawn[i] = "its content is nested too deep"
	}
	if len(glyphs) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("q\n")
	b.Write(out)
	b.WriteString(strings.Repeat("\nQ", w.open+1) + "\n")
	if err := x.paint(&b, page, bars(glyphs)); err != nil {
		return err
	}
	page["Contents"] = x.d.Add(object.Deflate(b.Bytes(), nil))
	return nil
}

// paint covers the places with bars, and writes the replacement there.
func (x *redaction) paint(b *bytes.Buffer, page object.Dict, at []box) error {
	if len(at) == 0 || x.label == "" {
		return nil
	}
	words := strings.Trim(x.label, "█") != ""
	if words {
		for _, c := range x.label {
			if c < 0x20 || c > 0x7e {
				words = false
				x.d.warn("The replacement %q has characters that the standard fonts of PDF lack; black bars stand in its place.", x.label)
				break
			}
		}
	}
	for _, r := range at {
		shade := 0.0
		if words {
			shade = 0.85
		}
		fmt.Fprintf(b, "q %.2f g %.2f %.2f %.2f %.2f re f Q\n", shade, r.left, r.bottom, r.right-r.left, r.top-r.bottom)
		if !words {
			continue
		}
		size := (r.top - r.bottom) * 0.75
		width := 0.0
		for _, c := range x.label {
			width += charset.Standard("Helvetica").Char[string(c)] / 1000 * size
		}
		fmt.Fprintf(b, "q BT 0 g /TackleLabel %.2f Tf %.1f Tz %.2f %.2f Td ", size, min(100, 100*(r.right-r.left)/width), r.left, r.bottom+size*0.3)
		object.Print(b, object.String(x.label))
		b.WriteString(" Tj ET Q\n")
	}
	if words {
		res := cloned(x.d.Dict(page["Resources"]))
		fonts := cloned(x.d.Dict(res["Font"]))
		fonts["TackleLabel"] = object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Helvetica"), "Encoding": object.Name("WinAnsiEncoding")}
		res["Font"] = fonts
		page["Resources"] = res
	}
	return nil
}

func cloned(d object.Dict) object.Dict {
	out := object.Dict{}
	for k, v := range d {
		out[k] = v
	}
	return out
}

// annotations removes those that show text, and empties fields of forms.
func (x *redaction) annotations(page object.Dict) {
	kept := object.Array{}
	for _, a := range x.d.Array(page["Annots"]) {
		v := x.d.Dict(a)
		switch x.d.Name(v["Subtype"]) {
		case "Link":
		case "Widget":
			for f := v; f != nil; f = x.d.Dict(f["Parent"]) {
				for _, k := range []object.Name{"V", "DV", "RV", "AP", "Opt"} {
					delete(f, k)
				}
				if f["Parent"] == nil || f["T"] != nil && f["FT"] != nil {
					break
				}
			}
		default:
			clear(v) // others may refer to it, as popups do
			continue
		}
		kept = append(kept, a)
	}
	page["Annots"] = kept
}

// scrub takes matches out of all strings of an object: titles, notes, values, names of attachments, and so on.
func (x *redaction) scrub(o object.Object, depth int) (object.Object, error) {
	if depth > 200 {
		return nil, nil
	}
	var err error
	switch v := o.(type) {
	case object.String:
		text := v.Text()
		hits, _, err := x.in([]rune(text))
		if err != nil || len(hits) == 0 {
			return o, err
		}
		x.strings++
		label := x.label
		if strings.Trim(label, "█") == "" {
			label = ""
		}
		clean, _, err := media.Replace(text, x.patterns, label)
		if again, e := x.text(clean); err == nil && (again || e != nil) {
			clean, err = label, e
		}
		return object.TextString(clean), err
	case object.Array:
		for i := range v {
			if v[i], err = x.scrub(v[i], depth+1); err != nil {
				return nil, err
			}
		}
	case object.Dict:
		before := x.strings
		for k, e := range v {
			if v[k], err = x.scrub(e, depth+1); err != nil {
				return nil, err
			}
		}
		if x.strings > before && v["AP"] != nil {
			delete(v, "AP") // it shows what the strings said
		}
	case *object.Stream:
		if _, err := x.scrub(v.Dict, depth+1); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// finish draws the pages that have to be, checks the file, and draws again what did not pass.
func (x *redaction) finish(ctx context.Context) (media.Result, error) {
	done := map[int]bool{}
	for round := 0; ; round++ {
		if err := x.raster(ctx, done); err != nil {
			return media.Result{}, err
		}
		res, err := x.d.written()
		if err != nil {
			return res, err
		}
		bad, elsewhere, err := x.verify(ctx, res.Media.Data)
		if err != nil {
			return media.Result{}, err
		}
		if len(bad) == 0 && elsewhere == "" {
			x.report(&res)
			return res, nil
		}
		again := elsewhere == ""
		for _, i := range bad {
			if _, ok := x.drawn[i]; ok {
				again = false // not even as a picture
			}
			x.drawn[i] = "words were still found in its content"
		}
		if !again || round > 2 {
			if elsewhere == "" {
				elsewhere = "page " + fmt.Sprint(bad[0]+1)
			}
			return media.Result{}, media.Refusef("%s cannot be redacted safely: after the removal the words were still found in %s. Nothing is given out. convert to=txt and redact the text, or redact the document that the PDF was made of.", x.r.In.Name, elsewhere)
		}
	}
}

// report says what was done to which page.
func (x *redaction) report(res *media.Result) {
	var removed []string
	for i := range x.leaves {
		n := x.counts[i]
		res.Counts.Modified += n
		switch why, drawn := x.drawn[i]; {
		case drawn:
			res.Warnings = append(res.Warnings, fmt.Sprintf("Page %d: rasterised at %d dpi, because %s; %d matches. Its text and links are gone.", i+1, drawnDPI, why, n))
		case n > 0:
			removed = append(removed, fmt.Sprintf("page %d: %d", i+1, n))
		}
		if x.notes[i] {
			res.Warnings = append(res.Warnings, fmt.Sprintf("Page %d: its annotations showed matches; notes were removed and fields emptied.", i+1))
		}
	}
	if removed != nil {
		res.Warnings = append(res.Warnings, "Content removed ("+strings.Join(removed, ", ")+"), and checked in the text, every string and every stream of the result.")
	}
	if x.strings > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d matches were removed from outlines, fields, notes and other strings.", x.strings))
		res.Counts.Modified += x.strings
	}
	if x.unknown != nil {
		res.Warnings = append(res.Warnings, "Pages with characters whose meaning is not known, in which words may have been missed: "+ranges(x.unknown)+".")
	}
	for _, i := range slices.Sorted(maps.Keys(x.black)) {
		res.Warnings = append(res.Warnings, fmt.Sprintf("Page %d: pictures that show words that match are black now (%d).", i+1, x.black[i]))
		res.Counts.Modified += x.black[i]
	}
	res.Warnings = append(res.Warnings, "Metadata, alternatives for text, attachments, scripts and earlier revisions were removed.")
	switch {
	case x.unread > 0 && x.r.ReadPicture == nil:
		res.Warnings = append(res.Warnings, fmt.Sprintf("The file holds pictures (%d); words within them were not looked for, because nothing here reads pictures.", x.unread))
	case x.unread > 0:
		res.Warnings = append(res.Warnings, fmt.Sprintf("Words within %d pictures could not be looked for.", x.unread))
	}
	if x.read > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("Words in %d pictures were looked for by OCR, which misses some.", x.read))
	}
}
