package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine/program"
)

const upper = `for f; do tr a-z A-Z <"$f" >"$f.new" && mv "$f.new" "$f"; done`

// A formatter works on copies: the workspace changes by what the pipeline writes, and by nothing else.
func TestD8_FormatterOnCopies(t *testing.T) {
	w := newWorld(t, map[string]string{"a.x": "one\n", "d/b.x": "TWO\n", "-odd name.x": "odd\n", "other.txt": "other\n", "script.conf": "conf\n"})
	eng := w.script(upper+`; echo extra >extra.txt; rm -f other.txt; ls -a >&2`, program.Action{Rewrites: true}, dev.CanFormat)
	p := w.pipeline(dev.Config{}, eng)
	res, err := p.Acquire().Format().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.get("a.x") != "one\n" || w.get("extra.txt") != "<absent>" || w.get("other.txt") != "other\n" {
		t.Error("the program changed the workspace by itself")
	}
	if !slices.Equal(res.Unwritten, []string{"-odd name.x", "a.x"}) {
		t.Errorf("proposed %v", res.Unwritten)
	}
	if res, err = p.Acquire().Format().Write().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.get("a.x") != "ONE\n" || w.get("-odd name.x") != "ODD\n" || w.get("extra.txt") != "<absent>" || len(res.Changes.Files) != 2 {
		t.Errorf("%+v", res.Changes)
	}
}

// A program that crashes, hangs, says nothing, breaks its copies or is gone is an error that names it and the way on.
func TestD8_BadPrograms(t *testing.T) {
	sarif := program.Action{Find: program.SARIF(), Exits: []int{1}}
	for name, row := range map[string]struct {
		text string
		a    program.Action
		want []string
	}{
		"crashes":                {`echo "segfault in core" >&2; kill -SEGV $$`, program.Action{Rewrites: true}, []string{"SIGSEGV", "segfault in core"}},
		"fails":                  {`echo out; echo "cannot read script.conf: line 3" >&2; exit 7`, program.Action{Rewrites: true}, []string{"status 7", "script.conf: line 3", "Look at its configuration (script.conf)"}},
		"fails on both streams":  {`echo "to the one"; exit 2`, program.Action{Rewrites: true}, []string{"status 2", "to the one"}},
		"hangs":                  {`sleep 600 & wait`, program.Action{Rewrites: true}, []string{"was ended"}},
		"empties":                {`for f; do : >"$f"; done`, program.Action{Rewrites: true}, []string{"made a.x empty"}},
		"removes":                {`rm -f "$@"`, program.Action{Rewrites: true}, []string{"read what it made of a.x"}},
		"links away":             {`rm -f "$1"; ln -s /etc/passwd "$1"`, program.Action{Rewrites: true}, []string{"no regular file any more"}},
		"speaks another tongue":  {`echo "configuration error"; exit 1`, sarif, []string{"status 1", "configuration error"}},
		"succeeds with garbage":  {`echo "all your code"; echo noise >&2`, sarif, []string{"cannot be read as findings", "all your code"}},
		"breaks off its report":  {`echo '{"runs": [{"results": ['; exit 1`, sarif, []string{"status 1"}},
		"an exit that is unkown": {`echo '{"runs": []}'; exit 9`, sarif, []string{"status 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.x": "one\n", "script.conf": "c\n"})
			c := dev.CanFormat
			if row.a.Find != nil {
				c = dev.CanCheck
			}
			eng := w.script(row.text, row.a, c)
			if name == "hangs" {
				eng.Limit = 300 * time.Millisecond
			}
			_, err := w.pipeline(dev.Config{}, eng).Run(t.Context(), dev.Plan{Ops: []dev.Op{{Step: string(c)}}})
			var e *dev.Error
			if !errors.As(err, &e) || e.Code != dev.EngineFailed || e.Engine != "script" || e.Hint == "" {
				t.Fatalf("got %v", err)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if w.get("a.x") != "one\n" {
				t.Error("the file was changed")
			}
		})
	}
	w := newWorld(t, map[string]string{"a.x": "one\n"})
	at := filepath.Join(w.dir, "tool")
	if err := os.WriteFile(at, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	eng := &program.Command{Name: "tool", Version: "1", Runner: w.runner, Workshop: w.workshop,
		Can: map[dev.Capability]program.Action{dev.CanFormat: {Files: []string{"*.x"}, Argv: []string{at}, Rewrites: true}}}
	p := w.pipeline(dev.Config{Results: -1}, eng)
	if _, err := p.Acquire("a.x").Format().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	var e *dev.Error
	if _, err := p.Acquire("a.x").Format().Run(t.Context()); !errors.As(err, &e) || !strings.Contains(e.Message, "not there any more") || !strings.Contains(e.Hint, "Install it again") {
		t.Errorf("a program that vanished: %v", err)
	}
}

// A formatter that prints to both streams and writes what it was not asked for is not confused with its result.
func TestD8_NoisyFormatter(t *testing.T) {
	w := newWorld(t, map[string]string{"a.x": "one\n"})
	eng := w.script(upper+`; echo "formatted 1 file"; echo "a.x: error: not really" >&2; mkdir -p deep; echo y >deep/b.x`, program.Action{Rewrites: true}, dev.CanFormat)
	res, err := w.pipeline(dev.Config{}, eng).Acquire().Format().Write().Run(t.Context())
	if err != nil || w.get("a.x") != "ONE\n" || w.get("deep/b.x") != "<absent>" || len(res.Diagnostics) != 0 {
		t.Errorf("%+v %v", res, err)
	}
}

