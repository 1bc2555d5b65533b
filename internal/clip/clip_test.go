package clip

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestO1_TextTable(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		lim  Limits
		keep Keep
		want string
		cut  Cut
	}{
		{"fits", "a\nb\n", Limits{2, 4}, Head, "a\nb\n", Cut{}},
		{"fits without last newline", "a\nb", Limits{2, 4}, Tail, "a\nb", Cut{}},
		{"empty", "", Limits{1, 1}, HeadTail, "", Cut{}},
		{"head by lines", lines(5), Limits{2, -1}, Head, "line 1\nline 2\n…(3 lines truncated from end)…",
			Cut{Unit: UnitLines, Lines: Span{5, 2}, Bytes: Span{35, 14}}},
		{"head by bytes keeps whole lines", lines(5), Limits{-1, 20}, Head, "line 1\nline 2\n…(21 bytes truncated from end)…",
			Cut{Unit: UnitBytes, Lines: Span{5, 2}, Bytes: Span{35, 14}}},
		{"head of one long line", strings.Repeat("é", 10), Limits{5, 7}, Head, "ééé\n…(14 bytes truncated from end)…",
			Cut{Unit: UnitBytes, Lines: Span{1, 1}, Bytes: Span{20, 6}}},
		{"head: a short line does not waste the budget", "a\n" + strings.Repeat("b", 30), Limits{-1, 10}, Head,
			"a\nbbbbbbbb\n…(22 bytes truncated from end)…",
			Cut{Unit: UnitBytes, Lines: Span{2, 2}, Bytes: Span{32, 10}}},
		{"tail by lines", lines(5), Limits{2, -1}, Tail, "…(3 lines truncated from head)…\nline 4\nline 5\n",
			Cut{Unit: UnitLines, Lines: Span{5, 2}, Bytes: Span{35, 14}}},
		{"tail by bytes", "abcdefghij", Limits{-1, 4}, Tail, "…(6 bytes truncated from head)…\nghij",
			Cut{Unit: UnitBytes, Lines: Span{1, 1}, Bytes: Span{10, 4}}},
		{"tail at a rune boundary", "aéé", Limits{-1, 3}, Tail, "…(3 bytes truncated from head)…\né",
			Cut{Unit: UnitBytes, Lines: Span{1, 1}, Bytes: Span{5, 2}}},
		{"tail strips leading U+FFFD", "xxxx\uFFFD\uFFFDok\uFFFD", Limits{-1, 11}, Tail, "…(10 bytes truncated from head)…\nok\uFFFD",
			Cut{Unit: UnitBytes, Lines: Span{1, 1}, Bytes: Span{15, 5}}},
		{"both by lines", lines(9), Limits{4, -1}, HeadTail, "line 1\nline 2\n…(5 lines truncated from middle)…\nline 8\nline 9\n",
			Cut{Unit: UnitLines, Lines: Span{9, 4}, Bytes: Span{63, 28}}},
		{"both by bytes", lines(9), Limits{-1, 30}, HeadTail, "line 1\nline 2\n…(35 bytes truncated from middle)…\nline 8\nline 9\n",
			Cut{Unit: UnitBytes, Lines: Span{9, 4}, Bytes: Span{63, 28}}},
		{"both of one line", "0123456789", Limits{-1, 5}, HeadTail, "012\n…(5 bytes truncated from middle)…\n89",
			Cut{Unit: UnitBytes, Lines: Span{1, 1}, Bytes: Span{10, 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Text(c.in, c.lim, c.keep)
			if d := cmp.Diff(c.want, r.Text()); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.cut, r.Cut); d != "" {
				t.Errorf("cut (-want +got):\n%s", d)
			}
		})
	}
}

