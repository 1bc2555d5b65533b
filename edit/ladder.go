package edit

import (
	"bytes"
	"strings"
	"unicode"
)

// match is a place of the content and what shall stand there.
type match struct {
	start, end int // in Finder.content
	reading    *reading
	shift      *shift // nil: none
	inside     bool   // Indentation: the first line begins behind the indentation that the file has there
	eof        bool   // the old text ends with a line break that the file lacks at its end
	newText    string
}

// ladder is one climb. Readings are made when they are first needed.
type ladder struct {
	f        *Finder
	old, new string
	readings [Escapes + 1][]reading
	made     [Escapes + 1]bool
}

// steps is the order in which readings of the request meet levels of the file.
var steps = []struct {
	rung  Rung // of the reading; Exact is the request as it stands
	level level
}{
	{Exact, byEnding}, {Exact, byTrailing},
	{LineNumbers, byEnding}, {LineNumbers, byTrailing},
	{DiffMarkers, byEnding}, {DiffMarkers, byTrailing},
	{Exact, byIndent}, {LineNumbers, byIndent}, {DiffMarkers, byIndent},
	{Exact, byFold}, {LineNumbers, byFold}, {DiffMarkers, byFold},
	{Escapes, byEnding}, {Escapes, byTrailing}, {Escapes, byIndent}, {Escapes, byFold},
}

// climb returns the matches of the first step that has any, in order. With every, places that overlap are left to
// apart; without, they count as different places.
func (l *ladder) climb(every bool) (found []match, more bool) {
	blank := strings.TrimSpace(l.old) == ""
	for _, s := range steps {
		rs := l.read(s.rung)
		for i := range rs {
			found, more := l.f.find(&rs[i], s.level, !every)
			if len(found) > 0 {
				return found, more
			}
		}
		if blank {
			break // white space alone is looked for as it stands; looser forms of it would be everywhere
		}
	}
	return nil, false
}

func (l *ladder) read(r Rung) []reading {
	if l.made[r] {
		return l.readings[r]
	}
	l.made[r] = true
	switch r {
	case Exact:
		l.readings[r] = []reading{{old: l.old, new: l.new}}
	case LineNumbers:
		l.readings[r] = withoutNumbers(l.old, l.new)
	case DiffMarkers:
		l.readings[r] = withoutMarkers(l.old, l.new)
	case Escapes:
		l.readings[r] = withoutEscapes(l.old, l.new)
	}
	return l.readings[r]
}

// find looks for a reading on one level.
func (f *Finder) find(r *reading, l level, overlap bool) ([]match, bool) {
	if l >= byIndent && !informative(r.old) {
		return nil, false
	}
	switch l {
	case byIndent:
		return f.shifted(r, l, overlap)
	case byFold:
		if nonASCII(f.content) == len(f.content) && nonASCII([]byte(r.old)) == len(r.old) {
			return nil, false // nothing to fold
		}
		if found, more := f.substrings(r, l, overlap); len(found) > 0 {
			return found, more
		}
		return f.shifted(r, l, overlap)
	case byTrailing:
		return f.substrings(r, l, overlap)
	}
	return f.exact(r, overlap)
}

// informative demands a letter or digit.
func informative(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// exact finds the bytes of the old text, or the same with other line endings. A text that has one place with LF and one
// with CRLF is ambiguous for an author who cannot see the difference; only a CR in the old text shows that he can.
func (f *Finder) exact(r *reading, overlap bool) ([]match, bool) {
	seesCR := strings.IndexByte(r.old, '\r') >= 0
	breaks := seesCR || strings.IndexByte(r.old, '\n') >= 0
	if !r.lines && (!breaks || seesCR || !f.carriage()) {
		p := all(f.content, []byte(r.old), overlap, func(at int) bool {
			return r.old[0] != '\n' || at == 0 || f.content[at-1] != '\r' // not from the middle of a CRLF on
		})
		if len(p.at) > 0 {
			found := make([]match, len(p.at))
			for i, at := range p.at {
				found[i] = match{start: at, end: at + len(r.old), reading: r}
			}
			return found, p.more
		}
	}
	if !r.lines && !breaks {
		return nil, false
	}
	return f.substrings(r, byEnding, overlap)
}

func lineStart(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

func lineEnd(text []byte, at int) bool { return at == len(text) || text[at] == '\n' }

// substrings finds the normal form of the old text in that of the content.
func (f *Finder) substrings(r *reading, l level, overlap bool) ([]match, bool) {
	v := f.view(l)
	old := normalise([]byte(r.old), l.normal(f.cr)).text
	// The normal form of the last line has lost the blanks at its end. If it is a piece of a line, they counted.
	toEnd := l >= byTrailing && !bytes.HasSuffix(old, []byte("\n")) && trimmedLen([]byte(r.old), l == byFold) < len(r.old)
	toEnd = toEnd || r.lines && !bytes.HasSuffix(old, []byte("\n"))
	keep := func(at int) bool {
		end := at + len(old)
		return v.whole(at) && v.whole(end) && (!toEnd || lineEnd(v.text, end)) && (!r.lines || lineStart(v.text, at))
	}
	p := all(v.text, old, overlap, keep)
	var found []match
	for _, at := range p.at {
		found = append(found, f.matchIn(v, at, at+len(old), l, r))
	}
	if n := len(old) - 1; n > 0 && old[n] == '\n' && old[n-1] != '\n' && bytes.HasSuffix(v.text, old[:n]) {
		if at := len(v.text) - n; v.whole(at) && (!r.lines || lineStart(v.text, at)) {
			m := f.matchIn(v, at, len(v.text), l, r)
			m.eof = true
			found = append(found, m)
		}
	}
	return found, p.more
}

// matchIn translates a place of a normal form. Where it begins or ends with a line it takes in the blanks of that line
// that the normal form lacks.
func (f *Finder) matchIn(v *view, at, end int, l level, r *reading) match {
	m := match{start: v.start(at), end: v.end(end), reading: r}
	if l >= byTrailing && lineStart(v.text, at) {
		m.start = v.end(at)
	}
	if l >= byTrailing && lineEnd(v.text, end) && !lineStart(v.text, end) {
		m.end = v.start(end)
	}
	return m
}

// shifted finds the lines of the old text indented by the same amount more or less.
func (f *Finder) shifted(r *reading, l level, overlap bool) ([]match, bool) {
	b := newBlock(r.old, l.normal(f.cr))
	b.extra = indentsOf(r.new)
	var found []match
	more := f.eachBlock(b, l, overlap, func(p blockPlace) bool {
		m := match{start: p.start, end: p.end, reading: r, eof: p.eof}
		s, ok := f.solve(b.pairs(p, 0))
		if !ok {
			if !b.beginsInside(p) {
				return false
			}
			if s, ok = f.solve(b.pairs(p, 1)); !ok || !s.styleOnly() {
				return false
			}
			m.inside = true
			m.start += len(p.indents[0])
		}
		if s != (shift{}) {
			m.shift = &s
		}
		found = append(found, m)
		return true
	})
	return found, more
}
