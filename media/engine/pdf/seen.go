package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// shown is a picture on a page; pic is nil for one that stands within the content.
type shown struct {
	box box
	pic *object.Stream
}

// least is how many pixels, or points, a picture with words has at least in each direction.
const least = 10

// shownOn returns the pictures that a page shows and that may hold words; known is false where many of its characters are not.
func (d *document) shownOn(page object.Dict) (out []shown, known bool) {
	src, err := d.contents(page)
	if err != nil {
		return nil, false
	}
	w := &walker{d: d, reading: true, most: readMost, image: func(b box, s *object.Stream) {
		if b.right-b.left < 2 || b.top-b.bottom < 2 || len(out) > 100_000 {
			return
		}
		if s == nil || d.Int(s.Dict["Width"], 0) >= least && d.Int(s.Dict["Height"], 0) >= least {
			out = append(out, shown{b, s})
		}
	}}
	w.walk(src, d.Dict(page["Resources"]), unit)
	for _, a := range d.Array(page["Annots"]) {
		w.look(d.Dict(a))
	}
	return out, w.unsure*20 <= len(w.seen)
}

// pictures looks for words within pictures, where something here reads them. Pictures that show matches become black; pages
// whose pictures cannot be read one by one are read as a whole, and drawn with black in the place of their pictures.
func (x *redaction) pictures(ctx context.Context) error {
	x.shows, x.black = map[int][]shown{}, map[int]int{}
	matches := map[*object.Stream]int{} // -1 for those that cannot be read
	var list []*object.Stream
	inline := 0
	for i, l := range x.leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		var known bool
		if x.shows[i], known = x.d.shownOn(l.dict); !known {
			x.unknown = append(x.unknown, i+1)
		}
		for _, s := range x.shows[i] {
			if s.pic == nil {
				inline++
			} else if _, known := matches[s.pic]; !known {
				matches[s.pic] = -1
				list = append(list, s.pic)
			}
		}
	}
	if x.r.ReadPicture == nil {
		x.unread = len(list) + inline
		return nil
	}
	for k, pic := range list {
		n, err := x.words(ctx, pic, fmt.Sprintf("%s-image%d", media.Base(x.r.In.Name), k+1))
		if err != nil {
			return err
		}
		matches[pic] = n
	}
	var whole []int // pages to be read as a whole
	for i := range x.leaves {
		pieces := len(x.shows[i]) > 2 // a picture may be cut into strips
		for _, s := range x.shows[i] {
			pieces = pieces || s.pic == nil || matches[s.pic] < 0
		}
		if pieces {
			whole = append(whole, i)
		}
	}
	for _, pic := range list {
		if matches[pic] > 0 {
			x.blackenPicture(pic, matches[pic])
		}
	}
	return x.readWhole(ctx, whole)
}

// words counts the matches in a picture; -1 where it cannot be read.
func (x *redaction) words(ctx context.Context, pic *object.Stream, name string) (int, error) {
	p, _, err := x.d.payload(pic, name, x.r.Limits.WithDefaults())
	if err != nil || p.Data == nil {
		return -1, nil // its page is read as a whole
	}
	text, err := x.r.ReadPicture(ctx, p)
	if err != nil {
		return -1, ctx.Err()
	}
	x.read++
	_, n, err := x.in([]rune(text))
	return n, err
}

// blackenPicture makes a picture black, unless the text of the pages that show it has its matches too, as that of a scanned page
// does: those pages are drawn with bars.
func (x *redaction) blackenPicture(pic *object.Stream, matches int) {
	covered := true
	for i, list := range x.shows {
		for _, s := range list {
			if s.pic != pic {
				continue
			}
			over := false
			for _, g := range x.glyphs[i] {
				over = over || s.box.meets(g.box)
			}
			covered = covered && over && x.counts[i] >= matches
		}
	}
	if covered {
		return
	}
	for i, list := range x.shows {
		for _, s := range list {
			if s.pic == pic {
				x.black[i]++
			}
		}
	}
	pic.Raw = []byte{0}
	pic.Dict = object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(1), "Height": int64(1),
		"ColorSpace": object.Name("DeviceGray"), "BitsPerComponent": int64(8)}
}

// readWhole reads pages as they look.
func (x *redaction) readWhole(ctx context.Context, pages []int) error {
	for _, i := range pages {
		var data []byte
		err := x.e.box.run(ctx, func(w *worker) error {
			if err := w.open(x.d.data, ""); err != nil {
				return err
			}
			m, err := w.draw(i, ocrDPI, x.r.Limits.WithDefaults())
			if err != nil {
				return err
			}
			data, err = encoded(m)
			return err
		})
		if err != nil {
			return fail(x.r.In.Name, err)
		}
		text, err := x.readPage(ctx, i, data)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			x.unread += len(x.shows[i])
			x.d.warn("The pictures on page %d could not be read: %v", i+1, err)
			continue
		}
		x.read++
		_, n, err := x.in([]rune(text))
		if err != nil {
			return err
		}
		if n <= x.counts[i] {
			continue // the text of the page, which is taken out
		}
		x.counts[i] = n
		x.drawn[i] = "a picture on it shows words that match"
		for _, s := range x.shows[i] {
			x.glyphs[i] = append(x.glyphs[i], glyph{box: s.box})
		}
	}
	return nil
}

func (x *redaction) readPage(ctx context.Context, i int, data []byte) (string, error) {
	return x.r.ReadPicture(ctx, media.Payload{Data: data, MIME: "image/png", Name: fmt.Sprintf("%s-page%d.png", media.Base(x.r.In.Name), i+1)})
}

func encoded(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	return b.Bytes(), err
}

// look reads a page that was drawn once more, and blackens its pictures where they still show matches.
func (x *redaction) look(ctx context.Context, i int, m *image.RGBA) error {
	if x.r.ReadPicture == nil || len(x.shows[i]) == 0 {
		return nil
	}
	for try := range 2 {
		data, err := encoded(m)
		if err != nil {
			return err
		}
		text, err := x.readPage(ctx, i, data)
		if err != nil {
			return ctx.Err() // it was said before that it cannot be read
		}
		hit, err := x.text(text)
		if err != nil || !hit {
			return err
		}
		if try > 0 {
			return media.Refusef("%s cannot be redacted safely: page %d still shows words that match when its pictures are black. Nothing is given out.", x.r.In.Name, i+1)
		}
		view := x.view(x.leaves[i].dict)
		for _, s := range x.shows[i] {
			blacken(m, view.pixels(s.box, m.Bounds()))
		}
	}
	return nil
}
