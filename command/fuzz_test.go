package command

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzParse looks for lines that break an invariant:
//
//   - An error is an *Error with a position in the line.
//   - A call has words that stand in the line, and a parent before itself.
//   - A literal call printed as a line of its own is the same call.
//   - What is read-only has no construct, no assignment, and only parts without a problem.
func FuzzParse(f *testing.F) {
	for _, line := range everyday {
		f.Add(line)
	}
	for _, line := range []string{"sh -c 'git diff; rm x'", "timeout 5 env A=1 xargs -I{} sh -c 'echo {}'", "a(){ b; }; a", "cat <<E\n$(x)\nE", "[[ a ]] && ((1))", "x=1 y= z", "find . -exec a {} +", "eval 'eval \"eval a\"'", "ls # \\\nx", "eval ''", "\xff", "((((", "sudo --x " + strings.Repeat("sudo --x ", 20)} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		facts, err := Parse(line)
		checkError(t, line, err)
		for i := range min(len(facts.Calls), MaxCalls) {
			checkInvariants(t, &facts, i, err)
		}
		ok, reason := ReadOnly(line)
		if ok == (reason != "") {
			t.Errorf("%q: %v for %q", line, ok, reason)
		}
		if ok {
			for i := range facts.Calls {
				if c := &facts.Calls[i]; c.Problem != "" || len(c.Assigns) > 0 || c.Via != Direct {
					t.Errorf("%q: read-only with %#v", line, c)
				}
			}
		}
		if len(facts.Parts()) == 0 && len(facts.Calls) > 0 {
			t.Errorf("%q: no part has to be allowed", line)
		}
		facts.Paths()
		if list, _ := facts.Suggest(); err == nil {
			for _, s := range list {
				if !s.Pattern.Allows(&facts, s.Call) || s.Pattern.Check(false) != nil {
					t.Errorf("%q: the proposal %s does not hold", line, s.Pattern)
				}
			}
		}
	})
}

func checkError(t *testing.T, line string, err error) {
	var e *Error
	if err == nil {
		return
	}
	if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(line) || e.Line < 1 || e.Column < 1 || e.Reason == "" {
		t.Errorf("%q: error %#v", line, err)
	}
}

func checkInvariants(t *testing.T, f *Facts, i int, err error) {
	c := &f.Calls[i]
	if c.Parent >= i || c.Offset > len(f.Line) || c.Parent >= 0 && c.From > len(f.Calls[c.Parent].Args) {
		t.Errorf("%q: call %d: parent %d, offset %d, from %d", f.Line, i, c.Parent, c.Offset, c.From)
	}
	argv, literal := c.Argv()
	if !literal || len(argv) == 0 || c.Problem != "" || err != nil || len(c.Assigns)+len(c.Redirects) > 0 || reserved(argv[0]) {
		return
	}
	again, err := Parse(c.String())
	if err != nil || len(again.Calls) == 0 {
		t.Errorf("%q: call %q cannot be read: %v", f.Line, c.String(), err)
		return
	}
	if got, _ := again.Calls[0].Argv(); !reflect.DeepEqual(got, argv) {
		t.Errorf("%q: call %q is read as %q", f.Line, argv, got)
	}
}

// reserved reports names that mean something else when they are not quoted the way they were.
func reserved(name string) bool {
	switch name {
	case "!", "[[", "((", "time", "coproc", "function", "{", "}":
		return true
	}
	return false
}

// FuzzPattern looks for patterns that break: what is read can be printed and read again, and what it surely restricts
// nothing else allows more of than it spells out.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{`["git",["a","b"],"..."]`, "git a x"}, {"git diff:*", "git diff"}, {`{"argv":["x","..."],"flags":{"deny":["-o"]}}`, "x -ao"}, {`["...","...","..."]`, "a"}, {`[{"glob":"*a*"}]`, "aaa"}, {"* *", "a b"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, source, line string) {
		p, err := ParsePattern(source)
		if err != nil {
			return
		}
		if p.Text == "" {
			again, err := ParsePattern(p.String())
			if err != nil || again.String() != p.String() {
				t.Errorf("%s is printed as %s: %v", source, p, err)
			}
		}
		facts, perr := Parse(line)
		for i := range facts.Calls {
			allowed := p.Check(false) == nil && p.Allows(&facts, i)
			if allowed && facts.Calls[i].Problem != "" {
				t.Errorf("%s allows %q", source, line)
			}
			if own := allowed && p.permits(&facts.Calls[i]); own && perr == nil && p.Restricts(&facts, i) != Yes {
				t.Errorf("%s allows a call of %q that it would not deny", source, line)
			}
		}
	})
}

// Quote makes one literal word of any text that a line may hold.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ -~\n\téß]{0,12}`), 1, 5).Draw(t, "words")
		quoted := []string{"git"}
		for _, w := range words {
			quoted = append(quoted, Quote(w))
		}
		line := strings.Join(quoted, " ")
		if strings.Contains(line, "\\\n") {
			t.Skip("refused")
		}
		facts, err := Parse(line)
		if err != nil || len(facts.Calls) == 0 {
			t.Fatalf("%q: %v", line, err)
		}
		argv, literal := facts.Calls[0].Argv()
		if !literal || !reflect.DeepEqual(argv[1:], words) {
			t.Errorf("%q is read as %q", line, argv)
		}
	})
}
