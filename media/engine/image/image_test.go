package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/draw"

	"github.com/tackle-dev/tackle/media"
)

func pipeline(t testing.TB) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scene is a picture with a different colour in each corner and soft shapes between.
func scene(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			fx, fy := float64(x)/float64(w), float64(y)/float64(h)
			m.SetNRGBA(x, y, color.NRGBA{uint8(255 * fx), uint8(255 * fy), uint8(127 + 127*math.Sin(fx*9)*math.Cos(fy*7)), 255})
		}
	}
	return m
}

func encoded(t testing.TB, m image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if format == "jpeg" {
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 95})
	} else {
		err = png.Encode(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func run(t testing.TB, data []byte, name, statement string) (media.Result, image.Image) {
	t.Helper()
	res, err := pipeline(t).Query(t.Context(), media.Payload{Data: data, Name: name}, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	m, _, err := image.Decode(bytes.NewReader(res.Media.Data))
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return res, m
}

func at(m image.Image, x, y int) [3]int {
	r, g, b, _ := m.At(m.Bounds().Min.X+x, m.Bounds().Min.Y+y).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

func close2(a, b [3]int, d int) bool {
	for i := range a {
		if a[i]-b[i] > d || b[i]-a[i] > d {
			return false
		}
	}
	return true
}

func TestM2_Geometry(t *testing.T) {
	src := scene(60, 40)
	for _, format := range []string{"png", "jpeg"} {
		data := encoded(t, src, format)
		for _, tt := range []struct {
			do   string
			w, h int
			// where the four corners of the source are now: top left, top right, bottom left; -1: not looked at
			tl, tr, bl [2]int
		}{
			{"image resize width=30", 30, 20, [2]int{0, 0}, [2]int{29, 0}, [2]int{0, 19}},
			{"image resize height=80", 120, 80, [2]int{0, 0}, [2]int{119, 0}, [2]int{0, 79}},
			{"image resize width=20 height=20 fit=fill", 20, 20, [2]int{0, 0}, [2]int{19, 0}, [2]int{0, 19}},
			{"image resize width=20 height=20 fit=inside", 20, 13, [2]int{0, 0}, [2]int{19, 0}, [2]int{0, 12}},
			{"image resize width=20 height=20 fit=outside", 30, 20, [2]int{0, 0}, [2]int{29, 0}, [2]int{0, 19}},
			{"image resize width=20 height=20", 20, 20, [2]int{-1}, [2]int{-1}, [2]int{-1}},
			{"image resize width=20 height=20 fit=contain", 20, 20, [2]int{0, 3}, [2]int{19, 3}, [2]int{0, 15}},
			{"image rotate deg=90", 40, 60, [2]int{39, 0}, [2]int{39, 59}, [2]int{0, 0}},
			{"image rotate deg=180", 60, 40, [2]int{59, 39}, [2]int{0, 39}, [2]int{59, 0}},
			{"image rotate deg=270", 40, 60, [2]int{0, 59}, [2]int{0, 0}, [2]int{39, 59}},
			{"image flip axis=horizontal", 60, 40, [2]int{59, 0}, [2]int{0, 0}, [2]int{59, 39}},
			{"image flip axis=vertical", 60, 40, [2]int{0, 39}, [2]int{59, 39}, [2]int{0, 0}},
			{"image flip axis=both", 60, 40, [2]int{59, 39}, [2]int{0, 39}, [2]int{59, 0}},
			{"image resize width=30 | image rotate deg=90", 20, 30, [2]int{19, 0}, [2]int{19, 29}, [2]int{0, 0}},
			{"image rotate deg=90 | image resize width=30", 30, 45, [2]int{29, 0}, [2]int{29, 44}, [2]int{0, 0}},
		} {
			_, m := run(t, data, "a."+format, tt.do)
			if m.Bounds().Dx() != tt.w || m.Bounds().Dy() != tt.h {
				t.Errorf("%s %s: %v, want %d×%d", format, tt.do, m.Bounds(), tt.w, tt.h)
				continue
			}
			for k, c := range [][2]int{tt.tl, tt.tr, tt.bl} {
				want := at(src, []int{0, 59, 0}[k], []int{0, 0, 39}[k])
				tolerance := 24
				if format == "jpeg" { // small pictures with half the colours, encoded twice
					tolerance = 95
				}
				if c[0] >= 0 && !close2(at(m, c[0], c[1]), want, tolerance) {
					t.Errorf("%s %s: corner %d is %v, want %v", format, tt.do, k, at(m, c[0], c[1]), want)
				}
			}
		}
	}
}

// Our scaling is as near to a slow and sure one as it should be.
func TestScalingQuality(t *testing.T) {
	src := scene(401, 299)
	for _, format := range []string{"png", "jpeg"} {
		_, m := run(t, encoded(t, src, format), "a."+format, "image resize width=100 height=75 fit=fill | image format to=png")
		want := image.NewNRGBA(image.Rect(0, 0, 100, 75))
		draw.CatmullRom.Scale(want, want.Bounds(), src, src.Bounds(), draw.Src, nil)
		sum := 0.0
		for y := range 75 {
			for x := range 100 {
				a, b := at(m, x, y), at(want, x, y)
				for c := range a {
					sum += float64((a[c] - b[c]) * (a[c] - b[c]))
				}
			}
		}
		if psnr := 10 * math.Log10(255*255/(sum/(3*75*100))); psnr < 34 {
			t.Errorf("%s: %.1f dB from the reference", format, psnr)
		}
	}
}

func TestFlatStaysFlat(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 333, 217))
	for i := range m.Pix {
		m.Pix[i] = 201
	}
	for _, to := range []string{"7", "50", "332", "700"} {
		_, out := run(t, encoded(t, m, "png"), "a.png", "image resize width="+to)
		b := out.Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				if at(out, x, y) != [3]int{201, 201, 201} {
					t.Fatalf("width %s: %v at %d,%d", to, at(out, x, y), x, y)
				}
			}
		}
	}
}

