package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// raw writes objects as a file, numbered from 1, the first of them the catalog.
func raw(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var at []int
	for i, o := range objects {
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

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

const (
	onePage  = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	helv     = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	pageWith = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>%s>>%s>>"
)

// outcome runs a statement and returns the text of an answer, or code and message of an error. What takes longer than a minute is
// without end.
func outcome(t *testing.T, p *media.Pipeline, data []byte, statement string) string {
	t.Helper()
	began := time.Now()
	res, err := p.Query(t.Context(), in(data), statement)
	if d := time.Since(began); d > time.Minute {
		t.Errorf("%s took %v", statement, d)
	}
	var e *media.Error
	switch {
	case errors.As(err, &e):
		return string(e.Code) + ": " + e.Message
	case err != nil:
		t.Errorf("%s: %v is no error for a model", statement, err)
		return err.Error()
	case res.Read != nil:
		return strings.TrimSpace(fmt.Sprint(res.Read.Text, res.Read.Data, res.Warnings))
	}
	return fmt.Sprint("ok ", res.Warnings)
}

// Each kind of bad file ends in words with their code, or is read as far as it can be.
func TestMED007_BadFiles(t *testing.T) {
	bomb := object.Deflate(bytes.Repeat([]byte("0 0 "), 1<<20), object.Dict{}).Raw
	for name, c := range map[string]struct {
		data []byte
		want map[string]string // statement to a part of its outcome
	}{
		"XFA": {raw("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[]/XFA 6 0 R>>>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", line(300, "Please wait "+ssn)), helv, stream("", "<xdp/>")),
			map[string]string{redactSSN: "UNSUPPORTED_OP: a.pdf holds an XFA form", "sanitize": "an XFA form (1)", "extract metadata": "xfa:true", "extract text": "Please wait"}},
		"text in forms in forms": {raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "/XObject<</X 6 0 R>>", ""), stream("", "/X Do"), helv,
			stream("/Type/XObject/Subtype/Form/BBox[0 0 400 400]/Resources<</XObject<</Y 7 0 R>>>>", "q 1 0 0 1 5 5 cm /Y Do Q"),
			stream("/Type/XObject/Subtype/Form/BBox[0 0 400 400]/Resources<</Font<</F 5 0 R>>>>", line(300, "before "+ssn+" after"))),
			map[string]string{"extract text": "before " + ssn + " after", redactSSN: "Content removed (page 1: 1)"}},
		"form that shows itself": {raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "/XObject<</X 6 0 R>>", ""), stream("", line(300, "Page a")+"/X Do"), helv,
			stream("/Type/XObject/Subtype/Form/BBox[0 0 400 400]/Resources<</XObject<</X 6 0 R>>>>", "q /X Do Q")),
			map[string]string{"extract text": "Page a", "sanitize": "ok", redactSSN: "nothing in a.pdf matches", "convert to=images": ""}},
		"scripts": {raw("<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>/AA<</WC<</S/JavaScript/JS(x)>>>>>>", onePage,
			fmt.Sprintf(pageWith, "", "/AA<</O<</S/Launch/F(evil.exe)>>>>"), stream("", line(300, "Page a")), helv),
			map[string]string{"extract text": "Page a", "extract metadata": "scripts", "sanitize": "scripts (2)"}},
		"no cross references": {bytes.ReplaceAll(raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", line(300, "before "+ssn)), helv), []byte("xref"), []byte("gone")),
			map[string]string{"extract text": "before " + ssn, "select pages=1": "was damaged and has been mended", "extract metadata": "damaged:", redactSSN: "was damaged"}},
		"pages that hold themselves": {raw("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids 3 0 R/Count 1000000000>>", "[<</Type/Pages/Kids 3 0 R>><</Type/Pages/Kids 3 0 R>><</Type/Page/MediaBox[0 0 9 9]>>]"),
			map[string]string{"extract text": ": ", "select pages=1": "pages, more than the 10000 that are allowed", "extract metadata": ""}},
		"names that hold themselves": {raw("<</Type/Catalog/Pages 2 0 R/PageLabels 6 0 R/Names<</Dests 6 0 R/EmbeddedFiles 6 0 R>>/AcroForm<</Fields 7 0 R>>>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", line(300, "Page a")), helv,
			"<</Kids[6 0 R 6 0 R<</Kids 8 0 R>>]>>", "[<</T(a)/Kids 7 0 R>><</T(b)/Kids 7 0 R>>]", "[<</Kids 8 0 R>><</Kids 8 0 R>>]"),
			map[string]string{"extract text": "Page a", "select pages=1,1": "ok", "reorder order=1": "ok", "merge with=@x": "ok"}},
		"outline in a circle": {raw("<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", line(300, "Page a")), helv,
			"<</First 7 0 R/Last 7 0 R>>", "<</Title(x)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>"),
			map[string]string{"split by=section": "ok", "merge with=@x": "ok", "select pages=1,1": "ok", "extract metadata": "outline:[x]"}},
		"fonts that are not there": {raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""),
			stream("", line(300, "before "+ssn)+"BT /G 12 Tf 20 200 Td (no font) Tj /F 0 Tf (nothing) Tj ET BT /H 9 Tf (x) Tj ET"), "<</Type/Font/Subtype/Type0/DescendantFonts[9 0 R]>>"),
			map[string]string{"extract text": "", "convert to=images": "ok", redactSSN: ": "}},
		"ranges without end": {raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", "BT /F 9 Tf 20 200 Td <0041> Tj ET"),
			"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</Subtype/CIDFontType2/W["+strings.Repeat("0 65535 500 ", 20_000)+"]>>]>>",
			stream("", "1 beginbfrange "+strings.Repeat("<0000> <ffff> <0041> ", 20_000)+"endbfrange")),
			map[string]string{"extract text": ""}},
		"object stream that explodes": {raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("/Filter/FlateDecode", string(bomb)), helv,
			stream("/Type/ObjStm/N 1000000000/First 10/Filter/FlateDecode", string(bomb))),
			map[string]string{"extract text": "", "select pages=1": "ok", "sanitize": "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			for statement, want := range c.want {
				if got := outcome(t, pipeline(t), c.data, statement); !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q", statement, got, want)
				}
			}
		})
	}
}

