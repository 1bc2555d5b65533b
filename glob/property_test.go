package glob

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/words"
)

// plainMatch is the definition, by recursion over tokens and without any of the short cuts.
func plainMatch(d dialect, toks []tok, s string, start bool) bool {
	if len(toks) == 0 {
		return s == ""
	}
	t, rest := toks[0], toks[1:]
	whole := t.kind == tStar && t.n >= 2 && start && (len(rest) == 0 || rest[0].kind == tSlash)
	switch {
	case whole && len(rest) == 0:
		return true
	case whole:
		// nothing or components up to a "/"
		for i := 0; ; {
			if plainMatch(d, rest[1:], s[i:], true) {
				return true
			}
			j := strings.IndexByte(s[i:], '/')
			if j < 0 {
				// "a/**/" and the directory itself
				return d.topOfTree && len(rest) == 1
			}
			i += j + 1
		}
	case t.kind == tStar:
		for i := 0; ; {
			if plainMatch(d, rest, s[i:], false) {
				return true
			}
			if i == len(s) || s[i] == '/' {
				return false
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
		}
	case t.kind == tSlash:
		// "x/**" also matches "x"
		if d.topOfTree && s == "" && len(rest) > 0 && rest[0].kind == tStar && rest[0].n >= 2 &&
			(len(rest) == 1 || len(rest) == 2 && rest[1].kind == tSlash) {
			return true
		}
		return strings.HasPrefix(s, "/") && plainMatch(d, rest, s[1:], true)
	case t.kind == tLit:
		return strings.HasPrefix(s, t.text) && plainMatch(d, rest, s[len(t.text):], false)
	}
	if s == "" || s[0] == '/' {
		return false
	}
	r, n := utf8.DecodeRuneInString(s)
	return (t.kind == tAny || t.class.match(r, false)) && plainMatch(d, rest, s[n:], false)
}

var (
	genPattern = rapid.StringMatching(`(a|b|\*|\*\*|\?|[.]|c|\[ab\]|\[!a\]|/|/\*\*/|\{a,b\*\}|\{\*\*,a/b\}|é){0,9}`)
	genPath    = rapid.StringMatching(`(a|b|c|[.]|é|/){0,10}`)
)

// The component matcher equals the definition.
func TestPropertyMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern, path := genPattern.Draw(t, "pattern"), genPath.Draw(t, "path")
		checkAgainstPlain(t, pattern, path)
	})
}

func checkAgainstPlain(t interface{ Fatalf(string, ...any) }, pattern, path string) {
	p, err := Compile(pattern, Options{})
	if err != nil {
		return
	}
	d := dialect{topOfTree: true}
	toks, _ := d.parse(pattern)
	lists, _ := expand(toks)
	want := false
	for _, l := range lists {
		want = want || plainMatch(d, collapse(l), path, true)
	}
	if got := p.Match(path); got != want {
		t.Fatalf("%q on %q = %v, want %v", pattern, path, got, want)
	}
	if dir := path[:max(baseAt(path)-1, 0)]; want && (!p.Below(dir) || !strings.HasPrefix(path, p.Dir())) {
		t.Fatalf("%q matches %q but Below(%q) = %v, Dir = %q", pattern, path, dir, p.Below(dir), p.Dir())
	}
}

// collapse makes "**/**/" one, and a trailing "/**/" a trailing "/**", as the package comment has it.
func collapse(l []tok) []tok {
	glob := func(i int) bool {
		return i >= 0 && i < len(l) && l[i].kind == tStar && l[i].n >= 2 && (i == 0 || l[i-1].kind == tSlash) &&
			(i+1 == len(l) || l[i+1].kind == tSlash)
	}
	for i := 0; i < len(l); i++ {
		if glob(i) && glob(i+2) {
			l = append(l[:i:i], l[i+2:]...)
			i--
		}
	}
	if n := len(l); n >= 2 && l[n-1].kind == tSlash && glob(n-2) {
		l = l[:n-1]
	}
	return l
}