// A program that looks at the whole root runs there while nothing is changed in memory, and else on copies of its inputs.
func TestD8_WholeRoot(t *testing.T) {
	w := newWorld(t, map[string]string{"a.x": "bad a\n", "b.x": "fine\n", "c.txt": "", "node_modules/dep/index": "dep"})
	find := program.Match(`^(?P<file>[^:]+):(?P<line>\d+):(?P<message>.*)$`, dev.Err)
	eng := w.script(`pwd >&2; grep -nH "^bad" *.x; ls; cat node_modules/dep/index; test $? -le 1`, program.Action{Inputs: []string{"*.x"}, Find: find}, dev.CanCheck)
	eng.Links = []string{"node_modules"}
	p := w.pipeline(dev.Config{}, eng)
	res, err := p.Acquire("a.x").Check().Run(t.Context())
	if err != nil || res.Counts[dev.Err] != 1 || res.Diagnostics[0].File != "a.x" || res.Diagnostics[0].Range.Start.Line != 1 {
		t.Fatalf("%+v %v", res, err)
	}
	res, err = p.Acquire("a.x", "b.x").Edit("b.x", dev.Block{Old: "fine", New: "fine\nbad b"}).Edit("new.x", dev.Block{New: "bad new\n"}).
		ApplyPatch("*** Begin Patch\n*** Delete File: a.x\n*** End Patch\n").Check(dev.Check{Delta: true}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range res.Diagnostics {
		if d.Severity == dev.Err {
			got = append(got, d.File+" "+d.Message)
		}
	}
	if !slices.Equal(got, []string{"b.x bad b", "new.x bad new"}) || len(res.Compared.Resolved) != 1 || res.Compared.Resolved[0].File != "a.x" {
		t.Errorf("%v %+v", got, res.Compared)
	}
	if w.get("a.x") != "bad a\n" || w.get("new.x") != "<absent>" {
		t.Error("the workspace was changed")
	}
}

func TestD8_Finders(t *testing.T) {
	gcc := program.Match(`^(?P<file>[^:\s]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>\w+): (?P<message>.*?)(?: \[(?P<code>[\w-]+)\])?$`, dev.Note)
	sarif := `banner
{"version":"2.1.0","runs":[{"results":[
 {"ruleId":"r1","level":"error","message":{"text":"one"},"fixes":[{}],"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///w/a%20b.c"},"region":{"startLine":3,"startColumn":5,"endColumn":9}}}]},
 {"rule":{"id":"r2"},"message":{"text":"two"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/b.c"}}}]},
 {"ruleId":"r3","kind":"pass","message":{"text":"fine"}},
 {"ruleId":"r4","level":"note","message":{"text":"nowhere"}}]}]}
`
	rdjson := `{"source":{"name":"x"},"diagnostics":[{"message":"m","severity":"WARNING","code":{"value":"c"},"location":{"path":"a.ts","range":{"start":{"line":1,"column":2},"end":{"line":1,"column":4}}},"suggestions":[{"text":"y"}]},{"message":"n","severity":"ERROR","location":{"path":"b.ts"}}]}`
	for name, row := range map[string]struct {
		find  program.Finder
		end   program.End
		want  []string
		known bool
	}{
		"gcc": {gcc, program.End{Stdout: []byte("a.c:1:2: warning: unused [-Wunused]\r\n   1 | int x;\n     |     ^\nnoise\n   more\n"), Stderr: []byte("b.c:3:4: fatal: gone\nb.c:5:6: odd: what\n"), Code: 1},
			[]string{"a.c:1:2: warning: unused\n1 | int x;\n|     ^ (s -Wunused)", "b.c:3:4: error: gone (s)", "b.c:5:6: info: what (s)"}, true},
		"nothing matches":            {gcc, program.End{Stdout: []byte("all is well\n")}, nil, true},
		"nothing matches and failed": {gcc, program.End{Stdout: []byte("usage: gcc\n"), Code: 2}, nil, false},
		"sarif":                      {program.SARIF(), program.End{Stdout: []byte(sarif)}, []string{"/w/a b.c:3:5: error: one (s r1)", "src/b.c: warning: two (s r2)", "info: nowhere (s r4)"}, true},
		"sarif without findings":     {program.SARIF(), program.End{Stdout: []byte(`{"runs":[]}`)}, nil, true},
		"no sarif":                   {program.SARIF(), program.End{Stdout: []byte(`{"x":1}`)}, nil, false},
		"rdjson":                     {program.RDJSON(), program.End{Stdout: []byte(rdjson)}, []string{"a.ts:1:2: warning: m (s c)", "b.ts: error: n (s)"}, true},
		"no rdjson":                  {program.RDJSON(), program.End{Stdout: []byte("x")}, nil, false},
	} {
		found, known := row.find(row.end, "s")
		var got []string
		for _, d := range found {
			got = append(got, d.String())
		}
		if !slices.Equal(got, row.want) || known != row.known {
			t.Errorf("%s: %v %q\nwant %q", name, known, got, row.want)
		}
	}
	one, _ := program.SARIF()(program.End{Stdout: []byte(sarif)}, "s")
	if !one[0].Fix || one[0].Range.End != (dev.Position{Line: 3, Column: 9}) || one[1].Fix {
		t.Errorf("%+v", one)
	}
}
