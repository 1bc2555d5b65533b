package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// ripgrep returns the path of the oracle.
func ripgrep(t testing.TB) string {
	t.Helper()
	rg := os.Getenv("TACKLE_RG")
	if rg == "" {
		rg, _ = exec.LookPath("rg")
	}
	if rg == "" {
		t.Skip("ripgrep is not there (set TACKLE_RG to the path of version 15): nothing to compare with")
	}
	return rg
}

// randomQuery draws a query from the text of a file.
func randomQuery(rnd *rand.Rand, text []byte) (q GrepQuery, args []string, ok bool) {
	at := rnd.IntN(len(text))
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	line := text[start:end]
	if len(line) < 4 || len(line) > 300 || !utf8.Valid(line) || bytes.ContainsAny(line, "\r\x00") {
		return q, nil, false
	}
	runes := []rune(string(line))
	if len(runes) < 4 {
		return q, nil, false
	}
	n := 2 + rnd.IntN(min(20, len(runes)-2))
	from := rnd.IntN(len(runes) - n + 1)
	part, half := string(runes[from:from+n]), from+n/2
	head, tail := string(runes[from:half]), string(runes[half:from+n])
	q = GrepQuery{Pattern: part, Literal: true, Mode: Content, MaxColumns: -1}
	args = []string{"-F", "-e", part}
	regex := func(p string) {
		q.Literal, q.Pattern, args = false, p, []string{"-e", p}
	}
	switch rnd.IntN(13) {
	case 0, 1:
	case 2:
		q.CaseInsensitive, args = true, append(args, "-i")
	case 3:
		q.Word, args = true, append(args, "-w")
	case 4:
		q.Mode, args = FilesWithMatches, append(args, "-l")
	case 5:
		q.Mode, args = Count, append(args, "-c")
	case 6:
		regex(quoted(head) + ".*" + quoted(tail))
	case 7:
		regex(quoted(head) + "|" + quoted(tail) + "x")
		q.CaseInsensitive, args = true, append(args, "-i")
	case 8:
		regex(quoted(head) + `[\w\s]{0,3}` + quoted(tail))
	case 9:
		regex("^" + quoted(string(runes[:n])))
	case 10:
		regex(quoted(string(runes[len(runes)-n:])) + "$")
	case 11:
		q.Before, q.After = rnd.IntN(4), rnd.IntN(4)
		args = append(args, "-B", strconv.Itoa(q.Before), "-A", strconv.Itoa(q.After))
	case 12:
		shape := shapeOf(part)
		regex(shape)
	}
	return q, args, true
}

// quoted escapes what both engines take for an operator.
func quoted(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$#&-~`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shapeOf replaces characters by classes, for patterns without any literal.
func shapeOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z':
			b.WriteString("[a-z]")
		case 'A' <= r && r <= 'Z':
			b.WriteString("[A-Z]")
		case '0' <= r && r <= '9':
			b.WriteString(`\d`)
		case r == ' ' || r == '\t':
			b.WriteString(`\s`)
		default:
			b.WriteString(quoted(string(r)))
		}
	}
	return b.String()
}

// lines writes a result the way ripgrep prints it with --no-heading -n.
func (r *GrepResult) lines(m Mode) []string {
	var out []string
	for _, f := range r.Files {
		switch m {
		case FilesWithMatches:
			out = append(out, f.Path)
		case Count:
			out = append(out, fmt.Sprintf("%s:%d", f.Path, f.Count))
		}
		for _, l := range f.Lines {
			sep := ":"
			if l.Context {
				sep = "-"
			}
			out = append(out, fmt.Sprint(f.Path, sep, l.Number, sep, l.Text))
		}
	}
	return out
}

// maxOutput bounds what a query may print: half of a tree's lines twice in memory prove nothing more.
const maxOutput = 32 << 20

