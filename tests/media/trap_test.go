package media

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
)

// formats of the trap, each with what plants it.
var formats = []struct {
	name, ext string
	plant     func(testing.TB, *garden) []byte
	places    int      // at least so many
	flat      string   // into what LibreOffice turns it with everything that it knows of it; "" where it cannot read it
	how       []string // options of LibreOffice
	pandoc    bool     // whether pandoc reads it
}{
	{"docx", "docx", plantDOCX, 45, "fodt", nil, true},
	{"odt", "odt", plantODT, 40, "fodt", nil, true},
	{"fodt", "fodt", plantFODT, 8, "fodt", nil, false},
	{"pptx", "pptx", plantPPTX, 29, "fodp", nil, false},
	{"pdf", "pdf", plantPDF, 44, "", nil, false},
	{"html", "html", plantHTML, 47, "fodt", []string{"--infilter=HTML (StarWriter)"}, true},
	{"epub", "epub", plantEPUB, 31, "", nil, true},
	{"rtf", "rtf", plantRTF, 25, "fodt", nil, true},
	{"rtf, bytes", "rtf", plantRTFBytes, 2, "fodt", nil, false}, // pandoc knows no bytes in RTF
	{"txt", "txt", plantTXT, 6, "fodt", nil, true},
	{"txt, UTF-16", "txt", plantWideTXT, 6, "fodt", nil, false}, // pandoc reads UTF-8
}

// redaction puts in the place of each number one that is as wide, so that lines end where they ended.
const (
	redaction = `redact match=/(?!000)\d{3}-\d{2}-\d{4}/ replace="` + instead + `"`
	instead   = "000-00-0000"
)

// pictures are bytes in what LibreOffice gives, in which any four digits can stand.
var pictures = regexp.MustCompile(`(?s)<office:binary-data>.*?</office:binary-data>`)

// trap is one format before and after, as a file and as LibreOffice sees it.
type trap struct {
	*garden
	before, after media.Payload
	files         [2]string
	flat, pages   [2]string // "" where nothing here makes them
}

// sides are the names of the two files of a trap.
var sides = [2]string{"before", "after"}

