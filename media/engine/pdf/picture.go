package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif"  // decoders
	_ "image/jpeg" //
	_ "image/png"  //

	_ "golang.org/x/image/bmp"  //
	_ "golang.org/x/image/tiff" //
	_ "golang.org/x/image/webp" //

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// fromImage makes a document of one page, of the size that the picture has at 96 pixels an inch. JPEG files stay as they are.
func fromImage(_ context.Context, r *media.Request) (media.Result, error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(r.In.Data))
	if err != nil {
		return media.Result{}, media.Failf("%s is no picture that can be read: %v.", r.In.Name, err)
	}
	lim := r.Limits.WithDefaults()
	if err := lim.CheckPixels(cfg.Width, cfg.Height); err != nil {
		return media.Result{}, err
	}
	f := object.New()
	var pic *object.Stream
	m, _, err := image.Decode(bytes.NewReader(r.In.Data))
	if err != nil {
		return media.Result{}, media.Failf("%s is no picture that can be read: %v.", r.In.Name, err)
	}
	var warnings []string
	_, ycc := m.(*image.YCbCr)
	_, gray := m.(*image.Gray)
	if format == "jpeg" && (ycc || gray) {
		space := object.Name("DeviceRGB")
		if gray {
			space = "DeviceGray"
		}
		pic = &object.Stream{Dict: object.Dict{"ColorSpace": space, "BitsPerComponent": int64(8), "Filter": object.Name("DCTDecode")}, Raw: r.In.Data}
		if bytes.Contains(r.In.Data[:min(len(r.In.Data), 64<<10)], []byte("Exif\x00")) {
			warnings = append(warnings, "The picture stands in the file with its own metadata and as its pixels lie; image strip_metadata first to remove them and turn it upright.")
		}
	} else {
		pic = samples(f, m)
	}
	pic.Dict["Type"], pic.Dict["Subtype"] = object.Name("XObject"), object.Name("Image")
	pic.Dict["Width"], pic.Dict["Height"] = int64(cfg.Width), int64(cfg.Height)
	w, h := float64(cfg.Width)*72/96, float64(cfg.Height)*72/96
	pages := f.Add(nil)
	page := f.Add(object.Dict{"Type": object.Name("Page"), "Parent": pages, "MediaBox": object.Array{int64(0), int64(0), w, h},
		"Resources": object.Dict{"XObject": object.Dict{"P": f.Add(pic)}},
		"Contents":  f.Add(object.Deflate(fmt.Appendf(nil, "%g 0 0 %g 0 0 cm /P Do\n", w, h), nil))})
	f.Set(pages, object.Dict{"Type": object.Name("Pages"), "Kids": object.Array{page}, "Count": int64(1)})
	f.Trailer["Root"] = f.Add(object.Dict{"Type": object.Name("Catalog"), "Pages": pages})
	data, err := f.Write()
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: warnings}, nil
}

// samples writes a picture as its pixels, what is transparent apart.
func samples(f *object.File, m image.Image) *object.Stream {
	b := m.Bounds()
	n := image.NewNRGBA(b)
	draw.Draw(n, b, m, b.Min, draw.Src)
	rgb, alpha := make([]byte, 0, b.Dx()*b.Dy()*3), make([]byte, 0, b.Dx()*b.Dy())
	clear := false
	for i := 0; i+3 < len(n.Pix); i += 4 {
		rgb, alpha = append(rgb, n.Pix[i:i+3]...), append(alpha, n.Pix[i+3])
		clear = clear || n.Pix[i+3] != 255
	}
	d := func(space object.Name) object.Dict {
		return object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "ColorSpace": space, "BitsPerComponent": int64(8), "Width": int64(b.Dx()), "Height": int64(b.Dy())}
	}
	pic := object.Deflate(rgb, d("DeviceRGB"))
	if clear {
		pic.Dict["SMask"] = f.Add(object.Deflate(alpha, d("DeviceGray")))
	}
	return pic
}
