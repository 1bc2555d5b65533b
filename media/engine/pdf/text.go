package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// ocrDPI is what pages are drawn at to be read.
const ocrDPI = 200

// session opens a document in a worker and counts its pages.
func (e *engine) session(ctx context.Context, r *media.Request, do func(w *worker, pages int) error) error {
	return e.sessionIn(ctx, e.box, r, do)
}

func (e *engine) sessionIn(ctx context.Context, box *sandbox, r *media.Request, do func(w *worker, pages int) error) error {
	err := box.run(ctx, func(w *worker) error {
		if err := w.open(r.In.Data, password(r)); err != nil {
			return err
		}
		n, err := w.pages()
		if err != nil {
			return err
		}
		if limit := r.Limits.WithDefaults().Pages; n > limit {
			return media.Failf("%s has %d pages, more than the %d that are allowed.", r.In.Name, n, limit)
		}
		return do(w, n)
	})
	return fail(r.In.Name, err)
}

func (e *engine) toText(ctx context.Context, r *media.Request) (media.Result, error) {
	pages, warnings, err := e.read(ctx, r)
	if err != nil {
		return media.Result{}, err
	}
	text := strings.TrimSpace(strings.Join(pages, "\n\n"))
	if text != "" {
		text += "\n"
	}
	return media.Result{Media: &media.Payload{Data: []byte(text)}, Warnings: warnings}, nil
}

// read gives the text of each page. Pages without text that show something are pictures, and are read as such where
// something here can.
func (e *engine) read(ctx context.Context, r *media.Request) (pages, warnings []string, err error) {
	force := r.Args["ocr"] == "force"
	pages, pictured, hard, err := e.shown(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if hard == nil || len(hard) > 0 {
		if pages, err = e.readHard(ctx, r, pages, hard); err != nil {
			return nil, nil, err
		}
	}
	var look []int // pages that may be pictures
	for i := range pages {
		if force || strings.TrimSpace(pages[i]) == "" {
			look = append(look, i)
		}
	}
	pictures, unread, err := e.look(ctx, r, look, pictured)
	if err != nil {
		return nil, nil, err
	}
	for i := range pages { // with the worker free again: reading may take long
		if pictures[i] == nil {
			continue
		}
		name := fmt.Sprintf("%s-page%d.png", media.Base(r.In.Name), i+1)
		t, err := r.ReadPicture(ctx, media.Payload{Data: pictures[i], MIME: "image/png", Name: name})
		if err != nil {
			return nil, nil, err
		}
		pages[i] = t
	}
	if len(pictures) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d pages were read by OCR, which makes mistakes.", len(pictures), len(pages)))
	}
	if len(unread) == 0 {
		return pages, warnings, nil
	}
	if len(unread) == len(pages) && r.Args["ocr"] != "off" {
		return nil, nil, &media.Error{Code: media.EngineRequired, Verb: "extract.text", Final: true,
			Message: fmt.Sprintf("%s has no text, only pictures of its pages, and reading those needs an OCR engine, which this deployment does not have.", r.In.Name)}
	}
	return pages, append(warnings, fmt.Sprintf("Pages without text that was read, because they are pictures: %s.", ranges(unread))), nil
}

// readable opens a file to read its pages from their content, its cipher taken away; nil where it is not whole, or has no pages
// that can be found.
func (e *engine) readable(ctx context.Context, r *media.Request) (*document, error) {
	f, err := object.Open(r.In.Data, limits(r))
	if err != nil || f.Repaired {
		return nil, nil // PDFium says what is wrong with it
	}
	d := &document{File: f, name: r.In.Name}
	if f.Encrypted {
		if d, err = e.load(ctx, r, &r.In); err != nil {
			return nil, err
		}
	}
	if len(d.leaves()) == 0 {
		return nil, nil
	}
	return d, d.count(r)
}

