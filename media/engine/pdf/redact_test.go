package pdf_test

import (
	"bytes"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

const ssn = "123-45-6789"

const redactSSN = `redact match=/\d{3}-\d{2}-\d{4}/`

func form(s *sheet, content string) object.Ref {
	return s.Add(object.Deflate([]byte(content), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Form"),
		"BBox": object.Array{int64(0), int64(0), int64(400), int64(400)}, "Resources": object.Dict{"Font": object.Dict{"F": helvetica}}}))
}

// Whatever way a number stands in a file, it is gone from every reading and every byte, and the words around it stay.
func TestRedactTraps(t *testing.T) {
	for name, build := range map[string]func(s *sheet){
		"one string": func(s *sheet) { s.page(line(300, "before "+ssn+" after"), nil) },
		"kerned":     func(s *sheet) { s.page("BT /F 12 Tf 20 300 Td [(before 12) -20 (3-4) 5 (5-67) (89 after)] TJ ET", nil) },
		"hexadecimal": func(s *sheet) {
			s.page("BT /F 12 Tf 20 300 Td (before ) Tj <3132332D34352D36373839> Tj ( after) Tj ET", nil)
		},
		"quote operators":   func(s *sheet) { s.page("BT /F 12 Tf 14 TL 20 300 Td (before) ' 1 0 (x "+ssn+" after) \" ET", nil) },
		"spaced characters": func(s *sheet) { s.page("BT /F 12 Tf 2 Tc 80 Tz 20 300 Td (before "+ssn+" after) Tj ET", nil) },
		"turned":            func(s *sheet) { s.page("BT /F 12 Tf 0 1 -1 0 200 50 Tm (before "+ssn+" after) Tj ET", nil) },
		"turned page":       func(s *sheet) { s.page(line(300, "before "+ssn+" after"), object.Dict{"Rotate": int64(90)}) },
		"across two lines":  func(s *sheet) { s.page(line(300, "before 123-45-")+line(286, "6789 after"), nil) },
		"white":             func(s *sheet) { s.page("1 g\n"+line(300, "before "+ssn+" after"), nil) },
		"invisible":         func(s *sheet) { s.page("BT 3 Tr ET\n"+line(300, "before "+ssn+" after"), nil) },
		"in a form": func(s *sheet) {
			s.page("q /X Do Q", object.Dict{"Resources": object.Dict{"XObject": object.Dict{"X": form(s, line(300, "before "+ssn+" after"))}}})
		},
		"in a form of two pages": func(s *sheet) {
			f := form(s, line(300, "before "+ssn+" after"))
			for range 2 {
				s.page("q 1 0 0 1 5 5 cm /X Do Q", object.Dict{"Resources": object.Dict{"XObject": object.Dict{"X": f}}})
			}
		},
		"in the outline": func(s *sheet) {
			s.page(line(300, "before "+ssn+" after"), nil)
			o := s.Add(nil)
			item := s.Add(object.Dict{"Title": object.String("About " + ssn), "Parent": o})
			s.Set(o, object.Dict{"First": item, "Last": item, "Count": int64(1)})
			s.catalog["Outlines"] = o
		},
		"in metadata": func(s *sheet) {
			s.page(line(300, "before "+ssn+" after"), nil)
			s.Trailer["Info"] = s.Add(object.Dict{"Title": object.TextString("é " + ssn)})
			s.catalog["Metadata"] = s.Add(&object.Stream{Dict: object.Dict{"Subtype": object.Name("XML")}, Raw: []byte("<x>" + ssn + "</x>")})
		},
		"in alternatives": func(s *sheet) {
			s.page("/Span <</ActualText ("+ssn+")>> BDC\n"+line(300, "before "+ssn+" after")+"EMC", nil)
			s.catalog["StructTreeRoot"] = s.Add(object.Dict{"Type": object.Name("StructTreeRoot"), "K": object.Dict{"S": object.Name("P"), "Alt": object.String(ssn), "ActualText": object.String(ssn)}})
		},
		"in a note and a field": func(s *sheet) {
			look := object.Dict{"N": form(s, line(10, ssn))}
			rect := object.Array{int64(10), int64(10), int64(200), int64(60)}
			field := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Widget"), "FT": object.Name("Tx"), "T": object.String("f"), "V": object.String(ssn), "Rect": rect, "AP": look})
			note := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("FreeText"), "Contents": object.String(ssn), "Rect": rect, "AP": look})
			s.page(line(300, "before "+ssn+" after"), object.Dict{"Annots": object.Array{field, note}})
			s.catalog["AcroForm"] = object.Dict{"Fields": object.Array{field}}
		},
		"in a note alone, by its look": func(s *sheet) {
			note := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Stamp"), "Rect": object.Array{int64(0), int64(0), int64(400), int64(400)}, "AP": object.Dict{"N": form(s, line(10, ssn))}})
			s.page(line(300, "before after"), object.Dict{"Annots": object.Array{note}})
		},
		"in an attachment": func(s *sheet) {
			s.page(line(300, "before "+ssn+" after"), nil)
			file := s.Add(object.Deflate([]byte(ssn), object.Dict{"Type": object.Name("EmbeddedFile")}))
			s.catalog["Names"] = object.Dict{"EmbeddedFiles": object.Dict{"Names": object.Array{object.String("a"), object.Dict{"F": object.String("a.txt"), "EF": object.Dict{"F": file}}}}}
		},
		"in a script": func(s *sheet) {
			s.page(line(300, "before "+ssn+" after"), nil)
			s.catalog["OpenAction"] = object.Dict{"S": object.Name("JavaScript"), "JS": object.String("app.alert('" + ssn + "')")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSheet()
			build(s)
			res := query(t, s.bytes(), redactSSN)
			holds(t, res.Media.Data, ssn, "123-45")
			if got := textOf(t, res.Media.Data); !strings.Contains(got, "before") || !strings.Contains(got, "after") {
				t.Errorf("the words around it are gone: %q (%q)", got, res.Warnings)
			}
			if strings.Contains(strings.Join(res.Warnings, " "), "rasterised") {
				t.Errorf("it became a picture: %q", res.Warnings)
			}
		})
	}
}

