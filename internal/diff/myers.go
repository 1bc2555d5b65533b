package diff

// The shortest edit script is found with Myers' linear-space algorithm (E. W. Myers, "An O(ND) Difference Algorithm and
// Its Variations", 1986): walk furthest-reaching paths from both corners of the edit graph until they meet, split the
// problem there, and go on with the halves. Two measures keep it quick on texts that differ much:
//
//   - A line that the other text does not have at all cannot match, so it is a change before the search begins.
//   - A search that has gone `reach` steps without meeting splits where it came furthest. The script is still correct,
//     only perhaps not the shortest. A split costs at most reach² steps and advances at least reach lines, so the whole
//     costs at most about lines × reach.
const reach = 128

// solve returns the changes between two texts of numbered lines, as ranges of lines only.
func solve(a, b []int32) []Change {
	s := newSolver(a, b)
	s.run(0, len(s.a), 0, len(s.b))
	return collect(s.changedA, s.changedB)
}

func newSolver(a, b []int32) *solver {
	s := &solver{changedA: make([]bool, len(a)), changedB: make([]bool, len(b))}
	s.a, s.posA = common(a, b, s.changedA)
	s.b, s.posB = common(b, a, s.changedB)
	size := len(s.a) + len(s.b) + 3
	buf := make([]int, 2*size)
	s.fwd, s.bwd = buf[:size], buf[size:]
	return s
}

type solver struct {
	a, b               []int32 // the lines that occur in both texts
	posA, posB         []int   // where they stand
	changedA, changedB []bool
	fwd, bwd           []int // furthest x by diagonal, shifted by off
	work               int   // diagonals that were looked at, for the test of the bound
}

// common returns the lines of a that occur in b and their positions, and marks the others as changed.
func common(a, b []int32, changed []bool) (ids []int32, pos []int) {
	top := int32(-1)
	for _, id := range a {
		top = max(top, id)
	}
	for _, id := range b {
		top = max(top, id)
	}
	in := make([]bool, top+1)
	for _, id := range b {
		in[id] = true
	}
	for i, id := range a {
		if in[id] {
			ids, pos = append(ids, id), append(pos, i)
		} else {
			changed[i] = true
		}
	}
	return ids, pos
}

// run marks the changed lines of the box a[a0:a1] × b[b0:b1].
func (s *solver) run(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && s.a[a0] == s.b[b0] {
			a0, b0 = a0+1, b0+1
		}
		for a0 < a1 && b0 < b1 && s.a[a1-1] == s.b[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		if a0 == a1 || b0 == b1 {
			for ; a0 < a1; a0++ {
				s.changedA[s.posA[a0]] = true
			}
			for ; b0 < b1; b0++ {
				s.changedB[s.posB[b0]] = true
			}
			return
		}
		x, y := s.meet(a0, a1, b0, b1)
		s.run(a0, x, b0, y)
		a0, b0 = x, y
	}
}

// meet returns a point inside the box that a short script passes. The box has no equal corners, so the point is
// neither of its corners and both halves are smaller.
func (s *solver) meet(a0, a1, b0, b1 int) (x, y int) {
	w := walk{a: s.a[a0:a1], b: s.b[b0:b1], fwd: s.fwd, bwd: s.bwd}
	w.n, w.m = len(w.a), len(w.b)
	w.delta, w.off = w.n-w.m, w.m+1
	w.fwd[0], w.fwd[w.off+w.n+1] = -far, -far
	w.bwd[0], w.bwd[w.off+w.n+1] = far, far
	for d := 0; ; d++ {
		s.work += 2 * (min(d, w.n, w.m) + 1)
		x, k, met := w.forward(d)
		if !met {
			x, k, met = w.backward(d)
		}
		if !met && d >= reach {
			x, k = w.furthest(d)
			met = true
		}
		if met {
			return a0 + x, b0 + x - k
		}
	}
}

