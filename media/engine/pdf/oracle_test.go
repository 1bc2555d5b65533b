package pdf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/tackle-dev/tackle/media"
)

// words counts the words of a text, as lower-case runs of letters and digits.
func words(s string) map[string]int {
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

// With TACKLE_PDFS, a folder of PDF files: each opens, and together they give the words that pdftotext gives. Where a file
// gives less, PDFium divides words otherwise (a chapter set with blanks of no width is half of what is missing), or reads a
// map of characters otherwise; those are listed.
func TestOracle_Words(t *testing.T) {
	root := os.Getenv("TACKLE_PDFS")
	tool, err := exec.LookPath("pdftotext")
	if root == "" || err != nil {
		t.Skip("needs TACKLE_PDFS, a folder of PDF files, and pdftotext (Debian: poppler-utils)")
	}
	files, opened, all := 0, 0, 0
	sum := 0.0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(strings.ToLower(path), ".pdf") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		want, oracle := exec.Command(tool, "-q", path, "-").Output()
		res, err := pipeline(t).Query(t.Context(), media.Payload{Data: data, Name: filepath.Base(path)}, "extract text ocr=off")
		var e *media.Error
		if err != nil {
			if oracle == nil || !errors.As(err, &e) {
				t.Errorf("%s: %v; pdftotext: %v", path, err, oracle)
			}
			return nil
		}
		opened++
		if oracle != nil {
			return nil
		}
		share, n := recall(words(string(want)), words(res.Read.Text))
		if n >= 20 && share < 0.99 {
			t.Logf("%.3f of %d words: %s", share, n, strings.TrimPrefix(path, root))
		}
		all += n
		sum += share * float64(n)
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
	t.Logf("%d of %d files opened; %.4f of %d words", opened, files, sum/float64(all), all)
	if opened != files || sum/float64(all) < 0.984 {
		t.Error("more is missing than was on the day of writing (511 of 511, 0.985)")
	}
}

// Debian's policy as a PDF has the words of its text.
func TestOracle_Policy(t *testing.T) {
	read := func(name string) []byte {
		f, err := os.Open(filepath.Join("/usr/share/doc/debian-policy", name))
		if err != nil {
			t.Skip("debian-policy is not installed (Debian: debian-policy)")
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