func TestTransparency(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	for i := 0; i < len(m.Pix)/2; i += 4 {
		copy(m.Pix[i:], []byte{255, 0, 0, 255})
	}
	data := encoded(t, m, "png")
	_, out := run(t, data, "a.png", "image resize width=10")
	if _, _, _, a := out.At(5, 9).RGBA(); a != 0 {
		t.Error("the lower half is no longer transparent")
	}
	res, out := run(t, data, "a.png", "image format to=jpeg")
	if !close2(at(out, 10, 18), [3]int{255, 255, 255}, 3) || len(res.Warnings) != 1 || res.Media.Name != "a.jpg" {
		t.Errorf("%v %q %s", at(out, 10, 18), res.Warnings, res.Media.Name)
	}
}

func TestFormats(t *testing.T) {
	src := scene(33, 21)
	data := encoded(t, src, "png")
	for _, c := range codecs() {
		switch c.token {
		case "gif", "bmp", "avif":
			continue // not a target of image format in statements, or not read by package image
		}
		res, m := run(t, data, "a.png", "image format to="+c.token)
		if m.Bounds().Dx() != 33 || res.Media.MIME != "image/"+c.token {
			t.Errorf("%s: %v %s", c.token, m.Bounds(), res.Media.MIME)
		}
		if !close2(at(m, 16, 10), at(src, 16, 10), 30) {
			t.Errorf("%s: %v, want %v", c.token, at(m, 16, 10), at(src, 16, 10))
		}
	}
	p, err := pipeline(t).Create(t.Context(), "png")
	if err != nil {
		t.Fatal(err)
	}
	_, m := run(t, p.Data, "a.png", "image resize width=8 height=4 fit=fill")
	if m.Bounds().Dx() != 8 || at(m, 3, 2) != [3]int{255, 255, 255} {
		t.Errorf("%v %v", m.Bounds(), at(m, 3, 2))
	}
	for _, tok := range []string{"png", "jpeg", "gif", "bmp", "tiff", "webp"} {
		if _, err := pipeline(t).Create(t.Context(), tok); err != nil {
			t.Errorf("empty:%s: %v", tok, err)
		}
	}
}

// exif makes EXIF data with an orientation, a maker and a thumbnail.
func exif(orientation int) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x02")
	b = append(b, "\x01\x0f\x00\x02\x00\x00\x00\x05\x00\x00\x00\x26"...)
	b = append(b, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0)
	b = append(b, 0, 0, 0, 0x2c) // the thumbnail's directory
	b = append(b, "Leica\x00"...)
	b = append(b, 0, 2)
	b = append(b, 2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0x4a)
	b = append(b, 2, 2, 0, 4, 0, 0, 0, 1, 0, 0, 0, 5)
	b = append(b, 0, 0, 0, 0)
	return append(b, "THUMB"...)
}

func withMeta(jpegData []byte, orientation int) []byte {
	out := bytes.Clone(jpegData[:2])
	out = appendSegment(out, 0xe1, append([]byte(exifHead), exif(orientation)...))
	icc := make([]byte, 200)
	copy(icc[16:], "RGB ")
	out = appendSegment(out, 0xe2, append([]byte(iccHead+"\x01\x01"), icc...))
	out = appendSegment(out, 0xfe, []byte("a secret comment"))
	return append(out, jpegData[2:]...)
}

