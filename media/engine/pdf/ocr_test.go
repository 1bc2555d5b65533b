package pdf_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// reader is an engine that reads pictures, as far as it says what it was shown.
func reader(names *[]string) media.Engine {
	return media.Engine{ID: "reader", Convert: []media.Convert{{From: []string{"image/png"}, To: []string{"txt"}, Keep: media.Text,
		Do: func(_ context.Context, r *media.Request) (media.Result, error) {
			cfg, err := png.DecodeConfig(bytes.NewReader(r.In.Data))
			if err != nil || cfg.Width < 1000 {
				return media.Result{}, media.Failf("it is no picture of a page: %v", err)
			}
			*names = append(*names, r.In.Name)
			return media.Result{Media: &media.Payload{Data: []byte("read from a picture")}}, nil
		}}}}
}

// Each page is looked at: those with words give them, those with pictures are read, empty ones are left alone.
func TestPagesThatArePictures(t *testing.T) {
	s := newSheet()
	s.page(line(300, "Page a"), nil)
	pic := s.Add(object.Deflate(bytes.Repeat([]byte{0xdd}, 300), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(10), "Height": int64(10), "BitsPerComponent": int64(8), "ColorSpace": object.Name("DeviceRGB")}))
	s.page("q 200 0 0 200 50 50 cm /P Do Q", object.Dict{"Resources": object.Dict{"XObject": object.Dict{"P": pic}}})
	s.page("", nil)
	for statement, want := range map[string]string{"extract text": "a-page2.png", "extract text ocr=force": "a-page1.png a-page2.png", "extract text ocr=off": ""} {
		var names []string
		res, err := pipeline(t, reader(&names)).Query(t.Context(), in(s.bytes()), statement)
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: read %q, want %q (%v)", statement, names, want, err)
			continue
		}
		if got := res.Read.Text; strings.Contains(got, "Page a") == (want != "a-page2.png" && want != "") || (want != "") != strings.Contains(got, "read from a picture") {
			t.Errorf("%s: %q", statement, got)
		}
	}
	res := query(t, s.bytes(), "extract text")
	if w := strings.Join(res.Warnings, " "); !strings.Contains(w, "pictures: 2.") {
		t.Errorf("%q", w)
	}
	one := query(t, s.bytes(), "select pages=2").Media.Data
	if _, err := pipeline(t).Query(t.Context(), in(one), "extract text"); err == nil || !strings.Contains(err.Error(), "OCR engine") || !strings.Contains(err.Error(), "Do not retry") {
		t.Error(err)
	}
}

// A picture becomes a page of its size, what is transparent stays so, and the picture can be taken out again.
func TestPictureToPage(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 96, 48))
	for i := range 96 * 48 {
		m.Set(i%96, i/96, color.NRGBA{uint8(i), 10, 200, uint8(155 + i%100)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	res, err := pipeline(t).Query(t.Context(), media.Payload{Data: b.Bytes(), Name: "p.png"}, "convert to=pdf")
	if err != nil || res.Media.Name != "p.pdf" {
		t.Fatal(err)
	}
	meta := query(t, res.Media.Data, "extract metadata").Read.Data.(map[string]any)
	if size := meta["page_size_points"].([]float64); size[0] != 72 || size[1] != 36 {
		t.Error(size)
	}
	list := query(t, res.Media.Data, "extract assets types=image").List
	back, err := png.Decode(bytes.NewReader(list[0].Data))
	if err != nil || len(list) != 1 || back.Bounds() != m.Bounds() {
		t.Fatalf("%d pictures, %v", len(list), err)
	}
	if r, g, bl, _ := back.At(5, 5).RGBA(); uint8(r>>8) != m.NRGBAAt(5, 5).R || uint8(g>>8) != 10 || uint8(bl>>8) != 200 {
		t.Error("the colours changed")
	}
}
