package odf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

func flat(root, body string) media.Payload {
	mime := map[string]string{"text": fodtMIME, "spreadsheet": fodsMIME}[root]
	return media.Payload{Name: "a." + map[string]string{"text": "fodt", "spreadsheet": "fods"}[root], MIME: mime,
		Data: []byte(xmlHead + "<office:document" + names + ` xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0" xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" office:mimetype="` + base + root + `"><office:body><office:` + root + `>` + body + "</office:" + root + "></office:body></office:document>")}
}

// Files made to grow without end, or that lead to themselves, are read within bounds or refused.
func TestDearODF(t *testing.T) {
	base := sample(t, "contract.odt")
	body := func(s string) string {
		return xmlHead + "<office:document-content" + names + ` xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:text>` + s + "</office:text></office:body></office:document-content>"
	}
	object := func(to string) string {
		return `<text:p>` + to + `<draw:frame><draw:object xlink:href="./` + to + `"/></draw:frame></text:p>`
	}
	many := map[string]string{"content.xml": body(object("O0") + object("O0"))}
	for i := range 60 {
		many[fmt.Sprintf("O%d/content.xml", i)] = body(strings.Repeat(object(fmt.Sprintf("O%d", i+1)), 2))
	}
	cells := `<table:table><table:table-row table:number-rows-repeated="200"><table:table-cell table:number-columns-repeated="200">%s</table:table-cell></table:table-row></table:table>`
	for name, in := range map[string]media.Payload{
		"an object in itself":  rebuilt(t, base, map[string]string{"content.xml": body(object("Object 1")), "Object 1/content.xml": body("<text:p>in</text:p>" + object("Object 1"))}),
		"objects in objects":   rebuilt(t, base, many),
		"blanks":               flat("text", "<text:p>"+strings.Repeat(`a<text:s text:c="10000"/>`, 10_000)+"</text:p>"),
		"tables within tables": flat("text", fmt.Sprintf(cells, fmt.Sprintf(cells, fmt.Sprintf(cells, "<text:p>x</text:p>")))),
		"many tables":          flat("text", strings.Repeat(fmt.Sprintf(cells, "<text:p>"+strings.Repeat("word ", 100)+"</text:p>"), 200)),
		"cells of a sheet":     flat("spreadsheet", `<table:table table:name="a"><table:table-row table:number-rows-repeated="100000"><table:table-cell table:number-columns-repeated="20" office:value-type="string"><text:p>`+strings.Repeat("word ", 2000)+`</text:p></table:table-cell></table:table-row></table:table>`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, do := range []string{"extract text", "convert to=html", `redact match="nowhere"`} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := run(t, in, do)
				runtime.ReadMemStats(&after)
				var e *media.Error
				if err != nil && !errors.As(err, &e) {
					t.Errorf("%s: %v", do, err)
				}
				if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 3000 {
					t.Errorf("%s took %d MB: %v", do, n, err)
				}
			}
		})
	}
}

