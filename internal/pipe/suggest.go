package pipe

import (
	"slices"
	"strings"
)

// near returns at most three of the names that come closest to what was written, best first: at most two letters
// away, or a third of the longer word.
func near(written string, names []string, words bool) []string {
	type cand struct {
		name string
		d    int
	}
	var out []cand
	w := Fold(written)
	for _, n := range names {
		f := Fold(n)
		d := distance(w, f)
		ok := d <= max(2, max(len(w), len(f))/3) && d < len(w)
		if _, last, two := strings.Cut(f, "."); two && words {
			if e := distance(w, last); e <= max(2, len(last)/3) && e < len(w) && (!ok || e < d) {
				d, ok = e, true
			}
		}
		if ok {
			out = append(out, cand{n, d})
		}
	}
	slices.SortStableFunc(out, func(a, b cand) int { return a.d - b.d })
	var best []string
	for _, c := range out[:min(3, len(out))] {
		best = append(best, c.name)
	}
	return best
}

// distance returns how many letters must be put in, taken out or changed; two that changed places are one.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	x, y := []rune(a), []rune(b)
	prev2, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(y)]
}
