package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds between characters, as parts of their size.
const (
	rowDrift  = 0.5  // how far a character may stand beside the line of writing: raised and lowered ones do
	backDrift = 0.6  // how far it may stand before the end of the last one, as accents do
	mostLoose = 0.2  // how loosely the letters of a word may be set
	wordGap   = 0.15 // what is left free between words
	blankGap  = 0.06 // the same where a blank is shown
)

// glued is a character with the gap before it, as a part of its size.
type glued struct {
	*char
	gap   float64
	blank bool // a blank is shown in the gap
}

// layout writes characters as lines of words. Characters stand in the order in which the page shows them; a blank is where
// a gap is, because programs leave gaps without blanks, and put blanks where no gap is.
func layout(seen []char) string {
	out := lines{text: make([]byte, 0, 2*len(seen))}
	rows(seen, out.write)
	return string(out.text)
}

// measured gives the lines with where they stand, in the direction in which they run.
func measured(seen []char) []line {
	var out []line
	rows(seen, func(row []glued) {
		l := line{text: strings.Join(strings.Fields(clean(lineOf(row))), " ")}
		if l.text == "" {
			return
		}
		sizes := map[float64]int{}
		for _, g := range row {
			size := math.Round(g.em*2) / 2
			if sizes[size] += len(g.text); sizes[size] > sizes[l.size] {
				l.size = size
			}
		}
		c := row[0]
		l.left = c.x*c.dx + c.y*c.dy
		y := c.y*c.dx - c.x*c.dy
		l.top, l.bottom = y+0.8*c.em, y-0.2*c.em
		out = append(out, l)
	})
	return out
}

// lineOf writes one line.
func lineOf(row []glued) string {
	var o lines
	o.write(row)
	return string(o.text)
}

// rows calls do for each line of characters. The line is gone afterwards.
func rows(seen []char, do func(row []glued)) {
	var row []glued
	blank := false
	flush := func() {
		if len(row) > 0 {
			do(row)
			row = row[:0]
		}
	}
	for i := range seen {
		c := &seen[i]
		if empty(c.text) {
			blank = true
			continue
		}
		g := glued{c, 0, blank}
		blank = false
		if len(row) > 0 {
			if again(row, c) {
				continue
			}
			var same bool
			last := &row[len(row)-1]
			if g.gap, same = follows(last.char, c); !same {
				flush()
			} else if !g.blank && g.gap < -0.1 && accented(last, c) {
				continue
			}
		}
		row = append(row, g)
	}
	flush()
}

func empty(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) && r >= 0x20 {
			return false
		}
	}
	return true
}

// follows reports whether a character stands on the line of the one before it, and how far behind that.
func follows(a, b *char) (gap float64, same bool) {
	if a.dx*b.dx+a.dy*b.dy < 0.99 {
		return 0, false
	}
	em := max(a.em, b.em)
	gx, gy := b.x-a.ex, b.y-a.ey
	along, across := gx*a.dx+gy*a.dy, math.Abs(gx*a.dy-gy*a.dx)
	back := backDrift * em
	if along < -back && (rightToLeft(firstRune(a.text)) || rightToLeft(firstRune(b.text))) {
		back = 4 * em // it goes on to the left
	}
	return along / min(a.em, b.em), across < rowDrift*em && along > -back
}

// accents are the characters that stand for themselves above or below a letter, with those that belong to one.
var accents = map[string]string{"`": "\u0300", "´": "\u0301", "ˆ": "\u0302", "^": "\u0302", "˜": "\u0303", "~": "\u0303", "¯": "\u0304", "˘": "\u0306",
	"˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328"}

// accented puts an accent and the letter that it stands at together, whichever of them comes first.
func accented(last *glued, c *char) bool {
	mark, letter := accents[last.text], c
	if mark == "" {
		mark, letter = accents[c.text], last.char
	}
	base := strings.NewReplacer("ı", "i", "ȷ", "j").Replace(letter.text)
	if mark == "" || !unicode.IsLetter(firstRune(base)) {
		return false
	}
	both := *letter
	both.text = norm.NFC.String(base + mark)
	both.x, both.y = last.x, last.y
	last.char = &both
	return true
}

// again reports whether a character stands where the same one does, as in letters that are drawn twice to be bold.
func again(row []glued, c *char) bool {
	for i := len(row) - 1; i >= 0 && i >= len(row)-3; i-- {
		p := row[i].char
		if p.text == c.text && math.Abs(p.x-c.x) < 0.1*c.em && math.Abs(p.y-c.y) < 0.1*c.em {
			return true
		}
	}
	return false
}

// lines is the text of a page.
type lines struct {
	text []byte
	gaps []float64 // room to sort in
}

// write puts a line out. Where letters are set loosely, what is left free between words is more than elsewhere.
func (o *lines) write(row []glued) {
	row = logical(row)
	loose := 0.0
	if len(row) > 4 {
		gaps := o.gaps[:0]
		for _, g := range row[1:] {
			if !g.blank {
				gaps = append(gaps, g.gap)
			}
		}
		if o.gaps = gaps; len(gaps) > 3 {
			slices.Sort(gaps)
			if loose = max(0, gaps[len(gaps)/2]); loose > mostLoose {
				loose = 0 // they stand each for itself
			}
		}
	}
	if r, _ := utf8.DecodeRuneInString(row[0].text); unicode.IsLower(r) && o.divided() {
		o.text = o.text[:len(o.text)-2]
	}
	for i, g := range row {
		if i > 0 && (g.gap > loose+wordGap || g.blank && g.gap > blankGap) {
			o.text = append(o.text, ' ')
		}
		o.put(g.text)
	}
	o.text = append(o.text, '\n')
}

// divided reports whether the last line ends with a hyphen behind a letter, and nothing has come after it.
func (o *lines) divided() bool {
	n := len(o.text)
	if n < 3 || o.text[n-2] != '-' {
		return false
	}
	r, _ := utf8.DecodeLastRune(o.text[:n-2])
	return unicode.IsLetter(r)
}

// put writes characters, and those that are a way to draw others as the others: ﬁ as fi.
func (o *lines) put(s string) {
	if len(s) == 1 {
		o.text = append(o.text, s[0])
		return
	}
	for _, r := range s {
		if r >= 0xfb00 && r < 0xfe00 || r >= 0xfe70 && r < 0xff00 {
			o.text = norm.NFKC.AppendString(o.text, string(r))
		} else {
			o.text = utf8.AppendRune(o.text, r)
		}
	}
}
