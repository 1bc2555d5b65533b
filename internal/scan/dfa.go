package scan

import (
	"slices"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// States are multiples of 256, so that state+byte is an index into trans. The high bit marks answers instead of states.
const (
	special  = uint32(1) << 31
	dUnknown = special | 1 // not computed yet
	dMatch   = special | 2 // the line matches
	dQuit    = special | 3 // the automaton cannot decide this line: ask simulate
	dDead    = special | 4 // the rest of the line does not matter
)

const (
	maxStates  = 2000 // 1 KiB each; then the cache is emptied
	maxResets  = 8    // after that the pattern is simulated, as building states costs more than it saves
	resetBytes = 64 << 10
)

// What stood before a state, as far as assertions can tell.
const (
	afterOther = iota
	afterWord
	afterLine // at the beginning of a line
	afterText // at the beginning of the text
)

// dfa is the lazily built deterministic automaton of an nfa. It is for one goroutine.
//
// A state is a set of instructions whose assertions are not resolved yet: that needs the byte to come. Word edges next
// to a byte above 7F would need whole characters, so there the automaton quits, as it does for invalid UTF-8 when a
// class of the pattern could match it.
type dfa struct {
	n     *nfa
	trans []uint32
	sets  [][]int32
	ctx   []uint8
	u8    []uint8
	idle  []bool // no match is under way: whatever is found later begins here or later (only where matches span lines)
	cache map[string]uint32
	start uint32
	heads bool // matches begin at the beginning of a line, so most lines are dead after a few bytes

	ranged bool // lo and hi bound the bytes that a matching line can begin with
	lo, hi byte

	mark   []uint32
	gen    uint32
	stack  []int32
	tmp    []int32
	tmp2   []int32
	key    []byte
	resets int
	work   int     // bytes scanned so far, kept by the callers
	slow   bool    // do not build states any more
	valid  []byte  // scratch of simulate
	simA   []int32 // scratch of simulate
	simB   []int32
}

func newDFA(n *nfa) *dfa {
	d := &dfa{n: n, mark: make([]uint32, len(n.prog))}
	d.reset(nil)
	d.resets = 0
	d.gen++
	d.heads = n.lines && len(d.hopeful(d.closure(nil, n.start, 0), afterOther)) == 0
	return d
}

// reset empties the cache. The states in keep are built again and get their new numbers.
func (d *dfa) reset(keep []uint32) {
	type saved struct {
		set     []int32
		ctx, u8 uint8
		idle    bool
	}
	old := make([]saved, len(keep))
	for i, s := range keep {
		k := s >> 8
		old[i] = saved{d.sets[k], d.ctx[k], d.u8[k], d.idle[k]}
	}
	d.trans, d.sets, d.ctx, d.u8, d.idle = d.trans[:0], nil, d.ctx[:0], d.u8[:0], d.idle[:0]
	d.cache = map[string]uint32{}
	d.start = d.begin(afterLine)
	for i, o := range old {
		keep[i] = d.intern(o.set, o.ctx, o.u8, o.idle)
	}
	d.resets++
}

// begin returns the state in which a search begins.
func (d *dfa) begin(ctx uint8) uint32 {
	d.gen++
	d.tmp = d.hopeful(d.closure(d.tmp[:0], d.n.start, 0), ctx)
	return d.intern(d.tmp, ctx, 0, true)
}

// closure adds everything reachable from pc without reading a byte. Assertions that hold do not stop it; those that do
// not hold now are kept in the set and asked again with the next byte.
func (d *dfa) closure(set []int32, pc int32, holds assertion) []int32 {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.mark[pc] == d.gen {
			continue
		}
		d.mark[pc] = d.gen
		i := &d.n.prog[pc]
		switch {
		case i.op == opSplit:
			d.stack = append(d.stack, i.out, i.alt)
		case i.op == opAssert && i.assert&^holds == 0:
			d.stack = append(d.stack, i.out)
		default:
			set = append(set, pc)
		}
	}
	return set
}