// shown reads the text of the pages from their content, which needs no PDFium. It returns the pages whose characters
// it does not know; nil for all pages, where the file is not whole. pictured are the pages that show pictures, from 0.
func (e *engine) shown(ctx context.Context, r *media.Request) (pages []string, pictured map[int]bool, hard []int, err error) {
	d, err := e.readable(ctx, r)
	if d == nil || err != nil {
		return nil, nil, nil, err
	}
	leaves := d.leaves()
	pages, pictured, hard = make([]string, len(leaves)), map[int]bool{}, []int{}
	var seen []char
	for i, p := range leaves {
		var picture, ok bool
		seen, picture, ok = d.seenOn(p.dict, seen, func() bool { return ctx.Err() != nil })
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		if !ok {
			hard = append(hard, i)
			continue
		}
		pages[i], pictured[i] = clean(layout(seen)), picture
	}
	return pages, pictured, hard, nil
}

// readHard has PDFium read pages; nil means all.
func (e *engine) readHard(ctx context.Context, r *media.Request, pages []string, hard []int) ([]string, error) {
	box, noted := e.choose(tame(r))
	err := e.sessionIn(ctx, box, r, func(w *worker, n int) error {
		if hard == nil {
			pages = make([]string, n)
			for i := range n {
				hard = append(hard, i)
			}
		}
		if n != len(pages) {
			return media.Failf("%s is damaged: it is not clear how many pages it has. Open it and save it anew first.", r.In.Name)
		}
		for _, i := range hard {
			if err := ctx.Err(); err != nil {
				return err
			}
			read := w.pageText
			if noted == nil || noted[i] {
				read = w.flatText
			}
			t, err := read(i)
			if err != nil {
				return err
			}
			pages[i] = clean(t)
		}
		return nil
	})
	return pages, err
}

// look draws the pages that show something, where something here can read them, and names them otherwise.
func (e *engine) look(ctx context.Context, r *media.Request, pages []int, pictured map[int]bool) (pictures map[int][]byte, unread []int, err error) {
	var todo []int
	for _, i := range pages {
		if r.ReadPicture == nil && pictured[i] { // no need to draw it
			unread = append(unread, i+1)
		} else {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil, unread, nil
	}
	pictures = map[int][]byte{}
	err = e.session(ctx, r, func(w *worker, _ int) error {
		for _, i := range todo {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !pictured[i] && w.blank(i) {
				continue
			}
			if r.ReadPicture == nil {
				unread = append(unread, i+1)
				continue
			}
			m, err := w.draw(i, ocrDPI, r.Limits.WithDefaults())
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				return err
			}
			pictures[i] = b.Bytes()
		}
		return nil
	})
	slices.Sort(unread)
	return pictures, unread, err
}

// ranges writes ascending numbers as 1-3, 5.
func ranges(nums []int) string {
	var parts []string
	for i := 0; i < len(nums); {
		j := i
		for j+1 < len(nums) && nums[j+1] == nums[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", nums[i], nums[j]))
		} else {
			parts = append(parts, strconv.Itoa(nums[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// broken is a word that the end of a line divides: PDFium puts a mark in place of the hyphen, and often drops the line end.
var broken = regexp.MustCompile("[\x02\ufffe\u00ad][ \t]*\n?[ \t]*")

// clean joins divided words and takes out what no reader sees.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if strings.ContainsAny(s, "\x02\ufffe\u00ad") {
		s = broken.ReplaceAllString(s, "")
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c < 0x20, c == 0x7f, c == 0xfeff:
			return -1
		}
		return c
	}, s)
}

// draw makes a picture of a page with what is noted on it.
func (w *worker) draw(i, dpi int, lim media.Limits) (*image.RGBA, error) {
	return w.drawWith(i, dpi, lim, enums.FPDF_RENDER_FLAG_ANNOT)
}

// drawBare makes a picture of a page without annotations.
func (w *worker) drawBare(i, dpi int, lim media.Limits) (*image.RGBA, error) {
	return w.drawWith(i, dpi, lim, 0)
}

func (w *worker) drawWith(i, dpi int, lim media.Limits, flags enums.FPDF_RENDER_FLAG) (*image.RGBA, error) {
	size, err := w.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: w.doc, Index: i})
	if err != nil {
		return nil, err
	}
	scale := float64(dpi) / 72
	if err := lim.CheckPixels(int(math.Ceil(size.Width*scale)), int(math.Ceil(size.Height*scale))); err != nil {
		return nil, err
	}
	res, err := w.RenderPageInDPI(&requests.RenderPageInDPI{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: w.doc, Index: i}}, DPI: dpi, RenderFlags: flags})
	if err != nil {
		return nil, err
	}
	defer res.Cleanup()
	src, ok := res.Result.RenderedImage.(*image.RGBA)
	if !ok {
		return nil, fmt.Errorf("PDFium drew %T", res.Result.RenderedImage)
	}
	m := *src
	m.Pix = slices.Clone(src.Pix) // the worker's memory goes with it
	return &m, nil
}

