package command

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// nasty are arguments that make some command write, run something, or miss where its options end.
var nasty = []string{"OUT", "in", "f", "sub", "-", "5", "1p", "1", "-o", "-oOUT", "--output=OUT", "--outp=OUT", "--output", "-ewOUT", "w OUT", "1e touch OUT", "s/h/x/w OUT",
	"s/[/]/w OUT;p]/x/", "y/[/]/;w OUT;/", "-i", "-i.bak", "--in-place", "--in-pl", "-n", "-c", "-lo", "-Lo", "-ps", "-r", "-ar", "--files0-from=in", "-C", "-m", "-f", "-S", "--",
	"-exec", "touch", ";", "-fprint", "-delete", "-fls", "-T.", "--compress-program=./evil", "-z", "-l", "-s", "--arg", ".", "env", "$ENV", "%n", "+%s", "-v", "p", "{p;p}", "$!N", "--pre=./evil", "-k1", "-t", "a b"}

// H3: lines that are called read-only leave no trace when the real commands run: the grammars of the table are those of
// the programs of this machine. Programs that are not installed are not tried.
func TestH3_RealCommands(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed: the table is not tried on real commands")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"in": "hello\nhello\nworld\n", "f": "1\n2\n", "sub/x": "x\n", "evil": "#!/bin/sh\ntouch OUT\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(t, dir)
	var names []string
	for name := range table() {
		if _, err := os.Stat("/usr/bin/" + name); err == nil && name != "cd" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rounds, ran := 20, 0
	if testing.Short() {
		rounds = 5
	}
	r := rand.New(rand.NewPCG(3, 9))
	for _, name := range names {
		for try, done := 0, 0; try < 40*rounds && done < rounds; try++ {
			line := randomCall(r, name)
			if ok, _ := ReadOnly(line); !ok {
				continue
			}
			done++
			ran++
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			c := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", line)
			c.Dir, c.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8"}
			_ = c.Run() // many of the arguments are nonsense
			ended := ctx.Err() == nil
			cancel()
			if !ended {
				t.Errorf("%q does not end", line)
			}
			if after := snapshot(t, dir); after != before {
				t.Fatalf("%q leaves a trace:\n%s", line, after)
			}
		}
	}
	t.Logf("%d commands, %d lines run", len(names), ran)
	if len(names) < 30 || ran < len(names)*rounds/2 {
		t.Errorf("tried only %d commands and %d lines", len(names), ran)
	}
}

// randomCall makes a command with options of its grammar, some with a nasty value, and nasty arguments.
func randomCall(r *rand.Rand, name string) string {
	e := table()[name]
	var options []string
	for k, n := range e.short {
		options = append(options, "-"+string(k))
		if n > 0 {
			options = append(options, "-"+string(k)+nasty[r.IntN(len(nasty))])
		}
	}
	for k := range e.long {
		if e.whole {
			options = append(options, "-"+k)
		} else {
			options = append(options, "--"+k)
		}
	}
	slices.Sort(options)
	words := []string{name}
	for range 1 + r.IntN(4) {
		switch {
		case len(options) > 0 && r.IntN(2) == 0:
			words = append(words, options[r.IntN(len(options))])
		default:
			words = append(words, nasty[r.IntN(len(nasty))])
		}
	}
	if name == "[" {
		words = append(words, "]")
	}
	for i := range words {
		words[i] = Quote(words[i])
	}
	return strings.Join(words, " ")
}

// snapshot renders everything in a folder.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			b.WriteString(p + "\n")
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s %s %s %q\n", p, info.Mode(), info.ModTime(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
