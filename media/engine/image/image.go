// Package image is the engine for pictures: it decodes once, carries out the changes in the order in which they are asked
// for, and encodes once.
//
// The orientation that a camera noted is applied before anything else and then reset. Metadata and colour profiles are kept
// where the format of the result can hold them, and removed without touching the picture where only that is asked. Sizes
// are read from the header and checked before a pixel is decoded.
//
// Resizing works on the planes of the picture as they are, for photographs without a detour over RGB, on all processors.
package image

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"

	"github.com/HugoSmits86/nativewebp"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/tackle-dev/tackle/media"
)

// codec is a format with its ways in and out.
type codec struct {
	token  string
	config func(*bytes.Reader) (image.Config, error)
	decode func(*bytes.Reader) (image.Image, error)
	// encode writes a picture; quality is 1 to 100, or 0 as the format likes. note says what the format could not do.
	encode func(b *bytes.Buffer, img image.Image, quality int) (note string, err error)
}

func codecs() []codec {
	return append([]codec{
		{"png", reader(png.DecodeConfig), reader(png.Decode), func(b *bytes.Buffer, m image.Image, _ int) (string, error) {
			return "", (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(b, m)
		}},
		{"jpeg", reader(jpeg.DecodeConfig), reader(jpeg.Decode), func(b *bytes.Buffer, m image.Image, q int) (string, error) {
			if q == 0 {
				q = 82
			}
			return "", jpeg.Encode(b, m, &jpeg.Options{Quality: q})
		}},
		{"gif", reader(gif.DecodeConfig), reader(gif.Decode), func(b *bytes.Buffer, m image.Image, _ int) (string, error) {
			return "GIF holds 256 colours.", gif.Encode(b, m, nil)
		}},
		{"bmp", reader(bmp.DecodeConfig), reader(bmp.Decode), func(b *bytes.Buffer, m image.Image, _ int) (string, error) { return "", bmp.Encode(b, m) }},
		{"tiff", reader(tiff.DecodeConfig), reader(tiff.Decode), func(b *bytes.Buffer, m image.Image, _ int) (string, error) {
			return "", tiff.Encode(b, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
		}},
	}, modern()...)
}

func reader[T any](f func(r ioReader) (T, error)) func(*bytes.Reader) (T, error) {
	return func(r *bytes.Reader) (T, error) { return f(r) }
}

// losslessWebP is the WebP of builds without the WebAssembly codecs.
func losslessWebP() codec {
	return codec{"webp", reader(webp.DecodeConfig), reader(webp.Decode), func(b *bytes.Buffer, m image.Image, q int) (string, error) {
		note := ""
		if q > 0 && q < 100 {
			note = "WebP is written without loss here, so quality has no effect."
		}
		return note, nativewebp.Encode(b, m, nil)
	}}
}

// Engine returns the engine.
func Engine() media.Engine {
	var over, encodes []string
	for _, c := range codecs() {
		f, _ := media.FormatOf(c.token)
		over = append(over, f.MIME)
		encodes = append(encodes, c.token)
	}
	e := &engine{codecs: codecs()}
	return media.Engine{
		ID:      "image",
		Convert: []media.Convert{{From: []string{media.EmptyMIME}, To: encodes, Keep: media.Exact, Do: e.blank}},
		Mutate:  []media.Mutate{{Over: over, Ops: media.MutateOps, Encodes: encodes, Do: e.mutate}},
		Edit:    []media.Edit{{Over: over, Ops: []string{"extract.metadata"}, Do: e.describe}},
	}
}

type engine struct{ codecs []codec }

func (e *engine) codec(mime string) *codec {
	f, _ := media.FormatOf(mime)
	for i := range e.codecs {
		if e.codecs[i].token == f.Token {
			return &e.codecs[i]
		}
	}
	return nil
}

// BlankEdge is the width and height of a new picture in pixels; it is white.
const BlankEdge = 1024

func (e *engine) blank(_ context.Context, r *media.Request) (media.Result, error) {
	m := image.NewRGBA(image.Rect(0, 0, BlankEdge, BlankEdge))
	draw.Draw(m, m.Bounds(), image.White, image.Point{}, draw.Src)
	var b bytes.Buffer
	if _, err := e.codec(r.To).encode(&b, m, 0); err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: b.Bytes()}}, nil
}

// open checks the size in the header and decodes.
func (e *engine) open(r *media.Request, c *codec) (image.Image, error) {
	cfg, err := c.config(bytes.NewReader(r.In.Data))
	if err != nil {
		return nil, media.Failf("%s is no whole %s picture: %v.", r.In.Name, c.token, err)
	}
	if err := r.Limits.CheckPixels(cfg.Width, cfg.Height); err != nil {
		return nil, err
	}
	m, err := c.decode(bytes.NewReader(r.In.Data))
	if err != nil {
		return nil, media.Failf("%s is damaged: %v.", r.In.Name, err)
	}
	return m, nil
}

