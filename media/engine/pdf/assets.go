package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// attachment is a file within the file.
type attachment struct {
	name string
	data *object.Stream
}

// attachments returns the embedded files, those of annotations too.
func (d *document) attachments() []attachment {
	var out []attachment
	seen := map[*object.Stream]bool{}
	d.each(func(o object.Object) {
		spec, ok := o.(object.Dict)
		if !ok {
			return
		}
		files := d.Dict(spec["EF"])
		for _, k := range []object.Name{"UF", "F", "Unix", "DOS", "Mac"} {
			s, ok := d.Resolve(files[k]).(*object.Stream)
			if !ok || seen[s] {
				continue
			}
			seen[s] = true
			name := fmt.Sprintf("attachment%d", len(out)+1)
			for _, n := range []object.Name{"UF", "F"} {
				if t, ok := d.Resolve(spec[n]).(object.String); ok && t != "" {
					name = t.Text()
					break
				}
			}
			out = append(out, attachment{name, s})
		}
	})
	return out
}

func (e *engine) assets(ctx context.Context, r *media.Request) (media.Result, error) {
	d, err := e.load(ctx, r, &r.In)
	if err != nil {
		return media.Result{}, err
	}
	types, _ := r.Args["types"].([]string)
	want := func(t string) bool {
		return len(types) == 0 || slices.Contains(types, "all") || slices.Contains(types, t)
	}
	res := media.Result{}
	base := media.Base(r.In.Name)
	if want("image") {
		res.List = append(res.List, d.pictures(base, r.Limits.WithDefaults())...)
	}
	if want("font") {
		res.List = append(res.List, d.fonts()...)
	}
	if want("attachment") {
		for _, a := range d.attachments() {
			data, _, err := d.Decode(a.data)
			if err != nil {
				d.warn("The attachment %q could not be decoded: %v.", a.name, err)
				continue
			}
			p := media.Identify(media.Payload{Data: data, Name: media.CleanName(a.name)})
			res.List = append(res.List, p)
		}
	}
	if res.Warnings = d.warnings; len(res.List) == 0 {
		msg := "%s holds no pictures, fonts or attachments of the types asked for."
		if len(d.warnings) > 0 {
			msg += " " + d.warnings[0]
		}
		return media.Result{}, media.Failf(msg, r.In.Name)
	}
	for i := range res.List {
		if res.List[i].Data == nil {
			res.List[i].Data = []byte{}
		}
	}
	return res, nil
}

// pictures returns the pictures that stand in the file, each once: JPEG files as they are, others as PNG.
func (d *document) pictures(base string, lim media.Limits) []media.Payload {
	var out []media.Payload
	odd := map[object.Name]int{}
	for _, n := range d.All() {
		s, ok := d.Get(object.Ref{Num: n}).(*object.Stream)
		if !ok || d.Name(s.Dict["Subtype"]) != "Image" || d.usedAsMask(n) {
			continue
		}
		p, kind, err := d.payload(s, fmt.Sprintf("%s-image%d", base, len(out)+1), lim)
		switch {
		case err != nil:
			d.warn("A picture could not be decoded: %v.", err)
		case p.Data == nil:
			odd[kind]++
		default:
			out = append(out, p)
		}
	}
	for kind, n := range odd {
		d.warn("%d pictures coded as %s were left out; convert to=images draws the pages with them.", n, kind)
	}
	return out
}

// payload returns a picture as a file: a JPEG file as it is, others as PNG. Where it is neither, kind says what it is.
func (d *document) payload(s *object.Stream, name string, lim media.Limits) (p media.Payload, kind object.Name, err error) {
	data, kind, err := d.Decode(s)
	switch {
	case err != nil:
		return p, "", err
	case kind == "DCTDecode" || kind == "DCT":
		return media.Payload{Data: data, MIME: "image/jpeg", Name: name + ".jpg"}, kind, nil
	case kind == "JPXDecode":
		return media.Payload{Data: data, MIME: "image/jp2", Name: name + ".jp2"}, kind, nil
	case kind != "":
		return p, kind, nil
	}
	m, err := d.raster(s.Dict, data, lim)
	if err != nil {
		return p, d.colorName(s.Dict["ColorSpace"]), nil
	}
	var b bytes.Buffer
	err = png.Encode(&b, m)
	return media.Payload{Data: b.Bytes(), MIME: "image/png", Name: name + ".png"}, "", err
}

// usedAsMask reports whether a picture only says where another one is transparent.
func (d *document) usedAsMask(n int) bool {
	if d.masks == nil {
		d.masks = map[int]bool{}
		for _, k := range d.All() {
			s, ok := d.Get(object.Ref{Num: k}).(*object.Stream)
			if !ok {
				continue
			}
			for _, key := range []object.Name{"SMask", "Mask"} {
				if r, ok := s.Dict[key].(object.Ref); ok {
					d.masks[r.Num] = true
				}
			}
		}
	}
	return d.masks[n]
}

