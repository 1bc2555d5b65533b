package grep

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func exec(t *testing.T, dir string, s Streams, args ...string) (out, errOut string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	s.Out, s.Err, s.Dir = &o, &e, dir
	code = Run(t.Context(), args, s)
	return o.String(), e.String(), code
}

// X2: on a terminal names are headings, lines have numbers, matches are coloured.
func TestX2_Terminal(t *testing.T) {
	dir := tree(t, map[string]string{"a.go": "one\ntwo\nthree\n", "b.go": "two\n"})
	want := "\x1b[35ma.go\x1b[0m\n\x1b[32m2\x1b[0m:\x1b[1m\x1b[31mtwo\x1b[0m\n\n\x1b[35mb.go\x1b[0m\n\x1b[32m1\x1b[0m:\x1b[1m\x1b[31mtwo\x1b[0m\n"
	if got, _, _ := exec(t, dir, Streams{Terminal: true}, "--sort", "path", "two"); got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
	want = "a.go\n1-one\n2:two\n\nb.go\n1:two\n"
	if got, _, _ := exec(t, dir, Streams{Terminal: true, Plain: true}, "--sort", "path", "-B1", "two"); got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
	want = "a.go:2:two\n" // what is asked for wins
	if got, _, _ := exec(t, dir, Streams{Terminal: true}, "--color", "never", "--no-heading", "-g", "a.go", "two"); got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
}

// What acts on a terminal is shown instead of being carried out; a pipe gets the bytes.
func TestX2_ControlCharacters(t *testing.T) {
	dir := tree(t, map[string]string{"evil\x1b[2J.txt": "match \x1b]0;title\x07 \u009b31m end\n", "latin.txt": "match caf\xe9\n"})
	out, _, _ := exec(t, dir, Streams{Terminal: true, Plain: true}, "--sort", "path", "match")
	if strings.ContainsAny(out, "\x1b\x07") || strings.Contains(out, "\u009b") {
		t.Errorf("control characters reach the terminal: %q", out)
	}
	raw, _, _ := exec(t, dir, Streams{}, "--sort", "path", "match")
	if !strings.Contains(raw, "\x1b]0;title\x07") || !strings.Contains(raw, "caf\xe9\n") {
		t.Errorf("the bytes were changed: %q", raw)
	}
}

// Context of several files is separated as in ripgrep.
func TestF7_Context(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x\nhit\ny\nz\nw\nhit\n", "b": "hit\nq\n"})
	want := "a-x\na:hit\na-y\n--\na-w\na:hit\n--\nb:hit\nb-q\n"
	if got, _, _ := exec(t, dir, Streams{}, "--sort", "path", "-C1", "hit"); got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
}

// F13: a person at a terminal is told why nothing may have been found, and how to include it.
func TestF13_Explain(t *testing.T) {
	dir := tree(t, map[string]string{".git/HEAD": "", ".gitignore": "out/\n", "out/x": "needle\n", ".hidden": "needle\n", "bin": "needle\x00", "a": "b\n"})
	out, errOut, code := exec(t, dir, Streams{Explain: true}, "needle")
	want := "Nothing found in 2 files; skipped 1 ignored (-u includes); skipped 2 hidden (-uu includes); skipped 1 binary (-a includes).\n"
	if code != ExitNone || out != "" || errOut != want {
		t.Errorf("exit %d\n%s", code, cmp.Diff(want, errOut))
	}
}

// Many files from several workers: every line comes whole and once.
func TestX2_Workers(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[filepath.Join("d"+string(rune('a'+i%7)), strings.Repeat("f", 1+i/7)+string(rune('a'+i%26)))] = strings.Repeat("line with a needle in it\n", 40)
	}
	dir := tree(t, files)
	for _, args := range [][]string{{"needle"}, {"-n", "needle"}, {"-p", "--color", "never", "needle"}, {"-c", "needle"}} {
		out, _, code := exec(t, dir, Streams{}, args...)
		if n := strings.Count(out, "needle"); code != ExitMatch || args[0] != "-c" && n != 300*40 {
			t.Errorf("%q: exit %d, %d matches", args, code, n)
		}
		for line := range strings.Lines(out) {
			if args[0] == "-n" && strings.Count(line, "needle") != 1 {
				t.Fatalf("a broken line: %q", line)
			}
		}
	}
}

// No command line makes the parser fall over.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"-n\x00x", "-e\x00-x\x00-g\x00!a", "--max-filesize=9999999999999999999G\x00x", "-uuu\x00x", "-C-1\x00x", "--\x00-x", "-m\x000\x00x", "--glob", "-.0q"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		for _, a := range args {
			if strings.HasPrefix(a, "-f") || strings.HasPrefix(a, "--file") {
				return // reads files
			}
		}
		if o, err := parseGrep(args, t.TempDir()); err == nil && (o.grep.MaxSize < 0 || o.grep.Before < 0 || o.grep.After < 0) {
			t.Errorf("%q: %+v", args, o)
		}
		_, _ = parseGlob(args)
	})
}