// Streams that are larger than allowed are refused with the bound in words.
func TestMED007_Bombs(t *testing.T) {
	s := newSheet()
	for range 40 {
		s.page(strings.Repeat(line(300, "Page a"), 5_000), nil)
	}
	p, err := media.New(media.Config{Engines: []media.Engine{shared}, Limits: media.Limits{Unpacked: 4 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	for statement, want := range map[string]string{"select pages=1": "ok", redactSSN: "STEP_FAILED: ", "sanitize": "ok"} {
		if got := outcome(t, p, s.bytes(), statement); !strings.Contains(got, want) {
			t.Errorf("%s: %q", statement, got)
		}
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[]/Count 0>>endobj\n")
	x := b.Len()
	table := object.Deflate(make([]byte, 8<<20), object.Dict{})
	fmt.Fprintf(&b, "3 0 obj<</Type/XRef/W[1 4 2]/Size 2000000/Root 1 0 R/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream endobj\nstartxref\n%d\n%%%%EOF", len(table.Raw), table.Raw, x)
	if got := outcome(t, p, b.Bytes(), "select pages=1"); !strings.Contains(got, "a.pdf: it is larger or nested deeper than is allowed") {
		t.Error(got)
	}
}

// A page that was replaced later shows what it shows now, and what it showed before is in no result.
func TestOldRevisions(t *testing.T) {
	old := raw("<</Type/Catalog/Pages 2 0 R>>", onePage, fmt.Sprintf(pageWith, "", ""), stream("", line(300, "Page a secret "+ssn)), helv)
	var b bytes.Buffer
	b.Write(old)
	at := b.Len()
	fmt.Fprintf(&b, "4 0 obj\n%s\nendobj\n", stream("", line(300, "Page b in its place")))
	x := b.Len()
	prev := bytes.LastIndex(old, []byte("xref\n0"))
	fmt.Fprintf(&b, "xref\n4 1\n%010d 00000 n \ntrailer\n<</Size 6/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, prev, x)
	if got := textOf(t, b.Bytes()); !strings.Contains(got, "Page b in its place") || strings.Contains(got, "secret") {
		t.Errorf("%q", got)
	}
	if m := fmt.Sprint(query(t, b.Bytes(), "extract metadata").Read.Data); !strings.Contains(m, "revisions:2") {
		t.Error(m)
	}
	for _, statement := range []string{"sanitize", "select pages=1", `redact match="place"`, "merge with=@x"} {
		res := query(t, b.Bytes(), statement)
		checked(t, res.Media.Data)
		holds(t, res.Media.Data, ssn, "secret")
	}
}
