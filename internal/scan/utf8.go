package scan

import (
	"encoding/binary"
	"unicode/utf8"
)

// span is a range of bytes; a seq of them is a set of encoded characters.
type (
	span struct{ lo, hi byte }
	seq  []span
)

// classTree collects the encodings of a class and builds instructions from them.
type classTree struct {
	nfa  *nfa
	next int32
	seqs []seq
	seen map[string]int32 // built nodes by their branches
}

// add splits a range of characters into ranges whose encodings differ in no more than one range for each byte.
func (t *classTree) add(lo, hi rune) {
	if lo > hi {
		return
	}
	const surrogateMin, surrogateMax = 0xD800, 0xDFFF
	if lo <= surrogateMax && hi >= surrogateMin {
		t.add(lo, surrogateMin-1)
		t.add(surrogateMax+1, hi)
		return
	}
	for _, most := range []rune{0x7F, 0x7FF, 0xFFFF} { // the last character of each length
		if lo <= most && most < hi {
			t.add(lo, most)
			t.add(most+1, hi)
			return
		}
	}
	if hi < utf8.RuneSelf {
		t.seqs = append(t.seqs, seq{{byte(lo), byte(hi)}})
		return
	}
	for bits := 6; bits <= 18; bits += 6 { // the low bits must run over all their values, or the high ones be equal
		mask := rune(1)<<bits - 1
		if lo&^mask == hi&^mask {
			break
		}
		if lo&mask != 0 {
			t.add(lo, lo|mask)
			t.add(lo|mask+1, hi)
			return
		}
		if hi&mask != mask {
			t.add(lo, hi&^mask-1)
			t.add(hi&^mask, hi)
			return
		}
	}
	var a, b [utf8.UTFMax]byte
	s := make(seq, utf8.EncodeRune(a[:], lo))
	utf8.EncodeRune(b[:], hi)
	for i := range s {
		s[i] = span{a[i], b[i]}
	}
	t.seqs = append(t.seqs, s)
}

// build makes the node for sequences that share everything before byte number depth. They are ascending, and two
// sequences either have the same range at depth or disjoint ones.
func (t *classTree) build(seqs []seq, depth int) int32 {
	var out []branch
	var key []byte
	for i := 0; i < len(seqs); {
		s := seqs[i][depth]
		j := i + 1
		for j < len(seqs) && seqs[j][depth] == s {
			j++
		}
		to := t.next
		if depth+1 < len(seqs[i]) {
			to = t.build(seqs[i:j], depth+1)
		}
		if n := len(out); n > 0 && out[n-1].out == to && out[n-1].hi+1 == s.lo {
			out[n-1].hi = s.hi
			key[len(key)-5] = s.hi
		} else {
			out = append(out, branch{s.lo, s.hi, to})
			key = append(key, s.lo, s.hi)
			key = binary.LittleEndian.AppendUint32(key, uint32(to))
		}
		i = j
	}
	if pc, ok := t.seen[string(key)]; ok {
		return pc
	}
	in := inst{op: opSparse, sparse: out}
	if len(out) == 1 {
		in = inst{op: opRange, lo: out[0].lo, hi: out[0].hi, out: out[0].out}
	}
	pc := t.nfa.emit(in)
	t.seen[string(key)] = pc
	return pc
}

// A decoder state says what may follow within a character: 0 between characters, the others below.
const (
	u8More1 = iota + 1 // one continuation byte is missing
	u8More2
	u8More3
	u8AfterE0 // then A0..BF and one more
	u8AfterED // then 80..9F and one more
	u8AfterF0 // then 90..BF and two more
	u8AfterF4 // then 80..8F and two more
	u8Bad
)

// u8Next advances a decoder state.
func u8Next(state, c byte) byte {
	in := func(lo, hi, then byte) byte {
		if lo <= c && c <= hi {
			return then
		}
		return u8Bad
	}
	switch state {
	case u8More1:
		return in(0x80, 0xBF, 0)
	case u8More2:
		return in(0x80, 0xBF, u8More1)
	case u8More3:
		return in(0x80, 0xBF, u8More2)
	case u8AfterE0:
		return in(0xA0, 0xBF, u8More1)
	case u8AfterED:
		return in(0x80, 0x9F, u8More1)
	case u8AfterF0:
		return in(0x90, 0xBF, u8More2)
	case u8AfterF4:
		return in(0x80, 0x8F, u8More2)
	}
	switch {
	case c < 0x80:
		return 0
	case c < 0xC2:
		return u8Bad
	case c < 0xE0:
		return u8More1
	case c == 0xE0:
		return u8AfterE0
	case c == 0xED:
		return u8AfterED
	case c < 0xF0:
		return u8More2
	case c == 0xF0:
		return u8AfterF0
	case c < 0xF4:
		return u8More3
	case c == 0xF4:
		return u8AfterF4
	}
	return u8Bad
}