// Containers within containers are looked into a few deep and no further.
func TestNestedContainersODF(t *testing.T) {
	in := []byte("Zanzibar")
	for range 40 {
		var err error
		if in, err = pack.Create(pack.Member{Name: "a.zip", Data: in, Plain: true}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := run(t, rebuilt(t, sample(t, "contract.odt"), map[string]string{"Object 9": string(in)}), `redact match=contract`)
	if err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("got %v", err)
	}
}

// Places where words stand that a pattern finds and a search for plain words does not.
func TestRedactODFByPattern(t *testing.T) {
	base := sample(t, "contract.odt")
	m := members(t, base.Data)
	p := "Employment contract</text:h>"
	at := func(more string) media.Payload {
		return rebuilt(t, base, map[string]string{"content.xml": strings.Replace(m["content.xml"], p, p+more, 1)})
	}
	sheets := sample(t, "rich.ods")
	s := members(t, sheets.Data)
	split := `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:t>55-</w:t><w:t>4433</w:t></w:document>`
	inner, err := pack.Create(pack.Member{Name: "word/document.xml", Data: []byte(split)})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]media.Payload{
		"view of a sheet": rebuilt(t, sheets, map[string]string{"content.xml": strings.Replace(s["content.xml"], "<office:spreadsheet", "<office:spreadsheet", 1),
			"settings.xml": strings.Replace(s["settings.xml"], "<config:config-item ", `<config:config-item-map-named config:name="T"><config:config-item-map-entry config:name="55-4433"/></config:config-item-map-named><config:config-item `, 1)}),
		"address of a series": rebuilt(t, base, map[string]string{"Object 1/content.xml": `<office:document-content` + names + ` xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0"><office:body><office:chart><chart:chart><chart:plot-area table:cell-range-address="'55-4433'.A1:B2"><chart:series chart:values-cell-range-address="'55-4433'.B2:B9" chart:label-cell-address="'55-4433'.B1"/></chart:plot-area></chart:chart></office:chart></office:body></office:document-content>`}),
		"link":                at(`<text:p><text:a xlink:href="mailto:a?subject=55%2D4433">x</text:a></text:p>`),
		"name of a style":     at(`<text:p text:style-name="x">55-4433</text:p>`),
		"zeros":               at(`<text:p>55&#0000000000000000000000000000000000000000000045;4433</text:p>`),
		"old version":         rebuilt(t, base, map[string]string{"VersionList.xml": `<v:version-list xmlns:v="x"><v:version-entry v:title="55-4433"/></v:version-list>`, "Versions/Version1": string(rebuilt(t, base, map[string]string{"content.xml": strings.Replace(m["content.xml"], p, p+"<text:p>55-4433</text:p>", 1)}).Data), "content.xml": strings.Replace(m["content.xml"], p, p+"<text:p>55-4433</text:p>", 1)}),
		"declined":            at(`<text:p>1<text:change text:change-id="d9"/>4433</text:p><text:p>2 55-<text:change-start text:change-id="i9"/>x<text:s/>y<text:change-end text:change-id="i9"/>4433</text:p>` + `<text:tracked-changes><text:changed-region text:id="d9"><text:deletion><office:change-info/><text:p>55-</text:p></text:deletion></text:changed-region><text:changed-region text:id="i9"><text:insertion/></text:changed-region></text:tracked-changes>`),
		"ruby":                at(`<text:p><text:ruby><text:ruby-base>55-</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby><text:ruby><text:ruby-base>4433</text:ruby-base></text:ruby></text:p>`),
	} {
		t.Run(name, func(t *testing.T) {
			res := must(t, in, `redact match=/55-4433/ replace="X"`)
			for n, b := range members(t, res.Media.Data) {
				if strings.Contains(b, "4433") {
					t.Errorf("left in %s", n)
				}
			}
		})
	}
	for name, in := range map[string]media.Payload{
		"document within": rebuilt(t, base, map[string]string{"Object 9": string(inner)}),
	} {
		t.Run("refused "+name, func(t *testing.T) {
			if _, err := run(t, in, `redact match=/55-4433/,"contract"`); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What redact refuses with the advice to sanitize first, sanitize takes away.
func TestSanitizeTakesOldVersions(t *testing.T) {
	base := sample(t, "contract.odt")
	in := rebuilt(t, base, map[string]string{"VersionList.xml": "<a/>", "Versions/Version1": "PK"})
	after := members(t, must(t, in, "sanitize").Media.Data)
	for n := range after {
		if strings.HasPrefix(n, "Version") {
			t.Errorf("%s is left", n)
		}
	}
}

// A part is unpacked once, however often it is looked at.
func TestPartsAreReadOnce(t *testing.T) {
	base := sample(t, "contract.odt")
	m := members(t, base.Data)
	var more strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&more, "<text:p>words %d and %x more</text:p>", i*i, i*7919)
	}
	big := strings.Replace(m["content.xml"], "Employment contract</text:h>", "Employment contract</text:h>"+more.String(), 1)
	in := rebuilt(t, base, map[string]string{"content.xml": big})
	p, err := media.New(media.Config{Engines: []media.Engine{Engine()}, Limits: media.Limits{Unpacked: int64(len(big)) + 1<<20}})
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"convert to=txt", "redact match=contract", "sanitize", "normalize", "update_text anchor=contract replace=x", "split by=section", "extract metadata"} {
		if _, err := p.Query(t.Context(), in, do); err != nil && strings.Contains(err.Error(), "unpacks") {
			t.Errorf("%s: %v", do, err)
		}
	}
}

// A run whose context ends stops in the midst of a big part.
func TestODFStops(t *testing.T) {
	in := flat("text", strings.Repeat("<text:p>some words and more of them</text:p>", 300_000))
	for _, do := range []string{"convert to=md", "redact match=words", "normalize", "sanitize"} {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := media.New(media.Config{Engines: []media.Engine{Engine()}, Use: []media.Interceptor{func(ctx context.Context, s media.StepInfo, next media.Next) (media.Result, error) {
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
