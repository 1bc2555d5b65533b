package scan

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

type op uint8

const (
	opRange  op = iota // one byte in [lo, hi]
	opSparse           // one byte in one of several ranges, each with its own successor
	opSplit            // out or alt
	opAssert           // out, where the assertion holds
	opMatch
)

// assertion is a set of conditions on a position. Word means word character in the sense of \w.
type assertion uint8

const (
	begLine assertion = 1 << iota
	endLine
	begText
	endText
	wordEdge   // \b
	noWordEdge // \B
	noWordBefore
	noWordAfter

	edges = wordEdge | noWordEdge | noWordBefore | noWordAfter
)

type branch struct {
	lo, hi byte
	out    int32
}

type inst struct {
	op       op
	lo, hi   byte
	assert   assertion
	out, alt int32
	sparse   []branch // ascending, disjoint
}

// nfa is the byte automaton of a pattern. Successors come before their predecessors in prog.
type nfa struct {
	prog    []inst
	start   int32
	match   int32
	asserts assertion // all that occur
	lines   bool      // "\n" ends the match: classes do not hold it
	dotNL   bool
	wild    bool // some class holds U+FFFD, so invalid UTF-8 can match
	full    bool // the pattern is too large; the program is useless
}

// maxProgram bounds the automaton: beyond it one step costs more than a pattern is worth.
const maxProgram = 100_000

func (n *nfa) emit(i inst) int32 {
	if len(n.prog) >= maxProgram {
		n.full = true
		return n.match
	}
	n.prog = append(n.prog, i)
	return int32(len(n.prog) - 1)
}

func (n *nfa) split(a, b int32) int32 { return n.emit(inst{op: opSplit, out: a, alt: b}) }

func (n *nfa) assertion(a assertion, next int32) int32 {
	n.asserts |= a
	return n.emit(inst{op: opAssert, assert: a, out: next})
}

// compileNFA builds the automaton of a program, with Word and Line around it.
func (p *Program) compileNFA() *nfa {
	n := &nfa{lines: !p.opt.Multiline, dotNL: p.opt.Multiline && p.opt.DotAll}
	n.match = n.emit(inst{op: opMatch})
	next := n.match
	switch {
	case p.opt.Line:
		next = n.lineEnd(next)
	case p.opt.Word:
		next = n.assertion(noWordAfter, next)
	}
	next = n.comp(p.re, next)
	switch {
	case p.opt.Line:
		next = n.assertion(begLine, next)
	case p.opt.Word:
		next = n.assertion(noWordBefore, next)
	}
	n.start = next
	return n
}

// lineEnd compiles "$": the end of a line, where "\r" before "\n" belongs to the line end.
func (n *nfa) lineEnd(next int32) int32 {
	end := n.assertion(endLine, next)
	return n.split(end, n.emit(inst{op: opRange, lo: '\r', hi: '\r', out: end}))
}

var anyRune = []rune{0, unicode.MaxRune}

func (n *nfa) comp(re *syntax.Regexp, next int32) int32 {
	switch re.Op {
	case syntax.OpNoMatch:
		return n.emit(inst{op: opSparse})
	case syntax.OpEmptyMatch:
		return next
	case syntax.OpLiteral:
		for i := len(re.Rune) - 1; i >= 0; i-- {
			next = n.literal(re.Rune[i], re.Flags&syntax.FoldCase != 0, next)
		}
		return next
	case syntax.OpCharClass:
		return n.class(re.Rune, next)
	case syntax.OpAnyChar:
		return n.class(anyRune, next)
	case syntax.OpAnyCharNotNL:
		if n.dotNL {
			return n.class(anyRune, next)
		}
		return n.class(without(anyRune, '\n'), next)
	case syntax.OpBeginLine:
		return n.assertion(begLine, next)
	case syntax.OpEndLine:
		return n.lineEnd(next)
	case syntax.OpBeginText:
		if n.lines {
			return n.assertion(begLine, next)
		}
		return n.assertion(begText, next)
	case syntax.OpEndText:
		if n.lines {
			return n.lineEnd(next)
		}
		return n.assertion(endText, next)
	case syntax.OpWordBoundary:
		return n.assertion(wordEdge, next)
	case syntax.OpNoWordBoundary:
		return n.assertion(noWordEdge, next)
	case syntax.OpCapture:
		return n.comp(re.Sub[0], next)
	case syntax.OpStar, syntax.OpPlus:
		s := n.split(next, -1)
		body := n.comp(re.Sub[0], s)
		n.prog[s].alt = body
		if re.Op == syntax.OpPlus {
			return body
		}
		return s
	case syntax.OpQuest:
		return n.split(next, n.comp(re.Sub[0], next))
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			next = n.comp(re.Sub[i], next)
		}
		return next
	case syntax.OpAlternate:
		pc := n.comp(re.Sub[0], next)
		for _, s := range re.Sub[1:] {
			pc = n.split(pc, n.comp(s, next))
		}
		return pc
	}
	panic("scan: unexpected operator " + re.Op.String())
}

func (n *nfa) literal(r rune, fold bool, next int32) int32 {
	if fold {
		rs := []rune{r, r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			rs = append(rs, f, f)
		}
		if len(rs) > 2 {
			for i := 2; i < len(rs); i += 2 { // a class is ascending
				for k := i; k > 0 && rs[k-2] > rs[k]; k -= 2 {
					rs[k-2], rs[k-1], rs[k], rs[k+1] = rs[k], rs[k+1], rs[k-2], rs[k-1]
				}
			}
			return n.class(rs, next)
		}
	}
	var b [utf8.UTFMax]byte
	for k := utf8.EncodeRune(b[:], r) - 1; k >= 0; k-- {
		next = n.emit(inst{op: opRange, lo: b[k], hi: b[k], out: next})
	}
	return next
}

// without returns the ranges of a class minus one character.
func without(ranges []rune, r rune) []rune {
	var out []rune
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if r < lo || hi < r {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}
	return out
}

// class compiles ascending ranges of characters into a tree of bytes: one sparse instruction a level, equal subtrees
// shared, so that even \w with its 800 ranges costs a state one entry.
func (n *nfa) class(ranges []rune, next int32) int32 {
	if n.lines {
		ranges = without(ranges, '\n')
	}
	t := &classTree{nfa: n, next: next, seen: map[string]int32{}}
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			n.wild = true
		}
		t.add(ranges[i], ranges[i+1])
	}
	return t.build(t.seqs, 0)
}