func TestOrientation(t *testing.T) {
	src := scene(60, 40)
	data := encoded(t, src, "jpeg")
	// Where the top left corner of what is stored is seen.
	for n, tl := range map[int][2]int{1: {0, 0}, 2: {59, 0}, 3: {59, 39}, 4: {0, 39}, 5: {0, 0}, 6: {39, 0}, 7: {39, 59}, 8: {0, 59}} {
		res, m := run(t, withMeta(data, n), "a.jpg", "image format to=jpg quality=95")
		w, h := 60, 40
		if n >= 5 {
			w, h = 40, 60
		}
		if m.Bounds().Dx() != w || m.Bounds().Dy() != h || !close2(at(m, tl[0], tl[1]), at(src, 0, 0), 24) {
			t.Errorf("orientation %d: %v, corner %v", n, m.Bounds(), at(m, tl[0], tl[1]))
		}
		got := readMeta(res.Media.Data)
		if got.orientation != 1 || got.icc == nil || got.tags()["camera_make"] != "Leica" || bytes.Contains(res.Media.Data, []byte("THUMB")) {
			t.Errorf("orientation %d: kept %+v", n, got)
		}
	}
}

func TestStripIsLossless(t *testing.T) {
	data := encoded(t, scene(60, 40), "jpeg")
	for _, n := range []int{1, 6} {
		in := append(withMeta(data, n), "trailing data"...)
		res, m := run(t, in, "a.jpg", "image strip_metadata")
		out := res.Media.Data
		for _, secret := range []string{"Leica", "THUMB", "secret", "trailing"} {
			if bytes.Contains(out, []byte(secret)) {
				t.Errorf("%q is still there", secret)
			}
		}
		_, want, err := image.DecodeConfig(bytes.NewReader(in))
		if err != nil || want != "jpeg" || m.Bounds().Dx() != 60 {
			t.Error(m.Bounds(), err)
		}
		scan := data[bytes.Index(data, []byte{0xff, 0xda}):]
		if !bytes.HasSuffix(out, scan) {
			t.Error("the pixels were encoded again")
		}
		if got := readMeta(out); got.orientation > 1 != (n > 1) || got.icc == nil {
			t.Errorf("orientation %d became %+v", n, got)
		}
	}
	png := encoded(t, scene(6, 4), "png")
	in := append(appendChunk(bytes.Clone(png[:33]), "tEXt", []byte("k\x00secret")), png[33:]...)
	res, _ := run(t, in, "a.png", "image strip_metadata")
	if !bytes.Equal(res.Media.Data, png) {
		t.Error("the PNG is not what it was without its text")
	}
	res, _ = run(t, withMeta(data, 6), "a.jpg", "image rotate deg=90 | image strip_metadata")
	if m := readMeta(res.Media.Data); !m.empty() {
		t.Errorf("%+v", m)
	}
}

func TestMetadata(t *testing.T) {
	res, err := pipeline(t).Query(t.Context(), media.Payload{Data: withMeta(encoded(t, scene(60, 40), "jpeg"), 6), Name: "a.jpg"}, "extract metadata")
	if err != nil {
		t.Fatal(err)
	}
	m := res.Read.Data.(map[string]any)
	for k, want := range map[string]any{"width": 60, "height": 40, "orientation": 6, "camera_make": "Leica", "metadata": "exif, icc", "color": "ycbcr"} {
		if m[k] != want {
			t.Errorf("%s is %v, want %v", k, m[k], want)
		}
	}
}

func TestMED006_PictureBombs(t *testing.T) {
	// A PNG that says it has 50,000 × 50,000 pixels, in some dozens of bytes.
	huge := []byte(pngHead)
	head := binary.BigEndian.AppendUint32(nil, 50_000)
	head = binary.BigEndian.AppendUint32(head, 50_000)
	huge = appendChunk(huge, "IHDR", append(head, 8, 2, 0, 0, 0))
	huge = appendChunk(huge, "IDAT", []byte{0x78, 0x9c, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1})
	huge = appendChunk(huge, "IEND", nil)
	g := &gif.GIF{}
	for range 1200 {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.White}))
		g.Delay = append(g.Delay, 1)
	}
	var frames bytes.Buffer
	if err := gif.EncodeAll(&frames, g); err != nil {
		t.Fatal(err)
	}
	good := encoded(t, scene(60, 40), "jpeg")
	for _, tt := range []struct {
		name     string
		data     []byte
		do, want string
	}{
		{"pixels", huge, "image resize width=10", "50000×50000 pixels"},
		{"frames", frames.Bytes(), "image resize width=10 | image format to=png", "more than the 1000 frames"},
		{"a large result", encoded(t, scene(2, 2), "png"), "image resize width=16384 height=16384", "16384×16384 pixels"},
		{"cut", good[:len(good)/3], "image resize width=10", ""},
		{"no picture", []byte("\x89PNG\r\n\x1a\nnothing"), "image resize width=10", "no whole png picture"},
	} {
		_, err := pipeline(t).Query(t.Context(), media.Payload{Data: tt.data, Name: "a"}, tt.do)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	g.Image, g.Delay = g.Image[:3], g.Delay[:3]
	frames.Reset()
	if err := gif.EncodeAll(&frames, g); err != nil {
		t.Fatal(err)
	}
	res, _ := run(t, frames.Bytes(), "a.gif", "image format to=png")
	if len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "animation of 3 frames") {
		t.Errorf("%q", res.Warnings)
	}
}

