package pdf_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// written is the colour in which pictures of these tests are written: a reader that sees it reads the number.
var written = color.RGBA{200, 20, 20, 255}

func shows(m image.Image) bool {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := m.At(x, y).RGBA()
			if near(r, written.R) && near(g, written.G) && near(bl, written.B) {
				return true
			}
		}
	}
	return false
}

func near(v uint32, c uint8) bool { return int(v>>8) > int(c)-12 && int(v>>8) < int(c)+12 }

// seer is an engine that reads pictures in which the number is written.
func seer(read *int) media.Engine {
	return media.Engine{ID: "seer", Convert: []media.Convert{{From: []string{"image/png", "image/jpeg"}, To: []string{"txt"}, Keep: media.Text,
		Do: func(_ context.Context, r *media.Request) (media.Result, error) {
			m, _, err := image.Decode(bytes.NewReader(r.In.Data))
			if err != nil {
				return media.Result{}, media.Failf("no picture: %v", err)
			}
			*read++
			text := "nothing of interest"
			if shows(m) {
				text = "the number is " + ssn
			}
			return media.Result{Media: &media.Payload{Data: []byte(text)}}, nil
		}}}}
}

// photo makes samples of a picture in which the middle row is written, or nothing.
func photo(w, h int, number bool) []byte {
	out := bytes.Repeat([]byte{0xdd}, w*h*3)
	for x := w / 10; number && x < w*8/10; x++ {
		for y := h/2 - 2; y < h/2+2; y++ {
			copy(out[(y*w+x)*3:], []byte{written.R, written.G, written.B})
		}
	}
	return out
}

func photoOf(s *sheet, number bool) object.Ref {
	return s.Add(object.Deflate(photo(40, 40, number), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(40), "Height": int64(40),
		"BitsPerComponent": int64(8), "ColorSpace": object.Name("DeviceRGB")}))
}

func xobject(pics ...object.Ref) object.Dict {
	x := object.Dict{}
	for i, p := range pics {
		x[object.Name(fmt.Sprint("P", i))] = p
	}
	return object.Dict{"Resources": object.Dict{"XObject": x}}
}

// A picture that shows a match becomes black, wherever it is shown; others, and the text, stay.
func TestRedactPictures(t *testing.T) {
	s := newSheet()
	bad, good := photoOf(s, true), photoOf(s, false)
	s.page("q 80 0 0 80 20 20 cm /P0 Do Q q 80 0 0 80 120 20 cm /P1 Do Q "+line(300, "before "+ssn+" after"), xobject(bad, good))
	s.page("q 80 0 0 80 20 20 cm /P0 Do Q "+line(300, "Page b"), xobject(bad))
	s.page("q 80 0 0 80 20 20 cm /P0 Do Q "+line(300, "Page c"), xobject(good))
	read := 0
	res, err := pipeline(t, seer(&read)).Query(t.Context(), in(s.bytes()), redactSSN)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Media.Data, ssn)
	if got := textOf(t, res.Media.Data); !strings.Contains(got, "before") || !strings.Contains(got, "Page b") {
		t.Errorf("%q", got)
	}
	w := strings.Join(res.Warnings, " ")
	for _, want := range []string{"Page 1: pictures that show words that match are black now (1)", "Page 2: pictures", "Words in 2 pictures were looked for by OCR"} {
		if !strings.Contains(w, want) {
			t.Errorf("no %q in %q", want, w)
		}
	}
	if strings.Contains(w, "rasterised") || strings.Contains(w, "Page 3: pictures") || read != 2 {
		t.Errorf("%d read, %q", read, w)
	}
	for i, p := range query(t, res.Media.Data, "convert to=images").List {
		m, _, err := image.Decode(bytes.NewReader(p.Data))
		if err != nil || shows(m) {
			t.Errorf("page %d still shows the number, %v", i+1, err)
		}
	}
}

// Only a picture shows a match: that is a match too. Where nothing reads pictures, it is said.
func TestRedactOnlyInAPicture(t *testing.T) {
	s := newSheet()
	s.page("q 80 0 0 80 20 20 cm /P0 Do Q "+line(300, "Page a"), xobject(photoOf(s, true)))
	read := 0
	if _, err := pipeline(t, seer(&read)).Query(t.Context(), in(s.bytes()), redactSSN); err != nil {
		t.Error(err)
	}
	_, err := pipeline(t).Query(t.Context(), in(s.bytes()), redactSSN)
	if err == nil || !strings.Contains(err.Error(), "Words within its pictures (1) were not looked for") {
		t.Error(err)
	}
	res := query(t, s.bytes(), `redact match="Page a"`)
	if w := strings.Join(res.Warnings, " "); !strings.Contains(w, "pictures (1); words within them were not looked for, because nothing here reads pictures") {
		t.Errorf("%q", w)
	}
}

