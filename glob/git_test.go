package glob

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// F6, F7: random ignore files and paths, decided by git itself.
func TestF6_GitOracle(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: the oracle of ignore rules is missing")
	}
	rnd := rand.New(rand.NewPCG(3, 9))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	checked := 0
	for range rounds {
		g := newGitCase(t, git, rnd)
		got := g.ask(t)
		for _, p := range g.paths {
			checked++
			path, dir := strings.CutSuffix(p, "/")
			if want := got[p]; g.tree.Ignored(path, dir) != want {
				t.Errorf("%q: git says ignored = %v; rules %q, decided by %+v", p, want, g.files, g.tree.Match(path, dir))
			}
		}
		if t.Failed() {
			return
		}
	}
	if checked < 200 {
		t.Fatalf("only %d paths were checked", checked)
	}
}

type gitCase struct {
	git, dir string
	files    map[string]string
	paths    []string
	tree     Tree
}

var (
	parts = []string{"a", "b", "ab", "a.c", ".h", "é", "[", "x y", "-c", "a]", `a\b`, "{a,b}", "A", "7"}
	metas = []string{"*", "**", "?", "[ab]", "[!a]", "[^b-]", "[]a]", "[[:alpha:]]", "[[:digit:]_]", `\a`, `\*`, "[a", "*.c", ".*", "a*", "*b", "{a,b}"}
)

func pick(rnd *rand.Rand, s []string) string { return s[rnd.IntN(len(s))] }

func randomLine(rnd *rand.Rand) string {
	var b strings.Builder
	if rnd.IntN(4) == 0 {
		b.WriteByte('!')
	}
	if rnd.IntN(5) == 0 {
		b.WriteByte('/')
	}
	for i := range 1 + rnd.IntN(3) {
		if i > 0 {
			b.WriteByte('/')
		}
		for range 1 + rnd.IntN(2) {
			if rnd.IntN(2) == 0 {
				b.WriteString(pick(rnd, parts))
			} else {
				b.WriteString(pick(rnd, metas))
			}
		}
	}
	b.WriteString(pick(rnd, []string{"", "", "", "/", " ", `\ `, "\r", "\t", "/**", "  "}))
	return b.String()
}

// quirk are patterns that git 2.39 gets wrong and later versions get right: it compares the literal text in front
// first and then takes a "**" behind it for a whole component.
var quirk = regexp.MustCompile(`[^/!\n]\*\*`)

func newGitCase(t *testing.T, git string, rnd *rand.Rand) *gitCase {
	g := &gitCase{git: git, dir: t.TempDir(), files: map[string]string{}}
	for _, file := range []string{".gitignore", "a/.gitignore", "b/ab/.gitignore", ".git/info/exclude"} {
		var lines []string
		for range rnd.IntN(5) {
			if l := randomLine(rnd); !quirk.MatchString(l) {
				lines = append(lines, l)
			}
		}
		if len(lines) == 0 {
			continue
		}
		g.files[file] = strings.Join(lines, "\n") + "\n"
		g.tree.Add(file, []byte(g.files[file]))
	}
	seen := map[string]bool{}
	for range 40 {
		n := 1 + rnd.IntN(4)
		comps := make([]string, n)
		for i := range comps {
			comps[i] = pick(rnd, parts)
		}
		seen[strings.Join(comps, "/")] = true
	}
	g.command(t, "init", "-q", "-b", "main")
	for file, text := range g.files {
		g.write(t, file, text)
	}
	for p := range seen { // directories where one path is the parent of another; a final "/" marks them
		dir := rnd.IntN(3) == 0
		for q := range seen {
			dir = dir || strings.HasPrefix(q, p+"/")
		}
		if info, err := os.Stat(filepath.Join(g.dir, p)); err == nil {
			dir = info.IsDir()
		}
		if dir {
			if err := os.MkdirAll(filepath.Join(g.dir, p), 0o777); err != nil {
				t.Fatal(err)
			}
			g.paths = append(g.paths, p+"/")
		} else {
			g.write(t, p, "")
			g.paths = append(g.paths, p)
		}
	}
	return g
}

func (g *gitCase) write(t *testing.T, file, text string) {
	full := filepath.Join(g.dir, file)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (g *gitCase) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(g.git, args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+g.dir)
	if args[0] == "init" {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
	}
	return cmd
}

// ask runs git check-ignore over all paths at once.
func (g *gitCase) ask(t *testing.T) map[string]bool {
	cmd := g.command(t, "check-ignore", "--no-index", "-z", "--stdin")
	var in bytes.Buffer
	for _, p := range g.paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git check-ignore: %v", err)
	}
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	answer := map[string]bool{}
	for _, p := range g.paths {
		answer[p] = ignored[strings.TrimSuffix(p, "/")]
	}
	return answer
}
