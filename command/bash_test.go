package command

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A stage is a folder in which bash runs lines with commands of ours on its path: each writes down its argument vector
// and does nothing else.
type stage struct {
	bash, work, log, bin string
	plain                bool // the shell is not bash
}

// stub writes its name and arguments, each with a NUL behind it, to a file of its own.
const stub = `#!/bin/sh
printf '%s\0' "${0##*/}" "$@" > "$STAGE_LOG/$$"
`

// trace stands for every command that must not run.
const trace = `#!/bin/sh
: > "$STAGE_LOG/TRACE"
`

func newStage(t testing.TB, names ...string) *stage {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed: the parser is not compared with it")
	}
	dir := t.TempDir()
	s := &stage{bash: bash, work: filepath.Join(dir, "work"), log: filepath.Join(dir, "log"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{s.work, s.log, s.bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range names {
		write(n, stub)
	}
	for _, n := range []string{"touch", "x", "a", "foo", "E"} {
		write(n, trace)
	}
	// Builtins of the same names would not be seen.
	write("start", "enable -n "+strings.Join(names, " ")+" 2>/dev/null\nunset BASH_ENV\n")
	return s
}

// A performance is what bash did with a line.
type performance struct {
	argvs  []string // that the commands got, sorted
	traces []string // files that were left, and "TRACE" for a command that must not run
	stderr string
}

// run lets bash run a line.
func (s *stage) run(t testing.TB, line string) (p performance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	args := []string{"--norc", "--noprofile", "-c", line}
	if s.plain {
		args = args[2:]
	}
	c := exec.CommandContext(ctx, s.bash, args...)
	c.Dir = s.work
	c.Env = []string{"PATH=" + s.bin, "STAGE_LOG=" + s.log, "HOME=/nonexistent", "LC_ALL=C.UTF-8", "BASH_ENV=" + filepath.Join(s.bin, "start")}
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%q: %v", line, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%q does not end", line)
	}
	entries, err := os.ReadDir(s.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		file := filepath.Join(s.log, e.Name())
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() == "TRACE" {
			p.traces = append(p.traces, e.Name())
		} else {
			p.argvs = append(p.argvs, string(data))
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(s.work)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		p.traces = append(p.traces, e.Name())
		if err := os.RemoveAll(filepath.Join(s.work, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(p.argvs)
	p.stderr = strings.TrimSpace(out.String())
	return p
}

// predicted returns the argument vectors that the facts hold, as a stage writes them.
func predicted(f *Facts) map[string]int {
	m := map[string]int{}
	for i := range f.Calls {
		argv, _ := f.Calls[i].Argv()
		m[strings.Join(argv, "\x00")+"\x00"]++
	}
	return m
}

// compare runs a line that is called read-only, and reports commands that bash runs and the facts do not hold.
func (s *stage) compare(t testing.TB, f *Facts) (syntax bool) {
	t.Helper()
	p := s.run(t, f.Line)
	want := predicted(f)
	for _, argv := range p.argvs {
		if want[argv]--; want[argv] < 0 {
			t.Errorf("%q: bash runs %q, predicted are %q (%s)", f.Line, argv, texts(f), p.stderr)
		}
	}
	if len(p.traces) > 0 {
		t.Errorf("%q: traces %q", f.Line, p.traces)
	}
	if strings.Contains(p.stderr, "command not found") {
		t.Errorf("%q: bash looks for a command that is not in the facts: %s", f.Line, p.stderr)
	}
	if strings.Contains(p.stderr, "syntax error") || strings.Contains(p.stderr, "unexpected EOF") {
		return true
	}
	// Without && and ||, and when no file is missing, everything runs.
	if !strings.Contains(f.Line, "&&") && !strings.Contains(f.Line, "||") && !strings.Contains(f.Line, "<") && p.stderr == "" {
		for argv, n := range want {
			if n > 0 {
				t.Errorf("%q: bash does not run %q", f.Line, argv)
			}
		}
	}
	return false
}

var stubbed = []string{"ls", "cat", "wc", "grep", "id", "echo", "printf", "true", "test", "["}

// named accepts any arguments of the commands that a stage has, so that the syntax alone decides.
func named(c *Call) string {
	if slices.Contains(stubbed, c.Args[0].Text) {
		return ""
	}
	return "another command"
}

// P5: the script of "sh -c" is read as sh reads it, whatever shell that is here: a rule that allows the commands in it
// trusts them.
func TestP5_ShAgrees(t *testing.T) {
	s := newStage(t, "ls", "cat", "wc", "grep", "id") // sh keeps its builtins
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed: the parser is not compared with it")
	}
	s.bash, s.plain = sh, true
	lines, ran := 6_000, 0
	if testing.Short() {
		lines = 600
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range lines {
		script := randomLine(r)
		outer, err := Parse("sh -c " + Quote(script))
		if err != nil || outer.Calls[0].Problem != "" || len(outer.Calls) < 2 {
			continue
		}
		f := Facts{Line: script, Construct: outer.Construct, Calls: outer.Calls[1:]}
		if !literal(&f) {
			continue
		}
		ran++
		p := s.run(t, script)
		want := predicted(&f)
		for _, argv := range p.argvs {
			if want[argv]--; want[argv] < 0 {
				t.Errorf("%q: sh runs %q, predicted are %q (%s)", script, argv, texts(&f), p.stderr)
			}
		}
		if len(p.traces) > 0 {
			t.Errorf("%q: traces %q", script, p.traces)
		}
	}
	t.Logf("%d lines, %d run", lines, ran)
	if ran < lines/20 {
		t.Errorf("only %d of %d lines were run", ran, lines)
	}
}

// literal reports whether all words are known and nothing but the stage's commands runs.
func literal(f *Facts) bool {
	for i := range f.Calls {
		c := &f.Calls[i]
		_, ok := c.Argv()
		if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || c.Problem != "" || named(c) != "" {
			return false
		}
		for k := range c.Redirects {
			if ok, _ := c.Redirects[k].Harmless(); !ok {
				return false
			}
		}
	}
	return len(f.Calls) > 0 && (f.Construct == "" || f.Construct == "background")
}

// pieces are what random lines are made of.
var pieces = []string{"ls", "cat", "wc", "grep", "id", "echo", "printf", "true", "test", "[", "]", " ", " ", " ", " ", "\t", "\n", "\\\n",
	"'", "\"", "\\", "$", "`", "#", " #", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "{ ", " ; }", "<", ">", " 2>&1", " >/dev/null", " 2>/dev/null",
	" &>/dev/null", " <<E\nfoo\nE\n", " <<'E'\nfoo $(touch t)\nE\n", " <<-\\E\n\tx\n\tE\n", " <<\"E\"'F'\ntouch t\nEF\n", " <<< x", " <<<'$(touch t)'", "! ", "*", "?",
	"~", "=", "a", "-l", "-n", "$'", "$\"", "{a,b}", "{}", "é", "^", "%", "+", "@(", "?(", "!(", "coproc", "time", "function", "[[", "]]", "((", "))",
	"a=b", "if", "then", "fi", " >&2", " |& ", "\\ ", "''", "\"\"", "do", "done", "case", "esac", "in", "select", "x", "1", "2", "\\'", "\\\"", "\"'\"",
	"'\"'", "-", "--", "/", ".", ":", ",", "..", "$x", "${x}", "$(touch t)", "`touch t`", "<(touch t)", "0<", "\x01", "touch t", "\ntouch t", ";touch t",
	"\r", "\u00a0", "> t", ">t", ">| t", "&> t", "<> t", "\\\\", "'a b'", "\"a b\"", "\"a\\b\"", "\"\\\"\"", "a\\b", "!x", "{a", "b}", "x}", "HEAD@{1}", "\u200b",
	"for", "while", "eval", "exec", "alias", "\\t", "$$", "$#", "1>&2", ">&-", "<&0", "<&-", "2>&-", "10>&1", "{f}>t", "a~", "~a", "=~", ":~", "'='~", "a=~", "{", ",", "a,b", "{a..c}", "'{'a,b}", "{a','b}"}

func randomLine(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(stubbed[r.IntN(len(stubbed))] + " ")
	for range 1 + r.IntN(9) {
		switch p := pieces[r.IntN(len(pieces))]; r.IntN(4) {
		case 0:
			b.WriteString(p + " ")
		case 1:
			b.WriteString(" " + p)
		case 2: // a command in the right place
			b.WriteString([]string{"; ", " && ", " || ", " | ", "\n", " ; ( ", " ) "}[r.IntN(7)] + stubbed[r.IntN(len(stubbed))] + " ")
		default:
			b.WriteString(p)
		}
	}
	return b.String()
}

// H3: what is called read-only runs in bash with the argument vectors of the facts, and leaves no trace. The lines are
// random and the same in every run.
func TestH3_BashAgrees(t *testing.T) {
	s := newStage(t, stubbed...)
	lines := 10_000
	if testing.Short() {
		lines = 1_000
	}
	r := rand.New(rand.NewPCG(7, 7))
	seen := map[string]bool{}
	accepted, ran, refused := 0, 0, 0
	for range lines {
		line := randomLine(r)
		if seen[line] {
			continue
		}
		seen[line] = true
		f, err := Parse(line)
		switch {
		case err != nil:
			continue
		case f.looks(named) == "":
			accepted++
		case literal(&f): // not read-only, and still known: a pattern may allow it
		default:
			continue
		}
		ran++
		if s.compare(t, &f) {
			refused++
		}
	}
	t.Logf("%d lines, %d called read-only, %d run, %d of them no syntax for bash", lines, accepted, ran, refused)
	if accepted < lines/10 {
		t.Errorf("only %d of %d lines were accepted: the comparison says little", accepted, lines)
	}
}

// The stage sees what it is there to see.
func TestStage(t *testing.T) {
	s := newStage(t, stubbed...)
	for line, want := range map[string]string{
		"touch t":                "TRACE",
		"ls; touch t":            "TRACE",
		"> t":                    "t",
		"ls # x \\\ntouch t":     "TRACE", // the parser takes this for one command
		"cat <<E\n$(touch t)\nE": "TRACE",
		"echo {a,b}":             "",
	} {
		p := s.run(t, line)
		if got := strings.Join(p.traces, " "); got != want {
			t.Errorf("%q: traces %q, want %q", line, got, want)
		}
		if strings.HasPrefix(line, "echo") && !slices.Equal(p.argvs, []string{"echo\x00a\x00b\x00"}) {
			t.Errorf("%q: argument vectors %q", line, p.argvs)
		}
	}
}

// FuzzBash looks for lines that bash reads otherwise.
func FuzzBash(f *testing.F) {
	s := newStage(f, stubbed...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f.Add(randomLine(r))
	}
	f.Fuzz(func(t *testing.T, line string) {
		facts, err := Parse(line)
		if err == nil && facts.looks(named) == "" {
			private := *s
			private.work, private.log = t.TempDir(), t.TempDir()
			private.compare(t, &facts)
		}
	})
}

// The literal words of every call, whatever surrounds it, are those that bash passes: loops, conditions and wrappers are
// parsed for rules, and a rule that allows trusts them.
func TestBashAgrees_Calls(t *testing.T) {
	s := newStage(t, append([]string{"git"}, stubbed...)...)
	for _, line := range []string{
		`if true; then git a 'b c'; else git d; fi`,
		`if ls x; then :; elif cat y; then :; fi`,
		`while true "x"; do git 1; break; done`,
		`until true; do git; done; git 2`,
		`case a in a) git "1 2";; *) ls b;; esac`,
		`{ git a; ls b; } >/dev/null 2>&1`,
		`( git a\ b; ls "$(cat 'x y')" )`,
		`git "$(echo 'a b')" | cat -`,
		`! git x || ls y`,
		`git a{b,c}d`,
		`git HEAD@{1} stash@{0} {} a{b HEAD~1 a:b~c x~ '~' "~"`,
		`git 'it'"'"'s' "a\$b" "a\nb" a\nb`,
		`bash -c 'git x; ls y'`,
		`bash -euo pipefail -c "git 'x y'"`,
		`sh -c 'git x && ls "y z"'`,
		`eval git "'a b'"`,
		`bash <<'E'` + "\ngit here\nE\n",
		`bash <<< 'git string'`,
		`command git x; exec git y`,
	} {
		f, err := Parse(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		p := s.runReal(t, line)
		literal := map[string]bool{}
		open := false
		for i := range f.Calls {
			argv, ok := f.Calls[i].Argv()
			literal[strings.Join(argv, "\x00")+"\x00"] = true
			open = open || !ok
		}
		if len(p.argvs) == 0 || len(p.traces) > 0 {
			t.Errorf("%q: bash runs %q and leaves %q (%s)", line, p.argvs, p.traces, p.stderr)
		}
		for _, argv := range p.argvs {
			if !literal[argv] && !open {
				t.Errorf("%q: bash runs %q, which is in no call: %q", line, argv, texts(&f))
			}
		}
	}
}

// runReal is run with the shells of the machine behind the stage's own commands.
func (s *stage) runReal(t testing.TB, line string) performance {
	t.Helper()
	for _, shell := range []string{"bash", "sh"} {
		if file, err := exec.LookPath(shell); err == nil {
			if err := os.Symlink(file, filepath.Join(s.bin, shell)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
	}
	return s.run(t, line)
}

// texts returns the calls as lines, for failures.
func texts(f *Facts) []string {
	var out []string
	for i := range f.Calls {
		out = append(out, f.Calls[i].String())
	}
	return out
}