func (d *document) colorName(o object.Object) object.Name {
	switch v := d.Resolve(o).(type) {
	case object.Name:
		return v
	case object.Array:
		if len(v) > 0 {
			return d.Name(v[0])
		}
	}
	return ""
}

// raster makes a picture of samples of gray, RGB, CMYK or indexed colours.
func (d *document) raster(dict object.Dict, data []byte, lim media.Limits) (image.Image, error) {
	w, h, bits := d.Int(dict["Width"], 0), d.Int(dict["Height"], 0), d.Int(dict["BitsPerComponent"], 8)
	if dict["ImageMask"] == true {
		bits = 1
	}
	if err := lim.CheckPixels(w, h); err != nil {
		return nil, err
	}
	comps, palette, err := d.colors(dict["ColorSpace"], dict["ImageMask"] == true)
	if err != nil || bits != 1 && bits != 2 && bits != 4 && bits != 8 || len(data) < (w*comps*bits+7)/8*h {
		return nil, object.ErrSyntax
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	row := (w*comps*bits + 7) / 8
	flip := false
	if dec := d.Numbers(dict["Decode"]); len(dec) >= 2 && dec[0] > dec[1] {
		flip = true
	}
	for y := range h {
		line := data[y*row:]
		for x := range w {
			var c [4]byte
			for k := range comps {
				at := (x*comps + k) * bits
				v := int(line[at/8]) >> (8 - bits - at%8) & (1<<bits - 1)
				if palette == nil {
					v = v * 255 / (1<<bits - 1)
					if flip {
						v = 255 - v
					}
				}
				c[k] = byte(v)
			}
			m.SetNRGBA(x, y, toRGB(c, comps, palette))
		}
	}
	return m, nil
}

func toRGB(c [4]byte, comps int, palette []color.NRGBA) color.NRGBA {
	switch {
	case palette != nil:
		if int(c[0]) < len(palette) {
			return palette[c[0]]
		}
		return color.NRGBA{A: 255}
	case comps == 1:
		return color.NRGBA{c[0], c[0], c[0], 255}
	case comps == 3:
		return color.NRGBA{c[0], c[1], c[2], 255}
	}
	r, g, b := color.CMYKToRGB(c[0], c[1], c[2], c[3])
	return color.NRGBA{r, g, b, 255}
}

// colors returns how many samples a pixel has, and the palette of indexed colours.
func (d *document) colors(o object.Object, mask bool) (int, []color.NRGBA, error) {
	if mask {
		return 1, nil, nil
	}
	a := d.Array(o)
	switch d.colorName(o) {
	case "DeviceGray", "CalGray", "G":
		return 1, nil, nil
	case "DeviceRGB", "CalRGB", "RGB":
		return 3, nil, nil
	case "DeviceCMYK", "CMYK":
		return 4, nil, nil
	case "ICCBased":
		if len(a) > 1 {
			if n := d.Int(d.Dict(a[1])["N"], 0); n == 1 || n == 3 || n == 4 {
				return n, nil, nil
			}
		}
	case "Indexed", "I":
		if len(a) < 4 {
			break
		}
		n, inner, err := d.colors(a[1], false)
		if err != nil || inner != nil {
			break
		}
		table := []byte(nil)
		switch v := d.Resolve(a[3]).(type) {
		case object.String:
			table = []byte(v)
		case *object.Stream:
			table, _, _ = d.Decode(v) // what is missing is black
		}
		var palette []color.NRGBA
		for i := 0; i+n <= len(table) && len(palette) < 256; i += n {
			var c [4]byte
			copy(c[:], table[i:i+n])
			palette = append(palette, toRGB(c, n, nil))
		}
		if palette == nil {
			palette = []color.NRGBA{{A: 255}}
		}
		return 1, palette, nil
	}
	return 0, nil, object.ErrSyntax
}

// fonts returns the font programs that stand in the file.
func (d *document) fonts() []media.Payload {
	var out []media.Payload
	seen := map[*object.Stream]bool{}
	d.each(func(o object.Object) {
		desc, ok := o.(object.Dict)
		if !ok {
			return
		}
		for k, ext := range map[object.Name]string{"FontFile": "pfa", "FontFile2": "ttf", "FontFile3": "cff"} {
			s, ok := d.Resolve(desc[k]).(*object.Stream)
			if !ok || seen[s] {
				continue
			}
			seen[s] = true
			data, _, err := d.Decode(s)
			if err != nil {
				d.warn("A font could not be decoded: %v.", err)
				continue
			}
			if len(data) > 4 && string(data[:4]) == "OTTO" {
				ext = "otf"
			}
			name := string(d.Name(desc["FontName"]))
			if name == "" {
				name = fmt.Sprintf("font%d", len(out)+1)
			}
			out = append(out, media.Payload{Data: data, MIME: map[string]string{"ttf": "font/ttf", "otf": "font/otf", "pfa": "application/x-font-type1", "cff": "application/vnd.ms-opentype"}[ext], Name: media.CleanName(name + "." + ext)})
		}
	})
	return out
}
