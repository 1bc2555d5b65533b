package legacy

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
)

func run(t testing.TB, in media.Payload, statement string, with ...media.Payload) (media.Result, error) {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{sheet.Engine(), Engine(), data.Engine(), text.Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Compile(statement)
	if err != nil {
		return media.Result{}, err
	}
	return p.Run(t.Context(), in, plan, media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) {
		for _, w := range with {
			if w.Name == id {
				return w, nil
			}
		}
		return media.Payload{}, fmt.Errorf("no %s", id)
	}})
}

func must(t testing.TB, in media.Payload, statement string, with ...media.Payload) media.Result {
	t.Helper()
	res, err := run(t, in, statement, with...)
	if err != nil {
		t.Fatalf("%s on %s: %v", statement, in.Name, err)
	}
	return res
}

func sample(t testing.TB, name string) media.Payload {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: name}
}

// foreign reads a file of the tests of the module that reads the containers of the old Office formats.
func foreign(t testing.TB, name string) media.Payload {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/richardlehane/mscfb").Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "test", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: name}
}

const mailSource = "Received: from x\r\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@example.org\r\nSubject: Hello =?iso-8859-1?q?caf=E9?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe an alle\r\n--b\r\nContent-Type: image/png; name=\"../p.png\"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n"

func TestM2_LegacyReads(t *testing.T) {
	mail := media.Payload{Data: []byte(mailSource), Name: "a"}
	for _, tt := range []struct {
		in   media.Payload
		do   string
		want []string
	}{
		{sample(t, "contract.doc"), "extract text", []string{"Employment contract", "The employee with number 123-45-6789 starts on 2025-01-02", "Footnote secret 987-65-4321"}},
		{sample(t, "contract.doc"), "convert to=md", []string{"# Employment contract", "| cell 0,0 | cell 0,1 | cell 0,2 |"}},
		{sample(t, "rep.doc"), "convert to=md", []string{"# Introduction", "[link](https://example.org/)"}},
		{sample(t, "contract.rtf"), "extract text", []string{"Employment contract", "The employee with number 123-45-6789 starts on 2025-01-02", "Footnote secret 987-65-4321", "Confidential 111-22-3333"}},
		{sample(t, "contract.rtf"), "convert to=md", []string{"# Employment contract", "[^1]"}},
		{sample(t, "rep.rtf"), "convert to=md", []string{"# Introduction", "**bold** and *italic*", "[link](https://example.org/)"}},
		{sample(t, "rep.rtf"), "convert to=html", []string{"<h1>Introduction</h1>", "<strong>bold</strong>"}},
		{sample(t, "contract.epub"), "extract text", []string{"Employment contract", "123-45-6789", "cell 2,2"}},
		{sample(t, "rep.epub"), "convert to=md", []string{"Introduction", "**bold**"}},
		{sample(t, "rich.xls"), "convert to=csv", []string{"Region,Product,Qty,Price,Date,Total,,link", "South,Pear,3,2.5,2023-03-16,7.5"}},
		{sample(t, "rich.xls"), "convert to=json", []string{`["South","Pear",3,2.5,"2023-03-16",7.5]`}},
		{sample(t, "rich.xls"), "extract text", []string{"# Data", "# 2025", "12468.75"}},
		{foreign(t, "test.doc"), "extract text", []string{"the"}},
		{foreign(t, "test.ppt"), "convert to=md", []string{"## "}},
		{foreign(t, "test.xls"), "convert to=csv", []string{","}},
		{foreign(t, "test.msg"), "convert to=md", []string{"# ", "**From:** "}},
		{mail, "convert to=md", []string{"# Hello café", "Jürgen", "Grüße an alle", "Attachment: p.png"}},
		{mail, "extract text", []string{"Grüße an alle"}},
	} {
		t.Run(tt.in.Name+" "+tt.do, func(t *testing.T) {
			res := must(t, tt.in, tt.do)
			got := ""
			if res.Read != nil {
				got = res.Read.Text
			} else {
				got = string(res.Media.Data)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("lacks %q:\n%.2500s", w, got)
				}
			}
		})
	}
}

var numbers = []string{"123-45-6789", "555-66-7777", "222-33-4444", "987-65-4321", "111-22-3333"}

