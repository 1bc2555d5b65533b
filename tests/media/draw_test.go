package media

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
)

// dpi is fine enough that a letter which is another one changes many points.
const dpi = 72

// pages draws the pages of a PDF.
func pages(t *testing.T, file string) []image.Image {
	t.Helper()
	tool := oracle(t, "pdftoppm", "poppler-utils")
	if tool == "" {
		t.Skip("pdftoppm is not installed (Debian: poppler-utils), so no pages are drawn")
	}
	dir := t.TempDir()
	output(t, true, tool, "-r", strconv.Itoa(dpi), "-gray", "-png", file, filepath.Join(dir, "p"))
	names, err := filepath.Glob(filepath.Join(dir, "p*.png"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has no pages: %v", file, err)
	}
	slices.Sort(names)
	var out []image.Image
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

var bbox = regexp.MustCompile(`<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>`)

// coloured are words that were inserted or deleted by somebody in whose name is a number; the colour of a change is that of
// its author.
var coloured = []string{"somebody", "deleted"}

// places are where the numbers stand on each page: from the number to the end of its line, because what follows it may be
// moved by what stands in its place.
func places(t *testing.T, file string, numbers []string) [][]image.Rectangle {
	t.Helper()
	var ends []string
	for _, n := range numbers {
		ends = append(ends, n[7:])
	}
	var out [][]image.Rectangle
	for _, page := range strings.Split(output(t, true, oracle(t, "pdftotext", "poppler-utils"), "-bbox", file, "-"), "<page ")[1:] {
		var on []image.Rectangle
		for _, m := range bbox.FindAllStringSubmatch(page, -1) {
			if !slices.ContainsFunc(ends, func(e string) bool { return strings.Contains(m[5], e) }) && !slices.Contains(coloured, m[5]) {
				continue
			}
			f := make([]float64, 4)
			for i := range f {
				f[i], _ = strconv.ParseFloat(m[i+1], 64) // the expression lets only numbers in
			}
			const scale = dpi / 72.0
			on = append(on, image.Rect(int(f[0]*scale)-2, int(f[1]*scale)-2, 1<<20, int(f[3]*scale)+3))
		}
		out = append(out, on)
	}
	return out
}

// ink says which points of a page are dark.
func ink(m image.Image) (dark []bool, wide, high int) {
	wide, high = m.Bounds().Dx(), m.Bounds().Dy()
	dark = make([]bool, wide*high)
	for y := range high {
		for x := range wide {
			v, _, _, _ := m.At(x, y).RGBA()
			dark[y*wide+x] = v>>8 < 144
		}
	}
	return dark, wide, high
}

// strange counts the points of two pages of one size that differ, away from the places. Lines may be a point higher or lower,
// because bold letters of some fonts are; so a dark point has to be dark in the other page, or beside it.
func strange(a, b image.Image, at []image.Rectangle) (n int, where image.Rectangle) {
	one, wide, high := ink(a)
	two, _, _ := ink(b)
	for _, pair := range [2][2][]bool{{one, two}, {two, one}} {
		for i, dark := range pair[0] {
			x, y := i%wide, i/wide
			if !dark || slices.ContainsFunc(at, func(r image.Rectangle) bool { return image.Pt(x, y).In(r) }) {
				continue
			}
			near := false
			for v := max(0, y-2); v <= min(high-1, y+2) && !near; v++ {
				for u := max(0, x-1); u <= min(wide-1, x+1); u++ {
					near = near || pair[1][v*wide+u]
				}
			}
			if !near {
				n, where = n+1, where.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return n, where
}

// compared says how two files of pages differ away from the numbers; nothing means that they do not.
func compared(t *testing.T, before, after string, numbers []string, more ...image.Rectangle) []string {
	t.Helper()
	a, b, at := pages(t, before), pages(t, after), places(t, before, numbers)
	if len(at) > 0 {
		at[0] = append(at[0], more...)
	}
	if len(a) != len(b) || len(a) != len(at) {
		return []string{fmt.Sprintf("%d pages became %d", len(a), len(b))}
	}
	var out []string
	shown := 0
	for i := range a {
		shown += len(at[i])
		if a[i].Bounds() != b[i].Bounds() {
			out = append(out, fmt.Sprintf("page %d: %v became %v", i+1, a[i].Bounds(), b[i].Bounds()))
		} else if n, where := strange(a[i], b[i], at[i]); n > 6 { // a letter is more
			out = append(out, fmt.Sprintf("page %d: %d points in %v", i+1, n, where))
		}
	}
	if shown == 0 {
		out = append(out, "no page shows a number, so nothing was compared with something")
	}
	return out
}

// notes are places of the first page that show what no text does: the icons of notes in which a number stood.
var notes = map[string][]image.Rectangle{"pdf": {image.Rect(440, 842-725, 600, 842-630)}}

// The comparison of pages can fail: a word that is another one, and one that lost its weight, are seen.
func TestComparingPagesCanFail(t *testing.T) {
	page := "<!DOCTYPE html><html><body><h1>Contract</h1><p>Number 123-45-6789 here.</p><p>The <b>brown</b> fox jumps.</p></body></html>"
	dir := t.TempDir()
	for name, s := range map[string]string{"before": page, "after": strings.Replace(page, "123-45-6789", instead, 1), "word": strings.Replace(page, "fox", "dog", 1), "weight": strings.Replace(page, "<b>brown</b>", "brown", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name+".html"), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := officeBy(t, []string{"--infilter=HTML (StarWriter)"}, "pdf", filepath.Join(dir, "before.html"), filepath.Join(dir, "after.html"), filepath.Join(dir, "word.html"), filepath.Join(dir, "weight.html"))
	if out == nil {
		t.Skip("LibreOffice is not installed, so there are no pages to compare")
	}
	for name, same := range map[string]bool{"after": true, "word": false, "weight": false} {
		if got := compared(t, out["before"], out[name], []string{"123-45-6789"}); (got == nil) != same {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What only paints is caught: a bar over the lines of a PDF, letters that are black on black or not shown in the others.
// Every reader of the trap would give the numbers out, and so the trap must say.
func TestPaintingIsCaught(t *testing.T) {
	const n = "123-45-6789"
	docx := openBox(t, "ooxml/testdata/contract.docx")
	doc := strings.ReplaceAll(string(docx.parts["word/document.xml"]), "<w:rPr></w:rPr><w:t>", `<w:rPr><w:vanish/><w:highlight w:val="black"/></w:rPr><w:t>`)
	docx.parts["word/document.xml"] = []byte(doc)
	for name, in := range map[string]media.Payload{
		"pdf":  {Data: paintedPDF(t), Name: "painted.pdf"},
		"docx": {Data: docx.bytes(), Name: "painted.docx"},
		"html": {Data: []byte("<p>Number <span style='background:#000;color:#000'>" + n + "</span></p>"), Name: "painted.html"},
		"rtf":  {Data: []byte(`{\rtf1 Number {\v 123-\b 45-6789}\par}`), Name: "painted.rtf"},
	} {
		if found := look(t, in, []string{n}, true); found[n] == nil {
			t.Errorf("%s: nobody finds the number under the paint", name)
		}
	}
	before, after := openPDF(t), paintedPDF(t)
	plain, err := before.Write()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{"before.pdf": plain, "after.pdf": after} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := compared(t, filepath.Join(dir, "before.pdf"), filepath.Join(dir, "after.pdf"), []string{n}); got == nil {
		t.Error("the bar is not seen")
	}
}