// A picture within the content, and one whose coding is not known, are read with their page, which is drawn with black in
// their place.
func TestRedactPicturesThatCannotBeTakenOut(t *testing.T) {
	inline := fmt.Sprintf("q 80 0 0 80 20 20 cm BI /W 40 /H 40 /BPC 8 /CS /RGB /F /AHx ID %x> EI Q ", photo(40, 40, true))
	lab := func(s *sheet) object.Ref {
		return s.Add(object.Deflate(photo(40, 40, true), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(40), "Height": int64(40),
			"BitsPerComponent": int64(8), "ColorSpace": object.Array{object.Name("DeviceN"), object.Array{object.Name("a"), object.Name("b"), object.Name("c")}, object.Name("DeviceRGB"),
				object.Dict{"FunctionType": int64(2), "Domain": object.Array{int64(0), int64(1)}, "N": int64(1)}}}))
	}
	for name, build := range map[string]func(s *sheet){
		"inline": func(s *sheet) { s.page(inline+line(300, "Page a"), nil) },
		"strips": func(s *sheet) {
			s.page("q 80 0 0 40 20 60 cm /P0 Do Q q 80 0 0 40 20 20 cm /P1 Do Q q 80 0 0 40 20 100 cm /P2 Do Q "+line(300, "Page a"), xobject(photoOf(s, false), photoOf(s, true), photoOf(s, false)))
		},
		"unknown": func(s *sheet) { s.page("q 80 0 0 80 20 20 cm /P0 Do Q "+inline+line(300, "Page a"), xobject(lab(s))) },
	} {
		s := newSheet()
		build(s)
		s.page(line(300, "Page b"), nil)
		read := 0
		res, err := pipeline(t, seer(&read)).Query(t.Context(), in(s.bytes()), redactSSN)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range query(t, res.Media.Data, "convert to=images").List {
			m, _, err := image.Decode(bytes.NewReader(p.Data))
			if err != nil || shows(m) {
				t.Errorf("%s: page %d still shows the number, %v", name, i+1, err)
			}
		}
		w := strings.Join(res.Warnings, " ")
		if name != "strips" && !strings.Contains(w, "Page 1: rasterised at 200 dpi, because a picture on it shows words that match") || strings.Contains(w, "Page 2") {
			t.Errorf("%s: %q", name, w)
		}
	}
}

// A scanned page with its text behind it keeps its picture, with bars where the words are.
func TestRedactScan(t *testing.T) {
	s := newSheet()
	pic := s.Add(object.Deflate(photo(400, 400, true), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(400), "Height": int64(400),
		"BitsPerComponent": int64(8), "ColorSpace": object.Name("DeviceRGB")}))
	s.page("q 400 0 0 400 0 0 cm /P0 Do Q BT 3 Tr /F 60 Tf 10 190 Td ("+ssn+") Tj ET", xobject(pic))
	read := 0
	res, err := pipeline(t, seer(&read)).Query(t.Context(), in(s.bytes()), redactSSN)
	if err != nil {
		t.Fatal(err)
	}
	m := drawn(t, res.Media.Data)
	light := 0
	for x := range m.Bounds().Dx() {
		if r, _, _, _ := m.At(x, 50).RGBA(); r > 0x8000 {
			light++
		}
	}
	if shows(m) || light < m.Bounds().Dx()*9/10 {
		t.Errorf("the page still shows the number, or not the rest of its picture (%d of %d light)", light, m.Bounds().Dx())
	}
	if w := strings.Join(res.Warnings, " "); !strings.Contains(w, "Page 1: rasterised") {
		t.Errorf("%q", w)
	}
}

// tesseract is an engine that reads pictures with the program.
func tesseract(t *testing.T) media.Engine {
	t.Helper()
	path := oracle(t, "tesseract", "tesseract-ocr")
	return media.Engine{ID: "tesseract", Convert: []media.Convert{{From: []string{"image/png", "image/jpeg"}, To: []string{"txt"}, Keep: media.Text,
		Do: func(ctx context.Context, r *media.Request) (media.Result, error) {
			cmd := exec.CommandContext(ctx, path, "-", "-", "-l", "eng")
			cmd.Stdin, cmd.Env = bytes.NewReader(r.In.Data), append(os.Environ(), "OMP_THREAD_LIMIT=1")
			out, err := cmd.Output()
			return media.Result{Media: &media.Payload{Data: out}}, err
		}}}}
}

// A scanned page without text is read, and its number is gone from what can be read of the result; the page beside it stays.
func TestOracle_RedactScannedPage(t *testing.T) {
	ocr := tesseract(t)
	s := newSheet()
	s.page("BT /F 26 Tf 20 300 Td (The number is "+ssn+") Tj ET", nil)
	p := pipeline(t, ocr)
	pics, err := p.Query(t.Context(), in(s.bytes()), "convert to=images")
	if err != nil {
		t.Fatal(err)
	}
	scan, err := p.Query(t.Context(), pics.List[0], "convert to=pdf | merge with=@b")
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.Query(t.Context(), in(scan.Media.Data), "extract text")
	if err != nil || !strings.Contains(before.Read.Text, ssn) {
		t.Fatalf("tesseract reads %q, %v", before.Read.Text, err)
	}
	res, err := p.Query(t.Context(), in(scan.Media.Data), redactSSN)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Media.Data, ssn)
	after, err := p.Query(t.Context(), in(res.Media.Data), "extract text ocr=force")
	if err != nil || strings.Contains(after.Read.Text, "6789") || !strings.Contains(after.Read.Text, "Page b") {
		t.Errorf("tesseract reads %q, %v (%q)", after.Read.Text, err, res.Warnings)
	}
}
