package edit

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// The fast search finds what the plain one finds.
func TestSearchEqualsPlain(t *testing.T) {
	letters := rapid.SampledFrom([]byte("aaab\n"))
	rapid.Check(t, func(t *rapid.T) {
		hay := rapid.SliceOfN(letters, 0, 60).Draw(t, "hay")
		hay = bytes.Repeat(hay, rapid.SampledFrom([]int{1, 1, 40}).Draw(t, "times"))
		needle := rapid.SliceOfN(letters, 1, 8).Draw(t, "needle")
		if got, want := newLiteral(hay, needle).next(hay), bytes.Index(hay, needle); got != want {
			t.Fatalf("index %d, want %d", got, want)
		}
		overlap := rapid.Bool().Draw(t, "overlap")
		got := all(hay, needle, overlap, nil).at
		for at := 0; ; {
			i := bytes.Index(hay[at:], needle)
			if i < 0 {
				if len(got) > 0 {
					t.Fatalf("places too many: %v", got)
				}
				return
			}
			at += i
			if len(got) == 0 || got[0] != at {
				t.Fatalf("places %v, want %d next", got, at)
			}
			if got = got[1:]; overlap {
				at++
			} else {
				at += len(needle)
			}
		}
	})
	hay := append(bytes.Repeat([]byte("ab"), 100_000), "abb"...)
	if i := newLiteral(hay, []byte("bb")).next(hay); i != len(hay)-2 {
		t.Errorf("behind many false starts: %d", i)
	}
}

// The way back from a normal form: what begins and ends there begins and ends in the source where it should.
func TestViewOffsets(t *testing.T) {
	tests := []struct {
		src        string
		n          normal
		text, find string
		want       string // of the source, between start and end
	}{
		{"a\r\nb\r\n", normal{}, "a\nb\n", "a\nb", "a\r\nb"},
		{"a\r\nb\r\n", normal{}, "a\nb\n", "\nb\n", "\r\nb\r\n"},
		{"a\rb", normal{cr: true}, "a\nb", "\n", "\r"},
		{"a\rb\n", normal{}, "a\rb\n", "a\rb", "a\rb"},
		{"a  \nb \r\n", normal{trailing: true}, "a\nb\n", "b\n", "b \r\n"},
		{"a  \nb \r\n", normal{trailing: true}, "a\nb\n", "a", "a"},
		{"a  \nb ", normal{trailing: true}, "a\nb", "b", "b"},
		{"x “q” y", normal{fold: true}, `x "q" y`, `"q"`, "“q”"},
		{"x “q”\u00a0\n", normal{fold: true, trailing: true}, "x \"q\"\n", "q\"\n", "q”\u00a0\n"},
		{"go… on", normal{fold: true}, "go... on", "...", "…"},
		{"a\u200bb", normal{fold: true}, "ab", "b", "b"},
		{"a\u200bb", normal{fold: true}, "ab", "a", "a"},
	}
	for _, tt := range tests {
		v := normalise([]byte(tt.src), tt.n)
		if string(v.text) != tt.text {
			t.Errorf("%q: %q, want %q", tt.src, v.text, tt.text)
			continue
		}
		at := bytes.Index(v.text, []byte(tt.find))
		if got := tt.src[v.start(at):v.end(at+len(tt.find))]; got != tt.want {
			t.Errorf("%q: %q is %q, want %q", tt.src, tt.find, got, tt.want)
		}
	}
}
