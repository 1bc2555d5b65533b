package scan

import (
	"bytes"
	"unsafe"
)

// minLanes is the buffer size from which four lanes pay.
const minLanes = 4096

// lane is one of four stretches of a buffer that are scanned side by side. Stretches begin and end at line ends.
type lane struct {
	pos, end int
	hits     []int // a position inside (or at the end) of every matching line
}

// lines finds the matching lines of b by the automaton alone. b holds whole lines; only the last may lack its "\n".
// It returns positions within them, ascending.
func (d *dfa) lines(b []byte, hits []int) []int {
	d.work += len(b)
	if d.slow {
		return d.simulateLines(b, hits)
	}
	if d.heads {
		return d.headLines(b, hits)
	}
	if len(b) < minLanes {
		l := lane{end: len(b), hits: hits}
		d.runOne(b, &l, d.start)
		return l.hits
	}
	var lanes [4]lane
	at := 0
	for k := range lanes {
		end := len(b)
		if k < 3 {
			end = lineAfter(b, max(at, len(b)*(k+1)/4))
		}
		lanes[k] = lane{pos: at, end: end}
		at = end
	}
	lanes[0].hits = hits
	states := d.runFour(b, &lanes)
	for k := range lanes {
		d.runOne(b, &lanes[k], states[k])
		if k > 0 {
			lanes[0].hits = append(lanes[0].hits, lanes[k].hits...)
		}
	}
	return lanes[0].hits
}

// headLines is lines for patterns that match at the beginning of a line only. Nearly all lines are out after their first
// byte, so that is looked for together with the line end before it.
func (d *dfa) headLines(b []byte, hits []int) []int {
	if !d.ranged {
		d.first()
	}
	for p := 0; p < len(b); {
		if end := lineAfter(b, p); d.matchLine(bytes.TrimSuffix(b[p:end], newline)) {
			hits = append(hits, p)
		}
		next := nextHead(b[p:], d.lo, d.hi)
		if next < 0 {
			return hits
		}
		p += next
	}
	return hits
}

// first finds the range of the bytes that a matching line can begin with.
func (d *dfa) first() {
	d.ranged, d.lo, d.hi = true, 255, 0
	for c := range 256 {
		s := d.start
		if to := d.next(&s, byte(c), nil); to != dDead && (c != '\n' || to != d.start) {
			d.lo, d.hi = min(d.lo, byte(c)), max(d.hi, byte(c))
		}
	}
	if d.lo > d.hi {
		d.lo = d.hi
	}
}

// nextHeadPortable is nextHead by means of the standard library's byte search.
func nextHeadPortable(b []byte, lo, hi byte) int {
	for p := 0; ; {
		i := bytes.IndexByte(b[p:], '\n')
		if p += i + 1; i < 0 || p == len(b) {
			return -1
		}
		if lo <= b[p] && b[p] <= hi {
			return p
		}
	}
}

// lineAfter returns the beginning of the line after the one that holds from.
func lineAfter(b []byte, from int) int {
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(b)
}

// runFour advances all lanes together until one of them is through. One table load after another would leave the
// processor waiting; four independent ones overlap.
func (d *dfa) runFour(b []byte, l *[4]lane) [4]uint32 {
	s := [4]uint32{d.start, d.start, d.start, d.start}
	text := unsafe.Pointer(unsafe.SliceData(b))
	for {
		n := l[0].end - l[0].pos
		for k := 1; k < 4; k++ {
			n = min(n, l[k].end-l[k].pos)
		}
		if n <= 0 {
			return s
		}
		table := unsafe.Pointer(unsafe.SliceData(d.trans))
		t0, t1 := unsafe.Add(text, l[0].pos), unsafe.Add(text, l[1].pos)
		t2, t3 := unsafe.Add(text, l[2].pos), unsafe.Add(text, l[3].pos)
		s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
		i := 0
		for i < n {
			n0 := at32(table, s0+at8(t0, i))
			n1 := at32(table, s1+at8(t1, i))
			n2 := at32(table, s2+at8(t2, i))
			n3 := at32(table, s3+at8(t3, i))
			if (n0|n1|n2|n3)&special != 0 {
				break
			}
			s0, s1, s2, s3 = n0, n1, n2, n3
			i++
		}
		s = [4]uint32{s0, s1, s2, s3}
		for k := range l {
			l[k].pos += i
		}
		if i == n {
			continue
		}
		for k := range l {
			d.advance(b, &l[k], s[:], k)
			if d.slow {
				return s
			}
		}
	}
}

// advance takes one careful step in lane k. A matching line is recorded and left.
func (d *dfa) advance(b []byte, l *lane, s []uint32, k int) {
	if l.pos >= l.end {
		return
	}
	c := b[l.pos]
	to := d.trans[s[k]+uint32(c)]
	if to == dUnknown {
		cur := s[k]
		to = d.step(&cur, c, s)
	}
	if to&special == 0 {
		s[k] = to
		l.pos++
		return
	}
	if to == dMatch || to == dQuit && d.simulate(d.lineAt(b, l.pos)) {
		l.hits = append(l.hits, l.pos)
	}
	l.pos = min(lineAfter(b, l.pos), l.end)
	s[k] = d.start
}

// lineAt returns the line that holds a position (which may be that of its "\n").
func (d *dfa) lineAt(b []byte, pos int) []byte {
	start, end := lineBounds(b, pos)
	return b[start:end]
}

// lineBounds returns the line that holds pos, without its "\n".
func lineBounds(b []byte, pos int) (start, end int) {
	start = bytes.LastIndexByte(b[:pos], '\n') + 1
	if i := bytes.IndexByte(b[pos:], '\n'); i >= 0 {
		return start, pos + i
	}
	return start, len(b)
}

// runOne scans the rest of a lane, beginning in state s.
func (d *dfa) runOne(b []byte, l *lane, s uint32) {
	one := [1]uint32{s}
	for l.pos < l.end {
		if d.slow {
			// States are not built any more: begin the line again.
			start, _ := lineBounds(b, l.pos)
			l.hits = d.simulateFrom(b, start, l.end, l.hits)
			l.pos = l.end
			return
		}
		table := unsafe.Pointer(unsafe.SliceData(d.trans))
		text := unsafe.Pointer(unsafe.SliceData(b))
		cur, i := one[0], l.pos
		for i < l.end {
			to := at32(table, cur+at8(text, i))
			if to&special != 0 {
				break
			}
			cur = to
			i++
		}
		one[0], l.pos = cur, i
		d.advance(b, l, one[:], 0)
	}
	if l.end == len(b) && l.end > 0 && b[l.end-1] != '\n' && one[0] != d.start {
		d.lastLine(b, l, one[0])
	}
}

// lastLine decides a last line without "\n" that reached its end in state s.
func (d *dfa) lastLine(b []byte, l *lane, s uint32) {
	to := d.next(&s, '\n', nil)
	if to == dMatch || to == dQuit && d.simulate(d.lineAt(b, len(b))) {
		l.hits = append(l.hits, len(b))
	}
}

func (d *dfa) simulateLines(b []byte, hits []int) []int { return d.simulateFrom(b, 0, len(b), hits) }

func (d *dfa) simulateFrom(b []byte, from, to int, hits []int) []int {
	for from < to {
		end := lineAfter(b, from)
		line := bytes.TrimSuffix(b[from:end], newline)
		if d.simulate(line) {
			hits = append(hits, from)
		}
		from = end
	}
	return hits
}

var newline = []byte{'\n'}