// A worker that panics is a panic of the call, which the pipeline catches, and not the end of the program.
func TestMED012_WorkersThatPanic(t *testing.T) {
	defer func() {
		if v := recover(); v != "row 40" {
			t.Errorf("recovered %v", v)
		}
	}()
	parallel(1000, func(from, to int) {
		if from <= 40 && 40 < to {
			panic("row 40")
		}
	})
	t.Error("it went on")
}

func TestMED012_BrokenPictures(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	p := pipeline(t)
	for _, format := range []string{"png", "jpeg"} {
		base := withMeta(encoded(t, scene(60, 40), "jpeg"), 3)
		if format == "png" {
			base = encoded(t, scene(20, 10), "png")
		}
		for range 300 {
			b := bytes.Clone(base)
			for range 1 + rnd.IntN(4) {
				b[rnd.IntN(len(b))] = byte(rnd.Uint32())
			}
			_, _ = p.Query(t.Context(), media.Payload{Data: b, Name: "a." + format}, "image resize width=9 | image rotate deg=90")
			_, _ = p.Query(t.Context(), media.Payload{Data: b, Name: "a." + format}, "image strip_metadata")
			_, _ = p.Query(t.Context(), media.Payload{Data: b, Name: "a." + format}, "extract metadata")
		}
	}
}

func BenchmarkJPEGTo1024(b *testing.B) {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, scene(4000, 3000), &jpeg.Options{Quality: 90}); err != nil {
		b.Fatal(err)
	}
	p := pipeline(b)
	for b.Loop() {
		if _, err := p.Query(b.Context(), media.Payload{Data: buf.Bytes(), Name: "a.jpg"}, "image resize width=1024"); err != nil {
			b.Fatal(err)
		}
	}
}

// What a picture says beside its pixels goes where something in it is found; the pixels stay.
func TestForget(t *testing.T) {
	const word = "Zanzibar"
	hit := func(b []byte) (string, error) {
		if bytes.Contains(b, []byte(word)) {
			return word, nil
		}
		return "", nil
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write([]byte(word)) // a buffer takes everything
	_ = w.Close()
	plain, photo := encoded(t, scene(60, 40), "png"), encoded(t, scene(60, 40), "jpeg")
	end := len(plain) - 12
	for name, tt := range map[string]struct {
		data  []byte
		found bool
	}{
		"text of a PNG":        {slices.Concat(appendChunk(bytes.Clone(plain[:end]), "tEXt", []byte("Comment\x00"+word)), plain[end:]), true},
		"packed text of a PNG": {slices.Concat(appendChunk(bytes.Clone(plain[:end]), "zTXt", append([]byte("Comment\x00\x00"), z.Bytes()...)), plain[end:]), true},
		"behind a PNG":         {append(bytes.Clone(plain), word...), true},
		"comment of a JPEG":    {slices.Concat(appendSegment(photo[:2:2], 0xfe, []byte(word)), photo[2:]), true},
		"behind a JPEG":        {append(bytes.Clone(photo), word...), true},
		"a PNG":                {plain, false},
		"a JPEG":               {photo, false},
	} {
		fresh, left, err := Forget(tt.data, hit)
		if err != nil || left != "" || (fresh != nil) != tt.found || bytes.Contains(fresh, []byte(word)) {
			t.Errorf("%s: %d bytes, left %q, %v", name, len(fresh), left, err)
			continue
		}
		if !tt.found {
			continue
		}
		a, _, errA := image.Decode(bytes.NewReader(tt.data))
		b, _, errB := image.Decode(bytes.NewReader(fresh))
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the pixels changed: %v %v", name, errA, errB)
		}
	}
	if _, left, err := Forget([]byte("GIF89a "+word), hit); left != "" || err != nil {
		t.Errorf("a format that is not known: %q %v", left, err)
	}
}
