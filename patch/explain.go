package patch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
)

// maxFuzz is how many lines of context may be wrong at either end of a unified hunk, as in GNU patch.
const maxFuzz = 2

// fuzzy places a unified hunk without its outermost context, as GNU patch does, but only where one place is left. The
// longer context loses lines first.
func (l *locator) fuzzy(h *Hunk, res *HunkResult) place {
	if l.patch.Format != Unified || !h.Numbered {
		return place{}
	}
	prefix, suffix := contextEnds(h.Lines)
	longer := max(prefix, suffix)
	for fuzz := 1; fuzz <= min(maxFuzz, longer); fuzz++ {
		head, tail := max(0, fuzz+prefix-longer), max(0, fuzz+suffix-longer)
		some := part{h.Lines[head : len(h.Lines)-tail], head}
		old := olds(some.lines)
		if !informative(old) {
			return place{}
		}
		blocks := strict(l.doc.stands(old, edit.FindOptions{From: l.cursor, Extra: addedTexts(some.lines)}))
		if len(blocks) == 1 {
			res.Fuzz = fuzz
			res.addNote(fmt.Sprintf("%d lines of context at its ends are not in the file", head+tail))
			return place{hunk: h, part: some, found: true, block: &blocks[0], at: blocks[0].Line}
		}
		if len(blocks) > 1 {
			return place{}
		}
	}
	return place{}
}

// strict keeps the places where nothing but line endings and white space at line ends differs.
func strict(blocks []edit.Block) []edit.Block {
	if len(blocks) > 0 && blocks[0].Rung > edit.TrailingSpace {
		return nil
	}
	return blocks
}

// contextEnds counts the context lines at both ends.
func contextEnds(lines []Line) (prefix, suffix int) {
	for prefix < len(lines) && lines[prefix].Kind == Context {
		prefix++
	}
	for suffix < len(lines)-prefix && lines[len(lines)-1-suffix].Kind == Context {
		suffix++
	}
	return prefix, suffix
}

// explain says why a hunk is nowhere: the change is made already, the lines stand where they may not be, or which line is
// the first that differs at the place that comes nearest.
func (l *locator) explain(h *Hunk) *Error {
	old, new := olds(h.Lines), news(h.Lines)
	if len(new) > 0 && informative(new) && coreEnd(h.Lines) >= 0 && changes(h.Lines) {
		if b := strict(l.doc.stands(new, edit.FindOptions{})); len(b) > 0 && len(new) > 0 && distinct(h.Lines) {
			err := fail(AlreadyApplied, "the new lines already stand at line %d: the change seems to be made; leave the hunk out", b[0].Line+1)
			err.At = []int{b[0].Line + 1}
			return err
		}
	}
	if b := l.doc.stands(old, edit.FindOptions{}); len(b) > 0 {
		at := b[len(b)-1].Line
		err := fail(OutOfOrder, "the old lines stand at line %d, before an earlier hunk of this file; put the hunks in the order of the file", at+1)
		switch {
		case h.EOF && at >= l.cursor:
			err = fail(NotFound, "the old lines stand at line %d and not at the end of the file; leave \"%s\" out", at+1, eofMark)
		case len(h.Anchors) > 0 && at >= l.cursor:
			err = fail(NotFound, "the old lines stand at line %d, which is not behind the line %q", at+1, clip(h.Anchors[len(h.Anchors)-1]))
		}
		err.At = []int{at + 1}
		return err
	}
	return l.nearest(h, old)
}

// changes reports whether the hunk is more than context.
func changes(lines []Line) bool {
	for _, l := range lines {
		if l.Kind != Context {
			return true
		}
	}
	return false
}

// distinct reports whether finding the new lines says anything: they are not just lines that remain when others go.
func distinct(lines []Line) bool {
	kept := 0
	for _, l := range lines {
		if l.Kind == Added && strings.IndexFunc(l.Text, isWord) >= 0 {
			return true
		}
		if l.Kind == Context && strings.IndexFunc(l.Text, isWord) >= 0 {
			kept++
		}
	}
	return kept >= 2
}

// nearest names the place where most old lines are, and the first line that differs there.
func (l *locator) nearest(h *Hunk, old []string) *Error {
	at, hits := l.bestStart(old)
	if hits == 0 {
		return l.similar(old)
	}
	i := 0
	for i < len(old)-1 && at+i >= 0 && at+i < l.doc.lines.Len() && l.doc.line(at+i) == old[i] {
		i++
	}
	last := min(at+len(old), l.doc.lines.Len())
	width := len(strconv.Itoa(at + i + 1))
	there := fmt.Sprintf("+ %d  %s", at+i+1, clip(text.Visible(l.doc.line(min(max(at+i, 0), l.doc.lines.Len()-1)))))
	switch {
	case at+i < 0:
		there = "  (the file begins behind it)"
	case at+i >= l.doc.lines.Len():
		there = "  (the file ends before it)"
	}
	err := fail(NotFound, "the old lines are not in the file. Nearest are lines %d-%d, where %d of %d are the same but for white space around them. "+
		"The first that differs is patch line %d (- is the patch, + is the file; → is a tab, · a blank):\n- %*s  %s\n%s\nCopy the lines of the file, not those marked -",
		max(at, 0)+1, last, hits, len(old), patchLine(h, i), width, "", clip(text.Visible(old[i])), there)
	err.At = []int{max(at, 0) + 1}
	return err
}

// similar answers where no old line is in the file. Package edit knows what comes nearest to a text, and says it when it
// does not find one.
func (l *locator) similar(old []string) *Error {
	err := fail(NotFound, "no old line is in the file; read the file and copy the lines from there")
	_, editErr := edit.Apply(l.doc.body, edit.Request{Old: strings.Join(old, "\n") + "\n"})
	var missing *edit.NotFoundError
	if errors.As(editErr, &missing) && missing.Nearest != nil {
		near := missing.Nearest
		err.At = []int{near.Line}
		err.Msg = fmt.Sprintf("no old line is in the file. The nearest text is at line %d (- is the patch, + is the file; → is a tab, · a blank):\n%sCopy the lines of the file, not those marked -",
			near.Line, near.String())
	}
	return err
}

// patchLine returns the line of the patch that old line i stands on.
func patchLine(h *Hunk, i int) int {
	for _, l := range h.Lines {
		if l.Kind == Added {
			continue
		}
		if i == 0 {
			return l.Line
		}
		i--
	}
	return h.Line
}

// bestStart returns the line, from 0 and perhaps before the file, at which most of the old lines would be in place but for
// white space around them, and how many.
func (l *locator) bestStart(old []string) (start, hits int) {
	const most = 1 << 16 // pairs of equal lines that are looked at
	where := map[string][]int{}
	for i, s := range old {
		if key := strings.TrimSpace(s); strings.IndexFunc(key, isWord) >= 0 {
			where[key] = append(where[key], i)
		}
	}
	votes := map[int]int{}
	pairs := 0
	for n := range l.doc.lines.Len() {
		for _, i := range where[strings.TrimSpace(l.doc.line(n))] {
			votes[n-i]++
			pairs++
		}
		if pairs > most {
			break
		}
	}
	for s, n := range votes {
		better := s >= 0 && (start < 0 || s < start) || s < 0 && start < 0 && s > start
		if n > hits || n == hits && better {
			start, hits = s, n
		}
	}
	return start, hits
}
