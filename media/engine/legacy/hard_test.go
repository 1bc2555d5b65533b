package legacy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/race"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

func le(v ...int) []byte {
	var b []byte
	for _, n := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// slideRec is a record of the old PowerPoint format.
func slideRec(version, kind int, body ...[]byte) []byte {
	var all []byte
	for _, b := range body {
		all = append(all, b...)
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(version))
	out = binary.LittleEndian.AppendUint16(out, uint16(kind))
	return append(append(out, le(len(all))...), all...)
}

// slideFile makes the streams of a deck: one slide with a text, listed many times, and so many edits that each name the
// same directory of so many objects.
func slideFile(text string, listed, edits, objects int) *cfb {
	slide := slideRec(0xf, 1006, slideRec(0, pptChars, []byte(text)))
	var list []byte
	for range listed {
		list = append(list, slideRec(0, pptPersist, le(2, 0, 0, 0, 0))...)
	}
	doc := slideRec(0xf, pptDocument, slideRec(0xf, pptList, list), slideRec(0x2f, pptList, list))
	out := append(append([]byte{}, slide...), doc...)
	dirAt := len(out)
	dir := le(1|2<<20, len(slide), 0)
	for i := range objects {
		dir = append(dir, le(3+i|1<<20, 0)...)
	}
	out = append(out, slideRec(0, pptDirectory, dir)...)
	last := 0
	for range edits {
		at := len(out)
		out = append(out, slideRec(0, pptUserEdit, le(0, 0, last, dirAt, 1, 0, 0))...)
		last = at
	}
	return &cfb{name: "a.ppt", streams: map[string][]byte{"powerpoint document": out, "current user": append(make([]byte, 16), le(last)...)}, lim: media.Limits{}.WithDefaults()}
}

// bookFile makes the stream of a workbook whose sheets are all the same one.
func bookFile(sheets, cells int) *cfb {
	rec := func(op int, body ...byte) []byte {
		out := binary.LittleEndian.AppendUint16(nil, uint16(op))
		return append(binary.LittleEndian.AppendUint16(out, uint16(len(body))), body...)
	}
	var head, sheet []byte
	bound := func(at int) []byte { return rec(0x85, append(append(le(at), 0, 0), 1, 0, 'a')...) }
	size := len(rec(0x809, 0, 6)) + sheets*len(bound(0)) + len(rec(0x0a))
	head = rec(0x809, 0, 6)
	for range sheets {
		head = append(head, bound(size)...)
	}
	head = append(head, rec(0x0a)...)
	sheet = rec(0x809, 0, 6)
	for i := range cells {
		sheet = append(sheet, rec(0x27e, byte(i), byte(i>>8), 0, 0, 0, 0, 6, 0, 0, 0)...)
	}
	return &cfb{name: "a.xls", streams: map[string][]byte{"workbook": append(head, append(sheet, rec(0x0a)...)...)}, lim: media.Limits{}.WithDefaults()}
}

// wordFile makes the streams of a text whose pieces are all the same bytes, each letter a paragraph, with so many pages of
// properties.
func wordFile(letters, pieces, pages int) *cfb {
	main := make([]byte, 0x200)
	main = append(main, []byte(strings.Repeat("a\r", letters/2))...)
	put := func(at, v int) { copy(main[at:], le(v)) }
	binary.LittleEndian.PutUint16(main[2:], 0xc1)
	var table, cps, descs []byte
	for k := range pieces + 1 {
		cps = append(cps, le(k*letters)...)
		if k < pieces {
			descs = append(descs, 0, 0)
			descs = append(descs, le(0x40000000|0x200*2)...)
			descs = append(descs, 0, 0)
		}
	}
	plc := append(cps, descs...)
	table = append([]byte{2}, le(len(plc))...)
	table = append(table, plc...)
	put(0x1a2, 0)
	put(0x1a6, len(table))
	put(0x4c, letters*pieces)
	put(0x102, len(table))
	for k := range pages + 1 {
		table = append(table, le(1<<22+k)...) // all behind the text
	}
	put(0x106, len(table)-len(plc)-5+4*pages)
	table = append(table, make([]byte, 4*pages)...)
	return &cfb{name: "a.doc", streams: map[string][]byte{"worddocument": main, "0table": table}, lim: media.Limits{}.WithDefaults()}
}

// Files made to grow are read within bounds, or refused.
func TestDearLegacy(t *testing.T) {
	most := uint64(400) // MB
	if race.Enabled {
		most *= 10
	}
	var headers, runs strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&headers, "{\\header text %d}", i)
		fmt.Fprintf(&runs, "word %d\n", i)
	}
	rtf := func(s string) func() (*flow.Doc, error) {
		return func() (*flow.Doc, error) {
			d, _, err := readRTF(&media.Request{In: media.Payload{Data: []byte("{\\rtf1 " + s + "}"), Name: "a.rtf"}})
			return d, err
		}
	}
	book := func(c *cfb) func() (*flow.Doc, error) {
		return func() (*flow.Doc, error) {
			_, _, err := c.xls()
			return &flow.Doc{}, err
		}
	}
	doc := func(f func() (*flow.Doc, []string, error)) func() (*flow.Doc, error) {
		return func() (*flow.Doc, error) {
			d, _, err := f()
			return d, err
		}
	}
	sheets := bookFile(20_000, 10_000)
	sheets.lim.Cells = 500_000
	for name, read := range map[string]func() (*flow.Doc, error){
		"a slide that is listed again": doc(slideFile(strings.Repeat("w\x00", 10_000), 50_000, 1, 0).ppt),
		"edits of one directory":       doc(slideFile("w\x00", 1, 1000, 300_000).ppt),
		"sheets that are one":          book(sheets),
		"pieces that are one":          doc(wordFile(1_000_000, 100, 1).doc),
		"pages of properties":          doc(wordFile(200_000, 1, 100_000).doc),
		"headers":                      rtf(headers.String()),
		"runs":                         rtf(runs.String() + runs.String()),
		"fields in fields":             rtf(strings.Repeat("{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt ", 400) + strings.Repeat("a\n", 20_000) + strings.Repeat("}}", 400)),
		"styles":                       rtf(strings.Repeat("{\\stylesheet{\\s1 a;}", 900) + strings.Repeat("a\n", 20_000)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := read()
			if err == nil {
				_ = d.Text(flow.Options{})
				_ = d.Markdown(flow.Options{})
			}
			runtime.ReadMemStats(&after)
			var e *media.Error
			if err != nil && !errors.As(err, &e) {
				t.Error(err)
			}
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > most {
				t.Errorf("it took %d MB: %v", n, err)
			}
		})
	}
}

// A slide is told once, however often the list names it, and the deck is still read.
func TestSlidesListedTwice(t *testing.T) {
	d, _, err := slideFile("w\x00o\x00", 3, 1, 0).ppt()
	if err != nil || d.Text(flow.Options{}) != "Slide 1\n\nwo\n" {
		t.Errorf("%q %v", d.Text(flow.Options{}), err)
	}
}

// A run whose context ends stops in the midst of a big file.
func TestLegacyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lim := media.Limits{}.WithDefaults().During(ctx)
	for name, read := range map[string]func() error{
		"rtf": func() error {
			_, _, err := readRTF(&media.Request{In: media.Payload{Data: []byte("{\\rtf1 " + strings.Repeat("a\\par ", 100_000) + "}")}, Limits: lim})
			return err
		},
		"doc": func() error { c := wordFile(100_000, 1, 10); c.lim = lim; _, _, err := c.doc(); return err },
		"xls": func() error { c := bookFile(1, 100_000); c.lim = lim; _, _, err := c.xls(); return err },
		"ppt": func() error { c := slideFile("w\x00", 10, 1, 10); c.lim = lim; _, _, err := c.ppt(); return err },
	} {
		if err := read(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
