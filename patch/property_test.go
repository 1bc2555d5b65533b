package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/diff"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/internal/words"
)

// build returns the section that makes a into b, with the given lines of context.
func build(path string, a, b []byte, context int) FilePatch {
	f := FilePatch{Op: Update, Path: path}
	changes := diff.Compare(a, b)
	old, new := cut(a), cut(b)
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].A.Line-changes[n-1].A.End <= 2*context {
			n++
		}
		f.Hunks = append(f.Hunks, buildHunk(old, new, changes[:n], context))
		changes = changes[n:]
	}
	return f
}

func buildHunk(old, new []Line, changes []diff.Change, context int) Hunk {
	first, last := changes[0], changes[len(changes)-1]
	from := max(0, first.A.Line-context)
	to := min(len(old), last.A.End+context)
	h := Hunk{Numbered: true, OldStart: from + 1, NewStart: first.B.Line - (first.A.Line - from) + 1}
	add := func(kind Kind, lines []Line) {
		for _, l := range lines {
			l.Kind = kind
			h.Lines = append(h.Lines, l)
		}
	}
	for _, c := range changes {
		add(Context, old[from:c.A.Line])
		add(Removed, old[c.A.Line:c.A.End])
		add(Added, new[c.B.Line:c.B.End])
		from = c.A.End
	}
	add(Context, old[from:to])
	o, n := h.counts()
	if o == 0 {
		h.OldStart--
	}
	if n == 0 {
		h.NewStart--
	}
	return h
}

func cut(content []byte) (lines []Line) {
	for _, s := range strings.SplitAfter(string(content), "\n") {
		if s != "" {
			body, ended := strings.CutSuffix(s, "\n")
			lines = append(lines, Line{Text: body, NoEOL: !ended})
		}
	}
	return lines
}

func drawText(t *rapid.T, label string, lines []string) []byte {
	joined := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 25).Draw(t, label), "\n")
	return []byte(joined + rapid.SampledFrom([]string{"", "\n", "\n"}).Draw(t, label+" end"))
}

// planOne prints, parses and plans a patch of one file and returns the file after it.
func planOne(f FilePatch, format Format, a []byte) ([]byte, error) {
	if len(f.Hunks) == 0 {
		return a, nil
	}
	p := &Patch{Format: Unified, Files: []FilePatch{f}}
	text, err := p.Print(format)
	if err != nil {
		return nil, fmt.Errorf("print: %w", err)
	}
	parsed, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse: %w\n%s", err, text)
	}
	if len(parsed.Notes) > 0 {
		return nil, fmt.Errorf("notes %v on\n%s", parsed.Notes, text)
	}
	w := world{root + "/" + f.Path: change.FileState(a, 0o644)}
	res, err := Plan(parsed, w, Options{})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	after, err := w.commit(&res.Set)
	if err != nil {
		return nil, err
	}
	data, _ := after[root+"/"+f.Path].Blob.Bytes()
	return data, nil
}

// F5: apply(diff(A, B), A) = B for unified diffs, byte for byte, carriage returns and missing last line feeds included.
func TestF5_UnifiedMakesAIntoB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{"a", "b", "c", "", "  x", "-- y", "++ z", "a\r", "\r", "é", "@@", "*** End Patch"}
		a, b := drawText(t, "a", lines), drawText(t, "b", lines)
		if text.UsesCR(a) || bytes.HasSuffix(a, []byte("\r")) {
			return // lone carriage returns, which are line endings here and characters for git: such hunks are refused
		}
		got, err := planOne(build("f", a, b, rapid.IntRange(1, 4).Draw(t, "context")), Unified, a)
		if err != nil {
			t.Fatalf("%q → %q: %v", a, b, err)
		}
		if !bytes.Equal(got, b) {
			t.Fatalf("%q → %q gives %q", a, b, got)
		}
	})
}