// compare runs a query both ways, and reports whether it did: not when the output is too large. Differences that the
// contract asks for are taken out: files with NUL bytes, and lines that are not valid UTF-8, where "." matches more here.
func compare(t *testing.T, rg, root string, q GrepQuery, args []string) bool {
	t.Helper()
	want, ok := theirs(t, rg, root, args)
	if !ok {
		return false
	}
	q.Root = root
	r, err := New(Local(), Config{}).Grep(context.Background(), q)
	if err != nil {
		t.Errorf("%q: %v", q.Pattern, err)
		return true
	}
	got := r.lines(q.Mode)
	tidy := func(lines []string) []string {
		lines = slices.DeleteFunc(lines, func(l string) bool { return !utf8.ValidString(l) })
		slices.Sort(lines)
		return lines
	}
	got, want = tidy(got), tidy(want)
	if slices.Equal(got, want) {
		return true
	}
	only := func(sign string, a, b []string) (diff []string) {
		for _, l := range a {
			if _, ok := slices.BinarySearch(b, l); !ok && !binaryFile(root, l, q.Mode) {
				diff = append(diff, sign+l)
			}
		}
		return diff
	}
	diff := append(only("+", got, want), only("-", want, got)...)
	if len(diff) > 0 {
		t.Errorf("in %s, %q %q: %d lines, rg %d; only one of them has (+ ours)\n%.600s", root, q.Pattern, args, len(got), len(want), strings.Join(diff, "\n"))
	}
	return true
}

// theirs returns ripgrep's lines of output.
func theirs(t *testing.T, rg, root string, args []string) ([]string, bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fixed := []string{"--no-config", "--no-heading", "--no-messages", "--color=never", "--context-separator", "", "--no-ignore-global", "-n"}
	cmd := exec.CommandContext(ctx, rg, slices.Concat(fixed, args, []string{"."})...)
	cmd.Dir = root
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(io.LimitReader(pipe, maxOutput+1))
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > maxOutput {
		cancel()
		cmd.Wait()
		return nil, false
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() == 2 {
		t.Errorf("rg %q: %v", args, err)
		return nil, false
	}
	var lines []string
	for line := range strings.SplitSeq(string(out), "\n") {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "./"), "\r")
		if line != "" && !strings.Contains(line, "WARNING: stopped searching binary file") {
			lines = append(lines, line)
		}
	}
	return lines, true
}

// binaryFile reports whether the file that a line of output names has a NUL byte. Both engines stop there, but not at
// the same border of what they read.
func binaryFile(root, line string, m Mode) bool {
	name := line
	switch m {
	case Content:
		name, _, _ = strings.Cut(line, ":") // none of the files has one in its name
	case Count:
		name = line[:strings.LastIndexByte(line, ':')]
	}
	data, err := os.ReadFile(filepath.Join(root, name))
	return err == nil && bytes.IndexByte(data, 0) >= 0
}

// trees returns the directories to search: the entries of TACKLE_TREES (a path list), or the source of Go.
func trees() []string {
	if list := os.Getenv("TACKLE_TREES"); list != "" {
		return filepath.SplitList(list)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(strings.TrimSpace(string(out)), "src")}
}

// F7, F11: random queries drawn from the text of the trees give exactly ripgrep's files and lines.
func TestF7_Ripgrep(t *testing.T) {
	rg := ripgrep(t)
	count := 50
	if n, err := strconv.Atoi(os.Getenv("TACKLE_QUERIES")); err == nil {
		count = n
	}
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("TACKLE_SEED"), 10, 64); err == nil {
		seed = n
	}
	rnd := rand.New(rand.NewPCG(seed, 5))
	var files []string
	for _, tree := range trees() {
		filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(p, "/.git/") {
				files = append(files, p)
			}
			return nil
		})
	}
	if len(files) == 0 {
		t.Fatalf("no files in %q", trees())
	}
	for done := 0; done < count && !t.Failed(); {
		file := files[rnd.IntN(len(files))]
		text, err := os.ReadFile(file)
		if err != nil || len(text) < 100 {
			continue
		}
		if q, args, ok := randomQuery(rnd, text); ok {
			if compare(t, rg, above(rnd, file), q, args) {
				done++
			}
		}
	}
}

// above picks a directory above a file: far up rarely, since that is where the time goes.
func above(rnd *rand.Rand, file string) string {
	dir := filepath.Dir(file)
	for _, tree := range trees() {
		if rel, err := filepath.Rel(tree, dir); err == nil && filepath.IsLocal(rel) {
			parts := strings.Split(rel, string(filepath.Separator))
			n := len(parts)
			if rnd.IntN(40) == 0 {
				n = 0
			} else if n > 1 {
				n = 1 + rnd.IntN(n)
			}
			return filepath.Join(append([]string{tree}, parts[:n]...)...)
		}
	}
	return dir
}
