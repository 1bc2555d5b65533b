package glob

import (
	"os"
	"strings"
	"testing"
)

// rows reads "a | b | yes" lines. Blanks around the separators belong to the table, others to the row.
func rows(t *testing.T, file string) [][3]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][3]string
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 3 {
			t.Fatalf("%s: %q has not three columns", file, line)
		}
		out = append(out, [3]string{unescape.Replace(f[0]), f[1], f[2]})
	}
	if len(out) < 20 {
		t.Fatalf("%s has only %d rows", file, len(out))
	}
	return out
}

func TestF6_Ignore(t *testing.T) {
	for _, r := range rows(t, "testdata/ignore.txt") {
		var tree Tree
		tree.Add(".gitignore", []byte(r[0]))
		path, dir := strings.CutSuffix(r[1], "/")
		if got := tree.Ignored(path, dir); got != (r[2] == "yes") {
			t.Errorf("%q on %q = %v, want %s", r[0], r[1], got, r[2])
		}
	}
}

func TestF6_Path(t *testing.T) {
	for _, r := range rows(t, "testdata/path.txt") {
		got, err := Match(r[0], r[1])
		if err != nil {
			t.Error(err)
		}
		if got != (r[2] == "yes") {
			t.Errorf("%q on %q = %v, want %s", r[0], r[1], got, r[2])
		}
	}
}

func TestErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"a[b":                       `glob "a[b": class is not closed with "]" at byte 1`,
		"a{b,c":                     `glob "a{b,c": "{" is not closed at byte 1`,
		"a}":                        `glob "a}": "}" without "{" (write "\}" for the character) at byte 1`,
		`ab\`:                       `glob "ab\\": nothing follows "\" at byte 2`,
		"x[z-a]":                    `glob "x[z-a]": range is upside down at byte 2`,
		"[[:what:]]":                `glob "[[:what:]]": no class has the name "what" at byte 1`,
		strings.Repeat("{a,b}", 12): "braces multiply out to more than 1024 alternatives",
		strings.Repeat("{a,b}", 9) + strings.Repeat("?a", 9000): "braces multiply out",
		strings.Repeat("a", 70000):                              "pattern is longer than 64 KiB",
		strings.Repeat("{", 40):                                 "braces are nested too deeply",
	} {
		_, err := Compile(pattern, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", pattern, err, want)
		}
	}
	if _, err := NewOverrides([]string{"!/a["}, false); err == nil || !strings.Contains(err.Error(), "byte 2") {
		t.Errorf("override error: %v", err)
	}
}

func TestIgnoreProblems(t *testing.T) {
	ig := ParseIgnore("x/.gitignore", []byte("ok\n\nbad[\n"), false)
	if len(ig.Rules()) != 2 || ig.Rules()[1].Problem == "" || ig.Rules()[1].Line != 3 {
		t.Errorf("rules %+v", ig.Rules())
	}
	if r := ig.Match("a/ok", false); r == nil || r.Line != 1 || r.Source != "x/.gitignore" {
		t.Errorf("rule %+v", r)
	}
}

func TestBelowAndDir(t *testing.T) {
	for _, r := range []struct {
		pattern, dir string
		below        bool
		start        string
	}{
		{"drivers/net/**/*.h", "drivers", true, "drivers/net"},
		{"drivers/net/**/*.h", "drivers/net/a/b", true, "drivers/net"},
		{"drivers/net/**/*.h", "drivers/usb", false, "drivers/net"},
		{"drivers/net/**/*.h", "driver", false, "drivers/net"},
		{"**/*.c", "any/where", true, ""},
		{"*/x", "a", true, ""},
		{"*/x", "a/b", false, ""},
		{"a/b.c", "a", true, "a"},
		{"a/b.c", "a/b", false, "a"},
		{"{a/b,a/c}/x", "a/c", true, "a"},
		{"{a/b,a/c}/x", "a/d", false, "a"},
		{"a/*/**/c", "a/q/r/s", true, "a"},
		{"a/*/c", "a/q/r", false, "a"},
	} {
		p, err := Compile(r.pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Below(r.dir) != r.below || p.Dir() != r.start {
			t.Errorf("%s in %s: below %v, dir %q, want %v %q", r.pattern, r.dir, p.Below(r.dir), p.Dir(), r.below, r.start)
		}
	}
}

// Precedence of kinds and of repositories, as ripgrep has it.
func TestF6_Stack(t *testing.T) {
	ig := func(lines string) *Ignore { return ParseIgnore("f", []byte(lines), false) }
	var none *Stack
	if !none.Empty() || none.Match("a", false) != nil || none.InRepo() {
		t.Error("a nil stack has rules")
	}
	top := none.Push(0, DirFiles{Repo: true, Git: ig("*.o\n*.log\n"), Exclude: ig("*.tmp\n*.log\n"), Global: ig("*~\n!x.tmp\n")})
	sub := top.Push(4, DirFiles{Git: ig("!keep.o\n"), Dot: ig("*.c\n!a.o")})
	nested := sub.Push(8, DirFiles{Repo: true, Git: ig("only\n")})
	if top.Push(4, DirFiles{Git: ig("# nothing\n")}) != top {
		t.Error("a file without rules made a new stack")
	}
	for _, r := range []struct {
		s    *Stack
		path string
		want string
	}{
		{top, "a.o", "ignore"},
		{top, "x.tmp", "ignore"}, // the exclude file stands before the user's excludes
		{top, "x~", "ignore"},
		{sub, "sub/keep.o", "include"},
		{sub, "sub/a.o", "include"}, // .ignore stands before .gitignore
		{sub, "sub/b.o", "ignore"},
		{sub, "sub/x.c", "ignore"},
		{nested, "sub/nes/b.o", ""}, // another repository: git's files of the outer one end here
		{nested, "sub/nes/x~", ""},
		{nested, "sub/nes/x.c", "ignore"}, // .ignore does not end
		{nested, "sub/nes/only", "ignore"},
	} {
		got := ""
		if m := r.s.Match(r.path, false); m != nil {
			got = map[bool]string{true: "include", false: "ignore"}[m.Include]
		}
		if got != r.want {
			t.Errorf("%s: %q, want %q", r.path, got, r.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, path := range []string{"a/b.c", "a*b", "[x]/{y,z}", `b\s`, "app/[id]/page.tsx"} {
		if ok, err := Match(Quote(path), path); !ok || err != nil {
			t.Errorf("Quote(%q) = %q: %v %v", path, Quote(path), ok, err)
		}
	}
}
