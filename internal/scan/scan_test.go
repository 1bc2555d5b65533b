package scan

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plain is the definition: package regexp on one line after another. It returns the numbers of the matching lines.
func plain(t testing.TB, pattern string, opt Options, text string) []int {
	tr := &translator{in: pattern, empty: true}
	if err := tr.translate(opt.Literal); err != nil {
		t.Fatal(err)
	}
	expr := "(?:" + tr.out.String() + ")"
	switch {
	case opt.Line:
		expr = "^" + expr + "$"
	case opt.Word:
		expr = "(?:^|[^" + wordBody + "])" + expr + "(?:$|[^" + wordBody + "])"
	}
	flags := "(?m"
	if opt.Fold {
		flags += "i"
	}
	re, err := regexp.Compile(flags + ")" + expr)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	var out []int
	n := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		n++
		if line == "" {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		// Either form of a line end: with and without "\r".
		if re.MatchString(line) || strings.HasSuffix(line, "\r") && re.MatchString(strings.TrimSuffix(line, "\r")) {
			out = append(out, n)
		}
	}
	return out
}

// fast returns the line numbers that a scanner finds.
func fast(s *Scanner, text string) []int {
	var out []int
	b := []byte(text)
	s.Lines(b, func(l Line) bool {
		out = append(out, 1+bytes.Count(b[:l.Start], newline))
		return true
	})
	return out
}

