package pipe

import (
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
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
		d := text.Distance(w, f, len(w))
		ok := d <= max(2, max(len(w), len(f))/3) && d < len(w)
		if _, last, two := strings.Cut(f, "."); two && words {
			if e := text.Distance(w, last, len(w)); e <= max(2, len(last)/3) && e < len(w) && (!ok || e < d) {
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
