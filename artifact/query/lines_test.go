package query

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/clip"
)

var noLimits = clip.Limits{Lines: -1, Bytes: -1}

// documents draws texts with short, long and empty lines; some lines are longer than what is held of one.
var documents = rapid.Custom(func(t *rapid.T) string {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "match me", "é漢😀", "almost all valid \xff", "tab\there"}),
		rapid.Map(rapid.IntRange(0, 300000), func(n int) string {
			return strings.Repeat("long é ", n/7) + "needle" + strings.Repeat("x", n%5000)
		}),
	)
	ending := rapid.SampledFrom([]string{"\n", "\n", "\r\n"})
	var b strings.Builder
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		b.WriteString(line.Draw(t, "line") + ending.Draw(t, "ending"))
	}
	if rapid.Bool().Draw(t, "no last newline") {
		b.WriteString("last needle")
	}
	return b.String()
})

// split is the plain meaning of lines.
func split(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

func want(lines []string, from, to int) []string {
	out := []string{}
	for _, l := range lines[from-1 : to] {
		out = append(out, clip.Line(l, clip.DefaultColumns).String())
	}
	return out
}

func TestO6_LinesEqualThePlainMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := documents.Draw(t, "document")
		lines := split(s)
		n := len(lines)
		if got := run(t, text(s), Query{Op: Lines}).Data.(Count); got.Lines != int64(n) {
			t.Fatalf("%d lines, want %d", got.Lines, n)
		}
		if n == 0 {
			return
		}
		from := rapid.IntRange(1, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		count := rapid.IntRange(1, n+2).Draw(t, "count")
		for _, c := range []struct {
			q        Query
			from, to int
		}{
			{Query{Op: Cat, From: int64(from), To: int64(to)}, from, to},
			{Query{Op: Head, Count: count}, 1, min(count, n)},
			{Query{Op: Tail, Count: count}, max(n-count+1, 1), n},
		} {
			c.q.Limits = noLimits
			got := run(t, text(s), c.q).Data.(LineRange)
			if got.From != int64(c.from) || got.To != int64(c.to) || got.Total != int64(n) || fmt.Sprint(got.Lines) != fmt.Sprint(want(lines, c.from, c.to)) {
				t.Fatalf("%s: lines %d–%d of %d, want %d–%d of %d", c.q.Op, got.From, got.To, got.Total, c.from, c.to, n)
			}
		}
	})
}

func TestO6_GrepEqualsThePlainMeaning(t *testing.T) {
	patterns := []string{"needle", "a", "^a$", "needlex*$", "^long", "é", "(?i)NEEDLE", "match|needle", "z", `\s$`, "x+y", "needle.*x"}
	rapid.Check(t, func(t *rapid.T) {
		s := documents.Draw(t, "document")
		p := rapid.SampledFrom(patterns).Draw(t, "pattern")
		re := regexp.MustCompile(p)
		got := run(t, text(s), Query{Op: Grep, Pattern: p, Limits: noLimits}).Data.(Matches)
		i := 0
		for n, l := range split(s) {
			at := re.FindStringIndex(l)
			if at == nil {
				continue
			}
			if i >= len(got.Matches) {
				t.Fatalf("line %d was not found", n+1)
			}
			m := got.Matches[i]
			i++
			if m.Line != int64(n+1) || m.Column != utf8.RuneCountInString(l[:at[0]])+1 {
				t.Fatalf("match %d is at %d:%d, want %d:%d", i, m.Line, m.Column, n+1, utf8.RuneCountInString(l[:at[0]])+1)
			}
			if w := clip.LineAt(l, clip.DefaultColumns, at[0], at[1]); utf8.ValidString(l) && m.Text != w.String() {
				t.Fatalf("line %d is shown as %.100q… instead of %.100q…", n+1, m.Text, w.String())
			}
		}
		if i != len(got.Matches) || got.Total != int64(i) {
			t.Fatalf("%d matches (%d in all), want %d", len(got.Matches), got.Total, i)
		}
	})
}

