// Package picture makes pictures safe to show to a model: it checks size and dimensions before it decodes, scales down
// what no provider would take, and describes what cannot be shown (O9). A picture can never make the next request fail. It counts the pages of documents for the same reason.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders register themselves with package image
	"image/jpeg"
	"image/png"
	"net/http"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Limits say what a face can show. The zero value holds the strictest limits of the large providers.
type Limits struct {
	Edge   int // longest edge in pixels; default 2000
	Bytes  int // encoded bytes before base64; default 3,700,000 (5 MB in base64)
	Pixels int // pixels that may be decoded; default 100 million
}

func (l Limits) resolve() Limits {
	def := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	def(&l.Edge, 2000)
	def(&l.Bytes, 3_700_000)
	def(&l.Pixels, 100_000_000)
	return l
}

// Picture is a picture that fits.
type Picture struct {
	Data          []byte
	MIME          string
	Width, Height int
	// Note says what was done to the original ("scaled from 4000×3000"); "" when it is shown as it is.
	Note string
}

// ErrTooLarge is returned for a picture that cannot be decoded within the limits.
var ErrTooLarge = errors.New("picture is too large to decode")

// Sniff returns the MIME type of a picture or PDF by its first bytes, or "".
func Sniff(data []byte) string {
	switch mime := http.DetectContentType(data); mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf":
		return mime
	}
	if bytes.HasPrefix(data, []byte("II*\x00")) || bytes.HasPrefix(data, []byte("MM\x00*")) {
		return "image/tiff"
	}
	return ""
}

// Fit returns data as it is where every provider takes it (PNG, JPEG, GIF or WebP within the limits), and otherwise
// a smaller PNG or JPEG. Of what stays as it is, it reads only the header. Errors: ErrTooLarge, or that the picture is damaged or of an
// unknown format.
func Fit(data []byte, lim Limits) (Picture, error) {
	lim = lim.resolve()
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("read picture header: %w", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > lim.Pixels/cfg.Height {
		return Picture{}, fmt.Errorf("%d×%d pixels: %w", cfg.Width, cfg.Height, ErrTooLarge)
	}
	common := format == "png" || format == "jpeg" || format == "gif" || format == "webp"
	if common && max(cfg.Width, cfg.Height) <= lim.Edge && len(data) <= lim.Bytes {
		return Picture{Data: data, MIME: "image/" + format, Width: cfg.Width, Height: cfg.Height}, nil
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("decode %s: %w", format, err)
	}
	p, err := shrink(src, lim)
	if err != nil {
		return Picture{}, err
	}
	p.Note = fmt.Sprintf("%s of %d×%d pixels and %d bytes, shown as %s of %d×%d", format, cfg.Width, cfg.Height, len(data), p.MIME, p.Width, p.Height)
	return p, nil
}

// Whole is Fit for a picture that comes from elsewhere and stays: it decodes to its end also what is returned as it is, so that half
// a picture is an error here and not at the provider, again with each request. Errors are those of Fit.
func Whole(data []byte, lim Limits) (Picture, error) {
	p, err := Fit(data, lim)
	if err == nil && p.Note == "" {
		_, err = Verify(p.Data, lim)
	}
	if err != nil {
		return Picture{}, err
	}
	return p, nil
}

// Verify returns data as it is where it is PNG, JPEG, GIF or WebP and decodes to its end within lim.Pixels; the other limits do
// not count. Browsers draw these, whatever stands behind them. Errors: ErrTooLarge, or that the picture is damaged or of
// another format.
func Verify(data []byte, lim Limits) (Picture, error) {
	lim = lim.resolve()
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("read picture header: %w", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > lim.Pixels/cfg.Height {
		return Picture{}, fmt.Errorf("%d×%d pixels: %w", cfg.Width, cfg.Height, ErrTooLarge)
	}
	if format != "png" && format != "jpeg" && format != "gif" && format != "webp" {
		return Picture{}, fmt.Errorf("%s is not drawn by every browser", format)
	}
	if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
		return Picture{}, fmt.Errorf("decode %s: %w", format, err)
	}
	return Picture{Data: data, MIME: "image/" + format, Width: cfg.Width, Height: cfg.Height}, nil
}

// shrink scales to the edge limit and encodes; while the bytes do not fit it takes smaller edges.
func shrink(src image.Image, lim Limits) (Picture, error) {
	for edge := lim.Edge; edge >= 16; edge = edge * 3 / 4 {
		img := scale(src, edge)
		data, mime, err := encode(img, lim.Bytes)
		if err != nil {
			return Picture{}, err
		}
		if len(data) <= lim.Bytes {
			b := img.Bounds()
			return Picture{Data: data, MIME: mime, Width: b.Dx(), Height: b.Dy()}, nil
		}
	}
	return Picture{}, fmt.Errorf("no size fits %d bytes: %w", lim.Bytes, ErrTooLarge)
}

func scale(src image.Image, edge int) image.Image {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	if max(w, h) <= edge {
		return src
	}
	if w >= h {
		w, h = edge, max(1, h*edge/w)
	} else {
		w, h = max(1, w*edge/h), edge
	}
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(dst, dst.Bounds(), src, b, draw.Src, nil)
	return dst
}

// encode prefers PNG, which keeps text sharp, and takes JPEG where PNG is too large and nothing is transparent.
func encode(img image.Image, limit int) ([]byte, string, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, "", err
	}
	if buf.Len() <= limit || !opaque(img) {
		return buf.Bytes(), "image/png", nil
	}
	buf.Reset()
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 85}); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), "image/jpeg", nil
}

func opaque(img image.Image) bool {
	if o, ok := img.(interface{ Opaque() bool }); ok {
		return o.Opaque()
	}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA).A != 0xff {
				return false
			}
		}
	}
	return true
}
