package object

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plain is a small file with a table of cross references, as an editor for text would write it.
func plain(content string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>",
		fmt.Sprintf("<</Length 5 0 R>>\nstream\n%s\nendstream", content), fmt.Sprint(len(content))} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	x := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, x)
	return b.Bytes()
}

func content(t *testing.T, f *File) string {
	t.Helper()
	kids := f.Array(f.Dict(f.Catalog()["Pages"])["Kids"])
	if len(kids) == 0 {
		t.Fatal("no pages")
	}
	s, ok := f.Resolve(f.Dict(kids[0])["Contents"]).(*Stream)
	if !ok {
		t.Fatal("no content")
	}
	data, _, err := f.Decode(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReading(t *testing.T) {
	const want = "BT (hello) Tj ET"
	whole := plain(want)
	damaged := map[string][]byte{
		"whole":                whole,
		"no startxref":         bytes.ReplaceAll(whole, []byte("startxref"), []byte("startxxxx")),
		"wrong offsets":        bytes.ReplaceAll(whole, []byte("00000 n"), []byte("00001 f")),
		"shifted":              append([]byte("junk\n"), whole...),
		"bytes put in":         bytes.Replace(whole, []byte("1 0 obj"), []byte("          1 0 obj"), 1),
		"wrong length":         bytes.Replace(whole, []byte("/Length 5 0 R"), []byte("/Length 99999"), 1),
		"negative length":      bytes.Replace(whole, []byte("/Length 5 0 R"), []byte("/Length -1"), 1),
		"cut off":              whole[:bytes.Index(whole, []byte("xref"))],
		"previous in a loop":   bytes.Replace(whole, []byte("/Root 1 0 R"), fmt.Appendf(nil, "/Root 1 0 R/Prev %d", bytes.Index(whole, []byte("xref\n0"))), 1),
		"a length in a circle": bytes.Replace(whole, []byte("/Length 5 0 R"), []byte("/Length 4 0 R"), 1),
	}
	for name, data := range damaged {
		f, err := Open(data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := content(t, f); got != want {
			t.Errorf("%s: %q", name, got)
		}
		out, err := f.Write()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Open(out, Limits{})
		if err != nil || again.Repaired || content(t, again) != want {
			t.Errorf("%s written anew: %v, mended %v", name, err, again != nil && again.Repaired)
		}
	}
}

func TestFilters(t *testing.T) {
	f := New()
	for name, s := range map[string]*Stream{
		"flate":       Deflate([]byte("hello hello"), nil),
		"hexadecimal": {Dict{"Filter": Name("ASCIIHexDecode")}, []byte("68 65 6C6c6F 2068656C6C6F>")},
		"85":          {Dict{"Filter": Name("A85")}, []byte("BOu!rD]j7BEbo7>")},
		"run length":  {Dict{"Filter": Name("RunLengthDecode")}, []byte("\x04hello\x00 \x04hello\x80junk")},
		"lzw":         {Dict{"Filter": Name("LZWDecode")}, lzwOf("hello hello")},
		"two":         {Dict{"Filter": Array{Name("AHx"), Name("Fl")}}, fmt.Appendf(nil, "%x>", Deflate([]byte("hello hello"), nil).Raw)},
		"predictor":   predicted(),
		"cut off":     {Dict{"Filter": Name("FlateDecode")}, cut(Deflate([]byte("hello hello"), nil).Raw, 4)},
	} {
		got, _, err := f.Decode(s)
		if err != nil || name != "85" && string(got) != "hello hello" || name == "85" && !strings.HasPrefix(string(got), "hello") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, _, err := f.Decode(&Stream{Dict{"Filter": Name("Odd")}, nil}); err == nil {
		t.Error("an unknown filter decodes")
	}
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

// lzwOf codes with literals only.
func lzwOf(s string) []byte {
	var out []byte
	acc, n := 0, 0
	put := func(code int) {
		acc, n = acc<<9|code, n+9
		for n >= 8 {
			out = append(out, byte(acc>>(n-8)))
			n -= 8
		}
	}
	put(256)
	for _, c := range []byte(s) {
		put(int(c))
	}
	put(257)
	put(0)
	return out
}

func predicted() *Stream {
	// Rows of 11 bytes, each the difference to the byte on its left.
	row := []byte{1}
	prev := byte(0)
	for _, c := range []byte("hello hello") {
		row, prev = append(row, c-prev), c
	}
	s := Deflate(row, nil)
	s.Dict["DecodeParms"] = Dict{"Predictor": int64(12), "Columns": int64(11)}
	return s
}

// What is made to explode meets a bound.
func TestMED007_Limits(t *testing.T) {
	f := New()
	f.lim.Stream = 1 << 20
	if _, _, err := f.Decode(Deflate(make([]byte, 2<<20), nil)); !errors.Is(err, ErrLimit) {
		t.Error("a stream larger than allowed:", err)
	}
	if _, _, err := f.Decode(&Stream{Dict{"Filter": Name("RL")}, bytes.Repeat([]byte{129, 0}, 1<<16)}); !errors.Is(err, ErrLimit) {
		t.Error("a run-length bomb:", err)
	}
	deep := bytes.Replace(plain("x"), []byte("/Type/Catalog"), []byte("/Type/Catalog/D "+strings.Repeat("[", 1_000_000)), 1)
	if f, err := Open(deep, Limits{}); err == nil {
		if _, err := f.Write(); err != nil {
			t.Log(err)
		}
	}
	many := []byte("%PDF-1.4\n")
	for i := range 3000 {
		many = fmt.Appendf(many, "%d 0 obj 1 endobj\n", i+1)
	}
	if _, err := Open(many, Limits{Objects: 1000}); !errors.Is(err, ErrLimit) {
		t.Error("too many objects:", err)
	}
	loop := bytes.Replace(plain("x"), []byte("/Kids[3 0 R]"), []byte("/Kids[2 0 R]"), 1)
	if _, err := Open(loop, Limits{}); err != nil {
		t.Error(err)
	}
	self := bytes.Replace(plain("x"), []byte("/Pages 2 0 R"), []byte("/Pages 1 0 R"), 1)
	if _, err := Open(self, Limits{}); err != nil {
		t.Error(err)
	}
}

func TestTextStrings(t *testing.T) {
	for _, s := range []string{"plain", "Übersicht", "日本", "a\nb", ""} {
		if got := TextString(s).Text(); got != s {
			t.Errorf("%q: %q", s, got)
		}
	}
	for raw, want := range map[String]string{"\xef\xbb\xbf\xc3\xa9": "é", "\xe9\x80": "é•", "\xff\xfea\x00": "a"} {
		if got := raw.Text(); got != want {
			t.Errorf("%q: %q", string(raw), got)
		}
	}
}

// Objects survive being written and read.
func TestPrintedObjectsAreRead(t *testing.T) {
	o := Dict{"A b": Array{int64(-1), 2.5, true, nil, String("a(b\\)"), String("\x00\xff")}, "#": Dict{"x": Name("y/z")}}
	var b bytes.Buffer
	Print(&b, o)
	got, _ := NewLexer(b.Bytes()).Next()
	var again bytes.Buffer
	Print(&again, got)
	if b.String() != again.String() {
		t.Errorf("%s\n%s", &b, &again)
	}
}

// qpdf finds nothing to complain of in what is written.
func TestOracle_QPDF(t *testing.T) {
	qpdf, err := exec.LookPath("qpdf")
	if err != nil {
		if os.Getenv("TACKLE_ORACLES") != "" {
			t.Fatal("qpdf is not installed, and TACKLE_ORACLES asks for it: run scripts/deps.sh")
		}
		t.Skip("qpdf is not installed (Debian: qpdf)")
	}
	f, err := Open(plain("BT ET"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		f.Catalog()[Name(fmt.Sprint("K", i))] = f.Add(Dict{"V": int64(i)})
	}
	out, err := f.Write()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(qpdf, "--check", name).CombinedOutput(); err != nil || bytes.Contains(msg, []byte("WARNING")) {
		t.Errorf("%v: %s", err, msg)
	}
}

// Whatever the bytes are, reading ends, and what was read can be written and read again.
func FuzzOpen(f *testing.F) {
	f.Add(plain("BT (x) Tj ET"))
	made, err := Open(plain("x"), Limits{})
	if err != nil {
		f.Fatal(err)
	}
	out, err := made.Write()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(out)
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[2 0 R]>>endobj trailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(data, Limits{Decoded: 8 << 20, Stream: 1 << 20, Objects: 5000})
		if err != nil {
			return
		}
		for _, n := range file.All() {
			if s, ok := file.Get(Ref{Num: n}).(*Stream); ok {
				_, _, _ = file.Decode(s) // errors are fine, ending is the point
			}
		}
		out, err := file.Write()
		if err != nil {
			return
		}
		if _, err := Open(out, Limits{}); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}
