package edit

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/text"
)

// Bounds of the explanation of a miss, so that it costs a few milliseconds per megabyte whatever the strings are.
const (
	maxOldLines = 200     // lines of the old text that are looked up
	maxHits     = 1 << 16 // lines of the file that equal one of them
	maxTokens   = 8       // words looked up if no line is equal
	maxPlaces   = 500     // places looked at for a word
	minLetters  = 6       // of the words of the old text on one line of the file, so that it counts as near
	maxShown    = 14      // lines of a Region.Diff
	maxExcerpt  = 160     // characters of a DiffLine
)

func (f *Finder) notFound(req Request) *NotFoundError {
	e := &NotFoundError{AlreadyApplied: f.applied(req)}
	if line := f.nearest(req.Old); line >= 0 {
		e.Nearest = f.diffAt(line, req.Old)
	}
	return e
}

// applied returns the line on which the new text stands, if this tells that the edit was made before: it must stand
// there alone, be no part of the old text, and be long enough not to be there by chance.
func (f *Finder) applied(req Request) int {
	new := strings.Trim(req.New, "\r\n")
	if strings.Contains(req.Old, new) || !informative(new) {
		return 0
	}
	v := f.view(byEnding)
	needle := normalise([]byte(new), normal{cr: f.cr}).text
	lit := newLiteral(v.text, needle)
	at := lit.next(v.text)
	if at < 0 {
		return 0
	}
	lineAlone := lineStart(v.text, at) && lineEnd(v.text, at+len(needle))
	if len(needle) < 12 && !lineAlone || lit.next(v.text[at+1:]) >= 0 && !req.ReplaceAll {
		return 0
	}
	return text.Number(f.content, v.start(at))
}

// index returns the line index of the content.
func (f *Finder) index() *text.Lines {
	if f.lines == nil {
		f.lines = text.Index(f.content)
	}
	return f.lines
}

// nearest returns the line, from 0, at which most lines of the old text would be in place, or -1.
func (f *Finder) nearest(old string) int {
	said := cutLines(old, f.cr)
	said = said[:min(len(said), maxOldLines)]
	if line := f.byLines(said); line >= 0 {
		return line
	}
	return f.byWords(said)
}

// hit is a line of the file that equals one of the old text but for white space around it.
type hit struct{ line, old int32 }

// byLines lets the lines that are equal vote for the line at which the old text would begin. A line that is frequent in
// the file has little to say.
func (f *Finder) byLines(said []line) int {
	at := map[string][]int32{}
	var lengths [64]bool
	for i, l := range said {
		if key := strings.TrimSpace(l.body); informative(key) && len(at[key]) < 4 {
			at[key] = append(at[key], int32(i))
			lengths[len(key)%64] = true
		}
	}
	if len(at) == 0 {
		return -1
	}
	var hits []hit
	count := make([]int32, len(said))
	lines := f.index()
	for i := range lines.Len() {
		body := lines.Body(i)
		if body = trimBlanks(body); !lengths[len(body)%64] {
			continue
		}
		olds := at[string(body)]
		for _, o := range olds {
			hits = append(hits, hit{int32(i), o})
			count[o]++
		}
		if len(hits) > maxHits {
			break
		}
	}
	return elect(said, hits, count)
}

