package text

import (
	"bytes"
	"strings"
)

// Ending is how lines end.
type Ending uint8

// The line endings. The zero value is that of a text without any.
const (
	NoEnding Ending = iota
	LF              // \n
	CRLF            // \r\n
	CR              // \r, in a text without \n
	Mixed           // both LF and CRLF
)

var (
	lf   = []byte("\n")
	crlf = []byte("\r\n")
)

func (e Ending) String() string { return [...]string{"none", "LF", "CRLF", "CR", "mixed"}[e] }

// Chars returns the characters of the ending; for NoEnding and Mixed those of LF.
func (e Ending) Chars() string {
	switch e {
	case CRLF:
		return "\r\n"
	case CR:
		return "\r"
	}
	return "\n"
}

// DetectEnding returns the ending that the lines of content have.
func DetectEnding(content []byte) Ending {
	if UsesCR(content) {
		return CR
	}
	n := bytes.Count(content, lf)
	if n == 0 {
		return NoEnding
	}
	if bytes.IndexByte(content, '\r') < 0 {
		return LF
	}
	switch bytes.Count(content, crlf) {
	case 0:
		return LF
	case n:
		return CRLF
	}
	return Mixed
}

// UsesCR reports whether lone CRs end the lines of content: it has some and no LF.
func UsesCR(content []byte) bool {
	return bytes.IndexByte(content, '\n') < 0 && bytes.IndexByte(content, '\r') >= 0
}

// EndingNear returns the ending that new lines should have which replace content[start:end]: that of the first line break
// in the range, else the next one behind it, else the last one before it. NoEnding: content is one line.
func EndingNear(content []byte, start, end int) Ending {
	at := indexFrom(content[:end], '\n', start)
	if at < 0 {
		at = indexFrom(content, '\n', end)
	}
	if at < 0 {
		at = bytes.LastIndexByte(content[:start], '\n')
	}
	switch {
	case at > 0 && content[at-1] == '\r':
		return CRLF
	case at >= 0:
		return LF
	case bytes.IndexByte(content, '\r') >= 0:
		return CR
	}
	return NoEnding
}

func indexFrom(b []byte, c byte, from int) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return -1
}

// WithEnding returns s with every LF and CRLF turned into the given ending. It returns s itself for NoEnding and Mixed,
// and where nothing is to do. Lone CRs stay.
func WithEnding(s string, e Ending) string {
	if e == NoEnding || e == Mixed || strings.IndexByte(s, '\n') < 0 {
		return s
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if e == LF {
		return s
	}
	return strings.ReplaceAll(s, "\n", e.Chars())
}
