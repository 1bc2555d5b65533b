package pdf

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// rightToLeft reports whether a character belongs to a script that is written from right to left.
func rightToLeft(r rune) bool {
	return r >= 0x590 && r < 0x900 && unicode.IsLetter(r) || r >= 0xfb1d && r < 0xfe00 || r >= 0xfe70 && r < 0xff00 || r >= 0x10800 && r < 0x11000
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// logical puts a line into the order in which it is read, where some of it is written from right to left: characters are
// taken as they stand on the page, and runs of one direction are turned.
func logical(row []glued) []glued {
	right, left := 0, 0
	for _, g := range row {
		switch r := firstRune(g.text); {
		case rightToLeft(r):
			right++
		case unicode.IsLetter(r):
			left++
		}
	}
	if right == 0 {
		return row
	}
	row = slices.Clone(row)
	at := func(g glued) float64 { return g.x*g.dx + g.y*g.dy }
	slices.SortStableFunc(row, func(a, b glued) int { return cmp.Compare(at(a), at(b)) })
	for i := range row { // what stands free before each is measured anew
		if row[i].blank = false; i > 0 {
			a, b := row[i-1].char, row[i].char
			row[i].gap = ((b.x-a.ex)*a.dx + (b.y-a.ey)*a.dy) / min(a.em, b.em)
		}
	}
	gap := make([]bool, len(row)+1) // between i-1 and i
	for i := 1; i < len(row); i++ {
		gap[i] = row[i].gap > wordGap
	}
	with := func(r rune) bool { return unicode.IsLetter(r) && !rightToLeft(r) || unicode.IsDigit(r) }
	if right >= left {
		reverse(row, gap, 0, len(row))
		runs(row, gap, with)
	} else {
		runs(row, gap, rightToLeft)
	}
	for i := range row {
		row[i].gap, row[i].blank = 0, false
		if i > 0 && gap[i] {
			row[i].gap = 10
		}
	}
	return row
}

// runs turns each run of characters that are, with what stands between two of them.
func runs(row []glued, gap []bool, are func(rune) bool) {
	for i := 0; i < len(row); i++ {
		if !are(firstRune(row[i].text)) {
			continue
		}
		last := i
		for j := i + 1; j < len(row); j++ {
			r := firstRune(row[j].text)
			if are(r) {
				last = j
			} else if unicode.IsLetter(r) || unicode.IsDigit(r) {
				break
			}
		}
		reverse(row, gap, i, last+1)
		i = last
	}
}

// reverse turns a part of a line with the gaps within it.
func reverse(row []glued, gap []bool, from, to int) {
	slices.Reverse(row[from:to])
	slices.Reverse(gap[from+1 : to])
}
