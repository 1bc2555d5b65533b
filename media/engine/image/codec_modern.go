//go:build nodynamic

package image

import (
	"bytes"
	"image"
	"io"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/webp"
)

type ioReader = io.Reader

// modern returns the codecs beside those of the standard library. WebP and AVIF run in WebAssembly, which is compiled when
// the first picture needs it.
func modern() []codec {
	w := losslessWebP()
	w.encode = func(b *bytes.Buffer, m image.Image, q int) (string, error) {
		if q == 0 {
			q = 80
		}
		return "", webp.Encode(b, m, webp.Options{Quality: q, Method: 4, Lossless: q == 100})
	}
	return []codec{w, {"avif", reader(avif.DecodeConfig), reader(avif.Decode), func(b *bytes.Buffer, m image.Image, q int) (string, error) {
		if q == 0 {
			q = 60
		}
		return "", avif.Encode(b, m, avif.Options{Quality: q, QualityAlpha: q, Speed: 8, ChromaSubsampling: image.YCbCrSubsampleRatio420})
	}}}
}