// F5: the same for envelopes as far as their words go: with enough context the result is B, with little context it is B
// or a refusal, never something else.
func TestF5_EnvelopeMakesAIntoB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{"a", "b", "c", "d e", "", "  x", "\ty", "-- y", "++ z", "é", "@@", "*** End Patch", "*** Update File: q"}
		a, b := drawText(t, "a", lines), drawText(t, "b", lines)
		if bytes.HasSuffix(a, []byte("\n")) != bytes.HasSuffix(b, []byte("\n")) || len(a) == 0 {
			return // the envelope has no words for a last line feed
		}
		for _, context := range []int{rapid.IntRange(1, 3).Draw(t, "context"), 100} {
			f := build("f", a, b, context)
			for i := range f.Hunks {
				for j := range f.Hunks[i].Lines {
					f.Hunks[i].Lines[j].NoEOL = false
				}
			}
			got, err := planOne(f, Envelope, a)
			var pe *PlanError
			switch {
			case errors.As(err, &pe) && context < 100:
				continue
			case err != nil:
				t.Fatalf("context %d: %q → %q: %v", context, a, b, err)
			case !bytes.Equal(got, b):
				t.Fatalf("context %d: %q → %q gives %q", context, a, b, got)
			}
		}
	})
}

// Where lines have moved, a hunk goes to its lines or is refused: what it removes is what it says, and the rest stays.
func TestF5_NothingElseChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{"a", "b", "c", "d", "", "  b", "b  "}
		a, b, other := drawText(t, "a", lines), drawText(t, "b", lines), drawText(t, "file", lines)
		f := build("f", a, b, 2)
		f.Hunks = f.Hunks[:min(1, len(f.Hunks))]
		got, err := planOne(f, Unified, other)
		if err != nil || len(f.Hunks) == 0 {
			return
		}
		changes := diff.Compare(other, got)
		_, removed := diff.Count(changes)
		most := 0
		for _, l := range f.Hunks[0].Lines {
			if l.Kind != Context {
				most++
			}
		}
		if removed > most+1 { // the last line may get or lose its line feed
			t.Fatalf("%q became %q by\n%+v", other, got, f.Hunks[0])
		}
	})
}

func drawPatch(t *rapid.T, format Format) *Patch {
	p := &Patch{Format: format}
	if format == Envelope {
		p.Environment = rapid.SampledFrom([]string{"", "box"}).Draw(t, "environment")
	}
	for range rapid.IntRange(1, 4).Draw(t, "files") {
		p.Files = append(p.Files, drawFile(t, format))
	}
	p.number()
	return p
}

func drawFile(t *rapid.T, format Format) FilePatch {
	path := rapid.SampledFrom([]string{"f", "dir/g.go", "my file", "täb\tx", "q\"uote", "b/x", " lead"})
	f := FilePatch{Path: path.Draw(t, "path"), Op: rapid.SampledFrom([]Op{Add, Delete, Update, Copy}).Draw(t, "op")}
	if format == Envelope && f.Op == Copy {
		f.Op = Update
	}
	if f.Op == Copy || f.Op == Update && rapid.Bool().Draw(t, "move") {
		f.To = path.Draw(t, "to")
	}
	hunks := rapid.IntRange(0, 3).Draw(t, "hunks")
	if format == Unified {
		modes := rapid.SampledFrom([]fs.FileMode{0o644, 0o755, fs.ModeSymlink})
		switch {
		case f.Op == Add:
			f.NewMode = modes.Draw(t, "new mode")
			hunks = min(hunks, 1)
		case f.Op == Delete:
			f.OldMode = modes.Draw(t, "old mode")
			hunks = min(hunks, 1)
		case rapid.Bool().Draw(t, "modes"):
			f.OldMode, f.NewMode = 0o644, 0o755
		}
	}
	switch {
	case format == Envelope && f.Op == Add:
		hunks = 1
	case format == Envelope && f.Op == Delete:
		hunks = 0
	case f.Op == Update && f.To == "" && f.NewMode == 0:
		hunks = max(hunks, 1)
	}
	for range hunks {
		f.Hunks = append(f.Hunks, drawHunk(t, format, f.Op))
	}
	return f
}

