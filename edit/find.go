package edit

import (
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// FindOptions narrows a search for whole lines.
type FindOptions struct {
	From  int  // the first line, from 0, on which the lines may begin
	AtEnd bool // they must be the last lines of the file
	// Extra are lines in the style of the searched ones that will be adapted to the place. They help to tell how wide
	// a step of indentation is.
	Extra []string
	// Ragged also finds lines that are indented otherwise than in the file by different amounts. It is for patches, which
	// say for each new line which old line it follows; see Block.Adapt.
	Ragged bool
}

// Block is a place of whole lines.
type Block struct {
	Line, Len  int    // the first line, from 0, and how many
	Start, End int    // in bytes of the content, with the line endings
	Rung       Rung   // Exact, TrailingSpace, Indentation or Punctuation
	Ragged     bool   // the lines are indented by different amounts
	Note       string // what was overlooked; empty for Exact

	shift  *shift
	said   []string // indentation searched for, and
	there  []string // in the file; only if Ragged
	finder *Finder
	extra  []string
}

// Find returns the places at which lines stand, in order: all those of the strictest rung on which there are any. Lines
// are given without their endings, which do not count. The rungs are those of the file: Exact, TrailingSpace,
// Indentation and Punctuation; what is about a request, such as pasted line numbers, is not a matter of patches.
// No lines are nowhere.
func (f *Finder) Find(lines []string, opt FindOptions) []Block {
	if len(lines) == 0 {
		return nil
	}
	want := strings.Join(lines, "\n") + "\n"
	r := &reading{old: want, new: strings.Join(opt.Extra, "\n"), lines: true}
	for l := byEnding; l <= byFold; l++ {
		if l > byEnding && strings.TrimSpace(want) == "" && l != byTrailing {
			continue
		}
		found, _ := f.find(r, l, true)
		if blocks := f.blocks(found, lines, opt); len(blocks) > 0 {
			return blocks
		}
	}
	if opt.Ragged {
		return f.ragged(want, lines, opt)
	}
	return nil
}

func (f *Finder) blocks(found []match, lines []string, opt FindOptions) []Block {
	var blocks []Block
	for i := range found {
		m := &found[i]
		if m.inside {
			continue // not whole lines; Ragged finds them
		}
		s := f.differences(m)
		s &^= 1 << LineEndings
		b := Block{Start: m.start, End: m.end, Rung: s.top(), Note: s.note(), shift: m.shift}
		if f.within(&b, lines, opt) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// ragged finds lines whose keys are equal, with whatever indentation.
func (f *Finder) ragged(want string, lines []string, opt FindOptions) []Block {
	if !informative(want) {
		return nil
	}
	var blocks []Block
	for _, l := range []level{byIndent, byFold} {
		nb := newBlock(want, l.normal(f.cr))
		f.eachBlock(nb, l, true, func(p blockPlace) bool {
			var s rungs
			s.add(Indentation)
			if l == byFold {
				s.add(Punctuation)
			}
			b := Block{Start: p.start, End: p.end, Rung: s.top(), Note: s.note(), Ragged: true, said: nb.indents, there: p.indents}
			for _, e := range opt.Extra {
				b.extra = append(b.extra, indentsOf(e)...)
			}
			if f.within(&b, lines, opt) {
				blocks = append(blocks, b)
			}
			return true
		})
		if len(blocks) > 0 {
			break
		}
	}
	return blocks
}

// within completes a block and reports whether it is where the options want it.
// within completes a block and reports whether it is one that opt wants. A searched line that holds a lone CR is several
// lines of a file whose lines end so, which is no place for it: callers count lines.
func (f *Finder) within(b *Block, lines []string, opt FindOptions) bool {
	b.Line, b.Len, b.finder = f.index().At(b.Start), len(lines), f
	if b.End > b.Start && f.index().At(b.End-1)-b.Line >= b.Len {
		return false
	}
	b.Start, b.End = b.Start+f.bom, b.End+f.bom
	return b.Line >= opt.From && (!opt.AtEnd || b.End == len(f.raw))
}

// Adapt indents a new line, given without its ending, for this place. near is the searched line, from 0, that it
// replaces or follows. It fails where the line would begin left of the margin, or its style does not fit.
func (b *Block) Adapt(line string, near int) (string, bool) {
	if !b.Ragged {
		return b.shift.apply(line)
	}
	body := strings.TrimLeft(line, " \t")
	near = min(max(near, 0), len(b.said)-1)
	for near > 0 && b.said[near] == "" && b.there[near] == "" { // a blank line, or one at the margin: look above
		near--
	}
	if line[:len(line)-len(body)] == b.said[near] && body != "" {
		return b.there[near] + body, true
	}
	s, ok := b.finder.solve(b.said[near:near+1], b.there[near:near+1], b.extra)
	if !ok {
		return "", false
	}
	return s.apply(line)
}

// Ending returns the characters that end a new line at this place.
func (b *Block) Ending() string {
	f := b.finder
	return f.endingNear(b.Start-f.bom, b.End-f.bom).Chars()
}

// Lines returns the line index of the content without its byte order mark.
func (f *Finder) Lines() *text.Lines { return f.index() }
