package command

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// describe renders facts, one call a line, indented below the call that runs it.
func describe(f *Facts, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if f.Construct != "" {
		fmt.Fprintf(&b, "construct: %s\n", f.Construct)
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		depth := 0
		for p := c.Parent; p >= 0; p = f.Calls[p].Parent {
			depth++
		}
		b.WriteString(strings.Repeat("  ", depth) + strings.ReplaceAll(c.String(), "\n", `\n`))
		var notes []string
		if c.Via != Direct {
			notes = append(notes, string(c.Via))
		}
		if c.Parent >= 0 {
			notes = append(notes, fmt.Sprintf("from %d", c.From))
		}
		if c.Through {
			notes = append(notes, "through")
		}
		if c.Exact {
			notes = append(notes, "exact")
		}
		if c.Guess {
			notes = append(notes, "guess")
		}
		for _, a := range c.Assigns {
			notes = append(notes, "sets "+a.Name)
		}
		for k := range c.Args {
			if w := &c.Args[k]; w.Doubt != 0 {
				notes = append(notes, fmt.Sprintf("%d: %s", k, w.doubt()))
			}
		}
		if c.Problem != "" {
			notes = append(notes, "problem: "+c.Problem)
		}
		if notes != nil {
			b.WriteString("   # " + strings.Join(notes, "; "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// P5: the calls of a line, golden: testdata/calls.txt holds lines after "> " (with \n for a newline), each followed by
// what describe makes of it.
func TestP5_Calls(t *testing.T) {
	file := filepath.Join("testdata", "calls.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cases := 0
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	for sc.Scan() {
		switch line := sc.Text(); {
		case strings.HasPrefix(line, "# "), line == "":
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "> "):
			cases++
			f, err := Parse(strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\u200b`, "\u200b").Replace(line[2:]))
			out.WriteString(line + "\n" + describe(&f, err))
		}
	}
	if cases < 50 {
		t.Fatalf("found only %d cases", cases)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(data), out.String()); diff != "" && !*update {
		t.Errorf("-want +got\n%s", diff)
	}
}
