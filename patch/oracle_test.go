package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/change"
)

// The oracle tests compare with git and GNU patch. PATCH_ORACLE_CASES sets how many random diffs they make; 200 by default.
func oracleCases(t *testing.T) int {
	n := 200
	if s := os.Getenv("PATCH_ORACLE_CASES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func needs(t *testing.T, programs ...string) {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatalf("this test compares with %s, which is not installed", p)
		}
	}
}

func run(t *testing.T, dir, input, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func must(t *testing.T, dir, input, name string, args ...string) string {
	t.Helper()
	out, err := run(t, dir, input, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// randomText returns lines that repeat often enough to be confusing.
func randomText(r *rand.Rand, lines int) string {
	words := []string{"", "{", "}", "\treturn nil", "alpha", "beta", "gamma", "  delta", "-- sql", "++ x", "# " + strconv.Itoa(r.IntN(50))}
	var b strings.Builder
	for range lines {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(12) == 0 {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
	}
	text := b.String()
	if r.IntN(4) == 0 && text != "" {
		text = strings.TrimRight(text, "\r\n") + "end"
	}
	return text
}

// mutate changes some lines.
func mutate(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + r.IntN(4) {
		i := r.IntN(len(lines))
		switch r.IntN(3) {
		case 0:
			lines[i] = "changed " + strconv.Itoa(r.IntN(9)) + "\n" + lines[i]
		case 1:
			lines = append(lines[:i], lines[min(i+1+r.IntN(3), len(lines)):]...)
			if len(lines) == 0 {
				lines = []string{""}
			}
		default:
			lines[i] = "other " + strconv.Itoa(r.IntN(9)) + "\n"
		}
	}
	return strings.Join(lines, "")
}

var treeNames = []string{"a.txt", "b.txt", "dir/c.go", "dir/d e.txt", "täb\tx", "q\"uote", "z"}

// randomTree returns files and links below /w.
func randomTree(r *rand.Rand) world {
	w := world{}
	for _, name := range treeNames {
		switch r.IntN(8) {
		case 0, 1:
		case 2:
			w[root+"/"+name] = change.State{Type: change.Symlink, Target: "target" + strconv.Itoa(r.IntN(3))}
		default:
			mode := fs.FileMode(0o644)
			if r.IntN(4) == 0 {
				mode = 0o755
			}
			w[root+"/"+name] = change.FileState([]byte(randomText(r, r.IntN(30))), mode)
		}
	}
	return w
}

// evolve returns a later state: changed, moved, copied, deleted and new files, other modes.
func evolve(r *rand.Rand, w world) world {
	out := world{}
	for p, st := range w {
		out[p] = st
	}
	for _, name := range treeNames {
		p := root + "/" + name
		st, ok := out[p]
		text, _ := st.Blob.Bytes()
		switch n := r.IntN(8); {
		case !ok && n < 3:
			out[p] = change.FileState([]byte(randomText(r, r.IntN(20))), 0o644)
		case !ok, st.Type == change.Symlink && n > 2: // links stay or go; a patch into a link is refused
		case n == 0:
			delete(out, p)
		case st.Type == change.Symlink:
		case n == 1:
			st.Mode ^= 0o111
			out[p] = st
		case n == 2 || n == 3:
			to := root + "/moved/" + name
			out[to] = change.FileState([]byte(mutate(r, string(text))), st.Mode)
			if n == 2 {
				delete(out, p)
			}
		case n < 7:
			out[p] = change.FileState([]byte(mutate(r, string(text))), st.Mode)
		}
	}
	return out
}

func writeTree(t *testing.T, dir string, w world) {
	t.Helper()
	for p, st := range w {
		p = filepath.Join(dir, strings.TrimPrefix(p, root+"/"))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if st.Type == change.Symlink {
			err = os.Symlink(st.Target, p)
		} else {
			data, _ := st.Blob.Bytes()
			err = os.WriteFile(p, data, st.Mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot makes the work tree of a repository hold w, and nothing else, and returns the name of the tree in git.
func snapshot(t *testing.T, dir string, w world) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	writeTree(t, dir, w)
	must(t, dir, "", "git", "add", "-A")
	return strings.TrimSpace(must(t, dir, "", "git", "write-tree"))
}

// shown is what git knows of a tree.
func (w world) shown() map[string]string {
	out := map[string]string{}
	for p, st := range w {
		if st.Type == change.Symlink {
			out[p] = "-> " + st.Target
			continue
		}
		data, _ := st.Blob.Bytes()
		out[p] = fmt.Sprintf("%v %s", st.Mode&0o111 != 0, data)
	}
	return out
}

// F5: what git diff says about two trees, with renames, copies, modes, links, odd names and missing line feeds, makes the
// one into the other.
func TestF5_GitDiffs(t *testing.T) {
	needs(t, "git")
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	must(t, dir, "", "git", "init", "-q")
	for i := range oracleCases(t) {
		before := randomTree(r)
		after := evolve(r, before)
		old, new := snapshot(t, dir, before), snapshot(t, dir, after)
		args := []string{"diff", "--no-color", "-M", "--src-prefix=a/", "--dst-prefix=b/", fmt.Sprintf("-U%d", 1+r.IntN(5))}
		if r.IntN(2) == 0 {
			args = append(args, "-C", "--find-copies-harder")
		}
		if r.IntN(3) == 0 {
			args = append(args, "--no-prefix")
		}
		text := must(t, dir, "", "git", append(args, old, new)...)
		if text == "" {
			continue
		}
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		if len(p.Notes) > 0 {
			t.Fatalf("case %d: notes %v\n%s", i, p.Notes, text)
		}
		res, err := Plan(p, before, Options{})
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		got, err := before.commit(&res.Set)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		if d := cmp.Diff(after.shown(), got.shown()); d != "" {
			t.Fatalf("case %d (-git +plan)\n%s\n%s", i, d, text)
		}
	}
}

// F5: on files that changed since a diff was made, Plan does what git apply and GNU patch agree on, or refuses with a reason.
func TestF5_MovedHunks(t *testing.T) {
	needs(t, "git", "patch", "diff")
	r := rand.New(rand.NewPCG(5, 6))
	n, same, refused := oracleCases(t), 0, map[Code]int{}
	for i := range n {
		a := randomText(r, 5+r.IntN(40))
		b, file := mutate(r, a), mutate(r, a)
		dir := t.TempDir()
		writeTree(t, dir, world{root + "/a": change.FileState([]byte(a), 0o644), root + "/b": change.FileState([]byte(b), 0o644)})
		text, err := run(t, dir, "", "diff", "-u", "--label", "a/f", "--label", "b/f", "a", "b")
		if err == nil {
			continue
		}
		byGit := apply(t, file, text, "git", "apply", "--whitespace=nowarn", "-p1", "-")
		byPatch := apply(t, file, text, "patch", "-s", "-p1", "-f", "--no-backup-if-mismatch", "--binary", "-r", "-")
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		w := world{root + "/f": change.FileState([]byte(file), 0o644)}
		res, err := Plan(p, w, Options{})
		var pe *PlanError
		if errors.As(err, &pe) {
			if byGit != nil && byPatch != nil && *byGit == *byPatch {
				refused[pe.Errors[0].Code]++
			}
			continue
		}
		after, err := w.commit(&res.Set)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		data, _ := after[root+"/f"].Blob.Bytes()
		switch got := string(data); {
		case byGit != nil && got == *byGit, byPatch != nil && got == *byPatch:
			same++
		case byGit != nil || byPatch != nil:
			t.Errorf("case %d: file %q\n%s\ngit   %s\npatch %s\nplan  %q", i, file, text, show(byGit), show(byPatch), got)
		}
	}
	total := 0
	for _, n := range refused {
		total += n
	}
	t.Logf("%d diffs: %d as git or patch, %d refused that both take: %v", n, same, total, refused)
	if same < n/4 || total > n/10 {
		t.Errorf("of %d diffs only %d were applied, and %d refused that git and patch take: %v", n, same, total, refused)
	}
}

// apply returns the file as a program leaves it, or nil where it refuses the diff.
func apply(t *testing.T, file, text, name string, args ...string) *string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, text, name, args...); err != nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	s := string(data)
	return &s
}

func show(s *string) string {
	if s == nil {
		return "refuses"
	}
	return strconv.Quote(*s)
}
