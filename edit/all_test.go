package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/edit"
)

// F4: requests apply in order, each to what the ones before left; a failure is that of its request only.
func TestF4_ApplyAll(t *testing.T) {
	const content = "a\nb\nc\nb\n"
	tests := []struct {
		name    string
		reqs    []edit.Request
		opt     edit.Options
		want    string
		applied int
		kinds   string // the outcome of each request
	}{
		{"in order", []edit.Request{req("a", "x"), req("x\nb", "y")}, edit.Options{}, "y\nc\nb\n", 2, "exact exact"},
		{"best effort", []edit.Request{req("a", "x"), req("nope", "y"), req("b", "z"), req("c", "w")}, edit.Options{}, "x\nb\nw\nb\n", 2, "exact not found ambiguous exact"},
		{"atomic", []edit.Request{req("a", "x"), req("nope", "y"), req("c", "w")}, edit.Options{Atomic: true}, content, 0, "exact not found exact"},
		{"atomic, all good", []edit.Request{req("a", "x"), req("c", "w")}, edit.Options{Atomic: true}, "x\nb\nw\nb\n", 2, "exact exact"},
		{"nothing applies", []edit.Request{req("q", "x")}, edit.Options{}, content, 0, "not found"},
		{"none", nil, edit.Options{}, content, 0, ""},
		{"lines count in the old content", []edit.Request{req("a\n", "1\n2\n3\n"), {Old: "b", New: "X", Line: 4}, {Old: "c", New: "Y", Line: 3}}, edit.Options{}, "1\n2\n3\nb\nY\nX\n", 3, "exact exact exact"},
		{"line inside an edited place", []edit.Request{req("b\nc\nb", "b\nb"), {Old: "b", New: "X", Line: 3}}, edit.Options{}, "a\nb\nX\n", 2, "exact exact"},
		{"replace all, then again", []edit.Request{all("b", "bb"), all("b", "c")}, edit.Options{}, "a\ncc\nc\ncc\n", 2, "exact exact"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := edit.ApplyAll([]byte(content), tt.reqs, tt.opt)
			var kinds []string
			for _, o := range b.Outcomes {
				kind, _ := outcome(o.Result, o.Err)
				kinds = append(kinds, kind)
				if o.Result.Content != nil {
					t.Error("an outcome holds content")
				}
			}
			if string(b.Content) != tt.want || b.Applied != tt.applied || strings.Join(kinds, " ") != tt.kinds {
				t.Errorf("%q, %d applied, %v\nwant %q, %d, %s", b.Content, b.Applied, kinds, tt.want, tt.applied, tt.kinds)
			}
			checkSpans(t, []byte(content), b.Content, b.Spans)
		})
	}
}

// F4: the joined spans lead from the old to the new content, whatever the edits were.
func TestF4_JoinedSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.StringOfN(rapid.SampledFrom([]rune("abc\n")), 1, 30, -1).Draw(t, "content")
		var reqs []edit.Request
		for i := range rapid.IntRange(1, 6).Draw(t, "edits") {
			reqs = append(reqs, edit.Request{
				Old:        rapid.StringOfN(rapid.SampledFrom([]rune("abc\nx")), 1, 3, -1).Draw(t, fmt.Sprint("old", i)),
				New:        rapid.StringOfN(rapid.SampledFrom([]rune("abcx\n")), 0, 4, -1).Draw(t, fmt.Sprint("new", i)),
				ReplaceAll: true,
			})
		}
		b := edit.ApplyAll([]byte(content), reqs, edit.Options{})
		want := []byte(content)
		for i, o := range b.Outcomes {
			if o.Err != nil {
				continue
			}
			res, err := edit.Apply(want, reqs[i])
			if err != nil {
				t.Fatalf("request %d alone: %v", i, err)
			}
			want = res.Content
		}
		if string(want) != string(b.Content) {
			t.Fatalf("%q, one by one %q", b.Content, want)
		}
		checkSpans(t, []byte(content), b.Content, b.Spans)
	})
}
