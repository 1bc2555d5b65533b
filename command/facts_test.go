package command

import (
	"fmt"
	"strings"
	"testing"
)

// What a line reads and writes, as far as it says: names with "w" are written, with "*" patterns, with "/" trees.
func TestPaths(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"cat a b", "a b"},
		{"cat - a", "a"},
		{"cat < in > out 2>/dev/null", "in out:w"},
		{"cd src && cat a /etc/x", "src a src/a /etc/x"},
		{"cd /tmp; ls", "/tmp ."},
		{"cat src/*.go", "src/*.go:*"},
		{"grep x f", "f"},
		{"grep -e x f", "f"},
		{"grep -rn x", ".:/"},
		{"grep -r x src", "src:/"},
		{"rg x", ".:/"},
		{"rg --files src", "src:/"},
		{"rg -e x src", "src:/"},
		{"sed -n 1p f g", "f g"},
		{"sed -n -e 1p f", "f"},
		{"sed -i s/a/b/ f", "f:w"},
		{"jq . f", "f"},
		{"find", ".:/"},
		{"find -L a b -name x", "a:/ b:/"},
		{"ls", "."},
		{"ls -R a", "a:/"},
		{"du", ".:/"},
		{"echo a b", ""},
		{"test -f x", ""},
		{"cp a b c", "a b c:w"},
		{"mv a b", "a a:w b:w"},
		{"mv -t d a b", "a a:w b b:w d:w"},
		{"cp -rt d a", "a d:w"},
		{"cp -td a", "a d:w"},
		{"cp --target-directory=d a b", "a b d:w"},
		{"install --target d a", "a d:w"},
		{"ln -s a -t $X", "a"},
		{"sed -i -es/a/b/ f", "f:w"},
		{"sed -i --expression=s/a/b/ f g", "f:w g:w"},
		{"sed -i -fscript f", "f:w"},
		{"sed -ie s/a/b/ f", "f:w"},
		{"chmod --reference=g f", "f:w"},
		{". a b", "a"},
		{"source a", "a"},
		{"rm -rf a *.o", "a:w *.o:w*"},
		{"tee a b", "a:w b:w"},
		{"chmod 644 f", "f:w"},
		{"dd if=a of=b", "a b:w"},
		{"sort -o out in", "out out:w in in:w"},
		{"cat ../x/./y", "../x/y"},
		{"cat $X", ""},
		{"echo x > $X", ""},
		{"timeout 5 cat a", "a"},
		{"bash -c 'cat a > b'", "b:w a"},
		{"make", ""},
		{"find . ; grep -r x .", ".:/ .:/"},
		{"grep -d recurse x src", "src:/"},
		{"grep --directories=recurse x", ".:/"},
		{"grep -d skip x f", "f"},
		{"find a b -name x -exec cat {} +", "a:/ b:/ a:/ b:/"},
		{"find -exec head -1 {} ';'", ".:/ .:/"},
		{"cd src && find x -exec timeout 5 cat {} ';'", "src x:/ src/x:/ x:/ src/x:/ x:/ src/x:/"}, // also as those of timeout
	} {
		f, err := Parse(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range f.Paths() {
			s, marks := p.Name, ""
			if p.Write {
				marks += "w"
			}
			if p.Glob {
				marks += "*"
			}
			if p.Tree {
				marks += "/"
			}
			if marks != "" {
				s += ":" + marks
			}
			got = append(got, s)
		}
		if joined := strings.Join(got, " "); joined != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, joined, tt.want)
		}
	}
	deep, err := Parse(strings.Repeat("cd a;", 40) + "cat x")
	if err != nil || len(deep.Paths()) > 200 {
		t.Errorf("many cd make %d paths (%v)", len(deep.Paths()), err)
	}
}

// What commands are known to do.
func TestEffects(t *testing.T) {
	for line, want := range map[string]string{
		"ls":                "[looks]",
		"ls > x":            "[writes]",
		"rm x":              "[deletes]",
		"git push":          "[publishes]",
		"git status":        "[]",
		"gh pr create":      "[publishes]",
		"gh pr view":        "[]",
		"curl x":            "[networks]",
		"sudo ls":           "[elevates]",
		"python x":          "[evaluates]",
		"tail -f x":         "[endless]",
		"/usr/bin/rm x > y": "[deletes writes]",
		"$X":                "[]",
	} {
		f, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.Calls[0].Effects()); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func TestTogether(t *testing.T) {
	for line, want := range map[string]bool{"cd a && git status": true, "cd a; bash -c 'git log'": true, "git status": false, "cd a && ls": false} {
		f, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Together() != ""; got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}

// The limits: beyond them a line is refused and never read in part; what was seen still serves a deny.
func TestLimits(t *testing.T) {
	rm := mustPattern(t, `["rm"]`)
	for _, tt := range []struct {
		name, line, want string
		denied           bool
	}{
		{"commands", strings.Repeat("true;", MaxCalls) + "rm x", "more than 50 commands", true},
		{"bytes", strings.Repeat("true;", MaxLine/5) + "rm x", "bytes", false}, // behind the calls that are looked at
		{"bytes, first", "rm x #" + strings.Repeat("x", MaxLine), "bytes", true},
		{"far too long", "rm x #" + strings.Repeat("x", maxSeen), "bytes", false},
		{"parentheses", strings.Repeat("(", 4000), "brackets", false},
		{"substitutions", strings.Repeat("$(", 2000), "brackets", false},
		{"quotes", strings.Repeat(`"$(`, 400), "", false},
		{"wrappers", strings.Repeat("env ", 1500) + "rm x;" + strings.Repeat("true;", MaxCalls), "more than 50 commands", true},
		{"guesses", strings.Repeat("sudo --x ", 800) + "rm x;" + strings.Repeat("true;", MaxCalls), "more than 50 commands", false},
	} {
		f, err := Parse(tt.line)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		denied := No
		for i := range f.Calls {
			denied = max(denied, rm.Restricts(&f, i))
		}
		if (denied != No) != tt.denied {
			t.Errorf("%s: a deny of rm says %d", tt.name, denied)
		}
	}
	nested := strings.Repeat("eval ", MaxDepth+1) + "rm x"
	f, err := Parse(nested)
	if err != nil {
		t.Fatal(err)
	}
	if allows(mustPattern(t, `["rm","..."]`), nested) {
		t.Error("a script that is nested too deeply is allowed")
	}
	if last := f.Calls[len(f.Calls)-1]; last.Problem == "" {
		t.Errorf("no problem in %q", last.String())
	}
}
