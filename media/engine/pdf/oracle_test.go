package pdf_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// oracle returns where a program is, and ends the test where it is not: with TACKLE_ORACLES as a failure.
func oracle(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not installed (Debian: "+pkg+")")
	}
	return path
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("TACKLE_ORACLES") != "" {
		t.Fatal(what + ", and TACKLE_ORACLES asks for it: run scripts/deps.sh")
	}
	t.Skip(what)
}

// divided is a word that the end of a line divides.
var divided = regexp.MustCompile(`(\p{L})[-\x{2010}]\n\s*(\p{Ll})`)

// words counts the words of a text, as lower-case runs of letters and digits, with ligatures as their letters.
func words(s string) map[string]int {
	s = divided.ReplaceAllString(norm.NFKC.String(s), "$1$2")
	out := map[string]int{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		out[w]++
	}
	return out
}

// recall is the share of the words of a that are in b.
func recall(a, b map[string]int) (share float64, n int) {
	same := 0
	for w, k := range a {
		n += k
		same += min(k, b[w])
	}
	if n == 0 {
		return 1, 0
	}
	return float64(same) / float64(n), n
}

// differ are the files of pdfcpu whose words differ from those of pdftotext by more than one in a hundred, with the reason.
// docs/deviations.md says more.
var differ = map[string]string{
	"pkg/samples/basic/AnnotationDemo.pdf":                         turned,
	"pkg/samples/basic/TextRotateDemo.pdf":                         turned,
	"pkg/samples/basic/TextRotateDemoWithOffset.pdf":               turned,
	"pkg/samples/create/primitives/tableRTL.pdf":                   turned,
	"pkg/samples/stamp/text/TextDefaults.pdf":                      turned,
	"pkg/samples/stamp/text/TextDefaultsAbbr.pdf":                  turned,
	"pkg/samples/stamp/text/TextScaleAbs150.pdf":                   turned,
	"pkg/samples/stamp/text/TextWithLink.pdf":                      turned,
	"pkg/samples/watermark/text/TextDefaults.pdf":                  turned,
	"pkg/samples/watermark/text/TextDefaultsAbbr.pdf":              turned,
	"pkg/samples/watermark/text/TextScaleAbs150.pdf":               turned,
	"pkg/samples/form/demo/japanese.pdf":                           garbled,
	"pkg/samples/form/fill/chineseSimple.pdf":                      garbled,
	"pkg/samples/form/flow/createFormAndUpdatePageCJKUserFont.pdf": garbled,
	"pkg/samples/basic/UserFont_Urdu.pdf":                          marked,
	"pkg/testdata/go-lecture.pdf":                                  loose,
}

const (
	turned  = "pdftotext divides words that run at an angle, as in \"A / k / er / m / at / W\" for Watermark"
	garbled = "fields show characters that their font lacks; pdftotext gives others, or none, where their values are given here"
	marked  = "pdftotext puts marks of direction, which are no letters, into a word of two scripts"
	loose   = "pdftotext divides words of letters that are set loosely, as in \"f l a g\" for flag"
)

