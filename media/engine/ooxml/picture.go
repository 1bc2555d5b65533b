package ooxml

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"path"

	"github.com/tackle-dev/tackle/media"
	pic "github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// redactPicture takes from a picture the metadata in which something matches, and blackens one in which words are read that
// match. Which of its points show them nobody says, so all do.
func (f *file) redactPicture(ctx context.Context, name string, red *tree.Redaction) error {
	data, err := f.part(name)
	if err != nil {
		return err
	}
	fresh, left, err := pic.Forget(data, red.Scan)
	switch {
	case err != nil:
		return err
	case left != "":
		return media.Failf("%q stands in the metadata of the picture %s, which cannot be changed without drawing it anew. Replace it or take it out first. Nothing was changed.", left, name)
	case fresh != nil:
		red.Count++
		f.set(name, fresh)
		f.warn("The metadata of the picture %s was taken away, because something in it matches.", path.Base(name))
		data = fresh
	}
	if f.r.ReadPicture == nil {
		return nil
	}
	p := media.Identify(media.Payload{Data: data, Name: path.Base(name)})
	if media.FamilyOf(p.MIME) != media.Image {
		return nil
	}
	words, err := f.r.ReadPicture(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.warn("The picture %s could not be read: %v", path.Base(name), err)
		return nil
	}
	hit, err := red.Hit(words)
	if hit == "" || err != nil {
		return err
	}
	black, ok := blackened(p, &f.r.Limits)
	if !ok {
		return media.Failf("the picture %s shows %q, and a picture of its format cannot be blackened. Replace it or take it out first. Nothing was changed.", path.Base(name), hit)
	}
	red.Count++
	f.set(name, black)
	f.warn("The picture %s shows words that match and is black now.", path.Base(name))
	return nil
}

// blackened returns a black picture of the same size and format.
func blackened(p media.Payload, lim *media.Limits) ([]byte, bool) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(p.Data))
	l := lim.WithDefaults()
	if err != nil || l.CheckPixels(cfg.Width, cfg.Height) != nil {
		return nil, false
	}
	im := image.NewPaletted(image.Rect(0, 0, cfg.Width, cfg.Height), color.Palette{color.Black, color.White})
	var out bytes.Buffer
	switch format {
	case "png":
		err = png.Encode(&out, im)
	case "gif":
		err = gif.Encode(&out, im, nil)
	case "jpeg":
		gray := image.NewGray(im.Bounds())
		draw.Draw(gray, gray.Bounds(), image.Black, image.Point{}, draw.Src)
		err = jpeg.Encode(&out, gray, nil)
	default:
		return nil, false
	}
	return out.Bytes(), err == nil
}