func TestLines(t *testing.T) {
	for _, r := range []struct {
		pattern string
		opt     Options
		text    string
		want    []int
	}{
		{"b", Options{}, "abc\nxyz\nb", []int{1, 3}},
		{"^b", Options{}, "ab\nba\r\nb", []int{2, 3}},
		{"b$", Options{}, "ab\nbab\r\nb\rx\nb", []int{1, 2, 4}},
		{"^$", Options{}, "a\n\n\r\nb\n", []int{2, 3}},
		{"^", Options{}, "a\n\nb", []int{1, 2, 3}},
		{`\w+`, Options{}, "-\né\n", []int{2}},
		{`\bé`, Options{}, "é x\nxé\n", []int{1}},
		{`x\b`, Options{}, "xé\nx-\n", []int{2}},
		{`\Bb\B`, Options{}, "abc\na b c\nébé\n", []int{1, 3}},
		{`a.c`, Options{}, "abc\na\xffc\naéc\na\xc3\xa9\xffc\n", []int{1, 2, 3}},
		{`a[^b]c`, Options{}, "abc\na\xffc\naéc\n", []int{2, 3}},
		{`caf. x`, Options{}, "caf\xe9 x\n", []int{1}},
		{"kelvin", Options{Fold: true}, "KELVIN\n\u212Aelvin\nkelvon\n", []int{1, 2}},
		{"string", Options{Fold: true}, "\u017Ftring\nSTRING\n", []int{1, 2}},
		{"ss", Options{Fold: true}, "\u017F\u017F\nsS\n", []int{1, 2}},
		{"foo", Options{Word: true}, "foo\nfoob\néfoo\nfooé\n-foo-\nfoofoo foo\n", []int{1, 5, 6}},
		{"-foo", Options{Word: true}, "x-foo\na -foo b\n", []int{2}},
		{"min|minimum", Options{Word: true}, "a minimum b\nminim\nmin\n", []int{1, 3}},
		{"ab", Options{Line: true}, "ab\nab \nab\r\nxab\n", []int{1, 3}},
		{"a.b", Options{Literal: true}, "axb\na.b\n", []int{2}},
		{"", Options{}, "a\n\nb", []int{1, 2, 3}},
		{"[\n;]", Options{}, "a\n;\n", []int{2}},
		{`[\s\S]x`, Options{}, "ax\n\nx\n", []int{1}},
		{`[\W]x`, Options{}, "ax\n-x\néx\n", []int{2}},
		{`[^\W]x`, Options{}, "ax\n-x\néx\n", []int{1, 3}},
		{`\d`, Options{}, "a\n٣\n3\n", []int{2, 3}},
		{`a\sb`, Options{}, "a\u00a0b\na b\nab\n", []int{1, 2}},
		{`\u00e9\x{41}`, Options{}, "éA\n", []int{1}},
		{"interface{}", Options{}, "x interface{}\ninterface\n", []int{1}},
		{`a{,3}`, Options{}, "aaa\na{,3}\n", []int{2}},
		{"Foo", Options{Smart: true}, "foo\nFoo\n", []int{2}},
		{"foo", Options{Smart: true}, "foo\nFoo\n", []int{1, 2}},
		{`\Sfoo`, Options{Smart: true}, "xfoo\nxFOO\n", []int{1, 2}},
		{"(?i:fo)Ob", Options{}, "foOb\nFOOb\nfoob\n", []int{1, 2}},
		{"(?i)[s]x", Options{}, "\u017Fx\n", []int{1}},
	} {
		p, err := Compile(r.pattern, r.opt)
		if err != nil {
			t.Errorf("%q: %v", r.pattern, err)
			continue
		}
		s := p.NewScanner()
		if got := fast(s, r.text); !slices.Equal(got, r.want) {
			t.Errorf("%q %+v on %q: lines %v, want %v", r.pattern, r.opt, r.text, got, r.want)
		}
		// The same inside a buffer that is large enough for four lanes.
		pad := strings.Repeat("~\n", 3000)
		var want []int
		for _, n := range r.want {
			want = append(want, n+3000)
		}
		got := fast(s, pad+r.text)
		got = slices.DeleteFunc(got, func(n int) bool { return n <= 3000 })
		if !slices.Equal(got, want) {
			t.Errorf("%q %+v in lanes: lines %v, want %v", r.pattern, r.opt, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, r := range []struct {
		pattern, want, text string
		pcre                bool
	}{
		{"foo(", `pattern "foo(": "(" is not closed (write "\(" for the character) at byte 3`, "foo(", false},
		{`a\.b(`, `at byte 4`, "a.b(", false},
		{"foo)", `")" without "("`, "foo)", false},
		{"a[b", `"[" is not closed (write "\[" for the character) at byte 1`, "a[b", false},
		{"[", "at byte 0", "[", false},
		{"*x", `nothing stands before "*" that could be repeated (write "\\*" for the character) at byte 0`, "*x", false},
		{"a|+", "at byte 2", "a|+", false},
		{"(?=a)b", "look-ahead is not supported", "(?=a)b", true},
		{"a(?<!b)", "look-behind is not supported by this engine at byte 1", "a(?<!b)", true},
		{`(a)\1`, "a back-reference is not supported by this engine at byte 3", `(a)\1`, true},
		{`a\Kb`, `the escape "\\K"`, `a\Kb`, true},
		{`ab\`, `nothing follows "\" (write "\\" for the character) at byte 2`, `ab\`, false},
		{"a**", `"**" repeats a repetition at byte 1`, "a**", false},
		{"b[z-a]", `invalid character class range "z-a" at byte 2`, "b[z-a]", false},
		{"x{2000}", `invalid repeat count "{2000}" at byte 1`, "x{2000}", false},
		{`(\w{500}){500}`, "", "", false},
		{"\xff", "not valid UTF-8", "\xff", false},
		{`\p{Nope}`, `Unicode has no class "\\p{Nope}" at byte 0`, "", false},
		{`\uZZ`, "needs hexadecimal digits", "", false},
	} {
		_, err := Compile(r.pattern, Options{})
		e, ok := err.(*Error)
		if !ok || !strings.Contains(e.Error(), r.want) || e.PCRE != r.pcre || r.text != "" && e.Text != r.text {
			t.Errorf("%q: %v (%+v)", r.pattern, err, e)
		}
	}
	p, err := Compile("interface{}", Options{})
	if err != nil || len(p.Notes) != 1 {
		t.Errorf("notes %v %v", p.Notes, err)
	}
	if p, err = Compile(`a\nb`, Options{}); err != nil || !p.Multiline || len(p.Notes) != 1 {
		t.Errorf("a line end in the pattern: %+v %v", p, err)
	}
}

func TestBlocks(t *testing.T) {
	for _, r := range []struct {
		pattern string
		opt     Options
		text    string
		want    string
	}{
		{`a\nb`, Options{}, "x\na\nb\ny", "2-3"},
		{`a.b`, Options{Multiline: true}, "a\nb\naxb", "3-3"},
		{`a.b`, Options{Multiline: true, DotAll: true}, "a\nb\naxb", "1-2 3-3"},
		{`b\n`, Options{}, "b\nb\nc", "1-1 2-2"},
		{"a$\n^b", Options{}, "a\r\nb\n", "1-2"},
		{`a$`, Options{Multiline: true}, "a\r\nb\na", "1-1 3-3"},
		{`c\nd|e`, Options{}, "c\nd e\ne", "1-2 3-3"},
		{`\w+\s+\w+`, Options{Multiline: true}, "a\n\nb\n", "1-3"},
		{"x", Options{Multiline: true}, "nothing", ""},
		{"a\nb", Options{Literal: true}, "a\nb", "1-2"},
		{`\Aa`, Options{Multiline: true}, "a\na\n", "1-1"},
		{`foo\nbar`, Options{Word: true}, "foo\nbarx\nfoo\nbar\n", "3-4"},
		{`^$`, Options{Multiline: true}, "a\n\nb\n", "2-2"},
	} {
		p, err := Compile(r.pattern, r.opt)
		if err != nil {
			t.Errorf("%q: %v", r.pattern, err)
			continue
		}
		var got []string
		p.NewScanner().Blocks([]byte(r.text), func(l Line) bool {
			line := func(at int) int { return 1 + strings.Count(r.text[:at], "\n") }
			got = append(got, fmt.Sprintf("%d-%d", line(l.Start), line(l.End)))
			return true
		})
		if strings.Join(got, " ") != r.want {
			t.Errorf("%q %+v on %q: %q, want %q", r.pattern, r.opt, r.text, got, r.want)
		}
	}
}

func TestSpans(t *testing.T) {
	for _, r := range []struct {
		pattern string
		opt     Options
		line    string
		want    string
	}{
		{"a+", Options{}, "aa b a", "[[0 2] [5 6]]"},
		{"as", Options{Word: true}, "as as, xas as", "[[0 2] [3 5] [11 13]]"},
		{"^a", Options{}, "aaa", "[[0 1]]"},
		{"b$", Options{}, "b b\r", "[[2 4]]"},
		{"x*", Options{}, "axa", "[[1 2]]"},
		{"ab", Options{Line: true}, "ab", "[[0 2]]"},
	} {
		p, err := Compile(r.pattern, r.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.NewScanner().Spans([]byte(r.line))); got != r.want {
			t.Errorf("%q on %q: %s, want %s", r.pattern, r.line, got, r.want)
		}
	}
}

// A pattern whose automaton is far larger than the cache still gives the right lines, by emptying it and then by giving
// it up.
func TestStateExplosion(t *testing.T) {
	pattern := `(a|b)*a(a|b){14}c`
	p, err := Compile(pattern, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	x := uint32(1)
	for range 300 {
		for range 100 {
			x = x*1664525 + 1013904223
			text.WriteByte("ab"[x>>31])
		}
		if x&0x1000000 != 0 {
			text.WriteByte('c')
		}
		text.WriteByte('\n')
	}
	p.needles = nil
	s := p.NewScanner()
	want := plain(t, pattern, Options{}, text.String())
	for range 4 {
		if got := fast(s, text.String()); !slices.Equal(got, want) {
			t.Fatalf("%d lines, want %d (%d resets, slow %v)", len(got), len(want), s.d.resets, s.d.slow)
		}
	}
	if s.d.resets == 0 || !s.d.slow {
		t.Errorf("%d resets, slow %v: the test does not test what it says", s.d.resets, s.d.slow)
	}
}

// The packed pair equals bytes.Index at every length and position around the widths of the registers.
func TestPropertyIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hay := rapid.StringMatching(`[abkAB]{0,200}`).Draw(t, "hay")
		needle := rapid.StringMatching(`[abA]{1,5}`).Draw(t, "needle")
		fold := rapid.Bool().Draw(t, "fold")
		h, n := hay, needle
		if fold {
			h, n = strings.ToLower(hay), strings.ToLower(needle)
		}
		want := strings.Index(h, n)
		l := newLiteral(needle, fold)
		// The slice has nothing behind it that may be read.
		if got := l.index([]byte(hay)[:len(hay):len(hay)], 0); got != want {
			t.Fatalf("index %d, want %d", got, want)
		}
		if n := len(hay) - len(needle) + 1; n > 0 {
			got := l.findPairPortable([]byte(hay)[l.i:], n)
			if fastP := l.findPair([]byte(hay)[l.i:], n); got != fastP {
				t.Fatalf("portable %d, packed %d", got, fastP)
			}
		}
	})
}

// Beginnings of lines are found at every length around the width of a register.
func TestPropertyHeads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(a|z|\n|\t|bbbbbbbbbb|\n\xff){0,40}`).Draw(t, "text")
		b := []byte(text)[:len(text):len(text)]
		lo := rapid.Byte().Draw(t, "lo")
		hi := max(lo, rapid.Byte().Draw(t, "hi"))
		if got, want := nextHead(b, lo, hi), nextHeadPortable(b, lo, hi); got != want {
			t.Fatalf("%q from %d to %d: %d, want %d", text, lo, hi, got, want)
		}
	})
}

var (
	genExpr = rapid.StringMatching(`(a|b|ab|aab|é|\.|\[ab\]|\[\^a\]|a\*|b\+|\(ab\|b\)|\^|\$|a\?|\\w|\\s|-|k|s|\\d| |\(\?:a\|ba\)\{2\}){1,6}`)
	genText = rapid.StringMatching(`((a|b|é|ab|-|k|S|K| |_|1|ſ|aab|\r){0,6}\n){0,6}[ab]{0,3}`)
)

// The fast way equals the plain one.
func TestPropertyLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{
			Fold: rapid.Bool().Draw(t, "fold"), Word: rapid.Bool().Draw(t, "word"), Literal: rapid.Bool().Draw(t, "literal"),
		}
		pattern, text := genExpr.Draw(t, "pattern"), genText.Draw(t, "text")
		if strings.Contains(strings.TrimSuffix(pattern, "$"), "$") {
			text = strings.ReplaceAll(text, "\r", "") // what "$" in the middle means there is nobody's business
		}
		checkPlain(t, pattern, opt, text)
	})
}

func checkPlain(t interface{ Fatalf(string, ...any) }, pattern string, opt Options, text string) {
	p, err := Compile(pattern, opt)
	if err != nil || p.Multiline {
		return
	}
	want := plain(fatal{nil, t}, pattern, opt, text)
	s := p.NewScanner()
	if got := fast(s, text); !slices.Equal(got, want) {
		t.Fatalf("%q %+v on %q: lines %v, want %v", pattern, opt, text, got, want)
	}
	p2 := *p
	p2.needles, p2.pure = nil, false
	s = p2.NewScanner()
	big := strings.Repeat("~~\n", 1600)
	got := slices.DeleteFunc(fast(s, big+text), func(n int) bool { return n <= 1600 })
	for i := range got {
		got[i] -= 1600
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q %+v on %q in lanes: lines %v, want %v", pattern, opt, text, got, want)
	}
	s.d.slow = true
	if got := fast(s, text); !slices.Equal(got, want) {
		t.Fatalf("%q %+v on %q simulated: lines %v, want %v", pattern, opt, text, got, want)
	}
}

// fatal lets plain report through rapid.
type fatal struct {
	testing.TB
	t interface{ Fatalf(string, ...any) }
}

func (f fatal) Fatalf(format string, args ...any) { f.t.Fatalf(format, args...) }
func (f fatal) Fatal(args ...any)                 { f.t.Fatalf("%v", args) }

// Blocks equals package regexp on the whole text.
func TestPropertyBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`(a|b|ab|\n|a\*|b\+|\(ab\|b\n\)|\^|\$|a\?|\\w|\\s\*|\[\^a\]|\.\*\?|\\s\+|x\*|\\A){1,5}`).Draw(t, "pattern")
		text := rapid.StringMatching(`((a|b|ab| |x|aab){0,5}\n){0,6}[ab]{0,3}`).Draw(t, "text")
		checkBlocks(t, pattern, Options{Multiline: true, DotAll: rapid.Bool().Draw(t, "all")}, text)
	})
}

func checkBlocks(t interface{ Fatalf(string, ...any) }, pattern string, opt Options, text string) {
	p, err := Compile(pattern, opt)
	if err != nil {
		return
	}
	flags := "(?m)"
	if opt.DotAll {
		flags = "(?ms)"
	}
	b := []byte(text)
	want := ""
	for _, m := range regexp.MustCompile(flags+p.expr).FindAllIndex(b, -1) {
		if !afterLast(b, [2]int{m[0], m[1]}) {
			want += fmt.Sprintln(m[0], m[1])
		}
	}
	got := ""
	s := p.NewScanner()
	s.matches(b, func(m [2]int) bool {
		got += fmt.Sprintln(m[0], m[1])
		return true
	})
	if got != want {
		t.Fatalf("%q %+v on %q:\n%swant\n%s", pattern, opt, text, got, want)
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("a.*\nb", "aa\nbb\n", false)
	f.Add(`\w+\(\s*\n`, "f(\n)\n g(x)", false)
	f.Add(`x[^y]*y|z$`, "xaz\nby\n", true)
	f.Fuzz(func(t *testing.T, pattern, text string, all bool) {
		if len(pattern) > 60 || strings.Contains(text, "\r") || strings.ContainsAny(pattern, "\r\x00{") || strings.Contains(pattern, `\r`) {
			return
		}
		checkBlocks(t, pattern, Options{Multiline: true, DotAll: all}, text)
	})
}

func FuzzLines(f *testing.F) {
	f.Add(`a(b|c)*d`, "abcd\nabx\r\nad", byte(0))
	f.Add(`\w+é\s`, "éé é\n\xff\n", byte(1))
	f.Add("k.{2}s$", "K..S\nkaſ\n", byte(2))
	f.Add("[^a]b", "\xffb\n\xc3b\n", byte(0))
	f.Fuzz(func(t *testing.T, pattern, text string, flags byte) {
		// Package regexp knows no Unicode word edges, and "\r" has more than one reading for "$" in odd places.
		if len(pattern) > 60 || strings.Contains(pattern, "\\") && strings.ContainsAny(pattern, "bB<>") || strings.Contains(text, "\r") {
			return
		}
		if strings.ContainsAny(pattern, "\r\x00") || strings.Contains(pattern, `\r`) || strings.Contains(pattern, "{") {
			return
		}
		checkPlain(t, pattern, Options{Fold: flags&1 != 0, Word: flags&2 != 0, Literal: flags&4 != 0, Line: flags&8 != 0}, text)
	})
}

var benchText = func() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "static int foo_%d(struct bar *b, unsigned long x)\n{\n\tif (x > %d)\n\t\treturn -EINVAL;\n\treturn b->n;\n}\n\n", i, i*7)
	}
	return b.Bytes()
}

func BenchmarkLines(b *testing.B) {
	text := benchText()
	for _, pattern := range []string{"rcu_barrier", "mutex_(un)?lock|kfree", "[A-Z]{5}[0-9]{4}[a-z]", `(?:if|while) \(.*err.*\)`, `\w+\s+\w+\s*=\s*\w+\(`, `\bktime_get\b`} {
		for _, opt := range []Options{{}, {Fold: true}} {
			p, err := Compile(pattern, opt)
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewScanner()
			b.Run(fmt.Sprintf("%s/fold=%v", pattern, opt.Fold), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.Any(text)
				}
			})
		}
	}
}
