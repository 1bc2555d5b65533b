package patch

import (
	"slices"
	"strings"
)

// insertion places a hunk that only adds lines: behind its anchor, or in an envelope at the end of the file. A line number
// proves nothing about a place, so with one there must be context, unless the file is empty.
func (l *locator) insertion(h *Hunk, res *HunkResult) (place, *Error) {
	p := place{hunk: h, part: part{lines: h.Lines}, found: true, at: l.doc.lines.Len()}
	switch {
	case p.at == 0:
		return p, nil
	case len(h.Anchors) > 0:
		return l.behindAnchor(p, res)
	case h.Numbered && h.OldStart == 0:
		return p, fail(FileExists, "the hunk says that the file is empty, but it has %d lines", p.at)
	case h.Numbered || l.patch.Format == Unified:
		return p, fail(NoContext, "the hunk only adds lines and has no context to tell where; add unchanged lines around them")
	}
	return p, nil
}

func (l *locator) behindAnchor(p place, res *HunkResult) (place, *Error) {
	floors, note, err := l.anchors(p.hunk)
	if err != nil {
		return p, err
	}
	anchor := clip(p.hunk.Anchors[len(p.hunk.Anchors)-1])
	floors = slices.DeleteFunc(floors, func(n int) bool { return n < l.cursor })
	switch {
	case len(floors) == 0:
		return p, fail(OutOfOrder, "the line %q stands before an earlier hunk of this file; put the hunks in the order of the file", anchor)
	case len(floors) > 1 && !l.opt.FirstMatch:
		err := fail(Ambiguous, "the line %q stands at %d places, lines %s; add context lines to the hunk", anchor, len(floors), list(floors))
		err.At = floors
		return p, err
	}
	p.at = floors[0]
	res.addNote(note)
	return p, nil
}

// repeated refuses a hunk that only adds lines, with nothing behind them, where these lines already stand: it was applied
// before. Lines without a letter or digit can be there by chance.
func (l *locator) repeated(p *place) *Error {
	add, n := addedTexts(p.lines), len(olds(p.lines))
	if len(add) == 0 || n+len(add) != len(p.lines) || !informative(add) {
		return nil
	}
	for _, line := range p.lines[:n] {
		if line.Kind == Added {
			return nil // they stand between others
		}
	}
	at := p.at + n
	if n == 0 && len(p.hunk.Anchors) == 0 {
		at -= len(add)
	}
	if at < 0 || at+len(add) > l.doc.lines.Len() {
		return nil
	}
	for i, s := range add {
		if strings.TrimSpace(l.doc.line(at+i)) != strings.TrimSpace(s) {
			return nil
		}
	}
	err := fail(AlreadyApplied, "the added lines already stand at line %d; leave the hunk out, or repeat that line as context if they shall be there twice", at+1)
	err.At = []int{at + 1}
	return err
}

func informative(lines []string) bool {
	return slices.ContainsFunc(lines, func(s string) bool { return strings.IndexFunc(s, isWord) >= 0 })
}
