package change

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, mine, theirs, want string
		conflicts                      []Region
		opt                            MergeOptions
	}{
		{name: "apart", base: "1\n2\n3\n4\n5\n", mine: "x\n2\n3\n4\n5\n", theirs: "1\n2\n3\n4\ny\n", want: "x\n2\n3\n4\ny\n"},
		{name: "same", base: "1\n2\n", mine: "1\nx\n", theirs: "1\nx\n", want: "1\nx\n"},
		{name: "same and another", base: "1\n2\n3\n4\n", mine: "x\n2\n3\n4\n", theirs: "x\n2\n3\ny\n", want: "x\n2\n3\ny\n"},
		{name: "mine only", base: "1\n", mine: "2\n", theirs: "1\n", want: "2\n"},
		{name: "delete and append", base: "1\n2\n3\n", mine: "2\n3\n", theirs: "1\n2\n3\n4", want: "2\n3\n4"},
		{name: "conflict", base: "1\n2\n3\n", mine: "1\nm\n3\n", theirs: "1\nt\nt2\n3\n",
			want:      "1\n<<<<<<< mine\nm\n=======\nt\nt2\n>>>>>>> theirs\n3\n",
			conflicts: []Region{{Base: Span{2, 1}, Mine: Span{2, 1}, Theirs: Span{2, 2}, Merged: Span{2, 6}}}},
		{name: "diff3", opt: MergeOptions{Diff3: true, MineName: "yours", BaseName: "planned", TheirsName: "disk"},
			base: "1\n2\n3\n", mine: "1\nm\n3\n", theirs: "1\n3\n",
			want:      "1\n<<<<<<< yours\nm\n||||||| planned\n2\n=======\n>>>>>>> disk\n3\n",
			conflicts: []Region{{Base: Span{2, 1}, Mine: Span{2, 1}, Theirs: Span{2, 0}, Merged: Span{2, 6}}}},
		{name: "neighbours touch", base: "1\n2\n3\n", mine: "m\n2\n3\n", theirs: "1\nt\n3\n",
			want:      "<<<<<<< mine\nm\n2\n=======\n1\nt\n>>>>>>> theirs\n3\n",
			conflicts: []Region{{Base: Span{1, 2}, Mine: Span{1, 2}, Theirs: Span{1, 2}, Merged: Span{1, 7}}}},
		{name: "no line end", base: "1", mine: "m", theirs: "t",
			want:      "<<<<<<< mine\nm\n=======\nt\n>>>>>>> theirs\n",
			conflicts: []Region{{Base: Span{1, 1}, Mine: Span{1, 1}, Theirs: Span{1, 1}, Merged: Span{1, 5}}}},
		{name: "a chain of overlaps", base: "1\n2\n3\n4\n5\n6\n7\n", mine: "1\nm\nm\n4\nm\n6\n7\n", theirs: "1\n2\nt\nt\nt\n6\nseven\n",
			want:      "1\n<<<<<<< mine\nm\nm\n4\nm\n=======\n2\nt\nt\nt\n>>>>>>> theirs\n6\nseven\n",
			conflicts: []Region{{Base: Span{2, 4}, Mine: Span{2, 4}, Theirs: Span{2, 4}, Merged: Span{2, 11}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, conflicts := c.opt.Merge([]byte(c.base), []byte(c.mine), []byte(c.theirs))
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(c.conflicts, conflicts); d != "" {
				t.Errorf("conflicts (-want +got)\n%s", d)
			}
		})
	}
}

func genLines(t *rapid.T, label string) []byte {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 0, 12).Draw(t, label)
	return []byte(strings.Join(lines, "") + rapid.SampledFrom([]string{"", "z"}).Draw(t, "end"))
}

// F10: a merge never loses a side. Without conflicts it is symmetric, and a side that did nothing takes the other's.
func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, mine, theirs := genLines(t, "base"), genLines(t, "mine"), genLines(t, "theirs")
		for _, c := range [][2][]byte{{base, mine}, {mine, base}, {mine, mine}} {
			got, conflicts := Merge(base, c[0], c[1])
			if len(conflicts) > 0 || !bytes.Equal(got, mine) {
				t.Fatalf("Merge(%q, %q, %q) = %q, %v", base, c[0], c[1], got, conflicts)
			}
		}
		got, conflicts := Merge(base, mine, theirs)
		other, otherConflicts := Merge(base, theirs, mine)
		if len(conflicts) != len(otherConflicts) || len(conflicts) == 0 && !bytes.Equal(got, other) {
			t.Fatalf("not symmetric: %q %v, %q %v", got, conflicts, other, otherConflicts)
		}
		all := bytes.SplitAfter(got, []byte("\n"))
		for i, c := range conflicts {
			first, last := all[c.Merged.Line-1], all[c.Merged.Line+c.Merged.Count-2]
			if string(first) != "<<<<<<< mine\n" || string(last) != ">>>>>>> theirs\n" {
				t.Fatalf("conflict %d of %q is not at %+v", i, got, c.Merged)
			}
		}
	})
}

// Edits of separate paragraphs always merge to both.
func TestMergeKeepsBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 40).Draw(t, "n")
		i := rapid.IntRange(0, n-3).Draw(t, "i")
		j := rapid.IntRange(i+2, n-1).Draw(t, "j")
		text := func(mi, ti bool) []byte {
			var b strings.Builder
			for k := range n {
				switch {
				case k == i && mi:
					b.WriteString("mine\nmore\n")
				case k == j && ti:
				default:
					b.WriteString(strings.Repeat("x", k) + "\n")
				}
			}
			return []byte(b.String())
		}
		got, conflicts := Merge(text(false, false), text(true, false), text(false, true))
		if want := text(true, true); !bytes.Equal(got, want) || conflicts != nil {
			t.Fatalf("got %q %v, want %q", got, conflicts, want)
		}
	})
}
