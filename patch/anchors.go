package patch

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"github.com/tackle-dev/tackle/edit"
)

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// anchors returns the lines, from 0, behind which the hunk can stand: one for each way in which its anchors follow each
// other in the file. The hunks before do not count, so that a class can be named again for its next method; but an
// anchor behind them is preferred.
func (l *locator) anchors(h *Hunk) (floors []int, note string, err *Error) {
	for i, anchor := range h.Anchors {
		lines, how := l.anchorLines(anchor)
		if len(lines) == 0 {
			return nil, "", l.noAnchor(anchor, h)
		}
		if how != "" {
			note = how
		}
		if i == 0 {
			floors = after(lines, l.cursor)
			continue
		}
		var next []int
		for _, floor := range floors {
			j := sort.SearchInts(lines, floor)
			if j < len(lines) && (len(next) == 0 || next[len(next)-1] != lines[j]+1) {
				next = append(next, lines[j]+1)
			}
		}
		if len(next) == 0 {
			return nil, "", fail(AnchorNotFound, "no line %q follows the line %q", clip(anchor), clip(h.Anchors[i-1]))
		}
		floors = next
	}
	return floors, note, nil
}

// after returns the lines behind each anchor line, of those at or behind the cursor if there are any.
func after(lines []int, cursor int) []int {
	var all, behind []int
	for _, line := range lines {
		all = append(all, line+1)
		if line >= cursor {
			behind = append(behind, line+1)
		}
	}
	if len(behind) > 0 {
		return behind
	}
	return all[len(all)-1:]
}

// named is what an anchor names.
type named struct {
	lines []int
	note  string
}

// anchorLines returns the lines that an anchor names, and remembers them.
func (l *locator) anchorLines(anchor string) (lines []int, note string) {
	n, ok := l.named[anchor]
	if !ok {
		if l.named == nil {
			l.named = map[string]named{}
		}
		n.lines, n.note = l.nameLines(anchor)
		l.named[anchor] = n
	}
	return n.lines, n.note
}

// nameLines finds the lines that an anchor names: equal ones on the ladder of edit, with or without the @@ that
// some write behind the text, else those that begin with it, as "@@ class Foo" is written for "class Foo(Base):".
func (l *locator) nameLines(anchor string) (lines []int, note string) {
	texts := []string{anchor}
	if s, ok := strings.CutSuffix(strings.TrimRight(anchor, " "), "@@"); ok {
		texts = append(texts, strings.TrimRight(s, " "))
	}
	for _, s := range texts {
		if blocks := l.doc.stands([]string{s}, edit.FindOptions{}); len(blocks) > 0 {
			l.places += len(blocks)
			for _, b := range blocks {
				lines = append(lines, b.Line)
			}
			return lines, ""
		}
	}
	want := strings.TrimSpace(texts[len(texts)-1])
	if !informative([]string{want}) {
		return nil, ""
	}
	for i := range l.doc.lines.Len() {
		rest, ok := strings.CutPrefix(strings.TrimSpace(l.doc.line(i)), want)
		if ok && !strings.HasPrefix(rest, "_") && strings.IndexFunc(rest, isWord) != 0 {
			lines = append(lines, i)
		}
	}
	return lines, fmt.Sprintf("%q is only the start of the line", want)
}

func (l *locator) noAnchor(anchor string, h *Hunk) *Error {
	err := fail(AnchorNotFound, "no line of the file is %q; what follows @@ must be a whole line of the file, or leave it out", clip(anchor))
	if blocks := l.doc.stands(olds(h.Lines), edit.FindOptions{}); len(blocks) == 1 {
		err.At = []int{blocks[0].Line + 1}
		err.Msg += fmt.Sprintf(" (the old lines stand at line %d)", blocks[0].Line+1)
	}
	return err
}
