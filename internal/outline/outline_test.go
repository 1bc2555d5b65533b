package outline

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// dump writes symbols as the golden files have them.
func dump(symbols []Symbol) string {
	var b strings.Builder
	for _, s := range symbols {
		in := ""
		if s.Container != "" {
			in = " in " + s.Container
		}
		fmt.Fprintf(&b, "%d-%d %s%s %s%s | %s\n", s.Line, s.End, strings.Repeat("  ", s.Depth), s.Kind, s.Name, in, s.Text)
	}
	return b.String()
}

func samples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/sample.*")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".want") })
	if len(files) < 18 {
		t.Fatalf("found %d samples", len(files))
	}
	return files
}

// Each language has a sample, and what is read of it stands in a golden file.
func TestSamples(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range samples(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			seen[Language(f)] = true
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(Parse(f, src))
			if *update {
				if err := os.WriteFile(f+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(f + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, l := range Languages() {
		if !seen[l] {
			t.Errorf("%s has no sample", l)
		}
	}
}

// check holds what is true of every outline.
func check(t *testing.T, name string, src []byte) {
	t.Helper()
	lines := bytes.Count(src, []byte{'\n'}) + 1
	last := 0
	for i, s := range Parse(name, src) {
		if s.Line < 1 || s.End < s.Line || s.End > lines || s.Line < last {
			t.Fatalf("%s: symbol %d %+v: %d lines, the one before at %d\n%q", name, i, s, lines, last, src)
		}
		if s.Name == "" || s.Kind == "" || len(s.Text) > MaxText || strings.ContainsAny(s.Text, "\n\r") || s.Depth < 0 {
			t.Fatalf("%s: %+v\n%q", name, s, src)
		}
		last = s.Line
	}
}

// Files that end anywhere, as they do while they are written, are read as far as they go.
func TestTruncated(t *testing.T) {
	for _, f := range samples(t) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(src) {
			check(t, f, src[:n])
			check(t, f, src[n:])
		}
	}
}

// What would take the square of its length does not.
func TestHostile(t *testing.T) {
	for _, piece := range []string{"{", "(", "<", "=", "a ", "operator ", "define ", "#define x ", "namespace ", "/", "'", "`${", "\"", "template <", "@a(", "a::", "a\n", "\\(", "<<<A\n", "#if\n", "    def ", "- # ", "> "} {
		src := []byte(strings.Repeat(piece, 50_000/len(piece)))
		for _, f := range samples(t) {
			Parse(f, src)
		}
	}
}

func TestLanguage(t *testing.T) {
	for name, want := range map[string]string{"a/b.go": "go", "x.TS": "", "x.tsx": "typescript", "Rakefile": "ruby", "x": "", "x.h": "c", "x.hpp": "c++", "README.md": "markdown", ".go": "go"} {
		if got := Language(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if Parse("x.unknown", []byte("func main() {}")) != nil {
		t.Error("an unknown language has symbols")
	}
	if len(Types()) < 15 || !slices.IsSorted(Languages()) && Languages()[0] != "c" {
		t.Errorf("types %q", Types())
	}
}

func FuzzParse(f *testing.F) {
	var names []string
	for i, s := range samples(f) {
		src, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		names = append(names, s)
		f.Add(i, src)
	}
	f.Fuzz(func(t *testing.T, n int, src []byte) {
		if n < 0 {
			n = -(n + 1)
		}
		check(t, names[n%len(names)], src)
	})
}

// A megabyte of each language.
func BenchmarkParse(b *testing.B) {
	for _, f := range samples(b) {
		src, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		src = bytes.Repeat(src, 1<<20/len(src)+1)
		if strings.HasSuffix(f, ".go") { // one package clause a file
			src = append([]byte("package a\n"), bytes.ReplaceAll(src, []byte("package a\n"), nil)...)
		}
		b.Run(Language(f), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if len(Parse(f, src)) < 10 {
					b.Fatal("nothing was read")
				}
			}
		})
	}
}