func TestRedactRTF(t *testing.T) {
	in := sample(t, "contract.rtf")
	res := must(t, in, `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN] é{}"`)
	for _, n := range numbers {
		if bytes.Contains(res.Media.Data, []byte(n)) {
			t.Errorf("%s is left", n)
		}
	}
	got := must(t, *res.Media, "extract text").Read.Text
	for _, w := range []string{"number [SSN] é{} starts on 2025-01-02", "Footnote secret [SSN] é{}", "Confidential [SSN] é{}"} {
		if !strings.Contains(got, w) {
			t.Errorf("lacks %q:\n%.900s", w, got)
		}
	}
	const head = `{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 X;}}`
	for name, src := range map[string]string{
		"hex":          head + `Zanz\'69bar}`,
		"unicode":      head + `Zan\u122?ibar}`,
		"split":        head + `Za{\b nz}\i ib\i0 ar}`,
		"uc0":          head + `\uc0 Zan\u122ibar}`,
		"info":         head + `{\info{\title Zanzibar}{\author Zanzibar}}x}`,
		"ignored":      head + `{\*\unknown Zanzibar}x}`,
		"deleted":      head + `{\deleted Zanzibar}x}`,
		"hidden":       head + `{\v Zanzibar}x}`,
		"field":        head + `{\field{\*\fldinst HYPERLINK "http://x/Zanzibar"}{\fldrslt y}}}`,
		"wrapped":      head + "Zanz\r\nibar}",
		"control word": head + `\b(Zanzibar)a}`,
		"bookmark":     head + `{\*\bkmkstart Zanzibar}x}`,
	} {
		t.Run(name, func(t *testing.T) {
			res := must(t, media.Payload{Data: []byte(src), Name: "a.rtf"}, `redact match=Zanzibar replace=X`)
			if bytes.Contains(res.Media.Data, []byte("Zan")) || bytes.Contains(res.Media.Data, []byte("bar")) {
				t.Errorf("gives %s", res.Media.Data)
			}
		})
	}
	// What is put in stands where the words stood and reads as it was given, whatever stands around it.
	for _, tt := range []struct{ src, want string }{
		{`a \b(Zanzibar)1\b0  c`, "a (é1)1 c"},
		{`\uc0 Zan\u122ibar\uc0 2`, "é12"},
		{`\uc2 x Zanzibar\u233??y`, "x é1éy"},
		{`{\b Zanz}{\i ibar}5`, "é15"},
		{`\par Zanz\'69bar\tab 3`, "é1\t3"},
	} {
		res := must(t, media.Payload{Data: []byte(head + tt.src + "}"), Name: "a.rtf"}, `redact match=Zanzibar replace="é1"`)
		if got := strings.TrimSpace(must(t, *res.Media, "extract text").Read.Text); got != tt.want {
			t.Errorf("%s gives %s, which reads %q, want %q", tt.src, res.Media.Data[len(head):], got, tt.want)
		}
		if bytes.Count(res.Media.Data, []byte("{")) != bytes.Count([]byte(head+tt.src), []byte("{")) {
			t.Errorf("%s has other groups now: %s", tt.src, res.Media.Data)
		}
	}
	cyr := must(t, media.Payload{Data: []byte(head + `\f1 \'cc\'ee\'f1\'ea\'e2\'e0}`), Name: "a.rtf"}, `extract text`).Read.Text
	if strings.TrimSpace(cyr) != "Москва" {
		t.Errorf("reads %q", cyr)
	}
	hex := fmt.Sprintf("%x", "....Zanzibar....")
	if _, err := run(t, media.Payload{Data: []byte(head + `Zanzibar{\object{\*\objdata ` + hex + `}}}`), Name: "a.rtf"}, `redact match=Zanzibar`); err == nil || !strings.Contains(err.Error(), "sanitize first") {
		t.Errorf("an object that holds it: %v", err)
	}
	res = must(t, media.Payload{Data: []byte(head + `x{\object{\*\objdata ` + hex + `}}{\field{\*\fldinst DDEAUTO c:\\\\x}{\fldrslt y}}{\*\template http://x}z}`), Name: "a.rtf"}, `sanitize`)
	if s := string(res.Media.Data); strings.Contains(s, "objdata") || strings.Contains(s, "DDE") || strings.Contains(s, "template") || res.Counts.Removed != 3 {
		t.Errorf("%d removed: %s", res.Counts.Removed, s)
	}
}