func (e *engine) mutate(ctx context.Context, r *media.Request) (media.Result, error) {
	r.Limits = r.Limits.WithDefaults()
	c, out := e.codec(r.In.MIME), e.codec(r.To)
	if c == nil || out == nil {
		return media.Result{}, media.Failf("%s is not a picture that is understood here.", r.In.Name)
	}
	var res media.Result
	if frames, err := animation(r.In.Data, r.Limits.Frames); err != nil {
		return res, err
	} else if frames > 1 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%s is an animation of %d frames; the result is its first one.", r.In.Name, frames))
	}
	meta := readMeta(r.In.Data)
	strip := slices.ContainsFunc(r.Changes, func(c media.Change) bool { return c.Op == "strip_metadata" })
	if strip && len(r.Changes) == 1 && c.token == out.token && r.Quality == 0 && res.Warnings == nil {
		if data, ok := stripped(r.In.Data, meta); ok {
			// The picture is not encoded again, so it must be sure to be one.
			if cfg, err := c.config(bytes.NewReader(data)); err == nil && r.Limits.CheckPixels(cfg.Width, cfg.Height) == nil {
				res.Media = &media.Payload{Data: data}
				return res, nil
			}
		}
	}
	m, err := e.open(r, c)
	if err != nil {
		return res, err
	}
	p := planesOf(m)
	p = orient(p, meta.orientation)
	for _, ch := range r.Changes {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if p, err = change(p, ch, out.token == "jpeg", r.Limits); err != nil {
			return res, err
		}
	}
	var b bytes.Buffer
	img := p.image()
	if out.token == "jpeg" || out.token == "bmp" {
		if flat, was := opaque(img); was {
			img = flat
			res.Warnings = append(res.Warnings, fmt.Sprintf("%s holds no transparency; what was transparent is white.", out.token))
		}
	}
	note, err := out.encode(&b, img, r.Quality)
	if err != nil {
		return res, media.Failf("the picture cannot be written as %s: %v.", out.token, err)
	}
	if note != "" {
		res.Warnings = append(res.Warnings, note)
	}
	data := b.Bytes()
	if !strip && !meta.empty() {
		kept, lost := meta.into(data, out.token)
		data = kept
		if lost {
			res.Warnings = append(res.Warnings, fmt.Sprintf("Metadata of the picture was not kept; %s cannot hold it here.", out.token))
		}
	}
	if int64(len(data)) > r.Limits.Bytes {
		return res, media.Failf("the result has %d bytes, more than the %d that are allowed.", len(data), r.Limits.Bytes)
	}
	res.Media = &media.Payload{Data: data}
	return res, nil
}

// opaque lays a picture on white; was reports whether anything shone through.
func opaque(m image.Image) (flat image.Image, was bool) {
	if o, ok := m.(interface{ Opaque() bool }); !ok || o.Opaque() {
		return m, false
	}
	out := image.NewRGBA(m.Bounds())
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Over)
	return out, true
}

func (e *engine) describe(_ context.Context, r *media.Request) (media.Result, error) {
	c := e.codec(r.In.MIME)
	cfg, err := c.config(bytes.NewReader(r.In.Data))
	if err != nil {
		return media.Result{}, media.Failf("%s is no whole %s picture: %v.", r.In.Name, c.token, err)
	}
	m := map[string]any{"format": c.token, "width": cfg.Width, "height": cfg.Height, "color": colorName(cfg.ColorModel)}
	meta := readMeta(r.In.Data)
	if meta.orientation > 1 {
		m["orientation"] = meta.orientation
	}
	var has []string
	for name, b := range map[string][]byte{"exif": meta.exif, "icc": meta.icc, "xmp": meta.xmp} {
		if b != nil {
			has = append(has, name)
		}
	}
	slices.Sort(has)
	if has != nil {
		m["metadata"] = strings.Join(has, ", ")
	}
	for k, v := range meta.tags() {
		m[k] = v
	}
	if n, err := animation(r.In.Data, r.Limits.WithDefaults().Frames); err == nil && n > 1 {
		m["frames"] = n
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

func colorName(m color.Model) string {
	switch m {
	case color.GrayModel, color.Gray16Model:
		return "gray"
	case color.CMYKModel:
		return "cmyk"
	case color.YCbCrModel:
		return "ycbcr"
	case color.NRGBAModel, color.NRGBA64Model, color.NYCbCrAModel:
		return "rgba"
	}
	if _, ok := m.(color.Palette); ok {
		return "palette"
	}
	return "rgb"
}

// animation counts the frames of a picture, at most up to a limit.
func animation(b []byte, most int) (int, error) {
	n := 1
	switch {
	case bytes.HasPrefix(b, []byte("GIF8")):
		n = gifFrames(b, most)
	case len(b) > 30 && string(b[8:12]) == "WEBP" && string(b[12:16]) == "VP8X" && b[20]&2 != 0:
		n = bytes.Count(b, []byte("ANMF"))
	case bytes.HasPrefix(b, []byte("\x89PNG")) && bytes.Contains(b[:min(len(b), 4096)], []byte("acTL")):
		n = bytes.Count(b, []byte("fcTL"))
	}
	if n > most {
		return n, media.Failf("the picture has more than the %d frames that are allowed.", most)
	}
	return n, nil
}

// gifFrames walks the blocks of a GIF without decoding any.
func gifFrames(b []byte, most int) int {
	n := 0
	at := 13
	if len(b) > 10 && b[10]&0x80 != 0 {
		at += 3 << (b[10]&7 + 1)
	}
	blocks := func() {
		for at < len(b) && b[at] != 0 {
			at += int(b[at]) + 1
		}
		at++
	}
	for at < len(b) && n <= most {
		switch b[at] {
		case 0x21:
			at += 2
			blocks()
		case 0x2c:
			n++
			if at+9 < len(b) && b[at+9]&0x80 != 0 {
				at += 3 << (b[at+9]&7 + 1)
			}
			at += 11
			blocks()
		default:
			return n
		}
	}
	return n
}
