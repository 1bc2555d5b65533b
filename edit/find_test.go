package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/edit"
)

// F5 relies on it: whole lines, located by the rungs of the ladder.
func TestF5_Find(t *testing.T) {
	tests := []struct {
		name    string
		content string
		lines   []string
		opt     edit.FindOptions
		want    string // line+length/rung of each block
	}{
		{"exact", "a\nb\na\nb\n", []string{"a", "b"}, edit.FindOptions{}, "0+2/exact 2+2/exact"},
		{"from", "a\nb\na\nb\n", []string{"a", "b"}, edit.FindOptions{From: 1}, "2+2/exact"},
		{"at end", "a\nb\na\nb\n", []string{"a", "b"}, edit.FindOptions{AtEnd: true}, "2+2/exact"},
		{"not at end", "a\nb\n", []string{"a"}, edit.FindOptions{AtEnd: true}, ""},
		{"overlapping", "a\na\na\n", []string{"a", "a"}, edit.FindOptions{}, "0+2/exact 1+2/exact"},
		{"last line without break", "a\nb\na", []string{"a"}, edit.FindOptions{}, "0+1/exact 2+1/exact"},
		{"whole lines only", "ab\nb\nbc\n", []string{"b"}, edit.FindOptions{}, "1+1/exact"},
		{"endings do not count", "a\r\nb\na\nb\r\n", []string{"a", "b"}, edit.FindOptions{}, "0+2/exact 2+2/exact"},
		{"trailing space", "a \nb\n", []string{"a", "b\t"}, edit.FindOptions{}, "0+2/trailing white space"},
		{"a looser place behind the cursor", "a\na \n", []string{"a"}, edit.FindOptions{From: 1}, "1+1/trailing white space"},
		{"indentation", "\tif a {\n\t\tb\n\t}\n", []string{"if a {", "\tb", "}"}, edit.FindOptions{}, "0+3/indentation"},
		{"punctuation", "x = “a”\n", []string{`x = "a"`}, edit.FindOptions{}, "0+1/punctuation"},
		{"uneven", "   a1\n b1\n", []string{"a1", "b1"}, edit.FindOptions{}, ""},
		{"uneven, allowed", "   a1\n b1\n", []string{"a1", "b1"}, edit.FindOptions{Ragged: true}, "0+2/indentation"},
		{"uneven and punctuation", "   a‘1’\n b1\n", []string{"a'1'", "b1"}, edit.FindOptions{Ragged: true}, "0+2/punctuation"},
		{"even before uneven", " a1\n  b1\na1\n\tb1\n", []string{"a1", "\tb1"}, edit.FindOptions{Ragged: true}, "2+2/exact"},
		{"blank lines", "a\n\n \n", []string{""}, edit.FindOptions{}, "1+1/exact"},
		{"blank line with blanks", "a\n \n", []string{""}, edit.FindOptions{}, "1+1/trailing white space"},
		{"no line behind the final break", "a\n", []string{"a", ""}, edit.FindOptions{}, ""},
		{"nothing", "a\n", nil, edit.FindOptions{}, ""},
		{"byte order mark", "\uFEFFa\nb\n", []string{"a"}, edit.FindOptions{}, "0+1/exact"},
		{"braces alone are not moved", "  }\n", []string{"}"}, edit.FindOptions{Ragged: true}, ""},
		{"cr only", "a\rb\rc", []string{"b", "c"}, edit.FindOptions{AtEnd: true}, "1+2/exact"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, b := range edit.NewFinder([]byte(tt.content)).Find(tt.lines, tt.opt) {
				got = append(got, fmt.Sprintf("%d+%d/%v", b.Line, b.Len, b.Rung))
				if (b.Note == "") != (b.Rung == edit.Exact) {
					t.Errorf("rung %v with the note %q", b.Rung, b.Note)
				}
				if n := len(strings.FieldsFunc(tt.content[b.Start:b.End], func(r rune) bool { return r == '\n' || r == '\r' })); n > b.Len {
					t.Errorf("block %q has %d lines, want %d", tt.content[b.Start:b.End], n, b.Len)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

// F5: new lines are written in the indentation and the line ending of the place.
func TestF5_Adapt(t *testing.T) {
	tests := []struct {
		name    string
		content string
		lines   []string
		extra   []string // adapted, each beside line near
		near    int
		ragged  bool
		want    string
	}{
		{"exact", "a\nb\n", []string{"a"}, []string{"  x"}, 0, false, `"  x\n"`},
		{"crlf", "a\r\nb\n", []string{"a"}, []string{"x"}, 0, false, `"x\r\n"`},
		{"deeper", "\tif a {\n\t\tb\n", []string{"if a {", "\tb"}, []string{"\tc", ""}, 1, false, `"\t\tc\n" "\n"`},
		{"less deep", "a1\n  b1\n", []string{"  a1", "    b1"}, []string{"    c", "c"}, 1, false, `"  c\n" no`},
		{"tabs", "\ta1\n\t\tb1\n", []string{"    a1", "        b1"}, []string{"            c"}, 1, false, `"\t\t\tc\n"`},
		{"tabs, one level", "\ta1\n", []string{"    a1"}, []string{"    x {", "        y"}, 0, false, `"\tx {\n" "\t\ty\n"`},
		{"uneven, first", "    a1\n  b1\n", []string{"a1", "b1"}, []string{"x", "  y"}, 0, true, `"    x\n" "      y\n"`},
		{"uneven, second", "    a1\n  b1\n", []string{"a1", "b1"}, []string{"x"}, 1, true, `"  x\n"`},
		{"uneven, line at the margin in between", "    a1\n\n  b1\n", []string{"a1", "", "b1"}, []string{"x"}, 1, true, `"    x\n"`},
		{"uneven, no way", "\ta1\nb1\n", []string{" \ta1", "    b1"}, []string{"x"}, 1, true, "no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			blocks := edit.NewFinder([]byte(tt.content)).Find(tt.lines, edit.FindOptions{Extra: tt.extra, Ragged: tt.ragged})
			if len(blocks) != 1 || blocks[0].Ragged != tt.ragged {
				t.Fatalf("blocks: %+v", blocks)
			}
			var got []string
			for _, line := range tt.extra {
				if s, ok := blocks[0].Adapt(line, tt.near); ok {
					got = append(got, fmt.Sprintf("%q", s+blocks[0].Ending()))
				} else {
					got = append(got, "no")
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

func TestFinderLines(t *testing.T) {
	l := edit.NewFinder([]byte("\uFEFFa\nb")).Lines()
	if l.Len() != 2 || string(l.Body(0)) != "a" {
		t.Errorf("%d lines, first %q", l.Len(), l.Body(0))
	}
}