// hopeful removes what waits for the beginning of a line from a set that stands elsewhere.
func (d *dfa) hopeful(set []int32, ctx uint8) []int32 {
	if d.n.asserts&(begLine|begText) == 0 || ctx == afterLine || ctx == afterText {
		return set
	}
	return slices.DeleteFunc(set, func(pc int32) bool { return d.n.prog[pc].assert&(begLine|begText) != 0 })
}

// intern returns the state for a set.
func (d *dfa) intern(set []int32, ctx, u8 uint8, idle bool) uint32 {
	slices.Sort(set)
	if d.n.asserts == 0 || d.n.asserts&edges == 0 && ctx == afterWord {
		ctx = afterOther
	}
	d.key = append(d.key[:0], ctx, u8)
	if idle = idle && !d.n.lines; idle {
		d.key[0] |= 0x80
	}
	for _, pc := range set {
		d.key = append(d.key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if s, ok := d.cache[string(d.key)]; ok {
		return s
	}
	id := uint32(len(d.sets)) << 8
	d.sets = append(d.sets, slices.Clone(set))
	d.ctx = append(d.ctx, ctx)
	d.u8 = append(d.u8, u8)
	d.idle = append(d.idle, idle)
	n := len(d.trans)
	d.trans = slices.Grow(d.trans, 256)[:n+256]
	for i := n; i < n+256; i++ {
		d.trans[i] = dUnknown
	}
	d.cache[string(d.key)] = id
	return id
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// holding returns the assertions that hold between what ctx describes and the byte c.
func holding(ctx uint8, c byte) assertion {
	return edgesBetween(ctx == afterWord, isWord(c)) | lineHolding(ctx, c == '\n')
}

func lineHolding(ctx uint8, end bool) (a assertion) {
	switch ctx {
	case afterLine:
		a = begLine
	case afterText:
		a = begLine | begText
	}
	if end {
		a |= endLine
	}
	return a
}

func edgesBetween(before, after bool) (a assertion) {
	if before != after {
		a = wordEdge
	} else {
		a = noWordEdge
	}
	if !before {
		a |= noWordBefore
	}
	if !after {
		a |= noWordAfter
	}
	return a
}

// step computes and stores a transition. keep are the other states that its caller holds; when the cache is emptied
// they, and s, get their new numbers.
func (d *dfa) step(s *uint32, c byte, keep []uint32) uint32 {
	k := *s >> 8
	ctx, u8 := d.ctx[k], d.u8[k]
	if c >= utf8.RuneSelf && d.n.asserts&edges != 0 {
		return d.store(*s, c, dQuit)
	}
	if d.n.wild {
		if u8 = u8Next(u8, c); u8 == u8Bad {
			return d.store(*s, c, dQuit)
		}
	}
	set := d.sets[k]
	if d.n.asserts != 0 {
		set = d.resolve(set, holding(ctx, c))
	}
	if slices.Contains(set, d.n.match) {
		return d.store(*s, c, dMatch)
	}
	if c == '\n' && d.n.lines {
		return d.store(*s, c, d.start)
	}
	d.gen++
	d.tmp = d.tmp[:0]
	for _, pc := range set {
		if out := d.n.after(pc, c); out >= 0 {
			d.tmp = d.closure(d.tmp, out, 0)
		}
	}
	if slices.Contains(d.tmp, d.n.match) {
		return d.store(*s, c, dMatch)
	}
	idle := len(d.tmp) == 0
	d.tmp = d.hopeful(d.closure(d.tmp, d.n.start, 0), context(c))
	if len(d.tmp) == 0 && d.n.lines && u8 == 0 {
		return d.store(*s, c, dDead)
	}
	if len(d.sets) >= maxStates {
		to := slices.Clone(d.tmp)
		d.slow = d.slow || d.resets >= maxResets && d.work < d.resets*resetBytes
		all := append([]uint32{*s}, keep...)
		d.reset(all)
		*s = all[0]
		copy(keep, all[1:])
		return d.store(*s, c, d.intern(to, context(c), u8, idle))
	}
	return d.store(*s, c, d.intern(d.tmp, context(c), u8, idle))
}

// context describes what follows the byte c.
func context(c byte) uint8 {
	switch {
	case c == '\n':
		return afterLine
	case isWord(c):
		return afterWord
	}
	return afterOther
}

func (d *dfa) store(s uint32, c byte, to uint32) uint32 {
	d.trans[s+uint32(c)] = to
	return to
}

// resolve follows the assertions that hold.
func (d *dfa) resolve(set []int32, holds assertion) []int32 {
	d.gen++
	d.tmp2 = d.tmp2[:0]
	for _, pc := range set {
		d.tmp2 = d.closure(d.tmp2, pc, holds)
	}
	return d.tmp2
}

// after returns the successor of an instruction for a byte, or -1.
func (n *nfa) after(pc int32, c byte) int32 {
	i := &n.prog[pc]
	switch i.op {
	case opRange:
		if i.lo <= c && c <= i.hi {
			return i.out
		}
	case opSparse:
		for k := range i.sparse {
			if b := &i.sparse[k]; c <= b.hi {
				if b.lo <= c {
					return b.out
				}
				break
			}
		}
	}
	return -1
}

// next looks a transition up and computes it where needed.
func (d *dfa) next(s *uint32, c byte, keep []uint32) uint32 {
	if to := d.trans[*s+uint32(c)]; to != dUnknown {
		return to
	}
	return d.step(s, c, keep)
}

// matchLine reports whether one line (without its "\n") matches.
func (d *dfa) matchLine(line []byte) bool {
	if d.slow {
		return d.simulate(line)
	}
	s := d.start
	for i := 0; i < len(line); i++ {
		to := d.trans[s+uint32(line[i])]
		if to&special != 0 {
			if to == dUnknown {
				to = d.step(&s, line[i], nil)
			}
			switch to {
			case dMatch:
				return true
			case dQuit:
				return d.simulate(line)
			case dDead:
				return false
			}
		}
		s = to
	}
	switch d.next(&s, '\n', nil) {
	case dMatch:
		return true
	case dQuit:
		return d.simulate(line)
	}
	return false
}

// simulate decides a line by running all threads of the nfa side by side: slow, but it knows characters. Invalid bytes
// count as U+FFFD, one each, as in package regexp.
func (d *dfa) simulate(line []byte) bool {
	if !utf8.Valid(line) {
		d.valid = d.valid[:0]
		for _, r := range string(line) {
			d.valid = utf8.AppendRune(d.valid, r)
		}
		line = d.valid
	}
	set, spare := d.simA[:0], d.simB
	defer func() { d.simA, d.simB = set, spare }()
	before := false
	for i := 0; ; i++ {
		boundary := i == len(line) || utf8.RuneStart(line[i])
		var holds assertion
		if boundary {
			r, _ := utf8.DecodeRune(line[i:])
			after := i < len(line) && isWordRune(r)
			ctx := uint8(afterOther)
			if i == 0 {
				ctx = afterLine
			}
			holds = edgesBetween(before, after) | lineHolding(ctx, i == len(line))
			before = after
			set = append(set, d.n.start)
		}
		d.gen++
		spare = spare[:0]
		for _, pc := range set {
			spare = d.closure(spare, pc, holds)
		}
		if slices.Contains(spare, d.n.match) {
			return true
		}
		if i == len(line) {
			return false
		}
		set = set[:0]
		for _, pc := range spare {
			if out := d.n.after(pc, line[i]); out >= 0 {
				set = append(set, out)
			}
		}
	}
}

// isWordRune is the class \w.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWord(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc) ||
		r == 0x200C || r == 0x200D || 0x24B6 <= r && r <= 0x24E9 ||
		0x1F130 <= r && r <= 0x1F149 || 0x1F150 <= r && r <= 0x1F169 || 0x1F170 <= r && r <= 0x1F189
}

func at32(base unsafe.Pointer, i uint32) uint32 { return *(*uint32)(unsafe.Add(base, uintptr(i)*4)) }

func at8(base unsafe.Pointer, i int) uint32 { return uint32(*(*byte)(unsafe.Add(base, i))) }