func drawHunk(t *rapid.T, format Format, op Op) Hunk {
	var h Hunk
	kinds := []Kind{Context, Removed, Added}
	least := 1
	switch op {
	case Add:
		kinds = []Kind{Added}
		if format == Envelope {
			least = 0
		}
	case Delete:
		kinds = []Kind{Removed}
	}
	anchor := rapid.SampledFrom([]string{"func f() {", "  class X:", "x @@ y"})
	switch {
	case op == Add && format == Envelope:
	case format == Unified && (op != Update || rapid.Bool().Draw(t, "numbered")):
		h.Numbered = true
		h.OldStart, h.NewStart = rapid.IntRange(0, 1000).Draw(t, "old"), rapid.IntRange(0, 1000).Draw(t, "new")
		h.Section = rapid.SampledFrom([]string{"", "func g() {"}).Draw(t, "section")
	case format == Unified:
		h.Anchors = rapid.SliceOfN(anchor, 0, 1).Draw(t, "anchor")
	default:
		h.Anchors = rapid.SliceOfN(anchor, 0, 3).Draw(t, "anchors")
		h.EOF = rapid.Bool().Draw(t, "eof")
	}
	if len(h.Anchors) == 0 {
		h.Anchors = nil
	}
	texts := []string{"", "x", "  y  ", "\tz", "+", "-", "*** End Patch", "*** Update File: q", "@@ -1 +1 @@", "é"}
	if format == Unified {
		texts = append(texts, "cr\r")
	}
	for range rapid.IntRange(least, 6).Draw(t, "lines") {
		l := Line{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Text: rapid.SampledFrom(texts).Draw(t, "text")}
		l.Bare = l.Kind == Context && l.Text == "" && len(h.Lines) > 0 && rapid.Bool().Draw(t, "bare")
		h.Lines = append(h.Lines, l)
	}
	if n := len(h.Lines) - 1; n >= 0 && format == Unified && !h.Lines[n].Bare {
		h.Lines[n].NoEOL = rapid.Bool().Draw(t, "no newline")
	}
	return h
}

// plain drops what Print cannot carry: positions, notes and other readings of names.
func plain(p *Patch) *Patch {
	q := *p
	q.Notes = nil
	q.Files = append([]FilePatch(nil), p.Files...)
	for i := range q.Files {
		f := &q.Files[i]
		f.Line, f.Names = 0, nil
		f.Hunks = append([]Hunk(nil), f.Hunks...)
		for j := range f.Hunks {
			h := &f.Hunks[j]
			h.Line = 0
			h.Lines = append([]Line(nil), h.Lines...)
			for k := range h.Lines {
				h.Lines[k].Line = 0
			}
		}
	}
	return &q
}

// Parse is the inverse of Print.
func TestPrintParse(t *testing.T) {
	for _, format := range []Format{Envelope, Unified} {
		t.Run(format.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := drawPatch(t, format)
				text, err := p.Print(format)
				if err != nil {
					var pe *PrintError
					if !errors.As(err, &pe) {
						t.Fatal(err)
					}
					return
				}
				back, err := Parse(text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if d := cmp.Diff(plain(p), plain(back)); d != "" {
					t.Fatalf("(-printed +parsed)\n%s\n%s", d, text)
				}
			})
		})
	}
}

// What a fuzzer of bytes looks for, and so that printing is idempotent, also for what is hardly a patch: texts of the words of both languages, and printed patches with
// such words put in.
func TestPrintIdempotent(t *testing.T) {
	parts := []string{"--- ", "+++ ", "@@ ", "@@", "@@ -1 +1 @@", "@@ -1,2 +1 @@ ", "a/", "b/", "0", "f", "\r", "\n", "\r\n", " ", "-", "+", "\\", "\t",
		"diff --git ", "rename from ", "rename to ", "copy from ", "copy to ", "/dev/null", "\"", "-- ", "1", "...", "é", "\xff", "\x00", "\v", "\f",
		"\u0085", "\u2028", "\u00a0", "Index: ", "Binary files ", " differ", "new file mode 100644\n", "deleted file mode 100644\n", "old mode 100644\n",
		"new mode 100644\n", "new mode 100755\n", "similarity index 5%\n", "--- f\n+++ f\n", "--- a/0\n+++ b/0\n@@ ", "\n@@ ", "\n ", "\n-", "\n+", "\n\\",
		"*** Begin Patch\n", "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "*** End of File", "*** End Patch",
		"*** Environment ID: ", "\t1970-01-01 00:00:00 +0000", " (revision 1)"}
	rapid.Check(t, func(t *rapid.T) {
		var text string
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); kind {
		case 0, 1:
			format := []Format{Envelope, Unified}[kind]
			text, _ = drawPatch(t, format).Print(format)
		case 2:
			text = "--- a/0\n+++ b/0\n"
		}
		checkParse(t, words.Draw(t, parts, text))
	})
}

