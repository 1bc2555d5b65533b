package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"slices"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// drawnDPI is what pages are drawn at that cannot be edited.
const drawnDPI = 200

// raster makes pictures of the pages that could not be edited, from the file as it was, with bars painted in.
func (x *redaction) raster(ctx context.Context, done map[int]bool) error {
	var todo []int
	for i := range x.drawn {
		if !done[i] {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	slices.Sort(todo)
	drawn := map[int]*image.RGBA{}
	err := x.e.box.run(ctx, func(w *worker) error {
		if err := w.open(x.d.data, ""); err != nil {
			return err
		}
		for _, i := range todo {
			m, err := w.drawBare(i, drawnDPI, x.r.Limits.WithDefaults())
			if err != nil {
				return err
			}
			view := x.view(x.leaves[i].dict)
			for _, b := range bars(x.glyphs[i]) {
				blacken(m, view.pixels(b, m.Bounds()))
			}
			drawn[i] = m
		}
		return nil
	})
	if err != nil {
		return fail(x.r.In.Name, err)
	}
	for _, i := range todo {
		done[i] = true
		m, page := drawn[i], x.leaves[i].dict
		if err := x.look(ctx, i, m); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: 90}); err != nil {
			return err
		}
		x.picture(page, out.Bytes(), m.Bounds())
	}
	return nil
}

func blacken(m *image.RGBA, r image.Rectangle) {
	draw.Draw(m, r, image.NewUniform(color.Black), image.Point{}, draw.Src)
}

// picture puts a picture in the place of all that a page has.
func (x *redaction) picture(page object.Dict, data []byte, size image.Rectangle) {
	w, h := float64(size.Dx())*72/drawnDPI, float64(size.Dy())*72/drawnDPI
	pic := x.d.Add(&object.Stream{Dict: object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "ColorSpace": object.Name("DeviceRGB"),
		"BitsPerComponent": int64(8), "Width": int64(size.Dx()), "Height": int64(size.Dy()), "Filter": object.Name("DCTDecode")}, Raw: data})
	parent := page["Parent"]
	clear(page)
	page["Type"], page["Parent"] = object.Name("Page"), parent
	page["MediaBox"] = object.Array{int64(0), int64(0), w, h}
	page["Rotate"] = int64(0)
	page["CropBox"] = page["MediaBox"]
	page["Resources"] = object.Dict{"XObject": object.Dict{"P": pic}}
	page["Contents"] = x.d.Add(object.Deflate(fmt.Appendf(nil, "%g 0 0 %g 0 0 cm /P Do\n", w, h), nil))
}

// view is the part of a page that is shown, and how it is turned.
type view struct {
	box
	turn int
}

func (x *redaction) view(page object.Dict) view {
	rect := func(k object.Name) (box, bool) {
		v := x.d.Numbers(page[k])
		if len(v) != 4 {
			return box{0, 0, 612, 792}, false
		}
		return box{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}, true
	}
	b, _ := rect("MediaBox")
	if c, ok := rect("CropBox"); ok && c.meets(b) {
		b = box{max(b.left, c.left), max(b.bottom, c.bottom), min(b.right, c.right), min(b.top, c.top)}
	}
	return view{b, ((x.d.Int(page["Rotate"], 0)/90)%4 + 4) % 4}
}

// pixels returns where a box of the page lies in its picture, a little larger.
func (v view) pixels(b box, size image.Rectangle) image.Rectangle {
	w, h := v.right-v.left, v.top-v.bottom
	var l, t, r, bt float64 // as parts of the width and height
	switch v.turn {
	case 1:
		l, r, t, bt = (b.bottom-v.bottom)/h, (b.top-v.bottom)/h, (b.left-v.left)/w, (b.right-v.left)/w
	case 2:
		l, r, t, bt = (v.right-b.right)/w, (v.right-b.left)/w, (b.bottom-v.bottom)/h, (b.top-v.bottom)/h
	case 3:
		l, r, t, bt = (v.top-b.top)/h, (v.top-b.bottom)/h, (v.right-b.right)/w, (v.right-b.left)/w
	default:
		l, r, t, bt = (b.left-v.left)/w, (b.right-v.left)/w, (v.top-b.top)/h, (v.top-b.bottom)/h
	}
	dx, dy := float64(size.Dx()), float64(size.Dy())
	return image.Rect(int(math.Floor(l*dx))-2, int(math.Floor(t*dy))-2, int(math.Ceil(r*dx))+2, int(math.Ceil(bt*dy))+2).Intersect(size)
}