// blank reports whether a page shows nothing.
func (w *worker) blank(i int) bool {
	m, err := w.draw(i, 36, (&media.Limits{}).WithDefaults())
	if err != nil {
		return false
	}
	for at := 4; at+3 < len(m.Pix); at += 4 {
		if m.Pix[at] != m.Pix[0] || m.Pix[at+1] != m.Pix[1] || m.Pix[at+2] != m.Pix[2] {
			return false
		}
	}
	return true
}

func (e *engine) toImages(ctx context.Context, r *media.Request) (media.Result, error) {
	format, _ := r.Args["format"].(string)
	ext := "png"
	if f, ok := media.FormatOf(format); ok && f.Token == "jpeg" {
		ext = "jpg"
	}
	var out []media.Payload
	lim := r.Limits.WithDefaults()
	err := e.session(ctx, r, func(w *worker, n int) error {
		total := int64(0)
		for i := range n {
			m, err := w.draw(i, 150, lim)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if ext == "jpg" {
				err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 90})
			} else {
				err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
			}
			if err != nil {
				return err
			}
			if total += int64(b.Len()); total > lim.Unpacked {
				return media.Failf("the pictures of the pages take more than the %d bytes that are allowed. Select fewer pages first.", lim.Unpacked)
			}
			f, _ := media.FormatOf(ext)
			out = append(out, media.Payload{Data: b.Bytes(), MIME: f.MIME, Name: fmt.Sprintf("%s-page%d.%s", media.Base(r.In.Name), i+1, ext)})
		}
		return nil
	})
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{List: out}, nil
}

// line is one line of a page.
type line struct {
	text              string
	size              float64
	left, top, bottom float64
	first             bool // of its page
}

// toMarkup guesses structure from the look: larger lines are headings, gaps end paragraphs, marks begin items.
func (e *engine) toMarkup(ctx context.Context, r *media.Request) (media.Result, error) {
	lines, known, err := e.shownLines(ctx, r)
	if err == nil && !known {
		lines, err = e.hardLines(ctx, r)
	}
	if err != nil {
		return media.Result{}, err
	}
	doc := flow.Doc{Title: media.Base(r.In.Name), Blocks: blocks(lines)}
	if len(lines) == 0 {
		text, err := e.toText(ctx, r) // it may be pictures
		if err != nil {
			return media.Result{}, err
		}
		doc = flow.ReadText(string(text.Media.Data))
	}
	out := doc.Markdown(flow.Options{})
	if r.To == "html" {
		out = doc.HTML(flow.Options{})
	}
	return media.Result{Media: &media.Payload{Data: []byte(out)}, Warnings: []string{"Headings, paragraphs and lists are guessed from how the pages look; tables are lines of text."}}, nil
}

