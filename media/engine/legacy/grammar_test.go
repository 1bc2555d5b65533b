package legacy

import (
	"regexp"
	"strings"
	"testing"

	grammar "github.com/tackle-dev/tackle/internal/words"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"pgregory.net/rapid"
)

var rtfWords = []string{"{", "}", "secret", "sec", "ret", "se", "keep ", "\\b ", "\\b0 ", "\\par ", "\\'65", "\\'73\\'65", "\\u101?", "\\u115\\'73", "\\uc0 ", "\\uc2 ", "\\uc1", "\n", "\\v ", "\\v0 ", "\\deleted ", "\\plain ",
	"{\\footnote ", "{\\*\\unknown ", "{\\field{\\*\\fldinst HYPERLINK \"", "\"}{\\fldrslt ", "}}", "{\\info{\\title ", "{\\header ", "\\intbl ", "\\cell ", "\\row ", "\\~", "\\-", "\\_", "\\{", "\\bin3 ret", "{\\pict 736563726574}",
	"\\f1 ", "\\tab ", "\\line ", "{\\listtext ", "{\\*\\bkmkstart ", "\\\n", "\\u-10179?\\u-8704?", "é"}

// What is redacted is nowhere, and all other words are where they were.
func TestRedactRTFKeepsTheRest(t *testing.T) {
	text := func(t *rapid.T, b []byte) string {
		d, _, err := readRTF(&media.Request{In: media.Payload{Data: b, Name: "a.rtf"}})
		if err != nil {
			t.Fatal(err)
		}
		return d.Text(flow.Options{})
	}
	// Where readers see different texts, a note stands within the word, or a group is named in its midst, as no program does.
	looks := regexp.MustCompile(`\\(v|deleted)\b|[^{*]\\\*?\\?(fonttbl|footnote|info|header|pict|listtext|title|bkmkstart|fldinst|unknown)`)
	rapid.Check(t, func(t *rapid.T) {
		src := []byte("{\\rtf1" + grammar.Draw(t, rtfWords, `{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}a sec{\b re}t\par keep {\footnote secret}`, `\u115?ecret{\v secret}keep`) + "}")
		r := &media.Request{In: media.Payload{Data: src, Name: "a.rtf"}, Args: map[string]any{"match": []media.Match{{Text: "secret"}}, "replace": "Q"}}
		before := text(t, src)
		res, err := redactRTF(t.Context(), r)
		if err != nil {
			if strings.Contains(before, "secret") && !strings.Contains(err.Error(), "embedded object") && !strings.Contains(err.Error(), "in the source") {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		after := text(t, res.Media.Data)
		if strings.Contains(after, "secret") {
			t.Fatalf("%q became %q, which reads %q", src, res.Media.Data, after)
		}
		if want := strings.ReplaceAll(before, "secret", "Q"); !looks.Match(src) && !strings.Contains(before, "[") && after != want {
			t.Fatalf("%q became %q, which reads %q and not %q", src, res.Media.Data, after, want)
		}
	})
}

// A number that a tracked change or hidden text stands in the midst of is a number to those who do not see that.
func TestRedactRTFForEveryReader(t *testing.T) {
	for _, src := range []string{
		`12{\deleted 99}3-45-6789`, `123-4{\v x}5-6789`, `123-{\revised 1}45-67\deleted 0\deleted0 89`, `{\deleted 123-4}{\revised 9}{\deleted 5-6789}`, `12\v 0{\plain 3-45-}\v0 6789`,
	} {
		res := must(t, media.Payload{Data: []byte(`{\rtf1 ` + src + `}`), Name: "a.rtf"}, `redact match=/\d{3}-\d{2}-\d{4}/ replace=X`)
		f, err := openRTF(&media.Request{In: *res.Media})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range rtfViews {
			for _, s := range f.texts(v) {
				if strings.Contains(string(s.text), "6789") && strings.Contains(string(s.text), "123") {
					t.Errorf("%s is %s, which reads %s", src, res.Media.Data, s.text)
				}
			}
		}
	}
}