// With TACKLE_PDFS, a folder of PDF files: each opens and gives 99 of 100 words that pdftotext gives, in one of the two
// orders in which that can write them, or stands in the list.
func TestOracle_Words(t *testing.T) {
	root := os.Getenv("TACKLE_PDFS")
	if root == "" {
		t.Skip("needs TACKLE_PDFS, a folder of PDF files; make oracles sets it")
	}
	tool := oracle(t, "pdftotext", "poppler-utils")
	files, opened, all, poor := 0, 0, 0, map[string]bool{}
	sum := 0.0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(strings.ToLower(path), ".pdf") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		res, err := pipeline(t).Query(t.Context(), media.Payload{Data: data, Name: filepath.Base(path)}, "extract text ocr=off")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		opened++
		ours := words(res.Read.Text)
		best, most := -1.0, 0
		for _, args := range [][]string{{"-q", path, "-"}, {"-q", "-raw", path, "-"}} {
			want, err := exec.Command(tool, args...).Output()
			if err != nil {
				t.Errorf("%s: pdftotext: %v", name, err)
				return nil
			}
			if share, n := recall(words(string(want)), ours); share > best {
				best, most = share, n
			}
		}
		all += most
		sum += best * float64(most)
		why, listed := differ[name]
		if best < 0.99 {
			poor[name] = true
			t.Logf("%.3f of %d words: %s %s", best, most, name, why)
			if !listed {
				t.Errorf("%s gives %.3f of %d words", name, best, most)
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
	for name := range differ {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil && !poor[name] {
			t.Errorf("%s is listed and gives its words: take it off the list", name)
		}
	}
	t.Logf("%d of %d files opened; %.4f of %d words; %d files differ by more than one word in a hundred", opened, files, sum/float64(all), all, len(poor))
	if sum/float64(all) < 0.995 {
		t.Error("more is missing in all than was on the day of writing (0.997)")
	}
}

// Debian's policy as a PDF has the words of its text.
func TestOracle_Policy(t *testing.T) {
	read := func(name string) []byte {
		f, err := os.Open(filepath.Join("/usr/share/doc/debian-policy", name))
		if err != nil {
			missing(t, "debian-policy is not installed (Debian: debian-policy)")
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	pdf := read("policy.pdf.gz")
	want := words(string(read("policy.txt.gz")))
	share, n := recall(want, words(textOf(t, pdf)))
	t.Logf("%.4f of %d words", share, n)
	if share < 0.99 {
		t.Error("too few")
	}
	parts := query(t, pdf, "split by=section").List
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	if len(parts) < 10 {
		t.Errorf("%d sections: %q", len(parts), names)
	}
	if got := fmt.Sprint(query(t, pdf, "extract metadata").Read.Data); !strings.Contains(got, "page_count:193") {
		t.Error(got)
	}
}

// What exiftool reads of a file is what is described, and of a sanitised or redacted one nothing about its author is left.
func TestOracle_Metadata(t *testing.T) {
	tool := oracle(t, "exiftool", "libimage-exiftool-perl")
	read := func(data []byte) map[string]any {
		name := filepath.Join(t.TempDir(), "a.pdf")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, "-json", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		var list []map[string]any
		if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 {
			t.Fatal(err)
		}
		return list[0]
	}
	s := newSheet()
	s.page(line(300, "Page a "+ssn), nil)
	s.page(line(300, "Page b"), nil)
	s.Trailer["Info"] = s.Add(object.Dict{"Title": object.TextString("Übersicht"), "Author": object.String("Someone"), "Producer": object.String("a program"), "CreationDate": object.String("D:20260102030405Z")})
	s.catalog["Metadata"] = s.Add(&object.Stream{Dict: object.Dict{"Type": object.Name("Metadata"), "Subtype": object.Name("XML")}, Raw: []byte(`<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">` +
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="the source"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`)})
	ours, theirs := query(t, s.bytes(), "extract metadata").Read.Data.(map[string]any), read(s.bytes())
	for k, name := range map[string]string{"title": "Title", "author": "Author", "page_count": "PageCount", "pdf_version": "PDFVersion"} {
		if fmt.Sprint(ours[k]) != fmt.Sprint(theirs[name]) {
			t.Errorf("%s: %v, exiftool %v", k, ours[k], theirs[name])
		}
	}
	if theirs["Source"] != "the source" {
		t.Errorf("exiftool does not read the test's metadata: %v", theirs)
	}
	for _, statement := range []string{"sanitize", redactSSN} {
		left := read(query(t, s.bytes(), statement).Media.Data)
		for _, k := range []string{"Title", "Author", "Producer", "CreateDate", "Source", "Creator"} {
			if v, ok := left[k]; ok {
				t.Errorf("%s leaves %s: %v", statement, k, v)
			}
		}
		if fmt.Sprint(left["PageCount"]) != "2" {
			t.Errorf("%s: %v", statement, left)
		}
	}
}
