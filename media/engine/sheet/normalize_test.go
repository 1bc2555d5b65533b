package sheet

import (
	"bytes"
	"testing"

	"github.com/tackle-dev/tackle/media"
)

func TestNormalizeBook(t *testing.T) {
	for in, want := range map[string]string{
		`<sst><si><t>a  </t></si></sst>`:                                                `<sst><si><t>a</t></si></sst>`,
		"<sst><si><r><t>a </t></r><r><t xml:space=\"preserve\"> b\t</t></r></si></sst>": `<sst><si><r><t>a </t></r><r><t xml:space="preserve"> b</t></r></si></sst>`,
		"<sst><si><t>a _x000D_\nb\r\nc &amp; d</t></si></sst>":                          "<sst><si><t>a\nb\nc &amp; d</t></si></sst>",
		"<x:sst><x:si><x:t>e\u0301 &lt;</x:t></x:si></x:sst>":                           "<x:sst><x:si><x:t>\u00e9 &lt;</x:t></x:si></x:sst>",
		`<c t="inlineStr"><is><t>a </t></is></c><c t="str"><f>"x "</f><v>x </v></c>`:    `<c t="inlineStr"><is><t>a</t></is></c><c t="str"><f>"x "</f><v>x </v></c>`,
		`<si><t>a </t><rPh sb="0"><t>b </t></rPh></si><si/><si><t/></si>`:               `<si><t>a</t><rPh sb="0"><t>b </t></rPh></si><si/><si><t/></si>`,
		`<comment><text><r><t>a </t></r></text></comment>`:                              `<comment><text><r><t>a</t></r></text></comment>`,
		`<sst><si><t>as it is</t></si></sst>`:                                           `<sst><si><t>as it is</t></si></sst>`,
	} {
		got, n := normalTexts([]byte(in))
		if string(got) != want || (n > 0) != (in != want) {
			t.Errorf("%q became %q (%d), want %q", in, got, n, want)
		}
	}
	in := *must(t, rich(t), `sheet update_cells updates='[{"address":"B5","value":"e\u0301nd  "}]'`).Media
	res := must(t, in, "normalize")
	if got := must(t, *res.Media, "extract text").Read.Text; !bytes.Contains([]byte(got), []byte("\t\u00e9nd\t")) || res.Counts.Modified != 1 {
		t.Errorf("%d: reads %.300q", res.Counts.Modified, got)
	}
	again := must(t, media.Payload{Data: res.Media.Data, Name: "a.xlsx"}, "normalize")
	if again.Counts.Modified != 0 || !bytes.Equal(again.Media.Data, res.Media.Data) {
		t.Errorf("a second time: %d %q", again.Counts.Modified, again.Warnings)
	}
}