// What follows a removed word keeps its place.
func TestRedactKeepsPlaces(t *testing.T) {
	s := newSheet()
	s.page("BT /F 12 Tf 20 300 Td (before "+ssn+" after) Tj ET", nil)
	src := s.bytes()
	res := query(t, src, redactSSN+` replace=""`)
	a, b := drawn(t, src), drawn(t, res.Media.Data)
	changed := image.Rectangle{}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if a.At(x, y) != b.At(x, y) {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	// "before " begins at 20 points and is 37.4 wide, the number 68. Pictures have 150 dpi.
	if changed.Empty() || changed.Min.X < 57*150/72 || changed.Max.X > 126*150/72 {
		t.Errorf("pixels changed in %v", changed)
	}
}

func drawn(t *testing.T, data []byte) image.Image {
	t.Helper()
	res := query(t, data, "convert to=images")
	m, _, err := image.Decode(bytes.NewReader(res.List[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A picture under the words may show them too, so the page becomes a picture with bars in it.
func TestRedactOverAPicture(t *testing.T) {
	for _, turn := range []int64{0, 90, 180, 270} {
		s := newSheet()
		pic := s.Add(object.Deflate(bytes.Repeat([]byte{0xdd}, 300), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Image"), "Width": int64(10), "Height": int64(10), "BitsPerComponent": int64(8), "ColorSpace": object.Name("DeviceRGB")}))
		s.page("q 400 0 0 400 0 0 cm /P Do Q BT 3 Tr ET "+line(300, "x "+ssn), object.Dict{"Rotate": turn, "Resources": object.Dict{"XObject": object.Dict{"P": pic}}})
		s.page(line(300, "the second page"), nil)
		s.page(line(300, "the third page"), nil)
		res := query(t, s.bytes(), redactSSN)
		holds(t, res.Media.Data, ssn)
		if w := strings.Join(res.Warnings, " "); !strings.Contains(w, "Page 1: rasterised") || strings.Contains(w, "Page 2: raster") {
			t.Errorf("%d: %q", turn, res.Warnings)
		}
		m := drawn(t, res.Media.Data)
		dark := 0
		for y := range m.Bounds().Dy() {
			for x := range m.Bounds().Dx() {
				if r, _, _, _ := m.At(x, y).RGBA(); r < 0x2000 {
					dark++
				}
			}
		}
		if want := 61 * 12 * 150 * 150 / 72 / 72; dark < want*8/10 {
			t.Errorf("%d: %d dark pixels, want about %d", turn, dark, want)
		}
	}
}

func TestRedactReplacements(t *testing.T) {
	s := newSheet()
	s.page(line(300, "before "+ssn+" after"), nil)
	res := query(t, s.bytes(), redactSSN+` replace="[SSN]"`)
	holds(t, res.Media.Data, ssn)
	if got := textOf(t, res.Media.Data); !strings.Contains(got, "[SSN]") {
		t.Errorf("%q", got)
	}
	for statement, want := range map[string]string{
		redactSSN + ` replace="000-00-0000"`: "matches what is to be redacted",
		`redact match="nowhere"`:             `nothing in a.pdf matches "nowhere"`,
	} {
		if _, err := pipeline(t).Query(t.Context(), in(s.bytes()), statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// A word stays where the expression does not match it.
func TestRedactWholeWords(t *testing.T) {
	s := newSheet()
	s.page(line(300, "Anna knows Annabel"), nil)
	res := query(t, s.bytes(), `redact match=/\bAnna\b/`)
	if got := textOf(t, res.Media.Data); strings.Contains(got, "Anna ") || !strings.Contains(got, "knows Annabel") {
		t.Errorf("%q %q", got, res.Warnings)
	}
}

// A word is found where the end of a line divides it, and where blanks without width stand in it.
func TestRedactDividedWords(t *testing.T) {
	s := newSheet()
	s.page(line(300, "a func-")+line(286, "tion here")+"BT /F 12 Tf -3.34 Tw 20 200 Td (st a te ment here) Tj ET", nil)
	res := query(t, s.bytes(), `redact match="function","statement"`)
	if got := textOf(t, res.Media.Data); strings.Contains(got, "func") || strings.Contains(got, "tion") || strings.Contains(got, "ment") || strings.Count(got, "here") != 2 {
		t.Errorf("%q %q", got, res.Warnings)
	}
}

// Earlier revisions do not survive.
func TestRedactRevisions(t *testing.T) {
	s := newSheet()
	s.page(line(300, "before "+ssn+" after"), nil)
	old := s.bytes()
	next := append(bytes.Clone(old), []byte("\n99 0 obj\n("+ssn+")\nendobj\n")...)
	res := query(t, next, redactSSN)
	holds(t, res.Media.Data, ssn)
}

// Words that only the layout of a page tells are gone too: letters set loosely, an accent drawn apart, a script that runs to the left.
func TestRedactWordsByTheirLayout(t *testing.T) {
	hebrew := object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Helvetica"),
		"Encoding": object.Dict{"Differences": object.Array{int64(65), object.Name("afii57664"), object.Name("afii57665"), object.Name("afii57666"), object.Name("afii57667")}}}
	for word, content := range map[string]string{
		"flagship":                 "BT /F 12 Tf 2.2 Tc 20 300 Td (f) Tj (l) Tj (a) Tj (g) Tj (ship) Tj 0 Tc ET ",
		"K\u00f6lling":             "BT /F 12 Tf 20 300 Td (K) Tj 1.3 0 Td ET BT /F 12 Tf 28 300 Td [(\\250) 333 (olling)] TJ ET",
		"\u05d0\u05d1\u05d2\u05d3": "BT /H 12 Tf 20 300 Td (DCBA) Tj ET",
	} {
		s := newSheet()
		s.page(content+line(200, "Page a"), object.Dict{"Resources": object.Dict{"Font": object.Dict{"F": helvetica, "H": hebrew}}})
		if got := textOf(t, s.bytes()); !strings.Contains(got, word) {
			t.Errorf("the text is %q", got)
		}
		res, err := pipeline(t).Query(t.Context(), in(s.bytes()), `redact match="`+word+`"`)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		if got := query(t, res.Media.Data, "extract text ocr=off").Read.Text; strings.Contains(got, word) {
			t.Errorf("%s is left in %q", word, got)
		}
	}
}
