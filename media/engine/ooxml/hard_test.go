package ooxml

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

const refs = "http://schemas.openxmlformats.org/officeDocument/2006/"

// Further places in which words stand: each is emptied, or the whole is refused.
func TestRedactFurtherPlaces(t *testing.T) {
	end := `<Cite><Author>Bluebeard</Author><Id>` + ssn + `</Id></Cite>`
	packed := func(xml string) string {
		b, err := pack.Create(pack.Member{Name: "drs/shapexml.xml", Data: []byte(xml)})
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	field := func(data string) string {
		return wp(`<w:r><w:fldChar w:fldCharType="begin"><w:fldData xml:space="preserve">` + data + `</w:fldData></w:fldChar></w:r><w:r><w:instrText> ADDIN EN.CITE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` + wr("x") + `<w:r><w:fldChar w:fldCharType="end"/></w:r>`)
	}
	shape := func(attrs string) string { return wp(`<w:r><w:pict><v:shape ` + attrs + `/></w:pict></w:r>`) }
	lines := func(s string) string { // as programs write it
		var b strings.Builder
		for len(s) > 60 {
			b.WriteString(s[:60] + "\r\n")
			s = s[60:]
		}
		return b.String() + s
	}
	custom := func(kind, v string) [3]string {
		return [3]string{"docProps/custom.xml", refs + "relationships/custom-properties", relHead + `<Properties xmlns="` + refs + `custom-properties" xmlns:vt="` + refs + `docPropsVTypes"><property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="p"><vt:` + kind + `>` + v + `</vt:` + kind + `></property></Properties>`}
	}
	for _, tt := range []struct {
		name, match string
		in          media.Payload
		gone        string
	}{
		{"number of a property", `/123456789/`, doc(t, wp(wr("n 123456789")), custom("i4", "123456789")), "123456789"},
		{"data of a field", `"Bluebeard"`, doc(t, field(lines(base64.StdEncoding.EncodeToString([]byte(end))))+wp(wr("Bluebeard"))), "Qmx1ZWJlYXJk"},
		{"data of a field, wide", `"Bluebeard"`, doc(t, field(base64.StdEncoding.EncodeToString([]byte("B\x00l\x00u\x00e\x00b\x00e\x00a\x00r\x00d\x00")))+wp(wr("Bluebeard"))), "QgBsAHUA"},
		{"packed shape", `"Bluebeard"`, doc(t, shape(`o:gfxdata="`+strings.ReplaceAll(lines(packed(`<a:t>Blue</a:t><a:t>beard</a:t>`)), "\r\n", "&#xA;")+`"`)+wp(wr("Bluebeard"))), "UEsDB"},
		{"link of a shape", `"Bluebeard"`, doc(t, shape(`href="https://x.example/Bluebeard"`)+wp(wr("Bluebeard"))), "Bluebeard"},
		{"escaped link of a shape", `"Blue beard"`, doc(t, shape(`href="https://x.example/Blue%20beard"`)+wp(wr("Blue beard"))), "Blue%20beard"},
		{"place in a linked file", `"Bluebeard"`, doc(t, wp(`<w:hyperlink w:anchor="a" w:docLocation="Bluebeard" w:tgtFrame="Bluebeard">`+wr("x")+`</w:hyperlink>`)+wp(wr("Bluebeard"))), "Bluebeard"},
		{"ruby", redactMatch, doc(t, wp(`<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>ka</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>123-</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:ruby><w:rt><w:r><w:t>na</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>45-6789</w:t></w:r></w:rubyBase></w:ruby></w:r>`)), "6789"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := must(t, tt.in, `redact match=`+tt.match+` replace="X"`)
			for name, b := range members(t, res.Media.Data) {
				if strings.Contains(string(b), tt.gone) {
					t.Errorf("left in %s: %.300s", name, b)
				}
			}
		})
	}
	var wmf bytes.Buffer
	z := gzip.NewWriter(&wmf)
	if _, err := z.Write([]byte("\xd7\xcd\xc6\x9aof " + ssn)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mht := "MIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString([]byte("<p>"+ssn+"</p>"))
	for name, part := range map[string][3]string{
		"page within, cut by tags":  {"word/afchunk.htm", "aFChunk", "<html><p>123-<b>45</b>-6789</p></html>"},
		"mail within":               {"word/afchunk.mht", "aFChunk", mht},
		"text in RTF within":        {"word/afchunk.rtf", "aFChunk", `{\rtf1 123-{\b 45}-6789}`},
		"packed metafile":           {"word/media/image1.emz", "image", wmf.String()},
		"number as a short picture": {"word/media/image1.wmf", "image", "\xd7\xcd\xc6\x9aof Bob Roe "},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := media.New(media.Config{Engines: []media.Engine{Engine(), text.Engine(), reader()}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Query(t.Context(), doc(t, wp(wr(ssn))+wp(wr("Bob Roe")), part), `redact match=`+redactMatch+`,"Bob Roe"`)
			if err == nil || !strings.Contains(err.Error(), part[0]) {
				t.Errorf("got %v", err)
			}
		})
	}
}

const redactMatch = `/\d{3}-\d{2}-\d{4}/`

// reader stands for the engines that read other formats: it takes the tags, the groups and the base64 away.
func reader() media.Engine {
	return media.Engine{ID: "reader", Convert: []media.Convert{{From: []string{"application/rtf", "message/rfc822"}, To: []string{"txt"}, Do: func(_ context.Context, r *media.Request) (media.Result, error) {
		s := string(r.In.Data)
		if _, body, ok := strings.Cut(s, "\r\n\r\n"); ok {
			b, err := base64.StdEncoding.DecodeString(body)
			if err != nil {
				return media.Result{}, err
			}
			s = string(b)
		}
		return media.Result{Media: &media.Payload{Data: []byte(strings.NewReplacer(`{\b `, "", "}", "", "<p>", "").Replace(s))}}, nil
	}}}}
}

// Fields that act are found in whatever pieces they are written.
func TestSanitizeFieldsInPieces(t *testing.T) {
	ch := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	in := func(s string) string { return `<w:r><w:instrText xml:space="preserve">` + s + `</w:instrText></w:r>` }
	quote := ch("begin") + in(` QUOTE 68 68 69 `) + ch("separate") + wr("DDE") + ch("end")
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script><image href="http://x.example/a.png"/></svg>`
	for name, body := range map[string]string{
		"in one":            ch("begin") + in(` DDEAUTO c:\\windows\\cmd.exe "/k calc" `) + ch("separate") + wr("shown") + ch("end"),
		"in letters":        ch("begin") + in(`D`) + in(`D`) + in(`E c:\\cmd.exe `) + ch("separate") + wr("shown") + ch("end"),
		"by another field":  ch("begin") + quote + in(` c:\\cmd.exe "/k calc" `) + ch("separate") + wr("shown") + ch("end"),
		"by a name":         ch("begin") + in(` SET c `) + quote + ch("separate") + ch("end") + ch("begin") + ch("begin") + in(` REF c `) + ch("separate") + ch("end") + in(` c:\\cmd.exe `) + ch("separate") + wr("shown") + ch("end"),
		"link to a program": ch("begin") + in(` HYPERLINK "file:///c:/cmd.exe" `) + ch("separate") + wr("shown") + ch("end"),
		"link to a share":   ch("begin") + in(` HYPERLINK "\\\\host\\share" `) + ch("separate") + wr("shown") + ch("end"),
		"simple":            `<w:fldSimple w:instr=" HYPERLINK javascript:x() ">` + wr("shown") + `</w:fldSimple>`,
	} {
		res := must(t, doc(t, wp(body), [3]string{"word/media/a.svg", "image", svg}), "sanitize")
		all := members(t, res.Media.Data)
		if s := string(all["word/document.xml"]); strings.Contains(s, "cmd.exe") || strings.Contains(s, "HYPERLINK") || !strings.Contains(s, "shown") {
			t.Errorf("%s: left %s", name, s)
		}
		if s := string(all["word/media/a.svg"]); strings.Contains(s, "script") || strings.Contains(s, "onload") || strings.Contains(s, "x.example") {
			t.Errorf("left in the picture: %s", s)
		}
	}
	whole := ch("begin") + in(` HYPERLINK "https://a.example" `) + ch("separate") + wr("kept") + ch("end") + ch("begin") + in(` IF `) + ch("begin") + in(` PAGE `) + ch("separate") + wr("1") + ch("end") + in(` = 1 "a" "b" `) + ch("separate") + wr("a") + ch("end")
	res := must(t, doc(t, wp(whole)), "sanitize")
	if s := string(members(t, res.Media.Data)["word/document.xml"]); !strings.Contains(s, "a.example") || !strings.Contains(s, " IF ") {
		t.Errorf("a field that only shows went: %s", s)
	}
}

// What a reader of these would see is read.
func TestReadFurtherThings(t *testing.T) {
	m := func(s string) string { return `<m:oMath>` + s + `</m:oMath>` }
	r := func(s string) string { return `<m:r><m:t>` + s + `</m:t></m:r>` }
	for name, tt := range map[string]struct{ body, want string }{
		"fraction":     {wp(wr("a ") + m(`<m:f><m:num>`+r("1")+`</m:num><m:den>`+r("2")+`</m:den></m:f>`)), "a 1/2"},
		"powers":       {wp(m(`<m:sSup><m:e>` + r("x") + `</m:e><m:sup>` + r("10") + `</m:sup></m:sSup><m:sSub><m:e>` + r("y") + `</m:e><m:sub>` + r("i") + `</m:sub></m:sSub><m:sSubSup><m:e>` + r("z") + `</m:e><m:sub>` + r("i") + `</m:sub><m:sup>` + r("n+1") + `</m:sup></m:sSubSup>`)), "x^10y_iz_i^(n+1)"},
		"root":         {wp(m(`<m:rad><m:deg>` + r("3") + `</m:deg><m:e>` + r("x+1") + `</m:e></m:rad>`)), "3√(x+1)"},
		"brackets":     {wp(m(`<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>` + r("a") + `</m:e><m:e>` + r("b") + `</m:e></m:d>`)), "[a|b]"},
		"sum":          {wp(m(`<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>` + r("i=0") + `</m:sub><m:sup>` + r("n") + `</m:sup><m:e>` + r("i") + `</m:e></m:nary>`)), "∑_(i=0)^ni"},
		"matrix":       {wp(m(`<m:m><m:mr><m:e>` + r("1") + `</m:e><m:e>` + r("0") + `</m:e></m:mr><m:mr><m:e>` + r("0") + `</m:e><m:e>` + r("1") + `</m:e></m:mr></m:m>`)), "[1, 0; 0, 1]"},
		"ruby":         {wp(wr("a ") + `<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>`), "a 漢(kan)"},
		"watermark":    {wp(wr("a") + `<w:r><w:pict><v:shape type="#x"><v:textpath style="x" string="DO NOT COPY"/></v:shape></w:pict></w:r>`), "a\n\nText box: DO NOT COPY"},
		"soft hyphens": {wp(`<w:r><w:t>super</w:t><w:softHyphen/><w:t>market</w:t></w:r>`), "supermarket"},
	} {
		if got := strings.TrimSpace(must(t, doc(t, tt.body), "extract text").Read.Text); got != tt.want {
			t.Errorf("%s reads %q, want %q", name, got, tt.want)
		}
	}
}

// Files with very many of something cost what their size costs.
func TestDearOOXML(t *testing.T) {
	var links, rels, parts strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&links, `<w:p><w:hyperlink r:id="rIdL%d"><w:r><w:t>link %d</w:t></w:r></w:hyperlink></w:p>`, i, i)
		fmt.Fprintf(&rels, `<Relationship Id="rIdL%d" Type="%shyperlink" Target="https://a.example/%d" TargetMode="External"/>`, i, relBase, i)
	}
	many := [][3]string{}
	for i := range 4000 {
		many = append(many, [3]string{fmt.Sprintf("word/header%d.xml", i+1), "header", relHead + `<w:hdr ` + wNS + `>` + wp(wr(fmt.Sprint("head ", i))) + `</w:hdr>`})
		fmt.Fprintf(&parts, `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr>%s</w:p><w:p>%s</w:p>`, wr(fmt.Sprint("Chapter ", i)), wr("text"))
	}
	for name, tt := range map[string]struct {
		in media.Payload
		do []string
	}{
		"links": {doc(t, links.String(), [3]string{"", "", rels.String()}), []string{"extract text", "redact match=/link 77/", "sanitize"}},
		"parts": {doc(t, wp(wr("body")), many...), []string{"extract text", "redact match=/head 77/", "sanitize", "normalize"}},
		"split": {doc(t, parts.String()), []string{`split by=section ranges='[[1,3990],[3991,4000]]'`}},
	} {
		for _, do := range tt.do {
			t.Run(name+" "+strings.Fields(do)[0], func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := run(t, tt.in, do); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 1000 {
					t.Errorf("%s takes %d MB", do, n)
				}
			})
		}
	}
}

// Slides are taken out of a long deck in one go.
func TestSelectOfALongDeck(t *testing.T) {
	in := sample(t, "gen.pptx")
	pages := "1" + strings.Repeat(",1", 799)
	long, err := run(t, in, "select pages="+pages)
	if err != nil {
		t.Fatal(err)
	}
	long.Media.Name = "long.pptx"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := must(t, *long.Media, "select pages=1,400,800")
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 600 {
		t.Errorf("it takes %d MB", n)
	}
	if n := must(t, *res.Media, "extract metadata").Read.Data.(map[string]any)["slide_count"]; n != 3 {
		t.Errorf("%v slides", n)
	}
}

// A run whose context ends stops in the midst of a big part.
func TestOOXMLStops(t *testing.T) {
	in := doc(t, strings.Repeat(wp(wr("some words and more of them")), 100_000))
	for _, do := range []string{"convert to=md", "redact match=words", "normalize", "sanitize", "update_text anchor=some replace=x", "extract metadata", "split by=section"} {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := media.New(media.Config{Limits: media.Limits{Ratio: 10_000}, Engines: []media.Engine{Engine()}, Use: []media.Interceptor{func(ctx context.Context, s media.StepInfo, next media.Next) (media.Result, error) {
			cancel() // once the step has begun
			return next(ctx, s.In)
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Query(ctx, in, do); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", do, err)
		}
	}
}

// Files within files are looked into a few deep and no further, by whatever way they stand in each other.
func TestNestedContainersOOXML(t *testing.T) {
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
	for name, wrap := range map[string]func(in []byte) [3]string{
		"as documents": func(in []byte) [3]string { return [3]string{"word/embeddings/a.docx", "package", string(in)} },
		"as objects":   func(in []byte) [3]string { return [3]string{"word/embeddings/a.bin", "oleObject", ole + string(in)} },
	} {
		in := doc(t, wp(wr(ssn)))
		for range 12 {
			in = doc(t, wp(wr(ssn)), wrap(in.Data))
		}
		for _, do := range []string{redactAll, "sanitize"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := run(t, in, do)
			runtime.ReadMemStats(&after)
			if name == "as documents" && (err == nil || !strings.Contains(err.Error(), "deep")) {
				t.Errorf("%s, %s: %v", name, do, err)
			}
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 200 {
				t.Errorf("%s, %s: it took %d MB", name, do, n)
			}
		}
	}
}
