package pdf

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// small is a file that shows some content with two fonts and a form.
func small(content, toUnicode []byte) []byte {
	f := object.New()
	cmap := f.Add(object.Deflate(toUnicode, nil))
	plain := f.Add(object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Times-Roman"),
		"Encoding": object.Dict{"Differences": object.Array{int64(65), object.Name("ffi"), object.Name("uni05D0")}}})
	wide := f.Add(object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type0"), "Encoding": cmap, "ToUnicode": cmap,
		"DescendantFonts": object.Array{object.Dict{"Subtype": object.Name("CIDFontType2"), "W": object.Array{int64(1), object.Array{int64(500), 250.5}, int64(7), int64(9), int64(1000)}}}})
	form := f.Add(object.Deflate([]byte("BT /F 9 Tf (in a form) Tj ET"), object.Dict{"Type": object.Name("XObject"), "Subtype": object.Name("Form"), "BBox": object.Array{int64(0), int64(0), int64(9), int64(9)}}))
	pages := f.Add(nil)
	page := f.Add(object.Dict{"Type": object.Name("Page"), "Parent": pages, "MediaBox": object.Array{int64(0), int64(0), int64(400), int64(400)},
		"Resources": object.Dict{"Font": object.Dict{"F": plain, "G": wide}, "XObject": object.Dict{"X": form}}, "Contents": f.Add(object.Deflate(content, nil))})
	f.Set(pages, object.Dict{"Type": object.Name("Pages"), "Kids": object.Array{page}, "Count": int64(1)})
	outline := f.Add(nil)
	item := f.Add(object.Dict{"Title": object.String("one"), "Parent": outline, "Dest": object.Array{page, object.Name("Fit")}})
	f.Set(outline, object.Dict{"First": item, "Last": item, "Count": int64(1)})
	f.Trailer["Root"] = f.Add(object.Dict{"Type": object.Name("Catalog"), "Pages": pages, "Outlines": outline, "PageLabels": object.Dict{"Nums": object.Array{int64(0), object.Dict{"S": object.Name("r")}}},
		"Names": object.Dict{"Dests": object.Dict{"Names": object.Array{object.String("d"), object.Array{page, object.Name("Fit")}}}}})
	data, err := f.Write()
	if err != nil {
		panic(err)
	}
	return data
}

var fuzzed = object.Limits{Decoded: 4 << 20, Stream: 1 << 20, Objects: 5000}

// What a page shows is read to its end whatever it is, and a glyph that is taken out is taken out.
func FuzzContent(f *testing.F) {
	f.Add([]byte("BT /F 12 Tf 14 TL 20 300 Td (one \\(two\\)) Tj T* [(a) -300 (b)] TJ /G 9 Tf <0001000200070041> Tj 1 0 0 -1 9 9 Tm (x) ' ET /X Do"),
		[]byte("1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <0009> <05d0> endbfrange 1 begincidrange <0000> <00ff> 1 endcidrange"))
	f.Add([]byte("/Span <</ActualText (said)>> BDC BT /F 9 Tf (shown) Tj ET EMC q 2 0 0 2 0 0 cm BI /W 1 /H 1 ID x EI Q"), []byte("1 beginbfchar <0041> <d83ddE00> endbfchar"))
	f.Fuzz(func(t *testing.T, content, toUnicode []byte) {
		if len(content) > 1<<14 || len(toUnicode) > 1<<12 {
			return
		}
		file, err := object.Open(small(content, toUnicode), fuzzed)
		if err != nil {
			t.Fatal(err)
		}
		d := &document{File: file}
		page := d.leaves()[0].dict
		seen, _, _ := d.seenOn(page, nil, nil)
		text := layout(seen)
		if len(text) > 200*len(content)+200*len(toUnicode)+10_000 {
			t.Errorf("%d characters of %d bytes", len(text), len(content))
		}
		w := &walker{d: d, drop: func(x, y float64) bool { return true }}
		src, err := d.contents(page)
		if err != nil {
			t.Fatal(err)
		}
		out, changed := w.walk(src, d.Dict(page["Resources"]), unit)
		if !changed || w.limit {
			return
		}
		d.shown = nil // forms were changed where they stand
		again := &walker{d: d, reading: true}
		again.walk(out, d.Dict(page["Resources"]), unit)
		for _, c := range again.seen {
			if !empty(c.text) {
				t.Fatalf("%q is left of %q in %q", c.text, src, out)
			}
		}
	})
}

// Whatever a file is, its pages can be picked and joined, and the result be read.
func FuzzPages(f *testing.F) {
	whole := small([]byte("BT /F 12 Tf (one) Tj ET"), nil)
	f.Add(whole)
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Names<</Dests 2 0 R>>/PageLabels 2 0 R/Outlines 2 0 R/AcroForm 2 0 R>>endobj 2 0 obj<</Kids[2 0 R 3 0 R]/First 2 0 R/Next 2 0 R/Fields[2 0 R]/T(x)/Nums[0 2 0 R]>>endobj 3 0 obj<</Type/Page/Annots[2 0 R]>>endobj trailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		open := func(data []byte) *document {
			file, err := object.Open(data, fuzzed)
			if err != nil || file.Encrypted {
				return nil
			}
			return &document{File: file, name: "a.pdf", data: data}
		}
		d := open(data)
		if d == nil || len(d.leaves()) == 0 || len(d.leaves()) > 100 {
			return
		}
		for _, l := range d.leaves() {
			seen, _, _ := d.seenOn(l.dict, nil, nil)
			layout(seen)
		}
		n := len(d.leaves())
		for _, pages := range [][]int{{n - 1}, {0, 0}} {
			out, err := d.pick(d.leaves(), pages)
			if err != nil {
				return
			}
			if p := open(out); p == nil || len(p.leaves()) != len(pages) {
				t.Fatalf("%d pages were picked, and the result has others", len(pages))
			}
		}
		out, err := joined([]*document{open(data), open(data)})
		if err != nil {
			return
		}
		if p := open(out); p == nil || len(p.leaves()) != 2*n {
			t.Fatal(fmt.Sprintf("%d pages twice, and the result has others", n), bytes.Count(out, []byte("/Page")))
		}
	})
}
