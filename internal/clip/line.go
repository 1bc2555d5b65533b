package clip

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Piece is a window of one line. Columns are 1-based and count characters (runes; each invalid byte is one).
type Piece struct {
	Text  string // the window, byte for byte
	From  int    // column of its first character
	To    int    // column of its last character; From-1 for an empty window
	Total int    // characters in the whole line
}

// Cut says how many characters are missing.
func (p Piece) Cut() Cut {
	if p.From <= 1 && p.To >= p.Total {
		return Cut{}
	}
	return Cut{Unit: UnitCharacters, Characters: Span{Total: int64(p.Total), Kept: int64(p.To - p.From + 1)}}
}

// Before and After return how many characters the line has on each side of the window.
func (p Piece) Before() int { return p.From - 1 }

// After returns how many characters follow the window.
func (p Piece) After() int { return p.Total - p.To }

// String returns the window with a marker on each side that was cut. The marker behind it names the column with which
// to continue.
func (p Piece) String() string {
	if p.Before() <= 0 && p.After() <= 0 {
		return p.Text
	}
	var b strings.Builder
	b.Grow(len(p.Text) + 96)
	if n := p.Before(); n > 0 {
		fmt.Fprintf(&b, "…(%s before)… ", characters(n))
	}
	b.WriteString(p.Text)
	if n := p.After(); n > 0 {
		fmt.Fprintf(&b, " …(%s more; continue at column %d)…", characters(n), p.To+1)
	}
	return b.String()
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// Line keeps the first width characters of a line. A non-positive width keeps all.
func Line(line string, width int) Piece { return Columns(line, 1, width) }

// Columns keeps width characters of a line beginning with column from (1-based; less means 1). A window that begins
// behind the end of the line is empty, with Total telling where the end is. A non-positive width has no limit.
func Columns(line string, from, width int) Piece {
	from = max(from, 1)
	if width <= 0 {
		width = len(line)
	}
	start, skipped := advance(line, from-1)
	if skipped < from-1 {
		return Piece{From: skipped + 1, To: skipped, Total: skipped}
	}
	end, taken := advance(line[start:], width)
	end += start
	return Piece{
		Text: line[start:end], From: from, To: from - 1 + taken,
		Total: from - 1 + taken + utf8.RuneCountInString(line[end:]),
	}
}

// LineAt keeps width characters around the bytes [start, end) of a line, such as the match of a search. A match in the
// first width characters shows the start of the line; else a third of the window stands before the match.
func LineAt(line string, width, start, end int) Piece {
	start = min(max(start, 0), len(line))
	end = min(max(end, start), len(line))
	if width <= 0 || len(line) <= width {
		return Columns(line, 1, width)
	}
	before := utf8.RuneCountInString(line[:start])
	match := utf8.RuneCountInString(line[start:end])
	if before+match <= width {
		return Columns(line, 1, width)
	}
	total := before + match + utf8.RuneCountInString(line[end:])
	from := min(before-width/3, total-width)
	return Columns(line, max(from, 0)+1, width)
}

// Middle keeps the start and the end of a short text, with "…" between them, in at most width characters ("…" counted).
// It is for values quoted in a message. A non-positive width keeps all.
func Middle(s string, width int) string {
	if width <= 0 || len(s) <= width {
		return s
	}
	total := utf8.RuneCountInString(s)
	if total <= width {
		return s
	}
	head := width / 2
	i, _ := advance(s, head)
	j, _ := advance(s[i:], total-head-(width-1-head))
	return s[:i] + "…" + s[i+j:]
}

// advance returns the offset after n characters of s and how many there were.
func advance(s string, n int) (offset, count int) {
	for count < n && offset < len(s) {
		if s[offset] < utf8.RuneSelf {
			offset++
		} else {
			_, size := utf8.DecodeRuneInString(s[offset:])
			offset += size
		}
		count++
	}
	return offset, count
}
