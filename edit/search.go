package edit

import "bytes"

// literal is a text to search for. It finds what bytes.Index does, faster in source code: bytes.Index stops at every
// occurrence of the first byte, which there is a tab, a blank or a common letter. A literal looks for the byte that is
// rarest in a sample of the file, and gives up to bytes.Index when that turns out to be common after all, so it stays
// linear.
type literal struct {
	text []byte
	rare int // the position of the rarest byte
}

// newLiteral prepares a search for text, which is not empty, in hay.
func newLiteral(hay, text []byte) literal { return literal{text, rarest(hay, text)} }

// rarest returns the position in needle of the byte that occurs least in a sample of hay.
func rarest(hay, needle []byte) int {
	const samples = 1024
	var count [256]uint16
	for i, step := 0, len(hay)/samples+1; i < len(hay); i += step {
		count[hay[i]]++
	}
	best := 0
	for i, b := range needle[:min(len(needle), 256)] {
		if count[b] < count[needle[best]] {
			best = i
		}
	}
	return best
}

// next returns the first place in hay, or -1.
func (l literal) next(hay []byte) int {
	rare, n := l.text[l.rare], len(l.text)
	for at, spent := l.rare, 0; at+n-l.rare <= len(hay); at++ {
		i := bytes.IndexByte(hay[at:len(hay)-n+l.rare+1], rare)
		if i < 0 {
			return -1
		}
		at += i
		start := at - l.rare
		if hay[start] == l.text[0] && bytes.Equal(hay[start:start+n], l.text) {
			return start
		}
		if spent += 16 + n/16; spent > at+4096 {
			if i := bytes.Index(hay[start+1:], l.text); i >= 0 {
				return start + 1 + i
			}
			return -1
		}
	}
	return -1
}

// places is where a needle stands in a text.
type places struct {
	at   []int
	more bool // the search ended early: the needle repeats itself, and every place would cost too much
}

// all returns the places of needle in hay that keep accepts. With overlap it also returns those that overlap an earlier
// one. The work for overlapping places is bounded, as they can number and cost as much as hay is long.
func all(hay, needle []byte, overlap bool, keep func(at int) bool) places {
	const budget = 64 << 20 // bytes compared
	var p places
	if len(needle) == 0 || len(needle) > len(hay) {
		return p
	}
	l := newLiteral(hay, needle)
	for at, spent := 0, 0; at < len(hay); {
		i := -1
		if len(needle) == 1 {
			i = bytes.IndexByte(hay[at:], needle[0])
		} else {
			i = l.next(hay[at:])
		}
		if i < 0 {
			return p
		}
		at += i
		if spent += len(needle); overlap && spent > budget {
			p.more = true
			return p
		}
		if keep == nil || keep(at) {
			p.at = append(p.at, at)
			if !overlap {
				at += len(needle)
				continue
			}
		}
		at++
	}
	return p
}
