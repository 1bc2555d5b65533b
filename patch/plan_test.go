package patch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/change"
)

func fileOf(s string) change.State { return change.FileState([]byte(s), 0o644) }

func parse(t *testing.T, text string) *Patch {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// P9: a number that the patch does not have is the caller's mistake, no hunk's.
func TestP9_UnknownHunk(t *testing.T) {
	p := parse(t, "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")
	for _, n := range []int{0, 2, -1} {
		_, err := Plan(p, world{}, Options{Hunks: []int{n}})
		var pe *PlanError
		if err == nil || errors.As(err, &pe) {
			t.Errorf("hunk %d: got %v", n, err)
		}
	}
	res, err := Plan(p, world{}, Options{Hunks: []int{}})
	if err != nil || len(res.Set.Ops) != 0 || res.Hunks[0].Outcome != Denied || !res.Files[0].Denied {
		t.Errorf("nothing approved: %+v, %v", res, err)
	}
}

// The result of a plan names what a policy must judge: the resolved paths of every section, also beside an error.
func TestResultNamesPaths(t *testing.T) {
	p := parse(t, "*** Begin Patch\n*** Update File: l\n*** Move to: new/f\n@@\n-x\n+y\n*** Add File: g\n+g\n*** Delete File: gone\n*** End Patch\n")
	res, err := Plan(p, world{root + "/l": fileOf("x\n")}, Options{})
	var got []string
	for _, f := range res.Files {
		got = append(got, fmt.Sprint(f.Op, " ", f.Abs, " ", f.AbsTo))
	}
	want := []string{"update /w/l /w/new/f", "add /w/g ", "delete /w/gone "}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var e *Error
	if !errors.As(err, &e) || e.Code != FileMissing || e.Line != 9 || e.Path != "gone" {
		t.Errorf("got %v", err)
	}
}

// A hopeless patch is given up: the cost of a plan is bounded.
func TestPlanGivesUp(t *testing.T) {
	for _, c := range []struct{ name, hunk, file string }{
		{"not found", "@@\n-nowhere\n+x\n", "a\n"},
		{"too many places", "@@\n-}\n+x\n", strings.Repeat("}\n", maxPlaces/10)},
	} {
		text := "*** Begin Patch\n*** Update File: f\n" + strings.Repeat(c.hunk, 2*maxFailures) + "*** End Patch\n"
		res, err := Plan(parse(t, text), world{root + "/f": fileOf(c.file)}, Options{})
		if err == nil || res.Hunks[2*maxFailures-1].Err.Code != NotTried {
			t.Errorf("%s: the last hunk is %+v", c.name, res.Hunks[2*maxFailures-1])
		}
	}
}

func TestPrintErrors(t *testing.T) {
	hunk := func(h Hunk) *Patch { return &Patch{Files: []FilePatch{{Path: "f", Hunks: []Hunk{h}}}} }
	line := func(l Line) *Patch { return hunk(Hunk{Lines: []Line{l}}) }
	for _, c := range []struct {
		p      *Patch
		format Format
		want   string
	}{
		{&Patch{Files: []FilePatch{{Op: Copy, Path: "f", To: "g"}}}, Envelope, "cannot copy"},
		{&Patch{Files: []FilePatch{{Path: "f", NewMode: 0o755}}}, Envelope, "cannot set modes"},
		{&Patch{Files: []FilePatch{{Op: Delete, Path: "f "}}}, Envelope, `cannot name "f "`},
		{line(Line{Kind: Added, Text: "a\r"}), Envelope, "carriage return"},
		{line(Line{Kind: Added, Text: "a", NoEOL: true}), Envelope, "no line feed"},
		{line(Line{Kind: Added, Text: "a\nb"}), Unified, "line feed"},
		{hunk(Hunk{EOF: true, Lines: []Line{{Kind: Added}}}), Unified, "last ones"},
		{hunk(Hunk{Anchors: []string{"a", "b"}, Lines: []Line{{Kind: Added}}}), Unified, "one @@ line"},
		{hunk(Hunk{Lines: []Line{{Kind: Removed, Text: "-- a"}, {Kind: Added, Text: "++ b"}}}), Unified, "look like file headers"},
	} {
		_, err := c.p.Print(c.format)
		var pe *PrintError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// A patch keeps its meaning when it is printed in the other language, as far as that has words for it.
func TestPrintInTheOtherLanguage(t *testing.T) {
	w := world{root + "/f": fileOf("one\ntwo\nthree\n"), root + "/g": fileOf("g\n")}
	unified := "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n--- /dev/null\n+++ b/h\n@@ -0,0 +1 @@\n+h\n"
	envelope, err := parse(t, unified).Print(Envelope)
	if err != nil {
		t.Fatal(err)
	}
	want, a := outcome(unified, w, Options{})
	got, b := outcome(envelope, w, Options{})
	if d := cmp.Diff(a.shown(), b.shown()); d != "" || len(a) == len(w)+1 {
		t.Errorf("%s\n%s\n%s\n%s", d, envelope, want, got)
	}
	const back = "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n three\n*** Delete File: g\n*** Add File: h\n+h\n*** End Patch\n"
	if d := cmp.Diff(back, envelope); d != "" {
		t.Error(d)
	}
}