// idempotent checks that what a text means is printed as text that means the same.
func idempotent(t interface{ Fatalf(string, ...any) }, text string) {
	p, err := Parse(text)
	if err != nil {
		return
	}
	printed, err := p.Print(p.Format)
	if err != nil {
		return // the language has no words for it
	}
	back, err := Parse(printed)
	if err != nil {
		t.Fatalf("%v\n%q", err, printed)
	}
	if again, err := back.Print(p.Format); err != nil || again != printed {
		t.Fatalf("%v\n%q\n%q", err, printed, again)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: f\n@@ x\n-a\n+b\n*** End of File\n*** End Patch\n")
	f.Add("diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1,2 +1 @@ x\n a\n-b\n\\ No newline at end of file\n")
	f.Add("diff --git 0 0\n@@00000000000\r\r\n ")
	f.Add("```\ncat <<'X'\n*** Add File: a\n+x\nX\n```\n")
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}

func checkParse(t rapid.TB, text string) {
	p, err := Parse(text)
	if err != nil {
		var pe *ParseError
		if !errors.As(err, &pe) || pe.Line > strings.Count(text, "\n")+2 {
			t.Fatalf("%v (%d)", err, pe.Line)
		}
		return
	}
	w := world{root + "/f": change.FileState([]byte("a\nb\nx\n"), 0o644), root + "/g": change.FileState([]byte("x"), 0o755)}
	res, err := Plan(p, w, Options{})
	if err == nil {
		if _, err = w.commit(&res.Set); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range res.Hunks {
		if h.Number != i+1 || h.Outcome == Failed != (h.Err != nil) {
			t.Fatalf("hunk %d: %+v", i+1, h)
		}
	}
	idempotent(t, text)
}

func FuzzHunk(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", "x\na\nb\n")
	f.Add("\r0", "1", "")
	f.Add("\ufeffa", "", "")
	f.Fuzz(func(t *testing.T, a, b, other string) { checkHunk(t, a, b, other) })
}

// Lines of endings of every kind, in which a hunk gives what it says or is refused.
func TestHunkOfWords(t *testing.T) {
	parts := []string{"a", "b", " ", "\t", "\r", "\n", "\r\n", "\r\r\n", "-", "+", "\\", "@@", "a\n", "b\n", "\n\n", "*** End Patch\n", "é", "\xff", "\xef\xbb\xbf", "\x00", "\v", "\u0085", "\u2028", "\u00a0",
		"\\ No newline at end of file\n", "@@ -1 +1 @@\n", "--- a\n+++ b\n"}
	rapid.Check(t, func(t *rapid.T) {
		a := words.Draw(t, parts)
		checkHunk(t, a, words.Draw(t, parts, a), words.Draw(t, parts, a))
	})
}

func checkHunk(t rapid.TB, a, b, other string) {
	section := build("f", []byte(a), []byte(b), 3)
	if e := text.Detect([]byte(a), true); e.Charset != text.UTF8 && e.Charset != text.Broken {
		return // the new lines are written in the encoding of the file
	}
	if got, err := planOne(section, Unified, []byte(a)); err == nil && string(got) != b {
		t.Fatalf("%q → %q gives %q", a, b, got)
	}
	planOne(section, Envelope, []byte(other))
}

func bench(files, hunks, lines int) (*Patch, world, string) {
	w := world{}
	p := &Patch{Format: Unified}
	for i := range files {
		var a, b bytes.Buffer
		for j := range lines {
			fmt.Fprintf(&a, "\tline %d of file %d does something(with, some, %d)\n", j, i, j%7)
			if j%(lines/hunks) == lines/hunks/2 {
				fmt.Fprintf(&b, "\tline %d of file %d was changed\n\tand has another below\n", j, i)
				continue
			}
			fmt.Fprintf(&b, "\tline %d of file %d does something(with, some, %d)\n", j, i, j%7)
		}
		name := fmt.Sprintf("dir/file%d.go", i)
		w[root+"/"+name] = change.FileState(a.Bytes(), 0o644)
		p.Files = append(p.Files, build(name, a.Bytes(), b.Bytes(), 3))
	}
	text, _ := p.Print(Unified)
	return p, w, text
}

// 200 hunks over 50 files of 1,000 lines.
func BenchmarkPlan(b *testing.B) {
	_, w, text := bench(50, 4, 1000)
	for _, format := range []Format{Unified, Envelope} {
		parsed, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		printed, err := parsed.Print(format)
		if err != nil {
			b.Fatal(err)
		}
		if parsed, err = Parse(printed); err != nil || parsed.Count() != 200 {
			b.Fatal(err, parsed.Count())
		}
		b.Run(format.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := Plan(parsed, w, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parse "+format.String(), func(b *testing.B) {
			b.SetBytes(int64(len(printed)))
			for b.Loop() {
				if _, err := Parse(printed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