// hardLines has PDFium read the lines of all pages.
func (e *engine) hardLines(ctx context.Context, r *media.Request) ([]line, error) {
	var lines []line
	err := e.session(ctx, r, func(w *worker, n int) error {
		for i := range n {
			p, err := w.GetPageTextStructured(&requests.GetPageTextStructured{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: w.doc, Index: i}},
				Mode: requests.GetPageTextStructuredModeRects, CollectFontInformation: true})
			if err != nil {
				return err
			}
			first := true
			for _, t := range p.Rects {
				text := strings.Join(strings.Fields(clean(t.Text)), " ")
				if text == "" {
					continue
				}
				pos := t.PointPosition
				l := line{text: text, left: pos.Left, top: pos.Top, bottom: pos.Bottom, first: first}
				if t.FontInformation != nil {
					l.size = math.Round(t.FontInformation.RenderedSize*2) / 2
				}
				first = false
				if k := len(lines) - 1; k >= 0 && !l.first && math.Abs(lines[k].bottom-l.bottom) < 3 && l.left >= lines[k].left {
					lines[k].text += " " + text // another font within the line
					continue
				}
				lines = append(lines, l)
			}
		}
		return nil
	})
	return lines, err
}

// shownLines reads the lines of pages from their content; known is false where that does not do for all of them.
func (e *engine) shownLines(ctx context.Context, r *media.Request) (out []line, known bool, err error) {
	d, err := e.readable(ctx, r)
	if d == nil || err != nil {
		return nil, false, err
	}
	var seen []char
	for _, p := range d.leaves() {
		var ok bool
		seen, _, ok = d.seenOn(p.dict, seen, func() bool { return ctx.Err() != nil })
		if err := ctx.Err(); err != nil || !ok {
			return nil, false, err
		}
		list := measured(seen)
		for i := range list {
			list[i].first = i == 0
			if k := len(out) - 1; i > 0 && math.Abs(out[k].bottom-list[i].bottom) < 3 && list[i].left >= out[k].left {
				out[k].text += " " + list[i].text // a part that stands apart on the same line
				continue
			}
			out = append(out, list[i])
		}
	}
	return out, true, nil
}

var bullet = regexp.MustCompile(`^(?:[•‣◦▪●–*-]|(\d{1,3})[.)]) +(\S.*)$`)

func blocks(lines []line) []flow.Block {
	weight := map[float64]int{}
	body := 0.0
	for _, l := range lines {
		if weight[l.size] += len(l.text); weight[l.size] > weight[body] {
			body = l.size
		}
	}
	var sizes []float64
	for s := range weight {
		if s > body*1.15 {
			sizes = append(sizes, s)
		}
	}
	slices.SortFunc(sizes, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	var out []flow.Block
	var last line
	for i, l := range lines {
		level := slices.Index(sizes, l.size) + 1
		short := len(l.text) < 200 && strings.IndexFunc(l.text, unicode.IsLetter) >= 0
		same := i > 0 && last.size == l.size
		near := same && !l.first && last.bottom-l.top < 0.6*math.Max(l.size, 1) && l.top < last.top
		m := bullet.FindStringSubmatch(l.text)
		switch {
		case level > 0 && short:
			if near && len(out) > 0 && out[len(out)-1].Kind == flow.Heading {
				join(&out[len(out)-1], l.text)
			} else {
				out = append(out, flow.Block{Kind: flow.Heading, Level: min(level, 6), Runs: []flow.Run{{Text: l.text}}})
			}
		case m != nil:
			b := flow.Block{Kind: flow.Item, Level: 1, Runs: []flow.Run{{Text: m[2]}}}
			if m[1] != "" {
				b.Ordered = true
				b.Number, _ = strconv.Atoi(m[1]) // digits only
			}
			out = append(out, b)
		case len(out) > 0 && out[len(out)-1].Kind != flow.Heading && (near || same && l.first && !ended(last.text)):
			join(&out[len(out)-1], l.text)
		default:
			out = append(out, flow.P(l.text))
		}
		last = l
	}
	return out
}

func ended(s string) bool { return strings.ContainsRune(".!?:;", rune(s[len(s)-1])) }

func join(b *flow.Block, text string) {
	r := &b.Runs[len(b.Runs)-1]
	if before, ok := strings.CutSuffix(r.Text, "-"); ok { // the end of the line may divide a word
		last, _ := utf8.DecodeLastRuneInString(before)
		if unicode.IsLetter(last) && unicode.IsLower(firstRune(text)) {
			r.Text = before + text
			return
		}
	}
	r.Text += " " + text
}
