package clip

import (
	"strings"
	"unicode/utf8"
)

// Text cuts s to the limits and keeps the part that keep names.
//
// Head ends after a whole line where that costs less than half of the byte limit, else between two characters. Tail
// keeps the last bytes at a character boundary, without a leading run of U+FFFD, which an earlier cut through a
// character leaves. HeadTail gives each end half of both limits and begins the end with a whole line under the same
// condition.
func Text(s string, lim Limits, keep Keep) Result {
	lim = lim.Resolve()
	st := stats{bytes: int64(len(s)), lines: countLines(s)}
	if st.fits(lim) {
		return Result{Keep: keep, Head: s}
	}
	h, t := budgets(lim, keep)
	return finish(s[:within(len(s), h.Bytes)], s[len(s)-within(len(s), t.Bytes):], st, lim, keep)
}

// TailBytes keeps the last maxBytes bytes of text at a character boundary behind a marker that says how many bytes
// went (O5). A non-positive maxBytes returns text unchanged.
func TailBytes(text string, maxBytes int) string {
	if maxBytes <= 0 {
		return text
	}
	return Text(text, Limits{Lines: -1, Bytes: maxBytes}, Tail).Text()
}

// stats are the totals of a text that may be known only by its ends.
type stats struct{ bytes, lines int64 }

func (st stats) fits(lim Limits) bool {
	return (lim.Bytes < 0 || st.bytes <= int64(lim.Bytes)) && (lim.Lines < 0 || st.lines <= int64(lim.Lines))
}

// budgets splits resolved limits between the two ends.
func budgets(lim Limits, keep Keep) (head, tail Limits) {
	switch keep {
	case Head:
		return lim, Limits{}
	case Tail:
		return Limits{}, lim
	}
	half := func(n int) (int, int) {
		if n < 0 {
			return -1, -1
		}
		return n - n/2, n / 2
	}
	head.Lines, tail.Lines = half(lim.Lines)
	head.Bytes, tail.Bytes = half(lim.Bytes)
	return head, tail
}

// within is min(n, budget) where a negative budget means no limit.
func within(n, budget int) int {
	if budget < 0 {
		return n
	}
	return min(n, budget)
}

// finish makes the result of a text that does not fit from as much of its ends as the budgets could need. With a
// negative byte limit both ends are the whole text.
func finish(head, tail string, st stats, lim Limits, keep Keep) Result {
	r := Result{Keep: keep}
	h, t := budgets(lim, keep)
	byBytes := false
	if keep != Tail {
		r.Head, byBytes = cutHead(head, h, st.bytes)
	}
	if keep != Head {
		var cut bool
		r.Tail, cut = cutTail(tail, t, keep)
		byBytes = byBytes || cut
	}
	r.Cut = Cut{
		Unit:  UnitLines,
		Bytes: Span{Total: st.bytes, Kept: int64(len(r.Head) + len(r.Tail))},
		Lines: Span{Total: st.lines, Kept: min(st.lines, countLines(r.Head)+countLines(r.Tail))},
	}
	if byBytes || r.Cut.Dropped() <= 0 {
		r.Cut.Unit = UnitBytes
	}
	return r
}

// cutHead keeps the start of head within its budget; total is the length of the whole text. It reports whether the
// byte limit, not the line limit, decided.
func cutHead(head string, b Limits, total int64) (kept string, byBytes bool) {
	if b.Lines == 0 || b.Bytes == 0 {
		return "", b.Bytes == 0
	}
	if b.Lines > 0 {
		if end := nthLineEnd(head, b.Lines); end >= 0 {
			return head[:end], false
		}
	}
	if int64(len(head)) == total {
		return head, false
	}
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		return head[:i+1], true
	}
	return head[:len(head)-partialRune(head)], true
}

// cutTail keeps the end of tail within its budget. It reports whether the byte limit decided.
func cutTail(tail string, b Limits, keep Keep) (kept string, byBytes bool) {
	if b.Lines == 0 || b.Bytes == 0 {
		return "", b.Bytes == 0
	}
	if b.Lines > 0 {
		if start := lastLinesStart(tail, b.Lines); start >= 0 {
			return tail[start:], false
		}
	}
	for i := 0; i < utf8.UTFMax-1 && tail != "" && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	tail = strings.TrimLeft(tail, "\uFFFD")
	if keep == HeadTail {
		if i := strings.IndexByte(tail, '\n'); i >= 0 && i+1 < len(tail)/2 {
			tail = tail[i+1:]
		}
	}
	return tail, true
}

// nthLineEnd returns the offset after the nth newline, or -1 where s has no text behind it to cut.
func nthLineEnd(s string, n int) int {
	end := 0
	for range n {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return -1
		}
		end += i + 1
	}
	return end
}

// lastLinesStart returns where the last n lines of s begin, or -1 where s does not show their beginning.
func lastLinesStart(s string, n int) int {
	end := len(s)
	if strings.HasSuffix(s, "\n") {
		end--
	}
	for range n {
		i := strings.LastIndexByte(s[:end], '\n')
		if i < 0 {
			return -1
		}
		end = i
	}
	return end + 1
}

// partialRune returns how many bytes at the end of s begin a character that goes on behind s.
func partialRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		c := s[len(s)-n]
		if !utf8.RuneStart(c) {
			continue
		}
		if !utf8.FullRuneInString(s[len(s)-n:]) {
			return n
		}
		return 0
	}
	return 0
}

// countLines counts lines; a last line without newline counts.
func countLines(s string) int64 {
	n := int64(strings.Count(s, "\n"))
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