// traps plants and redacts all formats, and lets LibreOffice open them, several at a time because starting it is dear.
func traps(t *testing.T) []*trap {
	t.Helper()
	dir := t.TempDir()
	var out []*trap
	flat, paged := map[[2]string][]string{}, map[[2]string][]string{}
	for i, f := range formats {
		tr := &trap{garden: newGarden(t, 100*i)}
		name := strings.ReplaceAll(f.name, ", ", "-")
		tr.before = media.Payload{Data: f.plant(t, tr.garden), Name: name + "." + f.ext}
		tr.after = *must(t, tr.before, redaction).Media
		if len(tr.order) < f.places {
			t.Fatalf("%s: %d places, want at least %d", f.name, len(tr.order), f.places)
		}
		how := strings.Join(f.how, "")
		for k, p := range [2]media.Payload{tr.before, tr.after} {
			file := filepath.Join(dir, name+"-"+sides[k]+"."+f.ext)
			if err := os.WriteFile(file, p.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			tr.files[k] = file
			if f.flat != "" {
				flat[[2]string{how, f.flat}] = append(flat[[2]string{how, f.flat}], file)
			}
			switch f.ext {
			case "pdf":
				tr.pages[k] = file
				continue
			case "epub": // which LibreOffice does not read
				pandoc := oracle(t, "pandoc", "pandoc")
				if pandoc == "" {
					continue
				}
				doc := strings.TrimSuffix(file, "epub") + "book.docx"
				output(t, true, pandoc, "-f", "epub", "-t", "docx", "-o", doc, file)
				file = doc
			}
			paged[[2]string{how, "pdf"}] = append(paged[[2]string{how, "pdf"}], file)
		}
		out = append(out, tr)
	}
	made := map[string]string{}
	for _, group := range []map[[2]string][]string{flat, paged} {
		for k, files := range group {
			var how []string
			if k[0] != "" {
				how = []string{k[0]}
			}
			for base, file := range officeBy(t, how, k[1], files...) {
				made[base+"."+k[1]] = file
			}
		}
	}
	for i, f := range formats {
		for k := range sides {
			base := strings.TrimSuffix(filepath.Base(out[i].files[k]), "."+f.ext)
			out[i].flat[k] = made[base+"."+f.flat]
			if p := made[base+".pdf"]; p != "" {
				out[i].pages[k] = p
			} else if p := made[base+".book.pdf"]; p != "" {
				out[i].pages[k] = p
			}
		}
	}
	return out
}

// The contract with numbers in every place that a format has for words: after redaction no reader and no scan of any member
// or stream finds one of them, and the pages look as they did, but for the numbers. Before it each number is found, so that
// a trap that is not there is noticed.
func TestContractTrap(t *testing.T) {
	for i, tr := range traps(t) {
		f := formats[i]
		t.Run(f.name+", readers", func(t *testing.T) { tr.readers(t, f.pandoc) })
		t.Run(f.name+", pages", func(t *testing.T) {
			if tr.pages[0] == "" || tr.pages[1] == "" {
				t.Skip("nothing here lays out " + f.ext)
			}
			for _, what := range compared(t, tr.pages[0], tr.pages[1], tr.order, notes[f.name]...) {
				t.Error(what)
			}
		})
	}
}

func (tr *trap) readers(t *testing.T, pandoc bool) {
	var flat [2][]reading
	for k := range sides {
		if tr.flat[k] != "" {
			flat[k] = []reading{{"LibreOffice", read(t, tr.flat[k])}}
		}
	}
	found := look(t, tr.before, tr.order, pandoc, flat[0]...)
	for _, n := range tr.order {
		if found[n] == nil {
			t.Errorf("%s, %s: nothing finds it before, so its trap is none", n, tr.places[n])
		}
	}
	left := look(t, tr.after, tr.order, pandoc, flat[1]...)
	for _, n := range tr.order {
		if left[n] != nil {
			t.Errorf("%s, %s: it is found by %s", n, tr.places[n], strings.Join(left[n], "; "))
		}
	}
	// Not even its last digits are left in a text.
	for _, r := range append(own(t, tr.after), flat[1]...) {
		if strings.HasSuffix(r.by, "html") || strings.HasSuffix(r.by, "assets") || strings.HasSuffix(r.by, "chunk") {
			continue // there stand base64, sizes and offsets too
		}
		text := r.text
		if r.by == "LibreOffice" {
			text = tags.ReplaceAllString(pictures.ReplaceAllString(text, ""), "")
		}
		for _, n := range tails(text, tr.order) {
			t.Errorf("%s, %s: %s still shows its end %s", n, tr.places[n], r.by, n[7:])
		}
	}
	if !slices.ContainsFunc(own(t, tr.after), func(r reading) bool { return strings.Contains(r.text, instead) }) {
		t.Error("nothing stands where the numbers stood")
	}
}

// Objects of other programs, whose bytes nobody here can write, are no way out: a file with one is refused while a number
// stands in it, and redacted when sanitize has taken it away.
func TestObjectsAreNoWayOut(t *testing.T) {
	const n = "123-45-6789"
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 504) + "of " + n + " and more"
	docx := &opc{box: openBox(t, "ooxml/testdata/contract.docx"), owner: "word/document.xml"}
	docx.part("word/embeddings/o.bin", "oleObject", "application/vnd.openxmlformats-officedocument.oleObject", ole)
	odt := openBox(t, "odf/testdata/contract.odt")
	odt.add("Object 1", ole)
	odt.edit("META-INF/manifest.xml", "</manifest:manifest>", `<manifest:file-entry manifest:full-path="Object 1" manifest:media-type="application/octet-stream"/></manifest:manifest>`)
	odt.edit("content.xml", "</office:text>", `<text:p><draw:frame><draw:object-ole xlink:href="./Object 1"/></draw:frame></text:p></office:text>`)
	pptx := &opc{box: openBox(t, "ooxml/testdata/gen.pptx"), owner: "ppt/slides/slide1.xml"}
	pptx.part("ppt/embeddings/o.bin", "oleObject", "application/vnd.openxmlformats-officedocument.oleObject", ole)
	for name, data := range map[string][]byte{
		"o.docx": docx.bytes(), "o.odt": odt.bytes(), "o.pptx": pptx.bytes(),
		"o.rtf": []byte(fmt.Sprintf(`{\rtf1 Number %s{\object\objemb{\*\objdata %x}{\result x}}\par}`, n, ole)),
	} {
		in := media.Payload{Data: data, Name: name}
		if _, err := run(t, in, redaction); err == nil || !strings.Contains(err.Error(), "123-45-6789") {
			t.Errorf("%s with an object: %v", name, err)
		}
		res := must(t, in, "sanitize | "+redaction)
		if left := look(t, *res.Media, []string{n}, false); left[n] != nil {
			t.Errorf("%s: %s is found by %s", name, n, strings.Join(left[n], "; "))
		}
	}
}
