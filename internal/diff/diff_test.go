package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// apply is the definition of what changes mean.
func apply(a, b []byte, changes []Change) []byte {
	var out []byte
	at := 0
	for _, c := range changes {
		out = append(out, a[at:c.A.Off]...)
		out = append(out, b[c.B.Off:c.B.OffEnd]...)
		at = c.A.OffEnd
	}
	return append(out, a[at:]...)
}

// check fails unless the changes are well formed and make a into b.
func check(t interface{ Fatalf(string, ...any) }, a, b []byte, changes []Change) {
	if got := apply(a, b, changes); !bytes.Equal(got, b) {
		t.Fatalf("a %q\nb %q\nchanges %+v\ngive %q", a, b, changes, got)
	}
	line, off, lineB := 0, 0, 0
	for i, c := range changes {
		if i > 0 && (c.A.Line <= line || c.B.Line <= lineB) {
			t.Fatalf("change %d touches the one before: %+v", i, changes)
		}
		if c.A.Len() == 0 && c.B.Len() == 0 {
			t.Fatalf("change %d is empty: %+v", i, changes)
		}
		if n := Lines(a[off:c.A.Off]); n != c.A.Line-line {
			t.Fatalf("change %d: line %d is not at byte %d", i, c.A.Line, c.A.Off)
		}
		if n := Lines(a[c.A.Off:c.A.OffEnd]); n != c.A.Len() {
			t.Fatalf("change %d: %d lines, want %d", i, n, c.A.Len())
		}
		if n := Lines(b[c.B.Off:c.B.OffEnd]); n != c.B.Len() {
			t.Fatalf("change %d: %d new lines, want %d", i, n, c.B.Len())
		}
		line, off, lineB = c.A.End, c.A.OffEnd, c.B.End
	}
}

func genText(label string) func(*rapid.T) []byte {
	return func(t *rapid.T) []byte {
		n := rapid.IntRange(0, 30).Draw(t, label+" lines")
		var out []byte
		for range n {
			out = append(out, rapid.SampledFrom([]string{"a", "b", "c", "", "  x", "}", "a\r"}).Draw(t, "line")...)
			out = append(out, '\n')
		}
		if rapid.Bool().Draw(t, "cut") && len(out) > 0 {
			out = out[:len(out)-1]
		}
		return out
	}
}

func TestCompareMakesAIntoB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genText("a")(t), genText("b")(t)
		changes := Compare(a, b)
		check(t, a, b, changes)
		if (len(changes) == 0) != bytes.Equal(a, b) {
			t.Fatalf("%d changes of %q and %q", len(changes), a, b)
		}
	})
}

// The script is the shortest while the search stays below its bound: compared with the plain quadratic method.
func TestCompareIsShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genText("a")(t), genText("b")(t)
		added, removed := Count(Compare(a, b))
		x, y := bytes.SplitAfter(a, newline), bytes.SplitAfter(b, newline)
		lcs := make([][]int, len(x)+1)
		for i := range lcs {
			lcs[i] = make([]int, len(y)+1)
		}
		for i := range x {
			for j := range y {
				if bytes.Equal(x[i], y[j]) {
					lcs[i+1][j+1] = lcs[i][j] + 1
				} else {
					lcs[i+1][j+1] = max(lcs[i][j+1], lcs[i+1][j])
				}
			}
		}
		// SplitAfter leaves an empty piece after a last line feed; it is no line.
		n := lcs[len(x)][len(y)]
		if len(x[len(x)-1]) == 0 && len(y[len(y)-1]) == 0 {
			n--
		}
		if want := Lines(a) + Lines(b) - 2*n; added+removed != want {
			t.Fatalf("%q → %q: %d changed lines, shortest is %d", a, b, added+removed, want)
		}
	})
}

func TestCommonEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := bytes.Repeat([]byte("abcdefg\n"), rapid.IntRange(0, 2000).Draw(t, "n"))
		b := bytes.Clone(a)
		if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1
		}
		want := 0
		for want < len(a) && a[want] == b[want] {
			want++
		}
		if got := commonPrefix(a, b); got != want {
			t.Fatalf("prefix %d, want %d", got, want)
		}
		want = 0
		for want < len(a) && a[len(a)-1-want] == b[len(b)-1-want] {
			want++
		}
		if got := commonSuffix(a, b); got != want {
			t.Fatalf("suffix %d, want %d", got, want)
		}
		check(t, a, b, Compare(a, b))
	})
}

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name, a, b, want string
		context          int
	}{
		{name: "equal", a: "x\n", b: "x\n", want: ""},
		{name: "create", a: "", b: "x\ny\n", context: 3, want: "@@ -0,0 +1,2 @@\n+x\n+y\n"},
		{name: "empty out", a: "x\n", b: "", context: 3, want: "@@ -1 +0,0 @@\n-x\n"},
		{name: "one line", a: "1\n2\n3\n4\n5\n", b: "1\n2\nX\n4\n5\n", context: 1, want: "@@ -2,3 +2,3 @@\n 2\n-3\n+X\n 4\n"},
		{name: "no newline old", a: "1", b: "1\n", context: 3, want: "@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n"},
		{name: "no newline both", a: "1\n2", b: "0\n2", context: 3, want: "@@ -1,2 +1,2 @@\n-1\n+0\n 2\n\\ No newline at end of file\n"},
		{name: "two hunks", a: "1\n2\n3\n4\n5\n6\n", b: "0\n2\n3\n4\n5\n7\n", context: 1,
			want: "@@ -1,2 +1,2 @@\n-1\n+0\n 2\n@@ -5,2 +5,2 @@\n 5\n-6\n+7\n"},
		{name: "joined", a: "1\n2\n3\n4\n", b: "0\n2\n3\n5\n", context: 1, want: "@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n-4\n+5\n"},
		{name: "no context", a: "1\n2\n3\n", b: "1\n3\n", context: 0, want: "@@ -2 +1,0 @@\n-2\n"},
		{name: "slides to a border", a: "f {\n  x\n}\n\ng {\n  x\n}\n", b: "f {\n  x\n}\n\nh {\n  x\n}\n\ng {\n  x\n}\n", context: 1,
			want: "@@ -4,2 +4,6 @@\n \n+h {\n+  x\n+}\n+\n g {\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := AppendUnified(nil, []byte(c.a), []byte(c.b), Compare([]byte(c.a), []byte(c.b)), c.context)
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// hard returns pairs of texts on which a plain search of the shortest script takes long.
func hard() map[string][2][]byte {
	const n = 50_000
	r := rand.New(rand.NewPCG(1, 2))
	text := func(line func(i int) string) []byte {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
			b.WriteByte('\n')
		}
		return []byte(b.String())
	}
	few := func(k int) func(int) string { return func(int) string { return fmt.Sprint("line ", r.IntN(k)) } }
	shuffled := r.Perm(n)
	return map[string][2][]byte{
		"nothing in common": {text(func(i int) string { return fmt.Sprint("a ", i) }), text(func(i int) string { return fmt.Sprint("b ", i) })},
		"two words":         {text(few(2)), text(few(2))},
		"ten words":         {text(few(10)), text(few(10))},
		"thousand words":    {text(few(1000)), text(few(1000))},
		"shuffled":          {text(func(i int) string { return fmt.Sprint("x ", i) }), text(func(i int) string { return fmt.Sprint("x ", shuffled[i]) })},
		"reversed":          {text(func(i int) string { return fmt.Sprint("x ", i) }), text(func(i int) string { return fmt.Sprint("x ", n-i) })},
	}
}

func TestCompareIsBounded(t *testing.T) {
	for name, p := range hard() {
		check(t, p[0], p[1], Compare(p[0], p[1]))
		a, b := split(p[0], 0, len(p[0])), split(p[1], 0, len(p[1]))
		s := newSolver(intern(a, b))
		s.run(0, len(s.a), 0, len(s.b))
		bound := 2 * reach * (a.len() + b.len())
		t.Logf("%s: %d lines, %d steps, bound %d", name, a.len()+b.len(), s.work, bound)
		if s.work > bound {
			t.Errorf("%s took %d steps for %d lines", name, s.work, a.len()+b.len())
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc"))
	f.Fuzz(func(t *testing.T, a, b []byte) { check(t, a, b, Compare(a, b)) })
}

func BenchmarkCompare(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "line %d of a file that is long\n", i)
	}
	old := text.Bytes()
	edited := bytes.Replace(old, []byte("line 17000 "), []byte("line 17000 changed "), 1)
	b.Run("small edit of 1 MB", func(b *testing.B) {
		b.SetBytes(int64(len(old)))
		for b.Loop() {
			Compare(old, edited)
		}
	})
	for name, p := range hard() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Compare(p[0], p[1])
			}
		})
	}
}