func TestO4_LongLinesContinueByColumn(t *testing.T) {
	long := strings.Repeat("0123456789é", 30000)
	src := text("first\n" + long + "\nlast\n")
	var got strings.Builder
	for col := 1; ; {
		d := &document{Source: src}
		off, ok, err := d.startOf(context.Background(), 2)
		if err != nil || !ok {
			t.Fatal(off, ok, err)
		}
		ln, err := d.linesFrom(context.Background(), off, 2).next()
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.piece(context.Background(), ln, col, 20011)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(p.Text)
		if p.Total != utf8.RuneCountInString(long) {
			t.Fatalf("%d characters, want %d", p.Total, utf8.RuneCountInString(long))
		}
		if p.After() == 0 {
			break
		}
		col = p.To + 1
	}
	if got.String() != long {
		t.Error("the pieces are not the line")
	}
	a := run(t, src, Query{Op: Cat, From: 2, To: 2, Column: 329001})
	if !strings.Contains(a.Text, "…(329000 characters before)…") || strings.Contains(a.Text, "more; continue") {
		t.Errorf("the last window is %.200q", a.Text)
	}
}

// sparse is a document of any size that takes no memory: one block again and again, then a last line.
type sparse struct {
	size  int64
	block []byte
	last  string
}

func newSparse(size int64) sparse {
	return sparse{size, []byte(strings.Repeat(strings.Repeat("ordinary ", 7)+"\n", 4096)), "the last line holds a needle"}
}

func (s sparse) ReadAt(p []byte, off int64) (n int, err error) {
	body := s.size - int64(len(s.last))
	for n < len(p) && off < s.size {
		var c int
		if off < body {
			at := off % int64(len(s.block))
			c = copy(p[n:], s.block[at:min(int64(len(s.block)), at+body-off)])
		} else {
			c = copy(p[n:], s.last[off-body:])
		}
		n, off = n+c, off+int64(c)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// O6: questions about lines read a large document in pieces: all that they allocate is far below its size.
func TestO6_ConstantMemory(t *testing.T) {
	const size = 24 << 20
	src := Source{ReaderAt: newSparse(size), Size: size, Name: "large"}
	var before, after runtime.MemStats
	for _, q := range []Query{
		{Op: Head}, {Op: Tail}, {Op: Cat, From: 300000, To: 300010}, {Op: Lines}, {Op: Tokens},
		{Op: Grep, Pattern: "needle", Before: 1}, {Op: Grep, Pattern: "ne+dle$", After: 1}, {Op: Grep, Pattern: "absent"},
	} {
		runtime.ReadMemStats(&before)
		a := run(t, src, q)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%s %s: %d bytes allocated", q.Op, q.Pattern, got)
		}
		if m, ok := a.Data.(Matches); ok && strings.HasPrefix(q.Pattern, "ne") && m.Total != 1 {
			t.Errorf("%s: %d matches, want 1", q.Pattern, m.Total)
		}
	}
}

func TestTokensEstimate(t *testing.T) {
	for in, want := range map[string]int64{"": 0, "word": 1, "one two three": 3, "漢字漢字": 3, "HelloWorldAgain": 5, "123456": 3, "\n\n\n": 2, "naïve": 2} {
		if got := EstimateTokens(in); got != want {
			t.Errorf("%q: %d tokens, want %d", in, got, want)
		}
	}
	// Counted with the o200k tokenizer.
	for name, want := range map[string]int64{"chinese": 63, "code": 420, "digests": 310, "german": 53, "json": 501, "log": 539, "prose": 77} {
		data, err := os.ReadFile("testdata/tokens/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if got := EstimateTokens(string(data)); got < want*75/100 || got > want*125/100 {
			t.Errorf("%s: %d tokens estimated, %d counted", name, got, want)
		}
	}
	large := Source{ReaderAt: newSparse(40 << 20), Size: 40 << 20}
	if got, want := run(t, large, Query{Op: Tokens}).Data.(Count).Tokens, EstimateTokens(strings.Repeat(strings.Repeat("ordinary ", 7)+"\n", 1000))*(40<<20)/64000; got < want*98/100 || got > want*102/100 {
		t.Errorf("sampled: %d tokens, want about %d", got, want)
	}
	// The estimate does not depend on how the text is cut into pieces of ASCII.
	s := strings.Repeat("func (r *Reader) ReadAt(p []byte, off int64) { return 12345 }\n", 9000)
	if whole, got := EstimateTokens(s), run(t, text(s), Query{Op: Tokens}).Data.(Count).Tokens; whole != got {
		t.Errorf("%d in pieces, %d as a whole", got, whole)
	}
}
