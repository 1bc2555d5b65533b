package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func gradient(w, h int, alpha uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x ^ y), alpha})
		}
	}
	return img
}

func noise(w, h int, alpha uint8) *image.NRGBA {
	img := gradient(w, h, alpha)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		if i%4 != 3 {
			img.Pix[i] = uint8(r.Uint32())
		}
	}
	return img
}

func pngOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// O9: what every provider takes is passed on as it is; everything else is made to fit.
func TestO9_Fit(t *testing.T) {
	var tiffBuf, bmpBuf, gifBuf, jpegBuf bytes.Buffer
	for _, err := range []error{
		tiff.Encode(&tiffBuf, gradient(40, 30, 255), nil), bmp.Encode(&bmpBuf, gradient(40, 30, 255)),
		gif.Encode(&gifBuf, gradient(40, 30, 255), nil), jpeg.Encode(&jpegBuf, gradient(40, 30, 255), nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	small := pngOf(t, gradient(40, 30, 255))
	for _, tt := range []struct {
		name       string
		data       []byte
		lim        Limits
		mime       string
		w, h       int
		unchanged  bool
		noteHolds  string
		bytesBelow int
	}{
		{"png as it is", small, Limits{}, "image/png", 40, 30, true, "", 0},
		{"jpeg as it is", jpegBuf.Bytes(), Limits{}, "image/jpeg", 40, 30, true, "", 0},
		{"gif as it is", gifBuf.Bytes(), Limits{}, "image/gif", 40, 30, true, "", 0},
		{"tiff is encoded again", tiffBuf.Bytes(), Limits{}, "image/png", 40, 30, false, "tiff of 40×30", 0},
		{"bmp is encoded again", bmpBuf.Bytes(), Limits{}, "image/png", 40, 30, false, "bmp of 40×30", 0},
		{"wide", pngOf(t, gradient(400, 100, 255)), Limits{Edge: 200}, "image/png", 200, 50, false, "400×100", 0},
		{"tall", pngOf(t, gradient(100, 400, 255)), Limits{Edge: 200}, "image/png", 50, 200, false, "100×400", 0},
		{"one pixel high stays one", pngOf(t, gradient(4000, 1, 255)), Limits{}, "image/png", 2000, 1, false, "", 0},
		{"noise becomes jpeg", pngOf(t, noise(300, 300, 255)), Limits{Bytes: 100_000}, "image/jpeg", 300, 300, false, "", 100_000},
		{"transparent noise shrinks as png", pngOf(t, noise(300, 300, 128)), Limits{Edge: 300, Bytes: 60_000}, "image/png", 0, 0, false, "", 60_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Fit(tt.data, tt.lim)
			if err != nil {
				t.Fatal(err)
			}
			if p.MIME != tt.mime || tt.w > 0 && (p.Width != tt.w || p.Height != tt.h) {
				t.Errorf("got %s %d×%d, want %s %d×%d", p.MIME, p.Width, p.Height, tt.mime, tt.w, tt.h)
			}
			if bytes.Equal(p.Data, tt.data) != tt.unchanged || (p.Note == "") != tt.unchanged {
				t.Errorf("unchanged = %v, note %q", bytes.Equal(p.Data, tt.data), p.Note)
			}
			if !strings.Contains(p.Note, tt.noteHolds) {
				t.Errorf("note %q lacks %q", p.Note, tt.noteHolds)
			}
			if tt.bytesBelow > 0 && len(p.Data) > tt.bytesBelow {
				t.Errorf("%d bytes, limit %d", len(p.Data), tt.bytesBelow)
			}
			cfg, _, err := image.DecodeConfig(bytes.NewReader(p.Data))
			if err != nil || cfg.Width != p.Width || cfg.Height != p.Height {
				t.Errorf("the result decodes to %d×%d, %v", cfg.Width, cfg.Height, err)
			}
		})
	}
}

// O9: a header that promises too much is refused before anything is decoded.
func TestO9_Refused(t *testing.T) {
	bomb := pngOf(t, gradient(2, 2, 255))
	copy(bomb[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536×65536 in the header; its checksum is wrong then
	if _, err := Fit(pngOf(t, gradient(100, 100, 255)), Limits{Pixels: 9999}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many pixels: %v", err)
	}
	for name, data := range map[string][]byte{"bomb": bomb, "empty": nil, "text": []byte("hello"), "cut": pngOf(t, gradient(9, 9, 255))[:20]} {
		if p, err := Fit(data, Limits{}); err == nil {
			t.Errorf("%s: taken as %s", name, p.MIME)
		}
	}
}

func TestSniff(t *testing.T) {
	for want, data := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "application/pdf": "%PDF-1.7\n",
		"image/tiff": "II*\x00", "": "package main\n",
	} {
		if got := Sniff([]byte(data)); got != want {
			t.Errorf("Sniff(%q) = %q, want %q", data, got, want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add([]byte("GIF89a\x01\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Fit(data, Limits{Pixels: 1 << 16})
		if err == nil && (len(p.Data) == 0 || p.Width <= 0) {
			t.Errorf("fits but is empty: %+v", p)
		}
	})
}

// X5: only whole pictures of the formats that browsers draw pass as they are.
func TestVerify(t *testing.T) {
	good := pngOf(t, gradient(30, 20, 255))
	var jpg, anim, bm bytes.Buffer
	if err := jpeg.Encode(&jpg, gradient(30, 20, 255), nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&anim, gradient(30, 20, 255), nil); err != nil {
		t.Fatal(err)
	}
	if err := bmp.Encode(&bm, gradient(30, 20, 255)); err != nil {
		t.Fatal(err)
	}
	for mime, data := range map[string][]byte{"image/png": good, "image/jpeg": jpg.Bytes(), "image/gif": anim.Bytes()} {
		if p, err := Verify(data, Limits{Edge: 1, Bytes: 1}); err != nil || p.MIME != mime || p.Width != 30 || p.Height != 20 || !bytes.Equal(p.Data, data) {
			t.Errorf("%s: %+v, %v", mime, p.MIME, err)
		}
		if _, err := Verify(data[:len(data)/2], Limits{}); err == nil {
			t.Errorf("half of a picture of type %s passes", mime)
		}
		if _, err := Verify(data, Limits{Pixels: 599}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", mime, err)
		}
	}
	for name, data := range map[string][]byte{"bmp": bm.Bytes(), "svg": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "html": []byte("<html>"), "nothing": nil} {
		if _, err := Verify(data, Limits{}); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// O9: half a picture has a whole header. A provider would refuse it, and each request after it.
func TestO9_Whole(t *testing.T) {
	var gifBuf, jpegBuf bytes.Buffer
	if err := errors.Join(gif.Encode(&gifBuf, noise(60, 60, 255), nil), jpeg.Encode(&jpegBuf, noise(60, 60, 255), nil)); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"png": pngOf(t, noise(60, 60, 255)), "gif": gifBuf.Bytes(), "jpeg": jpegBuf.Bytes()} {
		if p, err := Whole(data, Limits{}); err != nil || !bytes.Equal(p.Data, data) || p.Width != 60 {
			t.Errorf("%s: %v, %d bytes of %d", name, err, len(p.Data), len(data))
		}
		half := data[:len(data)/2]
		if _, err := Fit(half, Limits{}); err != nil {
			t.Fatalf("%s: its header is not whole: %v", name, err)
		}
		if p, err := Whole(half, Limits{}); err == nil || p.Data != nil {
			t.Errorf("half a %s is passed on", name)
		}
	}
	if p, err := Whole(pngOf(t, gradient(400, 100, 255)), Limits{Edge: 200}); err != nil || p.Width != 200 || p.Note == "" {
		t.Errorf("%+v, %v", p, err)
	}
}
