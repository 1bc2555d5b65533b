package command

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// prefixes are what random lines are wrapped in: wrappers that are known, with options that matter (but no login shell, which
// runs the profile of the machine), programs that only have
// their names, and what comes close.
var prefixes = []string{"timeout 5 ", "timeout -k 1 5 ", "timeout --foreground 5 ", "timeout -x 5 ", "nice ", "nice -n 5 ", "nice -5 ", "nohup ", "env ", "env -i ", "env -u X ", "env A=b ", "env PATH=../p ", "env -S ", "env -C / ",
	"stdbuf -o L ", "setsid -w ", "ionice -c 3 ", "command ", "command -p ", "command -v ", "builtin ", "exec ", "exec -a x ", "eval ", "xargs ", "xargs -n1 ", "xargs -I{} ", "xargs -a f ", "find . -maxdepth 0 -exec ", "find . -exec ", "find . -name x -exec ",
	"bash -c ", "sh -c ", "bash -ec ", "bash -euo pipefail -c ", "bash -kc ", "bash -o keyword -c ", "bash -O extglob -c ", "bash -O dotglob -c ", "bash -ic ", "bash --rcfile ../p/rc -ic ", "bash --norc -c ", "bash -H -c ", "bash -r -c ", "bash +e -c ",
	"../p/env ", "../p/timeout 5 ", "../p/bash -c ", "../p/find . -exec ", "../p/ls ", "PATH=../p ", "PATH=../p:$PATH ", "BASH_ENV=../p/rc ", "time ", "! ", "{ ", "( ", "trap ", "sudo ", "bash <<< ", "sh <<< "}

// closers end what some prefixes begin.
func wrapped(r *rand.Rand, line string, depth int) string {
	if depth == 0 {
		return line
	}
	p := prefixes[r.IntN(len(prefixes))]
	inner := wrapped(r, line, depth-1)
	switch {
	case strings.HasSuffix(p, "c ") && !strings.Contains(p, "ionice"), strings.HasSuffix(p, "<<< "), strings.HasSuffix(p, "-S "), strings.HasPrefix(p, "trap"):
		if r.IntN(8) > 0 {
			inner = Quote(inner)
		}
		if r.IntN(6) == 0 {
			inner += " " + []string{"ls", "-k", "$x", "-c", "PATH=../p"}[r.IntN(5)]
		}
	case strings.HasSuffix(p, "-exec "):
		inner += []string{" {} ';'", " {} +", ` \;`, " ';' -exec touch t ';'", " ';' -delete", " ';' -ls", " ';' -fprint t"}[r.IntN(7)]
	case p == "{ ":
		inner += "; }"
	case p == "( ":
		inner += " )"
	case r.IntN(12) == 0:
		inner += []string{" > t", " 2>/dev/null", " ; touch t", " | cat", " && ls"}[r.IntN(5)]
	}
	return p + inner
}

// plain lines are wrapped: each looks by itself, but for some.
var inners = []string{"ls", "ls -la", "cat f", "cat -n f", "wc -l f", "grep x f", "id", "id -u", "ls PATH=../p", "cat A=b", "ls; cat f", "ls | wc", "cat < f", "ls *", "wc *", "ls 'a b'", `ls "x$(touch t)"`, "ls -l {}", "sort -ot f", "touch t", "ls > t", "cat ~", "ls {a,b}", "grep -e x"}

// H3, P5: a line whose parts all only look runs unasked, in whatever it is wrapped: bash runs nothing of it but what the facts
// hold, and it leaves no trace. The wrappers are those of this machine.
func TestH3_WrappersAgree(t *testing.T) {
	s := newStage(t, "ls", "cat", "wc", "grep", "id")
	p := filepath.Join(filepath.Dir(s.work), "p")
	if err := os.Mkdir(p, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"env", "timeout", "bash", "find", "ls", "cat", "wc", "grep", "id", "rc"} { // programs that only have their names
		if err := os.WriteFile(filepath.Join(p, name), []byte(trace), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"timeout", "nice", "nohup", "env", "stdbuf", "setsid", "ionice", "xargs", "find", "bash", "sh", "sudo"} {
		if file, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(file, filepath.Join(s.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := 10_000
	if testing.Short() {
		lines = 1_000
	}
	r := rand.New(rand.NewPCG(11, 4))
	seen := map[string]bool{}
	ran, through := 0, 0
	for range lines {
		line := wrapped(r, inners[r.IntN(len(inners))], 1+r.IntN(3))
		f, err := Parse(line)
		if err != nil || seen[line] || !f.Looks() || login(&f) {
			continue
		}
		seen[line] = true
		ran++
		got := s.run(t, line)
		want := map[string]bool{}
		open := map[string]bool{} // commands of which a word is not known
		for i := range f.Calls {
			c := &f.Calls[i]
			if argv, literal := c.Argv(); literal {
				want[strings.Join(argv, "\x00")+"\x00"] = true
			} else if len(argv) > 0 {
				open[argv[0]] = true
			}
		}
		through += len(got.argvs)
		for _, argv := range got.argvs {
			name, _, _ := strings.Cut(argv, "\x00")
			if !want[argv] && !open[name] {
				t.Errorf("%q: bash runs %q, predicted are %q (%s)", line, argv, texts(&f), got.stderr)
			}
		}
		if len(got.traces) > 0 {
			t.Errorf("%q: traces %q", line, got.traces)
		}
	}
	t.Logf("%d lines, %d unasked and run, %d commands seen", lines, ran, through)
	if ran < lines/50 || through < ran/2 {
		t.Errorf("only %d of %d lines were run, with %d commands: the comparison says little", ran, lines, through)
	}
}

// login reports whether a shell in the line reads the profile of the machine.
func login(f *Facts) bool {
	return slices.ContainsFunc(f.Calls, func(c Call) bool {
		return strings.HasSuffix(c.Name(), "sh") && slices.ContainsFunc(c.Args[1:], func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "l") })
	})
}
