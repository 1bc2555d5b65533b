package odf

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
)

func pipeline(t testing.TB) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{sheet.Engine(), Engine(), data.Engine(), text.Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sample(t testing.TB, name string) media.Payload {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: name}
}

func run(t testing.TB, in media.Payload, statement string, with ...media.Payload) (media.Result, error) {
	t.Helper()
	p := pipeline(t)
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

func words(t testing.TB, p media.Payload) string {
	t.Helper()
	return must(t, p, "extract text").Read.Text
}

// members decodes all members of a container.
func members(t testing.TB, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}

// rebuilt returns a container with some members set or, with the value "-", taken away.
func rebuilt(t testing.TB, p media.Payload, change map[string]string) media.Payload {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	all := members(t, p.Data)
	names := []string{"mimetype"}
	for n := range all {
		if n != "mimetype" {
			names = append(names, n)
		}
	}
	for n, v := range change {
		if _, ok := all[n]; !ok {
			names = append(names, n)
		}
		all[n] = v
	}
	for i, n := range names {
		if all[n] == "-" {
			continue
		}
		h := &zip.FileHeader{Name: n, Method: zip.Deflate}
		if i == 0 {
			h.Method = zip.Store
		}
		m, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(all[n])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.Data = out.Bytes()
	return p
}

func TestM2_ODFReads(t *testing.T) {
	for _, tt := range []struct {
		file, do string
		want     []string
	}{
		{"contract.odt", "extract text", []string{"Employment contract", "The employee with number 123-45-6789 starts on 2025-01-02.", "Comment with 222-33-4444", "Footnote secret 987-65-4321"}},
		{"contract.fodt", "extract text", []string{"Employment contract", "123-45-6789 starts", "Footnote secret 987-65-4321"}},
		{"contract.odt", "convert to=md", []string{"# Employment contract", "123-", "[^1]"}},
		{"contract.odt", "convert to=html", []string{"<h1>Employment contract</h1>"}},
		{"rep.odt", "convert to=md", []string{"# ", "| "}},
		{"deck.odp", "convert to=md", []string{"## Title of slide 1", "Body text 1 with SSN 123-45-6789", "| r1c1 | r1c2 | r1c3 |"}},
		{"deck.odp", "extract text", []string{"Title of slide 5", "r3c3"}},
		{"rich.ods", "convert to=csv", []string{"Region,Product,Qty,Price,Date,Total,,link", "South,Pear,3,2.5,2023-03-16,7.5"}},
		{"rich.ods", "convert to=json", []string{`["South","Pear",3,2.5,"2023-03-16",7.5]`}},
		{"rich.ods", "extract text", []string{"# Data", "# 2025", "12468.75"}},
		{"rich.ods", "convert to=html", []string{"<h2>Pivot</h2>"}},
	} {
		t.Run(tt.file+" "+tt.do, func(t *testing.T) {
			res := must(t, sample(t, tt.file), tt.do)
			got := ""
			if res.Read != nil {
				got = res.Read.Text
			} else {
				got = string(res.Media.Data)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("lacks %q:\n%.3000s", w, got)
				}
			}
		})
	}
}

// The contract trap: numbers in the body over three runs, in a header, a footnote, a comment and a tracked deletion.
func TestRedactContract(t *testing.T) {
	for _, name := range []string{"contract.odt", "contract.fodt", "deck.odp"} {
		t.Run(name, func(t *testing.T) {
			in := sample(t, name)
			res := must(t, in, `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`)
			parts := map[string]string{"": string(res.Media.Data)}
			if strings.HasSuffix(name, "odt") && name != "contract.fodt" || name == "deck.odp" {
				parts = members(t, res.Media.Data)
				if parts["Thumbnails/thumbnail.png"] != "" {
					t.Error("the thumbnail is still there")
				}
				if strings.Contains(parts["META-INF/manifest.xml"], "humbnail") {
					t.Error("the manifest names the thumbnail")
				}
				z, _ := zip.NewReader(bytes.NewReader(res.Media.Data), int64(len(res.Media.Data)))
				if z.File[0].Name != "mimetype" || z.File[0].Method != zip.Store {
					t.Error("the type is not first and plain")
				}
			}
			for n, m := range parts {
				for _, s := range []string{"123-45-6789", "555-66-7777", "222-33-4444", "987-65-4321"} {
					if strings.Contains(m, s) {
						t.Errorf("%q is left in %s", s, n)
					}
				}
			}
			got := words(t, *res.Media)
			if name != "deck.odp" {
				if !strings.Contains(got, "The employee with number [SSN] starts on 2025-01-02.") || !strings.Contains(got, "Comment with [SSN]") || !strings.Contains(got, "Footnote secret [SSN]") {
					t.Errorf("reads:\n%.1500s", got)
				}
				if res.Counts.Modified < 5 {
					t.Errorf("%d places were changed", res.Counts.Modified)
				}
			} else if strings.Count(got, "with SSN [SSN]") != 5 {
				t.Errorf("reads:\n%.1500s", got)
			}
		})
	}
}

func TestRedactKeepsTheRest(t *testing.T) {
	in := sample(t, "contract.odt")
	before := members(t, in.Data)
	after := members(t, must(t, in, `redact match="123-45-6789" replace="[SSN]"`).Media.Data)
	for n, b := range before {
		switch n {
		case "Thumbnails/thumbnail.png", "META-INF/manifest.xml", "content.xml":
		default:
			if after[n] != b {
				t.Errorf("%s changed", n)
			}
		}
	}
	want := strings.Replace(before["content.xml"], `123-<text:span text:style-name="T1">45-</text:span><text:span text:style-name="T2">6789</text:span>`,
		`[SSN]<text:span text:style-name="T1"></text:span><text:span text:style-name="T2"></text:span>`, 1)
	if after["content.xml"] != want {
		t.Error("content.xml differs by more than the number")
	}
}

// Words stand in places that no page shows.
func TestRedactEverywhere(t *testing.T) {
	const word = "Zanzibar"
	base := sample(t, "contract.odt")
	m := members(t, base.Data)
	put := func(name, old, new string) media.Payload {
		t.Helper()
		if !strings.Contains(m[name], old) {
			t.Fatalf("%s lacks %q", name, old)
		}
		return rebuilt(t, base, map[string]string{name: strings.Replace(m[name], old, new, 1)})
	}
	p := "Employment contract</text:h>"
	for name, in := range map[string]media.Payload{
		"title":        put("meta.xml", "<office:meta>", "<office:meta><dc:title>Zanzibar</dc:title>"),
		"user field":   put("meta.xml", "<office:meta>", `<office:meta><meta:user-defined meta:name="Zanzibar">1</meta:user-defined>`),
		"settings":     put("settings.xml", "<config:config-item ", `<config:config-item config:name="X" config:type="string">Zanzibar</config:config-item><config:config-item `),
		"entity":       put("content.xml", p, p+"<text:p>Z&#97;nzib&#x61;r</text:p>"),
		"cdata":        put("content.xml", p, p+"<text:p><![CDATA[Zanzibar]]></text:p>"),
		"comment":      put("content.xml", p, p+"<!-- Zanzibar -->"),
		"link":         put("content.xml", p, p+`<text:p><text:a xlink:href="http://x/Zanzibar">x</text:a></text:p>`),
		"alternative":  put("content.xml", p, p+`<text:p><draw:frame draw:name="Zanzibar"><draw:text-box><text:p>a</text:p></draw:text-box><svg:desc>Zanzibar</svg:desc></draw:frame></text:p>`),
		"hidden":       put("content.xml", p, p+`<text:p><text:hidden-text text:string-value="Zanzibar" text:condition="ooow:1"/></text:p>`),
		"split by tab": put("content.xml", p, p+`<text:p>Zan<text:bookmark text:name="x"/>zi<text:soft-page-break/>bar</text:p>`),
		"number":       put("content.xml", p, p+`<table:table table:name="T"><table:table-column/><table:table-row><table:table-cell office:value-type="string" table:formula="of:=&quot;Zanzibar&quot;"><text:p>q</text:p></table:table-cell></table:table-row></table:table>`),
		"object":       rebuilt(t, base, map[string]string{"Object 1/content.xml": `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:chart><text:p>Zanzibar</text:p></office:chart></office:body></office:document-content>`}),
		"macro":        rebuilt(t, base, map[string]string{"Basic/Standard/Module1.xml": `<script:module xmlns:script="http://openoffice.org/2000/script">rem Zanzibar</script:module>`}),
		"svg":          rebuilt(t, base, map[string]string{"Pictures/a.svg": `<svg><text>Zanz<tspan>ibar</tspan></text></svg>`}),
		"stand-in":     rebuilt(t, base, map[string]string{"ObjectReplacements/Object 1": "VCLMTF Z\x00a\x00n\x00z\x00i\x00b\x00a\x00r\x00", "content.xml": strings.Replace(m["content.xml"], p, p+"<text:p>Zanzibar</text:p>", 1)}),
	} {
		t.Run(name, func(t *testing.T) {
			res := must(t, in, `redact match="Zanzibar" replace="X"`)
			for n, b := range members(t, res.Media.Data) {
				if strings.Contains(b, word) || strings.Contains(b, "Z\x00a\x00n") {
					t.Errorf("left in %s", n)
				}
			}
			if got := words(t, *res.Media); strings.Contains(got, word) {
				t.Error("left in the text")
			}
		})
	}
	for name, tt := range map[string]struct {
		in   media.Payload
		want string
	}{
		"metafile": {rebuilt(t, base, map[string]string{"Pictures/a.wmf": "\xd7\xcd\xc6\x9aZanzibar contract"}), "cannot be changed"},
		"embedded": {rebuilt(t, base, map[string]string{"Object 9": string(rebuilt(t, base, map[string]string{"x.txt": "Zanzibar"}).Data)}), "cannot be changed"},
		"pdf":      {rebuilt(t, base, map[string]string{"media/a.pdf": "%PDF-1.4 x"}), "cannot be looked into"},
	} {
		t.Run("refused "+name, func(t *testing.T) {
			_, err := run(t, tt.in, `redact match=Zanzibar,contract`)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRedactSheet(t *testing.T) {
	res := must(t, sample(t, "rich.ods"), `redact match="South",/^1?2468\.75$/,"check this value" replace="X"`)
	got := words(t, *res.Media)
	if strings.Contains(got, "South") || strings.Contains(got, "12468.75") {
		t.Errorf("reads:\n%.2000s", got)
	}
	for n, b := range members(t, res.Media.Data) {
		if strings.Contains(b, "South") || strings.Contains(b, "12468.75") || strings.Contains(b, "check this value") {
			t.Errorf("left in %s", n)
		}
	}
}

func TestSanitizeODF(t *testing.T) {
	base := sample(t, "contract.odt")
	m := members(t, base.Data)
	p := "Employment contract</text:h>"
	in := rebuilt(t, base, map[string]string{
		"content.xml": strings.Replace(m["content.xml"], p, p+`<text:p><text:a xlink:href="vnd.sun.star.script:x?language=Basic">a</text:a><text:a xlink:href="https://example.org/">b</text:a>`+
			`<draw:frame><draw:object-ole xlink:href="./Object 1"/><draw:image xlink:href="https://example.org/x.png"/></draw:frame><office:event-listeners><script:event-listener script:event-name="dom:load"/></office:event-listeners></text:p>`, 1),
		"Basic/Standard/Module1.xml": "<x/>", "Object 1": "bin", "Scripts/python/a.py": "print()", "META-INF/documentsignatures.xml": "<x/>",
		"Pictures/a.svg": `<svg><script>x</script></svg>`,
	})
	if _, err := run(t, in, "sanitize"); err == nil || !strings.Contains(err.Error(), "signed") {
		t.Fatalf("a signed file: %v", err)
	}
	res := must(t, in, "sanitize unsign=true")
	after := members(t, res.Media.Data)
	for _, gone := range []string{"Basic/Standard/Module1.xml", "Object 1", "Scripts/python/a.py", "META-INF/documentsignatures.xml"} {
		if _, ok := after[gone]; ok {
			t.Errorf("%s is still there", gone)
		}
	}
	c := after["content.xml"]
	for _, gone := range []string{"vnd.sun.star.script", "object-ole", "x.png", "event-listener"} {
		if strings.Contains(c, gone) {
			t.Errorf("%s is still there", gone)
		}
	}
	if !strings.Contains(c, "https://example.org/\"") || strings.Contains(after["Pictures/a.svg"], "script") {
		t.Error("a link went, or a script stayed")
	}
	if res.Counts.Removed < 6 {
		t.Errorf("removed %d: %q", res.Counts.Removed, res.Warnings)
	}
}

func TestUpdateTextODF(t *testing.T) {
	in := sample(t, "contract.odt")
	res := must(t, in, `update_text anchor="123-45-6789 starts" replace="007  and\nmore & <b> starts"`)
	got := words(t, *res.Media)
	if !strings.Contains(got, "The employee with number 007  and\nmore & <b> starts on 2025-01-02.") {
		t.Errorf("reads %.300q", got)
	}
	again := must(t, in, `update_text anchor="quick brown fox" replace="slow fox"`)
	if strings.Count(words(t, *again.Media), "slow fox") != 1 || len(again.Warnings) == 0 {
		t.Errorf("more than one place was changed, or it was not said: %q", again.Warnings)
	}
	for anchor, want := range map[string]string{"nowhere": "does not stand", "contract\\nThe employee": "end of a paragraph"} {
		if _, err := run(t, in, `update_text anchor="`+anchor+`" replace="x"`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", anchor, err)
		}
	}
	if got := words(t, *must(t, in, `update_text anchor="Employment " replace=""`).Media); !strings.HasPrefix(strings.TrimSpace(got[strings.Index(got, "contract"):]), "contract") || strings.Contains(got, "Employment") {
		t.Errorf("reads %.100q", got)
	}
}

func TestSplitAndPages(t *testing.T) {
	deck := sample(t, "deck.odp")
	for _, tt := range []struct {
		do   string
		want []string
	}{
		{"select pages=4,2", []string{"Title of slide 4", "Title of slide 2"}},
		{"select pages=1,1", []string{"Title of slide 1", "Title of slide 1"}},
		{"reorder order=5,4,3,2,1", []string{"Title of slide 5", "Title of slide 4", "Title of slide 3", "Title of slide 2", "Title of slide 1"}},
	} {
		got := words(t, *must(t, deck, tt.do).Media)
		var titles []string
		for _, l := range strings.Split(got, "\n") {
			if strings.HasPrefix(l, "Title of") {
				titles = append(titles, l)
			}
		}
		if !slices.Equal(titles, tt.want) {
			t.Errorf("%s gives %q", tt.do, titles)
		}
	}
	if n := len(must(t, deck, "split").List); n != 5 {
		t.Errorf("%d parts", n)
	}
	one := must(t, deck, "select pages=1")
	if parts := members(t, one.Media.Data); parts["Pictures/1000000100000190000001905C53C6BE271350D7.png"] != "" {
		t.Error("a picture of another slide is still there")
	}
	for do, want := range map[string]string{"select pages=6": "slides 1 to 5", "reorder order=1,1,3,4,5": "twice", "reorder order=1,2": "name every slide once"} {
		if _, err := run(t, deck, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", do, err)
		}
	}
	h := `<text:h text:outline-level="1">`
	body := "<office:text><text:p>before</text:p>" + h + "A</text:h><text:p>a</text:p>" + h + "B</text:h><text:p>b</text:p></office:text>"
	raw, err := create(odtMIME, "", body)
	if err != nil {
		t.Fatal(err)
	}
	parts := must(t, media.Payload{Data: raw, Name: "a.odt"}, "split by=section").List
	if len(parts) != 3 || strings.TrimSpace(words(t, parts[2])) != "B\n\nb" {
		t.Errorf("%d parts, the last %q", len(parts), words(t, parts[len(parts)-1]))
	}
	if n := len(must(t, media.Payload{Data: raw, Name: "a.odt"}, `split by=section ranges="[[1,2],[3,3]]"`).List); n != 2 {
		t.Errorf("%d ranges", n)
	}
	if _, err := run(t, sample(t, "contract.odt"), "split"); err == nil || !strings.Contains(err.Error(), "by=section") {
		t.Errorf("split by page: %v", err)
	}
}

func TestSheetsInPlace(t *testing.T) {
	in := sample(t, "rich.ods")
	res := must(t, in, `sheet update_cells updates='[{"address":"C2","value":100},{"address":"J50","value":"far"},{"row":45,"col":"B","value":"2025-03-04"},{"address":"A2","value":"=SUM(C2:C3)*2"},{"address":"B2","value":true}]'`)
	if res.Media.Name != "rich.ods" {
		t.Errorf("the result is %s", res.Media.Name)
	}
	csv := string(must(t, *res.Media, "convert to=csv").Media.Data)
	lines := strings.Split(csv, "\n")
	if !strings.HasPrefix(lines[1], "=SUM(C2:C3)*2,true,100,2.5,2023-03-16") || !strings.HasSuffix(lines[49], "far") || !strings.Contains(lines[44], ",2025-03-04") || !strings.HasPrefix(lines[2], "East,Plum,6,3.75") {
		t.Errorf("reads:\n%s", csv)
	}
	before, after := members(t, in.Data), members(t, res.Media.Data)
	for n, b := range before {
		if n != "content.xml" && after[n] != b {
			t.Errorf("%s changed", n)
		}
	}
	if !strings.Contains(after["content.xml"], "check this value") {
		t.Error("the comment is gone")
	}
	ren := must(t, in, `sheet rename_sheet sheet=Data to="New name"`)
	c := members(t, ren.Media.Data)
	if !strings.Contains(c["content.xml"], `of:=['New name'.F43]`) || !strings.Contains(c["content.xml"], "'New name'.B1") || strings.Contains(c["content.xml"], "Data.") || strings.Contains(c["Chart1/content.xml"], "Data.") {
		t.Error("references were left behind")
	}
	for _, tt := range []struct{ do, want string }{
		{`sheet add_sheet name=Fresh at=1`, "# Fresh\n\n# Data"},
		{`sheet reorder_sheets order='["2025","Pivot","Data"]'`, "# 2025\n"},
		{`sheet remove_sheet sheet=Pivot`, "# Data"},
	} {
		if got := words(t, *must(t, in, tt.do).Media); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s reads %.60q", tt.do, got)
		}
	}
	if got := must(t, in, `sheet add_rows rows='[[1,2]]'`); !strings.HasSuffix(got.Media.Name, ".xlsx") || !strings.Contains(strings.Join(got.Warnings, " "), "converted to xlsx") {
		t.Errorf("%s %q", got.Media.Name, got.Warnings)
	}
	for do, want := range map[string]string{
		`sheet rename_sheet sheet=No to=x`:                                         "there is no sheet",
		`sheet rename_sheet sheet=Data to=2025`:                                    "already",
		`sheet update_cells sheet=2025 updates='[{"address":"A1","value":1}]'`:     "quote the name",
		`sheet update_cells updates='[{"address":"A1","value":"=WEBSERVICE(1)"}]'`: "reaches out",
	} {
		if _, err := run(t, in, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", do, err)
		}
	}
}

func TestTablesBothWays(t *testing.T) {
	csv := media.Payload{Data: []byte("a,b\n1,\"x, y\"\n007,2.50\n"), Name: "t.csv"}
	ods := must(t, csv, "convert to=ods")
	if got := string(must(t, *ods.Media, "convert to=csv").Media.Data); got != "a,b\n1,\"x, y\"\n007,2.50\n" {
		t.Errorf("came back as %q", got)
	}
	js := media.Payload{Data: []byte(`[["a",1],[null,true]]`), Name: "t.json"}
	if got := string(must(t, *must(t, js, "convert to=ods").Media, "convert to=json").Media.Data); !strings.Contains(got, `["a",1]`) {
		t.Errorf("came back as %q", got)
	}
	x := must(t, sample(t, "rich.ods"), "convert to=xlsx")
	back := must(t, *x.Media, "convert to=ods")
	a, b := string(must(t, sample(t, "rich.ods"), "convert to=csv").Media.Data), string(must(t, *back.Media, "convert to=csv").Media.Data)
	if a != b {
		t.Errorf("by way of xlsx:\n%s\nbecame\n%s", a, b)
	}
	if d := must(t, sample(t, "rich.ods"), `diff with=@"b.ods"`, media.Payload{Data: back.Media.Data, Name: "b.ods"}); !strings.HasPrefix(d.Read.Text, "No differences") {
		t.Errorf("differs: %s", d.Read.Text)
	}
	if n := len(must(t, sample(t, "rich.ods"), "split").List); n != 3 {
		t.Errorf("%d sheets", n)
	}
}

func TestFormulas(t *testing.T) {
	for _, tt := range [][2]string{
		{"of:=SUM([.A1:.B2];[$Data.C3])", "SUM(A1:B2,Data!C3)"},
		{"of:=['My ''s'.$A$1]&\"a;[.B1]\"", "'My ''s'!$A$1&\"a;[.B1]\""},
		{"of:={1;2|3;4}", "{1,2;3,4}"},
		{"of:=IF([.A1]>2;\"x\"\"y\";PI())", "IF(A1>2,\"x\"\"y\",PI())"},
	} {
		if got := excelFormula(tt[0]); got != tt[1] {
			t.Errorf("%s is %s, want %s", tt[0], got, tt[1])
		}
	}
	for _, tt := range [][2]string{
		{"SUM(A1:B2,Data!C3)", "of:=SUM([.A1:.B2];[$Data.C3])"},
		{"'My s'!$A$1&\"a,B1\"", "of:=[$'My s'.$A$1]&\"a,B1\""},
		{"LOG10(A1)+1E5*Rate", "of:=LOG10([.A1])+1E5*Rate"},
	} {
		if got := openFormula(tt[0]); got != tt[1] {
			t.Errorf("%s is %s, want %s", tt[0], got, tt[1])
		}
	}
}

func TestMetadataAndAssets(t *testing.T) {
	m := must(t, sample(t, "deck.odp"), "extract metadata").Read.Data.(map[string]any)
	if m["slide_count"] != 5 {
		t.Errorf("%v", m)
	}
	m = must(t, sample(t, "rich.ods"), "extract metadata").Read.Data.(map[string]any)
	if m["title"] != "Quarterly data" || m["initial_creator"] != "Ada Lovelace" || len(m["sheets"].([]map[string]any)) != 3 {
		t.Errorf("%v", m)
	}
	if l := must(t, sample(t, "deck.odp"), "extract assets types=image").List; len(l) != 1 || l[0].MIME != "image/png" {
		t.Errorf("%d assets", len(l))
	}
	if _, err := run(t, sample(t, "contract.odt"), "extract assets"); err == nil {
		t.Error("a file without assets gave some")
	}
}

func TestNormalizeAndDiff(t *testing.T) {
	raw, err := create(odtMIME, "", "<office:text><text:p>cafe\u0301 <text:span>x  </text:span></text:p></office:text>")
	if err != nil {
		t.Fatal(err)
	}
	in := media.Payload{Data: raw, Name: "a.odt"}
	res := must(t, in, "normalize")
	if c := members(t, res.Media.Data)["content.xml"]; !strings.Contains(c, "<text:p>café <text:span>x</text:span>") {
		t.Errorf("content is %s", c)
	}
	d := must(t, sample(t, "contract.odt"), `diff with=@"b.odt"`, media.Payload{Data: must(t, sample(t, "contract.odt"), `update_text anchor=Employment replace=Rental`).Media.Data, Name: "b.odt"})
	if !strings.Contains(d.Read.Text, "-Employment contract") || !strings.Contains(d.Read.Text, "+Rental contract") {
		t.Errorf("diff is %.500s", d.Read.Text)
	}
}

func TestMED_BadODF(t *testing.T) {
	base := sample(t, "contract.odt")
	for name, tt := range map[string]struct {
		in   media.Payload
		want string
	}{
		"no content": {rebuilt(t, base, map[string]string{"content.xml": "-"}), "content.xml"},
		"encrypted":  {rebuilt(t, base, map[string]string{"META-INF/manifest.xml": `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`}), "encrypted"},
		"entities":   {rebuilt(t, base, map[string]string{"content.xml": `<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>`}), "entities"},
		"not closed": {rebuilt(t, base, map[string]string{"content.xml": `<a><b></a>`}), "not open"},
		"deep":       {rebuilt(t, base, map[string]string{"content.xml": strings.Repeat("<a>", 5000)}), "nested"},
		"two roots":  {rebuilt(t, base, map[string]string{"content.xml": `<a/><b/>`}), "two roots"},
		"many rows":  {rebuilt(t, sample(t, "rich.ods"), map[string]string{"content.xml": huge(`table:number-rows-repeated="1048576"`, `table:number-columns-repeated="16384"`)}), "more than the"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, tt.in, "extract text"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func huge(rows, cols string) string {
	return `<office:document-content` + names + `><office:body><office:spreadsheet><table:table table:name="A"><table:table-row ` + rows + `><table:table-cell ` + cols + ` office:value-type="float" office:value="1"/></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
}

// LibreOffice opens what is made here.
func TestLibreOfficeReadsODF(t *testing.T) {
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("soffice is not installed: scripts/deps.sh installs it")
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		name, to, want string
		made           *media.Payload
	}{
		{"red.odt", "txt:Text", "number [SSN] starts", must(t, sample(t, "contract.odt"), `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`).Media},
		{"up.ods", "csv", ",100,2.5,2023-03-16,250", must(t, sample(t, "rich.ods"), `sheet update_cells updates='[{"address":"C2","value":100}]'`).Media},
		{"new.ods", "csv", "1,2.5,3.5", must(t, media.Payload{Data: []byte("1,2.5\n"), Name: "a.csv"}, `convert to=ods | sheet update_cells updates='[{"address":"C1","value":"=A1+B1"}]'`).Media},
		{"x.ods", "csv", "South,Pear,3,2.5,2023-03-16,7.5", must(t, sample(t, "rich.ods"), `convert to=xlsx | convert to=ods`).Media},
	} {
		if err := os.WriteFile(filepath.Join(dir, tt.name), tt.made.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), soffice, "--headless", "-env:UserInstallation=file://"+dir+"/profile", "--convert-to", tt.to, "--outdir", dir, filepath.Join(dir, tt.name))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		ext, _, _ := strings.Cut(tt.to, ":")
		b, err := os.ReadFile(filepath.Join(dir, media.Renamed(tt.name, ext)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), tt.want) {
			t.Errorf("%s reads:\n%.600s", tt.name, b)
		}
	}
}

func FuzzODF(f *testing.F) {
	for _, s := range []string{`<text:p>a<text:s text:c="3"/>b</text:p>`, `<table:table table:name="x"><table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row></table:table>`, `<text:list><text:list-item><text:p>x</text:p></text:list-item></text:list>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for mime, root := range map[string]string{fodtMIME: "text", fodsMIME: "spreadsheet"} {
			in := media.Payload{Data: []byte(xmlHead + "<office:document" + names + "><office:body><office:" + root + ">" + s + "</office:" + root + "></office:body></office:document>"), MIME: mime, Name: "a." + mime[len(mime)-3:]}
			r := &media.Request{In: in, To: "txt", Limits: media.Limits{Cells: 10_000}}
			if root == "text" {
				_, _ = convertText(t.Context(), r)
			} else {
				_, _ = convertSheets(t.Context(), r)
			}
			r.Op, r.Args = "redact", map[string]any{"match": []media.Match{{Text: "a"}}, "replace": "██"}
			if res, err := redact(t.Context(), r); err == nil && strings.Contains(string(res.Media.Data), ">a<") {
				t.Errorf("a is left in %s", res.Media.Data)
			}
		}
	})
}