// walk is the search in one box. Diagonal k holds the points with x-y = k; fwd[off+k] is the greatest x that d steps
// from the upper left corner reach on it, bwd[off+k] the least that d steps from the lower right corner reach.
type walk struct {
	a, b       []int32
	n, m       int
	delta, off int
	fwd, bwd   []int
}

const far = 1 << 40 // further than any text; marks a diagonal that no path has reached

// forward takes the step d from the upper left corner and reports where it meets the other search.
func (w *walk) forward(d int) (x, k int, met bool) {
	lo, hi := max(-d, -w.m), min(d, w.n)
	lo += (lo + d) & 1
	if d <= w.m {
		w.fwd[w.off-d-1] = -far
	}
	if d <= w.n {
		w.fwd[w.off+d+1] = -far
	}
	for k = lo; k <= hi; k += 2 {
		x = w.fwd[w.off+k-1] + 1
		if x > w.n {
			x = -far
		}
		if v := w.fwd[w.off+k+1]; v > x && v-k <= w.m {
			x = v
		}
		if d == 0 {
			x = 0
		}
		if x < 0 {
			w.fwd[w.off+k] = -far
			continue
		}
		for y := x - k; x < w.n && y < w.m && w.a[x] == w.b[y]; {
			x, y = x+1, y+1
		}
		w.fwd[w.off+k] = x
		if w.delta&1 != 0 && k > w.delta-d && k < w.delta+d && w.bwd[w.off+k] <= x {
			return x, k, true
		}
	}
	return 0, 0, false
}

// backward is forward from the lower right corner.
func (w *walk) backward(d int) (x, k int, met bool) {
	lo, hi := max(w.delta-d, -w.m), min(w.delta+d, w.n)
	lo += (lo + w.delta + d) & 1
	if i := w.off + w.delta - d - 1; i >= 0 {
		w.bwd[i] = far
	}
	if i := w.off + w.delta + d + 1; i <= w.off+w.n+1 {
		w.bwd[i] = far
	}
	for k = lo; k <= hi; k += 2 {
		x = w.bwd[w.off+k+1] - 1
		if x < 0 {
			x = far
		}
		if v := w.bwd[w.off+k-1]; v < x && v-k >= 0 {
			x = v
		}
		if d == 0 {
			x = w.n
		}
		if x > w.n {
			w.bwd[w.off+k] = far
			continue
		}
		for y := x - k; x > 0 && y > 0 && w.a[x-1] == w.b[y-1]; {
			x, y = x-1, y-1
		}
		w.bwd[w.off+k] = x
		if w.delta&1 == 0 && k >= -d && k <= d && w.fwd[w.off+k] >= x {
			return x, k, true
		}
	}
	return 0, 0, false
}

// furthest returns the point of the last step that lies furthest from its corner.
func (w *walk) furthest(d int) (x, k int) {
	best := -1
	for i := max(-d, -w.m); i <= min(d, w.n); i++ {
		if v := w.fwd[w.off+i]; v >= 0 && 2*v-i > best {
			best, x, k = 2*v-i, v, i
		}
	}
	for i := max(w.delta-d, -w.m); i <= min(w.delta+d, w.n); i++ {
		if v := w.bwd[w.off+i]; v <= w.n && w.n+w.m-(2*v-i) > best {
			best, x, k = w.n+w.m-(2*v-i), v, i
		}
	}
	return x, k
}

// collect turns marks into ranges.
func collect(changedA, changedB []bool) []Change {
	var out []Change
	i, j := 0, 0
	for i < len(changedA) || j < len(changedB) {
		if i < len(changedA) && !changedA[i] && j < len(changedB) && !changedB[j] {
			i, j = i+1, j+1
			continue
		}
		c := Change{A: Range{Line: i}, B: Range{Line: j}}
		for i < len(changedA) && changedA[i] {
			i++
		}
		for j < len(changedB) && changedB[j] {
			j++
		}
		c.A.End, c.B.End = i, j
		out = append(out, c)
	}
	return out
}
