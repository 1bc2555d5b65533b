package odf

import (
	"strings"
	"testing"
)

// Words that files are built of are no reason to refuse, and what they mean to a program stays.
func TestRedactWordsOfTheFormat(t *testing.T) {
	list := strings.Fields("content settings title style styles text table paragraph manifest meta body document automatic span image office")
	in := *must(t, sample(t, "contract.odt"), `update_text anchor="Employment contract" replace="The `+strings.Join(list, ", ")+` of it"`).Media
	for _, word := range list {
		res := must(t, in, "redact match="+word+` replace="X"`)
		md := string(must(t, *res.Media, "convert to=md").Media.Data)
		if first, _, _ := strings.Cut(md, " of it"); strings.Contains(first, word) || !strings.Contains(md, "| cell 0,0 |") || !strings.Contains(first, "# The ") {
			t.Errorf("%s: %.300q", word, md)
		}
		for n, p := range members(t, res.Media.Data) {
			if n == "META-INF/manifest.xml" && !strings.Contains(p, `manifest:full-path="content.xml"`) {
				t.Errorf("%s: the manifest is %s", word, p)
			}
		}
	}
	// A name that a person gave is not one of them.
	m := members(t, in.Data)
	own := rebuilt(t, in, map[string]string{"content.xml": strings.Replace(m["content.xml"], `text:style-name="T1"`, `text:style-name="Zanzibar" text:unheard="of Zanzibar"`, 1)})
	if _, err := run(t, own, `redact match="Zanzibar",employee`); err == nil || !strings.Contains(err.Error(), `"Zanzibar" still stands in the part content.xml`) {
		t.Errorf("an attribute that is not to be touched: %v", err)
	}
}
