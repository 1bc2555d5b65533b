package clip

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestO4_Pieces(t *testing.T) {
	long := strings.Repeat("0123456789", 10) // 100 characters
	for _, c := range []struct {
		name string
		p    Piece
		want string
	}{
		{"short", Line("abc", 3), "abc"},
		{"no limit", Line(long, 0), long},
		{"start", Line(long, 5), "01234 …(95 characters more; continue at column 6)…"},
		{"characters, not bytes", Line("ééééé", 2), "éé …(3 characters more; continue at column 3)…"},
		{"continued", Columns(long, 6, 5), "…(5 characters before)… 56789 …(90 characters more; continue at column 11)…"},
		{"last window", Columns(long, 98, 5), "…(97 characters before)… 789"},
		{"column below 1", Columns("abc", -4, 2), "ab …(1 character more; continue at column 3)…"},
		{"match near the start", LineAt(long, 20, 3, 6), Line(long, 20).String()},
		{"match in the middle", LineAt(long, 9, 50, 53),
			"…(47 characters before)… 789012345 …(44 characters more; continue at column 57)…"},
		{"match at the end", LineAt(long, 9, 98, 100), "…(91 characters before)… 123456789"},
		{"match outside of the line", LineAt("abc", 2, 50, 60), "…(1 character before)… bc"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if p := Columns("abc", 9, 5); p.Text != "" || p.Total != 3 || p.To != p.From-1 {
		t.Errorf("behind the end: %+v", p)
	}
	if got := Line(long, 5).Cut().String(); got != "5 of 100 characters kept" {
		t.Errorf("cut says %q", got)
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcdef", 0, "abcdef"}, {"abcdef", 5, "ab…ef"}, {"abcdef", 1, "…"}, {"éééééé", 4, "éé…é"},
	} {
		if got := Middle(c.in, c.n); got != c.want {
			t.Errorf("Middle(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// Following "continue at column" reads the whole line, each character once.
func TestO4_ContinuingByColumnLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(texts(false).Draw(t, "line"), "\n", "_")
		width := rapid.IntRange(1, 40).Draw(t, "width")
		var got strings.Builder
		for col := 1; ; {
			p := Columns(s, col, width)
			got.WriteString(p.Text)
			if utf8.RuneCountInString(p.Text) != p.To-p.From+1 || p.Total != utf8.RuneCountInString(s) {
				t.Fatalf("columns of %+v are wrong", p)
			}
			if p.After() == 0 {
				break
			}
			col = p.To + 1
		}
		if got.String() != s {
			t.Fatalf("read %q, want %q", got.String(), s)
		}
	})
}

// The window holds the match as far as it has room, and is full.
func TestO4_LineAtShowsTheMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(texts(true).Draw(t, "line"), "\n", "_") + "x"
		width := rapid.IntRange(3, 40).Draw(t, "width")
		starts := []int{}
		for i := range s {
			starts = append(starts, i)
		}
		start := rapid.SampledFrom(starts).Draw(t, "start")
		_, size := utf8.DecodeRuneInString(s[start:])
		p := LineAt(s, width, start, start+size)
		col := utf8.RuneCountInString(s[:start]) + 1
		if col < p.From || col > p.To {
			t.Fatalf("column %d is not in %d..%d", col, p.From, p.To)
		}
		if n := p.To - p.From + 1; n != min(width, p.Total) {
			t.Fatalf("%d characters shown, want %d", n, min(width, p.Total))
		}
	})
}

func BenchmarkLineAt(b *testing.B) {
	s := strings.Repeat("minified,json;", 1<<20/14)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		LineAt(s, DefaultColumns, 500000, 500004)
	}
}
