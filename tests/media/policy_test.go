package media

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/tackle-dev/tackle/media"
)

// document reads a file of the package debian-policy, unpacked.
func document(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/usr/share/doc/debian-policy", name))
	switch {
	case err != nil && os.Getenv("TACKLE_ORACLES") != "":
		t.Fatal("debian-policy is not installed, and TACKLE_ORACLES asks for it: run scripts/deps.sh")
	case err != nil:
		t.Skip("debian-policy is not installed (Debian: debian-policy), so its four formats are not compared")
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

// chapters are the pages of the manual in HTML, in its order.
var chapters = strings.Fields(`index ch-scope ch-archive ch-binary ch-source ch-controlfields ch-maintainerscripts ch-relationships ch-sharedlibs
	ch-opersys ch-files ch-customized-programs ch-docs ap-pkg-scope ap-pkg-binarypkg ap-pkg-sourcepkg ap-pkg-controlfields ap-pkg-conffiles
	ap-pkg-alternatives ap-pkg-diversions ap-flowcharts ap-process ap-license upgrading-checklist`)

// lowered are the words of a text: runs of letters and digits, in lower case.
func lowered(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// share is how many of the runs of n words of a text are in another, each as often as it is there.
func share(of, in []string, n int) float64 {
	count := func(w []string) map[string]int {
		out := map[string]int{}
		for i := range len(w) - n + 1 {
			out[strings.Join(w[i:i+n], " ")]++
		}
		return out
	}
	a, b := count(of), count(in)
	same, all := 0, 0
	for g, k := range a {
		same, all = same+min(k, b[g]), all+k
	}
	return float64(same) / float64(all)
}

// The manual of Debian's policy is one text in four formats, and reads as one: nearly all words, and runs of three words, of
// each are in each other one. What is in one format alone is known: each page of HTML has links to its neighbours, and the PDF
// heads and numbers of pages and a list of contents to the depth of all sections.
func TestPolicyInFourFormats(t *testing.T) {
	read := func(name, file string) []string {
		in := media.Payload{Data: document(t, file), Name: name}
		return lowered(string(must(t, in, "convert to=txt").Media.Data))
	}
	texts := map[string][]string{"txt": lowered(string(document(t, "policy.txt.gz"))), "pdf": read("policy.pdf", "policy.pdf.gz"), "epub": read("policy.epub", "policy.epub")}
	for _, c := range chapters {
		texts["html"] = append(texts["html"], read(c+".html", filepath.Join("policy.html", c+".html"))...)
	}
	// The least share of words, and of runs of three, of the first format that are in the second.
	for _, tt := range []struct {
		of, in     string
		one, three float64
	}{
		{"txt", "pdf", 0.995, 0.97}, {"txt", "epub", 0.998, 0.995}, {"txt", "html", 0.998, 0.99},
		{"epub", "txt", 0.99, 0.99}, {"epub", "pdf", 0.99, 0.97}, {"epub", "html", 0.99, 0.985},
		{"pdf", "txt", 0.96, 0.94}, {"pdf", "epub", 0.96, 0.94}, {"pdf", "html", 0.975, 0.94},
		{"html", "txt", 0.95, 0.94}, {"html", "pdf", 0.96, 0.93}, {"html", "epub", 0.95, 0.94},
	} {
		one, three := share(texts[tt.of], texts[tt.in], 1), share(texts[tt.of], texts[tt.in], 3)
		t.Logf("%s in %s: %.4f of %d words, %.4f of runs of three", tt.of, tt.in, one, len(texts[tt.of]), three)
		if one < tt.one || three < tt.three {
			t.Errorf("%s in %s: %.4f and %.4f, want %.2f and %.2f", tt.of, tt.in, one, three, tt.one, tt.three)
		}
	}
}
