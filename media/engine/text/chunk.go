package text

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/tackle-dev/tackle/media"
)

// Chunk is a piece of a text. Start and End count characters (Unicode code points) from 0 in the text that extract text
// gives, so that text[Start:End] is Text.
type Chunk struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
	Start int    `json:"char_start"`
	End   int    `json:"char_end"`
}

// maxChunked bounds the text that is cut, in bytes.
const maxChunked = 64 << 20

func chunk(ctx context.Context, r *media.Request, src string) (media.Result, error) {
	by, _ := r.Args["by"].(string)
	size, overlap := 1000, 0
	if n, ok := r.Args["size"].(float64); ok {
		size = int(n)
	}
	if n, ok := r.Args["overlap"].(float64); ok {
		overlap = int(n)
	}
	if overlap >= size {
		return media.Result{}, media.Failf("overlap=%d must be less than size=%d.", overlap, size)
	}
	if len(src) > maxChunked {
		return media.Result{}, media.Failf("the text has %d MB, more than the %d that can be cut at once. Split it first.", len(src)>>20, maxChunked>>20)
	}
	out, err := Chunks(ctx, src, by, size, overlap)
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Read: &media.Reading{Data: out}}, nil
}

// Chunks cuts a text into pieces of at most size characters: a paragraph, a sentence, or as much as fits ("fixed"). With
// an overlap each piece begins that many characters earlier, within its size. Cuts never split what a reader sees as one
// character, unless that alone is longer than a piece.
func Chunks(ctx context.Context, src, by string, size, overlap int) ([]Chunk, error) {
	c := newCutter(src)
	var spans [][2]int // in characters
	switch by {
	case "fixed":
		spans = [][2]int{{0, len(c.off) - 1}}
	case "sentence":
		spans = c.sentences()
	default:
		spans = c.paragraphs()
	}
	out := []Chunk{}
	put := func(from, to int) {
		out = append(out, Chunk{Index: len(out), Text: src[c.off[from]:c.off[to]], Start: from, End: to})
	}
	for _, s := range spans {
		for at := s[0]; at < s[1]; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			begin := at
			if overlap > 0 && len(out) > 0 {
				begin = c.snapUp(max(0, at-overlap, out[len(out)-1].Start+1), at)
			}
			end := s[1]
			if end-begin > size {
				end = c.cut(at, begin+size, by != "fixed")
			}
			put(begin, end)
			at = end
		}
	}
	return out, nil
}

// cutter knows where the characters of a text begin and where it may be cut.
type cutter struct {
	src  string
	off  []int  // byte offset of each character, and of the end
	safe []bool // whether a reader sees a new character begin here
}

func newCutter(src string) *cutter {
	n := utf8.RuneCountInString(src)
	c := &cutter{src: src, off: make([]int, 0, n+1), safe: make([]bool, n+1)}
	for i := range src {
		c.off = append(c.off, i)
	}
	c.off = append(c.off, len(src))
	at, state, rest := 0, -1, src
	for rest != "" {
		c.safe[at] = true
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += utf8.RuneCountInString(g)
	}
	c.safe[n] = true
	return c
}

// snapUp returns the first place from at where a piece may begin, at most limit.
func (c *cutter) snapUp(at, limit int) int {
	for at < limit && !c.safe[at] {
		at++
	}
	return at
}

// cut returns where to end a piece that begins at from and may reach to: at a blank if there is one in its second half.
func (c *cutter) cut(from, to int, words bool) int {
	end := to
	for end > from && !c.safe[end] {
		end--
	}
	if end <= from {
		return max(to, from+1)
	}
	if words {
		for i := end; i > from+(end-from)/2; i-- {
			if r, _ := utf8.DecodeRuneInString(c.src[c.off[i-1]:]); unicode.IsSpace(r) && c.safe[i] {
				return i
			}
		}
	}
	return end
}

var gap = regexp.MustCompile(`\n[ \t]*\n\s*`)

// paragraphs are what blank lines separate, trimmed.
func (c *cutter) paragraphs() [][2]int {
	var out [][2]int
	at := 0
	for _, g := range append(gap.FindAllStringIndex(c.src, -1), []int{len(c.src), len(c.src)}) {
		out = c.trimmed(out, at, g[0])
		at = g[1]
	}
	return c.inChars(out)
}

// sentences are found by the rules of Unicode, within paragraphs.
func (c *cutter) sentences() [][2]int {
	var out [][2]int
	at := 0
	for _, g := range append(gap.FindAllStringIndex(c.src, -1), []int{len(c.src), len(c.src)}) {
		rest, state := c.src[at:g[0]], -1
		for rest != "" {
			var s string
			s, rest, state = uniseg.FirstSentenceInString(rest, state)
			out = c.trimmed(out, at, at+len(s))
			at += len(s)
		}
		at = g[1]
	}
	return c.inChars(out)
}

// trimmed adds a span of bytes without the blanks at its ends, unless nothing is left.
func (c *cutter) trimmed(out [][2]int, from, to int) [][2]int {
	s := c.src[from:to]
	from += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	to -= len(s) - len(strings.TrimRightFunc(s, unicode.IsSpace))
	if from >= to {
		return out
	}
	return append(out, [2]int{from, to})
}

// inChars turns spans of bytes, in order, into spans of characters.
func (c *cutter) inChars(spans [][2]int) [][2]int {
	i := 0
	find := func(off int) int {
		for c.off[i] < off {
			i++
		}
		return i
	}
	for k := range spans {
		spans[k] = [2]int{find(spans[k][0]), find(spans[k][1])}
	}
	return spans
}
