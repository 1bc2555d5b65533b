package diff

// A run of added (or of removed) lines between equal lines often has several honest positions: where its first line
// equals the line after it, it can slide down by one, and up likewise. People read a diff more easily when a run starts
// and ends at the borders of what the author wrote, so slide takes the position whose borders are indented least, next to
// a blank line where there is one, and the lowest of equal ones.

// maxSlide bounds the positions that are tried per run, in lines each way.
const maxSlide = 100

// slide moves pure additions and removals to their most readable position and joins runs that come to touch.
func slide(changes []Change, a, b lines, ida, idb []int32) []Change {
	for i := range changes {
		c := &changes[i]
		run, other, ids, text, top := &c.A, &c.B, ida, a, len(ida)
		switch {
		case c.A.Len() == 0:
			run, other, ids, text, top = &c.B, &c.A, idb, b, len(idb)
		case c.B.Len() != 0:
			continue
		}
		// One equal line stays on both sides, so that neighbours keep apart.
		up, down := run.Line, top-run.End
		if i > 0 {
			up = min(c.A.Line-changes[i-1].A.End, c.B.Line-changes[i-1].B.End) - 1
		}
		if i+1 < len(changes) {
			down = min(changes[i+1].A.Line-c.A.End, changes[i+1].B.Line-c.B.End) - 1
		}
		shift := bestShift(*run, ids, text, min(up, maxSlide), min(down, maxSlide))
		run.Line, run.End = run.Line+shift, run.End+shift
		other.Line, other.End = other.Line+shift, other.End+shift
	}
	return changes
}

func bestShift(run Range, ids []int32, text lines, up, down int) int {
	u, d := 0, 0
	for u < up && ids[run.Line-u-1] == ids[run.End-u-1] {
		u++
	}
	for d < down && ids[run.Line+d] == ids[run.End+d] {
		d++
	}
	if u == 0 && d == 0 {
		return 0
	}
	best, bestCost := 0, int(^uint(0)>>1)
	for s := -u; s <= d; s++ {
		if cost := border(text, run.Line+s) + border(text, run.End+s); cost <= bestCost {
			best, bestCost = s, cost
		}
	}
	return best
}

// border rates the place before line i: the indentation of that line, less where a blank line stands before it.
func border(text lines, i int) int {
	const atBlank = 3
	cost := 0
	if i < text.len() {
		n, blank := indent(text.line(i))
		if blank {
			n = 2 * atBlank // a run that starts with a blank line reads worse than one that ends with it
		}
		cost = 4 * n
	}
	if i > 0 {
		if _, blank := indent(text.line(i - 1)); blank {
			cost -= atBlank
		}
	}
	return cost
}

func indent(line []byte) (width int, blank bool) {
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 8 - width%8
		case '\r', '\n':
			return 0, true
		default:
			return width, false
		}
	}
	return 0, true
}