func TestO1_Defaults(t *testing.T) {
	if got := (Limits{}).Resolve(); got != (Limits{2000, 50 * 1024}) {
		t.Errorf("defaults %+v", got)
	}
	if (Limits{}).Fits(strings.Repeat("\n", 2001)) || !(Limits{}).Fits(strings.Repeat("\n", 2000)) {
		t.Error("2000 lines must fit, 2001 must not")
	}
	if (Limits{}).Fits(strings.Repeat("x", 51201)) || !(Limits{}).Fits(strings.Repeat("x", 51200)) {
		t.Error("51200 bytes must fit, 51201 must not")
	}
	var c Cutter
	fmt.Fprint(&c, lines(2500))
	if got := c.Result().Cut.String(); got != "2000 of 2500 lines kept" {
		t.Errorf("cut says %q", got)
	}
}

func TestO2_MinTakesTheTighterLimit(t *testing.T) {
	for _, c := range []struct{ a, b, want Limits }{
		{Limits{}, Limits{}, Limits{2000, 51200}},
		{Limits{-1, -1}, Limits{}, Limits{2000, 51200}},
		{Limits{10, -1}, Limits{-1, 99}, Limits{10, 99}},
		{Limits{10, 10000}, Limits{0, 11000}, Limits{10, 10000}},
		{Limits{-5, -1}, Limits{-1, -7}, Limits{-1, -1}},
	} {
		if got := c.a.Min(c.b); got != c.want {
			t.Errorf("%v.Min(%v) = %v, want %v", c.a, c.b, got, c.want)
		}
		if got := c.b.Min(c.a); got != c.want {
			t.Errorf("%v.Min(%v) = %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

func TestO5_TailBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"hello", 0, "hello"}, {"hello", -1, "hello"}, {"hello", 5, "hello"}, {"", 3, ""},
		{"hello", 3, "…(2 bytes truncated from head)…\nllo"},
		{"😀😀", 5, "…(4 bytes truncated from head)…\n😀"},
		{"😀", 1, "…(4 bytes truncated from head)…\n"},
		{strings.Repeat("x\n", 5000), 4, "…(9996 bytes truncated from head)…\nx\nx\n"},
	} {
		if got := TailBytes(c.in, c.max); got != c.want {
			t.Errorf("TailBytes(%.20q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func TestO4_Entries(t *testing.T) {
	in := []int{1, 2, 3, 4}
	got, cut := Entries(in, 3)
	if d := cmp.Diff([]int{1, 2, 3}, got); d != "" || cut.String() != "3 of 4 entries kept" || cut.Dropped() != 1 {
		t.Errorf("Entries: %v %q", got, cut.String())
	}
	for _, limit := range []int{0, -1, 4, 9} {
		if got, cut := Entries(in, limit); len(got) != 4 || cut.Truncated() {
			t.Errorf("Entries with limit %d cut to %v", limit, got)
		}
	}
}

// texts draws texts of short and long lines, ASCII or not, valid or not.
func texts(valid bool) *rapid.Generator[string] {
	pieces := []string{"a", "\n", "\n", "é", "漢", "😀", "\uFFFD", "word ", strings.Repeat("=", 30), "\r\n"}
	if !valid {
		pieces = append(pieces, "\xff", "\xe6\xbc", "\x80\x80\x80\x80\x80", "\xf0\x9f")
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
	})
}

func limits(t *rapid.T) Limits {
	return Limits{Lines: rapid.IntRange(-1, 12).Draw(t, "lines"), Bytes: rapid.IntRange(-1, 90).Draw(t, "bytes")}
}

func keeps(t *rapid.T) Keep { return rapid.SampledFrom([]Keep{Head, Tail, HeadTail}).Draw(t, "keep") }

func TestO1_TextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		valid := rapid.Bool().Draw(t, "valid")
		s, lim, keep := texts(valid).Draw(t, "s"), limits(t), keeps(t)
		r, full := Text(s, lim, keep), lim.Resolve()
		if r.Cut.Truncated() == lim.Fits(s) {
			t.Fatalf("cut %v although fits=%v", r.Cut, lim.Fits(s))
		}
		if !r.Cut.Truncated() {
			if r.Text() != s {
				t.Fatalf("a text that fits was changed: %q", r.Text())
			}
			return
		}
		if !strings.HasPrefix(s, r.Head) || !strings.HasSuffix(s, r.Tail) || len(r.Head)+len(r.Tail) > len(s) {
			t.Fatalf("head %q and tail %q are not ends of %q", r.Head, r.Tail, s)
		}
		if (keep == Head && r.Tail != "") || (keep == Tail && r.Head != "") {
			t.Fatalf("%v kept %q and %q", keep, r.Head, r.Tail)
		}
		if n := len(r.Head) + len(r.Tail); full.Bytes >= 0 && n > full.Bytes {
			t.Fatalf("%d bytes kept of a budget of %d", n, full.Bytes)
		}
		if n := countLines(r.Head) + countLines(r.Tail); full.Lines >= 0 && n > int64(full.Lines) {
			t.Fatalf("%d lines kept of a budget of %d", n, full.Lines)
		}
		if valid && !utf8.ValidString(r.Text()) {
			t.Fatalf("a character was cut: %q", r.Text())
		}
		if keep != Head && r.Cut.Unit == UnitBytes && full.Lines < 0 && strings.HasPrefix(r.Tail, "\uFFFD") {
			t.Fatalf("tail begins with U+FFFD: %q", r.Tail)
		}
		if r.Cut.Dropped() <= 0 || r.Cut.Bytes.Kept >= r.Cut.Bytes.Total {
			t.Fatalf("cut %+v says that nothing was lost", r.Cut)
		}
		if keep == Head && full.Bytes > 3 && r.Cut.Unit == UnitBytes && len(r.Head) < full.Bytes/2-utf8.UTFMax {
			t.Fatalf("only %d of %d bytes used", len(r.Head), full.Bytes)
		}
	})
}