func elect(said []line, hits []hit, count []int32) int {
	votes := map[int32]float64{}
	best, bestLine := 0.0, -1
	for _, h := range hits {
		start := h.line - h.old
		votes[start] += float64(min(len(said[h.old].body), 80)) / float64(count[h.old])
		if v := votes[start]; v > best {
			best, bestLine = v, int(max(0, start))
		}
	}
	return bestLine
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// byWords lets the longest words of the old text vote for the line they stand on.
func (f *Finder) byWords(said []line) int {
	type word struct {
		s    string
		line int
	}
	var words []word
	seen := map[string]bool{}
	for i, l := range said {
		for _, w := range strings.FieldsFunc(l.body, func(r rune) bool { return !wordRune(r) }) {
			if len(w) >= 3 && !seen[w] {
				seen[w] = true
				words = append(words, word{w, i})
			}
		}
	}
	sort.SliceStable(words, func(i, j int) bool { return len(words[i].s) > len(words[j].s) })
	votes, letters := map[int]float64{}, map[int]int{}
	best, bestLine := 0.0, -1
	lines := f.index()
	for _, w := range words[:min(len(words), maxTokens)] {
		found := wordPlaces(f.content, w.s)
		last := -1
		for _, at := range found {
			line := lines.At(at)
			if line == last {
				continue
			}
			last = line
			votes[line] += float64(len(w.s)) / float64(len(found))
			letters[line] += len(w.s)
			if votes[line] > best && (letters[line] >= minLetters || len(words) == 1) {
				best, bestLine = votes[line], max(0, line-w.line)
			}
		}
	}
	return bestLine
}

func wordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// wordPlaces returns the first places of a word in the text, also as a part of longer words.
func wordPlaces(content []byte, word string) []int {
	var found []int
	lit := newLiteral(content, []byte(word))
	for at := 0; len(found) < maxPlaces; at += len(word) {
		i := lit.next(content[min(at, len(content)):])
		if i < 0 {
			break
		}
		at += i
		found = append(found, at)
	}
	return found
}

// region explains a match that cannot be used.
func (f *Finder) region(m *match, old string) *Region {
	return f.diffAt(f.index().At(m.start), old)
}

// diffAt sets the old text beside the lines of the file that begin at the given one.
func (f *Finder) diffAt(from int, old string) *Region {
	const slack = 8 // lines that may have come in between
	lines, said := f.index(), cutLines(old, f.cr)
	said = said[:min(len(said), maxOldLines)]
	from = min(from, max(0, lines.Len()-1))
	last := min(lines.Len(), from+len(said)+slack)
	var here, there []line // compared without white space around the lines
	for _, l := range said {
		there = append(there, line{body: strings.TrimSpace(l.body)})
	}
	for i := from; i < last; i++ {
		here = append(here, line{body: strings.TrimSpace(string(lines.Body(i)))})
	}
	d := differ{f: f, from: from, said: said}
	x, y := 0, 0
	subsequence(there, here, func(i, j int) {
		d.changed(x, i, y, j)
		d.same(i, j)
		x, y = i+1, j+1
	})
	d.changed(x, len(said), y, min(len(here), max(y, y+len(said)-x)))
	return d.region()
}

// differ collects the lines of a Region. Counting starts at 0 here.
type differ struct {
	f    *Finder
	from int // the line of the file where counting there starts
	said []line
	diff []DiffLine
}

func (d *differ) body(j int) string { return string(d.f.index().Body(d.from + j)) }

// changed pairs lines of the old text with lines of the file that differ.
func (d *differ) changed(i, iEnd, j, jEnd int) {
	for i < iEnd || j < jEnd {
		a, b := "", ""
		if i < iEnd {
			a = d.said[i].body
		}
		if j < jEnd {
			b = d.body(j)
		}
		if i < iEnd {
			d.diff = append(d.diff, DiffLine{Op: '-', Text: excerpt(a, b)})
			i++
		}
		if j < jEnd {
			d.diff = append(d.diff, DiffLine{Op: '+', Line: d.from + j + 1, Text: excerpt(b, a)})
			j++
		}
	}
}

// same adds lines that are equal but perhaps for white space around them.
func (d *differ) same(i, j int) {
	a, b := d.said[i].body, d.body(j)
	if a != b {
		d.changed(i, i+1, j, j+1)
		return
	}
	d.diff = append(d.diff, DiffLine{Op: ' ', Line: d.from + j + 1, Text: clipAround(b, 0)})
}

// region cuts the lines to those around the first difference.
func (d *differ) region() *Region {
	r := &Region{}
	first := 0
	for first < len(d.diff) && d.diff[first].Op == ' ' {
		first++
	}
	lo := max(0, min(first-2, len(d.diff)-maxShown))
	hi := min(len(d.diff), lo+maxShown)
	for _, l := range d.diff[hi:] {
		r.Cut = r.Cut || l.Op != ' '
	}
	r.Diff = d.diff[lo:hi]
	for _, l := range r.Diff {
		if l.Line > 0 && r.Line == 0 {
			r.Line = l.Line
		}
		r.Last = max(r.Last, l.Line)
	}
	if r.Line == 0 {
		r.Line, r.Last = d.from+1, d.from+1
	}
	return r
}

// excerpt shows a line with visible white space, around where it begins to differ from another.
func excerpt(s, other string) string {
	n := 0
	for n < len(s) && n < len(other) && s[n] == other[n] {
		n++
	}
	return text.Visible(clipAround(s, n))
}

// clipAround returns a long line cut to the characters around a place in it.
func clipAround(s string, at int) string {
	if len(s) <= maxExcerpt {
		return s
	}
	lo := max(0, min(at-maxExcerpt/4, len(s)-maxExcerpt))
	hi := min(len(s), lo+maxExcerpt)
	for lo > 0 && !utf8.RuneStart(s[lo]) {
		lo--
	}
	for hi < len(s) && !utf8.RuneStart(s[hi]) {
		hi++
	}
	cut := s[lo:hi]
	if lo > 0 {
		cut = "…" + cut
	}
	if hi < len(s) {
		cut += "…"
	}
	return cut
}