func TestRedactEPUB(t *testing.T) {
	in := sample(t, "contract.epub")
	res := must(t, in, `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`)
	z, err := zip.NewReader(bytes.NewReader(res.Media.Data), int64(len(res.Media.Data)))
	if err != nil {
		t.Fatal(err)
	}
	if z.File[0].Name != "mimetype" || z.File[0].Method != zip.Store {
		t.Error("the type is not first and plain")
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range numbers {
			if bytes.Contains(b, []byte(n)) {
				t.Errorf("%s is left in %s", n, f.Name)
			}
		}
	}
	if got := must(t, *res.Media, "extract text").Read.Text; !strings.Contains(got, "number [SSN] starts") {
		t.Errorf("reads %.500s", got)
	}
	if res := must(t, *res.Media, "redact match=Contract,Lovelace replace=X"); res.Counts.Modified < 2 {
		t.Errorf("%d places: the title and the author are outside of the pages", res.Counts.Modified)
	}
}

func unsupported(err error) bool {
	var e *media.Error
	return errors.As(err, &e) && e.Code == media.UnsupportedOp
}

func TestOldFormatsAreNotWritten(t *testing.T) {
	for _, name := range []string{"contract.doc", "rich.xls"} {
		for _, do := range []string{"redact match=a", "sanitize", "update_text anchor=a replace=b"} {
			if name == "rich.xls" && strings.HasPrefix(do, "update") {
				continue
			}
			if _, err := run(t, sample(t, name), do); !unsupported(err) {
				t.Errorf("%s on %s: %v", do, name, err)
			}
		}
	}
	res := must(t, sample(t, "rich.xls"), `sheet update_cells updates='[{"address":"C2","value":100}]'`)
	if !strings.HasSuffix(res.Media.Name, ".xlsx") || !strings.Contains(strings.Join(res.Warnings, " "), "converted to xlsx") {
		t.Errorf("%s %q", res.Media.Name, res.Warnings)
	}
}

func TestMetadataAndAssets(t *testing.T) {
	for _, tt := range []struct{ file, key, want string }{
		{"contract.doc", "author", "Ada Lovelace"}, {"contract.rtf", "author", "Ada Lovelace"}, {"contract.epub", "creator", "Ada Lovelace"}, {"rich.xls", "title", "Quarterly data"},
	} {
		m := must(t, sample(t, tt.file), "extract metadata").Read.Data.(map[string]any)
		if m[tt.key] != tt.want {
			t.Errorf("%s: %v", tt.file, m)
		}
	}
	for _, name := range []string{"rep.rtf", "rep.epub", "rep.doc"} {
		l := must(t, sample(t, name), "extract assets types=image").List
		if len(l) == 0 || l[0].MIME != "image/png" {
			t.Errorf("%s: %d assets", name, len(l))
		}
	}
	if l := must(t, media.Payload{Data: []byte(mailSource), Name: "a.eml"}, "extract assets").List; len(l) != 1 || l[0].Name != "p.png" {
		t.Errorf("%v", l)
	}
	if d := must(t, sample(t, "contract.doc"), `diff with=@"contract.rtf"`, sample(t, "contract.rtf")); d.Read.Text == "" {
		t.Error("no difference")
	}
}

func TestMED_BadLegacy(t *testing.T) {
	doc := sample(t, "contract.doc")
	enc := bytes.Clone(doc.Data)
	i := bytes.Index(enc, []byte{0xec, 0xa5})
	enc[i+0x0b] |= 1
	for name, tt := range map[string]struct {
		in   media.Payload
		want string
	}{
		"encrypted doc": {media.Payload{Data: enc, Name: "a.doc"}, "encrypted"},
		"deep rtf":      {media.Payload{Data: []byte("{\\rtf1" + strings.Repeat("{", 100_000)), Name: "a.rtf"}, "nested"},
		"cut doc":       {media.Payload{Data: doc.Data[:3000], Name: "a.doc"}, ""},
	} {
		if _, err := run(t, tt.in, "extract text"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRTF(f *testing.F) {
	for _, s := range []string{`{\rtf1 a\'e9b\u8364?c{\b d}{\footnote x}}`, `{\rtf1{\field{\*\fldinst HYPERLINK "x"}{\fldrslt y}}\intbl a\cell b\cell\row}`, `{\rtf1{\pict\pngblip 8950}\bin3 abc}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := &media.Request{In: media.Payload{Data: []byte(s), MIME: rtfMIME, Name: "a.rtf"}, To: "md"}
		_, _ = convert(t.Context(), r)
		r.Args = map[string]any{"match": []media.Match{{Text: "a"}}, "replace": "Q"}
		if res, err := redactRTF(t.Context(), r); err == nil {
			file, err := openRTF(&media.Request{In: media.Payload{Data: res.Media.Data}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range file.texts(0) {
				if bytes.Contains(s.text, []byte("a")) {
					t.Errorf("a is left: %q", res.Media.Data)
				}
			}
		}
	})
}