// The streamed cut is the same as the whole one, whatever the pieces.
func TestO1_CutterEqualsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, lim, keep := texts(false).Draw(t, "s"), limits(t), keeps(t)
		c := Cutter{Limits: lim, Keep: keep}
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if got, err := c.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatalf("Write = %d, %v", got, err)
			}
			rest = rest[n:]
			if written := s[:len(s)-len(rest)]; rapid.Bool().Draw(t, "peek") {
				if d := cmp.Diff(Text(written, lim, keep), c.Result()); d != "" {
					t.Fatalf("in between (-whole +streamed):\n%s", d)
				}
			}
		}
		if d := cmp.Diff(Text(s, lim, keep), c.Result()); d != "" {
			t.Fatalf("(-whole +streamed):\n%s", d)
		}
		if full := lim.Resolve(); full.Bytes >= 0 && cap(c.head)+cap(c.tail) > 8*full.Bytes+64 {
			t.Fatalf("%d bytes held for a limit of %d", cap(c.head)+cap(c.tail), full.Bytes)
		}
	})
}

func FuzzTailBytes(f *testing.F) {
	for _, s := range []string{"", "abc", "é\xff\n", strings.Repeat("漢", 9)} {
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := TailBytes(s, n)
		if n <= 0 || len(s) <= n {
			if got != s {
				t.Fatalf("changed without need: %q", got)
			}
			return
		}
		marker, tail, ok := strings.Cut(got, ")…\n")
		var dropped int
		if _, err := fmt.Sscanf(marker, "…(%d bytes truncated from head", &dropped); err != nil || !ok {
			t.Fatalf("no marker in %q: %v", got, err)
		}
		if len(tail) > n || !strings.HasSuffix(s, tail) || dropped != len(s)-len(tail) {
			t.Fatalf("tail %q of %q, dropped %d, max %d", tail, s, dropped, n)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(tail) || strings.HasPrefix(tail, "\uFFFD")) {
			t.Fatalf("tail %q does not begin with a whole character", tail)
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("some line of command output, not short\n", 1<<20/39)
	for _, keep := range []Keep{Head, Tail, HeadTail} {
		b.Run(keep.String(), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Text(s, Limits{}, keep)
			}
		})
	}
}

func BenchmarkCutter(b *testing.B) {
	p := []byte(strings.Repeat("some line of command output, not short\n", 4096/39))
	for _, keep := range []Keep{Head, Tail, HeadTail} {
		b.Run(keep.String(), func(b *testing.B) {
			c := Cutter{Keep: keep}
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				c.Write(p)
			}
		})
	}
}
