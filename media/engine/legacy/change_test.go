package legacy

import (
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
)

func TestUpdateTextRTF(t *testing.T) {
	in := sample(t, "contract.rtf")
	res := must(t, in, `update_text anchor="123-45-6789 starts" replace="é {7}\nbegins"`)
	got := must(t, *res.Media, "extract text").Read.Text
	if !strings.Contains(got, "The employee with number é {7}\nbegins on 2025-01-02.") || !strings.Contains(got, "Confidential 111-22-3333") {
		t.Errorf("reads %.400q", got)
	}
	res = must(t, in, `update_text anchor="quick brown fox" replace=""`)
	if got := must(t, *res.Media, "extract text").Read.Text; !strings.Contains(got, "Paragraph 0. The  jumps over the lazy dog. The quick brown fox") || len(res.Warnings) != 1 {
		t.Errorf("more than one place was changed, or it was not said: %q %.300q", res.Warnings, got)
	}
	for anchor, want := range map[string]string{"nowhere": "does not stand", "contract\\nThe employee": "end of a paragraph"} {
		if _, err := run(t, in, `update_text anchor="`+anchor+`" replace="x"`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", anchor, err)
		}
	}
}

func TestUpdateTextEPUB(t *testing.T) {
	in := sample(t, "contract.epub")
	res := must(t, in, `update_text anchor="number  123-45-6789 starts" replace="<7> & begins"`)
	if got := must(t, *res.Media, "extract text").Read.Text; !strings.Contains(got, "The employee with <7> & begins on 2025-01-02.") {
		t.Errorf("reads %.400q", got)
	}
	for anchor, want := range map[string]string{"nowhere": "does not stand", "contract The employee": "end of a paragraph", "Contract": "does not stand"} {
		if _, err := run(t, in, `update_text anchor="`+anchor+`" replace="x"`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", anchor, err)
		}
	}
}

func TestNormalizeRTFAndEPUB(t *testing.T) {
	const head = `{\rtf1\ansi\ansicpg1252 `
	for in, want := range map[string]string{
		`a \par b\b   \par c `:                  `a\par b\b \par c`,
		`e\u769?x`:                              `\u233?x`,
		`\uc0 e\u769 x{\footnote n  }{\*\x y }`: `\uc0 \u233 x{\footnote n}{\*\x y }`,
		`a b\cell \row`:                         `a b\cell \row`,
		`as it is`:                              `as it is`,
	} {
		res := must(t, media.Payload{Data: []byte(head + in + "}"), Name: "a.rtf"}, "normalize")
		if got := strings.TrimPrefix(string(res.Media.Data), head); got != want+"}" {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
		if said := len(res.Warnings) == 1; said != (in == want) {
			t.Errorf("%s: %q", in, res.Warnings)
		}
	}
	changed := must(t, sample(t, "contract.epub"), `update_text anchor="Employment contract" replace="Café contract"`)
	res := must(t, *changed.Media, "normalize")
	if got := must(t, *res.Media, "extract text").Read.Text; !strings.Contains(got, "Caf\u00e9 contract") || res.Counts.Modified == 0 {
		t.Errorf("%d: reads %.200q", res.Counts.Modified, got)
	}
	if res = must(t, *res.Media, "normalize"); res.Counts.Modified != 0 || len(res.Warnings) != 1 {
		t.Errorf("a second time: %d %q", res.Counts.Modified, res.Warnings)
	}
}

// Words that e-books are built of are no reason to refuse, and the book still holds together.
func TestRedactWordsOfTheBook(t *testing.T) {
	list := strings.Fields("content section sections stylesheet toc title nav page text document html meta cover container navigation")
	for name, anchor := range map[string]string{"contract.epub": "Employment contract", "rep.epub": "Introduction"} {
		in := *must(t, sample(t, name), `update_text anchor="`+anchor+`" replace="The `+strings.Join(list, ", ")+` of it"`).Media
		for _, word := range list {
			res := must(t, in, "redact match="+word+" replace=X")
			got := must(t, *res.Media, "extract text").Read.Text
			if _, after, ok := strings.Cut(got, "The "); !ok || strings.Contains(after[:strings.Index(after, " of it")], word) {
				t.Errorf("%s, %s: %.300q", name, word, got)
			}
		}
	}
}