// Hashing changes nothing: a long list gives the owner that trying every alternative gives.
func TestPropertyIndex(t *testing.T) {
	line := rapid.StringMatching(`!?/?(a|b|\*|\*\.a|\.b|x|/|\*\*/|\?){1,5}/?`)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 30).Draw(t, "lines")
		path := rapid.StringMatching(`(a|b|x|\.a|\.b|/){1,8}`).Draw(t, "path")
		dir := rapid.Bool().Draw(t, "dir")
		ig := ParseIgnore("f", []byte(strings.Join(lines, "\n")), false)
		want := int32(-1)
		for i := range ig.ix.alts {
			if ig.ix.alts[i].match(path, baseAt(path), dir) {
				want = ig.ix.alts[i].owner
			}
		}
		if got := ig.ix.last(path, baseAt(path), dir); got != want {
			t.Fatalf("%q on %q: rule %d, want %d", lines, path, got, want)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"**/*.{go,mod}", "a[!b-c]/**/", `\{x`, "[[:alpha:]]", "{a,{b,c}}d", "**", "a/**/b*c?d"} {
		f.Add(s, "a/b/c.go", byte(0))
	}
	f.Add("*\xaf", "\u3b6f", byte(2))
	f.Fuzz(func(t *testing.T, pattern, path string, opt byte) { checkCompile(t, pattern, path, opt) })
}

// Any words of the language beside any other.
func TestPropertyCompile(t *testing.T) {
	patterns := []string{"*", "**", "?", "/", "/**/", "**/", "[", "]", "[!", "[^", "[a-b]", "[]a]", "[[:alpha:]]", "[:", ":]", "-", "!", "#", "^", "{", "}", ",", "{a,b}", "{,a}",
		"\\", "\\*", "\\{", "\\\n", ".", "..", "./", "a", "b", "A", "é", "㭯", "\xaf", "\xe3", "\xff", "\ufffd", "e\u0301", "\x00", " ", "\t", "\r", "\n", "K", "\u212a", "ſ", "İ"}
	paths := []string{"/", "a", "b", "A", ".", "..", "a/b", "é", "㭯", "\xaf", "\xe3", "\xff", "\ufffd", "*", "[", "]", "{", "}", ",", "\\", "!", "-", " ", "\n", "\x00", "k", "s", "i"}
	rapid.Check(t, func(t *rapid.T) {
		checkCompile(t, words.Draw(t, patterns), words.Draw(t, paths), rapid.Byte().Draw(t, "options"))
	})
}

func checkCompile(t interface{ Fatalf(string, ...any) }, pattern, path string, opt byte) {
	if p, err := Compile(pattern, Options{Fold: opt&1 != 0, CrossSlash: opt&2 != 0, NoEscape: opt&4 != 0}); err == nil {
		p.Match(path)
		p.Below(path)
		p.Dir()
	} else if e := err.(*Error); e.Offset < 0 || e.Offset > len(pattern) || e.Error() == "" {
		t.Fatalf("%q: offset %d", pattern, e.Offset)
	}
	if len(pattern) < 40 && len(path) < 40 && strings.Count(pattern, "*") < 6 {
		checkAgainstPlain(t, pattern, path)
	}
	if len(path) < 1000 && utf8.ValidString(path) && path != "" {
		if ok, err := Match(Quote(path), path); !ok || err != nil {
			t.Fatalf("Quote(%q) = %q: %v %v", path, Quote(path), ok, err)
		}
	}
	ParseIgnore("f", []byte(pattern), opt&1 != 0).Match(path, opt&2 != 0)
}

func BenchmarkIgnore(b *testing.B) {
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "*.x%d\n/build%d\nname%d\n", i, i, i)
	}
	lines.WriteString("*.o\n.*\n!.gitignore\narch/*/boot/zImage\n")
	ig := ParseIgnore("f", []byte(lines.String()), false)
	for b.Loop() {
		ig.Match("drivers/net/ethernet/intel/e1000/e1000_main.c", false)
	}
}

func BenchmarkPattern(b *testing.B) {
	for _, s := range []string{"**/*.c", "drivers/net/**/*.h", "**/*.{ts,tsx,js,jsx,mjs,cjs,vue,svelte}", "**/e*_[lm]ain.?"} {
		p, err := Compile(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				p.Match("drivers/net/ethernet/intel/e1000/e1000_main.c")
			}
		})
	}
}
